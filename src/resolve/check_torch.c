#include "base/edit.h"
#include "internal.h"

/* Where torch comes from, and what belongs to it. */

void
check_index_root(struct workspace *w)
{
	struct text index = w->r->torch.index;
	const struct torch_release *t = w->s->torch_release;
	/* The root of torch's indexes is what their rule says without a tag. */
	const char *tag = NULL, *root = facts_torch_index(w->f, w->a, "");
	size_t last, n = url_end(root, &last);
	struct diag *d;

	if (!index.s || !n || n != url_end(index.s, &last) || strncmp(root, index.s, n) != 0)
		return;
	for (size_t i = 0; t && i < t->nvariants; i++)
		if (version_same_series(t->variants[i].cuda, w->s->cuda.value))
			tag = t->variants[i].tag;
	d = diag_at(w->ds, W_INDEX_ROOT, index.at,
		    "older builds are not listed at the root of torch's indexes");
	diag_why(d, "each build has an index of its own below it");
	if (tag)
		diag_fix(d, index.at, edit_scalar(w->a, index.at, tag), "write %s", tag);
	else
		diag_help(d, "write the build: cu121, cpu, ...");
	if (t)
		diag_source(d, t->source);
}

/* torch is asked for where torch.index says, whatever an extra index lists. */
void
check_extra_index(struct workspace *w)
{
	for (size_t i = 0; w->s->torch.value && i < w->r->extras.n; i++) {
		const struct recipe_index *x = &w->r->extras.at[i];

		for (size_t k = 0; k < x->packages.n; k++) {
			struct diag *d;

			if (strcmp(name_normalize(w->a, x->packages.at[k].s), "torch") != 0)
				continue;
			d = diag_at(w->ds, W_TORCH_EXTRA, x->packages.at[k].at,
				    "torch does not come from an extra index");
			diag_why(d, "with two indexes pip takes the higher version, of whatever "
				    "CUDA it is; so one index alone is asked for torch");
			diag_note(d, w->r->torch.at, "torch is asked for here");
			diag_help(d, "name it there: torch.index: %s", x->url.s);
		}
	}
}

void
check_companions(struct workspace *w)
{
	const struct torch_release *t = w->s->torch_release;

	for (size_t i = 0; t && i < w->r->packages.n; i++) {
		const struct recipe_requirement *q = &w->r->packages.at[i];
		const char *pair = torch_companion(t, q->req->key), *pin;
		struct diag *d;

		if (!pair || *specifiers_text(w->a, q->req->spec) || q->req->url)
			continue;
		d = diag_at(w->ds, W_COMPANION, q->text.at,
			    "`%s` has no version, and any would be taken", q->text.s);
		diag_why(d, "newer ones of torchaudio do not say which torch they were built for");
		pin = arena_printf(w->a, "%s==%s", q->text.s, pair);
		if (!strcmp(q->text.s, q->req->name))
			diag_fix(d, q->text.at, edit_scalar(w->a, q->text.at, pin),
				 "write \"%s\", the one that was built for torch %s; in torch.with "
				 "it comes from torch's index",
				 pin, t->version);
		else
			diag_help(d, "pin %s, the one that was built for torch %s", pair,
				  t->version);
		diag_source(d, t->source);
	}
}

/* Without a list and without a GPU, torch asks the GPU that is not there. */
void
check_no_archs(struct workspace *w)
{
	const struct stack_extension *of;
	const struct stack *s = w->s;
	size_t at = 0;

	if (s->archs.n || !s->torch.value || (s->torch_tag && !strcmp(s->torch_tag, "cpu")) ||
	    s->cuda_from == CUDA_HOST || check_setting(w, "TORCH_CUDA_ARCH_LIST", &at, &of))
		return;
	for (size_t i = 0; i < s->extensions.n; i++) {
		const struct stack_extension *e = &s->extensions.at[i];
		struct diag *d;

		if (e->source == SOURCE_WHEEL || !e->build ||
		    e->build->honours_arch_list != TRI_YES)
			continue;
		d = diag_at(w->ds, E_NO_ARCHS, e->at,
			    "nothing says which GPUs `%s` is compiled for", e->name);
		diag_why(d, "an image is built without a GPU, and torch's compile step then has no "
			    "GPU to ask");
		diag_help(d, "name them: gpus: [...]");
		diag_source(d, e->build->source);
		return;
	}
}

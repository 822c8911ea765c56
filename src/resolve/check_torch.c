#include "base/edit.h"
#include "internal.h"

/* Where torch comes from, and what belongs to it. */

/* The root of torch's indexes: what its rule says without a tag. */
static bool
is_root(const struct workspace *w, const char *url)
{
	const char *root = facts_torch_index(w->f, w->a, "");
	size_t n = strlen(root), m = strlen(url);

	while (n && root[n - 1] == '/')
		n--;
	while (m && url[m - 1] == '/')
		m--;
	return n && n == m && !strncmp(root, url, n);
}

void
check_index_root(struct workspace *w)
{
	struct text index = w->r->torch.index;
	const struct torch_release *t = w->s->torch_release;
	const char *cuda = w->s->cuda.value, *tag = NULL;
	struct diag *d;

	if (!index.s || !is_root(w, index.s))
		return;
	for (size_t i = 0; t && cuda && i < t->nvariants; i++)
		if (t->variants[i].cuda && version_same_series(t->variants[i].cuda, cuda))
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
	for (size_t i = 0; i < w->r->extras.n; i++) {
		const struct recipe_index *x = &w->r->extras.at[i];

		for (size_t k = 0; k < x->packages.n; k++) {
			const char *key = name_normalize(w->a, x->packages.at[k].s);
			struct diag *d;

			if (strcmp(key, "torch") != 0 || !w->s->torch.value)
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

static void
check_companion(struct workspace *w, const struct recipe_requirement *q)
{
	const struct torch_release *t = w->s->torch_release;
	const char *key = q->req->key;
	const char *pair = torch_companion(t, key);
	const char *pin = pair ? arena_printf(w->a, "%s==%s", q->text.s, pair) : NULL;
	struct diag *d;

	if (!pair || *specifiers_text(w->a, q->req->spec) || q->req->url)
		return;
	d = diag_at(w->ds, W_COMPANION, q->text.at, "`%s` has no version, and any would be taken",
		    q->text.s);
	diag_why(d, "newer ones of torchaudio do not say which torch they were built for");
	if (!strcmp(q->text.s, q->req->name))
		diag_fix(d, q->text.at, edit_scalar(w->a, q->text.at, pin),
			 "write \"%s==%s\", the one that was built for torch %s; in torch.with it "
			 "comes from torch's index",
			 q->text.s, pair, t->version);
	else
		diag_help(d, "pin %s, the one that was built for torch %s", pair, t->version);
	diag_source(d, t->source);
}

void
check_companions(struct workspace *w)
{
	for (size_t i = 0; w->s->torch_release && i < w->r->packages.n; i++)
		check_companion(w, &w->r->packages.at[i]);
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

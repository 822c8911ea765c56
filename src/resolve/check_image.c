#include "base/edit.h"
#include "internal.h"

/* What the name of an image tells beside whether it exists. */

static void
check_point_release(struct workspace *w, struct text image)
{
	struct image_name n = facts_image_name(w->f, w->a, image.s);
	const char *tag, *better, *why, *source;
	const struct cuda_toolkit *t = NULL;
	struct diag *d;
	size_t count;
	const struct cuda_toolkit *const *all = facts_cuda_all(w->f, &count);

	/* A digest stays, whatever becomes of the tag. */
	if (!n.cuda || !n.os || !n.tag || n.digest || !facts_cuda(w->f, n.cuda))
		return;
	/* The last release of the series that has an image for that system. */
	for (size_t i = 0; i < count; i++)
		if (version_same_series(all[i]->version, n.cuda) &&
		    names_have(&all[i]->image_os, n.os))
			t = all[i];
	if (!t || text_version_order(w, t->version, n.cuda) <= 0 || !starts_with(n.tag, n.cuda))
		return;
	tag = arena_printf(w->a, "%s%s", t->version, n.tag + strlen(n.cuda));
	if (facts_image(w->f, w->a, n.repository, tag, &why, &source) == TRI_NO)
		return;
	better = arena_printf(w->a, "%s:%s", n.repository, tag);
	d = diag_at(w->ds, W_IMAGE_OLD, image.at, "CUDA %s is superseded by %s", n.cuda,
		    t->version);
	diag_why(d, "NVIDIA keeps the last point release of a series, and announces that it "
		    "deletes the others");
	diag_fix(d, image.at, edit_scalar(w->a, image.at, better),
		 "take %s, or pin this one by its digest (@sha256:...)", better);
	diag_source(d, t->source);
}

void
check_superseded(struct workspace *w)
{
	if (w->r->base.s)
		check_point_release(w, w->r->base);
	if (w->r->runtime.base.s)
		check_point_release(w, w->r->runtime.base);
}

static bool
lists_cudnn(const struct recipe_requirements *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (starts_with(list->at[i].req->key, "nvidia-cudnn"))
			return true;
	return false;
}

void
check_cudnn(struct workspace *w)
{
	const struct stack *s = w->s;

	for (size_t i = 0; i < s->extensions.n; i++) {
		const struct stack_extension *e = &s->extensions.at[i];
		const char *needs = e->known ? e->known->needs_cudnn : NULL, *better;
		struct diag *d;

		/* Of an image that is not NVIDIA's nobody knows what is in it. */
		if (!needs || e->source == SOURCE_WHEEL || s->image.cudnn ||
		    (s->cuda_from == CUDA_IMAGE && !s->image.flavour) ||
		    lists_cudnn(&w->r->packages) || lists_cudnn(&w->r->torch.with))
			continue;
		d = diag_at(w->ds, W_NO_CUDNN, e->at, "`%s` needs cuDNN's headers, %s or later",
			    e->name, needs);
		diag_why(d,
			 "`%s` has none, and torch's own cuDNN lies where its build does not look",
			 s->base.value);
		if (s->base.at.line)
			diag_note(d, s->base.at, "the base is named here");
		better = s->base.given ? resolve_image_near(w, &s->image, true) : NULL;
		if (better)
			diag_fix(d, s->base.at, edit_scalar(w->a, s->base.at, better), "use %s",
				 better);
		else
			diag_help(d, "take a cudnn-devel image as base");
		diag_source(d, e->known->source);
	}
}

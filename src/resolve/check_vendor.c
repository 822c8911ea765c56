#include "internal.h"

/* Builds of torch for GPUs of AMD (ROCm) and Intel (XPU): stackbuild builds CUDA and CPU stacks only. */

bool
is_other_vendor(const char *build)
{
	return starts_with(build, "rocm") || !strcmp(build, "xpu");
}

static void
refuse(struct workspace *w, struct span at, const char *what)
{
	struct diag *d = diag_at(w->ds, E_NOT_CUDA, at, "`%s` is not a build for CUDA", what);

	diag_why(d,
		 "stackbuild builds stacks for CUDA, and for the CPU: it knows nothing about ROCm "
		 "and XPU");
	diag_help(d, "use a build such as cu128, or cpu");
}

/* Checks the last part of the URL of an index: ".../whl/rocm6.2". */
static void
check_url(struct workspace *w, const struct text *index)
{
	size_t last, n;

	if (!index->s)
		return;
	n = url_end(index->s, &last);
	if (is_other_vendor(arena_copy(w->a, index->s + last, n - last)))
		refuse(w, index->at, index->s);
}

/* Checks the build in a version: "torchvision==0.20.1+rocm6.2". */
static void
check_builds(struct workspace *w, const struct recipe_requirements *all)
{
	list_each (q, all) {
		const struct version *pin = specifiers_pin(q->req->spec);
		const char *local = pin ? version_local(w->a, pin) : NULL;

		if (local && is_other_vendor(local))
			refuse(w, q->text.at, q->text.s);
	}
}

void
check_vendor(struct workspace *w)
{
	check_url(w, &w->index);
	list_each (x, &w->r->extras)
		check_url(w, &x->url);
	check_builds(w, &w->r->torch.with);
	check_builds(w, &w->r->packages);
	if (w->r->base.s && starts_with(w->r->base.s, "rocm/"))
		refuse(w, w->r->base.at, w->r->base.s);
}

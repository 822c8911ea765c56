#include "base/edit.h"
#include "internal.h"

/*
 * What the base's name says, and CUDA as it was asked for.  Nothing is chosen here:
 * torch may have a say first.
 */

static bool
is_nvidia(const char *repository)
{
	return !strcmp(repository, "nvidia/cuda") || ends_with(repository, "/nvidia/cuda");
}

/* The other flavour of an image that is known: devel alone is listed, all three are made. */
static bool
is_sibling(const struct workspace *w, const struct image_name *n)
{
	const struct cuda_toolkit *t = n->cuda ? facts_cuda(w->f, n->cuda) : NULL;

	return t && n->os && n->flavour && strcmp(n->flavour, "devel") != 0 &&
	       !strcmp(t->version, n->cuda) && names_have(&t->image_os, n->os);
}

/* On one system; devel images are those that are listed, and the others are made beside them. */
static const char *
image_on(const struct workspace *w, const struct image_name *n, const char *version, bool cudnn,
	 const char *os)
{
	static const char *const parts[] = { "-cudnn-", "-cudnn9-", "-cudnn8-" };
	const char *why, *source;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		const char *part = cudnn ? parts[i] : "-";
		const char *devel = arena_printf(w->a, "%s%sdevel-%s", version, part, os);

		if (facts_image(w->f, w->a, n->repository, devel, &why, &source) == TRI_YES)
			return arena_printf(w->a, "%s:%s%s%s-%s", n->repository, version, part,
					    n->flavour, os);
	}
	return NULL;
}

const char *
resolve_image_near(const struct workspace *w, const struct image_name *n, bool cudnn)
{
	const struct cuda_toolkit *t = n->cuda ? facts_cuda(w->f, n->cuda) : NULL;
	const char *found;

	if (!t || !n->flavour || n->digest)
		return NULL;
	found = n->os ? image_on(w, n, t->version, cudnn, n->os) : NULL;
	for (size_t i = t->image_os.n; !found && i-- > 0;)
		found = image_on(w, n, t->version, cudnn, t->image_os.at[i]);
	return found;
}

static void
help_image(struct workspace *w, struct diag *d)
{
	const char *near = resolve_image_near(w, &w->s->image, w->s->image.cudnn);

	if (near)
		diag_fix(d, w->r->base.at, edit_scalar(w->a, w->r->base.at, near), "use %s", near);
	else
		diag_help(d,
			  "`stackbuild facts cuda` lists releases with the systems that they have "
			  "images for");
}

static void
check_image(struct workspace *w)
{
	const struct image_name *n = &w->s->image;
	const char *why = NULL, *source = NULL;
	struct diag *d;
	enum tri can;

	/* A release that never was is reported by the solver. */
	if ((!n->tag && n->digest) || (n->cuda && facts_cuda_impossible(w->f, n->cuda)))
		return;
	/* As docker reads it. */
	can = facts_image(w->f, w->a, n->repository, n->tag ? n->tag : "latest", &why, &source);
	if (can == TRI_NO) {
		d = diag_at(w->ds, E_IMAGE_NEVER, w->r->base.at, "the image `%s` does not exist",
			    w->r->base.s);
		if (why)
			diag_why(d, "%s", why);
		help_image(w, d);
		diag_source(d, source);
	} else if (can == TRI_UNKNOWN && is_nvidia(n->repository) && !is_sibling(w, n)) {
		d = diag_at(w->ds, W_IMAGE_UNKNOWN, w->r->base.at,
			    "cannot confirm that the image `%s` exists", w->r->base.s);
		diag_why(d, "%s", why ? why : "the knowledge base does not list this tag");
	}
}

static void
check_cuda(struct workspace *w)
{
	const char *asked = w->s->cuda.value, *why = facts_cuda_impossible(w->f, asked);
	struct diag *d;

	if (why) { /* reported by the solver */
		w->s->cuda = (struct choice){ 0 };
	} else if (!facts_cuda(w->f, asked)) {
		d = diag_at(w->ds, W_CUDA_UNKNOWN, w->s->cuda.at,
			    "CUDA %s is not in the knowledge base", asked);
		diag_why(d, "the knowledge has no such release; its driver, compilers and GPUs are "
			    "not judged");
	}
}

void
resolve_image(struct workspace *w)
{
	struct stack *s = w->s;
	const struct recipe *r = w->r;

	if (r->base.s) {
		s->base = choice_given(r->base, "the recipe names it");
		s->image = facts_image_name(w->f, w->a, r->base.s);
		check_image(w);
		if (s->image.os)
			s->os = facts_os(w->f, s->image.os);
	}
	if (r->cuda.s)
		s->cuda = choice_given(r->cuda, "the recipe requires it");
	else if (s->image.cuda)
		s->cuda = choice_given((struct text){ s->image.cuda, r->base.at },
				       "the base image brings it");
	if (s->cuda.value)
		check_cuda(w);
}

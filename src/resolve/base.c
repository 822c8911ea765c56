#include "internal.h"

/*
 * --- the base's name, and the requested CUDA ---
 *
 * Selects nothing, because torch may limit the selection.
 */

static bool
is_nvidia(const char *repository)
{
	return !strcmp(repository, "nvidia/cuda") || ends_with(repository, "/nvidia/cuda");
}

/* The knowledge base lists only devel images, but NVIDIA publishes all three flavours. */
static bool
is_sibling(const struct workspace *w, const struct image_name *n)
{
	const struct cuda_toolkit *t = n->cuda ? facts_cuda(w->f, n->cuda) : NULL;

	return t && n->os && n->flavour && strcmp(n->flavour, "devel") != 0 &&
	       !strcmp(t->version, n->cuda) && names_have(&t->image_os, n->os);
}

bool
image_is_doubtful(const struct workspace *w, const struct image_name *n)
{
	const char *why, *source;

	return n->tag && is_nvidia(n->repository) && !is_sibling(w, n) &&
	       facts_image(w->f, w->a, n->repository, n->tag, &why, &source) == TRI_UNKNOWN;
}

/* The knowledge base lists devel images; the names of the others follow from them. */
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
		fix_scalar(w, d, w->r->base.at, near, "use %s", near);
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

	/* The solver reports a release that never existed. */
	if ((!n->tag && n->digest) || (n->cuda && facts_cuda_impossible(w->f, n->cuda)))
		return;
	/* Splits a name as docker does. */
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

	if (why) { /* the solver reports it */
		w->s->cuda = (struct choice){ 0 };
	} else if (!facts_cuda(w->f, asked)) {
		d = diag_at(w->ds, W_CUDA_UNKNOWN, w->s->cuda.at,
			    "CUDA %s is not in the knowledge base", asked);
		diag_why(d, "stackbuild does not check its driver, compilers and GPUs");
	}
}

void
resolve_image(struct workspace *w)
{
	struct stack *s = w->s;
	const struct recipe *r = w->r;

	if (r->base.s) {
		s->base = choice_given(r->base, "the recipe names it");
		s->image = facts_image_name(w->f, r->base.s);
		check_image(w);
		if (s->image.os)
			s->os = facts_os(w->f, s->image.os);
	}
	if (r->cuda.s)
		s->cuda = choice_given(r->cuda, "the recipe requires it");
	else if (s->image.cuda)
		s->cuda = choice_given((struct text){ s->image.cuda, r->base.at },
				       "the base image has it");
	if (s->cuda.value)
		check_cuda(w);
}

/*
 * --- CUDA, the image and where the toolkit comes from, from the solver's answer ---
 *
 * Without a base, stackbuild selects NVIDIA's devel image, or a plain system if no CUDA image is
 * needed.
 */

static const char *const DEFAULT_OS = "ubuntu22.04";

/* Returns the system for an image that stackbuild selects: the solver's, or the usual one. */
static const struct os_release *
pick_os(const struct workspace *w, const char **why)
{
	const struct candidate *c = solution_selected(w->solution, "os");
	const struct candidate *python = solution_selected(w->solution, "python");
	const struct os_release *os = c && c->entry ? c->entry : facts_os(w->f, DEFAULT_OS);

	*why = python && os && os->python && !strcmp(os->python, python->text) ?
		       arena_printf(w->a, "its own Python is %s", os->python) :
		       "the usual one";
	return os;
}

/* Returns the plain image of a system: "ubuntu:22.04", "debian:12-slim". */
static const char *
plain_image(struct arena *a, const struct os_release *os)
{
	size_t n = strcspn(os->id, "0123456789");

	return arena_printf(a, "%.*s:%s%s", (int)n, os->id, os->id + n,
			    starts_with(os->id, "debian") ? "-slim" : "");
}

/* "12.1" is a series, and the toolkit is a release of it. */
static void
use_toolkit(struct workspace *w, const char *what)
{
	struct choice *c = &w->s->cuda;
	const struct cuda_toolkit *t = w->s->toolkit;

	if (!t || !strcmp(t->version, c->value))
		return;
	c->reason =
		arena_printf(w->a, "%s; %s of %s", c->reason, what, version_series(w->a, c->value));
	c->value = t->version;
	c->source = t->source;
}

static void
choose_image(struct workspace *w)
{
	struct stack *s = w->s;
	const struct cuda_toolkit *t = s->toolkit;
	const char *why = "the usual one", *version = s->cuda.value;
	const struct os_release *os = pick_os(w, &why);

	if (t && os) {
		s->base = choice_made(facts_image_tag(w->f, w->a, t, "devel", os->id),
				      arena_printf(w->a, "nvcc %s in a devel image; %s: %s",
						   t->version, os->id, why),
				      t->source);
		return;
	}
	/* NVIDIA's tags have three numbers; an unknown series gets .0 */
	if (!strcmp(version_series(w->a, version), version))
		version = arena_printf(w->a, "%s.0", version);
	s->base = choice_made(
		arena_printf(w->a, "nvidia/cuda:%s-devel-%s", version, os ? os->id : DEFAULT_OS),
		"named by NVIDIA's scheme; it may not exist", NULL);
}

static void
choose_plain(struct workspace *w)
{
	const char *why = "the usual one";
	const struct os_release *os = pick_os(w, &why);

	w->s->base =
		choice_made(os ? plain_image(w->a, os) : "ubuntu:22.04",
			    arena_printf(w->a, "a plain system: %s", why), os ? os->source : NULL);
}

/* Selects the toolkit of PyPI's wheels. */
static void
choose_wheels(struct workspace *w)
{
	struct stack *s = w->s;
	struct diag *d;

	if (s->toolkit && s->toolkit->wheels) {
		s->cuda_wheels = choice_made(s->toolkit->wheels_pin,
					     "nvcc and its requirements, at one version",
					     s->toolkit->source);
		return;
	}
	d = diag_at(w->ds, E_CUDA_SOURCE, w->r->cuda_from_at.line ? w->r->cuda_from_at : s->cuda.at,
		    "PyPI has no wheels of nvcc for CUDA %s", s->cuda.value);
	if (s->toolkit)
		diag_source(d, s->toolkit->source);
	if (w->r->cuda_from_at.line && !w->r->base.s)
		fix_scalar(w, d, w->r->cuda_from_at, "image", "use NVIDIA's image");
	else
		diag_help(d, "use NVIDIA's image: remove `from: wheels`, and `base:` if it names a "
			     "plain system");
}

/* Returns the source of the toolkit if the recipe does not set it. */
static enum cuda_from
toolkit_origin(const struct workspace *w)
{
	const struct stack *s = w->s;

	/* Only a plain image is known to have no toolkit. Its system decides which toolkit it can install. */
	if (s->image.cuda || !w->r->base.s || !s->image.os || s->image.torch || s->image.moves)
		return CUDA_IMAGE;
	return s->toolkit && s->toolkit->wheels ? CUDA_WHEELS : CUDA_APT;
}

/* torch's build is for one CUDA release, and its wheels contain everything except the compiler. */
static void
choose_cuda(struct workspace *w, const struct candidate *c)
{
	struct stack *s = w->s;
	const struct torch_variant *v = s->torch_variant;
	const char *own = v ? v->cuda : cuda_of_tag(w->a, s->torch_tag);

	if (s->cuda.value || !own || (w->r->base.s && !s->compiles))
		return;
	if (c && !version_same_series(c->text, own))
		s->cuda = choice_made(
			version_series(w->a, c->text),
			"the closest to torch's build that is compatible with the other packages",
			c->entry ? ((const struct cuda_toolkit *)c->entry)->source : NULL);
	else
		s->cuda = choice_made(
			own, arena_printf(w->a, "torch's %s build is for it", s->torch_tag),
			v ? v->source : NULL);
}

static void
choose_toolkit(struct workspace *w)
{
	struct stack *s = w->s;
	const struct candidate *c = decided(w, "cuda");
	const char *pin = s->torch_release ? s->torch_release->cuda_toolkit : NULL;

	choose_cuda(w, c);
	if (!s->cuda.value)
		return;
	s->toolkit = c && version_same_series(c->text, s->cuda.value) ?
			     c->entry :
			     facts_cuda(w->f, s->cuda.value);
	s->cuda_from = w->r->cuda_from != CUDA_AUTO ? w->r->cuda_from : toolkit_origin(w);
	use_toolkit(w, s->cuda_from == CUDA_IMAGE && !w->r->base.s ?
			       "the newest release with an image" :
		       s->cuda_from != CUDA_WHEELS ? "the newest release" :
		       pin && s->toolkit && !strcmp(pin, s->toolkit->version) ?
						     "the release that torch itself pins" :
						     "the newest release in PyPI's wheels");
	if (s->cuda_from == CUDA_IMAGE && !w->r->base.s)
		choose_image(w);
	if (s->cuda_from == CUDA_WHEELS)
		choose_wheels(w);
}

const char *
resolve_image_devel(const struct workspace *w)
{
	struct image_name n = w->s->image;
	const char *at = n.digest || !n.flavour ? NULL : strstr(w->r->base.s, n.flavour), *near;

	n.flavour = "devel";
	near = resolve_image_near(w, &n, n.cudnn);
	if (near && n.os && ends_with(near, n.os))
		return near;
	return n.torch && at ? arena_printf(w->a, "%.*sdevel%s", (int)(at - w->r->base.s),
					    w->r->base.s, at + strlen(w->s->image.flavour)) :
			       NULL;
}

/* Rejects a base without nvcc, because extensions are compiled with its nvcc. */
static void
check_flavour(struct workspace *w)
{
	const struct stack *s = w->s;
	const char *flavour = s->image.flavour, *devel;
	struct diag *d;

	if (s->cuda_from != CUDA_IMAGE || !s->compiles || !flavour || !strcmp(flavour, "devel"))
		return;
	d = diag_at(w->ds, E_NO_NVCC, w->r->base.at, "`%s` has no nvcc to compile extensions",
		    w->r->base.s);
	if (!s->image.cuda) {
		diag_why(d, s->image.moves ? "it has no CUDA, and its tag does not name the "
					     "operating system, so that "
					     "stackbuild cannot install CUDA" :
					     "it has no CUDA, and its name does not show the "
					     "operating system, so that "
					     "stackbuild cannot install CUDA");
		if (s->toolkit && s->toolkit->wheels)
			diag_help(d,
				  "write `cuda: {version: \"%s\", from: wheels}`, which takes nvcc "
				  "from PyPI",
				  version_series(w->a, s->cuda.value));
		diag_help(d, "use a base with nvcc, nvidia/cuda:...-devel-...; or name the system "
			     "in the tag, such as python:3.11-slim-bookworm");
		return;
	}
	diag_why(d, "%s `%s` images contain only libraries",
		 is_nvidia(s->image.repository) ? "NVIDIA's" : "its repository's", flavour);
	devel = resolve_image_devel(w);
	if (devel)
		fix_scalar(w, d, w->r->base.at, devel,
			   "use the devel image here, and the %s image as runtime.base", flavour);
	else
		diag_help(d, "use the devel image here, and the %s image as runtime.base", flavour);
}

/* Records the plan's assumptions about an unknown image. */
static void
tell_assumed(struct workspace *w)
{
	const struct stack *s = w->s;
	struct diag *d = diag_at(w->ds, W_IMAGE_UNKNOWN, w->r->base.at,
				 "the operating system of `%s` is unknown", w->r->base.s);

	diag_why(d, "its name does not show it; stackbuild assumes Debian or Ubuntu, with apt");
	if (s->compiles && s->cuda_from == CUDA_IMAGE && !s->image.flavour)
		diag_why(d, "stackbuild assumes that nvcc%s%s is in the image",
			 s->cuda.value ? " of CUDA " : "", s->cuda.value ? s->cuda.value : "");
	if (s->torch.value && !s->torch_base && !s->image.torch)
		diag_why(d, "stackbuild assumes that it has no torch, and does not use one that it "
			    "has");
}

void
resolve_base(struct workspace *w)
{
	struct stack *s = w->s;
	const struct recipe *r = w->r;

	choose_toolkit(w);
	if (!s->base.value)
		choose_plain(w);
	if (!r->base.s) {
		s->image = facts_image_name(w->f, s->base.value);
		s->os = s->image.os ? facts_os(w->f, s->image.os) : NULL;
	} else if (!s->os && w->ds->errors == w->errors) {
		tell_assumed(w);
	}
	check_flavour(w);
	if (s->cuda_from == CUDA_APT && !s->os)
		diag_help(diag_at(w->ds, E_CUDA_SOURCE, r->cuda_from_at,
				  "CUDA from apt needs a base with a known operating system"),
			  "name an Ubuntu or Debian image as base");
}

struct choice
resolve_runtime_base(const struct workspace *w)
{
	const struct stack *s = w->s;
	const char *image;

	if (s->python_from == PYTHON_BASE)
		return choice_made(s->base.value, "the base, which has the Python", NULL);
	if (s->cuda_from == CUDA_IMAGE && s->toolkit && s->os) {
		image = facts_image_tag(w->f, w->a, s->toolkit, "runtime", s->os->id);
		return choice_made(image, "the base's CUDA and system, without compilers",
				   s->toolkit->source);
	}
	if (s->os && s->cuda_from != CUDA_IMAGE)
		return choice_made(plain_image(w->a, s->os), "the base's system", s->os->source);
	return choice_made(s->base.value, "the base: the knowledge base has no smaller image",
			   NULL);
}

#include "companions.h"

/*
 * torch in the solution: its release, its build, the index of the build, and the packages that
 * are installed together with it.
 */

static void
choose_release(struct workspace *w, const struct version *pinned)
{
	size_t n;
	const struct torch_release *const *all = facts_torch_all(w->f, &n), *newest = all[n - 1];
	const struct candidate *c = decided(w, "torch");
	struct stack *s = w->s;
	const char *nearest[2];
	struct diag *d;

	s->torch_release = c ? c->entry : NULL;
	if (pinned) {
		s->torch = choice_given(w->r->torch.version, "the recipe pins it");
		s->torch.value = version_public(w->a, pinned);
		if (s->torch_release) {
			s->torch.source = s->torch_release->source;
			return;
		}
		if (torch_never(w, s->torch.value, nearest))
			return;
		d = diag_at(w->ds, W_TORCH_UNKNOWN, s->torch.at,
			    "torch %s is not in the knowledge base", s->torch.value);
		diag_why(d,
			 "the newest known release is %s; stackbuild checks this one by its number "
			 "and index only",
			 newest->version);
		return;
	}
	if (!s->torch_release)
		s->torch_release = newest;
	s->torch = choice_made(s->torch_release->version,
			       s->torch_release == newest ? "the newest in the knowledge base" :
							    "the newest compatible release",
			       s->torch_release->source);
	s->torch.at = w->r->torch.at;
	d = diag_at(w->ds, W_UNPINNED, s->torch.at,
		    "torch has no version: stackbuild selects %s, %s", s->torch.value,
		    s->torch.reason);
	diag_help(d, "pin it, so that a newer knowledge base does not change it: torch.version: %s",
		  s->torch.value);
}

/* --- the torch of the base --- */

static void
refuse_base(struct workspace *w, struct span at, const char *what, const char *why,
	    const char *help)
{
	struct diag *d = diag_at(w->ds, E_BASE_TORCH, at, "%s", what);

	diag_why(d, "%s", why);
	diag_help(d, "%s", help);
}

/* Checks use the final release of that version; only the build of PyTorch's own torch is known. */
static void
take_base(struct workspace *w)
{
	const struct candidate *c = decided(w, "torch");
	const struct image_name *i = &w->s->image;
	const char *torch = torch_of_base(w), *checked = torch_checked_as(w, torch);
	struct stack *s = w->s;
	struct diag *d;

	s->torch_base = torch;
	s->torch_release = c ? c->entry : NULL;
	s->torch = choice_made(checked,
			       strcmp(torch, checked) ?
				       arena_printf(w->a, "the base image has %s", torch) :
				       "the base image has it",
			       i->source);
	s->torch.at = w->r->torch.version.s ? w->r->torch.version.at : w->r->base.at;
	s->torch.given = true;
	s->torch_tag = i->cuda ? cuda_tag(w->a, i->cuda) : NULL;
	if (s->torch_release && s->torch_tag && !i->own_torch)
		s->torch_variant = torch_variant(s->torch_release, s->torch_tag);
	s->torch_index = choice_made(NULL, "none: torch is the base's", i->source);
	if (!strcmp(torch, checked))
		return;
	d = diag_at(w->ds, N_BASE_TORCH, w->r->base.at,
		    "stackbuild checks torch %s of `%s` as torch %s", torch, w->r->base.s, checked);
	diag_why(d, "it was built from a commit before that release");
	diag_source(d, i->source);
}

/* Reports an error and returns false if the recipe uses the base image's torch but cannot. */
static bool
check_base(struct workspace *w)
{
	const struct recipe *r = w->r;

	if (r->torch.from != TORCH_BASE)
		return true;
	if (!torch_of_base(w))
		refuse_base(
			w, r->torch.from_at,
			r->base.s ? arena_printf(w->a, "the knowledge base lists no torch in `%s`",
						 r->base.s) :
				    "the recipe has no base image with a torch",
			r->base.s ? "the image may have no torch, or an unknown version" :
				    "the recipe names no `base`",
			r->base.s ? "use an image of pytorch/pytorch or nvcr.io/nvidia/pytorch; "
				    "for an image of your own, set torch.version" :
				    "add `base:` with an image of pytorch/pytorch or "
				    "nvcr.io/nvidia/pytorch");
	else if (r->torch.index.s)
		refuse_base(w, r->torch.index.at,
			    "torch cannot come from the base and from an index",
			    "`torch.from` is `base`", "remove `index`, or `from: base`");
	else if (r->python_from != PYTHON_AUTO && r->python_from != PYTHON_BASE)
		refuse_base(w, r->python_from_at,
			    "the torch of the base needs the Python of the base",
			    "it is installed for that Python", "remove `python.from`");
	else
		return true;
	return false;
}

/* --- the build, and its index --- */

/* Returns whether PyPI has the build. For aarch64, PyPI long had another build, without CUDA. */
static bool
from_pypi(const struct workspace *w, const struct torch_variant *v)
{
	if (!v->on_pypi)
		return false;
	/* The index of a named build lacks some of the build's requirements; PyPI has all of
	 * them. */
	return w->index.s ? v->cuda_bindings != NULL :
			    !v->on_index || strcmp(recipe_machine(w->r), "aarch64") != 0;
}

static struct choice
named_index(struct workspace *w, const struct torch_variant *v)
{
	if (strstr(w->index.s, "://"))
		return choice_given(w->index, "the recipe names it");
	if (v && from_pypi(w, v))
		return choice_made(NULL, "the recipe requires this build, which is on PyPI",
				   v->source);
	return choice_made(facts_torch_index(w->f, w->a, w->index_tag),
			   "the recipe requires this build", v ? v->source : NULL);
}

/* Returns the index for `index: pypi`, or if the recipe names none. */
static struct choice
index_of_build(struct workspace *w, const struct torch_variant *v, bool asked)
{
	bool pypi = asked || (v && from_pypi(w, v));

	if (!v && !asked && !w->s->torch_release && w->s->cuda.value)
		return choice_made(facts_torch_index(w->f, w->a, w->s->torch_tag),
				   "by the naming rule of torch's indexes", NULL);
	if (!v || asked)
		return choice_made(NULL,
				   asked ? "the recipe requires PyPI's build" : "PyPI's build",
				   v ? v->source : NULL);
	return choice_made(pypi || !v->on_index ? NULL : facts_torch_index(w->f, w->a, v->tag),
			   arena_printf(w->a, "its build for %s%s%s", v->cuda ? "CUDA " : "the ",
					v->cuda ? v->cuda : "CPU",
					pypi ? ", which is on PyPI" : ""),
			   v->source);
}

static void
choose_build(struct workspace *w)
{
	struct stack *s = w->s;
	const struct torch_release *t = s->torch_release;
	const struct candidate *c = decided(w, "torch build");
	bool pypi = w->index.s && !strcmp(w->index.s, "pypi"), named = w->index.s && !pypi;
	const char *tag = named ? w->index_tag : c ? c->text : NULL;
	const struct torch_variant *v = t && tag && !pypi ? torch_variant(t, tag) : NULL;

	if (t && !v && !named)
		v = torch_variant_on_pypi(t);
	s->torch_variant = v;
	s->torch_tag = named                        ? w->index_tag :
		       v                            ? v->tag :
		       !pypi && !t && s->cuda.value ? cuda_tag(w->a, s->cuda.value) :
						      NULL;
	s->torch_index = named ? named_index(w, v) : index_of_build(w, v, pypi);
	s->torch_index.at = w->index.at;
	s->torch_index.given = w->index.s != NULL;
}

/* --- its numpy --- */

/* Selects the numpy of every step: that of the recipe, or one that works with torch. */
static void
choose_numpy(struct workspace *w)
{
	const struct torch_release *t = w->s->torch_release;
	const struct recipe_requirements *lists[] = { &w->r->packages, &w->r->torch.with };

	for (size_t k = 0; k < 2; k++)
		list_each (q, lists[k]) {
			const char *spec;

			if (strcmp(q->req->key, "numpy") != 0 || !marker_holds(w, q->req->marker) ||
			    !*(spec = specifiers_text(w->a, q->req->spec)))
				continue;
			w->s->numpy = choice_given(
				(struct text){ arena_printf(w->a, "numpy%s", spec), q->text.at },
				"the recipe requires it");
			return;
		}
	if (w->s->torch_base && w->s->image.numpy)
		w->s->numpy =
			choice_made(arena_printf(w->a, "numpy%s", w->s->image.numpy),
				    "the base's torch was built against it", w->s->image.source);
	else if (t && t->numpy2 == TRI_NO)
		w->s->numpy = choice_made(
			"numpy<2",
			arena_printf(w->a, "torch %s was built against numpy 1", t->version),
			t->source);
}

void
resolve_torch(struct workspace *w)
{
	const struct recipe *r = w->r;
	struct stack *s = w->s;
	const struct version *v =
		r->torch.version.s ? version_parse(w->a, r->torch.version.s) : NULL;

	if ((r->torch.at.line || r->torch.version.s) && check_base(w)) {
		if (r->torch.from == TORCH_BASE) {
			take_base(w);
		} else {
			choose_release(w, v);
			choose_build(w);
		}
		list_push(w->a, &s->torch_packages,
			  (struct stack_package){
				  .requirement = arena_printf(
					  w->a, "torch==%s",
					  s->torch_base               ? s->torch_base :
					  v && version_local(w->a, v) ? version_text(w->a, v) :
									s->torch.value),
				  .key = "torch",
				  .reason = s->torch.reason,
				  .source = s->torch.source,
				  .at = s->torch.at,
				  .given = s->torch.given,
			  });
		for (size_t i = 0; i < r->torch.with.n; i++)
			list_push(w->a, &s->torch_packages,
				  companion_given(w, &r->torch.with.at[i]));
		resolve_companions(w);
	}
	choose_numpy(w);
}

#include "internal.h"

/*
 * torch as the solver's answer has it: its release, its build, the index that serves the build,
 * and what is installed together with it.
 */

static void
choose_release(struct workspace *w, const struct version *pinned)
{
	size_t n;
	const struct torch_release *const *all = facts_torch_all(w->f, &n), *newest = all[n - 1];
	const struct candidate *c = decided(w, "torch");
	struct stack *s = w->s;
	struct diag *d;

	s->torch_release = c ? c->entry : NULL;
	if (pinned) {
		s->torch = choice_given(w->r->torch.version, "the recipe pins it");
		s->torch.value = version_public(w->a, pinned);
		if (s->torch_release) {
			s->torch.source = s->torch_release->source;
			return;
		}
		d = diag_at(w->ds, W_TORCH_UNKNOWN, s->torch.at,
			    "torch %s is not in the knowledge base", s->torch.value);
		diag_why(d,
			 "the newest known release is %s; this one is checked by its number and "
			 "index only",
			 newest->version);
		return;
	}
	if (!s->torch_release)
		s->torch_release = newest;
	s->torch = choice_made(s->torch_release->version,
			       s->torch_release == newest ? "the newest that is known" :
							    "the newest that goes with the rest",
			       s->torch_release->source);
	s->torch.at = w->r->torch.at;
	d = diag_at(w->ds, W_UNPINNED, s->torch.at,
		    "torch has no version: stackbuild selects %s, %s", s->torch.value,
		    s->torch.reason);
	diag_help(d,
		  "pin it, so that the next release of the knowledge does not move it: "
		  "torch.version: %s",
		  s->torch.value);
}

/* --- the build, and its index --- */

/* PyPI carries the build.  For aarch64 its build was another for long: one without CUDA. */
static bool
from_pypi(const struct workspace *w, const struct torch_variant *v)
{
	if (!v->on_pypi)
		return false;
	/* The index of a build that is named lacks what such a build needs; PyPI has both. */
	return w->index.s ? v->cuda_bindings != NULL :
			    !v->on_index || strcmp(recipe_machine(w->r), "aarch64") != 0;
}

/* `index: cu121`, or a URL. */
static struct choice
named_index(struct workspace *w, const struct torch_variant *v)
{
	if (strstr(w->index.s, "://"))
		return choice_given(w->index, "the recipe names it");
	if (v && from_pypi(w, v))
		return choice_made(NULL, "the recipe requires this build, which PyPI carries",
				   v->source);
	return choice_made(facts_torch_index(w->f, w->a, w->index_tag),
			   "the recipe requires this build", v ? v->source : NULL);
}

/* `index: pypi`, or none. */
static struct choice
index_of_build(struct workspace *w, const struct torch_variant *v, bool asked)
{
	bool pypi = asked || (v && from_pypi(w, v));

	if (!v && !asked && !w->s->torch_release && w->s->cuda.value)
		return choice_made(facts_torch_index(w->f, w->a, w->s->torch_tag),
				   "by the rule that torch's indexes follow", NULL);
	if (!v || asked)
		return choice_made(NULL,
				   asked ? "the recipe requires PyPI's build" : "PyPI's build",
				   v ? v->source : NULL);
	return choice_made(pypi || !v->on_index ? NULL : facts_torch_index(w->f, w->a, v->tag),
			   arena_printf(w->a, "its build for %s%s%s", v->cuda ? "CUDA " : "the ",
					v->cuda ? v->cuda : "CPU",
					pypi ? ", which PyPI carries" : ""),
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

/* --- what comes with it --- */

/* A bare `torchvision` gets the release that the solver selected for this torch. */
static struct stack_package
companion(struct workspace *w, const struct recipe_requirement *q)
{
	const struct torch_release *t = w->s->torch_release;
	const struct candidate *c = decided(w, q->req->key);
	struct stack_package p = package_given(q, "installed together with torch");

	if (t && c && torch_companion(t, p.key) && !strcmp(q->text.s, q->req->name)) {
		p.requirement = arena_printf(w->a, "%s==%s", q->text.s, c->text);
		p.reason = "the one release that was built for this torch";
		p.source = t->source;
		p.given = false;
	}
	return p;
}

/* The numpy that must hold in every step: the recipe's, or one that torch can work with. */
static void
choose_numpy(struct workspace *w)
{
	const struct torch_release *t = w->s->torch_release;
	const struct recipe_requirements *lists[] = { &w->r->packages, &w->r->torch.with };

	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < lists[k]->n; i++) {
			const struct recipe_requirement *q = &lists[k]->at[i];
			const char *spec = specifiers_text(w->a, q->req->spec);

			if (strcmp(q->req->key, "numpy") != 0 || !*spec ||
			    !marker_holds(w, q->req->marker))
				continue;
			w->s->numpy = choice_given(
				(struct text){ arena_printf(w->a, "numpy%s", spec), q->text.at },
				"the recipe requires it");
			return;
		}
	if (t && t->numpy2 == TRI_NO)
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

	if (r->torch.at.line || r->torch.version.s) {
		choose_release(w, v);
		choose_build(w);
		list_push(w->a, &s->torch_packages,
			  (struct stack_package){
				  .requirement = arena_printf(w->a, "torch==%s",
							      v && version_local(w->a, v) ?
								      version_text(w->a, v) :
								      s->torch.value),
				  .key = "torch",
				  .reason = s->torch.reason,
				  .source = s->torch.source,
				  .at = s->torch.at,
				  .given = s->torch.given,
			  });
		for (size_t i = 0; i < r->torch.with.n; i++)
			list_push(w->a, &s->torch_packages, companion(w, &r->torch.with.at[i]));
	}
	choose_numpy(w);
}

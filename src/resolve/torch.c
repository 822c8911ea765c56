#include "internal.h"

/*
 * torch: which release, which of its builds, from which index, and what must come with
 * it.  Sets cuda when nothing else does: a build is for one CUDA.
 */

/* Left open: what the solver took, or the newest where it found nothing. */
static void
choose_release(struct workspace *w)
{
	size_t n;
	const struct torch_release *const *all = facts_torch_all(w->f, &n);
	const struct candidate *c = solution_selected(w->solution, "torch");
	struct stack *s = w->s;
	struct diag *d;

	s->torch_release = c && c->entry ? c->entry : all[n - 1];
	s->torch =
		choice_made(s->torch_release->version,
			    s->torch_release == all[n - 1] ? "the newest that is known" :
							     "the newest that goes with the rest",
			    s->torch_release->source);
	s->torch.at = w->r->torch.at;
	d = diag_at(w->ds, W_UNPINNED, w->r->torch.at, "torch has no version: %s is taken, %s",
		    s->torch.value, s->torch.reason);
	diag_help(d,
		  "pin it, so that the next release of the knowledge does not move it: "
		  "torch.version: %s",
		  s->torch.value);
}

static const struct torch_variant *
newest_build(const struct torch_release *t)
{
	const struct torch_variant *v = torch_variant_on_pypi(t);

	return v ? v : t->nvariants ? &t->variants[t->nvariants - 1] : NULL;
}

static void
unknown_release(struct workspace *w)
{
	size_t n;
	const struct torch_release *const *all = facts_torch_all(w->f, &n);
	struct diag *d = diag_at(w->ds, W_TORCH_UNKNOWN, w->s->torch.at,
				 "nothing is known of torch %s", w->s->torch.value);

	if (n)
		diag_why(d,
			 "the newest known is %s; this one is judged by its number and index alone",
			 all[n - 1]->version);
}

static void
use_build(struct workspace *w, const struct torch_variant *v, bool from_pypi, const char *reason)
{
	struct stack *s = w->s;

	s->torch_variant = v;
	s->torch_tag = v->tag;
	s->torch_index = choice_made(from_pypi ? NULL : v->index, reason, v->source);
}

static void
index_given(struct workspace *w, struct text index)
{
	struct stack *s = w->s;
	const struct torch_release *t = s->torch_release;

	if (!strcmp(index.s, "pypi")) {
		const struct torch_variant *v = t ? torch_variant_on_pypi(t) : NULL;

		if (v)
			use_build(w, v, true, "the recipe asks for PyPI's build");
		else
			s->torch_index.reason = "the recipe asks for PyPI's build";
	} else if (strstr(index.s, "://")) {
		const char *end = strrchr(index.s, '/');
		size_t n = strlen(index.s);

		if (end && !end[1] && n > 1) { /* a slash at the end */
			const char *cut = arena_copy(w->a, index.s, n - 1);

			end = strrchr(cut, '/');
		}
		s->torch_tag = end && (cuda_of_tag(w->a, end + 1) || !strcmp(end + 1, "cpu")) ?
				       end + 1 :
				       NULL;
		s->torch_variant = t && s->torch_tag ? torch_variant(t, s->torch_tag) : NULL;
		s->torch_index = choice_given(index, "the recipe names it");
	} else {
		const struct torch_variant *v = t ? torch_variant(t, index.s) : NULL;

		s->torch_tag = index.s;
		s->torch_variant = v;
		/* Its own index does not have all that it needs, and PyPI has both. */
		if (v && v->on_pypi && v->cuda_bindings)
			s->torch_index = choice_made(
				NULL, "the recipe asks for this build, which PyPI carries",
				v->source);
		else
			s->torch_index = choice_made(
				v && v->index ? v->index : facts_torch_index(w->f, w->a, index.s),
				"the recipe asks for this build", v ? v->source : NULL);
	}
	s->torch_index.at = index.at;
	s->torch_index.given = true;
}

/* No index: the build that goes with the CUDA that is there. */
static void
index_chosen(struct workspace *w)
{
	struct stack *s = w->s;
	const struct torch_release *t = s->torch_release;
	const char *cuda = s->cuda.value;
	const struct candidate *c = solution_selected(w->solution, "torch build");
	const struct torch_variant *v = t && c ? torch_variant(t, c->text) : NULL;
	bool pypi;

	if (!v && t)
		v = newest_build(t);
	/* PyPI's build for aarch64 is another: without CUDA, for long. */
	pypi = v && v->on_pypi && (!v->index || strcmp(resolve_machine(w), "aarch64") != 0);
	if (v) {
		use_build(w, v, pypi,
			  arena_printf(w->a, "its build for %s%s%s", v->cuda ? "CUDA " : "the ",
				       v->cuda ? v->cuda : "CPU",
				       pypi ? ", which PyPI carries" : ""));
	} else if (!t && cuda) {
		s->torch_tag = cuda_tag(w->a, cuda);
		s->torch_index = choice_made(facts_torch_index(w->f, w->a, s->torch_tag),
					     "by the rule that torch's indexes follow", NULL);
	} else {
		s->torch_index.reason = "PyPI's build";
	}
}

/* A bare `torchvision` gets the one release that was built for this torch. */
static struct stack_package
companion(struct workspace *w, const struct recipe_requirement *q)
{
	const struct torch_release *t = w->s->torch_release;
	struct stack_package p = { .requirement = q->text.s,
				   .key = q->req->key,
				   .reason = "installed together with torch",
				   .at = q->text.at,
				   .given = true };
	const char *pair = !t                            ? NULL :
			   !strcmp(p.key, "torchvision") ? t->torchvision :
			   !strcmp(p.key, "torchaudio")  ? t->torchaudio :
							   NULL;

	if (pair && !strcmp(q->text.s, q->req->name)) {
		p.requirement = arena_printf(w->a, "%s==%s", q->text.s, pair);
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

			if (strcmp(q->req->key, "numpy") != 0 || !*spec)
				continue;
			w->s->numpy = choice_given(
				(struct text){ arena_printf(w->a, "numpy%s", spec), q->text.at },
				"the recipe asks for it");
			return;
		}
	if (t && t->numpy2 == TRI_NO)
		w->s->numpy = choice_made(
			"numpy<2",
			arena_printf(w->a, "torch %s was built against numpy 1", t->version),
			t->source);
}

/* Left open: the toolkit that goes with torch's build, where one is needed. */
static void
choose_cuda(struct workspace *w)
{
	struct stack *s = w->s;
	const struct candidate *c = solution_selected(w->solution, "cuda");
	const char *own =
		s->torch_variant ? s->torch_variant->cuda : cuda_of_tag(w->a, s->torch_tag);
	const char *reason = arena_printf(w->a, "torch's %s build is for it", s->torch_tag);

	if (s->cuda.value || !own)
		return;
	if (c && !version_same_series(c->text, own))
		s->cuda = choice_made(version_series(w->a, c->text),
				      "the nearest to torch's build that goes with the rest",
				      c->entry ? ((const struct cuda_toolkit *)c->entry)->source :
						 NULL);
	else
		s->cuda = choice_made(own, reason,
				      s->torch_variant ? s->torch_variant->source : NULL);
}

void
resolve_torch(struct workspace *w)
{
	const struct recipe *r = w->r;
	struct stack *s = w->s;
	const struct version *v;
	const char *local;

	if (!r->torch.at.line && !r->torch.version.s) {
		choose_numpy(w);
		return;
	}
	v = r->torch.version.s ? version_parse(w->a, r->torch.version.s) : NULL;
	local = v ? version_local(w->a, v) : NULL;
	if (v) {
		s->torch = choice_given(r->torch.version, "the recipe pins it");
		s->torch.value = version_public(w->a, v);
		s->torch_release = facts_torch(w->f, s->torch.value);
		if (s->torch_release)
			s->torch.source = s->torch_release->source;
		else
			unknown_release(w);
	} else {
		choose_release(w);
	}
	if (r->torch.index.s)
		index_given(w, r->torch.index);
	else if (local)
		index_given(w, (struct text){ local, r->torch.version.at });
	else
		index_chosen(w);
	list_push(
		w->a, &s->torch_packages,
		(struct stack_package){
			.requirement = arena_printf(w->a, "torch==%s",
						    local ? version_text(w->a, v) : s->torch.value),
			.key = "torch",
			.reason = s->torch.reason,
			.source = s->torch.source,
			.at = s->torch.at,
			.given = s->torch.given,
		});
	for (size_t i = 0; i < r->torch.with.n; i++)
		list_push(w->a, &s->torch_packages, companion(w, &r->torch.with.at[i]));
	choose_numpy(w);
	choose_cuda(w);
}

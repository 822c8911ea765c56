#include "work.h"

/*
 * torch: which release, which of its builds, from which index, and what must come with
 * it.  Sets cuda when nothing else does: a build is for one CUDA.
 */

static size_t
cuda_builds(const struct torch_release *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->nvariants; i++)
		n += t->variants[i].cuda != NULL;
	return n;
}

/* The build for a CUDA series; the one that PyPI carries before others. */
static const struct torch_variant *
build_for_cuda(const struct work *w, const struct torch_release *t, const char *cuda)
{
	const struct torch_variant *found = NULL;

	for (size_t i = 0; i < t->nvariants; i++) {
		const struct torch_variant *v = &t->variants[i];

		if (v->cuda && same_series(w->a, v->cuda, cuda) && (!found || v->on_pypi))
			found = v;
	}
	return found;
}

/* "cu121" of "12.1.0" */
static const char *
tag_of_cuda(struct work *w, const char *cuda)
{
	const char *series = version_series(w->a, cuda);
	size_t dot = strcspn(series, ".");

	return arena_printf(w->a, "cu%.*s%s", (int)dot, series,
			    series[dot] ? series + dot + 1 : "0");
}

/* "12.1" of "cu121"; NULL for what is no CUDA tag. */
static const char *
cuda_of_tag(struct work *w, const char *tag)
{
	size_t n = tag ? strlen(tag) : 0;

	if (n < 4 || !starts_with(tag, "cu") || strspn(tag + 2, "0123456789") != n - 2)
		return NULL;
	return arena_printf(w->a, "%.*s.%s", (int)(n - 3), tag + 2, tag + n - 1);
}

/* Whether a release goes with all that the recipe pins. */
static bool
release_fits(struct work *w, const struct torch_release *t)
{
	const struct recipe *r = w->r;
	const char *tag = r->torch.index.s;
	bool is_tag = tag && !strstr(tag, "://") && strcmp(tag, "pypi") != 0;

	if (version_is_prerelease(version_parse(w->a, t->version)))
		return false;
	if (r->python.s && t->pythons.n && !names_have(&t->pythons, r->python.s))
		return false;
	if (is_tag && !torch_variant(t, tag))
		return false;
	if (!tag && w->s->cuda.value && !build_for_cuda(w, t, w->s->cuda.value))
		return false;
	w->s->torch_release = t; /* resolve_pairs looks at the triton that it brings */
	return !resolve_pairs(w, "torch", t->version) &&
	       !(t->triton && resolve_pairs(w, "triton", resolve_version_of(w, "triton")));
}

static void
choose_release(struct work *w)
{
	size_t n, k;
	const struct torch_release *const *all = facts_torch_all(w->f, &n);
	struct stack *s = w->s;
	struct diag *d;

	for (k = n; k-- > 0;)
		if (release_fits(w, all[k]))
			break;
	if (k == (size_t)-1)
		k = n - 1;
	s->torch_release = all[k];
	s->torch = choice_made(all[k]->version,
			       k == n - 1 ? "the newest that is known" :
					    "the newest that goes with what the recipe pins",
			       all[k]->source);
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
unknown_release(struct work *w)
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

/* A build that the release does not have, as far as is known. */
static void
judge_tag(struct work *w, const char *tag, struct span at)
{
	const struct torch_release *t = w->s->torch_release;
	struct buf has = BUF(w->a);
	struct diag *d;

	for (size_t i = 0; i < t->nvariants; i++)
		buf_printf(&has, "%s%s", i ? ", " : "", t->variants[i].tag);
	/*
	 * One build alone is what PyPI has; the list is then not known to be whole.  Builds
	 * for other makers' GPUs are not listed at all.
	 */
	if (cuda_builds(t) > 1 && cuda_of_tag(w, tag)) {
		d = diag_at(w->ds, E_TORCH_BUILD, at, "torch %s was not published as %s",
			    t->version, tag);
		diag_help(d, "its builds are %s", buf_text(&has));
	} else {
		d = diag_at(w->ds, W_TORCH_BUILD, at, "no %s build of torch %s is known", tag,
			    t->version);
		diag_why(d, "known are: %s", t->nvariants ? buf_text(&has) : "none");
	}
	diag_source(d, t->source);
}

static void
use_build(struct work *w, const struct torch_variant *v, bool from_pypi, const char *reason)
{
	struct stack *s = w->s;

	s->torch_variant = v;
	s->torch_tag = v->tag;
	s->torch_index = choice_made(from_pypi ? NULL : v->index, reason, v->source);
}

static void
index_given(struct work *w, struct text index)
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
		s->torch_tag = end && (cuda_of_tag(w, end + 1) || !strcmp(end + 1, "cpu")) ?
				       end + 1 :
				       NULL;
		s->torch_variant = t && s->torch_tag ? torch_variant(t, s->torch_tag) : NULL;
		s->torch_index = choice_given(index, "the recipe names it");
	} else {
		const struct torch_variant *v = t ? torch_variant(t, index.s) : NULL;

		if (t && !v)
			judge_tag(w, index.s, index.at);
		s->torch_tag = index.s;
		s->torch_variant = v;
		s->torch_index = choice_made(
			v && v->index ? v->index : facts_torch_index(w->f, w->a, index.s),
			"the recipe asks for this build", v ? v->source : NULL);
	}
	s->torch_index.at = index.at;
	s->torch_index.given = true;
}

/* "take a base with CUDA 11.8 or 12.1; torch 2.4.0 is the first with a build for 12.4" */
static void
help_other_cuda(struct work *w, struct diag *d, const struct torch_release *t, const char *cuda)
{
	size_t n, k = 0;
	const struct torch_release *const *all = facts_torch_all(w->f, &n);
	struct buf b = BUF(w->a);

	for (size_t i = 0; i < t->nvariants; i++)
		if (t->variants[i].cuda)
			buf_printf(&b, "%s%s", b.n ? " or " : "",
				   version_series(w->a, t->variants[i].cuda));
	while (k < n && !build_for_cuda(w, all[k], cuda))
		k++;
	if (k < n)
		diag_help(d, "take a base with CUDA %s; torch %s is the first with a build for %s",
			  buf_text(&b), all[k]->version, version_series(w->a, cuda));
	else if (b.n)
		diag_help(d, "take a base with CUDA %s", buf_text(&b));
}

/* No index: the build that fits the CUDA that is asked for, or PyPI's. */
static void
index_chosen(struct work *w)
{
	struct stack *s = w->s;
	const struct torch_release *t = s->torch_release;
	const char *cuda = s->cuda.value;
	const struct torch_variant *v = t && cuda ? build_for_cuda(w, t, cuda) : NULL;
	struct diag *d;

	if (v) {
		use_build(w, v, v->on_pypi,
			  arena_printf(w->a, "its build for CUDA %s%s", v->cuda,
				       v->on_pypi ? ", which PyPI carries" : ""));
		return;
	}
	if (!t && cuda) {
		s->torch_tag = tag_of_cuda(w, cuda);
		s->torch_index = choice_made(facts_torch_index(w->f, w->a, s->torch_tag),
					     "by the rule that torch's indexes follow", NULL);
		return;
	}
	v = t ? newest_build(t) : NULL;
	if (!v) {
		s->torch_index.reason = "PyPI's build";
		return;
	}
	use_build(w, v, v->on_pypi, "PyPI's build");
	if (!cuda)
		return;
	d = diag_at(w->ds, W_TORCH_CUDA, s->torch.at, "no build of torch %s for CUDA %s is known",
		    t->version, cuda);
	diag_why(d, "its %s build, for CUDA %s, is taken", v->tag, v->cuda ? v->cuda : "none");
	if (s->cuda.given)
		diag_note(d, s->cuda.at, "CUDA %s comes from here", cuda);
	help_other_cuda(w, d, t, cuda);
	diag_source(d, t->source);
}

/* A bare `torchvision` gets the one release that was built for this torch. */
static struct stack_package
companion(struct work *w, const struct recipe_requirement *q)
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
choose_numpy(struct work *w)
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

void
resolve_torch(struct work *w)
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
	if (!s->cuda.value && s->torch_variant && s->torch_variant->cuda)
		s->cuda =
			choice_made(s->torch_variant->cuda,
				    arena_printf(w->a, "torch's %s build is for it", s->torch_tag),
				    s->torch_variant->source);
	else if (!s->cuda.value && cuda_of_tag(w, s->torch_tag))
		s->cuda = choice_made(
			cuda_of_tag(w, s->torch_tag),
			arena_printf(w->a, "torch's %s build is for it", s->torch_tag), NULL);
}

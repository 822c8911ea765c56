#include "work.h"

/* Which release of an extension, where the recipe leaves it open. */

/* Its own -std= must be what torch's headers need at least: "c++17" < "c++20". */
static bool
std_fits(const struct work *w, const struct extension_release *r)
{
	const char *need = w->s->torch_release ? w->s->torch_release->cxx_std : NULL;

	return !need || !r->cxx_std || strcmp(r->cxx_std, need) >= 0;
}

/* Why a release does not go with the rest, or NULL if it does. */
static const char *
misfit(const struct work *w, const struct extension *known, const struct extension_release *r)
{
	const char *series = w->s->python.value;
	const struct pairing *p;
	bool read;

	if (!std_fits(w, r))
		return arena_printf(w->a, "it compiles with -std=%s, and torch %s wants %s",
				    r->cxx_std, w->s->torch.value, w->s->torch_release->cxx_std);
	if (series && r->requires_python && !version_in(w->a, series, r->requires_python, &read) &&
	    read)
		return arena_printf(w->a, "it wants Python %s", r->requires_python);
	p = resolve_pairs(w, known->name, r->version);
	return p ? arena_printf(w->a, "%s %s needs %s %s: %s", p->name, p->spec, p->other, p->needs,
				p->why) :
		   NULL;
}

/* One that can be had, is final, and is what the recipe allows. */
static bool
can_be_had(const struct work *w, const struct recipe_extension *e,
	   const struct extension_release *r)
{
	const struct version *v = version_parse(w->a, r->version);

	return v && !version_is_prerelease(v) &&
	       (r->git_tag || (r->on_pypi && r->sdist_buildable == TRI_YES)) &&
	       (!e->specifier.s || version_in(w->a, r->version, e->specifier.s, NULL));
}

static bool
same_major(const struct work *w, const struct extension_release *x,
	   const struct extension_release *y)
{
	const struct version *vx = version_parse(w->a, x->version);
	const struct version *vy = version_parse(w->a, y->version);

	return vx && vy && version_release(vx, 0) == version_release(vy, 0);
}

const struct extension_release *
resolve_release(struct work *w, const struct recipe_extension *e, const struct extension *known)
{
	const struct extension_release *r = NULL, *newest = NULL;
	struct diag *d;

	for (size_t i = known->nreleases; i-- > 0 && !r;) {
		const struct extension_release *x = &known->releases[i];

		if (!can_be_had(w, e, x))
			continue;
		if (!newest)
			newest = x;
		if (same_major(w, x, newest) && !misfit(w, known, x))
			r = x;
	}
	if (!known->nreleases) {
		d = diag_at(w->ds, W_UNPINNED, e->at, "`%s` has no version: pip takes the newest",
			    e->name.s);
		diag_help(d, "pin it: %s==VERSION", e->name.s);
		return NULL;
	}
	if (!newest) {
		d = diag_at(w->ds, W_UNPINNED, e->at,
			    "`%s` has no version, and no known one is %s: pip chooses", e->name.s,
			    e->specifier.s ? e->specifier.s : "to be had");
		diag_help(d, "`stackbuild facts extension %s` lists the releases", known->name);
		return NULL;
	}
	d = diag_at(w->ds, W_UNPINNED, e->at, "`%s` has no version: %s is taken, the newest%s",
		    e->name.s, r ? r->version : newest->version,
		    r ? " that goes with the rest" : "; none is known to go with the rest");
	if (!r)
		diag_why(d, "%s", misfit(w, known, newest));
	r = r ? r : newest;
	diag_help(d, "pin it: %s==%s", e->name.s, r->version);
	return r;
}

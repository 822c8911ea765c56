#include "work.h"

/* Which release of an extension, where the recipe leaves it open. */

/* The newest that is final and can be had, whatever else there is. */
static const struct extension_release *
newest(const struct work *w, const struct extension *known)
{
	for (size_t i = known->nreleases; i-- > 0;) {
		const struct extension_release *r = &known->releases[i];
		const struct version *v = version_parse(w->a, r->version);

		if (v && !version_is_prerelease(v) &&
		    (r->git_tag || (r->on_pypi && r->sdist_buildable == TRI_YES)))
			return r;
	}
	return NULL;
}

const struct extension_release *
resolve_release(struct work *w, const struct recipe_extension *e, const struct extension *known)
{
	const struct fit_candidate *c = fit_chosen(w->fit, known->name);
	const struct extension_release *r = c ? c->entry : NULL, *first = newest(w, known);
	struct diag *d;

	if (!r) {
		d = diag_at(w->ds, W_UNPINNED, e->at, "`%s` has no version%s%s: pip takes one",
			    e->name.s, e->specifier.s ? ", and no known one is " : "",
			    e->specifier.s ? e->specifier.s : "");
		diag_help(d,
			  known->nreleases ? "`stackbuild facts extension %s` lists the releases" :
					     "pin it: %s==VERSION",
			  known->name);
		return NULL;
	}
	d = diag_at(w->ds, W_UNPINNED, e->at, "`%s` has no version: %s is taken, the newest%s",
		    e->name.s, r->version, r == first ? "" : " that goes with the rest");
	diag_help(d, "pin it: %s==%s", e->name.s, r->version);
	return r;
}

#include "internal.h"

/* Diagnostics about an extension that the recipe does not pin. */

/* Returns the newest final release that has a source; with `upto`, it has a tag and is not newer
 * than that. */
static const struct extension_release *
newest(struct workspace *w, const struct extension *known, bool tagged, const char *upto)
{
	for (size_t i = known->nreleases; i-- > 0;) {
		const struct extension_release *r = &known->releases[i];
		const struct version *v = facts_version(w->f, r->version);
		bool pypi = !tagged && r->on_pypi && r->sdist_buildable == TRI_YES;

		if (v && !version_is_prerelease(v) && ((r->git_tag && !r->git) || pypi) &&
		    (!upto || text_version_order(w, r->version, upto) <= 0))
			return r;
	}
	return NULL;
}

void
report_unpinned_extension(struct workspace *w, const struct recipe_extension *e,
			  const struct extension *known, const struct extension_release *r)
{
	const char *pinned;
	struct diag *d;

	if (!r) {
		d = diag_at(w->ds, W_UNPINNED, e->at, "`%s` has no version%s%s: pip selects one",
			    e->name.s, e->specifier.s ? ", and no known one is " : "",
			    e->specifier.s ? e->specifier.s : "");
		diag_help(d,
			  known->nreleases ? "`stackbuild facts extension %s` lists the releases" :
					     "pin it: %s==VERSION",
			  known->name);
		return;
	}
	d = diag_at(w->ds, W_UNPINNED, e->at,
		    "`%s` has no version: stackbuild selects %s, the newest%s", e->name.s,
		    r->version, r == newest(w, known, false, NULL) ? "" : " compatible release");
	pinned = arena_printf(w->a, "%s==%s", e->name.s, r->version);
	if (e->at.width == strlen(e->name.s) || e->at.width == strlen(e->name.s) + 2)
		fix_scalar(w, d, e->at, pinned, "pin it: %s", pinned);
	else
		diag_help(d, "pin it: %s", pinned);
}

/* --- a repository without a tag --- */

/*
 * Inserts the tag. It replaces a branch; otherwise `ref:` follows the URL of a short form, the
 * value of `git` in { }, or the line with `git` of a block, in the same column.
 */
static const char *
place_of_ref(struct workspace *w, const struct recipe_extension *e, const char *tag,
	     struct span *at)
{
	struct str line, text;
	const char *key, *rest;

	*at = e->branch.at;
	if (e->branch.s)
		return e->written.s ? tag : edit_scalar(w->a, *at, tag);
	*at = e->git.at;
	at->col += at->width;
	at->width = 0;
	if (e->written.s)
		return arena_printf(w->a, "@%s", tag);
	if (e->at.src != e->git.at.src || !edit_place(e->at, &line, &text))
		return NULL;
	if (*text.p == '{')
		return arena_printf(w->a, ", ref: %s", edit_scalar(w->a, (struct span){ 0 }, tag));
	if (!edit_place(e->git.at, &line, &text))
		return NULL;
	key = line.p + strspn(line.p, " -");
	rest = text.p + text.n;
	if (!starts_with(key, "git:"))
		return NULL;
	if (rest < line.p + line.n && rest[strspn(rest, " ")] == '#')
		at->col = (uint32_t)text_columns(line.p, line.n) + 1;
	return arena_printf(w->a, "\n%*sref: %s", (int)(key - line.p), "",
			    edit_scalar(w->a, (struct span){ 0 }, tag));
}

void
report_not_pinned(struct workspace *w, const struct recipe_extension *e,
		  const struct extension *known)
{
	/* Suggests the release that the solver selected, or one before it. */
	const struct candidate *c = solution_selected(w->solution, known->name);
	const struct extension_release *chosen = c ? c->entry : NULL;
	const struct extension_release *r = newest(w, known, true, chosen ? chosen->version : NULL);
	const char *text;
	struct span at;
	struct diag *d;

	if (e->branch.s)
		d = diag_at(w->ds, E_NOT_PINNED, e->branch.at, "`%s` is a branch of `%s`",
			    e->branch.s, e->name.s);
	else
		d = diag_at(w->ds, E_NOT_PINNED, e->git.at,
			    "`%s` comes from a git repository without a tag or commit", e->name.s);
	diag_why(d, "a branch moves, so the same recipe would build different code later");
	if (!r)
		return;
	text = place_of_ref(w, e, r->git_tag, &at);
	if (text)
		diag_fix(d, at, text, "use its tag %s, the newest compatible one", r->git_tag);
	else
		diag_help(d, "add `ref: %s`, the newest compatible tag", r->git_tag);
	diag_source(d, r->source);
}

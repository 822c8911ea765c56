#include "base/edit.h"
#include "internal.h"

/* What is reported of an extension that the recipe does not pin. */

/* The newest that is final and can be had, whatever else there is. */
static const struct extension_release *
newest(const struct workspace *w, const struct extension *known)
{
	for (size_t i = known->nreleases; i-- > 0;) {
		const struct extension_release *r = &known->releases[i];
		const struct version *v = facts_version(w->f, r->version);

		if (v && !version_is_prerelease(v) &&
		    (r->git_tag || (r->on_pypi && r->sdist_buildable == TRI_YES)))
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
		    r->version, r == newest(w, known) ? "" : " compatible release");
	pinned = arena_printf(w->a, "%s==%s", e->name.s, r->version);
	if (e->at.width == strlen(e->name.s) || e->at.width == strlen(e->name.s) + 2)
		diag_fix(d, e->at, edit_scalar(w->a, e->at, pinned), "pin it: %s", pinned);
	else
		diag_help(d, "pin it: %s", pinned);
}

/* --- a repository without a tag --- */

/* The newest that has a tag: that of the solver, or one before it. */
static const struct extension_release *
newest_tagged(struct workspace *w, const struct extension *known)
{
	const struct candidate *c = solution_selected(w->solution, known->name);
	const struct extension_release *chosen = c ? c->entry : NULL, *found = NULL;

	for (size_t i = 0; i < known->nreleases; i++) {
		const struct extension_release *r = &known->releases[i];
		const struct version *v = facts_version(w->f, r->version);

		if (r->git_tag && v && !version_is_prerelease(v) &&
		    (!chosen || text_version_order(w, r->version, chosen->version) <= 0))
			found = r;
	}
	return found;
}

/* How many code points of a line stand before and behind a column. */
static const char *
behind(struct span at, uint32_t *end)
{
	const char *line, *rest;
	uint32_t col = 1;
	size_t size = 0;

	if (!source_line(at.src, at.line, &line, &size))
		return NULL;
	rest = line + size;
	for (size_t i = 0; i < size; i++) {
		if (((unsigned char)line[i] & 0xc0) == 0x80)
			continue;
		if (col == at.col + at.width)
			rest = line + i;
		col++;
	}
	*end = col;
	return rest;
}

/*
 * Where the tag goes: in place of a branch; `ref:` with it behind the URL of a short form, behind the value of git: in { }, on the
 * next line of a block, in the column of git:.
 */
static const char *
place_of_ref(struct workspace *w, const struct recipe_extension *e, const char *tag,
	     struct span *at)
{
	const char *line, *rest, *key;
	size_t size = 0, indent;
	uint32_t end;

	*at = e->branch.at;
	if (e->branch.s)
		return e->written.s ? tag : edit_scalar(w->a, *at, tag);
	*at = e->git.at;
	at->col += at->width;
	at->width = 0;
	if (e->written.s)
		return arena_printf(w->a, "@%s", tag);
	if (!e->git.at.src || !source_line(e->at.src, e->at.line, &line, &size) ||
	    e->at.src != e->git.at.src)
		return NULL;
	if (e->at.col <= size && line[e->at.col - 1] == '{')
		return arena_printf(w->a, ", ref: %s", edit_scalar(w->a, (struct span){ 0 }, tag));
	if (!source_line(e->git.at.src, e->git.at.line, &line, &size) ||
	    !(rest = behind(e->git.at, &end)))
		return NULL;
	key = line + strspn(line, " -");
	indent = (size_t)(key - line);
	if (!starts_with(key, "git:"))
		return NULL;
	if (rest < line + size && rest[strspn(rest, " ")] == '#')
		at->col = end;
	return arena_printf(w->a, "\n%*sref: %s", (int)indent, "",
			    edit_scalar(w->a, (struct span){ 0 }, tag));
}

void
report_not_pinned(struct workspace *w, const struct recipe_extension *e,
		  const struct extension *known)
{
	const struct extension_release *r = newest_tagged(w, known);
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

/*
 * Reads the requirements in METADATA: all without extras, and with extras those that the knowledge
 * base tracks.
 */
#include <string.h>

#include "base/str.h"
#include "internal.h"

enum { REQUIREMENT_MAX = 1000, REQUIREMENTS_MAX = 2000 };

/* Returns the form in which equal requirements are equal texts; NULL: there is none. A name may end
 * with `_`, as in Python's `packaging`, but its normalised form `n-` is not a name. */
static const char *
requirement_text(struct arena *a, const struct requirement *r)
{
	const char *marker = r->marker ? marker_text(a, r->marker) : "";
	const char *extras =
		r->extras.n ? arena_printf(a, "[%s]", names_join(a, &r->extras, ",")) : "";

	if (!marker || !name_valid(r->key))
		return NULL;
	return arena_printf(a, "%s%s%s%s%s%s%s", r->key, extras, r->url ? " @ " : "",
			    r->url ? r->url : specifiers_text(a, r->spec),
			    r->url && *marker ? " " : "", *marker ? "; " : "", marker);
}

static bool
is_plain(const char *text)
{
	for (const char *p = text; *p; p++)
		if (*p < ' ' || *p > '~')
			return false;
	return strlen(text) <= REQUIREMENT_MAX;
}

static const char *
file_of(const struct harvest_release *r)
{
	return r->on_page->wheel ? r->on_page->wheel->name : r->on_page->source->name;
}

/* Rejects METADATA of another package. */
static bool
is_of(struct work *w, const char *text, const struct harvest_release *r)
{
	struct names name = metadata_values(w->a, text, "Name");
	struct names version = metadata_values(w->a, text, "Version");
	const struct version *v = version.n == 1 ? version_parse(w->a, version.at[0]) : NULL;

	if (name.n == 1 && name_valid(name.at[0]) &&
	    !strcmp(name_normalize(w->a, name.at[0]), w->package) && v &&
	    !version_cmp(v, r->on_page->version))
		return true;
	w->index->why = arena_printf(w->a, "METADATA of %s does not belong to %s %s", file_of(r),
				     w->package, r->on_page->text);
	return false;
}

void
extras_take(struct work *w, struct harvest_release *r)
{
	static const char extra[] = "extra == \"";

	r->extras = (struct names){ 0 };
	for (size_t i = 0; i < r->requires.n; i++) {
		const char *p = r->requires.at[i], *name;

		while ((p = strstr(p, extra))) {
			p += strlen(extra);
			name = arena_copy(w->a, p, strcspn(p, "\""));
			if (name_valid(name))
				names_once(w->a, &r->extras, name);
		}
	}
	names_sort(&r->extras);
}

bool
metadata_take(struct work *w, const char *text, struct harvest_release *r)
{
	struct names lines = metadata_values(w->a, text, "Requires-Dist");

	/* The requirements of a source distribution may be unknown. */
	if (!r->on_page->wheel && !*text)
		return true;
	if (!is_of(w, text, r))
		return false;
	if (lines.n > REQUIREMENTS_MAX) {
		w->index->why = arena_printf(w->a, "METADATA of %s has %zu requirements",
					     file_of(r), lines.n);
		return false;
	}
	for (size_t i = 0; i < lines.n; i++) {
		const struct requirement *q = requirement_parse(w->a, lines.at[i], NULL, NULL);
		const char *shown = q ? requirement_text(w->a, q) : NULL;

		/* A recipe may pin any package, so a bound on it matters. */
		if (shown && strstr(shown, "extra == ") && !names_have(w->packages, q->key) &&
		    !facts_tracks(w->f, q->key))
			continue;
		/* An incomplete list of requirements would look complete. */
		if (!shown || !is_plain(shown)) {
			r->requires = (struct names){ 0 };
			return true;
		}
		names_once(w->a, &r->requires, shown);
	}
	r->has_metadata = true;
	extras_take(w, r);
	return true;
}

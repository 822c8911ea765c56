#include <stdlib.h>
#include <string.h>

#include "python/python.h"
#include "reader.h"

/*
 * The Python of a draft: the ranges of the files (requires-python), and the Python of the system,
 * which a Dockerfile installs with apt.
 */

/* Returns true if some release of a series is in a range: ">=3.10.4" has releases of 3.10. */
static bool
in_range(struct init *rd, const struct specifiers *range, const char *series)
{
	const struct version *first = version_parse(rd->a, series);
	const struct version *last = version_parse(rd->a, arena_printf(rd->a, "%s.99", series));

	return first && last && (specifiers_match(range, first) || specifiers_match(range, last));
}

/* Returns the first range that excludes a series, or NULL. */
static const struct init_range *
excluded(struct init *rd, const char *series)
{
	list_each (x, &rd->pythons)
		if (!in_range(rd, x->range, series))
			return x;
	return NULL;
}

/* Returns the number of a series of Python 3, such as 11; or -1. */
static int
minor(const char *series)
{
	return str_matches(series, "^3[.][0-9]+$") ? (int)strtol(series + 2, NULL, 10) : -1;
}

/* Returns the series that no range excludes, the nearest to `wanted` first. */
static struct names
candidates(struct init *rd, const char *wanted)
{
	struct names known = facts_python_series(rd->f), found = { 0 };

	for (int distance = 0; distance < 100; distance++)
		for (size_t i = 0; i < known.n; i++)
			if (minor(known.at[i]) >= 0 &&
			    abs(minor(known.at[i]) - minor(wanted)) == distance &&
			    !excluded(rd, known.at[i]))
				list_push(rd->a, &found, known.at[i]);
	return found;
}

void
python_range(struct init *rd, struct init_item *item, const char *spec)
{
	const struct specifiers *range = specifiers_parse(rd->a, spec);
	const char *series = str_matches(spec, "^ *(==|~=) *3[.][0-9]+([.][0-9*]+)* *$") ?
				     strchr(spec, '3') :
				     NULL;

	if (series) {
		item_take(rd, item, "python",
			  arena_copy(rd->a, series, 2 + strspn(series + 2, "0123456789")));
		return;
	}
	if (!range) {
		item_unread(rd, item, "choose it with --python", "it is not a range of versions");
		return;
	}
	list_push(rd->a, &rd->pythons, (struct init_range){ item, range, spec });
	rd->likely = NULL;
	item_take(rd, item, "python", NULL);
}

const char *
python_likely(struct init *rd)
{
	const char *python = init_value(rd, "python");
	struct names names = { 0 };

	if (!rd->pythons.n || python)
		return python ? python : "3.11";
	if (!rd->likely)
		names = candidates(rd, "3.11");
	if (!rd->likely)
		rd->likely = names.n ? names.at[0] : "3.11";
	return rd->likely;
}

/* Returns the reason of a note without the change that it describes. */
static const char *
without_advice(struct arena *a, const char *text)
{
	const char *use = strstr(text, ": use ");

	return use ? arena_copy(a, text, (size_t)(use - text)) : text;
}

/* Returns the Python of a draft that is completed without diagnostics, with `series` or, if it is
 * NULL, its own; NULL: there is none, for the reason in *first. */
static const char *
try_series(const struct init *rd, const char *path, const char *series, const char **first)
{
	struct diags quiet;
	struct init copy = init_copy(rd, &quiet);
	const char *found;

	quiet = DIAGS(quiet, rd->a);
	if (series && !init_get(&copy, "python"))
		init_set(&copy, "python", series);
	found = draft_select(&copy, path) ? init_value(&copy, "python") : NULL;
	if (found && (!series || !strcmp(found, series)))
		return found;
	for (const struct diag *d = quiet.head; d && !*first; d = d->next)
		if (d->code == N_INIT_CHANGED || code_table[d->code].severity == SEV_ERROR)
			*first = without_advice(rd->a, d->text);
	return NULL;
}

/* Selects the series in the ranges that is nearest to the one without them. */
static bool
choose_in_ranges(struct init *rd, const char *path)
{
	const char *why = NULL, *ignored = NULL;
	const char *found = try_series(rd, path, NULL, &ignored);
	struct names names = candidates(rd, found ? found : "3.11");
	struct diag *d;

	if (found && !excluded(rd, found))
		return true;
	for (size_t i = 0; i < names.n; i++)
		if (try_series(rd, path, names.at[i], &why)) {
			init_set(rd, "python", names.at[i]);
			init_get(rd, "python")->comment =
				arena_printf(rd->a, "the files require %s", rd->pythons.at[0].text);
			return true;
		}
	d = diag_at(
		rd->ds, E_INIT_INPUT, rd->pythons.at[0].item->at,
		names.n ? "no Python in the range `%s` is compatible with the other requirements" :
			  "the knowledge base has no Python in the range `%s`",
		rd->pythons.at[0].text);
	if (why)
		diag_why(d, "%s", why);
	diag_help(d, "change the range, or the versions that exclude its Pythons");
	return false;
}

bool
python_choose(struct init *rd, const char *path)
{
	struct init_item *python = init_get(rd, "python");
	const struct init_range *range = python ? excluded(rd, python->value) : NULL;
	const char *why = NULL;

	if (python && python->weak && (range || !try_series(rd, path, python->value, &why))) {
		item_changed(rd, python->at,
			     "the recipe has another Python than the system's %s%s%s",
			     python->value, why ? ": " : "", why ? why : "");
		python->value = NULL;
		python = NULL;
	}
	if (!python)
		return !rd->pythons.n || choose_in_ranges(rd, path);
	if (!range)
		return true;
	diag_help(diag_note(diag_at(rd->ds, E_INIT_INPUT, python->at,
				    "Python %s is outside the range `%s`", python->value,
				    range->text),
			    range->item->at, "required here"),
		  "choose a Python in the range with --python");
	return false;
}

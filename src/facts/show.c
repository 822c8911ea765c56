#include "show.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"

/*
 *   torch 2.2.2
 *     built        2024-03-25
 *     python       3.8 3.9 3.10 3.11 3.12
 *     builds  cuda    cudnn     archs                            pypi
 *     cu118   11.8.0  8.7.0.84  3.7 5.0 6.0 7.0 7.5 8.0 8.6 9.0  [1]
 *     cu121   12.1    8.9.2.26  5.0 6.0 7.0 7.5 8.0 8.6 9.0      yes [2]
 *
 *   source: knowledge/torch.yaml:276
 *           PyPI: torch 2.2.2 METADATA, read 2026-11-20
 *   [1]     ...
 */

enum { CELL_MAX = 50 }; /* bytes */

static bool
show_is_value(const char *key)
{
	/* The last three keys of releases/NAME.yaml repeat the name and the sources. */
	static const char *const others[] = { "source",  "sources", "unverified",
					      "package", "read",    "others" };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(key, others[i]))
			return false;
	return true;
}

static const char *
said(const char *s)
{
	return !strcmp(s, "true") ? "yes" : !strcmp(s, "false") ? "no" : s;
}

/* Returns true if a value has a source; in the conditions of a rule, `source` is a condition. */
static bool
has_source(const char *key, const struct claim *x)
{
	return strcmp(key ? key : "", "when") && fact_get(x, "source");
}

/* Returns the value of a key on one line, "yes" for true; NULL: it needs more lines. */
static const char *
show_value(struct arena *a, const char *of, const struct claim *x)
{
	struct buf b = BUF(a);

	if (fact_text(x))
		return said(fact_text(x));
	if (!fact_count(x))
		return "none";
	for (size_t i = 0; i < fact_count(x); i++) {
		const char *key = fact_key(x, i), *text = fact_text(fact_at(x, i));

		if (key && !show_is_value(key) && strcmp(of ? of : "", "when"))
			continue;
		if (!text)
			return NULL;
		buf_printf(&b, "%s%s%s%s", b.n ? ", " : "", key ? key : "", key ? " " : "",
			   key ? said(text) : text);
	}
	return buf_text(&b);
}

/* --- notes --- */

static const char *
show_mark(struct show *v, const struct claim *map)
{
	const char *source = fact_sources(v->a, map);
	const char *what = strchr(source, '(');
	size_t i = 0;

	what = what ? what : source;
	while (i < v->seen.n && strcmp(v->seen.at[i], what))
		i++;
	if (i == v->seen.n) {
		list_push(v->a, &v->seen, what);
		list_push(v->a, &v->notes, source);
	}
	return i ? arena_printf(v->a, "[%zu]", i) : NULL;
}

void
show_notes(struct show *v)
{
	buf_putc(v->out, '\n');
	for (size_t i = 0; i < v->notes.n; i++) {
		/* Splits "place (what)" into the place and the rest. */
		const char *note = v->notes.at[i], *what = strstr(note, " (");
		size_t place = what ? (size_t)(what - note) : strlen(note);

		show_line(v, 0, strlen("source:") - 1,
			  i ? arena_printf(v->a, "[%zu]", i) : "source:",
			  arena_copy(v->a, note, place), NULL);
		if (what)
			show_line(v, 0, strlen("source:") - 1, "",
				  arena_copy(v->a, what + 2, strlen(what) - 3), NULL);
	}
}

/* --- maps --- */

static size_t
show_key_width(struct arena *a, const struct claim *map, const struct names *but)
{
	size_t width = 0;

	for (size_t i = 0; i < fact_count(map); i++) {
		const char *key = fact_key(map, i);

		if (key && show_is_value(key) && !names_have(but, key) &&
		    show_value(a, key, fact_at(map, i)) && strlen(key) > width)
			width = strlen(key);
	}
	return width;
}

/* Returns whether each entry is a map of values that fit on one line: it can be a row. */
static bool
is_table(struct arena *a, const struct claim *x)
{
	for (size_t i = 0; i < fact_count(x); i++) {
		const struct claim *row = fact_at(x, i);

		if (fact_text(row) || (fact_count(row) && !fact_key(row, 0)))
			return false;
		for (size_t k = 0; k < fact_count(row); k++)
			if (show_is_value(fact_key(row, k)) &&
			    !show_value(a, fact_key(row, k), fact_at(row, k)))
				return false;
	}
	return fact_count(x) > 0;
}

/* Returns the text of a table cell: the length of a long list. */
static const char *
cell(struct arena *a, const char *of, const struct claim *x)
{
	const char *text = show_value(a, of, x);

	return !fact_text(x) && strlen(text) > CELL_MAX ? arena_printf(a, "%zu", fact_count(x)) :
							  text;
}

/* Writes a map of maps, or a list of them, under the name that it has. */
static bool
show_table(struct show *v, const struct claim *x, const char *name, unsigned indent)
{
	struct table table = { .heads = { name }, .columns = 1 };

	for (size_t i = 0; i < fact_count(x); i++)
		for (size_t k = 0; k < fact_count(fact_at(x, i)); k++)
			if (show_is_value(fact_key(fact_at(x, i), k)))
				table_column(&table, fact_key(fact_at(x, i), k));
	for (size_t i = 0; i < fact_count(x); i++) {
		const struct claim *row = fact_at(x, i);
		const char **cells = table_row(v, &table);

		cells[0] = fact_key(x, i);
		for (size_t k = 0; k < fact_count(row); k++)
			if (show_is_value(fact_key(row, k)))
				cells[table_column(&table, fact_key(row, k))] =
					cell(v->a, fact_key(row, k), fact_at(row, k));
		cells[table.columns] = show_mark(v, row);
	}
	if (!table_fits(&table, indent))
		return false;
	table_print(v, &table, indent);
	return true;
}

static void show_values(struct show *v, const struct claim *map, unsigned indent, size_t width,
			const struct names *but, const char *mark);

static void
show_nested(struct show *v, const struct claim *x, const char *name, unsigned indent)
{
	buf_printf(v->out, "%*s%s\n", (int)indent, "", name);
	for (size_t i = 0; i < fact_count(x); i++) {
		const char *key = fact_key(x, i), *mark = show_mark(v, fact_at(x, i));

		if (key && !show_is_value(key))
			continue;
		/* A source in this line is not repeated with each value. */
		buf_printf(v->out, "%*s%s%s%s\n", (int)indent + 2, "", key ? key : "-",
			   mark ? " " : "", mark ? mark : "");
		show_values(v, fact_at(x, i), indent + 4, 0, &(struct names){ 0 }, NULL);
	}
}

/* `mark` follows each value that has no source of its own. */
static void
show_values(struct show *v, const struct claim *map, unsigned indent, size_t width,
	    const struct names *but, const char *mark)
{
	struct nested LIST(size_t) nested = { 0 };

	if (!width)
		width = show_key_width(v->a, map, but);
	for (size_t i = 0; i < fact_count(map); i++) {
		const struct claim *x = fact_at(map, i);
		const char *key = fact_key(map, i), *text = show_value(v->a, key, x);

		if (!show_is_value(key) || names_have(but, key))
			continue;
		if (text)
			show_line(v, indent, width, key, text,
				  has_source(key, x) ? show_mark(v, x) : mark);
		else
			list_push(v->a, &nested, i);
	}
	for (size_t i = 0; i < nested.n; i++) {
		const struct claim *x = fact_at(map, nested.at[i]);
		const char *key = fact_key(map, nested.at[i]);

		buf_putc(v->out, '\n');
		if (!is_table(v->a, x) || !show_table(v, x, key, indent))
			show_nested(v, x, key, indent);
	}
}

void
show_map(struct show *v, const struct claim *map, unsigned indent, size_t width,
	 const struct names *but)
{
	show_values(v, map, indent, width, but, show_mark(v, map));
}

/* --- the result as text --- */

/* Returns the narrowest map: the requested entry. */
static const struct claim *
last_of(const struct found *x)
{
	return x->parts.at[x->parts.n - 1];
}

/* Returns the keys to leave out of a part: not requested, or repeated by a later part. */
static struct names
skipped(struct arena *a, const struct found *x, size_t part)
{
	const struct claim *map = x->parts.at[part];
	struct names skip = { 0 };

	for (size_t i = 0; i < fact_count(map); i++) {
		const char *key = fact_key(map, i);
		bool again = !strcmp(key, "versions") || (x->without && !strcmp(x->without, key));

		/* Shows only the facts about releases: `pypi` has another meaning there. */
		if (x->release && !part)
			again |= !facts_is_release_field(key) || !strcmp(key, "pypi");
		for (size_t k = part + 1; k < x->parts.n && strcmp(key, "note") != 0; k++)
			again |= fact_get(x->parts.at[k], key) != NULL;
		if (again)
			list_push(a, &skip, key);
	}
	return skip;
}

/* Returns whether a part has anything left to show. */
static bool
says(const struct claim *part, const struct names *skip)
{
	for (size_t i = 0; i < fact_count(part); i++)
		if (!names_have(skip, fact_key(part, i)) && show_is_value(fact_key(part, i)))
			return true;
	return false;
}

static void
show_parts(struct show *v, const struct found *x, size_t width)
{
	/* Pass 0 finds the width of the keys; pass 1 prints the narrowest part first. */
	for (int print = 0; print < 2; print++)
		for (size_t i = x->parts.n; i-- > 0;) {
			const struct names skip = skipped(v->a, x, i);
			size_t w = show_key_width(v->a, x->parts.at[i], &skip);

			width = w > width ? w : width;
			if (print && says(x->parts.at[i], &skip))
				show_map(v, x->parts.at[i], 2, width, &skip);
		}
}

/* Returns true for rows about that release, and for all rows if it is NULL. */
static bool
is_about(struct show *v, const struct claim *row, const char *release)
{
	return !release || fact_in_range(v->f, fact_text_of(row, "versions"), release);
}

/* Shows the packages that must be compatible: for all releases, or for one. */
static void
show_pairings(struct show *v, const struct claim *file, const char *release)
{
	const struct claim *rows = fact_get(file, "pairings");
	struct table t = table_of(v->a, "releases|compatible with|because");

	for (size_t i = 0; i < fact_count(rows); i++) {
		const struct claim *p = fact_at(rows, i);
		const char *why = fact_text_of(p, "why");

		if (!is_about(v, p, release))
			continue;
		if (fact_true_of(p, "optional"))
			why = arena_printf(v->a, "if it is installed: %s", why);
		table_add(v, &t, release ? NULL : fact_text_of(p, "versions"),
			  arena_printf(v->a, "%s %s", fact_text_of(p, "other"),
				       fact_text_of(p, "needs")),
			  why)[t.columns] = show_mark(v, p);
	}
	buf_puts(v->out, t.rows.n ? "\n" : "");
	table_print(v, &t, 2);
}

static const char *
pypi_cell(const struct extension_release *r)
{
	if (!r->on_pypi)
		return NULL;
	return r->sdist_buildable == TRI_YES ? "usable" :
	       r->sdist_buildable == TRI_NO  ? "unusable" :
					       "on PyPI";
}

static void
show_releases(struct show *v, const struct extension *e, const struct claim *file)
{
	const struct claim *all = fact_get(file, "releases");
	struct table t = table_of(v->a, "releases|date|tag|sdist|compiles for");

	for (size_t i = 0; i < e->nreleases; i++) {
		const struct extension_release *r = &e->releases[i];

		table_add(v, &t, r->version, fact_text_of(fact_at(all, i), "date"), r->git_tag,
			  pypi_cell(r), names_join(v->a, &r->archs, " "));
	}
	if (!t.rows.n)
		return;
	buf_putc(v->out, '\n');
	table_print(v, &t, 2);
	buf_printf(v->out, "\n  `stackbuild facts extension %s %s` shows one release\n", e->name,
		   e->releases[e->nreleases - 1].version);
}

static void
show_wheels(struct show *v, const struct found *x)
{
	const struct claim *groups = fact_get(x->parts.at[0], "wheels");
	const struct names but = names_split(v->a, "versions", '|');

	for (size_t i = 0; i < fact_count(groups); i++) {
		if (!is_about(v, fact_at(groups, i), x->release->version))
			continue;
		buf_puts(v->out, "\n  prebuilt wheels");
		show_map(v, fact_at(groups, i), 2, 0, &but);
	}
}

static void
show_extension(struct show *v, const struct found *x)
{
	const struct names but =
		names_split(v->a, "ranges|wheels|releases|env|pairings|wheel_url", '|');
	const struct claim *file = x->parts.at[0], *env = fact_get(file, "env");
	size_t width = 0;

	show_map(v, file, 2, 0, &but);
	buf_puts(v->out, fact_count(env) ? "\n  variables\n" : "");
	for (size_t i = 0; i < fact_count(env); i++)
		if (strlen(fact_key(env, i)) > width)
			width = strlen(fact_key(env, i));
	for (size_t i = 0; i < fact_count(env); i++)
		show_line(v, 2, width, fact_key(env, i), fact_text_of(fact_at(env, i), "what"),
			  show_mark(v, fact_at(env, i)));
	show_releases(v, x->extension, file);
	show_pairings(v, file, NULL);
}

void
found_text(const struct facts *f, struct arena *a, const struct found *x, struct buf *out)
{
	struct show v = { .f = f, .a = a, .out = out };
	const char *any = x->compat ? arena_printf(a, "driver, any %s.x", x->major) : NULL;
	size_t width = x->gpu ? strlen("in a recipe") : any ? strlen(any) : 0;

	buf_printf(out, "%s\n", x->title);
	if (x->extension && !x->release) {
		show_extension(&v, x);
		show_notes(&v);
		return;
	}
	/* The requested entry is the first note and needs no number. */
	show_mark(&v, last_of(x));
	if (x->gpu) {
		show_line(&v, 2, width, "in a recipe",
			  arena_printf(a, "%s or \"%s\"", x->gpu->id, x->gpu->cc), NULL);
		show_line(&v, 2, width, "capability", x->gpu->cc, NULL);
	}
	if (any)
		show_line(&v, 2, width, any, fact_text_of(x->compat, "driver"),
			  show_mark(&v, x->compat));
	show_parts(&v, x, width);
	if (x->release) {
		show_wheels(&v, x);
		show_pairings(&v, x->parts.at[0], x->release->version);
	}
	show_notes(&v);
}

/* --- the result as JSON --- */

static void json_values(struct json *j, const struct claim *map, const struct names *but);

static void
json_fact(struct json *j, const char *key, const struct claim *x)
{
	const char *text = fact_text(x);

	if (text && (!strcmp(text, "true") || !strcmp(text, "false"))) {
		json_bool(j, key, *text == 't');
	} else if (text) {
		json_text(j, key, text);
	} else if (fact_kind(x) == NODE_MAP) {
		json_map(j, key);
		json_values(j, x, &(struct names){ 0 });
		if (has_source(key, x))
			json_text(j, "source", fact_sources(j->out->a, x));
		else if (fact_get(x, "source"))
			json_fact(j, "source", fact_get(x, "source"));
		json_end(j);
	} else {
		json_list(j, key);
		for (size_t i = 0; i < fact_count(x); i++)
			json_fact(j, NULL, fact_at(x, i));
		json_end(j);
	}
}

static void
json_values(struct json *j, const struct claim *map, const struct names *but)
{
	for (size_t i = 0; i < fact_count(map); i++)
		if (show_is_value(fact_key(map, i)) && !names_have(but, fact_key(map, i)))
			json_fact(j, fact_key(map, i), fact_at(map, i));
}

/* Writes a map of facts under "known", with its source. */
static void
json_part(struct json *j, const struct claim *map, const struct names *but)
{
	json_map(j, "known");
	json_values(j, map, but);
	json_end(j);
	json_text(j, "source", fact_sources(j->out->a, map));
}

void
found_json(struct arena *a, const struct found *x, struct buf *out)
{
	struct names but = { 0 };
	struct json j = json_to(out);

	if (x->without)
		list_push(a, &but, x->without);
	json_map(&j, NULL);
	json_text(&j, "what", x->title);
	if (x->gpu) {
		json_text(&j, "id", x->gpu->id);
		json_text(&j, "capability", x->gpu->cc);
	}
	json_part(&j, last_of(x), &but);
	if (x->parts.n > 1 || x->compat)
		json_list(&j, "holds_for_several");
	for (size_t i = 0; i + 1 < x->parts.n; i++) {
		struct names skip = x->release && !i ? skipped(a, x, i) : but;

		if (!says(x->parts.at[i], &skip))
			continue;
		json_map(&j, NULL);
		json_part(&j, x->parts.at[i], &skip);
		json_end(&j);
	}
	if (x->compat) {
		json_map(&j, NULL);
		json_part(&j, x->compat, &but);
		json_end(&j);
	}
	if (x->parts.n > 1 || x->compat)
		json_end(&j);
	json_end(&j);
}

#include "show.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"

/*
 *   torch 2.2.2
 *     built        2024-03-25
 *     python       3.8 3.9 3.10 3.11 3.12
 *
 *     builds
 *       cu118  cuda 11.8.0, cudnn 8.7.0.84, archs 3.7 5.0 6.0 7.0 7.5 8.0 8.6 9.0 [1]
 *       cu121  cuda 12.1, cudnn 8.9.2.26, archs 5.0 6.0 7.0 7.5 8.0 8.6 9.0, pypi yes [2]
 *
 *   source: knowledge/torch.yaml:276
 *           PyPI: torch 2.2.2 METADATA, read 2026-11-20
 *   [1]     ...
 */

enum { LIST_MAX = 50 }; /* bytes */

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
		return fact_kind(x) == NODE_MAP ? "" : "none";
	for (size_t i = 0; i < fact_count(x); i++) {
		const char *key = fact_key(x, i), *text = fact_text(fact_at(x, i));

		if (key && !show_is_value(key) && strcmp(of ? of : "", "when"))
			continue;
		if (!text && fact_kind(fact_at(x, i)) == NODE_LIST)
			text = show_value(a, key, fact_at(x, i));
		/* The length of a long list. */
		if (text && text != fact_text(fact_at(x, i)) && strlen(text) > LIST_MAX)
			text = arena_printf(a, "%zu", fact_count(fact_at(x, i)));
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

		if (!key)
			return 1; /* width of the dash before an item */
		if (show_is_value(key) && !names_have(but, key) &&
		    show_value(a, key, fact_at(map, i)) && strlen(key) > width)
			width = strlen(key);
	}
	return width;
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
		const char *key = fact_key(map, i) ? fact_key(map, i) : "-";
		const char *text = show_value(v->a, key, x);

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
		const char *own = has_source(key, x) ? show_mark(v, x) : mark;

		/* A source in this line is not repeated with each value. */
		buf_printf(v->out, "%s%*s%s%s%s\n", indent > 2 ? "" : "\n", (int)indent, "",
			   key ? key : "-", own ? " " : "", own ? own : "");
		show_values(v, x, indent + 2, 0, &(struct names){ 0 }, NULL);
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

/* Shows the rows of a list in the file that are about the release. */
static void
show_rows(struct show *v, const struct found *x, const char *key)
{
	const struct claim *rows = fact_get(x->parts.at[0], key);
	const struct names but = names_split(v->a, "versions", '|');
	const char *title = arena_printf(v->a, "\n  %s\n", key);

	for (size_t i = 0; i < fact_count(rows); i++) {
		const struct claim *row = fact_at(rows, i);
		const char *mark;

		if (!fact_in_range(v->f, fact_text_of(row, "versions"), x->release->version))
			continue;
		mark = show_mark(v, row);
		buf_printf(v->out, "%s    -%s%s\n", title, mark ? " " : "", mark ? mark : "");
		show_values(v, row, 6, 0, &but, NULL);
		title = "";
	}
}

void
found_text(const struct facts *f, struct arena *a, const struct found *x, struct buf *out)
{
	struct show v = { .f = f, .a = a, .out = out };
	const char *any = x->compat ? arena_printf(a, "driver, any %s.x", x->major) : NULL;
	size_t width = x->gpu ? strlen("in a recipe") : any ? strlen(any) : 0;

	buf_printf(out, "%s\n", x->title);
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
		show_rows(&v, x, "wheels");
		show_rows(&v, x, "pairings");
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

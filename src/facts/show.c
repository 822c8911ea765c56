#include "show.h"

#include <string.h>

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

bool
show_is_value(const char *key)
{
	static const char *const others[] = { "source", "sources", "unverified" };

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

/* What a value looks like on one line, "yes" for true; NULL: it needs more. */
static const char *
show_value(struct arena *a, const struct node *x)
{
	struct buf b = BUF(a);

	if (fact_text(x))
		return said(fact_text(x));
	if (!x->n && x->kind == NODE_LIST)
		return "none";
	for (size_t i = 0; i < fact_count(x); i++) {
		const char *key = fact_key(x, i), *text = fact_text(fact_at(x, i));

		if (key && !show_is_value(key))
			continue;
		if (!text)
			return NULL;
		buf_printf(&b, "%s%s%s%s", b.n ? ", " : "", key ? key : "", key ? " " : "",
			   key ? said(text) : text);
	}
	return buf_text(&b);
}

/* --- notes --- */

const char *
show_mark(struct show *v, const struct node *map)
{
	const char *source = fact_sources(v->f, map);
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
		/* "place (what)": the place alone, then what it says. */
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

size_t
show_key_width(struct arena *a, const struct node *map, const struct names *but)
{
	size_t width = 0;

	for (size_t i = 0; i < fact_count(map); i++) {
		const char *key = fact_key(map, i);

		if (key && show_is_value(key) && !names_have(but, key) &&
		    show_value(a, fact_at(map, i)) && strlen(key) > width)
			width = strlen(key);
	}
	return width;
}

/* Whether each entry is a map of values that fit on one line: it can be a row. */
static bool
is_table(struct arena *a, const struct node *x)
{
	for (size_t i = 0; i < fact_count(x); i++) {
		const struct node *row = fact_at(x, i);

		if (fact_text(row) || (fact_count(row) && !fact_key(row, 0)))
			return false;
		for (size_t k = 0; k < fact_count(row); k++)
			if (show_is_value(fact_key(row, k)) && !show_value(a, fact_at(row, k)))
				return false;
	}
	return fact_count(x) > 0;
}

/* A map of maps, or a list of them, under the name that it has. */
static bool
show_table(struct show *v, const struct node *x, const char *name, unsigned indent)
{
	struct table table = { .heads = { name }, .columns = 1 };

	for (size_t i = 0; i < fact_count(x); i++)
		for (size_t k = 0; k < fact_count(fact_at(x, i)); k++)
			if (show_is_value(fact_key(fact_at(x, i), k)))
				table_column(&table, fact_key(fact_at(x, i), k));
	for (size_t i = 0; i < fact_count(x); i++) {
		const struct node *row = fact_at(x, i);
		const char **cells = table_row(v, &table);

		cells[0] = fact_key(x, i);
		for (size_t k = 0; k < fact_count(row); k++)
			if (show_is_value(fact_key(row, k)))
				cells[table_column(&table, fact_key(row, k))] =
					show_value(v->a, fact_at(row, k));
		cells[table.columns] = show_mark(v, row);
	}
	return table_print(v, &table, indent);
}

static void show_values(struct show *v, const struct node *map, unsigned indent, size_t width,
			const struct names *but, const char *mark);

static void
show_nested(struct show *v, const struct node *x, const char *name, unsigned indent)
{
	buf_printf(v->out, "%*s%s\n", (int)indent, "", name);
	for (size_t i = 0; i < fact_count(x); i++) {
		const char *key = fact_key(x, i), *mark = show_mark(v, fact_at(x, i));

		if (key && !show_is_value(key))
			continue;
		/* Told here, the source need not be told with each value. */
		buf_printf(v->out, "%*s%s%s%s\n", (int)indent + 2, "", key ? key : "-",
			   mark ? " " : "", mark ? mark : "");
		show_values(v, fact_at(x, i), indent + 4, 0, &(struct names){ 0 }, NULL);
	}
}

/* `mark`: what to put after each value that has no source of its own. */
static void
show_values(struct show *v, const struct node *map, unsigned indent, size_t width,
	    const struct names *but, const char *mark)
{
	struct nested LIST(size_t) nested = { 0 };

	if (!width)
		width = show_key_width(v->a, map, but);
	for (size_t i = 0; i < fact_count(map); i++) {
		const struct node *x = fact_at(map, i);
		const char *key = fact_key(map, i), *text = show_value(v->a, x);

		if (!show_is_value(key) || names_have(but, key))
			continue;
		if (text)
			show_line(v, indent, width, key, text,
				  node_get(x, "source") ? show_mark(v, x) : mark);
		else
			list_push(v->a, &nested, i);
	}
	for (size_t i = 0; i < nested.n; i++) {
		const struct node *x = fact_at(map, nested.at[i]);
		const char *key = fact_key(map, nested.at[i]);

		buf_putc(v->out, '\n');
		if (!is_table(v->a, x) || !show_table(v, x, key, indent))
			show_nested(v, x, key, indent);
	}
}

void
show_map(struct show *v, const struct node *map, unsigned indent, size_t width,
	 const struct names *but)
{
	show_values(v, map, indent, width, but, show_mark(v, map));
}

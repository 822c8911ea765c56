#include "show.h"

#include <string.h>

#include "base/json.h"

/* --- what was found, as text --- */

/* The narrowest: what was asked for. */
static const struct node *
last_of(const struct found *x)
{
	return x->parts.at[x->parts.n - 1];
}

/* Keys of a part that are not shown with it: not asked for, or said again by a later part. */
static struct names
skipped(struct arena *a, const struct found *x, size_t part)
{
	const struct node *map = x->parts.at[part];
	struct names skip = { 0 };

	for (size_t i = 0; i < fact_count(map); i++) {
		const char *key = fact_key(map, i);
		bool again = !strcmp(key, "versions") || (x->without && !strcmp(x->without, key));

		/* Of a file only what holds for its releases: `pypi` there is another thing. */
		if (x->release && !part)
			again |= !facts_is_release_field(key) || !strcmp(key, "pypi");
		for (size_t k = part + 1; k < x->parts.n && strcmp(key, "note") != 0; k++)
			again |= node_get(x->parts.at[k], key) != NULL;
		if (again)
			list_push(a, &skip, key);
	}
	return skip;
}

/* Whether anything is left to show of a part. */
static bool
says(const struct node *part, const struct names *skip)
{
	for (size_t i = 0; i < fact_count(part); i++)
		if (!names_have(skip, fact_key(part, i)) && show_is_value(fact_key(part, i)))
			return true;
	return false;
}

static void
show_parts(struct show *v, const struct found *x, size_t width)
{
	/* The narrowest first, when it is known how wide the keys are. */
	for (int print = 0; print < 2; print++)
		for (size_t i = x->parts.n; i-- > 0;) {
			const struct names skip = skipped(v->a, x, i);
			size_t w = show_key_width(v->a, x->parts.at[i], &skip);

			width = w > width ? w : width;
			if (print && says(x->parts.at[i], &skip))
				show_map(v, x->parts.at[i], 2, width, &skip);
		}
}

/* True for rows about that release, and for all rows if it is NULL. */
static bool
is_about(struct show *v, const struct node *row, const char *release)
{
	return !release || fact_in_range(v->f, fact_text_of(row, "versions"), release);
}

/* What else must fit: of all releases, or of one. */
static void
show_pairings(struct show *v, const struct node *file, const char *release)
{
	const struct node *rows = node_get(file, "pairings");
	struct table t = table_of(v->a, "releases|fit with|because");

	for (size_t i = 0; i < fact_count(rows); i++) {
		const struct node *p = fact_at(rows, i);
		const char *why = fact_text_of(p, "why");

		if (!is_about(v, p, release))
			continue;
		if (fact_true_of(p, "optional"))
			why = arena_printf(v->a, "if it is there: %s", why);
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
show_releases(struct show *v, const struct extension *e, const struct node *file)
{
	const struct node *all = node_get(file, "releases");
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
	buf_printf(v->out, "\n  `stackbuild facts extension %s %s` says all of one release\n",
		   e->name, e->releases[e->nreleases - 1].version);
}

static void
show_wheels(struct show *v, const struct found *x)
{
	const struct node *groups = node_get(x->parts.at[0], "wheels");
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
	const struct node *file = x->parts.at[0], *env = node_get(file, "env");
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
	/* What was asked for is the first note: it needs no number. */
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

/* --- as JSON --- */

static void json_values(const struct facts *f, struct json *j, const struct node *map,
			const struct names *but);

static void
json_fact(const struct facts *f, struct json *j, const char *key, const struct node *x)
{
	const char *text = fact_text(x);

	if (text && (!strcmp(text, "true") || !strcmp(text, "false"))) {
		json_bool(j, key, *text == 't');
	} else if (text) {
		json_text(j, key, text);
	} else if (x->kind == NODE_MAP) {
		json_map(j, key);
		json_values(f, j, x, &(struct names){ 0 });
		if (node_get(x, "source"))
			json_text(j, "source", fact_sources(f, x));
		json_end(j);
	} else {
		json_list(j, key);
		for (size_t i = 0; i < fact_count(x); i++)
			json_fact(f, j, NULL, fact_at(x, i));
		json_end(j);
	}
}

static void
json_values(const struct facts *f, struct json *j, const struct node *map, const struct names *but)
{
	for (size_t i = 0; i < fact_count(map); i++)
		if (show_is_value(fact_key(map, i)) && !names_have(but, fact_key(map, i)))
			json_fact(f, j, fact_key(map, i), fact_at(map, i));
}

/* A map that holds for it, under "known", and where it comes from. */
static void
json_part(const struct facts *f, struct json *j, const struct node *map, const struct names *but)
{
	json_map(j, "known");
	json_values(f, j, map, but);
	json_end(j);
	json_text(j, "source", fact_sources(f, map));
}

void
found_json(const struct facts *f, struct arena *a, const struct found *x, struct buf *out)
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
	json_part(f, &j, last_of(x), &but);
	if (x->parts.n > 1 || x->compat)
		json_list(&j, "holds_for_several");
	for (size_t i = 0; i + 1 < x->parts.n; i++) {
		struct names skip = x->release && !i ? skipped(a, x, i) : but;

		if (!says(x->parts.at[i], &skip))
			continue;
		json_map(&j, NULL);
		json_part(f, &j, x->parts.at[i], &skip);
		json_end(&j);
	}
	if (x->compat) {
		json_map(&j, NULL);
		json_part(f, &j, x->compat, &but);
		json_end(&j);
	}
	if (x->parts.n > 1 || x->compat)
		json_end(&j);
	json_end(&j);
}

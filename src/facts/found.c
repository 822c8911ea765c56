#include "find.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "schema.h"
#include "show.h"

/* --- what was found, as text --- */

static struct fact
map_of(struct trail t)
{
	return t.at[t.n - 1];
}

/* The narrowest: what was asked for. */
static struct trail
last_of(const struct found *x)
{
	return x->parts.at[x->parts.n - 1];
}

/* Keys of a part that are not shown with it: not asked for, or said again by a later part. */
static const char *const *
skipped(struct arena *a, const struct found *x, size_t part)
{
	struct fact map = map_of(x->parts.at[part]);
	bool file = x->release && !part;
	struct names skip = { 0 };

	for (size_t i = 0; i < fact_count(map); i++) {
		const char *key = fact_key(map, i);
		bool again = !strcmp(key, "versions");

		for (size_t k = 0; k < 2; k++)
			again |= x->without[k] && !strcmp(x->without[k], key);
		/* Of a file only what holds for its releases: `pypi` there is another thing. */
		if (file)
			again |= !facts_is_release_field(key) || !strcmp(key, "pypi");
		for (size_t k = part + 1; k < x->parts.n && strcmp(key, "note") != 0; k++)
			again |= fact_is(fact_get(map_of(x->parts.at[k]), key));
		if (again)
			list_push(a, &skip, key);
	}
	list_push(a, &skip, NULL);
	return skip.at;
}

/* Whether anything is left to show of a part. */
static bool
says(struct trail part, const char *const *skip)
{
	for (size_t i = 0; i < fact_count(map_of(part)); i++) {
		const char *key = fact_key(map_of(part), i);
		const char *const *s = skip;

		while (*s && strcmp(*s, key) != 0)
			s++;
		if (!*s && show_is_value(key))
			return true;
	}
	return false;
}

static void
show_parts(struct show *v, const struct found *x, size_t width)
{
	for (size_t i = 0; i < x->parts.n; i++) {
		size_t w = show_key_width(v->a, map_of(x->parts.at[i]), skipped(v->a, x, i));

		width = w > width ? w : width;
	}
	/* The narrowest first. */
	for (size_t i = x->parts.n; i-- > 0;)
		if (says(x->parts.at[i], skipped(v->a, x, i)))
			show_map(v, x->parts.at[i], 2, width, skipped(v->a, x, i));
}

static void
add_pairing(struct show *v, struct table *t, struct trail row, const char *whose)
{
	struct fact p = map_of(row);
	const char **cells = table_row(v, t);

	cells[0] = whose;
	cells[1] = arena_printf(v->a, "%s %s", fact_text_of(p, "other"), fact_text_of(p, "needs"));
	cells[2] = fact_true_of(p, "optional") ?
			   arena_printf(v->a, "if it is there: %s", fact_text_of(p, "why")) :
			   fact_text_of(p, "why");
	cells[t->columns] = show_mark(v, row);
}

/* What else must fit: of all releases, or of one. */
static void
show_pairings(struct show *v, struct fact file, const char *version)
{
	struct fact rows = fact_get(file, "pairings");
	const struct version *release = version ? version_parse(v->a, version) : NULL;
	struct table t = { 0 };

	table_head(&t, version ? "" : "releases");
	table_head(&t, "fit with");
	table_head(&t, "because");
	for (size_t i = 0; i < fact_count(rows); i++) {
		struct trail row = trail_to(trail_of(file), fact_at(rows, i));
		const char *spec = fact_text_of(map_of(row), "versions");
		const struct specifiers *range = specifiers_parse(v->a, spec);

		if (!release || (range && specifiers_match(range, release, PRE_YES)))
			add_pairing(v, &t, row, version ? NULL : spec);
	}
	if (!t.rows.n)
		return;
	buf_putc(v->out, '\n');
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
show_releases(struct show *v, const struct extension *e, struct fact file)
{
	struct fact all = fact_get(file, "releases");
	static const char *const heads[] = { "releases", "date", "tag", "sdist", "compiles for" };
	struct table t = { 0 };

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		table_head(&t, heads[i]);
	for (size_t i = 0; i < e->nreleases; i++) {
		const struct extension_release *r = &e->releases[i];
		const char **cells = table_row(v, &t);
		cells[0] = r->version;
		cells[1] = fact_text_of(fact_get(all, r->version), "date");
		cells[2] = r->git_tag;
		cells[3] = pypi_cell(r);
		cells[4] = names_join(v->a, &r->archs, " ");
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
	struct fact file = x->parts.at[0].at[0], groups = fact_get(file, "wheels");
	const struct version *release = version_parse(v->a, x->release->version);

	for (size_t i = 0; i < fact_count(groups); i++) {
		struct trail group = trail_to(trail_of(file), fact_at(groups, i));
		static const char *const but[] = { "versions", NULL };
		const char *spec = fact_text_of(map_of(group), "versions");
		const struct specifiers *range = specifiers_parse(v->a, spec);

		if (!range || !release || !specifiers_match(range, release, PRE_YES))
			continue;
		buf_puts(v->out, "\n  prebuilt wheels");
		show_map(v, group, 2, 0, but);
	}
}

static void
show_extension(struct show *v, const struct found *x)
{
	static const char *const but[] = { "ranges",   "wheels",    "releases", "env",
					   "pairings", "wheel_url", NULL };
	struct fact file = x->parts.at[0].at[0];
	struct fact env = fact_get(file, "env");

	show_map(v, x->parts.at[0], 2, 0, but);
	if (fact_count(env)) {
		size_t width = 0;

		for (size_t i = 0; i < fact_count(env); i++)
			if (strlen(fact_key(env, i)) > width)
				width = strlen(fact_key(env, i));
		buf_puts(v->out, "\n  variables\n");
		for (size_t i = 0; i < fact_count(env); i++)
			show_line(v, 2, width, fact_key(env, i),
				  fact_text_of(fact_at(env, i), "what"),
				  show_mark(v, trail_to(x->parts.at[0], fact_at(env, i))));
	}
	show_releases(v, x->extension, file);
	show_pairings(v, file, NULL);
}

static void
show_gpu(struct show *v, const struct gpu *g, size_t width)
{
	show_line(v, 2, width, "in a recipe", arena_printf(v->a, "%s or \"%s\"", g->id, g->cc),
		  NULL);
	show_line(v, 2, width, "capability", g->cc, NULL);
}

void
found_text(const struct facts *f, struct arena *a, const struct found *x, struct buf *out)
{
	struct show v = show_to(f, a, out);
	const char *any = x->compat.n ? arena_printf(a, "driver, any %s.x", x->major) : NULL;
	size_t width = x->gpu ? strlen("in a recipe") : any ? strlen(any) : 0;

	buf_printf(out, "%s\n", x->title);
	if (x->extension && !x->release) {
		show_extension(&v, x);
	} else {
		/* What was asked for is the first note: it needs no number. */
		show_mark(&v, last_of(x));
		if (x->gpu)
			show_gpu(&v, x->gpu, width);
		if (any)
			show_line(&v, 2, width, any, fact_text_of(map_of(x->compat), "driver"),
				  show_mark(&v, x->compat));
		show_parts(&v, x, width);
	}
	if (x->release) {
		show_wheels(&v, x);
		show_pairings(&v, x->parts.at[0].at[0], x->release->version);
	}
	show_notes(&v);
}

/* --- as JSON --- */

static void json_values(const struct facts *f, struct json *j, struct trail t,
			const char *const *but);

static void
json_fact(const struct facts *f, struct json *j, const char *key, struct fact x, struct trail t)
{
	const char *text = fact_text(x);

	if (text && (!strcmp(text, "true") || !strcmp(text, "false"))) {
		json_bool(j, key, *text == 't');
	} else if (text) {
		json_text(j, key, text);
	} else if (fact_is_map(x)) {
		json_map(j, key);
		json_values(f, j, trail_to(t, x), NULL);
		if (fact_is(fact_get(x, "source")))
			json_text(j, "source", trail_sources(f, trail_to(t, x)));
		json_end(j);
	} else {
		json_list(j, key);
		for (size_t i = 0; i < fact_count(x); i++)
			json_fact(f, j, NULL, fact_at(x, i), t);
		json_end(j);
	}
}

static void
json_values(const struct facts *f, struct json *j, struct trail t, const char *const *but)
{
	struct fact map = map_of(t);

	for (size_t i = 0; i < fact_count(map); i++) {
		const char *const *b = but;

		while (b && *b && strcmp(*b, fact_key(map, i)) != 0)
			b++;
		if (show_is_value(fact_key(map, i)) && !(b && *b))
			json_fact(f, j, fact_key(map, i), fact_at(map, i), t);
	}
}

/* A map that holds for it, under "known", and where it comes from. */
static void
json_part(const struct facts *f, struct json *j, struct trail t, const char *const *but)
{
	json_map(j, "known");
	json_values(f, j, t, but);
	json_end(j);
	json_text(j, "source", trail_sources(f, t));
}

void
found_json(const struct facts *f, struct arena *a, const struct found *x, struct buf *out)
{
	const char *const but[] = { x->without[0], NULL };
	struct json j = json_to(out);

	json_map(&j, NULL);
	json_text(&j, "what", x->title);
	if (x->gpu) {
		json_text(&j, "id", x->gpu->id);
		json_text(&j, "capability", x->gpu->cc);
	}
	json_part(f, &j, last_of(x), but);
	if (x->parts.n > 1 || x->compat.n) {
		json_list(&j, "holds_for_several");
		for (size_t i = 0; i + 1 < x->parts.n; i++) {
			bool file = x->release && !i;
			const char *const *skip = file ? skipped(a, x, i) : but;

			if (!says(x->parts.at[i], skip))
				continue;
			json_map(&j, NULL);
			json_part(f, &j, x->parts.at[i], skip);
			json_end(&j);
		}
		if (x->compat.n) {
			json_map(&j, NULL);
			json_part(f, &j, x->compat, NULL);
			json_end(&j);
		}
		json_end(&j);
	}
	json_end(&j);
}

void
names_json(const char *what, struct names names, struct buf *out)
{
	struct json j = json_to(out);

	json_map(&j, NULL);
	json_list(&j, what);
	for (size_t i = 0; i < names.n; i++)
		json_text(&j, NULL, names.at[i]);
	json_end(&j);
	json_end(&j);
}

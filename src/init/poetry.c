#include <string.h>

#include "base/toml.h"
#include "python/python.h"
#include "reader.h"

/*
 * Reads the dependencies of Poetry ([tool.poetry.dependencies]) and Pixi ([dependencies] of conda,
 * [pypi-dependencies]).  https://python-poetry.org/docs/dependency-specification and
 * https://pixi.sh/latest/reference/pixi_manifest, read 2026-11-28.
 */

static const char *
text_in(const struct node *map, const char *key)
{
	const struct node *n = node_get(map, key);

	return n && n->kind == NODE_SCALAR ? n->s : "";
}

/* --- ranges --- */

/* Returns ">=1.2.3,<2" for "^1.2.3", ">=1.2.3,<1.3" for "~1.2.3". */
static const char *
between(struct arena *a, const char *low, bool caret)
{
	const struct version *v = version_parse(a, low);
	size_t n = v ? version_release_count(v) : 0, last = caret ? 0 : n > 1;
	const char *high = "";

	if (!v)
		return NULL;
	while (caret && last + 1 < n && !version_release(v, last))
		last++;
	for (size_t i = 0; i <= last; i++)
		high = arena_printf(a, "%s%s%lu", high, i ? "." : "",
				    version_release(v, i) + (i == last));
	return arena_printf(a, ">=%s,<%s", low, high);
}

/* Returns one clause of Poetry in the form of pip; NULL: it is not valid. */
static const char *
clause(struct arena *a, const char *s, bool pins)
{
	const char *bare = s + strspn(s, "^~= ");

	if (!*s || !strcmp(s, "*"))
		return "";
	if (*s == '^' || (*s == '~' && s[1] != '='))
		return between(a, bare, *s == '^');
	if (is_digit(*s))
		return arena_printf(a, "==%s%s", s,
				    pins || ends_with(s, "*") || strchr(s, '+') ? "" : ".*");
	return specifiers_parse(a, s) ? s : NULL;
}

/* Returns a list of clauses, "^1.2,!=1.3", in the form of pip; pins: a bare version is exact. */
static const char *
range(struct arena *a, const char *text, bool pins)
{
	const char *out = "";

	for (const char *p = text + strspn(text, " ,"); *p; p += strspn(p, " ,")) {
		size_t n = strcspn(p, ",");
		const char *one;

		while (n && p[n - 1] == ' ')
			n--;
		one = clause(a, arena_copy(a, p, n), pins);
		if (!one || strchr(one, '|'))
			return NULL;
		out = arena_printf(a, "%s%s%s", out, *out && *one ? "," : "", one);
		p += n;
	}
	return specifiers_parse(a, out) ? out : NULL;
}

/* --- one dependency --- */

static const char *
extras_of(struct arena *a, const struct node *n)
{
	const struct node *list = node_get(n, "extras");
	const char *out = "";

	for (size_t i = 0; list && list->kind == NODE_LIST && i < list->n; i++)
		if (list->items[i]->kind == NODE_SCALAR)
			out = arena_printf(a, "%s%s%s", out, i ? "," : "[", list->items[i]->s);
	return *out ? arena_printf(a, "%s]", out) : "";
}

/* Returns the requirement of a table; NULL: it is local code, or its range is not valid. */
static const char *
requirement_of(struct init *rd, const char *name, const struct node *n, bool pins)
{
	const char *git = text_in(n, "git"), *url = text_in(n, "url"), *in;
	const char *marker = text_in(n, "markers"), *spec;
	const char *ref = *text_in(n, "rev") ? text_in(n, "rev") :
			  *text_in(n, "tag") ? text_in(n, "tag") :
					       text_in(n, "branch");

	in = text_in(n, "subdirectory");
	if (*git)
		return arena_printf(rd->a, "%s%s @ git+%s%s%s%s%s", name, extras_of(rd->a, n), git,
				    *ref ? "@" : "", ref, *in ? "#subdirectory=" : "", in);
	if (*url)
		return arena_printf(rd->a, "%s%s @ %s", name, extras_of(rd->a, n), url);
	spec = *text_in(n, "path") ? NULL : range(rd->a, text_in(n, "version"), pins);
	if (!spec)
		return NULL;
	return arena_printf(rd->a, "%s%s%s%s%s", name, extras_of(rd->a, n), spec,
			    *marker ? " ; " : "", marker);
}

static void
add_one(struct init *rd, const struct pair *p, const struct node *n, bool pins)
{
	const char *spec = n->kind == NODE_SCALAR ? range(rd->a, n->s, pins) : NULL, *text;
	struct init_item *item = item_open(
		rd, n->kind == NODE_SCALAR ? arena_printf(rd->a, "%s %s", p->key, n->s) : p->key,
		p->key_at);

	text = n->kind == NODE_MAP ? requirement_of(rd, p->key, n, pins) :
	       spec                ? arena_printf(rd->a, "%s%s", p->key, spec) :
				     NULL;
	if (text)
		place_requirement(rd, item, text, false);
	else if (*text_in(n, "path"))
		item_local(rd, item);
	else
		item_unread(rd, item, "add it to `packages`", "pip has no range of this form");
}

/* Adds the dependencies of a table, each a range, a table, or (Poetry) a list of tables with markers. */
static void
add_table(struct init *rd, const struct node *table, bool pins)
{
	for (size_t i = 0; table && table->kind == NODE_MAP && i < table->n; i++) {
		const struct pair *p = &table->pairs[i];
		const char *spec = !strcmp(p->key, "python") && p->value->kind == NODE_SCALAR ?
					   range(rd->a, p->value->s, false) :
					   NULL;

		if (spec && *spec)
			python_range(rd,
				     item_open(rd, arena_printf(rd->a, "python %s", p->value->s),
					       p->key_at),
				     spec);
		else if (p->value->kind == NODE_LIST)
			for (size_t k = 0; k < p->value->n; k++)
				add_one(rd, p, p->value->items[k], pins);
		else if (!strcmp(text_in(p->value, "optional"), "true") &&
			 !names_have(&rd->extras, "*"))
			item_leave(rd, item_open(rd, p->key, p->key_at),
				   "it is optional: add it with --package");
		else
			add_one(rd, p, p->value, pins);
	}
}

/* --- Poetry --- */

void
read_poetry(struct init *rd, const struct node *poetry)
{
	const struct node *sources = node_get(poetry, "source"),
			  *groups = node_get(poetry, "group");

	for (size_t i = 0; sources && sources->kind == NODE_LIST && i < sources->n; i++)
		place_option(
			rd, item_open(rd, text_in(sources->items[i], "url"), sources->items[i]->at),
			PIP_EXTRA_INDEX, text_in(sources->items[i], "url"));
	add_table(rd, node_get(poetry, "dependencies"), true);
	for (size_t i = 0; groups && groups->kind == NODE_MAP && i < groups->n; i++) {
		const struct pair *p = &groups->pairs[i];

		if (names_have(&rd->extras, name_normalize(rd->a, p->key)) ||
		    names_have(&rd->extras, "*"))
			add_table(rd, node_get(p->value, "dependencies"), true);
		else
			item_leave(
				rd,
				item_open(rd, arena_printf(rd->a, "group %s", p->key), p->key_at),
				"init reads the project's own dependencies; `--extra %s` adds "
				"these",
				p->key);
	}
	if (node_get(poetry, "dev-dependencies"))
		item_leave(
			rd,
			item_open(rd, "dev-dependencies", node_get(poetry, "dev-dependencies")->at),
			"they are not requirements of the project itself");
}

/* --- Pixi --- */

/* Adds the packages of conda; a table may have `version` and `channel`. */
static void
add_conda(struct init *rd, const struct node *table)
{
	for (size_t i = 0; table && table->kind == NODE_MAP && i < table->n; i++) {
		const struct pair *p = &table->pairs[i];
		const char *v =
			p->value->kind == NODE_SCALAR ? p->value->s : text_in(p->value, "version");

		place_conda(rd, item_open(rd, arena_printf(rd->a, "%s %s", p->key, v), p->key_at),
			    arena_printf(rd->a, "%s %s", p->key, v));
	}
}

void
read_pixi(struct init *rd, const struct node *pixi)
{
	static const char known[] =
		"dependencies pypi-dependencies activation feature environments "
		"project workspace tasks package system-requirements target";
	const struct node *target = node_get(node_get(pixi, "target"), "linux-64");
	const struct node *env = node_get(node_get(pixi, "activation"), "env");
	const struct node *cuda = node_get(node_get(pixi, "system-requirements"), "cuda");

	add_conda(rd, node_get(pixi, "dependencies"));
	add_conda(rd, node_get(target, "dependencies"));
	add_table(rd, node_get(pixi, "pypi-dependencies"), false);
	add_table(rd, node_get(target, "pypi-dependencies"), false);
	for (size_t i = 0; env && env->kind == NODE_MAP && i < env->n; i++) {
		struct init_item *item = item_open(rd, env->pairs[i].key, env->pairs[i].key_at);

		item->name = env->pairs[i].key;
		item_take(rd, item, "env", text_in(env, env->pairs[i].key));
	}
	if (cuda)
		item_leave(rd, item_open(rd, "system-requirements cuda", cuda->at),
			   "it is the oldest CUDA of the driver: `driver` of a recipe");
	for (size_t i = 0; i < pixi->n; i++)
		if (among(pixi->pairs[i].key, "feature environments"))
			item_unread(rd, item_open(rd, pixi->pairs[i].key, pixi->pairs[i].key_at),
				    "add their packages to `packages`",
				    "init reads the default environment");
		else if (!among(pixi->pairs[i].key, known) || among(pixi->pairs[i].key, "tasks"))
			item_leave(rd, item_open(rd, pixi->pairs[i].key, pixi->pairs[i].key_at),
				   "it is a setting of Pixi");
}

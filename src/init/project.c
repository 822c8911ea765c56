#include <string.h>

#include "base/fs.h"
#include "base/toml.h"
#include "python/python.h"
#include "reader.h"

/*
 * Reads TOML: the declarations of a project (pyproject.toml, with uv's sources and indexes), and
 * its resolved packages (uv.lock, pylock.toml).
 */

/* Returns a member as a text, "" if it is not a text. */
static const char *
text_in(const struct node *map, const char *key)
{
	const struct node *n = node_get(map, key);

	return n && n->kind == NODE_SCALAR ? n->s : "";
}

static size_t
items_in(const struct node *list)
{
	return list && list->kind == NODE_LIST ? list->n : 0;
}

/* --- pyproject.toml --- */

/* [tool.uv.sources] NAME = {...}, or a list of those with markers */
static const struct node *
source_of(struct init *rd, const struct node *uv, const char *key)
{
	const struct node *sources = node_get(uv, "sources"), *found = NULL;
	struct marker_env here = marker_env_linux(rd->a, python_likely(rd), "x86_64", "");

	for (size_t i = 0; sources && sources->kind == NODE_MAP && i < sources->n; i++)
		if (!strcmp(name_normalize(rd->a, sources->pairs[i].key), key))
			found = sources->pairs[i].value;
	for (size_t i = 0; i < items_in(found); i++) {
		const char *text = text_in(found->items[i], "marker");
		const struct marker *m = *text ? marker_parse(rd->a, text) : NULL;
		bool holds = true;

		if (!m || !marker_eval(m, &here, &holds) || holds)
			return found->items[i];
	}
	return found && found->kind == NODE_MAP ? found : NULL;
}

/* Returns "NAME @ git+URL@v1#subdirectory=x" for {git = URL, tag = "v1"}; NULL: the source has no
 * URL. */
static const char *
from_source(struct init *rd, const char *name, const struct node *source)
{
	const char *git = text_in(source, "git"), *url = text_in(source, "url");
	const char *in = text_in(source, "subdirectory"), *ref = text_in(source, "rev");

	ref = *ref                    ? ref :
	      *text_in(source, "tag") ? text_in(source, "tag") :
					text_in(source, "branch");
	if (*git)
		return arena_printf(rd->a, "%s @ git+%s%s%s%s%s", name, git, *ref ? "@" : "", ref,
				    *in ? "#subdirectory=" : "", in);
	return *url ? arena_printf(rd->a, "%s @ %s", name, url) : NULL;
}

static void
add_dependency(struct init *rd, const struct node *uv, const struct node *n)
{
	const char *text = n->kind == NODE_SCALAR ? n->s : "", *from;
	struct init_item *item = item_open(rd, text, n->at);
	const struct requirement *r = requirement_parse(rd->a, text, NULL, NULL);
	const struct node *source = r ? source_of(rd, uv, r->key) : NULL;

	from = source ? from_source(rd, r->name, source) : NULL;
	if (source && (*text_in(source, "path") || node_get(source, "workspace")))
		item_local(rd, item);
	else
		place_requirement(rd, item, from ? from : text, false);
}

/* Reads `requires-python` of a project, or of a lock. */
static void
add_python(struct init *rd, const struct node *n)
{
	const char *spec = n && n->kind == NODE_SCALAR ? n->s : "";

	if (n)
		python_range(rd,
			     item_open(rd, arena_printf(rd->a, "requires-python %s", spec), n->at),
			     spec);
}

/* Reads the extras and groups that a command or option names; the other ones are not requirements of
 * the project itself. */
static void
add_groups(struct init *rd, const struct node *uv, const struct node *groups, const char *what)
{
	for (size_t i = 0; groups && groups->kind == NODE_MAP && i < groups->n; i++) {
		const struct pair *p = &groups->pairs[i];
		bool wanted = names_have(&rd->extras, "*") ||
			      names_have(&rd->extras, name_normalize(rd->a, p->key));

		if (!wanted)
			item_leave(rd,
				   item_open(rd, arena_printf(rd->a, "%s %s", what, p->key),
					     p->key_at),
				   "init reads the project's own dependencies; `--extra %s` adds "
				   "these",
				   p->key);
		for (size_t k = 0; wanted && k < items_in(p->value); k++)
			if (p->value->items[k]->kind == NODE_SCALAR)
				add_dependency(rd, uv, p->value->items[k]);
			else
				item_leave(rd,
					   item_open(rd, "include-group", p->value->items[k]->at),
					   "`--extra` names every group to read");
	}
}

/* Adds the indexes, torch's first, because a recipe has only one for torch. */
static void
add_indexes(struct init *rd, const struct node *uv)
{
	const struct node *all = node_get(uv, "index"), *torch = source_of(rd, uv, "torch");

	for (int first = 1; first >= 0; first--)
		for (size_t i = 0; i < items_in(all); i++) {
			const struct node *index = all->items[i];
			const char *url = text_in(index, "url"), *name = text_in(index, "name");
			bool is_torchs = torch && *name && !strcmp(name, text_in(torch, "index"));

			if (is_torchs == first)
				place_option(rd, item_open(rd, url, index->at),
					     strcmp(text_in(index, "default"), "true") ?
						     PIP_EXTRA_INDEX :
						     PIP_INDEX,
					     url);
		}
}

/* Reports other keys of [tool.uv] that affect the installed packages. */
static void
add_uv_settings(struct init *rd, const struct node *uv)
{
	static const char read[] = "sources index";
	static const char built_in[] = "no-build-isolation no-build-isolation-package "
				       "extra-build-dependencies";
	static const char versions[] = "constraint-dependencies override-dependencies find-links "
				       "extra-index-url index-url";

	for (size_t i = 0; uv && uv->kind == NODE_MAP && i < uv->n; i++) {
		const struct pair *p = &uv->pairs[i];
		struct init_item *item;

		if (among(p->key, read))
			continue;
		item = item_open(rd, arena_printf(rd->a, "tool.uv.%s", p->key), p->key_at);
		if (among(p->key, built_in))
			item_take(rd, item, "extensions", NULL);
		else if (among(p->key, versions))
			item_unread(rd, item, "add its versions to `packages`",
				    "init does not read it");
		else
			item_leave(rd, item, "it is a setting of uv");
	}
}

static void
add_project(struct init *rd, const struct node *root)
{
	const struct node *project = node_get(root, "project");
	const struct node *uv = node_get(node_get(root, "tool"), "uv");
	const struct node *dependencies = node_get(project, "dependencies");
	const struct node *python = node_get(project, "requires-python");
	const struct node *build = node_get(root, "build-system");

	add_python(rd, python);
	add_indexes(rd, uv);
	for (size_t i = 0; i < items_in(dependencies); i++)
		add_dependency(rd, uv, dependencies->items[i]);
	add_groups(rd, uv, node_get(project, "optional-dependencies"), "extra");
	add_groups(rd, uv, node_get(root, "dependency-groups"), "group");
	if (build)
		item_leave(rd, item_open(rd, "build-system", build->at),
			   "it builds the project itself: copy it with `app: {copy: [...]}`");
	add_uv_settings(rd, uv);
}

/* --- uv.lock and pylock.toml --- */

/* Returns "NAME @ git+URL@COMMIT", "NAME @ URL" or "NAME==VERSION"; NULL for a directory. */
static const char *
locked_requirement(struct init *rd, const struct node *p)
{
	const struct node *source = node_get(p, "source"), *vcs = node_get(p, "vcs");
	const char *name = text_in(p, "name"), *git = text_in(source, "git");
	const char *url = text_in(source, "url"), *commit = strchr(git, '#');

	if (node_get(p, "directory") || node_get(source, "editable") ||
	    node_get(source, "virtual") || node_get(source, "directory") ||
	    node_get(source, "path"))
		return NULL;
	if (*git)
		return arena_printf(rd->a, "%s @ git+%.*s%s%s", name, (int)strcspn(git, "?#"), git,
				    commit ? "@" : "", commit ? commit + 1 : "");
	if (vcs && !strcmp(text_in(vcs, "type"), "git"))
		return arena_printf(rd->a, "%s @ git+%s@%s", name, text_in(vcs, "url"),
				    text_in(vcs, "commit-id"));
	url = *url ? url : text_in(node_get(p, "archive"), "url");
	return *url ? arena_printf(rd->a, "%s @ %s", name, url) :
		      arena_printf(rd->a, "%s==%s", name, text_in(p, "version"));
}

/* Returns whether all files of a package are wheels for other systems. */
static bool
is_for_others(const struct node *p)
{
	const struct node *wheels = node_get(p, "wheels");
	bool fits = !items_in(wheels) || node_get(p, "sdist");

	for (size_t i = 0; i < items_in(wheels) && !fits; i++) {
		const char *name = text_in(wheels->items[i], "name");

		name = *name ? name : fs_name(text_in(wheels->items[i], "url"));
		fits = strstr(name, "linux") || strstr(name, "-any.");
	}
	return !fits;
}

static void
add_locked(struct init *rd, const struct node *root, const struct node *packages)
{
	struct map seen = MAP(rd->a);

	add_python(rd, node_get(root, "requires-python"));
	for (size_t i = 0; i < items_in(packages); i++) {
		const struct node *p = packages->items[i];
		const char *name = text_in(p, "name"), *marker = text_in(p, "marker");
		const char *what = locked_requirement(rd, p);
		struct init_item *item = item_open(rd, what ? what : name, p->at);

		if (!what)
			item_leave(rd, item, "it is local code: copy it with `app: {copy: [...]}`");
		else if (is_for_others(p))
			item_leave(rd, item, "it has no wheel for linux");
		else if (map_put(&seen, name, item))
			item_unread(rd, item, "add the version that the stack needs to `packages`",
				    "the lock has `%s` more than once, for different environments",
				    name);
		else
			place_requirement(rd, item,
					  *marker ? arena_printf(rd->a, "%s ; %s", what, marker) :
						    what,
					  false);
	}
}

/* --- kind of the file --- */

bool
init_is_toml(struct init *rd, const struct source *src)
{
	const char *first = init_first_line(rd, src);

	/* requirements.lock of pip-tools and Rye has requirements. */
	return ends_with(src->path, ".toml") ||
	       (ends_with(src->path, ".lock") &&
		!starts_with(fs_name(src->path), "requirements")) ||
	       str_matches(first,
			   "^[[][a-z].*[]]$|^(lock-version|requires-python|version|revision) = .");
}

void
read_project(struct init *rd, const struct source *src)
{
	const struct node *root = toml_read(rd->a, rd->ds, src, TOML_LIMITS(src->size));
	const struct node *tool = node_get(root, "tool"), *poetry = node_get(tool, "poetry");
	const struct node *pixi = node_get(tool, "pixi");
	bool manifest = (node_get(root, "dependencies") && !node_get(root, "package")) ||
			node_get(root, "workspace") || node_get(root, "pypi-dependencies") ||
			node_get(node_get(root, "project"), "channels");

	if (!root)
		return;
	if (pixi || manifest)
		read_pixi(rd, pixi ? pixi : root);
	if (node_get(node_get(root, "project"), "dependencies") ||
	    (node_get(tool, "uv") && !poetry))
		add_project(rd, root);
	else if (node_get(poetry, "dependencies"))
		read_poetry(rd, poetry);
	else if (pixi || manifest)
		return;
	else if (node_get(root, "lock-version") && node_get(root, "packages"))
		add_locked(rd, root, node_get(root, "packages"));
	else if (node_get(root, "package") && !node_get(root, "metadata"))
		add_locked(rd, root, node_get(root, "package"));
	else if (poetry || node_get(root, "metadata"))
		diag_help(diag_at(rd->ds, E_INIT_INPUT, (struct span){ .src = src },
				  "init does not read lock files of Poetry or PDM"),
			  "convert it: `poetry export -f requirements.txt | stackbuild init`, or "
			  "`pdm export | stackbuild init`");
	else if (node_get(node_get(root, "project"), "dynamic"))
		diag_help(diag_at(rd->ds, E_INIT_INPUT, (struct span){ .src = src },
				  "the build backend computes the dependencies of this project"),
			  "convert it: `uv pip compile pyproject.toml | stackbuild init`");
	else
		diag_help(diag_at(rd->ds, E_INIT_INPUT, (struct span){ .src = src },
				  "this TOML declares no dependencies"),
			  "pass a pyproject.toml with [project] dependencies, uv.lock or "
			  "pylock.toml");
}

bool
init_project(struct init *rd, const struct source *src)
{
	size_t from = rd->items.n;
	unsigned before = rd->ds->errors;

	read_project(rd, src);
	items_report(rd, from);
	return rd->ds->errors == before;
}

/*
 * Reads PEP 751:
 *
 *     lock-version = "1.0"
 *     [[packages]]
 *     name, version, marker, index
 *     wheels = [{ url, upload-time, size, hashes = { sha256 } }]     or sdist, archive: one of them
 *     [packages.tool.stackbuild]
 *     roots, required-by
 *     [tool.stackbuild]                                              see write.c
 */
#include "lock.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "base/toml.h"

struct reader {
	struct arena *a;
	struct diags *ds;
};

/* Adds an error at a place; returns NULL. */
static const char *
wrong(struct reader *r, struct span at, const char *what, const char *form)
{
	diag_help(diag_at(r->ds, E_LOCK, at, "`%s`: %s", what, mask_credentials(r->a, form)),
		  "create the lock again: stackbuild lock RECIPE");
	return NULL;
}

/* Reports a missing required key, and a text that does not match. */
static const char *
text(struct reader *r, const struct node *map, const char *key, bool needed, const char *pattern)
{
	const struct node *n = node_get(map, key);

	if (!n && !needed)
		return NULL;
	if (!n)
		return wrong(r, map->at, key, "the key is missing");
	if (n->kind != NODE_SCALAR || n->plain)
		return wrong(r, n->at, key, "the value must be a string");
	if (!str_matches(n->s, pattern))
		return wrong(r, n->at, key, arena_printf(r->a, "`%.80s` is malformed", n->s));
	return n->s;
}

static const char any[] = "^[^\\x00-\\x1f\\x7f]+$";
static const char hex64[] = "^[0-9a-f]{64}$";
static const char digest[] = "^sha256:[0-9a-f]{64}$";
static const char url_form[] = "^(https?|file)://[^@\\x00-\\x20\\x7f]+$";
static const char name_form[] = "^[a-z0-9]+(-[a-z0-9]+)*$";

/* Returns the strings of a list; none if the key is missing. */
static struct names
texts(struct reader *r, const struct node *map, const char *key)
{
	const struct node *n = node_get(map, key);
	struct names all = { 0 };

	if (n && n->kind != NODE_LIST)
		wrong(r, n->at, key, "the value must be a list");
	for (size_t i = 0; n && n->kind == NODE_LIST && i < n->n; i++) {
		if (n->items[i]->kind == NODE_SCALAR && !n->items[i]->plain)
			list_push(r->a, &all, n->items[i]->s);
		else
			wrong(r, n->items[i]->at, key, "the value must be a string");
	}
	return all;
}

/* Returns a number of bytes; 0 if the key is missing. */
static size_t
size(struct reader *r, const struct node *map)
{
	const struct node *n = node_get(map, "size");

	if (!n)
		return 0;
	if (n->kind != NODE_SCALAR || !n->plain || !str_matches(n->s, "^[0-9]{1,15}$")) {
		wrong(r, n->at, "size", "the value must be a number of bytes");
		return 0;
	}
	return strtoull(n->s, NULL, 10);
}

/* Returns a table of the document: an empty one if the key is missing or not a table. */
static const struct node *
table(struct reader *r, const struct node *map, const char *key, bool needed)
{
	static const struct node none = { .kind = NODE_MAP };
	const struct node *n = node_get(map, key);

	if (n ? n->kind == NODE_MAP : !needed)
		return n ? n : &none;
	wrong(r, n ? n->at : map->at, key, "the value must be a table");
	return &none;
}

static void
read_file(struct reader *r, struct lock_package *p, const struct node *n, enum lock_file_kind kind)
{
	struct lock_file f = { .kind = kind };
	const struct node *uploaded;

	if (n->kind != NODE_MAP) {
		wrong(r, n->at, p->name, "a file must be a table");
		return;
	}
	f.url = text(r, n, "url", true, url_form);
	f.sha256 = text(r, table(r, n, "hashes", true), "sha256", true, hex64);
	f.size = size(r, n);
	uploaded = node_get(n, "upload-time");
	if (uploaded && uploaded->kind == NODE_SCALAR && uploaded->plain)
		f.uploaded = uploaded->s;
	list_push(r->a, &p->files, f);
}

static void
read_files(struct reader *r, struct lock_package *p, const struct node *n)
{
	const struct node *wheels = node_get(n, "wheels"), *sdist = node_get(n, "sdist"),
			  *archive = node_get(n, "archive");

	if (wheels && wheels->kind != NODE_LIST)
		wrong(r, wheels->at, "wheels", "the value must be a list");
	else if (wheels)
		for (size_t i = 0; i < wheels->n; i++)
			read_file(r, p, wheels->items[i], LOCK_WHEEL);
	if (sdist)
		read_file(r, p, sdist, LOCK_SDIST);
	if (archive)
		read_file(r, p, archive, LOCK_ARCHIVE);
	if (!p->files.n)
		wrong(r, n->at, p->name, "the package has no file");
}

static void
read_package(struct reader *r, const struct node *n, struct lock_package *p)
{
	const struct node *own = table(r, table(r, n, "tool", false), "stackbuild", false);

	p->at = n->at;
	p->name = text(r, n, "name", true, name_form);
	p->version = text(r, n, "version", true, any);
	p->marker = text(r, n, "marker", false, any);
	p->index = text(r, n, "index", false, url_form);
	if (p->version && !version_parse(r->a, p->version))
		wrong(r, n->at, p->version, "this is not a version");
	if (p->marker && !marker_parse(r->a, p->marker))
		wrong(r, n->at, p->marker, "this is not a marker");
	p->roots = texts(r, own, "roots");
	p->required_by = texts(r, own, "required-by");
	if (p->name)
		read_files(r, p, n);
}

static void
read_packages(struct reader *r, const struct node *root, struct lock_packages *out)
{
	const struct node *all = node_get(root, "packages");
	struct map seen = MAP(r->a);

	text(r, root, "lock-version", true, "^1\\.[0-9]+$");
	if (all && all->kind != NODE_LIST)
		wrong(r, all->at, "packages", "the value must be a list");
	for (size_t i = 0; all && all->kind == NODE_LIST && i < all->n; i++) {
		struct lock_package p = { 0 };

		if (all->items[i]->kind != NODE_MAP) {
			wrong(r, all->items[i]->at, "packages", "the value must be a table");
			continue;
		}
		read_package(r, all->items[i], &p);
		if (p.name && map_put(&seen, p.name, r))
			wrong(r, p.at, p.name, "the lock lists the package twice");
		list_push(r->a, out, p);
	}
}

static struct lock_image
read_image(struct reader *r, const struct node *own, const char *key)
{
	const struct node *n = table(r, own, key, false);
	struct lock_image image = { 0 };

	if (!n->n)
		return image;
	image.name = text(r, n, "image", true, any);
	image.digest = text(r, n, "digest", false, digest);
	image.platform_digest = text(r, n, "platform-digest", false, digest);
	return image;
}

static void
read_sources(struct reader *r, const struct node *own, struct lock_sources *out)
{
	const struct node *all = node_get(own, "sources");

	for (size_t i = 0; all && i < all->n; i++) {
		const struct node *n = all->kind == NODE_LIST ? all->items[i] : all;
		struct lock_source s = { .at = n->at };

		if (n->kind != NODE_MAP || all->kind != NODE_LIST) {
			wrong(r, n->at, "sources", "the value must be a list of tables");
			return;
		}
		s.name = text(r, n, "name", true, name_form);
		s.version = text(r, n, "version", false, any);
		s.kind = text(r, n, "kind", true, "^(git|sdist|archive|wheel)$");
		s.url = text(r, n, "url", false, any);
		s.ref = text(r, n, "ref", false, any);
		s.commit = text(r, n, "commit", false, "^[0-9a-f]{40}$");
		s.sha256 = text(r, n, "sha256", false, hex64);
		s.size = size(r, n);
		list_push(r->a, out, s);
	}
}

/* Checks the digest, which only a lock with stackbuild's first line has. */
static void
check_content(struct reader *r, const struct node *own, const struct source *src)
{
	const size_t n = strlen(lock_first_line);
	const bool ours = src->size >= n && !memcmp(src->text, lock_first_line, n);
	const char *content = text(r, own, "content", ours, digest),
		   *actual = lock_content(r->a, src->text, src->size);

	if (content && (!actual || strcmp(content, actual) != 0))
		wrong(r, node_get(own, "content")->at, "content",
		      "the file was changed after `stackbuild lock` wrote it");
}

static void
read_own(struct reader *r, const struct node *own, struct lock *l)
{
	const struct node *python = table(r, own, "python", true);

	check_content(r, own, l->src);
	l->stack = text(r, own, "stack", true, any);
	l->variant = text(r, own, "variant", false, any);
	l->cell = text(r, own, "cell", false, any);
	l->recipe = text(r, own, "recipe", true, digest);
	l->stackbuild = text(r, own, "stackbuild", true, any);
	l->uv = text(r, own, "uv", true, any);
	l->knowledge = text(r, own, "knowledge", true, any);
	l->inputs = texts(r, own, "inputs");
	l->unpinned = texts(r, own, "unpinned");
	l->debs = text(r, own, "debs", false, digest);
	l->python = text(r, python, "series", true, any);
	l->python_url = text(r, python, "url", false, url_form);
	l->python_sha256 = text(r, python, "sha256", false, hex64);
	l->base = read_image(r, own, "base");
	l->runtime = read_image(r, own, "runtime");
	read_sources(r, own, &l->sources);
}

bool
lock_read_packages(struct arena *a, struct diags *ds, const struct source *src,
		   struct lock_packages *out)
{
	struct reader r = { .a = a, .ds = ds };
	unsigned before = ds->errors;
	const struct node *root = toml_read(a, ds, src, YAML_LIMITS_DEFAULT);

	if (root)
		read_packages(&r, root, out);
	return ds->errors == before;
}

const struct lock *
lock_read(struct arena *a, struct diags *ds, const struct source *src)
{
	struct reader r = { .a = a, .ds = ds };
	struct lock *l = arena_new_of(a, struct lock);
	unsigned before = ds->errors;
	const struct node *root = toml_read(a, ds, src, YAML_LIMITS_DEFAULT), *own, *format;

	if (!root)
		return NULL;
	l->src = src;
	own = table(&r, table(&r, root, "tool", true), "stackbuild", true);
	format = node_get(own, "format");
	/* After an error, the table is missing, and `own` is empty. */
	if (ds->errors == before &&
	    (!format || format->kind != NODE_SCALAR || strcmp(format->s, "1") != 0))
		wrong(&r, format ? format->at : own->at, "format",
		      "this version of stackbuild reads format 1 only");
	else if (ds->errors == before)
		read_own(&r, own, l);
	read_packages(&r, root, &l->packages);
	return ds->errors == before ? l : NULL;
}

const struct lock_package *
lock_package(const struct lock *l, const char *name)
{
	return list_find(p, &l->packages, !strcmp(p->name, name));
}

const struct lock_source *
lock_source(const struct lock *l, const char *name)
{
	return list_find(s, &l->sources, !strcmp(s->name, name));
}

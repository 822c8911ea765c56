/* Compares two locks, and finds the reasons in one. */
#include "lock.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"

static const char *const roots[] = { "base", "runtime", "torch", "build", "packages", "app" };
enum { ROOTS = sizeof(roots) / sizeof(*roots) };

/* Returns the rank of a root among the steps; extensions follow the packages, and the application
 * is last. */
static size_t
root_rank(const char *root)
{
	for (size_t i = 0; i < ROOTS; i++)
		if (!strcmp(roots[i], root))
			return i < ROOTS - 1 ? i : ROOTS;
	return ROOTS - 1;
}

/* A package's children: the packages that it requires, by index. */
struct children LIST(size_t);

static void
lower(struct arena *a, size_t *ranks, const struct children *children, size_t i)
{
	struct children open = { 0 };
	size_t rank = ranks[i];

	list_push(a, &open, i);
	for (size_t k = 0; k < open.n; k++)
		for (size_t c = 0; c < children[open.at[k]].n; c++) {
			size_t child = children[open.at[k]].at[c];

			if (ranks[child] <= rank)
				continue;
			ranks[child] = rank;
			list_push(a, &open, child);
		}
}

const char *const *
lock_steps(struct arena *a, const struct lock *l)
{
	const char **steps = arena_array_of(a, const char *, l->packages.n);
	struct arena *scratch = arena_new();
	struct children *children = arena_array_of(scratch, struct children, l->packages.n);
	size_t *ranks = arena_array_of(scratch, size_t, l->packages.n);
	struct map by_name = MAP(scratch);

	for (size_t i = 0; i < l->packages.n; i++)
		map_put(&by_name, l->packages.at[i].name, (void *)(i + 1));
	for (size_t i = 0; i < l->packages.n; i++) {
		const struct lock_package *p = &l->packages.at[i];

		ranks[i] = ROOTS + 1;
		for (size_t k = 0; k < p->roots.n; k++)
			if (root_rank(p->roots.at[k]) < ranks[i])
				ranks[i] = root_rank(p->roots.at[k]);
		for (size_t k = 0; k < p->required_by.n; k++) {
			size_t by = (size_t)map_get(&by_name, p->required_by.at[k]);

			if (by)
				list_push(scratch, &children[by - 1], i);
		}
	}
	/* Starts with the lowest rank, so that each package is lowered once. */
	for (size_t rank = 0; rank <= ROOTS; rank++)
		for (size_t i = 0; i < l->packages.n; i++)
			if (ranks[i] == rank)
				lower(scratch, ranks, children, i);
	for (size_t i = 0; i < l->packages.n; i++)
		/* The packages step installs packages without a known parent. */
		steps[i] = ranks[i] < ROOTS  ? roots[ranks[i]] :
			   ranks[i] == ROOTS ? "app" :
					       "packages";
	arena_free(scratch);
	return steps;
}

/* --- differences --- */

static void
add_change(struct arena *a, struct lock_changes *out, const char *name, const char *before,
	   const char *after, const char *root)
{
	if (before && after && !strcmp(before, after))
		return;
	list_push(a, out, (struct lock_change){ name, before, after, root });
}

/* Returns the identity of a package's files: its version, or the digests for equal versions. */
static const char *
identity(struct arena *a, const struct lock_package *p, const struct lock_package *other)
{
	struct buf b = BUF(a);

	if (!p || !other || strcmp(p->version, other->version) != 0)
		return p ? p->version : NULL;
	buf_printf(&b, "%s", p->version);
	for (size_t i = 0; i < p->files.n; i++)
		buf_printf(&b, " %.12s", p->files.at[i].sha256);
	return buf_text(&b);
}

/* Returns the identity of a source: its commit or digest if pinned, otherwise its name. */
static const char *
source_identity(struct arena *a, const struct lock_source *s)
{
	const char *pin = !s ? NULL : s->commit ? s->commit : s->sha256;

	if (!s)
		return NULL;
	return arena_printf(a, "%s%s%s%s", s->kind, s->version || s->ref ? " " : "",
			    s->version ? s->version :
			    s->ref     ? s->ref :
					 "",
			    pin ? arena_printf(a, " (%.12s)", pin) : "");
}

static void
compare_images(struct arena *a, struct lock_changes *out, const char *name,
	       const struct lock_image *before, const struct lock_image *after)
{
	const struct lock_image *both[] = { before, after };
	const char *texts[2];

	for (size_t i = 0; i < 2; i++)
		texts[i] = both[i]->name ? arena_printf(a, "%s%s%.19s", both[i]->name,
							both[i]->digest ? " " : "",
							both[i]->digest ? both[i]->digest : "") :
					   NULL;
	if (texts[0] || texts[1])
		add_change(a, out, name, texts[0], texts[1], name);
}

static void
compare_sources(struct arena *a, struct lock_changes *out, const struct lock *before,
		const struct lock *after)
{
	list_each (s, &after->sources)
		add_change(a, out, s->name, source_identity(a, lock_source(before, s->name)),
			   source_identity(a, s), s->name);
	list_each (x, &before->sources)
		if (!lock_source(after, x->name))
			add_change(a, out, x->name, source_identity(a, x), NULL, x->name);
}

static int
by_rank(const void *x, const void *y)
{
	const struct lock_change *c = x, *d = y;
	size_t cr = root_rank(c->root), dr = root_rank(d->root);

	return cr != dr ? (cr < dr ? -1 : 1) : strcmp(c->name, d->name);
}

struct lock_changes
lock_compare(struct arena *a, const struct lock *before, const struct lock *after)
{
	const char *const *steps_before = lock_steps(a, before), *const *steps_after =
									 lock_steps(a, after);
	struct lock_changes all = { 0 };

	compare_images(a, &all, "base", &before->base, &after->base);
	compare_images(a, &all, "runtime", &before->runtime, &after->runtime);
	for (size_t i = 0; i < after->packages.n; i++) {
		const struct lock_package *p = &after->packages.at[i],
					  *was = lock_package(before, p->name);

		add_change(a, &all, p->name, identity(a, was, p), identity(a, p, was),
			   steps_after[i]);
	}
	for (size_t i = 0; i < before->packages.n; i++) {
		const struct lock_package *p = &before->packages.at[i];

		if (!lock_package(after, p->name))
			add_change(a, &all, p->name, p->version, NULL, steps_before[i]);
	}
	compare_sources(a, &all, before, after);
	if (all.n) /* qsort rejects NULL */
		qsort(all.at, all.n, sizeof(*all.at), by_rank);
	return all;
}

/* --- reasons --- */

/* " required by torch 2.13.0, required by ..." */
static bool
chain(const struct lock *l, const struct lock_package *p, struct map *seen, struct names *out)
{
	if (map_put(seen, p->name, seen))
		return false;
	if (p->roots.n)
		return true;
	for (size_t i = 0; i < p->required_by.n; i++) {
		const struct lock_package *by = lock_package(l, p->required_by.at[i]);

		if (by && chain(l, by, seen, out)) {
			list_push(seen->a, out, by->name);
			return true;
		}
	}
	return false;
}

/* Writes the inputs of a lock that name a package: "packages numpy<2". */
static void
why_inputs(const struct lock *l, const struct lock_package *p, struct buf *out)
{
	for (size_t i = 0; i < l->inputs.n; i++) {
		const char *text = strchr(l->inputs.at[i], ' ');
		size_t n = strcspn(l->inputs.at[i], " ");
		const char *root = arena_copy(out->a, l->inputs.at[i], n), *end;
		const struct requirement *req = NULL;

		if (text && (!strcmp(root, "constraint") || names_have(&p->roots, root))) {
			end = strstr(text, " from ");
			req = requirement_parse(
				out->a,
				arena_copy(out->a, text + 1,
					   end ? (size_t)(end - text - 1) : strlen(text + 1)),
				NULL, NULL);
		}
		if (req && !strcmp(req->key, p->name))
			buf_printf(out, "  %s: %s\n", root, text + 1);
	}
}

bool
lock_why(const struct lock *l, const char *name, struct buf *out)
{
	const char *key = name_normalize(out->a, name);
	const struct lock_package *p = lock_package(l, key);
	const struct lock_source *s = lock_source(l, key);

	if (s)
		buf_printf(out, "%s: an extension of the stack, from %s\n", s->name,
			   source_identity(out->a, s));
	if (!p)
		return s != NULL;
	buf_printf(out, "%s %s\n", p->name, p->version);
	why_inputs(l, p, out);
	for (size_t i = 0; i < p->required_by.n; i++) {
		const struct lock_package *by = lock_package(l, p->required_by.at[i]);
		struct map seen = MAP(out->a);
		struct names path = { 0 };

		if (!by) {
			buf_printf(out, "  required by %s\n", p->required_by.at[i]);
			continue;
		}
		buf_printf(out, "  required by %s %s", by->name, by->version);
		if (chain(l, by, &seen, &path))
			for (size_t k = path.n; k--;) /* the nearest one is last */
				buf_printf(out, ", which %s requires", path.at[k]);
		buf_putc(out, '\n');
	}
	return true;
}

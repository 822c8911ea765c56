/* Steps whose packages come from a lock: each in the first step that requires it. */
#include "base/str.h"
#include "make.h"

static bool
same_index(const char *x, const char *y)
{
	size_t n = strlen(x), k = strlen(y);

	n -= n && x[n - 1] == '/';
	k -= k && y[k - 1] == '/';
	return n == k && !strncmp(x, y, n);
}

/*
 * Returns the index of a package with its secret, if the recipe lists it; otherwise the default
 * index of the machine that builds. That may be another index than the lock's, because pip checks
 * digests.
 */
static struct pip_index
index_of(const struct maker *m, const struct lock_package *p)
{
	const struct recipe_indexes *extras = &m->s->recipe->extras;
	const char *torch = m->s->torch_index.value;

	if (p->index && torch && same_index(p->index, torch))
		return (struct pip_index){ torch, NULL };
	for (size_t i = 0; p->index && i < extras->n; i++)
		if (same_index(p->index, extras->at[i].url.s))
			return (struct pip_index){ extras->at[i].url.s, extras->at[i].secret.s };
	return plan_index(m);
}

/* Writes "numpy==1.26.4 \\" and a line for the digest of each wheel, or of the sdist of a package
 * without wheels. */
static void
add_lines(struct buf *out, const struct lock_package *p)
{
	bool wheels = false;

	for (size_t i = 0; i < p->files.n; i++)
		wheels |= p->files.at[i].kind == LOCK_WHEEL;
	if (p->files.at[0].kind == LOCK_ARCHIVE)
		buf_printf(out, "%s @ %s", p->name, p->files.at[0].url);
	else
		buf_printf(out, "%s==%s", p->name, p->version);
	if (p->marker)
		buf_printf(out, " ; %s", p->marker);
	for (size_t i = 0; i < p->files.n; i++)
		if (!wheels || p->files.at[i].kind == LOCK_WHEEL)
			buf_printf(out, " \\\n    --hash=sha256:%s", p->files.at[i].sha256);
	buf_putc(out, '\n');
}

static void
install_file(struct maker *m, struct step *st, const char *name, struct pip_index index,
	     const char *text)
{
	struct operation *op = plan_operation(m, st, OP_FILE, NULL);

	op->file.path = arena_printf(m->a, "{share}/%s", name);
	op->file.helper = name;
	op->file.text = text;
	op = plan_operation(m, st, OP_PACKAGES, NULL);
	op->packages.file = arena_printf(m->a, "{share}/%s", name);
	op->packages.index = index;
	op->packages.no_deps = true;
}

void
plan_locked(struct maker *m, struct step *st, const char *packages)
{
	const struct lock_packages *all = &m->lock->packages;
	struct pip_indexes LIST(struct pip_index) indexes = { 0 };

	for (size_t i = 0; i < all->n; i++) {
		const struct pip_index index = index_of(m, &all->at[i]);
		size_t k = 0;

		while (k < indexes.n && indexes.at[k].url != index.url)
			k++;
		if (k == indexes.n && !strcmp(m->locked_steps[i], packages))
			list_push(m->a, &indexes, index);
	}
	for (size_t k = 0; k < indexes.n; k++) {
		struct buf b = BUF(m->a);

		for (size_t i = 0; i < all->n; i++)
			if (!strcmp(m->locked_steps[i], packages) &&
			    index_of(m, &all->at[i]).url == indexes.at[k].url)
				add_lines(&b, &all->at[i]);
		install_file(m, st,
			     k ? arena_printf(m->a, "requirements-%s-%zu.txt", packages, k + 1) :
				 arena_printf(m->a, "requirements-%s.txt", packages),
			     indexes.at[k], buf_text(&b));
	}
}

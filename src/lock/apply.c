/* Applies the pins of a lock to a stack. */
#include <string.h>

#include "base/map.h"
#include "lock.h"

struct apply {
	struct arena *a;
	struct diags *ds;
	const struct lock *l;
	struct stack *s;
};

/* Adds the error of a lock that lacks a pin. */
static void
lacks(struct apply *x, struct span at, const char *what)
{
	if (!at.line)
		at = (struct span){ .src = x->l->src };
	diag_help(diag_at(x->ds, E_LOCK, at, "%s", what), "lock again: stackbuild lock RECIPE");
}

static bool
may_lack(const struct apply *x, const char *part)
{
	return names_have(&x->l->unpinned, part);
}

/* --- packages --- */

static bool
wants(const struct lock_request *q, const char *root, const char *key)
{
	return list_any(x, &q->wants, !strcmp(x->root, root) && !strcmp(x->key, key));
}

/* Checks that every requirement has its package, and that a requirement or another package needs
 * each package. */
static void
check_packages(struct apply *x)
{
	const struct lock_request *q = lock_request(x->a, x->s);
	struct map names = MAP(x->a);

	for (size_t i = 0; i < x->l->packages.n; i++)
		map_put(&names, x->l->packages.at[i].name, x);
	list_each (one, &q->wants)
		if (!map_get(&names, one->key) && !strchr(one->requirement, ';'))
			lacks(x, (struct span){ 0 },
			      arena_printf(x->a, "the lock has no package for `%s`",
					   one->requirement));
	list_each (p, &x->l->packages) {
		bool needed = p->roots.n;

		for (size_t k = 0; k < p->roots.n; k++)
			if (!wants(q, p->roots.at[k], p->name))
				lacks(x, p->at,
				      arena_printf(x->a, "the step `%s` does not require `%s`",
						   p->roots.at[k], p->name));
		for (size_t k = 0; k < p->required_by.n; k++)
			needed |= map_get(&names, p->required_by.at[k]) != NULL;
		if (!needed)
			lacks(x, p->at, arena_printf(x->a, "nothing requires `%s`", p->name));
	}
}

/* --- images, Python --- */

static void
pin_image(struct apply *x, const struct lock_image *from, struct choice *to,
	  struct image_name *image)
{
	if (!to->value)
		return;
	if (!from->name || !from->digest) {
		if (!may_lack(x, "base"))
			lacks(x, (struct span){ 0 },
			      arena_printf(x->a, "the lock has no digest of `%s`", to->value));
		return;
	}
	if (!strchr(to->value, '@'))
		to->value = arena_printf(x->a, "%s@%s", to->value, from->digest);
	if (image)
		image->digest = from->digest;
}

/* Uses the locked build, because the knowledge base may have a newer one of the series. */
static void
pin_python(struct apply *x)
{
	struct python_build *b = arena_new_of(x->a, struct python_build);

	if (!x->s->python_build || !x->s->python_build->sha256 || !x->l->python_url ||
	    !x->l->python_sha256)
		return;
	*b = *x->s->python_build;
	b->url = x->l->python_url;
	b->sha256 = x->l->python_sha256;
	x->s->python_build = b;
}

/* --- extensions --- */

static void
pin_extension(struct apply *x, struct stack_extension *e)
{
	const struct lock_source *from = lock_source(x->l, e->name);
	bool git = e->source == SOURCE_GIT;

	if (e->source == SOURCE_PATH)
		return;
	if (!from || strcmp(from->kind, lock_source_kind(e)) != 0) {
		lacks(x, (struct span){ 0 },
		      arena_printf(x->a, "the lock has no source of `%s`", e->name));
	} else if (git ? !from->commit : !from->sha256 || !from->url) {
		if (!may_lack(x, git ? "git" : e->name))
			lacks(x, from->at,
			      arena_printf(x->a, "the source of `%s` has no %s", e->name,
					   git ? "commit" : "digest"));
	} else if (git) {
		e->commit = from->commit;
	} else {
		e->url = from->url;
		e->sha256 = from->sha256;
	}
}

const struct stack *
lock_apply(struct arena *a, struct diags *ds, const struct stack *s, const struct lock *l)
{
	struct stack *pinned = arena_new_of(a, struct stack);
	struct apply x = { .a = a, .ds = ds, .l = l, .s = pinned };
	unsigned before = ds->errors;

	*pinned = *s;
	check_packages(&x);
	pin_image(&x, &l->base, &pinned->base, &pinned->image);
	pin_image(&x, &l->runtime, &pinned->runtime_base, NULL);
	pin_python(&x);
	pinned->extensions.at = arena_array_of(a, struct stack_extension, s->extensions.n);
	for (size_t i = 0; i < s->extensions.n; i++) {
		pinned->extensions.at[i] = s->extensions.at[i];
		pin_extension(&x, &pinned->extensions.at[i]);
	}
	return ds->errors == before ? pinned : NULL;
}

/* The requirements of a stack's lock, and the check whether a lock is stale. */
#include "lock.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/str.h"

/* uv 0.13, `uv pip compile --help`: manylinux_2_17, 2_28, and 2_31 to 2_40 */
static unsigned long
manylinux(unsigned long minor)
{
	return minor > 40 ? 40 : minor >= 31 ? minor : minor >= 28 ? 28 : 17;
}

static const char *
platform_of(struct arena *a, const struct stack *s)
{
	const char *machine = recipe_machine(s->recipe);
	const char *glibc = s->os ? s->os->glibc : NULL;

	if (s->os && s->os->musl)
		return arena_printf(a, "%s-unknown-linux-musl", machine);
	/* For an unknown system, uses the glibc that uv assumes for `linux`. */
	return arena_printf(
		a, "%s-manylinux_2_%lu", machine,
		glibc && starts_with(glibc, "2.") ? manylinux(strtoul(glibc + 2, NULL, 10)) : 28);
}

static void
want(struct arena *a, struct lock_request *q, const char *requirement, const char *index,
     const char *root, struct span at)
{
	const struct requirement *req = requirement_parse(a, requirement, NULL, NULL);

	if (!req)
		BUG("`%s` was a requirement before", requirement);
	list_push(a, &q->wants, (struct lock_want){ requirement, req->key, index, root, at });
}

static void
want_all(struct arena *a, struct lock_request *q, const struct stack_packages *all,
	 const char *index, const char *root)
{
	list_each (p, all) {

		want(a, q, p->requirement, p->index ? p->index : index, root, p->at);
	}
}

static void
want_application(struct arena *a, struct lock_request *q, const struct stack *s)
{
	const struct recipe_needs *needs = s->recipe->app.needs;

	for (size_t i = 0; needs && i < needs->requirements.n; i++) {
		const struct recipe_requirement *n = &needs->requirements.at[i];

		want(a, q, n->text.s, NULL, "app", n->text.at);
	}
}

const struct lock_request *
lock_request(struct arena *a, const struct stack *s)
{
	struct lock_request *q = arena_new_of(a, struct lock_request);
	const struct torch_variant *v = s->torch_variant;

	q->python = s->python.value;
	q->platform = platform_of(a, s);
	q->index = s->recipe->index.url.s;
	q->newest = s->recipe->newest.s;
	want_all(a, q, &s->torch_packages, s->torch_index.value, "torch");
	if (s->torch_index.value && v && v->cuda_bindings)
		want(a, q, v->cuda_bindings, NULL, "torch", s->torch.at);
	if (s->cuda_wheels.value)
		want(a, q, s->cuda_wheels.value, NULL, "torch", s->cuda_wheels.at);
	want_all(a, q, &s->build_deps, NULL, "build");
	want_all(a, q, &s->packages, NULL, "packages");
	want_application(a, q, s);
	list_each (line, &s->constraints)
		if (!names_have(&s->selected, *line))
			list_push(a, &q->constraints, *line);
	list_each (e, &s->extensions) {

		list_push(a, e->source == SOURCE_SDIST ? &q->sdists : &q->elsewhere,
			  e->source == SOURCE_SDIST ? e->requirement : e->name);
	}
	return q;
}

static const char *const kinds[] = { [SOURCE_GIT] = "git",
				     [SOURCE_SDIST] = "sdist",
				     [SOURCE_ARCHIVE] = "archive",
				     [SOURCE_WHEEL] = "wheel",
				     [SOURCE_PATH] = "path" };

const char *
lock_source_kind(const struct stack_extension *e)
{
	return kinds[e->source];
}

static void
add_images(struct arena *a, const struct stack *s, struct names *out)
{
	if (s->base.value)
		list_push(a, out, arena_printf(a, "base %s", s->base.value));
	if (s->runtime_base.value)
		list_push(a, out, arena_printf(a, "runtime %s", s->runtime_base.value));
}

/* Adds the constraints that do not repeat a requirement. Guards only forbid packages, so they are no
 * inputs of a lock. */
static void
add_constraints(struct arena *a, const struct stack *s, const struct lock_request *q,
		struct names *out)
{
	list_each (name, &q->constraints) {
		size_t k = 0;

		while (k < q->wants.n && strcmp(q->wants.at[k].requirement, *name) != 0)
			k++;
		if (k == q->wants.n && !names_have(&s->guards, *name))
			list_push(a, out, arena_printf(a, "constraint %s", *name));
	}
}

struct names
lock_inputs(struct arena *a, const struct stack *s)
{
	const struct lock_request *q = lock_request(a, s);
	struct names all = { 0 };

	add_images(a, s, &all);
	list_push(a, &all, arena_printf(a, "python %s", q->python ? q->python : "unknown"));
	list_push(a, &all, arena_printf(a, "platform %s", q->platform));
	if (q->index)
		list_push(a, &all, arena_printf(a, "index %s", q->index));
	if (q->newest)
		list_push(a, &all, arena_printf(a, "newest %s", q->newest));
	if (s->snapshot)
		list_push(a, &all, arena_printf(a, "apt snapshot %s", s->snapshot));
	list_each (w, &q->wants) {

		names_once(a, &all,
			   arena_printf(a, "%s %s%s%s", w->root, w->requirement,
					w->index ? " from " : "", w->index ? w->index : ""));
	}
	add_constraints(a, s, q, &all);
	list_each (e, &s->extensions) {

		list_push(a, &all,
			  arena_printf(a, "extension %s %s%s%s%s%s%s%s", e->requirement,
				       kinds[e->source], e->url ? " " : "", e->url ? e->url : "",
				       e->ref ? " " : "", e->ref ? e->ref : "", e->path ? " " : "",
				       e->path ? e->path : ""));
	}
	return all;
}

struct names
lock_stale(struct arena *a, const struct lock *l, const struct stack *s)
{
	const struct names now = lock_inputs(a, s);
	struct names all = { 0 };

	list_each (name, &now)
		if (!names_have(&l->inputs, *name))
			list_push(a, &all, arena_printf(a, "the lock does not have `%s`", *name));
	list_each (text, &l->inputs)
		if (!names_have(&now, *text))
			list_push(a, &all, arena_printf(a, "the stack no longer has `%s`", *text));
	return all;
}

/* Adds a part of a lock's name, without dots, which PEP 751 does not allow, and with portable
 * characters. */
static void
add_part(struct buf *b, const char *part)
{
	if (b->n)
		buf_putc(b, '-');
	for (; *part; part++)
		buf_putc(b, is_alnum(*part) || *part == '_' ? *part : '-');
}

const char *
lock_path(struct arena *a, const struct recipe *r)
{
	struct buf b = BUF(a);

	add_part(&b, r->stack.s);
	if (r->variant)
		add_part(&b, r->variant);
	if (r->cell)
		add_part(&b, r->cell);
	return fs_join(a, fs_dir(a, r->path), arena_printf(a, "pylock.%s.toml", buf_text(&b)));
}

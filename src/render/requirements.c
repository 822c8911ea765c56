#include <string.h>

#include "base/map.h"
#include "target.h"

/*
 * Writes requirements.txt and constraints.txt.  A requirements file is one call of pip.  A
 * package that needs a separate call becomes a comment with the command (an extension that compiles)
 * or an error (a package that must come from its own index).
 */

static const struct shape step_shape[] = {
	{ "id", VALUE_TEXT, "\"torch\", \"packages\"", 0 },
	{ "why", VALUE_TEXT, "the reason for its place", 0 },
	{ "extra_index", VALUE_TEXT, "URL of its own index", 0 },
	{ "requirements", VALUE_LIST, "its requirements", 0 },
	{ "locked", VALUE_CODE, "its requirements with digests, from the lock", 0 },
	{ "compile", VALUE_TEXT, "command of an extension that compiles", 0 },
	{ 0 },
};

const struct shape requirements_shape[] = {
	{ "name", VALUE_TEXT, "the stack's name", 0 },
	{ "generated", VALUE_LIST, "the program, the recipe and its digest, in lines", 0 },
	{ "compiles", VALUE_FLAG, "the stack compiles an extension", 0 },
	{ "index", VALUE_TEXT, "URL of the recipe's index", 0 },
	{ "steps", VALUE_LIST, "the steps that call pip", step_shape },
	{ "constraints", VALUE_LIST, "versions that no call of pip may change", 0 },
	{ 0 },
};

/* NAME=value ... python -m pip install ... git+https://...: on one line, for users to copy. */
static const char *
compile_command(struct arena *a, const struct stack_extension *e)
{
	struct buf b = BUF(a);
	const char *why, *what = e->url ? e->url : e->requirement;

	for (size_t i = 0; i < e->env.n; i++) {
		buf_printf(&b, "%s=", e->env.at[i].name.s);
		quote(&b, QUOTE_SH, LANG_SH, e->env.at[i].value.s, &why);
		buf_putc(&b, ' ');
	}
	buf_puts(&b, "python -m pip install --no-build-isolation --no-deps --no-cache-dir ");
	if (e->source == SOURCE_GIT)
		what = arena_printf(a, "git+%s@%s", e->url, e->commit ? e->commit : e->ref);
	else if (e->source == SOURCE_SDIST && e->url) /* from a lock */
		what = arena_printf(a, "%s#sha256=%s", e->url, e->sha256);
	quote(&b, QUOTE_SH, LANG_SH, what, &why);
	return buf_text(&b);
}

/* Rejects a separate index: with two indexes in a file, pip may install a package from either. */
static void
refuse_index(struct target *t, const char *requirement, struct span at)
{
	diag_help(diag_why(diag_at(t->ds, E_TARGET_CANNOT, at,
				   "a requirements file cannot restrict `%s` to its index",
				   requirement),
			   "pip selects the highest version of all indexes in the file, and an "
			   "attacker can upload a higher one"),
		  "use the script or dockerfile target, which call pip separately for each index");
}

/* Adds packages, except requirements of earlier steps. */
static void
add_packages(struct target *t, struct scope *out, struct map *seen, const struct step *s,
	     const struct operation *op)
{
	const struct names *all = &op->packages.requirements;

	if (t->ds->errors)
		return;
	if (op->packages.no_deps) {
		refuse_index(t, all->at[0], s->at);
		return;
	}
	for (size_t i = 0; i < all->n; i++)
		if (!map_put(seen, all->at[i], seen))
			scope_item_text(out, "requirements", all->at[i], s->at);
	if (s->kind == STEP_TORCH && op->packages.index.url)
		scope_text(out, "extra_index", op->packages.index.url, s->at);
}

/* Adds an item for each call of pip: its packages with their digests, which make every index
 * safe. */
static void
add_locked(struct target *t, struct map *seen, const struct step *s)
{
	const char *own = t->plan->stack->recipe->index.url.s, *text = NULL;

	list_each (op, &s->operations) {
		struct scope *out;

		if (op->kind == OP_FILE)
			text = op->file.text;
		if (op->kind != OP_PACKAGES)
			continue;
		out = scope_item(t->top, "steps");
		scope_text(out, "id", s->id, s->at);
		scope_text(out, "why", s->why, s->at);
		scope_code(out, "locked", arena_copy(t->a, text, strlen(text) - 1));
		if (op->packages.index.url && op->packages.index.url != own)
			scope_text(out, "extra_index", op->packages.index.url, s->at);
		for (const char *c = text; *c; c++)
			if (*c == '\n' && c[1] != ' ')
				map_put(seen, arena_printf(t->a, "%p", (const void *)c), seen);
	}
}

static void
add_step(struct target *t, struct map *seen, const struct step *s)
{
	const struct stack_extension *e = s->extension;
	struct scope *out;

	if (!e && !step_operation(s, OP_PACKAGES))
		return;
	if (!e && t->plan->lock) {
		add_locked(t, seen, s);
		return;
	}
	if (e && e->index && !e->url)
		refuse_index(t, e->requirement, e->at);
	out = scope_item(t->top, "steps");
	scope_text(out, "id", s->id, s->at);
	scope_text(out, "why", s->why, s->at);
	for (size_t i = 0; i < s->operations.n; i++)
		if (s->operations.at[i].kind == OP_PACKAGES)
			add_packages(t, out, seen, s, &s->operations.at[i]);
	if (e && e->path)
		diag_help(diag_why(diag_at(t->ds, E_TARGET_CANNOT, e->asked->path.at,
					   "a requirements file cannot bring your own code in `%s`",
					   e->path),
				   "pip would compile it in isolation, without torch"),
			  "use the dockerfile or script target");
	else if (step_operation(s, OP_COMPILE)) {
		scope_text(out, "compile", compile_command(t->a, e), e->at);
		scope_flag(t->top, "compiles", true);
	} else if (e) {
		scope_item_text(out, "requirements", target_archive(t->a, e->name, e), e->at);
	}
}

static void
head(struct target *t, size_t n, const char *what)
{
	const struct recipe *r = t->plan->stack->recipe;

	scope_text(t->top, "name", t->plan->name, r->stack.at);
	scope_text(t->top, "index", r->index.url.s, r->index.url.at);
	t->file.summary = arena_printf(t->a, "%zu %s%s", n, what, n == 1 ? "" : "s");
}

void
requirements_fill(struct target *t)
{
	struct map seen = MAP(t->a);

	target_refuse_base_torch(t, t->plan->stack->recipe);
	for (size_t i = 0; i < t->plan->n; i++)
		add_step(t, &seen, &t->plan->steps[i]);
	head(t, seen.n, "requirement");
}

void
constraints_fill(struct target *t)
{
	const struct lock *l = t->plan->lock;
	const struct stack_extensions *extensions = &t->plan->stack->extensions;
	struct names lines = { 0 };

	target_refuse_base_torch(t, t->plan->stack->recipe);
	for (size_t i = 0; l && i < l->packages.n; i++)
		list_push(t->a, &lines,
			  arena_printf(t->a, "%s==%s", l->packages.at[i].name,
				       l->packages.at[i].version));
	for (size_t i = 0; l && i < extensions->n; i++)
		if (extensions->at[i].version)
			list_push(t->a, &lines, extensions->at[i].requirement);
	if (!l)
		lines = t->plan->stack->constraints;
	for (size_t i = 0; i < lines.n; i++)
		scope_item_text(t->top, "constraints", lines.at[i], NOWHERE);
	head(t, lines.n, "constraint");
}

#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "quote.h"
#include "target.h"

/*
 * What pip is given, as a requirements file, and what none of its calls may move, as a
 * constraints file.  One file is one call of pip: what needs several (compiling without
 * isolation, an index for a few packages alone) is a comment with the command, or refused.
 */

static const struct shape step_shape[] = {
	{ "id", VALUE_TEXT, "\"torch\", \"packages\"", 0 },
	{ "why", VALUE_TEXT, "why it stands here", 0 },
	{ "extra_index", VALUE_TEXT, "URL of its own index", 0 },
	{ "requirements", VALUE_LIST, "its requirements", 0 },
	{ "compile", VALUE_TEXT, "an extension that is compiled: the command for it", 0 },
	{ 0 },
};

static const struct shape requirements_shape[] = {
	{ "name", VALUE_TEXT, "the stack's name", 0 },
	{ "digest", VALUE_TEXT, "sha256 of the canonical recipe", 0 },
	{ "compiles", VALUE_FLAG, "an extension is compiled", 0 },
	{ "index", VALUE_TEXT, "URL of the recipe's index", 0 },
	{ "steps", VALUE_LIST, "the steps that call pip", step_shape },
	{ "constraints", VALUE_LIST, "what stays as it is", 0 },
	{ 0 },
};

static const struct span nowhere;

static void
head(struct scope *top, const struct plan *p)
{
	const struct recipe *r = p->stack->recipe;

	scope_text(top, "name", p->name, r->stack.at);
	scope_text(top, "digest", r->digest, nowhere);
	scope_text(top, "index", r->index.url.s, r->index.url.at);
}

/* A package that must come from one index: with several in a file, pip takes any. */
static bool
refuse_extra(struct diags *ds, const struct step *s)
{
	const struct operation *op = step_operation(s, OP_PACKAGES);

	if (s->kind != STEP_PACKAGES || !op->packages.no_deps)
		return true;
	diag_help(diag_why(diag_at(ds, E_TARGET_CANNOT, s->at,
				   "one requirements file cannot take `%s` from its index alone",
				   op->packages.requirements.at[0]),
			   "pip takes the highest version from any index of the file, and an "
			   "attacker's may be higher"),
		  "use the script or the dockerfile target, which call pip once an index");
	return false;
}

/* "NAME=value ... python -m pip install ... git+https://...": for a reader to copy. */
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
		what = arena_printf(a, "git+%s@%s", e->url, e->ref);
	quote(&b, QUOTE_SH, LANG_SH, what, &why);
	return buf_text(&b);
}

/* What a step before has named already is not named again. */
static void
add_packages(struct scope *out, struct map *named, const struct step *s, const struct operation *op)
{
	for (size_t i = 0; i < op->packages.requirements.n; i++)
		if (!map_put(named, op->packages.requirements.at[i], named))
			scope_item_text(out, "requirements", op->packages.requirements.at[i],
					s->at);
	if (s->kind == STEP_TORCH && op->packages.index.url)
		scope_text(out, "extra_index", op->packages.index.url, s->at);
}

static void
add_wheel(struct arena *a, struct scope *out, const struct stack_extension *e)
{
	scope_item_text(out, "requirements",
			arena_printf(a, "%s @ %s%s%s", e->name, e->url, e->sha256 ? "#sha256=" : "",
				     e->sha256 ? e->sha256 : ""),
			e->at);
}

static void
add_step(struct arena *a, struct scope *top, struct map *named, const struct step *s)
{
	struct scope *out = scope_item(top, "steps");

	scope_text(out, "id", s->id, s->at);
	scope_text(out, "why", s->why, s->at);
	for (size_t i = 0; i < s->operations.n; i++)
		if (s->operations.at[i].kind == OP_PACKAGES)
			add_packages(out, named, s, &s->operations.at[i]);
	if (!s->extension)
		return;
	if (step_operation(s, OP_COMPILE)) {
		scope_text(out, "compile", compile_command(a, s->extension), s->extension->at);
		scope_flag(top, "compiles", true);
	} else {
		add_wheel(a, out, s->extension);
	}
}

bool
requirements_render(struct arena *a, struct diags *ds, const struct plan *p,
		    const struct templates *t, struct rendereds *out)
{
	struct scope *top = scope_new(a, requirements_shape);
	struct map named = MAP(a);

	head(top, p);
	for (size_t i = 0; i < p->n; i++) {
		const struct step *s = &p->steps[i];

		if (!refuse_extra(ds, s))
			return false;
		if (s->extension || step_operation(s, OP_PACKAGES))
			add_step(a, top, &named, s);
	}
	return target_expand(a, ds, t, LANG_PIP, top,
			     (struct rendered){
				     .path = "requirements.txt",
				     .mode = 0644,
				     .summary = arena_printf(a, "%zu requirement%s", named.n,
							     named.n == 1 ? "" : "s"),
				     .next = "python -m pip install -r {path}",
			     },
			     out);
}

bool
constraints_render(struct arena *a, struct diags *ds, const struct plan *p,
		   const struct templates *t, struct rendereds *out)
{
	const struct names *lines = &p->stack->constraints;
	struct scope *top = scope_new(a, requirements_shape);

	head(top, p);
	for (size_t i = 0; i < lines->n; i++)
		scope_item_text(top, "constraints", lines->at[i], nowhere);
	return target_expand(a, ds, t, LANG_PIP, top,
			     (struct rendered){
				     .path = "constraints.txt",
				     .mode = 0644,
				     .summary = arena_printf(a, "%zu constraint%s", lines->n,
							     lines->n == 1 ? "" : "s"),
				     .next = "python -m pip install -c {path} ...",
			     },
			     out);
}

#include <string.h>

#include "base/fs.h"
#include "base/map.h"
#include "base/str.h"
#include "target.h"

static const struct span nowhere;

static const struct shape cell_shape[] = {
	{ "cell", VALUE_TEXT, "its name; not there without a matrix", 0 },
	{ "tag", VALUE_TEXT, "what its image is tagged", 0 },
	{ "dockerfile", VALUE_TEXT, "its Dockerfile, below the output directory", 0 },
	{ "image", VALUE_CODE, "HCL: its image, in ${REGISTRY}", 0 },
	{ "id", VALUE_TEXT, "its name, of letters, digits, _ and -", 0 },
	{ 0 },
};

const struct shape pipeline_shape[] = {
	{ "stack", VALUE_TEXT, "the stack's name, in lower case", 0 },
	{ "recipe", VALUE_TEXT, "the recipe's file, as it was named", 0 },
	{ "out", VALUE_TEXT, "where render puts files: out/STACK", 0 },
	{ "variant", VALUE_TEXT, "the recipe's variant, if one was asked for", 0 },
	{ "platform", VALUE_TEXT, "the recipe's platform, if it names one", 0 },
	{ "generated", VALUE_TEXT, "by what and from what the file was generated", 0 },
	{ "app", VALUE_FLAG, "app: copies files of the recipe's directory", 0 },
	{ "secrets", VALUE_LIST, "names of the build secrets", 0 },
	{ "matrix", VALUE_FLAG, "there are several cells", 0 },
	{ "cells", VALUE_LIST, "its cells, or the one that it is", cell_shape },
	{ 0 },
};

void
pipeline_add(struct arena *a, struct pipeline *all, const struct plan *p)
{
	const struct recipe *r = p->stack->recipe;
	const struct names secrets = plan_secrets(a, p);
	const char *image = docker_image_tag(a, p), *colon = strchr(image, ':');

	if (!all->cells.n) {
		all->recipe = r;
		all->variant = r->variant;
		all->generated = target_generated(a, r);
		all->stack = colon ? arena_copy(a, image, (size_t)(colon - image)) : image;
	}
	list_push(a, &all->cells,
		  (struct pipeline_cell){
			  .name = r->cell,
			  .tag = colon ? colon + 1 : "latest",
			  .path = r->cell ? fs_join(a, r->cell, "Dockerfile") : "Dockerfile",
		  });
	for (size_t i = 0; i < secrets.n; i++)
		names_once(a, &all->secrets, arena_strdup(a, secrets.at[i]));
}

/* A target of bake has letters, digits, _ and - in its name, and a name of its own. */
static const char *
id_of(struct arena *a, const struct pipeline *p, size_t i, struct map *seen)
{
	const char *name = p->cells.at[i].name;
	char *id = arena_strdup(a, name ? name : p->stack);

	for (char *s = id; *s; s++)
		if (!is_alnum(*s) && *s != '_')
			*s = '-';
	return map_put(seen, id, id) ? arena_printf(a, "%s-%zu", id, i + 1) : id;
}

/* A text of HCL: what a variable holds, and after it what is meant as it is. */
static const char *
after_variable(struct arena *a, const char *variable, const char *text)
{
	struct buf b = BUF(a);
	const char *why;

	if (!quote(&b, QUOTE_JSON, LANG_HCL, text, &why))
		BUG("a text is always a text of HCL: %s", why);
	return arena_printf(a, "\"%s%s", variable, buf_text(&b) + 1);
}

/*
 * Whether a code host can be told of the recipe: it lies in the checkout, and no name has a `$`,
 * which both hosts take for one of their variables.
 */
static void
check_names(struct target *t)
{
	const struct pipeline *p = t->pipeline;
	const char *path = p->recipe->path, *odd = strchr(path, '$') ? path : NULL;

	for (size_t i = 0; i < p->cells.n; i++)
		if (p->cells.at[i].name && strchr(p->cells.at[i].name, '$'))
			odd = p->cells.at[i].name;
	if (odd)
		diag_help(diag_at(t->ds, E_TARGET_CANNOT, p->recipe->stack.at,
				  "a pipeline takes the `$` in `%s` for a variable", odd),
			  "give the file or the cell another name");
	else if (*path == '/' || starts_with(path, "../") || !strcmp(path, "-"))
		diag_help(diag_at(t->ds, E_TARGET_CANNOT, p->recipe->stack.at,
				  "a pipeline has a checkout, and `%s` is not below it", path),
			  "render in the repository's folder, and name the recipe from there");
}

void
pipeline_fill(struct target *t)
{
	const struct pipeline *p = t->pipeline;
	const struct recipe *r = p->recipe;
	struct map seen = MAP(t->a);

	if (t->language == LANG_YAML)
		check_names(t);
	scope_text(t->top, "stack", p->stack, r->stack.at);
	scope_text(t->top, "recipe", r->path, nowhere);
	scope_text(t->top, "out", fs_join(t->a, "out", r->stack.s), nowhere);
	scope_text(t->top, "variant", p->variant, nowhere);
	scope_text(t->top, "platform", r->platform.s, r->platform.at);
	for (size_t i = 0; i < p->secrets.n; i++)
		scope_item_text(t->top, "secrets", p->secrets.at[i], nowhere);
	scope_text(t->top, "generated", p->generated, nowhere);
	scope_flag(t->top, "app", target_copies_app(r));
	scope_flag(t->top, "matrix", p->cells.at[0].name != NULL);
	for (size_t i = 0; i < p->cells.n; i++) {
		const struct pipeline_cell *c = &p->cells.at[i];
		struct scope *item = scope_item(t->top, "cells");

		scope_text(item, "cell", c->name, nowhere);
		scope_text(item, "tag", c->tag, nowhere);
		scope_text(item, "dockerfile", c->path, nowhere);
		scope_code(item, "image",
			   after_variable(t->a, "${REGISTRY}",
					  arena_printf(t->a, "%s:%s", p->stack, c->tag)));
		scope_text(item, "id", id_of(t->a, p, i, &seen), nowhere);
	}
	t->file.summary = arena_printf(t->a, "%zu image%s", p->cells.n, p->cells.n == 1 ? "" : "s");
}

#include "pipeline.h"

#include <string.h>

#include "base/fs.h"
#include "base/map.h"
#include "base/str.h"
#include "dockerfile.h"

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

static void
add_secrets(struct arena *a, struct names *out, const struct plan *p)
{
	const struct names all = plan_secrets(a, p);

	for (size_t i = 0; i < all.n; i++)
		names_once(a, out, arena_strdup(a, all.at[i]));
}

void
pipeline_add(struct arena *a, struct pipeline *all, const struct plan *p)
{
	const struct recipe *r = p->stack->recipe;
	const char *image = docker_image_tag(a, p), *colon = strchr(image, ':');

	if (!all->cells.n) {
		all->recipe = r;
		all->variant = r->variant;
		all->generated = target_generated(a, p);
		all->stack = colon ? arena_copy(a, image, (size_t)(colon - image)) : image;
	}
	list_push(a, &all->cells,
		  (struct pipeline_cell){
			  .name = r->cell,
			  .tag = colon ? colon + 1 : "latest",
			  .path = r->cell ? fs_join(a, r->cell, "Dockerfile") : "Dockerfile",
		  });
	add_secrets(a, &all->secrets, p);
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

static struct scope *
pipeline_scope(struct arena *a, const struct pipeline *p)
{
	struct scope *top = scope_new(a, pipeline_shape);
	struct map seen = MAP(a);

	scope_text(top, "stack", p->stack, p->recipe->stack.at);
	scope_text(top, "recipe", p->recipe->path, nowhere);
	scope_text(top, "out", fs_join(a, "out", p->recipe->stack.s), nowhere);
	scope_text(top, "variant", p->variant, nowhere);
	scope_text(top, "platform", p->recipe->platform.s, p->recipe->platform.at);
	for (size_t i = 0; i < p->secrets.n; i++)
		scope_item_text(top, "secrets", p->secrets.at[i], nowhere);
	scope_text(top, "generated", p->generated, nowhere);
	scope_flag(top, "app", p->recipe->app.copy.n || p->recipe->app.requirements.s);
	scope_flag(top, "matrix", p->cells.at[0].name != NULL);
	for (size_t i = 0; i < p->cells.n; i++) {
		const struct pipeline_cell *c = &p->cells.at[i];
		struct scope *item = scope_item(top, "cells");

		scope_text(item, "cell", c->name, nowhere);
		scope_text(item, "tag", c->tag, nowhere);
		scope_text(item, "dockerfile", c->path, nowhere);
		scope_code(item, "image",
			   after_variable(a, "${REGISTRY}",
					  arena_printf(a, "%s:%s", p->stack, c->tag)));
		scope_text(item, "id", id_of(a, p, i, &seen), nowhere);
	}
	return top;
}

bool
pipeline_can_name(struct diags *ds, const struct pipeline *p)
{
	const char *path = p->recipe->path, *odd = strchr(path, '$') ? path : NULL;

	for (size_t i = 0; i < p->cells.n; i++)
		if (p->cells.at[i].name && strchr(p->cells.at[i].name, '$'))
			odd = p->cells.at[i].name;
	if (odd) {
		diag_help(diag_at(ds, E_TARGET_CANNOT, p->recipe->stack.at,
				  "a pipeline takes the `$` in `%s` for a variable", odd),
			  "give the file or the cell another name");
		return false;
	}
	if (*path != '/' && !starts_with(path, "../") && strcmp(path, "-") != 0)
		return true;
	diag_help(diag_at(ds, E_TARGET_CANNOT, p->recipe->stack.at,
			  "a pipeline has a checkout, and `%s` is not below it", path),
		  "render in the repository's folder, and name the recipe from there");
	return false;
}

bool
pipeline_file(struct arena *a, struct diags *ds, const struct pipeline *p,
	      const struct templates *t, const char *name, enum language language, const char *next,
	      struct rendereds *out)
{
	struct buf text = BUF(a);

	if (!template_expand(ds, templates_text(t, name), language, pipeline_scope(a, p), &text,
			     NULL))
		return false;
	list_push(a, out,
		  (struct rendered){
			  .path = name,
			  .text = buf_text(&text),
			  .size = text.n,
			  .mode = 0644,
			  .summary = arena_printf(a, "%zu image%s", p->cells.n,
						  p->cells.n == 1 ? "" : "s"),
			  .next = next,
		  });
	return true;
}

/* The change of a recipe that compiles an extension whose wheel was built for another torch. */
#include "internal.h"

#include "base/edit.h"
#include "base/str.h"
#include "recipe/recipe.h"

/* Returns the item of a list that names the extension, or NULL. */
static const struct node *
item_of(struct arena *a, const struct node *list, const struct extension *e)
{
	for (size_t i = 0; list && list->kind == NODE_LIST && i < list->n; i++) {
		const struct node *item = list->items[i];
		const char *text = item->kind == NODE_MAP ? node_text(node_get(item, "name")).s :
							    node_text(item).s;

		if (text && !strcmp(name_normalize(a, arena_copy(a, text, requirement_name(text))),
				    e->name))
			return item;
	}
	return NULL;
}

static bool
has_word(const struct node *n, const char *word)
{
	const char *s = node_text(n).s;

	return s && !strcmp(s, word);
}

/* Adds the help for `name @ URL`, `name==1.0` and `name`; false: it is compiled already. */
static bool
short_form(struct arena *a, struct diag *d, const struct node *item, const char *name,
	   bool prebuilt)
{
	const char *rest = item->s + requirement_name(item->s), *url = strchr(rest, '@');
	const char *version = starts_with(rest, "==") ? rest + 2 : NULL, *in_file, *map;
	const struct version *v;

	url = url ? url + 1 + strspn(url + 1, " ") : NULL;
	if (url && recipe_names_wheel(url) && recipe_archive(a, url, &in_file, &v)) {
		diag_fix(d, item->at,
			 edit_scalar(a, item->at,
				     arena_printf(a, "%s==%s", name, version_public(a, v))),
			 "compile %s instead of using that wheel", name);
		return true;
	}
	if (url || !prebuilt)
		return false;
	map = arena_printf(a, "{name: %s%s%s, prefer: source}", name, version ? ", version: " : "",
			   version ? edit_scalar(a, (struct span){ 0 }, version) : "");
	if (version || !*rest)
		diag_fix(d, item->at, map, "compile %s instead of using its wheel", name);
	else
		diag_help(d, "compile %s: give it `prefer: source`", name);
	return true;
}

/* Adds the help for a map; false: it is compiled already. */
static bool
long_form(struct arena *a, struct diag *d, const struct node *item, const struct extension *e,
	  bool prebuilt)
{
	const struct node *from = node_get(item, "from"), *prefer = node_get(item, "prefer");
	const char *source = e->git && e->nreleases ? "git" : "sdist";
	const char *url = node_text(node_get(item, "url")).s;

	if (url && recipe_names_wheel(url))
		diag_help(d, "compile %s: replace `url` by `version`, and `from` by `from: %s`",
			  e->name, source);
	else if (has_word(from, "release") || has_word(from, "wheel"))
		diag_fix(d, from->at, edit_scalar(a, from->at, source),
			 "compile %s instead of using its wheel", e->name);
	else if (has_word(prefer, "prebuilt"))
		diag_fix(d, prefer->at, edit_scalar(a, prefer->at, "source"),
			 "compile %s instead of using its wheel", e->name);
	else if (prebuilt && !from && !prefer)
		diag_help(d, "compile %s: give it `prefer: source`", e->name);
	else
		return false;
	return true;
}

static void
add_edits(struct diag *d, const struct edits *edits, const char *help, const char *name)
{
	for (size_t i = 0; i < edits->n; i++)
		if (i)
			diag_fix_more(d, edits->at[i]->at, edits->at[i]->replacement);
		else
			diag_fix(d, edits->at[i]->at, edits->at[i]->replacement, help, name);
	if (!edits->n)
		diag_help(d, help, name);
}

void
rebuild_help(struct arena *a, struct diag *d, const struct node *root, const struct cause *c)
{
	const struct extension *e = c->extension;
	const struct node *item = item_of(a, node_get(root, "extensions"), e);
	const struct node *package = item_of(a, node_get(root, "packages"), e);
	bool prebuilt = has_word(node_get(root, "prefer"), "prebuilt");
	struct edits edits = { 0 };

	if (item ? (item->kind == NODE_MAP ? long_form(a, d, item, e, prebuilt) :
					     short_form(a, d, item, e->name, prebuilt)) :
		   false) {
		/* The help is complete. */
	} else if (item) {
		diag_help(d,
			  "the recipe compiles %s for its torch: run the program in the result of "
			  "`stackbuild build`, without the wheel of another torch",
			  e->name);
		return;
	} else if (package) {
		edit_move(a, package->at, "packages", "extensions", &edits);
		add_edits(d, &edits,
			  "compile %s for the torch of the recipe: move it to `extensions`",
			  e->name);
	} else {
		if (root->n)
			edit_append(a, root->pairs[0].key_at, "extensions", "packages torch",
				    e->name, &edits);
		add_edits(d, &edits,
			  "compile %s for the torch of the recipe: add it to `extensions`",
			  e->name);
	}
	if (c->torch)
		diag_help(d, "set `torch` to the release of the wheel: it was %s", c->torch);
}

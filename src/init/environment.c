#include <string.h>

#include "base/yaml.h"
#include "reader.h"

/* Reads YAML: conda's environment.yml, and cog.yaml. */

static bool
is_list(const struct node *n)
{
	return n && n->kind == NODE_LIST;
}

/* Adds an item for each text of a list; other values are omitted. */
static void
each_text(struct init *rd, const struct node *list,
	  void (*place)(struct init *rd, struct init_item *item, const char *text))
{
	for (size_t i = 0; is_list(list) && i < list->n; i++) {
		const struct node *n = list->items[i];

		if (n->kind == NODE_SCALAR)
			place(rd, item_open(rd, n->s, n->at), n->s);
		else if (n->kind == NODE_MAP && node_get(n, "command") &&
			 node_get(n, "command")->kind == NODE_SCALAR)
			place(rd, item_open(rd, node_get(n, "command")->s, n->at),
			      node_get(n, "command")->s);
		else if (n->kind != NODE_MAP || !node_get(n, "pip"))
			item_unread(rd, item_open(rd, node_kind_name(n), n->at), NULL,
				    "init expects a text here");
	}
}

static void
place_pip(struct init *rd, struct init_item *item, const char *text)
{
	const char *value;
	size_t n = strcspn(text, " \t=");
	enum pip_option o =
		pip_option(rd->a, arena_copy(rd->a, text, strcspn(text, " \t")), &value);

	if (o == PIP_NONE || *text != '-')
		place_requirement(rd, item, text, false);
	else
		place_option(rd, item, o, value ? value : text + n + strspn(text + n, " \t="));
}

static void
place_apt(struct init *rd, struct init_item *item, const char *text)
{
	item_take(rd, item, "apt", text);
}

/* --- environment.yml --- */

static void
add_environment(struct init *rd, const struct node *root)
{
	const struct node *all = node_get(root, "dependencies");
	const struct node *variables = node_get(root, "variables");

	for (size_t i = 0; i < root->n; i++)
		if (!among(root->pairs[i].key, "dependencies variables"))
			item_leave(rd, item_open(rd, root->pairs[i].key, root->pairs[i].key_at),
				   "%s",
				   among(root->pairs[i].key, "channels") ? NO_CHANNEL :
									   "it belongs to conda");
	each_text(rd, all, place_conda);
	for (size_t i = 0; i < all->n; i++)
		each_text(rd, node_get(all->items[i], "pip"), place_pip);
	for (size_t i = 0; variables && variables->kind == NODE_MAP && i < variables->n; i++) {
		const struct pair *p = &variables->pairs[i];
		struct init_item *item = item_open(rd, p->key, p->key_at);

		item->name = p->key;
		if (p->value->kind == NODE_SCALAR)
			item_take(rd, item, "env", p->value->s);
		else
			item_unread(rd, item, NULL, "init expects a text here");
	}
}

/* --- cog.yaml --- */

/* Keys of `build` that a recipe sets itself, or that do not affect the stack. */
static void
add_build_key(struct init *rd, const struct pair *p)
{
	const struct node *n = p->value;
	const char *text = n->kind == NODE_SCALAR ? n->s : NULL;
	struct init_item *item;

	if (!strcmp(p->key, "python_packages")) {
		each_text(rd, n, place_pip);
	} else if (!strcmp(p->key, "system_packages")) {
		each_text(rd, n, place_apt);
	} else if (among(p->key, "run pre_install")) {
		each_text(rd, n, read_commands);
	} else {
		item = item_open(rd, text ? arena_printf(rd->a, "%s: %s", p->key, text) : p->key,
				 p->key_at);
		if (text && among(p->key, "python_version cuda"))
			item_take(rd, item, *p->key == 'c' ? "cuda" : "python", text);
		else if (text && !strcmp(p->key, "python_requirements"))
			item_unread(rd, item,
				    arena_printf(rd->a,
						 "add `--from %s`: the option may be repeated",
						 text),
				    "`%s` was not read", text);
		else if (among(p->key, "gpu cudnn"))
			item_leave(rd, item, "the base image and torch determine it");
		else
			item_unread(rd, item, NULL, "init does not read it");
	}
}

static void
add_cog(struct init *rd, const struct node *root)
{
	const struct node *build = node_get(root, "build");

	for (size_t i = 0; i < build->n; i++)
		add_build_key(rd, &build->pairs[i]);
	for (size_t i = 0; i < root->n; i++)
		if (strcmp(root->pairs[i].key, "build") != 0)
			item_leave(rd, item_open(rd, root->pairs[i].key, root->pairs[i].key_at),
				   "it belongs to Cog's server");
}

/* --- kind of the file --- */

bool
init_is_yaml(struct init *rd, const struct source *src)
{
	return str_matches(init_first_line(rd, src), "^---$|^[a-z_]+:( |$)");
}

void
read_environment(struct init *rd, const struct source *src)
{
	const struct node *root = yaml_read(rd->a, rd->ds, src, YAML_LIMITS_DEFAULT);
	const struct node *build = node_get(root, "build");

	if (!root)
		return;
	if (is_list(node_get(root, "dependencies")))
		add_environment(rd, root);
	else if (build && build->kind == NODE_MAP)
		add_cog(rd, root);
	else
		diag_help(diag_at(rd->ds, E_INIT_INPUT, root->at,
				  "this YAML is neither conda's environment.yml nor cog.yaml"),
			  "pass one of them, the output of `pip freeze`, pyproject.toml or a "
			  "Dockerfile");
}

bool
init_environment(struct init *rd, const struct source *src)
{
	size_t from = rd->items.n;
	unsigned before = rd->ds->errors;

	read_environment(rd, src);
	items_report(rd, from);
	return rd->ds->errors == before;
}

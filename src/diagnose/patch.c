#include "base/edit.h"
#include "base/str.h"
#include "internal.h"

/* Makes the change of a recipe in a signature, as edits of the recipe's text. */

/* Returns the end of the last line that is not empty; line 0: all are empty. */
static struct span
end_of(const struct source *src)
{
	struct span at = { .src = src };
	const char *line;
	size_t n;

	for (uint32_t i = 1; source_line(src, i, &line, &n); i++)
		if (n)
			at = (struct span){ src, i, (uint32_t)text_columns(line, n) + 1, 0 };
	return at;
}

/* Returns the place after a scalar. */
static struct span
behind(const struct node *n)
{
	struct span at = n->at;

	at.col += at.width;
	at.width = 0;
	return at;
}

size_t
requirement_name(const char *requirement)
{
	size_t n = 0;

	while (is_alnum(requirement[n]) || (requirement[n] && strchr("._-", requirement[n])))
		n++;
	return n;
}

/* Returns the text before an item on its line, " - "; NULL: it is not a dash. */
static const char *
dash_before(struct arena *a, const struct node *item)
{
	const char *line;
	size_t n, i = 0;

	if (!source_line(item->at.src, item->at.line, &line, &n))
		return NULL;
	while (i < n && line[i] == ' ')
		i++;
	if (i == n || line[i] != '-')
		return NULL;
	for (i++; i < n && line[i] == ' ';)
		i++;
	return i + 1 == item->at.col ? arena_copy(a, line, i) : NULL;
}

static bool
add_item(struct arena *a, struct diag *d, const struct node *list, const char *value,
	 const char *text)
{
	const struct node *last = list->n ? list->items[list->n - 1] : NULL;
	const char *dash;

	for (size_t i = 0; i < list->n; i++) {
		const struct node *item = list->items[i];
		size_t n = item->kind == NODE_SCALAR ? requirement_name(item->s) : 0;

		if (!n || n != requirement_name(value) || strncmp(item->s, value, n) != 0)
			continue;
		if (!strcmp(item->s, value) || item->lines)
			return false;
		diag_fix(d, item->at, edit_scalar(a, item->at, value), "%s", text);
		return true;
	}
	if (!last || last->kind != NODE_SCALAR || last->lines)
		return false;
	dash = dash_before(a, last);
	diag_fix(d, behind(last),
		 arena_printf(a, dash ? "\n%s%s" : ", %s%s", dash ? dash : "",
			      edit_scalar(a, (struct span){ 0 }, value)),
		 "%s", text);
	return true;
}

/* Adds an item; false: the recipe already has it, or the user must make the change. */
static bool
add_fix(struct arena *a, struct diag *d, const struct node *root, const struct cause *c,
	const char *text)
{
	const char *key = c->recipe_of->recipe_key, *value = c->recipe_value;
	const struct node *at = node_get(root, key);
	const char *plain = edit_scalar(a, (struct span){ 0 }, value);
	struct span end = end_of(root->at.src);

	if (at && at->kind == NODE_LIST && c->recipe_of->recipe_add)
		return add_item(a, d, at, value, text);
	if (at && at->kind == NODE_SCALAR && c->recipe_of->recipe_set &&
	    strcmp(at->s, value) != 0) {
		diag_fix(d, at->at, edit_scalar(a, at->at, value), "%s", text);
		return true;
	}
	if (at || !end.line || root->at.col != 1 || !root->n || root->pairs[0].key_at.col != 1)
		return false;
	diag_fix(d, end,
		 arena_printf(a, c->recipe_of->recipe_add ? "\n%s:\n  - %s" : "\n%s: %s", key,
			      plain),
		 "%s", text);
	return true;
}

bool
diagnose_patch(struct arena *a, struct diags *ds, const struct causes *causes,
	       const struct source *recipe)
{
	const struct node *root = yaml_read(a, ds, recipe, YAML_LIMITS_DEFAULT);
	const struct cause *c = causes->at;
	const char *text;
	struct diag *d;

	while (root && c < causes->at + causes->n && !c->recipe_value && !c->extension)
		c++;
	if (!root || root->kind != NODE_MAP || c == causes->at + causes->n)
		return false;
	d = diag_at(ds, E_LOG_CAUSE, (struct span){ .src = recipe }, "%s", c->title);
	if (!c->recipe_value) {
		rebuild_help(a, d, root, c);
		diag_source(d, c->of->source);
		return true;
	}
	text = arena_printf(a, c->recipe_of->recipe_set ? "set `%s` to `%s`" : "add to `%s`: `%s`",
			    c->recipe_of->recipe_key, c->recipe_value);
	if (!add_fix(a, d, root, c, text))
		diag_help(d, "%s, unless the recipe already has it", text);
	diag_source(d, c->recipe_of->source);
	return true;
}

#include "yaml.h"

#include <stdint.h>
#include <string.h>

#include "str.h"

/* libyaml compares each directive with all earlier ones, so their number is limited. */
enum { DIRECTIVES_MAX = 16 };

/* Returns the reason why the character is not allowed, or NULL. */
static const char *
refused(uint32_t c, char next)
{
	if (c == '\n' || c == '\t' || (c >= ' ' && c < 0x7f))
		return NULL;
	if (c == '\r')
		return next == '\n' ? NULL : "a carriage return without a line feed";
	if (!c)
		return "a NUL character";
	if (c < ' ' || c == 0x7f || (c >= 0x80 && c < 0xa0 && c != 0x85))
		return "a control character";
	/* libyaml would begin a new line here, but an editor would not. */
	if (c == 0x85 || c == 0x2028 || c == 0x2029)
		return "a Unicode line separator";
	return c == 0xfeff || c == 0xfffe || c == 0xffff ? "a character that is not text" : NULL;
}

bool
yaml_text_holds(struct diags *ds, const struct source *src, size_t from)
{
	const char *p = src->text + from, *end = src->text + src->size;
	struct span at = { src, 1, 1, 1 };
	unsigned directives = 0;

	while (p < end) {
		uint32_t c = 0;
		size_t len = utf8_decode(p, (size_t)(end - p), &c);
		const char *why = len ? refused(c, p + 1 < end ? p[1] : '\0') : NULL;

		if (!len || why) {
			diag_help(diag_at(ds, len ? E_YAML_REFUSED : E_YAML_SYNTAX, at, "%s",
					  len ? why : "bytes that are not UTF-8"),
				  "save the file as UTF-8 text, without control characters");
			return false;
		}
		if (c == '%' && at.col == 1 && ++directives > DIRECTIVES_MAX) {
			diag_at(ds, E_YAML_LIMIT, at, "more than %d directives", DIRECTIVES_MAX);
			return false;
		}
		at.col++;
		if (c == '\n') {
			at.line++;
			at.col = 1;
		}
		p += len;
	}
	return true;
}

bool
node_is_null(const struct node *n)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };

	if (n->kind != NODE_SCALAR || !n->plain)
		return false;
	for (size_t i = 0; i < COUNT(nulls); i++)
		if (!strcmp(n->s, nulls[i]))
			return true;
	return false;
}

const struct pair *
node_pair(const struct node *map, const char *key)
{
	if (map && map->kind == NODE_MAP)
		for (size_t i = 0; i < map->n; i++)
			if (*map->pairs[i].key == *key && !strcmp(map->pairs[i].key, key))
				return &map->pairs[i];
	return NULL;
}

const struct node *
node_get(const struct node *map, const char *key)
{
	const struct pair *p = node_pair(map, key);

	return p ? p->value : NULL;
}

struct text
node_text(const struct node *n)
{
	if (!n)
		return (struct text){ 0 };
	return (struct text){ n->kind == NODE_SCALAR ? n->s : NULL, n->at };
}

const char *
node_kind_name(const struct node *n)
{
	switch (n->kind) {
	case NODE_MAP: return "a map";
	case NODE_LIST: return "a list";
	default: return node_is_null(n) ? "nothing" : "text";
	}
}

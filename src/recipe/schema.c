#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/list.h"
#include "base/str.h"
#include "keys.h"
#include "recipe.h"

/*
 * JSON Schema 2020-12 from the key table.  Editors read a recipe with a YAML reader
 * that makes numbers of 2.2 and "3.10" without quotes, so a text that may look like a
 * number may be one.  Null may stand anywhere: it removes what extends: brought.
 */
struct writer {
	struct json j;
	struct arena *a;
	const struct facts *f;
};

/* Grammars that no number passes. */
static bool
never_number(grammar *g)
{
	static grammar *const words[] = {
		grammar_image,    grammar_index, grammar_git,      grammar_archive,
		grammar_env_name, grammar_user,  grammar_probe,    grammar_entrypoint,
		grammar_module,   grammar_build, grammar_platform, grammar_torch_index,
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (words[i] == g)
			return true;
	return false;
}

static void
types(struct json *j, const char *one, const char *two, const char *three, bool null)
{
	const char *const all[] = { one, two, three };

	json_list(j, "type");
	for (size_t i = 0; i < 3; i++)
		if (all[i])
			json_text(j, NULL, all[i]);
	if (null)
		json_text(j, NULL, "null");
	json_end(j);
}

static void
add_once(struct arena *a, struct names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (!strcmp(names->at[i], name))
			return;
	list_push(a, names, name);
}

/* Tags of the PyTorch index, the newest first. */
static struct names
torch_tags(struct writer *w)
{
	struct names tags = { 0 };
	size_t n;
	const struct torch_release *const *all = facts_torch_all(w->f, &n);

	list_push(w->a, &tags, "cpu");
	list_push(w->a, &tags, "pypi");
	while (n--)
		for (size_t k = all[n]->nvariants; k--;)
			add_once(w->a, &tags, all[n]->variants[k].tag);
	return tags;
}

/* What an editor should offer, of the keys whose values the knowledge lists; others pass too. */
static struct names
offered(struct writer *w, const struct key *k)
{
	struct names names = { 0 };
	size_t n = 0;

	if (k->check == grammar_gpu)
		return facts_gpu_names(w->f, w->a);
	if (k->check == grammar_python)
		return facts_python_series(w->f);
	if (k->check == grammar_builder)
		return facts_modal(w->f)->builders;
	if (k->check == grammar_torch_index)
		return torch_tags(w);
	if (k->check == grammar_modal_gpu) {
		const struct modal_gpu *all = facts_modal_gpus(w->f, &n);

		for (size_t i = 0; i < n; i++)
			list_push(w->a, &names, all[i].name);
	} else if (k->check == grammar_cuda) {
		const struct cuda_toolkit *const *all = facts_cuda_all(w->f, &n);

		while (n--)
			add_once(w->a, &names, all[n]->version);
	} else if (k->check == grammar_platform) {
		list_push(w->a, &names, "linux/amd64");
		list_push(w->a, &names, "linux/arm64");
	}
	return names;
}

/* What a text may be, for a key or for an item of its list. */
static void
text_body(struct writer *w, const struct key *k, bool null)
{
	bool number = !never_number(k->check);
	bool boolean = k->check == grammar_env_value || k->check == grammar_argument;
	struct names words = offered(w, k);

	if (words.n) {
		json_list(&w->j, "anyOf");
		json_map(&w->j, NULL);
		json_list(&w->j, "enum");
		for (size_t i = 0; i < words.n; i++)
			json_text(&w->j, NULL, words.at[i]);
		json_end(&w->j);
		json_end(&w->j);
		json_map(&w->j, NULL);
	}
	types(&w->j, "string", number ? "number" : NULL, boolean ? "boolean" : NULL, null);
	if (k->pattern)
		json_text(&w->j, "pattern", k->pattern);
	if (words.n) {
		json_end(&w->j);
		json_end(&w->j);
	}
}

static void
word_body(struct writer *w, const struct key *k)
{
	json_list(&w->j, "enum");
	for (const char *p = k->more; *p; p += strcspn(p, "|"), p += *p == '|')
		json_text(&w->j, NULL, arena_copy(w->a, p, strcspn(p, "|")));
	json_nil(&w->j, NULL);
	json_end(&w->j);
}

static void
count_body(struct writer *w, const struct key *k)
{
	const struct modal_limits *m = facts_modal(w->f);

	types(&w->j, k->type == KEY_COUNT ? "integer" : "number", "string", NULL, true);
	json_text(&w->j, "pattern", k->pattern);
	if (k->check == grammar_timeout) {
		json_int(&w->j, "minimum", m->timeout_min_s);
		json_int(&w->j, "maximum", m->timeout_max_s);
	} else if (k->check == grammar_scaledown) {
		json_int(&w->j, "minimum", m->scaledown_min_s);
		json_int(&w->j, "maximum", m->scaledown_max_s);
	} else {
		json_int(&w->j, k->type == KEY_COUNT ? "minimum" : "exclusiveMinimum",
			 k->type == KEY_COUNT);
	}
}

static void
bool_body(struct writer *w)
{
	json_list(&w->j, "enum");
	json_bool(&w->j, NULL, true);
	json_bool(&w->j, NULL, false);
	json_text(&w->j, NULL, "true");
	json_text(&w->j, NULL, "false");
	json_nil(&w->j, NULL);
	json_end(&w->j);
}

/* An item, or a list of them; a command is a list always. */
static void
list_body(struct writer *w, const struct key *k)
{
	json_list(&w->j, "anyOf");
	json_map(&w->j, NULL);
	if (k->check == grammar_argument)
		json_text(&w->j, "type", "null");
	else
		text_body(w, k, true);
	json_end(&w->j);
	json_map(&w->j, NULL);
	json_text(&w->j, "type", "array");
	json_map(&w->j, "items");
	text_body(w, k, false);
	json_end(&w->j);
	json_end(&w->j);
	json_end(&w->j);
}

static void
settings_body(struct writer *w, const struct key *k)
{
	types(&w->j, "object", NULL, NULL, true);
	json_map(&w->j, "propertyNames");
	json_text(&w->j, "pattern",
		  k->type == KEY_MOUNTS ? "^/[A-Za-z0-9._/+@-]+$" : "^[A-Za-z_][A-Za-z0-9_]*$");
	json_end(&w->j);
	json_map(&w->j, "additionalProperties");
	text_body(w, k, true);
	json_end(&w->j);
}

static void write_key(struct writer *w, const struct key *k);

/* The keys below `k`, and which of them must be there. */
static void
object_body(struct writer *w, const struct key *k)
{
	struct names children = key_children(w->a, k);
	bool any = false;

	json_text(&w->j, "type", "object");
	json_map(&w->j, "properties");
	for (size_t i = 0; i < children.n; i++) {
		const struct key *child = key_child(k, children.at[i]);

		any |= child->required;
		write_key(w, child);
	}
	json_end(&w->j);
	json_bool(&w->j, "additionalProperties", false);
	if (!any)
		return;
	json_list(&w->j, "required");
	for (size_t i = 0; i < children.n; i++)
		if (key_child(k, children.at[i])->required)
			json_text(&w->j, NULL, children.at[i]);
	json_end(&w->j);
}

/* The long form, the text that is short for it if there is one, or null. */
static void
map_body(struct writer *w, const struct key *k)
{
	json_list(&w->j, "anyOf");
	json_map(&w->j, NULL);
	if (k->more)
		text_body(w, key_child(k, k->more), true);
	else
		json_text(&w->j, "type", "null");
	json_end(&w->j);
	json_map(&w->j, NULL);
	object_body(w, k);
	json_end(&w->j);
	json_end(&w->j);
}

/* A list of maps; extensions also as texts, or one text alone. */
static void
maps_body(struct writer *w, const struct key *k)
{
	bool texts = k->type == KEY_EXTENSIONS;

	types(&w->j, "array", texts ? "string" : NULL, NULL, true);
	json_map(&w->j, "items");
	json_list(&w->j, "anyOf");
	if (texts) {
		json_map(&w->j, NULL);
		json_text(&w->j, "type", "string");
		json_end(&w->j);
	}
	json_map(&w->j, NULL);
	object_body(w, k);
	json_end(&w->j);
	json_end(&w->j);
	json_end(&w->j);
}

/* Dotted keys: every path of the table that cells may set, and names below maps of names. */
static void
dotted_names(struct writer *w, bool entries)
{
	size_t n;
	const struct key *all = keys_all(&n);

	json_map(&w->j, "propertyNames");
	json_list(&w->j, "anyOf");
	json_map(&w->j, NULL);
	json_list(&w->j, "enum");
	for (size_t i = 0; i < n; i++)
		if (all[i].type < KEY_EXTENDS && !starts_with(all[i].path, "extensions.") &&
		    !starts_with(all[i].path, "index.extra."))
			json_text(&w->j, NULL, all[i].path);
	if (!entries) {
		json_text(&w->j, NULL, "include");
		json_text(&w->j, NULL, "exclude");
	}
	json_end(&w->j);
	json_end(&w->j);
	json_map(&w->j, NULL);
	json_text(&w->j, "pattern", "^(env\\.[A-Za-z_][A-Za-z0-9_]*|modal\\.volumes\\./.+)$");
	json_end(&w->j);
	json_end(&w->j);
	json_end(&w->j);
}

static void
cells_body(struct writer *w)
{
	types(&w->j, "array", NULL, NULL, true);
	json_map(&w->j, "items");
	json_text(&w->j, "type", "object");
	json_int(&w->j, "minProperties", 1);
	dotted_names(w, true);
	json_end(&w->j);
}

static void
matrix_body(struct writer *w, const struct key *k)
{
	types(&w->j, "object", NULL, NULL, true);
	json_map(&w->j, "properties");
	write_key(w, key_child(k, "include"));
	write_key(w, key_child(k, "exclude"));
	json_end(&w->j);
	dotted_names(w, false);
	json_map(&w->j, "additionalProperties");
	types(&w->j, "array", "string", "number", true);
	json_int(&w->j, "minItems", 1);
	json_end(&w->j);
}

static void
variants_body(struct writer *w)
{
	types(&w->j, "object", NULL, NULL, true);
	json_map(&w->j, "propertyNames");
	json_text(&w->j, "pattern", key_child(&key_root, "stack")->pattern);
	json_end(&w->j);
	json_map(&w->j, "additionalProperties");
	json_text(&w->j, "$ref", "#/$defs/variant");
	json_end(&w->j);
}

/* A scalar example is a value; those of lists and maps are YAML for people. */
static void
write_example(struct writer *w, const struct key *k)
{
	const char *text = k->example;
	size_t n = strlen(text);

	if (*text == '[' || *text == '{')
		return;
	json_list(&w->j, "examples");
	json_text(&w->j, NULL, *text == '"' ? arena_copy(w->a, text + 1, n - 2) : text);
	json_end(&w->j);
}

static void
write_body(struct writer *w, const struct key *k)
{
	switch (k->type) {
	case KEY_TEXT: text_body(w, k, true); break;
	case KEY_WORD: word_body(w, k); break;
	case KEY_COUNT:
	case KEY_NUMBER: count_body(w, k); break;
	case KEY_BOOL: bool_body(w); break;
	case KEY_TEXTS:
	case KEY_REQUIREMENTS:
	case KEY_GPUS:
	case KEY_MODAL_GPUS:
	case KEY_EXTENDS: list_body(w, k); break;
	case KEY_SETTINGS:
	case KEY_MOUNTS: settings_body(w, k); break;
	case KEY_MAP:
	case KEY_SECTION: map_body(w, k); break;
	case KEY_EXTENSIONS:
	case KEY_INDEXES: maps_body(w, k); break;
	case KEY_VARIANTS: variants_body(w); break;
	case KEY_MATRIX: matrix_body(w, k); break;
	case KEY_CELLS: cells_body(w); break;
	}
}

static void
write_key(struct writer *w, const struct key *k)
{
	json_map(&w->j, key_name(k));
	json_text(&w->j, "description", k->doc);
	write_body(w, k);
	if (k->type == KEY_TEXT || k->type == KEY_WORD)
		write_example(w, k);
	json_end(&w->j);
}

/* "properties" that refer to the definitions of the top-level keys. */
static void
references(struct writer *w, bool variant)
{
	struct names top = key_children(w->a, &key_root);

	json_text(&w->j, "type", "object");
	json_map(&w->j, "properties");
	for (size_t i = 0; i < top.n; i++) {
		enum key_type type = key_child(&key_root, top.at[i])->type;

		if (variant && (type == KEY_VARIANTS || type == KEY_EXTENDS))
			continue;
		json_map(&w->j, top.at[i]);
		json_text(&w->j, "$ref", arena_printf(w->a, "#/$defs/%s", top.at[i]));
		json_end(&w->j);
	}
	json_end(&w->j);
	json_bool(&w->j, "additionalProperties", false);
}

static void requires(struct json *j, const char *key)
{
	json_list(j, "required");
	json_text(j, NULL, key);
	json_end(j);
}

/*
 * What extends: may bring is asked for only where there is none: torch is not null,
 * is there when there are extensions, and something is there at all.
 */
static void
whole(struct writer *w)
{
	struct json *j = &w->j;

	json_map(j, "if");
	json_map(j, "not");
	requires(j, "extends");
	json_end(j);
	json_end(j);
	json_map(j, "then");
	json_int(j, "minProperties", 1);
	json_map(j, "properties");
	json_map(j, "torch");
	json_map(j, "not");
	json_text(j, "type", "null");
	json_end(j);
	json_end(j);
	json_end(j);
	json_map(j, "if");
	requires(j, "extensions");
	json_map(j, "properties");
	json_map(j, "extensions");
	json_map(j, "not");
	json_text(j, "type", "null");
	json_end(j);
	json_int(j, "minItems", 1);
	json_end(j);
	json_end(j);
	json_end(j);
	json_map(j, "then");
	requires(j, "torch");
	json_end(j);
	json_end(j);
}

void
recipe_schema(struct arena *a, const struct facts *f, struct buf *out)
{
	struct writer w = { json_to(out), a, f };
	struct names top = key_children(a, &key_root);

	json_map(&w.j, NULL);
	json_text(&w.j, "$schema", "https://json-schema.org/draft/2020-12/schema");
	json_text(&w.j, "title", "stackbuild recipe");
	references(&w, false);
	whole(&w);
	json_map(&w.j, "$defs");
	json_map(&w.j, "variant");
	references(&w, true);
	json_end(&w.j);
	for (size_t i = 0; i < top.n; i++)
		write_key(&w, key_child(&key_root, top.at[i]));
	json_end(&w.j);
	json_end(&w.j);
}

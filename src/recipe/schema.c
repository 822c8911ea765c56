#include <string.h>

#include "base/json.h"
#include "load.h"

/*
 * Writes JSON Schema 2020-12 from the key table. YAML readers of editors read 2.2 and 3.10 without
 * quotes as numbers, so the schema also accepts a number for a text that can look like one. It
 * accepts null everywhere, because null removes a value of `extends`.
 */
struct writer {
	struct json j;
	struct arena *a;
	const struct facts *f;
};

static bool
never_number(grammar *g)
{
	static grammar *const words[] = {
		grammar_image,       grammar_index,  grammar_git,    grammar_archive,
		grammar_env_name,    grammar_user,   grammar_probe,  grammar_entrypoint,
		grammar_launcher,    grammar_module, grammar_build,  grammar_platform,
		grammar_cron,        grammar_member, grammar_method, grammar_client,
		grammar_torch_index,
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (words[i] == g)
			return true;
	return false;
}

/* Returns the values that an editor should suggest; other values are valid, too. */
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
	if (k->check == grammar_torch_index) {
		const struct torch_release *const *all = facts_torch_all(w->f, &n);

		names = names_split(w->a, "cpu|pypi", '|');
		while (n--)
			for (size_t i = all[n]->nvariants; i--;)
				names_once(w->a, &names, all[n]->variants[i].tag);
	} else if (k->check == grammar_modal_gpu) {
		const struct modal_gpu *all = facts_modal_gpus(w->f, &n);

		for (size_t i = 0; i < n; i++)
			list_push(w->a, &names, all[i].name);
	} else if (k->check == grammar_cuda) {
		const struct cuda_toolkit *const *all = facts_cuda_all(w->f, &n);

		while (n--)
			names_once(w->a, &names, all[n]->version);
	} else if (k->check == grammar_platform) {
		names = names_split(w->a, "linux/amd64|linux/arm64", '|');
	}
	return names;
}

/* Writes the grammar of a text, for a key or for an item of its list. */
static void
text_body(struct writer *w, const struct key *k, bool null)
{
	bool boolean = k->check == grammar_env_value || k->check == grammar_argument;
	struct names words = offered(w, k);

	if (words.n) {
		json_put(&w->j, "'anyOf': [{");
		json_names(&w->j, "enum", &words);
		json_put(&w->j, "}, {");
	}
	json_put(&w->j, "'type': ['string'");
	if (!never_number(k->check))
		json_put(&w->j, "'number'");
	if (boolean)
		json_put(&w->j, "'boolean'");
	json_put(&w->j, null ? "'null']" : "]");
	if (k->pattern)
		json_text(&w->j, "pattern", k->pattern);
	if (words.n)
		json_put(&w->j, "}]");
}

static void
count_body(struct writer *w, const struct key *k)
{
	const struct modal_limits *m = facts_modal(w->f);
	bool timeout = k->check == grammar_timeout, argument = k->check == grammar_whole;
	bool whole = k->check != grammar_cpu && k->check != grammar_decimal;

	json_put(&w->j, "'type': [%s, 'string', 'null'], 'pattern': %s",
		 whole ? "integer" : "number", k->pattern);
	if (timeout || k->check == grammar_scaledown)
		json_put(&w->j, "'minimum': %d, 'maximum': %d",
			 timeout ? m->timeout_min_s : m->scaledown_min_s,
			 timeout ? m->timeout_max_s : m->scaledown_max_s);
	else if (argument || k->check == grammar_decimal)
		json_put(&w->j, "'minimum': 0");
	else
		json_put(&w->j, whole ? "'minimum': 1" : "'exclusiveMinimum': 0");
}

/* Writes the schema of an item or a list of them; a command is always a list. */
static void
list_body(struct writer *w, const struct key *k)
{
	json_put(&w->j, "'anyOf': [{");
	if (k->check == grammar_argument)
		json_text(&w->j, "type", "null");
	else
		text_body(w, k, true);
	json_put(&w->j, "}, {'type': 'array', 'items': {");
	text_body(w, k, false);
	json_put(&w->j, "}}]");
}

static void
settings_body(struct writer *w, const struct key *k)
{
	json_put(&w->j,
		 "'type': ['object', 'null'], 'propertyNames': {'pattern': %s}, "
		 "'additionalProperties': {",
		 k->check == grammar_object ? "^/[A-Za-z0-9._/+@-]+$" : "^[A-Za-z_][A-Za-z0-9_]*$");
	text_body(w, k, true);
	json_put(&w->j, "}");
}

static void write_key(struct writer *w, const struct key *k);

/* Writes the keys below `k`, and the required ones. */
static void
object_body(struct writer *w, const struct key *k)
{
	struct names required = { 0 };

	json_put(&w->j, "'type': 'object', 'properties': {");
	for (const struct key *child = NULL; (child = key_next(k, child));) {
		if (child->required)
			list_push(w->a, &required, key_name(child));
		write_key(w, child);
	}
	json_put(&w->j, "}, 'additionalProperties': false");
	if (required.n)
		json_names(&w->j, "required", &required);
}

/* Writes the parameters of a call of Modal's client, or the number that is their short form. */
static void
arguments_body(struct writer *w, const struct key *k)
{
	const struct key *plain = argument_short(w->a, k);
	struct names names = argument_names(w->f, w->a, k), required = { 0 };

	json_put(&w->j, "'anyOf': [{");
	if (plain)
		count_body(w, plain);
	else
		json_text(&w->j, "type", "null");
	json_put(&w->j, "}, {'type': 'object', 'properties': {");
	for (size_t i = 0; i < names.n; i++) {
		const struct key *child = argument_key(w->f, w->a, k, names.at[i]);

		if (child->required)
			list_push(w->a, &required, names.at[i]);
		write_key(w, child);
	}
	json_put(&w->j, "}, 'additionalProperties': false");
	if (required.n)
		json_names(&w->j, "required", &required);
	json_put(&w->j, "}]");
}

static void
buckets_body(struct writer *w, const struct key *k)
{
	json_put(&w->j,
		 "'type': ['object', 'null'], 'propertyNames': {'pattern': %s}, "
		 "'additionalProperties': {",
		 "^/[A-Za-z0-9._/+@-]+$");
	arguments_body(w, bucket_key(w->a, k, ""));
	json_put(&w->j, "}");
}

/* Writes the alternatives of a map: the long form, its short form (a text) if any, or null. */
static void
map_body(struct writer *w, const struct key *k)
{
	json_put(&w->j, "'anyOf': [{");
	if (key_short_list(k))
		list_body(w, key_short_list(k));
	else if (k->more)
		text_body(w, key_child(k, k->more), true);
	else
		json_text(&w->j, "type", "null");
	json_put(&w->j, "}, {");
	object_body(w, k);
	json_put(&w->j, "}]");
}

/* Writes a list of maps; `extensions` also accepts texts, or a single text. */
static void
maps_body(struct writer *w, const struct key *k)
{
	json_put(&w->j, k->type == KEY_EXTENSIONS ?
				"'type': ['array', 'string', 'null'], "
				"'items': {'anyOf': [{'type': 'string'}, {" :
				"'type': ['array', 'null'], 'items': {'anyOf': [{");
	object_body(w, k);
	json_put(&w->j, "}]}");
}

/* Writes every path of the table that cells may set, and names below maps of names. */
static void
dotted_body(struct writer *w, bool entries)
{
	size_t n;
	const struct key *all = keys_all(&n);

	json_put(&w->j, "'propertyNames': {'anyOf': [{'enum': [");
	for (size_t i = 0; i < n; i++)
		if (all[i].type < KEY_EXTENDS && !starts_with(all[i].path, "extensions.") &&
		    !starts_with(all[i].path, "index.extra."))
			json_text(&w->j, NULL, all[i].path);
	json_put(&w->j, entries ? "]}" : "'include', 'exclude']}");
	json_put(&w->j, "{'pattern': %s}]}",
		 "^(env\\.[A-Za-z_][A-Za-z0-9_]*|modal\\.(volumes|buckets)\\./.+|"
		 "modal\\.(function|web|concurrent)\\.[a-zA-Z0-9_.]+)$");
}

static void
write_body(struct writer *w, const struct key *k)
{
	struct names words;

	switch (k->type) {
	case KEY_TEXT: text_body(w, k, true); break;
	case KEY_WORD:
		words = names_split(w->a, k->more, '|');
		json_put(&w->j, "'enum': [");
		for (size_t i = 0; i < words.n; i++)
			json_text(&w->j, NULL, words.at[i]);
		json_put(&w->j, "null]");
		break;
	case KEY_NUMBER: count_body(w, k); break;
	case KEY_BOOL: json_put(&w->j, "'enum': [true, false, 'true', 'false', null]"); break;
	case KEY_TEXTS:
	case KEY_REQUIREMENTS:
	case KEY_GPUS:
	case KEY_MODAL_GPUS:
	case KEY_EXTENDS: list_body(w, k); break;
	case KEY_SETTINGS: settings_body(w, k); break;
	case KEY_MAP: map_body(w, k); break;
	case KEY_EXTENSIONS:
	case KEY_INDEXES: maps_body(w, k); break;
	case KEY_ARGUMENTS: arguments_body(w, k); break;
	case KEY_BUCKETS: buckets_body(w, k); break;
	case KEY_VARIANTS:
		json_put(&w->j,
			 "'type': ['object', 'null'], 'propertyNames': {'pattern': %s}, "
			 "'additionalProperties': {'$ref': '#/$defs/variant'}",
			 key_child(&key_root, "stack")->pattern);
		break;
	case KEY_MATRIX:
		json_put(&w->j, "'type': ['object', 'null'], 'properties': {");
		write_key(w, key_child(k, "include"));
		write_key(w, key_child(k, "exclude"));
		json_put(&w->j, "}");
		dotted_body(w, false);
		json_put(&w->j, "'additionalProperties': {"
				"'type': ['array', 'string', 'number', 'null'], 'minItems': 1}");
		break;
	case KEY_CELLS:
		json_put(&w->j, "'type': ['array', 'null'], "
				"'items': {'type': 'object', 'minProperties': 1");
		dotted_body(w, true);
		json_put(&w->j, "}");
		break;
	}
}

static void
write_key(struct writer *w, const struct key *k)
{
	const char *text = k->example;

	json_map(&w->j, key_name(k));
	json_text(&w->j, "description", k->doc);
	write_body(w, k);
	/* Only a scalar example is a value; those of lists and maps are YAML text. */
	if ((k->type == KEY_TEXT || k->type == KEY_WORD) && *text != '[' && *text != '{')
		json_put(&w->j, "'examples': [%s]",
			 *text == '"' ? arena_copy(w->a, text + 1, strlen(text) - 2) : text);
	json_end(&w->j);
}

/* Writes "properties", which refer to the definitions of the top-level keys. */
static void
references(struct writer *w, bool variant)
{
	json_put(&w->j, "'type': 'object', 'properties': {");
	for (const struct key *k = NULL; (k = key_next(&key_root, k));)
		if (!variant || (k->type != KEY_VARIANTS && k->type != KEY_EXTENDS))
			json_put(&w->j, "%s: {'$ref': %s}", k->path,
				 arena_printf(w->a, "#/$defs/%s", k->path));
	json_put(&w->j, "}, 'additionalProperties': false");
}

/*
 * The rules without `extends`: torch is not null, extensions require torch, and the recipe is not
 * empty.
 */
static const char whole[] =
	"'if': {'not': {'required': ['extends']}}, "
	"'then': {'minProperties': 1, 'properties': {'torch': {'not': {'type': 'null'}}}, "
	"'if': {'required': ['extensions'], "
	"'properties': {'extensions': {'not': {'type': 'null'}, 'minItems': 1}}}, "
	"'then': {'required': ['torch']}}";

void
recipe_schema(struct arena *a, const struct facts *f, struct buf *out)
{
	struct writer w = { json_to(out), a, f };

	json_put(&w.j, "{'$schema': %s, 'title': 'stackbuild recipe'",
		 "https://json-schema.org/draft/2020-12/schema");
	references(&w, false);
	json_put(&w.j, whole);
	json_put(&w.j, "'$defs': {'variant': {");
	references(&w, true);
	json_put(&w.j, "}");
	for (const struct key *k = NULL; (k = key_next(&key_root, k));)
		write_key(&w, k);
	json_put(&w.j, "}}");
}

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"

/*
 * Keys whose names and types are those of parameters of Modal's client: the knowledge base has
 * them, not keys.def. Below, a "call" is a name in knowledge/modal.yaml, or one of `own`.
 */

#define AT(type, name) \
	{ \
		offsetof(struct recipe_argument, name), sizeof(type), 0 \
	}
#define ALL(type, name) \
	{ \
		offsetof(struct recipe_argument, name), sizeof(type), sizeof(*((type *)0)->at) \
	}

/* The types of parameters; any other type is a class of the client, and its value a map. */
static const struct argument_type {
	const char *takes;
	enum key_type type;
	grammar *check;
	struct member first;
	const char *pattern, *example;
} types[] = {
	{ "int", KEY_NUMBER, grammar_whole, AT(struct text, value), "^[0-9]+$", "2" },
	{ "float", KEY_NUMBER, grammar_decimal, AT(struct text, value), "^[0-9]+(\\.[0-9]+)?$",
	  "1.5" },
	{ "bool", KEY_BOOL, NULL, AT(struct text, value), NULL, "true" },
	{ "str", KEY_TEXT, grammar_word, AT(struct text, value), NULL, NULL },
	{ "strs", KEY_TEXTS, grammar_word, ALL(struct texts, list), NULL, NULL },
	{ "env", KEY_SETTINGS, grammar_env_value, ALL(struct settings, env), NULL, NULL },
	{ "Proxy", KEY_TEXT, grammar_object, AT(struct text, value), NULL, "my-proxy" },
	{ "Secret", KEY_TEXT, grammar_object, AT(struct text, value), NULL, "my-secret" },
	{ "cron", KEY_TEXT, grammar_cron, AT(struct text, value), NULL, "\"0 6 * * *\"" },
	{ "member", KEY_TEXT, grammar_member, AT(struct text, value),
	  "\\.py::[A-Za-z_][A-Za-z0-9_]*$", "serve.py::app" },
	{ NULL, KEY_ARGUMENTS, NULL, ALL(struct recipe_arguments, below), NULL, NULL },
};

/* Parameters of this program, each with the call and parameter of the client that it is for. */
static const struct own_parameter {
	const char *call, *name, *takes, *of, *parameter;
} own[] = {
	{ "Schedule", "cron", "cron", "Cron", "cron_string" },
	{ "Schedule", "timezone", "str", "Cron", "timezone" },
	{ "Schedule", "period", "Period", "function", "schedule" },
	{ "web", "asgi", "member", "asgi_app", "label" },
	{ "web", "wsgi", "member", "wsgi_app", "label" },
	{ "web", "fastapi", "member", "fastapi_endpoint", "label" },
	{ "web", "web_server", "member", "web_server", "port" },
	{ "web", "server", "member", "server", "port" },
	{ "web", "startup_timeout_s", "float", "web_server", "startup_timeout" },
};

enum { NOWN = sizeof(own) / sizeof(*own), NTYPES = sizeof(types) / sizeof(*types) };

/* The calls whose parameters `modal.web` has, except those of modal.function. */
static const char *const web_calls[] = { "asgi_app", "fastapi_endpoint", "web_server", "server" };

enum { NWEB = sizeof(web_calls) / sizeof(*web_calls) };

const char *
argument_web_call(const char *name)
{
	for (size_t i = 0; i < NOWN; i++)
		if (!strcmp(own[i].takes, "member") && !strcmp(own[i].name, name))
			return own[i].of;
	return NULL;
}

static bool
find(const struct facts *f, struct arena *a, const char *call, const char *name,
     struct modal_parameter *p)
{
	struct modal_parameter other;

	for (size_t i = 0; i < NOWN; i++)
		if (!strcmp(own[i].call, call) && !strcmp(own[i].name, name)) {
			if (!facts_modal_parameter(f, a, own[i].of, own[i].parameter, p))
				return false;
			p->name = own[i].name;
			p->takes = own[i].takes;
			p->required = false;
			if (!strcmp(p->takes, "member"))
				p->min = p->max = NULL; /* those of its port */
			return true;
		}
	if (strcmp(call, "web") != 0)
		return facts_modal_parameter(f, a, call, name, p);
	for (size_t i = 0; i < NWEB; i++)
		if (facts_modal_parameter(f, a, web_calls[i], name, p)) {
			p->required = false; /* arguments_hold: it depends on the kind */
			return strcmp(name, "startup_timeout") != 0 &&
			       !facts_modal_parameter(f, a, "function", name, &other);
		}
	return false;
}

struct names
argument_names(const struct facts *f, struct arena *a, const struct key *k)
{
	bool web = !strcmp(k->more, "web");
	struct names names = { 0 };
	struct modal_parameter p;

	for (size_t i = 0; i < NOWN; i++)
		if (!strcmp(own[i].call, k->more))
			list_push(a, &names, own[i].name);
	for (size_t i = 0; i < (web ? NWEB : 1); i++) {
		struct names all = facts_modal_parameters(f, web ? web_calls[i] : k->more);

		for (size_t n = 0; n < all.n; n++)
			if (find(f, a, k->more, all.at[n], &p))
				names_once(a, &names, all.at[n]);
	}
	return names;
}

static const struct argument_type *
type_of(const char *takes)
{
	const struct argument_type *t = types;

	while (t->takes && strcmp(t->takes, takes) != 0)
		t++;
	return t;
}

/* Returns the kinds of web function that take a parameter. */
static const char *
kinds_with(const struct facts *f, struct arena *a, const char *name)
{
	const char *parameter = strcmp(name, "startup_timeout_s") != 0 ? name : "startup_timeout";
	struct names kinds = { 0 };
	struct modal_parameter p;

	for (size_t i = 0; i < NOWN; i++)
		if (!strcmp(own[i].takes, "member") &&
		    facts_modal_parameter(f, a, own[i].of, parameter, &p))
			list_push(a, &kinds, own[i].name);
	return names_words(a, &kinds, "and");
}

/* Returns the documentation of a parameter: the call that takes it, and the client that has it. */
static const char *
doc_of(const struct facts *f, struct arena *a, const struct key *parent,
       const struct modal_parameter *p)
{
	bool decorator = !strcmp(parent->more, "function");
	struct buf b = BUF(a);

	if (!strcmp(p->takes, "member"))
		buf_printf(&b, "What to serve with Modal's `%s`, as FILE.py::NAME.",
			   argument_web_call(p->name));
	else if (!strcmp(parent->more, "web"))
		buf_printf(&b, "Argument of %s.", kinds_with(f, a, p->name));
	else
		buf_printf(&b, "Argument of Modal's `%s%s`.", decorator ? "@app." : "modal.",
			   parent->more);
	if (p->since)
		buf_printf(&b, " Client %s or newer.", p->since);
	return buf_text(&b);
}

const struct key *
argument_key(const struct facts *f, struct arena *a, const struct key *parent, const char *name)
{
	const struct argument_type *t;
	struct modal_parameter p;
	struct key *k;

	if (!find(f, a, parent->more, name, &p))
		return NULL;
	t = type_of(p.takes);
	k = arena_new_of(a, struct key);
	*k = (struct key){
		.path = arena_printf(a, "%s.%s", parent->path, p.name),
		.type = t->type,
		.check = t->check,
		.first = t->first,
		.more = t->takes ? NULL : p.takes,
		.pattern = t->pattern,
		.doc = doc_of(f, a, parent, &p),
		.example = t->example ? t->example : "",
		.required = p.required,
	};
	return k;
}

/* Returns the key of a short form: `retries: 2` is a number of the client, not a map. */
const struct key *
argument_short(struct arena *a, const struct key *k)
{
	const struct argument_type *t = type_of("int");
	struct key *plain;

	if (!k->more || strcmp(k->more, "Retries") != 0)
		return NULL;
	plain = arena_new_of(a, struct key);
	*plain = *k;
	plain->type = t->type;
	plain->check = t->check;
	plain->first = t->first;
	plain->pattern = t->pattern;
	plain->more = NULL;
	return plain;
}

/* --- reading --- */

/* Checks a number against the limits of the knowledge. */
static bool
within_limits(struct load *l, const struct key *k, const struct modal_parameter *p, struct text n)
{
	double value = strtod(n.s, NULL);
	bool less = p->min && value < strtod(p->min, NULL);
	bool more = p->max && value > strtod(p->max, NULL);
	const char *limit = less ? p->min : p->max;
	struct diag *d;

	if (!less && !more)
		return true;
	d = fault(l, E_NUMBER, n.at, "`%s`: %s; Modal allows at %s %s", k->path, n.s,
		  less ? "least" : "most", limit);
	offer(l, d, n, limit, arena_printf(l->a, "use %s", limit));
	diag_source(d, p->limit_source);
	return false;
}

static bool
read_argument(struct load *l, const struct key *k, const struct node *n,
	      const struct modal_parameter *p, struct recipe_argument *arg)
{
	const struct key *plain = n->kind == NODE_SCALAR ? argument_short(l->a, k) : NULL;
	bool good = read_value(l, plain ? plain : k, n, (char *)arg);

	arg->takes = p->takes;
	arg->since = p->since;
	arg->source = p->source;
	if (good && arg->value.s && (p->min || p->max))
		good = within_limits(l, k, p, arg->value);
	return good;
}

bool
read_arguments(struct load *l, const struct key *k, const struct node *n, char *base)
{
	struct recipe_arguments *out = (void *)(base + k->first.at);
	struct names names;
	bool good = true;

	if (!value_map(l, k, n))
		return false;
	for (size_t i = 0; i < n->n && !load_full(l); i++) {
		const struct pair *pair = &n->pairs[i];
		const struct key *child = argument_key(l->f, l->a, k, pair->key);
		struct recipe_argument arg = { .name = { pair->key, pair->key_at } };
		struct modal_parameter p;

		if (!child || !find(l->f, l->a, k->more, pair->key, &p)) {
			good = key_unknown(l, k, pair->key, pair->key_at);
			continue;
		}
		good &= read_argument(l, child, pair->value, &p, &arg);
		list_push(l->a, out, arg);
	}
	names = argument_names(l->f, l->a, k);
	for (size_t i = 0; i < names.n; i++)
		if (argument_key(l->f, l->a, k, names.at[i])->required && !node_get(n, names.at[i]))
			good = key_missing(l, k, names.at[i], n->at);
	return good;
}

const struct key *
bucket_key(struct arena *a, const struct key *k, const char *path)
{
	struct key *one = arena_new_of(a, struct key);

	*one = (struct key){
		.path = arena_printf(a, "%s.%s", k->path, path),
		.type = KEY_ARGUMENTS,
		.first = ALL(struct recipe_arguments, below),
		.more = "CloudBucketMount",
		.doc = k->doc,
		.example = "",
	};
	return one;
}

bool
read_buckets(struct load *l, const struct key *k, const struct node *n, char *base)
{
	struct recipe_arguments *out = (void *)(base + k->first.at);
	bool good = true;

	if (!value_map(l, k, n))
		return false;
	for (size_t i = 0; i < n->n && !load_full(l); i++) {
		const struct pair *pair = &n->pairs[i];
		struct recipe_argument arg = { .name = { pair->key, pair->key_at } };

		if (!text_holds(l, grammar_mount, k->path, arg.name)) {
			good = false;
			continue;
		}
		good &= read_value(l, bucket_key(l->a, k, pair->key), pair->value, (char *)&arg);
		list_push(l->a, out, arg);
	}
	return good;
}

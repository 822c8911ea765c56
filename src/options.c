#include "options.h"

#include <string.h>

#include "base/str.h"
#include "options_table.h"

const struct verb_row verb_table[VERB_COUNT] = {
#define VERB(name, program, args, min, max, what, example) \
	[VERB_##name] = { #name, args, what, example, min, max },
#include "verbs.def"
};

const struct option_row option_rows[] = {
#define OPTION(name, letter, arg, verbs, kind, field, choices, what) \
	{ name, letter, arg, verbs, OPTION_##kind, offsetof(struct options, field), choices, what },
#include "options.def"
};

const struct verb_item verb_items[] = {
#define ITEM(verb, title, name, what) { VERB_##verb, title, name, what },
#include "verbs.def"
};
const size_t verb_items_n = COUNT(verb_items);

const struct config_row config_rows[] = {
#define CONFIG(name, scope) { name, CONFIG_##scope },
#include "options.def"
};
const size_t config_rows_n = COUNT(config_rows);

struct names
verb_item_names(struct arena *a, const char *title)
{
	struct names names = { 0 };

	for (size_t i = 0; i < verb_items_n; i++)
		if (!strcmp(verb_items[i].title, title))
			list_push(a, &names, verb_items[i].name);
	return names;
}

bool
verb_among(const char *verbs, enum verb v)
{
	return !*verbs || v == VERB_COUNT || among(verb_table[v].name, verbs);
}

/* Returns the row of an option; of several rows with that name, the one of the command. */
static const struct option_row *
row_of(struct str name, enum verb v)
{
	const struct option_row *found = NULL;

	for (size_t i = 0; i < OPTION_ROWS; i++) {
		const struct option_row *r = &option_rows[i];

		if ((str_is(name, r->name) || (name.n == 1 && r->letter == name.p[0])) &&
		    (!found || (v != VERB_COUNT && verb_among(r->verbs, v))))
			found = r;
	}
	return found;
}

const struct option_row *
option_row(const char *name, enum verb v)
{
	return row_of(str_of(name), v);
}

bool
verb_takes(enum verb v, const char *option)
{
	return verb_among(row_of(str_of(option), v)->verbs, v);
}

bool
verb_find(struct arena *a, const char *name, enum verb *v, const char **why)
{
	const char *names[VERB_COUNT], *near;

	for (enum verb i = 0; i < VERB_COUNT; i++) {
		names[i] = verb_table[i].name;
		if (!strcmp(name, names[i])) {
			*v = i;
			return true;
		}
	}
	near = str_nearest(name, names, VERB_COUNT);
	if (!near && str_matches(name, "[.]ya?ml$")) {
		*why = arena_printf(
			a, "name a command before the recipe, such as `stackbuild check %s`", name);
		return false;
	}
	*why = arena_printf(a,
			    near ? "unknown command `%s`; did you mean `%s`?" :
				   "unknown command `%s`; run `stackbuild help` for the list",
			    name, near);
	return false;
}

/* The state of the parser. */
struct parser {
	struct arena *a;
	int argc, at;
	char **argv;
	struct options *o;
	bool given[OPTION_ROWS];
	const char *why;
};

static bool
fail(struct parser *p, const char *why)
{
	p->why = why;
	return false;
}

/* Returns true if the command has more formats than text and JSON. */
static bool
has_graphs(enum verb v)
{
	return v == VERB_plan || v == VERB_schema || v == VERB_store;
}

static bool
store(struct parser *p, const struct option_row *r, const char *value)
{
	void *field = (char *)p->o + r->offset;
	struct names choices = names_split(p->a, r->choices ? r->choices : "", ' ');

	p->given[r - option_rows] = true;
	switch (r->kind) {
	case OPTION_FLAG: *(bool *)field = true; return true;
	case OPTION_TEXT:
		*(const char **)field = value;
		return *value || *r->arg == '[' ||
		       fail(p, arena_printf(p->a, "--%s requires a %s that is not empty", r->name,
					    r->arg));
	case OPTION_LIST: list_push(p->a, (struct names *)field, value); return true;
	case OPTION_CHOICE: break;
	}
	for (unsigned i = 0; i < choices.n; i++)
		if (!strcmp(choices.at[i], value)) {
			*(unsigned *)field = i;
			p->o->format_given |= !strcmp(r->name, "format");
			return true;
		}
	if (r->offset == offsetof(struct options, format) && !has_graphs(p->o->verb))
		choices.n = FORMAT_JSON + 1;
	return fail(p, arena_printf(p->a, "--%s is %s, not `%s`", r->name,
				    names_words(p->a, &choices, "or"), value));
}

/* Rejects an engine that does not exist. */
static bool
check_engine(struct parser *p)
{
	const struct names known = verb_item_names(p->a, "Engines");
	const char *name = p->o->engine, *near;

	if (!name || names_have(&known, name))
		return true;
	near = str_nearest(name, known.at, known.n);
	return fail(p, arena_printf(p->a, "there is no engine `%s`%s%s%s; engines: %s", name,
				    near ? "; did you mean `" : "", near ? near : "",
				    near ? "`?" : "", names_join(p->a, &known, " ")));
}

bool
option_set(struct arena *a, struct options *o, const struct option_row *r, const char *value,
	   const char **why)
{
	struct parser p = { .a = a, .o = o };
	bool good = store(&p, r, value) && check_engine(&p);

	*why = p.why;
	return good;
}

/* Reads one argument that starts with a dash: "--name", "--name=value", "-o", "-oVALUE". */
static bool
parse_option(struct parser *p)
{
	const char *arg = p->argv[p->at], *value = NULL, *names[OPTION_ROWS], *near;
	bool is_long = arg[1] == '-';
	const char *name = arg + (is_long ? 2 : 1);
	struct str key = { name, is_long ? strcspn(name, "=") : 1 };
	const struct option_row *r = is_long && key.n < 2 ? NULL : row_of(key, p->o->verb);

	if (!r) {
		for (size_t i = 0; i < OPTION_ROWS; i++)
			names[i] = option_rows[i].name;
		near = str_nearest(arena_copy(p->a, key.p, key.n), names, OPTION_ROWS);
		return fail(p, arena_printf(p->a, "unknown option %s%.*s; %s%s%s",
					    is_long ? "--" : "-", (int)key.n, key.p,
					    near ? "did you mean --" : "run `stackbuild ",
					    near ? near :
					    p->o->verb < VERB_COUNT ?
						   arena_printf(p->a, "help %s",
								verb_table[p->o->verb].name) :
						   "--help",
					    near ? "?" : "` for the list"));
	}
	if (name[key.n])
		value = name + key.n + (is_long ? 1 : 0);
	if (!r->arg && value)
		return fail(p, arena_printf(p->a, "--%s takes no value", r->name));
	if (r->arg && *r->arg == '[' && !value)
		value = ""; /* the value is optional, so it must be in the same argument */
	if (r->arg && !value && !(value = p->argv[++p->at]))
		return fail(p, arena_printf(p->a, "--%s needs a %s", r->name, r->arg));
	return store(p, r, value);
}

/* Rejects options of other commands, because an option without effect is misleading. */
static bool
check_verb(struct parser *p)
{
	const enum verb verb = p->o->verb;
	const struct verb_row *v = &verb_table[verb];
	int n = (int)p->o->args.n;

	for (size_t i = 0; i < OPTION_ROWS; i++)
		if (p->given[i] && !verb_among(option_rows[i].verbs, verb))
			return fail(p, arena_printf(
					       p->a, "`%s` has no option --%s; it belongs to: %s",
					       v->name, option_rows[i].name, option_rows[i].verbs));
	if (p->o->format > FORMAT_JSON && !has_graphs(verb))
		return fail(p, arena_printf(p->a, "%s has two formats: text and json", v->name));
	if (n < v->args_min)
		return fail(p, arena_printf(p->a, "`%s` needs %s; for example: stackbuild %s",
					    v->name, v->args, v->example));
	if (v->args_max >= 0 && n > v->args_max)
		return fail(p, arena_printf(p->a, "`%s` takes %s: stackbuild %s %s", v->name,
					    v->args_max ? "fewer arguments" : "no arguments",
					    v->name, v->args));
	return check_engine(p);
}

static bool
parse(struct parser *p)
{
	struct options *o = p->o;
	const struct option_row *progress = row_of(STR("progress"), VERB_COUNT);
	bool verb_seen = false, only_args = false;

	for (p->at = 1; p->at < p->argc; p->at++) {
		char *arg = p->argv[p->at];

		if (!only_args && !strcmp(arg, "--")) {
			only_args = true;
			o->options_end = (size_t)p->at - 1;
		} else if (!only_args && arg[0] == '-' && arg[1]) {
			if (!parse_option(p))
				return false;
		} else if (!verb_seen) {
			verb_seen = true;
			if (!strcmp(arg, "version"))
				o->version = true;
			else if (!verb_find(p->a, arg, &o->verb, &p->why))
				return false;
		} else if (o->verb == VERB_run && !only_args) {
			return fail(
				p, arena_printf(p->a,
						"put `--` before the command: stackbuild run -- %s",
						arg));
		} else {
			list_push(p->a, &o->args, arg);
		}
	}
	o->help |= p->argc < 2;
	if (o->json)
		o->format = FORMAT_JSON;
	if (o->quiet) {
		store(p, progress, "quiet");
		p->given[progress - option_rows] = false;
	}
	if (o->help || o->version)
		return true;
	if (!verb_seen)
		return fail(p, "name a command, for example: stackbuild render "
			       "recipes/torch222-cu121.yaml");
	return check_verb(p);
}

bool
options_parse(struct arena *a, int argc, char **argv, struct options *o, const char **why)
{
	struct parser p = { .a = a, .argc = argc, .argv = argv, .o = o };
	bool good;

	*o = (struct options){ .verb = VERB_COUNT };
	for (int i = 1; i < argc; i++)
		list_push(a, &o->words, argv[i]);
	o->options_end = o->words.n;
	good = parse(&p);
	o->given = memcpy(arena_array_of(a, bool, OPTION_ROWS), p.given, sizeof(p.given));
	*why = p.why;
	return good;
}

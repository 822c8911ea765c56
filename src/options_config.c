/* Options of the environment and of configuration files: docs/configuration.md. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/str.h"
#include "base/toml.h"
#include "options.h"
#include "options_table.h"

enum { PARENTS_MAX = 64, CONFIG_BYTES_MAX = 1024 * 1024 };

/* The state of reading the configuration of one command. */
struct config {
	struct arena *a;
	struct options *o;
	struct diags *ds;
	bool taken[OPTION_ROWS]; /* set by a source that has precedence */
};

/* A configuration file; root NULL: there is none. */
struct config_file {
	const char *path, *dir;
	const struct node *root;
	bool project;
	bool trusted; /* the user's file has its directory in `trust` */
};

static const struct config_row *
config_row(const char *name)
{
	for (size_t i = 0; i < config_rows_n; i++)
		if (!strcmp(config_rows[i].name, name))
			return &config_rows[i];
	return NULL;
}

/* --- setting an option --- */

/* Returns whether a source with precedence set an option, or the one that excludes it. */
static bool
is_taken(const struct config *c, const struct option_row *r)
{
	static const char *const pairs[][2] = { { "store", "no-store" },
						{ "no-store", "store" },
						{ "locked", "no-lock" } };
	bool taken = c->taken[r - option_rows];

	for (size_t i = 0; i < COUNT(pairs); i++)
		if (!strcmp(r->name, pairs[i][0]))
			taken |= c->taken[option_row(pairs[i][1], c->o->verb) - option_rows];
	return taken;
}

/* Records an option and its origin, for -v. */
static void
record(struct config *c, const struct option_row *r, const char *value, const char *from)
{
	c->taken[r - option_rows] = true;
	list_push(c->a, &c->o->set,
		  arena_printf(c->a, "--%s%s%s, from %s", r->name, value ? " " : "",
			       value ? mask_credentials(c->a, value) : "", from));
}

/* Sets a switch by a word. Returns why not, or NULL. A switch that is off hides the sources below it. */
static const char *
set_flag(struct config *c, const struct option_row *r, const char *word, const char *from)
{
	bool on = among(word, "true 1 yes on");

	if (!on && !among(word, "false 0 no off"))
		return arena_printf(c->a, "--%s is true or false, not `%s`", r->name, word);
	c->taken[r - option_rows] = true;
	if (on)
		record(c, r, NULL, from);
	*(bool *)((char *)c->o + r->offset) = on;
	return NULL;
}

/* Sets an option to one of its values. Returns why not, or NULL. */
static const char *
set_value(struct config *c, const struct option_row *r, const char *value, const char *from)
{
	const char *why;

	if (r->kind == OPTION_FLAG)
		return set_flag(c, r, value, from);
	if (!option_set(c->a, c->o, r, value, &why))
		return why;
	record(c, r, value, from);
	return NULL;
}

/* --- the environment --- */

/* Returns "STACKBUILD_KEEP_GOING". */
static const char *
variable_of(struct arena *a, const char *option)
{
	char *name = arena_printf(a, "STACKBUILD_%s", option);

	for (char *p = name; *p; p++)
		*p = *p == '-' ? '_' : *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
	return name;
}

static void
from_environment(struct config *c)
{
	for (size_t i = 0; i < config_rows_n; i++) {
		const struct option_row *r = option_row(config_rows[i].name, c->o->verb);
		const char *name = variable_of(c->a, r->name), *value = getenv(name), *why = NULL;
		struct names words = { 0 };

		if (!value || !*value || is_taken(c, r) || !verb_among(r->verbs, c->o->verb))
			continue;
		if (r->kind == OPTION_LIST)
			words = names_split(c->a, value, ' ');
		else
			list_push(c->a, &words, value);
		for (size_t k = 0; k < words.n && !why; k++)
			why = *words.at[k] ? set_value(c, r, words.at[k], name) : NULL;
		if (why)
			diag_help(diag_at(c->ds, E_CONFIG, NOWHERE, "%s: %s", name, why),
				  "correct or unset the environment variable");
	}
}

/* --- files --- */

static struct diag *
wrong(struct config *c, struct span at, const char *why)
{
	return diag_at(c->ds, E_CONFIG, at, "%s", why);
}

/* Returns a value as text, with a directory relative to its file; NULL after an error. */
static const char *
value_text(struct config *c, const struct config_file *f, const struct option_row *r,
	   const struct node *value)
{
	bool path = r->arg && (!strcmp(r->arg, "DIR") ||
			       (!strcmp(r->arg, "LOCATION") && !strstr(value->s, "://")));

	if (f->project && strcmp(mask_credentials(c->a, value->s), value->s) != 0) {
		diag_help(wrong(c, value->at, "a project's file must not contain credentials"),
			  "use the credentials of docker, pip or git on this machine");
		return NULL;
	}
	return path ? fs_join(c->a, f->dir, value->s) : value->s;
}

static void
set_node(struct config *c, const struct config_file *f, const struct option_row *r,
	 const struct pair *p)
{
	const struct node *one = p->value, *const *items =
						   one->kind == NODE_LIST ? one->items : &one;
	size_t n = one->kind == NODE_LIST ? one->n : 1;
	const char *from = arena_printf(c->a, "%s:%u", f->path, p->key_at.line), *why = NULL, *text;

	if (one->kind == NODE_LIST && r->kind != OPTION_LIST)
		why = arena_printf(c->a, "`%s` has one value, not a list", p->key);
	for (size_t i = 0; i < n && !why; i++) {
		if (items[i]->kind != NODE_SCALAR)
			why = arena_printf(c->a, "`%s` has a value that is not a text", p->key);
		else if ((text = value_text(c, f, r, items[i])))
			why = set_value(c, r, text, from);
	}
	if (why)
		wrong(c, one->at, why);
}

/* Returns whether the file may set the option; false after a diagnostic. */
static bool
may_set(struct config *c, const struct config_file *f, const struct config_row *row,
	const struct pair *p)
{
	if (!f->project || row->scope == CONFIG_ANY || (row->scope == CONFIG_TRUSTED && f->trusted))
		return true;
	if (row->scope == CONFIG_TRUSTED)
		diag_help(diag_at(c->ds, W_CONFIG_STORE, p->key_at,
				  "the project's store is not used without your consent"),
			  "name it with --store, or write `trust = [\"%s\"]` in your "
			  "stackbuild/config.toml",
			  fs_real(c->a, f->dir));
	else
		diag_help(wrong(c, p->key_at,
				arena_printf(c->a, "a project's file must not set `%s`", p->key)),
			  "set it in your stackbuild/config.toml, or on the command line");
	return false;
}

/* Reports a key that no file may have. */
static void
unknown_key(struct config *c, const struct pair *p)
{
	struct names known = { 0 };
	const char *near;
	struct diag *d;

	for (size_t i = 0; i < config_rows_n; i++)
		list_push(c->a, &known, config_rows[i].name);
	near = str_nearest(p->key, known.at, known.n);
	if (option_row(p->key, VERB_COUNT)) {
		d = wrong(c, p->key_at, arena_printf(c->a, "a file must not set `%s`", p->key));
		diag_help(d, "use --%s on the command line", p->key);
		return;
	}
	d = wrong(c, p->key_at, arena_printf(c->a, "the key `%s` is unknown", p->key));
	if (near)
		diag_help(d, "did you mean `%s`?", near);
	else
		diag_help(d, "the keys are: %s", names_join(c->a, &known, ", "));
}

/* Returns the command that a table of a file is for; VERB_COUNT: none. */
static enum verb
command_of(struct config *c, const struct pair *p)
{
	enum verb v = VERB_COUNT;
	const char *why;

	return p->value->kind == NODE_MAP && verb_find(c->a, p->key, &v, &why) ? v : VERB_COUNT;
}

/* Reads a table of a file: of all commands (v VERB_COUNT), or of one. */
static void
read_table(struct config *c, const struct config_file *f, const struct node *table, enum verb v)
{
	const enum verb of = v == VERB_COUNT ? c->o->verb : v;

	for (size_t i = 0; i < table->n; i++) {
		const struct pair *p = &table->pairs[i];
		const struct config_row *row = config_row(p->key);
		const struct option_row *r = row ? option_row(p->key, of) : NULL;

		if (v == VERB_COUNT &&
		    (command_of(c, p) != VERB_COUNT || (!f->project && !strcmp(p->key, "trust"))))
			continue;
		if (!row)
			unknown_key(c, p);
		else if (v != VERB_COUNT && !verb_among(r->verbs, v))
			wrong(c, p->key_at,
			      arena_printf(c->a, "`%s` has no option --%s", verb_table[v].name,
					   p->key));
		else if (of == c->o->verb && verb_among(r->verbs, of) && !is_taken(c, r) &&
			 may_set(c, f, row, p))
			set_node(c, f, r, p);
	}
}

/* Reads a file: the tables of commands come before the keys of all commands. */
static void
read_file(struct config *c, const struct config_file *f)
{
	for (size_t i = 0; f->root && i < f->root->n; i++) {
		const struct pair *p = &f->root->pairs[i];

		if (command_of(c, p) != VERB_COUNT)
			read_table(c, f, p->value, command_of(c, p));
	}
	if (f->root)
		read_table(c, f, f->root, VERB_COUNT);
}

/* Returns the root of a TOML file, or of its table tool.stackbuild; NULL: there is none, or an error. */
static const struct node *
root_of(struct config *c, const char *path, bool tool)
{
	const struct source *src = fs_read_quiet(c->a, path, CONFIG_BYTES_MAX);
	const struct node *root;

	if (!src || (tool && !strstr(src->text, "tool.stackbuild")))
		return NULL;
	root = toml_read(c->a, c->ds, src, TOML_LIMITS(src->size));
	for (const char *const *key = (const char *const[]){ "tool", "stackbuild", NULL };
	     root && tool && *key; key++)
		root = root->kind == NODE_MAP ? node_get(root, *key) : NULL;
	return root && root->kind == NODE_MAP ? root : NULL;
}

/* Returns the directory above one, by its text. */
static const char *
above(struct arena *a, const char *dir)
{
	return fs_clean(a, fs_join(a, dir, ".."));
}

/* Finds the project's file: in the recipe's directory and above, up to the repository's root. */
static struct config_file
project_file(struct config *c, const char *dir)
{
	const char *root = dir;
	struct config_file f = { .project = true };
	int depth = 0;

	while (depth < PARENTS_MAX && !fs_exists(fs_join(c->a, root, ".git"))) {
		root = above(c->a, root);
		depth++;
	}
	if (depth == PARENTS_MAX)
		depth = 0;
	for (; depth >= 0 && !f.root && !c->ds->errors; depth--, dir = above(c->a, dir)) {
		f.dir = dir;
		f.path = fs_join(c->a, dir, "stackbuild.toml");
		if (fs_exists(f.path))
			f.root = root_of(c, f.path, false);
		else
			f.root = root_of(c, f.path = fs_join(c->a, dir, "pyproject.toml"), true);
	}
	return f;
}

static struct config_file
user_file(struct config *c)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	struct config_file f = { 0 };

	if (config && *config == '/')
		f.dir = fs_join(c->a, config, "stackbuild");
	else if (home && *home == '/')
		f.dir = fs_join(c->a, home, ".config/stackbuild");
	else
		return f;
	f.path = fs_join(c->a, f.dir, "config.toml");
	f.root = root_of(c, f.path, false);
	return f;
}

/* Returns whether the user's file names a directory in `trust`. */
static bool
is_trusted(struct config *c, const struct config_file *user, const char *dir)
{
	const struct node *list = user->root ? node_get(user->root, "trust") : NULL;
	bool found = false;

	if (list && list->kind != NODE_LIST)
		wrong(c, list->at, "`trust` is a list of directories");
	for (size_t i = 0; list && list->kind == NODE_LIST && i < list->n; i++)
		found |= dir && list->items[i]->kind == NODE_SCALAR && *list->items[i]->s == '/' &&
			 !strcmp(fs_real(c->a, list->items[i]->s), fs_real(c->a, dir));
	return found;
}

void
options_config(struct arena *a, struct options *o)
{
	struct config c = { .a = a, .o = o, .ds = arena_new_of(a, struct diags) };
	const char *recipe = verb_takes(o->verb, "variant") && o->args.n ? o->args.at[0] : NULL;
	struct config_file user, project;
	const char *why;

	/* The help must work when a file is not valid. */
	if (among(verb_table[o->verb].name, "help man completion explain schema"))
		return;
	*c.ds = DIAGS(*c.ds, a);
	o->found = c.ds;
	memcpy(c.taken, o->given, sizeof(c.taken));
	from_environment(&c);
	user = user_file(&c);
	project = project_file(&c, recipe && fs_exists(recipe) ? fs_dir(a, recipe) : ".");
	project.trusted = is_trusted(&c, &user, project.dir);
	read_file(&c, &project);
	read_file(&c, &user);
	if (o->quiet)
		option_set(a, o, option_row("progress", o->verb), "quiet", &why);
}

/* The commands that show knowledge and documentation: facts, explain, schema, help, ... */
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "recipe/recipe.h"

int
verb_facts(struct run *r)
{
	const struct names *args = &r->o->args;
	const struct options *o = r->o;

	if (is_refresh(o))
		return o->format_given ? usage_error("facts refresh has no formats") :
					 world_facts_refresh(r, user_knowledge(r->a));
	if (o->out || o->index || o->all || o->limit || o->max_requests || o->timeout)
		return usage_error("--out, --index, --all, --limit, --max-requests and "
				   "--timeout belong to facts refresh");
	if (args->n > 3)
		return usage_error("facts takes a subject, a name and a version");
	if (args->n == 1 && !strcmp(args->at[0], "status"))
		return facts_status(r->facts, r->a, o->format == FORMAT_JSON, &r->out), EXIT_DONE;
	return facts_show(r->facts, r->a, &r->ds, args->n > 0 ? args->at[0] : NULL,
			  args->n > 1 ? args->at[1] : NULL, args->n > 2 ? args->at[2] : NULL,
			  r->o->format == FORMAT_JSON, &r->out) ?
		       EXIT_DONE :
		       EXIT_DIAGNOSED;
}

enum { EXPLAIN_COLUMNS = 100 };

/* Returns the id of a code that may be written without its letters: SB0243 for 243. */
static const char *
full_id(struct arena *a, const char *text)
{
	return str_matches(text, "^[0-9]{1,4}$") ?
		       arena_printf(a, "SB%04ld", strtol(text, NULL, 10)) :
		       text;
}

int
verb_explain(struct run *r)
{
	const char *id = r->o->args.n ? full_id(r->a, r->o->args.at[0]) : NULL;

	for (size_t i = 0; i < CODE_COUNT; i++) {
		const struct code_row *c = &code_table[i];

		if (!id) {
			buf_printf(&r->out, "%s  %-7s  %s\n", c->id, severity_words[c->severity],
				   c->title);
		} else if (!strcasecmp(id, c->id)) {
			buf_printf(&r->out, "%s (%s): %s\n\n", c->id, severity_words[c->severity],
				   c->title);
			buf_wrap(&r->out, c->cause, 0, EXPLAIN_COLUMNS);
			buf_puts(&r->out, "\n\nexample:\n");
			for (const char *p = c->example; *p; p += strcspn(p, "\n"), p += *p == '\n')
				buf_printf(&r->out, "    %.*s\n", (int)strcspn(p, "\n"), p);
			buf_puts(&r->out, "\nwhat to do: ");
			buf_wrap(&r->out, c->fix, strlen("what to do: "), EXPLAIN_COLUMNS);
			buf_putc(&r->out, '\n');
			return EXIT_DONE;
		}
	}
	if (!id)
		return EXIT_DONE;
	return usage_error("there is no code `%s`; run `stackbuild explain` to list the codes", id);
}

int
verb_schema(struct run *r)
{
	if (r->o->format_given && r->o->format != FORMAT_JSON && r->o->format != FORMAT_MARKDOWN)
		return usage_error("schema has two formats: json and markdown");
	if (r->o->format == FORMAT_MARKDOWN)
		recipe_reference(r->a, r->facts, &r->out);
	else
		recipe_schema(r->a, r->facts, &r->out);
	return EXIT_DONE;
}

/* Prints the cells of a recipe; nothing for one that cannot be read. */
static void
print_cells(struct run *r, const char *path)
{
	struct diags quiet = DIAGS(quiet, r->a);
	const struct recipes *rs = pipeline_load(r, &quiet, path, NULL, NULL);

	for (size_t i = 0; rs && i < rs->n; i++)
		if (rs->at[i]->cell)
			buf_printf(&r->out, "%s\n", rs->at[i]->cell);
}

/* Prints values that the knowledge base or a recipe has; false: there is no such kind. */
static bool
known_values(struct run *r, const char *kind, const char *path)
{
	struct names all = { 0 }, more = { 0 };

	if (!strcmp(kind, "codes")) {
		for (size_t i = 0; i < CODE_COUNT; i++)
			list_push(r->a, &all, code_table[i].id);
	} else if (!among(kind, "gpus packages cells")) {
		return false;
	} else if (!(r->facts = program_knowledge(r))) {
		return true;
	} else if (!strcmp(kind, "gpus")) {
		all = facts_gpu_names(r->facts, r->a);
	} else if (!strcmp(kind, "packages")) {
		all = facts_extension_names(r->facts);
		more = facts_package_names(r->facts);
	} else {
		print_cells(r, path ? path : "stack.yaml");
	}
	for (size_t i = 0; i < all.n; i++)
		buf_printf(&r->out, "%s\n", all.at[i]);
	for (size_t i = 0; i < more.n; i++)
		buf_printf(&r->out, "%s\n", more.at[i]);
	return true;
}

int
verb_completion(struct run *r)
{
	const struct names *args = &r->o->args;
	const char *what = args->at[0];

	if (options_completion(what, &r->out) || options_values(what, &r->out) ||
	    known_values(r, what, args->n > 1 ? args->at[1] : NULL))
		return EXIT_DONE;
	return usage_error("completion supports bash, zsh and fish, and lists commands, targets, "
			   "engines, gpus, packages, codes and cells");
}

/* Reads the name of the command whose page or help is wanted; VERB_COUNT without one. */
static bool
wanted_verb(struct run *r, enum verb *v)
{
	const char *why;

	*v = VERB_COUNT;
	if (!r->o->args.n || verb_find(r->a, r->o->args.at[0], v, &why))
		return true;
	usage_error("%s", why);
	return false;
}

int
verb_man(struct run *r)
{
	enum verb v;

	if (!wanted_verb(r, &v))
		return EXIT_USAGE;
	options_man(STACKBUILD_VERSION, v, &r->out);
	return EXIT_DONE;
}

int
verb_help(struct run *r)
{
	enum verb v;

	if (!wanted_verb(r, &v))
		return EXIT_USAGE;
	options_help(v, false, &r->out);
	return EXIT_DONE;
}

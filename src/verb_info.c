/* The commands that show knowledge and documentation: facts, explain, schema, help, ... */
#include "verbs.h"

#include <string.h>

#include "recipe/recipe.h"

int
verb_facts(struct run *r)
{
	const struct names *args = &r->o->args;
	const struct options *o = r->o;

	if (is_refresh(o))
		return o->format_given ? usage_error("facts refresh has no formats") :
					 world_facts_refresh(r, user_knowledge(r->a));
	if (o->out || o->index || o->deep || o->all || o->limit || o->max_requests || o->timeout)
		return usage_error("--out, --index, --deep, --all, --limit, --max-requests and "
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

int
verb_explain(struct run *r)
{
	const char *id = r->o->args.n ? r->o->args.at[0] : NULL;

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
		recipe_reference(r->a, &r->out);
	else
		recipe_schema(r->a, r->facts, &r->out);
	return EXIT_DONE;
}

int
verb_completion(struct run *r)
{
	if (!options_completion(r->o->args.at[0], &r->out))
		return usage_error("completion supports bash, zsh and fish");
	return EXIT_DONE;
}

int
verb_man(struct run *r)
{
	options_man(STACKBUILD_VERSION, &r->out);
	return EXIT_DONE;
}

int
verb_help(struct run *r)
{
	enum verb v = VERB_COUNT;
	const char *why;

	if (r->o->args.n && !verb_find(r->a, r->o->args.at[0], &v, &why))
		return usage_error("%s", why);
	options_help(v, &r->out);
	return EXIT_DONE;
}

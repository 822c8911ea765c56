#include <string.h>

#include "base/str.h"
#include "inputs.h"
#include "script.h"

static const struct span nowhere;

const struct shape script_source_shape[] = {
	{ "id", VALUE_TEXT, "\"causal-conv1d\"", 0 },
	{ "key", VALUE_TEXT, "what its result depends on, as a digest", 0 },
	{ "src", VALUE_CODE, "where its source lies, as a word", 0 },
	{ "secrets", VALUE_LIST, "names of secrets that must be there", 0 },
	{ "fetches", VALUE_LIST, "what fetches it", script_command_shape },
	{ "files", VALUE_LIST, "what the plan knows of it", script_file_shape },
	{ "inputs", VALUE_LIST, "what reads its inputs", script_command_shape },
	{ 0 },
};

static const struct step *
first_compiled(const struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (compile_of(&p->steps[i]))
			return &p->steps[i];
	return NULL;
}

void
script_source(struct script_writer *w, const struct step *s)
{
	struct step reader = inputs_step(w->a, w->plan, s);
	struct scope *out = scope_item(w->top, "sources");

	scope_text(out, "id", s->id, s->at);
	scope_text(out, "key", script_key(w, s), nowhere);
	scope_code(out, "src", script_word(w, s, "{src}"));
	for (size_t i = 0; i < s->commands.n; i++)
		if (s->commands.at[i].phase == PHASE_FETCH)
			script_command(w, s, &s->commands.at[i], "fetches", out);
	for (size_t i = 0; i < reader.files.n; i++) {
		const struct step_file *f = &reader.files.at[i];

		if (!f->template)
			script_file(w, &reader, f->path, str_of(f->text), "files", out);
		else if (s == first_compiled(w->plan))
			script_file(w, &reader, f->path, script_template(w, f->template), "reader",
				    w->top);
	}
	script_command(w, &reader, &reader.commands.at[0], "inputs", out);
}

void
script_compile(struct script_writer *w, const struct step *s, struct scope *out)
{
	scope_flag(out, "compiled", true);
	scope_flag(out, "reads", s == first_compiled(w->plan));
	scope_code(out, "wheels", script_word(w, s, "{wheels}"));
	for (size_t i = 0; i < s->commands.n; i++) {
		struct command c = s->commands.at[i];

		if (c.phase == PHASE_BUILD)
			script_command(w, s, &c, "commands", out);
		if (c.phase != PHASE_INSTALL)
			continue;
		c.argv = (struct words){ 0 };
		for (size_t k = 0; k < s->commands.at[i].argv.n; k++)
			list_push(w->a, &c.argv, s->commands.at[i].argv.at[k]);
		/* What was compiled otherwise, under the same version, would stay. */
		list_push(w->a, &c.argv, (struct word){ "--force-reinstall", false });
		script_command(w, s, &c, "installs", out);
	}
}

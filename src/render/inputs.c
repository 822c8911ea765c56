#include "inputs.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"

const struct command *
compile_of(const struct step *s)
{
	for (size_t i = 0; s->kind == STEP_EXTENSION && i < s->commands.n; i++)
		if (s->commands.at[i].phase == PHASE_BUILD)
			return &s->commands.at[i];
	return NULL;
}

/* How fast it is compiled, and where the toolkit lies: nvcc's own words tell which it is. */
static bool
decides_nothing(const struct variable *v)
{
	return !strcmp(v->name, "MAX_JOBS") || !strcmp(v->name, "NVCC_THREADS") ||
	       (!strcmp(v->name, "CUDA_HOME") && !v->verbatim);
}

static void
names_json(struct json *j, const struct plan *p, const struct step *s)
{
	json_list(j, "archs");
	for (size_t i = 0; i < p->stack->archs.n; i++)
		json_text(j, NULL, p->stack->archs.at[i].value);
	json_end(j);
	json_list(j, "requires");
	for (size_t i = 0; i < p->stack->build_deps.n; i++)
		json_text(j, NULL, p->stack->build_deps.at[i].key);
	json_end(j);
	/* Compiled beside it, against the same: whether they are there already is chance. */
	json_list(j, "beside");
	for (size_t i = 0; i < p->stack->extensions.n; i++)
		if (strcmp(p->stack->extensions.at[i].name, s->extension->name))
			json_text(j, NULL, p->stack->extensions.at[i].name);
	json_end(j);
}

/* Places stay as they are written: where things lie decides nothing. */
static const char *
plan_text_of(struct arena *a, const struct plan *p, const struct step *s)
{
	const struct stack_extension *e = s->extension;
	const struct command *c = compile_of(s);
	struct buf b = BUF(a);
	struct json j = json_to(&b);

	json_map(&j, NULL);
	json_text(&j, "name", e->name);
	json_text(&j, "version", e->version);
	json_text(&j, "source", e->source == SOURCE_GIT ? "git" : "sdist");
	json_text(&j, "subdirectory", e->subdirectory);
	json_bool(&j, "cuda", p->nvcc != NULL);
	names_json(&j, p, s);
	json_list(&j, "patches");
	json_end(&j);
	json_list(&j, "argv");
	for (size_t i = 0; i < c->argv.n; i++)
		json_text(&j, NULL, c->argv.at[i].s);
	json_end(&j);
	json_map(&j, "env");
	for (size_t i = 0; i < c->env.n; i++)
		if (!decides_nothing(&c->env.at[i]))
			json_text(&j, c->env.at[i].name, c->env.at[i].value);
	json_end(&j);
	json_end(&j);
	return buf_text(&b);
}

struct step
inputs_step(struct arena *a, const struct plan *p, const struct step *s)
{
	struct step st = { .id = s->id, .kind = s->kind, .at = s->at, .extension = s->extension };
	const char *file = arena_printf(a, "{share}/%s.plan.json", s->id);
	struct command c = { .phase = PHASE_BUILD, .env = compile_of(s)->env };

	list_push(a, &st.files,
		  (struct step_file){ "{share}/inputs.py", "inputs.py", NULL, false });
	list_push(a, &st.files, (struct step_file){ file, NULL, plan_text_of(a, p, s), false });
	list_push(a, &c.argv, (struct word){ "{python}", false });
	list_push(a, &c.argv, (struct word){ "{share}/inputs.py", false });
	list_push(a, &c.argv, (struct word){ file, false });
	list_push(a, &c.argv, (struct word){ "{src}", false });
	list_push(a, &c.argv, (struct word){ arena_printf(a, "{inputs}/%s.json", s->id), false });
	list_push(a, &st.commands, c);
	return st;
}

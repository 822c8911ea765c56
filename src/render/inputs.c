#include "inputs.h"

#include <string.h>

#include "base/json.h"

/* How fast it is compiled, and where the toolkit lies: inputs.py asks nvcc for its version. */
static bool
decides_nothing(const struct variable *v)
{
	return !strcmp(v->name, "MAX_JOBS") || !strcmp(v->name, "NVCC_THREADS") ||
	       (!strcmp(v->name, "CUDA_HOME") && !v->verbatim);
}

/* Places like {src} stay as they are written: where things lie decides nothing. */
static const char *
known(struct arena *a, const struct plan *p, const struct stack_extension *e,
      const struct command *compile)
{
	const struct stack *s = p->stack;
	struct names archs = { 0 }, requires = { 0 }, beside = { 0 }, argv = { 0 };
	struct buf b = BUF(a);
	struct json j = json_to(&b);

	for (size_t i = 0; i < s->archs.n; i++)
		list_push(a, &archs, s->archs.at[i].value);
	for (size_t i = 0; i < s->build_deps.n; i++)
		list_push(a, &requires, s->build_deps.at[i].key);
	/* Extensions against the same stack: whether they are installed by then is chance. */
	for (size_t i = 0; i < s->extensions.n; i++)
		if (strcmp(s->extensions.at[i].name, e->name) != 0)
			list_push(a, &beside, s->extensions.at[i].name);
	for (size_t i = 0; i < compile->argv.n; i++)
		list_push(a, &argv, compile->argv.at[i].s);
	json_put(&j, "{'name': %s, 'version': %s, 'source': %s, 'subdirectory': %s", e->name,
		 e->version, e->source == SOURCE_GIT ? "git" : "sdist", e->subdirectory);
	json_bool(&j, "cuda", p->nvcc != NULL);
	json_names(&j, "archs", &archs);
	json_names(&j, "requires", &requires);
	json_names(&j, "beside", &beside);
	json_put(&j, "'patches': []");
	json_names(&j, "argv", &argv);
	json_map(&j, "env");
	for (size_t i = 0; i < compile->env.n; i++)
		if (!decides_nothing(&compile->env.at[i]))
			json_text(&j, compile->env.at[i].name, compile->env.at[i].value);
	json_put(&j, "}}");
	return buf_text(&b);
}

static void
add_file(struct arena *a, struct inputs *in, const char *name, const char *text)
{
	struct operation op = { .kind = OP_FILE };

	op.file.path = arena_printf(a, "{share}/%s", name);
	op.file.helper = name;
	op.file.text = text;
	list_push(a, &in->files, op);
	list_push(a, &in->command.argv, (struct word){ op.file.path, false });
}

struct inputs
inputs_of(struct arena *a, const struct plan *p, const struct step *s)
{
	const struct commands compile = operation_commands(a, step_operation(s, OP_COMPILE));
	struct inputs in = { .command = { .env = compile.at[0].env } };

	list_push(a, &in.command.argv, (struct word){ "{python}", false });
	add_file(a, &in, "inputs.py", NULL);
	add_file(a, &in, arena_printf(a, "%s.plan.json", s->id),
		 known(a, p, s->extension, &compile.at[0]));
	list_push(a, &in.command.argv, (struct word){ "{src}", false });
	list_push(a, &in.command.argv,
		  (struct word){ arena_printf(a, "{inputs}/%s.json", s->id), false });
	return in;
}

#include "make.h"

#include "base/json.h"

/* Operations: made, looked up, and as JSON. */

struct operation *
plan_operation(const struct maker *m, struct step *st, enum operation_kind kind, const char *why)
{
	list_push(m->a, &st->operations, (struct operation){ .kind = kind, .why = why });
	return &st->operations.at[st->operations.n - 1];
}

void
plan_helper(const struct maker *m, struct step *st, const char *name, bool program)
{
	struct operation *op = plan_operation(m, st, OP_FILE, NULL);

	op->file.path = arena_printf(m->a, "{share}/%s", name);
	op->file.helper = name;
	op->file.program = program;
}

bool
plan_constraints(const struct maker *m, struct step *st, const struct names *lines)
{
	struct operation *op;
	struct buf b = BUF(m->a);

	for (size_t i = 0; i < lines->n; i++)
		buf_printf(&b, "%s\n", lines->at[i]);
	if (!lines->n)
		return false;
	op = plan_operation(m, st, OP_FILE, NULL);
	op->file.path = "{share}/constraints.txt";
	op->file.text = buf_text(&b);
	return true;
}

struct pip_index
plan_index(const struct maker *m)
{
	const struct recipe_index *index = &m->s->recipe->index;

	return (struct pip_index){ index->url.s, index->url.s ? index->secret.s : NULL };
}

const struct operation *
step_operation(const struct step *st, enum operation_kind kind)
{
	for (size_t i = 0; i < st->operations.n; i++)
		if (st->operations.at[i].kind == kind)
			return &st->operations.at[i];
	return NULL;
}

/* --- JSON --- */

static const char *const kind_words[OPERATION_KINDS] = {
	"system", "python", "packages", "fetch", "compile",      "wheel",
	"file",   "links",  "smoke",    "probe", "requirements", "application",
};

static void
index_json(struct json *j, const struct pip_index *index, bool all)
{
	json_text(j, "index", index->url);
	if (all)
		json_text(j, "secret", index->secret);
}

static void
env_json(struct json *j, const struct variables *env)
{
	json_map(j, "env");
	for (size_t i = 0; i < env->n; i++)
		json_text(j, env->at[i].name, env->at[i].value);
	json_end(j);
}

static void
texts_json(struct json *j, const char *key, const struct texts *texts)
{
	json_list(j, key);
	for (size_t i = 0; i < texts->n; i++)
		json_text(j, NULL, texts->at[i].s);
	json_end(j);
}

static void
python_json(struct json *j, const struct operation *op)
{
	const struct python_build *b = op->python.build;

	json_text(j, "interpreter", op->python.interpreter);
	json_text(j, "url", b ? b->url : NULL);
	json_text(j, "sha256", b ? b->sha256 : NULL);
	json_text(j, "uv", b && !b->sha256 ? b->uv : NULL);
	json_text(j, "version", b && !b->sha256 ? (b->version ? b->version : b->series) : NULL);
}

static void
fetch_json(struct json *j, const struct operation *op, bool all)
{
	static const char *const sources[] = { "git", "sdist", "archive", "wheel" };
	const struct stack_extension *e = op->fetch.extension;

	json_text(j, "source", sources[e->source]);
	json_text(j, "requirement", e->source == SOURCE_SDIST ? e->requirement : NULL);
	json_text(j, "url", e->url);
	json_text(j, "ref", e->ref);
	json_bool(j, "submodules", e->submodules);
	json_text(j, "sha256", e->sha256);
	index_json(j, &op->fetch.index, all);
	env_json(j, &op->fetch.env);
}

static void
compile_json(struct json *j, const struct operation *op, bool all)
{
	const struct stack_extension *e = op->compile.extension;

	json_text(j, "extension", e->name);
	json_text(j, "requirement", e->source == SOURCE_GIT ? NULL : e->requirement);
	json_text(j, "subdirectory", e->subdirectory);
	env_json(j, &op->compile.env);
	json_text(j, "nvcc_env", op->compile.nvcc_archs ? e->nvcc_env : NULL);
	json_text(j, "nvcc_archs", op->compile.nvcc_archs);
	if (all) {
		json_int(j, "memory_mib", op->compile.memory_mib);
		json_int(j, "threads", op->compile.threads);
	}
}

void
plan_operation_json(struct json *j, const struct operation *op, bool all)
{
	static const char *const archives[] = { "distribution", "nvidia", "deadsnakes" };

	json_map(j, NULL);
	json_text(j, "kind", kind_words[op->kind]);
	switch (op->kind) {
	case OP_SYSTEM:
		json_text(j, "archive", archives[op->system.archive]);
		json_names(j, "packages", &op->system.packages);
		break;
	case OP_PYTHON: python_json(j, op); break;
	case OP_PACKAGES:
		json_names(j, "requirements", &op->packages.requirements);
		index_json(j, &op->packages.index, all);
		json_bool(j, "constrained", op->packages.constrained);
		json_bool(j, "no_deps", op->packages.no_deps);
		break;
	case OP_FETCH: fetch_json(j, op, all); break;
	case OP_COMPILE: compile_json(j, op, all); break;
	case OP_WHEEL: json_text(j, "extension", op->wheel.extension->name); break;
	case OP_FILE:
		json_text(j, "path", op->file.path);
		json_text(j, "helper", op->file.helper);
		json_text(j, "text", op->file.text);
		break;
	case OP_LINKS: json_text(j, "cuda_home", op->links.cuda_home); break;
	case OP_SMOKE:
		json_text(j, "nvcc", op->smoke.nvcc);
		json_names(j, "flags", &op->smoke.flags);
		break;
	case OP_PROBE: break;
	case OP_REQUIREMENTS:
		json_text(j, "file", op->requirements.file);
		index_json(j, &op->requirements.index, all);
		json_bool(j, "constrained", op->requirements.constrained);
		if (all)
			json_names(j, "secrets", &op->requirements.secrets);
		break;
	case OP_APPLICATION:
		texts_json(j, "files", op->application.files);
		texts_json(j, "command", op->application.command);
		break;
	case OPERATION_KINDS: break;
	}
	json_end(j);
}

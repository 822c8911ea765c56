#include "make.h"

#include "base/json.h"
#include "base/sha256.h"

/* Plans as JSON: operations, keys, plan.json, and `plan --format json`. */

/* --- operations --- */

static const char *const kind_words[OPERATION_KINDS] = {
	"system", "python", "packages", "fetch", "compile",      "wheel",       "file",
	"keep",   "links",  "smoke",    "probe", "requirements", "application",
};

static void
index_json(struct json *j, const struct pip_index *index, bool all)
{
	json_put(j, "'index': %s", index->url);
	if (all)
		json_put(j, "'secret': %s", index->secret);
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
texts_json(struct json *j, const struct texts *texts)
{
	for (size_t i = 0; i < texts->n; i++)
		json_text(j, NULL, texts->at[i].s);
	json_end(j);
}

static void
python_json(struct json *j, const struct operation *op)
{
	static const struct python_build none;
	const struct python_build *b = op->python.build ? op->python.build : &none;
	bool uv = op->python.build && !b->sha256;

	json_put(j, "'interpreter': %s, 'url': %s, 'sha256': %s, 'uv': %s, 'version': %s",
		 op->python.interpreter, b->url, b->sha256, uv ? b->uv : NULL,
		 !uv        ? NULL :
		 b->version ? b->version :
			      b->series);
	if (op->python.system)
		json_bool(j, "system", true);
}

static void
fetch_json(struct json *j, const struct operation *op, bool all)
{
	const struct stack_extension *e = op->fetch.extension;

	json_put(j,
		 "'source': %s, 'requirement': %s, 'url': %s, 'ref': %s, 'submodules': %b, "
		 "'sha256': %s",
		 plan_source_words[e->source], e->url || e->path ? NULL : e->requirement, e->url,
		 e->ref, e->submodules, e->sha256);
	if (op->fetch.locked)
		json_text(j, "commit", e->commit);
	if (e->path)
		json_text(j, "path", e->path);
	index_json(j, &op->fetch.index, all);
	env_json(j, &op->fetch.env);
}

static void
compile_json(struct json *j, const struct operation *op, bool all)
{
	const struct stack_extension *e = op->compile.extension;
	const char *archs = op->compile.nvcc_archs;

	json_put(j, "'extension': %s, 'requirement': %s, 'subdirectory': %s", e->name,
		 is_tree(e) ? NULL : e->requirement, e->subdirectory);
	env_json(j, &op->compile.env);
	json_put(j, "'nvcc_env': %s, 'nvcc_archs': %s", archs ? e->nvcc_env : NULL, archs);
	if (all)
		json_put(j, "'memory_mib': %d, 'threads': %d", op->compile.memory_mib,
			 op->compile.threads);
}

/* all: also the names of secrets, and the values that affect only the speed. */
static void
operation_json(struct json *j, const struct operation *op, bool all)
{
	static const char *const archives[] = { "distribution", "dnf", "nvidia", "deadsnakes" };

	json_put(j, "{'kind': %s", kind_words[op->kind]);
	switch (op->kind) {
	case OP_SYSTEM:
		json_put(j, "'archive': %s, 'packages': %n, 'snapshot': %o",
			 archives[op->system.archive], &op->system.packages, op->system.snapshot);
		break;
	case OP_PYTHON: python_json(j, op); break;
	case OP_PACKAGES:
		json_put(j, "'requirements': %n", &op->packages.requirements);
		index_json(j, &op->packages.index, all);
		json_put(j, "'constrained': %b, 'no_deps': %b", op->packages.constrained,
			 op->packages.no_deps);
		if (op->packages.file)
			json_text(j, "file", op->packages.file);
		break;
	case OP_FETCH: fetch_json(j, op, all); break;
	case OP_COMPILE: compile_json(j, op, all); break;
	case OP_WHEEL: json_put(j, "'extension': %s", op->wheel.extension->name); break;
	case OP_FILE:
		json_put(j, "'path': %s, 'helper': %s, 'text': %s", op->file.path, op->file.helper,
			 op->file.text);
		break;
	case OP_KEEP:
		json_put(j, "'torch': %s, 'constraints': %s", op->keep.torch, op->keep.constraints);
		break;
	case OP_LINKS: json_put(j, "'cuda_home': %s", op->links.cuda_home); break;
	case OP_SMOKE:
		json_put(j, "'nvcc': %s, 'flags': %n", op->smoke.nvcc, &op->smoke.flags);
		break;
	case OP_REQUIREMENTS:
		json_put(j, "'file': %s", op->requirements.files.at[0]);
		index_json(j, &op->requirements.index, all);
		if (op->requirements.constrained)
			json_bool(j, "constrained", true);
		if (op->requirements.locals->n) {
			json_list(j, "locals");
			texts_json(j, op->requirements.locals);
		}
		if (all)
			json_put(j, "'secrets': %n", &op->requirements.secrets);
		break;
	case OP_APPLICATION:
		json_put(j, "'files': [");
		texts_json(j, op->application.files);
		json_put(j, "'command': [");
		texts_json(j, op->application.command);
		if (op->application.entrypoint->n) {
			json_put(j, "'entrypoint': [");
			texts_json(j, op->application.entrypoint);
		}
		break;
	case OP_PROBE:
	case OPERATION_KINDS: break;
	}
	json_end(j);
}

static void
operations_json(struct json *j, const struct step *st, bool all)
{
	json_list(j, "operations");
	for (size_t i = 0; i < st->operations.n; i++)
		operation_json(j, &st->operations.at[i], all);
	json_end(j);
}

/* --- keys --- */

/* Ends the line of JSON with the keys of its inputs, and returns its digest. */
static const char *
digest_with(struct arena *a, struct json j, const struct names *inputs)
{
	size_t n = j.out->n;
	const char *digest;

	json_put(&j, "'inputs': %n}", inputs);
	digest = sha256_hex(a, buf_text(j.out), j.out->n);
	j.out->n = n;
	return digest;
}

/*
 * A key is the digest of one line of JSON with everything that decides a step's result, such as the
 * keys of its inputs. Caches, comments, costs and order are not inputs.
 */
void
plan_keys(struct arena *a, const struct stack *s, struct step *st, const struct names *input_keys)
{
	struct arena *scratch = arena_new();
	struct buf b = BUF(scratch);
	struct json j = json_flat_to(&b);

	json_put(&j, "{'kind': %s", step_kind_words[st->kind]);
	if (st->kind == STEP_BASE)
		json_put(&j, "'base': %s, 'platform': %s", s->base.value, s->platform);
	if (st->kind == STEP_CHECK) {
		json_put(&j, "'modules': [");
		texts_json(&j, &s->recipe->verify.modules);
		json_put(&j, "'import_timeout_s': %d",
			 (int)recipe_number(s->recipe->verify.import_timeout_s));
	}
	operations_json(&j, st, false);
	st->own = digest_with(a, j, &(struct names){ 0 });
	st->key = input_keys->n ? digest_with(a, j, input_keys) : st->own;
	arena_free(scratch);
}

/* --- plan.json: the plan inside the image --- */

static void
pin_json(struct json *j, struct arena *a, const char *requirement, const char *step)
{
	const struct requirement *req =
		requirement ? requirement_parse(a, requirement, NULL, NULL) : NULL;

	if (req)
		json_put(j, "('name': %s, 'specifier': %s, 'step': %s)", req->key,
			 specifiers_text(a, req->spec), step);
}

/* Adds a pin for each requirement that the step installs. */
static void
step_pins(struct json *j, struct arena *a, const struct step *st)
{
	pin_json(j, a, st->numpy, st->id);
	for (size_t i = 0; i < st->packages.n; i++)
		if (!st->packages.at[i].left_out)
			pin_json(j, a, st->packages.at[i].requirement, st->id);
	pin_json(j, a, st->cuda_wheels, st->id);
	if (st->extension)
		pin_json(j, a, st->extension->requirement, st->id);
}

static void
torch_json(struct json *j, struct arena *a, const struct stack *s)
{
	const struct torch_variant *v = s->torch_variant;

	if (!s->torch.value) {
		json_nil(j, "torch");
		return;
	}
	json_put(j, "'torch': ('version': %s, 'cuda': %s, 'cpu': %b",
		 s->torch_base ? s->torch_base : s->torch.value,
		 v && v->cuda ? v->cuda : cuda_of_tag(a, s->torch_tag),
		 s->torch_tag && !strcmp(s->torch_tag, "cpu"));
	if (v && v->cxx11abi != TRI_UNKNOWN)
		json_bool(j, "cxx11abi", v->cxx11abi == TRI_YES);
	else
		json_nil(j, "cxx11abi");
	json_end(j);
}

static void
nvcc_json(struct json *j, const struct step *steps, size_t n)
{
	const struct operation *op = NULL;

	for (size_t i = 0; i < n && !op; i++)
		op = step_operation(&steps[i], OP_SMOKE);
	if (op)
		json_put(j, "'nvcc': ('name': %s, 'flags': %n)", op->smoke.nvcc, &op->smoke.flags);
	else
		json_nil(j, "nvcc");
}

static void
extension_json(struct json *j, const struct stack *s, const struct stack_extension *e)
{
	static const struct names none;
	const struct extension *k = e->known;
	/* Its wheel has no code if it compiles at first use, or has nothing to compile. */
	bool no_code = k && (k->jit_at_run_time || (k->pypi == PYPI_WHEEL && !k->mem_mib_per_job));

	/* Compiled extensions have code only for the recipe's GPUs. */
	json_put(j, "('name': %s, 'modules': %n, 'probes': %n, 'compiled': %b, 'exactly': %b)",
		 e->name, &e->imports, k ? &k->probes : &none, s->archs.n && !no_code,
		 e->source != SOURCE_WHEEL);
}

/* Writes the expectations of `stackbuild verify`, which templates/verify reads. */
static void
expect_json(struct json *j, struct arena *a, const struct stack *s, const struct step *steps,
	    size_t n)
{
	const struct requirement *numpy =
		s->numpy.value ? requirement_parse(a, s->numpy.value, NULL, NULL) : NULL;

	json_put(j, "'verify': {'archs': [");
	for (size_t i = 0; i < s->archs.n; i++)
		json_text(j, NULL, s->archs.at[i].value);
	json_end(j);
	torch_json(j, a, s);
	json_put(j, "'numpy': %s", numpy ? specifiers_text(a, numpy->spec) : NULL);
	nvcc_json(j, steps, n);
	json_list(j, "extensions");
	for (size_t i = 0; i < s->extensions.n; i++)
		extension_json(j, s, &s->extensions.at[i]);
	json_put(j, "]}");
}

/* Writes the other parts of the environment, which templates/verify compares. */
static void
lock_json(struct json *j, const struct lock *l)
{
	json_put(j, "'lock': {'packages': [");
	list_each (p, &l->packages) {
		json_put(j, "('name': %s, 'version': %s", p->name, p->version);
		if (p->marker)
			json_text(j, "marker", p->marker);
		json_end(j);
	}
	json_put(j, "]}");
}

const char *
plan_image_json(const struct maker *m, const struct step *steps, size_t n)
{
	struct arena *a = m->a;
	const struct stack *s = m->s;
	unsigned timeout_s = recipe_number(s->recipe->verify.import_timeout_s);
	struct buf b = BUF(a);
	struct json j = json_to(&b);

	json_put(&j, "{'stack': %s, 'python': %s, 'import_timeout_s': %d, 'modules': [",
		 s->recipe->stack.s, s->python.value, timeout_s ? timeout_s : 60);
	for (size_t i = 0; i < s->extensions.n; i++)
		for (size_t k = 0; k < s->extensions.at[i].imports.n; k++)
			json_text(&j, NULL, s->extensions.at[i].imports.at[k]);
	texts_json(&j, &s->recipe->verify.modules);
	json_list(&j, "steps");
	for (size_t i = 0; i < n && steps[i].kind != STEP_APP; i++)
		json_put(&j, "('id': %s, 'kind': %s, 'key': %s)", steps[i].id,
			 step_kind_words[steps[i].kind], steps[i].key);
	json_put(&j, "], 'pins': [");
	for (size_t i = 0; i < n; i++)
		step_pins(&j, a, &steps[i]);
	json_end(&j);
	if (m->lock)
		lock_json(&j, m->lock);
	expect_json(&j, a, s, steps, n);
	json_end(&j);
	return buf_text(&b);
}

/* --- plan --format json --- */

void
json_cost(struct json *j, double seconds)
{
	if (seconds > 0)
		json_number(j, "cost_s", seconds);
	else
		json_nil(j, "cost_s");
}

void
plan_json(const struct plan *p, struct names cells, struct buf *out)
{
	struct json j = json_to(out);

	json_put(&j, "{'steps': [");
	for (const struct step *st = p->steps; st < p->steps + p->n; st++) {
		json_put(&j,
			 "{'id': %s, 'kind': %s, 'stage': %s, 'needs': %n, 'why': %s, 'key': %s, "
			 "'change_rate': %f",
			 st->id, step_kind_words[st->kind], st->stage, &st->needs, st->why, st->key,
			 st->change_rate);
		json_cost(&j, st->cost_s);
		json_put(&j, "'inputs': %n, 'prebuilt': %o", &st->inputs,
			 st->extension ? stack_prebuilt(out->a, p->stack, st->extension) : NULL);
		operations_json(&j, st, true);
		json_end(&j);
	}
	json_put(&j, "], 'expected_cost_s': %f, 'cells': %n}", p->expected_cost_s, &cells);
	buf_putc(out, '\n');
}

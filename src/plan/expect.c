#include <string.h>

#include "base/json.h"
#include "base/str.h"

#include "make.h"

/* What stackbuild verify expects of the environment that a plan makes: a part of plan.json. */

static void
torch_json(struct json *j, struct arena *a, const struct stack *s)
{
	const struct torch_variant *v = s->torch_variant;
	bool cpu = s->torch_tag && !strcmp(s->torch_tag, "cpu");

	if (!s->torch.value) {
		json_nil(j, "torch");
		return;
	}
	json_row(j, "torch");
	json_text(j, "version", s->torch.value);
	json_text(j, "cuda", v && v->cuda ? v->cuda : cuda_of_tag(a, s->torch_tag));
	json_bool(j, "cpu", cpu);
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
	if (!op) {
		json_nil(j, "nvcc");
		return;
	}
	json_row(j, "nvcc");
	json_text(j, "name", op->smoke.nvcc);
	json_names(j, "flags", &op->smoke.flags);
	json_end(j);
}

/* Compiles when it is first used, or has nothing to compile: then no code is in its wheel. */
static bool
holds_code(const struct stack *s, const struct stack_extension *e)
{
	const struct extension *k = e->known;

	return s->archs.n && !(k && k->jit_at_run_time) &&
	       !(k && k->pypi == PYPI_WHEEL && !k->mem_mib_per_job);
}

static void
extension_json(struct json *j, const struct stack *s, const struct stack_extension *e)
{
	static const struct names none;

	json_row(j, NULL);
	json_text(j, "name", e->name);
	json_names(j, "modules", &e->imports);
	json_names(j, "probes", e->known ? &e->known->probes : &none);
	json_bool(j, "compiled", holds_code(s, e));
	/* What is compiled here is compiled for the recipe's GPUs and for no other. */
	json_bool(j, "exactly", e->source != SOURCE_WHEEL);
	json_end(j);
}

void
plan_expect_json(struct json *j, struct arena *a, const struct stack *s, const struct step *steps,
		 size_t n)
{
	const struct requirement *numpy =
		s->numpy.value ? requirement_parse(a, s->numpy.value, NULL, NULL) : NULL;

	json_map(j, "verify");
	json_list(j, "archs");
	for (size_t i = 0; i < s->archs.n; i++)
		json_text(j, NULL, s->archs.at[i].value);
	json_end(j);
	torch_json(j, a, s);
	json_text(j, "numpy", numpy ? specifiers_text(a, numpy->spec) : NULL);
	nvcc_json(j, steps, n);
	json_list(j, "extensions");
	for (size_t i = 0; i < s->extensions.n; i++)
		extension_json(j, s, &s->extensions.at[i]);
	json_end(j);
	json_end(j);
}

#include "make.h"

/* What comes after all that is installed: the check, and the application. */

/*
 * A GPU that is newer than the toolkit runs the code of the first of its generation: an RTX 4090
 * (8.9), where nvcc knows 8.0 to 8.7.
 */
static const char *
known_to_nvcc(const struct cuda_toolkit *t, const char *cc)
{
	size_t major = strcspn(cc, ".") + 1;
	const char *first = NULL;

	for (size_t i = 0; t && i < t->archs.n; i++) {
		if (!strcmp(t->archs.at[i], cc))
			return cc;
		if (!first && !strncmp(t->archs.at[i], cc, major))
			first = t->archs.at[i];
	}
	return first ? first : cc;
}

/* "nvcc -std=c++14 -gencode arch=compute_80,code=sm_80 -o smoke smoke.cu" */
static void
compile_smoke(struct maker *m, struct step *st)
{
	const struct stack *s = m->s;
	struct names *flags;
	struct operation *op;

	plan_helper(m, st, "smoke.cu", false);
	op = plan_operation(m, st, OP_SMOKE, NULL);
	op->smoke.nvcc = m->nvcc;
	flags = &op->smoke.flags;
	list_push(m->a, flags, "-std=c++14");
	if (strcmp(s->cxx, "g++") != 0) {
		list_push(m->a, flags, "-ccbin");
		list_push(m->a, flags, s->cxx);
	}
	for (size_t i = 0; i < s->archs.n; i++) {
		const char *cc = known_to_nvcc(s->toolkit, s->archs.at[i].value);
		const char *arch = capability_nvcc(m->a, cc);

		arch = arena_printf(m->a, "arch=compute_%s,code=sm_%s", arch, arch);
		if (names_have(flags, arch))
			continue;
		list_push(m->a, flags, "-gencode");
		list_push(m->a, flags, arch);
	}
}

static void
check_step(struct maker *m)
{
	struct step st = plan_draft(m, STEP_CHECK, "check", "final", NULL);
	size_t before = m->steps.n;

	st.why = m->nvcc ? "smoke kernel compiles; versions match" :
			   "installed versions match the plan";
	for (size_t i = 0; i < before; i++) {
		const struct step *o = &m->steps.at[i];

		if (o->kind != STEP_PACKAGES && o->kind != STEP_EXTENSION)
			continue;
		plan_need(m, &st, o->id, "nothing is installed after it");
		plan_input(m, &st, o->id);
	}
	if (!st.needs.n)
		plan_need(m, &st, m->stack_end, "nothing is installed after it");
	if (!st.inputs.n || !m->packages_in_stack)
		plan_input(m, &st, m->stack_end);
	if (m->nvcc)
		compile_smoke(m, &st);
	plan_helper(m, &st, "probe.py", false);
	/* Its text holds the keys of all steps: it is filled in when they are known. */
	plan_helper(m, &st, "plan.json", false);
	plan_operation(m, &st, OP_PROBE, NULL);
	list_push(m->a, &m->steps, st);
}

static void
app_step(struct maker *m)
{
	const struct recipe *r = m->s->recipe;
	struct step st = plan_draft(m, STEP_APP, "app", "final", NULL);
	struct operation *op;

	if (!r->app.at.line)
		return;
	st.at = r->app.at;
	st.why = "changes most often, so it is last";
	plan_need(m, &st, "check", "what was proven must not depend on it");
	plan_input(m, &st, "check");
	if (r->app.requirements.s) {
		bool constrained = plan_constraints(m, &st, &m->s->constraints);

		op = plan_operation(m, &st, OP_REQUIREMENTS,
				    "under the constraints of the whole stack");
		op->requirements.file = r->app.requirements.s;
		op->requirements.index = plan_index(m);
		op->requirements.constrained = constrained;
		for (size_t i = 0; i < r->secrets.n; i++)
			list_push(m->a, &op->requirements.secrets, r->secrets.at[i].s);
	}
	op = plan_operation(m, &st, OP_APPLICATION, NULL);
	op->application.files = &r->app.copy;
	op->application.command = &r->app.command;
	list_push(m->a, &m->steps, st);
}

void
plan_last_steps(struct maker *m)
{
	check_step(m);
	app_step(m);
}

/* --- CUDA by apt: NVIDIA's own package source --- */

void
plan_cuda_apt(struct maker *m, struct step *st)
{
	const char *id = m->s->os->id, *dashed = cuda_dashed(m->a, m->s->cuda.value);
	struct operation *op =
		plan_operation(m, st, OP_SYSTEM, "nvcc, and the headers that torch's include");
	struct buf os = BUF(m->a);

	for (; *id; id++)
		if (*id != '.')
			buf_putc(&os, *id);
	op->system.archive = ARCHIVE_NVIDIA;
	op->system.keyring = arena_printf(
		m->a,
		"https://developer.download.nvidia.com/compute/cuda/repos/%s/%s/"
		"cuda-keyring_1.1-1_all.deb",
		buf_text(&os), starts_with(m->s->platform, "linux/arm64") ? "sbsa" : "x86_64");
	list_push(m->a, &op->system.packages, arena_printf(m->a, "cuda-libraries-dev-%s", dashed));
	list_push(m->a, &op->system.packages, arena_printf(m->a, "cuda-nvcc-%s", dashed));
	list_push(m->a, &op->system.packages, arena_printf(m->a, "cuda-profiler-api-%s", dashed));
}

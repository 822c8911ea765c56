#include "make.h"

/*
 * One step for each extension: fetched and compiled in a separate stage, based on the packages that
 * it is compiled against, and installed in the final stage.
 */

static struct variables
compile_env(struct maker *m, const struct stack_extension *e)
{
	const struct stack *s = m->s;
	const struct variable defaults[] = {
		{ "CC", s->cc, true },
		{ "CXX", s->cxx, true },
		{ "AR", "ar", true },
		{ "CUDA_HOME", m->cuda_home, false },
	};
	struct variables env = { 0 };

	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
		bool given = !defaults[i].value;

		for (size_t k = 0; k < e->env.n; k++)
			given |= !strcmp(e->env.at[k].name.s, defaults[i].name);
		if (!given)
			list_push(m->a, &env, defaults[i]);
	}
	list_each (x, &e->env)
		list_push(m->a, &env, (struct variable){ x->name.s, x->value.s, true });
	return env;
}

static void
fetch(struct maker *m, struct step *st, const struct stack_extension *e)
{
	struct operation *op = plan_operation(m, st, OP_FETCH, NULL);

	op->fetch.extension = e;
	op->fetch.commit = e->source == SOURCE_GIT && str_matches(e->ref, "^[0-9a-fA-F]{40}$");
	op->fetch.locked = e->source == SOURCE_GIT && m->lock && e->commit;
	if (e->index && (!e->url || e->source == SOURCE_SDIST)) /* a lock names the sdist's URL */
		op->fetch.index = (struct pip_index){ e->index->url.s, e->index->secret.s };
	else if (e->source == SOURCE_SDIST)
		op->fetch.index = plan_index(m);
	if (e->source == SOURCE_SDIST || e->source == SOURCE_ARCHIVE)
		op->fetch.env = compile_env(m, e);
}

/* Returns the stack's GPUs as nvcc-arch reads them: "80 90a". */
static const char *
nvcc_archs(struct maker *m)
{
	struct names archs = list_names(m->a, x, &m->s->archs, capability_nvcc(m->a, x->value));

	return names_join(m->a, &archs, " ");
}

static unsigned
job_mib(const struct stack_extension *e)
{
	return e->mem_mib_per_job ? e->mem_mib_per_job : 2048;
}

/*
 * Adds the values from which compile.py computes the number of jobs, and nvcc's threads if the
 * package sets them: one for each target architecture. Other extensions may compile in parallel.
 */
static void
job_sizes(struct maker *m, struct operation *op, const struct stack_extension *e)
{
	const struct stack_extensions *all = &m->s->extensions;

	op->compile.memory_mib = job_mib(e);
	op->compile.archs = e->nvcc_env || !e->build || !e->build->archs.n || e->build->arch_env ?
				    m->s->archs.n :
				    e->build->archs.n;
	if (e->known && op->compile.archs > 1)
		op->compile.threads = e->known->nvcc_threads;
	list_each (x, all)
		if (x != e && x->source != SOURCE_WHEEL)
			list_push(m->a, &op->compile.beside,
				  arena_printf(m->a, "%s=%u", x->name, job_mib(x)));
	op->compile.jobs_open = true;
	for (size_t i = 0; i < op->compile.env.n; i++)
		op->compile.jobs_open &= strcmp(op->compile.env.at[i].name, "MAX_JOBS") != 0;
}

/* Scales a compile time from the architectures that it was measured for to those of this step. */
static void
scale_cost(const struct maker *m, struct step *st, const struct operation *op)
{
	struct cost cost = facts_cost(m->s->facts, step_kind_words[st->kind], st->extension->name);

	if (op->compile.archs)
		st->cost_s = st->cost_s * (double)op->compile.archs / cost.archs;
	st->cost_cores = op->compile.jobs_open ? cost.cores : 0;
	st->useful_jobs = cost.useful_jobs;
}

static void
compile(struct maker *m, struct step *st, const struct stack_extension *e)
{
	struct operation *op;

	plan_helper(m, st, "compile.py", false);
	if (e->nvcc_env)
		plan_helper(m, st, "nvcc-arch", true);
	op = plan_operation(m, st, OP_COMPILE,
			    "--no-cache-dir: pip would reuse a wheel that it built for other GPUs");
	op->compile.extension = e;
	op->compile.env = compile_env(m, e);
	if (e->nvcc_env)
		op->compile.nvcc_archs = nvcc_archs(m);
	job_sizes(m, op, e);
	scale_cost(m, st, op);
}

static const char *
why(struct maker *m, const struct stack_extension *e)
{
	if (e->source == SOURCE_WHEEL)
		return "a prebuilt wheel for this torch";
	if (e->path && m->packages_in_stack)
		return "your own code: after packages";
	if (!e->known && m->packages_in_stack)
		return "not in the knowledge base: after packages";
	if (!m->s->packages.n)
		return "compiled against torch";
	if (m->packages_in_stack)
		return "recompiled by an edit of packages";
	return "not recompiled by an edit of packages";
}

static void
extension_step(struct maker *m, const struct stack_extension *e, const char *before)
{
	const char *id = plan_unique(m, e->name);
	bool wheel = e->source == SOURCE_WHEEL;
	struct step st =
		plan_draft(m, STEP_EXTENSION, id, arena_printf(m->a, "ext-%s", id), e->name);

	if (wheel) { /* costs as much as a small installation */
		struct step deps = plan_draft(m, STEP_BUILD_DEPS, id, st.stage, NULL);

		st.cost_s = deps.cost_s;
		st.cost_source = deps.cost_source;
	}
	st.extension = e;
	st.at = e->at;
	st.why = why(m, e);
	if (m->s->torch.value)
		plan_need(m, &st, "torch",
			  wheel ? "it was built for it" : "it is compiled against it");
	if (plan_has(m, "build-deps"))
		plan_need(m, &st, "build-deps", "its build uses these packages");
	for (size_t i = 0; i < m->installs.n; i++)
		plan_need(m, &st, m->installs.at[i],
			  "a later pip install could change packages that it was compiled against");
	for (size_t i = 0; i < e->after.n; i++)
		plan_need(m, &st, e->after.at[i], "it imports that extension");
	if (before)
		plan_need(m, &st, before, "the recipe's order");
	plan_need(m, &st, m->stack_end, "its stage starts from it");
	plan_input(m, &st, m->stack_end);
	fetch(m, &st, e);
	if (!wheel)
		compile(m, &st, e);
	plan_operation(m, &st, OP_WHEEL, NULL)->wheel.extension = e;
	list_push(m->a, &m->steps, st);
}

void
plan_extension_steps(struct maker *m)
{
	const struct stack_extensions *all = &m->s->extensions;

	for (size_t i = 0; i < all->n; i++)
		extension_step(m, &all->at[i], i ? m->steps.at[m->steps.n - 1].id : NULL);
}

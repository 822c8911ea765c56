#include "make.h"

/* Makes the steps up to the base of the extensions; each one starts from the previous one. */

/* Makes the step the next of the stack stage. */
static void
stand(struct maker *m, struct step *st)
{
	if (m->stack_end)
		plan_input(m, st, m->stack_end);
	m->stack_end = st->id;
	list_push(m->a, &m->steps, *st);
}

static void
base_step(struct maker *m)
{
	struct step st = plan_draft(m, STEP_BASE, "base", "stack", NULL);

	st.at = m->s->base.at;
	st.why = m->lock && m->lock->base.digest ? m->lock->base.name : m->s->base.value;
	stand(m, &st);
}

/* Returns a short description of the packages: "git and g++ before anything that compiles". */
static const char *
apt_why(struct maker *m)
{
	bool compiles = false, git = false;
	const char *why;

	list_each (p, &m->s->apt) {
		compiles |= !strcmp(p->value, "build-essential") || !strcmp(p->value, "gcc-c++");
		git |= !strcmp(p->value, "git");
	}
	why = compiles && git ? "git and compilers, before any compile" :
	      compiles        ? "compilers, before any compile" :
	      git             ? "git, before sources are fetched" :
				"before everything that uses them";
	return m->s->snapshot ?
		       arena_printf(m->a, "%s; from the archive as of %s", why, m->s->snapshot) :
		       why;
}

/* Installs CUDA by apt, from NVIDIA's own package source. */
static void
cuda_apt(struct maker *m, struct step *st)
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
	op->system.packages = names_split(
		m->a,
		arena_printf(m->a, "cuda-libraries-dev-%s cuda-nvcc-%s cuda-profiler-api-%s",
			     dashed, dashed, dashed),
		' ');
}

static void
apt_step(struct maker *m)
{
	const struct stack *s = m->s;
	struct step st = plan_draft(m, STEP_APT, "apt", "stack", NULL);
	struct operation *op;

	if (!s->apt.n)
		return;
	st.at = s->apt.at[0].at;
	st.why = apt_why(m);
	plan_need(m, &st, "base", "they are installed in this environment");
	op = plan_operation(m, &st, OP_SYSTEM, NULL);
	op->system.archive = s->dnf ? ARCHIVE_DNF : ARCHIVE_DISTRIBUTION;
	for (size_t i = 0; i < s->apt.n; i++) {
		list_push(m->a, &op->system.packages, s->apt.at[i].value);
		if (s->apt.at[i].at.line && !st.at.line)
			st.at = s->apt.at[i].at;
	}
	if (s->cuda_from == CUDA_APT)
		cuda_apt(m, &st);
	stand(m, &st);
}

/* --- Python --- */

static const char *
python_why(struct maker *m)
{
	const struct stack *s = m->s;
	const char *series = s->python.value, *own;

	own = s->image.python ? s->image.python : s->os ? s->os->python : NULL;
	switch (s->python_from) {
	case PYTHON_OS: return arena_printf(m->a, "%s, that of the operating system", series);
	case PYTHON_BASE:
		return series ? arena_printf(m->a, "%s, that of the base image", series) :
				"that of the base image";
	case PYTHON_DEADSNAKES:
		return arena_printf(m->a, "%s from the deadsnakes archive, as in the recipe",
				    series);
	default:
		return own && strcmp(own, series) != 0 ?
			       arena_printf(m->a, "%s (the base image has %s)", series, own) :
			       arena_printf(m->a, "%s (that of the base image is unknown)", series);
	}
}

static void
python_step(struct maker *m)
{
	const struct stack *s = m->s;
	struct step st = plan_draft(m, STEP_PYTHON, "python", "stack", NULL);
	const char *series = NULL; /* series of the interpreter; NULL: python3 */
	struct operation *op;

	st.at = s->python.at;
	st.why = python_why(m);
	plan_need(m, &st, "base", "it is installed in it");
	if (plan_has(m, "apt"))
		plan_need(m, &st, "apt",
			  m->s->python_from == PYTHON_BASE ? "system packages come first" :
							     "they contain its installer");
	if (s->python_from == PYTHON_DEADSNAKES) {
		series = s->python.value;
		op = plan_operation(m, &st, OP_SYSTEM, NULL);
		op->system.archive = ARCHIVE_DEADSNAKES;
		op->system.packages =
			names_split(m->a,
				    arena_printf(m->a, "python%s python%s-dev python%s-venv",
						 series, series, series),
				    ' ');
	}
	if (s->python_from == PYTHON_BASE)
		series = s->image.python;
	op = plan_operation(m, &st, OP_PYTHON, NULL);
	op->python.system = s->torch_base != NULL;
	if (s->python_from == PYTHON_UV || s->python_from == PYTHON_STANDALONE)
		op->python.build = s->python_build;
	else
		op->python.interpreter =
			series ? arena_printf(m->a, "python%s", series) : "python3";
	stand(m, &st);
}

/* --- torch --- */

/* Installs one requirement, or the step's packages, with pip under the constraints. */
static struct operation *
pip_install(struct maker *m, struct step *st, const char *why, const char *one,
	    const struct names *constraints, struct pip_index index)
{
	struct operation *op = plan_operation(m, st, OP_PACKAGES, why);

	op->packages.constrained = constraints->n > 0;
	op->packages.index = index;
	if (one)
		list_push(m->a, &op->packages.requirements, one);
	for (size_t i = 0; i < st->packages.n && !one; i++)
		list_push(m->a, &op->packages.requirements, st->packages.at[i].requirement);
	return op;
}

static void
cuda_links(struct maker *m, struct step *st)
{
	st->cuda_wheels = m->s->cuda_wheels.value;
	plan_helper(m, st, "cuda_links.py", false);
	plan_operation(m, st, OP_LINKS, "lib64 and lib*.so: the names that linkers look for")
		->links.cuda_home = m->cuda_home;
}

/* Uses the base image's torch, and installs only packages that the recipe lists next to it. */
static void
base_torch(struct maker *m, struct step *st)
{
	const struct stack *s = m->s;
	const struct step check = plan_draft(m, STEP_CHECK, st->id, st->stage, NULL);
	struct operation *op;

	st->cost_s = check.cost_s; /* nothing is downloaded */
	st->cost_source = check.cost_source;
	st->why = "that of the base image; pip keeps it";
	plan_helper(m, st, "keep_base.py", false);
	op = plan_operation(m, st, OP_KEEP,
			    "fails if the image has another torch; base.txt has the versions that "
			    "pip must keep");
	op->keep.torch = s->torch_base;
	op->keep.constraints = s->image.constraints;
	plan_constraints(m, st, &s->torch_constraints);
	op = s->torch_packages.n > 1 ? pip_install(m, st, NULL, s->torch_packages.at[1].requirement,
						   &s->torch_constraints, plan_index(m)) :
				       NULL;
	for (size_t i = 2; i < s->torch_packages.n; i++)
		list_push(m->a, &op->packages.requirements, s->torch_packages.at[i].requirement);
}

static void
torch_step(struct maker *m)
{
	const struct stack *s = m->s;
	const struct names *constraints = &s->torch_constraints;
	struct step st = plan_draft(m, STEP_TORCH, "torch", "stack", NULL);

	if (!s->torch.value)
		return;
	st.at = s->torch.at;
	st.index = s->torch_index.value;
	st.packages = s->torch_packages;
	st.why = st.index ? "own index; before packages that need it" :
			    "PyPI; before packages that need it";
	plan_need(m, &st, "python", "its pip installs it");
	if (plan_has(m, "apt"))
		plan_need(m, &st, "apt", "system packages come first: it may load their libraries");
	if (s->torch_base) {
		base_torch(m, &st);
		stand(m, &st);
		return;
	}
	if (m->lock) {
		plan_locked(m, &st, "torch");
		if (s->cuda_wheels.value)
			cuda_links(m, &st);
		stand(m, &st);
		return;
	}
	plan_constraints(m, &st, constraints);
	if (st.index && s->torch_packages.n > 1 && s->numpy.value) {
		st.numpy = s->numpy.value;
		pip_install(m, &st,
			    "numpy first: packages installed with torch would take any version",
			    st.numpy, constraints, plan_index(m));
	}
	if (st.index && s->torch_variant && s->torch_variant->cuda_bindings)
		pip_install(m, &st, "required by this build of torch; its index does not have it",
			    s->torch_variant->cuda_bindings, constraints, plan_index(m));
	pip_install(m, &st, NULL, NULL, constraints, (struct pip_index){ st.index, NULL });
	if (s->cuda_wheels.value) {
		pip_install(m, &st, "nvcc and its libraries, all of one version",
			    s->cuda_wheels.value, constraints, (struct pip_index){ 0 });
		cuda_links(m, &st);
	}
	stand(m, &st);
}

static void
build_deps_step(struct maker *m)
{
	const struct stack *s = m->s;
	struct step st = plan_draft(m, STEP_BUILD_DEPS, "build-deps", "stack", NULL);

	if (!s->build_deps.n)
		return;
	st.packages = s->build_deps;
	st.index = s->recipe->index.url.s;
	plan_need(m, &st, s->torch.value ? "torch" : "python",
		  s->torch.value ? "torch pins some of them" : "its pip installs them");
	st.why = "build isolation is off: builds use these";
	if (m->lock)
		plan_locked(m, &st, "build");
	else
		pip_install(m, &st, NULL, NULL, &s->torch_constraints, plan_index(m));
	stand(m, &st);
}

/* --- ordinary packages --- */

/* Adds a step of packages, which starts from the step before the first of them. */
static void
add_packages(struct maker *m, struct step *st, const char *before)
{
	if (m->packages_in_stack) {
		stand(m, st);
	} else {
		plan_input(m, st, before);
		list_push(m->a, &m->steps, *st);
	}
	list_push(m->a, &m->installs, st->id);
}

/* Adds the packages of one extra index, without their dependencies, which a later step installs. */
static void
extra_step(struct maker *m, size_t first, const char *before)
{
	const struct stack_packages *all = &m->s->packages;
	const struct names *constraints = &m->s->package_constraints;
	const struct pip_index index = { all->at[first].index, all->at[first].index_secret };
	struct step st = plan_draft(m, STEP_PACKAGES, plan_unique(m, "packages-extra"),
				    m->packages_in_stack ? "stack" : "final", NULL);

	st.at = all->at[first].at;
	st.index = index.url;
	st.why = "from a separate index";
	plan_constraints(m, &st, constraints);
	for (size_t i = first; i < all->n; i++)
		if (all->at[i].index && !strcmp(all->at[i].index, index.url))
			list_push(m->a, &st.packages, all->at[i]);
	pip_install(m, &st,
		    "--no-deps: the next step installs their dependencies from the main index",
		    NULL, constraints, index)
		->packages.no_deps = true;
	plan_need(m, &st, before, "later steps compile against these versions");
	add_packages(m, &st, before);
}

static void
main_step(struct maker *m, const char *before)
{
	const struct stack *s = m->s;
	struct step st = plan_draft(m, STEP_PACKAGES, "packages",
				    m->packages_in_stack ? "stack" : "final", NULL);
	bool torch = s->torch.value != NULL;

	st.at = s->packages.at[0].at;
	st.packages = s->packages;
	st.index = s->recipe->index.url.s;
	st.why = m->lock                 ? "the versions of the lock" :
		 torch && s->numpy.value ? "constraints keep torch and numpy" :
		 torch                   ? "constraints keep torch" :
					   "the recipe's packages";
	plan_need(m, &st, before,
		  s->build_deps.n ? "builds find their requirements unchanged" :
				    "it must stay as it was installed");
	for (size_t i = 0; i < m->installs.n; i++)
		plan_need(m, &st, m->installs.at[i], "installs the dependencies of its packages");
	for (size_t i = 0; i < st.needs.n && !m->packages_in_stack; i++)
		plan_input(m, &st, st.needs.at[i]);
	if (m->lock) {
		plan_locked(m, &st, "packages");
	} else {
		plan_constraints(m, &st, &s->package_constraints);
		pip_install(m, &st, NULL, NULL, &s->package_constraints, plan_index(m));
	}
	add_packages(m, &st, before);
}

static void
package_steps(struct maker *m)
{
	const struct stack_packages *all = &m->s->packages;
	const char *before = m->stack_end;

	if (!all->n)
		return;
	for (size_t i = 0; i < all->n && !m->lock; i++) {
		size_t k = 0;

		while (all->at[i].index && k < i &&
		       (!all->at[k].index || strcmp(all->at[k].index, all->at[i].index) != 0))
			k++;
		if (all->at[i].index && k == i)
			extra_step(m, i, before);
	}
	main_step(m, before);
}

/* --- the last steps: the check, and the application --- */

/*
 * Returns the capability that smoke.cu is compiled for. A GPU newer than the toolkit runs code for
 * the first GPU of its generation: an RTX 4090 (8.9) runs 8.0 if nvcc supports only 8.0 to 8.7.
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

/* Adds "nvcc -std=c++14 -gencode arch=compute_80,code=sm_80 -o smoke smoke.cu". */
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
	/* Its text contains the keys of all steps, and is set after them. */
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
	plan_need(m, &st, "check", "the checked stack must not depend on it");
	plan_input(m, &st, "check");
	if (m->lock && r->app.requirements.s) {
		plan_locked(m, &st, "app");
	} else if (r->app.requirements.s) {
		/* The packages step has already written them. */
		if (m->s->guards.n && !m->s->packages.n)
			plan_constraints(m, &st, &m->s->package_constraints);
		plan_helper(m, &st, "app_requirements.py", false);
		op = plan_operation(
			m, &st, OP_REQUIREMENTS,
			"every installed version is a constraint: pip cannot change the stack");
		op->requirements.files = r->app.files;
		op->requirements.locals = &r->app.locals;
		op->requirements.constrained = m->s->guards.n;
		op->requirements.index = plan_index(m);
		for (size_t i = 0; i < r->secrets.n; i++)
			list_push(m->a, &op->requirements.secrets, r->secrets.at[i].s);
	}
	op = plan_operation(m, &st, OP_APPLICATION, NULL);
	op->application.files = &r->app.copy;
	op->application.command = &r->app.command;
	op->application.entrypoint = &r->app.entrypoint;
	list_push(m->a, &m->steps, st);
}

void
plan_steps(struct maker *m)
{
	base_step(m);
	apt_step(m);
	python_step(m);
	torch_step(m);
	build_deps_step(m);
	package_steps(m);
	plan_extension_steps(m);
	check_step(m);
	app_step(m);
}

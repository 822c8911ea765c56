#include "make.h"

/* The stack up to what extensions are compiled against: each step stands on the one before. */

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
	st.why = m->s->base.value;
	stand(m, &st);
}

/* "git and g++ before anything that compiles": what the packages are for, in short. */
static const char *
apt_why(struct maker *m)
{
	bool compiles = false, git = false;

	for (size_t i = 0; i < m->s->apt.n; i++) {
		compiles |= !strcmp(m->s->apt.at[i].value, "build-essential");
		git |= !strcmp(m->s->apt.at[i].value, "git");
	}
	return compiles && git ? "git and a compiler before all compiling" :
	       compiles        ? "a compiler before all compiling" :
	       git             ? "git before all that comes from it" :
				 "the system before all that may use it";
}

static void
apt_get(struct maker *m, struct step *st, struct command c)
{
	plan_apt_caches(m, &c);
	plan_push(m, st, c);
}

static void
apt_step(struct maker *m)
{
	const struct stack *s = m->s;
	struct step st = plan_draft(m, STEP_APT, "apt", "stack", NULL);
	struct command c;

	if (!s->apt.n)
		return;
	st.at = s->apt.at[0].at;
	st.why = apt_why(m);
	plan_need(m, &st, "base", "they are installed in it");
	for (size_t i = 0; i < s->apt.n; i++) {
		list_push(m->a, &st.apt, s->apt.at[i].value);
		if (s->apt.at[i].at.line && !st.at.line)
			st.at = s->apt.at[i].at;
	}
	plan_push(m, &st,
		  plan_command(m, PHASE_INSTALL, "it would empty the cache that apt is given here",
			       "rm", "-f", "/etc/apt/apt.conf.d/docker-clean", NULL));
	apt_get(m, &st, plan_command(m, PHASE_INSTALL, NULL, "apt-get", "update", NULL));
	c = plan_command(m, PHASE_INSTALL, NULL, "apt-get", "install", "-y",
			 "--no-install-recommends", NULL);
	plan_env(m, &c, "DEBIAN_FRONTEND", "noninteractive", false);
	for (size_t i = 0; i < st.apt.n; i++)
		plan_verbatim(m, &c, st.apt.at[i]);
	apt_get(m, &st, c);
	if (s->cuda_from == CUDA_APT)
		plan_cuda_apt(m, &st);
	stand(m, &st);
}

/* --- Python --- */

static void
make_venv(struct maker *m, struct step *st, const char *python)
{
	plan_push(m, st,
		  plan_command(m, PHASE_INSTALL, NULL, python, "-m", "venv", "{venv}", NULL));
}

/* A build by URL and digest, below {prefix}. */
static void
python_by_digest(struct maker *m, struct step *st)
{
	const struct python_build *b = m->s->python_build;
	struct command c;

	plan_file(m, st, "{work}/python.sha256", NULL,
		  arena_printf(m->a, "%s  python.tar.gz\n", b->sha256));
	c = plan_command(m, PHASE_INSTALL, NULL, "curl", "-fsSL", "--retry", "3", "-o",
			 "python.tar.gz", NULL);
	plan_verbatim(m, &c, b->url);
	c.cwd = "{work}";
	plan_push(m, st, c);
	c = plan_command(m, PHASE_INSTALL, NULL, "sha256sum", "-c", "python.sha256", NULL);
	c.cwd = "{work}";
	plan_push(m, st, c);
	plan_push(m, st, plan_command(m, PHASE_INSTALL, NULL, "mkdir", "-p", "{prefix}", NULL));
	plan_push(m, st,
		  plan_command(m, PHASE_INSTALL, NULL, "tar", "-xzf", "{work}/python.tar.gz", "-C",
			       "{prefix}", "--strip-components", "1", NULL));
	make_venv(m, st, "{prefix}/bin/python3");
}

/* A pinned uv checks what it fetches against its own list. */
static void
python_by_uv(struct maker *m, struct step *st)
{
	const struct python_build *b = m->s->python_build;
	const char *request = b->version ? b->version : b->series;
	struct command c;

	plan_push(m, st,
		  plan_command(m, PHASE_INSTALL, "uv, for this step alone", "python3", "-m", "venv",
			       "{work}/uv", NULL));
	c = plan_command(m, PHASE_INSTALL, NULL, "{work}/uv/bin/python", "-m", "pip", "install",
			 NULL);
	plan_word(m, &c, arena_printf(m->a, "uv==%s", b->uv));
	plan_pip_cache(m, &c);
	plan_push(m, st, c);
	c = plan_command(m, PHASE_INSTALL, "it checks the digest of what it fetches",
			 "{work}/uv/bin/uv", "venv", "--no-project", "--allow-existing",
			 "--python-preference", "only-managed", "--python", NULL);
	plan_word(m, &c, request);
	plan_word(m, &c, "{venv}");
	plan_env(m, &c, "UV_PYTHON_INSTALL_DIR", "{prefix}", false);
	plan_push(m, st, c);
	plan_push(m, st,
		  plan_command(m, PHASE_INSTALL, "the pip that came with this Python", "{python}",
			       "-m", "ensurepip", NULL));
}

static void
python_from_deadsnakes(struct maker *m, struct step *st)
{
	const char *series = m->s->python.value;
	struct command c;

	plan_push(m, st,
		  plan_command(m, PHASE_INSTALL, NULL, "add-apt-repository", "-y",
			       "ppa:deadsnakes/ppa", NULL));
	apt_get(m, st, plan_command(m, PHASE_INSTALL, NULL, "apt-get", "update", NULL));
	c = plan_command(m, PHASE_INSTALL, NULL, "apt-get", "install", "-y",
			 "--no-install-recommends", NULL);
	plan_env(m, &c, "DEBIAN_FRONTEND", "noninteractive", false);
	plan_word(m, &c, arena_printf(m->a, "python%s", series));
	plan_word(m, &c, arena_printf(m->a, "python%s-dev", series));
	plan_word(m, &c, arena_printf(m->a, "python%s-venv", series));
	apt_get(m, st, c);
	make_venv(m, st, arena_printf(m->a, "python%s", series));
}

static const char *
python_why(struct maker *m)
{
	const struct stack *s = m->s;
	const char *series = s->python.value, *own;

	own = s->image.python ? s->image.python : s->os ? s->os->python : NULL;
	switch (s->python_from) {
	case PYTHON_OS: return arena_printf(m->a, "%s is the system's own", series);
	case PYTHON_BASE:
		return series ? arena_printf(m->a, "%s is in the base image", series) :
				"the base image's own";
	case PYTHON_DEADSNAKES:
		return arena_printf(m->a, "%s from deadsnakes, as the recipe asks", series);
	default:
		return own && strcmp(own, series) != 0 ?
			       arena_printf(m->a, "%s: the base has %s", series, own) :
			       arena_printf(m->a, "%s: the base has none that is known", series);
	}
}

static void
python_step(struct maker *m)
{
	const struct stack *s = m->s;
	struct step st = plan_draft(m, STEP_PYTHON, "python", "stack", NULL);

	st.at = s->python.at;
	st.why = python_why(m);
	plan_need(m, &st, "base", "it is installed in it");
	if (plan_has(m, "apt"))
		plan_need(m, &st, "apt",
			  m->s->python_from == PYTHON_BASE ? "the system comes first" :
							     "what brings it is among them");
	switch (s->python_from) {
	case PYTHON_OS: make_venv(m, &st, "python3"); break;
	case PYTHON_BASE:
		make_venv(m, &st,
			  s->image.python ? arena_printf(m->a, "python%s", s->image.python) :
					    "python3");
		break;
	case PYTHON_DEADSNAKES: python_from_deadsnakes(m, &st); break;
	case PYTHON_UV: python_by_uv(m, &st); break;
	default:
		if (s->python_build->sha256)
			python_by_digest(m, &st);
		else
			python_by_uv(m, &st);
	}
	stand(m, &st);
}

/* --- torch --- */

static struct command
pip_install(struct maker *m, const char *comment, const struct names *constraints)
{
	struct command c =
		plan_command(m, PHASE_INSTALL, comment, "{python}", "-m", "pip", "install", NULL);

	if (constraints->n)
		plan_words(m, &c, "-c", CONSTRAINTS, NULL);
	plan_pip_cache(m, &c);
	return c;
}

static void
cuda_wheels(struct maker *m, struct step *st)
{
	struct command c = pip_install(m, "nvcc and what it needs, all of one version",
				       &m->s->torch_constraints);

	st->cuda_wheels = m->s->cuda_wheels.value;
	plan_word(m, &c, st->cuda_wheels);
	plan_push(m, st, c);
	plan_file(m, st, "{share}/cuda_links.py", "cuda_links.py", NULL);
	plan_push(m, st,
		  plan_command(m, PHASE_INSTALL, "lib64 and lib*.so, which linkers ask for",
			       "{python}", "{share}/cuda_links.py", m->cuda_home, NULL));
}

static void
torch_step(struct maker *m)
{
	const struct stack *s = m->s;
	struct step st = plan_draft(m, STEP_TORCH, "torch", "stack", NULL);
	struct command c;

	if (!s->torch.value)
		return;
	st.at = s->torch.at;
	st.index = s->torch_index.value;
	st.packages = s->torch_packages;
	st.why = arena_printf(m->a, "%s; the rest is built against it",
			      st.index ? "own index" : "PyPI's build");
	plan_need(m, &st, "python", "it is installed by its pip");
	if (plan_has(m, "apt"))
		plan_need(m, &st, "apt", "the system comes first: it may load what lies there");
	plan_constraints(m, &st, &s->torch_constraints);
	if (st.index && s->torch_packages.n > 1 && s->numpy.value) {
		st.numpy = s->numpy.value;
		c = pip_install(m, "before torch's companions, which take any numpy",
				&s->torch_constraints);
		plan_index(m, &c, s->recipe->index.url.s, s->recipe->index.secret.s);
		plan_verbatim(m, &c, st.numpy);
		plan_push(m, &st, c);
	}
	if (st.index && s->torch_variant && s->torch_variant->cuda_bindings) {
		c = pip_install(m, "what this build needs, and its own index does not have",
				&s->torch_constraints);
		plan_index(m, &c, s->recipe->index.url.s, s->recipe->index.secret.s);
		plan_verbatim(m, &c, s->torch_variant->cuda_bindings);
		plan_push(m, &st, c);
	}
	c = pip_install(m, NULL, &s->torch_constraints);
	plan_index(m, &c, st.index, NULL);
	for (size_t i = 0; i < st.packages.n; i++)
		plan_verbatim(m, &c, st.packages.at[i].requirement);
	plan_push(m, &st, c);
	if (s->cuda_wheels.value)
		cuda_wheels(m, &st);
	stand(m, &st);
}

static void
build_deps_step(struct maker *m)
{
	const struct stack *s = m->s;
	struct step st = plan_draft(m, STEP_BUILD_DEPS, "build-deps", "stack", NULL);
	struct command c = pip_install(m, NULL, &s->torch_constraints);
	bool compiles = false, arch = false;

	if (!s->build_deps.n)
		return;
	st.packages = s->build_deps;
	st.index = s->recipe->index.url.s;
	st.index_secret = s->recipe->index.secret.s;
	plan_need(m, &st, s->torch.value ? "torch" : "python",
		  s->torch.value ? "torch pins some of them" : "they are installed by its pip");
	plan_index(m, &c, st.index, st.index_secret);
	for (size_t i = 0; i < st.packages.n; i++)
		plan_verbatim(m, &c, st.packages.at[i].requirement);
	st.why = "no build isolation: builds find these";
	for (size_t i = 0; i < s->extensions.n; i++) {
		arch |= s->extensions.at[i].nvcc_env != NULL;
		compiles |= s->extensions.at[i].source != SOURCE_WHEEL;
	}
	if (compiles)
		plan_file(m, &st, "{share}/compile.py", "compile.py", NULL);
	if (arch)
		plan_program(m, &st, "nvcc-arch");
	plan_push(m, &st, c);
	stand(m, &st);
}

void
plan_stack_steps(struct maker *m)
{
	base_step(m);
	apt_step(m);
	python_step(m);
	torch_step(m);
	build_deps_step(m);
}

/* --- ordinary packages --- */

/* Those of one extra index, without what they need: that comes with the rest. */
static void
extra_step(struct maker *m, size_t first, const char *before)
{
	const struct stack_packages *all = &m->s->packages;
	const char *index = all->at[first].index;
	struct step st = plan_draft(m, STEP_PACKAGES, plan_unique(m, "packages-extra"),
				    m->packages_in_stack ? "stack" : "final", NULL);
	struct command c = pip_install(m,
				       "from the one index that has them; what they need comes "
				       "in the next step",
				       &m->s->package_constraints);

	st.at = all->at[first].at;
	st.index = index;
	st.index_secret = all->at[first].index_secret;
	st.no_deps = true;
	st.why = "an index of its own, for these alone";
	plan_word(m, &c, "--no-deps");
	plan_index(m, &c, index, st.index_secret);
	for (size_t i = first; i < all->n; i++) {
		if (!all->at[i].index || strcmp(all->at[i].index, index) != 0)
			continue;
		list_push(m->a, &st.packages, all->at[i]);
		plan_verbatim(m, &c, all->at[i].requirement);
	}
	plan_constraints(m, &st, &m->s->package_constraints);
	plan_need(m, &st, before, "what is compiled against must not be moved");
	plan_push(m, &st, c);
	if (m->packages_in_stack)
		stand(m, &st);
	else {
		plan_input(m, &st, before);
		list_push(m->a, &m->steps, st);
	}
	list_push(m->a, &m->installs, st.id);
}

static void
main_step(struct maker *m, const char *before)
{
	const struct stack *s = m->s;
	struct step st = plan_draft(m, STEP_PACKAGES, "packages",
				    m->packages_in_stack ? "stack" : "final", NULL);
	struct command c = pip_install(m, NULL, &s->package_constraints);
	bool torch = s->torch.value != NULL;

	st.at = s->packages.at[0].at;
	st.packages = s->packages;
	st.index = s->recipe->index.url.s;
	st.index_secret = s->recipe->index.secret.s;
	st.why = torch && s->numpy.value ? "constrained: torch and numpy stay put" :
		 torch                   ? "constrained: torch stays put" :
					   "what the recipe lists";
	plan_need(m, &st, before,
		  s->build_deps.n ? "builds find their requirements untouched" :
				    "it must stay as it was installed");
	if (!m->packages_in_stack)
		plan_input(m, &st, before);
	for (size_t i = 0; i < m->installs.n; i++) {
		plan_need(m, &st, m->installs.at[i], "its packages are there; theirs are missing");
		if (!m->packages_in_stack)
			plan_input(m, &st, m->installs.at[i]);
	}
	plan_constraints(m, &st, &s->package_constraints);
	plan_index(m, &c, st.index, st.index_secret);
	for (size_t i = 0; i < st.packages.n; i++)
		plan_verbatim(m, &c, st.packages.at[i].requirement);
	plan_push(m, &st, c);
	if (m->packages_in_stack)
		stand(m, &st);
	else
		list_push(m->a, &m->steps, st);
	list_push(m->a, &m->installs, st.id);
}

void
plan_package_steps(struct maker *m)
{
	const struct stack_packages *all = &m->s->packages;
	const char *before = m->stack_end;

	if (!all->n)
		return;
	for (size_t i = 0; i < all->n; i++) {
		size_t k = 0;

		while (all->at[i].index && k < i &&
		       (!all->at[k].index || strcmp(all->at[k].index, all->at[i].index) != 0))
			k++;
		if (all->at[i].index && k == i)
			extra_step(m, i, before);
	}
	main_step(m, before);
}

#include "make.h"

/*
 * One step an extension: fetched and compiled in a stage of its own, which stands on what
 * it is compiled against, and installed in the final one.
 */

static const struct recipe_index *
private_index(const struct maker *m)
{
	return &m->s->recipe->index;
}

static void
compile_env(struct maker *m, struct command *c, const struct stack_extension *e)
{
	const struct stack *s = m->s;
	const struct variable defaults[] = {
		{ "CC", s->cc, true },
		{ "CXX", s->cxx, true },
		{ "AR", "ar", true },
		{ "CUDA_HOME", m->cuda_home, false },
	};

	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
		bool given = !defaults[i].value;

		for (size_t k = 0; k < e->env.n; k++)
			given |= !strcmp(e->env.at[k].name.s, defaults[i].name);
		if (!given)
			list_push(m->a, &c->env, defaults[i]);
	}
	for (size_t i = 0; i < e->env.n; i++)
		plan_env(m, c, e->env.at[i].name.s, e->env.at[i].value.s, true);
}

static bool
is_commit(const char *ref)
{
	return strlen(ref) == 40 && strspn(ref, "0123456789abcdefABCDEF") == 40;
}

static void
fetch_git(struct maker *m, struct step *st, const struct stack_extension *e)
{
	/* A tag is fetched under its name: what reads versions from git finds it. */
	const char *ref = is_commit(e->ref) ?
				  e->ref :
				  arena_printf(m->a, "refs/tags/%s:refs/tags/%s", e->ref, e->ref);
	struct command c;

	plan_push(m, st, plan_command(m, PHASE_FETCH, NULL, "git", "init", "-q", "{src}", NULL));
	c = plan_command(m, PHASE_FETCH, NULL, "git", "-C", "{src}", "fetch", "-q", "--depth", "1",
			 NULL);
	plan_verbatim(m, &c, e->url);
	plan_verbatim(m, &c, ref);
	plan_push(m, st, c);
	plan_push(m, st,
		  plan_command(m, PHASE_FETCH, NULL, "git", "-C", "{src}", "checkout", "-q",
			       "--detach", "FETCH_HEAD", NULL));
	if (e->submodules)
		plan_push(m, st,
			  plan_command(m, PHASE_FETCH, NULL, "git", "-C", "{src}", "submodule",
				       "update", "-q", "--init", "--recursive", "--depth", "1",
				       NULL));
}

/* A file by URL: pip compares it with the digest in the fragment. */
static const char *
url_with_digest(struct maker *m, const struct stack_extension *e)
{
	return e->sha256 ? arena_printf(m->a, "%s#sha256=%s", e->url, e->sha256) : e->url;
}

static void
fetch_archive(struct maker *m, struct step *st, const struct stack_extension *e)
{
	bool wheel = e->source == SOURCE_WHEEL;
	struct command c = plan_command(m, PHASE_FETCH, NULL, "{python}", "-m", "pip", "download",
					"--no-deps", NULL);

	if (!wheel) {
		/* Reading an sdist's metadata runs its setup.py, which imports torch. */
		plan_words(m, &c, "--no-build-isolation", "--no-binary", ":all:", NULL);
		compile_env(m, &c, e);
	}
	plan_words(m, &c, "-d", wheel ? "{wheels}" : "{src}", NULL);
	if (e->source == SOURCE_SDIST)
		plan_index(m, &c, private_index(m)->url.s, private_index(m)->secret.s);
	plan_verbatim(m, &c, e->source == SOURCE_SDIST ? e->requirement : url_with_digest(m, e));
	plan_pip_cache(m, &c);
	plan_push(m, st, c);
}

/* nvcc-arch in front of nvcc, and the stack's GPUs as it reads them: "80 90a". */
static void
nvcc_env(struct maker *m, struct command *c, const struct stack_extension *e)
{
	struct buf b = BUF(m->a);

	for (size_t i = 0; i < m->s->archs.n; i++)
		buf_printf(&b, "%s%s", i ? " " : "",
			   capability_nvcc(m->a, m->s->archs.at[i].value));
	plan_env(m, c, e->nvcc_env, "{share}/nvcc-arch", false);
	plan_env(m, c, "STACKBUILD_ARCHS", buf_text(&b), false);
}

static unsigned
job_mib(const struct stack_extension *e)
{
	return e->mem_mib_per_job ? e->mem_mib_per_job : 2048;
}

static void
launch_word(struct maker *m, struct command *c, const char *word)
{
	list_push(m->a, &c->launcher, (struct word){ word, false });
}

/*
 * compile.py counts jobs, and nvcc's threads where the package asks for some: one for each of
 * the GPUs that it is compiled for.  Others may compile beside it.
 */
static void
launch(struct maker *m, struct command *c, const struct stack_extension *e)
{
	const struct stack_extensions *all = &m->s->extensions;
	size_t archs = e->nvcc_env || !e->build || !e->build->archs.n || e->build->arch_env ?
			       m->s->archs.n :
			       e->build->archs.n;

	launch_word(m, c, "{python}");
	launch_word(m, c, "{share}/compile.py");
	launch_word(m, c, e->name);
	if (e->version)
		launch_word(m, c, arena_printf(m->a, "--version=%s", e->version));
	launch_word(m, c, arena_printf(m->a, "--memory=%u", job_mib(e)));
	if (e->known && e->known->nvcc_threads > 1 && archs > 1)
		launch_word(m, c, arena_printf(m->a, "--threads=%u", e->known->nvcc_threads));
	if (archs > 1)
		launch_word(m, c, arena_printf(m->a, "--archs=%zu", archs));
	for (size_t i = 0; i < all->n; i++)
		if (&all->at[i] != e && all->at[i].source != SOURCE_WHEEL)
			launch_word(m, c,
				    arena_printf(m->a, "--beside=%s=%u", all->at[i].name,
						 job_mib(&all->at[i])));
	launch_word(m, c, "--");
	plan_cache(m, c, "stackbuild", "/run/stackbuild", false);
}

static void
build(struct maker *m, struct step *st, const struct stack_extension *e)
{
	struct command c = plan_command(m, PHASE_BUILD,
					"no cache: pip would return a wheel built for other GPUs",
					"{python}", "-m", "pip", "wheel", "--no-build-isolation",
					"--no-deps", "--no-cache-dir", NULL);

	if (e->source != SOURCE_GIT)
		plan_words(m, &c, "--no-index", "--find-links", "{src}", "--no-binary",
			   ":all:", NULL);
	plan_words(m, &c, "-w", "{wheels}", NULL);
	if (e->source == SOURCE_GIT)
		plan_word(m, &c,
			  e->subdirectory ? arena_printf(m->a, "{src}/%s", e->subdirectory) :
					    "{src}");
	else
		plan_verbatim(m, &c, e->requirement);
	compile_env(m, &c, e);
	if (e->nvcc_env)
		nvcc_env(m, &c, e);
	c.jobs = true;
	for (size_t i = 0; i < c.env.n; i++)
		c.jobs &= strcmp(c.env.at[i].name, "MAX_JOBS") != 0;
	launch(m, &c, e);
	plan_push(m, st, c);
}

static void
commands(struct maker *m, struct step *st, const struct stack_extension *e)
{
	struct command c;

	if (e->source == SOURCE_GIT)
		fetch_git(m, st, e);
	else
		fetch_archive(m, st, e);
	if (e->source != SOURCE_WHEEL)
		build(m, st, e);
	c = plan_command(m, PHASE_INSTALL, NULL, "{python}", "-m", "pip", "install", "--no-deps",
			 "--no-index", "--find-links", "{wheels}", NULL);
	plan_word(m, &c, e->name);
	plan_push(m, st, c);
}

static const char *
why(struct maker *m, const struct stack_extension *e)
{
	if (e->source == SOURCE_WHEEL)
		return "a wheel for this torch: nothing to compile";
	if (!e->known && m->packages_in_stack)
		return "not known: compiled above all of packages";
	if (!m->s->packages.n)
		return "against torch, as it is built";
	if (m->packages_in_stack)
		return "an edit of packages recompiles it";
	return "an edit of packages does not recompile it";
}

static void
extension_step(struct maker *m, const struct stack_extension *e, const char *before)
{
	const char *id = plan_unique(m, e->name);
	bool wheel = e->source == SOURCE_WHEEL;
	struct step st =
		plan_draft(m, STEP_EXTENSION, id, arena_printf(m->a, "ext-%s", id), e->name);

	if (wheel) { /* costs what a small install costs */
		struct step deps = plan_draft(m, STEP_BUILD_DEPS, id, st.stage, NULL);

		st.cost_s = deps.cost_s;
		st.cost_source = deps.cost_source;
	}
	st.extension = e;
	st.at = e->at;
	st.why = why(m, e);
	if (m->s->torch.value)
		plan_need(m, &st, "torch",
			  wheel ? "it was made for it" : "it is compiled against it");
	if (plan_has(m, "build-deps"))
		plan_need(m, &st, "build-deps", "its build finds nothing else");
	for (size_t i = 0; i < m->installs.n; i++)
		plan_need(m, &st, m->installs.at[i],
			  "what pip installs later might move what it was compiled against");
	for (size_t i = 0; i < e->after.n; i++)
		plan_need(m, &st, e->after.at[i], "it uses it");
	if (before)
		plan_need(m, &st, before, "the recipe's order");
	plan_need(m, &st, m->stack_end, "its stage stands on it");
	plan_input(m, &st, m->stack_end);
	commands(m, &st, e);
	list_push(m->a, &m->steps, st);
}

void
plan_extension_steps(struct maker *m)
{
	const struct stack_extensions *all = &m->s->extensions;

	for (size_t i = 0; i < all->n; i++)
		extension_step(m, &all->at[i], i ? m->steps.at[m->steps.n - 1].id : NULL);
}

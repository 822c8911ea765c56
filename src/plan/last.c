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
	struct command c =
		plan_command(m, PHASE_INSTALL, "compiles here, so that what remains is to run it",
			     m->nvcc, "-std=c++14", NULL);

	plan_file(m, st, "{share}/smoke.cu", "smoke.cu", NULL);
	if (strcmp(s->cxx, "g++") != 0) {
		plan_word(m, &c, "-ccbin");
		plan_verbatim(m, &c, s->cxx);
	}
	for (size_t i = 0; i < s->archs.n; i++) {
		const char *cc = known_to_nvcc(s->toolkit, s->archs.at[i].value);
		const char *number = capability_nvcc(m->a, cc);
		size_t k = 0;

		while (k < i && strcmp(known_to_nvcc(s->toolkit, s->archs.at[k].value), cc) != 0)
			k++;
		if (k < i)
			continue;
		plan_word(m, &c, "-gencode");
		plan_word(m, &c, arena_printf(m->a, "arch=compute_%s,code=sm_%s", number, number));
	}
	plan_words(m, &c, "-o", "{share}/smoke", "{share}/smoke.cu", NULL);
	plan_push(m, st, c);
}

static void
check_step(struct maker *m)
{
	struct step st = plan_draft(m, STEP_CHECK, "check", "final", NULL);
	size_t before = m->steps.n;

	st.why = m->nvcc ? "installed = planned; smoke.cu compiles" : "installed = planned";
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
	plan_file(m, &st, "{share}/probe.py", "probe.py", NULL);
	plan_push(m, &st,
		  plan_command(m, PHASE_INSTALL, "what is installed against what was planned",
			       "{python}", "{share}/probe.py", "{share}/plan.json", NULL));
	list_push(m->a, &m->steps, st);
}

static void
app_step(struct maker *m)
{
	const struct recipe *r = m->s->recipe;
	struct step st = plan_draft(m, STEP_APP, "app", "final", NULL);
	struct command c;

	if (!r->app.at.line)
		return;
	st.at = r->app.at;
	st.why = "changes most, so last";
	plan_need(m, &st, "check", "what was proven must not depend on it");
	plan_input(m, &st, "check");
	if (r->app.requirements.s) {
		c = plan_command(m, PHASE_INSTALL, "under what the stack has pinned", "{python}",
				 "-m", "pip", "install", NULL);
		plan_constraints(m, &st, &m->s->constraints);
		if (m->s->constraints.n)
			plan_words(m, &c, "-c", CONSTRAINTS, NULL);
		plan_index(m, &c, r->index.url.s, r->index.secret.s);
		plan_word(m, &c, "-r");
		plan_verbatim(m, &c, r->app.requirements.s);
		plan_pip_cache(m, &c);
		for (size_t i = 0; i < r->secrets.n; i++)
			list_push(m->a, &c.mounts,
				  (struct mount){
					  MOUNT_SECRET, r->secrets.at[i].s,
					  arena_printf(m->a, "/run/secrets/%s", r->secrets.at[i].s),
					  false });
		c.cwd = "{app}";
		plan_push(m, &st, c);
	}
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
	struct buf os = BUF(m->a);
	struct command c;

	for (; *id; id++)
		if (*id != '.')
			buf_putc(&os, *id);
	c = plan_command(m, PHASE_INSTALL, "NVIDIA's package source", "curl", "-fsSL", "--retry",
			 "3", "-o", "{work}/cuda-keyring.deb", NULL);
	plan_word(m, &c,
		  arena_printf(m->a,
			       "https://developer.download.nvidia.com/compute/cuda/repos/%s/%s/"
			       "cuda-keyring_1.1-1_all.deb",
			       buf_text(&os),
			       starts_with(m->s->platform, "linux/arm64") ? "sbsa" : "x86_64"));
	plan_push(m, st, c);
	plan_push(m, st,
		  plan_command(m, PHASE_INSTALL, NULL, "dpkg", "-i", "{work}/cuda-keyring.deb",
			       NULL));
	c = plan_command(m, PHASE_INSTALL, NULL, "apt-get", "update", NULL);
	plan_apt_caches(m, &c);
	plan_push(m, st, c);
	c = plan_command(m, PHASE_INSTALL, "nvcc and what torch's headers include", "apt-get",
			 "install", "-y", "--no-install-recommends", NULL);
	plan_word(m, &c, arena_printf(m->a, "cuda-libraries-dev-%s", dashed));
	plan_word(m, &c, arena_printf(m->a, "cuda-nvcc-%s", dashed));
	plan_word(m, &c, arena_printf(m->a, "cuda-profiler-api-%s", dashed));
	plan_env(m, &c, "DEBIAN_FRONTEND", "noninteractive", false);
	plan_apt_caches(m, &c);
	plan_push(m, st, c);
}

#include <stdlib.h>

#include "internal.h"

/* The system: its compiler and nvcc, its C library and torch's wheels, its own Python. */

static const struct os_release *
os_of(struct workspace *w, unsigned variable, size_t candidate)
{
	return variable_at(w, variable)->c[candidate].entry;
}

/* The compiler of the host, with `from: host`, is not the image's. */
static bool
gcc_counts(const struct workspace *w)
{
	static const char *const flags[] = { "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS" };

	for (size_t i = 0; i < 2; i++) {
		const char *set = env_value(w, flags[i]);

		if (set && strstr(set, "-allow-unsupported-compiler"))
			return false;
	}
	return w->compiles && w->r->cuda_from != CUDA_HOST;
}

static bool
nvcc_takes(const struct cuda_toolkit *t, unsigned long gcc)
{
	return !t || ((!t->gcc_max || gcc <= t->gcc_max) && (!t->gcc_min || gcc >= t->gcc_min));
}

/* From the system's side: one sentence then names it, its gcc and the CUDA that takes that. */
void
constraint_os_gcc(struct query *q)
{
	struct workspace *w = q->w;
	const struct os_release *os = os_of(w, q->variable, q->candidate);
	unsigned cuda = variable_get(w, VARIABLE_CUDA, "cuda");
	const struct solver_variable *t = variable_at(w, cuda);
	const struct cuda_toolkit *first = NULL;
	solve_word *set = set_none(w, cuda);
	unsigned long gcc;

	if (!os || !os->gcc || w->gcc || !gcc_counts(w))
		return;
	gcc = strtoul(os->gcc, NULL, 10);
	for (size_t i = 0; i < t->n; i++) {
		const struct cuda_toolkit *c = t->c[i].entry;

		if (!nvcc_takes(c, gcc))
			continue;
		solve_set_add(set, i);
		if (c)
			first = c;
	}
	add_allows(q, cuda, set, first ? first->source : os->source,
		   "%s compiles with gcc %s, which nvcc takes from CUDA %s on", os->id, os->gcc,
		   first ? version_series(w->a, first->version) : "of no release");
}

void
constraint_cuda_gcc(struct query *q)
{
	struct workspace *w = q->w;
	const struct cuda_toolkit *t = variable_at(w, q->variable)->c[q->candidate].entry;
	struct solve_term term = term_is(w, q->variable, q->candidate);

	if (w->gcc && gcc_counts(w) && !nvcc_takes(t, w->gcc))
		add_conflict(
			q, &term, 1, t->source,
			"env: names gcc %u as compiler, and nvcc of CUDA %s takes gcc %u to %u",
			w->gcc, t->version, t->gcc_min, t->gcc_max);
}

/* --- torch's own table of compilers --- */

static bool
gcc_in(struct workspace *w, const char *gcc, const char *spec)
{
	const struct version *v = version_parse(w->a, gcc);
	const struct specifiers *s = specifiers_parse(w->a, spec);

	return !v || !s || specifiers_match(s, v, PRE_YES);
}

/* Systems whose compiler torch refuses; all of them if the recipe names such a one. */
static solve_word *
refused(struct workspace *w, unsigned os, const char *spec, struct names *whose)
{
	const struct solver_variable *t = variable_at(w, os);
	solve_word *set = set_none(w, os);

	for (size_t i = 0; i < t->n; i++) {
		const struct os_release *r = t->c[i].entry;
		const char *gcc = w->gcc ? arena_printf(w->a, "%u", w->gcc) : r ? r->gcc : NULL;

		if (!gcc || gcc_in(w, gcc, spec))
			continue;
		solve_set_add(set, i);
		if (!w->gcc)
			list_push(w->a, whose, arena_printf(w->a, "%s has %s", r->id, gcc));
	}
	if (w->gcc)
		list_push(w->a, whose, arena_printf(w->a, "env: names gcc %u", w->gcc));
	return set;
}

static bool
torch_looks(const struct workspace *w)
{
	static const char *const off[] = { "ON", "1", "YES", "TRUE", "Y" };
	const char *set = env_value(w, "TORCH_DONT_CHECK_COMPILER_ABI");

	for (size_t i = 0; set && i < sizeof(off) / sizeof(off[0]); i++)
		if (!strcmp(set, off[i]))
			return false;
	return w->compiles && w->r->cuda_from != CUDA_HOST;
}

void
constraint_torch_gcc(struct query *q)
{
	struct workspace *w = q->w;
	const struct torch_release *t = variable_at(w, q->variable)->c[q->candidate].entry;
	unsigned cuda = variable_get(w, VARIABLE_CUDA, "cuda"),
		 os = variable_get(w, VARIABLE_OS, "os");
	struct torch_compilers table = { 0 };

	if (t && torch_looks(w))
		table = facts_torch_compilers(w->f, t->version);
	for (size_t i = 0; i < table.n; i++) {
		const struct torch_compiler *row = &table.at[i];
		struct solve_term terms[3] = { term_is(w, q->variable, q->candidate) };
		struct names whose = { 0 };

		terms[1] = (struct solve_term){ .variable = cuda,
						.set = set_cuda(w, cuda, row->cuda) };
		terms[2] = (struct solve_term){ .variable = os,
						.set = refused(w, os, row->gcc, &whose) };
		if (!solve_set_count(terms[1].set, variable_at(w, cuda)->n) ||
		    !solve_set_count(terms[2].set, variable_at(w, os)->n))
			continue;
		add_conflict(q, terms, 3, row->source, "torch %s with CUDA %s wants gcc %s; %s",
			     t->version, row->cuda, spec_label(w->a, row->gcc),
			     names_words(w->a, &whose, "and"));
	}
}

/* --- the C library --- */

/* "ubuntu18.04 has 2.27": those that are too old. */
static const char *
too_old(struct workspace *w, unsigned os, const char *glibc, solve_word *enough)
{
	const struct solver_variable *t = variable_at(w, os);
	struct names old = { 0 };

	for (size_t i = 0; i < t->n; i++) {
		const struct os_release *r = t->c[i].entry;

		if (!r || !r->glibc || text_version_order(w, r->glibc, glibc) >= 0)
			solve_set_add(enough, i);
		else
			list_push(w->a, &old, arena_printf(w->a, "%s has %s", r->id, r->glibc));
	}
	return names_words(w->a, &old, "and");
}

void
constraint_torch_glibc(struct query *q)
{
	struct workspace *w = q->w;
	const struct torch_release *t = variable_at(w, q->variable)->c[q->candidate].entry;
	unsigned build = variable_get(w, VARIABLE_BUILD, "torch build"),
		 os = variable_get(w, VARIABLE_OS, "os");

	for (size_t i = 0; t && i < t->nvariants; i++) {
		const struct torch_variant *v = &t->variants[i];
		solve_word *enough = set_none(w, os);
		struct names tags = { 0 };
		struct solve_term terms[3];
		const char *old;
		bool seen = !v->glibc_min;

		for (size_t k = 0; k < t->nvariants && !seen; k++) {
			if (!t->variants[k].glibc_min ||
			    strcmp(t->variants[k].glibc_min, v->glibc_min) != 0)
				continue;
			seen = k < i;
			list_push(w->a, &tags, t->variants[k].tag);
		}
		if (seen)
			continue;
		old = too_old(w, os, v->glibc_min, enough);
		if (!*old)
			continue;
		terms[0] = term_is(w, q->variable, q->candidate);
		terms[1] = (struct solve_term){
			.variable = os, .set = solve_set_not(w->a, enough, variable_at(w, os)->n)
		};
		terms[2] = (struct solve_term){ .variable = build,
						.set = set_named(w, build, &tags, false) };
		add_conflict(q, terms, tags.n < t->nvariants ? 3 : 2, v->source,
			     "torch %s runs on glibc %s or newer; %s", t->version, v->glibc_min,
			     old);
	}
}

/* --- what guides --- */

/* An image that is chosen here has apt. */
void
constraint_os_apt(struct query *q)
{
	const char *id = variable_at(q->w, q->variable)->c[q->candidate].text;
	struct solve_term term = term_is(q->w, q->variable, q->candidate);

	if (!q->w->r->base.s && !starts_with(id, "ubuntu") && !starts_with(id, "debian"))
		add_conflict(q, &term, 1, NULL, "%s has no apt", id);
}

/* A system's own Python before one that is brought. */
void
constraint_os_python(struct query *q)
{
	struct workspace *w = q->w;
	const struct os_release *os = os_of(w, q->variable, q->candidate);
	unsigned python = variable_get(w, VARIABLE_PYTHON, "python");
	struct names own = { 0 };

	if (!os || !os->python || w->r->python.s || w->r->python_from == PYTHON_BASE ||
	    (w->r->python_from != PYTHON_OS &&
	     text_version_order(w, os->python, PYTHON_OLDEST) < 0))
		return;
	list_push(w->a, &own, os->python);
	add_allows(q, python, set_named(w, python, &own, false), os->source, "%s has Python %s",
		   os->id, os->python);
}

/* A system that has the Python which is asked for. */
void
constraint_python_os(struct query *q)
{
	struct workspace *w = q->w;
	const char *series = variable_at(w, q->variable)->c[q->candidate].text;
	unsigned os = variable_get(w, VARIABLE_OS, "os");
	const struct solver_variable *t = variable_at(w, os);
	solve_word *set = set_none(w, os);

	if (w->r->base.s || !w->r->python.s || strcmp(w->r->python.s, series) != 0)
		return;
	for (size_t i = 0; i < t->n; i++) {
		const struct os_release *r = t->c[i].entry;

		if (r && r->python && !strcmp(r->python, series))
			solve_set_add(set, i);
	}
	if (solve_set_count(set, t->n))
		add_allows(q, os, set, NULL, "the system's own Python is %s", series);
}

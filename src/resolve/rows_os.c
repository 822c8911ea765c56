#include <stdlib.h>

#include "internal.h"

/* The system: its compiler and nvcc, its C library and torch's wheels, its own Python. */

/* --- its contents --- */

/* With `from: host`, the compiler is the one of the recipe's system; without a system, it is
 * unknown. */
void
constraint_os_gcc(struct query *q, struct workspace *w)
{
	const struct os_release *os = ENTRY(q);
	unsigned gcc = the_variable(w, VARIABLE_GCC);

	if (os && os->gcc && !w->gcc && (w->r->cuda_from != CUDA_HOST || w->image.os))
		add_requires(q, gcc, set_text(w, gcc, os->gcc), os->source,
			     "the compiler of %s is gcc %s", os->id, os->gcc);
}

void
constraint_os_glibc(struct query *q, struct workspace *w)
{
	const struct os_release *os = ENTRY(q);
	unsigned glibc = the_variable(w, VARIABLE_GLIBC);

	if (os && os->glibc)
		add_requires(q, glibc, set_text(w, glibc, os->glibc), os->source, "%s has glibc %s",
			     os->id, os->glibc);
}

/* --- gcc, nvcc and torch's own table of compilers --- */

/* Returns true if nvcc of any version accepts this gcc: the recipe disables nvcc's check. */
static bool
nvcc_is_forced(const struct workspace *w)
{
	static const char flag[] = "-allow-unsupported-compiler";
	const char *before = env_value(w, "NVCC_PREPEND_FLAGS");
	const char *after = env_value(w, "NVCC_APPEND_FLAGS");

	return (before && strstr(before, flag)) || (after && strstr(after, flag));
}

static bool
takes_gcc(const struct cuda_toolkit *t, unsigned long gcc)
{
	return !t || ((!t->gcc_max || gcc <= t->gcc_max) && (!t->gcc_min || gcc >= t->gcc_min));
}

void
constraint_gcc_nvcc(struct query *q, struct workspace *w)
{
	const char *version = candidate_of(q)->text, *source = NULL;
	unsigned long gcc = strtoul(version, NULL, 10);
	unsigned cuda = the_variable(w, VARIABLE_CUDA);
	const struct solver_variable *t = variable_at(w, cuda);
	solve_word *set = SET_WHERE(w, cuda, c, takes_gcc(c->entry, gcc));

	if (!w->compiles || nvcc_is_forced(w))
		return;
	for (size_t i = 0; i < t->n; i++)
		if (t->c[i].entry && solve_set_has(set, i))
			source = ((const struct cuda_toolkit *)t->c[i].entry)->source;
	add_allows(q, cuda, set, source, "nvcc supports gcc %s in CUDA %s", version,
		   source ? cuda_label(w, set) : "of no release");
}

void
constraint_torch_gcc(struct query *q, struct workspace *w)
{
	const struct torch_release *t = ENTRY(q);
	unsigned cuda = the_variable(w, VARIABLE_CUDA), gcc = the_variable(w, VARIABLE_GCC);
	struct torch_compilers table = { 0 };

	if (t && w->compiles && !env_is(w, "TORCH_DONT_CHECK_COMPILER_ABI", "ON 1 YES TRUE Y"))
		table = facts_torch_compilers(w->f, t->version);
	list_each (row, &table)
		add_conflict(q,
			     TERMS(THIS(q), IN(cuda, set_cuda(w, cuda, row->cuda)),
				   OUT(w, gcc, set_in(w, gcc, row->gcc))),
			     row->source, "torch %s with CUDA %s supports gcc %s", t->version,
			     row->cuda, spec_label(w->a, row->gcc));
}

/* --- the C library, and the C++ standard of torch's headers --- */

void
constraint_torch_glibc(struct query *q, struct workspace *w)
{
	const struct torch_release *t = ENTRY(q);
	unsigned build = the_variable(w, VARIABLE_BUILD);
	struct groups all = { 0 };

	for (size_t i = 0; t && i < t->nvariants; i++)
		if (t->variants[i].glibc_min)
			group_add(w, &all, build, variable_candidate(w, build, t->variants[i].tag),
				  t->variants[i].glibc_min, t->variants[i].source);
	list_each (g, &all) {
		bool every = solve_set_count(g->these, variable_at(w, build)->n) == t->nvariants;
		const struct solve_term terms[] = { THIS(q),
						    IS(w, VARIABLE_GLIBC, set_below, g->why),
						    IN(build, g->these) };

		add_conflict(q, terms, every ? 2 : 3, g->source, "torch %s needs glibc %s or newer",
			     t->version, g->why);
	}
}

void
constraint_torch_std(struct query *q, struct workspace *w)
{
	const struct torch_release *t = ENTRY(q);

	if (t && t->cxx_std)
		add_conflict(q,
			     TERMS(THIS(q),
				   LACKS(w, VARIABLE_STD, set_text, t->cxx_std + strlen("c++"))),
			     t->source, "the headers of torch %s need C++%s", t->version,
			     t->cxx_std + strlen("c++"));
}

/* --- preferences --- */

/* An image that stackbuild selects has apt. */
void
constraint_os_apt(struct query *q, struct workspace *w)
{
	const char *id = candidate_of(q)->text;

	if (!w->r->base.s && !starts_with(id, "ubuntu") && !starts_with(id, "debian"))
		add_conflict(q, TERMS(THIS(q)), NULL, "%s has no apt", id);
}

/* Prefers a system's own Python. */
void
constraint_os_python(struct query *q, struct workspace *w)
{
	const struct os_release *os = ENTRY(q);
	unsigned python = the_variable(w, VARIABLE_PYTHON);

	if (!os || !os->python || w->r->python.s || w->r->python_from == PYTHON_BASE ||
	    (w->image.python && w->r->python_from == PYTHON_AUTO) ||
	    (w->r->python_from != PYTHON_OS &&
	     text_version_order(w, os->python, PYTHON_OLDEST) < 0))
		return;
	add_allows(q, python, set_text(w, python, os->python), os->source, "%s has Python %s",
		   os->id, os->python);
}

static bool
has_python(const struct os_release *os, const char *series)
{
	return os && os->python && !strcmp(os->python, series);
}

/* Prefers a system with the Python that the recipe pins. */
void
constraint_python_os(struct query *q, struct workspace *w)
{
	const char *series = candidate_of(q)->text;
	unsigned os = the_variable(w, VARIABLE_OS);
	solve_word *set = SET_WHERE(w, os, c, has_python(c->entry, series));

	if (!w->r->base.s && w->r->python.s && !strcmp(w->r->python.s, series) &&
	    !set_is_empty(w, os, set))
		add_allows(q, os, set, NULL, "the system's own Python is %s", series);
}

#include <stdlib.h>

#include "rows_help.h"

/* The system: its compiler and nvcc, its C library and torch's wheels, its own Python. */

static const struct os_release *
os_of(struct workspace *w, unsigned variable, size_t candidate)
{
	return variable_at(w, variable)->c[candidate].entry;
}

/* --- what it brings --- */

/* The compiler of the host, with `from: host`, is not the image's. */
void
constraint_os_gcc(struct query *q)
{
	const struct os_release *os = os_of(q->w, q->variable, q->candidate);
	unsigned gcc = variable_get(q->w, VARIABLE_GCC, "gcc");

	if (os && os->gcc && !q->w->gcc && q->w->r->cuda_from != CUDA_HOST)
		add_requires(q, gcc, set_text(q->w, gcc, os->gcc), os->source,
			     "the compiler of %s is gcc %s", os->id, os->gcc);
}

void
constraint_os_glibc(struct query *q)
{
	const struct os_release *os = os_of(q->w, q->variable, q->candidate);
	unsigned glibc = variable_get(q->w, VARIABLE_GLIBC, "glibc");

	if (os && os->glibc)
		add_requires(q, glibc, set_text(q->w, glibc, os->glibc), os->source,
			     "%s has glibc %s", os->id, os->glibc);
}

/* --- gcc, nvcc and torch's own table of compilers --- */

/* True if nvcc of any version is to take this gcc without a word. */
static bool
nvcc_is_forced(const struct workspace *w)
{
	static const char *const flags[] = { "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS" };

	for (size_t i = 0; i < 2; i++) {
		const char *set = env_value(w, flags[i]);

		if (set && strstr(set, "-allow-unsupported-compiler"))
			return true;
	}
	return false;
}

void
constraint_gcc_nvcc(struct query *q)
{
	struct workspace *w = q->w;
	const char *version = variable_at(w, q->variable)->c[q->candidate].text;
	unsigned long gcc = strtoul(version, NULL, 10);
	unsigned cuda = variable_get(w, VARIABLE_CUDA, "cuda");
	const struct solver_variable *t = variable_at(w, cuda);
	const char *source = NULL;
	solve_word *set = set_none(w, cuda);

	if (!w->compiles || w->r->cuda_from == CUDA_HOST || nvcc_is_forced(w))
		return;
	for (size_t i = 0; i < t->n; i++) {
		const struct cuda_toolkit *c = t->c[i].entry;

		if (c && ((c->gcc_max && gcc > c->gcc_max) || (c->gcc_min && gcc < c->gcc_min)))
			continue;
		solve_set_add(set, i);
		source = c ? c->source : source;
	}
	add_allows(q, cuda, set, source, "nvcc takes gcc %s in CUDA %s", version,
		   source ? cuda_label(w, set) : "of no release");
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
		 gcc = variable_get(w, VARIABLE_GCC, "gcc");
	struct torch_compilers table = { 0 };

	if (t && torch_looks(w))
		table = facts_torch_compilers(w->f, t->version);
	for (size_t i = 0; i < table.n; i++) {
		const struct torch_compiler *row = &table.at[i];
		struct solve_term terms[3] = {
			term_is(w, q->variable, q->candidate),
			{ .variable = cuda, .set = set_cuda(w, cuda, row->cuda) },
			{ .variable = gcc,
			  .set = solve_set_not(w->a, set_in(w, gcc, row->gcc),
					       variable_at(w, gcc)->n) },
		};

		if (solve_set_count(terms[1].set, variable_at(w, cuda)->n))
			add_conflict(q, terms, 3, row->source, "torch %s with CUDA %s takes gcc %s",
				     t->version, row->cuda, spec_label(w->a, row->gcc));
	}
}

/* --- the C library, and the C++ standard of torch's headers --- */

void
constraint_torch_glibc(struct query *q)
{
	struct workspace *w = q->w;
	const struct torch_release *t = variable_at(w, q->variable)->c[q->candidate].entry;
	unsigned build = variable_get(w, VARIABLE_BUILD, "torch build");
	unsigned glibc = variable_get(w, VARIABLE_GLIBC, "glibc");
	struct names done = { 0 };

	for (size_t i = 0; t && i < t->nvariants; i++) {
		const struct torch_variant *v = &t->variants[i];
		struct names tags = { 0 };
		struct solve_term terms[3];

		if (!v->glibc_min || names_have(&done, v->glibc_min))
			continue;
		list_push(w->a, &done, v->glibc_min);
		for (size_t k = i; k < t->nvariants; k++)
			if (t->variants[k].glibc_min &&
			    !strcmp(t->variants[k].glibc_min, v->glibc_min))
				list_push(w->a, &tags, t->variants[k].tag);
		terms[0] = term_is(w, q->variable, q->candidate);
		terms[1] = (struct solve_term){ .variable = glibc,
						.set = set_below(w, glibc, v->glibc_min) };
		terms[2] = (struct solve_term){ .variable = build,
						.set = set_named(w, build, &tags, false) };
		add_conflict(q, terms, tags.n < t->nvariants ? 3 : 2, v->source,
			     "torch %s needs glibc %s or newer", t->version, v->glibc_min);
	}
}

void
constraint_torch_std(struct query *q)
{
	const struct torch_release *t = variable_at(q->w, q->variable)->c[q->candidate].entry;
	unsigned std = variable_get(q->w, VARIABLE_STD, "c++");

	if (t && t->cxx_std)
		add_requires(q, std, set_text(q->w, std, t->cxx_std + strlen("c++")), t->source,
			     "the headers of torch %s need C++%s", t->version,
			     t->cxx_std + strlen("c++"));
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

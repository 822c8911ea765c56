#include "coverage.h"

struct choice
choice_given(struct text t, const char *reason)
{
	return (struct choice){ .value = t.s, .reason = reason, .at = t.at, .given = true };
}

struct choice
choice_made(const char *value, const char *reason, const char *source)
{
	return (struct choice){ .value = value, .reason = reason, .source = source };
}

void
help_from(struct workspace *w, struct diag *d, struct span from, const char *help)
{
	if (starts_with(help, "write `from: auto`") && from.line)
		fix_scalar(w, d, from, "auto", "%s", help);
	else
		diag_help(d, "%s", help);
}

struct stack_package
package_given(const struct recipe_requirement *q, const char *reason)
{
	return (struct stack_package){ .requirement = q->text.s,
				       .key = q->req->key,
				       .reason = reason,
				       .at = q->text.at,
				       .given = true };
}

const struct candidate *
decided(const struct workspace *w, const char *key)
{
	int variable = variable_find(w, key);
	int pinned = variable < 0 ? -1 : requested(w, (unsigned)variable);

	return pinned < 0 ? solution_selected(w->solution, key) :
			    &w->variables.at[variable]->t.c[pinned];
}

bool
marker_holds(struct workspace *w, const struct marker *m)
{
	const struct solver_variable *python = solution_variable(w->solution, "python");

	return !m || solve_set_has(set_pythons_where(w, m), (size_t)(w->python - python->c));
}

bool
extension_stays(struct workspace *w, const struct recipe_extension *e)
{
	return !e->marker.s || marker_holds(w, marker_parse(w->a, e->marker.s));
}

/* Others depend on the Python, for markers, and on whether the stack compiles anything. */
static void
resolve_first(struct workspace *w)
{
	const unsigned python = variable_get(w, VARIABLE_PYTHON, "python");

	w->python = decided(w, "python");
	if (!w->python)
		w->python = &variable_at(w, python)->c[0];
	list_each (e, &w->r->extensions)
		w->s->compiles |= is_compiled(e) && extension_stays(w, e);
}

/* Rejects a second stage without torch: the copied environment does not contain it. */
static void
check_runtime_torch(struct workspace *w)
{
	const struct image_name n = facts_image_name(w->f, w->r->runtime.base.s);
	const struct image_name *i = &w->s->image;
	struct diag *d;

	if (!w->s->torch_base ||
	    (str_same(n.torch, i->torch) && str_same(n.python, i->python) &&
	     str_same(n.cuda, i->cuda) && str_same(n.repository, i->repository)))
		return;
	d = diag_at(w->ds, E_BASE_TORCH, w->r->runtime.base.at,
		    "`%s` does not have the torch of the base", w->r->runtime.base.s);
	diag_why(d, "the second stage receives the environment, but torch stays in the base image");
	diag_note(d, w->r->base.at, "the base is named here");
	diag_help(d, "name the runtime image of the same release, or remove `runtime.base`");
}

static void
resolve_last(struct workspace *w)
{
	const struct recipe *r = w->r;
	struct stack *s = w->s;

	s->cc = env_value(w, "CC") ? env_value(w, "CC") : "gcc";
	s->cxx = env_value(w, "CXX") ? env_value(w, "CXX") : "g++";
	if (r->user.s)
		s->user = choice_given(r->user, "the recipe names it");
	if (!r->runtime.at.line)
		return;
	if (r->runtime.base.s) {
		s->runtime_base = choice_given(r->runtime.base, "the recipe names it");
		check_runtime_torch(w);
	} else {
		s->runtime_base = resolve_runtime_base(w);
	}
}

/* Returns true if a plan is possible: all parts exist and are only incompatible. */
static bool
can_be_forced(const struct facts *f, enum code code)
{
	size_t n;
	const struct constraint_kind *rows = constraint_kinds(&n);

	switch (code) {
	case E_BASE_TORCH:
	case E_CUDA_NEVER:
	case E_CUDA_SOURCE:
	case E_EXTENSION_SOURCE:
	case E_PYTHON_SOURCE: return false;
	case E_ARCH_LIST:
	case E_BASE_PINS:
	case E_CUDA_HOME:
	case E_CUDA_TWICE:
	case E_FIT:
	case E_ISOLATED:
	case E_IMAGE_NEVER:
	case E_JIT:
	case E_NO_ARCHS:
	case E_NO_NVCC: return true;
	default: break;
	}
	for (size_t i = 0; i < n; i++)
		if (rows[i].code == code)
			return true;
	for (size_t i = 0; i < facts_rule_count(f); i++)
		if (facts_rule(f, i)->code == code)
			return true;
	return false;
}

/* Turns all errors into warnings, or none. */
static void
pass_over(const struct facts *f, struct diag *found, unsigned errors)
{
	for (const struct diag *d = found; d; d = d->next)
		errors -= diag_severity(d) == SEV_ERROR && can_be_forced(f, d->code);
	for (struct diag *d = errors ? NULL : found; d; d = d->next)
		diag_force(d);
}

/* Returns the index of a diagnostic's code in `ignore:`, or its length. */
static size_t
ignored_by(const struct texts *ignore, const struct diag *d)
{
	size_t i = 0;

	while (i < ignore->n && strcmp(ignore->at[i].s, code_table[d->code].id) != 0)
		i++;
	return i;
}

/* Turns errors that the recipe ignores into warnings, and lists them as parts that were not read. */
static void
ignore_errors(struct workspace *w, struct diag *found)
{
	const struct texts *ignore = &w->r->ignore;

	for (struct diag *d = found; d; d = d->next)
		if (diag_severity(d) == SEV_ERROR && ignored_by(ignore, d) < ignore->n &&
		    can_be_forced(w->f, d->code)) {
			diag_force(d);
			coverage_add(w, (struct stack_part){ .kind = PART_RULE,
							     .coverage = COVERAGE_UNKNOWN,
							     .what = code_table[d->code].id,
							     .why = "this error is ignored" });
		}
}

/* Removes warnings and notes that the recipe ignores, and counts them in one note for each code. */
static void
ignore_warnings(struct workspace *w, struct diag **found)
{
	const struct texts *ignore = &w->r->ignore;
	unsigned *counts = arena_array_of(w->a, unsigned, ignore->n + 1);

	for (struct diag **next = found; *next;) {
		size_t i = ignored_by(ignore, *next);
		bool removed = i < ignore->n && code_table[(*next)->code].severity != SEV_ERROR;

		counts[i] += removed;
		if (removed)
			diag_remove(w->ds, next);
		else
			next = &(*next)->next;
	}
	for (size_t i = 0; i < ignore->n; i++)
		if (counts[i])
			diag_at(w->ds, N_IGNORED, ignore->at[i].at,
				"%u diagnostic%s %s ignored: %s", counts[i],
				counts[i] == 1 ? "" : "s", counts[i] == 1 ? "is" : "are",
				ignore->at[i].s);
}

const struct stack *
resolve(struct arena *a, struct diags *ds, const struct facts *f, const struct recipe *r,
	const struct resolve_options *o)
{
	struct stack *s = arena_new_of(a, struct stack);
	const struct solution *solution = resolve_solve(a, f, r, 0);
	struct workspace *w = solution->work;
	struct diag **found = ds->tail;

	w->ds = ds;
	w->s = s;
	w->solution = s->solution = solution;
	w->errors = ds->errors;
	w->forced = (o && o->force) || r->ignore.n;
	check_wheel_extensions(w, r);
	s->recipe = w->r;
	s->facts = f;
	s->platform = r->platform.s ? r->platform.s : "linux/amd64";
	resolve_first(w);
	solution_report(ds, solution, o && o->verbose);
	resolve_image(w);
	resolve_torch(w);
	resolve_base(w);
	resolve_python(w);
	resolve_archs(w);
	resolve_extensions(w);
	resolve_packages(w);
	resolve_apt(w);
	resolve_last(w);
	resolve_check(w);
	resolve_coverage(w);
	if (r->ignore.n) {
		ignore_errors(w, *found);
		ignore_warnings(w, found);
	}
	if (o && o->force)
		pass_over(f, *found, ds->errors - w->errors);
	return ds->errors == w->errors ? s : NULL;
}

/* check: validate a recipe and its stack. */
#include "verbs.h"

#include <string.h>

#include "base/json.h"
#include "base/map.h"
#include "base/str.h"
#include "cuda/cuda.h"
#include "render/render.h"

const char *
stack_summary(struct arena *a, const struct stack *s)
{
	struct names parts = { 0 }, archs = { 0 };

	if (s->torch.value)
		list_printf(a, &parts, s->torch_tag ? "torch %s (%s)" : "torch %s", s->torch.value,
			    s->torch_tag);
	if (s->python.value)
		list_printf(a, &parts, "python %s", s->python.value);
	list_each (e, &s->extensions)
		list_push(a, &parts,
			  e->version ? arena_printf(a, "%s %s", e->name, e->version) : e->name);
	for (size_t i = 0; i < s->archs.n && s->extensions.n; i++)
		list_printf(a, &archs, "sm_%s", capability_nvcc(a, s->archs.at[i].value));
	return arena_printf(a, "%s%s%s", names_join(a, &parts, ", "), archs.n ? " for " : "",
			    names_join(a, &archs, ", "));
}

/* Records the diagnostics from `d` on, and their codes. */
static void
codes_since(struct arena *a, const struct diag *d, struct cell_verdict *v)
{
	for (; d; d = d->next) {
		const char *id = code_table[d->code].id;

		list_push(a, &v->reported, d);
		if (diag_severity(d) == SEV_ERROR)
			names_once(a, &v->errors, id);
		else if (diag_severity(d) == SEV_WARNING)
			names_once(a, &v->warnings, id);
	}
}

/* Prints every selected version with its reason, for --verbose. */
static void
choices_of(struct buf *out, const struct stack *s)
{
	const struct {
		const char *what;
		const struct choice *c;
	} rows[] = {
		{ "base", &s->base },   { "cuda", &s->cuda },         { "python", &s->python },
		{ "torch", &s->torch }, { "index", &s->torch_index }, { "numpy", &s->numpy },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].c->value)
			buf_printf(out, "  %-8s %s%s%s\n", rows[i].what, rows[i].c->value,
				   rows[i].c->reason ? ": " : "",
				   rows[i].c->reason ? rows[i].c->reason : "");
	list_each (e, &s->extensions)
		buf_printf(out, "  %s %s: %s%s%s\n", e->name, e->version ? e->version : "",
			   e->source_reason ? e->source_reason : "", e->ref ? "; at " : "",
			   e->ref ? e->ref : "");
}

static bool
is_stopped(const struct cell_verdicts *all)
{
	return all->n && all->at[all->n - 1].stopped;
}

/* Copies the parts of a stack, whose arena ends with its cell. Many parts in a row share a reason. */
static void
keep_parts(struct arena *a, const struct stack_parts *parts, struct stack_parts *out)
{
	const char *why = NULL;

	*out = (struct stack_parts){ .at = arena_array_of(a, struct stack_part, parts->n + 1),
				     .cap = parts->n + 1 };
	list_each (x, parts) {
		struct stack_part kept = *x;

		kept.what = arena_strdup(a, x->what);
		kept.why = x->why == why ? out->at[out->n - 1].why : arena_strdup(a, x->why);
		why = x->why;
		kept.date = x->date ? arena_strdup(a, x->date) : NULL;
		kept.source = x->source ? arena_strdup(a, x->source) : NULL;
		list_push(a, out, kept);
	}
}

/* Plans every cell, so that all errors are reported. */
void
check_cells(struct run *r, struct diags *ds, const char *path, recipe_open *open, void *ctx,
	    struct cell_verdicts *out, struct buf *choices)
{
	const struct resolve_options how = { .verbose = r->o->verbose };
	struct diag **reported = ds->tail;
	const struct recipes *rs = pipeline_load(r, ds, path, open, ctx);

	if (!rs) {
		struct cell_verdict v = { .path = path, .invalid = true, .incompatible = true };

		codes_since(r->a, *reported, &v);
		list_push(r->a, out, v);
		return;
	}
	for (size_t i = 0; i < rs->n && !is_stopped(out); i++) {
		struct arena *scratch = arena_new();
		struct cell_verdict v = { .path = path, .cell = rs->at[i]->cell };
		const struct stack *s;
		const struct plan *p;
		const struct lock *lock;
		struct diag **tail;

		if (i)
			reported = ds->tail;
		s = resolve(scratch, ds, r->facts, rs->at[i], &how);
		p = s ? plan_outline(scratch, ds, s) : NULL;
		if (p) {
			render_judge(scratch, ds, p);
			v.summary = arena_strdup(r->a, stack_summary(scratch, s));
			v.facts = s->solution->facts_used;
			v.unlisted = s->unlisted;
			keep_parts(r->a, &s->parts, &v.parts);
			v.questions = lock_questions(r->a, p->stack);
			if (choices && r->o->verbose)
				choices_of(choices, s);
		}
		if (r->o->online && world_check_online)
			world_check_online(r, rs->at[i], p ? p->stack : NULL, *reported, &v);
		codes_since(r->a, *reported, &v);
		v.incompatible = v.errors.n && !v.failed;
		/* A stale lock is an error, but does not make the stack incompatible. */
		tail = ds->tail;
		if (s)
			pipeline_pin(r, scratch, ds, s, &lock);
		codes_since(r->a, *tail, &v);
		list_push(r->a, out, v);
		arena_free(scratch);
	}
}

/* --- the verdict --- */

enum outcome {
	COMPATIBLE,   /* no error, and everything was checked */
	NO_PROBLEM,   /* no error, but something was not checked */
	INCOMPATIBLE, /* there is an error */
	OUTCOMES
};

static const char *const words[OUTCOMES] = { "compatible", "no known problem", "incompatible" };

static enum outcome
outcome_of(const struct cell_verdict *v)
{
	if (v->incompatible)
		return INCOMPATIBLE;
	return stack_open(&v->parts, NULL) ? NO_PROBLEM : COMPATIBLE;
}

const char *
verdict_word(const struct cell_verdict *v)
{
	return words[outcome_of(v)];
}

/* Returns the worst outcome of all cells. */
static enum outcome
outcome_of_all(const struct cell_verdicts *all)
{
	enum outcome worst = COMPATIBLE;

	for (size_t i = 0; i < all->n; i++)
		if (outcome_of(&all->at[i]) > worst)
			worst = outcome_of(&all->at[i]);
	return worst;
}

enum { SHOWN = 20, NAMES_SHOWN = 12 };

/* Returns the packages that only other packages require, as one line; NULL: each one was read. */
static const char *
indirect_line(struct run *r, const struct stack_parts *all)
{
	struct names names = { 0 };
	size_t n = 0;

	list_each (x, all) {
		if (!x->indirect || x->coverage == COVERAGE_READ)
			continue;
		n++;
		if (n <= NAMES_SHOWN || r->o->verbose)
			list_push(r->a, &names, x->what);
	}
	if (!n)
		return NULL;
	return arena_printf(r->a,
			    "  not checked: %zu package%s that others require: METADATA was not "
			    "read: %s%s\n",
			    n, n == 1 ? "" : "s", names_join(r->a, &names, ", "),
			    n > names.n ? " ..." : "");
}

/* Prints a line for each part that was not read, once for all cells; if there are very many, only the
 * first ones. */
static void
open_lines(struct run *r, struct buf *out, const struct cell_verdicts *all)
{
	struct map seen = MAP(r->a);
	size_t n = 0;

	list_each (v, all) {
		const char *more = indirect_line(r, &v->parts);

		list_each (x, &v->parts) {
			if (x->coverage == COVERAGE_READ || x->indirect)
				continue;
			/* Only several cells repeat a part. */
			if (all->n > 1 &&
			    map_put(&seen, arena_printf(r->a, "%s: %s", x->what, x->why), &seen))
				continue;
			if (n++ < SHOWN || r->o->verbose)
				buf_printf(out, "  not checked: %s: %s\n", x->what, x->why);
		}
		if (more && !map_put(&seen, more, &seen))
			buf_puts(out, more);
	}
	if (n > SHOWN && !r->o->verbose)
		buf_printf(out, "  not checked: %zu more: --verbose lists them\n", n - SHOWN);
}

/*
 * Returns what was checked and what was not: ". GPU, CUDA, ABI and compilers: checked. Requirements of
 * 3 packages: not read; run `check --online`"; or "".
 */
static const char *
claims(struct run *r, const struct stack_parts *parts)
{
	const enum checked_by metadata = BY_METADATA, source = BY_SOURCE;
	size_t packages = stack_open(parts, &metadata),
	       others = stack_open(parts, NULL) - packages - stack_open(parts, &source);
	struct buf b = BUF(r->a);

	if (!stack_open(parts, NULL))
		return "";
	buf_puts(&b, ". GPU, CUDA, ABI and compilers: ");
	if (others)
		buf_printf(&b, "%zu part%s not checked", others, others == 1 ? "" : "s");
	else
		buf_puts(&b, "checked");
	if (packages)
		buf_printf(&b, ". Requirements of %zu package%s: not read%s", packages,
			   packages == 1 ? "" : "s", r->o->online ? "" : "; run `check --online`");
	return buf_text(&b);
}

/*
 *   recipes/torch222-cu121.yaml: no known problem. torch 2.2.2 (cu121), python 3.11. GPU, ...
 *     not checked: vllm 0.33.0: not in the knowledge base
 */
static void
verdict_lines(struct run *r, struct buf *out, const struct cell_verdicts *all)
{
	enum outcome outcome = outcome_of_all(all);

	/* An unreadable recipe has no stack. */
	if (all->at[0].invalid)
		return;
	buf_printf(out, "%s: %s", all->at[0].path, words[outcome]);
	if (all->n > 1)
		buf_printf(out, ". %zu cells", all->n);
	else if (outcome != INCOMPATIBLE)
		buf_printf(out, ". %s%s", all->at[0].summary, claims(r, &all->at[0].parts));
	buf_putc(out, '\n');
	open_lines(r, out, all);
}

/* Prints what the verdict rests on; an error names its own facts. */
static void
basis_line(struct run *r, const struct cell_verdicts *all)
{
	if (r->o->online ? !all->at[0].invalid : outcome_of_all(all) != INCOMPATIBLE)
		check_basis(r, all, &r->out);
}

const char *
check_recipe(struct run *r, struct diags *ds, const char *path, recipe_open *open, void *ctx,
	     bool *complete)
{
	struct cell_verdicts all = { 0 };
	struct buf b = BUF(r->a);

	check_cells(r, ds, path, open, ctx, &all, NULL);
	verdict_lines(r, &b, &all);
	*complete = outcome_of_all(&all) == COMPATIBLE;
	return buf_text(&b);
}

/* --- many cells --- */

enum { ROWS_MAX = 60 };

/*
 *   recipes/matrix.yaml  python-3.10,torch.version-2.2.2  compatible
 *   recipes/matrix.yaml  python-3.13,torch.version-2.2.2  incompatible      SB0242
 *   2 stacks: 1 compatible, 1 incompatible
 *
 * Of very many cells, it prints only the incompatible ones.
 */
static void
show_table(struct run *r, const struct cell_verdicts *all)
{
	size_t path = 0, cell = 0, count[OUTCOMES] = { 0 };
	const char *comma = "";

	list_each (v, all) {
		size_t n = strlen(v->path), m = v->cell ? strlen(v->cell) : 0;

		path = n > path ? n : path;
		cell = m > cell ? m : cell;
		count[outcome_of(v)]++;
	}
	for (size_t i = 0, shown = 0; i < all->n && shown < ROWS_MAX; i++) {
		const struct cell_verdict *v = &all->at[i];
		const struct names *codes = v->errors.n ? &v->errors : &v->warnings;

		if (all->n > ROWS_MAX && !v->errors.n)
			continue;
		shown++;
		buf_printf(&r->out, "%-*s  ", (int)path, v->path);
		if (cell)
			buf_printf(&r->out, "%-*s  ", (int)cell, v->cell ? v->cell : "");
		buf_printf(&r->out, codes->n ? "%-16s  %s\n" : "%s\n", verdict_word(v),
			   names_join(r->a, codes, " "));
	}
	buf_printf(&r->out, "%zu stacks: ", all->n);
	for (size_t i = 0; i < OUTCOMES; i++)
		if (count[i]) {
			buf_printf(&r->out, "%s%zu %s", comma, count[i], words[i]);
			comma = ", ";
		}
	buf_putc(&r->out, '\n');
	open_lines(r, &r->out, all);
	basis_line(r, all);
}

/* Writes a diagnostic on one line; --diagnostics json also has the notes and the edits. */
static void
json_diagnostic(struct json *j, const struct diag *d)
{
	const char *path = d->at.src ? d->at.src->path : NULL;

	json_put(j, "('code': %s, 'severity': %s, 'message': %s, 'path': %o",
		 code_table[d->code].id, severity_words[diag_severity(d)], d->text, path);
	if (d->at.line)
		json_put(j, "'line': %d, 'column': %d", d->at.line, d->at.col);
	json_put(j, ")");
}

static void
show_json(struct run *r, const struct cell_verdicts *all)
{
	static const char *const kinds[QUESTION_KINDS] = { "ref", "image", "build", "file" };
	static const char *const answers[] = { "none", "yes", "no" };
	const struct user_files user = facts_user_files(r->facts);
	struct json j = json_to(&r->out);

	json_list(&j, NULL);
	list_each (v, all) {
		json_put(&j,
			 "{'path': %s, 'cell': %o, 'verdict': %s, 'stack': %o, 'errors': %n, "
			 "'warnings': %n, 'unchecked': [",
			 v->path, v->cell, words[outcome_of(v)], v->summary, &v->errors,
			 &v->warnings);
		list_each (x, &v->parts)
			if (x->coverage != COVERAGE_READ)
				json_put(&j, "('what': %s, 'why': %s)", x->what, x->why);
		json_put(&j, "], 'coverage': [");
		list_each (x, &v->parts)
			json_put(&j,
				 "('kind': %s, 'what': %s, 'coverage': %s, 'basis': %o, 'why': %s, "
				 "'date': %o, 'source': %o, 'indirect': %b)",
				 part_words[x->kind], x->what, coverage_words[x->coverage],
				 x->coverage == COVERAGE_UNKNOWN ? NULL : basis_words[x->basis],
				 x->why, x->date, x->source, (int)x->indirect);
		json_put(&j, "], 'questions': [");
		list_each (q, &v->questions)
			json_put(&j,
				 "('kind': %s, 'of': %s, 'host': %s, 'name': %o, 'answer': %s, "
				 "'why': %o, 'age_s': %d)",
				 kinds[q->kind], q->of, q->host, q->name,
				 r->o->online ? answers[q->answer] : "not asked", q->why,
				 (int)q->age_s);
		json_put(&j, "], 'unlisted': %d, 'diagnostics': [", (int)v->unlisted);
		for (size_t k = 0; k < v->reported.n; k++)
			json_diagnostic(&j, v->reported.at[k]);
		json_put(&j, "], 'facts': %d", v->facts);
		if (user.n)
			json_put(&j, "'user_knowledge': [");
		for (size_t k = 0; k < user.n; k++)
			json_put(&j, "('package': %s, 'path': %s, 'read': %s, 'ignored': %o)",
				 user.at[k]->package, user.at[k]->path, user.at[k]->read,
				 user.at[k]->ignored);
		json_put(&j, user.n ? "]}" : "}");
	}
	json_end(&j);
}

static const char *const required[] = { "compatible", "no-known-problem" };

int
check_status(const struct run *r, bool complete)
{
	/* --require says what --strict requires of the verdict; without it, --strict requires all. */
	bool all = r->o->verdict ? !strcmp(r->o->verdict, required[0]) : r->o->strict;

	if ((r->o->strict && r->ds.warnings) || (all && !complete))
		return EXIT_DIAGNOSED;
	return EXIT_DONE;
}

int
verb_check(struct run *r)
{
	struct cell_verdicts all = { 0 };
	struct buf choices = BUF(r->a);
	double timeout_s;

	if (r->o->verdict && strcmp(r->o->verdict, required[0]) != 0 &&
	    strcmp(r->o->verdict, required[1]) != 0)
		return usage_error("--require is %s or %s, not `%s`", required[0], required[1],
				   r->o->verdict);
	if (r->o->fix && r->o->online)
		return usage_error("--fix and --online exclude each other");
	if (r->o->builds.n && !r->o->online)
		return usage_error("--allow-build needs --online, which reads metadata");
	if (r->o->timeout && !r->o->online)
		return usage_error("--timeout needs --online, which resolves the packages");
	if (!option_timeout(r->o, &timeout_s))
		return EXIT_USAGE;
	if (r->o->fix)
		return check_fix(r);
	if (r->o->dry_run)
		return usage_error("--dry-run needs --fix: it shows what --fix would change");
	for (size_t i = 0; i < r->o->args.n && !is_stopped(&all); i++)
		check_cells(r, &r->ds, r->o->args.at[i], NULL, NULL, &all, &choices);
	if (is_stopped(&all))
		return EXIT_DIAGNOSED;
	if (r->o->format == FORMAT_JSON)
		show_json(r, &all);
	else if (all.n > 1)
		show_table(r, &all);
	else {
		verdict_lines(r, &r->out, &all);
		basis_line(r, &all);
		buf_puts(&r->out, buf_text(&choices));
	}
	return check_status(r, outcome_of_all(&all) == COMPATIBLE);
}

/* check: is the recipe right, and can the stack exist? */
#include "verbs.h"

#include <string.h>

#include "base/json.h"
#include "base/map.h"
#include "base/str.h"
#include "cuda/cuda.h"
#include "render/render.h"

/* What became of one cell of one file. */
struct verdict {
	const char *path, *cell; /* cell: NULL without a matrix */
	const char *summary;     /* NULL: no stack came of it */
	struct names errors, warnings, unchecked, rules_open;
	unsigned facts;
};
struct verdicts LIST(struct verdict);

const char *
stack_summary(struct arena *a, const struct stack *s)
{
	struct names parts = { 0 }, archs = { 0 };

	if (s->torch.value)
		list_push(a, &parts,
			  arena_printf(a, s->torch_tag ? "torch %s (%s)" : "torch %s",
				       s->torch.value, s->torch_tag));
	if (s->python.value)
		list_push(a, &parts, arena_printf(a, "python %s", s->python.value));
	for (size_t i = 0; i < s->extensions.n; i++) {
		const struct stack_extension *e = &s->extensions.at[i];

		list_push(a, &parts,
			  e->version ? arena_printf(a, "%s %s", e->name, e->version) : e->name);
	}
	for (size_t i = 0; i < s->archs.n && s->extensions.n; i++)
		list_push(a, &archs,
			  arena_printf(a, "sm_%s", capability_nvcc(a, s->archs.at[i].value)));
	return arena_printf(a, "%s%s%s", names_join(a, &parts, ", "), archs.n ? " for " : "",
			    names_join(a, &archs, ", "));
}

/* The codes of the diagnostics from `d` on. */
static void
codes_since(struct arena *a, const struct diag *d, struct verdict *v)
{
	for (; d; d = d->next) {
		const struct code_row *c = &code_table[d->code];

		if (c->severity == SEV_ERROR)
			names_once(a, &v->errors, c->id);
		else if (c->severity == SEV_WARNING)
			names_once(a, &v->warnings, c->id);
	}
}

/* Every choice of the stack with its reason, for --verbose. */
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

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].c->value)
			buf_printf(out, "  %-8s %s%s%s\n", rows[i].what, rows[i].c->value,
				   rows[i].c->reason ? ": " : "",
				   rows[i].c->reason ? rows[i].c->reason : "");
	for (size_t i = 0; i < s->extensions.n; i++) {
		const struct stack_extension *e = &s->extensions.at[i];

		buf_printf(out, "  %s %s: %s%s%s\n", e->name, e->version ? e->version : "",
			   e->source_reason ? e->source_reason : "", e->ref ? ", at " : "",
			   e->ref ? e->ref : "");
	}
}

/* Every cell is planned, so that all that is wrong with any of them is said. */
static void
check_cells(struct run *r, struct diags *ds, const char *path, recipe_open *open, void *ctx,
	    struct verdicts *out, struct buf *choices)
{
	const struct resolve_options how = { .verbose = r->o->verbose };
	struct diag **reported = ds->tail;
	const struct recipes *rs = pipeline_load(r, ds, path, open, ctx);

	if (!rs) {
		struct verdict v = { .path = path };

		codes_since(r->a, *reported, &v);
		list_push(r->a, out, v);
		return;
	}
	for (size_t i = 0; i < rs->n; i++) {
		struct arena *scratch = arena_new();
		struct verdict v = { .path = path, .cell = rs->at[i]->cell };
		struct map seen = MAP(scratch);
		const struct plan *p;

		if (i)
			reported = ds->tail;
		p = pipeline_plan(scratch, ds, r->facts, rs->at[i], &how);
		if (p) {
			const struct solution *solution = p->stack->solution;

			render_judge(scratch, ds, p);
			v.summary = arena_strdup(r->a, stack_summary(scratch, p->stack));
			v.facts = solution->facts_used;
			for (size_t k = 0; k < solution->unchecked.n; k++)
				if (!map_put(&seen, solution->unchecked.at[k], &seen))
					list_push(r->a, &v.unchecked,
						  arena_strdup(r->a, solution->unchecked.at[k]));
			for (size_t k = 0; k < solution->rules_open.n; k++)
				names_once(r->a, &v.rules_open,
					   arena_strdup(r->a, solution->rules_open.at[k]));
			if (choices && r->o->verbose)
				choices_of(choices, p->stack);
		}
		codes_since(r->a, *reported, &v);
		list_push(r->a, out, v);
		arena_free(scratch);
	}
}

static bool
all_fine(const struct verdicts *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].errors.n)
			return false;
	return all->n > 0;
}

/* A line that names what was not checked; of many the first. */
static void
unchecked_line(struct buf *out, const char *title, const struct names *all)
{
	enum { SHOWN = 6 };
	struct names first = *all;

	if (!all->n)
		return;
	if (first.n > SHOWN)
		first.n = SHOWN;
	buf_printf(out, "\n  %s: %s", title, names_join(out->a, &first, ", "));
	if (all->n > SHOWN)
		buf_printf(out, " and %zu more", all->n - SHOWN);
}

/*
 *   recipes/torch222-cu121.yaml: fine. torch 2.2.2 (cu121), python 3.11, ...
 *     not in the knowledge base, so not checked: einops, wandb
 *     rules not checked, because a value is unknown: torch-headers-gcc
 */
static const char *
fine_text(struct arena *a, const struct verdicts *all)
{
	struct buf b = BUF(a);
	struct names unchecked = { 0 }, rules = { 0 };
	struct map seen = MAP(a);

	if (all->n == 1)
		buf_printf(&b, "%s: fine. %s", all->at[0].path, all->at[0].summary);
	else
		buf_printf(&b, "%s: fine. %zu cells", all->at[0].path, all->n);
	for (size_t i = 0; i < all->n; i++) {
		for (size_t k = 0; k < all->at[i].unchecked.n; k++)
			if (!map_put(&seen, all->at[i].unchecked.at[k], &seen))
				list_push(a, &unchecked, all->at[i].unchecked.at[k]);
		for (size_t k = 0; k < all->at[i].rules_open.n; k++)
			names_once(a, &rules, all->at[i].rules_open.at[k]);
	}
	unchecked_line(&b, "not in the knowledge base, so not checked", &unchecked);
	unchecked_line(&b, "rules not checked, because a value is unknown", &rules);
	return buf_text(&b);
}

const char *
check_recipe(struct run *r, struct diags *ds, const char *path, recipe_open *open, void *ctx)
{
	struct verdicts all = { 0 };

	check_cells(r, ds, path, open, ctx, &all, NULL);
	return all_fine(&all) ? fine_text(r->a, &all) : NULL;
}

/* --- many cells --- */

static const char *
verdict_of(const struct verdict *v)
{
	return v->errors.n ? "error" : v->warnings.n ? "warning" : "fine";
}

enum { ROWS_MAX = 60 };

/*
 *   recipes/matrix.yaml  python-3.10,torch.version-2.2.2  fine
 *   recipes/matrix.yaml  python-3.13,torch.version-2.2.2  error   SB0242
 *   2 stacks: 1 fine, 1 with errors
 *
 * Of very many only those that are not fine.
 */
static void
show_table(struct run *r, const struct verdicts *all)
{
	size_t path = 0, cell = 0, count[3] = { 0 };

	for (size_t i = 0; i < all->n; i++) {
		const struct verdict *v = &all->at[i];
		size_t n = strlen(v->path), m = v->cell ? strlen(v->cell) : 0;

		path = n > path ? n : path;
		cell = m > cell ? m : cell;
		count[v->errors.n ? 2 : v->warnings.n ? 1 : 0]++;
	}
	for (size_t i = 0, shown = 0; i < all->n && shown < ROWS_MAX; i++) {
		const struct verdict *v = &all->at[i];
		const struct names *codes = v->errors.n ? &v->errors : &v->warnings;

		if (all->n > ROWS_MAX && !v->errors.n)
			continue;
		shown++;
		buf_printf(&r->out, "%-*s  ", (int)path, v->path);
		if (cell)
			buf_printf(&r->out, "%-*s  ", (int)cell, v->cell ? v->cell : "");
		buf_printf(&r->out, codes->n ? "%-6s %s\n" : "%s\n", verdict_of(v),
			   names_join(r->a, codes, " "));
	}
	buf_printf(&r->out, "%zu stacks: %zu fine", all->n, count[0]);
	if (count[1])
		buf_printf(&r->out, ", %zu with warnings", count[1]);
	if (count[2])
		buf_printf(&r->out, ", %zu with errors", count[2]);
	buf_putc(&r->out, '\n');
}

static void
show_json(struct run *r, const struct verdicts *all)
{
	struct json j = json_to(&r->out);

	json_list(&j, NULL);
	for (size_t i = 0; i < all->n; i++) {
		const struct verdict *v = &all->at[i];

		json_put(&j,
			 "{'path': %s, 'cell': %o, 'verdict': %s, 'stack': %o, 'errors': %n, "
			 "'warnings': %n, 'not_judged': %n, "
			 "'rules_not_checked': %n, 'facts': %d}",
			 v->path, v->cell, verdict_of(v), v->summary, &v->errors, &v->warnings,
			 &v->unchecked, &v->rules_open, v->facts);
	}
	json_end(&j);
}

int
verb_check(struct run *r)
{
	struct verdicts all = { 0 };
	struct buf choices = BUF(r->a);

	if (r->o->fix)
		return check_fix(r);
	if (r->o->dry_run)
		return usage_error("--dry-run goes with --fix: it shows what --fix would change");
	for (size_t i = 0; i < r->o->args.n; i++)
		check_cells(r, &r->ds, r->o->args.at[i], NULL, NULL, &all, &choices);
	if (r->o->format == FORMAT_JSON)
		show_json(r, &all);
	else if (all.n > 1)
		show_table(r, &all);
	else if (all_fine(&all))
		buf_printf(&r->out, "%s\n%s", fine_text(r->a, &all), buf_text(&choices));
	return EXIT_DONE;
}

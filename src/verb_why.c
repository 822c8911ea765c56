/* why: explain the version of a package. */
#include "verbs.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"

/*
 *   $ stackbuild why recipes/torch222-cu121.yaml numpy
 *   numpy<2 (the newest known: 1.26.4)
 *     coverage   read 2026-11-23: index page; its requirements do not matter
 *     required   recipes/torch222-cu121.yaml:32:12: the recipe requires numpy<2
 *     because    torch 2.2.2 was compiled against numpy 1
 *     requires   numpy 1.26.4 has wheels for Python 3.9 to 3.12
 *     possible   1.26.4 to 1.23.4 (12 releases)
 *     not        2.5.5 to 2.0.0 (13 releases): torch 2.2.2 was compiled against numpy 1
 * Other parts, such as apt packages, are not variables of the solver and come from the stack.
 */

struct answer {
	const char *name, *value;
	struct names asked; /* places and sentences of the recipe's requirements */
	struct names because, demands, possible, sources;
	const char *possible_words;    /* the same, with ranges */
	struct names impossible;       /* "2.1.3 to 2.0.0 (5 releases): why" */
	struct names known;            /* other names to suggest */
	const struct stack_part *part; /* its coverage, or NULL */
};

static void
once(struct arena *a, struct names *all, const char *text)
{
	if (text && *text)
		names_once(a, all, text);
}

static const char *
place(struct arena *a, struct span at, const char *words)
{
	if (!at.line || !at.src)
		return words;
	return arena_printf(a, "%s:%u:%u: %s", at.src->path, at.line, at.col, words);
}

/* --- the solver's answers --- */

static void
sentences(struct run *r, struct constraints facts, struct names *out, struct names *sources)
{
	for (size_t i = 0; i < facts.n; i++) {
		once(r->a, out, facts.at[i]->sentence);
		once(r->a, sources, facts.at[i]->source);
	}
}

/* Returns the reason against a release without its own version: "numpy requires Python>=3.11". */
static const char *
reason(struct arena *a, const char *name, const struct alternative *x)
{
	const char *all = x->why ? x->why->sentence : "the recipe requires another one";
	const char *own = arena_printf(a, "%s %s ", name, x->c->text);

	if (!starts_with(all, own) || starts_with(all + strlen(own), "or "))
		return all;
	return arena_printf(a, "%s %s", name, all + strlen(own));
}

enum { LISTED = 4 }; /* versions in a row; more are a range */

/*
 * Returns versions in words: "2.5.1, 2.4.0 to 2.1.0 (8 releases)". in: which of `all`; a range ends
 * at the next candidate that has a text and is not in it, or is not older.
 */
static const char *
version_words(struct arena *a, const struct alternatives *all, const bool *in)
{
	struct names words = { 0 }, row = { 0 };
	const struct candidate *last = NULL;

	for (size_t i = 0; i <= all->n; i++) {
		const struct candidate *c = i < all->n ? all->at[i].c : NULL;
		bool older = c && (!last || (last->v && c->v && version_cmp(c->v, last->v) < 0));

		if (c && !*c->text)
			continue;
		if (c && in[i] && older) {
			list_push(a, &row, (last = c)->text);
			continue;
		}
		if (row.n > LISTED)
			list_printf(a, &words, "%s to %s (%zu releases)", row.at[0],
				    row.at[row.n - 1], row.n);
		for (size_t k = 0; k < row.n && row.n <= LISTED; k++)
			list_push(a, &words, row.at[k]);
		row.n = 0;
		last = NULL;
		if (c && in[i])
			list_push(a, &row, (last = c)->text);
	}
	return names_join(a, &words, ", ");
}

/* Adds the versions that are possible, and the others, one line for each reason. */
static void
others_of(struct run *r, const struct solution *solution, const char *key, struct answer *out)
{
	struct alternatives all = solution_alternatives(solution, key);
	bool *shown = arena_array_of(r->a, bool, all.n + 1);
	bool *can = arena_array_of(r->a, bool, all.n + 1);
	const char **why = arena_array_of(r->a, const char *, all.n + 1);

	for (size_t i = 0; i < all.n; i++)
		why[i] = reason(r->a, out->name, &all.at[i]);
	for (size_t i = 0; i < all.n; i++) {
		const struct alternative *x = &all.at[i];
		bool *alike;
		size_t n = 0;

		if ((!x->c->known && !x->chosen) || shown[i] || !*x->c->text)
			continue;
		if (x->can) {
			can[i] = true;
			list_push(r->a, &out->possible, x->c->text);
			continue;
		}
		alike = arena_array_of(r->a, bool, all.n);
		for (size_t k = i; k < all.n; k++)
			if (!all.at[k].can && all.at[k].c->known && !shown[k] &&
			    !strcmp(why[i], why[k]))
				n += shown[k] = alike[k] = true;
		list_printf(r->a, &out->impossible, "%s: %s", version_words(r->a, &all, alike),
			    n == 1 && x->why ? x->why->sentence : why[i]);
	}
	out->possible_words = version_words(r->a, &all, can);
}

static bool
ask_solver(struct run *r, const struct solution *solution, const char *name, struct answer *out)
{
	const char *key = name;
	const struct solver_variable *t = solution_variable(solution, key);
	const struct extension *e;

	if (!t)
		t = solution_variable(solution, key = name_normalize(r->a, name));
	if (!t && (e = facts_extension(r->facts, name)))
		t = solution_variable(solution, key = e->name);
	if (!t || !solution_selected(solution, key))
		return false;
	out->name = t->label;
	/* A package whose releases are not in the knowledge base has a version without a text. */
	if (*solution_selected(solution, key)->text)
		out->value = solution_selected(solution, key)->text;
	for (size_t i = 0; i < solution->nrequests; i++) {
		const struct request *q = &solution->requests[i];

		if (!strcmp(solution->variables[q->variable]->key, key))
			once(r->a, &out->asked, place(r->a, q->at, q->sentence));
	}
	sentences(r, solution_limits(solution, key, false), &out->because, &out->sources);
	sentences(r, solution_limits(solution, key, true), &out->demands, &out->sources);
	others_of(r, solution, key, out);
	return true;
}

/* --- entries of the stack --- */

static bool
ask_stack(struct run *r, const struct stack *s, const char *name, struct answer *out)
{
	const struct stack_packages *const lists[] = { &s->torch_packages, &s->build_deps,
						       &s->packages };
	const struct choices *const apt[] = { &s->apt, &s->runtime_apt };
	const char *key = name_normalize(r->a, name), *value = NULL;

	for (size_t k = 0; k < 3; k++)
		list_each (p, lists[k]) {
			list_push(r->a, &out->known, p->key);
			if (strcmp(p->key, key) != 0)
				continue;
			value = p->requirement;
			if (!p->given || !out->asked.n)
				once(r->a, &out->asked, place(r->a, p->at, p->reason));
			once(r->a, &out->sources, p->source);
		}
	for (size_t k = 0; k < 2; k++)
		list_each (c, apt[k]) {
			list_push(r->a, &out->known, c->value);
			if (strcmp(c->value, name) != 0)
				continue;
			value = value ? value : name;
			once(r->a, &out->asked, place(r->a, c->at, c->reason));
			once(r->a, &out->sources, c->source);
		}
	if (!value)
		return false;
	out->name = out->name ? out->name : name;
	if (out->value && strstr(value, out->value))
		return true;
	out->value = out->value ?
			     arena_printf(r->a, "%s (the newest known: %s)", value, out->value) :
			     value;
	return true;
}

/* Finds the coverage of a package, an extension, torch or the base: a part that begins with its name. */
static void
ask_coverage(struct run *r, const struct stack *s, const char *name, struct answer *out)
{
	const char *key = name_normalize(r->a, name);

	list_each (x, &s->parts) {
		const char *what =
			name_normalize(r->a, arena_copy(r->a, x->what, strcspn(x->what, " ")));

		if (out->part || (strcmp(what, key) != 0 && strcmp(name, part_words[x->kind]) != 0))
			continue;
		out->part = x;
		once(r->a, &out->sources, x->source);
	}
}

/* Returns "read 2026-11-23: index page and METADATA". */
static const char *
coverage_words_of(struct run *r, const struct stack_part *x)
{
	bool dated = x->coverage == COVERAGE_READ && x->date;

	return arena_printf(r->a, "%s%s%s: %s", coverage_words[x->coverage], dated ? " " : "",
			    dated ? x->date : "", x->why);
}

static int
nothing_of(struct run *r, const struct solution *solution, const char *name, struct names *known)
{
	const char *near;

	for (size_t i = 0; i < solution->nvariables; i++)
		if (solution_selected(solution, solution->variables[i]->key))
			list_push(r->a, known, solution->variables[i]->key);
	near = str_nearest(name, known->at, known->n);
	return usage_error("this stack has no `%s`%s%s%s", name, near ? "; did you mean `" : "",
			   near ? near : "", near ? "`?" : "");
}

/* --- output --- */

static void
lines(struct buf *out, const char *title, const struct names *all)
{
	for (size_t i = 0; i < all->n; i++)
		buf_printf(out, "  %-10s %s\n", i ? "" : title, all->at[i]);
}

static void
show_text(struct run *r, const struct answer *x)
{
	if (starts_with(x->value, x->name))
		buf_printf(&r->out, "%s\n", x->value);
	else
		buf_printf(&r->out, "%s %s\n", x->name, x->value);
	if (x->part)
		buf_printf(&r->out, "  %-10s %s\n", "coverage", coverage_words_of(r, x->part));
	lines(&r->out, "required", &x->asked);
	lines(&r->out, "because", &x->because);
	lines(&r->out, "requires", &x->demands);
	if (x->possible.n)
		buf_printf(&r->out, "  %-10s %s\n", "possible", x->possible_words);
	lines(&r->out, "not", &x->impossible);
	lines(&r->out, "source", &x->sources);
}

static void
show_json(struct run *r, const struct answer *x)
{
	struct json j = json_to(&r->out);

	json_put(&j,
		 "{'name': %s, 'value': %s, 'coverage': %o, 'coverage_why': %o, 'coverage_date': "
		 "%o, "
		 "'asked_for': %n, 'because': %n, 'asks': %n, 'possible': %n, 'not_possible': %n, "
		 "'sources': %n}",
		 x->name, x->value, x->part ? coverage_words[x->part->coverage] : NULL,
		 x->part ? x->part->why : NULL, x->part ? x->part->date : NULL, &x->asked,
		 &x->because, &x->demands, &x->possible, &x->impossible, &x->sources);
}

int
verb_why(struct run *r)
{
	const struct recipes *rs = pipeline_load(r, &r->ds, r->o->args.at[0], NULL, NULL);
	const char *name = r->o->args.at[1];
	const struct solution *solution;
	const struct stack *s;
	struct diags quiet = DIAGS(quiet, r->a);
	struct answer x = { 0 };
	bool solved, there;

	if (!rs)
		return EXIT_DIAGNOSED;
	/* The verb reports conflicts, but not the warnings of a stack that works. */
	s = resolve(r->a, &quiet, r->facts, rs->at[0], NULL);
	solution = s ? s->solution : resolve_solve(r->a, r->facts, rs->at[0], 0);
	if (!s)
		solution_report(&r->ds, solution, false);
	solved = ask_solver(r, solution, name, &x);
	there = s && ask_stack(r, s, name, &x);
	if (s)
		ask_coverage(r, s, name, &x);
	if (!solved && !there)
		return nothing_of(r, solution, name, &x.known);
	x.value = x.value ? x.value : x.name;
	if (r->o->format == FORMAT_JSON)
		show_json(r, &x);
	else
		show_text(r, &x);
	return EXIT_DONE;
}

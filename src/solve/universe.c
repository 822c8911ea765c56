/* Computes with sets, and reads the provider's variables, candidates and facts. */
#include "internal.h"

#include <string.h>

solve_word *
solve_set(struct arena *a, size_t candidates)
{
	size_t words = SOLVE_WORDS(candidates);

	return arena_array_of(a, solve_word, words ? words : 1);
}

solve_word *
solve_set_full(struct arena *a, size_t candidates)
{
	solve_word *set = solve_set(a, candidates);

	memset(set, 0xff, candidates / 64 * sizeof(solve_word));
	if (candidates % 64)
		set[candidates / 64] = ((solve_word)1 << candidates % 64) - 1;
	return set;
}

size_t
solve_set_count(const solve_word *set, size_t candidates)
{
	size_t count = 0;

	for (size_t i = 0; i < candidates / 64; i++)
		count += (size_t)__builtin_popcountll(set[i]);
	if (candidates % 64)
		count += (size_t)__builtin_popcountll(set[candidates / 64]
						      << (64 - candidates % 64));
	return count;
}

solve_word *
solve_set_not(struct arena *a, const solve_word *set, size_t candidates)
{
	solve_word *out = solve_set_full(a, candidates);

	for (size_t i = 0; i < SOLVE_WORDS(candidates); i++)
		out[i] &= ~set[i];
	return out;
}

struct variable *
universe_meet(struct universe *u, unsigned variable)
{
	struct variable *t;

	while (u->variables.n <= variable)
		list_push(u->scratch, &u->variables,
			  (struct variable){ .decided = -1, .last = -1 });
	t = &u->variables.at[variable];
	if (t->met)
		return t;
	t->met = true;
	t->n = (unsigned)u->p->candidates(u->p->ctx, variable);
	t->words = SOLVE_WORDS(t->n + 1);
	t->rank = u->p->rank ? u->p->rank(u->p->ctx, variable) : 0;
	t->wanted = u->p->wanted ? u->p->wanted(u->p->ctx, variable) : NULL;
	t->full = solve_set_full(u->scratch, t->n + 1);
	t->asked = solve_set(u->scratch, t->n + 1);
	t->domain = t->full;
	return t;
}

static const solve_word *
values(struct universe *u, const struct variable *t, const struct solve_term *term)
{
	solve_word *out = solve_set(u->scratch, t->n + 1);

	if (t->n)
		memcpy(out, term->set, SOLVE_WORDS(t->n) * sizeof *out);
	for (unsigned i = 0; i < t->words; i++)
		out[i] = (term->not ? ~out[i] : out[i]) & t->full[i];
	return out;
}

/* Merges two terms of one variable: the result has the values that are in both. */
static void
also(struct universe *u, struct nogood *g, unsigned variable, const solve_word *bad)
{
	struct variable *t = &u->variables.at[variable];
	solve_word *both;

	for (unsigned k = 0; k < g->n; k++) {
		if (g->terms[k].variable != variable)
			continue;
		both = solve_set(u->scratch, t->n + 1);
		for (unsigned i = 0; i < t->words; i++)
			both[i] = g->terms[k].bad[i] & bad[i];
		g->terms[k].bad = both;
		return;
	}
	g->terms[g->n++] = (struct term){ .variable = variable, .bad = bad };
}

struct nogood *
universe_nogood(struct universe *u, const struct solve_term *terms, size_t n)
{
	struct nogood *g = arena_new_of(u->scratch, struct nogood);
	unsigned kept = 0;

	g->pin = g->line = -1;
	g->terms = arena_array_of(u->scratch, struct term, n ? n : 1);
	for (size_t i = 0; i < n; i++) {
		struct variable *t = universe_meet(u, terms[i].variable);

		also(u, g, terms[i].variable, values(u, t, &terms[i]));
	}
	for (unsigned i = 0; i < g->n; i++) {
		const struct variable *t = &u->variables.at[g->terms[i].variable];

		if (set_apart(t->full, g->terms[i].bad, t->words))
			return NULL;
		if (!set_within(t->full, g->terms[i].bad, t->words))
			g->terms[kept++] = g->terms[i];
	}
	g->n = kept;
	return g;
}

static void
add(struct universe *u, struct solve_fact given)
{
	struct nogood *g = universe_nogood(u, given.terms, given.n);
	struct solve_fact *fact;

	if (!g)
		return;
	fact = arena_new_of(u->a, struct solve_fact);
	*fact = given;
	g->fact = fact;
	list_push(u->scratch, &u->facts, g);
}

void
universe_ask(struct universe *u, unsigned variable, unsigned candidate)
{
	struct solve_facts said = { 0 };

	solve_set_add(u->variables.at[variable].asked, candidate);
	u->p->facts(u->p->ctx, variable, candidate, &said);
	for (size_t i = 0; i < said.n; i++)
		add(u, said.at[i]);
}

/*
 * Learns from a conflict: resolves the violated nogood with the cause of its last narrowing, again
 * and again, until a single decision makes it true. The result is the fact that this decision
 * violated. See PubGrub, "Conflict resolution".
 *
 * From "X in T, and R" and "X in U, and S" follows "X in T or U, and R, and S". Each step is kept:
 * together they derive "nothing is possible" from pins and facts.
 */
#include "internal.h"

static const struct term *
term_on(const struct nogood *g, unsigned variable)
{
	for (unsigned k = 0; k < g->n; k++)
		if (g->terms[k].variable == variable)
			return &g->terms[k];
	return NULL;
}

/* The union for the pivot, intersections for the others; false: the result is empty. */
static bool
mix(struct universe *u, struct term *x, const struct term *y, bool either)
{
	const struct variable *t = &u->variables.at[x->variable];
	solve_word *set = solve_set(u->scratch, t->n + 1);

	for (unsigned i = 0; i < t->words; i++)
		set[i] = either ? x->bad[i] | y->bad[i] : x->bad[i] & y->bad[i];
	x->bad = set;
	return !set_within(t->full, set, t->words);
}

/* Returns the nogood that follows from two. */
static struct nogood *
resolve(struct universe *u, struct nogood *x, struct nogood *y, unsigned pivot)
{
	struct nogood *g = arena_new_of(u->scratch, struct nogood);

	g->pin = g->line = -1;
	g->from[0] = x;
	g->from[1] = y;
	g->terms = arena_array_of(u->scratch, struct term, x->n + y->n);
	for (unsigned k = 0; k < x->n; k++) {
		const struct term *other = term_on(y, x->terms[k].variable);

		g->terms[g->n] = x->terms[k];
		g->n += !other || mix(u, &g->terms[g->n], other, other->variable == pivot);
	}
	for (unsigned k = 0; k < y->n; k++)
		if (!term_on(x, y->terms[k].variable))
			g->terms[g->n++] = y->terms[k];
	return g;
}

bool
search_learn(struct search *s, struct nogood *conflict, struct nogood **next)
{
	struct nogood *g = conflict, *late;
	unsigned before = 0;

	while (g->n) {
		const struct narrowing *e;
		const struct term *left;
		struct latest held[2];
		struct nogood *less;

		search_latest(s, g, held);
		e = &s->trail.at[held[0].at];
		before = held[1].at < 0 ? 0 : s->trail.at[held[1].at].level;
		if (!e->cause)
			break;
		less = resolve(s->u, g, e->cause, e->variable);
		left = term_on(less, e->variable);
		if (left && s->trail.at[search_since(s, left, e->before)].level > before)
			before = s->trail.at[search_since(s, left, e->before)].level;
		if (before < e->level)
			break;
		list_push(s->u->scratch, &s->learned, less);
		g = less;
	}
	if (!g->n) {
		s->bottom = g;
		return false;
	}
	search_back_to(s, before);
	*next = search_attach(s, g);
	late = search_late(s);
	if (!*next)
		*next = late;
	return true;
}

/* --- the proof --- */

/* Iterates backward, because a learned nogood follows from older ones. */
void
search_mark(struct search *s)
{
	for (size_t i = 0; i < s->u->facts.n; i++)
		s->u->facts.at[i]->marked = false;
	s->bottom->marked = true;
	for (size_t i = s->learned.n; i-- > 0;)
		for (int k = 0; k < 2 && s->learned.at[i]->marked; k++)
			s->learned.at[i]->from[k]->marked = true;
}

static int
line_of(struct search *s, struct arena *a, struct solve_proof *out, struct nogood *g)
{
	struct solve_line line = { g->fact, g->pin, { -1, -1 }, NULL, g->n };
	struct solve_term *terms;

	if (g->line >= 0)
		return g->line;
	line.terms = terms = arena_array_of(a, struct solve_term, g->n + 1);
	for (int k = 0; k < 2 && g->from[k]; k++)
		line.from[k] = line_of(s, a, out, g->from[k]);
	for (unsigned k = 0; k < g->n; k++) {
		const struct variable *t = &s->u->variables.at[g->terms[k].variable];
		bool not = solve_set_has(g->terms[k].bad, t->n);
		const solve_word *set = solve_set_not(a, g->terms[k].bad, t->n);

		terms[k] = (struct solve_term){ g->terms[k].variable, not,
						not ? set : solve_set_not(a, set, t->n) };
	}
	list_push(a, out, line);
	return g->line = (int)out->n - 1;
}

void
search_proof(struct search *s, struct arena *a, struct solve_proof *out)
{
	search_mark(s);
	for (size_t i = 0; i < s->u->facts.n; i++)
		s->u->facts.at[i]->line = -1;
	for (size_t i = 0; i < s->learned.n; i++)
		if (s->learned.at[i]->marked)
			line_of(s, a, out, s->learned.at[i]);
	line_of(s, a, out, s->bottom);
}

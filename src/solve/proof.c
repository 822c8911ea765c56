/* The way from pins and facts to "nothing is possible", as far as it was needed. */
#include "internal.h"

static void
mark_steps(const struct nogood *g)
{
	for (size_t i = 0; i < g->from.n; i++)
		g->from.at[i].with->marked = true;
}

/* A learned nogood follows from older ones: from the last one backward nothing is missed. */
void
search_mark(struct search *s)
{
	for (size_t i = 0; i < s->u->facts.n; i++)
		s->u->facts.at[i]->marked = false;
	s->bottom->marked = true;
	for (size_t i = s->learned.n; i-- > 0;)
		if (s->learned.at[i]->marked)
			mark_steps(s->learned.at[i]);
}

/* A set of values as a term of the caller's. */
static struct solve_term
term_of(const struct universe *u, struct arena *a, unsigned thing, const solve_word *bad)
{
	const struct thing *t = &u->things.at[thing];
	bool not = set_has(bad, t->n);
	solve_word *set = solve_set(a, t->n);

	for (unsigned i = 0; i < t->n; i++)
		if (set_has(bad, i) != not )
			solve_set_add(set, i);
	return (struct solve_term){ .thing = thing, .not = not, .set = set };
}

static int
push_line(struct search *s, struct arena *a, struct solve_proof *out, struct solve_line line,
	  const struct term *terms, unsigned n)
{
	struct solve_term *given = arena_array_of(a, struct solve_term, n ? n : 1);

	for (unsigned k = 0; k < n; k++)
		given[k] = term_of(s->u, a, terms[k].thing, terms[k].bad);
	line.terms = given;
	line.n = n;
	list_push(a, out, line);
	return (int)out->n - 1;
}

static int
line_of(struct search *s, struct arena *a, struct solve_proof *out, struct nogood *g)
{
	if (g->line < 0)
		g->line = push_line(
			s, a, out,
			(struct solve_line){ .fact = g->fact, .pin = g->pin, .from = { -1, -1 } },
			g->terms, g->n);
	return g->line;
}

static const solve_word *
mixed(struct universe *u, unsigned thing, const solve_word *x, const solve_word *y, bool either)
{
	const struct thing *t = &u->things.at[thing];
	solve_word *out;

	if (!x || !y)
		return x ? x : y;
	out = solve_set(u->scratch, t->n + 1);
	for (unsigned i = 0; i < t->words; i++)
		out[i] = either ? x[i] | y[i] : x[i] & y[i];
	return set_within(t->full, out, t->words) ? NULL : out;
}

static const solve_word *
bad_of(const struct term *terms, unsigned n, unsigned thing)
{
	for (unsigned k = 0; k < n; k++)
		if (terms[k].thing == thing)
			return terms[k].bad;
	return NULL;
}

/* The resolvent of x and step->with; its terms are n. */
static struct term *
resolvent(struct universe *u, const struct term *x, unsigned nx, const struct step *step,
	  unsigned *n)
{
	const struct nogood *g = step->with;
	struct term *out = arena_array_of(u->scratch, struct term, nx + g->n);

	*n = 0;
	for (unsigned k = 0; k < nx; k++) {
		unsigned thing = x[k].thing;
		const solve_word *bad = mixed(u, thing, x[k].bad, bad_of(g->terms, g->n, thing),
					      thing == step->pivot);

		if (bad)
			out[(*n)++] = (struct term){ .thing = thing, .bad = bad };
	}
	for (unsigned k = 0; k < g->n; k++)
		if (!bad_of(x, nx, g->terms[k].thing))
			out[(*n)++] = g->terms[k];
	return out;
}

static void
chain(struct search *s, struct arena *a, struct solve_proof *out, struct nogood *g)
{
	struct nogood *first = g->from.at[0].with;
	const struct term *terms = first->terms;
	unsigned n = first->n;
	int line = line_of(s, a, out, first);

	for (size_t i = 1; i < g->from.n; i++) {
		const struct step *step = &g->from.at[i];
		int with = line_of(s, a, out, step->with);

		terms = resolvent(s->u, terms, n, step, &n);
		line = push_line(s, a, out,
				 (struct solve_line){ .pin = -1, .from = { line, with } }, terms,
				 n);
	}
	g->line = line;
}

void
search_proof(struct search *s, struct arena *a, struct solve_proof *out)
{
	search_mark(s);
	for (size_t i = 0; i < s->u->facts.n; i++)
		s->u->facts.at[i]->line = -1;
	for (size_t i = 0; i < s->pins.n; i++)
		s->pins.at[i]->line = -1;
	for (size_t i = 0; i < s->learned.n; i++)
		if (s->learned.at[i]->marked)
			chain(s, a, out, s->learned.at[i]);
}

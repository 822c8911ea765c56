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

/* A set of values as a term of the caller's; lines that share it share the caller's set. */
static struct solve_term
term_of(const struct universe *u, struct arena *a, struct term *term)
{
	const struct variable *t = &u->variables.at[term->variable];
	bool not = set_has(term->bad, t->n);
	solve_word *set;

	if (!term->shown) {
		term->shown = set = solve_set(a, t->n);
		for (unsigned i = 0; i < t->n; i++)
			if (set_has(term->bad, i) != not )
				solve_set_add(set, i);
	}
	return (struct solve_term){ .variable = term->variable, .not = not, .set = term->shown };
}

static int
push_line(struct search *s, struct arena *a, struct solve_proof *out, struct solve_line line,
	  struct term *terms, unsigned n)
{
	struct solve_term *given = arena_array_of(a, struct solve_term, n ? n : 1);

	for (unsigned k = 0; k < n; k++)
		given[k] = term_of(s->u, a, &terms[k]);
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

static const struct term *
term_on(const struct term *terms, unsigned n, unsigned variable)
{
	for (unsigned k = 0; k < n; k++)
		if (terms[k].variable == variable)
			return &terms[k];
	return NULL;
}

/* Of the pivot what is in either, of others what is in both.  False: that says nothing. */
static bool
mixed(struct universe *u, const struct term *x, const struct term *y, bool either,
      struct term *result)
{
	const struct variable *t = &u->variables.at[x->variable];
	solve_word *set;

	*result = *x;
	if (!y)
		return true;
	set = solve_set(u->scratch, t->n + 1);
	for (unsigned i = 0; i < t->words; i++)
		set[i] = either ? x->bad[i] | y->bad[i] : x->bad[i] & y->bad[i];
	if (!set_within(x->bad, set, t->words) || !set_within(set, x->bad, t->words))
		*result = (struct term){ .variable = x->variable, .bad = set };
	return !set_within(t->full, set, t->words);
}

/* What follows from x and step->with, in `out`; how many terms it has. */
static unsigned
resolvent(struct universe *u, const struct term *x, unsigned n, const struct step *step,
	  struct term *out)
{
	const struct nogood *g = step->with;
	unsigned kept = 0;

	for (unsigned k = 0; k < n; k++)
		kept += mixed(u, &x[k], term_on(g->terms, g->n, x[k].variable),
			      x[k].variable == step->pivot, &out[kept]);
	for (unsigned k = 0; k < g->n; k++)
		if (!term_on(x, n, g->terms[k].variable))
			out[kept++] = g->terms[k];
	return kept;
}

/* room: two buffers, each for one term a variable. */
static void
chain(struct search *s, struct arena *a, struct solve_proof *out, struct nogood *g,
      struct term *room[2])
{
	struct nogood *first = g->from.at[0].with;
	struct term *terms = first->terms;
	unsigned n = first->n;
	int line = line_of(s, a, out, first);

	for (size_t i = 1; i < g->from.n; i++) {
		const struct step *step = &g->from.at[i];
		int with = line_of(s, a, out, step->with);

		n = resolvent(s->u, terms, n, step, room[i % 2]);
		terms = room[i % 2];
		line = push_line(s, a, out,
				 (struct solve_line){ .pin = -1, .from = { line, with } }, terms,
				 n);
	}
	g->line = line;
}

void
search_proof(struct search *s, struct arena *a, struct solve_proof *out)
{
	struct term *room[2];

	for (int i = 0; i < 2; i++)
		room[i] = arena_array_of(s->u->scratch, struct term, s->u->variables.n + 1);
	search_mark(s);
	for (size_t i = 0; i < s->u->facts.n; i++)
		s->u->facts.at[i]->line = -1;
	for (size_t i = 0; i < s->pins.n; i++)
		s->pins.at[i]->line = -1;
	for (size_t i = 0; i < s->learned.n; i++)
		if (s->learned.at[i]->marked)
			chain(s, a, out, s->learned.at[i], room);
}

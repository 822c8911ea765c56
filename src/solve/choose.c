/*
 * What is decided next.  It depends on nothing but what was decided before and on facts that
 * were given for it: not on what was learned, nor on what was tried elsewhere.  And a value
 * is passed over only if no solution has it, given the decisions before it (whatever is
 * learned follows from facts and pins).  So the first solution found is the one that a search
 * without learning would find first.
 *
 * Therefore "must be there" is read off the facts whose other terms hold by decisions, and
 * not off the domains, which know more the more was learned.
 */
#include "internal.h"

/* If nothing more were decided, and so were not there, would this be broken? */
void
search_asking(struct search *s, struct nogood *g)
{
	unsigned level = 0;

	for (unsigned k = 0; k < g->n; k++) {
		const struct variable *t = &s->u->variables.at[g->terms[k].variable];
		unsigned value = t->decided < 0 ? t->n : (unsigned)t->decided;

		if (!set_has(g->terms[k].bad, value))
			return;
		if (t->decided >= 0 && t->decided_level > level)
			level = t->decided_level;
	}
	list_push(s->u->scratch, &s->asking, (struct asking){ .g = g, .level = level });
}

/* Facts that the decision completes: only one that cannot hold of a variable not there changes. */
void
search_asking_after(struct search *s, unsigned variable, unsigned value)
{
	const struct nogoods *plain = &s->u->variables.at[variable].plain;

	if (value == s->u->variables.at[variable].n)
		return;
	for (size_t i = 0; i < plain->n; i++)
		if (plain->at[i]->attached)
			search_asking(s, plain->at[i]);
	for (size_t i = 0; i < s->conditional.n; i++)
		if (s->conditional.at[i]->terms[0].variable == variable ||
		    s->conditional.at[i]->terms[1].variable == variable)
			search_asking(s, s->conditional.at[i]);
}

static bool
before(const struct search *s, unsigned x, unsigned y)
{
	const struct variable *a = &s->u->variables.at[x], *b = &s->u->variables.at[y];

	return a->rank != b->rank ? a->rank < b->rank : x < y;
}

/* Of the variables that g asks for the first one; how many there are, 0 if it is content. */
static unsigned
asked_for(const struct search *s, const struct nogood *g, unsigned *first)
{
	unsigned open = 0;

	for (unsigned k = 0; k < g->n; k++) {
		unsigned x = g->terms[k].variable;
		const struct variable *t = &s->u->variables.at[x];

		if (t->decided >= 0) {
			if (!set_has(g->terms[k].bad, (unsigned)t->decided))
				return 0;
			continue;
		}
		if (!open || before(s, x, *first))
			*first = x;
		open++;
	}
	return open;
}

bool
search_next(struct search *s, unsigned *variable)
{
	bool must = false, may = false;

	for (size_t i = 0; i < s->asking.n; i++) {
		unsigned x = 0, open = asked_for(s, s->asking.at[i].g, &x);

		if (!open || (open > 1 && must))
			continue;
		if ((open == 1 && !must) || (!must && !may) || before(s, x, *variable))
			*variable = x;
		must |= open == 1;
		may = true;
	}
	return may;
}

/* The most wanted that is left: candidates in their order, then not there. */
unsigned
search_first(const struct variable *t)
{
	unsigned i = 0;

	while (!t->domain[i])
		i++;
	return i * 64 + (unsigned)__builtin_ctzll(t->domain[i]);
}

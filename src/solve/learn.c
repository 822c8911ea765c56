/*
 * What a conflict teaches.  The nogood that all holds is resolved with the cause of the
 * narrowing that made it hold, again and again, until one decision alone made it so; then
 * what is left says what that decision should have known.  See PubGrub, "Conflict resolution".
 *
 * From "X in T, and R" and "X in U, and S" follows "X in T or U, and R, and S".
 */
#include "internal.h"

#include <string.h>

/* The narrowing since which a variable is within part, at or before `at`; -1: always was. */
static int
since(struct search *s, const solve_word *part, unsigned words, int at)
{
	int found = at;

	for (int i = at; i >= 0; i = s->trail.at[i].before) {
		if (!set_within(s->trail.at[i].domain, part, words))
			break;
		found = i;
	}
	return found;
}

static void
part_and(struct search *s, const struct term *term)
{
	struct variable *t = &s->u->variables.at[term->variable];

	if (!t->in_part) {
		t->in_part = true;
		memcpy(t->part, term->bad, t->words * sizeof *t->part);
		list_push(s->u->scratch, &s->parts, term->variable);
	} else {
		for (unsigned i = 0; i < t->words; i++)
			t->part[i] &= term->bad[i];
	}
	t->part_at = since(s, t->part, t->words, t->last);
}

/* The variable whose narrowing made all hold, and at which level the rest did already. */
static unsigned
latest(struct search *s, unsigned *before)
{
	unsigned x = s->parts.at[0];

	*before = 0;
	for (size_t i = 1; i < s->parts.n; i++)
		if (s->u->variables.at[s->parts.at[i]].part_at > s->u->variables.at[x].part_at)
			x = s->parts.at[i];
	for (size_t i = 0; i < s->parts.n; i++) {
		const struct variable *t = &s->u->variables.at[s->parts.at[i]];

		if (s->parts.at[i] != x && s->trail.at[t->part_at].level > *before)
			*before = s->trail.at[t->part_at].level;
	}
	return x;
}

static const solve_word *
bad_of(const struct nogood *g, unsigned variable)
{
	for (unsigned k = 0; k < g->n; k++)
		if (g->terms[k].variable == variable)
			return g->terms[k].bad;
	return NULL;
}

/* Since when the variable is within what is left of its part if `cause` is used for the rest. */
static int
without(struct search *s, unsigned x, const solve_word *bad, solve_word *left)
{
	const struct variable *t = &s->u->variables.at[x];
	int at = s->trail.at[t->part_at].before;

	for (unsigned i = 0; i < t->words; i++)
		left[i] = t->part[i] | bad[i];
	if (set_within(t->full, left, t->words))
		return -1;
	return since(s, left, t->words, at);
}

static void
resolve(struct search *s, unsigned x, struct nogood *cause, int at, const solve_word *left)
{
	struct variable *t = &s->u->variables.at[x];
	size_t k = 0;

	memcpy(t->part, left, t->words * sizeof *left);
	t->part_at = at;
	if (at < 0) {
		t->in_part = false;
		while (s->parts.at[k] != x)
			k++;
		s->parts.at[k] = s->parts.at[--s->parts.n];
	}
	for (unsigned i = 0; i < cause->n; i++)
		if (cause->terms[i].variable != x)
			part_and(s, &cause->terms[i]);
}

/* The parts as a nogood, and no parts again. */
static struct nogood *
learned(struct search *s, struct steps *from)
{
	struct nogood *g = arena_new_of(s->u->scratch, struct nogood);

	g->pin = -1;
	g->terms = arena_array_of(s->u->scratch, struct term, s->parts.n ? s->parts.n : 1);
	g->from = *from;
	for (size_t i = 0; i < s->parts.n; i++) {
		struct variable *t = &s->u->variables.at[s->parts.at[i]];
		solve_word *bad = solve_set(s->u->scratch, t->n + 1);

		memcpy(bad, t->part, t->words * sizeof *bad);
		g->terms[g->n++] = (struct term){ .variable = s->parts.at[i], .bad = bad };
	}
	list_push(s->u->scratch, &s->learned, g);
	return g;
}

static void
forget_parts(struct search *s)
{
	for (size_t i = 0; i < s->parts.n; i++)
		s->u->variables.at[s->parts.at[i]].in_part = false;
	s->parts.n = 0;
}

bool
search_learn(struct search *s, struct nogood *conflict, struct nogood **next)
{
	struct steps from = { 0 };
	struct nogood *g = conflict, *late;
	unsigned before = 0;

	list_push(s->u->scratch, &from, (struct step){ .with = conflict });
	for (unsigned i = 0; i < conflict->n; i++)
		part_and(s, &conflict->terms[i]);
	while (s->parts.n) {
		unsigned x = latest(s, &before);
		const struct narrowing *e = &s->trail.at[s->u->variables.at[x].part_at];
		struct variable *t = &s->u->variables.at[x];
		solve_word *left;
		int own;

		if (!e->cause)
			break;
		left = t->left;
		own = without(s, x, bad_of(e->cause, x), left);
		if (own >= 0 && s->trail.at[own].level > before)
			before = s->trail.at[own].level;
		if (before < e->level)
			break;
		list_push(s->u->scratch, &from, (struct step){ .with = e->cause, .pivot = x });
		resolve(s, x, e->cause, own, left);
	}
	if (from.n > 1 || !s->parts.n)
		g = learned(s, &from);
	if (!s->parts.n) {
		s->bottom = g;
		return false;
	}
	forget_parts(s);
	search_back_to(s, before);
	*next = search_attach(s, g);
	late = search_late(s);
	if (!*next)
		*next = late;
	return true;
}

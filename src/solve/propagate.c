/* Propagation: makes domains smaller, and larger again when a decision is undone. */
#include "internal.h"

#include <string.h>

static bool
holds(const struct search *s, const struct term *term)
{
	const struct variable *t = &s->u->variables.at[term->variable];

	return set_within(t->domain, term->bad, t->words);
}

int
search_since(const struct search *s, const struct term *term, int at)
{
	unsigned words = s->u->variables.at[term->variable].words;
	int found = at;

	for (int i = at; i >= 0; i = s->trail.at[i].before) {
		if (!set_within(s->trail.at[i].domain, term->bad, words))
			break;
		found = i;
	}
	return found;
}

void
search_latest(const struct search *s, const struct nogood *g, struct latest best[2])
{
	best[0] = best[1] = (struct latest){ 0, -1 };
	for (unsigned k = 0; k < g->n; k++) {
		const struct term *term = &g->terms[k];
		int at = holds(s, term) ?
				 search_since(s, term, s->u->variables.at[term->variable].last) :
				 (int)s->trail.n;

		if (at > best[0].at) {
			best[1] = best[0];
			best[0] = (struct latest){ k, at };
		} else if (at > best[1].at) {
			best[1] = (struct latest){ k, at };
		}
	}
}

/* Returns memory for the next narrowing of a variable, which has at most one for each value. */
static solve_word *
room(struct search *s, struct variable *t)
{
	if (t->depth == t->room.n)
		list_push(s->u->scratch, &t->room, solve_set(s->u->scratch, t->n + 1));
	return t->room.at[t->depth++];
}

static void
narrowed(struct search *s, unsigned variable, const solve_word *domain, struct nogood *cause)
{
	struct variable *t = &s->u->variables.at[variable];

	list_push(s->u->scratch, &s->trail,
		  (struct narrowing){ .variable = variable,
				      .level = s->level,
				      .cause = cause,
				      .before = t->last,
				      .domain = domain });
	t->domain = domain;
	t->last = (int)s->trail.n - 1;
}

/* Makes a term false because all other terms are true. */
static void
rule_out(struct search *s, struct nogood *g, unsigned k)
{
	struct variable *t = &s->u->variables.at[g->terms[k].variable];
	const solve_word *bad = g->terms[k].bad;
	solve_word *domain;

	if (set_apart(t->domain, bad, t->words))
		return;
	domain = room(s, t);
	for (unsigned i = 0; i < t->words; i++)
		domain[i] = t->domain[i] & ~bad[i];
	narrowed(s, g->terms[k].variable, domain, g);
}

/*
 * Evaluates a new nogood. Its conclusion is lost when the search leaves its level, even if it
 * follows from an earlier level: the nogood is then evaluated again.
 */
static struct nogood *
look(struct search *s, struct nogood *g, bool *late)
{
	unsigned open = 0, which = 0;

	for (unsigned k = 0; k < g->n && open < 2; k++) {
		if (!holds(s, &g->terms[k])) {
			open++;
			which = k;
		}
	}
	*late = open < 2 && s->level > 0;
	if (open == 0)
		return g;
	if (open == 1)
		rule_out(s, g, which);
	return NULL;
}

static void
watch(struct search *s, struct nogood *g, unsigned slot, unsigned k)
{
	const struct term *term = &g->terms[k];

	g->watch[slot] = k;
	list_push(s->u->scratch, &s->u->variables.at[term->variable].watches,
		  (struct watch){ .g = g, .bad = term->bad, .first = term->bad[0], .slot = slot });
}

struct nogood *
search_attach(struct search *s, struct nogood *g)
{
	struct nogood *conflict;
	struct latest best[2];
	bool late;

	if (g->n > 1 && !g->attached) {
		search_latest(s, g, best);
		watch(s, g, 0, best[0].k);
		watch(s, g, 1, best[1].k);
	}
	g->attached = true;
	conflict = look(s, g, &late);
	if (late) {
		g->level = s->level;
		list_push(s->u->scratch, &s->late, g);
	}
	return conflict;
}

/* Evaluates late nogoods again after the search has gone back past their level. */
struct nogood *
search_late(struct search *s)
{
	struct nogood *conflict = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < s->late.n; i++) {
		struct nogood *g = s->late.at[i], *bad = NULL;
		bool late = true;

		if (g->level > s->level) {
			bad = look(s, g, &late);
			g->level = s->level;
		}
		if (bad)
			conflict = bad;
		if (late)
			s->late.at[kept++] = g;
	}
	s->late.n = kept;
	return conflict;
}

/* Handles a watched term that became true; returns true if another term is watched instead. */
static bool
visit(struct search *s, const struct watch *w, struct nogood **conflict)
{
	struct nogood *g = w->g;
	const unsigned *watched = g->watch, other = watched[1 - w->slot];
	const struct variable *o = &s->u->variables.at[g->terms[other].variable];

	if (set_apart(o->domain, g->terms[other].bad, o->words))
		return false;
	for (unsigned k = 0; k < g->n; k++)
		if (k != watched[0] && k != watched[1] && !holds(s, &g->terms[k])) {
			watch(s, g, w->slot, k);
			return true;
		}
	if (holds(s, &g->terms[other]))
		*conflict = g;
	else
		rule_out(s, g, other);
	return false;
}

/* Evaluates the nogoods that a narrowing of the variable may complete. */
static struct nogood *
visit_all(struct search *s, struct variable *t)
{
	struct nogood *conflict = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < t->watches.n; i++) {
		struct watch w = t->watches.at[i];

		if ((t->domain[0] & ~w.first) || conflict ||
		    !set_within(t->domain, w.bad, t->words) || !visit(s, &w, &conflict))
			t->watches.at[kept++] = w;
	}
	t->watches.n = kept;
	return conflict;
}

struct nogood *
search_propagate(struct search *s)
{
	while (s->done < s->trail.n) {
		unsigned variable = s->trail.at[s->done++].variable;
		struct nogood *conflict = visit_all(s, &s->u->variables.at[variable]);

		if (conflict)
			return conflict;
	}
	return NULL;
}

void
search_decide(struct search *s, unsigned variable, unsigned value)
{
	struct variable *t = &s->u->variables.at[variable];
	solve_word *domain;

	s->level++;
	t->decided = (int)value;
	t->decided_level = s->level;
	list_push(s->u->scratch, &s->decided, variable);
	domain = room(s, t);
	memset(domain, 0, t->words * sizeof *domain);
	solve_set_add(domain, value);
	if (set_within(t->domain, domain, t->words))
		t->depth--;
	else
		narrowed(s, variable, domain, NULL);
}

void
search_back_to(struct search *s, unsigned level)
{
	size_t kept = 0;

	for (; s->trail.n && s->trail.at[s->trail.n - 1].level > level; s->trail.n--) {
		const struct narrowing *e = &s->trail.at[s->trail.n - 1];
		struct variable *t = &s->u->variables.at[e->variable];

		t->last = e->before;
		t->domain = e->before < 0 ? t->full : s->trail.at[e->before].domain;
		t->depth--;
	}
	for (; s->decided.n; s->decided.n--) {
		struct variable *t = &s->u->variables.at[s->decided.at[s->decided.n - 1]];

		if (t->decided_level <= level)
			break;
		t->decided = -1;
	}
	for (size_t i = 0; i < s->asking.n; i++) {
		struct asking one = s->asking.at[i];

		if (one.met > level)
			one.met = 0;
		if (one.level <= level)
			s->asking.at[kept++] = one;
	}
	s->asking.n = kept;
	s->level = level;
	s->done = s->trail.n;
}

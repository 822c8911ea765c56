/*
 * Explains an impossible problem with few pins and few facts: removes them from the proof one by
 * one, as long as the rest is still impossible.
 */
#include "internal.h"

struct inquiry {
	struct arena *a;
	struct universe u;
	struct search s;
	const struct solve_pin *pins;
	size_t npins;
	bool *on;
	unsigned left, saved; /* budget left, and the part not used for making a conflict smaller */
	bool gave_up;
};

static enum solve_status
run(struct inquiry *q, const bool *on)
{
	return search_run(&q->s, &q->u, q->pins, q->npins, on, &q->left);
}

/* Keeps only the pins and facts of the proof. */
static void
keep_marked(struct inquiry *q, bool *on)
{
	search_mark(&q->s);
	for (size_t i = 0; i < q->npins; i++)
		on[i] = false;
	for (size_t i = 0; i < q->s.pins.n; i++)
		if (q->s.pins.at[i]->marked)
			on[q->s.pins.at[i]->pin] = true;
}

/* Closes the problem: no more calls of the provider, and facts outside the last proof are off. */
static void
set_closed(struct universe *u, bool closed)
{
	u->closed = closed;
	for (size_t i = 0; i < u->facts.n; i++)
		u->facts.at[i]->off = closed && !u->facts.at[i]->marked;
}

/* An unknown result keeps the conflict unchanged. */
static bool
still(struct inquiry *q, const bool *on)
{
	enum solve_status status;

	if (q->left <= q->saved) {
		q->gave_up = true;
		return false;
	}
	q->left -= q->saved;
	status = run(q, on);
	q->left += q->saved;
	q->gave_up |= status == SOLVE_GAVE_UP;
	return status == SOLVE_IMPOSSIBLE;
}

/* Returns the next pin to remove: first the untried fixed ones, then the heaviest one. */
static size_t
next_to_leave(const struct inquiry *q, const bool *on, const bool *tried)
{
	size_t best = q->npins;

	for (size_t i = 0; i < q->npins; i++) {
		const struct solve_pin *p = &q->pins[i], *b = &q->pins[best];

		if (on[i] && !tried[i] &&
		    (best == q->npins || (p->fixed != b->fixed ? p->fixed : p->weight > b->weight)))
			best = i;
	}
	return best;
}

/* Prefers pins that are cheap to change in the conflict. */
static void
fewer_pins(struct inquiry *q, bool *on)
{
	bool *tried = arena_array_of(q->u.a, bool, q->npins + 1);

	for (size_t i; (i = next_to_leave(q, on, tried)) < q->npins;) {
		tried[i] = true;
		on[i] = false;
		if (still(q, on))
			keep_marked(q, on);
		else
			on[i] = true;
	}
}

static void
fewer_facts(struct inquiry *q, bool *on)
{
	for (size_t i = 0; i < q->u.facts.n; i++) {
		struct nogood *g = q->u.facts.at[i];

		if (g->off)
			continue;
		g->off = true;
		if (still(q, on)) {
			keep_marked(q, on);
			set_closed(&q->u, true);
		} else {
			g->off = false;
		}
	}
}

/* Removes the pins of a conflict before the search for the next one. A fixed pin stays, because it
 * is never changed and may be in several. */
static void
take_away(struct inquiry *q, const bool *on)
{
	bool all = true;

	for (size_t i = 0; i < q->npins; i++)
		all = all && (!on[i] || q->pins[i].fixed);
	for (size_t i = 0; i < q->npins; i++)
		if (on[i] && (all || !q->pins[i].fixed))
			q->on[i] = false;
}

/* Makes a conflict small and proves it; if that takes too much work, the conflict stays as
 * found. */
static void
cut_down(struct inquiry *q, bool *on, struct solve_proof *proof)
{
	keep_marked(q, on);
	q->saved = 2 * q->s.steps + 1;
	if (q->left < 2 * q->saved) {
		q->gave_up = true;
		search_proof(&q->s, q->a, proof);
		return;
	}
	/* First tries few facts, which is fast; then tries the effect of one pin with all facts. */
	set_closed(&q->u, true);
	fewer_pins(q, on);
	set_closed(&q->u, false);
	fewer_pins(q, on);
	set_closed(&q->u, true);
	fewer_facts(q, on);
	if (run(q, on) == SOLVE_IMPOSSIBLE)
		search_proof(&q->s, q->a, proof);
	else
		q->gave_up = true;
	set_closed(&q->u, false);
}

/* Returns the conflict of the last run. */
static struct solve_conflict
told(struct inquiry *q)
{
	struct solve_conflict c = { 0 };
	bool *on = arena_array_of(q->u.scratch, bool, q->npins + 1);

	cut_down(q, on, &c.proof);
	for (size_t i = 0; i < c.proof.n; i++)
		if (c.proof.at[i].fact)
			list_push(q->a, &c.facts, *c.proof.at[i].fact);
	for (size_t i = 0; !c.proof.n && i < q->u.facts.n; i++)
		if (q->u.facts.at[i]->marked)
			list_push(q->a, &c.facts, *q->u.facts.at[i]->fact);
	for (size_t i = 0; i < q->npins; i++)
		if (on[i])
			list_push(q->a, &c.pins, (unsigned)i);
	take_away(q, on);
	return c;
}

struct solve_conflicts
solve_conflicts(struct arena *a, const struct solve_provider *p, const struct solve_pin *pins,
		size_t npins, struct solve_budget budget, bool *gave_up)
{
	struct inquiry q = { .a = a,
			     .u = { .a = a, .scratch = arena_new(), .p = p },
			     .pins = pins,
			     .npins = npins,
			     .left = budget.steps };
	struct solve_conflicts out = { 0 };
	enum solve_status status;

	q.on = arena_array_of(q.u.scratch, bool, npins ? npins : 1);
	for (size_t i = 0; i < npins; i++)
		q.on[i] = true;
	while ((status = run(&q, q.on)) == SOLVE_IMPOSSIBLE) {
		struct solve_conflict c = told(&q);

		list_push(a, &out, c);
		if (!c.pins.n)
			break;
	}
	if (gave_up)
		*gave_up = q.gave_up || status == SOLVE_GAVE_UP;
	arena_free(q.u.scratch);
	return out;
}

#include "matrix.h"

/*
 * Selects the next unit of a matrix for a free worker: wheels first, then the cells with their
 * wheels.
 */

static bool
needs(const struct matrix *m, size_t cell, size_t wheel)
{
	const struct indexes *all = &m->cells.at[cell].wheels;

	return list_any(x, all, *x == wheel);
}

/* Records that a cell needs a wheel. A wheel for one cell is compiled with the cell, which saves a
 * second environment or a second build of the base stage. */
static void
add_need(struct schedule *s, struct unit *cell, size_t wheel)
{
	struct unit *w = &s->units[wheel];

	if (s->m->wheels.at[wheel].cells == 1) {
		cell->cost_s += w->cost_s;
		cell->rest_s += w->cost_s;
		cell->unknown |= w->unknown;
		return;
	}
	w->state = UNIT_WAITING;
	if (w->rest_s < w->cost_s + cell->cost_s)
		w->rest_s = w->cost_s + cell->cost_s;
}

struct schedule
schedule_new(struct arena *a, const struct matrix *m, struct indexes cells)
{
	struct schedule s = { .m = m, .n = m->wheels.n + m->cells.n };

	s.units = arena_array_of(a, struct unit, s.n);
	s.bases = arena_array_of(a, enum base_state, m->bases.n);
	for (size_t i = 0; i < m->wheels.n; i++)
		s.units[i] = (struct unit){ .wheel = true,
					    .of = i,
					    .base = m->wheels.at[i].base,
					    .cost_s = m->wheels.at[i].cost_s,
					    .unknown = m->wheels.at[i].unknown,
					    .state = UNIT_LEFT };
	for (size_t i = 0; i < m->cells.n; i++)
		s.units[m->wheels.n + i] = (struct unit){ .of = i,
							  .base = m->cells.at[i].base,
							  .cost_s = m->cells.at[i].cost_s,
							  .rest_s = m->cells.at[i].cost_s,
							  .state = UNIT_LEFT };
	for (size_t i = 0; i < cells.n; i++) {
		const struct matrix_cell *c = &m->cells.at[cells.at[i]];

		s.units[m->wheels.n + cells.at[i]].state = UNIT_WAITING;
		for (size_t k = 0; k < c->wheels.n; k++)
			add_need(&s, &s.units[m->wheels.n + cells.at[i]], c->wheels.at[k]);
	}
	return s;
}

/* Returns true if all wheels of a cell are finished. */
static bool
is_ready(const struct schedule *s, const struct unit *u)
{
	const struct indexes *wheels = &s->m->cells.at[u->of].wheels;

	for (size_t i = 0; !u->wheel && i < wheels->n; i++)
		if (s->units[wheels->at[i]].state != UNIT_DONE &&
		    s->units[wheels->at[i]].state != UNIT_LEFT)
			return false;
	return true;
}

int
schedule_next(struct schedule *s)
{
	struct unit *best = NULL;
	bool best_waits = false;

	for (size_t i = 0; i < s->n; i++) {
		struct unit *u = &s->units[i];
		bool waits = s->bases[u->base] == BASE_RUNNING;

		if (u->state != UNIT_WAITING || (best && waits > best_waits) ||
		    (best && waits == best_waits && u->rest_s <= best->rest_s) || !is_ready(s, u))
			continue;
		best = u;
		best_waits = waits;
	}
	if (!best)
		return NO_UNIT;
	best->state = UNIT_RUNNING;
	if (s->bases[best->base] == BASE_ABSENT)
		s->bases[best->base] = BASE_RUNNING;
	return (int)(best - s->units);
}

void
schedule_end(struct schedule *s, size_t unit, bool good)
{
	struct unit *u = &s->units[unit];

	u->state = good ? UNIT_DONE : UNIT_FAILED;
	s->bases[u->base] = good ? BASE_READY : BASE_ABSENT;
	for (size_t i = s->m->wheels.n; !good && u->wheel && i < s->n; i++)
		if (s->units[i].state == UNIT_WAITING && needs(s->m, s->units[i].of, u->of)) {
			s->units[i].state = UNIT_BLOCKED;
			s->units[i].cause = unit;
		}
}

void
schedule_leave(struct schedule *s, size_t cell)
{
	const struct indexes *wheels = &s->m->cells.at[cell].wheels;

	s->units[s->m->wheels.n + cell].state = UNIT_LEFT;
	for (size_t i = 0; i < wheels->n; i++) {
		bool wanted = false;

		for (size_t k = s->m->wheels.n; k < s->n && !wanted; k++)
			wanted = s->units[k].state == UNIT_WAITING &&
				 needs(s->m, s->units[k].of, wheels->at[i]);
		if (!wanted)
			s->units[wheels->at[i]].state = UNIT_LEFT;
	}
}

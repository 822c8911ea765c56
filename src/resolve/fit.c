#include "fit_work.h"

/* The rows as the solver's provider, and the order in which it is asked. */

enum {
	ROWS = 0
#define FIT_EACH(...) +1
#define FIT_ONCE(...) +1
#include "rows.def"
#undef FIT_EACH
#undef FIT_ONCE
};

static const struct fit_row rows[ROWS] = {
#define FIT_EACH(name, when, strength, code, telling, rules) \
	{ #name, when, strength, code, telling, rules },
#define FIT_ONCE(name, when, strength, code, telling, rules) \
	{ #name, when, strength, code, telling, rules },
#include "rows.def"
#undef FIT_EACH
#undef FIT_ONCE
};

static const struct {
	fit_row_fn *make;
	bool once;
} makers[ROWS] = {
#define FIT_EACH(name, ...) { fit_row_##name, false },
#define FIT_ONCE(name, ...) { fit_row_##name, true },
#include "rows.def"
#undef FIT_EACH
#undef FIT_ONCE
};

const struct fit_row *
fit_rows(size_t *n)
{
	*n = ROWS;
	return rows;
}

/* --- the provider --- */

static void
make(struct fit_work *w, unsigned thing, size_t candidate, bool once, struct solve_facts *out)
{
	for (size_t i = 0; i < ROWS; i++) {
		struct fit_ask q = { w, &rows[i], thing, candidate, out };

		if (rows[i].when == fit_at(w, thing)->kind && makers[i].once == once)
			makers[i].make(&q);
	}
}

static void
give(struct fit_work *w, const struct solve_facts *from, struct solve_facts *out)
{
	for (size_t i = 0; i < from->n; i++) {
		const struct fit_fact *why = from->at[i].why;

		if (!why->off && why->row->strength <= w->upto)
			list_push(w->a, out, from->at[i]);
	}
}

static size_t
provide_candidates(void *ctx, unsigned thing)
{
	return fit_at(ctx, thing)->n;
}

static void
provide_facts(void *ctx, unsigned thing, size_t candidate, struct solve_facts *out)
{
	struct fit_work *w = ctx;
	struct fit_slot *s = w->slots.at[thing];
	struct fit_given *g;

	if (!s->whole.made) {
		s->whole.made = true;
		make(w, thing, 0, true, &s->whole.facts);
	}
	if (s->epoch != w->epoch) {
		s->epoch = w->epoch;
		give(w, &s->whole.facts, out);
	}
	if (!s->given)
		s->given = arena_array_of(w->a, struct fit_given, s->t.n);
	g = &s->given[candidate];
	if (!g->made) {
		g->made = true;
		make(w, thing, candidate, false, &g->facts);
	}
	give(w, &g->facts, out);
}

/*
 * What is decided first is newest: torch, then what the recipe compiles against it; what
 * only has to fit comes last.
 */
static unsigned
provide_rank(void *ctx, unsigned thing)
{
	static const unsigned char rank[FIT_KINDS] = {
		[FIT_TORCH] = 1,   [FIT_EXTENSION] = 2, [FIT_INDEX] = 0,  [FIT_BASE] = 0,
		[FIT_GPU] = 0,     [FIT_MACHINE] = 0,   [FIT_DRIVER] = 0, [FIT_SOURCE] = 3,
		[FIT_BUILD] = 4,   [FIT_CUDA] = 5,      [FIT_OS] = 6,     [FIT_PYTHON] = 7,
		[FIT_PACKAGE] = 8,
	};

	return rank[fit_at(ctx, thing)->kind];
}

struct solve_provider
fit_provider(struct fit_work *w)
{
	w->epoch++;
	return (struct solve_provider){ w, provide_candidates, provide_facts, provide_rank };
}

/* --- facts --- */

static void
add(struct fit_ask *q, const struct solve_term *terms, size_t n, const char *source,
    const char *fmt, va_list ap)
{
	struct arena *a = q->w->a;
	struct solve_term *copy = arena_array_of(a, struct solve_term, n);
	struct fit_fact *why = arena_new_of(a, struct fit_fact);

	memcpy(copy, terms, n * sizeof(*terms));
	*why = (struct fit_fact){ .row = q->row,
				  .sentence = arena_vprintf(a, fmt, ap),
				  .source = source,
				  .thing = q->thing };
	list_push(a, q->out, (struct solve_fact){ copy, n, why });
	q->w->made++;
}

struct solve_term
fit_is(struct fit_work *w, unsigned thing, size_t candidate)
{
	return (struct solve_term){ .thing = thing, .set = fit_one(w, thing, candidate) };
}

static void
two(struct fit_ask *q, const solve_word *these, unsigned then, const solve_word *those, bool needs,
    const char *source, const char *fmt, va_list ap)
{
	struct fit_work *w = q->w;
	struct solve_term terms[2] = {
		{ .thing = q->thing, .set = these },
		{ .thing = then,
		  .not = needs,
		  .set = needs ? those : solve_set_not(w->a, those, fit_at(w, then)->n) },
	};

	/* What rules nothing out is no fact. */
	if (!needs && !solve_set_count(terms[1].set, fit_at(w, then)->n))
		return;
	add(q, terms, 2, source, fmt, ap);
}

#define WITH_ARGS(call) \
	do { \
		va_list ap; \
		va_start(ap, fmt); \
		call; \
		va_end(ap); \
	} while (0)

void
fit_needs(struct fit_ask *q, unsigned then, const solve_word *those, const char *source,
	  const char *fmt, ...)
{
	WITH_ARGS(
		two(q, fit_one(q->w, q->thing, q->candidate), then, those, true, source, fmt, ap));
}

void
fit_allows(struct fit_ask *q, unsigned then, const solve_word *those, const char *source,
	   const char *fmt, ...)
{
	WITH_ARGS(
		two(q, fit_one(q->w, q->thing, q->candidate), then, those, false, source, fmt, ap));
}

void
fit_needs_if(struct fit_ask *q, const solve_word *these, unsigned then, const solve_word *those,
	     const char *source, const char *fmt, ...)
{
	WITH_ARGS(two(q, these, then, those, true, source, fmt, ap));
}

void
fit_allows_if(struct fit_ask *q, const solve_word *these, unsigned then, const solve_word *those,
	      const char *source, const char *fmt, ...)
{
	WITH_ARGS(two(q, these, then, those, false, source, fmt, ap));
}

void
fit_clash(struct fit_ask *q, const struct solve_term *terms, size_t n, const char *source,
	  const char *fmt, ...)
{
	WITH_ARGS(add(q, terms, n, source, fmt, ap));
}

/* --- solving --- */

/* check is to answer in 100 ms, whatever it is asked; for each pin there is a little more. */
enum { FIT_STEPS = 3000 };

/* The fact of a conflict that tells most; the weakest strength in it. */
static struct fit_conflict
conflict_of(struct arena *a, const struct solve_conflict *c)
{
	struct solve_conflict *kept = arena_new_of(a, struct solve_conflict);
	struct fit_conflict found = { .code = E_FIT, .found = kept };
	unsigned most = 0;

	*kept = *c;
	for (size_t i = 0; i < c->facts.n; i++) {
		const struct fit_row *row = ((const struct fit_fact *)c->facts.at[i].why)->row;

		if (row->telling > most) {
			most = row->telling;
			found.code = row->code;
		}
		if (row->strength > found.strength)
			found.strength = row->strength;
	}
	return found;
}

/*
 * Which error names a pin: one at most, but for what is given.  That is let go only where a
 * conflict is about nothing else.
 */
static void
mark_pins(struct fit_work *w, const struct fit *fit)
{
	w->error_of = arena_array_of(w->a, unsigned, fit->npins + 1);
	for (unsigned k = 0; k < fit->errors.n; k++) {
		const struct solve_indexes *pins = &fit->errors.at[k].found->pins;
		bool given = true;

		for (size_t j = 0; j < pins->n; j++)
			given &= fit->solve_pins[pins->at[j]].fixed;
		for (size_t j = 0; j < pins->n; j++)
			if (given || !fit->solve_pins[pins->at[j]].fixed)
				w->error_of[pins->at[j]] = k + 1;
	}
}

bool
fit_pin_in_error(const struct fit *fit, unsigned pin, const struct solve_conflict *but)
{
	unsigned k = fit->work->error_of[pin];

	return k && fit->errors.at[k - 1].found != but;
}

/* The pins that are in no error. */
static size_t
pins_left(const struct fit *fit, struct solve_pin *left)
{
	size_t n = 0;

	for (unsigned i = 0; i < fit->npins; i++)
		if (!fit_pin_in_error(fit, i, NULL))
			left[n++] = fit->solve_pins[i];
	return n;
}

static void
find_errors(struct fit_work *w, struct fit *fit)
{
	struct solve_provider p;
	struct solve_conflicts found;

	w->upto = FIT_HARD;
	p = fit_provider(w);
	found = solve_conflicts(w->a, &p, fit->solve_pins, fit->npins, w->budget, &fit->gave_up);
	for (size_t i = 0; i < found.n; i++)
		list_push(w->a, &fit->errors, conflict_of(w->a, &found.at[i]));
	mark_pins(w, fit);
}

/* Indexes of pins in `left` as those of all. */
static void
renumber(const struct fit *fit, const struct solve_pin *left, struct solve_conflict *c)
{
	for (size_t i = 0; i < c->pins.n; i++)
		for (size_t k = 0; k < fit->npins; k++)
			if (fit->solve_pins[k].why == left[c->pins.at[i]].why) {
				c->pins.at[i] = (unsigned)k;
				break;
			}
}

static void
find_warnings(struct fit_work *w, struct fit *fit, const struct solve_pin *left, size_t n)
{
	bool gave_up = false, more = true;

	w->upto = FIT_WARN;
	while (more && !gave_up) {
		struct solve_provider p = fit_provider(w);
		struct solve_conflicts found =
			solve_conflicts(w->a, &p, left, n, w->budget, &gave_up);

		more = false;
		for (size_t i = 0; i < found.n; i++) {
			struct fit_conflict c;

			if (!fit_switch_off(&found.at[i].facts, FIT_WARN, true))
				continue;
			renumber(fit, left, &found.at[i]);
			c = conflict_of(w->a, &found.at[i]);
			list_push(w->a, &fit->warnings, c);
			more = true;
		}
	}
	fit->gave_up |= gave_up;
}

static void
take(struct fit *fit, struct solve_result r)
{
	fit->gave_up |= r.status == SOLVE_GAVE_UP;
	fit->chosen = r.chosen;
	fit->nchosen = r.status == SOLVE_FOUND ? r.nthings : 0;
}

/* Most recipes are fine: then the first answer is the last. */
static bool
all_fits(struct fit_work *w, struct fit *fit)
{
	struct solve_result r = fit_best(w, fit->solve_pins, fit->npins);

	if (r.status == SOLVE_FOUND && !w->warned) {
		take(fit, r);
		mark_pins(w, fit);
		return true;
	}
	fit_wake(w, FIT_WARN);
	return false;
}

/* What cannot be, first; then, without it, what only may not; then the rest is chosen. */
static void
judge(struct fit_work *w, struct fit *fit)
{
	struct solve_pin *left = arena_array_of(w->a, struct solve_pin, fit->npins + 1);
	size_t n;

	find_errors(w, fit);
	n = pins_left(fit, left);
	find_warnings(w, fit, left, n);
	take(fit, fit_best(w, left, n));
}

/* True if the thing of a plain term was chosen so. */
static bool
term_holds(const struct fit *fit, const struct solve_term *t)
{
	return t->thing < fit->nchosen && fit->chosen[t->thing] >= 0 &&
	       solve_set_has(t->set, (size_t)fit->chosen[t->thing]);
}

const struct fit *
fit_solve(struct arena *a, const struct facts *f, const struct recipe *r)
{
	return fit_solve_within(a, f, r, 0);
}

const struct fit *
fit_solve_within(struct arena *a, const struct facts *f, const struct recipe *r, unsigned steps)
{
	struct fit *fit = arena_new_of(a, struct fit);
	struct fit_work *w = arena_new_of(a, struct fit_work);

	*w = (struct fit_work){ .a = a, .f = f, .r = r, .by_key = MAP(a) };
	fit_pins(w);
	w->budget.steps = steps ? steps : FIT_STEPS + 4 * (unsigned)w->pins.n;
	*fit = (struct fit){ .facts = f, .recipe = r, .work = w };
	fit->pins = w->pins.at;
	fit->solve_pins = w->solve_pins.at;
	fit->npins = w->pins.n;
	if (!all_fits(w, fit))
		judge(w, fit);
	fit->things = arena_array_of(a, struct fit_thing, w->slots.n + 1);
	fit->nthings = w->slots.n;
	for (size_t i = 0; i < w->slots.n; i++)
		((struct fit_thing *)(uintptr_t)fit->things)[i] = w->slots.at[i]->t;
	for (size_t i = 0; i < w->unjudged.n; i++)
		if (!w->unjudged.at[i].when || term_holds(fit, w->unjudged.at[i].when))
			list_push(a, &fit->unjudged, w->unjudged.at[i].name);
	fit->facts_used = w->made;
	return fit;
}

const struct fit_thing *
fit_thing(const struct fit *fit, const char *key)
{
	int at = fit_find(fit->work, key);

	return at < 0 ? NULL : &fit->work->slots.at[at]->t;
}

const struct fit_candidate *
fit_chosen(const struct fit *fit, const char *key)
{
	int at = fit_find(fit->work, key);

	if (at < 0 || (size_t)at >= fit->nchosen || fit->chosen[at] < 0)
		return NULL;
	return &fit->work->slots.at[at]->t.c[fit->chosen[at]];
}

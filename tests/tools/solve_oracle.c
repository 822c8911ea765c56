/*
 * solve_oracle -- compares the solver with exhaustive search, on small random worlds.
 *
 *   in      arguments: the number of worlds, the seed, and the first world
 *   out     TAP, one line for each property; a failure has the number of its world, which can be
 *           passed as the third argument
 */
#include "solve_world.h"

enum property {
	SAME,
	KEPT,
	BEST,
	PROVEN,
	BOUNDED,
	CONFLICTS,
	SMALLEST,
	FACTS,
	SPARE,
	CPROVEN,
	APART,
	ENOUGH,
	CBOUNDED,
	REPAIRS,
	MINIMAL,
	ORDER,
	RESULT,
	PROPERTIES
};
static const char *const names[PROPERTIES] = {
	[SAME] = "possible or not: as counted out",
	[KEPT] = "what is chosen breaks no fact and no pin",
	[BEST] = "what is chosen is the best in the stated order",
	[PROVEN] = "every line of a proof follows from those it names",
	[BOUNDED] = "a small budget: the same answer, or none",
	[CONFLICTS] = "conflicts: none if and only if all pins together are possible",
	[SMALLEST] = "a conflict's pins are impossible, without any one of them possible",
	[FACTS] = "a conflict's facts are true and with its pins impossible",
	[SPARE] = "a conflict's facts: without any one of them possible",
	[CPROVEN] = "a conflict's proof follows from its pins and facts, and names all of them",
	[APART] = "no pin that is not fixed is in two conflicts",
	[ENOUGH] = "without all pins named in conflicts the rest is possible",
	[CBOUNDED] = "a small budget: what is told is true, or all that there is",
	[REPAIRS] = "repairs: none if and only if there is none",
	[MINIMAL] = "a repair is one, and none of its pins can stay",
	[ORDER] = "a repair is the first in the stated order",
	[RESULT] = "what is chosen after a repair is the best",
};
static unsigned asked[PROPERTIES], failed[PROPERTIES];

static void
expect(const struct world *w, enum property p, bool good)
{
	asked[p]++;
	if (good)
		return;
	if (!failed[p]++)
		printf("# world %u: not: %s\n", w->number, names[p]);
}

/* --- proofs --- */

static bool
line_holds(const struct world *w, const struct solve_line *l, const int *value)
{
	for (size_t k = 0; k < l->n; k++) {
		struct part t = { l->terms[k].variable, l->terms[k].not, l->terms[k].set[0] };

		if (!part_holds(w, &t, (unsigned)value[t.variable]))
			return false;
	}
	return true;
}

/* Returns whether lines[1] or lines[2] forbids all that lines[0] forbids, for all values. */
static bool
follows(const struct world *w, const struct solve_line *const *lines, int *value, unsigned variable)
{
	bool named = false;

	if (variable == w->nvariables)
		return !line_holds(w, lines[0], value) || line_holds(w, lines[1], value) ||
		       line_holds(w, lines[2], value);
	for (int i = 0; i < 3; i++)
		for (size_t k = 0; k < lines[i]->n; k++)
			named |= lines[i]->terms[k].variable == variable;
	for (unsigned v = 0; v <= (named ? w->candidates[variable] : 0); v++) {
		value[variable] = (int)v;
		if (!follows(w, lines, value, variable + 1))
			return false;
	}
	return true;
}

/* Returns whether a fact or a pin of a proof means the same as the one in the world. */
static bool
is_given(const struct world *w, const struct solve_line *l)
{
	struct solve_line given = { 0 };
	const struct solve_line *both[3] = { l, &given, &given };
	const struct solve_line *back[3] = { &given, l, l };
	struct solve_term terms[3];
	const struct law *law = l->fact ? l->fact->why : &w->laws[w->nlaws + (unsigned)l->pin];
	int value[MOST_THINGS] = { 0 };

	if (!l->fact == (l->pin < 0))
		return false;
	for (unsigned k = 0; k < law->n; k++)
		terms[k] = (struct solve_term){ law->terms[k].variable, law->terms[k].not,
						&law->terms[k].set };
	given.terms = terms;
	given.n = law->n;
	return follows(w, both, value, 0) && follows(w, back, value, 0);
}

static bool
proof_good(const struct world *w, const struct solve_proof *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct solve_line *l = &p->at[i], *three[3] = { l };
		int value[MOST_THINGS] = { 0 };

		if (l->from[0] < 0 && l->from[1] < 0) {
			if (!is_given(w, l))
				return false;
			continue;
		}
		for (int k = 0; k < 2; k++) {
			if (l->from[k] < 0 || l->from[k] >= (int)i)
				return false;
			three[k + 1] = &p->at[l->from[k]];
		}
		if (l->fact || l->pin >= 0 || !follows(w, three, value, 0))
			return false;
	}
	return p->n && p->at[p->n - 1].n == 0;
}

/* --- solve() --- */

static int
chosen(const struct solve_result *r, unsigned variable)
{
	return variable < r->nvariables ? r->chosen[variable] : -1;
}

static void
check_found(struct world *w, const struct solve_result *r, unsigned pins, enum property is_best)
{
	int value[MOST_THINGS], want[MOST_THINGS];
	bool kept = true, same = best(w, pins, want);

	for (unsigned i = 0; i < w->nvariables; i++) {
		same = same && chosen(r, i) == want[i];
		value[i] = chosen(r, i) < 0 ? (int)w->candidates[i] : chosen(r, i);
	}
	for (unsigned i = 0; i < w->nvariables; i++)
		kept = kept && kept_at(w, all_laws(w) | pins_as_laws(w, pins), value, i);
	expect(w, KEPT, kept);
	expect(w, is_best, same);
}

static void
check_solve(struct world *w, unsigned pins)
{
	struct solve_provider p = provider_of(w);
	bool on[MOST_PINS];
	struct solve_result r, small;
	unsigned steps = roll(12);

	for (unsigned i = 0; i < w->npins; i++)
		on[i] = pins >> i & 1;
	r = solve(w->a, &p, w->pins, w->npins, on, SOLVE_BUDGET);
	expect(w, SAME, r.status == (possible(w, pins) ? SOLVE_FOUND : SOLVE_IMPOSSIBLE));
	if (r.status == SOLVE_FOUND)
		check_found(w, &r, pins, BEST);
	if (r.status == SOLVE_IMPOSSIBLE)
		expect(w, PROVEN, proof_good(w, &r.proof));
	p = provider_of(w);
	small = solve(w->a, &p, w->pins, w->npins, on, (struct solve_budget){ steps });
	expect(w, BOUNDED,
	       small.steps <= steps &&
		       small.status == (r.steps <= steps ? r.status : SOLVE_GAVE_UP));
}

/* --- solve_conflicts() --- */

static uint64_t
laws_of(const struct world *w, const struct solve_facts *facts)
{
	uint64_t laws = 0;

	for (size_t i = 0; i < facts->n; i++)
		laws |= (uint64_t)1 << ((const struct law *)facts->at[i].why - w->laws);
	return laws;
}

static bool
proof_names(const struct world *w, const struct solve_conflict *c, unsigned pins)
{
	uint64_t named = 0;

	for (size_t i = 0; i < c->proof.n; i++) {
		const struct solve_line *l = &c->proof.at[i];

		if (l->fact)
			named |= (uint64_t)1 << ((const struct law *)l->fact->why - w->laws);
		else if (l->pin >= 0)
			named |= pins_as_laws(w, 1u << l->pin);
	}
	return named == (laws_of(w, &c->facts) | pins_as_laws(w, pins));
}

static void
check_conflict(struct world *w, const struct solve_conflict *c, unsigned pins)
{
	uint64_t laws = laws_of(w, &c->facts), pinned = pins_as_laws(w, pins);
	bool smallest = !possible(w, pins), spare = true;

	for (unsigned i = 0; i < w->npins; i++)
		if (pins >> i & 1)
			smallest = smallest && possible(w, pins & ~(1u << i));
	for (unsigned i = 0; i < w->nlaws; i++)
		if (laws >> i & 1)
			spare = spare && possible_by(w, (laws & ~((uint64_t)1 << i)) | pinned);
	expect(w, SMALLEST, smallest);
	expect(w, FACTS, (laws & ~all_laws(w)) == 0 && !possible_by(w, laws | pinned));
	expect(w, SPARE, spare && (size_t)__builtin_popcountll(laws) == c->facts.n);
	expect(w, CPROVEN, proof_good(w, &c->proof) && proof_names(w, c, pins));
}

static unsigned
mask(const struct solve_indexes *pins)
{
	unsigned m = 0;

	for (size_t i = 0; i < pins->n; i++)
		m |= 1u << pins->at[i];
	return m;
}

static void
check_conflicts(struct world *w)
{
	struct solve_provider p = provider_of(w);
	unsigned all = (1u << w->npins) - 1, named = 0;
	bool gave_up = true;
	struct solve_conflicts c =
		solve_conflicts(w->a, &p, w->pins, w->npins, SOLVE_BUDGET, &gave_up);

	expect(w, CONFLICTS, !gave_up && !c.n == possible(w, all));
	for (size_t i = 0; i < c.n; i++) {
		unsigned pins = mask(&c.at[i].pins), twice = named & pins;

		for (unsigned k = 0; k < w->npins; k++)
			if (w->pins[k].fixed)
				twice &= ~(1u << k);
		expect(w, APART, !twice);
		check_conflict(w, &c.at[i], pins);
		named |= pins;
	}
	expect(w, ENOUGH, possible(w, all & ~named));
}

/* --- solve_repair() --- */

static bool
is_repair(struct world *w, unsigned pins)
{
	unsigned all = (1u << w->npins) - 1;

	if (!possible(w, all & ~pins))
		return false;
	for (unsigned i = 0; i < w->npins; i++)
		if (pins >> i & 1 && possible(w, (all & ~pins) | 1u << i))
			return false;
	return true;
}

static unsigned
weight(const struct world *w, unsigned pins)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < w->npins; i++)
		if (pins >> i & 1)
			sum += w->pins[i].weight;
	return sum;
}

/* Returns <0, 0 or >0 if x is before, equal to or after y. */
static int
compare(const struct world *w, unsigned x, unsigned y)
{
	unsigned all = (1u << w->npins) - 1, order[MOST_THINGS];
	int nx = __builtin_popcount(x), ny = __builtin_popcount(y), vx[MOST_THINGS],
	    vy[MOST_THINGS];

	if (nx != ny)
		return nx - ny;
	if (weight(w, x) != weight(w, y))
		return (int)weight(w, x) - (int)weight(w, y);
	best(w, all & ~x, vx);
	best(w, all & ~y, vy);
	for (unsigned i = 0; i < w->nvariables; i++) {
		unsigned k = i;

		for (; k && comes_before(w, i, order[k - 1]); k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	for (unsigned i = 0; i < w->nvariables; i++) {
		int cx = vx[order[i]], cy = vy[order[i]];

		if (cx != cy)
			return cx < 0 ? 1 : cy < 0 ? -1 : cx - cy;
	}
	return 0;
}

/* Writes all repairs of pins of `may` to `out`, in their order; returns their number. */
static unsigned
count_out(struct world *w, unsigned may, unsigned *out)
{
	unsigned n = 0;

	for (unsigned m = 0; m < 1u << w->npins; m++) {
		unsigned k = n;

		if (m & ~may || !is_repair(w, m))
			continue;
		for (; k && compare(w, m, out[k - 1]) < 0; k--)
			out[k] = out[k - 1];
		out[k] = m;
		n++;
	}
	return n;
}

static void
check_repairs(struct world *w)
{
	struct solve_provider p = provider_of(w);
	unsigned want[1 << MOST_PINS], n, may = 0, fixed = 0, all = (1u << w->npins) - 1;
	bool keep[MOST_PINS], gave_up = true, found, kept = roll(2);
	struct solve_repair r;

	for (unsigned i = 0; i < w->npins; i++) {
		keep[i] = kept && !roll(4);
		may |= (unsigned)!keep[i] << i;
		fixed |= (unsigned)w->pins[i].fixed << i;
	}
	found = solve_repair(w->a, &p, w->pins, w->npins, kept ? keep : NULL, SOLVE_BUDGET,
			     &gave_up, &r);
	n = count_out(w, may & ~fixed, want);
	if (!n)
		n = count_out(w, may, want);
	expect(w, REPAIRS, !gave_up && found == (n > 0));
	if (!found)
		return;
	expect(w, MINIMAL, is_repair(w, mask(&r.pins)) && !(mask(&r.pins) & ~may));
	expect(w, ORDER, n && compare(w, mask(&r.pins), want[0]) == 0);
	check_found(w, &r.result, all & ~mask(&r.pins), RESULT);
}

/* --- a budget that ends too early: the partial result must be correct --- */

static void
check_small(struct world *w)
{
	struct solve_provider p = provider_of(w);
	struct solve_budget budget = { roll(60) };
	unsigned all = (1u << w->npins) - 1;
	bool gave_up = false, found;
	struct solve_conflicts c = solve_conflicts(w->a, &p, w->pins, w->npins, budget, &gave_up);
	struct solve_repair r;

	expect(w, CBOUNDED, gave_up || !c.n == possible(w, all));
	for (size_t i = 0; i < c.n; i++) {
		uint64_t pinned = pins_as_laws(w, mask(&c.at[i].pins));

		expect(w, CBOUNDED, !possible_by(w, laws_of(w, &c.at[i].facts) | pinned));
		expect(w, CBOUNDED, c.at[i].proof.n ? proof_good(w, &c.at[i].proof) : gave_up);
		if (!gave_up)
			check_conflict(w, &c.at[i], mask(&c.at[i].pins));
	}
	p = provider_of(w);
	found = solve_repair(w->a, &p, w->pins, w->npins, NULL, budget, &gave_up, &r);
	expect(w, CBOUNDED, gave_up || found == possible(w, 0));
	expect(w, CBOUNDED, !found || is_repair(w, mask(&r.pins)));
}

static int
tell(void)
{
	unsigned bad = 0;

	printf("1..%d\n", PROPERTIES);
	for (int i = 0; i < PROPERTIES; i++) {
		printf("%sok %d - %s (%u times)\n", failed[i] || !asked[i] ? "not " : "", i + 1,
		       names[i], asked[i]);
		if (failed[i])
			printf("# %u times not\n", failed[i]);
		bad += failed[i];
	}
	return bad != 0;
}

int
main(int argc, char **argv)
{
	unsigned worlds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 5000;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	unsigned first = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;

	printf("# %u worlds, seed %llu\n", worlds, (unsigned long long)seed);
	for (unsigned i = first; i < first + worlds; i++) {
		struct world w = { .number = i, .a = arena_new() };

		random_world(&w, seed * 1000003 + i);
		check_solve(&w, (1u << w.npins) - 1);
		check_solve(&w, roll(1u << w.npins));
		check_conflicts(&w);
		check_repairs(&w);
		check_small(&w);
		arena_free(w.a);
	}
	return tell();
}

/*
 * solve_oracle -- the solver against counting it out, on small random worlds.
 *
 *   in      how many worlds, the seed, and the first world: as arguments
 *   out     TAP, one line a property; of one that fails the number of the world, to be had
 *           again as third argument
 */
#include "solve_world.h"

enum property { SAME, KEPT, BEST, PROVEN, BOUNDED, PROPERTIES };
static const char *const names[PROPERTIES] = {
	[SAME] = "possible or not: as counted out",
	[KEPT] = "what is chosen breaks no fact and no pin",
	[BEST] = "what is chosen is the best in the stated order",
	[PROVEN] = "every line of a proof follows from those it names",
	[BOUNDED] = "a small budget: the same answer, or none",
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
		struct part t = { l->terms[k].thing, l->terms[k].not, l->terms[k].set[0] };

		if (!part_holds(w, &t, (unsigned)value[t.thing]))
			return false;
	}
	return true;
}

/* Whatever l forbids, x or y forbids: tried with every value of the things they name. */
static bool
follows(const struct world *w, const struct solve_line *const *lines, int *value, unsigned thing)
{
	bool named = false;

	if (thing == w->nthings)
		return !line_holds(w, lines[0], value) || line_holds(w, lines[1], value) ||
		       line_holds(w, lines[2], value);
	for (int i = 0; i < 3; i++)
		for (size_t k = 0; k < lines[i]->n; k++)
			named |= lines[i]->terms[k].thing == thing;
	for (unsigned v = 0; v <= (named ? w->candidates[thing] : 0); v++) {
		value[thing] = (int)v;
		if (!follows(w, lines, value, thing + 1))
			return false;
	}
	return true;
}

/* A fact or a pin says what it was given as. */
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
		terms[k] = (struct solve_term){ law->terms[k].thing, law->terms[k].not,
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
chosen(const struct solve_result *r, unsigned thing)
{
	return thing < r->nthings ? r->chosen[thing] : -1;
}

static void
check_found(struct world *w, const struct solve_result *r, unsigned pins)
{
	int value[MOST_THINGS], want[MOST_THINGS];
	bool kept = true, same = best(w, pins, want);

	for (unsigned i = 0; i < w->nthings; i++) {
		same = same && chosen(r, i) == want[i];
		value[i] = chosen(r, i) < 0 ? (int)w->candidates[i] : chosen(r, i);
	}
	for (unsigned i = 0; i < w->nthings; i++)
		kept = kept && kept_at(w, all_laws(w) | pins_as_laws(w, pins), value, i);
	expect(w, KEPT, kept);
	expect(w, BEST, same);
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
		check_found(w, &r, pins);
	if (r.status == SOLVE_IMPOSSIBLE)
		expect(w, PROVEN, proof_good(w, &r.proof));
	p = provider_of(w);
	small = solve(w->a, &p, w->pins, w->npins, on, (struct solve_budget){ steps });
	expect(w, BOUNDED,
	       small.steps <= steps &&
		       small.status == (r.steps <= steps ? r.status : SOLVE_GAVE_UP));
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
		arena_free(w.a);
	}
	return tell();
}

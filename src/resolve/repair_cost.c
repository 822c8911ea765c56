#include "internal.h"

/* The cost of a repair: the first changed layer and all layers after it are built again. */

struct cost_sum {
	double seconds;
	unsigned layers;
	bool unknown; /* `seconds` lacks the time of a layer */
};

static void
add_cost(const struct solution *solution, struct cost_sum *sum, const char *step)
{
	sum->seconds += facts_cost(solution->facts, step, NULL).seconds;
	sum->layers++;
}

/* Adds one compile for each GPU of the recipe. Without `gpus:`, the torch build sets the number, and it
 * is still unknown. */
static void
add_compile(const struct solution *solution, struct cost_sum *sum, const char *name)
{
	struct cost cost = facts_cost(solution->facts, "extension", name);
	struct names archs = { 0 };

	for (size_t i = 0; i < solution->recipe->gpus.n; i++)
		names_once(solution->work->a, &archs, solution->recipe->gpus.at[i].cc);
	if (!cost.guessed)
		sum->seconds += cost.seconds * (double)(archs.n ? archs.n : 1) / cost.archs;
	sum->unknown |= cost.guessed || !archs.n;
	sum->layers++;
}

const char *
repair_cost(const struct solution *solution, const struct repair *r)
{
	static const char *const whole[] = { "base",  "apt",        "python",
					     "torch", "build-deps", "packages" };
	const struct recipe_extensions *all = &solution->recipe->extensions;
	struct arena *a = solution->work->a;
	struct cost_sum sum = { 0 };
	size_t first = all->n;
	bool packages = false, everything = false;
	const char *layers;

	for (size_t i = 0; i < r->pins.n; i++) {
		const struct request *p = &solution->requests[r->pins.at[i]];

		packages |= p->kind == REQUEST_REQUIREMENT;
		everything |= !p->extension && p->kind != REQUEST_REQUIREMENT;
		if (p->extension && p->extension < &all->at[first])
			first = (size_t)(p->extension - all->at);
	}
	for (size_t i = everything ? 0 : packages ? 5 : 6; i < 6; i++)
		add_cost(solution, &sum, whole[i]);
	for (size_t i = everything || packages ? 0 : first; i < all->n; i++)
		add_compile(solution, &sum, all->at[i].key);
	layers = everything      ? "everything rebuilds" :
		 sum.layers == 1 ? "1 layer rebuilds" :
				   arena_printf(a, "%u layers rebuild", sum.layers);
	if (sum.unknown && sum.seconds < 60)
		return arena_printf(a, "%s, time unknown", layers);
	return arena_printf(a, "%s, %sabout %lu min", layers, sum.unknown ? "at least " : "",
			    ((unsigned long)sum.seconds + 59) / 60);
}

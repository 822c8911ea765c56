#include "modal.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* Estimates of prices, from the list prices in the knowledge, and of compile times. */

/* Resources of `build: heavy` without modal.cpu and modal.memory_mib. */
enum { HEAVY_CPU = 16, HEAVY_MIB = 65536, LAYER_JOBS = 4 };

/* Returns the price of processors and memory in US dollars an hour. */
static double
host_price(const struct modal *m, double cpu, double memory_mib)
{
	struct modal_prices p = facts_modal_prices(m->stack->facts);

	return cpu * p.cpu_core_hour + memory_mib / 1024 * p.memory_gib_hour;
}

static const char *
dollars(struct arena *a, double usd)
{
	return arena_printf(a, "$%.*f", usd < 10 ? 2 : 0, usd);
}

const char *
modal_cost(const struct modal *m, enum modal_callee callee, double seconds)
{
	const char *gpu = m->gpus.n ? m->gpus.at[0].s : "";
	size_t n = strcspn(gpu, ":");
	const struct modal_gpu *g =
		*gpu ? facts_modal_gpu(m->stack->facts, arena_copy(m->a, gpu, n)) : NULL;
	double hours = seconds / 3600, count = gpu[n] ? strtod(gpu + n + 1, NULL) : 1;
	double card = g ? g->usd_per_hour * count * hours : 0, host = 0;

	if (callee != MODAL_SMOKE)
		host = host_price(m, recipe_number(m->asked->cpu),
				  recipe_number(m->asked->memory_mib)) *
		       hours;
	if (g && g->usd_per_hour <= 0)
		return arena_printf(m->a, ", price of the %s unknown", g->name);
	if (card > 0 && host > 0)
		return arena_printf(m->a, ", about %s: GPU %s, processors and memory %s",
				    dollars(m->a, card + host), dollars(m->a, card),
				    dollars(m->a, host));
	if (card > 0)
		return arena_printf(m->a, ", about %s for the GPU", dollars(m->a, card));
	return host > 0 ? arena_printf(m->a, ", about %s", dollars(m->a, host)) : "";
}

const char *
modal_compile_note(const struct modal *m)
{
	double cpu = m->asked->cpu.s ? recipe_number(m->asked->cpu) : HEAVY_CPU;
	double mib = m->asked->memory_mib.s ? recipe_number(m->asked->memory_mib) : HEAVY_MIB;
	unsigned jobs = m->heavy && m->asked->cpu.s && cpu >= 1 ? (unsigned)cpu : LAYER_JOBS;
	const struct plan *p =
		plan_on_machine(m->a, m->t->plan, &(struct compile_machine){ .jobs = jobs });
	struct names names = { 0 };
	const char *least = "", *cost = "";
	double seconds = 0;

	for (const struct step *s = p->steps; s < p->steps + p->n; s++) {
		if (!s->extension || !step_operation(s, OP_COMPILE))
			continue;
		list_push(m->a, &names, s->id);
		seconds += s->cost_s;
		least = s->cost_s <= 0 ? "at least " : least;
	}
	if (!names.n)
		return NULL;
	if (seconds <= 0)
		return arena_printf(m->a, "The first run compiles %s; the time is unknown.",
				    names_words(m->a, &names, "and"));
	if (m->heavy)
		cost = arena_printf(m->a, ", about %s",
				    dollars(m->a, host_price(m, cpu, mib) * seconds / 3600));
	return arena_printf(m->a, "The first run compiles %s: %sabout %.0f min with %u jobs%s.",
			    names_words(m->a, &names, "and"), least,
			    seconds < 60 ? 1 : seconds / 60, jobs, cost);
}

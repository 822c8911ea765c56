#include <string.h>

#include "internal.h"

static double
rate_of(const char *changes)
{
	static const struct {
		const char *word;
		double a_day;
	} rates[] = {
		{ "daily", 1 },          { "weekly", 1.0 / 7 },
		{ "monthly", 1.0 / 30 }, { "quarterly", 1.0 / 91 },
		{ "yearly", 1.0 / 365 },
	};

	for (size_t i = 0; changes && i < sizeof(rates) / sizeof(*rates); i++)
		if (!strcmp(rates[i].word, changes))
			return rates[i].a_day;
	return rates[4].a_day;
}

struct cost
facts_cost(const struct facts *f, const char *kind, const char *name)
{
	const struct claim *file = facts_file(f, "costs.yaml"), *own = NULL;
	const struct claim *of_kind = fact_get(fact_get(file, "steps"), kind);
	const struct claim *reference = fact_get(file, "reference");
	unsigned archs = (unsigned)fact_number_of(reference, "archs");
	unsigned cores = (unsigned)fact_number_of(reference, "cores");
	const char *changes;
	bool guessed;

	if (name && !strcmp(kind, "extension"))
		own = fact_get(fact_get(file, "extensions"), name);
	guessed = !own && !strcmp(kind, "extension");
	if (!own)
		own = of_kind;
	changes = fact_text_of(own, "changes");
	return (struct cost){
		.seconds = fact_number_of(own, "seconds"),
		.archs = archs ? archs : 1,
		.cores = cores ? cores : 1,
		.useful_jobs = (unsigned)fact_number_of(own, "useful_jobs"),
		.guessed = guessed,
		.change_rate = rate_of(changes ? changes : fact_text_of(of_kind, "changes")),
		.source = own ? fact_source(f->a, own) : NULL,
	};
}

#include <string.h>
#include <strings.h>

#include "internal.h"

const struct modal_gpu *
facts_modal_gpus(const struct facts *f, size_t *n)
{
	struct modal_gpus *all = &f->read->modal_gpus;
	const struct claim *gpus = fact_get(facts_file(f, "modal.yaml"), "gpus");

	for (size_t i = all->n; i < fact_count(gpus); i++) {
		/* Returns the entry with the figures: itself, or the entry that it is an alias of. */
		const char *other = fact_text_of(fact_at(gpus, i), "alias_of");
		const struct claim *x = other ? fact_get(gpus, other) : fact_at(gpus, i);
		unsigned rank = 0;

		while (fact_at(gpus, rank) != x)
			rank++;
		list_push(f->a, all,
			  (struct modal_gpu){
				  .name = fact_key(gpus, i),
				  .ccs = fact_words(f, fact_get(x, "cc")),
				  .count_max = fact_uint_of(x, "count_max"),
				  .memory_gb = fact_uint_of(x, "memory_gb"),
				  .usd_per_hour = fact_number_of(x, "usd_per_hour"),
				  .size_rank = rank,
				  .source = fact_source(f->a, x),
			  });
	}
	*n = all->n;
	return all->at;
}

const struct modal_gpu *
facts_modal_gpu(const struct facts *f, const char *name)
{
	size_t n;
	const struct modal_gpu *all = facts_modal_gpus(f, &n);

	for (size_t i = 0; i < n; i++)
		if (!strcasecmp(all[i].name, name))
			return &all[i];
	return NULL;
}

const struct modal_limits *
facts_modal(const struct facts *f)
{
	const struct claim *file = facts_file(f, "modal.yaml");
	const struct claim *timeout = fact_get(file, "timeout_s"),
			   *down = fact_get(file, "scaledown_s");
	struct modal_limits *m;

	if (f->read->modal)
		return f->read->modal;
	m = arena_new_of(f->a, struct modal_limits);
	*m = (struct modal_limits){
		.timeout_min_s = fact_uint_of(timeout, "min"),
		.timeout_max_s = fact_uint_of(timeout, "max"),
		.scaledown_min_s = fact_uint_of(down, "min"),
		.scaledown_max_s = fact_uint_of(down, "max"),
		.builders = fact_keys(f->a, fact_get(file, "builders")),
		.builder_default = fact_text_of(file, "builder_default"),
		.source = fact_source(f->a, timeout),
	};
	f->read->modal = m;
	return m;
}

static const struct claim *
builder_of(const struct facts *f, const char *builder)
{
	return fact_get(fact_get(facts_file(f, "modal.yaml"), "builders"), builder);
}

struct names
facts_modal_pythons(const struct facts *f, const char *builder)
{
	return fact_words(f, fact_get(builder_of(f, builder), "python"));
}

const char *
facts_modal_builder_client(const struct facts *f, const char *builder)
{
	return fact_text_of(builder_of(f, builder), "client");
}

const char *
facts_modal_python_end(const struct facts *f, const char *series, const char **source)
{
	const struct claim *leaving = fact_get(facts_file(f, "modal.yaml"), "pythons_leaving");
	const struct claim *one = fact_get(leaving, series);

	if (one)
		*source = fact_source(f->a, one);
	return fact_text_of(one, "client");
}

static const struct claim *
parameters_of(const struct facts *f, const char *call)
{
	const struct claim *calls = fact_get(facts_file(f, "modal.yaml"), "calls");

	return fact_get(fact_get(calls, call), "parameters");
}

struct names
facts_modal_parameters(const struct facts *f, const char *call)
{
	return fact_keys(f->a, parameters_of(f, call));
}

bool
facts_modal_parameter(const struct facts *f, struct arena *a, const char *call, const char *name,
		      struct modal_parameter *out)
{
	const struct claim *x = fact_get(parameters_of(f, call), name);
	const struct claim *limits = fact_get(facts_file(f, "modal.yaml"), "limits");
	const struct claim *limit = fact_get(limits, arena_printf(a, "%s.%s", call, name));

	if (!x)
		return false;
	*out = (struct modal_parameter){
		.name = arena_strdup(a, name),
		.takes = fact_text_of(x, "takes"),
		.since = fact_text_of(x, "since"),
		.required = fact_true_of(x, "required"),
		.min = fact_text_of(limit, "min"),
		.max = fact_text_of(limit, "max"),
		.source = fact_source(a, x),
		.limit_source = limit ? fact_source(a, limit) : NULL,
	};
	return true;
}

struct modal_prices
facts_modal_prices(const struct facts *f)
{
	const struct claim *prices = fact_get(facts_file(f, "modal.yaml"), "prices_usd");

	return (struct modal_prices){
		.cpu_core_hour = fact_number_of(prices, "cpu_core_hour"),
		.memory_gib_hour = fact_number_of(prices, "memory_gib_hour"),
	};
}

const char *
facts_modal_uv(const struct facts *f)
{
	return fact_text_of(fact_get(facts_file(f, "python.yaml"), "uv"), "version");
}

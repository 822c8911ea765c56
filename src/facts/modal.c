#include <string.h>
#include <strings.h>

#include "internal.h"

/* The entry that holds a GPU's figures: itself, or what it is another name of. */
static struct fact
figures(struct fact gpus, struct fact gpu)
{
	const char *other = fact_text_of(gpu, "alias_of");

	return other ? fact_get(gpus, other) : gpu;
}

static unsigned
place_of(struct fact gpus, struct fact wanted)
{
	for (size_t i = 0; i < fact_count(gpus); i++)
		if (fact_at(gpus, i).at == wanted.at)
			return (unsigned)i;
	return 0;
}

const struct modal_gpu *
facts_modal_gpus(const struct facts *f, size_t *n)
{
	struct facts_read *read = f->read;
	struct fact file = facts_file(f, "modal.yaml"), gpus = fact_get(file, "gpus");
	struct modal_gpu *all;

	*n = fact_count(gpus);
	if (read->modal_gpus)
		return read->modal_gpus;
	all = arena_array_of(f->a, struct modal_gpu, *n);
	for (size_t i = 0; i < *n; i++) {
		struct fact gpu = fact_at(gpus, i), x = figures(gpus, gpu);

		all[i] = (struct modal_gpu){
			.name = fact_key(gpus, i),
			.ccs = fact_words(f->a, fact_get(x, "cc")),
			.count_max = fact_uint_of(x, "count_max"),
			.memory_gb = fact_uint_of(x, "memory_gb"),
			.usd_per_hour = fact_number_of(x, "usd_per_hour"),
			.size_rank = place_of(gpus, x),
			.source = trail_source(f, trail_to(trail_of(file), x)),
		};
	}
	read->modal_gpus = all;
	read->nmodal_gpus = *n;
	return all;
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
	struct fact file = facts_file(f, "modal.yaml");
	struct fact timeout = fact_get(file, "timeout_s"), down = fact_get(file, "scaledown_s");
	struct fact prices = fact_get(file, "prices_usd"), builders = fact_get(file, "builders");
	struct modal_limits *m;

	if (f->read->modal)
		return f->read->modal;
	m = arena_new_of(f->a, struct modal_limits);
	*m = (struct modal_limits){
		.timeout_min_s = fact_uint_of(timeout, "min"),
		.timeout_max_s = fact_uint_of(timeout, "max"),
		.timeout_default_s = fact_uint_of(timeout, "default"),
		.scaledown_min_s = fact_uint_of(down, "min"),
		.scaledown_max_s = fact_uint_of(down, "max"),
		.builder_default = fact_text_of(file, "builder_default"),
		.cpu_usd_per_hour = fact_number_of(prices, "cpu_core_hour"),
		.memory_gib_usd_per_hour = fact_number_of(prices, "memory_gib_hour"),
		.source = trail_source(f, trail_to(trail_of(file), timeout)),
	};
	for (size_t i = 0; i < fact_count(builders); i++)
		list_push(f->a, &m->builders, fact_key(builders, i));
	f->read->modal = m;
	return m;
}

static struct fact
builder_of(const struct facts *f, const char *builder)
{
	return fact_get(fact_get(facts_file(f, "modal.yaml"), "builders"), builder);
}

struct names
facts_modal_pythons(const struct facts *f, const char *builder)
{
	return fact_words(f->a, fact_get(builder_of(f, builder), "python"));
}

const char *
facts_modal_builder_client(const struct facts *f, const char *builder)
{
	return fact_text_of(builder_of(f, builder), "client");
}

const char *
facts_modal_python_end(const struct facts *f, const char *series, const char **source)
{
	struct fact file = facts_file(f, "modal.yaml");
	struct fact leaving = fact_get(file, "pythons_leaving"), one = fact_get(leaving, series);
	const char *client = fact_text_of(one, "client");

	if (client)
		*source = trail_source(f, trail_to(trail_to(trail_of(file), leaving), one));
	return client;
}

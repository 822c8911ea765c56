#include <string.h>

#include "base/str.h"
#include "internal.h"

/* "RTX 4090" -> "rtx4090", "A100 80GB" -> "a100-80gb": as a recipe would write it. */
static const char *
id_of(const struct facts *f, const char *name)
{
	struct buf b = BUF(f->a);

	for (const char *p = name; *p; p++) {
		bool after_tx =
			p - name >= 3 && (starts_with(p - 3, "RTX") || starts_with(p - 3, "GTX"));

		if (*p == ' ' && after_tx && is_digit(p[1]))
			continue;
		buf_putc(&b, *p == ' ' ? '-' : to_lower(*p));
	}
	return buf_text(&b);
}

/* What two spellings have in common: letters and digits, lower case, no maker's name. */
static const char *
plain(struct arena *a, const char *name)
{
	static const char *const makers[] = { "nvidia", "geforce" };
	struct buf b = BUF(a);
	const char *s;

	for (; *name; name++)
		if (is_alnum(*name) || *name == '!' || *name == '+')
			buf_putc(&b, to_lower(*name));
	s = buf_text(&b);
	for (size_t i = 0; i < sizeof(makers) / sizeof(*makers); i++)
		if (starts_with(s, makers[i]))
			s += strlen(makers[i]);
	return s;
}

static const struct gpus *
all_gpus(const struct facts *f)
{
	struct fact file = facts_file(f, "gpus.yaml"), all = fact_get(file, "capabilities");
	struct gpus *gpus = &f->read->gpus;

	if (gpus->n)
		return gpus;
	for (size_t c = 0; c < fact_count(all); c++) {
		struct fact capability = fact_at(all, c), here = fact_get(capability, "gpus");
		struct trail t = trail_to(trail_of(file), capability);
		const char *source = fact_count(here) ? trail_source(f, t) : NULL;

		for (size_t i = 0; i < fact_count(here); i++) {
			struct fact gpu = fact_at(here, i);
			const char *id = fact_text_of(gpu, "id"), *name = fact_key(here, i);

			list_push(f->a, gpus,
				  (struct gpu){
					  .name = name,
					  .id = id ? id : id_of(f, name),
					  .cc = fact_key(all, c),
					  .arch = fact_text_of(capability, "arch"),
					  .aliases = fact_items(f->a, fact_get(gpu, "aliases")),
					  .memory_gb = fact_uint_of(gpu, "memory_gb"),
					  .source = fact_is(fact_get(gpu, "source")) ?
							    trail_source(f, trail_to(t, gpu)) :
							    source,
				  });
		}
	}
	return gpus;
}

const struct gpu *
facts_gpu(const struct facts *f, const char *name)
{
	const struct gpus *gpus = all_gpus(f);
	struct arena *scratch = arena_new();
	const char *wanted = plain(scratch, name);
	const struct gpu *found = NULL;

	for (size_t i = 0; i < gpus->n && !found; i++) {
		const struct gpu *g = &gpus->at[i];
		bool is = !strcmp(plain(scratch, g->name), wanted) ||
			  !strcmp(plain(scratch, g->id), wanted);

		for (size_t k = 0; k < g->aliases.n && !is; k++)
			is = !strcmp(plain(scratch, g->aliases.at[k]), wanted);
		found = is ? g : NULL;
	}
	arena_free(scratch);
	return found;
}

struct names
facts_gpu_names(const struct facts *f, struct arena *a)
{
	const struct gpus *gpus = all_gpus(f);
	struct names ids = { 0 };

	for (size_t i = 0; i < gpus->n; i++)
		list_push(a, &ids, gpus->at[i].id);
	return ids;
}

bool
facts_cc(const struct facts *f, const char *cc)
{
	return fact_is(fact_get(fact_get(facts_file(f, "gpus.yaml"), "capabilities"), cc));
}

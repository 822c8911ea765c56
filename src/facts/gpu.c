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

static size_t
count_gpus(struct fact capabilities)
{
	size_t n = 0;

	for (size_t i = 0; i < fact_count(capabilities); i++)
		n += fact_count(fact_get(fact_at(capabilities, i), "gpus"));
	return n;
}

static void
read_gpus(const struct facts *f)
{
	struct fact file = facts_file(f, "gpus.yaml");
	struct fact all = fact_get(file, "capabilities");
	struct gpu *gpus = arena_array_of(f->a, struct gpu, count_gpus(all));
	size_t n = 0;

	for (size_t c = 0; c < fact_count(all); c++) {
		struct fact capability = fact_at(all, c), here = fact_get(capability, "gpus");
		struct trail t = trail_to(trail_of(file), capability);
		const char *source = fact_count(here) ? trail_source(f, t) : NULL;

		for (size_t i = 0; i < fact_count(here); i++) {
			struct fact gpu = fact_at(here, i);
			const char *id = fact_text_of(gpu, "id"), *name = fact_key(here, i);

			gpus[n++] = (struct gpu){
				.name = name,
				.id = id ? id : id_of(f, name),
				.cc = fact_key(all, c),
				.arch = fact_text_of(capability, "arch"),
				.memory_gb = fact_uint_of(gpu, "memory_gb"),
				.source = fact_is(fact_get(gpu, "source")) ?
						  trail_source(f, trail_to(t, gpu)) :
						  source,
			};
		}
	}
	f->read->gpus = gpus;
	f->read->ngpus = n;
}

static bool
is_alias(struct arena *a, struct fact gpu, const char *wanted)
{
	struct fact aliases = fact_get(gpu, "aliases");

	for (size_t i = 0; i < fact_count(aliases); i++)
		if (!strcmp(plain(a, fact_text(fact_at(aliases, i))), wanted))
			return true;
	return false;
}

const struct gpu *
facts_gpu(const struct facts *f, const char *name)
{
	struct arena *scratch = arena_new();
	struct fact all = fact_get(facts_file(f, "gpus.yaml"), "capabilities");
	const char *wanted = plain(scratch, name);
	const struct gpu *found = NULL;
	size_t n = 0;

	if (!f->read->gpus)
		read_gpus(f);
	for (size_t c = 0; c < fact_count(all) && !found; c++) {
		struct fact here = fact_get(fact_at(all, c), "gpus");

		for (size_t i = 0; i < fact_count(here) && !found; i++, n++) {
			const struct gpu *g = &f->read->gpus[n];

			if (!strcmp(plain(scratch, g->name), wanted) ||
			    !strcmp(plain(scratch, g->id), wanted) ||
			    is_alias(scratch, fact_at(here, i), wanted))
				found = g;
		}
	}
	arena_free(scratch);
	return found;
}

struct names
facts_gpu_names(const struct facts *f, struct arena *a)
{
	struct names ids = { 0 };

	if (!f->read->gpus)
		read_gpus(f);
	for (size_t i = 0; i < f->read->ngpus; i++)
		list_push(a, &ids, f->read->gpus[i].id);
	return ids;
}

bool
facts_cc(const struct facts *f, const char *cc)
{
	return fact_is(fact_get(fact_get(facts_file(f, "gpus.yaml"), "capabilities"), cc));
}

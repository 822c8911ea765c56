#include <string.h>

#include "base/str.h"
#include "cuda/cuda.h"
#include "internal.h"

/* Returns the spelling of recipes: "rtx4090" for "RTX 4090", "a100-80gb" for "A100 80GB". */
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

/* Compares two spellings of a name by letters and digits, ignoring case. */
static const char *
next_common(const char *s)
{
	while (*s && !is_alnum(*s) && *s != '!' && *s != '+')
		s++;
	return s;
}

/* Returns the rest after a vendor's name, which some tools print first. */
static const char *
after_maker(const char *s, const char *maker)
{
	const char *p = s;

	for (; *maker; maker++, p++)
		if (to_lower(*(p = next_common(p))) != *maker)
			return s;
	return p;
}

static bool
same_gpu(const char *x, const char *y)
{
	x = after_maker(after_maker(x, "nvidia"), "geforce");
	y = after_maker(after_maker(y, "nvidia"), "geforce");
	for (;; x++, y++) {
		x = next_common(x);
		y = next_common(y);
		if (to_lower(*x) != to_lower(*y))
			return false;
		if (!*x)
			return true;
	}
}

static const struct gpus *
all_gpus(const struct facts *f)
{
	const struct claim *all = fact_get(facts_file(f, "gpus.yaml"), "capabilities");
	struct gpus *gpus = &f->read->gpus;

	if (gpus->n)
		return gpus;
	for (size_t c = 0; c < fact_count(all); c++) {
		const struct claim *capability = fact_at(all, c),
				   *here = fact_get(capability, "gpus");
		const char *source = fact_count(here) ? fact_source(f->a, capability) : NULL;

		for (size_t i = 0; i < fact_count(here); i++) {
			const struct claim *gpu = fact_at(here, i);
			const char *id = fact_text_of(gpu, "id"), *name = fact_key(here, i);

			list_push(f->a, gpus,
				  (struct gpu){
					  .name = name,
					  .id = id ? id : id_of(f, name),
					  .cc = fact_key(all, c),
					  .arch = fact_text_of(capability, "arch"),
					  .aliases = fact_items(f->a, fact_get(gpu, "aliases")),
					  .memory_gb = fact_uint_of(gpu, "memory_gb"),
					  .source = fact_get(gpu, "source") ?
							    fact_source(f->a, gpu) :
							    source,
				  });
		}
	}
	return gpus;
}

static const struct gpu *
gpu_named(const struct facts *f, const char *name)
{
	const struct gpus *gpus = all_gpus(f);

	list_each (g, gpus) {
		bool is = same_gpu(g->name, name) || same_gpu(g->id, name);

		for (size_t k = 0; k < g->aliases.n && !is; k++)
			is = same_gpu(g->aliases.at[k], name);
		if (is)
			return g;
	}
	return NULL;
}

/* Removes the words for a variant of the card: "NVIDIA H100 80GB HBM3" -> " NVIDIA H100". */
static const char *
without_variant(const struct facts *f, const char *name, bool memory)
{
	const char *between = " -_";
	struct buf b = BUF(f->a);

	for (const char *p = name + strspn(name, between), *word; *p; p += strspn(p, between)) {
		size_t n = strcspn(p, between);

		word = arena_lower(f->a, arena_copy(f->a, p, n));
		p += n;
		if (!among(word,
			   "pcie nvl hbm2 hbm2e hbm3 hbm3e laptop mobile gpu max q design super "
			   "generation") &&
		    !str_matches(word, "^sxm[0-9]?$") &&
		    !(memory && str_matches(word, "^[0-9]+gi?b$")))
			buf_printf(&b, " %s", word);
	}
	return buf_text(&b);
}

const struct gpu *
facts_gpu(const struct facts *f, const char *name)
{
	const struct gpu *g = NULL;

	/* Tries the name as written, without the variant, and also without the memory. */
	for (int form = 0; form < 3 && !g; form++) {
		const char *as = form ? without_variant(f, name, form == 2) : name;

		g = gpu_named(f, as);
		if (!g && is_digit(*next_common(as))) {
			g = gpu_named(f, arena_printf(f->a, "rtx%s", as));
			g = g ? g : gpu_named(f, arena_printf(f->a, "gtx%s", as));
		}
	}
	return g;
}

struct names
facts_gpu_names(const struct facts *f, struct arena *a)
{
	return list_names(a, g, all_gpus(f), g->id);
}

const char *
facts_cc(const struct facts *f, const char *text)
{
	const struct claim *all = fact_get(facts_file(f, "gpus.yaml"), "capabilities");
	struct capability c;

	if (starts_with(text, "sm_") && capability_parse(text, &c))
		text = capability_text(f->a, &c);
	return fact_get(all, text) ? text : NULL;
}

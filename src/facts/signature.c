#include "internal.h"

/* Signatures of failures; the head of knowledge/signatures.yaml describes their grammar. */

struct signatures LIST(struct signature);

static enum confidence
confidence_of(const char *word)
{
	return !word                   ? CONFIDENCE_POSSIBLE :
	       !strcmp(word, "sure")   ? CONFIDENCE_SURE :
	       !strcmp(word, "likely") ? CONFIDENCE_LIKELY :
					 CONFIDENCE_POSSIBLE;
}

/* Joins the alternatives of a pattern; the groups of each one begin with the same number. */
static const char *
pattern_of(struct arena *a, const struct claim *x)
{
	const struct claim *pattern = fact_get(x, "pattern");
	const struct names all = fact_items(a, pattern);

	return all.n < 2 ? fact_text(pattern) : arena_printf(a, "(?|%s)", names_join(a, &all, "|"));
}

static struct signature
signature_of(const struct facts *f, struct arena *a, const char *name, const struct claim *x)
{
	const struct claim *recipe = fact_get(x, "recipe");

	return (struct signature){
		.name = name,
		.literals = fact_items(a, fact_get(x, "literal")),
		.pattern = pattern_of(a, x),
		.lines = fact_uint_of(x, "lines"),
		.category = fact_text_of(x, "category"),
		.title = fact_text_of(x, "title"),
		.why = fact_text_of(x, "why"),
		.fix = fact_text_of(x, "fix"),
		.fix_known = fact_text_of(x, "fix_known"),
		.extension = fact_uint_of(x, "extension"),
		.symbol = fact_uint_of(x, "symbol"),
		.confidence = confidence_of(fact_text_of(x, "confidence")),
		.in_success = fact_true_of(x, "in_success"),
		.in_code = fact_true_of(x, "in_code"),
		.also = fact_words(f, fact_get(x, "also")),
		.unless = fact_words(f, fact_get(x, "unless")),
		.undone_by = fact_words(f, fact_get(x, "undone_by")),
		.after = fact_words(f, fact_get(x, "after")),
		.recipe_key = fact_text_of(recipe, "key"),
		.recipe_set = fact_text_of(recipe, "set"),
		.recipe_add = fact_text_of(recipe, "add"),
		.source = fact_source(a, x),
	};
}

static struct signature
family_of(const struct claim *file, struct arena *a, const char *name, const struct claim *x)
{
	return (struct signature){
		.name = name,
		.pattern = pattern_of(a, x),
		.category = name,
		.title = fact_text_of(fact_get(fact_get(file, "categories"), name), "what"),
		.why = "No message that is known by its text was found, but this line has words of "
		       "such a failure.",
		.fix = fact_text_of(x, "fix"),
		.source = fact_source(a, x),
	};
}

const struct signature *
facts_signatures(const struct facts *f, struct arena *a, size_t *n)
{
	static const char *const groups[] = { "marks", "signatures", "families" };
	const struct claim *file = facts_file(f, FACT_SIGNATURES);
	struct signatures all = { 0 };

	for (size_t k = 0; k < 3; k++) {
		const struct claim *map = fact_get(file, groups[k]);

		for (size_t i = 0; i < fact_count(map); i++)
			list_push(a, &all,
				  k < 2 ? signature_of(f, a, fact_key(map, i), fact_at(map, i)) :
					  family_of(file, a, fact_key(map, i), fact_at(map, i)));
	}
	*n = all.n;
	return all.at;
}

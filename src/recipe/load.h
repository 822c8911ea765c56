#ifndef RECIPE_LOAD_H
#define RECIPE_LOAD_H

#include "base/map.h"
#include "base/yaml.h"
#include "recipe.h"

/* What the parts of loading share: the arena, the diagnostics and the knowledge base. */
struct load {
	struct arena *a;
	struct diags *ds;
	const struct facts *f;
	const struct recipe_options *o;
	recipe_open *open;
	void *ctx;
	struct map seen;     /* faults reported, by code and place */
	struct diags echoes; /* where the same fault goes the second time */
	unsigned before;     /* errors that were there already */
	struct map done; /* values read, by key and node: cells share what they have in common */
	size_t cells;
};

/*
 * A recipe with more faults than this is not read further. Lists and maps are bounded too: far
 * above what anyone writes, far below what would need much memory.
 */
enum { FAULTS_MAX = 200, ITEMS_MAX = 20 * 1000, EXTENSIONS_MAX = 2000, VARIANTS_MAX = 1000 };

void load_init(struct load *l, struct arena *a, struct diags *ds, const struct facts *f,
	       const struct recipe_options *o);

/*
 * fault -- diag_at, once for each code and place: many cells read the same text.
 * Returns a diagnostic that notes and help may follow; never NULL.
 */
struct diag *fault(struct load *l, enum code code, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Returns whether so many faults were found that the search for more stops. */
bool load_full(const struct load *l);

/* False, and SB0103, if there are more than `max` of `what`. */
bool within_limit(struct load *l, struct span at, size_t n, size_t max, const char *what);

/* "`sometext`" or its beginning, for a message. */
const char *shown(struct arena *a, const char *text);

/* "a, b and c" */

/* A list of one, in the arena. */
const struct node *const *list_of_one(struct load *l, const struct node *n);

/* Help that writes `value` in place of `old`, unless old is but a part of what stands there. */
void offer(struct load *l, struct diag *d, struct text old, const char *value, const char *help);

/* The same, of a text that is YAML already. */
void offer_text(struct diag *d, struct text old, const char *yaml, const char *help);

/* Adds SB0110 if a blank stands before or after the text. */
bool text_has_no_blank_ends(struct load *l, const char *path, struct text t);

/* The part of a text value's span that starts `from` bytes into it and is `n` long. */
struct span span_within(struct text t, size_t from, size_t n);

#endif

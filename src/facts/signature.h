#ifndef FACTS_SIGNATURE_H
#define FACTS_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/list.h"

struct facts;

/*
 * A signature describes the text in a log that shows the cause of a failure. A mark is a text that
 * only decides whether signatures count; its category is NULL. The head of
 * knowledge/signatures.yaml describes the grammar for authors.
 */
enum confidence { CONFIDENCE_POSSIBLE, CONFIDENCE_LIKELY, CONFIDENCE_SURE };

struct signature {
	const char *name;
	struct names literals; /* a matching line contains one of them; none: a family */
	const char *pattern;   /* PCRE2; NULL: the literal decides */
	unsigned lines;        /* lines after the literal's that belong to the pattern's text */
	const char *category;  /* "abi-undefined-symbol" */
	const char *title, *why, *fix; /* {1} is the first group of the pattern */
	const char *fix_known;         /* the fix if the log's text names an extension, or NULL */
	unsigned extension; /* group with a module, file or path of that extension; 0: none */
	unsigned symbol;    /* group with a symbol of torch; 0: none */
	enum confidence confidence;
	bool in_success;     /* the log of a successful run may contain it */
	bool in_code;        /* a line of source code in a traceback may show it */
	struct names also;   /* marks: the log must contain each of them */
	struct names unless; /* marks: the log must contain none of them */
	struct names
		undone_by; /* marks: one of them later in the log shows that the program recovered */
	struct names after; /* categories: an earlier failure of these causes this one */
	const char *recipe_key, *recipe_set, *recipe_add; /* the change to the recipe, or NULL */
	const char *source;
};

/*
 * Tells whether the pattern of a signature is valid: pattern_is_valid, in the programs that have all
 * of PCRE2. NULL, in `stackbuild`: any line is a pattern, because it searches no logs.
 */
typedef bool pattern_test(const char *text);
extern pattern_test *fact_is_pattern;

/* Returns all marks, signatures and families in the order of the file. */
const struct signature *facts_signatures(const struct facts *f, struct arena *a, size_t *n);

#endif

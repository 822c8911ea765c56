#ifndef FACTS_SIGNATURE_H
#define FACTS_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/list.h"

struct facts;

/*
 * A signature is the text by which a cause of failure is recognised in a log.  A mark is a text that
 * only decides about signatures; its category is NULL.  The head of knowledge/signatures.yaml
 * describes the grammar for authors.
 */
enum confidence { CONFIDENCE_POSSIBLE, CONFIDENCE_LIKELY, CONFIDENCE_SURE };

struct signature {
	const char *name;
	struct names literals;         /* a matching line contains one of them */
	const char *pattern;           /* PCRE2; NULL: the literal decides */
	unsigned lines;                /* lines after the literal's that the pattern sees too */
	const char *category;          /* "abi-undefined-symbol" */
	const char *title, *why, *fix; /* {1} is the first group of the pattern */
	enum confidence confidence;
	bool in_success;     /* a log that ends well can show it */
	bool loud;           /* a line with the mark `calm` does not count */
	struct names also;   /* marks: the log must contain each of them */
	struct names unless; /* marks: the log must contain none of them */
	struct names
		undone_by; /* marks: one of them, later in the log, shows that the failure was overcome */
	struct names after; /* categories: the failure follows from one that came earlier */
	const char *recipe_key, *recipe_set, *recipe_add; /* the change of a recipe, or NULL */
	const char *source;
};

/* Returns all marks and signatures in the order of the file. */
const struct signature *facts_signatures(const struct facts *f, struct arena *a, size_t *n);

#endif

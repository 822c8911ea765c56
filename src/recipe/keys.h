#ifndef RECIPE_KEYS_H
#define RECIPE_KEYS_H

#include <stddef.h>

#include "grammar.h"

/*
 * Every key of a recipe, one row each, in keys.def: what drives reading, "did you
 * mean", the JSON Schema and the reference.  Adding a key is adding a row (and the
 * member of struct recipe that it fills).
 */
enum key_type {
	KEY_TEXT,   /* struct text */
	KEY_WORD,   /* an enum in the order of the words in `more`, and the span of the word */
	KEY_COUNT,  /* struct text, and the number as unsigned */
	KEY_NUMBER, /* struct text, and the number as double */
	KEY_BOOL,   /* struct text, and bool */
	KEY_TEXTS,  /* struct texts, from a list or one text */
	KEY_REQUIREMENTS,
	KEY_GPUS,
	KEY_MODAL_GPUS, /* struct text, the first, and struct texts, all of a list */
	KEY_SETTINGS,   /* struct settings, from a map of variables */
	KEY_MOUNTS,     /* struct settings, from a map of mount paths */
	KEY_MAP,        /* a map of the keys below it */
	KEY_SECTION,    /* the same, and the span that says it was written */
	KEY_EXTENSIONS, /* a list of maps of the keys below it, or of short forms */
	KEY_INDEXES,    /* a list of maps of the keys below it */
	KEY_EXTENDS,
	KEY_VARIANTS,
	KEY_MATRIX,
	KEY_CELLS, /* matrix.include and matrix.exclude */
};

struct member {
	size_t at, size; /* in bytes; size 0: none */
};

struct key {
	const char *path; /* "torch.version"; below a list its items' keys: "extensions.name" */
	enum key_type type;
	grammar *check;
	struct member first, second; /* of struct recipe, or of the item of the list */
	const char *more; /* of a word: the words, "auto|os"; of a map: what a text alone means */
	const char *pattern; /* its grammar as a regular expression, for editors; or NULL */
	const char *doc, *example;
	bool required; /* in each item of its list */
};

/* The recipe itself, and a map whose keys are in no row. */
extern const struct key key_root, key_free;

/* All rows, in the order of the reference; parents come before their children. */
const struct key *keys_all(size_t *n);
/* The children of `parent` one after the other: the one after `before` (NULL: the first). */
const struct key *key_next(const struct key *parent, const struct key *before);
/* The child `name` of `parent` (&key_root: the top), or NULL. */
const struct key *key_child(const struct key *parent, const char *name);
/* The names of the children of `parent`. */
struct names key_children(struct arena *a, const struct key *parent);
/* The last part of its path. */
const char *key_name(const struct key *k);
/* Whether it is a map with keys of its own (and may have a text as its short form). */
bool key_is_map(const struct key *k);
/* Copies what the key and the keys below it fill from one struct to another. */
void key_copy(const struct key *k, const void *from, void *to);

#endif

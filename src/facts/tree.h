#ifndef FACTS_TREE_H
#define FACTS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/list.h"
#include "base/yaml.h"

/*
 * The knowledge as a tree packed into two arrays.  A program that carries thousands of
 * pointers has them all relocated each time it starts; offsets cost nothing until
 * somebody reads them.  The generator writes such a tree as C, an overlay is packed
 * into one at run time: one way of reading for both.
 *
 * A node is a run of words; 0 is no node:
 *
 *     words[at]      kind (2 bits), file (8 bits), line (22 bits)
 *     words[at + 1]  text: offset into texts; list, map: how many
 *     words[at + 2]  list: nodes; map: pairs of key (offset into texts) and node
 *
 * Texts are NUL-terminated.  Nulls are not packed: what is null is not there.
 */
struct fact_tree {
	const uint32_t *words;
	const char *texts;
	uint32_t root;  /* a map: "torch.yaml" -> the map in that file */
	uint32_t files; /* a list: what to call each file, by its number */
	uint32_t date;  /* offset into texts: the day of the newest claim, or 0 */
};

/* What is compiled into the program; written by build/generate. */
extern const struct fact_tree knowledge_tree;

enum { FACT_FILES_MAX = 255, FACT_LINES_MAX = (1 << 22) - 1, FACT_RANGES_MAX = 64 };

/* A place in a tree.  One that is not there may be asked anything: it has no text,
 * no pairs and no items, so readers need not check each step. */
struct fact {
	const struct fact_tree *t;
	uint32_t at;
};

struct fact fact_root(const struct fact_tree *t);
struct fact fact_get(struct fact map, const char *key);
struct fact fact_at(struct fact x, size_t i);    /* an item, or the value of a pair */
const char *fact_key(struct fact map, size_t i); /* NULL for a list and past the end */
size_t fact_count(struct fact x);                /* pairs or items; 0 for a text */
const char *fact_text(struct fact x);            /* NULL for anything but a text */
uint32_t fact_line(struct fact x);               /* 0: not there */
const char *fact_path(struct fact x);            /* "knowledge/torch.yaml"; NULL: not there */

bool fact_is_map(struct fact x);

static inline bool
fact_is(struct fact x)
{
	return x.at != 0;
}

/* The text of a key, and as what it is meant: 0, false or TRI_UNKNOWN when not there. */
const char *fact_text_of(struct fact map, const char *key);
unsigned fact_uint_of(struct fact map, const char *key);
double fact_number_of(struct fact map, const char *key);
bool fact_true_of(struct fact map, const char *key);

/*
 * The words of a text ("3.8 3.9 3.10"), or the items of a list.
 * A list may share texts with the tree.
 */
struct names fact_words(struct arena *a, struct fact x);

/* One file of knowledge: its relative name and its root, a map. */
struct fact_file {
	const char *name; /* "extensions/mamba-ssm.yaml" */
	const struct node *root;
};

struct fact_files LIST(struct fact_file);

/*
 * fact_pack -- files as a tree.
 *
 *   in      date: of the newest claim, or NULL
 *   memory  lives in a
 */
struct fact_tree *fact_pack(struct arena *a, const struct fact_files *files, const char *date,
			    size_t *nwords, size_t *ntexts);

/* The other way: the map in a file as nodes with places in "knowledge/NAME". */
const struct node *fact_unpack(struct arena *a, struct fact x);

#endif

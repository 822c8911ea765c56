#ifndef FACTS_INTERNAL_H
#define FACTS_INTERNAL_H

#include "base/map.h"
#include "schema.h"

/*
 * Inside facts/: the files, and what has been read out of them already.  Files and entries are
 * read when they are first asked for; from then on the same struct is returned.
 */
struct facts {
	struct arena *a;
	const char *date;
	struct facts_read *read;
};

/* What was read; NULL and 0: not yet. */
struct facts_read {
	struct fact_files files; /* in the order of their names */
	struct torch_releases LIST(const struct torch_release *) torch; /* in the file's order */
	struct cuda_toolkits LIST(const struct cuda_toolkit *) cuda;
	struct gpus LIST(struct gpu) gpus;
	struct modal_gpus LIST(struct modal_gpu) modal_gpus;
	const struct modal_limits *modal;
	struct os_releases LIST(struct os_release) os;
	struct names extension_names;
	struct map extension_of; /* names of extensions, and their other names -> the name */
	struct map extensions;   /* name -> struct extension */
	struct pairings LIST(struct pairing) pairings;
	struct rules LIST(struct rule) rules;
	struct map versions, specifiers; /* text -> what it means */
	struct map package_releases;     /* normalised name -> struct package_releases */
};

/* The map in a file: "torch.yaml"; NULL: there is no such file. */
const struct node *facts_file(const struct facts *f, const char *name);
/* The map in extensions/NAME.yaml; NAME is normalised. */
const struct node *extension_file_of(const struct facts *f, const char *name);

/* The map or list in which a node stands, which is not the file itself. */
const struct node *fact_round(const struct node *x);

/*
 * "knowledge/torch.yaml:118 (PyPI: torch 2.2.2 METADATA, read 2026-11-20)": a claim rests on the
 * source of the innermost map round it that has one.  The second function tells every source that
 * the claim names, not the first alone.
 */
const char *fact_source(const struct facts *f, const struct node *claim);
const char *fact_sources(const struct facts *f, const struct node *claim);

/*
 * Reading nodes.  A node that is not there is NULL and may be asked anything: it has no text,
 * no pairs and no items, so readers need not check each step.
 */
static inline size_t
fact_count(const struct node *x)
{
	return x && x->kind != NODE_SCALAR ? x->n : 0;
}

/* An item, or the value of a pair. */
static inline const struct node *
fact_at(const struct node *x, size_t i)
{
	return i >= fact_count(x) ? NULL : x->kind == NODE_MAP ? x->pairs[i].value : x->items[i];
}

/* NULL for a list and past the end. */
static inline const char *
fact_key(const struct node *x, size_t i)
{
	return i < fact_count(x) && x->kind == NODE_MAP ? x->pairs[i].key : NULL;
}

/* NULL for anything but a text. */
static inline const char *
fact_text(const struct node *x)
{
	return node_text(x).s;
}

/* Return the value of a key as text, number or boolean; NULL, 0 or false if the map lacks it. */
const char *fact_text_of(const struct node *map, const char *key);
unsigned fact_uint_of(const struct node *map, const char *key);
double fact_number_of(const struct node *map, const char *key);
bool fact_true_of(const struct node *map, const char *key);
enum tri fact_tri(const struct node *x);

/* The keys of a map. */
struct names fact_keys(struct arena *a, const struct node *map);
/* The words of a text ("3.8 3.9 3.10"), or the items of a list. */
struct names fact_words(struct arena *a, const struct node *x);
/* The items of a list of texts, each whole; one text is a list of itself. */
struct names fact_items(struct arena *a, const struct node *x);

/* The pair of a map whose key is that version, by value: "2.2" is "2.2.0"; NULL: none. */
const struct node *fact_version(const struct facts *f, const struct node *map, const char *version,
				const char **key);
/* True if a version ("2.2.2+cu121" counts as 2.2.2) is in a specifier; NULL has none. */
bool fact_in_range(const struct facts *f, const char *spec, const char *version);

/* A release of an extension with the ranges that hold for it; release NULL: what holds for all. */
struct held {
	const struct node *file, *release, *ranges[FACT_RANGES_MAX];
	size_t n;
};
struct held extension_held(const struct facts *f, const struct node *file, const char *version);
/*
 * A field of it: its own, or that of the last range that has it, or that of the file, which holds
 * for all.
 */
const struct node *extension_field(const struct held *h, const char *key);

/* Replaces each {name} of "{version}+{cuda}torch{torch}..." by its value; values: pairs of both. */
const char *fact_filled(struct arena *a, const char *pattern, const char *const (*values)[2],
			size_t n);

#endif

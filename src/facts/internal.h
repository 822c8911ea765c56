#ifndef FACTS_INTERNAL_H
#define FACTS_INTERNAL_H

#include "base/map.h"
#include "facts.h"
#include "tree.h"

/*
 * Inside facts/: the tree, and what has been read out of it already.  Entries are read
 * when they are first asked for; from then on the same struct is returned.
 */
struct facts {
	struct arena *a;
	const struct fact_tree *tree;
	const struct fact_tree *over; /* files that stand for those of `tree`; or NULL */
	const char *date;
	struct facts_read *read;
};

/* Structs that were read; NULL and 0: not yet. */
struct facts_read {
	struct torch_releases LIST(const struct torch_release *) torch; /* in the tree's order */
	struct cuda_toolkits LIST(const struct cuda_toolkit *) cuda;
	struct gpus LIST(struct gpu) gpus;
	const struct modal_gpu *modal_gpus;
	size_t nmodal_gpus;
	const struct modal_limits *modal;
	const struct os_release *os;
	size_t nos;
	const struct extension **extensions;
	struct names extension_names;
	struct names aliases, alias_of; /* other names of extensions, and whose */
	const struct pairing *pairings;
	size_t npairings;
	const struct rule *rules;
	size_t nrules;
	struct map versions, specifiers; /* text -> what it means */
	struct map package_releases;     /* normalised name -> struct package_releases */
};

/* The map in a file: "torch.yaml". */
struct fact facts_file(const struct facts *f, const char *name);
/* The names of all files. */
struct names facts_files(const struct facts *f);

/*
 * The maps round a claim, outermost first: a claim rests on the source of the innermost
 * that has one.
 */
struct trail {
	struct fact at[6];
	unsigned n;
};

struct trail trail_of(struct fact file);
struct trail trail_to(struct trail t, struct fact map); /* one further in */

/* "knowledge/torch.yaml:118 (PyPI: torch 2.2.2 METADATA, read 2026-11-20)" */
const char *trail_source(const struct facts *f, struct trail t);
/* The same with every source that the claim names, not the first alone. */
const char *trail_sources(const struct facts *f, struct trail t);
/* False if the innermost map that says so says `unverified`. */
bool trail_verified(struct trail t);

/* The pair of a map whose key is that version, by value: "2.2" is "2.2.0"; 0: none. */
struct fact fact_version(const struct facts *f, struct fact map, const char *version,
			 const char **key);

/* The map in extensions/NAME.yaml; NAME is normalised. */
struct fact extension_file_of(const struct facts *f, const char *name);

/*
 * A field of a release of an extension: its own, or that of the last range that holds
 * for it and has it, or that of the file, which holds for all.
 */
struct fact extension_field(struct fact file, struct fact release, const char *key);
/* The range that it comes from; not there: it is from no range. */
struct fact extension_range(struct fact file, struct fact release, const char *key);

/* Replaces each {name} of "{version}+{cuda}torch{torch}..." by its value; values: pairs of both. */
const char *fact_filled(struct arena *a, const char *pattern, const char *const (*values)[2],
			size_t n);

/* The items of a list of texts, each whole; one text is a list of itself. */
struct names fact_items(struct arena *a, struct fact x);

/* TRI_UNKNOWN: it is not there. */
enum tri fact_tri(struct fact x);

/* True if a version ("2.2.2+cu121" counts as 2.2.2) is in a specifier; NULL has none. */
bool fact_in_range(const struct facts *f, const char *spec, const char *version);

/* The entries of `ranges` that hold for a release of an extension: how many of them. */
size_t extension_ranges(struct fact file, struct fact release, struct fact out[FACT_RANGES_MAX]);

#endif

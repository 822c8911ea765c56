#ifndef FACTS_INTERNAL_H
#define FACTS_INTERNAL_H

#include "base/map.h"
#include "schema.h"

/*
 * Private to facts/: the files, and the entries that have been read from them.  Entries are read at
 * their first use; later calls return the same struct.
 */
struct facts {
	struct arena *a;
	const char *date;
	struct facts_read *read;
};

struct written_rule {
	const char *on;          /* package whose releases have its clauses, or NULL */
	size_t file, i;          /* its file, and its index in that file */
	const struct rule *rule; /* NULL: not read yet */
};

enum { SPLIT_TEXTS = 64 };

struct fact_rows LIST(const struct fact_row *);

/* Entries that have been read; NULL and 0: not read yet. */
struct facts_read {
	struct fact_rows merged; /* all files, with an overlay; empty: the built-in ones */
	struct torch_releases LIST(const struct torch_release *) torch; /* in the file's order */
	struct cuda_toolkits LIST(const struct cuda_toolkit *) cuda;
	struct gpus LIST(struct gpu) gpus;
	struct modal_gpus LIST(struct modal_gpu) modal_gpus;
	const struct modal_limits *modal;
	struct os_releases LIST(struct os_release) os;
	struct names extension_names, package_names;
	struct map extension_of; /* other names of extensions -> the name */
	bool aliases_read;       /* extension_of has all of them */
	struct map extensions;   /* name -> struct extension */
	struct map paired;       /* the other names of pairings */
	struct map pairings;     /* normalised name -> struct pairings */
	struct written_rules LIST(struct written_rule) rules;
	struct map versions, specifiers, requirements; /* text -> parsed value */
	struct split_text {
		const char *text;
		struct names words;
	} split[SPLIT_TEXTS];
	struct map packages;    /* normalised name -> struct python_package */
	struct map independent; /* name -> bool */
	struct map images;      /* name -> struct image_name */
	struct names over;      /* files of --knowledge */
	const char *user;       /* directory of the user's harvested knowledge; NULL: none */
	struct map user_of;     /* normalised name -> struct user_file */
	struct user_files user_files;
};

/* Return the number of files, and the i-th one in the order of their names. */
static inline size_t
facts_file_count(const struct facts *f)
{
	return f->read->merged.n ? f->read->merged.n : facts_built_in.n;
}

static inline const struct fact_row *
facts_row(const struct facts *f, size_t i)
{
	return f->read->merged.n ? f->read->merged.at[i] : &facts_built_in.rows[i];
}

/* Returns the map in a file: "torch.yaml"; NULL: there is no such file. */
const struct claim *facts_file(const struct facts *f, const char *name);
/* Returns the map of NAME.yaml in a directory: "extensions/". */
const struct claim *facts_file_in(const struct facts *f, const char *directory, const char *name);
/* Returns the map in extensions/NAME.yaml; NAME is normalised. */
const struct claim *extension_file_of(const struct facts *f, const char *name);

/*
 * Returns the map in releases/NAME.yaml, the user's own before the built-in one; NAME is
 * normalised.
 */
const struct claim *releases_file_of(const struct facts *f, const char *name);
/* Returns the map in the user's own releases/NAME.yaml; NULL if none is used. */
const struct claim *user_file_of(const struct facts *f, const char *name);
/* Reads every file of that directory. Returns its path, or NULL if no file is used. */
const char *facts_user_read_all(const struct facts *f);

/*
 * Return the source of the innermost map that has one, such as "knowledge/torch.yaml:118 (PyPI:
 * torch 2.2.2 METADATA, read 2026-11-20)"; fact_sources returns every source of that map.
 */
const char *fact_source(struct arena *a, const struct claim *map);
const char *fact_sources(struct arena *a, const struct claim *map);

/*
 * Read claims. A missing claim is NULL, which has no text, no pairs and no items, so
 * callers need not check each step.
 */
static inline const char *
text_at(const uint32_t *word)
{
	return (const char *)word + *word;
}

/* Returns the map in a file. */
static inline const struct claim *
row_root(const struct fact_row *row)
{
	return (const struct claim *)(&row->root + (int32_t)row->root);
}

size_t fact_count(const struct claim *x);
/* Returns an item, or the value of a pair. */
const struct claim *fact_at(const struct claim *x, size_t i);
/* Returns the key of a pair; NULL for a list and past the end. */
const char *fact_key(const struct claim *x, size_t i);
/* Returns the text of a claim; NULL if it is not a text. */
const char *fact_text(const struct claim *x);
const struct claim *fact_find(const struct claim *map, const char *key, uint32_t hash);

/*
 * Returns the value of that key; NULL if it is missing, or if the claim is not a map. The compiler
 * hashes a literal key.
 */
static inline const struct claim *
fact_get(const struct claim *map, const char *key)
{
	return fact_find(map, key, fact_hash(key));
}

enum node_kind fact_kind(const struct claim *x);
/* Returns a claim as it was written, in `src`. */
const struct node *fact_node(struct arena *a, const struct claim *x, const struct source *src);

/* Return the value of a key as text, number or boolean; NULL, 0 or false if the map lacks it. */
unsigned fact_uint_of(const struct claim *map, const char *key);
double fact_number_of(const struct claim *map, const char *key);
enum tri fact_tri(const struct claim *x);

static inline const char *
fact_text_of(const struct claim *map, const char *key)
{
	return fact_text(fact_get(map, key));
}

/* Returns a date, "2026-11-20", in days since the year 0, with months of 31 days; NULL: 0. */
long fact_day(const char *date);

static inline bool
fact_true_of(const struct claim *map, const char *key)
{
	return fact_tri(fact_get(map, key)) == TRI_YES;
}

/* Returns the keys of a map. */
struct names fact_keys(struct arena *a, const struct claim *map);
/* Returns the words of a text ("3.8 3.9 3.10"), or the items of a list. */
struct names fact_words(const struct facts *f, const struct claim *x);
/* Returns the items of a list of texts, each whole; one text is a list of itself. */
struct names fact_items(struct arena *a, const struct claim *x);

/* Returns the pair of a map whose key is that version, by value: "2.2" is "2.2.0", or NULL. */
const struct claim *fact_version(const struct facts *f, const struct claim *map,
				 const char *version, const char **key);
/* Returns true if a version ("2.2.2+cu121" counts as 2.2.2) is in a specifier; NULL has none. */
bool fact_in_range(const struct facts *f, const char *spec, const char *version);

/* A release of an extension with the ranges that apply to it; release NULL: facts about all. */
struct held {
	const struct claim *file, *release, *ranges[FACT_RANGES_MAX];
	size_t n;
};
struct held extension_held(const struct claim *file, const struct claim *release);
/* Returns the map with a key: the release, else its last range with it, else the file. */
const struct claim *extension_says(const struct held *h, const char *key, uint32_t hash);

static inline const struct claim *
extension_field(const struct held *h, const char *key)
{
	return fact_find(extension_says(h, key, fact_hash(key)), key, fact_hash(key));
}

/* Replaces each {name} of "{version}+{cuda}torch{torch}..." by its value; values: pairs of both. */
const char *fact_filled(struct arena *a, const char *pattern, const char *const (*values)[2],
			size_t n);

#endif

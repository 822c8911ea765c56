#ifndef FACTS_SCHEMA_H
#define FACTS_SCHEMA_H

#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/yaml.h"
#include "facts.h"

/* A file of knowledge as YAML: its relative name and its root, a map. */
struct fact_file {
	const char *name; /* "extensions/mamba-ssm.yaml" */
	const struct node *root;
	bool over;          /* a file of an overlay, merged into the built-in file */
	const char *paired; /* more names for `paired` of its row; NULL: none */
};
struct fact_files LIST(struct fact_file);

/*
 * Knowledge in memory: one block without pointers, which is read in place. The built-in files are one
 * block in the program, the merged files of an overlay another one.
 *
 *     block = row*, claim*, texts
 *     row   = name, aliases, on, paired, root         (struct fact_row)
 *     claim = kind (2 bits) and line (30 bits), then
 *             text | count, source, (hash of the key, key, value)* | count, value*
 *     source = "PATH:", " (FIRST, and 2 more; not verified: WHY)", " (FIRST; SECOND; THIRD; ...)"
 *
 * Each of these is a word, but for the three texts of a source, which follow one another; the line is
 * between the first one and one of the others. A name,
 * text, source or key is the distance in bytes from its word to the text; a root or value the
 * distance in words from its word to the claim, which may be before it. Two words precede a release
 * of an extension: one bit for each entry of `ranges` that includes the release, and the highest bit
 * if the release sets release fields itself.
 */
struct claim {
	uint32_t head, rest[];
};

/* The words of a pair, and the position of the first one in `rest`. */
enum { PAIR_WORDS = 3, PAIRS_AT = 2 };

static inline uint32_t
fact_hash(const char *key)
{
	uint32_t n = (uint32_t)strlen(key);

	return n ? (uint32_t)*key << 16 ^ (uint32_t)key[n / 2] << 8 ^ (uint32_t)key[n - 1] ^
			       n << 24 :
		   0;
}

/* A file, and its part of the index over all files, whose words are separated by spaces. */
struct fact_row {
	uint32_t name;    /* "extensions/mamba-ssm.yaml" */
	uint32_t aliases; /* other names of an extension */
	uint32_t on;      /* of each rule, the package whose releases have its clauses, or "-" */
	uint32_t paired;  /* the other names of its pairings that no earlier file has */
	uint32_t root;
};

#define FACT_SIGNATURES "signatures.yaml"

/* The built-in files, in the order of their names; written by build/generate. */
struct fact_table {
	const struct fact_row *rows;
	size_t n;
	const char *date; /* the day of the newest claim */
};
extern const struct fact_table facts_built_in;

struct fact_block {
	const uint32_t *words; /* the rows come first */
	size_t n_words;
	const char *texts; /* behind the words */
	size_t n_texts;    /* bytes */
};

/* Returns the block of some files. */
struct fact_block facts_pack(struct arena *a, const struct fact_files *files);

enum { FACT_RANGES_MAX = 63 }; /* entries of `ranges` and `wheels` of an extension */

/*
 * The schema of knowledge files: one table for each kind of map.  The generator checks the
 * built-in files with it, and facts_load() checks overlays, so that a reader never meets a
 * value of the wrong type.
 */

enum fact_type {
#define TYPE(type, ...) type,
#include "types.def"
#undef TYPE
};

/* The number of values of a field, and their form. */
enum fact_form {
	ONE,    /* key: value */
	WORDS,  /* key: value value value, or a list of them */
	MANY,   /* key: [value, value] */
	SOME,   /* key: value, or key: [value, value] */
	TABLE,  /* key: {KEY: value}, KEY of type `keys` */
	GROUP,  /* key: {fields} */
	GROUPS, /* key: {KEY: {fields}}, KEY of type `keys` */
	ROWS,   /* key: [{fields}] */
};

struct fact_field {
	const char *key;
	enum fact_form form;
	enum fact_type type;
	enum fact_type keys;
	const struct fact_field *fields;
	bool needed;
};

/* Returns the names of the files at the top: "torch.yaml". */
struct names facts_file_names(struct arena *a);

/* Returns the fields of the file of that relative name, or NULL if there is no such file. */
const struct fact_field *facts_fields(const char *name);

/* Returns whether a key of an extension's file is one that a release may have. */
bool facts_is_release_field(const char *key);

/* Returns true if a text is a value of that type; otherwise `what` describes the type. */
bool fact_fits(struct arena *a, enum fact_type type, const char *s);
const char *fact_type_name(enum fact_type type);

/*
 * facts_read_files -- reads every *.yaml in a directory and its extensions/.
 *
 *   errors  SB0100 .. SB0104, SB0280; false, and the readable ones in *files;
 *           SB0284 (a warning) for other files
 */
bool facts_read_files(struct arena *a, struct diags *ds, const char *dir, struct fact_files *files);

/*
 * facts_check -- checks a file against the table, and that every claim in it has a source.
 *
 *   in      what: for a built-in file: CHECK_PIECE | CHECK_WHOLE; for an overlay: CHECK_PIECE (it
 *           may have nulls), and CHECK_WHOLE after the merge
 *   errors  SB0280: unknown key, wrong kind, bad value, missing key; SB0281: no source, or one that
 *           is not listed; false
 */
enum { CHECK_PIECE = 1, CHECK_WHOLE = 2 };
bool facts_check(struct arena *a, struct diags *ds, const struct fact_file *file, unsigned what);

/*
 * facts_check_references -- checks that references between files resolve: GPUs by their capability,
 * operating systems, Python series, extensions and packages.
 *
 *   in      files: all files of the knowledge; an overlay does not need the content of every one
 *   errors  SB0282, false; also for a range that contains no release
 */
bool facts_check_references(struct arena *a, struct diags *ds, const struct fact_files *files);

/* Returns true for a file with a map whose keys other files may refer to, such as gpus.yaml. */
bool facts_defines_names(const char *file);
/* Returns true if a file of an overlay removes such keys. */
bool facts_removes_names(const struct fact_file *over);

/*
 * facts_with_overlay -- merges the files of an overlay into the built-in ones and checks them;
 * facts_load() reads them from a directory.
 *
 *   in      ok: false if a file could not be read: then only single files are checked
 *   errors  SB0280 .. SB0282, NULL
 */
const struct facts *facts_with_overlay(struct arena *a, struct diags *ds,
				       const struct fact_files *over, bool ok);

/*
 * Reads one condition.  Returns NULL, or the error as a phrase ("`any` is for gpus");
 * both texts must live as long as *out.
 */
const char *rule_condition_parse(struct arena *a, const char *variable, const char *text,
				 struct rule_condition *out);

/*
 * rule_read -- reads a rule of a file that facts_check() accepted: its conditions, severity and
 * code, and the variables in its sentences.
 *
 *   in      ds: NULL: the rule was read without an error before
 *   out *out, except for its source
 *   errors  SB0280, false
 */
bool rule_read(struct arena *a, struct diags *ds, const struct pair *rule, struct rule *out);

/* Returns the newest day that a source of any file names ("read 2026-11-20"), or NULL. */
const char *facts_newest_date(struct arena *a, const struct fact_files *files);

/*
 * facts_merge -- merges `over` into `under`: maps merge, lists and texts replace, null
 * removes.  Releases are kept in the order of their versions.
 */
const struct node *facts_merge(struct arena *a, const struct node *under, const struct node *over);

/*
 * Returns the order of two keys as versions, "3.13" before "3.13t"; 0: they are equal, or one of
 * them is not a version.
 */
int facts_key_order(struct arena *a, const char *x, const char *y);

#endif

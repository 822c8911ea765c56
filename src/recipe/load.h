#ifndef RECIPE_LOAD_H
#define RECIPE_LOAD_H

#include "base/map.h"
#include "base/str.h"
#include "base/yaml.h"
#include "recipe.h"

/* Private to recipe/: shared by the parts of loading. */

struct load {
	struct arena *a;
	struct diags *ds;
	const struct facts *f;
	const struct recipe_options *o;
	recipe_open *open;
	void *ctx;
	struct map seen;     /* faults reported, by code and place */
	struct diags echoes; /* where the same fault goes the second time */
	struct names files;  /* that were read, by normalised path, the recipe first */
	unsigned before;     /* errors that were there already */
	struct map done;     /* values that were read, by key and node: cells share equal values */
};

/*
 * A recipe with more faults than this is not read further. Lists and maps are bounded too: far
 * above what anyone writes, far below what would need much memory.
 */
enum {
	FAULTS_MAX = 200,
	ITEMS_MAX = 20 * 1000,
	EXTENSIONS_MAX = 500,
	VARIANTS_MAX = 1000,
	CELLS_MAX = 10 * 1000,
	TEXT_MAX = 4096,      /* bytes of a value */
	VALUE_MAX = 32 * 1024 /* bytes of a variable */
};

/*
 * fault -- diag_at, once for each code and place: many cells read the same text.
 * Returns a diagnostic that notes and help may follow; never NULL.
 */
struct diag *fault(struct load *l, enum code code, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Adds an error with help (or NULL), and returns false. */
bool reject(struct load *l, enum code code, struct span at, const char *help, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Returns whether so many faults were found that the search for more stops. */
bool load_full(const struct load *l);
/* False, and SB0103, if there are more than `max` of `what`. */
bool within_limit(struct load *l, struct span at, size_t n, size_t max, const char *what);

/* "`sometext`" or its beginning, for a message. */
const char *shown(struct arena *a, const char *text);
/* Returns a list of one, in the arena. */
const struct node *list_of_one(struct load *l, const struct node *n);
/* Returns a map with room for n pairs, at the place of another node. */
struct node *map_of(struct load *l, struct span at, size_t n);
/* Returns a map without one of its keys. */
const struct node *map_without(struct load *l, const struct node *map, const char *key);

/* Adds help that replaces `old` by `value`, unless `old` is only a part of the text. */
void offer(struct load *l, struct diag *d, struct text old, const char *value, const char *help);
/* Offers a text that is already YAML. */
void offer_text(struct diag *d, struct text old, const char *yaml, const char *help);
/* Returns the part of a text value's span that starts `from` bytes into it and is `n` long. */
struct span span_within(struct text t, size_t from, size_t n);

/* Reads app.requirements, once for all cells.  Returns false after an error. */
bool app_read(struct load *l, struct recipe_app *app);

/* --- grammars: one for each kind of value --- */

/* The error of a text. */
struct complaint {
	enum code code;
	const char *what;    /* follows "`key`: ": "`x` is not a version" */
	const char *help;    /* or NULL */
	const char *fix;     /* the most likely correct value, or NULL */
	const char *source;  /* the evidence, or NULL */
	size_t from, length; /* which bytes of the text; length 0: all */
};

/* Returns the error of a line of printable ASCII, or NULL if it can be used as it is. */
typedef const struct complaint *grammar(struct load *l, const char *s);

grammar grammar_stack, grammar_image, grammar_cuda, grammar_python, grammar_gpu, grammar_apt,
	grammar_version, grammar_torch_index, grammar_requirement, grammar_extension_name,
	grammar_extension_version, grammar_git, grammar_extension_ref, grammar_subdirectory,
	grammar_archive, grammar_sha256, grammar_env_name, grammar_env_value, grammar_path,
	grammar_argument, grammar_object, grammar_modal_gpu, grammar_timeout, grammar_scaledown,
	grammar_entrypoint, grammar_cpu, grammar_memory, grammar_builder, grammar_build,
	grammar_import_timeout, grammar_module, grammar_probe, grammar_platform, grammar_driver,
	grammar_newest, grammar_snapshot, grammar_user, grammar_index, grammar_package_name,
	grammar_mount, grammar_requirement_url, grammar_variant, grammar_ignore;

/* Returns an error with help (or NULL); format and arguments are its text. */
struct complaint *complain(struct load *l, enum code code, const char *help, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* "`s` what", with help. */
#define complain_that(l, code, s, what, help) \
	complain(l, code, help, "%s %s", shown((l)->a, s), what)
/* Adds help that replaces the value by `fix`, if `fix` passes `g`. */
struct complaint *complain_try(struct load *l, struct complaint *c, grammar *g, const char *fix);
/* "`s` what"; adds "did you mean" if one of `words` is near to `s`, else the list of them. */
struct complaint *complain_words(struct load *l, enum code code, const char *s, const char *what,
				 struct names words);

/*
 * Defines grammar_NAME: a text of at most `max` bytes that matches a regular expression. If it
 * does not, the complaint is the text, in backticks, and `what`. (A bound such as {0,63} in a
 * pattern would cost a millisecond.)
 */
#define PATTERN_GRAMMAR(name, pattern, max, code, what, help) \
	const struct complaint *grammar_##name(struct load *l, const char *s) \
	{ \
		return strlen(s) <= (max) && str_matches(s, pattern) ? \
			       NULL : \
			       complain_that(l, code, s, what, help); \
	}

/*
 * Adds the errors of `value` of the key `path`, and returns false: it is not one line of
 * printable ASCII of at most TEXT_MAX bytes (VALUE_MAX for a variable), or `g` complains.
 */
bool text_holds(struct load *l, grammar *g, const char *path, struct text value);
/* Checks only the grammar. */
bool grammar_holds(struct load *l, grammar *g, const char *path, struct text value);
/* Adds SB0110 if a blank is before or after the text. */
bool text_has_no_blank_ends(struct load *l, const char *path, struct text t);

/* "git+https://host/x.git@v1" in two; *ref NULL without one; false if it is not git+... */
bool git_split(struct arena *a, const char *url, const char **repository, const char **ref);
/* Names that are branches wherever they are seen. */
bool git_is_branch(const char *s);

/* --- keys --- */

/*
 * Every key of a recipe, one row each, in keys.def: what drives reading, "did you
 * mean", the JSON Schema and the reference.  Adding a key is adding a row (and the
 * member of struct recipe that it fills).
 */
enum key_type {
	KEY_TEXT,   /* struct text */
	KEY_WORD,   /* an enum in the order of the words in `more`, and the span of the word */
	KEY_NUMBER, /* struct text */
	KEY_BOOL,   /* struct text: "true" or "false" */
	KEY_TEXTS,  /* struct texts, from a list or one text */
	KEY_REQUIREMENTS,
	KEY_GPUS,
	KEY_MODAL_GPUS, /* struct text, the first, and struct texts, all of a list */
	KEY_SETTINGS,   /* struct settings, from a map of variables, or of mount paths */
	KEY_MAP,        /* a map of the keys below it */
	KEY_EXTENSIONS, /* a list of maps of the keys below it, or of short forms */
	KEY_INDEXES,    /* a list of maps of the keys below it */
	KEY_EXTENDS,
	KEY_VARIANTS,
	KEY_MATRIX,
	KEY_CELLS,             /* matrix.include and matrix.exclude */
	KEY_SECTION = KEY_MAP, /* a map, and the span that shows that it was written */
};

struct member {
	size_t at, size, item; /* in bytes; size 0: none; item: of a list, the size of an item */
};

struct key {
	const char *path; /* "torch.version"; below a list its items' keys: "extensions.name" */
	enum key_type type;
	grammar *check;
	struct member first, second; /* of struct recipe, or of the item of the list */
	const char *
		more; /* of a word: the words, "auto|os"; of a map: the meaning of a text instead */
	const char *pattern; /* its grammar as a regular expression, for editors; or NULL */
	const char *doc, *example;
	bool required; /* in each item of its list */
};

/* The recipe itself, and a map whose keys are in no row. */
extern const struct key key_root, key_free;

/* Returns all rows, in the order of the reference; parents come before their children. */
const struct key *keys_all(size_t *n);
/*
 * Returns the children of `parent` one after the other: the one after `before` (NULL: the first).
 */
const struct key *key_next(const struct key *parent, const struct key *before);
/* Returns the child `name` of `parent` (&key_root: the top), or NULL. */
const struct key *key_child(const struct key *parent, const char *name);
/* Returns the key of the list that the short form of a map is; NULL: its short form is a text or none. */
const struct key *key_short_list(const struct key *k);
/* Returns the last part of its path. */
const char *key_name(const struct key *k);
/* Returns the grammar of the names of settings: of variables, or of mount paths. */
grammar *key_names(const struct key *k);

/* --- reading --- */

/* Reads the value of any key into its member of the struct at `base`; false: it has errors. */
bool read_value(struct load *l, const struct key *k, const struct node *n, char *base);
/* Adds the error of a key that is not a child of `k` (SB0105).  Returns false. */
bool key_unknown(struct load *l, const struct key *k, const char *name, struct span at);
/*
 * Adds the error of a wrong kind of value, such as a map instead of a text (SB0107), with the
 * table's example; path: of the value, if it is not the key itself. False.
 */
bool value_kind(struct load *l, const struct key *k, const char *path, const struct node *n,
		const char *wanted);

/* Reads one item of `extensions` in its short form: "name==1.4.0", "name @ URL". */
bool extension_short(struct load *l, const struct node *n, struct recipe_extension *e);
/* Checks the conditions between the keys of one extension, and of the list. */
bool extension_holds(struct load *l, struct recipe_extension *e);
bool extensions_hold(struct load *l, const struct recipe_extensions *all);

/* Writes the input of the digest: a recipe with sorted keys in their long forms. */
void recipe_canonical(const struct recipe *r, struct buf *out);

/* --- files, overrides, cells --- */

/*
 * Reads the recipe file that the options name and merges it over the files that it extends.
 * Returns the map without `extends`, and the file in *src; NULL after SB0100 .. SB0108, SB0125
 * or SB0126.
 */
const struct node *extends_load(struct load *l, const struct source **src);
/* Reads a recipe file from the file system; for `open`. */
const struct source *extends_open_file(void *ctx, struct arena *a, struct diags *ds,
				       const char *path, struct span at);

/*
 * merge -- `over` laid on `base`: maps merge, lists and scalars replace, null removes
 * (RFC 7386).  A text that is the short form of a map (torch: 2.2.2) is that map when
 * a map is laid on it; a text laid on a map replaces it whole.
 *
 *   in   k: the row that both are values of (&key_root: whole recipes);
 *        base: may be NULL
 *   out  NULL if nothing is left; nodes that do not change are shared
 */
const struct node *merge(struct load *l, const struct key *k, const struct node *base,
			 const struct node *over);

/* A value to lay on a recipe at a dotted key: of --set, or of a matrix cell. */
struct override {
	struct names parts; /* "torch", "version" */
	const char *dotted; /* one pointer for one key: compare it with == */
	struct span at;     /* of the key */
	const struct key *top;
	const struct node *value;
	size_t number; /* of the value in its axis, from 1; 0: of no axis */
};
struct overrides LIST(struct override);

/*
 * Finds a dotted key in the key table.  errors SB0105 (with the nearest key), or those of the
 * grammar of a name; false
 */
bool override_key(struct load *l, const char *dotted, struct span at, struct override *o);
/* merge() of one override after the other with a whole recipe. */
const struct node *overrides_apply(struct load *l, const struct overrides *all,
				   const struct node *root);
/*
 * Reads the --set options in the order given; places point into "<command line>", one line an
 * option.  errors SB0130, SB0105, SB0101 ..; false
 */
bool sets_read(struct load *l, struct overrides *out);

/* One combination of the matrix: an override for each of its keys, and its name. */
struct cell {
	const char *name; /* NULL: there is no matrix */
	struct overrides overrides;
};
struct cells LIST(struct cell);

/*
 * cells_make -- the cells of a matrix, the last axis fastest.
 *
 *   in      matrix: a node, or NULL: one cell without a name; fixed: --set options that
 *           give an axis one value
 *   out     names are unique, also where case does not count, and safe as a directory
 *   errors  SB0129, SB0105, SB0107; false
 */
bool cells_make(struct load *l, const struct node *matrix, const struct overrides *fixed,
		struct cells *out);

#endif

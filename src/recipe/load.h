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
	struct map seen;     /* reported errors, by code and place */
	struct diags echoes; /* takes repeated errors */
	struct names files;  /* files read so far, by normalised path, the recipe first */
	unsigned before;     /* number of errors before */
	struct map done;     /* values read so far, by key and node: cells share equal values */
};

/*
 * Limits: a recipe with more errors is not read further. Lists and maps may be far longer than in
 * any real recipe, but not so long that they need much memory.
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
 * fault -- calls diag_at once for each code and place, because many cells read the same text.
 * Returns a diagnostic for notes and help; never NULL.
 */
struct diag *fault(struct load *l, enum code code, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Adds an error with help (or NULL), and returns false. */
bool reject(struct load *l, enum code code, struct span at, const char *help, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Returns whether there are so many errors that reading stops. */
bool load_full(const struct load *l);
/* Returns false after SB0103 if there are more than `max` of `what`. */
bool within_limit(struct load *l, struct span at, size_t n, size_t max, const char *what);

/* Returns "`sometext`" or its beginning, for a message. */
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

/* Checks the file of modal.entrypoint, unless the recipe is not in a file.  Returns false after SB0141. */
bool entrypoint_read(struct load *l, const struct recipe *r);

/* Reads app.requirements, once for all cells.  Returns false after an error. */
bool app_read(struct load *l, struct recipe_app *app);

/* Returns whether the recipe's directory is on the disk, so that other files in it can be checked. */
bool load_on_disk(const struct load *l);
/* Returns whether a clean path is `directory` or below it. */
bool path_is_below(const char *directory, const char *path);
/* Checks the directory of own code: it exists inside the recipe's directory, or in its git
 * repository if the path begins with "..", and pip can build it.
 * errors SB0135, false */
bool own_code_holds(struct load *l, const struct recipe_extension *e);
/* Checks a path that the application's requirements name.  errors SB0135, false */
bool app_local_holds(struct load *l, struct text name);

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

/* Returns the error in a line of printable ASCII, or NULL if it is valid. */
typedef const struct complaint *grammar(struct load *l, const char *s);

grammar grammar_stack, grammar_image, grammar_cuda, grammar_python, grammar_gpu, grammar_apt,
	grammar_version, grammar_torch_index, grammar_requirement, grammar_extension_name,
	grammar_extension_version, grammar_git, grammar_extension_ref, grammar_subdirectory,
	grammar_archive, grammar_sha256, grammar_env_name, grammar_env_value, grammar_path,
	grammar_own_path, grammar_argument, grammar_object, grammar_modal_gpu, grammar_timeout,
	grammar_scaledown, grammar_entrypoint, grammar_launcher, grammar_cpu, grammar_memory,
	grammar_builder, grammar_build, grammar_import_timeout, grammar_module, grammar_probe,
	grammar_platform, grammar_driver, grammar_newest, grammar_snapshot, grammar_user,
	grammar_index, grammar_package_name, grammar_mount, grammar_requirement_url,
	grammar_variant, grammar_ignore, grammar_whole, grammar_decimal, grammar_word, grammar_cron,
	grammar_member, grammar_method, grammar_client;

/* Returns an error with help (or NULL); format and arguments are its text. */
struct complaint *complain(struct load *l, enum code code, const char *help, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Returns an error "`s` what", with help. */
#define complain_that(l, code, s, what, help) \
	complain(l, code, help, "%s %s", shown((l)->a, s), what)
/* Adds a help that replaces the value by `fix`, if `g` accepts that. */
struct complaint *complain_try(struct load *l, struct complaint *c, grammar *g, const char *fix);
/* Returns an error "`s` what", with "did you mean" if one of `words` is similar to `s`, otherwise
 * with all words. */
struct complaint *complain_words(struct load *l, enum code code, const char *s, const char *what,
				 struct names words);

/*
 * Defines grammar_NAME: a text of at most `max` bytes that matches a regular expression. Otherwise,
 * the error is the text in backticks and `what`. (A bound such as {0,63} in a pattern would take a
 * millisecond.)
 */
#define PATTERN_GRAMMAR(name, pattern, max, code, what, help) \
	const struct complaint *grammar_##name(struct load *l, const char *s) \
	{ \
		return strlen(s) <= (max) && str_matches(s, pattern) ? \
			       NULL : \
			       complain_that(l, code, s, what, help); \
	}

/*
 * Checks `value` of the key `path`; false after errors: it is not a line of printable ASCII of at
 * most TEXT_MAX bytes (VALUE_MAX for a variable), or `g` rejects it.
 */
bool text_holds(struct load *l, grammar *g, const char *path, struct text value);
/* Checks only the grammar. */
bool grammar_holds(struct load *l, grammar *g, const char *path, struct text value);
/* Adds SB0110 if a blank is before or after the text. */
bool text_has_no_blank_ends(struct load *l, const char *path, struct text t);

/* Splits "git+https://host/x.git@v1"; *ref is NULL without a ref; false if it is not git+... */
bool git_split(struct arena *a, const char *url, const char **repository, const char **ref);
/* Returns true for names that are always branches. */
bool git_is_branch(const char *s);

/* --- keys --- */

/*
 * keys.def has a row for every key of a recipe. Reading, "did you mean", the JSON Schema and the
 * reference all use this table. A new key needs a row and a member of struct recipe.
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
	KEY_ARGUMENTS,  /* a map of the parameters of a call of Modal's client: arguments.c */
	KEY_BUCKETS,    /* a map of mount paths, each with such a map */
	KEY_EXTENDS,
	KEY_VARIANTS,
	KEY_MATRIX,
	KEY_CELLS,             /* matrix.include and matrix.exclude */
	KEY_SECTION = KEY_MAP, /* a map, and a span that shows that it is set */
};

struct member {
	size_t at, size, item; /* in bytes; size 0: none; item: of a list, the size of an item */
};

struct key {
	const char *path; /* "torch.version"; for the items of a list, "extensions.name" */
	enum key_type type;
	grammar *check;
	struct member first, second; /* members of struct recipe, or of the list's item */
	const char *more;            /* a KEY_WORD's words, "auto|os"; a map's key for a text; the
				      * call of KEY_ARGUMENTS */
	const char *pattern;         /* its grammar as a regular expression, for editors; or NULL */
	const char *doc, *example;
	bool required; /* required in each item of its list */
};

/* The recipe itself, and a map whose keys are in no row. */
extern const struct key key_root, key_free;

/* Returns all rows in the order of the reference; parents come before their children. */
const struct key *keys_all(size_t *n);
/* Returns the next child of `parent` after `before` (NULL: the first one). */
const struct key *key_next(const struct key *parent, const struct key *before);
/* Returns the child `name` of `parent` (&key_root: the top), or NULL. */
const struct key *key_child(const struct key *parent, const char *name);
/* Returns the key of the list that the short form of a map is; NULL: its short form is a text or none. */
const struct key *key_short_list(const struct key *k);
/* Returns the last part of a key's path. */
const char *key_name(const struct key *k);
/* Returns the names of the keys below a key. */
struct names key_children(const struct load *l, const struct key *k);
/* Returns the grammar of the names of settings: of variables, or of mount paths. */
grammar *key_names(const struct key *k);

/* --- arguments of Modal's calls (arguments.c): keys that are in the knowledge base only --- */

/* Returns the names below a KEY_ARGUMENTS. */
struct names argument_names(const struct facts *f, struct arena *a, const struct key *k);
/* Returns the key of a name below a KEY_ARGUMENTS; its members are of struct recipe_argument. */
const struct key *argument_key(const struct facts *f, struct arena *a, const struct key *parent,
			       const char *name);
/* Returns the key of the short form of a KEY_ARGUMENTS, a number, or NULL. */
const struct key *argument_short(struct arena *a, const struct key *k);
/* Returns the key of the bucket at a mount path, below a KEY_BUCKETS. */
const struct key *bucket_key(struct arena *a, const struct key *k, const char *path);
/* Returns the call of the client for a name of modal.web: "asgi_app" for asgi; NULL: an argument. */
const char *argument_web_call(const char *name);
bool read_arguments(struct load *l, const struct key *k, const struct node *n, char *base);
bool read_buckets(struct load *l, const struct key *k, const struct node *n, char *base);
/* Checks the conditions between the keys of `modal` (arguments_hold.c). */
bool modal_holds(struct load *l, const struct recipe_modal *m);

/* --- reading --- */

/* Reads the value of any key into its member of the struct at `base`; false: it has errors. */
bool read_value(struct load *l, const struct key *k, const struct node *n, char *base);
/* Adds the error of a key that is not a child of `k` (SB0105).  Returns false. */
bool key_unknown(struct load *l, const struct key *k, const char *name, struct span at);
/* Adds the error of a required key (SB0106).  Returns false. */
bool key_missing(struct load *l, const struct key *k, const char *name, struct span at);
/*
 * Adds the error of a wrong kind of value, such as a map instead of a text (SB0107), with the
 * table's example; path: that of the value, if it is not the key itself. Returns false.
 */
bool value_kind(struct load *l, const struct key *k, const char *path, const struct node *n,
		const char *wanted);
/* Returns whether a value is a map of at most ITEMS_MAX pairs; false after an error. */
bool value_map(struct load *l, const struct key *k, const struct node *n);

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
/* Reads a recipe file from the file system; the default for `open`. */
const struct source *extends_open_file(void *ctx, struct arena *a, struct diags *ds,
				       const char *path, struct span at);

/*
 * merge -- merges `over` into `base`: maps merge, lists and scalars replace, null removes (RFC
 * 7386). If a map is merged into a text that is the short form of a map (torch: 2.2.2), the text
 * counts as that map; a text replaces a whole map.
 *
 *   in   k: the row of both values (&key_root: whole recipes); base: may be NULL
 *   out  NULL if nothing is left; nodes that do not change are shared
 */
const struct node *merge(struct load *l, const struct key *k, const struct node *base,
			 const struct node *over);

/* A value that overrides a dotted key of a recipe: from --set, or from a matrix cell. */
struct override {
	struct names parts; /* "torch", "version" */
	const char *dotted; /* unique pointer for a key: compare it with == */
	struct span at;     /* place of the key */
	const struct key *top;
	const struct node *value;
	size_t number; /* number of the value in its axis, from 1; 0: not from an axis */
};
struct overrides LIST(struct override);

/*
 * Finds a dotted key in the key table. errors SB0105 (with the nearest key), or those of the
 * grammar for names; false
 */
bool override_key(struct load *l, const char *dotted, struct span at, struct override *o);
/* Merges overrides into a whole recipe, one after the other. */
const struct node *overrides_apply(struct load *l, const struct overrides *all,
				   const struct node *root);
/*
 * Reads the --set options in the order given; places are in "<command line>", one line for each
 * option. errors SB0130, SB0105, SB0101 ..; false
 */
bool sets_read(struct load *l, struct overrides *out);

/* One combination of the matrix: an override for each of its keys, and its name. */
struct cell {
	const char *name; /* NULL: there is no matrix */
	struct overrides overrides;
};
struct cells LIST(struct cell);

/*
 * cells_make -- makes the cells of a matrix; the last axis changes fastest.
 *
 *   in      matrix: a node, or NULL: one cell without a name; fixed: --set options that set an axis
 *           to one value
 *   out     names are unique, also where case does not count, and safe as a directory
 *   errors  SB0129, SB0105, SB0107; false
 */
bool cells_make(struct load *l, const struct node *matrix, const struct overrides *fixed,
		struct cells *out);

#endif

#ifndef STORE_INTERNAL_H
#define STORE_INTERNAL_H

#include <jansson.h>

#include "store.h"

/* Shared by the kinds of stores; private to this directory. */
enum { STORE_JSON_MAX = 1024 * 1024 }; /* maximum bytes of inputs, and of an entry */

/* --- keys --- */

bool store_is_key(const char *s);

/* Returns the key for a tree of JSON, and sorts its archs. */
const char *store_key_of(struct arena *a, struct diags *ds, json_t *inputs, const char **canonical);

/* --- entries --- */

/* entry.json, and the inputs that lists show. */
struct entry {
	const char *key, *wheel, *sha256;
	size_t size;    /* bytes of the wheel */
	long long made; /* seconds since 1970 */
	double compile_s;
	size_t peak_mib;
	struct names archs; /* GPU architectures of its code */
	const char *inputs; /* in canonical form */

	const char *name, *version, *torch;
	const char *cuda; /* NULL: none */
	const char *python, *soabi, *platform;
	bool cxx11abi;

	long long used; /* in a directory store: time of the last use */
};
struct entries LIST(const struct entry *);

/* Returns an entry with inputs and without a wheel. errors SB0540, NULL */
struct entry *entry_new(struct arena *a, struct diags *ds, const char *inputs, size_t n);
const char *entry_text(struct arena *a, const struct entry *e);
/* Reads an entry; its key is computed again from the inputs and must be `key`. NULL: *why has the
 * error. */
struct entry *entry_read(struct arena *a, const char *text, size_t n, const char *key,
			 const char **why);
/* Returns the requirements on its wheel that follow from the entry. */
struct store_want entry_want(struct arena *a, const struct entry *e);

/* --- wheels --- */

/*
 * store_inspect -- reads a wheel, and compares it with its entry (or NULL) and with the
 * requirements.
 *
 *   out     STORE_HIT; *out (may be NULL) gets its sha256, size and archs
 *   errors  SB0542: STORE_REFUSED; SB0100: STORE_UNREACHABLE, after EIO or without memory or
 *           descriptors, which are not errors of the wheel
 */
enum store_answer store_inspect(struct arena *a, struct diags *ds, const char *path,
				const struct entry *e, const struct store_want *want,
				struct entry *out);

/* Returns 64 hex digits, which are equal for inputs that differ only in their architectures. */
const char *store_family(struct arena *a, const char *inputs);

/* Returns true if the list contains all of `some`. */
bool names_hold(const struct names *all, const struct names *some);

/* --- kinds of stores --- */

/* The text of an entry.json, with data of the kind of store. */
struct entry_file {
	const char *text;
	size_t n;
	const char *digest; /* digest of the wheel beside it, "sha256:..."; or NULL */
	long long used;     /* as in struct entry */
};

/* For results other than STORE_HIT and STORE_MISS, s->why has the reason. */
struct store_kind {
	enum store_answer (*read)(struct arena *a, struct store *s, const char *key,
				  struct entry_file *out);
	/* Copies the wheel of an entry to a new file, without a check. */
	enum store_answer (*fetch)(struct arena *a, struct store *s, const struct entry *e,
				   const char *to);
	/* Saves an inspected wheel, unless the store has a valid one. errors SB0543, SB0544, false:
	 * nothing was saved */
	bool (*save)(struct arena *a, struct diags *ds, struct store *s, const struct entry *e,
		     const char *path);
	/* Returns all keys, in order.  NULL: this kind has no list */
	enum store_answer (*keys)(struct arena *a, struct store *s, struct names *keys);
	/* Returns the keys of a family's wheels (store_family). NULL: use all keys */
	enum store_answer (*family)(struct arena *a, struct store *s, const char *family,
				    struct names *keys);
	/* Removes the last entry read, which is damaged. NULL: it stays */
	void (*drop)(struct arena *a, struct store *s, const char *key);
	/* Records the use of a wheel. NULL: this kind records no use */
	void (*used)(struct arena *a, struct store *s, const char *key);
};

struct store {
	const struct store_kind *kind;
	const char *where;     /* a directory, or a URL without a slash at its end */
	const char *name;      /* name in messages, with masked credentials */
	bool down;             /* it is unreachable, and not contacted again */
	struct names refused;  /* keys whose wheels must not be saved */
	const char *why;       /* the reason of its last answer */
	const char *help;      /* the fix; or NULL */
	unsigned long long id; /* for a directory store: inode of the last entry read */
	struct oci_registry *registry;
};

extern const struct store_kind store_folder, store_http, store_oci;

/* errors SB0541, false */
bool store_open_oci(struct arena *a, struct diags *ds, struct store *s);

/* --- shared by the verbs --- */

/* Returns the entry of a key. errors SB0542, SB0543 for STORE_REFUSED and STORE_UNREACHABLE */
enum store_answer store_find(struct arena *a, struct diags *ds, struct store *s, const char *key,
			     const struct entry **e);

/*
 * store_take -- finds the wheel of a key and inspects it.
 *
 *   in want: requirements on the wheel; NULL: those of its entry. folder: the target of the copy;
 *      NULL: inspects the wheel in place, which only directory stores support
 *   out     *path: of the inspected wheel
 *   errors as in store_find and store_inspect
 */
enum store_answer store_take(struct arena *a, struct diags *ds, struct store *s, const char *key,
			     const struct store_want *want, const char *folder,
			     const struct entry **e, const char **path);

/* Adds SB0544 for a wheel, with the reason. */
struct diag *store_not_saved(struct diags *ds, const struct store *s, const struct entry *e,
			     const char *why);

/* Reads all keys. errors SB0543, SB0545, false */
bool store_keys(struct arena *a, struct diags *ds, struct store *s, struct names *keys);
/* Reads all entries; bad: the keys of unreadable ones, or NULL to print warnings.  errors SB0543,
 * SB0545, false */
bool store_entries(struct arena *a, struct diags *ds, struct store *s, struct entries *out,
		   struct names *bad);

/* Returns "12 d". */
const char *store_age_text(struct arena *a, double seconds);
/* Returns "1 wheel", "3 wheels". */
const char *store_count_text(struct arena *a, size_t n);

/* Makes a private directory for copies, which fs_remove removes. NULL: SB0544 */
const char *store_passage(struct arena *a, struct diags *ds);

/* --- internals of directory stores --- */

const char *folder_of(struct arena *a, const struct store *s, const char *key);
const char *folder_wheel(struct arena *a, const struct store *s, const struct entry *e);

/* Takes the store's lock; how: as for flock(2).  -1: errno has the reason */
int folder_lock(struct arena *a, const struct store *s, int how);
/* Creates a directory in tmp/, whose name begins like `key`. NULL: errno has the reason */
const char *folder_temp(struct arena *a, const struct store *s, const char *key);
/* With the exclusive lock: renames tmp/, with the files of killed writers, to trash/. Returns the path,
 * which the caller removes without that lock. */
const char *folder_sweep(struct arena *a, const struct store *s);
#endif

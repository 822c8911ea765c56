#ifndef STORE_INTERNAL_H
#define STORE_INTERNAL_H

#include <jansson.h>

#include "store.h"

/* Shared by the kinds of stores; private to this directory. */
enum { STORE_JSON_MAX = 1024 * 1024 }; /* bytes of inputs, and of an entry */

/* --- keys --- */

bool store_is_key(const char *s);

/* store_key of a tree; its archs are put in order. */
const char *store_key_of(struct arena *a, struct diags *ds, json_t *inputs, const char **canonical);

/* --- entries --- */

/* entry.json, and what lists show of the inputs. */
struct entry {
	const char *key, *wheel, *sha256;
	size_t size;    /* bytes of the wheel */
	long long made; /* seconds since 1970 */
	double compile_s;
	size_t peak_mib;
	struct names archs; /* code for these is in it */
	const char *inputs; /* in canonical form */

	const char *name, *version, *torch;
	const char *cuda; /* NULL: none */
	const char *python, *soabi, *platform;
	bool cxx11abi;

	long long used; /* of a folder store: when it was last taken */
};
struct entries LIST(const struct entry *);

/* The inputs as an entry without a wheel.  errors SB0540, NULL */
struct entry *entry_new(struct arena *a, struct diags *ds, const char *inputs, size_t n);
const char *entry_text(struct arena *a, const struct entry *e);
/* NULL: *why has the fault.  The key is computed again from the inputs and must be `key`. */
struct entry *entry_read(struct arena *a, const char *text, size_t n, const char *key,
			 const char **why);
/* Returns the requirements on its wheel that follow from the entry. */
struct store_want entry_want(struct arena *a, const struct entry *e);

/* --- wheels --- */

/*
 * store_inspect -- reads a wheel and compares it with its entry (or NULL) and with what is wanted.
 *
 *   out     STORE_HIT; *out (may be NULL) gets its sha256, size and archs
 *   errors  SB0542: STORE_REFUSED; SB0100: STORE_UNREACHABLE, for want of memory or descriptors or
 *           by EIO, which says nothing of the wheel
 */
enum store_answer store_inspect(struct arena *a, struct diags *ds, const char *path,
				const struct entry *e, const struct store_want *want,
				struct entry *out);

/* 64 hex digits, equal for inputs that differ in their architectures alone. */
const char *store_family(struct arena *a, const char *inputs);

/* Returns true if the list contains all of `some`. */
bool names_hold(const struct names *all, const struct names *some);

/* --- kinds of stores --- */

/* The text of an entry.json, with data of the kind of store. */
struct entry_file {
	const char *text;
	size_t n;
	const char *digest; /* of the wheel that lies beside it, "sha256:..."; or NULL */
	long long used;     /* as in struct entry */
};

/* For results other than STORE_HIT and STORE_MISS, s->why has the reason. */
struct store_kind {
	enum store_answer (*read)(struct arena *a, struct store *s, const char *key,
				  struct entry_file *out);
	/* The wheel of an entry, into a new file; not looked into. */
	enum store_answer (*fetch)(struct arena *a, struct store *s, const struct entry *e,
				   const char *to);
	/* Saves an inspected wheel, unless the store has a good one.  errors SB0543, SB0544,
	 * false: nothing was saved */
	bool (*save)(struct arena *a, struct diags *ds, struct store *s, const struct entry *e,
		     const char *path);
	/* Returns all keys, in order.  NULL: this kind has no list */
	enum store_answer (*keys)(struct arena *a, struct store *s, struct names *keys);
	/* Keys of the wheels of a family (store_family).  NULL: all keys are few enough */
	enum store_answer (*family)(struct arena *a, struct store *s, const char *family,
				    struct names *keys);
	/* Removes the entry that was read last, which is damaged.  NULL: it stays */
	void (*drop)(struct arena *a, struct store *s, const char *key);
	/* Records the use of a wheel.  NULL: this kind has no record */
	void (*used)(struct arena *a, struct store *s, const char *key);
};

struct store {
	const struct store_kind *kind;
	const char *where;     /* a folder, or an address without a slash at its end */
	const char *name;      /* for messages: credentials masked */
	bool down;             /* it did not answer, and is not contacted again */
	struct names refused;  /* keys whose wheels are not to be kept */
	const char *why;       /* the reason of its last answer */
	const char *help;      /* what to do about it; or NULL */
	unsigned long long id; /* of a folder store: the inode of the entry that was read last */
	struct oci_registry *registry;
};

extern const struct store_kind store_folder, store_http, store_oci;

/* errors SB0541, false */
bool store_open_oci(struct arena *a, struct diags *ds, struct store *s);

/* --- shared by the verbs --- */

/* The entry of a key.  errors SB0542, SB0543 for STORE_REFUSED and STORE_UNREACHABLE */
enum store_answer store_find(struct arena *a, struct diags *ds, struct store *s, const char *key,
			     const struct entry **e);

/*
 * store_take -- finds the wheel of a key and inspects it.
 *
 *   in      want: what the wheel must be; NULL: what its entry says.  folder: where the wheel is
 *           copied to; NULL: it is inspected in place, which only directory stores can do
 *   out     *path: of the inspected wheel
 *   errors  as of store_find and store_inspect
 */
enum store_answer store_take(struct arena *a, struct diags *ds, struct store *s, const char *key,
			     const struct store_want *want, const char *folder,
			     const struct entry **e, const char **path);

/* SB0544 of a wheel, with the reason. */
struct diag *store_not_saved(struct diags *ds, const struct store *s, const struct entry *e,
			     const char *why);

/* errors SB0543, SB0545, false */
bool store_keys(struct arena *a, struct diags *ds, struct store *s, struct names *keys);
/* Reads all entries; bad: the keys of unreadable ones, or NULL to print warnings.  errors SB0543,
 * SB0545, false */
bool store_entries(struct arena *a, struct diags *ds, struct store *s, struct entries *out,
		   struct names *bad);

/* "38.9 MB", "12 d": each at most one digit behind the point. */
const char *store_size_text(struct arena *a, double bytes);
const char *store_age_text(struct arena *a, double seconds);
/* "1 wheel", "3 wheels" */
const char *store_count_text(struct arena *a, size_t n);

/* A folder of our own for what passes through, removed by store_remove.  NULL: SB0544 */
const char *store_passage(struct arena *a, struct diags *ds);

/* Removes a directory with its content, two levels deep like a store.  Keeps errno. */
int store_remove(const char *path);

/* --- folder stores from inside --- */

const char *folder_of(struct arena *a, const struct store *s, const char *key);
const char *folder_wheel(struct arena *a, const struct store *s, const struct entry *e);

void store_close(const int *fd);
#define STORE_FD __attribute__((cleanup(store_close))) int

/* Takes the store's lock; how: as for flock(2).  -1: errno has the reason */
int folder_lock(struct arena *a, const struct store *s, int how);
/* Removes by a rename into tmp/, then file by file.  False: errno has the reason */
bool folder_throw_out(struct arena *a, const struct store *s, const char *key);
/* Removes what is in a directory of the store; the caller has the lock alone. */
void folder_clear(struct arena *a, const struct store *s, const char *dir,
		  int (*remove)(const char *path));

#endif

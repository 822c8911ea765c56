#ifndef STORE_INTERNAL_H
#define STORE_INTERNAL_H

#include <jansson.h>

#include "store.h"

/* What the kinds of stores share; nobody outside this folder. */
enum { STORE_JSON_MAX = 1024 * 1024 }; /* bytes of inputs, and of an entry */

/* --- keys --- */

bool store_is_key(const char *s);

/* json_dump_callback's: bytes into a struct buf. */
int store_add_chunk(const char *bytes, size_t n, void *buf);

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

	/* Of a folder: when it was last used, and which folder it stands in (its inode). */
	long long used;
	unsigned long long id;
};

/* The inputs as an entry without a wheel.  errors SB0540, NULL */
struct entry *entry_new(struct arena *a, struct diags *ds, const char *inputs, size_t n);
const char *entry_text(struct arena *a, const struct entry *e);
/* NULL: *why says what is wrong.  Its key is made again from its inputs and must be `key`. */
struct entry *entry_read(struct arena *a, const char *text, size_t n, const char *key,
			 const char **why);
/* What its wheel must be, as far as the entry can say. */
struct store_want entry_want(struct arena *a, const struct entry *e);

/* "mamba_ssm" and "Mamba.SSM" are one name (PEP 503). */
bool store_same_name(struct arena *a, const char *x, const char *y);
/* As ==WANTED takes it (PEP 440): "2.3.0" for "2.3", "2.3+cu130" too. */
bool store_is_version(struct arena *a, const char *found, const char *wanted);

/* --- wheels --- */

/* What is in a wheel. */
struct wheel_facts {
	const char *sha256;
	size_t size;
	struct names archs; /* "compute_90", "sm_90": of all its shared objects, sorted */
};

/* A wheel that could not be read, for want of memory or descriptors or by EIO, is not bad. */
enum store_verdict { STORE_GOOD, STORE_BAD, STORE_UNKNOWN };

/*
 * store_inspect -- reads a wheel and compares it with its entry (or NULL) and with what is wanted.
 *
 *   out     *out (may be NULL): what is in it
 *   errors  SB0542: bad; SB0100: unknown
 */
enum store_verdict store_inspect(struct arena *a, struct diags *ds, const char *path,
				 const struct entry *e, const struct store_want *want,
				 struct wheel_facts *out);

/* SB0542 of a key, with the reason. */
void store_refuse(struct diags *ds, const struct store *s, const char *key, const char *why);
/* Every error becomes a warning, and goes to `to`. */
void store_warn(struct diags *to, struct diags *from);

/* --- what the verbs share --- */

struct entries LIST(const struct entry *);

/* errors SB0545, false */
bool store_keys(struct arena *a, struct diags *ds, struct store *s, struct names *keys);

/* "38.9 MB", "12 d": each at most one digit behind the point. */
const char *store_size_text(struct arena *a, double bytes);
const char *store_age_text(struct arena *a, double seconds);
/* "1 wheel", "3 wheels" */
const char *store_count_text(struct arena *a, size_t n);

/* A folder of our own for what passes through, removed by store_remove.  NULL: SB0544 */
const char *store_passage(struct arena *a, struct diags *ds);

/* --- kinds of stores --- */

struct store;

struct store_kind {
	/* The entry of a key.  errors as store_get, as errors */
	enum store_answer (*find)(struct arena *a, struct diags *ds, struct store *s,
				  const char *key, const struct entry **e);
	/* Its wheel, as a file of that name in a folder of the caller's; not looked into. */
	enum store_answer (*fetch)(struct arena *a, struct diags *ds, struct store *s,
				   const struct entry *e, const char *folder);
	/* Keeps a wheel that was looked into.  errors SB0544, false: nothing was kept */
	bool (*save)(struct arena *a, struct diags *ds, struct store *s, const struct entry *e,
		     const char *path);
	/* All keys, in order.  NULL: it cannot be asked */
	bool (*keys)(struct arena *a, struct diags *ds, struct store *s, struct names *keys);
	/* Throws an entry out that is not to be trusted; id 0: one that cannot be read.  NULL:
	 * it stays */
	void (*drop)(struct arena *a, struct store *s, const char *key, unsigned long long id);
	/* Where its wheel lies already.  NULL: it must be fetched */
	const char *(*path)(struct arena *a, const struct store *s, const struct entry *e);
	/* A wheel was taken.  NULL: nobody writes that down */
	void (*used)(struct arena *a, struct store *s, const char *key);
};

struct store {
	const struct store_kind *kind;
	const char *where;    /* a folder, or an address without a slash at its end */
	const char *name;     /* for show: credentials masked */
	bool down;            /* it did not answer: it is not asked again */
	struct names refused; /* keys whose wheels are not to be kept */
	struct oci_registry *registry;
};

extern const struct store_kind store_folder, store_http, store_oci;

/* errors SB0541, false */
bool store_open_oci(struct arena *a, struct diags *ds, struct store *s);

#endif

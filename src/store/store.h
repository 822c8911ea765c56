#ifndef STORE_H
#define STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/list.h"

/*
 * The wheel store: wheels by a key that covers everything that affects their bytes.
 *
 *   directory     DIR/wheels/KEY[0:2]/KEY/  NAME.whl, entry.json   (appears by rename, after fsync)
 *   http(s) URL/KEY[0:2]/KEY/entry.json and the wheel next to it; GET, PUT if allowed
 *   oci        oci://HOST/REPO: an artifact, tag = KEY: config entry.json, one layer the wheel
 *
 * entry.json, docs/store.md:
 *   {"schema": 1, "key", "wheel": "NAME.whl", "sha256", "size", "made": seconds since 1970,
 *    "compile_s", "peak_mib", "archs": ["sm_90"], "inputs": {the inputs of the key}}
 */

/*
 * store_key -- returns the key of a wheel's inputs.
 *
 *   in      inputs: a JSON text in the shape of docs/store.md; object keys in any order
 *   out     64 hex digits: sha256 of the canonical form; *canonical (may be NULL) that form
 *   errors  SB0540, NULL: not JSON, a duplicate key, or a field that is missing, unknown or of
 *           another type
 */
const char *store_key(struct arena *a, struct diags *ds, const char *inputs, size_t n,
		      const char **canonical);

/* Requirements on a wheel in addition to its key and digest.  NULL: any value. */
struct store_want {
	const char *name;       /* name of the project; compared as in PEP 503 */
	const char *version;    /* matched like ==VERSION: "2.3.1" also matches 2.3.1+cu130 */
	const char *python_tag; /* "cp311"; py3 and the stable ABI match it too */
	const char *machine;    /* "x86_64" */
	struct names
		archs; /* "sm_90", "compute_90" for +PTX: exactly these in every .so with GPU code */
	bool more_archs;  /* it may also have code for other GPUs */
	bool any_archs;   /* the package has a fixed list of GPUs */
	bool has_kernels; /* at least one .so must have GPU code */
	int cxx11_abi;    /* C++ ABI of torch: 1, 0; -1: unknown */
	/* For a prebuilt wheel: the torch release that must have its needed symbols, the CUDA major
	 * version of its needed libraries, and the file's digest in hex. NULL, 0: any. */
	const char *torch;
	unsigned cuda_major;
	const char *sha256;
	bool prebuilt; /* METADATA may lack the file name's local version, as for pip */
};

/* store_check -- compares a wheel with requirements.  errors SB0542 (lists the errors), false. */
bool store_check(struct arena *a, struct diags *ds, const char *wheel_path,
		 const struct store_want *want);

struct store;

/*
 * store_open -- opens a store. where: a directory, http://, https:// or oci://HOST/REPO; NULL: the
 * default, $XDG_CACHE_HOME/stackbuild or ~/.cache/stackbuild. It creates and contacts nothing.
 *
 *   errors  SB0541, NULL
 *   memory  lives in a, as long as the store is used
 */
struct store *store_open(struct arena *a, struct diags *ds, const char *where);
const char *store_name(const struct store *s);

enum store_answer {
	STORE_HIT,
	STORE_MISS,
	STORE_REFUSED /* invalid; a warning was added */,
	STORE_UNREACHABLE /* a warning was added; the server is not contacted again */
};

/*
 * store_get -- copies the wheel of a key to `directory` and checks it.
 *
 *   out     STORE_HIT: *path (in directory); anything else leaves the directory as it was
 *   errors  warnings SB0542 (truncated, swapped or stale; a directory store removes it), SB0543 (an
 *           unreachable server): a build continues and compiles
 */
enum store_answer store_get(struct arena *a, struct diags *ds, struct store *s, const char *key,
			    const struct store_want *want, const char *folder, const char **path);

/*
 * store_get_more -- copies a wheel with the same inputs except the GPUs, with code for all required
 * GPUs and for others: the one with the fewest.
 *
 *   in      inputs: those of the wheel that the store does not have, in JSON
 *   out as in store_get; *key: the key of that wheel
 */
enum store_answer store_get_more(struct arena *a, struct diags *ds, struct store *s,
				 const char *inputs, const struct store_want *want,
				 const char *folder, const char **path, const char **key);

/*
 * store_like -- returns the key of a wheel that a build may take: of the package, version, Python series,
 * torch and GPUs of `want`. Whether its other inputs are equal is known only in the environment that
 * compiles.
 *
 *   in      torch: "2.11.0"; tag: "cu130", or NULL
 *   out     NULL: no such wheel, or the store is not a directory
 */
const char *store_like(struct arena *a, struct store *s, const struct store_want *want,
		       const char *torch, const char *tag);
/* Returns whether a store is a directory. */
bool store_is_local(const struct store *s);

/*
 * store_put -- checks a wheel, and saves it under its key with its inputs.
 *
 *   in      compile_s, peak_mib: 0 if unknown
 *   out also true if the store has a valid wheel under that key, which then stays
 *   errors  SB0540, SB0542, SB0544 (not writable, no room, rejected by the server, no answer),
 *           false: nothing was saved. A build still has its wheel, and turns these errors into
 *           warnings (diag_force)
 */
struct store_wheel {
	const char *path;
	const char *inputs; /* JSON */
	double compile_s;
	size_t peak_mib;
};
bool store_put(struct arena *a, struct diags *ds, struct store *s, const struct store_wheel *w,
	       const struct store_want *want);

/* --- the subcommands of `store`; each prints to out as text or JSON --- */

/* Lists the wheels. errors SB0543, SB0545 (an HTTP server has no list), false; SB0542 as a
 * warning */
bool store_list(struct arena *a, struct diags *ds, struct store *s, bool as_json, struct buf *out);
/* Reads every wheel again.  errors SB0542 for each wheel that differs from its entry: false */
bool store_verify(struct arena *a, struct diags *ds, struct store *s, bool as_json,
		  struct buf *out);
/* Removes wheels that were not used for `days`, then the oldest until `max_mib` are left (0: no
 * limit), and partial files of killed writers.  errors SB0544, SB0545 (not a directory), false */
bool store_gc(struct arena *a, struct diags *ds, struct store *s, double days, size_t max_mib,
	      bool dry_run, struct buf *out);
/* Copies and checks wheels that `to` lacks; keys, or their first digits, limit them.
 * errors SB0542 (continues with the others), SB0543..0546, false */
bool store_copy(struct arena *a, struct diags *ds, struct store *from, struct store *to,
		struct names keys, struct buf *out);

/*
 * store_index -- writes package indexes of a store's wheels (PEP 503 and 691) with copies of them.
 *
 *   in dir: created; each list of GPUs has its own index below it
 *   out     the versions have a local label for torch, CUDA and the C++ ABI; of wheels with the
 *           same file name, the newest is used; a line for each index
 *   errors  SB0406, SB0542 to SB0545, SB0812, false
 */
bool store_index(struct arena *a, struct diags *ds, struct store *s, const char *dir,
		 struct buf *out);

#endif

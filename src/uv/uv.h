#ifndef UV_H
#define UV_H

#include "lock/lock.h"

/*
 * uv, which resolves packages (`uv pip compile`).  stackbuild runs it with a
 * time limit, without prompts, in a temporary directory.
 */

enum { UV_TIMEOUT_S = 600 };
#define UV_OLDEST "0.13.0" /* the oldest series that the tests use */

/* The name of the stack in uv's explanations. */
#define UV_STACK "the-stack"

struct uv {
	const char *program, *version;
};

/*
 * uv_find -- finds the uv in $UV, beside stackbuild, or in PATH.
 *
 *   errors  SB1005: there is none, it is older than UV_OLDEST, or it does not start; false
 *   memory  lives in a
 */
bool uv_find(struct arena *a, struct diags *ds, struct uv *out);

/* Returns the default index of a request: its own, that of uv's variables, of pip's configuration, or
 * the one in the help of uv. */
const char *uv_index(struct arena *a, const struct lock_request *q, const struct uv *uv);

struct uv_how {
	const struct uv *uv;
	const struct source *preferences; /* a lock with preferred versions; or NULL */
	bool upgrade;                     /* prefer none of its versions */
	struct names upgraded;            /* packages whose versions in it are not preferred */
	struct names builds;              /* packages whose sdist may be built for its metadata */
	struct names secrets;             /* netrc texts: credentials of the indexes */
	double timeout_s;
};

enum uv_end {
	UV_DONE,
	UV_CONFLICT, /* no compatible versions: `explanation` has the reason */
	UV_FAILED    /* after a diagnostic */
};

struct uv_answer {
	struct lock_packages packages; /* sorted by name, with roots and required_by */
	struct lock_packages sdists;   /* packages of q->sdists */
	const char *explanation;       /* for UV_CONFLICT: sentences */
	const char *hint;              /* uv's suggestion; or NULL */
};

/*
 * uv_resolve -- resolves the packages that a request needs.
 *
 *   out     *answer
 *   errors  SB1006 (uv failed, was killed, ran out of time, or its output is not a lock), SB1007
 *           (an index cannot be read)
 *   memory  lives in a
 */
enum uv_end uv_resolve(struct arena *a, struct diags *ds, const struct lock_request *q,
		       const struct uv_how *how, struct uv_answer *answer);

#endif

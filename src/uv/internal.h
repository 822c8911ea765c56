#ifndef UV_INTERNAL_H
#define UV_INTERNAL_H

#include "base/mask.h"
#include "base/proc.h"
#include "uv.h"

/* Private to uv/: the state of a resolution. */
struct uv_run {
	struct arena *a;
	struct diags *ds;
	const struct lock_request *q;
	const struct uv_how *how;
	const char *dir; /* temporary directory */
	struct mask *mask;
};

#define UV_PROJECT "pyproject.toml"
#define UV_LOCK "pylock.stack.toml"
#define UV_PINS "pins.txt"
#define UV_REASONS "reasons.txt"
#define UV_NETRC "netrc"

/* Writes the uv project of the request. */
bool uv_write_project(struct uv_run *u);

/* Runs `uv pip compile` once: with `reasons` for the annotations, otherwise for the lock. False:
 * see r. */
bool uv_compile(struct uv_run *u, bool reasons, bool offline, struct proc_result *r);

/* Adds a diagnostic about a failure of uv itself, with its last lines; returns UV_FAILED. */
enum uv_end uv_broken(struct uv_run *u, const char *what, const char *text);

/* Reads the output of uv; false after an error. */
bool uv_read_lock(struct uv_run *u, struct uv_answer *answer);
bool uv_read_reasons(struct uv_run *u, struct uv_answer *answer);

#endif

#ifndef ENGINE_H
#define ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/list.h"
#include "base/proc.h"
#include "progress.h"

/*
 * An engine that builds: docker, podman, buildah, a remote BuildKit, Modal, or this host's own
 * shell for a venv.  engines.def has a row for each, engine_NAME.c the rest.  What an engine can
 * do is found out by asking it, never by its version.
 */

struct engine_at {        /* how it is reached: options and environment, settled once */
	const char *addr; /* of buildctl: "tcp://builder:1234"; or NULL */
	const char *tls_ca, *tls_cert, *tls_key, *tls_name; /* or NULL */
	const char *client; /* the client's file: the first in PATH that can do it */
	bool buildx;        /* docker: the client has the component */
	bool bare_buildkit; /* docker: DOCKER_BUILDKIT=1 before it */
};

struct engine_state {
	bool usable;
	const char *version; /* "20.10.24, BuildKit; no GPU runtime": for people */
	const char *why_not; /* in words; or NULL */
	const char *install; /* what to do about it; or NULL */
	bool gpus;           /* containers can be given this host's GPUs */
	struct engine_at at;
};

/* One call of an engine that builds from a Dockerfile. */
struct engine_build {
	const char *context;    /* folder */
	const char *dockerfile; /* file */
	const char *target;     /* stage; NULL: the last */
	const char *tag;        /* of the image; or NULL */
	const char *to_folder;  /* the target's files go there and no image is made; or NULL */
	const char *iid_file;   /* where the engine writes the image's id; or NULL */
	const char *platform;   /* "linux/amd64"; or NULL */
	struct names args;      /* "MAX_JOBS=2": never a secret */
	struct names secrets;   /* "PIP_TOKEN=/private/folder/PIP_TOKEN": id and file */
	struct names cache_from, cache_to; /* registry references, for pipelines */
	bool no_cache, push;
};

struct engine_command {
	struct names argv, env; /* env: "NAME=value", "NAME" removes */
	const char *cwd;        /* or NULL */
};

/* A command in an image: verify's probes. */
struct engine_run {
	const char *image;
	bool gpus;
	struct names argv;
	struct names env;    /* "NAME=value" */
	struct names mounts; /* "HOST:CONTAINER", read-only */
	const char *name;    /* of the container, so that it can be ended by name */
};

struct engine {
	const char *name, *what;
	enum output_dialect dialect;
	bool builds_images; /* false: modal, venv */
	/* Fills *s; runs the client with a time limit of 10 s a question. */
	void (*probe)(struct arena *a, const struct engine_at *asked, struct engine_state *s);
	/* NULL where builds_images is false. */
	struct engine_command (*build)(struct arena *a, const struct engine_at *at,
				       const struct engine_build *b);
	struct engine_command (*run)(struct arena *a, const struct engine_at *at,
				     const struct engine_run *r);
	/* Ends a container by name, so that nothing stays behind a time limit. */
	struct engine_command (*kill)(struct arena *a, const struct engine_at *at,
				      const char *name);
	/* What prints `id SP size_bytes SP repo-digest-or-<none>` of an image. */
	struct engine_command (*inspect)(struct arena *a, const struct engine_at *at,
					 const char *image);
};

extern const struct engine engines[];
extern const size_t engines_n;
const struct engine *engine_named(const char *name);

/*
 * engine_choose -- the one named, or the first usable that builds images.
 *
 *   errors  SB0501 (named and not usable: why, and what to install), SB0502 (none is usable: a
 *           line for each), NULL
 */
const struct engine *engine_choose(struct arena *a, struct diags *ds, const char *name,
				   const struct engine_at *asked, struct engine_state *state);

/* `stackbuild engines`, as text or JSON: all of them, probed. */
void engines_print(struct arena *a, const struct engine_at *asked, bool as_json, struct buf *out);

struct image_about {
	const char *id, *digest; /* "sha256:..."; digest NULL until it was pushed */
	size_t size_bytes;
};
bool engine_image(struct arena *a, const struct engine *e, const struct engine_at *at,
		  const char *image, struct image_about *out);

#endif

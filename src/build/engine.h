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
 * shell for a venv. engines.def has a row for each, engine_NAME.c the rest. stackbuild queries an
 * engine for its features, and never derives them from its version.
 */

struct engine_at {        /* access to an engine: options and environment, read once */
	const char *addr; /* for buildctl: "tcp://builder:1234"; or NULL */
	const char *tls_ca, *tls_cert, *tls_key, *tls_name; /* or NULL */
	const char *python; /* for venv: the recipe's series, "3.11"; or NULL */
	/* Found by the probe: */
	const char *client; /* the client's file: the first usable one in PATH */
	bool buildx;        /* docker: the client has the component */
	bool cache_export;  /* docker: --cache-to can export to a registry, not only inline */
	bool cdi;           /* containers get GPUs with --device nvidia.com/gpu=all */
	bool remote;        /* podman: the build runs on another machine */
	size_t files;       /* podman: open files limit of a container; 0: default */
	size_t processes;   /* podman: process limit; set together with files */
};

struct engine_state {
	bool usable;
	const char *version; /* for display: "20.10.24, BuildKit; no GPU runtime" */
	const char *why_not; /* why it is not usable; or NULL */
	const char *install; /* the fix; or NULL */
	bool gpus;           /* containers can use this host's GPUs */
	struct engine_at at;
};

/* One call of an engine that builds from a Dockerfile. */
struct engine_build {
	const char *context;    /* directory */
	const char *dockerfile; /* file */
	const char *target;     /* stage; NULL: the last one */
	const char *tag;        /* name of the image; or NULL */
	const char *to_folder;  /* exports the target's files there and makes no image; or NULL */
	const char *iid_file;   /* file that engine_built reads; or NULL */
	const char *platform;   /* "linux/amd64"; or NULL */
	struct names args;      /* "MAX_JOBS=2": never a secret */
	struct names secrets;   /* "PIP_TOKEN=/private/PIP_TOKEN": id and file */
	struct names cache_from, cache_to; /* registry references, for pipelines */
	bool no_network;                   /* RUN has no network */
	bool no_cache;
	bool push; /* buildctl, docker with buildx: pushes the image and stores none here */
};

struct engine_command {
	struct names argv, env; /* env: "NAME=value", "NAME" removes */
	const char *cwd;        /* or NULL */
	double patience_s;      /* as of struct proc_spec */
};

/* A command in an image, such as verify's probes. It bypasses the image's entry point. */
struct engine_run {
	const char *image;
	bool gpus;
	bool input; /* passes standard input to the command */
	struct names argv;
	struct names env;   /* "NAME=value" */
	const char *name;   /* name of the container, for `kill` */
	const char *volume; /* "DIR:PLACE": the command can write to this directory; or NULL */
};

struct engine {
	const char *name, *what;
	const char *client;  /* the program to search in PATH */
	const char *install; /* how to install it */
	enum output_dialect dialect;
	const char
		*target; /* the target of render that it builds: "dockerfile", "modal", "script" */
	/* Queries s->at.client, for at most 10 s a question: sets version or why_not. */
	void (*probe)(struct arena *a, struct engine_state *s);

	/* The commands; NULL if the engine has no such command. */
	/* NULL for modal and venv, which build no image here. */
	struct engine_command (*build)(struct arena *a, const struct engine_at *at,
				       const struct engine_build *b);
	struct engine_command (*run)(struct arena *a, const struct engine_at *at,
				     const struct engine_run *r);

	/* Arguments of the client for engine_call; NULL if the engine has no such command. */

	/* Creates the container NAME from IMAGE, which buildah requires before `run`. */
	const char *const *prepare;
	/* Stops and removes the container NAME; always called after `prepare`. */
	const char *const *kill;
	/* Prints `id SP size_bytes SP repo-digest-or-<none>` of IMAGE, or buildah's manifest in
	 * place of the last two; engine_image reads it. */
	const char *const *inspect;
	/* Prints the manifest digest of a pulled IMAGE; engine_pulled reads it.  BuildKit prints
	 * this digest while it builds. */
	const char *const *pulled;
	/* Writes a local image to an archive: FILE IMAGE follow. */
	const char *const *save;
	/* Reads an archive of `save` from standard input. */
	const char *const *load;
	/* Adds NAME to a local IMAGE. */
	const char *const *tag;
	/* Pushes a local IMAGE to the registry of its name; see engine_push. */
	const char *const *push;
};

/* Returns the client with the arguments of a command above, then x and (if not NULL) y. */
struct engine_command engine_call(struct arena *a, const struct engine_at *at,
				  const char *const *arguments, const char *x, const char *y);
/* Runs a command of the table for at most a minute without output: `prepare` of a container, or
 * (image NULL) `kill`, also after a signal. */
void engine_quietly(struct arena *a, const struct engine_at *at, const char *const *arguments,
		    const char *name, const char *image);
/* Pushes an image; podman and buildah write the manifest digest to digest_file (or NULL), while
 * `inspect` prints docker's after the push. */
struct engine_command engine_push(struct arena *a, const struct engine *e,
				  const struct engine_at *at, const char *image,
				  const char *digest_file);
/*
 * Returns what podman and buildah wrote to a digest_file, which is removed; NULL for docker, which
 * writes none.
 */
const char *engine_pushed(struct arena *a, const char *digest_file);
/* Sets argv, env, cwd and patience_s of a process from a command; both lists are terminated. */
void engine_spec(struct arena *a, struct engine_command *c, struct proc_spec *spec);

extern const struct engine engines[];
extern const size_t engines_n;
/* Returns the engine of that name, which the command line has checked. */
const struct engine *engine_find(const char *name);

/* Finds the client and fills *s; changes nothing on the host. */
void engine_probe(struct arena *a, const struct engine *e, const struct engine_at *asked,
		  struct engine_state *s);

/*
 * engine_choose -- returns the named engine, or the first usable one that builds images.
 *
 *   errors  SB0501 (the name is unknown, or the engine is not usable), SB0502 (none is usable, with
 *           a line for each), NULL
 */
const struct engine *engine_choose(struct arena *a, struct diags *ds, const char *name,
				   const struct engine_at *asked, struct engine_state *state);

/*
 * engines_print -- probes all engines and prints `stackbuild engines`, as text or JSON.
 *
 *   in   only: one engine; NULL: all
 *   out  true if one of them is usable for building
 */
bool engines_print(struct arena *a, const struct engine *only, const struct engine_at *asked,
		   bool as_json, struct buf *out);

struct image_about {
	const char *id, *digest; /* "sha256:..."; digest NULL until it was pushed */
	size_t size_bytes;
};
/* Finds a local image; false: none has that name, or the engine stores no images. */
bool engine_image(struct arena *a, const struct engine *e, const struct engine_at *at,
		  const char *image, struct image_about *out);
/* Returns the registry's digest of an image that a build has pulled, "sha256:..."; NULL:
 * unknown. */
const char *engine_pulled(struct arena *a, const struct engine *e, const struct engine_at *at,
			  const char *image);
/* Reads the iid_file of a build: the id, and from buildctl the digest; no size. */
bool engine_built(struct arena *a, const char *iid_file, struct image_about *out);

#endif

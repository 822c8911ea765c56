#ifndef ENGINE_PARTS_H
#define ENGINE_PARTS_H

#include <jansson.h>

#include "engine.h"

/* Shared by the engines: questions to a client, and the construction of commands. */

/* Declares the probe of each engine in the table. */
#define ENGINE(name, ...) void name##_probe(struct arena *a, struct engine_state *s);
#include "engines.def"
#undef ENGINE

#define COMMAND(name, of) \
	struct engine_command name(struct arena *a, const struct engine_at *at, \
				   const struct engine_##of *of)
COMMAND(docker_build, build);
COMMAND(docker_run, run);
COMMAND(podman_run, run);
COMMAND(buildah_build, build);
COMMAND(buildah_run, run);
COMMAND(buildctl_build, build);

/* --- queries --- */

/*
 * engine_ask -- runs a query of a client, for at most ASK_S seconds.
 *
 *   in   argv ends with NULL; env as of struct proc_spec
 *   out  *r with its output, up to ASK_KEEP bytes of each stream; true if it exited with 0
 */
bool engine_ask(struct arena *a, const char *const *argv, const char *const *env,
		struct proc_result *r);
enum { ASK_S = 10, ASK_KEEP = 1024 * 1024 };
#define ASK(a, r, ...) engine_ask((a), (const char *const[]){ __VA_ARGS__, NULL }, NULL, (r))

/* Returns why a query failed: one line of the client's output, safe for a terminal. */
const char *engine_said(struct arena *a, const struct proc_result *r);
const char *engine_first_line(struct arena *a, const char *text);
/*
 * Returns the first word that starts with a digit: "1.28.2"; "version not told" if there is none.
 */
const char *engine_version_in(struct arena *a, const char *text);

/* Returns the output of a query as JSON, or NULL. Release it with json_decref. */
json_t *engine_json(const struct proc_result *r);
/* Returns the text at a path, "a.b.c", in the arena; or NULL. */
const char *json_at_text(struct arena *a, const json_t *root, const char *path);
const json_t *json_at(const json_t *root, const char *path);

/* --- commands --- */

void engine_add(struct arena *a, struct engine_command *c, ...); /* the arguments, then NULL */
#define ADD(c, ...) engine_add(a, (c), __VA_ARGS__, NULL)
/* Adds each option that has a value, and the value; {NULL} ends the list. */
void engine_options(struct arena *a, struct engine_command *c, const char *const (*options)[2]);

/* Returns "key=value" as one field of CSV, since BuildKit's clients parse options as CSV (RFC 4180). */
const char *engine_csv(struct arena *a, const char *key, const char *value);
/* Returns a path that no client can mistake for an option. */
const char *engine_path(struct arena *a, const char *path);
/* Adds --secret for each secret of a build; csv: the client reads the option as CSV. The variables
 * of these names are removed from the client's environment. */
void engine_secrets(struct arena *a, struct engine_command *c, const struct engine_build *b,
		    bool csv);
/* Returns the value of --import-cache or --cache-from for a reference; a value with a type, such as
 * "type=gha", stays as it is. */
const char *engine_cache(struct arena *a, const char *reference, const char *more);
/* Adds the options that docker, podman and buildah share, up to --build-arg and --secret. */
void engine_build_words(struct arena *a, struct engine_command *c, const struct engine_build *b,
			bool csv);
/* Adds the environment and the command of a run. In a new container, the command replaces the
 * image's own; otherwise, it runs in an existing container. */
void engine_run_words(struct arena *a, struct engine_command *c, const struct engine_run *r,
		      bool new_container);

#endif

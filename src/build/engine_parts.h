#ifndef ENGINE_PARTS_H
#define ENGINE_PARTS_H

#include <jansson.h>

#include "engine.h"

/* Inside the engines: how a client is asked, and how a command is put together. */

/* Of every engine of the table: its probe, and the commands that its row names. */
#define ENGINE(name, ...) \
	void name##_probe(struct arena *a, const struct engine_at *asked, struct engine_state *s);
#include "engines.def"
#undef ENGINE

#define COMMAND_build(name) \
	struct engine_command name##_build(struct arena *a, const struct engine_at *at, \
					   const struct engine_build *b)
#define COMMAND_apply(name) \
	struct engine_command name##_apply(struct arena *a, const struct engine_at *at, \
					   const struct engine_apply *x)
#define COMMAND_prepare(name) \
	struct engine_command name##_prepare(struct arena *a, const struct engine_at *at, \
					     const struct engine_run *r)
#define COMMAND_run(name) \
	struct engine_command name##_run(struct arena *a, const struct engine_at *at, \
					 const struct engine_run *r)
#define COMMAND_kill(id) \
	struct engine_command id##_kill(struct arena *a, const struct engine_at *at, \
					const char *name)
#define COMMAND_inspect(name) \
	struct engine_command name##_inspect(struct arena *a, const struct engine_at *at, \
					     const char *image)
#define COMMAND_pulled(name) \
	struct engine_command name##_pulled(struct arena *a, const struct engine_at *at, \
					    const char *image)
#define COMMAND_tag(id) \
	struct engine_command id##_tag(struct arena *a, const struct engine_at *at, \
				       const char *image, const char *name)
#define COMMAND_push(name) \
	struct engine_command name##_push(struct arena *a, const struct engine_at *at, \
					  const char *image, const char *digest_file)

COMMAND_build(docker);
COMMAND_run(docker);
COMMAND_kill(docker);
COMMAND_inspect(docker);
COMMAND_tag(docker);
COMMAND_push(docker);
COMMAND_build(podman);
COMMAND_run(podman);
COMMAND_kill(podman);
COMMAND_inspect(podman);
COMMAND_pulled(podman);
COMMAND_tag(podman);
COMMAND_push(podman);
COMMAND_build(buildah);
COMMAND_prepare(buildah);
COMMAND_run(buildah);
COMMAND_kill(buildah);
COMMAND_inspect(buildah);
COMMAND_pulled(buildah);
COMMAND_tag(buildah);
COMMAND_push(buildah);
COMMAND_build(buildctl);
COMMAND_apply(modal);
COMMAND_apply(venv);

/* --- asking --- */

/*
 * engine_ask -- one question to a client, with ASK_S seconds for the answer.
 *
 *   in   argv ends with NULL; env as of struct proc_spec
 *   out  *r with what it printed, up to ASK_KEEP bytes a stream; true if it ended with 0
 */
bool engine_ask(struct arena *a, const char *const *argv, const char *const *env,
		struct proc_result *r);
enum { ASK_S = 10, ASK_KEEP = 1024 * 1024 };
#define ASK(a, r, ...) engine_ask((a), (const char *const[]){ __VA_ARGS__, NULL }, NULL, (r))

/* Why it did not answer, in its own last words: one line, harmless on a terminal. */
const char *engine_said(struct arena *a, const struct proc_result *r);
/* The first line of a text, or of its word that starts with a digit: "1.28.2". */
const char *engine_first_line(struct arena *a, const char *text);
const char *engine_version_in(struct arena *a, const char *text);

/* What it printed as JSON; NULL if it is none.  json_decref ends it. */
json_t *engine_json(const struct proc_result *r);
/* "a.b.c": the text there in the arena, or NULL. */
const char *json_at_text(struct arena *a, const json_t *root, const char *path);
const json_t *json_at(const json_t *root, const char *path);
static inline void
json_done(json_t **j)
{
	json_decref(*j);
}
#define JSON_DONE __attribute__((cleanup(json_done)))

/* Whether a CDI specification of this host names NVIDIA's GPUs (/etc/cdi, /var/run/cdi). */
bool engine_cdi(struct arena *a);

/* --- commands --- */

void engine_add(struct arena *a, struct engine_command *c, ...); /* texts, then NULL */
#define ADD(c, ...) engine_add(a, (c), __VA_ARGS__, NULL)

/* "key=value" as one field of CSV: BuildKit's clients read such options so (RFC 4180). */
const char *engine_csv(struct arena *a, const char *key, const char *value);
/* A file or folder that no client takes for an option. */
const char *engine_path(struct arena *a, const char *path);
/* A build's secrets, --secret for each, by id and file (csv: the client reads the option as CSV);
 * variables of their names do not reach the client. */
void engine_secrets(struct arena *a, struct engine_command *c, const struct engine_build *b,
		    bool csv);
/* "HOST:CONTAINER" as --mount takes it. */
const char *engine_mount(struct arena *a, const char *mount);

/* Of a run: the environment, mounts, and the image with the command in place of its own. */
void engine_run_words(struct arena *a, struct engine_command *c, const struct engine_run *r);
/* What podman and buildah have in common, behind `build` and behind `push`. */
void buildah_push_words(struct arena *a, struct engine_command *c, const char *image,
			const char *digest_file);
void buildah_build_words(struct arena *a, struct engine_command *c, const struct engine_build *b);

#endif

/* The questions to a git host, a registry, the index of torch, and a server with a file. */
#include "world_ask_one.h"

#include <jansson.h>
#include <string.h>

#include "base/str.h"
#include "fetch/fetch.h"

enum { NEAR = 3, CONFIG_MAX = 4 * 1024 * 1024 };

static void
no(struct question *q, const char *why)
{
	q->answer = ANSWER_NO;
	q->why = why;
}

/* --- git hosts --- */

static void
ask_ref(struct arena *a, struct question *q)
{
	const char *why = NULL;

	if (git_remote_commit(a, q->url, q->name, &q->near, &why))
		q->answer = ANSWER_YES;
	else if (why && !strcmp(why, GIT_NO_TAG))
		no(q, NULL);
	else if (why && git_remote_missing(why))
		no(q, arena_printf(a, "%s has no such repository", q->host));
	else
		q->why = why;
}

/* --- registries --- */

/* Compares the platform of a single image, which is in its configuration. */
static void
ask_config(struct arena *a, struct oci_registry *registry, const struct oci_manifest *m,
	   const char *platform, struct question *q)
{
	json_auto_t *root = json_loadb(m->text, m->size, 0, NULL), *config = NULL;
	struct oci_blob blob = { .digest = fetch_json_text(a, json_object_get(root, "config"),
							   "digest") };
	const char *os, *machine, *here;
	struct diags own = DIAGS(own, a);

	q->answer = ANSWER_YES;
	if (!blob.digest)
		return;
	if (!oci_pull_blob(registry, a, &own, &blob, NULL, CONFIG_MAX)) {
		q->answer = ANSWER_NONE;
		q->why = own.head->text;
		return;
	}
	config = json_loadb(blob.bytes, blob.size, 0, NULL);
	os = fetch_json_text(a, config, "os");
	machine = fetch_json_text(a, config, "architecture");
	here = arena_printf(a, "%s/%s", os, machine);
	if (os && machine && strcmp(here, platform) != 0)
		no(q, arena_printf(a, "it is an image for %s, and the stack is for %s", here,
				   platform));
}

static void
ask_image(struct arena *a, const struct stack *s, struct question *q)
{
	struct diags own = DIAGS(own, a);
	struct names platforms = { 0 };
	struct oci_registry *registry;
	struct oci_manifest m;
	struct oci_name name;
	bool missing = false;

	if (!oci_name_parse(a, &own, q->url, q->at, &name)) {
		q->why = own.head->text;
		return;
	}
	registry = oci_open(a, &name, 0);
	if (!oci_manifest(registry, a, &own, q->name, &m, &missing)) {
		if (missing)
			no(q, NULL);
		else
			q->why = own.head->text;
	} else if (!oci_platform_digest(a, &m, s->platform, &platforms)) {
		no(q, arena_printf(a, "it has images for %s, and the stack is for %s",
				   names_words(a, &platforms, "and"), s->platform));
	} else if (platforms.n) {
		q->answer = ANSWER_YES;
	} else {
		ask_config(a, registry, &m, s->platform, q);
	}
}

/* --- the index of torch --- */

/* Returns the wheel's build of torch, "cu121"; "" for none; NULL: it is another version, or for another
 * Python or machine. */
static const char *
build_of(struct arena *a, const char *file, const char *version, const char *python,
	 const char *machine)
{
	const struct wheel_file *w = ends_with(file, ".whl") ? wheel_file_parse(a, file) : NULL;
	const char *text = w ? version_text(a, w->version) : "";
	size_t n = strcspn(text, "+");
	struct wheel_pythons pythons = { 0 };
	bool fits = false;

	if (!w || (version && (strlen(version) != n || strncmp(text, version, n) != 0)))
		return NULL;
	list_each (tag, &w->tags)
		if (wheel_fits_machine(*tag, machine)) {
			wheel_pythons_add(&pythons, *tag);
			fits = true;
		}
	if (!fits || (python && !wheel_pythons_have(&pythons, python)))
		return NULL;
	return text[n] ? text + n + 1 : "";
}

/* Returns whether a build is the wanted one: "cu121" and "cu121.full" are cu121, and so is one without a
 * local version. */
static bool
is_build(const char *build, const char *tag)
{
	return !tag || !*build || (starts_with(build, tag) && !is_alnum(build[strlen(tag)]));
}

static bool
torch_files(struct arena *a, const struct ask_how *how, struct question *q,
	    struct index_files *files)
{
	const char *why = NULL;
	enum index_answer got = index_ask(a, q->url, "torch", how->netrc, 0, files, &why);

	if (got == INDEX_MISSING)
		no(q, "the index has no package torch");
	if (got == INDEX_FAILED)
		q->why = why;
	return got == INDEX_FOUND;
}

static void
ask_build(struct arena *a, const struct ask_how *how, struct question *q)
{
	const char *python = how->stack->python.value,
		   *machine = recipe_machine(how->stack->recipe);
	struct index_files files = { 0 };
	struct names builds = { 0 };
	bool listed = false;

	if (!torch_files(a, how, q, &files))
		return;
	list_each (f, &files) {
		const char *build = build_of(a, f->name, q->name, python, machine);

		if (build && is_build(build, q->tag)) {
			q->answer = ANSWER_YES;
			return;
		}
		if (build)
			names_once(a, &builds, build);
		listed |= starts_with(f->name, arena_printf(a, "torch-%s", q->name)) &&
			  !is_alnum(f->name[strlen("torch-") + strlen(q->name)]) &&
			  f->name[strlen("torch-") + strlen(q->name)] != '.';
	}
	no(q, builds.n ? arena_printf(a, "it lists torch %s only as %s", q->name,
				      names_words(a, &builds, "and")) :
	      listed   ? arena_printf(a, "it lists torch %s, and no wheel for Python %s on %s",
				      q->name, python ? python : "3", machine) :
			 NULL);
}

/* Moves the newest version below the wanted one, and the oldest above it, to q->near. */
static void
take_versions(struct arena *a, struct question *q, const struct names *all)
{
	const struct version *wanted = version_parse(a, q->name), *v, *below = NULL, *above = NULL;

	for (size_t i = 0; i < all->n && wanted; i++) {
		int order = version_cmp(v = version_parse(a, all->at[i]), wanted);

		if (order < 0 && (!below || version_cmp(v, below) > 0))
			below = v;
		if (order > 0 && (!above || version_cmp(v, above) < 0))
			above = v;
	}
	if (below)
		list_push(a, &q->near, version_text(a, below));
	if (above)
		list_push(a, &q->near, version_text(a, above));
}

/* Adds the versions with a wheel for this build, Python and machine. */
static void
near_builds(struct arena *a, const struct ask_how *how, struct question *q)
{
	struct index_files files = { 0 };
	struct names versions = { 0 };

	if (!torch_files(a, how, q, &files))
		return;
	list_each (f, &files) {
		const char *build = build_of(a, f->name, NULL, how->stack->python.value,
					     recipe_machine(how->stack->recipe));
		const struct wheel_file *w = build ? wheel_file_parse(a, f->name) : NULL;
		const char *text = w ? version_text(a, w->version) : NULL;

		if (w && is_build(build, q->tag) && !version_is_prerelease(w->version))
			names_once(a, &versions, arena_copy(a, text, strcspn(text, "+")));
	}
	take_versions(a, q, &versions);
}

/* --- servers with files --- */

static void
ask_file(struct arena *a, const struct ask_how *how, struct question *q)
{
	struct http_request head = { .method = "HEAD", .url = q->url, .netrc = how->netrc };
	struct http_answer answer;

	http_do(a, &head, &answer);
	/* A signed URL is valid for one method. */
	if ((answer.status / 100 == 4 && answer.status != 404 && answer.status != 410) ||
	    answer.status == 501) {
		struct http_request part = {
			.method = "GET", .url = q->url, .netrc = how->netrc, .max = CONFIG_MAX
		};

		list_push(a, &part.headers, "Range: bytes=0-0");
		http_do(a, &part, &answer);
		/* The server ignores the range and sends all of a large file. */
		if (answer.refused)
			answer.status = 200;
	}
	if (answer.status / 100 == 2)
		q->answer = ANSWER_YES;
	else if (answer.status == 404 || answer.status == 410)
		no(q, arena_printf(a, "%s answers with status %d", q->host, answer.status));
	else
		q->why = answer.status ?
				 arena_printf(a, "it answers with status %d", answer.status) :
				 answer.why;
}

/* --- a question --- */

void
ask_one(struct arena *a, const struct ask_how *how, struct question *q)
{
	switch (q->kind) {
	case QUESTION_REF: ask_ref(a, q); break;
	case QUESTION_IMAGE: ask_image(a, how->stack, q); break;
	case QUESTION_BUILD: ask_build(a, how, q); break;
	default: ask_file(a, how, q); break;
	}
}

void
ask_near(struct arena *a, const struct ask_how *how, struct question *q)
{
	struct diags own = DIAGS(own, a);
	struct oci_name name;
	struct names tags;

	/* An image of another platform has the right name. */
	if (q->kind == QUESTION_IMAGE && !q->why && oci_name_parse(a, &own, q->url, q->at, &name)) {
		tags = oci_tags(oci_open(a, &name, 0), a, &own);
		q->near = names_nearest(a, q->name, &tags, NEAR);
	} else if (q->kind == QUESTION_BUILD)
		near_builds(a, how, q);
}

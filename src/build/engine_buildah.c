#include "engine_parts.h"

#include <string.h>

#include "base/str.h"
#include "fetch/fetch.h"

/*
 * Buildah.  It runs a command in a container that exists, not in an image: `from` makes one,
 * `run` is the command, `rm` takes it away.
 */
void
buildah_probe(struct arena *a, const struct engine_at *asked, struct engine_state *s)
{
	struct proc_result r;
	JSON_DONE json_t *info = NULL;
	const char *driver;
	bool rootless;

	*s = (struct engine_state){ .at = *asked };
	s->at.client = proc_which(a, "buildah");
	if (!s->at.client) {
		s->why_not = "not installed";
		s->install = "apt-get install buildah";
		return;
	}
	if (!ASK(a, &r, s->at.client, "info") || !(info = engine_json(&r))) {
		const char *said = engine_said(a, &r);
		bool range = strstr(buf_text(&r.err), "subuid") || strstr(said, "newuidmap");

		s->why_not = said;
		s->install = range ? "sudo usermod --add-subuids 100000-165535 --add-subgids "
				     "100000-165535 $USER, and the package uidmap" :
				     "buildah info says more";
		return;
	}
	driver = json_at_text(a, info, "store.GraphDriverName");
	rootless = json_is_true(json_at(info, "host.rootless"));
	ASK(a, &r, s->at.client, "--version");
	s->usable = true;
	s->version = engine_version_in(a, buf_text(&r.out));
	s->version =
		arena_printf(a, "%s, %s%s", s->version ? s->version : "version not told",
			     driver ? driver : "storage not told", rootless ? ", rootless" : "");
}

/* --cache-from and --cache-to name a repository: no tag, no digest. */
static const char *
repository(struct arena *a, const char *ref)
{
	const char *slash = strrchr(ref, '/');
	const char *name = slash ? slash : ref;

	return arena_copy(a, ref, (size_t)(name - ref) + strcspn(name, ":@"));
}

void
buildah_build_words(struct arena *a, struct engine_command *c, const struct engine_build *b)
{
	ADD(c, "--layers", "-f", engine_path(a, b->dockerfile));
	if (b->target)
		ADD(c, "--target", b->target);
	if (b->tag && !b->to_folder)
		ADD(c, "-t", b->tag);
	if (b->iid_file)
		ADD(c, "--iidfile", b->iid_file);
	if (b->to_folder)
		ADD(c, "-o", arena_printf(a, "type=local,dest=%s", b->to_folder));
	if (b->platform)
		ADD(c, "--platform", b->platform);
	for (size_t i = 0; i < b->args.n; i++)
		ADD(c, "--build-arg", b->args.at[i]);
	engine_secrets(a, c, b, false);
	for (size_t i = 0; i < b->cache_from.n; i++)
		ADD(c, "--cache-from", repository(a, b->cache_from.at[i]));
	for (size_t i = 0; i < b->cache_to.n; i++)
		ADD(c, "--cache-to", repository(a, b->cache_to.at[i]));
	if (b->no_cache)
		ADD(c, "--no-cache");
	ADD(c, engine_path(a, b->context));
}

struct engine_command
buildah_build(struct arena *a, const struct engine_at *at, const struct engine_build *b)
{
	struct engine_command c = { 0 };

	ADD(&c, at->client, "bud"); /* `build` came with 1.22 */
	buildah_build_words(a, &c, b);
	return c;
}

struct engine_command
buildah_prepare(struct arena *a, const struct engine_at *at, const struct engine_run *r)
{
	struct engine_command c = { 0 };

	ADD(&c, at->client, "from", "--name", r->name, r->image);
	return c;
}

struct engine_command
buildah_run(struct arena *a, const struct engine_at *at, const struct engine_run *r)
{
	struct engine_command c = { 0 };

	ADD(&c, at->client, "run");
	for (size_t i = 0; i < r->env.n; i++)
		ADD(&c, "-e", r->env.at[i]);
	for (size_t i = 0; i < r->mounts.n; i++)
		ADD(&c, "--mount", engine_mount(a, r->mounts.at[i]));
	ADD(&c, r->name, "--");
	for (size_t i = 0; i < r->argv.n; i++)
		ADD(&c, r->argv.at[i]);
	return c;
}

struct engine_command
buildah_kill(struct arena *a, const struct engine_at *at, const char *name)
{
	struct engine_command c = { 0 };

	ADD(&c, at->client, "rm", name);
	return c;
}

/* It tells no size: that is the sum of the manifest's layers, which are stored as they are. */
struct engine_command
buildah_inspect(struct arena *a, const struct engine_at *at, const char *image)
{
	struct engine_command c = { 0 };

	ADD(&c, at->client, "inspect", "--type", "image", "--format",
	    "{{.FromImageID}} {{.Manifest}}", image);
	return c;
}

struct engine_command
buildah_pulled(struct arena *a, const struct engine_at *at, const char *image)
{
	struct engine_command c = { 0 };

	ADD(&c, at->client, "inspect", "--type", "image", "--format", "{{.FromImageDigest}}",
	    image);
	return c;
}

struct engine_command
buildah_tag(struct arena *a, const struct engine_at *at, const char *image, const char *name)
{
	struct engine_command c = { 0 };

	ADD(&c, at->client, "tag", image, name);
	return c;
}

/* Loopback registries have no TLS: docker knows that, these two are told. */
void
buildah_push_words(struct arena *a, struct engine_command *c, const char *image,
		   const char *digest_file)
{
	if (http_is_loopback(arena_copy(a, image, strcspn(image, "/"))))
		ADD(c, "--tls-verify=false");
	if (digest_file)
		ADD(c, "--digestfile", digest_file);
	ADD(c, image);
}

struct engine_command
buildah_push(struct arena *a, const struct engine_at *at, const char *image,
	     const char *digest_file)
{
	struct engine_command c = { 0 };

	ADD(&c, at->client, "push");
	buildah_push_words(a, &c, image, digest_file);
	return c;
}

#include "engine_parts.h"

#include <string.h>

#include "base/str.h"

/*
 * Buildah.  It runs a command in a container that exists, not in an image: `from` makes one,
 * `run` is the command, `rm` takes it away.
 */
void
buildah_probe(struct arena *a, const struct engine_at *asked, struct engine_state *s)
{
	struct proc_result r;
	json_auto_t *info = NULL;
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
	ADD(c, "--layers");
	engine_build_words(a, c, b, false);
	for (size_t i = 0; i < b->cache_from.n; i++)
		ADD(c, "--cache-from", repository(a, b->cache_from.at[i]));
	for (size_t i = 0; i < b->cache_to.n; i++)
		ADD(c, "--cache-to", repository(a, b->cache_to.at[i]));
	if (b->no_cache)
		ADD(c, "--no-cache");
	ADD(c, engine_path(a, b->context));
}

COMMAND(buildah_build, build)
{
	struct engine_command c = { 0 };

	ADD(&c, at->client, "bud"); /* `build` exists since 1.22 */
	buildah_build_words(a, &c, build);
	return c;
}

COMMAND(buildah_run, run)
{
	struct engine_command c = { 0 };

	ADD(&c, at->client, "run");
	for (size_t i = 0; i < run->env.n; i++)
		ADD(&c, "-e", run->env.at[i]);
	for (size_t i = 0; i < run->mounts.n; i++)
		ADD(&c, "--mount", engine_mount(a, run->mounts.at[i]));
	ADD(&c, run->name, "--");
	for (size_t i = 0; i < run->argv.n; i++)
		ADD(&c, run->argv.at[i]);
	return c;
}

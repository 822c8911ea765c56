#include "engine_parts.h"

#include <string.h>

#include "base/str.h"

/*
 * Docker. BuildKit needs the component buildx, or a client with built-in support (18.09 to 22, with
 * DOCKER_BUILDKIT=1). A client of 23 and later without buildx has neither, and may come before a
 * usable older one in PATH, so each is tried.
 */

static const char *const bare[] = { "DOCKER_BUILDKIT=1", NULL };

/* Finds the first usable client; false: *why has the reason of the first one. */
static bool
find_client(struct arena *a, struct engine_state *s)
{
	struct names clients = proc_which_all(a, "docker");
	struct proc_result r;

	for (size_t i = 0; i < clients.n; i++) {
		const char *client = clients.at[i];

		s->at.client = client;
		if (ASK(a, &r, client, "--version") && starts_with(buf_text(&r.out), "podman"))
			continue; /* podman-docker: Podman by another name */
		if (ASK(a, &r, client, "buildx", "version")) {
			s->at.buildx = true;
			s->version = engine_version_in(a, buf_text(&r.out));
			return true;
		}
		if (r.timed_out) {
			s->why_not = arena_printf(a, "%s %s", client, engine_said(a, &r));
			return false;
		}
		/* Its help shows the options of the builder that it would use. */
		if (engine_ask(a, (const char *const[]){ client, "build", "--help", NULL }, bare,
			       &r) &&
		    strstr(buf_text(&r.out), "--secret"))
			return true;
		if (s->why_not)
			continue;
		ASK(a, &r, client, "--version");
		s->why_not = arena_printf(a, "%s (%s) has neither buildx nor built-in BuildKit",
					  client, engine_version_in(a, buf_text(&r.out)));
		s->install = "install the buildx component: the package docker-buildx-plugin "
			     "(Docker's) or docker-buildx (of the distribution)";
	}
	if (!s->why_not) {
		s->why_not = "the docker in PATH is Podman";
		s->install = "--engine podman";
	}
	return false;
}

/* Explains the client's message about an unreachable daemon. */
static void
no_daemon(struct arena *a, struct engine_state *s, const char *said)
{
	const char *at = strstr(said, " at "); /* "... at unix:///var/run/docker.sock. Is ..." */
	size_t n = at ? strcspn(at + 4, " ") : 0;

	while (n && strchr(".:", at[4 + n - 1]))
		n--;
	at = n ? arena_copy(a, at, n + 4) : "";
	if (strstr(said, "permission denied")) {
		s->why_not = arena_printf(a, "this user may not use the daemon%s", at);
		s->install = "run: sudo usermod -aG docker $USER, then log in again; or use "
			     "rootless Docker";
	} else if (strstr(said, "Cannot connect") || strstr(said, "failed to connect")) {
		s->why_not = arena_printf(a, "no daemon answers%s", at);
		s->install =
			"run: sudo systemctl start docker; or set DOCKER_HOST to another daemon";
	} else {
		s->why_not = arena_printf(a, "the daemon: %s", said);
		s->install = "run docker info for details";
	}
}

/* Returns whether the cache can be exported to a registry: without containerd's image store,
 * Docker's own builder exports it only inline. */
static bool
exports_cache(struct arena *a, const struct engine_state *s, const char *info)
{
	struct proc_result r;

	if (!s->at.buildx || strstr(info, "\"io.containerd.snapshotter"))
		return s->at.buildx;
	return ASK(a, &r, s->at.client, "buildx", "inspect") &&
	       strstr(buf_text(&r.out), "Driver:") &&
	       !str_matches(buf_text(&r.out), "Driver:[ \t]*docker([\r\n]|$)");
}

void
docker_probe(struct arena *a, struct engine_state *s)
{
	struct proc_result r;
	json_auto_t *info = NULL;
	const char *buildx, *server, *error, *os;

	if (!find_client(a, s))
		return;
	buildx = s->version;
	s->version = s->why_not = s->install = NULL;
	/* Some clients print the error and still exit with 0. */
	ASK(a, &r, s->at.client, "info", "--format", "{{json .}}");
	info = engine_json(&r);
	error = json_string_value(json_array_get(json_at(info, "ServerErrors"), 0));
	if (!(server = json_at_text(a, info, "ServerVersion"))) {
		no_daemon(a, s, error ? arena_strdup(a, error) : engine_said(a, &r));
		return;
	}
	if ((os = json_at_text(a, info, "OSType")) && strcmp(os, "linux")) {
		s->why_not = arena_printf(a, "the daemon runs containers of %s", os);
		s->install = "switch it to Linux containers";
		return;
	}
	/* Returns how containers get GPUs: by NVIDIA's runtime, or by CDI (Docker 25 and later). */
	s->gpus = json_at(info, "Runtimes.nvidia");
	s->at.cdi = !s->gpus && strstr(buf_text(&r.out), "\"nvidia.com/gpu");
	s->at.cache_export = exports_cache(a, s, buf_text(&r.out));
	s->version = arena_printf(a, "%s, %s%s; %s", engine_version_in(a, server),
				  buildx ? "buildx " : "BuildKit", buildx ? buildx : "",
				  s->gpus   ? "GPUs by NVIDIA's runtime" :
				  s->at.cdi ? "GPUs by CDI" :
					      "no GPU runtime");
	s->gpus |= s->at.cdi;
}

/* --- commands --- */

static void
cache_words(struct arena *a, struct engine_command *c, const struct engine_at *at,
	    const struct engine_build *b)
{
	for (size_t i = 0; i < b->cache_from.n; i++)
		ADD(c, "--cache-from",
		    at->buildx ? engine_cache(a, b->cache_from.at[i], "") : b->cache_from.at[i]);
	if (!b->cache_to.n)
		return;
	if (at->cache_export)
		for (size_t i = 0; i < b->cache_to.n; i++)
			ADD(c, "--cache-to", engine_cache(a, b->cache_to.at[i], ",mode=max"));
	else if (at->buildx)
		ADD(c, "--cache-to", "type=inline");
	else
		ADD(c, "--build-arg", "BUILDKIT_INLINE_CACHE=1");
}

COMMAND(docker_build, build)
{
	struct engine_command c = { 0 };

	ADD(&c, at->client);
	if (at->buildx)
		ADD(&c, "buildx");
	ADD(&c, "build", "--progress=plain");
	/* Attestations contain the time: with them, the same image would get another digest. */
	list_push(a, &c.env, at->buildx ? "BUILDX_NO_DEFAULT_ATTESTATIONS=1" : bare[0]);
	engine_build_words(a, &c, build, true);
	if (at->buildx &&
	    !build->to_folder) /* otherwise, a separate builder would keep the image */
		ADD(&c, build->push ? "--push" : "--load");
	cache_words(a, &c, at, build);
	if (build->no_cache)
		ADD(&c, "--no-cache");
	if (build->no_network)
		ADD(&c, "--network", "none");
	ADD(&c, engine_path(a, build->context));
	return c;
}

COMMAND(docker_run, run)
{
	struct engine_command c = { 0 };

	/* --init: process 1 ignores a signal for which it has no handler. */
	ADD(&c, at->client, "run", "--rm", "--init", "--name", run->name);
	if (run->input)
		ADD(&c, "--interactive");
	if (run->gpus && at->cdi)
		ADD(&c, "--device", "nvidia.com/gpu=all");
	else if (run->gpus)
		ADD(&c, "--gpus", "all");
	engine_run_words(a, &c, run, true);
	return c;
}

#include "engine_parts.h"

#include <string.h>
#include <sys/resource.h>

#include "base/str.h"

/* Podman: its own program does it all; what stands in the way shows in `podman info`. */

/* Without a range of user numbers RUN fails at its first change of user. */
static bool
has_one_user(const json_t *info)
{
	const json_t *map = json_at(info, "host.idMappings.uidmap");
	json_int_t users = 0;

	if (!json_is_true(json_at(info, "host.security.rootless")))
		return false;
	for (size_t i = 0; i < json_array_size(map); i++)
		users += json_integer_value(json_at(json_array_get(map, i), "size"));
	return users <= 1;
}

/*
 * Podman asks for as many open files as it thinks that root may have, and runs nothing where root
 * may not (inside another container): "error setting rlimit type 7: operation not permitted".  Of
 * processes it has given away its own by then, down to what containers.conf says.
 */
enum { PODMAN_FILES = 1 << 20, PODMAN_PROCESSES = 32768 };

static void
limits(struct engine_at *at)
{
	struct rlimit files, processes;

	if (getrlimit(RLIMIT_NOFILE, &files) || getrlimit(RLIMIT_NPROC, &processes) ||
	    files.rlim_max >= PODMAN_FILES)
		return;
	at->files = files.rlim_max;
	at->processes =
		processes.rlim_max < PODMAN_PROCESSES ? processes.rlim_max : PODMAN_PROCESSES;
}

void
podman_probe(struct arena *a, const struct engine_at *asked, struct engine_state *s)
{
	struct proc_result r;
	json_auto_t *info = NULL;
	const char *version, *driver;
	bool rootless;

	*s = (struct engine_state){ .at = *asked };
	s->at.client = proc_which(a, "podman");
	if (!s->at.client) {
		s->why_not = "not installed";
		s->install = "apt-get install podman";
		return;
	}
	if (!ASK(a, &r, s->at.client, "info", "--format", "json") || !(info = engine_json(&r))) {
		s->why_not = engine_said(a, &r);
		s->install = "podman info says more";
		return;
	}
	if (has_one_user(info)) {
		s->why_not =
			"without root it needs a range of user numbers, and this user has none";
		s->install = "sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 "
			     "$USER, then podman system migrate";
		return;
	}
	version = json_at_text(a, info, "version.Version");
	driver = json_at_text(a, info, "store.graphDriverName");
	rootless = json_is_true(json_at(info, "host.security.rootless"));
	/* A podman of another machine (serviceIsRemote) has that one's devices. */
	s->gpus = s->at.cdi = !json_is_true(json_at(info, "host.serviceIsRemote")) && engine_cdi(a);
	limits(&s->at);
	s->usable = true;
	s->version =
		arena_printf(a, "%s, %s%s; %s", version ? version : "version not told",
			     driver ? driver : "storage not told", rootless ? ", rootless" : "",
			     s->gpus ? "GPUs by CDI" : "no GPUs by CDI");
}

COMMAND(podman_build, build)
{
	struct engine_command c = { 0 };

	ADD(&c, at->client, "build");
	buildah_build_words(a, &c, build);
	return c;
}

/* Without --init, which needs the separate package catatonit; `kill` works without it. */
COMMAND(podman_run, run)
{
	struct engine_command c = { 0 };

	ADD(&c, at->client, "run", "--rm", "--name", run->name);
	if (run->input)
		ADD(&c, "--interactive");
	if (run->gpus)
		ADD(&c, "--device", "nvidia.com/gpu=all");
	if (at->files)
		ADD(&c, "--ulimit", arena_printf(a, "nofile=%zu:%zu", at->files, at->files),
		    "--ulimit", arena_printf(a, "nproc=%zu:%zu", at->processes, at->processes));
	engine_run_words(a, &c, run);
	return c;
}

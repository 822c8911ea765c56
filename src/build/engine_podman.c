#include "engine_parts.h"

#include <glob.h>
#include <string.h>
#include <sys/resource.h>

#include "base/fs.h"
#include "base/str.h"

/*
 * Podman and Buildah, which build with the same code; `info` shows their problems.
 * Buildah runs a command in an existing container, not in an image: `from` creates one, `run` runs
 * the command, and `rm` removes it.
 */

/* Returns "4.3.1, overlay, rootless". */
static const char *
describe(struct arena *a, const char *version, const char *driver, const json_t *rootless)
{
	return arena_printf(a, "%s, %s%s", version ? version : "unknown version",
			    driver ? driver : "unknown storage",
			    json_is_true(rootless) ? ", rootless" : "");
}

/* Returns true without a range of subordinate user ids: RUN then fails at a change of user. */
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
 * Podman sets the limit of open files that root usually has. This fails if root may not raise it,
 * as inside another container: "error setting rlimit type 7: operation not permitted". Podman has
 * already lowered its limit of processes to that of containers.conf.
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

/* Returns whether a CDI specification of this host names NVIDIA's GPUs (/etc/cdi, /var/run/cdi). */
static bool
has_cdi_gpus(struct arena *a)
{
	glob_t files;
	bool found = false;

	glob("{/etc,/var/run}/cdi/*.{yaml,json}", GLOB_BRACE, NULL, &files);
	for (size_t i = 0; i < files.gl_pathc && !found; i++) {
		const struct source *s = fs_read_quiet(a, files.gl_pathv[i], FS_READ_MAX);

		found = s && memmem(s->text, s->size, "nvidia.com/gpu", 14);
	}
	globfree(&files);
	return found;
}

void
podman_probe(struct arena *a, struct engine_state *s)
{
	struct proc_result r;
	json_auto_t *info = NULL;

	if (!ASK(a, &r, s->at.client, "info", "--format", "json") || !(info = engine_json(&r))) {
		s->why_not = engine_said(a, &r);
		s->install = "run podman info for details";
		return;
	}
	if (has_one_user(info)) {
		s->why_not =
			"without root it needs a range of user numbers, and this user has none";
		s->install = "sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 "
			     "$USER, then podman system migrate";
		return;
	}
	/* A remote podman uses the GPUs of its own machine. */
	s->at.remote = json_is_true(json_at(info, "host.serviceIsRemote"));
	s->gpus = s->at.cdi = !s->at.remote && has_cdi_gpus(a);
	limits(&s->at);
	s->version = arena_printf(a, "%s; %s",
				  describe(a, json_at_text(a, info, "version.Version"),
					   json_at_text(a, info, "store.graphDriverName"),
					   json_at(info, "host.security.rootless")),
				  s->gpus ? "GPUs by CDI" : "no GPUs by CDI");
}

void
buildah_probe(struct arena *a, struct engine_state *s)
{
	struct proc_result r;
	json_auto_t *info = NULL;

	if (!ASK(a, &r, s->at.client, "info") || !(info = engine_json(&r))) {
		bool range;

		s->why_not = engine_said(a, &r);
		range = strstr(buf_text(&r.err), "subuid") || strstr(s->why_not, "newuidmap");
		s->install =
			range ? "install the package uidmap, then run: sudo usermod --add-subuids "
				"100000-165535 --add-subgids 100000-165535 $USER" :
				"run buildah info for details";
		return;
	}
	ASK(a, &r, s->at.client, "--version");
	s->version = describe(a, engine_version_in(a, buf_text(&r.out)),
			      json_at_text(a, info, "store.GraphDriverName"),
			      json_at(info, "host.rootless"));
}

/* Returns a reference without tag and digest, as --cache-from and --cache-to need it. */
static const char *
repository(struct arena *a, const char *ref)
{
	const char *slash = strrchr(ref, '/');
	const char *name = slash ? slash : ref;

	return arena_copy(a, ref, (size_t)(name - ref) + strcspn(name, ":@"));
}

/* Every buildah has `bud`; `build` is new in 1.22. Only a client that ends by itself removes its
 * containers and temporary files. A step can be killed, but a commit takes 15 s for each GB. */
COMMAND(buildah_build, build)
{
	struct engine_command c = { .patience_s = at->remote ? 0 : 120 };

	ADD(&c, at->client, ends_with(at->client, "buildah") ? "bud" : "build", "--layers",
	    "--force-rm");
	engine_build_words(a, &c, build, false);
	for (size_t i = 0; i < build->cache_from.n; i++)
		ADD(&c, "--cache-from", repository(a, build->cache_from.at[i]));
	for (size_t i = 0; i < build->cache_to.n; i++)
		ADD(&c, "--cache-to", repository(a, build->cache_to.at[i]));
	if (build->no_cache)
		ADD(&c, "--no-cache");
	/* Without a label: SELinux hides the mounted files of the context otherwise. */
	if (build->no_network)
		ADD(&c, "--network", "none", "--security-opt", "label=disable");
	ADD(&c, engine_path(a, build->context));
	return c;
}

/* Omits --init, which needs the separate package catatonit; `kill` works without it. */
COMMAND(podman_run, run)
{
	struct engine_command c = { .patience_s = at->remote ? 0 : 10 };

	ADD(&c, at->client, "run", "--rm", "--name", run->name);
	if (run->input)
		ADD(&c, "--interactive");
	if (run->gpus)
		ADD(&c, "--device", "nvidia.com/gpu=all");
	if (at->files)
		ADD(&c, "--ulimit", arena_printf(a, "nofile=%zu:%zu", at->files, at->files),
		    "--ulimit", arena_printf(a, "nproc=%zu:%zu", at->processes, at->processes));
	engine_run_words(a, &c, run, true);
	return c;
}

COMMAND(buildah_run, run)
{
	struct engine_command c = { .patience_s = 10 };

	ADD(&c, at->client, "run");
	engine_run_words(a, &c, run, false);
	return c;
}

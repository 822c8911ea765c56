#include "engine_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/str.h"

/*
 * Uses a BuildKit daemon by its address: on another machine, in a Kubernetes cluster, or a farm
 * behind one address. The image goes to its registry (push) or stays in the daemon's cache; this
 * host has no copy that it could run or inspect.
 */
static void
client_words(struct arena *a, struct engine_command *c, const struct engine_at *at)
{
	const char *const options[][2] = { { "--addr", at->addr },
					   { "--tlscacert", at->tls_ca },
					   { "--tlscert", at->tls_cert },
					   { "--tlskey", at->tls_key },
					   { "--tlsservername", at->tls_name },
					   { NULL } };

	ADD(c, at->client);
	engine_options(a, c, options);
}

/* Returns a problem that the client would report later and less clearly, or NULL. */
static const char *
bad_tls(struct arena *a, const struct engine_at *at)
{
	const char *const files[][2] = { { "--tls-ca", at->tls_ca },
					 { "--tls-cert", at->tls_cert },
					 { "--tls-key", at->tls_key } };

	for (size_t i = 0; i < COUNT(files); i++)
		if (files[i][1] && !fs_exists(files[i][1]))
			return arena_printf(a, "%s: the file %s does not exist", files[i][0],
					    files[i][1]);
	if (!at->tls_cert != !at->tls_key)
		return "--tls-cert and --tls-key require each other";
	return NULL;
}

void
buildctl_probe(struct arena *a, struct engine_state *s)
{
	struct proc_result r;
	struct engine_command c = { 0 };
	const char *env = getenv("BUILDKIT_HOST"), *where;

	if ((s->why_not = bad_tls(a, &s->at)))
		return;
	where = s->at.addr ? s->at.addr : env && *env ? env : NULL;
	client_words(a, &c, &s->at);
	ADD(&c, "debug", "workers");
	list_push(a, &c.argv, NULL);
	if (!engine_ask(a, c.argv.at, NULL, &r)) {
		s->why_not = arena_printf(a, "%s: %s",
					  where ? mask_credentials(a, where) : "on this host",
					  engine_said(a, &r));
		s->install = where ? "check that buildkitd listens at this address, and that the "
				     "certificates belong to it" :
				     "pass --addr tcp://builder:1234, or set BUILDKIT_HOST";
		return;
	}
	/* The output has a heading and a line for each worker. */
	if (!strchr(buf_text(&r.out), '\n') || !strchr(buf_text(&r.out), '\n')[1]) {
		s->why_not =
			arena_printf(a, "%s: it has no worker", where ? where : "on this host");
		s->install = "buildkitd needs an OCI or a containerd worker";
		return;
	}
	ASK(a, &r, s->at.client, "--version");
	s->version = arena_printf(a, "%s, %s", engine_version_in(a, buf_text(&r.out)),
				  where ? mask_credentials(a, where) : "the daemon of this host");
}

COMMAND(buildctl_build, build)
{
	struct engine_command c = { 0 };
	const char *slash = strrchr(build->dockerfile, '/');

	client_words(a, &c, at);
	ADD(&c, "build", "--progress=plain", "--frontend", "dockerfile.v0", "--local",
	    arena_printf(a, "context=%s", build->context), "--local",
	    arena_printf(a, "dockerfile=%s", fs_dir(a, build->dockerfile)), "--opt",
	    arena_printf(a, "filename=%s", slash ? slash + 1 : build->dockerfile));
	if (build->target)
		ADD(&c, "--opt", arena_printf(a, "target=%s", build->target));
	if (build->platform)
		ADD(&c, "--opt", arena_printf(a, "platform=%s", build->platform));
	for (size_t i = 0; i < build->args.n; i++)
		ADD(&c, "--opt", arena_printf(a, "build-arg:%s", build->args.at[i]));
	engine_secrets(a, &c, build, true);
	if (build->to_folder)
		ADD(&c, "--output",
		    arena_printf(a, "type=local,%s", engine_csv(a, "dest", build->to_folder)));
	else if (build->tag)
		ADD(&c, "--output",
		    arena_printf(a, "type=image,%s%s", engine_csv(a, "name", build->tag),
				 build->push ? ",push=true" : ""));
	if (build->iid_file)
		ADD(&c, "--metadata-file", build->iid_file);
	for (size_t i = 0; i < build->cache_from.n; i++)
		ADD(&c, "--import-cache", engine_cache(a, build->cache_from.at[i], ""));
	for (size_t i = 0; i < build->cache_to.n; i++)
		ADD(&c, "--export-cache", engine_cache(a, build->cache_to.at[i], ",mode=max"));
	if (build->no_cache)
		ADD(&c, "--no-cache");
	return c;
}

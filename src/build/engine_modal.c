#include "engine_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

/*
 * Checks the user's own client and token of Modal. The token is not validated with the service,
 * because a probe sends nothing to other hosts.
 */
static bool
is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

/* Returns where the client finds a token: in two variables, or in its file. */
static const char *
token(struct arena *a)
{
	const char *path = getenv("MODAL_CONFIG_PATH"), *home = getenv("HOME");
	const struct source *s;

	if (is_set("MODAL_TOKEN_ID") && is_set("MODAL_TOKEN_SECRET"))
		return "token in the environment";
	if (!path || !*path)
		path = home ? fs_join(a, home, ".modal.toml") : NULL;
	s = path ? fs_read_quiet(a, path, FS_READ_MAX) : NULL;
	return s && memmem(s->text, s->size, "token_id", 8) &&
			       memmem(s->text, s->size, "token_secret", 12) ?
		       "token in its file" :
		       NULL;
}

void
modal_probe(struct arena *a, struct engine_state *s)
{
	struct proc_result r;
	const char *from = token(a);

	if (!ASK(a, &r, s->at.client, "--version")) {
		s->why_not = engine_said(a, &r);
		s->install = "pip install --upgrade modal";
	} else if (!from) {
		s->why_not = "client installed, no token";
		s->install = "modal token new";
	} else {
		s->gpus = true;
		s->version = arena_printf(a, "%s, %s; the service was not contacted",
					  engine_version_in(a, buf_text(&r.out)), from);
	}
}

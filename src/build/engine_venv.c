#include "engine_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

/* This host: setup.sh, as `render -t script` writes it, makes a virtual environment. */

static const char can_make_one[] =
	"import sys, venv, ensurepip; print('%d.%d.%d' % sys.version_info[:3])";

static const char *
nvcc(struct arena *a)
{
	const char *home = getenv("CUDA_HOME"), *file = proc_which(a, "nvcc"), *at;
	struct proc_result r;

	if (!file && home && *home)
		file = proc_which(a, fs_join(a, home, "bin/nvcc"));
	if (!file)
		file = proc_which(a, "/usr/local/cuda/bin/nvcc");
	if (!file || !ASK(a, &r, file, "--version") || !(at = strstr(buf_text(&r.out), "release ")))
		return NULL;
	return engine_version_in(a, at);
}

void
venv_probe(struct arena *a, const struct engine_at *asked, struct engine_state *s)
{
	const char *cuda,
		*name = asked->python ? arena_printf(a, "python%s", asked->python) : "python3";
	struct proc_result r;

	*s = (struct engine_state){ .at = *asked };
	s->at.client = proc_which(a, "bash");
	if (!s->at.client) {
		s->why_not = "bash is not installed";
		s->install = "apt-get install bash";
	} else if (!proc_which(a, name)) {
		s->why_not = arena_printf(a, "there is no %s", name);
		s->install = arena_printf(a, "apt-get install %s %s-venv", name, name);
	} else if (!ASK(a, &r, name, "-c", can_make_one)) {
		s->why_not = arena_printf(a, "%s cannot create virtual environments: %s", name,
					  engine_said(a, &r));
		s->install = arena_printf(a, "apt-get install %s-venv", name);
	}
	if (s->why_not)
		return;
	s->usable = true;
	s->gpus = fs_exists("/dev/nvidiactl") || fs_exists("/dev/dxg"); /* WSL2: dxg */
	s->version = engine_first_line(a, buf_text(&r.out));
	cuda = nvcc(a);
	s->version = arena_printf(a, "python %s, %s%s", s->version, cuda ? "nvcc " : "no nvcc",
				  cuda ? cuda : "");
}

COMMAND(venv_apply, apply)
{
	struct engine_command c = { 0 };

	ADD(&c, at->client, engine_path(a, apply->file));
	if (apply->folder)
		ADD(&c, engine_path(a, apply->folder));
	if (apply->secrets)
		list_push(a, &c.env, arena_printf(a, "SECRETS=%s", apply->secrets));
	if (apply->app)
		list_push(a, &c.env, arena_printf(a, "APP=%s", apply->app));
	if (apply->jobs)
		list_push(a, &c.env, arena_printf(a, "MAX_JOBS=%u", apply->jobs));
	return c;
}

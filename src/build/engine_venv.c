#include "engine_parts.h"
#include "work.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

/* Builds on this host: setup.sh, as `render -t script` writes it, makes a virtual environment. */

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
venv_probe(struct arena *a, struct engine_state *s)
{
	const char *cuda,
		*name = s->at.python ? arena_printf(a, "python%s", s->at.python) : "python3";
	struct proc_result r;

	/* pyenv has a program for each Python; it exits with 127 if that Python is not selected. */
	if (!proc_which(a, name) ||
	    (!ASK(a, &r, name, "-c", can_make_one) && r.started && r.status == 127)) {
		s->why_not = arena_printf(a, "this host has no %s", name);
		s->install =
			s->at.python ?
				arena_printf(a,
					     "install %s with its module venv, or set `python` "
					     "to a version that `python3 --version` shows",
					     name) :
				"apt-get install python3 python3-venv";
	} else if (r.status || !r.started) {
		s->why_not = arena_printf(a, "%s cannot create virtual environments: %s", name,
					  engine_said(a, &r));
		s->install = arena_printf(a, "apt-get install %s-venv", name);
	}
	if (s->why_not)
		return;
	s->gpus = fs_exists("/dev/nvidiactl") || fs_exists("/dev/dxg"); /* dxg exists on WSL2 */
	name = engine_first_line(a, buf_text(&r.out));
	cuda = nvcc(a);
	s->version = arena_printf(a, "python %s, %s%s", name, cuda ? "nvcc " : "no nvcc",
				  cuda ? cuda : "");
}

struct names
venv_missing(struct arena *a, const struct plan *p)
{
	const struct choices *apt = &p->stack->apt;
	struct names missing = { 0 };

	/* The script installs Python's own packages only if the host has no such Python. */
	for (size_t i = 0; !p->stack->dnf && i < apt->n; i++) {
		const char *name = apt->at[i].value;
		const char *argv[] = {
			"dpkg-query", "-W", "-f", "${db:Status-Status}", name, NULL
		};
		struct proc_result r;

		if (!apt->at[i].given && starts_with(name, "python"))
			continue;
		engine_ask(a, argv, NULL, &r);
		if (!r.started)
			return missing;
		if (strcmp(buf_text(&r.out), "installed") != 0)
			list_push(a, &missing, name);
	}
	return missing;
}

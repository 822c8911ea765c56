#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * `import torch` in a child.  While it runs, its /proc/PID/maps is read again and again: the order
 * in which libraries appear there is the order in which they were mapped.  Of those that appear
 * together the last one has the lowest address, because Linux maps from the top down.
 * Source: proc(5); Linux, mm/mmap.c, arch_get_unmapped_area_topdown.
 */
struct import {
	struct look *l;
	const char *pid; /* NULL until the child has printed it */
	struct names mapped;
	const char *state, *waits, *result;
};

static void
on_line(void *ctx, enum proc_stream from, const char *line, size_t n)
{
	struct import *i = ctx;
	const char *text = arena_copy(i->l->a, line, n);

	if (from == PROC_OUT && !i->pid && starts_with(text, "pid "))
		i->pid = text + 4;
	else if (from == PROC_OUT && starts_with(text, "torch "))
		i->result = text;
}

/* The first line of a file of the child, "" if there is none. */
static const char *
of_child(struct import *i, const char *file)
{
	const struct source *s = fs_read_quiet(
		i->l->a, arena_printf(i->l->a, "/proc/%s/%s", i->pid, file), 4 * FS_READ_MAX);

	return s ? s->text : "";
}

static void
on_tick(void *ctx, double now_s)
{
	struct import *i = ctx;
	struct arena *a = i->l->a;
	const char *status;
	struct names lines;

	/* The first second is looked at closely, the rest twice a second: a map has 1 MB at most. */
	if (!i->pid || (now_s > 1 && (int)(now_s * 10) % 5))
		return;
	lines = names_split(a, of_child(i, "maps"), '\n');
	for (size_t k = lines.n; k-- > 0;) {
		const char *path = strchr(lines.at[k], '/');

		if (path && strstr(path, ".so"))
			names_once(a, &i->mapped, path);
	}
	status = strstr(of_child(i, "status"), "State:");
	if (!status)
		return;
	i->state = arena_copy(a, status + 6 + strspn(status + 6, " \t"), 1);
	i->waits = of_child(i, "wchan");
	if (!*i->waits || !strcmp(i->waits, "0"))
		i->waits = NULL;
}

static void
hangs(struct import *i)
{
	struct look *l = i->l;
	const char *last = i->mapped.n ? i->mapped.at[i->mapped.n - 1] : NULL;
	const struct mounted *m = last ? look_mount(l, last) : NULL;
	const char *slow = mount_slow(m), *doing = "it waits";

	if (i->state && *i->state == 'D')
		doing = "it waits for a disk or a file server";
	else if (i->state && *i->state == 'R')
		doing = "it computes";
	found(l, FINDING_ERROR, "import-hangs", "every program that imports torch hangs",
	      slow ? "move the environment to a local Linux file system, such as the home "
		     "directory; "
		     "or install a CPU build of torch" :
		     "run it again with py-spy or gdb; allow more time with --timeout SECONDS if "
		     "the "
		     "disk is slow",
	      "`import torch` did not end within %.0f s; the library mapped last is %s%s%s; %s%s%s",
	      l->o->import_s, last ? last : "not known", m ? ", on " : "",
	      slow ? slow :
	      m    ? arena_printf(l->a, "%s at %s", m->type, m->point) :
		     "",
	      doing, i->waits ? " in " : "", i->waits ? i->waits : "");
}

/* The last line of what Python printed: "ImportError: ..." */
static const char *
last_line(struct look *l, const char *text)
{
	const struct names lines = names_split(l->a, text, '\n');

	for (size_t i = lines.n; i-- > 0;)
		if (*lines.at[i])
			return lines.at[i];
	return "nothing was printed";
}

void
check_import(struct look *l)
{
	static const char program[] =
		"import os; print('pid', os.getpid(), flush=True); import torch; "
		"print('torch', torch.__version__, 'CUDA', torch.version.cuda, "
		"'available', torch.cuda.is_available(), flush=True)";
	struct import i = { .l = l };
	struct proc_spec spec = { .timeout_s = l->o->import_s,
				  .line = on_line,
				  .tick = on_tick,
				  .ctx = &i,
				  .keep = 64 * 1024 };
	struct proc_result r;

	if (!l->o->venv)
		return;
	spec.argv = (const char *const[]){ fs_join(l->a, l->o->venv, "bin/python"), "-c", program,
					   NULL };
	if (proc_run(l->a, &spec, &r)) {
		fine(l, "import torch takes %.1f s: %s", r.seconds, i.result ? i.result : "");
		if (i.result && strstr(i.result, "CUDA None") && l->gpus.list.n)
			found(l, FINDING_WARNING, "torch-cpu-build", "torch does not use the GPU",
			      "install a CUDA build: stackbuild choose torch", "%s in %s", i.result,
			      l->o->venv);
		else if (i.result && strstr(i.result, "available False") && l->gpus.list.n)
			found(l, FINDING_ERROR, "torch-without-gpu", "torch does not use the GPU",
			      "look at the findings on the driver; compare torch's CUDA with it",
			      "%s in %s, although there is a GPU", i.result, l->o->venv);
	} else if (r.timed_out) {
		hangs(&i);
	} else if (!r.interrupted) {
		found(l, FINDING_ERROR, "import-fails", "every program that imports torch fails",
		      "send the whole output to `stackbuild diagnose`", "`import torch` in %s: %s",
		      l->o->venv, r.started ? last_line(l, buf_text(&r.err)) : strerror(r.error));
	}
}

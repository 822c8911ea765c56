#include "internal.h"

/*
 * Runs `import torch` in a child with LD_DEBUG=files: the loader prints each library when it maps
 * it and when it calls its initialisers. /proc/PID shows where a child hangs, and why. Source:
 * ld.so(8), proc(5).
 */
struct import {
	struct look *l;
	const char *pid;  /* NULL until the child has printed it */
	const char *last; /* last library in the output: a path or a file name */
	const char *path; /* path of the mapped library, or NULL */
	const char *state, *waits, *result, *said;
};

/*
 *     Reads lines such as 4711: file=libcublasLt.so.12 [0];  needed by /.../libtorch_cuda.so [0]
 *     4711:	calling init: /.../libcublasLt.so.12
 */
static bool
of_loader(struct import *i, const char *text)
{
	const char *p = text + strspn(text, " "), *at;

	if (!is_digit(*p) || p[strspn(p, "0123456789")] != ':')
		return false;
	if ((at = strstr(p, "\tfile=")))
		at += 6;
	else if ((at = strstr(p, "calling init: ")))
		at += 14;
	else
		return true;
	i->last = arena_copy(i->l->a, at, strcspn(at, " "));
	return true;
}

static void
on_line(void *ctx, enum proc_stream from, const char *line, size_t n)
{
	struct import *i = ctx;
	const char *text = arena_copy(i->l->a, line, n);

	if (from == PROC_OUT && !i->pid && starts_with(text, "pid "))
		i->pid = text + 4;
	else if (from == PROC_OUT && starts_with(text, "torch "))
		i->result = text;
	else if (from == PROC_ERR && *text && !of_loader(i, text))
		i->said = text;
}

/* Returns the first line of a file of the child, "" if there is none. */
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
	const char *status, *name = i->last ? fs_name(i->last) : "";
	struct names lines;

	/* Reads only twice, in the last second, because a map may have 1 MB. */
	if (!i->pid || now_s < i->l->o->import_s - 1 || (int)(now_s * 10) % 5)
		return;
	lines = names_split(a, of_child(i, "maps"), '\n');
	i->path = i->last && *i->last == '/' ? i->last : NULL;
	for (size_t k = 0; *name && !i->path && k < lines.n; k++)
		if (strchr(lines.at[k], '/') && !strcmp(fs_name(lines.at[k]), name))
			i->path = strchr(lines.at[k], '/');
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
	const char *last = i->path ? i->path : i->last;
	const struct mounted *m = look_mount(l, last && *last == '/' ? last : l->o->venv);
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

void
check_import(struct look *l)
{
	static const char program[] =
		"import os; print('pid', os.getpid(), flush=True); import torch; "
		"print('torch', torch.__version__, 'CUDA', torch.version.cuda, "
		"'available', torch.cuda.is_available(), flush=True)";
	static const char *const env[] = { "LD_DEBUG=files", NULL };
	struct import i = { .l = l };
	struct proc_spec spec = {
		.timeout_s = l->o->import_s, .env = env, .line = on_line, .tick = on_tick, .ctx = &i
	};
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
			      "read the findings about the driver; compare its CUDA with that of "
			      "torch",
			      "%s in %s, although there is a GPU", i.result, l->o->venv);
	} else if (r.timed_out) {
		hangs(&i);
	} else if (!r.interrupted) {
		found(l, FINDING_ERROR, "import-fails", "every program that imports torch fails",
		      "send the whole output to `stackbuild diagnose`", "`import torch` in %s: %s",
		      l->o->venv,
		      r.error ? strerror(r.error) :
		      i.said  ? i.said :
				"nothing was printed");
	}
}

#include "internal.h"

/*
 * Runs `import torch`, and those of the recipe's modules, each in a child with LD_DEBUG=files: the loader prints each library when it maps
 * it and when it calls its initialisers. /proc/PID shows where a child hangs, and why. Source:
 * ld.so(8), proc(5).
 */
struct import {
	struct look *l;
	const char *module;
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
	found(l, FINDING_ERROR, "import-hangs",
	      arena_printf(l->a, "every program that imports %s hangs", i->module),
	      slow ? "move the environment to a local Linux file system, such as the home "
		     "directory; "
		     "or install a CPU build of torch" :
		     "run it again with py-spy or gdb; allow more time with --timeout SECONDS if "
		     "the "
		     "disk is slow",
	      "`import %s` did not end within %.0f s; the library mapped last is %s%s%s; %s%s%s",
	      i->module, l->o->import_s, last ? last : "not known", m ? ", on " : "",
	      slow ? slow :
	      m    ? arena_printf(l->a, "%s at %s", m->type, m->point) :
		     "",
	      doing, i->waits ? " in " : "", i->waits ? i->waits : "");
}

/* Runs a program of the environment's Python, with these arguments. */
static bool
run_python(struct import *i, const char *program, struct names words, struct proc_result *r)
{
	static const char *const env[] = { "LD_DEBUG=files", NULL };
	struct look *l = i->l;
	struct names argv = { 0 };
	struct proc_spec spec = {
		.timeout_s = l->o->import_s, .env = env, .line = on_line, .tick = on_tick, .ctx = i
	};

	list_push(l->a, &argv, fs_join(l->a, l->o->venv, "bin/python"));
	list_push(l->a, &argv, "-c");
	list_push(l->a, &argv, program);
	for (size_t k = 0; k < words.n; k++)
		list_push(l->a, &argv, words.at[k]);
	list_push(l->a, &argv, NULL);
	spec.argv = argv.at;
	return proc_run(l->a, &spec, r);
}

static void
judge_torch(struct look *l, const char *result)
{
	if (result && strstr(result, "CUDA None") && l->gpus.list.n)
		found(l, FINDING_WARNING, "torch-cpu-build", "torch does not use the GPU",
		      "install a CUDA build: stackbuild choose torch", "%s in %s", result,
		      l->o->venv);
	else if (result && strstr(result, "available False") && l->gpus.list.n)
		found(l, FINDING_ERROR, "torch-without-gpu", "torch does not use the GPU",
		      "read the findings about the driver; compare its CUDA with that of "
		      "torch",
		      "%s in %s, although there is a GPU", result, l->o->venv);
}

/* Imports a module; false: it hangs, or the user stops. */
static bool
import_one(struct look *l, const char *module)
{
	static const char of_torch[] =
		"import os; print('pid', os.getpid(), flush=True); import torch; "
		"print('torch', torch.__version__, 'CUDA', torch.version.cuda, "
		"'available', torch.cuda.is_available(), flush=True)";
	static const char of_other[] =
		"import os, sys, importlib; print('pid', os.getpid(), flush=True); "
		"importlib.import_module(sys.argv[1])";
	struct import i = { .l = l, .module = module };
	bool torch = !strcmp(module, "torch");
	struct names words = { 0 };
	struct proc_result r;

	if (!torch)
		list_push(l->a, &words, module);
	if (run_python(&i, torch ? of_torch : of_other, words, &r)) {
		fine(l, "import %s takes %.1f s%s%s (limit %.0f s)", module, r.seconds,
		     i.result ? ": " : "", i.result ? i.result : "", l->o->import_s);
		judge_torch(l, i.result);
	} else if (r.timed_out) {
		hangs(&i);
	} else if (!r.interrupted) {
		found(l, FINDING_ERROR, "import-fails",
		      arena_printf(l->a, "every program that imports %s fails", module),
		      "send the whole output to `stackbuild diagnose`", "`import %s` in %s: %s",
		      module, l->o->venv,
		      r.error ? strerror(r.error) :
		      i.said  ? i.said :
				"nothing was printed");
	}
	return !r.interrupted;
}

/* Returns the modules of the recipe's packages in the environment, by their metadata. */
static struct names
package_modules(struct look *l, struct names requirements)
{
	static const char program[] =
		"import re, sys\n"
		"from importlib import metadata\n"
		"for text in sys.argv[1:]:\n"
		"    name = re.match('[A-Za-z0-9._-]*', text).group()\n"
		"    try:\n"
		"        files = metadata.distribution(name).files or []\n"
		"    except metadata.PackageNotFoundError:\n"
		"        continue\n"
		"    tops = {f.parts[0].split('.')[0] for f in files if len(f.parts) == 2 and "
		"f.parts[1] == '__init__.py' or len(f.parts) == 1 and f.suffix in ('.py', '.so')}\n"
		"    own = re.sub('[-_.]+', '_', name).lower()\n"
		"    tops = sorted(t for t in tops if t.isidentifier() and t[0] != '_' and t not "
		"in ('tests', 'test', 'docs'))\n"
		"    for t in [t for t in tops if t.lower() == own] or tops[:3]:\n"
		"        print(t)\n";
	struct proc_result r;
	struct names argv = { 0 }, lines;

	list_push(l->a, &argv, fs_join(l->a, l->o->venv, "bin/python"));
	list_push(l->a, &argv, "-c");
	list_push(l->a, &argv, program);
	for (size_t k = 0; k < requirements.n; k++)
		list_push(l->a, &argv, requirements.at[k]);
	list_push(l->a, &argv, NULL);
	proc_run(l->a,
		 &(struct proc_spec){
			 .argv = argv.at, .timeout_s = l->o->import_s, .keep = 64 * 1024 },
		 &r);
	lines = names_split(l->a, r.started ? buf_text(&r.out) : "", '\n');
	return lines;
}

void
check_import(struct look *l)
{
	struct names modules = { 0 }, requirements = { 0 }, found_modules;

	if (!l->o->venv)
		return;
	list_push(l->a, &modules, "torch");
	for (size_t i = 0; i < l->o->stacks.n; i++) {
		const struct stack *s = l->o->stacks.at[i];

		list_each (x, &s->extensions)
			for (size_t k = 0; k < x->imports.n; k++)
				names_once(l->a, &modules, x->imports.at[k]);
		list_each (m, &s->recipe->verify.modules)
			names_once(l->a, &modules, m->s);
		list_each (p, &s->recipe->packages)
			names_once(l->a, &requirements, p->text.s);
	}
	found_modules = requirements.n ? package_modules(l, requirements) : (struct names){ 0 };
	for (size_t k = 0; k < found_modules.n; k++)
		if (*found_modules.at[k])
			names_once(l->a, &modules, found_modules.at[k]);
	for (size_t k = 0; k < modules.n; k++)
		if (!import_one(l, modules.at[k]))
			return;
}

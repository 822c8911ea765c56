#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/fs.h"
#include "base/str.h"
#include "watch.h"

/* Returns the Python in a script's first line: "#!/venv/bin/python", "#!/usr/bin/env python3". */
static const char *
script_python(struct arena *a, const char *file)
{
	const struct source *s = file ? fs_read_quiet(a, file, FS_READ_MAX) : NULL;
	struct names words;

	if (!s || !starts_with(s->text, "#!"))
		return NULL;
	words = names_split(a, arena_copy(a, s->text + 2, strcspn(s->text + 2, "\n")), ' ');
	for (size_t i = 0; i < words.n; i++)
		if (starts_with(fs_name(words.at[i]), "python"))
			return words.at[i];
	return NULL;
}

/* Returns the Python of a command: its first word, the Python of its script, or the first one in
 * PATH. */
static const char *
python_of(struct arena *a, const char *const *argv)
{
	const char *of_script;

	if (starts_with(fs_name(argv[0]), "python"))
		return argv[0];
	of_script = script_python(a, proc_which(a, argv[0]));
	return of_script ? of_script : "python3";
}

bool
python_block(struct arena *a, const char *const *argv, struct buf *out)
{
	enum { LIMIT_S = 120, KEEP = 64 * 1024 };
	const struct source *s = embedded_template("run/debug.py");
	const char *const words[] = { python_of(a, argv), "-", NULL };
	struct proc_spec spec = { .argv = words,
				  .input = s->text,
				  .input_size = s->size,
				  .timeout_s = LIMIT_S,
				  .keep = KEEP };
	struct proc_result r;
	bool good = proc_run(a, &spec, &r);

	buf_puts(out, buf_text(&r.out));
	if (!r.started)
		buf_printf(out, "  Python:                 cannot start %s: %s\n", words[0],
			   strerror(r.error));
	else if (r.timed_out)
		buf_printf(out,
			   "  initialisation test:    no end within %d s: import torch or the GPU "
			   "hangs\n",
			   LIMIT_S);
	else if (r.status > 128)
		buf_printf(out, "  initialisation test:    FAILED: ended by signal %d\n",
			   r.status - 128);
	else if (!good && !r.out.n)
		buf_puts(out, buf_text(&r.err));
	return good;
}

const char *
trace_hook(struct arena *a, struct diags *ds, const char *many, const char *out, struct names *env)
{
	const struct source *s = embedded_template("run/sitecustomize.py");
	const char *dir = proc_temp(a, "/tmp", "stackbuild-trace");
	const char *path = getenv("PYTHONPATH");

	if (!dir)
		diag_at(ds, E_WRITE, NOWHERE, "cannot make a directory in /tmp: %s",
			strerror(errno));
	if (!dir ||
	    !fs_write(ds, fs_join(a, dir, "sitecustomize.py"), s->text, s->size, 0644, false, NULL))
		return NULL;
	list_printf(a, env, "PYTHONPATH=%s%s%s", dir, path && *path ? ":" : "", path ? path : "");
	list_printf(a, env, "STACKBUILD_TRACE=%s", many);
	list_printf(a, env, "STACKBUILD_TRACE_OUT=%s", fs_join(a, fs_real(a, "."), out));
	return dir;
}

bool
trace_said(struct arena *a, struct diags *ds, const char *dir, struct buf *out)
{
	struct names files = { 0 };
	bool traced = false;

	if (!fs_list(a, ds, dir, ".said", &files))
		return false;
	for (size_t i = 0; i < files.n; i++) {
		const struct source *s =
			fs_read_quiet(a, fs_join(a, dir, files.at[i]), FS_READ_MAX);
		struct names lines = names_split(a, s ? s->text : "", '\n');

		for (size_t k = 0; k < lines.n; k++)
			inert_lines(a, arena_printf(a, "%s%s", k ? "    " : "  ", lines.at[k]),
				    out);
		traced |= lines.n > 1;
	}
	fs_remove(dir);
	return traced;
}

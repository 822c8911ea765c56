/* Runs uv as a child process: finds it and reports its failures. */
#include "uv.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"
#include "internal.h"

enum { VERSION_S = 60 };

static bool
no_uv(struct diags *ds, const char *why)
{
	struct diag *d = diag_at(ds, E_UV, NOWHERE, "%s", why);

	diag_why(d, "uv selects the versions of all packages that the recipe does not pin");
	diag_help(d, "install it: python3 -m pip install 'uv>=%s'", UV_OLDEST);
	diag_help(d, "pass its path: UV=/path/to/uv stackbuild lock RECIPE");
	return false;
}

/* Returns the uv in the directory of this program, or NULL. */
static const char *
uv_beside(struct arena *a)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self));
	const char *path = n > 0 && n < (ssize_t)sizeof(self) ?
				   fs_join(a, fs_dir(a, arena_copy(a, self, (size_t)n)), "uv") :
				   NULL;

	return path ? proc_which(a, path) : NULL;
}

bool
uv_find(struct arena *a, struct diags *ds, struct uv *out)
{
	const char *named = getenv("UV");
	struct proc_result r;
	const char *text;

	if (!named || !*named)
		named = "uv";
	out->program = strcmp(named, "uv") != 0 ? NULL : uv_beside(a);
	if (!out->program)
		out->program = proc_which(a, named);
	if (!out->program)
		return no_uv(ds, strchr(named, '/') ?
					 arena_printf(a, "`%s`, which $UV names, is not a program",
						      named) :
					 "stackbuild needs uv to lock a stack, and PATH has none");
	proc_run(a,
		 &(struct proc_spec){
			 .argv = (const char *const[]){ out->program, "--version", NULL },
			 .timeout_s = VERSION_S,
			 .keep = 4096 },
		 &r);
	text = buf_text(&r.out);
	if (r.status || !r.started || !starts_with(text, "uv ") ||
	    !version_parse(a, arena_copy(a, text + 3, strcspn(text + 3, " \n"))))
		return no_uv(ds, arena_printf(a, "`%s --version` does not print a version of uv",
					      out->program));
	out->version = arena_copy(a, text + 3, strcspn(text + 3, " \n"));
	if (version_cmp(version_parse(a, out->version), version_parse(a, UV_OLDEST)) < 0)
		return no_uv(ds,
			     arena_printf(a, "`%s` is uv %s, and stackbuild needs uv %s or later",
					  out->program, out->version, UV_OLDEST));
	return true;
}

/* --- failures --- */

/* Returns the last lines of a text, for a diagnostic. */
static const char *
tail(struct arena *a, const char *text)
{
	size_t n = strlen(text), from;

	while (n && strchr(" \n", text[n - 1]))
		n--;
	from = n > 600 ? n - 600 : 0;
	return arena_copy(a, text + from, n - from);
}

enum uv_end
uv_broken(struct uv_run *u, const char *what, const char *text)
{
	struct diag *d =
		diag_at(u->ds, E_UV_FAILED, NOWHERE, "uv %s %s", u->how->uv->version, what);
	const struct names lines = names_split(u->a, tail(u->a, mask_text(u->mask, text)), '\n');

	for (size_t i = 0; i < lines.n; i++)
		if (lines.at[i][strspn(lines.at[i], " ")])
			diag_why(d, "%s", lines.at[i] + strspn(lines.at[i], " "));
	return UV_FAILED;
}

/*
 * Returns the first and the last line of uv's message about an index, without "error:" and
 * "cause:".
 */
static enum uv_end
index_failure(struct uv_run *u, const char *text, const char *hint)
{
	const char *url = strstr(text, "http"), *cause = text;
	struct diag *d;

	for (const char *p = text; (p = strstr(p, "cause: ")); p += 7)
		cause = p + 7;
	if (hint)
		url = strstr(hint, "http");
	url = url ? arena_copy(u->a, url, strcspn(url, " )\n`")) : "the package index";
	d = diag_at(u->ds, E_LOCK_INDEX, NOWHERE, "uv cannot read %s", url);
	if (hint)
		diag_why(d, "%.*s", (int)strcspn(hint, "\n"), hint);
	else
		diag_why(d, "%.*s", (int)strcspn(cause, "\n"), cause);
	if (strstr(url, "download.pytorch.org"))
		diag_help(d, "use the build of torch on the default index (torch.index: pypi), or "
			     "a mirror (torch.index: URL)");
	diag_help(d, "check the address, the network and the credentials (.netrc, or the secret of "
		     "`index`)");
	return UV_FAILED;
}

/* Joins text that uv wrapped to one line, without the prefix. */
static const char *
one_line(struct arena *a, const char *text, size_t n)
{
	struct buf b = BUF(a);

	for (size_t i = 0; i < n; i++)
		if (!strchr(" \n", text[i]))
			buf_putc(&b, text[i]);
		else if (b.n && b.p[b.n - 1] != ' ')
			buf_putc(&b, ' ');
	return buf_text(&b);
}

/* Turns the output of a failed uv into a diagnostic or the explanation of a conflict. */
static enum uv_end
failure(struct uv_run *u, struct proc_result *r, struct uv_answer *answer)
{
	const char *text = arena_strdup(u->a, mask_text(u->mask, buf_text(&r->err)));
	const char *because = strstr(text, "Because "), *hint = strstr(text, "hint: "), *end;

	if (r->interrupted)
		return uv_broken(u, "was interrupted", "");
	if (r->timed_out)
		return uv_broken(
			u, arena_printf(u->a, "did not finish within %.0f s", u->how->timeout_s),
			"change the limit with --timeout SECONDS");
	if (!r->started || r->status >= 128)
		return uv_broken(
			u,
			!r->started ? "cannot be started" :
				      arena_printf(u->a, "was ended by signal %d", r->status - 128),
			text);
	hint = hint ? hint + strlen("hint: ") : NULL;
	if (hint && (strstr(hint, "could not be queried") || strstr(hint, "returned a ")))
		return index_failure(u, text, hint);
	if (r->status == 1 && because) {
		end = strstr(because, "\n\n");
		answer->explanation =
			one_line(u->a, because, end ? (size_t)(end - because) : strlen(because));
		answer->hint = hint ? one_line(u->a, hint, strlen(hint)) : NULL;
		return UV_CONFLICT;
	}
	if (strstr(text, "Failed to fetch") || strstr(text, "`Content-Type`"))
		return index_failure(u, text, NULL);
	return uv_broken(u, arena_printf(u->a, "failed with status %d", r->status), text);
}

/* --- a resolution --- */

static bool
prepare(struct uv_run *u)
{
	const char *netrc = names_join(u->a, &u->how->secrets, "\n");
	const struct source *old = u->how->preferences;

	if (!uv_write_project(u))
		return false;
	if (u->how->secrets.n && !fs_write(u->ds, fs_join(u->a, u->dir, UV_NETRC), netrc,
					   strlen(netrc), 0600, false, NULL))
		return false;
	return !old || fs_write(u->ds, fs_join(u->a, u->dir, UV_LOCK), old->text, old->size, 0600,
				false, NULL);
}

static enum uv_end
resolve_in(struct uv_run *u, struct uv_answer *answer)
{
	struct proc_result r;

	if (!prepare(u))
		return UV_FAILED;
	if (!uv_compile(u, false, false, &r))
		return failure(u, &r, answer);
	if (!uv_read_lock(u, answer))
		return UV_FAILED;
	/* Tries offline first: everything is in uv's cache, unless that is disabled. */
	if (!uv_compile(u, true, true, &r) && !uv_compile(u, true, false, &r))
		return failure(u, &r, answer);
	return uv_read_reasons(u, answer) ? UV_DONE : UV_FAILED;
}

enum uv_end
uv_resolve(struct arena *a, struct diags *ds, const struct lock_request *q,
	   const struct uv_how *how, struct uv_answer *answer)
{
	static const char *const files[] = { UV_PROJECT, UV_LOCK, UV_PINS, UV_REASONS, UV_NETRC };
	const char *dir = proc_temp(a, NULL, "stackbuild-lock");
	struct uv_run u = { .a = a, .ds = ds, .q = q, .how = how, .dir = dir };
	enum uv_end end;

	*answer = (struct uv_answer){ 0 };
	u.mask = mask_new(a, &how->secrets);
	if (!dir)
		return uv_broken(&u, "needs a temporary directory", strerror(errno));
	end = resolve_in(&u, answer);
	for (size_t i = 0; i < COUNT(files); i++)
		unlink(fs_join(a, dir, files[i]));
	rmdir(dir);
	return end;
}

#include "verify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"

#include "probe.h"

/* Runs the probes, and ends the processes that do not exit by themselves. */

enum { DEFAULT_S = 1800, SAID_BYTES = 8192, SAID_MAX = 400 };

/* --- a directory that is a virtual environment --- */

static bool
no_venv(struct diags *ds, const char *why, const char *help)
{
	diag_help(diag_at(ds, E_VERIFY_START, NOWHERE, "%s", why), "%s", help);
	return false;
}

bool
verify_venv(struct arena *a, struct diags *ds, const char *dir)
{
	const char *python = fs_join(a, dir, "bin/python"), *why;
	struct stat st;

	if (!fs_is_dir(dir))
		return no_venv(ds, arena_printf(a, "%s: the directory does not exist", dir),
			       "name the directory that contains bin/python, or create it with "
			       "`stackbuild build --engine venv`");
	if (!fs_exists(fs_join(a, dir, "pyvenv.cfg")) && !fs_is_dir(fs_join(a, dir, "conda-meta")))
		return no_venv(ds,
			       arena_printf(a,
					    "%s is not a virtual environment: it has no pyvenv.cfg",
					    dir),
			       "name the directory that contains pyvenv.cfg and bin/python");
	if (access(python, X_OK) == 0)
		return true;
	why = arena_printf(a, "%s cannot be run: %s", python, strerror(errno));
	if (lstat(python, &st) < 0 || !S_ISLNK(st.st_mode))
		return no_venv(ds, why, "create the environment again");
	why = arena_printf(a, "%s is a broken link: the Python of the environment no longer exists",
			   python);
	return no_venv(ds, why, "install that Python again, or create the environment again");
}

/* --- the command --- */

static const char *
token_new(struct arena *a)
{
	unsigned char bytes[16];
	struct buf b = BUF(a);

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		BUG("the kernel provides no random bytes");
	for (size_t i = 0; i < sizeof(bytes); i++)
		buf_printf(&b, "%02x", bytes[i]);
	return buf_text(&b);
}

/*
 * Starts Python as in an activated environment, with its programs first in PATH, and with its
 * launcher, if any.
 */
static struct engine_command
venv_command(struct arena *a, const char *dir)
{
	const char *path = getenv("PATH"), *launcher;
	struct engine_command c = { 0 };

	dir = fs_real(a, dir); /* the probe runs in another directory */
	launcher = fs_join(a, dir, "run");
	if (access(launcher, X_OK) == 0 && fs_is_dir(fs_join(a, dir, "share/stackbuild")))
		list_push(a, &c.argv, launcher);
	list_push(a, &c.argv, fs_join(a, dir, "bin/python"));
	list_printf(a, &c.env, "VIRTUAL_ENV=%s", dir);
	list_printf(a, &c.env, "PATH=%s/bin%s%s", dir, path && *path ? ":" : "",
		    path && *path ? path : "");
	list_push(a, &c.env, "PYTHONHOME");
	list_push(a, &c.env, "PYTHONDONTWRITEBYTECODE=1");
	list_push(a, &c.argv, "-c");
	list_push(a, &c.argv, probe_boot);
	return c;
}

static struct engine_run
image_run(struct arena *a, const struct verify_options *o, const char *token)
{
	struct engine_run r = { .image = o->image,
				.gpus = o->state->gpus,
				.input = true,
				.name = arena_printf(a, "stackbuild-verify-%.12s", token) };

	list_push(a, &r.argv, "python");
	list_push(a, &r.argv, "-c");
	list_push(a, &r.argv, probe_boot);
	list_push(a, &r.env, "PYTHONDONTWRITEBYTECODE=1");
	return r;
}

/* --- the end of the probe --- */

static void
on_line(void *ctx, enum proc_stream from, const char *line, size_t n)
{
	if (from == PROC_OUT)
		probe_line(ctx, line, n);
}

static void
on_tick(void *ctx, double now_s)
{
	((struct probe_session *)ctx)->now_s = now_s;
}

/* Returns a line of the probe's output for the message: the first one with an error, or the last
 * one. */
static const char *
error_line(struct arena *a, const struct proc_result *r)
{
	const struct buf *from = r->err.n ? &r->err : &r->out;
	const char *line = from->p ? from->p : "", *best = "";
	size_t best_n = 0;
	struct buf b = BUF(a);

	for (size_t n; *line; line += n + (line[n] == '\n')) {
		n = strcspn(line, "\n");
		if (strspn(line, " \t\r") >= n)
			continue;
		best = line;
		best_n = n < SAID_MAX ? n : SAID_MAX;
		if (starts_with(line, "docker: ") || starts_with(line, "Error: "))
			break;
	}
	diag_inert(arena_copy(a, best, best_n), &b);
	return mask_credentials(a, buf_text(&b));
}

/* Returns "it was ended by signal 9 (a limit of memory?)". */
static const char *
how_it_ended(struct arena *a, const struct proc_result *r, double limit_s)
{
	const char *words = error_line(a, r);

	if (r->timed_out)
		return arena_printf(a, "not finished within %g s, the limit of all checks together",
				    limit_s);
	if (r->status == 137)
		return "SIGKILL ended it: most often, because of a memory limit";
	if (r->status > 128)
		return arena_printf(a, "signal %d ended it", r->status - 128);
	return arena_printf(a, "it exited with status %d%s%s", r->status, *words ? ": " : "",
			    words);
}

/* Returns whether the engine has the image, or true if that is unknown. */
static bool
has_image(const struct probe_session *t, const struct verify_options *o)
{
	return !o->image || !o->engine->inspect || t->proof->image_digest;
}

/* Reports an image that the engine does not have and could not pull, for `words`; returns false. */
static bool
no_image(struct probe_session *t, const struct verify_options *o, const char *words)
{
	struct diag *d = diag_at(t->ds, E_VERIFY_START, NOWHERE, "no image `%s` in %s", o->image,
				 o->engine->name);

	if (*words && !strstr(words, "short-name"))
		diag_why(d, "%s", words);
	if (t->plan)
		diag_help(d, "run `stackbuild build %s`", o->recipe_path);
	else
		diag_help(d,
			  "name an image with its registry, such as ghcr.io/me/stack:1; or build "
			  "one with `stackbuild build RECIPE`");
	return false;
}

static bool
not_started(struct probe_session *t, const struct verify_options *o, const struct proc_result *r,
	    double limit_s)
{
	const char *what = o->venv ? o->venv : o->image, *words = error_line(t->a, r);
	struct diag *d;

	if (!has_image(t, o))
		return no_image(t, o, words);
	if (!r->started)
		d = diag_at(t->ds, E_VERIFY_START, NOWHERE, "%s: cannot be started: %s", what,
			    strerror(r->error));
	else
		d = diag_at(t->ds, E_VERIFY_START, NOWHERE, "%s: its Python does not answer: %s",
			    what, how_it_ended(t->a, r, limit_s));
	if (strstr(words, "importlib") || strstr(words, "memfd_create"))
		diag_help(d, "the probes need Python 3.8 or later in it");
	else if (o->image)
		diag_help(d, "build it first with `stackbuild build`, or name an image that %s has",
			  o->engine->name);
	else
		diag_help(d, "create the environment again");
	return false;
}

/* Completes the proof; false: the probe did not start, was interrupted, or found no plan. */
static bool
conclude(struct probe_session *t, const struct verify_options *o, const struct proc_result *r,
	 double limit_s)
{
	const char *why;

	if (r->interrupted) {
		diag_at(t->ds, E_VERIFY_STOPPED, NOWHERE, "interrupted%s%s",
			t->current ? " in " : "", t->current ? t->current : "");
		return false;
	}
	if (!t->answered)
		return not_started(t, o, r, limit_s);
	if (t->plan_error) {
		diag_help(diag_at(t->ds, E_NO_PLAN, NOWHERE, "%s has no plan: %s", o->image,
				  t->plan_error),
			  "name its recipe: stackbuild verify RECIPE");
		return false;
	}
	why = t->current ?
		      arena_printf(t->a, "the probe ended before this check, in %s", t->current) :
	      t->ended ? "the probe gave no result for this check" :
			 "the probe ended before this check";
	/* The check that was running at the end has failed. */
	if (!t->ended)
		probe_fail(t, true, how_it_ended(t->a, r, limit_s),
			   r->timed_out ? "allow more time: --timeout S" : NULL);
	if (t->failed)
		t->proof->result = PROOF_FAILED;
	proof_complete(t->a, t->proof, &t->expected, why);
	t->proof->seconds = r->seconds;
	return true;
}

static struct proof *
proof_of(struct arena *a, const struct plan *p, const struct verify_options *o)
{
	struct proof *proof = arena_new_of(a, struct proof);
	struct image_about about = { 0 };

	proof->venv = o->venv;
	proof->image = o->image;
	proof->engine = o->engine ? o->engine->name : "venv";
	if (o->image && o->engine->inspect &&
	    engine_image(a, o->engine, &o->state->at, o->image, &about))
		proof->image_digest = about.digest ? about.digest : about.id;
	if (p) {
		unsigned s = recipe_number(p->stack->recipe->verify.import_timeout_s);

		proof->stack = p->name;
		proof->recipe = o->recipe_path;
		proof->recipe_digest = p->stack->recipe->digest;
		proof->lock_digest = lock_digest(a, p->lock);
		proof->import_timeout_s = s ? s : 60;
	}
	return proof;
}

const struct proof *
verify_stack(struct arena *a, struct diags *ds, const struct plan *p,
	     const struct verify_options *o)
{
	double limit_s = o->timeout_s > 0 ? o->timeout_s : DEFAULT_S;
	const char *token = token_new(a);
	struct probe_session t = {
		.a = a, .ds = ds, .plan = p, .token = token, .expected = proof_expected(a, p)
	};
	struct proc_spec spec = { .timeout_s = limit_s,
				  .line = on_line,
				  .tick = on_tick,
				  .ctx = &t,
				  .keep = SAID_BYTES };
	struct engine_run run = { 0 };
	struct engine_command c;
	struct proc_result r;
	bool good;

	t.proof = proof_of(a, p, o);
	t.proof->timeout_s = limit_s;
	if (p && !has_image(&t, o)) {
		no_image(&t, o, "");
		return NULL;
	}
	if (!(spec.input = probe_input(a, ds, p, o, token, &spec.input_size)))
		return NULL;
	if (o->venv) {
		c = venv_command(a, o->venv);
	} else {
		run = image_run(a, o, token);
		if (o->engine->prepare)
			engine_quietly(a, &o->state->at, o->engine->prepare, run.name, run.image);
		c = o->engine->run(a, &o->state->at, &run);
	}
	if (o->venv)
		c.cwd = "/";
	engine_spec(a, &c, &spec);
	proc_run(a, &spec, &r);
	/* Only for an environment: a container ends with all of its processes. */
	if (o->venv)
		proc_end_descendants(a);
	good = conclude(&t, o, &r, limit_s);
	if (o->image && o->engine->kill && (o->engine->prepare || !t.ended))
		engine_quietly(a, &o->state->at, o->engine->kill, run.name, NULL);
	return good ? t.proof : NULL;
}

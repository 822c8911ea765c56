/* diagnose: from a log to the cause of a failure. */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fix.h"
#include "base/fs.h"
#include "diagnose/diagnose.h"

/* Keeps the last TAIL_MAX bytes of a log, from the beginning of a line. */
static void
keep_tail(struct buf *tail, const char *p, size_t n)
{
	enum { TAIL_MAX = 1024 * 1024 };

	buf_add(tail, p, n);
	if (tail->n > 2 * TAIL_MAX) {
		size_t from = tail->n - TAIL_MAX;
		const char *line = memchr(tail->p + from, '\n', TAIL_MAX);

		from = line ? (size_t)(line + 1 - tail->p) : from;
		memmove(tail->p, tail->p + from, tail->n - from + 1);
		tail->n -= from;
	}
}

/* Reads a file or standard input to its end; false after SB0700. */
static bool
read_log(struct run *r, struct diagnosis *d, const char *path, struct buf *tail)
{
	int fd = !strcmp(path, "-") ? 0 : open(path, O_RDONLY | O_CLOEXEC);
	size_t room;
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0) {
		char *to = diagnose_room(d, &room);

		n = read(fd, to, room);
		if (n > 0 && tail)
			keep_tail(tail, to, (size_t)n);
		if (n > 0)
			diagnose_added(d, (size_t)n);
		else if (n < 0 && errno == EINTR)
			n = 1;
	}
	if (n < 0)
		diag_at(&r->ds, E_LOG, NOWHERE, "cannot read the log `%s`: %s", path,
			strerror(errno));
	if (fd > 0)
		close(fd);
	return n == 0;
}

const struct causes *
diagnose_log(struct run *r, const char *log, struct buf *tail)
{
	struct diagnosis *d = diagnose_new(r->a, r->facts);
	bool read = read_log(r, d, log, tail);
	const struct causes *c = diagnose_end(d);

	return read ? c : NULL;
}

void
diagnose_build(struct run *r, const char *log)
{
	const struct causes *c;
	struct diag *failed = NULL;

	for (struct diag *i = r->ds.head; i; i = i->next)
		if (i->code == E_STEP_FAILED || i->code == E_ENGINE_FAILED)
			failed = i;
	if (!failed || !fs_exists(log))
		return;
	c = diagnose_log(r, log, NULL);
	if (!c || !c->n) {
		diag_help(failed, "read the whole output in %s", log);
		return;
	}
	diag_why(failed, "%s:%llu shows the cause: %s", log, c->at->lines.at[0].line, c->at->title);
	diag_help(failed, "%s", c->at->fix);
	diag_source(failed, c->at->of->source);
}

/* Handles --recipe FILE: shows the change to the recipe; --fix makes it, --dry-run prints it. */
static void
patch_recipe(struct run *r, const struct causes *c)
{
	const struct options *o = r->o;
	const struct source *src = fs_read(r->a, &r->ds, o->recipe, FS_READ_MAX, NOWHERE);
	struct diags found = DIAGS(found, r->a);
	struct fix_files files = { 0 };
	struct fixes fixes;
	struct names skip = { 0 };
	bool done = false;

	if (!src)
		return;
	if (!diagnose_patch(r->a, &found, c, src)) {
		if (o->fix && o->format == FORMAT_TEXT)
			buf_printf(&r->out,
				   "%s is unchanged: no change of a recipe is known for this "
				   "failure\n",
				   src->path);
	} else if (o->fix) {
		list_push(r->a, &files, (struct fix_file){ src, src->text, src->size });
		fixes = fix_round(r->a, &found, &skip, &files);
		if (o->dry_run)
			fix_diff(src->path, src->text, src->size, files.at[0].text,
				 files.at[0].size, &r->out);
		else if (fixes.n && fixes.at[0].state == FIX_DONE &&
			 fs_replace(&r->ds, src->path, src->text, src->size, files.at[0].text,
				    files.at[0].size))
			for (const struct edit *e = fixes.at[0].help->edits; e; e = e->next)
				fix_print(e, &r->out);
		done = fixes.n && fixes.at[0].state == FIX_DONE;
	}
	if (!done)
		diags_append(&r->ds, &found);
}

int
verb_diagnose(struct run *r)
{
	const struct options *o = r->o;
	const char *path = o->args.n ? o->args.at[0] : "-";
	const struct causes *c;
	struct json j = json_to(&r->out);

	if (o->fix && (!o->recipe || !strcmp(o->recipe, "-")))
		return usage_error("--fix changes a recipe: name it with --recipe FILE");
	if (!(c = diagnose_log(r, path, NULL)))
		return EXIT_DIAGNOSED;
	if (o->format == FORMAT_JSON)
		diagnose_json(c, &j);
	else
		diagnose_text(r->a, c, !strcmp(path, "-") ? "stdin" : path, o->recipe, &r->out);
	if (o->recipe && c->n)
		patch_recipe(r, c);
	return c->n ? EXIT_DIAGNOSED : EXIT_DONE;
}

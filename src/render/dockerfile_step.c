#include <string.h>

#include "base/fs.h"
#include "base/map.h"
#include "base/str.h"
#include "dockerfile.h"
#include "inputs.h"

/* Operations as instructions: helpers are COPYed, everything else is RUN. */

enum { WIDTH = 100 };

#define AND " \\\n && "

static const struct span nowhere;

static const struct shape part_shape[] = {
	{ "remarks", VALUE_LIST, "why, in lines", 0 },
	{ "workdir", VALUE_TEXT, "the directory that the following instructions run in", 0 },
	{ "copy", VALUE_CODE, "what COPY is given", 0 },
	{ "jobs", VALUE_FLAG, "it compiles: MAX_JOBS may be given as a build argument", 0 },
	{ "run", VALUE_CODE, "mounts, and commands joined by &&", 0 },
	{ "path", VALUE_TEXT, "the environment that now comes first in PATH", 0 },
	{ "environment", VALUE_LIST, "variables of the image", target_pair_shape },
	{ 0 },
};

const struct shape docker_step_shape[] = {
	{ "id", VALUE_TEXT, "\"torch\", \"causal-conv1d\"; what has none is no step of the plan",
	  0 },
	{ "why", VALUE_LIST, "what it is and why it stands here, in lines", 0 },
	{ "parts", VALUE_LIST, "its instructions", part_shape },
	{ 0 },
};

static struct places
places_of(struct docker_writer *w, const struct step *s)
{
	return (struct places){
		.src = s->kind == STEP_EXTENSION ? arena_printf(w->a, "/src/%s", s->id) : NULL,
		.wheels = "/wheels",
		.share = DOCKER_SHARE,
		/* PATH holds the environment from the next step on. */
		.python = s->kind == STEP_PYTHON ? DOCKER_VENV "/bin/python" : "python",
		.venv = DOCKER_VENV,
		.prefix = DOCKER_PREFIX,
		.work = "/tmp/work",
		.app = DOCKER_APP,
		.inputs = DOCKER_INPUTS,
	};
}

static bool
add_quoted(struct docker_writer *w, struct buf *out, enum quoting q, const char *text,
	   struct span at)
{
	const char *why;

	if (quote(out, q, LANG_DOCKERFILE, text, &why))
		return true;
	diag_why(diag_at(w->ds, E_UNQUOTABLE, at, "`%s` cannot be written in a Dockerfile", text),
		 "%s", why);
	return w->good = false;
}

const char *
docker_copy(struct docker_writer *w, const char *flags, const struct names *paths, struct span at)
{
	struct buf plain = BUF(w->a), list = BUF(w->a), none = BUF(w->a);
	const char *why;
	bool is_plain = !starts_with(flags, "--from=" RENDER_APP " ");

	for (size_t i = 0; i < paths->n; i++) {
		is_plain =
			is_plain && quote(&none, QUOTE_PLAIN, LANG_DOCKERFILE, paths->at[i], &why);
		buf_printf(&plain, "%s%s", i ? " " : "", paths->at[i]);
		buf_puts(&list, i ? ", " : "[");
		add_quoted(w, &list, QUOTE_COPY, paths->at[i], at);
	}
	return arena_printf(w->a, "%s%s%s", flags, buf_text(is_plain ? &plain : &list),
			    is_plain ? "" : "]");
}

/* --- RUN --- */

/* One RUN while it is put together. */
struct run {
	struct scope *part;  /* NULL: nothing yet */
	struct names mounts; /* texts of --mount */
	/*
	 * What is locked comes last: buildah 1.28 and podman 4.3 give back the lock of a
	 * RUN's last cache mount only, and wait for ever for any other (buildah#4342).
	 */
	struct names locked;
	struct map seen; /* targets of mounts */
	struct buf text;
	const char *cwd;
	bool work;
};

static void
add_mount(struct docker_writer *w, struct run *r, const struct mount *m)
{
	struct buf b = BUF(w->a);

	if (map_put(&r->seen, m->target, r))
		return;
	buf_printf(&b, "type=%s,id=", m->kind == MOUNT_CACHE ? "cache" : "secret");
	add_quoted(w, &b, QUOTE_PLAIN, m->id, nowhere);
	if (m->kind == MOUNT_CACHE) {
		buf_printf(&b, ",target=%s%s", m->target, m->locked ? ",sharing=locked" : "");
	} else {
		/* A secret that is not given is no error for any engine: there is no file. */
		buf_printf(&r->text, "%stest -r %s", r->text.n ? AND : "", m->target);
	}
	list_push(w->a, m->locked ? &r->locked : &r->mounts, buf_text(&b));
}

static void
add_command(struct docker_writer *w, const struct step *s, const struct command *c, struct run *r)
{
	struct layout l = { LANG_DOCKERFILE, places_of(w, s), 4, 4, WIDTH };
	const char *why;
	bool inside; /* a comment between the lines of the RUN */

	for (size_t i = 0; i < c->mounts.n; i++)
		add_mount(w, r, &c->mounts.at[i]);
	if (c->work && !r->work)
		buf_printf(&r->text, "%smkdir -p %s", r->text.n ? AND : "", l.places.work);
	r->work |= c->work;
	if (c->jobs)
		scope_flag(r->part, "jobs", true);
	inside = c->comment && r->text.n;
	if (inside) {
		buf_puts(&r->text, " \\\n    # ");
		if (!quote(&r->text, QUOTE_COMMENT, LANG_DOCKERFILE, c->comment, &why))
			BUG("a comment of two lines: %s", c->comment);
	} else if (c->comment) {
		target_lines(w->a, r->part, "remarks", c->comment);
	}
	if (c->cwd && (!r->cwd || strcmp(c->cwd, r->cwd))) {
		const char *folder = word_plain(w->a, &(struct word){ .s = c->cwd }, &l.places);

		buf_printf(&r->text, "%scd %s", inside ? "\n && " : r->text.n ? AND : "", folder);
		inside = false;
		r->cwd = c->cwd;
	}
	if (r->text.n)
		buf_puts(&r->text, inside ? "\n && " : AND);
	w->good = command_text(w->ds, c, &l, s->at, &r->text) && w->good;
}

/* Ends the RUN. */
static void
end_run(struct docker_writer *w, struct run *r)
{
	struct buf b = BUF(w->a);

	if (!r->part)
		return;
	for (size_t i = 0; i < r->mounts.n + r->locked.n; i++)
		buf_printf(&b, "--mount=%s \\\n    ",
			   i < r->mounts.n ? r->mounts.at[i] : r->locked.at[i - r->mounts.n]);
	buf_puts(&b, buf_text(&r->text));
	if (r->work)
		buf_puts(&b, AND "rm -rf /tmp/work");
	scope_code(r->part, "run", buf_text(&b));
	*r = (struct run){ 0 };
}

static void
begin_run(struct docker_writer *w, const struct step *s, struct scope *out, struct run *r)
{
	if (r->part)
		return;
	*r = (struct run){ .part = scope_item(out, "parts"),
			   .seen = MAP(w->a),
			   .text = BUF(w->a),
			   /* An application's commands run in its directory: WORKDIR is there. */
			   .cwd = s->kind == STEP_APP ? "{app}" : NULL };
}

/* --- files --- */

/* A short file, line by line: what pip may not move is for the reader to see. */
static void
write_text(struct docker_writer *w, const struct step *s, const struct operation *op,
	   struct scope *out)
{
	const struct layout l = { LANG_DOCKERFILE, places_of(w, s), 4, 8, WIDTH };
	struct buf b = BUF(w->a);

	if (!w->share)
		buf_puts(&b, "mkdir -p " DOCKER_SHARE AND);
	w->good = file_text(w->ds, op, &l, s->at, &b) && w->good;
	w->share = true;
	scope_code(scope_item(out, "parts"), "run", buf_text(&b));
}

/* The files from the i-th operation on: those inline one by one, helpers in one COPY.  The last. */
static size_t
add_files(struct docker_writer *w, const struct step *s, size_t i, struct scope *out)
{
	const struct operations *all = &s->operations;
	struct places places = places_of(w, s);
	struct names copied = { 0 };
	bool program = false;

	for (; i < all->n && all->at[i].kind == OP_FILE; i++) {
		const struct operation *op = &all->at[i];
		const char *path = word_plain(w->a, &(struct word){ .s = op->file.path }, &places);
		const char *before;

		if (op->file.helper) {
			list_push(w->a, &copied,
				  target_helper(w->a, w->plan, w->templates, op, w->out));
			program |= op->file.program;
			continue;
		}
		before = map_put(w->texts, path, (void *)op->file.text);
		if (!before || strcmp(before, op->file.text) != 0)
			write_text(w, s, op, out);
	}
	if (copied.n) {
		list_push(w->a, &copied, DOCKER_SHARE "/");
		w->share = true;
		scope_code(
			scope_item(out, "parts"), "copy",
			docker_copy(w, program ? "--chmod=755 " : "--chmod=644 ", &copied, s->at));
	}
	return i - 1;
}

/* --- steps --- */

/*
 * The command that installs a wheel names the step's key.  buildah 1.28 and podman 4.3 look a RUN
 * up by its text alone, whatever the stages that it mounts hold by now: without it an image
 * keeps the wheel that was compiled before, for other GPUs or from another commit.
 */
static void
install_wheel(struct docker_writer *w, const struct step *s, struct command *c, struct run *r)
{
	list_push(w->a, &c->env,
		  (struct variable){ .name = "STACKBUILD_WHEEL",
				     .value = arena_printf(w->a, "%.16s", s->key) });
	list_push(w->a, &r->mounts,
		  arena_printf(w->a, "type=bind,from=wheel-%s,target=/wheels", s->id));
}

static void
add_operation(struct docker_writer *w, const struct step *s, const struct operation *op,
	      struct scope *out, struct run *r)
{
	struct commands all = operation_commands(w->a, op);

	for (size_t i = 0; i < all.n; i++) {
		begin_run(w, s, out, r);
		if (op->kind == OP_WHEEL)
			install_wheel(w, s, &all.at[i], r);
		add_command(w, s, &all.at[i], r);
	}
	if (s->kind == STEP_EXTENSION)
		end_run(w, r);
}

/* Whether a stage does that part of an extension; all other operations are done where they are. */
static bool
is_here(const struct docker_stage *stage, const struct step *s, const struct operation *op)
{
	if (s->kind != STEP_EXTENSION)
		return true;
	if (op->kind == OP_WHEEL)
		return !stage->builds;
	return stage->builds && (op->kind == OP_FETCH ? stage->fetches : stage->compiles);
}

/* What the wheel depends on, read where it will be compiled: stage inputs-NAME. */
static void
read_inputs(struct docker_writer *w, const struct step *s, struct scope *out)
{
	const struct inputs inputs = inputs_of(w->a, w->plan, s);
	const struct step files = { .id = s->id, .kind = s->kind, .operations = inputs.files };
	struct run r = { 0 };

	add_files(w, &files, 0, out);
	begin_run(w, s, out, &r);
	add_command(w, s, &inputs.command, &r);
	end_run(w, &r);
}

/* From the application's stage, for a user of the image. */
static void
copy_app(struct docker_writer *w, struct scope *out, struct text path, const char *owner)
{
	struct names paths = { 0 };
	struct buf flags = BUF(w->a);

	buf_puts(&flags, "--from=" RENDER_APP " ");
	if (owner) {
		buf_puts(&flags, "--chown=");
		add_quoted(w, &flags, QUOTE_PLAIN, owner, w->plan->stack->user.at);
		buf_putc(&flags, ' ');
	}
	list_push(w->a, &paths, arena_printf(w->a, "/%s", path.s));
	list_push(w->a, &paths, arena_printf(w->a, DOCKER_APP "/%s", path.s));
	scope_code(scope_item(out, "parts"), "copy",
		   docker_copy(w, buf_text(&flags), &paths, path.at));
}

static const char *
why_here(struct docker_writer *w, const struct docker_stage *stage, const struct step *s)
{
	const char *gpus;

	if (s->kind != STEP_EXTENSION)
		return s->why;
	if (stage->reads)
		return "what its wheel depends on";
	if (!stage->builds)
		return "install the wheel";
	gpus = stage->compiles ? own_gpus(w->a, w->plan->stack, s->extension) : NULL;
	return gpus ? gpus : stage->compiles ? "fetch and compile" : "fetch";
}

void
docker_step(struct docker_writer *w, const struct docker_stage *stage, const struct step *s,
	    struct scope *out)
{
	struct map texts = MAP(w->a);
	struct docker_writer own = *w;
	struct run r = { 0 };

	/* What a stage beside the trunk writes is in no other stage. */
	if (stage->builds || stage->reads)
		own.texts = &texts;
	scope_text(out, "id", s->id, s->at);
	if (plan_step(w->plan, s->id))
		scope_mark(out, s->id);
	target_lines(w->a, out, "why", why_here(w, stage, s));
	if (s->kind == STEP_APP)
		scope_text(scope_item(out, "parts"), "workdir", DOCKER_APP, nowhere);
	if (stage->reads)
		read_inputs(&own, s, out);
	for (size_t i = 0; !stage->reads && i < s->operations.n; i++) {
		const struct operation *op = &s->operations.at[i];

		if (!is_here(stage, s, op))
			continue;
		if (op->kind == OP_FILE) {
			end_run(&own, &r);
			i = add_files(&own, s, i, out);
			continue;
		}
		if (op->kind == OP_REQUIREMENTS)
			copy_app(&own, out, (struct text){ op->requirements.file, s->at }, NULL);
		add_operation(&own, s, op, out, &r);
		for (size_t k = 0; op->kind == OP_APPLICATION && k < op->application.files->n;
		     k++) {
			end_run(&own, &r);
			copy_app(&own, out, op->application.files->at[k],
				 w->plan->stack->user.value);
		}
	}
	end_run(&own, &r);
	w->good = own.good;
	if (own.texts == w->texts)
		w->share = own.share;
	if (s->kind == STEP_PYTHON)
		scope_text(scope_item(out, "parts"), "path", DOCKER_VENV, s->at);
}

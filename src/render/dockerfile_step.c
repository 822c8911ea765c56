#include <string.h>

#include "base/fs.h"
#include "base/str.h"
#include "dockerfile.h"

/* Writes operations as instructions: COPY for helpers, RUN for everything else. */

enum { WIDTH = 100 };

#define AND " \\\n && "

static const struct shape part_shape[] = {
	{ "remarks", VALUE_LIST, "reason, in lines", 0 },
	{ "workdir", VALUE_TEXT, "working directory of the following instructions", 0 },
	{ "copy", VALUE_CODE, "arguments of COPY", 0 },
	{ "jobs", VALUE_FLAG, "the step compiles: MAX_JOBS is a build argument", 0 },
	{ "pip", VALUE_FLAG, "first step of the stage in which pip downloads", 0 },
	{ "run", VALUE_CODE, "mounts, and commands joined by &&", 0 },
	{ "path", VALUE_TEXT, "environment that is first in PATH from here on", 0 },
	{ "environment", VALUE_LIST, "variables of the image", target_pair_shape },
	{ 0 },
};

const struct shape docker_step_shape[] = {
	{ "id", VALUE_TEXT, "\"torch\", \"causal-conv1d\"; a step without one is not in the plan",
	  0 },
	{ "why", VALUE_LIST, "the step and the reason for its place, in lines", 0 },
	{ "parts", VALUE_LIST, "its instructions", part_shape },
	{ 0 },
};

static struct shell
shell_of(const struct docker *d, const struct step *s)
{
	return (struct shell){
		.ds = d->t->ds,
		.at = s->at,
		.language = LANG_DOCKERFILE,
		.places = { .src = arena_printf(d->t->a, "/src/%s", s->id),
			    .wheels = "/wheels",
			    .share = DOCKER_SHARE,
			    /* Later steps have the environment in PATH. */
			    .python = s->kind == STEP_PYTHON ? DOCKER_VENV "/bin/python" : "python",
			    .venv = DOCKER_VENV,
			    .prefix = DOCKER_PREFIX,
			    .work = "/tmp/work",
			    .app = DOCKER_APP,
			    .inputs = DOCKER_INPUTS },
		.column = 4,
		.indent = 4,
		.width = WIDTH,
	};
}

static const char *
copy(struct target *t, const char *flags, const struct names *paths, struct span at)
{
	struct buf list = BUF(t->a), none = BUF(t->a);
	bool is_plain = !starts_with(flags, "--from=" RENDER_APP " ");
	const char *why;

	for (size_t i = 0; i < paths->n; i++) {
		is_plain =
			is_plain && quote(&none, QUOTE_PLAIN, LANG_DOCKERFILE, paths->at[i], &why);
		buf_puts(&list, i ? ", " : "[");
		if (!quote(&list, QUOTE_COPY, LANG_DOCKERFILE, paths->at[i], &why))
			diag_why(diag_at(t->ds, E_UNQUOTABLE, at,
					 "a Dockerfile cannot contain `%s`", paths->at[i]),
				 "%s", why);
	}
	if (is_plain)
		return arena_printf(t->a, "%s%s", flags, names_join(t->a, paths, " "));
	return arena_printf(t->a, "%s%s]", flags, buf_text(&list));
}

const char *
docker_copy(struct target *t, const char *flags, const char *from, const char *to, struct span at)
{
	struct names paths = { 0 };

	list_push(t->a, &paths, from);
	list_push(t->a, &paths, to);
	return copy(t, flags, &paths, at);
}

/* --- RUN --- */

/* A RUN instruction under construction. */
struct run {
	struct scope *part;  /* NULL: nothing yet */
	struct names mounts; /* texts of --mount */
	/*
	 * A locked mount must be the last one: buildah 1.28 and podman 4.3 release only the lock of
	 * a RUN's last cache mount, and wait forever for any other (buildah#4342).
	 */
	struct names locked;
	struct buf text;
	const char *cwd;
	bool work;
};

static void
add_mount(struct docker *d, struct run *r, const struct mount *m)
{
	const char *text = arena_printf(d->t->a, "type=secret,id=%s", m->id);

	if (m->kind == MOUNT_CACHE)
		text = arena_printf(d->t->a, "type=cache,id=%s,target=%s%s", m->id, m->target,
				    m->locked ? ",sharing=locked" : "");
	/* The command checks the file, because no engine reports a missing secret. */
	else if (!names_have(&r->mounts, text))
		buf_printf(&r->text, "%stest -r %s", r->text.n ? AND : "", m->target);
	names_once(d->t->a, m->locked ? &r->locked : &r->mounts, text);
}

static void
add_command(struct docker *d, const struct step *s, const struct command *c, struct run *r)
{
	const struct shell sh = shell_of(d, s);
	const char *and; /* the text before the next command */

	for (size_t i = 0; i < c->mounts.n; i++) {
		add_mount(d, r, &c->mounts.at[i]);
		if (!strcmp(c->mounts.at[i].id, "pip") && d->t->pip_stages < d->t->stages.n) {
			scope_flag(r->part, "pip", true);
			d->t->pip_stages = d->t->stages.n;
		}
	}
	if (c->work && !r->work)
		buf_printf(&r->text, "%smkdir -p %s", r->text.n ? AND : "", sh.places.work);
	r->work |= c->work;
	if (c->jobs)
		scope_flag(r->part, "jobs", true);
	and = r->text.n ? AND : "";
	if (c->comment && r->text.n) {
		buf_printf(&r->text, " \\\n    # %s", c->comment);
		and = "\n && ";
	} else if (c->comment) {
		target_lines(r->part, "remarks", c->comment);
	}
	if (c->cwd && (!r->cwd || strcmp(c->cwd, r->cwd))) {
		buf_printf(&r->text, "%scd %s", and, shell_plain(d->t->a, &sh.places, c->cwd));
		and = AND;
		r->cwd = c->cwd;
	}
	buf_puts(&r->text, and);
	shell_command(&sh, c, &r->text);
}

static void
end_run(struct docker *d, struct run *r)
{
	struct buf b = BUF(d->t->a);

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
begin_run(struct docker *d, const struct step *s, struct scope *out, struct run *r)
{
	if (!r->part)
		*r = (struct run){
			.part = scope_item(out, "parts"),
			.text = BUF(d->t->a),
			/* The application's commands run in WORKDIR, its directory. */
			.cwd = s->kind == STEP_APP ? "{app}" : NULL,
		};
}

/* --- files --- */

/* Writes a short file, line by line, so that readers see the constraints of pip. */
static void
write_text(struct docker *d, const struct step *s, const struct operation *op, struct scope *out)
{
	struct shell sh = shell_of(d, s);
	struct buf b = BUF(d->t->a);

	sh.indent = 8;
	if (!d->share)
		buf_puts(&b, "mkdir -p " DOCKER_SHARE AND);
	shell_file(&sh, op, &b);
	d->share = true;
	scope_code(scope_item(out, "parts"), "run", buf_text(&b));
}

/* Adds the files from the i-th operation on, helpers in one COPY; returns the last index. */
static size_t
add_files(struct docker *d, const struct step *s, const struct operations *all, size_t i,
	  struct scope *out)
{
	const struct shell sh = shell_of(d, s);
	struct names copied = { 0 };
	bool program = false;

	for (; i < all->n && all->at[i].kind == OP_FILE; i++) {
		const struct operation *op = &all->at[i];
		const char *path = shell_plain(d->t->a, &sh.places, op->file.path), *before;

		if (op->file.helper) {
			list_push(d->t->a, &copied, target_helper(d->t, op));
			program |= op->file.program;
			continue;
		}
		before = map_put(&d->texts, path, (void *)op->file.text);
		if (!before || strcmp(before, op->file.text) != 0)
			write_text(d, s, op, out);
	}
	if (copied.n) {
		list_push(d->t->a, &copied, DOCKER_SHARE "/");
		d->share = true;
		scope_code(scope_item(out, "parts"), "copy",
			   copy(d->t, program ? "--chmod=755 " : "--chmod=644 ", &copied, s->at));
	}
	return i - 1;
}

/* --- steps --- */

static void
add_operation(struct docker *d, const struct step *s, const struct operation *op, struct scope *out,
	      struct run *r)
{
	struct commands all = operation_commands(d->t->a, op);

	for (size_t i = 0; i < all.n; i++) {
		begin_run(d, s, out, r);
		/*
		 * The command that installs a wheel contains the step's key. buildah 1.28 and
		 * podman 4.3 look up a cached RUN by its text only and ignore the contents of
		 * mounted stages. Without the key, an image would keep an older wheel for other
		 * GPUs or from another commit.
		 */
		if (op->kind == OP_WHEEL) {
			list_push(d->t->a, &all.at[i].env,
				  (struct variable){ "STACKBUILD_WHEEL", target_key(d->t, s),
						     false });
			list_push(d->t->a, &r->mounts,
				  arena_printf(d->t->a, "type=bind,from=wheel-%s,target=/wheels",
					       s->id));
		}
		add_command(d, s, &all.at[i], r);
	}
	if (s->kind == STEP_EXTENSION)
		end_run(d, r);
}

/* Reads the inputs of the wheel in its compile environment, for the stage inputs-NAME. */
static void
read_inputs(struct docker *d, const struct step *s, struct scope *out)
{
	const struct inputs inputs = inputs_of(d->t->a, d->t->plan, s);
	struct run r = { 0 };

	add_files(d, s, &inputs.files, 0, out);
	begin_run(d, s, out, &r);
	add_command(d, s, &inputs.command, &r);
	end_run(d, &r);
}

/* Copies the application from its stage, for a user of the image. */
static void
copy_app(struct docker *d, struct scope *out, struct text path, const char *owner)
{
	struct target *t = d->t;
	const char *flags = "--from=" RENDER_APP " ";

	if (owner)
		flags = arena_printf(t->a, "%s--chown=%s ", flags, owner);
	scope_code(scope_item(out, "parts"), "copy",
		   docker_copy(t, flags, arena_printf(t->a, "/%s", path.s),
			       arena_printf(t->a, DOCKER_APP "/%s", path.s), path.at));
}

/*
 * Copies own code: from the context of `build`, which has no ignored files, or from the stage of the
 * recipe's directory.
 */
static void
copy_own_code(struct docker *d, const struct step *s, struct scope *out)
{
	const struct stack_extension *e = s->extension;
	struct arena *a = d->t->a;
	bool whole = !strcmp(e->path, ".") || own_code_outside(e->path);
	const char *from = d->t->build ? arena_printf(a, RENDER_OWN "/%s/", s->id) :
			   whole       ? "/" :
					 arena_printf(a, "/%s/", e->path);
	const char *flags =
		d->t->build ? "" : arena_printf(a, "--from=%s ", target_own_context(a, e->asked));

	scope_code(scope_item(out, "parts"), "copy",
		   docker_copy(d->t, flags, from, arena_printf(a, "/src/%s/", s->id),
			       e->asked->path.at));
}

/*
 * Copies the file beside the wheel of own code, so that an engine that looks up RUN by its text alone
 * installs a changed wheel.  For `build`, the text has the digest of the code.
 */
static void
copy_built(struct docker *d, const struct step *s, struct scope *out)
{
	struct arena *a = d->t->a;

	scope_code(scope_item(out, "parts"), "copy",
		   docker_copy(d->t, arena_printf(a, "--from=wheel-%s ", s->id), "/" PLAN_BUILT,
			       arena_printf(a, DOCKER_SHARE "/built/%s.txt", s->id), s->at));
}

static const char *
why_here(struct docker *d, const struct step *s, unsigned parts)
{
	const char *gpus;

	if (s->kind != STEP_EXTENSION)
		return s->why;
	switch (parts) {
	case DOCKER_INPUT: return "the inputs of its wheel";
	case DOCKER_INSTALL: return "install the wheel";
	case DOCKER_FETCH: return s->extension->path ? "copy" : "fetch";
	default: gpus = target_own_gpus(d->t, s->extension);
	}
	if (!step_operation(s, OP_COMPILE))
		return "fetch";
	return gpus ? gpus : s->extension->path ? "copy and compile" : "fetch and compile";
}

static void
add_operations(struct docker *d, const struct step *s, unsigned parts, struct scope *out)
{
	const char *user = d->t->plan->stack->user.value;
	struct run r = { 0 };

	for (size_t i = 0; i < s->operations.n; i++) {
		const struct operation *op = &s->operations.at[i];
		unsigned part = op->kind == OP_WHEEL ? DOCKER_INSTALL :
				op->kind == OP_FETCH ? DOCKER_FETCH :
						       DOCKER_COMPILE;

		if (s->kind == STEP_EXTENSION && !(parts & part))
			continue;
		if (op->kind == OP_FILE) {
			end_run(d, &r);
			i = add_files(d, s, &s->operations, i, out);
			continue;
		}
		if (op->kind == OP_FETCH && s->extension->path)
			copy_own_code(d, s, out);
		if (op->kind == OP_WHEEL && s->extension->path && !d->t->build)
			copy_built(d, s, out);
		for (size_t k = 0; op->kind == OP_REQUIREMENTS && k < op->requirements.files.n; k++)
			copy_app(d, out, (struct text){ op->requirements.files.at[k], s->at },
				 NULL);
		for (size_t k = 0; op->kind == OP_REQUIREMENTS && k < op->requirements.locals->n;
		     k++)
			copy_app(d, out, op->requirements.locals->at[k], NULL);
		add_operation(d, s, op, out, &r);
		for (size_t k = 0; op->kind == OP_APPLICATION && k < op->application.files->n;
		     k++) {
			end_run(d, &r);
			copy_app(d, out, op->application.files->at[k], user);
		}
	}
	end_run(d, &r);
}

void
docker_step(struct docker *d, struct scope *stage, const struct step *s, unsigned parts)
{
	struct scope *out = scope_item(stage, "steps");
	struct docker own = *d;

	/* Other stages do not have the files of a stage beside the trunk. */
	if (parts != DOCKER_INSTALL) {
		own.texts = MAP(d->t->a);
		d = &own;
	}
	scope_text(out, "id", s->id, s->at);
	if (plan_step(d->t->plan, s->id))
		out->mark = s->id;
	target_lines(out, "why", why_here(d, s, parts));
	if (s->kind == STEP_APP)
		scope_text(scope_item(out, "parts"), "workdir", DOCKER_APP, NOWHERE);
	if (parts == DOCKER_INPUT)
		read_inputs(d, s, out);
	else
		add_operations(d, s, parts, out);
	if (s->kind == STEP_PYTHON)
		scope_text(scope_item(out, "parts"), "path", DOCKER_VENV, s->at);
}

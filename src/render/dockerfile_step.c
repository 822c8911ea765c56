#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "dockerfile.h"

/* One RUN is one argument of a shell, which Linux limits to 128 KiB. */
enum { RUN_BYTES_MAX = 96 * 1024, WIDTH = 96, REMARK_WIDTH = 84 };

#define AND " \\\n && "

static const struct shape file_shape[] = {
	{ "folder", VALUE_TEXT, "the folder that must be made first; not there if it exists", 0 },
	{ "path", VALUE_TEXT, "where the file goes", 0 },
	{ "append", VALUE_FLAG, "the file is there: these lines follow", 0 },
	{ "executable", VALUE_FLAG, "it is a program", 0 },
	{ "lines", VALUE_LIST, "its lines", 0 },
	{ 0 },
};

static const struct shape cache_shape[] = {
	{ "id", VALUE_TEXT, "name of the cache", 0 },
	{ "target", VALUE_TEXT, "the folder", 0 },
	{ "locked", VALUE_FLAG, "one build at a time", 0 },
	{ 0 },
};

static const struct shape bind_shape[] = {
	{ "stage", VALUE_TEXT, "the stage that it shows", 0 },
	{ "target", VALUE_TEXT, "the folder where it is seen", 0 },
	{ 0 },
};

static const struct shape secret_shape[] = {
	{ "id", VALUE_TEXT, "name of the secret", 0 },
	{ "target", VALUE_TEXT, "the file, if it is not /run/secrets/NAME", 0 },
	{ 0 },
};

const struct shape docker_run_shape[] = {
	{ "remarks", VALUE_LIST, "why, in lines", 0 },
	{ "jobs", VALUE_FLAG, "it compiles: MAX_JOBS may be given as a build argument", 0 },
	{ "caches", VALUE_LIST, "cache mounts", cache_shape },
	{ "binds", VALUE_LIST, "other stages that it reads", bind_shape },
	{ "secrets", VALUE_LIST, "secret mounts", secret_shape },
	{ "commands", VALUE_CODE, "the commands, joined by &&", 0 },
	{ 0 },
};

static const struct shape taken_shape[] = {
	{ "from", VALUE_TEXT, "the stage that has it", 0 },
	{ "copies", VALUE_LIST, "runtime: folders of the stage before", taken_shape },
	{ "path", VALUE_TEXT, "the folder, there and here", 0 },
	{ 0 },
};

const struct shape docker_step_shape[] = {
	{ "id", VALUE_TEXT, "\"torch\", \"causal-conv1d\"", 0 },
	{ "remarks", VALUE_LIST, "what it is and why it stands here, in lines", 0 },
	{ "files", VALUE_LIST, "files that it writes before it runs", file_shape },
	{ "runs", VALUE_LIST, "its commands, one RUN each", docker_run_shape },
	{ "copies", VALUE_LIST, "runtime: folders of the stage before", taken_shape },
	{ "copies", VALUE_LIST, "runtime: folders of the stage before", taken_shape },
	{ "path", VALUE_TEXT, "the Python step: the environment that now comes first in PATH", 0 },
	{ 0 },
};

void
docker_remarks(struct docker_writer *w, struct scope *out, const char *text)
{
	while (*text) {
		size_t n = strlen(text), cut = n;

		if (n > REMARK_WIDTH)
			for (cut = REMARK_WIDTH; cut > REMARK_WIDTH / 2 && text[cut] != ' ';)
				cut--;
		if (cut == REMARK_WIDTH / 2)
			cut = n;
		scope_item_text(out, "remarks", arena_copy(w->a, text, cut), (struct span){ 0 });
		text += cut;
		while (*text == ' ')
			text++;
	}
}

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

/* --- files --- */

static struct scope *
add_file(struct docker_writer *w, struct scope *out, const char *path, bool first)
{
	struct scope *f = scope_item(out, "files");
	const char *slash = strrchr(path, '/'), *folder;

	folder = arena_copy(w->a, path, slash > path ? (size_t)(slash - path) : 1);
	if (!map_put(w->folders, folder, w->folders))
		scope_text(f, "folder", folder, (struct span){ 0 });
	scope_text(f, "path", path, (struct span){ 0 });
	scope_flag(f, "append", !first);
	return f;
}

static void
write_file(struct docker_writer *w, struct scope *out, const char *path, struct str text,
	   bool executable)
{
	struct scope *f = add_file(w, out, path, true);
	size_t size = 0;

	while (text.n) {
		const char *nl = memchr(text.p, '\n', text.n);
		size_t n = nl ? (size_t)(nl - text.p) : text.n;

		if (size && size + n > RUN_BYTES_MAX) {
			f = add_file(w, out, path, false);
			size = 0;
		}
		scope_item_text(f, "lines", arena_copy(w->a, text.p, n), (struct span){ 0 });
		size += n + 8;
		text.p += n + (nl != NULL);
		text.n -= n + (nl != NULL);
	}
	scope_flag(f, "executable", executable);
}

static struct str
file_text(struct docker_writer *w, const struct step_file *f)
{
	const struct source *src;

	if (!f->template)
		return str_of(f->text);
	src = templates_text(w->templates, f->template);
	return (struct str){ src->text, src->size };
}

static bool
is_scratch(const struct step_file *f)
{
	return starts_with(f->path, "{work}");
}

void
docker_files(struct docker_writer *w, const struct step *s, struct scope *out)
{
	struct places p = places_of(w, s);

	for (size_t i = 0; i < s->files.n; i++) {
		const struct step_file *f = &s->files.at[i];

		const char *path = word_plain(w->a, &(struct word){ .s = f->path }, &p);
		struct str text = file_text(w, f);
		const char *bytes = arena_copy(w->a, text.p, text.n);
		const char *before;

		if (is_scratch(f))
			continue;
		before = map_put(w->files, path, (void *)bytes);
		if (!before || strcmp(before, bytes) != 0)
			write_file(w, out, path, text, f->program);
	}
}

/* --- commands --- */

static void
add_mounts(struct scope *run, const struct command *c, bool locked, struct map *seen)
{
	for (size_t i = 0; i < c->mounts.n; i++) {
		const struct mount *m = &c->mounts.at[i];
		struct scope *item;

		if (m->locked != locked || map_put(seen, m->target, (void *)m))
			continue;
		item = scope_item(run, m->kind == MOUNT_CACHE ? "caches" : "secrets");
		scope_text(item, "id", m->id, (struct span){ 0 });
		if (m->kind == MOUNT_CACHE) {
			scope_text(item, "target", m->target, (struct span){ 0 });
			scope_flag(item, "locked", m->locked);
		} else if (!starts_with(m->target, "/run/secrets/") ||
			   strcmp(m->target + strlen("/run/secrets/"), m->id)) {
			scope_text(item, "target", m->target, (struct span){ 0 });
		}
	}
}

/* A secret that is not given is no error for any engine: the file is just not there. */
static void
look_for_secrets(const struct command *c, struct map *seen, struct buf *text)
{
	for (size_t i = 0; i < c->mounts.n; i++) {
		const struct mount *m = &c->mounts.at[i];

		if (m->kind == MOUNT_SECRET && !map_put(seen, m->target, (void *)m))
			buf_printf(text, "%stest -r %s", text->n ? AND : "", m->target);
	}
}

static bool
uses_work(const struct command *c)
{
	bool uses = c->cwd && starts_with(c->cwd, "{work}");

	for (size_t i = 0; i < c->argv.n; i++)
		uses |= !c->argv.at[i].verbatim && strstr(c->argv.at[i].s, "{work}");
	return uses;
}

/* The scratch folder and its files: made by the RUN that uses them, and gone after it. */
static void
open_work(struct docker_writer *w, const struct step *s, const struct places *p, struct buf *text)
{
	buf_printf(text, "mkdir -p %s", p->work);
	for (size_t i = 0; i < s->files.n; i++) {
		const struct step_file *f = &s->files.at[i];
		struct names lines = { 0 };

		if (!is_scratch(f))
			continue;
		list_push(w->a, &lines, "printf");
		list_push(w->a, &lines, "'%s\\n'");
		for (struct str rest = file_text(w, f); rest.n;) {
			const char *nl = memchr(rest.p, '\n', rest.n);
			size_t n = nl ? (size_t)(nl - rest.p) : rest.n;
			struct word line = { arena_copy(w->a, rest.p, n), true };
			struct layout l = { .language = LANG_DOCKERFILE };
			struct buf b = BUF(w->a);

			w->good = word_text(w->ds, &line, &l, s->at, &b) && w->good;
			list_push(w->a, &lines, buf_text(&b));
			rest.p += n + (nl != NULL);
			rest.n -= n + (nl != NULL);
		}
		list_push(w->a, &lines,
			  arena_printf(w->a, "> %s",
				       word_plain(w->a, &(struct word){ .s = f->path }, p)));
		buf_puts(text, AND);
		words_text(&lines, &(struct layout){ .column = 4, .indent = 8, .width = WIDTH },
			   text);
	}
}

static void
one_command(struct docker_writer *w, const struct step *s, const struct command *c,
	    const char *comment, const struct places *p, const char **cwd, struct buf *text)
{
	struct layout l = { LANG_DOCKERFILE, *p, 4, 4, WIDTH };
	const char *why;

	if (comment) {
		buf_puts(text, " \\\n    # ");
		if (!quote(text, QUOTE_COMMENT, LANG_DOCKERFILE, comment, &why))
			BUG("a comment of two lines: %s", comment);
	}
	if (c->cwd && (!*cwd || strcmp(c->cwd, *cwd))) {
		const char *folder = word_plain(w->a, &(struct word){ .s = c->cwd }, p);

		buf_printf(text, "%scd %s", comment ? "\n && " : text->n ? AND : "", folder);
		comment = NULL;
		*cwd = c->cwd;
	}
	if (text->n)
		buf_puts(text, comment ? "\n && " : AND);
	w->good = command_text(w->ds, c, &l, s->at, text) && w->good;
}

/*
 * The command that installs a wheel names the step's key.  buildah 1.28 and podman 4.3 look a RUN
 * up by its text alone, whatever the stages that it mounts hold by now: without it an image
 * keeps the wheel that was compiled before, for other GPUs or from another commit.
 */
static const struct command *
keyed(struct docker_writer *w, const struct step *s, const struct command *c)
{
	struct command *copy = arena_new_of(w->a, struct command);

	if (s->kind != STEP_EXTENSION || c->phase != PHASE_INSTALL)
		return c;
	*copy = *c;
	copy->env = (struct variables){ 0 };
	list_push(w->a, &copy->env,
		  (struct variable){ .name = "STACKBUILD_WHEEL",
				     .value = arena_printf(w->a, "%.16s", s->key) });
	for (size_t i = 0; i < c->env.n; i++)
		list_push(w->a, &copy->env, c->env.at[i]);
	return copy;
}

/* Commands of one phase, from the i-th on: one RUN.  Where they end. */
static size_t
add_run(struct docker_writer *w, const struct step *s, size_t i, const struct places *p,
	struct scope *run)
{
	enum phase phase = s->commands.at[i].phase;
	/* An application's commands run in its folder, which the template has entered. */
	const char *cwd = s->kind == STEP_APP ? "{app}" : NULL;
	struct map seen = MAP(w->a), secrets = MAP(w->a);
	struct buf text = BUF(w->a);
	bool work = false, jobs = false;
	const char *comment;
	size_t first = i;

	for (; i < s->commands.n && s->commands.at[i].phase == phase; i++) {
		const struct command *c = keyed(w, s, &s->commands.at[i]);

		jobs |= c->jobs;
		look_for_secrets(c, &secrets, &text);
		if (!work && uses_work(c)) {
			if (text.n)
				buf_puts(&text, AND);
			open_work(w, s, p, &text);
			work = true;
		}
		/* Above the RUN, or between its lines: BuildKit leaves comments out there. */
		if (c->comment && !text.n)
			docker_remarks(w, run, c->comment);
		comment = c->comment && text.n ? c->comment : NULL;
		one_command(w, s, c, comment, p, &cwd, &text);
	}
	/*
	 * What is locked comes last: buildah 1.28 and podman 4.3 give back the lock of a
	 * RUN's last cache mount only, and wait for ever for any other (buildah#4342).
	 */
	for (size_t locked = 0; locked < 2; locked++)
		for (size_t k = first; k < i; k++)
			add_mounts(run, &s->commands.at[k], locked, &seen);
	if (work)
		buf_printf(&text, AND "rm -rf %s", p->work);
	scope_flag(run, "jobs", jobs);
	scope_code(run, "commands", buf_text(&text));
	return i;
}

void
docker_runs(struct docker_writer *w, const struct step *s, unsigned parts, struct scope *out)
{
	static const unsigned part[] = {
		[PHASE_FETCH] = PART_FETCH,
		[PHASE_BUILD] = PART_BUILD,
		[PHASE_INSTALL] = PART_INSTALL,
	};
	struct places p = places_of(w, s);

	for (size_t i = 0; i < s->commands.n;) {
		enum phase phase = s->commands.at[i].phase;
		struct scope *run, *bind;

		if (s->kind == STEP_EXTENSION && !(parts & part[phase])) {
			i++;
			continue;
		}
		run = scope_item(out, "runs");
		i = add_run(w, s, i, &p, run);
		if (s->kind != STEP_EXTENSION || phase != PHASE_INSTALL)
			continue;
		bind = scope_item(run, "binds");
		scope_text(bind, "stage", arena_printf(w->a, "wheel-%s", s->id), s->at);
		scope_text(bind, "target", p.wheels, (struct span){ 0 });
	}
}

void
docker_step(struct docker_writer *w, const struct docker_stage *stage, const struct step *s,
	    struct scope *out)
{
	scope_text(out, "id", s->id, s->at);
	if (plan_step(w->plan, s->id))
		scope_mark(out, s->id);
	docker_remarks(w, out, docker_remark(stage, s));
	if (s->kind == STEP_PYTHON)
		scope_text(out, "path", DOCKER_VENV, s->at);
	if (stage->builds || stage->reads) {
		docker_extension(w, stage, s, out);
		return;
	}
	docker_files(w, s, out);
	docker_runs(w, s, PART_INSTALL, out);
}

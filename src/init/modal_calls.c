#include <string.h>

#include "base/fs.h"
#include "modal.h"

/*
 * Turns the calls of an image into the instructions that the client makes of them, with the places of their
 * arguments; the reader of Dockerfiles decides each one:
 *
 *     .pip_install("torch==2.2.2", index_url=X)   RUN python -m pip install 'torch==2.2.2' --index-url 'X'
 *
 * Source: modal/_image.py of modal 1.5.4 and 1.6.4.
 */
enum call_kind {
	CALL_IMAGE,      /* FROM its word */
	CALL_NO_IMAGE,   /* FROM scratch; text: why the base image is open, or NULL */
	CALL_DOCKERFILE, /* the instructions of the file */
	CALL_WORDS,      /* RUN text 'word' ... */
	CALL_LINES,      /* text and a word, for each word */
	CALL_ENV,        /* ENV */
	CALL_ENTRYPOINT,
	CALL_REQUIREMENTS, /* a file or, for CALL_SYNC, a directory */
	CALL_PROJECT,
	CALL_SYNC,
	CALL_LEFT,   /* left out; text: the reason */
	CALL_UNREAD, /* the same with a warning; help */
};

static const struct call_row {
	const char *name;
	enum call_kind kind;
	const char *text, *help;
} calls[] = {
	{ "from_registry", CALL_IMAGE, NULL, NULL },
	{ "from_aws_ecr", CALL_IMAGE, NULL, NULL },
	{ "from_gcp_artifact_registry", CALL_IMAGE, NULL, NULL },
	{ "from_dockerhub", CALL_IMAGE, NULL, NULL },
	{ "from_dockerfile", CALL_DOCKERFILE, NULL, NULL },
	{ "debian_slim", CALL_NO_IMAGE,
	  "Modal's Debian image has no CUDA toolkit: the recipe gets a compatible base image",
	  NULL },
	{ "micromamba", CALL_NO_IMAGE, NO_CHANNEL, NULL },
	{ "conda", CALL_NO_IMAGE, NO_CHANNEL, NULL },
	{ "from_name", CALL_NO_IMAGE, NULL, NULL },
	{ "from_id", CALL_NO_IMAGE, NULL, NULL },
	{ "from_scratch", CALL_NO_IMAGE, NULL, NULL },
	{ "pip_install", CALL_WORDS, "python -m pip install", NULL },
	{ "uv_pip_install", CALL_WORDS, "uv pip install", NULL },
	{ "apt_install", CALL_WORDS, "apt-get install -y", NULL },
	{ "micromamba_install", CALL_WORDS, "micromamba install -y", NULL },
	{ "conda_install", CALL_WORDS, "conda install -y", NULL },
	{ "run_commands", CALL_LINES, "RUN ", NULL },
	{ "dockerfile_commands", CALL_LINES, "", NULL },
	{ "workdir", CALL_LINES, "WORKDIR ", NULL },
	{ "env", CALL_ENV, NULL, NULL },
	{ "entrypoint", CALL_ENTRYPOINT, NULL, NULL },
	{ "pip_install_from_requirements", CALL_REQUIREMENTS, NULL, NULL },
	{ "pip_install_from_pyproject", CALL_PROJECT, NULL, NULL },
	{ "uv_sync", CALL_SYNC, NULL, NULL },
	{ "poetry_install_from_file", CALL_UNREAD, "init does not read files of Poetry",
	  "convert the file: `poetry export -f requirements.txt`, and pass the result, too" },
	{ "pip_install_private_repos", CALL_UNREAD, "a build of the recipe has no token for it",
	  "add each repository to `packages` as `git+https://...@COMMIT`" },
	{ "run_function", CALL_LEFT,
	  "a recipe runs no function of the app: call it on the imported image", NULL },
	{ "add_local_file", CALL_LEFT, "it stays in the app: call it on the imported image", NULL },
	{ "add_local_dir", CALL_LEFT, "it stays in the app: call it on the imported image", NULL },
	{ "add_local_python_source", CALL_LEFT,
	  "it stays in the app: call it on the imported image", NULL },
	{ "copy_local_file", CALL_LEFT, "it stays in the app: call it on the imported image",
	  NULL },
	{ "copy_local_dir", CALL_LEFT, "it stays in the app: call it on the imported image", NULL },
	{ "copy_mount", CALL_LEFT, "it stays in the app: call it on the imported image", NULL },
	{ "cmd", CALL_LEFT, "it has no effect on the functions of an app", NULL },
	{ "shell", CALL_LEFT, "a recipe has no key for it", NULL },
};

enum option_kind {
	OPTION_VALUE, /* text and the value */
	OPTION_FLAG,  /* text */
	OPTION_RAW,   /* the value, unquoted */
	OPTION_ENV,
	OPTION_PYTHON,
	OPTION_LINES, /* instructions of their own */
	OPTION_REQUIREMENTS,
	OPTION_LEFT,
	OPTION_UNREAD,
};

static const struct option_row {
	const char *name;
	enum option_kind kind;
	const char *text;
} options[] = {
	{ "index_url", OPTION_VALUE, "--index-url" },
	{ "extra_index_url", OPTION_VALUE, "--extra-index-url" },
	{ "find_links", OPTION_VALUE, "--find-links" },
	{ "channels", OPTION_VALUE, "-c" },
	{ "pre", OPTION_FLAG, "--pre" },
	{ "extra_options", OPTION_RAW, NULL },
	{ "env", OPTION_ENV, NULL },
	{ "add_python", OPTION_PYTHON, NULL },
	{ "python_version", OPTION_PYTHON, NULL },
	{ "setup_dockerfile_commands", OPTION_LINES, "" },
	{ "requirements", OPTION_REQUIREMENTS, NULL },
	{ "force_build", OPTION_LEFT, "it is a setting of Modal's build" },
	{ "uv_version", OPTION_LEFT, "pip installs the packages of a recipe" },
	{ "gpu", OPTION_LEFT, "a build needs no GPU: `gpus` sets the architectures" },
	{ "secrets", OPTION_LEFT, "`secrets` of a recipe lists the variables that a build needs" },
	{ "secret", OPTION_LEFT, "the login to a registry is not part of a recipe" },
	{ "registry_secret", OPTION_LEFT, "the login to a registry is not part of a recipe" },
	{ "volumes", OPTION_LEFT, "builds from the recipe have their own caches" },
	{ "frozen", OPTION_LEFT, "`stackbuild lock` pins the packages of a recipe" },
	{ "context_dir", OPTION_LEFT, "it only affects the files that the instructions copy" },
	{ "ignore", OPTION_LEFT, "it only affects the files that the instructions copy" },
};

/* --- instructions --- */

/* Adds text of an instruction that has a place in the app. */
static void
add(struct app *p, struct span there, const char *what, const char *s)
{
	list_push(p->rd->a, &p->origins, (struct origin){ p->text.n, there, what });
	buf_puts(&p->text, s);
}

/* Adds a word in quotes, in which a shell expands nothing. */
static void
add_word(struct app *p, struct span there, const char *s)
{
	struct buf b = BUF(p->rd->a);

	buf_puts(&b, " '");
	for (; *s; s++)
		if (*s == '\'')
			buf_puts(&b, "'\"'\"'");
		else
			buf_putc(&b, *s == '\n' ? ' ' : *s);
	buf_putc(&b, '\'');
	/* The word begins at its quote. */
	buf_puts(&p->text, " ");
	add(p, there, NULL, buf_text(&b) + 1);
}

static void
add_words(struct app *p, const struct node *words)
{
	for (size_t i = 0; modal_at(words, i); i++)
		add_word(p, modal_place(p, modal_at(modal_at(words, i), 1)),
			 modal_text(modal_at(modal_at(words, i), 0)));
}

/* Adds " NAME=value"; variables in the value have their value, as apps that extend PATH expect. */
static void
add_setting(struct app *p, const struct node *pair)
{
	const char *value = modal_text(modal_at(pair, 1));
	struct buf b = BUF(p->rd->a);

	buf_printf(&b, "%s=\"", modal_text(modal_at(pair, 0)));
	for (; *value; value++) {
		if (strchr("\"\\`", *value))
			buf_putc(&b, '\\');
		buf_putc(&b, *value == '\n' ? ' ' : *value);
	}
	buf_putc(&b, '"');
	buf_puts(&p->text, " ");
	add(p, modal_place(p, modal_at(pair, 2)), NULL, buf_text(&b));
}

/* Adds the settings of a dict, except names that no variable has, which are reported. */
static void
add_settings(struct app *p, const char *instruction, const struct node *call,
	     const struct node *pairs)
{
	bool any = false;

	for (size_t i = 0; modal_at(pairs, i); i++) {
		const char *name = modal_text(modal_at(modal_at(pairs, i), 0));

		if (!str_matches(name, "^[A-Za-z_][A-Za-z0-9_]*$")) {
			item_unread(p->rd,
				    item_open(p->rd, name,
					      modal_place(p, modal_at(modal_at(pairs, i), 2))),
				    NULL, "it is not the name of a variable");
			continue;
		}
		if (!any)
			add(p, modal_place(p, node_get(call, "at")),
			    modal_text(node_get(call, "what")), instruction);
		any = true;
		add_setting(p, modal_at(pairs, i));
	}
	if (any)
		buf_putc(&p->text, '\n');
}

/* Adds an instruction for each text. */
static void
add_lines(struct app *p, const char *before, const char *what, const struct node *texts)
{
	for (size_t i = 0; modal_at(texts, i); i++) {
		add(p, modal_place(p, modal_at(modal_at(texts, i), 1)), what, before);
		buf_puts(&p->text, modal_text(modal_at(modal_at(texts, i), 0)));
		buf_putc(&p->text, '\n');
	}
}

/* --- files --- */

/* Returns a file that the app names, relative to the current directory, or to that of the app. */
static const struct source *
open_file(const struct app *p, const char *path, struct span there)
{
	const char *beside = fs_join(p->rd->a, fs_dir(p->rd->a, p->src->path), path);
	const struct source *src = p->rd->open ? p->rd->open(p->rd, path, there) : NULL;

	if (!src && p->rd->open && !p->rd->ds->errors && strcmp(beside, path) != 0)
		src = p->rd->open(p->rd, beside, there);
	return src && *init_first_line(p->rd, src) ? init_text(p->rd, src) : src;
}

/* Reads a file that a call installs, after the image. */
static void
add_file(struct app *p, struct init_item *item, const char *path, bool project)
{
	const struct source *src = open_file(p, path, item->at);

	if (!src) {
		item_unread(p->rd, item, "correct the path, or pass the file, too",
			    "there is no file `%s`", path);
		return;
	}
	item->fate = INIT_PARTS;
	p->d.unseen = true;
	for (size_t i = 0; i < p->read->n; i++)
		if (!strcmp(fs_clean(p->rd->a, p->read->at[i]), fs_clean(p->rd->a, src->path)))
			return;
	list_push(p->rd->a, &p->files, (struct app_file){ src, project });
}

static void
add_files(struct app *p, const struct node *n, const struct node *texts, bool project)
{
	for (size_t i = 0; modal_at(texts, i); i++)
		add_file(p, modal_item(p, n), modal_text(modal_at(modal_at(texts, i), 0)), project);
	if (!modal_at(texts, 0))
		item_unread(p->rd, modal_item(p, n), NULL, "it names no file");
}

/* Reads uv.lock of a project of uv, or its pyproject.toml. */
static void
add_sync(struct app *p, const struct node *call)
{
	const struct node *words = node_get(call, "words");
	const char *dir = modal_at(words, 0) ? modal_text(modal_at(modal_at(words, 0), 0)) : ".";
	struct init_item *item = modal_item(p, call);
	const char *lock = fs_join(p->rd->a, dir, "uv.lock");

	if (open_file(p, lock, item->at) || p->rd->ds->errors)
		add_file(p, item, lock, true);
	else
		add_file(p, item, fs_join(p->rd->a, dir, "pyproject.toml"), true);
}

static void
add_dockerfile(struct app *p, const struct node *call)
{
	const char *path = modal_text(modal_at(modal_at(node_get(call, "words"), 0), 0));
	struct span there = modal_place(p, node_get(call, "at"));
	const struct source *src = open_file(p, path, there);
	size_t n = src ? src->size : 0;

	if (!src) {
		if (!p->rd->ds->errors)
			diag_help(diag_at(p->rd->ds, E_INIT_INPUT, there, "there is no file `%s`",
					  path),
				  "run init in the directory in which you run `modal`");
		return;
	}
	list_push(p->rd->a, &p->origins, (struct origin){ 0, { .src = src }, NULL });
	/* A continuation on the last line does not reach the next call. */
	while (n && strchr(" \t\r\n", src->text[n - 1]))
		n--;
	n -= n && src->text[n - 1] == '\\';
	buf_add(&p->text, src->text, n);
	buf_putc(&p->text, '\n');
}

/* --- calls --- */

static const struct call_row *
call_of(const char *name)
{
	static const struct call_row other = { NULL, CALL_UNREAD, "init does not read it", NULL };

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(calls[i].name, name))
			return &calls[i];
	return &other;
}

static const struct option_row *
option_of(const struct node *n)
{
	static const struct option_row other = { NULL, OPTION_UNREAD, NULL };
	const char *name = modal_text(node_get(n, "name"));

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (!strcmp(options[i].name, name))
			return &options[i];
	return &other;
}

/* Takes the Python of an image: `add_python="3.11"`. */
static void
take_python(struct app *p, const struct node *n)
{
	const char *series = modal_text(modal_at(modal_at(node_get(n, "texts"), 0), 0));
	struct init_item *item = modal_item(p, n);

	p->d.has_python = true;
	item_take(p->rd, item, "python",
		  str_matches(series, "^3[.][0-9]+[.]") ?
			  arena_copy(p->rd->a, series, 2 + strspn(series + 2, "0123456789")) :
			  series);
}

/* Decides options that are no part of an instruction, and adds those that precede it. */
static void
add_options(struct app *p, const struct node *call)
{
	const struct node *all = node_get(call, "options");

	for (size_t i = 0; modal_at(all, i); i++) {
		const struct node *n = modal_at(all, i), *texts = node_get(n, "texts");
		const struct option_row *row = option_of(n);

		if (row->kind == OPTION_ENV)
			add_settings(p, "RUN export", n, node_get(n, "pairs"));
		else if (row->kind == OPTION_PYTHON)
			take_python(p, n);
		else if (row->kind == OPTION_REQUIREMENTS)
			add_files(p, n, texts, false);
		else if (row->kind == OPTION_LEFT)
			item_leave(p->rd, modal_item(p, n), "%s", row->text);
		else if (row->kind == OPTION_UNREAD &&
			 strcmp(modal_text(node_get(n, "name")), "vars"))
			item_unread(p->rd, modal_item(p, n), NULL, "init does not read it");
	}
}

/* Adds an instruction that runs a command with the words and options of a call. */
static void
add_command(struct app *p, const struct node *call, const char *command)
{
	const struct node *all = node_get(call, "options");

	add(p, modal_place(p, node_get(call, "at")), modal_text(node_get(call, "what")), "RUN ");
	buf_puts(&p->text, command);
	add_words(p, node_get(call, "words"));
	for (size_t i = 0; modal_at(all, i); i++) {
		const struct node *texts = node_get(modal_at(all, i), "texts");
		const struct option_row *row = option_of(modal_at(all, i));

		for (size_t k = 0; modal_at(texts, k); k++) {
			struct span there = modal_place(p, modal_at(modal_at(texts, k), 1));

			if (row->kind > OPTION_RAW)
				continue;
			buf_putc(&p->text, ' ');
			add(p, there, NULL,
			    row->kind == OPTION_RAW ? modal_text(modal_at(modal_at(texts, k), 0)) :
						      row->text);
			if (row->kind == OPTION_VALUE)
				add_word(p, there, modal_text(modal_at(modal_at(texts, k), 0)));
		}
	}
	buf_putc(&p->text, '\n');
}

/* Adds the options of FROM that are instructions. */
static void
add_setup(struct app *p, const struct node *call)
{
	const struct node *all = node_get(call, "options");

	for (size_t i = 0; modal_at(all, i); i++)
		if (option_of(modal_at(all, i))->kind == OPTION_LINES)
			add_lines(p, "", NULL, node_get(modal_at(all, i), "texts"));
}

static const struct node *
pairs_of(const struct node *call)
{
	const struct node *all = node_get(call, "options");

	for (size_t i = 0; modal_at(all, i); i++)
		if (!strcmp(modal_text(node_get(modal_at(all, i), "name")), "vars"))
			return node_get(modal_at(all, i), "pairs");
	return NULL;
}

static void
add_image(struct app *p, const struct node *call, const struct call_row *row)
{
	const char *image = modal_text(modal_at(modal_at(node_get(call, "words"), 0), 0));

	if (row->kind == CALL_DOCKERFILE) {
		add_dockerfile(p, call);
		return;
	}
	p->d.no_image = row->kind == CALL_NO_IMAGE ? row->text : NULL;
	add(p, modal_place(p, node_get(call, "at")), modal_text(node_get(call, "what")), "FROM ");
	buf_printf(&p->text, "%s\n",
		   row->kind == CALL_IMAGE && *image && !strpbrk(image, " \t\n") ? image :
										   "scratch");
	add_setup(p, call);
}

void
modal_add_call(struct app *p, const struct node *call)
{
	const struct call_row *row = call_of(modal_text(node_get(call, "call")));
	const struct node *words = node_get(call, "words");

	switch (row->kind) {
	case CALL_IMAGE:
	case CALL_NO_IMAGE:
	case CALL_DOCKERFILE:
		add_image(p, call, row);
		add_options(p, call);
		return;
	case CALL_LEFT: item_leave(p->rd, modal_item(p, call), "%s", row->text); return;
	case CALL_UNREAD:
		p->d.unseen = true;
		item_unread(p->rd, modal_item(p, call), row->help, "%s", row->text);
		return;
	case CALL_ENTRYPOINT:
		if (modal_at(words, 0))
			item_leave(p->rd, modal_item(p, call), "a recipe has no key for it");
		else
			item_take(p->rd, modal_item(p, call), "base", NULL);
		return;
	default: break;
	}
	add_options(p, call);
	if (row->kind == CALL_WORDS &&
	    (modal_at(words, 0) || !modal_at(node_get(call, "options"), 0)))
		add_command(p, call, row->text);
	else if (row->kind == CALL_LINES)
		add_lines(p, row->text, *row->text ? modal_text(node_get(call, "what")) : NULL,
			  words);
	else if (row->kind == CALL_ENV)
		add_settings(p, "ENV", call, pairs_of(call));
	else if (row->kind == CALL_REQUIREMENTS || row->kind == CALL_PROJECT)
		add_files(p, call, words, row->kind == CALL_PROJECT);
	else if (row->kind == CALL_SYNC)
		add_sync(p, call);
}

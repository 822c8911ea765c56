#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "docker.h"

/*
 * The application of a Dockerfile: COPY and ADD of local files, ENTRYPOINT, CMD and USER.
 *
 * The recipe copies each source to the same path below /app. Words of the commands, and variables,
 * that contain the target of a COPY get the path below /app.
 */

/* A text is compared with the targets of at most this number of sources. */
enum { COPIES_COMPARED = 64 };

/* --- COPY and ADD --- */

/* Returns whether a source is a directory, by its name: COPY then copies its content. */
static bool
names_directory(const char *source)
{
	const char *name = fs_name(source);

	return !*name || among(source, ". ./") ||
	       (!strchr(*name == '.' ? name + 1 : name, '.') &&
		!str_matches(name, "^(LICENSE|README|NOTICE|VERSION|Makefile|Dockerfile.*)$"));
}

/* Returns why a recipe cannot copy a source to a target, or NULL. */
static const char *
not_copied(const char *source, const char *target)
{
	static const char system[] =
		"^/(etc|usr/(local/)?(bin|lib|share|include)|s?bin|lib|var|tmp)"
		"(/|$)|/site-packages/";

	if (strstr(source, "://") || str_matches(source, "^[^/]+@[^/]+:"))
		return "it downloads a file: add the file to the repository";
	if (strpbrk(source, ":*?["))
		return "`app.copy` has no patterns: name the files";
	return str_matches(target, system) ?
		       "a recipe copies files to /app, and not to a directory of the system" :
		       NULL;
}

static void
add_source(struct docker *d, struct init_item *item, const struct word *w, const char *target,
	   bool into)
{
	struct init *rd = d->rd;
	size_t star = ends_with(w->s, "/*") ? strlen(w->s) - 1 : strlen(w->s);
	const char *source = fs_clean(rd->a, arena_copy(rd->a, w->s, star));
	bool directory = !strcmp(w->s, "*") || ends_with(w->s, "/") || names_directory(w->s) ||
			 ends_with(w->s, "/*");
	const char *why;

	source += *source == '/';
	source = *source && strcmp(w->s, "*") != 0 ? source : ".";
	why = w->unknown          ? "its variables have no value here" :
	      strstr(w->s, "://") ? not_copied(w->s, target) :
				    not_copied(source, target);
	if (into && !directory)
		target = fs_join(rd->a, target, fs_name(source));
	if (why)
		item_unread(rd, item, "add it to `app: {copy: [...]}` if the application needs it",
			    "%s", why);
	if (!w->unknown && !strpbrk(source, ":*?["))
		list_push(rd->a, &d->copied,
			  (struct copied){ item, source, fs_clean(rd->a, target), directory });
}

void
docker_take_copy(struct docker *d, struct init_item *item, const struct command *c, bool from)
{
	const struct word *last = &c->at[c->n - 1];
	const char *target = fs_join(d->rd->a, d->dir, last->s);
	bool into = c->n > 2 || ends_with(last->s, "/") || among(last->s, ". .. ./") ||
		    !strcmp(fs_clean(d->rd->a, target), fs_clean(d->rd->a, d->dir));

	item->kind = from ? INIT_OTHER : INIT_COPY;
	for (size_t k = 0; k + 1 < c->n; k++)
		item->wide |= among(c->at[k].s, ". ./") || strpbrk(c->at[k].s, "*?[");
	if (from || d->in->bodies.n || c->n < 2 || last->unknown) {
		item_unread(d->rd, item, "add the file to the repository, and to `app.copy`",
			    from            ? "init does not read other images" :
			    d->in->bodies.n ? "init does not read inline files" :
			    c->n < 2        ? "it names no target" :
					      "its variables have no value here");
		return;
	}
	if (c->n == 2 && strstr(c->at[0].s, "requirements") && !names_directory(c->at[0].s))
		item->name = fs_name(c->at[0].s);
	for (size_t k = 0; k + 1 < c->n; k++) {
		struct init_item *part = k ? docker_item(d, &c->at[k], NULL) : item;

		part->kind = item->kind;
		add_source(d, part, &c->at[k], target, into);
	}
}

/* Returns the COPY that brings an absolute path of the image, or NULL. */
static const struct copied *
copied_to(const struct docker *d, const char *path)
{
	const struct copied *found = NULL;

	list_each (x, &d->copied) {
		size_t n = strlen(x->target);

		if (!strncmp(path, x->target, n) &&
		    (!path[n] || (x->dir && (path[n] == '/' || n == 1))) &&
		    (!found || n >= strlen(found->target)))
			found = x;
	}
	return found;
}

const char *
docker_source(struct docker *d, const char *path)
{
	struct arena *a = d->rd->a;
	const char *there = fs_clean(a, fs_join(a, d->dir, path));
	const struct copied *x = copied_to(d, there);

	if (!x)
		return *path == '/' ? NULL : fs_clean(a, path);
	there += strlen(x->target);
	there += *there == '/';
	return *there ? fs_clean(a, fs_join(a, x->source, there)) : x->source;
}

static void
take_source(struct docker *d, const struct copied *x)
{
	struct init *rd = d->rd;
	const char *there = fs_clean(rd->a, fs_join(rd->a, d->dir, x->source));

	if (init_find(rd, "app.copy", x->source)) {
		item_take(rd, x->item, "app.copy", NULL);
		return;
	}
	if (strcmp(x->source, ".") != 0 && strcmp(there, x->target) != 0 &&
	    strcmp(fs_join(rd->a, "/app", x->source), x->target) != 0)
		item_changed(rd, x->item->at, "`%s` is copied to /app/%s, and not to %s", x->source,
			     x->source, x->target);
	x->item->name = x->source;
	item_take(rd, x->item, "app.copy",
		  x->dir && strcmp(x->source, ".") != 0 ? arena_printf(rd->a, "%s/", x->source) :
							  x->source);
}

/* Takes the sources into app.copy, each once, and none below a directory that is copied whole. */
static void
take_sources(struct docker *d)
{
	bool all = list_any(x, &d->copied, !strcmp(x->source, ".") && x->item->fate == INIT_OPEN);

	list_each (x, &d->copied)
		if (x->item->fate == INIT_OPEN && all && strcmp(x->source, ".") != 0)
			item_take(d->rd, x->item, "app.copy", NULL);
		else if (x->item->fate == INIT_OPEN)
			take_source(d, x);
}

/* --- paths of the image --- */

/* Returns whether a word is the path of a file, and not a module, an address or "user/model". */
static bool
is_path(const char *word)
{
	return str_matches(word, "^[.]?/[A-Za-z0-9._/+-]+$") ||
	       str_matches(word, "^[A-Za-z0-9_][A-Za-z0-9._/+-]*"
				 "[.](py|sh|bash|json|ya?ml|toml|txt|cfg|ini|conf|ipynb)$");
}

/* Returns the path in the recipe's image of a word that names a copied file; the word itself if it
 * names none. */
static const char *
moved(struct docker *d, const char *word)
{
	struct arena *a = d->rd->a;
	const struct copied *x;
	const char *source;

	x = is_path(word) ? copied_to(d, fs_clean(a, fs_join(a, d->dir, word))) : NULL;
	if (!x && !strchr(word, '/') && (x = copied_to(d, fs_join(a, "/usr/local/bin", word))))
		word = fs_join(a, "/usr/local/bin", word);
	if (!x)
		return word;
	/* The command needs it, so it is copied from a directory of the system, too. */
	if (x->item->fate == INIT_LEFT)
		x->item->fate = INIT_OPEN;
	source = docker_source(d, word);
	if (*word == '/')
		return strcmp(source, ".") != 0 ? arena_printf(a, "/app/%s", source) : "/app";
	if (!strcmp(fs_clean(a, word), source))
		return word;
	return starts_with(word, "./") ? arena_printf(a, "./%s", source) : source;
}

/* Returns a text in which the targets of copied directories are replaced by their places below /app. */
static const char *
moved_text(struct docker *d, const char *text)
{
	const char *out = text;

	for (size_t i = 0; i < d->copied.n && i < COPIES_COMPARED; i++) {
		const struct copied *x = &d->copied.at[i];
		size_t n = strlen(x->target);
		const char *to = strcmp(x->source, ".") != 0 ?
					 arena_printf(d->rd->a, "/app/%s", x->source) :
					 "/app";
		struct buf b = BUF(d->rd->a);

		if (n < 2 || !strcmp(x->target, to) || x->item->fate == INIT_LEFT)
			continue;
		for (const char *p = out; *p;)
			if (!strncmp(p, x->target, n) && !is_alnum(p[n]) &&
			    !strchr("._-", p[n] ? p[n] : ' ') &&
			    (p == out || (!is_alnum(p[-1]) && !strchr("._-/", p[-1])))) {
				buf_puts(&b, to);
				p += n;
			} else {
				buf_putc(&b, *p++);
			}
		out = arena_strdup(d->rd->a, buf_text(&b));
	}
	return out;
}

static void
add_word(struct docker *d, struct init_item *item, const char *key, const char *word,
	 const char *value)
{
	if (strcmp(word, value) != 0)
		item_changed(d->rd, item->at,
			     "`%s` became `%s`: the application of a recipe is in /app", word,
			     value);
	item_take(d->rd, item, key, value);
}

/* Moves the variables that contain the target of a directory, and lets Python find the modules of a
 * directory whose content was copied to the working directory. */
static void
move_variables(struct docker *d, size_t from)
{
	for (size_t i = from; i < d->rd->items.n; i++) {
		struct init_item *item = d->rd->items.at[i];

		if (item_has(item, "env"))
			add_word(d, item, "env", item->value, moved_text(d, item->value));
	}
	if (init_find(d->rd, "env", "PYTHONPATH") ||
	    (!init_get(d->rd, "app.command") && !init_get(d->rd, "app.entrypoint")))
		return;
	list_each (x, &d->copied)
		if (x->dir && strcmp(x->source, ".") != 0 && !strcmp(x->target, d->dir)) {
			struct init_item *item = item_open(d->rd, "PYTHONPATH", x->item->at);

			item->name = "PYTHONPATH";
			item->comment =
				"the Dockerfile copies its content to the working directory";
			item_take(d->rd, item, "env", arena_printf(d->rd->a, "/app/%s", x->source));
			return;
		}
}

/* --- ENTRYPOINT, CMD, USER, WORKDIR --- */

void
docker_last(struct docker *d, struct init_item *item, const struct command *c)
{
	const char *name = d->in->name;
	struct last *slot = *name == 'C' ? &d->cmd :
			    *name == 'E' ? &d->entrypoint :
			    *name == 'W' ? &d->workdir :
					   &d->user;

	if (!d->stage->last) {
		item_leave(d->rd, item, "only that of the last stage has an effect");
		return;
	}
	if (slot->in)
		item_leave(d->rd, slot->item, "a later %s replaces it", name);
	*slot = (struct last){ d->in, item, c->at[0] };
}

/* Returns how many words start a program in another tool's environment: "uv run --frozen", which is
 * the only environment of a recipe's image. */
static size_t
runner_words(const struct command *c)
{
	bool conda = c->n > 1 && among(c->at[0].s, "conda mamba micromamba");
	size_t k = 2;

	if (c->n < 3 || strcmp(c->at[1].s, "run") != 0 ||
	    !(conda || among(c->at[0].s, "uv poetry pixi pdm pipenv")))
		return 0;
	for (; k + 1 < c->n && *c->at[k].s == '-'; k++)
		k += among(c->at[k].s, "-n --name -p --prefix -e --environment --extra --group "
				       "--python --env-file --with --package --project "
				       "--directory");
	return k < c->n ? k : 0;
}

/* Takes the words of a command without the runner before them. */
static void
take_words(struct docker *d, const char *key, const struct command *c, struct span at)
{
	size_t runner = runner_words(c);

	for (size_t k = 0; k < runner; k++)
		item_take(d->rd, docker_item(d, &c->at[k], NULL), key, NULL);
	if (runner)
		item_changed(d->rd, at,
			     "`%s run` is not in the command: the image has one environment",
			     c->at[0].s);
	if (runner && ends_with(c->at[runner].s, ".py"))
		item_set(d->rd, "python", at, key, "python");
	for (size_t k = runner; k < c->n; k++) {
		const char *word = c->at[k].s, *value = moved(d, word);

		value = value != word || k == 0 ? value : moved_text(d, word);
		add_word(d, docker_item(d, &c->at[k], NULL), key, word, value);
	}
}

static void
take_command(struct docker *d, const struct last *l, const char *key, bool ignored)
{
	enum docker_form form = docker_form(l->in, FORM_SHELL);
	const char *p = l->in->args;
	struct command c = { 0 }, more = { 0 };
	struct span at = l->item->at;

	if (ignored || !docker_words(d, &p, form, &c)) {
		item_leave(d->rd, l->item,
			   ignored ? "ENTRYPOINT in shell form ignores it" : "it runs no command");
		return;
	}
	l->item->fate = INIT_PARTS;
	if (form == FORM_SHELL && (strchr(l->in->args, '$') || docker_words(d, &p, form, &more))) {
		item_set(d->rd, "sh", at, key, "/bin/sh");
		item_set(d->rd, "-c", at, key, "-c");
		p = arena_strdup(d->rd->a, docker_shown(d, l->in->args, strlen(l->in->args)));
		add_word(d, item_open(d->rd, p, at), key, p, moved_text(d, p));
		return;
	}
	take_words(d, key, &c, at);
}

static void
take_user(struct docker *d, const struct last *l)
{
	struct init *rd = d->rd;
	const char *name = arena_copy(rd->a, l->word.s, strcspn(l->word.s, ":")), *number = NULL;

	for (size_t i = 0; i < d->users.n; i++)
		if (among(name, d->users.at[i].number) || !strcmp(name, d->users.at[i].name)) {
			name = d->users.at[i].name;
			number = d->users.at[i].number;
		}
	if (among(name, "root 0")) {
		item_leave(rd, l->item, "an image without `user` runs as root");
	} else if (l->word.unknown || is_digit(*name)) {
		item_unread(
			rd, l->item, "add `user: NAME`; the image runs as root without it",
			"`user` of a recipe is a name, and this file gives none for the number");
	} else {
		item_take(rd, l->item, "user", name);
		if (number && *number)
			item_changed(rd, l->item->at,
				     "`%s` gets the next free number instead of %s: a recipe names "
				     "only the user",
				     name, number);
	}
}

void
docker_finish_app(struct docker *d, size_t from)
{
	bool shell = d->entrypoint.in && docker_form(d->entrypoint.in, FORM_SHELL) == FORM_SHELL;

	d->dir = d->stages.at[d->stages.n - 1].dir;
	if (d->entrypoint.in)
		take_command(d, &d->entrypoint, "app.entrypoint", false);
	if (d->cmd.in)
		take_command(d, &d->cmd, "app.command", shell);
	take_sources(d);
	move_variables(d, from);
	if (d->user.in)
		take_user(d, &d->user);
	if (!d->workdir.in)
		return;
	if (!init_get(d->rd, "app.copy") && !init_get(d->rd, "app.command") &&
	    !init_get(d->rd, "app.entrypoint")) {
		item_leave(d->rd, d->workdir.item, "a recipe's image without `app` has none");
		return;
	}
	item_take(d->rd, d->workdir.item, "app.command", NULL);
	if (strcmp(d->dir, "/app") != 0)
		item_changed(d->rd, d->workdir.item->at, "the working directory `%s` became `/app`",
			     d->dir);
}

#include <string.h>

#include "base/fs.h"
#include "docker.h"

/* Reads the commands of a RUN: apt, git, conda, pip and similar ones. */

static const char *
word(const struct command *c, size_t i)
{
	return i < c->n ? c->at[i].s : "";
}

/* Reports an unsupported installer: its packages are unknown. */
static void
unread(struct docker *d, struct init_item *item)
{
	d->unseen = true;
	item_unread(d->rd, item, "add the packages that it installs to `packages` or `apt`",
		    "init cannot tell which packages it installs");
}

/* --- apt --- */

/* Returns why a recipe does not need a system package, or NULL. */
static const char *
not_apt(struct docker *d, const struct word *w)
{
	size_t minor = starts_with(w->s, "python3.") ? strspn(w->s + 8, "0123456789") : 0;

	if (w->unknown)
		return "its variables have no value here";
	if (minor && !d->has_python)
		item_take(d->rd, docker_item(d, w, NULL), "python",
			  arena_copy(d->rd->a, w->s + 6, 2 + minor));
	return str_matches(w->s, "^(python3|python-is-|python$)") ?
		       "`python:` installs it" :
	       str_matches(w->s, "^(cuda-|nvidia-|libcudnn|libnccl)") ?
		       "the base image and torch contain CUDA" :
	       among(w->s, "software-properties-common") ?
		       "a recipe has no key for other archives" :
		       NULL;
}

static void
run_apt(struct docker *d, struct init_item *item, const struct command *c, size_t k)
{
	static const char valued[] = "-t -o -c --target-release";
	bool runtime = d->root && d->stage->last && docker_root(d, d->stage) != d->root;

	while (*word(c, k) == '-')
		k += among(c->at[k].s, valued) ? 2 : 1;
	if (among(word(c, k), "update clean autoclean autoremove"))
		item_take(d->rd, item, "apt", NULL);
	else if (!among(word(c, k), "install"))
		item_leave(d->rd, item, "a recipe only installs packages");
	if (item->fate != INIT_OPEN)
		return;
	item->fate = INIT_PARTS;
	for (k++; k < c->n; k++) {
		const struct word *w = &c->at[k];
		const char *why;

		k += among(w->s, valued);
		if (*w->s == '-')
			continue;
		why = not_apt(d, w);
		item = docker_item(d, w, NULL);
		item->kind = runtime ? INIT_OTHER : INIT_APT;
		item->name = w->s;
		if (!runtime && !d->python &&
		    str_matches(w->s, "^python3($|-(pip|dev|venv|full)$)"))
			d->python = item;
		if (why)
			item_leave(d->rd, item, "%s", why);
		else
			item_take(d->rd, item, runtime ? "runtime.apt" : "apt", w->s);
	}
}

/* --- git --- */

static struct clone *
clone_in(struct docker *d, const char *path)
{
	size_t n;

	path = !among(path, ". ./") ? path : d->dir;
	n = strlen(path);
	while (n && path[n - 1] == '/')
		n--;
	path = fs_name(arena_copy(d->rd->a, path, n));
	for (size_t i = d->clones.n; i-- > 0;)
		if (!strcmp(d->clones.at[i].dir, path))
			return &d->clones.at[i];
	return NULL;
}

static void
add_clone(struct docker *d, struct init_item *item, const struct command *c, size_t k)
{
	struct clone clone = { 0 };

	for (; k < c->n; k++) {
		const char *s = c->at[k].s;

		if (among(s, "-b --branch"))
			clone.ref = word(c, ++k);
		else if (starts_with(s, "--branch="))
			clone.ref = s + strlen("--branch=");
		else if (among(s, "--depth -j --jobs -c --config --filter -o --origin"))
			k++;
		else if (*s != '-')
			*(clone.url ? &clone.dir : &clone.url) = s;
	}
	if (!clone.url) {
		item_unread(d->rd, item, NULL, "it names no repository");
		return;
	}
	clone.dir = fs_name(clone.dir ? clone.dir : clone.url);
	if (ends_with(clone.dir, ".git"))
		clone.dir = arena_copy(d->rd->a, clone.dir, strlen(clone.dir) - 4);
	list_push(d->rd->a, &clone.items, item);
	list_push(d->rd->a, &d->clones, clone);
}

/* The item of a clone's command is decided with the clone. */
static void
run_git(struct docker *d, struct init_item *item, const struct command *c, size_t k)
{
	bool elsewhere = among(word(c, k), "-C");
	struct clone *clone = clone_in(d, elsewhere ? word(c, k + 1) : ".");

	k += elsewhere ? 2 : 0;
	if (among(word(c, k), "clone")) {
		add_clone(d, item, c, k + 1);
	} else if (!clone || !among(word(c, k), "checkout switch reset submodule fetch")) {
		item_leave(d->rd, item, "init does not support this git command");
	} else {
		if (among(word(c, k), "checkout switch reset"))
			clone->ref = word(c, c->n - 1);
		list_push(d->rd->a, &clone->items, item);
	}
}

/* --- pip --- */

/* Decides "-r requirements.txt": read by other code, or the application's. */
static void
requirements(struct docker *d, struct init_item *item, const char *file)
{
	const char *name = fs_name(file);
	const struct clone *clone = clone_in(d, strchr(file, '/') ? fs_dir(d->rd->a, file) : ".");

	if (clone) {
		d->unseen = true;
		item_unread(d->rd, item, "add its lines to `packages`",
			    "it is a file of the clone of %s", clone->url);
		return;
	}
	if (names_have(&d->read, name)) {
		item_take(d->rd, item, "packages", NULL);
		return;
	}
	d->unseen = true;
	if (init_get(d->rd, "app.requirements")) {
		place_option(d->rd, item, PIP_REQUIREMENTS, name);
		return;
	}
	item_take(d->rd, item, "app.requirements", name);
	diag_help(diag_at(d->rd->ds, W_INIT_NOT_READ, item->at,
			  "`%s` was not read: it became `app: {requirements: %s}`", file, name),
		  "add `--from %s` if it names the stack's packages", name);
}

static void
requirement(struct docker *d, const struct word *w, const char *text, const char *what)
{
	struct init_item *item = docker_item(d, w, what);
	struct clone *clone = NULL;

	item->kind = INIT_PIP;
	item->call = d->call.number;
	item->isolated = d->call.isolated;
	item->index = d->call.index;
	item->extra = d->call.extra;
	if (w->redirect)
		diag_help(diag_at(d->rd->ds, W_INIT_MOVES, item->at,
				  "the shell reads `%s` as a redirection: pip gets only a name",
				  text),
			  "put it in quotes");
	if (is_local_path(text))
		clone = clone_in(d, arena_copy(d->rd->a, text, strcspn(text, "[")));
	if (clone) {
		clone->by = item;
		text = arena_printf(d->rd->a, "git+%s%s%s", clone->url, clone->ref ? "@" : "",
				    clone->ref ? clone->ref : "");
	}
	item->name = name_normalize(d->rd->a, text);
	if (w->unknown)
		item_unread(d->rd, item, NULL, "its variables have no value here");
	else
		place_requirement(d->rd, item, text, !d->call.isolated);
	if (item->key && (!d->root || !strcmp(item->key, "torch.version")))
		d->root = docker_root(d, d->stage);
}

static void
option(struct docker *d, const struct word *w, enum pip_option o, const char *value)
{
	bool inside = strstr(w->s, value) != NULL;
	const char *what = inside ? w->s : arena_printf(d->rd->a, "%s %s", w->s, value);

	if (o == PIP_EDITABLE)
		requirement(d, inside ? w : w + 1, value, what);
	else if (o == PIP_REQUIREMENTS)
		requirements(d, docker_item(d, w, what), value);
	else
		place_option(d->rd, docker_item(d, w, what), o, value);
}

/* Reads options first: they apply to the whole call, wherever they are. */
static void
read_words(struct docker *d, const struct command *c, size_t from, bool second)
{
	for (size_t i = from; i < c->n; i++) {
		const struct word *w = &c->at[i];
		const char *value, *tag = NULL;
		enum pip_option o = pip_option(d->rd->a, w->s, &value);

		if (!value)
			value = o >= PIP_SETTING && i + 1 < c->n ? c->at[++i].s : "";
		if (second && o == PIP_NONE)
			requirement(d, w, w->s, NULL);
		else if (second && o != PIP_QUIET)
			option(d, w, o, value);
		d->call.isolated &= o != PIP_NO_ISOLATION;
		if (o == PIP_INDEX || o == PIP_EXTRA_INDEX)
			tag = torch_index_tag(d->rd, value);
		if (tag)
			*(o == PIP_INDEX ? &d->call.index : &d->call.extra) = tag;
	}
}

static void
run_pip(struct docker *d, const struct command *c, size_t from)
{
	d->call = (struct call){ .number = d->call.number + 1, .isolated = true };
	read_words(d, c, from, false);
	read_words(d, c, from, true);
}

/* --- Python --- */

static void
run_python(struct docker *d, struct init_item *item, const struct command *c, size_t k)
{
	const char *s = fs_name(word(c, k - 1));
	bool python = starts_with(s, "python");

	if (python && among(word(c, k), "-m"))
		s = word(c, ++k), k++;
	if (!strcmp(s, "uv") && among(word(c, k), "pip"))
		s = word(c, k++);
	if (str_matches(s, "^pip[.0-9]*$") && among(word(c, k), "install")) {
		item->fate = INIT_PARTS;
		run_pip(d, c, k + 1);
	} else if (python && among(word(c, k), "setup.py") &&
		   among(word(c, k + 1), "install develop")) {
		/* In a clone, this means an installation by pip without build isolation. */
		item->fate = INIT_PARTS;
		d->call = (struct call){ .number = d->call.number + 1 };
		requirement(d, &c->at[0], ".", ".");
	} else if (!strcmp(s, "uv") && among(word(c, k), "sync add")) {
		unread(d, item);
	} else {
		item_leave(d->rd, item,
			   python && among(word(c, k), "setup.py") ?
				   "init does not support this command of setup.py" :
				   "init does not support this command");
	}
	for (; !strcmp(s, "uv") && !d->has_python && k + 1 < c->n; k++)
		if (among(word(c, k), "--python install") && starts_with(word(c, k + 1), "3."))
			item_take(d->rd, docker_item(d, &c->at[k + 1], NULL), "python",
				  word(c, k + 1));
}

static void
run_conda(struct docker *d, struct init_item *item, const struct command *c, size_t k)
{
	/* "conda run -n env pip install ..." is a command of pip. */
	for (size_t j = k; among(word(c, k), "run") && j < c->n; j++)
		if (str_matches(fs_name(word(c, j)), "^(python|pip)[.0-9]*$")) {
			run_python(d, item, c, j + 1);
			return;
		}
	if (!among(word(c, k), "install create")) {
		unread(d, item);
		return;
	}
	d->unseen = true;
	item->fate = INIT_PARTS;
	for (k++; k < c->n; k++)
		if (among(c->at[k].s, "-c --channel") && k + 1 < c->n)
			item_leave(d->rd, docker_item(d, &c->at[++k], NULL), "%s", NO_CHANNEL);
		else if (among(c->at[k].s, "-n --name -p --prefix -f --file"))
			k++;
		else if (*c->at[k].s != '-')
			place_conda(d->rd, docker_item(d, &c->at[k], NULL),
				    c->at[k].unknown ? "" : c->at[k].s);
}

/* --- commands --- */

/* Keeps the number of a user, which USER may name. */
static void
add_user(struct docker *d, struct init_item *item, const struct command *c, size_t k)
{
	struct docker_user user = { word(c, c->n - 1), "" };

	for (; k < c->n; k++)
		if (among(c->at[k].s, "-u --uid"))
			user.number = word(c, k + 1);
		else if (starts_with(c->at[k].s, "--uid="))
			user.number = c->at[k].s + strlen("--uid=");
	list_push(d->rd->a, &d->users, user);
	item_leave(d->rd, item, "`user:` creates the user that the image runs as");
}

static void
run_other(struct docker *d, struct init_item *item, const struct command *c, size_t k)
{
	const char *s = fs_name(word(c, k - 1));

	if (among(s, "cd export"))
		item->fate = INIT_PARTS;
	else if (among(s, "rm") && strstr(item->what, "/var/lib/apt/lists"))
		item_take(d->rd, item, "apt", NULL);
	else if (among(s, "poetry pdm pipenv pixi easy_install dnf yum apk"))
		unread(d, item);
	else if (among(s, "useradd adduser"))
		add_user(d, item, c, k);
	else if (among(s, "set echo true : mkdir ldconfig"))
		item_leave(d->rd, item, "it installs nothing");
	else
		item_leave(d->rd, item, "init does not support this command");
	if (among(s, "cd"))
		d->dir = fs_clean(d->rd->a, fs_join(d->rd->a, d->dir, word(c, k)));
	for (; among(s, "export") && k < c->n; k++)
		docker_setting(d, &c->at[k], true);
}

/* Skips words that do not change the installed packages, and settings, which are items. */
static void
run_command(struct docker *d, const struct command *c, const char *begin, const char *end)
{
	static const char prefixes[] = "sudo time exec then do else if elif while until ! { } env "
				       "command fi done -E -H";
	struct init_item *item;
	const char *s = "";
	size_t k = 0;

	for (; k < c->n; k++)
		if (str_matches((s = c->at[k].s), "^[A-Za-z0-9_]+="))
			docker_setting(d, &c->at[k], true);
		else if (!among(s, prefixes))
			break;
	if (k == c->n)
		return;
	s = fs_name(s);
	item = docker_item(d, &c->at[0], docker_shown(d, begin, (size_t)(end - begin)));
	k++;
	if (str_matches(s, "^(uv|(python|pip)[.0-9]*)$"))
		run_python(d, item, c, k);
	else if (among(s, "apt-get apt aptitude"))
		run_apt(d, item, c, k);
	else if (among(s, "git"))
		run_git(d, item, c, k);
	else if (among(s, "conda mamba micromamba"))
		run_conda(d, item, c, k);
	else
		run_other(d, item, c, k);
}

void
docker_commands(struct docker *d, struct init_item *item)
{
	enum docker_form form = docker_form(d->in, FORM_SHELL);
	const char *p = d->in->args;
	size_t before = d->rd->items.n;
	struct command c = { 0 };

	/* The plan mounts caches, and a recipe has no other mounts. */
	for (size_t k = 0; k < d->in->flags.n; k++)
		if (!strstr(d->in->flags.at[k], "type=cache"))
			item_leave(d->rd, item_open(d->rd, d->in->flags.at[k], item->at),
				   "a recipe has no key for this option of RUN");
	/* A heredoc without a command is the script; otherwise it is the command's input. */
	if (d->in->bodies.n && *p == '<')
		p = d->in->bodies.at[0];
	if (starts_with(p, "#!") && !strstr(arena_copy(d->rd->a, p, strcspn(p, "\n")), "sh"))
		item_leave(d->rd, item, "init does not read this interpreter's scripts");
	else
		item->fate = INIT_PARTS;
	while (item->fate == INIT_PARTS && !d->rd->ds->errors && docker_words(d, &p, form, &c))
		run_command(d, &c, form == FORM_ARRAY ? d->in->args : c.at[0].p, p);
	if (d->rd->items.n == before && item->fate == INIT_PARTS)
		item_leave(d->rd, item, "it runs no command");
}

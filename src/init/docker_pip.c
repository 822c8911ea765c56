#include <string.h>

#include "base/fs.h"
#include "docker.h"

/* Reads the commands that install Python packages: pip, uv, conda, Poetry, PDM, Pixi. */

const char *
docker_word(const struct command *c, size_t i)
{
	return i < c->n ? c->at[i].s : "";
}

/* Reports an unsupported installer: its packages are unknown. */
void
docker_unread(struct docker *d, struct init_item *item)
{
	d->unseen = true;
	item_unread(d->rd, item, "add the packages that it installs to `packages` or `apt`",
		    "init cannot tell which packages it installs");
}

/* --- pip --- */

/* Decides "-r requirements.txt": read by other code or here, or the application's. */
static void
requirements(struct docker *d, struct init_item *item, const char *file)
{
	const char *in = docker_source(d, file), *name = in ? in : fs_name(file);
	const struct clone *clone =
		docker_clone_in(d, strchr(file, '/') ? fs_dir(d->rd->a, file) : ".");

	if (clone) {
		d->unseen = true;
		item_unread(d->rd, item, "add its lines to `packages`",
			    "it is a file of the clone of %s", clone->url);
		return;
	}
	if (names_have(&d->read, fs_name(file))) {
		item_take(d->rd, item, "packages", NULL);
		return;
	}
	d->unseen = true;
	if (docker_project_file(d, item, file))
		return;
	if (init_get(d->rd, "app.requirements")) {
		place_option(d->rd, item, PIP_REQUIREMENTS, name);
		return;
	}
	item_take(d->rd, item, "app.requirements", name);
	diag_help(diag_at(d->rd->ds, W_INIT_NOT_READ, item->at,
			  "`%s` was not read: it became `app: {requirements: %s}`", file, name),
		  "add `--from %s` if it names the stack's packages", name);
}

/* Adds the extras and groups that a command names, "gpu,train": "" for none. */
static void
add_extras(struct docker *d, const char *names)
{
	for (const char *p = names + strspn(names, ", ]"); *p; p += strspn(p, ", ]")) {
		size_t n = strcspn(p, ", ]");

		list_push(d->rd->a, &d->rd->extras,
			  name_normalize(d->rd->a, arena_copy(d->rd->a, p, n)));
		p += n;
	}
}

/* Reads the pyproject.toml of a directory that pip installs, ".[gpu]"; false: there is none. */
static bool
local_project(struct docker *d, struct init_item *item, const char *text)
{
	size_t n = strcspn(text, "[");
	const char *directory = arena_copy(d->rd->a, text, n);

	if (text[n])
		add_extras(d, text + n + 1);
	if (!docker_project_file(d, item, fs_join(d->rd->a, directory, "pyproject.toml")))
		return false;
	item_unread(
		d->rd, item, "copy its code with `app: {copy: [...]}`, and import it from /app",
		"the recipe installs the requirements of this project, and not the project itself");
	return true;
}

static void
requirement(struct docker *d, const struct word *w, const char *text, const char *what)
{
	struct init_item *item = docker_item(d, w, what);
	struct clone *clone = NULL;

	item->kind = INIT_PIP;
	item->call = d->call.number;
	item->isolated = d->call.isolated;
	item->linked = d->call.links;
	item->index = d->call.index;
	item->extra = d->call.extra;
	if (w->redirect)
		diag_help(diag_at(d->rd->ds, W_INIT_MOVES, item->at,
				  "the shell reads `%s` as a redirection: pip gets only a name",
				  text),
			  "put it in quotes");
	if (is_local_path(text))
		clone = docker_clone_in(d, arena_copy(d->rd->a, text, strcspn(text, "[")));
	if (clone) {
		clone->by = item;
		text = arena_printf(d->rd->a, "git+%s%s%s", clone->url, clone->ref ? "@" : "",
				    clone->ref ? clone->ref : "");
	}
	if (!clone && !w->unknown && is_local_path(text) && local_project(d, item, text))
		return;
	item->name = name_normalize(d->rd->a, text);
	if (w->unknown)
		item_unread(d->rd, item, NULL, "its variables have no value here");
	else
		place_requirement(d->rd, item, text, !d->call.isolated);
	if (item_has(item, "extensions"))
		docker_add_settings(d, item);
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
		d->call.links |= o == PIP_LINKS;
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

/* --- projects --- */

/* Reads the project that a command such as `uv sync --extra gpu` installs. */
void
docker_run_project(struct docker *d, struct init_item *item, const struct command *c, size_t k)
{
	static const char valued[] = "--extra -E --extras --group --with --only-group --only";

	for (; k < c->n; k++)
		if (among(c->at[k].s, valued))
			add_extras(d, docker_word(c, ++k));
		else if (str_matches(c->at[k].s, "^--(extra|extras|group|with|only-group|only)="))
			add_extras(d, strchr(c->at[k].s, '=') + 1);
		else if (among(c->at[k].s, "--all-extras --all-groups"))
			list_push(d->rd->a, &d->rd->extras, "*");
	if (docker_project_file(d, item, "pyproject.toml"))
		return;
	d->unseen = true;
	item_unread(d->rd, item, "pass the project's file, too: `--from pyproject.toml`",
		    "there is no pyproject.toml beside this file to read its packages from");
}

/* --- Python --- */

void
docker_run_python(struct docker *d, struct init_item *item, const struct command *c, size_t k)
{
	const char *s = fs_name(docker_word(c, k - 1));
	bool python = starts_with(s, "python");

	if (python && among(docker_word(c, k), "-m"))
		s = docker_word(c, ++k), k++;
	if (!strcmp(s, "uv") && among(docker_word(c, k), "pip"))
		s = docker_word(c, k++);
	if (str_matches(s, "^pip[.0-9]*$") && among(docker_word(c, k), "install")) {
		item->fate = INIT_PARTS;
		run_pip(d, c, k + 1);
	} else if (python && among(docker_word(c, k), "setup.py") &&
		   among(docker_word(c, k + 1), "install develop")) {
		/* In a clone, this means an installation by pip without build isolation. */
		item->fate = INIT_PARTS;
		d->call = (struct call){ .number = d->call.number + 1 };
		requirement(d, &c->at[0], ".", ".");
	} else if (!strcmp(s, "uv") && among(docker_word(c, k), "sync")) {
		docker_run_project(d, item, c, k + 1);
	} else if (!strcmp(s, "uv") && among(docker_word(c, k), "add")) {
		item->fate = INIT_PARTS;
		run_pip(d, c, k + 1);
	} else if (!strcmp(s, "uv") && among(docker_word(c, k), "venv python lock cache")) {
		item_leave(d->rd, item, "it installs no package");
	} else {
		item_leave(d->rd, item,
			   python && among(docker_word(c, k), "setup.py") ?
				   "init does not support this command of setup.py" :
				   "init does not support this command");
	}
	for (; !strcmp(s, "uv") && !d->has_python && k + 1 < c->n; k++)
		if (among(docker_word(c, k), "--python install") &&
		    starts_with(docker_word(c, k + 1), "3."))
			item_take(d->rd, docker_item(d, &c->at[k + 1], NULL), "python",
				  docker_word(c, k + 1));
}

/* Reads an environment.yml that a command installs. */
static void
conda_file(struct docker *d, const struct word *w)
{
	struct init_item *item = docker_item(d, w, NULL);
	const char *file = starts_with(w->s, "--file=") ? w->s + strlen("--file=") : w->s;

	if (!docker_project_file(d, item, file))
		item_unread(
			d->rd, item,
			arena_printf(d->rd->a, "add `--from %s`: the option may be repeated", file),
			"`%s` is not beside this file", file);
}

void
docker_run_conda(struct docker *d, struct init_item *item, const struct command *c, size_t k)
{
	/* "conda run -n env pip install ..." is a command of pip. */
	for (size_t j = k; among(docker_word(c, k), "run") && j < c->n; j++)
		if (str_matches(fs_name(docker_word(c, j)), "^(python|pip)[.0-9]*$")) {
			docker_run_python(d, item, c, j + 1);
			return;
		}
	if (among(docker_word(c, k), "env") && among(docker_word(c, k + 1), "create update"))
		k++;
	if (!among(docker_word(c, k), "install create update")) {
		item_leave(d->rd, item, "it installs no package");
		return;
	}
	d->unseen = true;
	item->fate = INIT_PARTS;
	for (k++; k < c->n; k++)
		if (among(c->at[k].s, "-c --channel") && k + 1 < c->n)
			item_leave(d->rd, docker_item(d, &c->at[++k], NULL), "%s", NO_CHANNEL);
		else if (among(c->at[k].s, "-f --file") && k + 1 < c->n)
			conda_file(d, &c->at[k + 1]), k++;
		else if (starts_with(c->at[k].s, "--file="))
			conda_file(d, &c->at[k]);
		else if (among(c->at[k].s, "-n --name -p --prefix"))
			k++;
		else if (*c->at[k].s != '-')
			place_conda(d->rd, docker_item(d, &c->at[k], NULL),
				    c->at[k].unknown ? "" : c->at[k].s);
}

/* Reads the manifest of pixi, which may be in pyproject.toml. */
void
docker_run_pixi(struct docker *d, struct init_item *item)
{
	if (!docker_project_file(d, item, "pixi.toml") &&
	    !docker_project_file(d, item, "pyproject.toml"))
		docker_unread(d, item);
}

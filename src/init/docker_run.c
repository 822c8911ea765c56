#include <string.h>

#include "docker.h"

/* What the commands of a RUN do, as far as they are apt, git, conda, pip and the like. */

static const char *
word(const struct command *c, size_t i)
{
	return i < c->n ? c->at[i].s : "";
}

/* What an installer that is not read brings is not known. */
static void
unread(struct docker *d, size_t i)
{
	d->unseen = true;
	item_unread(&d->rd, i, "add what it installs to `packages` or `apt`",
		    "init does not know what it installs");
}

/* --- apt --- */

/* Why a package of the system's has no place in a recipe, or NULL. */
static const char *
not_apt(struct docker *d, const struct word *w)
{
	size_t minor = starts_with(w->s, "python3.") ? strspn(w->s + 8, "0123456789") : 0;

	if (w->unknown)
		return "its variables have no value here";
	if (minor)
		item_take(&d->rd, docker_item(d, w, NULL), "python",
			  arena_copy(d->rd.a, w->s + 6, 2 + minor));
	if (starts_with(w->s, "python3") || starts_with(w->s, "python-is-") ||
	    among(w->s, "python"))
		return "`python:` installs it";
	if (starts_with(w->s, "cuda-") || starts_with(w->s, "libcudnn") ||
	    starts_with(w->s, "nvidia-") || starts_with(w->s, "libnccl"))
		return "the base image and torch bring CUDA";
	return among(w->s, "software-properties-common") ? "a recipe names no further archives" :
							   NULL;
}

static void
run_apt(struct docker *d, size_t i, const struct command *c, size_t k)
{
	static const char valued[] = "-t -o -c --target-release";
	bool runtime = d->root && d->stage->last && docker_root(d, d->stage) != d->root;
	bool cleaned = strstr(d->in->args, "/var/lib/apt") != NULL;

	while (*word(c, k) == '-')
		k += among(c->at[k].s, valued) ? 2 : 1;
	if (among(word(c, k), "update clean autoclean autoremove"))
		item_take(&d->rd, i, "apt", NULL);
	else if (!among(word(c, k), "install"))
		item_leave(&d->rd, i, "a recipe only installs packages");
	if (item_at(&d->rd, i)->fate != INIT_OPEN)
		return;
	item_at(&d->rd, i)->fate = INIT_PARTS;
	for (k++; k < c->n; k++) {
		const struct word *w = &c->at[k];
		const char *why;

		k += among(w->s, valued);
		if (*w->s == '-')
			continue;
		why = not_apt(d, w);
		i = docker_item(d, w, NULL);
		item_at(&d->rd, i)->kind = runtime ? INIT_OTHER : INIT_APT;
		item_at(&d->rd, i)->name = w->s;
		if (why)
			item_leave(&d->rd, i, "%s", why);
		else
			item_take(&d->rd, i, runtime ? "runtime.apt" : "apt", w->s);
	}
	for (size_t k2 = 0; k2 < d->in->flags.n; k2++)
		cleaned |= strstr(d->in->flags.at[k2], "/var/lib/apt") != NULL;
	for (size_t k2 = 0; k2 < d->in->bodies.n; k2++)
		cleaned |= strstr(d->in->bodies.at[k2], "/var/lib/apt") != NULL;
	if (!cleaned && !d->lists.line)
		d->lists = docker_span(d, c->at[0].p, c->at[0].n);
}

/* --- git --- */

struct clone *
docker_clone(struct docker *d, const char *path)
{
	size_t n;

	path = !among(path, ". ./") ? path : d->dir ? d->dir : "";
	n = strlen(path);
	while (n && path[n - 1] == '/')
		n--;
	path = path_name(arena_copy(d->rd.a, path, n));
	for (size_t i = d->clones.n; i-- > 0;)
		if (!strcmp(d->clones.at[i].dir, path))
			return &d->clones.at[i];
	return NULL;
}

static void
add_clone(struct docker *d, size_t i, const struct command *c, size_t k)
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
		item_unread(&d->rd, i, NULL, "it names no repository");
		return;
	}
	clone.dir = path_name(clone.dir ? clone.dir : clone.url);
	if (ends_with(clone.dir, ".git"))
		clone.dir = arena_copy(d->rd.a, clone.dir, strlen(clone.dir) - 4);
	list_push(d->rd.a, &clone.items, i);
	list_push(d->rd.a, &d->clones, clone);
}

/* The item of a clone's command is decided with the clone. */
static void
run_git(struct docker *d, size_t i, const struct command *c, size_t k)
{
	bool elsewhere = among(word(c, k), "-C");
	struct clone *clone = docker_clone(d, elsewhere ? word(c, k + 1) : ".");

	k += elsewhere ? 2 : 0;
	if (among(word(c, k), "clone")) {
		add_clone(d, i, c, k + 1);
	} else if (!clone || !among(word(c, k), "checkout switch reset submodule fetch")) {
		item_leave(&d->rd, i, "init does not follow this git command");
	} else {
		if (among(word(c, k), "checkout switch reset"))
			clone->ref = word(c, c->n - 1);
		list_push(d->rd.a, &clone->items, i);
	}
}

/* --- Python --- */

static bool
is_versioned(const char *s, const char *name)
{
	size_t n = strlen(name);

	return starts_with(s, name) && strspn(s + n, ".0123456789") == strlen(s + n);
}

/* "python setup.py install" in a clone is pip's install of it without isolation. */
static void
run_setup(struct docker *d, size_t i, const struct command *c, size_t k)
{
	static const char *const words[] = { "install", "--no-build-isolation", "--no-cache-dir",
					     "." };
	struct command pip = { 0 };

	if (!among(word(c, k), "install develop")) {
		item_leave(&d->rd, i, "init does not follow this command of setup.py");
		return;
	}
	item_at(&d->rd, i)->fate = INIT_PARTS;
	for (size_t j = 0; j < sizeof(words) / sizeof(*words); j++)
		list_push(d->rd.a, &pip, c->at[0]);
	for (size_t j = 0; j < pip.n; j++)
		pip.at[j].s = words[j];
	docker_pip(d, &pip, 1);
}

/* pip, uv pip, python -m pip, python setup.py. */
static void
run_python(struct docker *d, size_t i, const struct command *c, size_t k)
{
	const char *s = path_name(word(c, k - 1));

	if (is_versioned(s, "python") && among(word(c, k), "setup.py")) {
		run_setup(d, i, c, k + 1);
		return;
	}
	if (is_versioned(s, "python") && among(word(c, k), "-m"))
		s = word(c, ++k), k++;
	if (!strcmp(s, "uv") && among(word(c, k), "pip"))
		s = word(c, k++);
	if (is_versioned(s, "pip") && among(word(c, k), "install")) {
		item_at(&d->rd, i)->fate = INIT_PARTS;
		docker_pip(d, c, k + 1);
	} else if (!strcmp(s, "uv") && among(word(c, k), "sync add")) {
		unread(d, i);
	} else {
		item_leave(&d->rd, i, "init does not know this command");
	}
	for (; !strcmp(s, "uv") && k + 1 < c->n; k++)
		if (among(word(c, k), "--python install") && starts_with(word(c, k + 1), "3."))
			item_take(&d->rd, docker_item(d, &c->at[k + 1], NULL), "python",
				  word(c, k + 1));
}

/* "pytorch==2.2.2", "python=3.10": torch and Python have the same versions on PyPI; of nothing else
 * that is certain. */
static void
add_conda(struct docker *d, const struct word *w)
{
	size_t n = strcspn(w->s, "=<>"), i = docker_item(d, w, NULL);
	const char *name = arena_copy(d->rd.a, w->s, n),
		   *version = w->s + n + strspn(w->s + n, "=");

	version = arena_copy(d->rd.a, version, strcspn(version, "=*"));
	if (!w->unknown && among(name, "python") && starts_with(version, "3."))
		item_take(&d->rd, i, "python",
			  arena_copy(d->rd.a, version, 2 + strspn(version + 2, "0123456789")));
	else if (!w->unknown && among(name, "pytorch torchvision torchaudio"))
		place_requirement(&d->rd, i,
				  arena_printf(d->rd.a, is_digit(*version) ? "%s==%s" : "%s",
					       name + (*name == 'p' ? 2 : 0), version),
				  false);
	else
		item_unread(&d->rd, i, "add it to `packages` if PyPI has it",
			    "it is a package of conda");
}

static void
run_conda(struct docker *d, size_t i, const struct command *c, size_t k)
{
	/* "conda run -n env pip install ..." is pip's. */
	for (size_t j = k; among(word(c, k), "run") && j < c->n; j++)
		if (is_versioned(path_name(word(c, j)), "pip") ||
		    is_versioned(path_name(word(c, j)), "python")) {
			run_python(d, i, c, j + 1);
			return;
		}
	if (!among(word(c, k), "install create")) {
		unread(d, i);
		return;
	}
	d->unseen = true;
	item_at(&d->rd, i)->fate = INIT_PARTS;
	for (k++; k < c->n; k++)
		if (among(c->at[k].s, "-c --channel -n --name -p --prefix -f --file"))
			k++;
		else if (*c->at[k].s != '-')
			add_conda(d, &c->at[k]);
}

/* --- commands --- */

static void
run_other(struct docker *d, size_t i, const struct command *c, size_t k)
{
	const char *s = path_name(word(c, k - 1));

	if (among(s, "cd export"))
		item_at(&d->rd, i)->fate = INIT_PARTS;
	else if (among(s, "rm") && strstr(item_at(&d->rd, i)->what, "/var/lib/apt/lists"))
		item_take(&d->rd, i, "apt", NULL);
	else if (among(s, "poetry pdm pipenv pixi easy_install dnf yum apk"))
		unread(d, i);
	else
		item_leave(&d->rd, i,
			   among(s, "set echo true : mkdir ldconfig") ?
				   "it installs nothing" :
				   "init does not know this command");
	if (among(s, "cd"))
		d->dir = word(c, k);
	for (; among(s, "export") && k < c->n; k++)
		docker_setting(d, &c->at[k], true);
}

/* Behind words that change nothing of what is installed, and settings, which are items. */
static void
run_command(struct docker *d, const struct command *c, const char *begin, const char *end)
{
	static const char prefixes[] = "sudo time exec then do else if elif while until ! { } env "
				       "command fi done -E -H";
	const char *s = "";
	size_t k = 0, i;

	for (; k < c->n; k++) {
		size_t name = strspn((s = c->at[k].s), "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
						       "abcdefghijklmnopqrstuvwxyz");

		if (name && s[name] == '=')
			docker_setting(d, &c->at[k], true);
		else if (!among(s, prefixes))
			break;
	}
	if (k == c->n)
		return;
	s = path_name(s);
	i = docker_item(d, &c->at[0], docker_shown(d, begin, (size_t)(end - begin)));
	k++;
	if (is_versioned(s, "python") || is_versioned(s, "pip") || among(s, "uv"))
		run_python(d, i, c, k);
	else if (among(s, "apt-get apt aptitude"))
		run_apt(d, i, c, k);
	else if (among(s, "git"))
		run_git(d, i, c, k);
	else if (among(s, "conda mamba micromamba"))
		run_conda(d, i, c, k);
	else
		run_other(d, i, c, k);
}

void
docker_run(struct docker *d, size_t i)
{
	enum docker_form form = docker_form(d->in);
	const char *p = d->in->args;
	size_t before = d->rd.n->items.n;
	struct command c = { 0 };

	/* Caches are the plan's; what else is mounted is not in a recipe. */
	for (size_t k = 0; k < d->in->flags.n; k++)
		if (!strstr(d->in->flags.at[k], "type=cache"))
			item_leave(&d->rd,
				   item_open(&d->rd, d->in->flags.at[k], item_at(&d->rd, i)->at),
				   "a recipe has no place for this option of RUN");
	/* A heredoc alone is the script; of another command it is the input. */
	if (d->in->bodies.n && *p == '<')
		p = d->in->bodies.at[0];
	if (starts_with(p, "#!") && !strstr(arena_copy(d->rd.a, p, strcspn(p, "\n")), "sh"))
		item_leave(&d->rd, i, "init does not read this interpreter's scripts");
	else
		item_at(&d->rd, i)->fate = INIT_PARTS;
	while (item_at(&d->rd, i)->fate == INIT_PARTS && !d->rd.ds->errors &&
	       docker_words(d, &p, form == FORM_ARRAY ? form : FORM_SHELL, &c))
		run_command(d, &c, form == FORM_ARRAY ? d->in->args : c.at[0].p, p);
	if (d->rd.n->items.n == before && item_at(&d->rd, i)->fate == INIT_PARTS)
		item_leave(&d->rd, i, "it runs nothing");
}

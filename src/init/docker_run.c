#include <string.h>

#include "base/fs.h"
#include "docker.h"

/* Reads the commands of a RUN: apt, git, conda, pip and similar ones. */

/* --- apt --- */

/* Returns why a recipe does not need a package of NVIDIA, or NULL. */
static const char *
not_nvidia(struct docker *d, const char *package)
{
	const struct stage *root = docker_root(d, d->stage);
	const struct image_name image =
		facts_image_name(d->rd->f, root && root->image ? root->image : "");

	if (str_matches(package, "^(cuda-drivers|(lib)?nvidia-(driver|utils|kernel|dkms|headless|"
				 "compute|fabricmanager|modprobe|settings|ml|gl|encode|decode))"))
		return "the driver is that of the host";
	if (str_matches(package, "^nvidia-(container|docker)"))
		return "the host has it, and not the image";
	/* https://gitlab.com/nvidia/container-images/cuda: no image has these. */
	if (str_matches(package, "^cuda-(tools|visual-tools|nsight|nvvp|gdb-src|documentation|"
				 "demo-suite|samples)(-|$)"))
		return image.repository && !strcmp(image.repository, "nvidia/cuda") ?
			       NULL :
			       "only NVIDIA's archive has it, which is set up in the images of "
			       "nvidia/cuda";
	if (str_matches(package, "^lib(cudnn|nccl)"))
		return "torch brings its own cuDNN and NCCL";
	if (!str_matches(package, "^(cuda-|nvidia-)"))
		return NULL;
	return image.cuda || image_has_torch(&image) ?
		       "the base image and torch contain CUDA" :
		       "a build from the recipe installs CUDA if the base image has none";
}

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
	       among(w->s, "software-properties-common") ?
		       "a recipe has no key for other archives" :
		       not_nvidia(d, w->s);
}

static void
run_apt(struct docker *d, struct init_item *item, const struct command *c, size_t k)
{
	static const char valued[] = "-t -o -c --target-release";
	bool runtime = d->root && d->stage->last && docker_root(d, d->stage) != d->root;

	while (*docker_word(c, k) == '-')
		k += among(c->at[k].s, valued) ? 2 : 1;
	if (among(docker_word(c, k), "update clean autoclean autoremove"))
		item_take(d->rd, item, "apt", NULL);
	else if (!among(docker_word(c, k), "install"))
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

struct clone *
docker_clone_in(struct docker *d, const char *path)
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
			clone.ref = docker_word(c, ++k);
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
	bool elsewhere = among(docker_word(c, k), "-C");
	struct clone *clone = docker_clone_in(d, elsewhere ? docker_word(c, k + 1) : ".");

	k += elsewhere ? 2 : 0;
	if (among(docker_word(c, k), "clone")) {
		add_clone(d, item, c, k + 1);
	} else if (!clone || !among(docker_word(c, k), "checkout switch reset submodule fetch")) {
		item_leave(d->rd, item, "init does not support this git command");
	} else {
		if (among(docker_word(c, k), "checkout switch reset"))
			clone->ref = docker_word(c, c->n - 1);
		list_push(d->rd->a, &clone->items, item);
	}
}

/* --- commands --- */

/* Keeps the number of a user, which USER may name. */
static void
add_user(struct docker *d, struct init_item *item, const struct command *c, size_t k)
{
	struct docker_user user = { docker_word(c, c->n - 1), "" };

	for (; k < c->n; k++)
		if (among(c->at[k].s, "-u --uid"))
			user.number = docker_word(c, k + 1);
		else if (starts_with(c->at[k].s, "--uid="))
			user.number = c->at[k].s + strlen("--uid=");
	list_push(d->rd->a, &d->users, user);
	item_leave(d->rd, item, "`user:` creates the user that the image runs as");
}

static void
run_other(struct docker *d, struct init_item *item, const struct command *c, size_t k)
{
	const char *s = fs_name(docker_word(c, k - 1));

	if (among(s, "cd export"))
		item->fate = INIT_PARTS;
	else if (among(s, "rm") && strstr(item->what, "/var/lib/apt/lists"))
		item_take(d->rd, item, "apt", NULL);
	else if (among(s, "poetry pdm") && among(docker_word(c, k), "install sync"))
		docker_run_project(d, item, c, k + 1);
	else if (among(s, "pixi") && among(docker_word(c, k), "install"))
		docker_run_pixi(d, item);
	else if (among(s, "poetry pdm pixi") &&
		 !among(docker_word(c, k), "add update upgrade global"))
		item_leave(d->rd, item, "it installs no package");
	else if (among(s, "poetry pdm pipenv pixi easy_install dnf yum apk"))
		docker_unread(d, item);
	else if (among(s, "useradd adduser"))
		add_user(d, item, c, k);
	else if (among(s, "set echo true : mkdir ldconfig"))
		item_leave(d->rd, item, "it installs nothing");
	else
		item_leave(d->rd, item, "init does not support this command");
	if (among(s, "cd"))
		d->dir = fs_clean(d->rd->a, fs_join(d->rd->a, d->dir, docker_word(c, k)));
	for (; among(s, "export") && k < c->n; k++)
		docker_setting(d, &c->at[k], true), docker_keep_settings(d);
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

	d->command++;
	for (; k < c->n; k++)
		if (str_matches((s = c->at[k].s), "^[A-Za-z0-9_]+="))
			docker_setting(d, &c->at[k], true);
		else if (!among(s, prefixes))
			break;
	if (k == c->n)
		docker_keep_settings(d);
	if (k == c->n)
		return;
	s = fs_name(s);
	item = docker_item(d, &c->at[0], docker_shown(d, begin, (size_t)(end - begin)));
	k++;
	if (str_matches(s, "^(uv|(python|pip)[.0-9]*)$"))
		docker_run_python(d, item, c, k);
	else if (among(s, "apt-get apt aptitude"))
		run_apt(d, item, c, k);
	else if (among(s, "git"))
		run_git(d, item, c, k);
	else if (among(s, "conda mamba micromamba"))
		docker_run_conda(d, item, c, k);
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

/* Checks a mirror before a build, and makes pip and git use its files. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/str.h"
#include "fetch/fetch.h"
#include "internal.h"

enum { FAULTS_SHOWN = 8 };

struct checking {
	struct arena *a;
	struct diags *ds;
	const char *dir;    /* the mirror */
	const char *place;  /* where commands see the parts: an absolute path */
	struct names urls;  /* of repositories */
	struct names paths; /* of the same repositories */
	struct mirror_use *out;
	struct names faults;
};

static void
check_file(struct checking *c, const struct item *i)
{
	const char *path = fs_join(c->a, c->dir, i->path);

	if (!fs_exists(path))
		list_push(c->a, &c->faults,
			  arena_printf(c->a, "%s: `%s` does not exist", i->what, i->path));
	else if (!file_is(c->a, path, i->sha256, i->size))
		list_push(c->a, &c->faults,
			  arena_printf(c->a, "%s: `%s` has another digest or size than the lock",
				       i->what, i->path));
}

/* Adds a checked file or directory of the mirror, or (text not NULL) a file with this text. */
static void
add_part(struct checking *c, const char *path, const char *text)
{
	if (list_any(p, &c->out->parts, !strcmp(p->path, path)))
		return;
	list_push(c->a, &c->out->parts,
		  (struct mirror_part){
			  path, text ? NULL : fs_real(c->a, fs_join(c->a, c->dir, path)), text });
}

/*
 * Adds a bare repository with a commit. Only its objects come from the mirror: git compares them with
 * their ids when it fetches them, but does what the settings of a repository say.
 */
static void
use_repository(struct checking *c, const struct repository *r)
{
	/* No character that has a meaning in a configuration of git. */
	if (str_matches(r->url, "^[a-z+]+://[^\\x00-\\x20\\x7f\"\\\\]+$") &&
	    !names_have(&c->urls, r->url)) {
		list_push(c->a, &c->urls, r->url);
		list_push(c->a, &c->paths, r->path);
	}
	add_part(c, arena_printf(c->a, "%s/objects", r->path), NULL);
	add_part(c, arena_printf(c->a, "%s/HEAD", r->path), arena_printf(c->a, "%s\n", r->commit));
	add_part(c, arena_printf(c->a, "%s/refs/stackbuild/%s", r->path, r->commit),
		 arena_printf(c->a, "%s\n", r->commit));
	add_part(c, arena_printf(c->a, "%s/config", r->path),
		 "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
		 "[uploadpack]\n\tallowAnySHA1InWant = true\n");
}

static void
check_repository(struct checking *c, const char *name, const struct repository *r, unsigned depth)
{
	const char *dir = fs_join(c->a, c->dir, r->path), *why = NULL, *said;
	struct git_modules modules = { 0 };

	if (depth > MIRROR_DEPTH_MAX)
		why = "its submodules are nested too deeply";
	else if (!git_mirror_has(dir, r->ref, r->commit))
		why = arena_printf(c->a, "`%s` does not have the commit %.12s", r->path, r->commit);
	else if (r->submodules && !git_mirror_modules(c->a, dir, r->commit, &modules, &said))
		why = said;
	else
		use_repository(c, r);
	if (why)
		list_push(c->a, &c->faults, arena_printf(c->a, "%s: %s", name, why));
	for (size_t i = 0; i < modules.n; i++) {
		const struct repository module = repository_of_module(c->a, &modules.at[i]);

		check_repository(c, name, &module, depth + 1);
	}
}

static void
check_source(struct checking *c, const struct lock_source *source, const struct stack *s)
{
	struct repository r;

	if (!source->commit && !source->sha256)
		list_push(c->a, &c->faults,
			  arena_printf(c->a, "%s: the lock does not pin its source", source->name));
	else if (repository_of(c->a, source, s, &r))
		check_repository(c, source->name, &r, 0);
}

/* Returns the URL of a file or directory. The URL has no characters that are special to a shell,
 * pip or git. */
static const char *
file_url(struct arena *a, const char *place, const char *path)
{
	const char *whole = fs_join(a, place, path);
	struct buf b = BUF(a);

	buf_puts(&b, "file://");
	for (; *whole; whole++)
		if (is_alnum(*whole) || strchr("/._-", *whole))
			buf_putc(&b, *whole);
		else
			buf_printf(&b, "%%%02X", (unsigned char)*whole);
	return buf_text(&b);
}

/* Adds variables that set one more key of git's configuration. */
static void
configure_git(struct arena *a, struct mirror_use *u, size_t *n, const char *key, const char *value)
{
	list_push(a, &u->env, arena_printf(a, "GIT_CONFIG_KEY_%zu=%s", *n, key));
	list_push(a, &u->env, arena_printf(a, "GIT_CONFIG_VALUE_%zu=%s", *n, value));
	*n += 1;
}

/* Makes pip and git on this host read the parts, including submodules. */
static void
use_here(struct checking *c)
{
	const char *old = getenv("GIT_CONFIG_COUNT");
	size_t n = old ? strtoul(old, NULL, 10) % 1000 : 0;
	struct arena *a = c->a;

	for (size_t i = 0; i < c->urls.n; i++)
		configure_git(
			a, c->out, &n,
			arena_printf(a, "url.%s.insteadOf", file_url(a, c->place, c->paths.at[i])),
			c->urls.at[i]);
	/* Otherwise, git rejects submodules from file://. */
	configure_git(a, c->out, &n, "protocol.file.allow", "always");
	list_push(a, &c->out->env, arena_printf(a, "GIT_CONFIG_COUNT=%zu", n));
	list_push(a, &c->out->env, "PIP_NO_INDEX=1");
	list_push(a, &c->out->env,
		  arena_printf(a, "PIP_FIND_LINKS=%s", file_url(a, c->place, "files")));
}

/* Adds git/config, which git reads in an image with XDG_CONFIG_HOME=MIRROR_PLACE. */
static void
use_git_in_image(struct checking *c)
{
	struct buf b = BUF(c->a);

	/* The files belong to another user; submodules have file:// URLs; a lock pins commits. */
	buf_puts(&b, "[safe]\n\tdirectory = *\n[protocol \"file\"]\n\tallow = always\n"
		     "[uploadpack]\n\tallowAnySHA1InWant = true\n");
	for (size_t i = 0; i < c->urls.n; i++)
		buf_printf(&b, "[url \"file://" MIRROR_PLACE "/%s\"]\n\tinsteadOf = %s\n",
			   c->paths.at[i], c->urls.at[i]);
	if (c->urls.n)
		add_part(c, "git/config", buf_text(&b));
}

static void
replace(struct arena *a, struct mirror_use *u, const char *from, const char *to)
{
	list_push(a, &u->from, from);
	list_push(a, &u->to, to);
}

static void
use_image(struct checking *c, const struct lock_image *image, const char *from,
	  enum mirror_for user)
{
	const char *why = NULL, *layout;

	if (!image->name)
		return;
	layout = image_layout(c->a, c->ds, image, c->dir, &why);
	if (layout && user == MIRROR_LOADS)
		names_once(c->a, &c->out->loads, layout);
	if (layout)
		replace(c->a, c->out, arena_printf(c->a, "FROM %s", from),
			user == MIRROR_LOADS ?
				arena_printf(c->a, "FROM %s", image_loaded(c->a, image)) :
				arena_printf(c->a, "FROM oci:%s", layout));
	else if (why)
		list_push(c->a, &c->faults, arena_printf(c->a, "%s: %s", image->name, why));
}

/* Makes apt in an image use the packages of the mirror. apt checks no signature, so it sees only files with a
 * digest that follows from the lock: otherwise, it would also use a Release or Packages.xz. */
static void
use_debs(struct checking *c, const struct lock *l, const struct plan *p)
{
	struct names files = { 0 };
	struct debs debs;

	if (!debs_of(c->a, c->ds, p, l, &debs) || !debs.n)
		return;
	debs_check(c->a, c->dir, &debs, &files, &c->faults);
	for (size_t i = 0; i < files.n; i++) {
		const char *os = fs_dir(c->a, files.at[i]);

		add_part(c, files.at[i], NULL);
		add_part(c, fs_join(c->a, os, "sources.list"), debs_sources(c->a, os));
		add_part(c, fs_join(c->a, os, "apt.conf"), debs_settings(c->a, os));
	}
	if (debs.sums)
		debs_use(c->a, &debs, c->out);
}

/* Makes an engine take the images from layouts, and pip in them the files of the mirror. */
static void
use_images(struct checking *c, const struct lock *l, const struct plan *p, enum mirror_for user)
{
	use_image(c, &l->base, p->stack->base.value, user);
	use_image(c, &l->runtime, p->stack->runtime_base.value, user);
	replace(c->a, c->out, "\nRUN",
		"\nRUN --mount=type=bind,source=" MIRROR_CONTEXT ",target=" MIRROR_PLACE);
	use_git_in_image(c);
	/* Every stage that starts pip has this line (templates/Dockerfile). */
	replace(c->a, c->out, "ARG PIP_NO_INPUT=1",
		"ARG PIP_NO_INDEX=1 PIP_FIND_LINKS=file://" MIRROR_PLACE "/files PIP_NO_INPUT=1");
	/* git reads the file git/config in this directory, and not that of a home directory. */
	replace(c->a, c->out, "git init -q",
		"export XDG_CONFIG_HOME=" MIRROR_PLACE " && git init -q");
	use_debs(c, l, p);
}

static void
report_faults(struct checking *c, const char *recipe)
{
	struct diag *d = diag_at(c->ds, E_MIRROR_LACKS, (struct span){ 0 },
				 "the mirror `%s` lacks parts of the lock", c->dir);

	for (size_t i = 0; i < c->faults.n && i < FAULTS_SHOWN; i++)
		diag_why(d, "%s", c->faults.at[i]);
	if (c->faults.n > FAULTS_SHOWN)
		diag_why(d, "%zu more parts are missing", c->faults.n - FAULTS_SHOWN);
	diag_help(d, "download them where the network is available: stackbuild mirror %s %s",
		  c->dir, recipe);
}

bool
mirror_use(struct arena *a, struct diags *ds, const struct lock *l, const struct plan *p,
	   const char *dir, enum mirror_for user, const char *place, struct mirror_use *out)
{
	const bool image = user != MIRROR_SCRIPT;
	struct checking c = {
		.a = a, .ds = ds, .dir = dir, .place = image ? MIRROR_PLACE : place, .out = out
	};
	unsigned before = ds->errors;
	const struct items files = items_of(a, ds, l);

	*out = (struct mirror_use){ 0 };
	for (size_t i = 0; i < files.n; i++) {
		if (files.at[i].image && !image)
			continue;
		check_file(&c, &files.at[i]);
		add_part(&c, files.at[i].path, NULL);
		/* The script keeps these URLs, and the parts exist only during the build. */
		if (files.at[i].by_url)
			replace(a, out, files.at[i].url,
				file_url(a, image ? c.place : fs_real(a, dir), files.at[i].path));
	}
	for (size_t i = 0; i < l->sources.n; i++)
		check_source(&c, &l->sources.at[i], p->stack);
	if (image)
		use_images(&c, l, p, user);
	else
		use_here(&c);
	if (c.faults.n)
		report_faults(&c, p->stack->recipe->path);
	return ds->errors == before;
}

static bool
ends_url(char c)
{
	return !c || !(is_alnum(c) || strchr("%/?&=+._-", c));
}

const char *
mirror_text(struct arena *a, const struct mirror_use *m, const char *text, size_t *n)
{
	struct buf b = BUF(a);

	for (const char *p = text, *end = text + *n; p < end;) {
		size_t i = 0;

		while (i < m->from.n &&
		       !(starts_with(p, m->from.at[i]) && ends_url(p[strlen(m->from.at[i])])))
			i++;
		buf_add(&b, i < m->from.n ? m->to.at[i] : p,
			i < m->from.n ? strlen(m->to.at[i]) : 1);
		p += i < m->from.n ? strlen(m->from.at[i]) : 1;
	}
	*n = b.n;
	return buf_text(&b);
}

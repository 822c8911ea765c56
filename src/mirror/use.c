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
	const char *dir;
	const char *place; /* where commands see it: an absolute path */
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

static void
check_source(struct checking *c, const struct lock_source *source, const struct stack *s)
{
	struct repository r;

	if (!source->commit && !source->sha256)
		list_push(c->a, &c->faults,
			  arena_printf(c->a, "%s: the lock does not pin its source", source->name));
	else if (repository_of(c->a, source, s, &r) &&
		 !git_mirror_has(fs_join(c->a, c->dir, r.path), r.ref, r.commit))
		list_push(c->a, &c->faults,
			  arena_printf(c->a, "%s: `%s` does not have the commit %.12s",
				       source->name, r.path, r.commit));
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

/* Makes git read each repository from the mirror, including submodules. */
static bool
use_git(struct arena *a, struct diags *ds, const char *dir, struct mirror_use *u)
{
	const char *real = fs_real(a, dir);
	const char *old = getenv("GIT_CONFIG_COUNT");
	size_t n = old ? strtoul(old, NULL, 10) % 1000 : 0;
	struct names urls = { 0 }, paths = { 0 };

	if (!repositories_of(a, ds, dir, &urls, &paths))
		return false;
	for (size_t i = 0; i < urls.n; i++) {
		configure_git(a, u, &n,
			      arena_printf(a, "url.%s.insteadOf", file_url(a, real, paths.at[i])),
			      urls.at[i]);
		configure_git(a, u, &n, "safe.directory", fs_join(a, real, paths.at[i]));
	}
	/* Otherwise, git rejects submodules from file://. */
	configure_git(a, u, &n, "protocol.file.allow", "always");
	list_push(a, &u->env, arena_printf(a, "GIT_CONFIG_COUNT=%zu", n));
	return true;
}

static void
replace(struct arena *a, struct mirror_use *u, const char *from, const char *to)
{
	list_push(a, &u->from, from);
	list_push(a, &u->to, to);
}

static void
use_image(struct checking *c, struct diags *ds, const struct lock_image *image, const char *from,
	  enum mirror_for user, struct mirror_use *u)
{
	const char *why = NULL, *layout;

	if (!image->name)
		return;
	layout = image_layout(c->a, ds, image, c->dir, &why);
	if (layout && user == MIRROR_LOADS)
		names_once(c->a, &u->loads, layout);
	if (layout)
		replace(c->a, u, arena_printf(c->a, "FROM %s", from),
			user == MIRROR_LOADS ?
				arena_printf(c->a, "FROM %s", image_loaded(c->a, image)) :
				arena_printf(c->a, "FROM oci:%s", layout));
	else if (why)
		list_push(c->a, &c->faults, arena_printf(c->a, "%s: %s", image->name, why));
}

/* Makes an engine take the images from layouts, and pip in them the files of the mirror. */
static void
use_images(struct checking *c, struct diags *ds, const struct lock *l, const struct plan *p,
	   enum mirror_for user, struct mirror_use *u)
{
	struct names urls = { 0 };
	struct debs debs;

	use_image(c, ds, &l->base, p->stack->base.value, user, u);
	use_image(c, ds, &l->runtime, p->stack->runtime_base.value, user, u);
	replace(c->a, u, "\nRUN",
		"\nRUN --mount=type=bind,source=" MIRROR_CONTEXT ",target=" MIRROR_PLACE);
	if (repositories_of(c->a, ds, c->dir, &urls, &u->parts) && urls.n)
		list_push(c->a, &u->parts, "git/config");
	/* Every stage that starts pip has this line (templates/Dockerfile). */
	replace(c->a, u, "ARG PIP_NO_INPUT=1",
		"ARG PIP_NO_INDEX=1 PIP_FIND_LINKS=file://" MIRROR_PLACE "/files PIP_NO_INPUT=1");
	/* git reads the file git/config in this directory, and not that of a home directory. */
	replace(c->a, u, "git init -q", "export XDG_CONFIG_HOME=" MIRROR_PLACE " && git init -q");
	if (debs_of(c->a, ds, p, &debs) && debs.n) {
		debs_check(c->a, c->dir, &debs, &c->faults);
		debs_use(c->a, &debs, u);
		list_push(c->a, &u->parts, debs.path);
	}
}

bool
mirror_use(struct arena *a, struct diags *ds, const struct lock *l, const struct plan *p,
	   const char *dir, enum mirror_for user, struct mirror_use *out)
{
	const bool image = user != MIRROR_SCRIPT;
	struct checking c = { .a = a, .dir = dir, .place = image ? MIRROR_PLACE : fs_real(a, dir) };
	unsigned before = ds->errors;
	const struct items files = items_of(a, ds, l);
	struct diag *d;

	*out = (struct mirror_use){ .dir = dir };
	for (size_t i = 0; i < files.n; i++) {
		if (files.at[i].image && !image)
			continue;
		check_file(&c, &files.at[i]);
		list_push(a, &out->parts, files.at[i].path);
		if (files.at[i].by_url)
			replace(a, out, files.at[i].url, file_url(a, c.place, files.at[i].path));
	}
	for (size_t i = 0; i < l->sources.n; i++)
		check_source(&c, &l->sources.at[i], p->stack);
	if (image)
		use_images(&c, ds, l, p, user, out);
	if (c.faults.n) {
		d = diag_at(ds, E_MIRROR_LACKS, (struct span){ 0 },
			    "the mirror `%s` lacks parts of the lock", dir);
		for (size_t i = 0; i < c.faults.n && i < FAULTS_SHOWN; i++)
			diag_why(d, "%s", c.faults.at[i]);
		if (c.faults.n > FAULTS_SHOWN)
			diag_why(d, "%zu more parts are missing", c.faults.n - FAULTS_SHOWN);
		diag_help(d,
			  "download them where the network is available: stackbuild mirror %s %s",
			  dir, p->stack->recipe->path);
	}
	if (image)
		return ds->errors == before;
	list_push(a, &out->env, "PIP_NO_INDEX=1");
	list_push(a, &out->env,
		  arena_printf(a, "PIP_FIND_LINKS=%s", file_url(a, c.place, "files")));
	return use_git(a, ds, dir, out) && ds->errors == before;
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

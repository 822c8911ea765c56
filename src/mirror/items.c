/* Lists the files and repositories in a lock, with their paths in a mirror. */
#include <string.h>

#include "base/fs.h"
#include "base/sha256.h"
#include "base/str.h"
#include "internal.h"

/* A file name without directories that is safe in a page of an index. */
static const char file_form[] = "^[A-Za-z0-9_][A-Za-z0-9._+!-]*$";

static void
add(struct arena *a, struct diags *ds, struct items *all, struct item i, bool indexed)
{
	const char *name = i.url ? url_file_name(a, i.url) : NULL;

	if (!name || !i.sha256)
		return;
	if (!str_matches(name, file_form)) {
		diag_at(ds, E_MIRROR, (struct span){ 0 }, "cannot mirror %s: `%s` names no file",
			i.what, mask_credentials(a, i.url));
		return;
	}
	i.path = indexed ? arena_printf(a, "files/%s", name) :
			   arena_printf(a, "archives/%s/%s", i.sha256, name);
	i.by_url |= !indexed;
	for (size_t k = 0; k < all->n; k++)
		if (!strcmp(all->at[k].path, i.path))
			return;
	list_push(a, all, i);
}

struct items
items_of(struct arena *a, struct diags *ds, const struct lock *l)
{
	struct items all = { 0 };

	for (size_t i = 0; i < l->packages.n; i++) {
		const struct lock_package *p = &l->packages.at[i];

		for (size_t k = 0; k < p->files.n; k++) {
			const struct lock_file *f = &p->files.at[k];

			add(a, ds, &all,
			    (struct item){ .what = arena_printf(a, "%s %s", p->name, p->version),
					   .url = f->url,
					   .sha256 = f->sha256,
					   .size = f->size },
			    f->kind != LOCK_ARCHIVE);
		}
	}
	for (size_t i = 0; i < l->sources.n; i++) {
		const struct lock_source *s = &l->sources.at[i];

		if (strcmp(s->kind, "git") != 0)
			add(a, ds, &all,
			    (struct item){ .what = s->name,
					   .url = s->url,
					   .sha256 = s->sha256,
					   .size = s->size,
					   .by_url = true },
			    !strcmp(s->kind, "sdist"));
	}
	add(a, ds, &all,
	    (struct item){ .what = "Python",
			   .url = l->python_url,
			   .sha256 = l->python_sha256,
			   .by_url = true,
			   .image = true },
	    false);
	return all;
}

/* Returns the path of the repository of a URL. */
static const char *
repository_path(struct arena *a, const char *url)
{
	size_t n = strlen(url);
	const char *name;

	while (n && url[n - 1] == '/')
		n--;
	name = fs_name(arena_copy(a, url, n));
	if (ends_with(name, ".git"))
		name = arena_copy(a, name, strlen(name) - 4);
	return arena_printf(a, "git/%s-%.12s.git",
			    str_matches(name, file_form) ? name : "repository",
			    sha256_hex(a, url, strlen(url)));
}

struct repository
repository_of_module(struct arena *a, const struct git_module *m)
{
	return (struct repository){ m->url, NULL, m->commit, repository_path(a, m->url), true };
}

bool
repository_of(struct arena *a, const struct lock_source *source, const struct stack *s,
	      struct repository *out)
{
	if (strcmp(source->kind, "git") != 0 || !source->commit || !source->url)
		return false;
	*out = (struct repository){ .url = source->url,
				    .commit = source->commit,
				    .path = repository_path(a, source->url) };
	if (source->ref && strcmp(source->ref, source->commit) != 0)
		out->ref = source->ref;
	for (size_t i = 0; i < s->extensions.n; i++)
		if (!strcmp(s->extensions.at[i].name, source->name))
			out->submodules = s->extensions.at[i].submodules;
	return true;
}

bool
file_is(struct arena *a, const char *path, const char *sha256, size_t size)
{
	size_t found;
	const char *sum = sha256_file(a, path, &found);

	return sum && !strcmp(sum, sha256) && (!size || size == found);
}

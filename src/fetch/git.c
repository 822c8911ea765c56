#include <git2.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/str.h"
#include "fetch/fetch.h"

struct git_at {
	git_repository *repository;
	git_tree *tree;
	const char *revision;
};

static const char *
last_error(void)
{
	const git_error *e = git_error_last();

	return e && e->message ? e->message : "unknown reason";
}

/*
 * Returns an absolute path without "." and ".." parts, by its text alone: the file need not exist
 * now.
 */
static const char *
absolute(struct arena *a, const char *path)
{
	char cwd[PATH_MAX];

	return fs_clean(a, *path != '/' && getcwd(cwd, sizeof(cwd)) ?
				   arena_printf(a, "%s/%s", cwd, path) :
				   path);
}

static struct git_at *
refuse(struct diags *ds, struct git_at *g, const char *what, const char *why)
{
	diag_help(diag_at(ds, E_REVISION, NOWHERE, "%s: %s", what, why),
		  "pass a recipe file to --diff, or a revision that git rev-parse accepts");
	git_at_close(g);
	return NULL;
}

struct git_at *
git_at_open(struct arena *a, struct diags *ds, const char *path, const char *revision)
{
	struct git_at *g = arena_new_of(a, struct git_at);
	git_object *commit = NULL;
	int rc;

	git_libgit2_init();
	g->revision = revision;
	if (git_repository_open_ext(&g->repository, fs_dir(a, absolute(a, path)), 0, NULL) < 0)
		return refuse(
			ds, g,
			arena_printf(a, "`%s` is not a file, and `%s` is not in a git repository",
				     revision, path),
			last_error());
	rc = git_revparse_single(&commit, g->repository, revision);
	if (rc == 0)
		rc = git_object_peel((git_object **)&g->tree, commit, GIT_OBJECT_TREE);
	git_object_free(commit);
	if (rc < 0)
		return refuse(
			ds, g,
			arena_printf(a, "`%s` is neither a file nor a revision of this repository",
				     revision),
			last_error());
	return g;
}

void
git_at_close(struct git_at *g)
{
	git_tree_free(g->tree);
	git_repository_free(g->repository);
	g->tree = NULL;
	g->repository = NULL;
	git_libgit2_shutdown();
}

/* Returns the path inside the repository, or NULL for one outside. */
static const char *
inside(struct arena *a, const struct git_at *g, const char *path)
{
	const char *root = git_repository_workdir(g->repository);
	const char *full = absolute(a, path);

	return root && starts_with(full, root) ? full + strlen(root) : NULL;
}

const struct source *
git_at_read(void *ctx, struct arena *a, struct diags *ds, const char *path, struct span at)
{
	const struct git_at *g = ctx;
	const char *name = inside(a, g, path), *why = NULL;
	struct source *src = arena_new_of(a, struct source);
	git_tree_entry *entry = NULL;
	git_blob *blob = NULL;

	src->path = arena_printf(a, "%s:%s", g->revision, name ? name : path);
	if (!name || git_tree_entry_bypath(&entry, g->tree, name) < 0)
		why = "the file is not in that revision";
	else if (git_tree_entry_type(entry) != GIT_OBJECT_BLOB ||
		 git_tree_entry_filemode(entry) == GIT_FILEMODE_LINK)
		why = "it is not a regular file in that revision";
	else if (git_blob_lookup(&blob, g->repository, git_tree_entry_id(entry)) < 0)
		why = arena_strdup(a, last_error());
	else if (git_blob_rawsize(blob) > (git_object_size_t)fs_input_max(name))
		why = arena_printf(a, "it is larger than %zu KiB", fs_input_max(name) / 1024);
	if (why) {
		diag_at(ds, E_FILE, at.src ? at : (struct span){ .src = src },
			"cannot read `%s`: %s", src->path, why);
	} else {
		src->size = (size_t)git_blob_rawsize(blob);
		src->text = arena_copy(a, git_blob_rawcontent(blob), src->size);
	}
	git_blob_free(blob);
	git_tree_entry_free(entry);
	return why ? NULL : src;
}

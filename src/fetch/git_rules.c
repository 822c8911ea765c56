#include <git2.h>
#include <limits.h>
#include <string.h>

#include "base/str.h"
#include "fetch/fetch.h"

struct git_rules {
	git_repository *repository;
	git_index *index; /* NULL: no file is tracked */
	const char *root; /* "/home/me/repo/" */
};

void
git_rules_close(struct git_rules *g)
{
	git_index_free(g->index);
	git_repository_free(g->repository);
	git_libgit2_shutdown();
}

struct git_rules *
git_rules_open(struct arena *a, const char *path)
{
	struct git_rules *g = arena_new_of(a, struct git_rules);

	git_libgit2_init();
	/* Only files are listed: a repository of another user runs nothing. */
	git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	*g = (struct git_rules){ 0 };
	if (git_repository_open_ext(&g->repository, path, 0, NULL) == 0 &&
	    git_repository_workdir(g->repository)) {
		g->root = arena_strdup(a, git_repository_workdir(g->repository));
		if (git_repository_index(&g->index, g->repository) < 0)
			g->index = NULL;
		if (!git_rules_ignore(a, g, path, true))
			return g;
	}
	git_rules_close(g);
	return NULL;
}

bool
git_rules_ignore(struct arena *a, const struct git_rules *g, const char *path, bool is_dir)
{
	const char *name = starts_with(path, g->root) ? path + strlen(g->root) : "";
	int ignored = 0;
	size_t at;

	if (!*name)
		return false;
	if (is_dir)
		name = arena_printf(a, "%s/", name);
	if (g->index && (is_dir ? git_index_find_prefix(&at, g->index, name) :
				  git_index_find(&at, g->index, name)) == 0)
		return false;
	return git_ignore_path_is_ignored(&ignored, g->repository, name) == 0 && ignored;
}

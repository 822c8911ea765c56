#include <git2.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/list.h"
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

/* An absolute path without "." and ".." parts, by its text alone: the file need not exist now. */
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
	diag_help(diag_at(ds, E_REVISION, (struct span){ 0 }, "%s: %s", what, why),
		  "--diff takes a recipe file, or a revision that git rev-parse knows");
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
		return refuse(ds, g,
			      arena_printf(a, "`%s` is no file, and `%s` is in no git repository",
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

/* The path inside the repository, or NULL for one outside. */
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
		why = "it is not in that revision";
	else if (git_tree_entry_type(entry) != GIT_OBJECT_BLOB ||
		 git_tree_entry_filemode(entry) == GIT_FILEMODE_LINK)
		why = "it is not a regular file there";
	else if (git_blob_lookup(&blob, g->repository, git_tree_entry_id(entry)) < 0)
		why = arena_strdup(a, last_error());
	else if (git_blob_rawsize(blob) > FS_READ_MAX)
		why = "it is larger than 1 MiB";
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

/* Writes the commit, or a blank and why there is none. */
static void
answer(struct arena *a, int to, const char *url, const char *tag)
{
	const char *name = arena_printf(a, "refs/tags/%s", tag);
	const char *peeled = arena_printf(a, "%s^{}", name),
		   *text = " the repository has no such tag";
	git_proxy_options proxy;
	const git_remote_head **heads;
	git_remote *remote = NULL;
	size_t n = 0;

	git_libgit2_init();
	git_proxy_options_init(&proxy, GIT_PROXY_OPTIONS_VERSION);
	proxy.type = GIT_PROXY_AUTO;
	if (git_remote_create_detached(&remote, url) < 0 ||
	    git_remote_connect(remote, GIT_DIRECTION_FETCH, NULL, &proxy, NULL) < 0 ||
	    git_remote_ls(&heads, &n, remote) < 0)
		text = arena_printf(a, " %s", last_error());
	for (size_t i = 0; i < n; i++)
		if (!strcmp(heads[i]->name, peeled) ||
		    (*text == ' ' && !strcmp(heads[i]->name, name)))
			text = arena_strdup(a, git_oid_tostr_s(&heads[i]->oid));
	fs_write_all(to, text, strlen(text));
}

/* In a child, since libgit2 1.5 has no time limit. */
const char *
git_remote_commit(struct arena *a, const char *url, const char *tag, const char **why)
{
	const char *host = strstr(url, "://");
	char said[512];
	size_t size = 0;
	ssize_t n;
	int ends[2];
	pid_t pid;

	host = host ? host + 3 : url;
	*why = arena_printf(a, "%.*s did not answer within %d s", (int)strcspn(host, "/"), host,
			    GIT_SECONDS);
	if (pipe(ends) != 0)
		return NULL;
	if ((pid = fork()) == 0) {
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(GIT_SECONDS);
		answer(a, ends[1], url, tag);
		_exit(0);
	}
	close(ends[1]);
	while ((n = read(ends[0], said + size, sizeof(said) - size)) > 0)
		size += (size_t)n;
	close(ends[0]);
	waitpid(pid, NULL, 0);
	if (size && *said == ' ')
		*why = arena_copy(a, said + 1, size - 1);
	return size == GIT_OID_HEXSZ && *said != ' ' ? arena_copy(a, said, size) : NULL;
}

/*
 * Remote git repositories, by libgit2 in a child process: libgit2 1.5 has no time limit. The child
 * prints lines: " WHY" for an error, otherwise its result.
 */
#include <errno.h>
#include <git2.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alive.h"
#include "base/buf.h"
#include "base/fs.h"
#include "base/proc.h"
#include "base/str.h"
#include "fetch/fetch.h"

enum { SAID_MAX = 1024 * 1024, MODULES_MAX = 1000, LOOK_MS = 200 };

struct remote {
	struct arena *a;
	const char *url, *ref, *commit, *dir;
	const char *new; /* the directory of a new repository; NULL: dir has one */
	struct buf said;
};

static const char *
last_error(void)
{
	const git_error *e = git_error_last();

	return e && e->message ? e->message : "unknown reason";
}

static bool
failed(struct remote *r, const char *why)
{
	buf_clear(&r->said);
	buf_printf(&r->said, " %s", why);
	return false;
}

/* Runs `act` in a child; returns its output, or NULL with the reason. */
static const char *
in_child(struct remote *r, void (*act)(struct remote *r), double seconds, const char **why)
{
	const char *host = strstr(r->url, "://");
	struct buf said = { .a = r->a, .max = SAID_MAX };
	char block[4096];
	struct pollfd output = { .events = POLLIN };
	int ends[2];
	ssize_t n = 1;
	pid_t pid;

	host = host ? host + 3 : r->url;
	*why = arena_printf(r->a, "%.*s did not answer within %.0f s", (int)strcspn(host, "/"),
			    host, seconds);
	if (pipe(ends) != 0)
		return NULL;
	if ((pid = fork()) == 0) {
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm((unsigned)seconds);
		git_libgit2_init();
		/* A mirror may belong to another user, for example on a shared file system. */
		git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
		act(r);
		fs_write_all(ends[1], buf_text(&r->said), r->said.n);
		_exit(0);
	}
	close(ends[1]);
	output.fd = ends[0];
	while (n > 0 && !proc_interrupted()) {
		alive_tick("waiting for", host);
		if (poll(&output, 1, LOOK_MS) > 0 && (n = read(ends[0], block, sizeof(block))) > 0)
			buf_add(&said, block, (size_t)n);
	}
	close(ends[0]);
	/* The signal may have reached this process alone. */
	if (proc_interrupted()) {
		kill(pid, SIGKILL);
		*why = "interrupted";
	}
	waitpid(pid, NULL, 0);
	if (!said.n || said.over)
		return NULL;
	if (*said.p != ' ')
		return said.p;
	*why = said.p + 1;
	return NULL;
}

static void
set_proxy(git_proxy_options *proxy)
{
	git_proxy_options_init(proxy, GIT_PROXY_OPTIONS_VERSION);
	proxy->type = GIT_PROXY_AUTO;
}

/* --- the commit of a tag --- */

/* Adds the tags whose names are most like the one that the repository lacks, as lines. */
static void
say_near(struct remote *r, const git_remote_head *const *heads, size_t n)
{
	static const char tags[] = "refs/tags/";
	struct names all = { 0 }, near;

	for (size_t i = 0; i < n; i++)
		if (starts_with(heads[i]->name, tags) && !ends_with(heads[i]->name, "^{}"))
			list_push(r->a, &all, heads[i]->name + strlen(tags));
	near = names_nearest(r->a, r->ref, &all, GIT_NEAR);
	list_each (name, &near)
		buf_printf(&r->said, "\n%s", *name);
}

static void
say_commit(struct remote *r)
{
	const char *name = arena_printf(r->a, "refs/tags/%s", r->ref ? r->ref : "");
	const char *peeled = arena_printf(r->a, "%s^{}", name);
	git_proxy_options proxy;
	const git_remote_head **heads;
	git_remote *remote = NULL;
	size_t n = 0;
	bool listed = true;

	set_proxy(&proxy);
	failed(r, GIT_NO_TAG);
	if (git_remote_create_detached(&remote, r->url) < 0 ||
	    git_remote_connect(remote, GIT_DIRECTION_FETCH, NULL, &proxy, NULL) < 0 ||
	    git_remote_ls(&heads, &n, remote) < 0)
		listed = failed(r, diag_one_line(r->a, last_error()));
	for (size_t i = 0; i < n; i++)
		if (!strcmp(heads[i]->name, peeled) ||
		    (*r->said.p == ' ' && (!r->ref || !strcmp(heads[i]->name, name)))) {
			buf_clear(&r->said);
			buf_puts(&r->said, git_oid_tostr_s(&heads[i]->oid));
		}
	if (listed && r->ref && *r->said.p == ' ')
		say_near(r, heads, n);
}

const char *
git_remote_commit(struct arena *a, const char *url, const char *tag, struct names *near,
		  const char **why)
{
	struct remote r = { .a = a, .url = url, .ref = tag, .said = BUF(a) };
	const char *commit = in_child(&r, say_commit, GIT_SECONDS, why);
	struct names lines = { 0 };

	if (!commit)
		lines = names_split(a, *why, '\n');
	for (size_t i = 1; i < lines.n && near; i++)
		list_push(a, near, lines.at[i]);
	if (lines.n)
		*why = lines.at[0];
	return commit;
}

bool
git_remote_missing(const char *why)
{
	return ends_with(why, "status code: 404");
}

/* --- a mirror of a commit --- */

static bool
is_there(git_repository *repository, const char *ref, const char *commit)
{
	git_object *found = NULL;
	git_commit *c = NULL;
	git_oid id;
	char name[1024];
	bool good;

	git_oid_fromstr(&id, commit);
	snprintf(name, sizeof(name), ref ? "refs/tags/%s" : "refs/stackbuild/%s",
		 ref ? ref : commit);
	good = git_commit_lookup(&c, repository, &id) == 0 &&
	       git_revparse_single(&found, repository, name) == 0 &&
	       git_oid_equal(git_object_id(found), &id);
	git_commit_free(c);
	git_object_free(found);
	return good;
}

bool
git_mirror_has(const char *dir, const char *ref, const char *commit)
{
	git_repository *repository = NULL;
	bool good;

	git_libgit2_init();
	git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	good = git_repository_open_bare(&repository, dir) == 0 && is_there(repository, ref, commit);
	git_repository_free(repository);
	git_libgit2_shutdown();
	return good;
}

/* Fetches one refspec; false: last_error() has the reason. */
static bool
fetch_one(git_remote *remote, const char *spec)
{
	char *specs[] = { (char *)(uintptr_t)spec };
	const git_strarray all = { specs, 1 };
	git_fetch_options o;

	git_fetch_options_init(&o, GIT_FETCH_OPTIONS_VERSION);
	set_proxy(&o.proxy_opts);
	o.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE;
	return git_remote_fetch(remote, &all, &o, NULL) == 0;
}

/* Fetches the commit: by its tag, by its id, otherwise with all branches and tags. */
static bool
fetch_commit(struct remote *r, git_repository *repository)
{
	const char *const specs[] = {
		r->ref ? arena_printf(r->a, "+refs/tags/%s:refs/tags/%s", r->ref, r->ref) : NULL,
		arena_printf(r->a, "+%s:refs/stackbuild/%s", r->commit, r->commit),
		"+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"
	};
	git_remote *remote = NULL;
	git_commit *found = NULL;
	const char *why = NULL;
	git_oid id;

	git_oid_fromstr(&id, r->commit);
	if (git_remote_create_anonymous(&remote, repository, r->url) < 0)
		return failed(r, last_error());
	for (size_t i = 0; i < COUNT(specs) && !found; i++)
		if (specs[i]) {
			why = fetch_one(remote, specs[i]) ? NULL : arena_strdup(r->a, last_error());
			git_commit_lookup(&found, repository, &id);
		}
	git_remote_free(remote);
	if (!found)
		return failed(r, why ? why : "the repository has no such commit");
	git_commit_free(found);
	return true;
}

/* Creates the refs of the commit; git then also serves it by its id. */
static bool
name_commit(struct remote *r, git_repository *repository)
{
	const char *name = arena_printf(r->a, "refs/tags/%s", r->ref);
	git_reference *made = NULL;
	git_config *config = NULL;
	git_oid id;

	git_oid_fromstr(&id, r->commit);
	if ((r->ref && git_reference_create(&made, repository, name, &id, 1, NULL) < 0) ||
	    git_repository_set_head_detached(repository, &id) < 0 ||
	    git_repository_config(&config, repository) < 0 ||
	    git_config_set_bool(config, "uploadpack.allowAnySHA1InWant", 1) < 0)
		return failed(r, last_error());
	name = arena_printf(r->a, "refs/stackbuild/%s", r->commit);
	return git_reference_create(&made, repository, name, &id, 1, NULL) == 0 ||
	       failed(r, last_error());
}

/* Returns the value of `key = value`, or NULL. */
static const char *
value_of(struct arena *a, const char *line, const char *key)
{
	line += strspn(line, " \t");
	if (!starts_with(line, key) || !strchr(" \t=", line[strlen(key)]))
		return NULL;
	line += strcspn(line, "=");
	line += strspn(line, "= \t");
	return arena_copy(a, line, strcspn(line, "\r"));
}

/* Prints "COMMIT URL" for each submodule.  A build cannot resolve relative URLs: its clone has no remote. */
static bool
say_modules(struct remote *r, git_repository *repository)
{
	git_object *file = NULL;
	const char *path = NULL, *url = NULL, *next;
	struct names lines;

	if (git_revparse_single(&file, repository,
				arena_printf(r->a, "%s:.gitmodules", r->commit)) < 0 ||
	    git_object_type(file) != GIT_OBJECT_BLOB)
		return true;
	lines = names_split(r->a, git_blob_rawcontent((git_blob *)file), '\n');
	for (size_t i = 0; i < lines.n && i < MODULES_MAX; i++) {
		git_tree_entry *entry = NULL;
		git_object *tree = NULL;

		if (lines.at[i][strspn(lines.at[i], " \t")] == '[')
			path = url = NULL;
		if ((next = value_of(r->a, lines.at[i], "path")))
			path = next;
		if ((next = value_of(r->a, lines.at[i], "url")))
			url = next;
		if (!path || !url || !strstr(url, "://"))
			continue;
		if (git_revparse_single(&tree, repository,
					arena_printf(r->a, "%s^{tree}", r->commit)) == 0 &&
		    git_tree_entry_bypath(&entry, (git_tree *)tree, path) == 0 &&
		    git_tree_entry_type(entry) == GIT_OBJECT_COMMIT)
			buf_printf(&r->said, "%s %s\n", git_oid_tostr_s(git_tree_entry_id(entry)),
				   url);
		git_tree_entry_free(entry);
		git_object_free(tree);
		path = url = NULL;
	}
	git_object_free(file);
	return true;
}

static void
mirror(struct remote *r)
{
	git_repository *repository = NULL;

	if ((r->new ? git_repository_init(&repository, r->new, 1) :
		      git_repository_open_bare(&repository, r->dir)) < 0) {
		failed(r, last_error());
		return;
	}
	buf_puts(&r->said, "done\n");
	if (fetch_commit(r, repository) && name_commit(r, repository))
		say_modules(r, repository);
}

static void
list_modules(struct remote *r)
{
	git_repository *repository = NULL;

	buf_puts(&r->said, "done\n");
	if (git_repository_open_bare(&repository, r->dir) < 0)
		failed(r, last_error());
	else
		say_modules(r, repository);
}

/* Runs `act`, and adds the submodules that it prints. */
static bool
modules_of(struct remote *r, void (*act)(struct remote *r), double seconds,
	   struct git_modules *modules, const char **why)
{
	const char *said = in_child(r, act, seconds, why);
	struct names lines = { 0 };

	if (said)
		lines = names_split(r->a, said, '\n');
	for (size_t i = 1; i < lines.n; i++)
		if (str_matches(lines.at[i], "^[0-9a-f]{40} ."))
			list_push(r->a, modules,
				  (struct git_module){ lines.at[i] + 41,
						       arena_copy(r->a, lines.at[i], 40) });
	return said;
}

bool
git_mirror_modules(struct arena *a, const char *dir, const char *commit,
		   struct git_modules *modules, const char **why)
{
	struct remote r = {
		.a = a, .url = fs_name(dir), .commit = commit, .dir = dir, .said = BUF(a)
	};

	return modules_of(&r, list_modules, GIT_SECONDS, modules, why);
}

bool
git_mirror(struct arena *a, const char *url, const char *ref, const char *commit, const char *dir,
	   double seconds, struct git_modules *modules, bool *had, const char **why)
{
	struct remote r = {
		.a = a, .url = url, .ref = ref, .commit = commit, .dir = dir, .said = BUF(a)
	};
	struct fs_temp new = { .fd = -1 };

	if ((*had = git_mirror_has(dir, ref, commit)))
		return git_mirror_modules(a, dir, commit, modules, why);
	if (!fs_exists(dir) && !fs_temp_dir(a, dir, 0777, &new)) {
		*why = arena_printf(a, "cannot write below `%s`: %s", fs_dir(a, dir),
				    strerror(errno));
		return false;
	}
	if (new.fd >= 0) {
		r.new = new.path;
		proc_remove_at_exhaustion(r.new);
	}
	if (!modules_of(&r, mirror, seconds, modules, why)) {
		fs_temp_drop(&new);
		return false;
	}
	if (!r.new || fs_temp_keep(&new, dir, false))
		return true;
	*why = arena_printf(a, "cannot write `%s`: %s", dir, strerror(errno));
	return false;
}

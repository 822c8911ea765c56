/* Downloads the files and repositories in a lock into a mirror. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/sha256.h"
#include "base/str.h"
#include "fetch/fetch.h"
#include "internal.h"

enum { GIT_LIMIT_S = 1800 };
#define FILE_BYTES_MAX ((size_t)64 << 30) /* limit for a file without a size in the lock */

struct filling {
	struct arena *a;
	struct diags *ds;
	const struct mirror_how *how;
	struct mirror_done *done;
	const char *netrc; /* file of logins; or NULL */
	bool away;         /* a host did not answer: skips all others */
};

void
note(struct arena *a, const struct mirror_how *how, const char *what, double bytes)
{
	if (!how->quiet)
		diag_tell(bytes > 0 ? "stackbuild: fetching %s (%s)" : "stackbuild: fetching %s",
			  what, bytes_words(a, bytes));
}

static bool
cannot(struct filling *f, const char *what, const char *why, const char *help)
{
	struct diag *d = diag_at(f->ds, E_MIRROR, (struct span){ 0 }, "cannot mirror %s: %s", what,
				 mask_credentials(f->a, why));

	if (help)
		diag_help(d, "%s", help);
	return false;
}

/* --- files --- */

static bool
refused(struct filling *f, const struct item *i, const struct http_answer *answer)
{
	const char *host = http_host(f->a, i->url), *help = NULL;

	host = host ? host : "its host";
	f->away |= !answer->status && !answer->refused;
	if (answer->status == 401 || answer->status == 403)
		help = "check the credentials: ~/.netrc, or the secret of `index` in the recipe";
	else if (answer->status == 404 || answer->status == 410)
		help = "if the file was deleted, lock again: stackbuild lock RECIPE --upgrade";
	else if (answer->refused)
		help = "connect without a proxy or mirror; if the index replaced the file, lock "
		       "again";
	else if (!answer->status)
		help = "check the network, the proxy and the free space, and repeat the command: "
		       "complete files stay";
	return cannot(f, i->what,
		      answer->status ? arena_printf(f->a, "%s answered %d", host, answer->status) :
				       arena_printf(f->a, "%s: %s", host, answer->why),
		      help);
}

static bool
fill_file(struct filling *f, const struct item *i)
{
	const char *path = fs_join(f->a, f->how->dir, i->path);
	const struct http_request q = { .method = "GET",
					.url = i->url,
					.to_path = path,
					.sha256 = i->sha256,
					.max = i->size ? i->size : FILE_BYTES_MAX,
					.netrc = f->netrc,
					.timeout_s = f->how->timeout_s };
	struct http_answer answer;
	struct stat st;

	if (file_is(f->a, path, i->sha256, i->size)) {
		f->done->had++;
		return true;
	}
	unlink(path);
	if (!fs_make_parents(f->a, path))
		return cannot(f, i->what, arena_printf(f->a, "%s: %s", path, strerror(errno)),
			      NULL);
	note(f->a, f->how, i->what, (double)i->size);
	if (!http_do(f->a, &q, &answer) || answer.status != 200)
		return refused(f, i, &answer);
	if (stat(path, &st) != 0 || (i->size && (size_t)st.st_size != i->size)) {
		unlink(path);
		return cannot(f, i->what,
			      arena_printf(f->a, "it has %zu bytes, and the lock has %zu",
					   (size_t)st.st_size, i->size),
			      "lock again: stackbuild lock RECIPE");
	}
	f->done->fetched++;
	f->done->bytes += (double)st.st_size;
	return true;
}

/* --- repositories --- */

static bool
fill_repository(struct filling *f, const struct repository *r, unsigned depth)
{
	const char *dir = fs_join(f->a, f->how->dir, r->path), *why;
	double limit = f->how->timeout_s > 0 ? f->how->timeout_s : GIT_LIMIT_S;
	struct git_modules modules = { 0 };
	bool had, good = true;

	if (depth > MIRROR_DEPTH_MAX)
		return cannot(f, r->url, "its submodules are nested too deeply", NULL);
	if (!fs_make_parents(f->a, dir))
		return cannot(f, r->url, arena_printf(f->a, "%s: %s", dir, strerror(errno)), NULL);
	if (!git_mirror_has(dir, r->ref, r->commit))
		note(f->a, f->how, mask_credentials(f->a, r->url), 0);
	if (!git_mirror(f->a, r->url, r->ref, r->commit, dir, limit, &modules, &had, &why))
		return cannot(f,
			      arena_printf(f->a, "%.12s of %s", r->commit,
					   mask_credentials(f->a, r->url)),
			      why, "check the network; if the commit was deleted, lock again");
	*(had ? &f->done->had : &f->done->fetched) += 1;
	for (size_t i = 0; i < modules.n && r->submodules; i++) {
		const struct repository module = repository_of_module(f->a, &modules.at[i]);

		good = fill_repository(f, &module, depth + 1) && good;
	}
	return good;
}

/* --- a lock --- */

/* Removes the temporary files of killed runs, also where this run downloads nothing. */
static bool
clean(struct filling *f)
{
	static const char *const dirs[] = { "", "files", "git", "images", "images/blobs/sha256" };
	const char *archives = fs_join(f->a, f->how->dir, "archives");
	struct names names = { 0 };

	for (size_t i = 0; i < COUNT(dirs); i++)
		fs_temp_clean(f->a, fs_join(f->a, f->how->dir, dirs[i]));
	if (!fs_list(f->a, f->ds, archives, "", &names))
		return false;
	list_each (name, &names)
		fs_temp_clean(f->a, fs_join(f->a, archives, *name));
	return true;
}

static bool
fill_all(struct filling *f, const struct lock *l, const struct stack *s)
{
	unsigned before = f->ds->errors;
	const struct items files = items_of(f->a, f->ds, l);
	struct repository r;

	for (size_t i = 0; i < files.n && !f->away && !proc_interrupted(); i++)
		if (!files.at[i].image || !f->how->no_images)
			fill_file(f, &files.at[i]);
	for (size_t i = 0; i < l->sources.n && !proc_interrupted(); i++)
		if (repository_of(f->a, &l->sources.at[i], s, &r))
			fill_repository(f, &r, 0);
	for (size_t i = 0; i < 2 && !f->how->no_images && !proc_interrupted(); i++)
		image_fill(f->a, f->ds, i ? &l->runtime : &l->base, f->how, f->done);
	return f->ds->errors == before;
}

bool
mirror_fill(struct arena *a, struct diags *ds, const struct lock *l, const struct stack *s,
	    const struct mirror_how *how, struct mirror_done *done)
{
	struct diags own;
	struct filling f = {
		.a = a, .ds = &own, .how = how, .done = done, .netrc = http_logins(a, &how->secrets)
	};
	bool good;

	own = DIAGS(own, a);
	good = clean(&f) && fill_all(&f, l, s);
	if (!proc_interrupted()) {
		diags_append(ds, &own);
		return good;
	}
	/* One diagnostic replaces those of the transfers that the signal ended. */
	f.ds = ds;
	return cannot(&f, l->stack, "interrupted",
		      "repeat the command: complete files stay in the mirror");
}

/* --- the index --- */

/* Returns the normalised project of a wheel or sdist; NULL: it is neither. */
static const char *
project_of(struct arena *a, const char *file)
{
	const struct version *v;
	const char *name;

	return recipe_archive(a, file, &name, &v) ? name : NULL;
}

static bool
write_page(struct arena *a, struct diags *ds, const char *dir, struct pages p)
{
	return fs_write(ds, fs_join(a, dir, "index.html"), p.html.p, p.html.n, 0644, false, NULL) &&
	       fs_write(ds, fs_join(a, dir, "index.json"), p.json.p, p.json.n, 0644, false, NULL);
}

static bool
write_project(struct arena *a, struct diags *ds, const char *dir, const struct names *files,
	      const char *project)
{
	struct page_files mine = { 0 };

	for (size_t i = 0; i < files->n; i++) {
		const char *name = files->at[i], *of = project_of(a, name), *sum;
		const char *path = arena_printf(a, "%s/files/%s", dir, name);
		size_t size;

		if (!of || strcmp(of, project) != 0)
			continue;
		if (!(sum = sha256_file(a, path, &size))) {
			diag_at(ds, E_MIRROR, (struct span){ 0 }, "cannot read %s: %s", path,
				strerror(errno));
			return false;
		}
		list_push(a, &mine,
			  (struct page_file){ name,
					      arena_printf(a, "../../files/%s", page_url(a, name)),
					      sum });
	}
	return write_page(a, ds, arena_printf(a, "%s/simple/%s", dir, project),
			  page_project(a, project, &mine));
}

bool
mirror_index(struct arena *a, struct diags *ds, const char *dir)
{
	struct names files = { 0 }, projects = { 0 };

	if (!fs_list(a, ds, fs_join(a, dir, "files"), "", &files))
		return false;
	for (size_t i = 0; i < files.n; i++)
		if (project_of(a, files.at[i]))
			names_once(a, &projects, project_of(a, files.at[i]));
	names_sort(&projects);
	for (size_t i = 0; i < projects.n; i++)
		if (!write_project(a, ds, dir, &files, projects.at[i]))
			return false;
	return write_page(a, ds, fs_join(a, dir, "simple"), page_root(a, &projects));
}

/* stackbuild audit: check that the files, tags and images in a lock still exist unchanged. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/proc.h"
#include "base/str.h"
#include "fetch/fetch.h"
#include "world_lock.h"

/*
 *   $ stackbuild audit r.yaml
 *   error        numpy 2.4.6: the digest of numpy-2.4.6-...whl changed; find out why before you ...
 *   warning      scipy 1.17.0: yanked: broken metadata; select another version: stackbuild lock ...
 *   not checked  12 packages of https://example.org/simple: cannot read ...: Connection refused
 *   pylock.x.toml: 80 packages, 2 extensions, 1 image: 1 error, 1 warning, 12 not checked
 */

enum severity_of_finding { FOUND_ERROR, FOUND_WARNING, FOUND_UNCHECKED, FOUND_KINDS };
static const char *const words[FOUND_KINDS] = { "error", "warning", "not checked" };

/* A part of the lock that has changed, or could not be checked. */
struct found {
	enum severity_of_finding is;
	const char *code;        /* code for programs: "yanked" */
	const char *part, *what; /* "numpy 2.4.6", "was yanked" */
	const char *remedy;      /* or NULL */
};

/* An index, and its packages that could not be checked. */
struct asked_index {
	const char *url; /* URL in the lock */
	unsigned failed; /* number of pages that could not be read */
	unsigned parts;  /* number of packages that were not checked */
	const char *why;
};

struct auditing {
	struct run *r;
	const struct recipe *recipe;
	const struct lock *lock;
	const char *again; /* command that locks again: "stackbuild lock r.yaml" */
	double timeout_s;
	const char *netrc; /* file of the logins of private indexes; or NULL */
	struct asked_indexes LIST(struct asked_index) indexes;
	struct all_found LIST(struct found) all;
	unsigned unchecked; /* number of unchecked parts */
};

static void
found(struct auditing *t, enum severity_of_finding is, const char *code, const char *part,
      const char *what, const char *remedy)
{
	struct arena *a = t->r->a;

	list_push(a, &t->all,
		  (struct found){ is, code, mask_credentials(a, part), mask_credentials(a, what),
				  remedy });
	t->unchecked += is == FOUND_UNCHECKED;
}

/* --- packages --- */

/* Maximum failures of an index before it is skipped, because each try takes up to the time
 * limit. */
enum { FAILURES_MAX = 2 };

static struct asked_index *
index_of(struct auditing *t, const char *url)
{
	for (size_t i = 0; i < t->indexes.n; i++)
		if (!strcmp(t->indexes.at[i].url, url))
			return &t->indexes.at[i];
	list_push(t->r->a, &t->indexes, (struct asked_index){ .url = url });
	return &t->indexes.at[t->indexes.n - 1];
}

/* Adds this machine's credentials for the same server, because the lock has none. */
static const char *
with_credentials(struct auditing *t, const char *url)
{
	const char *const own[] = { getenv("UV_DEFAULT_INDEX"), getenv("UV_INDEX_URL"),
				    index_of_pip(t->r->a) };
	struct arena *a = t->r->a;

	for (size_t i = 0; i < COUNT(own); i++) {
		const char *host = own[i] ? strstr(own[i], "://") : NULL, *at;

		if (!host || !http_same_origin(a, own[i], url))
			continue;
		host += strlen("://");
		at = memrchr(host, '@', strcspn(host, "/?#"));
		if (at)
			return arena_printf(a, "%.*s%.*s%s", (int)(strstr(url, "://") + 3 - url),
					    url, (int)(at + 1 - host), host,
					    strstr(url, "://") + 3);
	}
	return url;
}

/* Reads the files of a package on its index; false after a report. */
static bool
ask_index(struct auditing *t, const char *url, const char *part, const char *name,
	  struct index_files *files)
{
	struct asked_index *index = index_of(t, url);
	const char *why = index->why;
	enum index_answer answer = INDEX_FAILED;

	if (index->failed < FAILURES_MAX)
		answer = index_ask(t->r->a, with_credentials(t, url), name, t->netrc, t->timeout_s,
				   files, &why);
	if (answer == INDEX_MISSING)
		found(t, FOUND_ERROR, "vanished", part,
		      arena_printf(t->r->a, "%s no longer has the package", url),
		      arena_printf(t->r->a, "lock again: %s --upgrade %s", t->again, name));
	if (answer == INDEX_FAILED) {
		index->failed++;
		index->parts++;
		index->why = why;
	}
	return answer == INDEX_FOUND;
}

static void
audit_file(struct auditing *t, const char *part, const char *name, const struct lock_file *f,
	   const struct index_files *files, const char **yanked)
{
	struct arena *a = t->r->a;
	const char *file = url_file_name(a, f->url);
	const struct index_file *now = NULL;

	for (size_t i = 0; i < files->n && !now; i++)
		if (!strcmp(files->at[i].name, file))
			now = &files->at[i];
	if (!now)
		found(t, FOUND_ERROR, "vanished", part,
		      arena_printf(a, "%s is no longer on the index", file),
		      arena_printf(a, "lock again: %s --upgrade %s", t->again, name));
	else if (!now->sha256)
		found(t, FOUND_UNCHECKED, "no-digest", part,
		      arena_printf(a, "the index has no digest of %s", file), NULL);
	else if (strcmp(now->sha256, f->sha256) != 0)
		found(t, FOUND_ERROR, "changed", part,
		      arena_printf(a, "the digest of %s is another one", file),
		      arena_printf(a,
				   "find out who replaced the file before you lock again: %s "
				   "--upgrade %s",
				   t->again, name));
	else if (now->yanked)
		*yanked = now->yanked;
}

/* Checks that the server still has a file that is not on an index. */
static void
audit_url(struct auditing *t, const char *part, const char *name, const char *url)
{
	struct http_request q = {
		.method = "HEAD", .url = url, .timeout_s = t->timeout_s, .netrc = t->netrc
	};
	struct arena *a = t->r->a;
	struct http_answer answer;

	if (!http_do(a, &q, &answer) ||
	    (answer.status / 100 != 2 && answer.status != 404 && answer.status != 410))
		found(t, FOUND_UNCHECKED, "unreachable", part,
		      answer.status ?
			      arena_printf(a, "%s answers with status %d", url, answer.status) :
			      arena_printf(a, "cannot read %s: %s", url, answer.why),
		      NULL);
	else if (answer.status / 100 != 2)
		found(t, FOUND_ERROR, "vanished", part, arena_printf(a, "%s no longer exists", url),
		      arena_printf(a, "name another file or version of %s in the recipe", name));
}

static void
audit_files(struct auditing *t, const char *part, const char *name, const char *index,
	    const struct lock_files *all)
{
	struct index_files files = { 0 };
	const char *yanked = NULL;

	if (!index)
		found(t, FOUND_UNCHECKED, "no-index", part, "the lock does not name its index",
		      arena_printf(t->r->a, "lock again: %s", t->again));
	if (!index || !ask_index(t, index, part, name, &files))
		return;
	for (size_t i = 0; i < all->n; i++)
		audit_file(t, part, name, &all->at[i], &files, &yanked);
	if (yanked)
		found(t, FOUND_WARNING, "yanked", part,
		      arena_printf(t->r->a, "yanked%s%s", *yanked ? ": " : "", yanked),
		      arena_printf(t->r->a, "select another version: %s --upgrade %s", t->again,
				   name));
}

/* Returns the index of most packages, which is also that of the extensions' sdists. */
static const char *
default_index(const struct auditing *t)
{
	const struct lock_packages *all = &t->lock->packages;
	const char *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < all->n; i++) {
		size_t n = 0;

		for (size_t k = 0; k < all->n && all->at[i].index; k++)
			n += all->at[k].index && !strcmp(all->at[i].index, all->at[k].index);
		if (n > most) {
			most = n;
			best = all->at[i].index;
		}
	}
	return best;
}

static void
audit_package(struct auditing *t, const struct lock_package *p)
{
	const char *part = arena_printf(t->r->a, "%s %s", p->name, p->version);

	if (p->files.n && p->files.at[0].kind == LOCK_ARCHIVE)
		audit_url(t, part, p->name, p->files.at[0].url);
	else
		audit_files(t, part, p->name, p->index ? p->index : default_index(t), &p->files);
}

/* --- extensions --- */

static void
audit_tag(struct auditing *t, const struct lock_source *s, const char *part)
{
	struct arena *a = t->r->a;
	const char *why = NULL, *now;

	if (!s->ref || str_is_commit(s->ref))
		return;
	now = git_remote_commit(a, s->url, s->ref, NULL, &why);
	if (!now && why && !strcmp(why, GIT_NO_TAG))
		found(t, FOUND_ERROR, "tag-gone", part,
		      arena_printf(a, "%s has no tag %s any more", s->url, s->ref),
		      arena_printf(a, "name another tag or the commit %s as `ref:`", s->commit));
	else if (!now)
		found(t, FOUND_UNCHECKED, "unreachable", part,
		      arena_printf(a, "cannot read %s: %s", s->url, why ? why : "no answer"), NULL);
	else if (strcmp(now, s->commit) != 0)
		found(t, FOUND_ERROR, "tag-moved", part,
		      arena_printf(a, "the tag %s of %s moved from %.12s to %.12s", s->ref, s->url,
				   s->commit, now),
		      arena_printf(a, "read the difference, then lock again: %s --upgrade git",
				   t->again));
}

static void
audit_source(struct auditing *t, const struct lock_source *s)
{
	const char *part =
		s->version ? arena_printf(t->r->a, "%s %s", s->name, s->version) : s->name;
	struct lock_file f = { .kind = LOCK_SDIST, .url = s->url, .sha256 = s->sha256 };
	struct lock_files one = { &f, 1, 1 };

	if (!strcmp(s->kind, "git") ? !s->commit : !s->sha256)
		found(t, FOUND_UNCHECKED, "unpinned", part, "the lock does not pin it",
		      arena_printf(t->r->a, "lock again: %s", t->again));
	else if (!strcmp(s->kind, "git"))
		audit_tag(t, s, part);
	else if (!strcmp(s->kind, "sdist"))
		audit_files(t, part, s->name, default_index(t), &one);
	else
		audit_url(t, part, s->name, s->url);
}

/* --- images --- */

static void
audit_image(struct auditing *t, const struct lock_image *image)
{
	struct arena *a = t->r->a;
	struct oci_manifest now, pinned;
	struct oci_registry *registry;
	bool tag_gone = false, gone = false, answers;
	struct oci_name name;
	struct diags own;

	own = DIAGS(own, a);
	if (!image->name)
		return;
	if (!image->digest) {
		found(t, FOUND_UNCHECKED, "unpinned", image->name, "the lock does not pin it",
		      arena_printf(a, "lock again: %s", t->again));
		return;
	}
	answers = oci_name_parse(a, &own, image->name, NOWHERE, &name);
	registry = answers ? oci_open(a, &name, t->timeout_s) : NULL;
	answers = answers &&
		  oci_manifest(registry, a, &own, name.tag ? name.tag : "latest", &now, &tag_gone);
	if (answers && !strcmp(now.digest, image->digest))
		return;
	if (!own.head)
		oci_manifest(registry, a, &own, image->digest, &pinned, &gone);
	if (own.head)
		found(t, FOUND_UNCHECKED, "unreachable", image->name, own.head->text, NULL);
	else if (gone)
		found(t, FOUND_ERROR, "image-gone", image->name,
		      arena_printf(a, "the registry no longer has %.19s...%s", image->digest,
				   tag_gone ? ", nor the tag" : ""),
		      tag_gone ? "name another base image in the recipe" :
				 arena_printf(a, "lock again: %s --upgrade base", t->again));
	else
		found(t, FOUND_WARNING, tag_gone ? "tag-gone" : "tag-moved", image->name,
		      tag_gone ? "the tag was deleted; the registry still has the digest" :
				 "the tag names another image now; the registry still has the "
				 "digest",
		      tag_gone ?
			      "copy the image to a registry of yours, or name another one" :
			      arena_printf(a, "take the new image: %s --upgrade base", t->again));
}

/* --- ends of support --- */

static void
audit_end(struct auditing *t, const char *table, const char *of, const char *label,
	  const char *remedy)
{
	struct arena *a = t->r->a;
	const char *until = of ? facts_end(t->r->facts, table, of) : NULL;

	if (until && strcmp(until, world_today(a)) < 0)
		found(t, FOUND_WARNING, "end-of-life", label,
		      arena_printf(a, "its security updates ended on %s", until), remedy);
}

static void
audit_ends(struct auditing *t)
{
	struct arena *a = t->r->a;
	const struct lock_image *images[] = { &t->lock->base, &t->lock->runtime };

	audit_end(t, "python", t->lock->python, arena_printf(a, "Python %s", t->lock->python),
		  "select a newer series with `python:`");
	for (size_t i = 0; i < 2; i++) {
		const char *os =
			images[i]->name ? facts_image_name(t->r->facts, images[i]->name).os : NULL;

		audit_end(t, "systems", os, arena_printf(a, "%s of %s", os, images[i]->name),
			  "name an image of a newer system");
	}
}

/* --- the command --- */

/* Returns "2 errors". */
static const char *
counted(const struct auditing *t, size_t n, const char *what)
{
	return arena_printf(t->r->a, "%zu %s%s", n, what, n == 1 ? "" : "s");
}

static void
audit_lock(struct auditing *t, const struct stack *s)
{
	const struct lock *l = t->lock;
	struct names stale = s ? lock_stale(t->r->a, l, s) : (struct names){ 0 };

	if (stale.n)
		found(t, FOUND_ERROR, "stale", "the lock", stale.at[0],
		      arena_printf(t->r->a, "lock again: %s", t->again));
	for (size_t i = 0; i < l->packages.n && !proc_interrupted(); i++)
		audit_package(t, &l->packages.at[i]);
	for (size_t i = 0; i < l->sources.n && !proc_interrupted(); i++)
		audit_source(t, &l->sources.at[i]);
	for (size_t i = 0; i < 2 && !proc_interrupted(); i++)
		audit_image(t, i ? &l->runtime : &l->base);
	audit_ends(t);
	list_each (x, &t->indexes) {
		if (!x->parts)
			continue;
		found(t, FOUND_UNCHECKED, "unreachable",
		      arena_printf(t->r->a, "%s of %s", counted(t, x->parts, "package"), x->url),
		      x->why, NULL);
		t->unchecked += x->parts - 1;
	}
}

static unsigned
count(const struct auditing *t, enum severity_of_finding is)
{
	unsigned n = 0;

	for (size_t i = 0; i < t->all.n; i++)
		n += t->all.at[i].is == is;
	return n;
}

/* Prints the findings of the first `kinds` kinds: the most serious ones. */
static void
show_found(const struct auditing *t, int kinds)
{
	for (int is = 0; is < kinds; is++)
		list_each (f, &t->all)
			if ((int)f->is == is)
				buf_printf(&t->r->out, "%-11s  %s: %s%s%s\n", words[is], f->part,
					   f->what, f->remedy ? "; " : "",
					   f->remedy ? f->remedy : "");
}

static void
show_text(const struct auditing *t)
{
	struct buf *out = &t->r->out;
	const struct lock *l = t->lock;

	show_found(t, FOUND_KINDS);
	buf_printf(out, "%s: %s, %s, %s: %s, %s, %u not checked\n", lock_path(t->r->a, t->recipe),
		   counted(t, l->packages.n, "package"), counted(t, l->sources.n, "extension"),
		   counted(t, !!l->base.name + !!l->runtime.name, "image"),
		   counted(t, count(t, FOUND_ERROR), "error"),
		   counted(t, count(t, FOUND_WARNING), "warning"), t->unchecked);
}

static void
show_json(const struct auditing *t, struct json *j)
{
	json_put(j, "{'lock': %s, 'cell': %o, 'findings': [", lock_path(t->r->a, t->recipe),
		 t->recipe->cell);
	list_each (f, &t->all)
		json_put(j, "('severity': %s, 'code': %s, 'part': %s, 'what': %s, 'remedy': %o)",
			 words[f->is], f->code, f->part, f->what, f->remedy);
	json_put(j, "], 'errors': %d, 'warnings': %d, 'not_checked': %d}",
		 (int)count(t, FOUND_ERROR), (int)count(t, FOUND_WARNING), (int)t->unchecked);
}

/* Audits one cell; returns whether a build would still give what the lock names. */
static bool
audit_cell(struct run *r, const struct recipe *recipe, double timeout_s, struct json *j)
{
	struct auditing t = { .r = r, .recipe = recipe, .timeout_s = timeout_s };
	struct names secrets = { 0 };
	struct diags ignored = DIAGS(ignored, r->a);

	t.again = arena_printf(r->a, "stackbuild lock %s", world_recipe(r->a, r->o, recipe->cell));
	if (!lock_beside(r->a, &r->ds, recipe, t.again, true, &t.lock) ||
	    !world_index_secrets(r, recipe, &secrets))
		return false;
	t.netrc = http_logins(r->a, &secrets);
	world_hide_secrets(r, recipe);
	audit_lock(&t, resolve(r->a, &ignored, r->facts, recipe, NULL));
	if (proc_interrupted()) {
		if (r->o->format != FORMAT_JSON)
			show_found(&t, FOUND_UNCHECKED);
		diag_help(diag_at(&r->ds, E_AUDIT_INTERRUPTED, NOWHERE,
				  "the audit of `%s` was interrupted", lock_path(r->a, recipe)),
			  "run the command again; an audit changes no file");
		return false;
	}
	if (r->o->format == FORMAT_JSON)
		show_json(&t, j);
	else
		show_text(&t);
	return !count(&t, FOUND_ERROR) &&
	       !(r->o->strict && (count(&t, FOUND_WARNING) || t.unchecked));
}

int
verb_audit(struct run *r)
{
	double timeout_s = INDEX_TIMEOUT_S;
	const struct recipes *rs;
	struct json j = json_to(&r->out);
	bool good = true;

	if (!option_timeout(r->o, &timeout_s))
		return EXIT_USAGE;
	rs = pipeline_load(r, &r->ds, r->o->args.at[0], NULL, NULL);
	proc_signals();
	if (rs && r->o->format == FORMAT_JSON)
		json_list(&j, NULL);
	for (size_t i = 0; rs && i < rs->n && !proc_interrupted(); i++)
		good = audit_cell(r, rs->at[i], timeout_s, &j) && good;
	if (rs && r->o->format == FORMAT_JSON)
		json_end(&j);
	return rs && good ? EXIT_DONE : EXIT_DIAGNOSED;
}

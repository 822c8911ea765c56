/* Pins the parts of a lock other than packages: base images, git sources, files by URL. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/sha256.h"
#include "base/str.h"
#include "fetch/fetch.h"
#include "lock/lock.h"
#include "world.h"

#define FILE_MAX ((size_t)8 << 30) /* maximum bytes of a file by URL */

/* The state of making a lock. */
struct pinning {
	struct run *r;
	const struct stack *s;
	const struct world_pin_how *how;
	struct lock *out;
};

static bool
may_lack(const struct pinning *p, const char *what)
{
	return names_have(&p->how->unpinned, what);
}

/*
 * Reports a part that cannot be pinned, with the reason: a text, or the first of `found`. kind: for
 * --unpinned, or NULL. Returns false.
 */
static bool
unreachable(struct pinning *p, struct span at, const char *what, const char *name, const char *kind,
	    const char *why, const struct diags *found)
{
	struct diag *d = diag_at(&p->r->ds, E_LOCK_SOURCE, at, "cannot pin %s `%s`", what, name);
	const struct diag *cause = found ? found->head : NULL;

	diag_why(d, "%s", cause ? cause->text : why);
	for (const struct note *n = cause ? cause->notes : NULL; n; n = n->next)
		diag_line(d, n->kind, n->at, "%s", n->text);
	if (kind)
		diag_help(d, "lock only the other parts: --unpinned %s", kind);
	else
		diag_help(d, "add the digest of the file to the recipe, as `sha256:`");
	return false;
}

/* --- images --- */

/* Pins an image. digest: the pinned one of the index; NULL: the current one of the tag. */
static bool
ask_registry(struct pinning *p, const struct choice *base, const char *digest,
	     struct lock_image *out)
{
	struct arena *a = p->r->a;
	struct oci_manifest m;
	struct oci_name name;
	struct diags own;
	bool missing = false;

	own = DIAGS(own, a);
	if (!oci_name_parse(a, &own, base->value, base->at, &name) ||
	    !oci_manifest(oci_open(a, &name, 0), a, &own,
			  digest      ? digest :
			  name.digest ? name.digest :
			  name.tag    ? name.tag :
					"latest",
			  &m, &missing))
		return unreachable(p, base->at, "the image", base->value, "base",
				   "the registry does not have it", &own);
	out->digest = m.digest;
	out->platform_digest = oci_platform_digest(a, &m, p->s->platform, NULL);
	if (out->platform_digest)
		return true;
	return unreachable(p, base->at, "the image", base->value, "base",
			   arena_printf(a, "it has no image for %s", p->s->platform), NULL);
}

/* Returns whether an old lock is for the platform of the stack. */
static bool
same_platform(const struct pinning *p)
{
	for (size_t i = 0; i < p->out->inputs.n; i++)
		if (starts_with(p->out->inputs.at[i], "platform "))
			return names_have(&p->how->old->inputs, p->out->inputs.at[i]);
	return false;
}

static bool
pin_image(struct pinning *p, const struct choice *base, const struct lock_image *old,
	  struct lock_image *out)
{
	if (!base->value)
		return true;
	if (old && (!old->digest || !old->name || strcmp(old->name, base->value) != 0))
		old = NULL;
	if (old && same_platform(p)) {
		*out = *old;
		return true;
	}
	out->name = base->value;
	if (!may_lack(p, "base"))
		return ask_registry(p, base, old ? old->digest : NULL, out);
	names_once(p->r->a, &p->out->unpinned, "base");
	return true;
}

/* --- sources --- */

static bool
pin_git(struct pinning *p, const struct stack_extension *e, const struct lock_source *old,
	struct lock_source *out)
{
	const char *why = NULL;

	if (str_is_commit(e->ref))
		out->commit = e->ref;
	else if (old && old->commit && old->ref && !strcmp(old->ref, e->ref) &&
		 !strcmp(old->url, e->url))
		out->commit = old->commit;
	else if (may_lack(p, "git"))
		names_once(p->r->a, &p->out->unpinned, "git");
	else if (!(out->commit = git_remote_commit(p->r->a, e->url, e->ref, NULL, &why)))
		return unreachable(p, e->at, "the commit of",
				   arena_printf(p->r->a, "%s@%s", e->url, e->ref), "git", why,
				   NULL);
	return true;
}

/* Downloads a file for its digest and size. */
static bool
measure(struct pinning *p, const struct stack_extension *e, struct lock_source *out)
{
	struct arena *a = p->r->a;
	const char *dir = proc_temp(a, NULL, "stackbuild-lock"), *path;
	struct http_request q = { .method = "GET", .url = e->url, .max = FILE_MAX };
	struct http_answer answer = { 0 };

	if (!dir)
		return unreachable(
			p, e->at, "the file", e->url, NULL,
			arena_printf(a, "there is no temporary directory: %s", strerror(errno)),
			NULL);
	q.to_path = path = fs_join(a, dir, "file");
	if (http_do(a, &q, &answer) && answer.status == 200)
		out->sha256 = sha256_file(a, path, &out->size);
	else if (answer.status)
		answer.why = arena_printf(a, "HTTP %d", answer.status);
	unlink(path);
	rmdir(dir);
	return out->sha256 || unreachable(p, e->at, "the file", mask_credentials(a, e->url), NULL,
					  answer.why, NULL);
}

static bool
pin_file(struct pinning *p, const struct stack_extension *e, const struct lock_source *old,
	 struct lock_source *out)
{
	out->sha256 = e->sha256;
	if (e->sha256)
		return true;
	if (old && old->sha256 && old->url && e->url && !strcmp(old->url, e->url)) {
		out->sha256 = old->sha256;
		out->size = old->size;
		return true;
	}
	if (e->url && http_host(p->r->a, e->url))
		return measure(p, e, out);
	names_once(p->r->a, &p->out->unpinned, e->name);
	return true;
}

static bool
pin_source(struct pinning *p, const struct stack_extension *e, const struct lock_packages *sdists,
	   const struct lock_source *old)
{
	struct lock_source s = { .name = e->name,
				 .version = e->version,
				 .kind = lock_source_kind(e),
				 .url = e->url,
				 .ref = e->source == SOURCE_GIT ? e->ref : NULL };
	bool good = true;

	if (e->source == SOURCE_PATH) /* the repository of the recipe has it at the same commit */
		return true;
	if (e->source == SOURCE_GIT)
		good = pin_git(p, e, old, &s);
	else if (e->source != SOURCE_SDIST)
		good = pin_file(p, e, old, &s);
	for (size_t i = 0; i < sdists->n && e->source == SOURCE_SDIST; i++) {
		const struct lock_package *found = &sdists->at[i];
		const struct lock_file *f = &found->files.at[found->files.n - 1];

		if (strcmp(found->name, e->name) != 0)
			continue;
		s.version = found->version;
		s.url = f->url;
		s.sha256 = f->sha256;
		s.size = f->size;
	}
	list_push(p->r->a, &p->out->sources, s);
	return good;
}

bool
world_pin(struct run *r, const struct stack *s, const struct world_pin_how *how,
	  const struct lock_packages *sdists, struct lock *out)
{
	struct pinning p = { .r = r, .s = s, .how = how, .out = out };
	const struct lock *images = how->new_base ? NULL : how->old,
			  *commits = how->new_git ? NULL : how->old;
	bool good;

	good = pin_image(&p, &s->base, images ? &images->base : NULL, &out->base);
	if (s->base.value && s->runtime_base.value && !strcmp(s->base.value, s->runtime_base.value))
		out->runtime = out->base;
	else
		good = pin_image(&p, &s->runtime_base, images ? &images->runtime : NULL,
				 &out->runtime) &&
		       good;
	list_each (e, &s->extensions)
		good = pin_source(&p, e, sdists, commits ? lock_source(commits, e->name) : NULL) &&
		       good;
	if (s->python_build &&
	    (s->python_from == PYTHON_STANDALONE || s->python_from == PYTHON_UV)) {
		out->python_url = s->python_build->url;
		out->python_sha256 = s->python_build->sha256;
	}
	return good;
}

/* A store, whatever its kind: where it is, and that nothing passes through it unseen. */
#include "store.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/str.h"
#include "file.h"
#include "internal.h"

static const char *
default_folder(struct arena *a)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache == '/') /* one that is not absolute is to be ignored */
		return fs_join(a, cache, "stackbuild");
	return home && *home == '/' ? fs_join(a, home, ".cache/stackbuild") : NULL;
}

static struct store *
no_store(struct diags *ds, const char *where, const char *why)
{
	diag_help(diag_at(ds, E_STORE_WHERE, (struct span){ 0 }, "the store `%s` %s", where, why),
		  "name a folder, https://HOST/PATH or oci://HOST/REPOSITORY");
	return NULL;
}

struct store *
store_open(struct arena *a, struct diags *ds, const char *where)
{
	struct store *s = arena_new_of(a, struct store);
	const char *given = where ? where : default_folder(a);
	size_t n;

	if (!given)
		return no_store(ds, "~/.cache/stackbuild", "has no place: HOME is not set");
	if (!*given)
		return no_store(ds, given, "has no name");
	for (n = strlen(given); n > 1 && given[n - 1] == '/';)
		n--;
	s->where = arena_copy(a, given, n);
	s->name = mask_credentials(a, s->where);
	if (starts_with(given, "oci://")) {
		s->kind = &store_oci;
		return store_open_oci(a, ds, s) ? s : NULL;
	}
	s->kind = starts_with(given, "http://") || starts_with(given, "https://") ? &store_http :
										    &store_folder;
	if (s->kind == &store_folder && strstr(given, "://"))
		return no_store(ds, s->name, "is of no kind that is known");
	if (s->kind == &store_folder && fs_exists(s->where) && !fs_is_dir(s->where))
		return no_store(ds, s->name, "is not a folder");
	return s;
}

const char *
store_name(const struct store *s)
{
	return s->name;
}

void
store_refuse(struct diags *ds, const struct store *s, const char *key, const char *why)
{
	diag_why(diag_at(ds, E_STORE_WHEEL, (struct span){ 0 },
			 "the wheel %.12s of %s is not what it should be", key, s->name),
		 "%s", why);
}

void
store_warn(struct diags *to, struct diags *from)
{
	for (struct diag *d = from->head; d; d = d->next)
		diag_force(d);
	diags_append(to, from);
}

/* --- a folder beside the result, for what is not yet trusted --- */

static const char *
temp_in(struct arena *a, struct diags *ds, const struct store *s, const char *folder)
{
	char *temp = arena_printf(a, "%s/.store-XXXXXX", folder);

	if ((mkdir(folder, 0777) == 0 || errno == EEXIST) && proc_temp(temp))
		return temp;
	diag_at(ds, E_STORE_UNREACHABLE, (struct span){ 0 },
		"no wheel of %s can be brought to `%s`: %s", s->name, folder, strerror(errno));
	return NULL;
}

static enum store_answer
fetch_checked(struct arena *a, struct diags *ds, struct store *s, const char *key,
	      const struct store_want *want, const char *temp, const struct entry **e)
{
	enum store_answer answer = s->kind->find(a, ds, s, key, e);

	if (answer == STORE_HIT)
		answer = s->kind->fetch(a, ds, s, *e, temp);
	if (answer == STORE_HIT) {
		const char *path = fs_join(a, temp, (*e)->wheel);
		enum store_verdict v = store_inspect(a, ds, path, *e, want, NULL);

		answer = v == STORE_GOOD ? STORE_HIT :
			 v == STORE_BAD  ? STORE_REFUSED :
					   STORE_UNREACHABLE;
	}
	if (answer == STORE_REFUSED) {
		list_push(a, &s->refused, key);
		if (s->kind->drop)
			s->kind->drop(a, s, key, *e ? (*e)->id : 0);
	}
	return answer;
}

enum store_answer
store_get(struct arena *a, struct diags *ds, struct store *s, const char *key,
	  const struct store_want *want, const char *folder, const char **path)
{
	enum store_answer answer = STORE_UNREACHABLE;
	const struct entry *e = NULL;
	const char *temp, *to;
	struct diags mine;

	if (!store_is_key(key))
		BUG("`%s` is no key of a wheel", key);
	if (s->down)
		return STORE_UNREACHABLE;
	diags_init(&mine, ds->arena);
	temp = temp_in(a, &mine, s, folder);
	if (temp) {
		answer = fetch_checked(a, &mine, s, key, want, temp, &e);
		to = e ? fs_join(a, folder, e->wheel) : NULL;
		if (answer == STORE_HIT && rename(fs_join(a, temp, e->wheel), to) == 0)
			*path = to;
		else if (answer == STORE_HIT) {
			answer = STORE_UNREACHABLE;
			diag_at(&mine, E_STORE_UNREACHABLE, (struct span){ 0 },
				"no wheel of %s can be brought to `%s`: %s", s->name, folder,
				strerror(errno));
		}
		if (e) /* store_remove needs a descriptor, and there may be none */
			unlink(fs_join(a, temp, e->wheel));
		store_remove(temp);
	}
	if (answer == STORE_HIT && s->kind->used)
		s->kind->used(a, s, key);
	store_warn(ds, &mine);
	return answer;
}

bool
store_put(struct arena *a, struct diags *ds, struct store *s, const struct store_wheel *w,
	  const struct store_want *want)
{
	struct entry *e = entry_new(a, ds, w->inputs, strlen(w->inputs));
	const char *slash = strrchr(w->path, '/');
	struct wheel_facts seen;

	if (!e || store_inspect(a, ds, w->path, NULL, want, &seen) != STORE_GOOD)
		return false;
	e->wheel = slash ? slash + 1 : w->path;
	e->sha256 = seen.sha256;
	e->size = seen.size;
	e->archs = seen.archs;
	e->made = (long long)time(NULL);
	e->compile_s = isfinite(w->compile_s) && w->compile_s > 0 ? w->compile_s : 0;
	e->peak_mib = w->peak_mib;
	return s->kind->save(a, ds, s, e, w->path);
}

/* Stores of every kind: opens them, and checks every wheel. */
#include "store.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/str.h"
#include "internal.h"

static const char *
default_folder(struct arena *a)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache == '/') /* the specification ignores relative paths */
		return fs_join(a, cache, "stackbuild");
	return home && *home == '/' ? fs_join(a, home, ".cache/stackbuild") : NULL;
}

static struct store *
no_store(struct diags *ds, const char *where, const char *why)
{
	diag_help(diag_at(ds, E_STORE_WHERE, NOWHERE, "the store `%s` %s", where, why),
		  "use a directory, https://HOST/PATH or oci://HOST/REPOSITORY");
	return NULL;
}

struct store *
store_open(struct arena *a, struct diags *ds, const char *where)
{
	struct store *s = arena_new_of(a, struct store);
	const char *given = where ? where : default_folder(a);
	size_t n;

	if (!given)
		return no_store(ds, "~/.cache/stackbuild", "has no directory: HOME is not set");
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
		return no_store(ds, s->name, "is not a supported kind of store");
	if (s->kind == &store_folder && fs_exists(s->where) && !fs_is_dir(s->where))
		return no_store(ds, s->name, "is not a directory");
	return s;
}

const char *
store_name(const struct store *s)
{
	return s->name;
}

struct diag *
store_not_saved(struct diags *ds, const struct store *s, const struct entry *e, const char *why)
{
	return diag_at(ds, E_STORE_WRITE, NOWHERE, "`%s` could not be saved to the store %s: %s",
		       e->wheel, s->name, why);
}

/* Moves diagnostics to `to`, and turns errors into warnings. */
static void
warn(struct diags *to, struct diags *from)
{
	for (struct diag *d = from->head; d; d = d->next)
		diag_force(d);
	diags_append(to, from);
}

/* --- the wheel of a key --- */

/* Returns an answer, with its reason as a diagnostic. */
static enum store_answer
tell(struct diags *ds, struct store *s, const char *key, enum store_answer answer)
{
	struct diag *d;

	if (answer == STORE_REFUSED)
		diag_why(diag_at(ds, E_STORE_WHEEL, NOWHERE,
				 "the wheel %.12s of %s is damaged or stale", key, s->name),
			 "%s", s->why);
	if (answer != STORE_UNREACHABLE)
		return answer;
	/* A server that timed out is not contacted again, because each try would wait again. */
	s->down = s->kind != &store_folder;
	if (!s->down)
		diag_at(ds, E_STORE_UNREACHABLE, NOWHERE, "%s", s->why);
	else if ((d = diag_at(ds, E_STORE_UNREACHABLE, NOWHERE, "the store %s does not answer: %s",
			      s->name, s->why)) &&
		 s->help)
		diag_help(d, "%s", s->help);
	return answer;
}

enum store_answer
store_find(struct arena *a, struct diags *ds, struct store *s, const char *key,
	   const struct entry **e)
{
	struct entry_file file = { 0 };
	enum store_answer answer = s->kind->read(a, s, key, &file);
	struct entry *mine = NULL;

	*e = NULL;
	if (answer == STORE_HIT && (mine = entry_read(a, file.text, file.n, key, &s->why)) &&
	    file.digest && strcmp(file.digest, arena_printf(a, "sha256:%s", mine->sha256))) {
		s->why = "its manifest names another wheel than its entry";
		mine = NULL;
	}
	if (!mine)
		return tell(ds, s, key, answer == STORE_HIT ? STORE_REFUSED : answer);
	mine->used = file.used;
	*e = mine;
	return STORE_HIT;
}

enum store_answer
store_take(struct arena *a, struct diags *ds, struct store *s, const char *key,
	   const struct store_want *want, const char *folder, const struct entry **e,
	   const char **path)
{
	enum store_answer answer = store_find(a, ds, s, key, e);
	struct store_want own;
	const char *to;

	*path = NULL;
	if (answer != STORE_HIT)
		return answer;
	to = folder ? fs_join(a, folder, (*e)->wheel) : folder_wheel(a, s, *e);
	if (folder)
		answer = tell(ds, s, key, s->kind->fetch(a, s, *e, to));
	if (answer != STORE_HIT)
		return answer;
	own = entry_want(a, *e);
	*path = to;
	return store_inspect(a, ds, to, *e, want ? want : &own, NULL);
}

bool
store_keys(struct arena *a, struct diags *ds, struct store *s, struct names *keys)
{
	if (s->kind->keys)
		return tell(ds, s, NULL, s->kind->keys(a, s, keys)) == STORE_HIT;
	diag_help(
		diag_at(ds, E_STORE_KIND, NOWHERE, "the store %s cannot list its wheels", s->name),
		"pass the full keys of its wheels, 64 digits each");
	return false;
}

bool
store_entries(struct arena *a, struct diags *ds, struct store *s, struct entries *out,
	      struct names *bad)
{
	struct names keys = { 0 };
	bool good = store_keys(a, ds, s, &keys);

	for (size_t i = 0; good && i < keys.n; i++) {
		enum store_answer answer;
		const struct entry *e;
		struct diags mine = DIAGS(mine, ds->arena);

		answer = store_find(a, &mine, s, keys.at[i], &e);
		good = answer != STORE_UNREACHABLE;
		if (answer == STORE_HIT) /* on a miss, it was removed meanwhile */
			list_push(a, out, e);
		else if (answer == STORE_REFUSED && bad)
			list_push(a, bad, keys.at[i]);
		else if (answer == STORE_REFUSED)
			warn(ds, &mine);
		else if (!good)
			diags_append(ds, &mine);
	}
	return good;
}

enum store_answer
store_get(struct arena *a, struct diags *ds, struct store *s, const char *key,
	  const struct store_want *want, const char *folder, const char **path)
{
	/* Creates a directory next to the result for unchecked files. */
	struct fs_temp temp;
	enum store_answer answer = STORE_UNREACHABLE;
	const char *from, *to;
	const struct entry *e;
	bool failed = true;
	struct diags mine = DIAGS(mine, ds->arena);

	if (!store_is_key(key))
		BUG("`%s` is not the key of a wheel", key);
	if (s->down)
		return STORE_UNREACHABLE;
	if ((mkdir(folder, 0777) == 0 || errno == EEXIST) &&
	    fs_temp_dir(a, fs_join(a, folder, "x"), 0700, &temp)) {
		proc_remove_at_exhaustion(temp.path);
		answer = store_take(a, &mine, s, key, want, temp.path, &e, &from);
		to = e ? fs_join(a, folder, e->wheel) : NULL;
		failed = answer == STORE_HIT && rename(from, to) < 0;
		if (e) /* fs_remove needs a descriptor, which may be missing */
			unlink(fs_join(a, temp.path, e->wheel));
		fs_temp_drop(&temp);
	}
	if (failed) {
		answer = STORE_UNREACHABLE;
		diag_at(&mine, E_STORE_UNREACHABLE, NOWHERE,
			"the wheels of %s cannot be copied to `%s`: %s", s->name, folder,
			strerror(errno));
	} else if (answer == STORE_REFUSED) {
		list_push(a, &s->refused, key);
		if (s->kind->drop)
			s->kind->drop(a, s, key);
	} else if (answer == STORE_HIT) {
		*path = to;
		if (s->kind->used)
			s->kind->used(a, s, key);
	}
	warn(ds, &mine);
	return answer;
}

bool
store_put(struct arena *a, struct diags *ds, struct store *s, const struct store_wheel *w,
	  const struct store_want *want)
{
	struct entry *e = entry_new(a, ds, w->inputs, strlen(w->inputs));

	if (!e || store_inspect(a, ds, w->path, NULL, want, e) != STORE_HIT)
		return false;
	e->wheel = fs_name(w->path);
	e->made = (long long)time(NULL);
	e->compile_s = isfinite(w->compile_s) && w->compile_s > 0 ? w->compile_s : 0;
	e->peak_mib = w->peak_mib;
	return s->kind->save(a, ds, s, e, w->path);
}

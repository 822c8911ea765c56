/* A wheel into a folder store; src/store/folder.c says how that stays whole. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "file.h"
#include "folder.h"

static bool
failed(struct diags *ds, const struct store *s, const struct entry *e, const char *why)
{
	struct diag *d =
		diag_at(ds, E_STORE_WRITE, (struct span){ 0 },
			"`%s` could not be put into the store %s: %s", e->wheel, s->name, why);

	if (errno == ENOSPC || errno == EDQUOT)
		diag_help(d, "make room: stackbuild store gc --days 7");
	else
		diag_help(d, "name a store that can be written, with --store");
	return false;
}

/* The folder of this writer in tmp/; NULL: errno says why. */
static const char *
make_temp(struct arena *a, const struct store *s, const char *key)
{
	for (unsigned i = 0; i < 10000; i++) {
		const char *temp =
			arena_printf(a, "%s/tmp/%.12s.%ld.put%u", s->where, key, (long)getpid(), i);

		if (mkdir(temp, 0777) == 0)
			return temp;
		if (errno != EEXIST)
			return NULL;
	}
	return NULL;
}

/* Everything that is to be renamed, on the disk; the wheel is the one that was looked into. */
static bool
fill(struct arena *a, const struct entry *e, const char *path, const char *temp, const char **why)
{
	const char *text = entry_text(a, e), *sha256;
	bool reading;
	size_t size;

	*why = NULL;
	if (!store_copy_file(a, AT_FDCWD, path, fs_join(a, temp, e->wheel), &sha256, &size,
			     &reading))
		return false;
	if (strcmp(sha256, e->sha256)) {
		*why = "it was changed meanwhile";
		return false;
	}
	return store_write_file(fs_join(a, temp, "entry.json"), text, strlen(text)) &&
	       store_sync_folder(temp);
}

/* What stands under the key: GOOD stays, BAD (or nothing) makes room. */
static enum store_verdict
there(struct arena *a, struct diags *ds, struct store *s, const struct entry *e)
{
	const struct entry *old = NULL;
	struct store_want want;
	struct diags mine;
	enum store_verdict verdict = STORE_BAD;

	diags_init(&mine, a);
	switch (s->kind->find(a, &mine, s, e->key, &old)) {
	case STORE_UNREACHABLE: verdict = STORE_UNKNOWN; break;
	case STORE_HIT:
		want = entry_want(a, old);
		verdict = store_inspect(a, &mine, fs_join(a, folder_of(a, s, e->key), old->wheel),
					old, &want, NULL);
		break;
	default: break;
	}
	if (verdict == STORE_UNKNOWN)
		diags_append(ds, &mine);
	return verdict;
}

static bool
publish(struct arena *a, struct diags *ds, struct store *s, const struct entry *e, const char *temp)
{
	const char *to = folder_of(a, s, e->key), *head = fs_dir(a, to);

	for (int i = 0; i < 3; i++) {
		if (!fs_make_parents(a, to))
			return false;
		if (rename(temp, to) == 0)
			return store_sync_folder(head) && store_sync_folder(fs_dir(a, head)) &&
			       store_sync_folder(s->where);
		if (errno != ENOTEMPTY && errno != EEXIST)
			return false;
		switch (there(a, ds, s, e)) {
		case STORE_GOOD: store_remove(temp); return true;
		case STORE_UNKNOWN: return false;
		case STORE_BAD:
			if (!folder_throw_out(a, s, e->key))
				return false;
		}
	}
	return false;
}

bool
folder_save(struct arena *a, struct diags *ds, struct store *s, const struct entry *e,
	    const char *path)
{
	const char *temp, *why;
	STORE_FD lock = -1;

	switch (there(a, ds, s, e)) {
	case STORE_GOOD: s->kind->used(a, s, e->key); return true;
	case STORE_UNKNOWN: return false;
	case STORE_BAD: break;
	}
	if (!fs_make_parents(a, fs_join(a, s->where, "tmp/x")))
		return failed(ds, s, e, strerror(errno));
	/* Alone here: then what is in tmp/ is of writers that are gone. */
	lock = folder_lock(a, s, LOCK_EX | LOCK_NB);
	if (lock >= 0)
		folder_clear_temp(a, s);
	else if (errno == EWOULDBLOCK)
		lock = folder_lock(a, s, LOCK_SH);
	if (lock < 0 || flock(lock, LOCK_SH) < 0)
		return failed(ds, s, e, strerror(errno));
	temp = make_temp(a, s, e->key);
	if (!temp)
		return failed(ds, s, e, strerror(errno));
	if (fill(a, e, path, temp, &why) && publish(a, ds, s, e, temp))
		return true;
	store_remove(temp);
	return failed(ds, s, e, why ? why : strerror(errno));
}

/* Cleans up a directory store: unused wheels, wheels over the size limit, partial files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/str.h"
#include "internal.h"

enum { HOLD_MS = 50 }; /* maximum time of the exclusive lock, plus one rename */

struct gc {
	struct arena *a;
	struct diags *ds;
	struct store *s;
	struct buf *out;
	bool dry_run, failed;
	double now;
	int lock;        /* -1: not held */
	double since;    /* when it was taken, by proc_clock_s() */
	const char *bin; /* a directory to remove without the exclusive lock; or NULL */
};

static bool
cannot_lock(struct gc *g)
{
	diag_at(g->ds, E_STORE_WRITE, NOWHERE, "the store %s cannot be written: %s", g->s->name,
		strerror(errno));
	return false;
}

/* Lets writers continue, and removes what was renamed under the lock. */
static void
release(struct gc *g)
{
	if (g->bin) {
		flock(g->lock, LOCK_SH); /* with it, no other process renames tmp/ */
		fs_remove(g->bin);
		g->bin = NULL;
	}
	fs_close(&g->lock);
	g->lock = -1;
}

/* Takes the exclusive lock, or keeps it for a short time. */
static bool
hold(struct gc *g)
{
	if (g->lock >= 0 && proc_clock_s() < g->since + HOLD_MS / 1000.0)
		return true;
	release(g);
	g->lock = folder_lock(g->a, g->s, LOCK_EX);
	g->since = proc_clock_s();
	return g->lock >= 0 || cannot_lock(g);
}

static int
oldest_first(const void *x, const void *y)
{
	const struct entry *e = *(const struct entry *const *)x,
			   *f = *(const struct entry *const *)y;

	return e->used != f->used ? (e->used < f->used ? -1 : 1) : strcmp(e->key, f->key);
}

/* Returns STORE_HIT for an entry that was used or replaced since it was listed, STORE_MISS for one that
 * is gone, otherwise STORE_REFUSED. `used` -1: it could not be read. */
static enum store_answer
look_again(struct gc *g, const char *key, long long used)
{
	const char *path = fs_join(g->a, folder_of(g->a, g->s, key), "entry.json");
	struct diags unused = DIAGS(unused, g->a);
	const struct entry *e;
	struct stat st;

	if (used < 0)
		return store_find(g->a, &unused, g->s, key, &e);
	if (stat(path, &st) < 0)
		return errno == ENOENT ? STORE_MISS : STORE_HIT;
	return st.st_mtime == used ? STORE_REFUSED : STORE_HIT;
}

/* Removes an entry; false: it was used meanwhile, or after a diagnostic. */
static bool
throw_out(struct gc *g, const char *key, long long used)
{
	enum store_answer answer;
	bool good;

	if (g->dry_run)
		return true;
	if (!hold(g)) {
		g->failed = true;
		return false;
	}
	answer = look_again(g, key, used);
	if (answer != STORE_REFUSED)
		return answer == STORE_MISS;
	if (!g->bin)
		g->bin = folder_temp(g->a, g->s, "gc");
	good = g->bin && rename(folder_of(g->a, g->s, key), fs_join(g->a, g->bin, key)) == 0;
	if (!good)
		diag_at(g->ds, E_STORE_WRITE, NOWHERE, "cannot remove `%s`: %s",
			folder_of(g->a, g->s, key), strerror(errno));
	g->failed |= !good;
	return good;
}

static bool
clean(struct gc *g, double days, size_t max_mib)
{
	double kept = 0, thrown_bytes = 0, max = (double)max_mib * 1024 * 1024;
	struct entries all = { 0 };
	struct names bad = { 0 };
	size_t thrown = 0;

	if (!store_entries(g->a, g->ds, g->s, &all, &bad))
		return false;
	/* Removes wheels without a readable entry, which are useless. */
	for (size_t i = 0; i < bad.n; i++)
		if (throw_out(g, bad.at[i], -1))
			buf_printf(g->out, "%.12s  its entry cannot be read\n", bad.at[i]);
	if (all.n)
		qsort(all.at, all.n, sizeof(*all.at), oldest_first);
	for (size_t i = 0; i < all.n; i++)
		kept += (double)all.at[i]->size;
	for (size_t i = 0; i < all.n; i++) {
		const struct entry *e = all.at[i];
		const char *age = store_age_text(g->a, g->now - (double)e->used);
		bool old = (double)e->used <= g->now - days * 86400;

		if ((!old && !(max_mib && kept > max)) || !throw_out(g, e->key, e->used))
			continue;
		kept -= (double)e->size;
		thrown_bytes += (double)e->size;
		thrown++;
		buf_printf(g->out, "%s %s  %s  used %s%s  %.12s  %s\n", e->name, e->version,
			   bytes_words(g->a, (double)e->size), age,
			   strcmp(age, "now") ? " ago" : "", e->key,
			   old ? "unused for a long time" : "over --max-size");
	}
	buf_printf(g->out, "%s, %s %sremoved from %s; %s, %s kept\n",
		   store_count_text(g->a, thrown), bytes_words(g->a, thrown_bytes),
		   g->dry_run ? "would be " : "", g->s->name,
		   store_count_text(g->a, all.n - thrown), bytes_words(g->a, kept));
	return !g->failed;
}

/* Removes the empty ones of the directories with two digits, under the lock, because a writer makes one
 * before it renames its entry. */
static bool
remove_empty(struct gc *g)
{
	const char *wheels = fs_join(g->a, g->s->where, "wheels");
	struct names heads = { 0 };

	if (!fs_list(g->a, g->ds, wheels, "", &heads))
		return false;
	for (size_t i = 0; i < heads.n; i++) {
		if (!hold(g))
			return false;
		rmdir(fs_join(g->a, wheels, heads.at[i]));
	}
	return true;
}

bool
store_gc(struct arena *a, struct diags *ds, struct store *s, double days, size_t max_mib,
	 bool dry_run, struct buf *out)
{
	struct gc g = { .a = a,
			.ds = ds,
			.s = s,
			.out = out,
			.dry_run = dry_run,
			.now = (double)time(NULL),
			.lock = -1 };
	bool good;

	if (s->kind != &store_folder) {
		diag_help(diag_at(ds, E_STORE_KIND, NOWHERE,
				  "stackbuild cannot remove wheels from the store %s", s->name),
			  "remove them on its server");
		return false;
	}
	if (!fs_exists(s->where)) {
		buf_printf(out, "%s is empty: there is nothing to remove\n", s->name);
		return true;
	}
	if (!dry_run) {
		if (!hold(&g))
			return false;
		g.bin = folder_sweep(a, s);
		release(&g);
	}
	good = clean(&g, days, max_mib) && (dry_run || remove_empty(&g));
	release(&g);
	return good;
}

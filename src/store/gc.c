/* Cleans up a directory store: unused wheels, wheels over the size limit, partial files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"
#include "internal.h"

struct gc {
	struct arena *a;
	struct diags *ds;
	struct store *s;
	struct buf *out;
	bool dry_run, failed;
	double now;
};

static int
oldest_first(const void *x, const void *y)
{
	const struct entry *e = *(const struct entry *const *)x,
			   *f = *(const struct entry *const *)y;

	return e->used != f->used ? (e->used < f->used ? -1 : 1) : strcmp(e->key, f->key);
}

static bool
throw_out(struct gc *g, const char *key)
{
	if (g->dry_run || folder_throw_out(g->a, g->s, key))
		return true;
	g->failed = true;
	diag_at(g->ds, E_STORE_WRITE, NOWHERE, "cannot remove `%s`: %s", folder_of(g->a, g->s, key),
		strerror(errno));
	return false;
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
		if (throw_out(g, bad.at[i]))
			buf_printf(g->out, "%.12s  its entry cannot be read\n", bad.at[i]);
	if (all.n)
		qsort(all.at, all.n, sizeof(*all.at), oldest_first);
	for (size_t i = 0; i < all.n; i++)
		kept += (double)all.at[i]->size;
	for (size_t i = 0; i < all.n; i++) {
		const struct entry *e = all.at[i];
		const char *age = store_age_text(g->a, g->now - (double)e->used);
		bool old = (double)e->used <= g->now - days * 86400;

		if ((!old && !(max_mib && kept > max)) || !throw_out(g, e->key))
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

bool
store_gc(struct arena *a, struct diags *ds, struct store *s, double days, size_t max_mib,
	 bool dry_run, struct buf *out)
{
	struct gc g = {
		.a = a, .ds = ds, .s = s, .out = out, .dry_run = dry_run, .now = (double)time(NULL)
	};
	const char *wheels = fs_join(a, s->where, "wheels");
	struct names heads = { 0 };
	FS_FD int lock = -1;

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
		lock = folder_lock(a, s, LOCK_EX);
		if (lock < 0) {
			diag_at(ds, E_STORE_WRITE, NOWHERE, "the store %s cannot be written: %s",
				s->name, strerror(errno));
			return false;
		}
		fs_remove(fs_join(a, s->where, "tmp"));
	}
	if (!clean(&g, days, max_mib))
		return false;
	/* rmdir removes only the empty ones of the directories with two digits. */
	if (!dry_run && fs_list(a, ds, wheels, "", &heads))
		for (size_t i = 0; i < heads.n; i++)
			rmdir(fs_join(a, wheels, heads.at[i]));
	return true;
}

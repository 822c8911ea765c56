/* A folder store, cleaned up: what nobody used, what is too much, what writers left behind. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "file.h"
#include "folder.h"

struct gc {
	struct arena *a;
	struct diags *ds;
	struct store *s;
	struct buf *out;
	bool dry_run, failed;
	double now;
	size_t thrown;
	double thrown_bytes;
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
	diag_at(g->ds, E_STORE_WRITE, (struct span){ 0 }, "`%s` cannot be thrown out: %s",
		folder_of(g->a, g->s, key), strerror(errno));
	return false;
}

static bool
throw_entry(struct gc *g, const struct entry *e, const char *why)
{
	const char *age;

	if (!throw_out(g, e->key))
		return false;
	g->thrown++;
	g->thrown_bytes += (double)e->size;
	age = store_age_text(g->a, g->now - (double)e->used);
	buf_printf(g->out, "%s %s  %s  used %s%s  %.12s  %s\n", e->name, e->version,
		   store_size_text(g->a, (double)e->size), age, strcmp(age, "now") ? " ago" : "",
		   e->key, why);
	return true;
}

/* What has no entry that can be read is of no use to anybody. */
static bool
collect(struct gc *g, struct entries *all)
{
	struct names keys = { 0 };

	if (!folder_keys(g->a, g->ds, g->s, &keys))
		return false;
	for (size_t i = 0; i < keys.n; i++) {
		const struct entry *e;
		struct diags mine;

		diags_init(&mine, g->ds->arena);
		switch (g->s->kind->find(g->a, &mine, g->s, keys.at[i], &e)) {
		case STORE_HIT: list_push(g->a, all, e); break;
		case STORE_MISS: break;
		case STORE_REFUSED:
			if (throw_out(g, keys.at[i]))
				buf_printf(g->out, "%.12s  its entry cannot be read\n", keys.at[i]);
			break;
		case STORE_UNREACHABLE: diags_append(g->ds, &mine); return false;
		}
	}
	if (all->n)
		qsort(all->at, all->n, sizeof(*all->at), oldest_first);
	return true;
}

/* Empty folders of two digits. */
static void
remove_heads(struct gc *g)
{
	const char *wheels = fs_join(g->a, g->s->where, "wheels");
	struct names heads = { 0 };

	store_list_dir(g->a, wheels, &heads);
	for (size_t i = 0; i < heads.n; i++)
		rmdir(fs_join(g->a, wheels, heads.at[i]));
}

static bool
clean(struct gc *g, double days, size_t max_mib)
{
	double kept = 0, max = (double)max_mib * 1024 * 1024;
	struct entries all = { 0 };
	size_t left;

	if (!collect(g, &all))
		return false;
	for (size_t i = 0; i < all.n; i++)
		kept += (double)all.at[i]->size;
	left = all.n;
	for (size_t i = 0; i < all.n; i++) {
		const struct entry *e = all.at[i];
		bool old = (double)e->used <= g->now - days * 86400;

		if ((old || (max_mib && kept > max)) &&
		    throw_entry(g, e, old ? "not used for long" : "over --max-size")) {
			kept -= (double)e->size;
			left--;
		}
	}
	buf_printf(g->out, "%s, %s %sthrown out of %s; %s, %s kept\n",
		   store_count_text(g->a, g->thrown), store_size_text(g->a, g->thrown_bytes),
		   g->dry_run ? "would be " : "", g->s->name, store_count_text(g->a, left),
		   store_size_text(g->a, kept));
	return !g->failed;
}

bool
store_gc(struct arena *a, struct diags *ds, struct store *s, double days, size_t max_mib,
	 bool dry_run, struct buf *out)
{
	struct gc g = {
		.a = a, .ds = ds, .s = s, .out = out, .dry_run = dry_run, .now = (double)time(NULL)
	};
	STORE_FD lock = -1;

	if (s->kind != &store_folder) {
		diag_help(diag_at(ds, E_STORE_KIND, (struct span){ 0 },
				  "the store %s is not cleaned up from here", s->name),
			  "clean it up where its server runs");
		return false;
	}
	if (!fs_exists(s->where)) {
		buf_printf(out, "%s is empty: there is nothing to throw out\n", s->name);
		return true;
	}
	if (!dry_run) {
		lock = folder_lock(a, s, LOCK_EX);
		if (lock < 0) {
			diag_at(ds, E_STORE_WRITE, (struct span){ 0 },
				"the store %s cannot be written: %s", s->name, strerror(errno));
			return false;
		}
		folder_clear_temp(a, s);
	}
	if (!clean(&g, days, max_mib))
		return false;
	if (!dry_run)
		remove_heads(&g);
	return true;
}

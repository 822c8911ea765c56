/* Reads one package after the other: page, METADATA of its newest releases; writes its file. */
#include "harvest.h"

#include <string.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/str.h"
#include "inspect/inspect.h"
#include "internal.h"

struct harvest_releases
harvest_releases(struct work *w, const struct index_page *page)
{
	const struct index_releases found = index_releases(w->a, page, w->package);
	struct harvest_releases all = { 0 };

	list_each (r, &found)
		list_push(w->a, &all,
			  (struct harvest_release){
				  .on_page = r,
				  .listed = !version_is_prerelease(r->version) &&
					    (r->any_wheel || r->sdist),
			  });
	return all;
}

/* Takes requirements from the knowledge base, because a release never changes; only those with their own
 * source or day if METADATA is read again. */
static void
take_known(struct work *w, struct harvest_releases *all)
{
	const struct python_package *p = facts_package(w->f, w->package);

	for (size_t i = 0; p && i < all->n; i++) {
		struct harvest_release *r = &all->at[i];
		const struct package_release *known = package_release(p, r->on_page->version);
		bool own = known && (known->source || known->read_alone);

		if (!known || !known->requires_known || !(w->how->known || own))
			continue;
		r->requires = known->requires;
		r->own = own ? known : NULL;
		extras_take(w, r);
		r->has_metadata = r->listed = true;
	}
}

/* Reads METADATA of a wheel by ranges; NULL: x->why. */
static const char *
by_ranges(struct index_client *x, const struct index_file *file)
{
	struct index_wheel wheel;
	const char *text = NULL;
	struct diags ds = DIAGS(ds, x->a);

	if (index_wheel_open(x, file, &wheel))
		text = wheel_metadata_text(x->a, &ds,
					   &(struct wheel_source){ file->name, wheel.size,
								   wheel.read, NULL, wheel.ctx });
	index_wheel_close(&wheel);
	if (text)
		index_keep_metadata(x, file, text);
	else if (!x->why)
		x->why = arena_printf(x->a, "cannot read %s: %s", file->name,
				      ds.head ? ds.head->text : "it is broken");
	return text;
}

/* Reads METADATA of the newest releases, within the limit; false: w->index->why. */
static bool
read_some(struct work *w, const struct harvest_releases *all, unsigned *count)
{
	const struct harvest_how *how = w->how;

	for (size_t i = all->n, n = 0; i-- && (how->all || n < how->limit);) {
		struct harvest_release *r = &all->at[i];
		const struct index_file *file =
			r->on_page->wheel ? r->on_page->wheel : r->on_page->source;
		const char *text;

		if (!r->listed || r->has_metadata || !file)
			continue;
		n++;
		text = index_metadata(w->index, file);
		if (!text && !w->index->why)
			text = by_ranges(w->index, file);
		if (!text || !metadata_take(w, text, r))
			return false;
		*count += r->has_metadata;
	}
	return true;
}

/* Writes the file of a package after it was read completely. */
static bool
write_file(struct work *w, struct diags *ds, const struct harvest_releases *all)
{
	const char *path = arena_printf(w->a, "%s/releases/%s.yaml", w->how->dir, w->package);
	struct buf out = BUF(w->a);

	releases_write(w, all, &out);
	if (out.n > FS_READ_MAX) {
		w->index->why =
			arena_printf(w->a, "its file would be larger than %d KiB; omit --all",
				     FS_READ_MAX / 1024);
		return false;
	}
	/* Checks that this program can read the file. */
	if (!facts_releases_valid(w->a, ds, path, buf_text(&out), out.n))
		w->index->why = "the data of the index cannot be written as knowledge";
	else if (!fs_write(ds, path, out.p, out.n, 0644, true, NULL))
		w->index->why = "its file cannot be written";
	return !w->index->why;
}

/* Reads a package and prints "vllm: 101 releases up to 0.33.0, METADATA of 20 read". */
static bool
refresh_one(struct work *w, struct diags *ds)
{
	const struct index_page *page = index_page(w->index, w->package);
	struct harvest_releases all;
	const char *newest = NULL;
	unsigned read = 0;

	if (!page)
		return false;
	all = harvest_releases(w, page);
	take_known(w, &all);
	list_each (r, &all)
		newest = r->listed ? r->on_page->text : newest;
	if (!newest) {
		w->index->why = "its page has no final release";
		return false;
	}
	if (!read_some(w, &all, &read) || !write_file(w, ds, &all))
		return false;
	w->how->tell(w->how->ctx,
		     arena_printf(w->a, "%s: %zu releases up to %s, METADATA of %u read",
				  w->package, all.n, newest, read));
	return true;
}

bool
harvest(struct arena *a, struct diags *ds, const struct facts *f, const struct names *packages,
	const struct harvest_how *how)
{
	struct index_client x = { .a = a,
				  .cache = how->cache,
				  .requests_max = how->requests_max,
				  .timeout_s = how->timeout_s };
	size_t failed = 0, done = 0;

	if (!index_open(ds, &x, how->index))
		return false;
	for (; done < packages->n && !proc_interrupted(); done++) {
		/* Each package has its own arena. */
		struct work w = { .f = f,
				  .how = how,
				  .packages = packages,
				  .index = &x,
				  .a = arena_new(),
				  .package = packages->at[done] };
		struct diags own = DIAGS(own, w.a);

		x.a = w.a;
		x.why = NULL;
		if (!refresh_one(&w, &own)) {
			struct diag *d = diag_at(ds, E_HARVEST, NOWHERE, "cannot refresh `%s`: %s",
						 w.package, x.why);

			if (own.head)
				diag_why(d, "%s", own.head->text);
			failed++;
		}
		arena_free(w.a);
	}
	how->tell(how->ctx, arena_printf(a, "%zu of %zu packages refreshed with %u requests",
					 done - failed, packages->n, x.requests));
	return done == packages->n && !failed;
}

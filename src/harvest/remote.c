/* Reads a wheel of an index or at a URL with range requests. */
#include <string.h>

#include "base/proc.h"
#include "base/str.h"
#include "internal.h"

enum { REQUESTS_MAX = 2000 };

struct remote {
	struct harvester h;
	struct harvest_how how;
	struct work w;
	struct ranges r;
	struct index_file file;
};

/* Returns the wheel of a release on a page; NULL: w->why. */
static const struct index_file *
wheel_of_release(struct remote *m, const struct index_page *page, const char *version)
{
	const struct version *v = version_parse(m->w.a, version);
	struct found_releases all = releases_of(m->w.a, page, m->w.package);

	for (size_t i = 0; v && i < all.n; i++)
		if (!version_cmp(all.at[i].version, v) && all.at[i].wheel)
			return all.at[i].wheel;
	m->w.why = arena_printf(m->w.a, "the index has no wheel of %s %s", m->w.package, version);
	return NULL;
}

/* Finds "torch==2.2.2" or the file name of a wheel; NULL: w->why. */
static const struct index_file *
file_of_index(struct remote *m, const char *what)
{
	struct arena *a = m->w.a;
	const char *equal = strstr(what, "==");
	const struct wheel_file *wheel = equal ? NULL : wheel_file_parse(a, what);
	const char *name = equal ? arena_copy(a, what, (size_t)(equal - what)) :
			   wheel ? wheel->name :
				   "";
	const struct index_page *page;

	if (!name_valid(name)) {
		m->w.why = "it is neither a URL, NAME==VERSION nor the file name of a wheel";
		return NULL;
	}
	m->w.package = name_normalize(a, name);
	if (!(page = net_page(&m->w)))
		return NULL;
	if (equal)
		return wheel_of_release(m, page, equal + 2);
	for (size_t i = 0; i < page->files.n; i++)
		if (!strcmp(page->files.at[i].name, what))
			return &page->files.at[i];
	m->w.why = "the index has no file of that name";
	return NULL;
}

/* Fills m->file; false: w->why, or a diagnostic for an invalid index. */
static bool
find_file(struct remote *m, struct diags *ds, const char *what)
{
	const struct index_file *file;
	struct http_user user;

	m->h.user = "";
	if (strstr(what, "://")) {
		m->file.url = what;
		if (!http_split(m->w.a, what, &user)) {
			m->w.why = "it is not an http or https URL";
			return false;
		}
		m->file.name = url_file_name(m->w.a, what);
		return true;
	}
	if (!harvester_index(m->w.a, ds, &m->h) || !(file = file_of_index(m, what)))
		return false;
	m->file = *file;
	return true;
}

bool
remote_wheel(struct arena *a, struct diags *ds, const char *what, const char *index,
	     remote_reader *reader, void *ctx)
{
	struct remote *m = arena_new_of(a, struct remote);
	struct diags own = DIAGS(own, a);
	struct remote_seen seen = { 0 };
	bool good;

	m->how = (struct harvest_how){ .index = index,
				       .requests_max = REQUESTS_MAX,
				       .timeout_s = HARVEST_TIMEOUT_S };
	m->h = (struct harvester){ .how = &m->how };
	m->w = (struct work){ .h = &m->h, .a = a };
	m->r = (struct ranges){ .w = &m->w, .file = &m->file };
	good = find_file(m, ds, what) && ranges_open(&m->r);
	if (!good && !m->w.why)
		return false;
	seen.url = m->file.url ? mask_credentials(a, m->file.url) : NULL;
	seen.fetched = &m->r.fetched;
	seen.source = (struct wheel_source){ .name = m->file.name,
					     .size = m->r.size,
					     .read = ranges_read,
					     .expect = ranges_expect,
					     .ctx = &m->r };
	good = good && reader(ctx, &own, &seen);
	ranges_close(&m->r);
	/* The wheel reader reports missing bytes; this adds the failed request as the reason. */
	if (!good && m->w.why)
		diag_at(ds, E_REMOTE, NOWHERE, "cannot read `%s`: %s", mask_credentials(a, what),
			m->w.why);
	else
		diags_append(ds, &own);
	return good;
}

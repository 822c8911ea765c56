/* Finds a wheel at a URL or on an index, and lets a reader read it with range requests. */
#include <string.h>

#include "base/str.h"
#include "index_internal.h"

enum { REQUESTS_MAX = 2000 };

/* Returns the wheel of a release on a page; NULL: x->why. */
static const struct index_file *
wheel_of_release(struct index_client *x, const struct index_page *page, const char *package,
		 const char *version)
{
	const struct version *v = version_parse(x->a, version);
	struct index_releases all = index_releases(x->a, page, package);

	for (size_t i = 0; v && i < all.n; i++)
		if (!version_cmp(all.at[i].version, v) && all.at[i].wheel)
			return all.at[i].wheel;
	x->why = arena_printf(x->a, "the index has no wheel of %s %s", package, version);
	return NULL;
}

/* Finds "torch==2.2.2" or the file name of a wheel; NULL: x->why. */
static const struct index_file *
file_of_index(struct index_client *x, const char *what)
{
	const char *equal = strstr(what, "=="), *package;
	const struct wheel_file *wheel = equal ? NULL : wheel_file_parse(x->a, what);
	const char *name = equal ? arena_copy(x->a, what, (size_t)(equal - what)) :
			   wheel ? wheel->name :
				   "";
	const struct index_page *page;

	if (!name_valid(name)) {
		x->why = "it is neither a URL, NAME==VERSION nor the file name of a wheel";
		return NULL;
	}
	package = name_normalize(x->a, name);
	if (!(page = index_page(x, package)))
		return NULL;
	if (equal)
		return wheel_of_release(x, page, package, equal + 2);
	for (size_t i = 0; i < page->files.n; i++)
		if (!strcmp(page->files.at[i].name, what))
			return &page->files.at[i];
	x->why = "the index has no file of that name";
	return NULL;
}

/* Returns the file; NULL: x->why, or a diagnostic for an invalid index. */
static const struct index_file *
find_file(struct index_client *x, struct diags *ds, const char *what, const char *url)
{
	struct index_file *file;
	struct http_user user;

	if (!strstr(what, "://"))
		return index_open(ds, x, url) ? file_of_index(x, what) : NULL;
	x->user = "";
	if (!http_split(x->a, what, &user)) {
		x->why = "it is not an http or https URL";
		return NULL;
	}
	file = arena_new_of(x->a, struct index_file);
	*file = (struct index_file){ .url = what, .name = url_file_name(x->a, what) };
	return file;
}

bool
index_wheel_read(struct arena *a, struct diags *ds, const char *what, const char *url,
		 index_wheel_reader *reader, void *ctx)
{
	struct index_client x = { .a = a,
				  .requests_max = REQUESTS_MAX,
				  .timeout_s = INDEX_TIMEOUT_S };
	const struct index_file *file = find_file(&x, ds, what, url);
	struct diags own = DIAGS(own, a);
	struct index_wheel wheel;
	bool good = false;

	if (!file && !x.why)
		return false;
	if (file) {
		good = index_wheel_open(&x, file, &wheel) && reader(ctx, &own, &wheel);
		index_wheel_close(&wheel);
	}
	/* The wheel reader reports missing bytes; this adds the failed request as the reason. */
	if (!good && x.why)
		diag_at(ds, E_REMOTE, NOWHERE, "cannot read `%s`: %s", mask_credentials(a, what),
			x.why);
	else
		diags_append(ds, &own);
	return good;
}

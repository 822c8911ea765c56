/* Reads one package after the other: page, METADATA of some releases; writes its file. */
#include "harvest.h"

#include <string.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/str.h"
#include "internal.h"

/* Adds the version that a specifier pins. */
static void
add_pin(struct work *w, const struct specifiers *s, struct names *pins)
{
	const struct version *v = s ? specifiers_pin(s) : NULL;

	if (v)
		names_once(w->a, pins, version_text(w->a, v));
}

/* Adds the versions of the package that any release of `of` pins. */
static void
add_pins(struct work *w, const char *of, struct names *pins)
{
	const struct python_package *p = facts_package(w->h->f, of);
	size_t n;
	const struct pairing *all = facts_pairings(w->h->f, of, &n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(all[i].other, w->package))
			add_pin(w, facts_specifiers(w->h->f, all[i].needs), pins);
	for (size_t i = 0; p && i < p->n; i++) {
		const struct names *requires = &p->releases[i].requires;

		for (size_t k = 0; k < requires->n; k++) {
			const struct requirement *q =
				starts_with(requires->at[k], w->package) ?
					requirement_parse(w->a, requires->at[k], NULL, NULL) :
					NULL;

			if (q && !strcmp(q->key, w->package))
				add_pin(w, q->spec, pins);
		}
	}
}

/* Returns the versions of a package that other packages in the knowledge base pin. */
static struct names
pins_of(struct work *w)
{
	struct names extensions = facts_extension_names(w->h->f), pins = { 0 };
	struct names packages = facts_harvest(w->h->f);

	for (size_t i = 0; i < extensions.n; i++)
		add_pins(w, extensions.at[i], &pins);
	for (size_t i = 0; i < packages.n; i++)
		add_pins(w, packages.at[i], &pins);
	return pins;
}

/* Takes requirements from the knowledge base, because a release never changes; only those with their own
 * source or day if METADATA is read again. */
static void
take_known(struct work *w, struct found_releases *all)
{
	const struct python_package *p = facts_package(w->h->f, w->package);

	for (size_t i = 0; p && i < all->n; i++) {
		struct found_release *r = &all->at[i];
		const struct package_release *known = package_release(p, r->version);

		bool own = known && (known->source || known->read_alone);

		if (!known || !known->requires_known || !(w->h->how->known || own))
			continue;
		r->requires = known->requires;
		r->own = own ? known : NULL;
		extras_take(w, r);
		r->has_metadata = r->listed = true;
		r->read = false;
	}
}

/* Reads METADATA of the releases that add facts, within the limit; false: w->why. */
static bool
read_some(struct work *w, const struct found_releases *all, unsigned *count)
{
	const struct harvest_how *how = w->h->how;
	struct found_release *r;

	for (unsigned n = 0; (how->all || n < how->limit) && (r = releases_next(all, how->all));
	     n++) {
		const char *text = net_metadata(w, r->wheel ? r->wheel : r->source);

		r->read = false;
		if (!text || !metadata_take(w, text, r))
			return false;
		*count += r->has_metadata;
		if (how->deep && r->wheel && !deep_read(w, r))
			return false;
	}
	return true;
}

/* Writes the file of a package after it was read completely. */
static bool
write_file(struct work *w, struct diags *ds, const struct found_releases *all)
{
	const char *path = arena_printf(w->a, "%s/releases/%s.yaml", w->h->how->dir, w->package);
	struct buf out = BUF(w->a);

	releases_write(w, all, &out);
	if (out.n > FS_READ_MAX) {
		w->why = arena_printf(w->a, "its file would be larger than %d KiB; omit --all",
				      FS_READ_MAX / 1024);
		return false;
	}
	/* Checks that this program can read the file. */
	if (!facts_releases_valid(w->a, ds, path, buf_text(&out), out.n))
		w->why = "the data of the index cannot be written as knowledge";
	else if (!fs_write(ds, path, out.p, out.n, 0644, true, NULL))
		w->why = "its file cannot be written";
	return !w->why;
}

/* Reads a package and prints "vllm: 101 releases up to 0.33.0, METADATA of 20 read". */
static bool
refresh_one(struct work *w, struct diags *ds)
{
	const struct index_page *page = net_page(w);
	struct names pins = { 0 };
	struct found_releases all;
	const char *newest = NULL;
	unsigned read = 0;

	if (!page)
		return false;
	all = releases_of(w->a, page, w->package);
	pins = pins_of(w);
	releases_select(w->a, &all, &pins, w->h->how);
	take_known(w, &all);
	for (size_t i = 0; i < all.n; i++)
		newest = all.at[i].listed ? all.at[i].text : newest;
	if (!newest) {
		w->why = "its page has no final release";
		return false;
	}
	if (!read_some(w, &all, &read) || !write_file(w, ds, &all))
		return false;
	w->h->how->tell(w->h->how->ctx,
			arena_printf(w->a, "%s: %zu releases up to %s, METADATA of %u read",
				     w->package, all.n, newest, read));
	return true;
}

bool
harvester_index(struct arena *a, struct diags *ds, struct harvester *h)
{
	const char *given = h->how->index ? h->how->index : harvest_index(a);
	const char *shown, *host, *at, *url;
	struct http_user user;
	size_t n;

	if (!given) {
		diag_help(diag_at(ds, E_HARVEST, NOWHERE,
				  "neither --index nor pip's configuration names a package index"),
			  "pass --index URL, or set PIP_INDEX_URL or `index-url` in pip.conf");
		return false;
	}
	shown = mask_credentials(a, given);
	url = http_split(a, given, &user);
	h->user = "";
	if (!url) {
		diag_help(diag_at(ds, E_HARVEST, NOWHERE,
				  "the index `%s` is not an http or https URL", shown),
			  "name the URL of a simple index, such as https://example.org/simple");
		return false;
	}
	host = strstr(given, "://") + strlen("://");
	at = memrchr(host, '@', strcspn(host, "/?#"));
	if (at)
		h->user = arena_copy(a, host, (size_t)(at + 1 - host));
	for (n = strlen(url); n && url[n - 1] == '/';)
		n--;
	h->index = arena_copy(a, url, n);
	return true;
}

enum harvest_answer
harvest_files(struct arena *a, const char *index, const char *package, const char *netrc,
	      double timeout_s, struct index_files *files, const char **why)
{
	const struct harvest_how how = {
		.index = index, .timeout_s = timeout_s, .netrc = netrc, .requests_max = 1
	};
	struct harvester h = { .how = &how };
	struct work w = { .h = &h, .a = a, .package = package };
	const struct index_page *page;
	struct diags own = DIAGS(own, a);

	if (!harvester_index(a, &own, &h)) {
		*why = own.head->text;
		return HARVEST_FAILED;
	}
	page = net_page(&w);
	*why = w.why;
	if (page)
		*files = page->files;
	return page ? HARVEST_FOUND : w.missing ? HARVEST_MISSING : HARVEST_FAILED;
}

const char *
harvest_sdist(struct arena *a, const char *index, const char *package,
	      const struct specifiers *spec, struct names *requires_dist)
{
	const struct harvest_how how = { .index = index,
					 .timeout_s = HARVEST_TIMEOUT_S,
					 .requests_max = 2 };
	struct harvester h = { .how = &how };
	struct work w = { .h = &h, .a = a, .package = package };
	const struct index_page *page;
	struct found_releases all = { 0 };
	const struct found_release *r = NULL;
	struct names lines = { 0 };
	const char *text;
	struct diags own = DIAGS(own, a);

	page = harvester_index(a, &own, &h) ? net_page(&w) : NULL;
	if (page)
		all = releases_of(a, page, package);
	for (size_t i = all.n; i-- && !r;) {
		const struct found_release *at = &all.at[i];

		if (at->source && (!spec || specifiers_match(spec, at->version)) &&
		    ((spec && specifiers_pin(spec)) ||
		     (!at->yanked && !version_is_prerelease(at->version))))
			r = at;
	}
	text = r ? sdist_metadata(&w, r->source) : NULL;
	if (!text || !*text)
		return NULL;
	lines = metadata_values(a, text, "Requires-Dist");
	for (size_t i = 0; i < lines.n; i++)
		if (!strstr(lines.at[i], "extra =="))
			list_push(a, requires_dist, lines.at[i]);
	return r->text;
}

bool
harvest(struct arena *a, struct diags *ds, const struct facts *f, const struct names *packages,
	const struct harvest_how *how)
{
	struct harvester h = { .f = f, .how = how, .packages = packages };
	size_t failed = 0, done = 0;

	if (!harvester_index(a, ds, &h))
		return false;

	for (; done < packages->n && !proc_interrupted(); done++) {
		/* Each package has its own arena. */
		struct work w = { .h = &h, .a = arena_new(), .package = packages->at[done] };
		struct diags own = DIAGS(own, w.a);

		if (!refresh_one(&w, &own)) {
			struct diag *d = diag_at(ds, E_HARVEST, NOWHERE, "cannot refresh `%s`: %s",
						 w.package, w.why);

			if (own.head)
				diag_why(d, "%s", own.head->text);
			failed++;
		}
		arena_free(w.a);
	}
	how->tell(how->ctx, arena_printf(a, "%zu of %zu packages refreshed with %u requests",
					 done - failed, packages->n, h.requests));
	return done == packages->n && !failed;
}

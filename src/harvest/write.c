/*
 * Writes a harvested file. Equal pages give equal bytes: nothing depends on the order of the page.
 *
 *     # Releases of vllm.  Written by `stackbuild facts refresh vllm`, which keeps requirements that have a `requires_source`.
 *     package: vllm
 *     read: 2026-11-23
 *     source: "PyPI: index page of vllm, METADATA of its wheels, read 2026-11-23"
 *     others: 0.1.0 0.1.1
 *     releases:
 *       0.11.0:
 *         date: 2025-10-04
 *         ...
 */
#include <string.h>

#include "base/json.h"
#include "internal.h"

enum { WIDTH = 120 };

static void
put_text(struct buf *out, const char *key, const char *value)
{
	buf_printf(out, "    %s: ", key);
	json_quote(out, value);
	buf_putc(out, '\n');
}

/* Writes [a, b, c] over several lines. */
static void
put_list(struct arena *a, struct buf *out, const char *key, const struct names *all)
{
	const char *list = arena_printf(a, "%s: [%s]", key, names_join(a, all, ", "));

	buf_puts(out, "    ");
	buf_wrap(out, list, 6, WIDTH);
	buf_putc(out, '\n');
}

static void
put_release(struct work *w, const struct harvest_release *r, struct buf *out)
{
	const struct index_release *on_page = r->on_page;

	buf_printf(out, "  %s:\n", on_page->text);
	if (on_page->date)
		buf_printf(out, "    date: %s\n", on_page->date);
	if (on_page->requires_python)
		put_text(out, "requires_python", on_page->requires_python);
	if (on_page->any_wheel)
		put_list(w->a, out, "wheels", &on_page->wheels);
	if (on_page->sdist)
		buf_puts(out, "    sdist: true\n");
	if (on_page->yanked && !on_page->kept_a_file)
		put_text(out, "yanked", *on_page->yanked ? on_page->yanked : "true");
	if (r->own && r->own->read_alone)
		buf_printf(out, "    read: %s\n", r->own->read);
	if (r->has_metadata && !r->requires.n)
		buf_puts(out, "    requires: []\n");
	else if (r->has_metadata)
		buf_puts(out, "    requires:\n");
	for (size_t i = 0; i < r->requires.n; i++) {
		buf_puts(out, "      - ");
		json_quote(out, r->requires.at[i]);
		buf_putc(out, '\n');
	}
	if (r->own && r->own->source_name)
		buf_printf(out, "    requires_source: %s\n", r->own->source_name);
	if (r->extras.n)
		put_list(w->a, out, "extras", &r->extras);
}

/* Writes the table of sources other than the index. */
static void
put_sources(struct work *w, const struct harvest_releases *all, struct buf *out)
{
	struct names names = { 0 };

	list_each (r, all) {
		if (!r->own || !r->own->source_name || names_have(&names, r->own->source_name))
			continue;
		buf_printf(out, "%s  %s: ", names.n ? "" : "sources:\n", r->own->source_name);
		json_quote(out, r->own->source);
		buf_putc(out, '\n');
		list_push(w->a, &names, r->own->source_name);
	}
}

void
releases_write(struct work *w, const struct harvest_releases *all, struct buf *out)
{
	const struct harvest_how *how = w->how;
	struct names others = { 0 };
	struct http_user user;
	const char *source = how->index ? http_split(w->a, how->index, &user) : "PyPI";
	bool wheels = false, sdists = false;

	list_each (r, all) {
		wheels |= r->has_metadata && !r->own && r->on_page->wheel;
		sdists |= r->has_metadata && !r->own && !r->on_page->wheel;
		if (!r->listed)
			list_push(w->a, &others, r->on_page->text);
	}
	buf_printf(out,
		   "# Releases of %s.  Written by `stackbuild facts refresh %s`, which keeps "
		   "requirements that have a `requires_source`.\npackage: %s\nread: %s\nsource: ",
		   w->package, w->package, w->package, how->day);
	json_quote(out, arena_printf(w->a, "%s: index page of %s%s%s, read %s", source, w->package,
				     wheels ? ", METADATA of its wheels" : "",
				     sdists ? ", PKG-INFO of its sdists" : "", how->day));
	buf_putc(out, '\n');
	put_sources(w, all, out);
	if (others.n) {
		buf_wrap(out, arena_printf(w->a, "others: %s", names_join(w->a, &others, " ")), 2,
			 WIDTH);
		buf_putc(out, '\n');
	}
	buf_puts(out, "releases:\n");
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].listed)
			put_release(w, &all->at[i], out);
}

/*
 * A package index of a store's wheels, for pip and uv: PEP 503 (HTML) and PEP 691 (JSON).
 *
 *     DIR/torch-2.11.0+cu130-cxx11abi-sm_90/index.html, index.json
 *     DIR/torch-2.11.0+cu130-cxx11abi-sm_90/mamba-ssm/index.html, index.json, mamba_ssm-...whl
 *
 * One index for each torch, ABI and list of GPUs, as PyTorch has one for each CUDA: two wheels of one
 * version cannot stand in one index, and another version in its name would need another wheel.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/str.h"
#include "internal.h"
#include "python/python.h"

static const char *
label(struct arena *a, const struct entry *e)
{
	const char *archs = names_join(a, &e->archs, "-");
	char *text =
		arena_printf(a, "torch-%s-%s%s%s", e->torch,
			     e->cxx11abi ? "cxx11abi" : "precxx11abi", *archs ? "-" : "", archs);

	for (char *c = text; *c; c++)
		if (!is_alnum(*c) && !strchr("._+-", *c))
			*c = '_';
	return text;
}

/* By index, then by package; the newest first. */
static int
by_place(const void *x, const void *y)
{
	const struct entry *e = *(const struct entry *const *)x,
			   *f = *(const struct entry *const *)y;
	int c = strcmp(e->name, f->name);

	c = c ? c : strcmp(e->wheel, f->wheel);
	c = c ? c : (e->made < f->made) - (e->made > f->made);
	return c ? c : strcmp(e->key, f->key);
}

struct page {
	struct buf html;
	struct json json;
	struct buf text;
};

static void
begin_page(struct page *p, struct arena *a, const char *title)
{
	p->html = p->text = BUF(a);
	p->json = json_to(&p->text);
	buf_printf(&p->html,
		   "<!DOCTYPE html>\n<html><head><meta name=\"pypi:repository-version\" "
		   "content=\"1.0\"><title>%s</title></head><body>\n",
		   title);
	json_put(&p->json, "{'meta': {'api-version': '1.0'}");
}

/* index.html and index.json of a directory. */
static bool
end_page(struct page *p, struct diags *ds, struct arena *a, const char *dir)
{
	buf_puts(&p->html, "</body></html>\n");
	json_put(&p->json, "]}");
	buf_putc(&p->text, '\n');
	return fs_write(ds, fs_join(a, dir, "index.html"), p->html.p, p->html.n, 0644, false,
			NULL) &&
	       fs_write(ds, fs_join(a, dir, "index.json"), p->text.p, p->text.n, 0644, false, NULL);
}

/* The page of one package, and its wheels beside it. */
static bool
write_package(struct arena *a, struct diags *ds, struct store *s, const struct entries *all,
	      const char *name, const char *dir, size_t *wheels)
{
	struct page p;
	const char *last = "", *path;

	begin_page(&p, a, name);
	json_put(&p.json, "'name': %s, 'files': [", name);
	for (size_t i = 0; i < all->n; i++) {
		const struct entry *e = all->at[i];
		const struct store_want want = entry_want(a, e);

		if (strcmp(name_normalize(a, e->name), name) != 0 || !strcmp(last, e->wheel))
			continue;
		last = e->wheel;
		path = fs_join(a, dir, e->wheel);
		if (!fs_make_parents(a, path) ||
		    store_get(a, ds, s, e->key, &want, dir, &path) != STORE_HIT) {
			store_not_saved(ds, s, e, "its index cannot be written");
			return false;
		}
		buf_printf(&p.html, "<a href=\"%s#sha256=%s\">%s</a><br>\n", e->wheel, e->sha256,
			   e->wheel);
		json_put(&p.json, "{'filename': %s, 'url': %s, 'hashes': ('sha256': %s)}", e->wheel,
			 e->wheel, e->sha256);
		(*wheels)++;
	}
	return end_page(&p, ds, a, dir);
}

static bool
write_index(struct arena *a, struct diags *ds, struct store *s, const struct entries *all,
	    const char *dir, size_t *wheels)
{
	struct names names = { 0 };
	struct page p;

	for (size_t i = 0; i < all->n; i++)
		names_once(a, &names, name_normalize(a, all->at[i]->name));
	begin_page(&p, a, "Simple index");
	json_put(&p.json, "'projects': [");
	for (size_t i = 0; i < names.n; i++) {
		if (!write_package(a, ds, s, all, names.at[i], fs_join(a, dir, names.at[i]),
				   wheels))
			return false;
		buf_printf(&p.html, "<a href=\"%s/\">%s</a><br>\n", names.at[i], names.at[i]);
		json_put(&p.json, "('name': %s)", names.at[i]);
	}
	return end_page(&p, ds, a, dir);
}

bool
store_index(struct arena *a, struct diags *ds, struct store *s, const char *dir, struct buf *out)
{
	struct entries all = { 0 };
	struct names labels = { 0 };

	if (!store_entries(a, ds, s, &all, NULL))
		return false;
	if (all.n)
		qsort(all.at, all.n, sizeof(*all.at), by_place);
	for (size_t i = 0; i < all.n; i++)
		names_once(a, &labels, label(a, all.at[i]));
	names_sort(&labels);
	for (size_t i = 0; i < labels.n; i++) {
		struct entries mine = { 0 };
		size_t wheels = 0;

		for (size_t k = 0; k < all.n; k++)
			if (!strcmp(label(a, all.at[k]), labels.at[i]))
				list_push(a, &mine, all.at[k]);
		if (!write_index(a, ds, s, &mine, fs_join(a, dir, labels.at[i]), &wheels))
			return false;
		buf_printf(out, "%s: %s\n", fs_join(a, dir, labels.at[i]),
			   store_count_text(a, wheels));
	}
	buf_printf(out, "next: pip install --extra-index-url URL-OF-ONE-OF-THEM PACKAGE\n");
	return true;
}

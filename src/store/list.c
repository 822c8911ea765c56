/*
 * Lists the wheels of a store:
 *
 *   package        version      torch         cuda  python  archs  size     age   last used  key
 *   causal-conv1d  1.6.2.post1  2.11.0+cu130  13.0  3.11.2  sm_90  24.8 MB  12 d  2 h        53c1e07d9b1f
 *   mamba-ssm      2.3.1        2.11.0+cu130  13.0  3.11.2  sm_90  38.9 MB  12 d  2 h        1a2b3c4d5e6f
 *   2 wheels, 63.7 MB in /root/.cache/stackbuild
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/str.h"
#include "internal.h"

const char *
store_age_text(struct arena *a, double seconds)
{
	if (seconds < 60)
		return "now";
	if (seconds < 3600)
		return arena_printf(a, "%.0f min", seconds / 60);
	if (seconds < 48.0 * 3600)
		return arena_printf(a, "%.0f h", seconds / 3600);
	return arena_printf(a, "%.0f d", seconds / 86400);
}

const char *
store_count_text(struct arena *a, size_t n)
{
	return arena_printf(a, "%zu wheel%s", n, n == 1 ? "" : "s");
}

static int
by_package(const void *x, const void *y)
{
	const struct entry *e = *(const struct entry *const *)x,
			   *f = *(const struct entry *const *)y;
	int c = strcmp(e->name, f->name);

	c = c ? c : strcmp(e->version, f->version);
	c = c ? c : (e->made < f->made) - (e->made > f->made);
	return c ? c : strcmp(e->key, f->key);
}

/* --- text --- */

enum { COLUMNS = 10 };

struct row {
	const char *cells[COLUMNS];
};
struct rows LIST(struct row);

static void
print_rows(const struct rows *rows, struct buf *out)
{
	size_t widths[COLUMNS] = { 0 };

	for (size_t i = 0; i < rows->n; i++)
		for (size_t c = 0; c < COLUMNS; c++) {
			const char *cell = rows->at[i].cells[c];
			size_t n = text_columns(cell, strlen(cell));

			widths[c] = n > widths[c] ? n : widths[c];
		}
	for (size_t i = 0; i < rows->n; i++)
		for (size_t c = 0; c < COLUMNS; c++) {
			const char *cell = rows->at[i].cells[c];
			size_t n = text_columns(cell, strlen(cell));

			diag_inert(cell, out);
			if (c + 1 < COLUMNS)
				buf_printf(out, "%*s", (int)(widths[c] - n + 2), "");
			else
				buf_putc(out, '\n');
		}
}

static void
print_table(struct arena *a, const struct store *s, const struct entries *all, struct buf *out)
{
	struct rows rows = { 0 };
	double now = (double)time(NULL), bytes = 0;

	list_push(a, &rows,
		  (struct row){ { "package", "version", "torch", "cuda", "python", "archs", "size",
				  "age", "last used", "key" } });
	for (size_t i = 0; i < all->n; i++) {
		const struct entry *e = all->at[i];
		const struct row row = {
			{ e->name, e->version, e->torch, e->cuda ? e->cuda : "-", e->python,
			  e->archs.n ? names_join(a, &e->archs, " ") : "-",
			  bytes_words(a, (double)e->size), store_age_text(a, now - (double)e->made),
			  e->used ? store_age_text(a, now - (double)e->used) : "-",
			  arena_copy(a, e->key, 12) }
		};

		list_push(a, &rows, row);
		bytes += (double)e->size;
	}
	print_rows(&rows, out);
	buf_printf(out, "%s, %s in %s\n", store_count_text(a, all->n), bytes_words(a, bytes),
		   s->name);
}

/* --- JSON --- */

static void
print_entry(struct json *j, const struct entry *e)
{
	json_put(j,
		 "{'key': %s, 'wheel': %s, 'name': %s, 'version': %s, 'torch': %s, 'cuda': %s, "
		 "'python': %s, 'platform': %s, 'archs': %n, 'sha256': %s",
		 e->key, e->wheel, e->name, e->version, e->torch, e->cuda, e->python, e->platform,
		 &e->archs, e->sha256);
	json_int(j, "size", (long long)e->size);
	json_int(j, "made", e->made);
	if (e->used)
		json_int(j, "used", e->used);
	else
		json_nil(j, "used");
	json_put(j, "'compile_s': %f, 'peak_mib': %d}", e->compile_s, (int)e->peak_mib);
}

bool
store_list(struct arena *a, struct diags *ds, struct store *s, bool as_json, struct buf *out)
{
	struct entries all = { 0 };
	struct json j = json_to(out);

	if (!store_entries(a, ds, s, &all, NULL))
		return false;
	if (all.n)
		qsort(all.at, all.n, sizeof(*all.at), by_package);
	if (!as_json && all.n)
		print_table(a, s, &all, out);
	else if (!as_json)
		buf_printf(
			out,
			"%s is empty: `stackbuild build` saves the wheels that it compiles there\n",
			s->name);
	if (!as_json)
		return true;
	json_put(&j, "{'schema': 1, 'store': %s, 'wheels': [", s->name);
	for (size_t i = 0; i < all.n; i++)
		print_entry(&j, all.at[i]);
	json_put(&j, "]}");
	return true;
}

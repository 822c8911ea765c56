/*
 * What a store has:
 *
 *   package        version      torch         cuda  python  archs  size     age   last used  key
 *   causal-conv1d  1.6.2.post1  2.11.0+cu130  13.0  3.11.2  sm_90  24.8 MB  12 d  2 h        53c1e07d9b1f
 *   mamba-ssm      2.3.1        2.11.0+cu130  13.0  3.11.2  sm_90  38.9 MB  12 d  2 h        1a2b3c4d5e6f
 *   2 wheels, 63.7 MB in /root/.cache/stackbuild
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "internal.h"

const char *
store_size_text(struct arena *a, double bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	size_t unit = 0;

	for (; bytes >= 999.5 && unit < 4; unit++)
		bytes /= 1000;
	return unit && bytes < 99.95 ? arena_printf(a, "%.1f %s", bytes, units[unit]) :
				       arena_printf(a, "%.0f %s", bytes, units[unit]);
}

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

static const char *
arch_text(struct arena *a, const struct entry *e)
{
	struct buf b = BUF(a);

	for (size_t i = 0; i < e->archs.n; i++)
		buf_printf(&b, "%s%s", i ? " " : "", e->archs.at[i]);
	return e->archs.n ? buf_text(&b) : "-";
}

static void
row_of(struct arena *a, const struct entry *e, double now, const char *cells[COLUMNS])
{
	cells[0] = e->name;
	cells[1] = e->version;
	cells[2] = e->torch;
	cells[3] = e->cuda ? e->cuda : "-";
	cells[4] = e->python;
	cells[5] = arch_text(a, e);
	cells[6] = store_size_text(a, (double)e->size);
	cells[7] = store_age_text(a, now - (double)e->made);
	cells[8] = e->used ? store_age_text(a, now - (double)e->used) : "-";
	cells[9] = arena_copy(a, e->key, 12);
}

/* As wide as a terminal shows it: continuation bytes of UTF-8 take no room. */
static size_t
width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void
print_row(const char *const cells[COLUMNS], const size_t widths[COLUMNS], struct buf *out)
{
	for (size_t c = 0; c < COLUMNS; c++) {
		size_t n = width(cells[c]);

		diag_inert(cells[c], out);
		if (c + 1 < COLUMNS)
			buf_printf(out, "%*s", (int)(widths[c] - n + 2), "");
	}
	buf_putc(out, '\n');
}

static void
print_table(struct arena *a, const struct store *s, const struct entries *all, struct buf *out)
{
	static const char *const heads[COLUMNS] = { "package",   "version", "torch", "cuda",
						    "python",    "archs",   "size",  "age",
						    "last used", "key" };
	const char *(*rows)[COLUMNS] =
		arena_alloc_array(a, all->n + 1, sizeof(*rows), _Alignof(const char *));
	double now = (double)time(NULL), bytes = 0;
	size_t widths[COLUMNS];

	for (size_t c = 0; c < COLUMNS; c++)
		widths[c] = width(heads[c]);
	for (size_t i = 0; i < all->n; i++) {
		row_of(a, all->at[i], now, rows[i]);
		bytes += (double)all->at[i]->size;
		for (size_t c = 0; c < COLUMNS; c++)
			if (width(rows[i][c]) > widths[c])
				widths[c] = width(rows[i][c]);
	}
	print_row(heads, widths, out);
	for (size_t i = 0; i < all->n; i++)
		print_row(rows[i], widths, out);
	buf_printf(out, "%s, %s in %s\n", store_count_text(a, all->n), store_size_text(a, bytes),
		   s->name);
}

/* --- JSON --- */

static void
print_entry(struct json *j, const struct entry *e)
{
	json_map(j, NULL);
	json_text(j, "key", e->key);
	json_text(j, "wheel", e->wheel);
	json_text(j, "name", e->name);
	json_text(j, "version", e->version);
	json_text(j, "torch", e->torch);
	json_text(j, "cuda", e->cuda);
	json_text(j, "python", e->python);
	json_text(j, "platform", e->platform);
	json_names(j, "archs", &e->archs);
	json_text(j, "sha256", e->sha256);
	json_int(j, "size", (long long)e->size);
	json_int(j, "made", e->made);
	if (e->used)
		json_int(j, "used", e->used);
	else
		json_nil(j, "used");
	json_number(j, "compile_s", e->compile_s);
	json_int(j, "peak_mib", (long long)e->peak_mib);
	json_end(j);
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
		buf_printf(out,
			   "%s is empty: stackbuild build puts the wheels there that it compiles\n",
			   s->name);
	if (!as_json)
		return true;
	json_map(&j, NULL);
	json_int(&j, "schema", 1);
	json_text(&j, "store", s->name);
	json_list(&j, "wheels");
	for (size_t i = 0; i < all.n; i++)
		print_entry(&j, all.at[i]);
	json_end(&j);
	json_end(&j);
	return true;
}

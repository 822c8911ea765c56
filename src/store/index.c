/*
 * Package indexes of a store's wheels, for pip and uv: PEP 503 (HTML) and PEP 691 (JSON).
 *
 *     DIR/sm_90/index.html, index.json
 *     DIR/sm_90/mamba-ssm/index.html, index.json,
 *     mamba_ssm-2.3.1+torch2.11cu130cxx11abitrue-cp311-...whl
 *
 * A local version label has torch, its CUDA and the C++ ABI, and METADATA requires that torch. A
 * label cannot make pip select by GPU, so each list of GPUs has its own index.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/str.h"
#include "inspect/inspect.h"
#include "internal.h"
#include "python/python.h"

/* Returns the directory of a list of GPUs: "sm_80-sm_90". */
static const char *
index_name(struct arena *a, const struct entry *e)
{
	char *text = arena_strdup(a, names_join(a, &e->archs, "-"));

	for (char *c = text; *c; c++)
		if (!is_alnum(*c) && *c != '-')
			*c = '_';
	return *text ? text : "no-gpu-code";
}

/*
 * label = "torch" version [ cuda ] "cxx11abi" ( "true" | "false" )
 *
 * The version loses a third part of 0; cuda is the local part of torch's version, or the CUDA of
 * the compile step. A local part has lower-case letters, digits and single dots (PEP 440).
 */
static struct wheel_label
label_of(struct arena *a, const struct entry *e)
{
	const struct version *v = version_parse(a, e->torch);
	const char *torch = v ? version_public(a, v) : e->torch,
		   *local = v ? version_local(a, v) : NULL;
	bool is_round = v && version_release_count(v) == 3 && ends_with(torch, ".0");
	const char *text;
	struct buf b = BUF(a);

	if (!local && e->cuda)
		local = arena_printf(a, "cu%.*s%s", (int)strcspn(e->cuda, "."), e->cuda,
				     e->cuda + strcspn(e->cuda, ".") +
					     (strchr(e->cuda, '.') != NULL));
	text = arena_printf(a, "torch%.*s%scxx11abi%s", (int)strlen(torch) - (is_round ? 2 : 0),
			    torch, local ? local : "", e->cxx11abi ? "true" : "false");
	for (; *text; text++)
		if (is_alnum(*text))
			buf_putc(&b, to_lower(*text));
		else if (b.p[b.n - 1] != '.')
			buf_putc(&b, '.');
	return (struct wheel_label){ buf_text(&b),
				     v ? arena_printf(a, "torch==%s", torch) : "torch" };
}

/* Orders wheels by package, then by file; the newest one comes first. */
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

/* Writes index.html and index.json of a directory. */
static bool
write_page(struct arena *a, struct diags *ds, const char *dir, struct pages p)
{
	return fs_write(ds, fs_join(a, dir, "index.html"), p.html.p, p.html.n, 0644, false, NULL) &&
	       fs_write(ds, fs_join(a, dir, "index.json"), p.json.p, p.json.n, 0644, false, NULL);
}

struct index {
	struct arena *a;
	struct diags *ds;
	struct store *s;
	const char *dir;
	size_t wheels;
	const char *example; /* "tiny==1.0+torch2.11cu130cxx11abitrue" */
};

/* Writes a copy of a wheel with its label to a directory; returns its file name, or NULL. */
static const char *
write_wheel(struct index *x, const struct entry *e, const struct wheel_label *label,
	    const char *dir, const char **sha256)
{
	const char *passage = store_passage(x->a, x->ds), *path, *name = NULL, *dash;
	const struct store_want want = entry_want(x->a, e);

	if (!passage)
		return NULL;
	if (store_get(x->a, x->ds, x->s, e->key, &want, passage, &path) == STORE_HIT)
		name = wheel_relabel(x->a, x->ds, path, label, dir, sha256);
	else
		store_not_saved(x->ds, x->s, e, "its index cannot be written");
	fs_remove(passage);
	if (!name)
		return NULL;
	dash = strchr(name, '-') + 1;
	x->example = arena_printf(x->a, "%s==%.*s", e->name, (int)strcspn(dash, "-"), dash);
	x->wheels++;
	return name;
}

/* Writes the page of one package, and its wheels next to it. */
static bool
write_package(struct index *x, const struct entries *all, const char *name)
{
	const char *dir = fs_join(x->a, x->dir, name), *sha256, *file;
	struct page_files files = { 0 };
	struct names seen = { 0 };

	for (size_t i = 0; i < all->n; i++) {
		const struct entry *e = all->at[i];
		const struct wheel_label label = label_of(x->a, e);
		const char *same = arena_printf(x->a, "%s %s", label.local, e->wheel);

		if (strcmp(name_normalize(x->a, e->name), name) != 0 || names_have(&seen, same))
			continue;
		list_push(x->a, &seen, same);
		if (!(file = write_wheel(x, e, &label, dir, &sha256)))
			return false;
		list_push(x->a, &files, (struct page_file){ file, page_url(x->a, file), sha256 });
	}
	return write_page(x->a, x->ds, dir, page_project(x->a, name, &files));
}

static bool
write_index(struct index *x, const struct entries *all)
{
	struct names names = { 0 };

	for (size_t i = 0; i < all->n; i++)
		names_once(x->a, &names, name_normalize(x->a, all->at[i]->name));
	for (size_t i = 0; i < names.n; i++)
		if (!write_package(x, all, names.at[i]))
			return false;
	return write_page(x->a, x->ds, x->dir, page_root(x->a, &names));
}

bool
store_index(struct arena *a, struct diags *ds, struct store *s, const char *dir, struct buf *out)
{
	struct index x = { .a = a, .ds = ds, .s = s };
	struct entries all = { 0 };
	struct names lists = { 0 };

	if (!store_entries(a, ds, s, &all, NULL))
		return false;
	if (all.n)
		qsort(all.at, all.n, sizeof(*all.at), by_place);
	for (size_t i = 0; i < all.n; i++)
		names_once(a, &lists, index_name(a, all.at[i]));
	names_sort(&lists);
	for (size_t i = 0; i < lists.n; i++) {
		struct entries mine = { 0 };

		for (size_t k = 0; k < all.n; k++)
			if (!strcmp(index_name(a, all.at[k]), lists.at[i]))
				list_push(a, &mine, all.at[k]);
		x.dir = fs_join(a, dir, lists.at[i]);
		x.wheels = 0;
		if (!write_index(&x, &mine))
			return false;
		buf_printf(out, "%s: %s\n", x.dir, store_count_text(a, x.wheels));
	}
	if (x.example)
		buf_printf(out, "next: pip install --extra-index-url URL-OF-ONE-INDEX %s\n",
			   x.example);
	return true;
}

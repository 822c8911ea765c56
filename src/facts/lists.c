#include <string.h>

#include "find.h"
#include "show.h"

/* What `stackbuild facts SUBJECT` lists: one line an entry. */

static struct table
table_of(const char *const *heads)
{
	struct table t = { 0 };

	for (; *heads; heads++)
		table_head(&t, *heads);
	return t;
}

void
list_torch(const struct facts *f, struct arena *a, struct buf *out)
{
	static const char *const heads[] = { "torch", "Python", "builds, [PyPI's]", NULL };
	struct show v = show_to(f, a, out);
	struct table t = table_of(heads);
	size_t n;
	const struct torch_release *const *all = facts_torch_all(f, &n);

	for (size_t i = 0; i < n; i++) {
		const char **cells = table_row(&v, &t);
		struct buf builds = BUF(a);

		for (size_t k = 0; k < all[i]->nvariants; k++) {
			const struct torch_variant *b = &all[i]->variants[k];

			buf_printf(&builds, b->on_pypi ? "%s[%s]" : "%s%s", k ? " " : "", b->tag);
		}
		cells[0] = all[i]->version;
		cells[1] = names_join(a, &all[i]->pythons, " ");
		cells[2] = buf_text(&builds);
	}
	table_print(&v, &t, 0);
}

void
list_cuda(const struct facts *f, struct arena *a, struct buf *out)
{
	static const char *const heads[] = { "CUDA",   "driver",          "gcc",
					     "wheels", "devel images of", NULL };
	struct show v = show_to(f, a, out);
	struct table t = table_of(heads);
	size_t n;
	const struct cuda_toolkit *const *all = facts_cuda_all(f, &n);

	for (size_t i = 0; i < n; i++) {
		const char **cells = table_row(&v, &t);

		cells[0] = all[i]->version;
		cells[1] = all[i]->driver_min ? arena_printf(a, ">=%s", all[i]->driver_min) : NULL;
		cells[2] = all[i]->gcc_max ? arena_printf(a, "<=%u", all[i]->gcc_max) : NULL;
		cells[3] = all[i]->wheels ? "nvcc" : NULL;
		cells[4] = names_join(a, &all[i]->image_os, " ");
	}
	table_print(&v, &t, 0);
}

void
list_gpu(const struct facts *f, struct arena *a, struct buf *out)
{
	static const char *const heads[] = { "in a recipe",  "GPU",    "capability",
					     "architecture", "memory", NULL };
	struct show v = show_to(f, a, out);
	struct table t = table_of(heads);
	struct names ids = facts_gpu_names(f, a);

	for (size_t i = 0; i < ids.n; i++) {
		const struct gpu *g = facts_gpu(f, ids.at[i]);
		const char **cells = table_row(&v, &t);

		cells[0] = g->id;
		cells[1] = g->name;
		cells[2] = g->cc;
		cells[3] = g->arch;
		cells[4] = g->memory_gb ? arena_printf(a, "%u GB", g->memory_gb) : NULL;
	}
	table_print(&v, &t, 0);
}

void
list_extension(const struct facts *f, struct arena *a, struct buf *out)
{
	static const char *const heads[] = { "extension", "newest known", "repository", NULL };
	struct show v = show_to(f, a, out);
	struct table t = table_of(heads);
	struct names names = facts_extension_names(f);

	for (size_t i = 0; i < names.n; i++) {
		const struct extension *e = facts_extension(f, names.at[i]);
		const char **cells = table_row(&v, &t);

		cells[0] = e->name;
		cells[1] = e->nreleases ? e->releases[e->nreleases - 1].version : NULL;
		cells[2] = e->git;
	}
	table_print(&v, &t, 0);
}

void
list_os(const struct facts *f, struct arena *a, struct buf *out)
{
	static const char *const heads[] = {
		"system", "Python", "gcc", "glibc", "deadsnakes", NULL
	};
	struct show v = show_to(f, a, out);
	struct table t = table_of(heads);
	size_t n;
	const struct os_release *all = facts_os_all(f, &n);

	for (size_t i = 0; i < n; i++) {
		const char **cells = table_row(&v, &t);

		cells[0] = all[i].id;
		cells[1] = all[i].python;
		cells[2] = all[i].gcc;
		cells[3] = all[i].glibc;
		cells[4] = all[i].deadsnakes ? "yes" : NULL;
	}
	table_print(&v, &t, 0);
}

/* The whole file: it is short, and limits are asked for more often than GPUs. */
void
list_modal(const struct facts *f, struct arena *a, struct buf *out)
{
	struct show v = show_to(f, a, out);
	struct fact file = facts_file(f, "modal.yaml");

	show_mark(&v, trail_of(file));
	show_map(&v, trail_of(file), 0, 0, NULL);
	show_notes(&v);
}

void
list_package(const struct facts *f, struct arena *a, struct buf *out)
{
	static const char *const heads[] = { "package", "newest known", "its Python", NULL };
	struct show v = show_to(f, a, out);
	struct table t = table_of(heads);
	struct fact all = fact_get(facts_file(f, "packages.yaml"), "packages");

	for (size_t i = 0; i < fact_count(all); i++) {
		const char **cells = table_row(&v, &t);

		cells[0] = fact_key(all, i);
		cells[1] = fact_text_of(fact_at(all, i), "latest");
		cells[2] = fact_text_of(fact_at(all, i), "requires_python");
	}
	table_print(&v, &t, 0);
}

void
show_subjects(const struct facts *f, struct arena *a, bool as_json, struct buf *out)
{
	static const char *const heads[] = { "subject", "what is known", "for example", NULL };
	struct show v = show_to(f, a, out);
	struct table t = table_of(heads);
	struct names names = { 0 };

	for (size_t i = 0; i < facts_nsubjects; i++) {
		const char **cells = table_row(&v, &t);

		list_push(a, &names, facts_subjects[i].name);
		cells[0] = facts_subjects[i].name;
		cells[1] = facts_subjects[i].what;
		cells[2] = arena_printf(a, "stackbuild facts %s", facts_subjects[i].example);
	}
	if (as_json)
		names_json("subjects", names, out);
	else
		table_print(&v, &t, 0);
}

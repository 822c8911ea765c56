#include <string.h>

#include "find.h"
#include "show.h"

/* What `stackbuild facts SUBJECT` lists: one line an entry. */

void
list_torch(const struct facts *f, struct arena *a, struct buf *out)
{
	struct show v = show_to(f, a, out);
	struct table t = table_of(a, "torch|Python|builds, [PyPI's]");
	size_t n;
	const struct torch_release *const *all = facts_torch_all(f, &n);

	for (size_t i = 0; i < n; i++) {
		struct buf builds = BUF(a);

		for (size_t k = 0; k < all[i]->nvariants; k++) {
			const struct torch_variant *b = &all[i]->variants[k];

			buf_printf(&builds, b->on_pypi ? "%s[%s]" : "%s%s", k ? " " : "", b->tag);
		}
		table_add(&v, &t, all[i]->version, names_join(a, &all[i]->pythons, " "),
			  buf_text(&builds));
	}
	table_print(&v, &t, 0);
}

void
list_cuda(const struct facts *f, struct arena *a, struct buf *out)
{
	struct show v = show_to(f, a, out);
	struct table t = table_of(a, "CUDA|driver|gcc|wheels|devel images of");
	size_t n;
	const struct cuda_toolkit *const *all = facts_cuda_all(f, &n);

	for (size_t i = 0; i < n; i++)
		table_add(&v, &t, all[i]->version,
			  all[i]->driver_min ? arena_printf(a, ">=%s", all[i]->driver_min) : NULL,
			  all[i]->gcc_max ? arena_printf(a, "<=%u", all[i]->gcc_max) : NULL,
			  all[i]->wheels ? "nvcc" : NULL, names_join(a, &all[i]->image_os, " "));
	table_print(&v, &t, 0);
}

void
list_gpu(const struct facts *f, struct arena *a, struct buf *out)
{
	struct show v = show_to(f, a, out);
	struct table t = table_of(a, "in a recipe|GPU|capability|architecture|memory");
	struct names ids = facts_gpu_names(f, a);

	for (size_t i = 0; i < ids.n; i++) {
		const struct gpu *g = facts_gpu(f, ids.at[i]);

		table_add(&v, &t, g->id, g->name, g->cc, g->arch,
			  g->memory_gb ? arena_printf(a, "%u GB", g->memory_gb) : NULL);
	}
	table_print(&v, &t, 0);
}

void
list_extension(const struct facts *f, struct arena *a, struct buf *out)
{
	struct show v = show_to(f, a, out);
	struct table t = table_of(a, "extension|newest known|repository");
	struct names names = facts_extension_names(f);

	for (size_t i = 0; i < names.n; i++) {
		const struct extension *e = facts_extension(f, names.at[i]);

		table_add(&v, &t, e->name,
			  e->nreleases ? e->releases[e->nreleases - 1].version : NULL, e->git);
	}
	table_print(&v, &t, 0);
}

void
list_os(const struct facts *f, struct arena *a, struct buf *out)
{
	struct show v = show_to(f, a, out);
	struct table t = table_of(a, "system|Python|gcc|glibc|deadsnakes");
	size_t n;
	const struct os_release *all = facts_os_all(f, &n);

	for (size_t i = 0; i < n; i++)
		table_add(&v, &t, all[i].id, all[i].python, all[i].gcc, all[i].glibc,
			  all[i].deadsnakes ? "yes" : NULL);
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
	struct show v = show_to(f, a, out);
	struct table t = table_of(a, "package|newest known|its Python");
	struct fact all = fact_get(facts_file(f, "packages.yaml"), "packages");

	for (size_t i = 0; i < fact_count(all); i++)
		table_add(&v, &t, fact_key(all, i), fact_text_of(fact_at(all, i), "latest"),
			  fact_text_of(fact_at(all, i), "requires_python"));
	table_print(&v, &t, 0);
}

void
list_rule(const struct facts *f, struct arena *a, struct buf *out)
{
	struct show v = show_to(f, a, out);
	struct table t = table_of(a, "rule|severity|code|what it says");
	size_t n;
	const struct rule *all = facts_rules(f, &n);
	static const char *const severities[] = { "note", "warning", "error" };

	for (size_t i = 0; i < n; i++)
		table_add(&v, &t, all[i].name, severities[all[i].severity],
			  code_table[all[i].code].id, all[i].sentence);
	table_print(&v, &t, 0);
}

void
show_subjects(const struct facts *f, struct arena *a, bool as_json, struct buf *out)
{
	struct show v = show_to(f, a, out);
	struct table t = table_of(a, "subject|what is known|for example");
	struct names names = { 0 };

	for (size_t i = 0; i < facts_nsubjects; i++) {
		list_push(a, &names, facts_subjects[i].name);
		table_add(&v, &t, facts_subjects[i].name, facts_subjects[i].what,
			  arena_printf(a, "stackbuild facts %s", facts_subjects[i].example));
	}
	if (as_json)
		names_json("subjects", names, out);
	else
		table_print(&v, &t, 0);
}

#include "show.h"

/* What `stackbuild facts SUBJECT` lists: one line an entry. */

void
list_torch(struct show *v, struct table *t)
{
	size_t n;
	const struct torch_release *const *all = facts_torch_all(v->f, &n);

	for (size_t i = 0; i < n; i++) {
		struct buf builds = BUF(v->a);

		for (size_t k = 0; k < all[i]->nvariants; k++) {
			const struct torch_variant *b = &all[i]->variants[k];

			buf_printf(&builds, b->on_pypi ? "%s[%s]" : "%s%s", k ? " " : "", b->tag);
		}
		table_add(v, t, all[i]->version, names_join(v->a, &all[i]->pythons, " "),
			  buf_text(&builds));
	}
}

void
list_cuda(struct show *v, struct table *t)
{
	size_t n;
	const struct cuda_toolkit *const *all = facts_cuda_all(v->f, &n);

	for (size_t i = 0; i < n; i++) {
		const struct cuda_toolkit *c = all[i];

		table_add(v, t, c->version,
			  c->driver_min ? arena_printf(v->a, ">=%s", c->driver_min) : NULL,
			  c->gcc_max ? arena_printf(v->a, "<=%u", c->gcc_max) : NULL,
			  c->wheels ? "nvcc" : NULL, names_join(v->a, &c->image_os, " "));
	}
}

void
list_gpu(struct show *v, struct table *t)
{
	struct names ids = facts_gpu_names(v->f, v->a);

	for (size_t i = 0; i < ids.n; i++) {
		const struct gpu *g = facts_gpu(v->f, ids.at[i]);

		table_add(v, t, g->id, g->name, g->cc, g->arch,
			  g->memory_gb ? arena_printf(v->a, "%u GB", g->memory_gb) : NULL);
	}
}

void
list_extension(struct show *v, struct table *t)
{
	struct names names = facts_extension_names(v->f);

	for (size_t i = 0; i < names.n; i++) {
		const struct extension *e = facts_extension(v->f, names.at[i]);

		table_add(v, t, e->name,
			  e->nreleases ? e->releases[e->nreleases - 1].version : NULL, e->git);
	}
}

void
list_rule(struct show *v, struct table *t)
{
	static const char *const severities[] = { "note", "warning", "error" };
	size_t n;
	const struct rule *all = facts_rules(v->f, &n);

	for (size_t i = 0; i < n; i++)
		table_add(v, t, all[i].name, severities[all[i].severity],
			  code_table[all[i].code].id, all[i].sentence);
}

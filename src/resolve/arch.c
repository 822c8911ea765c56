#include <stdlib.h>

#include "internal.h"

/* The target architectures: the recipe's GPUs, or those of the torch build. */

/* Returns the texts in their order, without repetitions. */
static void
add_arch(struct workspace *w, struct choice c)
{
	struct choices *all = &w->s->archs;
	size_t at = all->n;

	for (size_t i = 0; i < all->n; i++)
		if (!strcmp(all->at[i].value, c.value))
			return;
	list_push(w->a, all, c);
	for (; at && capability_order(all->at[at - 1].value, c.value) > 0; at--)
		all->at[at] = all->at[at - 1];
	all->at[at] = c;
}

/* Returns true if an extension of the stack has no code for that compute capability. */
static bool
is_rejected(struct workspace *w, const char *cc)
{
	for (size_t i = 0; i < w->variables.n; i++) {
		const struct solver_variable *t = variable_at(w, (unsigned)i);
		const struct candidate *c =
			t->kind == VARIABLE_EXTENSION ? decided(w, t->key) : NULL;
		const struct extension_release *r = c ? c->entry : NULL;

		if (r && r->archs.n && r->honours_arch_list == TRI_NO &&
		    !capability_runs(&r->archs, cc))
			return true;
	}
	return rules_reject_gpu(w, cc);
}

/* Selects the GPUs of torch's build that nvcc and the extensions support. */
static void
add_default_archs(struct workspace *w, const struct torch_variant *v)
{
	const struct cuda_toolkit *t = w->s->toolkit;
	const struct names *own = build_archs(w, v), *archs = own->n ? own : &v->archs;
	const char *reason = own->n ? "torch's build has code for it" :
				      "torch's build for x86_64 has code for it";

	for (int strict = 1; strict >= 0 && !w->s->archs.n; strict--)
		for (size_t i = 0; i < archs->n; i++)
			if ((!t || !t->archs.n || names_have(&t->archs, archs->at[i])) &&
			    !(strict && is_rejected(w, archs->at[i])))
				add_arch(w, choice_made(archs->at[i], reason, v->source));
}

void
resolve_archs(struct workspace *w)
{
	const struct stack *s = w->s;
	const struct torch_variant *v = s->torch_variant;
	struct buf list = BUF(w->a);

	w->s->arch_list = "";
	if (s->torch_tag && !strcmp(s->torch_tag, "cpu"))
		return;
	list_each (g, &w->r->gpus) {
		struct choice c = choice_given(g->text, "the recipe requires it");

		c.value = g->cc;
		if (g->gpu) {
			c.reason = g->gpu->name;
			c.source = g->gpu->source;
		}
		add_arch(w, c);
	}
	if (!w->r->gpus.n && v && v->cuda)
		add_default_archs(w, v);
	for (size_t i = 0; i < s->archs.n; i++)
		buf_printf(&list, "%s%s", i ? ";" : "", s->archs.at[i].value);
	w->s->arch_list = buf_text(&list);
}

#include <stdlib.h>

#include "internal.h"

/* What kernels are compiled for: the GPUs asked for, or what the torch build carries. */

/* Keeps them in order, each once. */
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

void
resolve_archs(struct workspace *w)
{
	const struct stack *s = w->s;
	const struct torch_variant *v = s->torch_variant;
	const struct cuda_toolkit *t = s->toolkit;
	struct buf list = BUF(w->a);

	w->s->arch_list = "";
	if (s->torch_tag && !strcmp(s->torch_tag, "cpu"))
		return;
	for (size_t i = 0; i < w->r->gpus.n; i++) {
		const struct recipe_gpu *g = &w->r->gpus.at[i];
		struct choice c = choice_given(g->text, "the recipe requires it");

		c.value = g->cc;
		if (g->gpu) {
			c.reason = g->gpu->name;
			c.source = g->gpu->source;
		}
		add_arch(w, c);
	}
	for (size_t i = 0; !w->r->gpus.n && v && v->cuda && i < v->archs.n; i++)
		if (!t || !t->archs.n || names_have(&t->archs, v->archs.at[i]))
			add_arch(w, choice_made(v->archs.at[i], "torch's build carries it",
						v->source));
	for (size_t i = 0; i < s->archs.n; i++)
		buf_printf(&list, "%s%s", i ? ";" : "", s->archs.at[i].value);
	w->s->arch_list = buf_text(&list);
}

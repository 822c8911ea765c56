#include "base/json.h"

#include "show.h"

/*
 * The plan as a picture: stages as boxes; a full line is an input (an edit there rebuilds
 * the step), a dotted one is policy (only the order in a chain).
 */

static bool
is_input(const struct step *st, const char *id)
{
	for (size_t i = 0; i < st->inputs.n; i++)
		if (!strcmp(st->inputs.at[i], id))
			return true;
	return false;
}

/* The stages in the order of their first steps. */
static struct names
stages(const struct plan *p, struct arena *a)
{
	struct names all = { 0 };

	for (size_t i = 0; i < p->n; i++) {
		size_t k = 0;

		while (k < all.n && strcmp(all.at[k], p->steps[i].stage) != 0)
			k++;
		if (k == all.n)
			list_push(a, &all, p->steps[i].stage);
	}
	return all;
}

static size_t
number(const struct plan *p, const char *id)
{
	return (size_t)(plan_step(p, id) - p->steps) + 1;
}

void
plan_dot(const struct plan *p, struct buf *out)
{
	struct names all = stages(p, out->a);

	buf_puts(out, "digraph plan {\n\trankdir=LR;\n\tnode [shape=box, style=rounded];\n");
	for (size_t k = 0; k < all.n; k++) {
		buf_printf(out, "\tsubgraph cluster_%zu {\n\t\tlabel=", k + 1);
		json_quote(out, all.at[k]);
		buf_puts(out, ";\n");
		for (size_t i = 0; i < p->n; i++) {
			const struct step *st = &p->steps[i];

			if (strcmp(st->stage, all.at[k]) != 0)
				continue;
			buf_printf(out, "\t\ts%zu [label=\"%s\\n%s\"];\n", i + 1, st->id,
				   show_time(out->a, st->cost_s));
		}
		buf_puts(out, "\t}\n");
	}
	for (size_t i = 0; i < p->n; i++) {
		const struct step *st = &p->steps[i];

		for (size_t k = 0; k < st->inputs.n; k++)
			buf_printf(out, "\ts%zu -> s%zu;\n", number(p, st->inputs.at[k]), i + 1);
		for (size_t k = 0; k < st->needs.n; k++)
			if (!is_input(st, st->needs.at[k]))
				buf_printf(out, "\ts%zu -> s%zu [style=dotted];\n",
					   number(p, st->needs.at[k]), i + 1);
	}
	buf_puts(out, "}\n");
}

void
plan_mermaid(const struct plan *p, struct buf *out)
{
	struct names all = stages(p, out->a);

	buf_puts(out, "flowchart LR\n");
	for (size_t k = 0; k < all.n; k++) {
		buf_printf(out, "    subgraph g%zu[\"%s\"]\n", k + 1, all.at[k]);
		for (size_t i = 0; i < p->n; i++)
			if (!strcmp(p->steps[i].stage, all.at[k]))
				buf_printf(out, "        s%zu[\"%s<br/>%s\"]\n", i + 1,
					   p->steps[i].id, show_time(out->a, p->steps[i].cost_s));
		buf_puts(out, "    end\n");
	}
	for (size_t i = 0; i < p->n; i++) {
		const struct step *st = &p->steps[i];

		for (size_t k = 0; k < st->inputs.n; k++)
			buf_printf(out, "    s%zu --> s%zu\n", number(p, st->inputs.at[k]), i + 1);
		for (size_t k = 0; k < st->needs.n; k++)
			if (!is_input(st, st->needs.at[k]))
				buf_printf(out, "    s%zu -.-> s%zu\n", number(p, st->needs.at[k]),
					   i + 1);
	}
}

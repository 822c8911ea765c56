#include "base/json.h"

#include "make.h"

/*
 * The plan as a picture: stages as boxes; a full line is an input (an edit there rebuilds
 * the step), a dotted one is policy (only the order in a chain).
 */
struct dialect {
	const char *head, *tail;
	const char *stage, *stage_end; /* %zu its number, %s its name in quotes */
	const char *step;              /* %zu its number, %s its id, %s its cost */
	const char *input, *policy;    /* %zu from, %zu to */
};

static void
draw(const struct plan *p, const struct dialect *d, struct buf *out)
{
	struct names stages = { 0 };

	for (size_t i = 0; i < p->n; i++)
		names_once(out->a, &stages, p->steps[i].stage);
	buf_puts(out, d->head);
	for (size_t k = 0; k < stages.n; k++) {
		struct buf name = BUF(out->a);

		json_quote(&name, stages.at[k]);
		buf_printf(out, d->stage, k + 1, buf_text(&name));
		for (size_t i = 0; i < p->n; i++)
			if (!strcmp(p->steps[i].stage, stages.at[k]))
				buf_printf(out, d->step, i + 1, p->steps[i].id,
					   show_time(out->a, p->steps[i].cost_s));
		buf_puts(out, d->stage_end);
	}
	for (size_t i = 0; i < p->n; i++) {
		const struct step *st = &p->steps[i];

		for (size_t k = 0; k < st->inputs.n; k++)
			buf_printf(out, d->input,
				   (size_t)(plan_step(p, st->inputs.at[k]) - p->steps) + 1, i + 1);
		for (size_t k = 0; k < st->needs.n; k++)
			if (!names_have(&st->inputs, st->needs.at[k]))
				buf_printf(out, d->policy,
					   (size_t)(plan_step(p, st->needs.at[k]) - p->steps) + 1,
					   i + 1);
	}
	buf_puts(out, d->tail);
}

void
plan_dot(const struct plan *p, struct buf *out)
{
	static const struct dialect dot = {
		.head = "digraph plan {\n\trankdir=LR;\n\tnode [shape=box, style=rounded];\n",
		.stage = "\tsubgraph cluster_%zu {\n\t\tlabel=%s;\n",
		.step = "\t\ts%zu [label=\"%s\\n%s\"];\n",
		.stage_end = "\t}\n",
		.input = "\ts%zu -> s%zu;\n",
		.policy = "\ts%zu -> s%zu [style=dotted];\n",
		.tail = "}\n",
	};

	draw(p, &dot, out);
}

void
plan_mermaid(const struct plan *p, struct buf *out)
{
	static const struct dialect mermaid = {
		.head = "flowchart LR\n",
		.stage = "    subgraph g%zu[%s]\n",
		.step = "        s%zu[\"%s<br/>%s\"]\n",
		.stage_end = "    end\n",
		.input = "    s%zu --> s%zu\n",
		.policy = "    s%zu -.-> s%zu\n",
		.tail = "",
	};

	draw(p, &mermaid, out);
}

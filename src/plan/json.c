#include "base/json.h"

#include "show.h"

static void
step_json(struct json *j, const struct step *st)
{
	json_map(j, NULL);
	json_text(j, "id", st->id);
	json_text(j, "kind", step_kind_words[st->kind]);
	json_text(j, "stage", st->stage);
	json_names(j, "needs", &st->needs);
	json_text(j, "why", st->why);
	json_text(j, "key", st->key);
	json_number(j, "change_rate", st->change_rate);
	json_number(j, "cost_s", st->cost_s);
	json_names(j, "inputs", &st->inputs);
	json_list(j, "operations");
	for (size_t i = 0; i < st->operations.n; i++)
		plan_operation_json(j, &st->operations.at[i], true);
	json_end(j);
	json_end(j);
}

void
plan_json(const struct plan *p, struct names cells, struct buf *out)
{
	struct json j = json_to(out);

	json_map(&j, NULL);
	json_list(&j, "steps");
	for (size_t i = 0; i < p->n; i++)
		step_json(&j, &p->steps[i]);
	json_end(&j);
	json_number(&j, "expected_cost_s", p->expected_cost_s);
	json_names(&j, "cells", &cells);
	json_end(&j);
	buf_putc(out, '\n');
}

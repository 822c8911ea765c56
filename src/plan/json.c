#include "base/json.h"

#include "show.h"

static void
mounts_json(struct json *j, const struct mounts *mounts)
{
	json_list(j, "mounts");
	for (size_t i = 0; i < mounts->n; i++) {
		const struct mount *m = &mounts->at[i];

		json_map(j, NULL);
		json_text(j, "kind", m->kind == MOUNT_CACHE ? "cache" : "secret");
		json_text(j, "id", m->id);
		json_text(j, "target", m->target);
		json_end(j);
	}
	json_end(j);
}

static void
command_json(struct json *j, const struct command *c)
{
	json_map(j, NULL);
	json_text(j, "phase", phase_words[c->phase]);
	json_list(j, "argv");
	for (size_t i = 0; i < c->argv.n; i++)
		json_text(j, NULL, c->argv.at[i].s);
	json_end(j);
	json_map(j, "env");
	for (size_t i = 0; i < c->env.n; i++)
		json_text(j, c->env.at[i].name, c->env.at[i].value);
	json_end(j);
	mounts_json(j, &c->mounts);
	json_text(j, "cwd", c->cwd);
	json_end(j);
}

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
	json_list(j, "commands");
	for (size_t i = 0; i < st->commands.n; i++)
		command_json(j, &st->commands.at[i]);
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

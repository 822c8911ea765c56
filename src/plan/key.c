#include "make.h"

#include "base/json.h"
#include "base/sha256.h"

/*
 * Keys: the digest of one line of JSON that holds all that decides a step's result, its
 * inputs' keys among it.  Caches, comments, costs and order decide nothing.
 */

/* What decides a step beside its operations. */
static void
payload_json(struct json *j, const struct stack *s, const struct step *st)
{
	const struct recipe *r = s->recipe;

	switch (st->kind) {
	case STEP_BASE:
		json_text(j, "base", s->base.value);
		json_text(j, "platform", s->platform);
		break;
	case STEP_CHECK:
		json_list(j, "modules");
		for (size_t i = 0; i < r->verify.modules.n; i++)
			json_text(j, NULL, r->verify.modules.at[i].s);
		json_end(j);
		json_int(j, "import_timeout_s", r->verify.import_timeout_n);
		break;
	default: break;
	}
}

const char *
plan_key(struct arena *a, const struct stack *s, const struct step *st,
	 const struct names *input_keys)
{
	struct buf b = BUF(a);
	struct json j = json_flat_to(&b);

	json_map(&j, NULL);
	json_text(&j, "kind", step_kind_words[st->kind]);
	payload_json(&j, s, st);
	json_list(&j, "operations");
	for (size_t i = 0; i < st->operations.n; i++)
		plan_operation_json(&j, &st->operations.at[i], false);
	json_end(&j);
	json_list(&j, "inputs");
	for (size_t i = 0; i < input_keys->n; i++)
		json_text(&j, NULL, input_keys->at[i]);
	json_end(&j);
	json_end(&j);
	return sha256_hex(a, buf_text(&b), b.n);
}

/* --- plan.json: what goes into the image --- */

static void
pin_json(struct json *j, struct arena *a, const char *requirement, const char *step)
{
	const struct requirement *req = requirement_parse(a, requirement, NULL, NULL);

	if (!req)
		return;
	json_row(j, NULL);
	json_text(j, "name", req->key);
	json_text(j, "specifier", specifiers_text(a, req->spec));
	json_text(j, "step", step);
	json_end(j);
}

/* A pin of each requirement that is installed there. */
static void
step_pins(struct json *j, struct arena *a, const struct step *st)
{
	if (st->numpy)
		pin_json(j, a, st->numpy, st->id);
	for (size_t i = 0; i < st->packages.n; i++)
		if (!st->packages.at[i].left_out)
			pin_json(j, a, st->packages.at[i].requirement, st->id);
	if (st->cuda_wheels)
		pin_json(j, a, st->cuda_wheels, st->id);
	if (st->extension)
		pin_json(j, a, st->extension->requirement, st->id);
}

static void
modules_json(struct json *j, const struct stack *s)
{
	const struct texts *own = &s->recipe->verify.modules;

	json_list(j, "modules");
	for (size_t i = 0; i < s->extensions.n; i++)
		for (size_t k = 0; k < s->extensions.at[i].imports.n; k++)
			json_text(j, NULL, s->extensions.at[i].imports.at[k]);
	for (size_t i = 0; i < own->n; i++)
		json_text(j, NULL, own->at[i].s);
	json_end(j);
}

const char *
plan_image_json(struct arena *a, const struct stack *s, const struct step *steps, size_t n)
{
	unsigned timeout_s = s->recipe->verify.import_timeout_n;
	struct buf b = BUF(a);
	struct json j = json_to(&b);

	json_map(&j, NULL);
	json_text(&j, "stack", s->recipe->stack.s);
	json_text(&j, "python", s->python.value);
	json_int(&j, "import_timeout_s", timeout_s ? timeout_s : 60);
	modules_json(&j, s);
	json_list(&j, "steps");
	for (size_t i = 0; i < n && steps[i].kind != STEP_APP; i++) {
		json_row(&j, NULL);
		json_text(&j, "id", steps[i].id);
		json_text(&j, "kind", step_kind_words[steps[i].kind]);
		json_text(&j, "key", steps[i].key);
		json_end(&j);
	}
	json_end(&j);
	json_list(&j, "pins");
	for (size_t i = 0; i < n; i++)
		step_pins(&j, a, &steps[i]);
	json_end(&j);
	plan_expect_json(&j, a, s, steps, n);
	json_end(&j);
	return buf_text(&b);
}

#include <string.h>

#include "base/buf.h"
#include "reader.h"

/* Writes the stack to the draft: every selected value becomes a pin with its reason. */

struct pinning {
	struct init *rd;
	const struct stack *s;
	bool quiet;          /* a repair was reported already */
	struct map packages; /* name -> stack_package of the recipe */
};

static void
differs(const struct pinning *p, struct span at, const char *what, const char *was, const char *is,
	const char *why)
{
	if (!p->quiet)
		item_changed(p->rd, at, "%s%s became %s%s%s", what, was, is, why ? ": " : "",
			     why ? why : "");
}

/* Pins a key with one value to the stack's value, with the reason if the recipe has none. */
static void
pin(const struct pinning *p, const char *key, const char *label, const char *value,
    const char *reason)
{
	struct init_item *item = init_get(p->rd, key);

	if (!value)
		return;
	if (!item)
		item_set(p->rd, key, (struct span){ 0 }, key, value)->comment = reason;
	else if (!strcmp(item->value, "*"))
		item->comment = reason;
	else if (strcmp(item->value, value) != 0)
		differs(p, item->at, label, item->value, value, reason);
	if (item)
		item->value = value;
}

static void
pin_torch(const struct pinning *p)
{
	const struct stack *s = p->s;
	const char *index = init_value(p->rd, "torch.index");

	if (init_get(p->rd, "torch.from"))
		return;
	pin(p, "torch.version", "torch ", s->torch.value, s->torch.reason);
	if (!s->torch.value || (index && (strstr(index, "://") || !strcmp(index, "pypi"))))
		return;
	if (index || s->torch_variant)
		pin(p, "torch.index", index ? "index " : "",
		    index || s->torch_variant->on_index ? s->torch_tag : "pypi",
		    s->torch_index.reason);
}

static void
pin_companion(const struct pinning *p, struct init_item *item)
{
	const struct torch_release *r = p->s->torch_release;
	const char *version = !r                                 ? NULL :
			      !strcmp(item->name, "torchvision") ? r->torchvision :
								   r->torchaudio;
	const char *value = version ? arena_printf(p->rd->a, "%s==%s", item->name, version) : NULL;

	if (!value || !strcmp(value, item->value))
		return;
	item->comment =
		arena_printf(p->rd->a, "the one release that was built for torch %s", r->version);
	if (strstr(item->value, "=="))
		differs(p, item->at, "", item->value, value, item->comment);
	item->value = value;
}

static void
pin_extension(const struct pinning *p, struct init_item *item)
{
	struct arena *a = p->rd->a;
	const struct specifiers *asked = specifiers_parse(a, item->spec);
	const struct version *pinned = asked ? specifiers_pin(asked) : NULL;

	list_each (e, &p->s->extensions) {
		const char *spec = e->version ? arena_printf(a, "==%s", e->version) : NULL;

		if (strcmp(item->name, e->asked->key) != 0 || !spec || strstr(item->value, " @ "))
			continue;
		if (item->release && e->source != SOURCE_WHEEL) {
			item->release = false;
			differs(p, item->at, item->name, "'s own wheel", "a compile", NULL);
		}
		item->comment = e->source == SOURCE_GIT ?
					arena_printf(a, "from its git tag: %s", e->source_reason) :
					NULL;
		if (!strcmp(spec, item->spec) ||
		    (pinned && !version_cmp(pinned, version_parse(a, e->version))))
			return;
		if (pinned)
			differs(p, item->at, item->name, item->spec, spec, NULL);
		else
			item_changed(p->rd, item->at,
				     "`%s%s` is now pinned to %s, the newest compatible release",
				     item->value, item->spec, e->version);
		item->spec = spec;
		return;
	}
}

static void
pin_package(const struct pinning *p, struct init_item *item)
{
	const struct choice *numpy = &p->s->numpy;
	const struct stack_package *q = map_get(&p->packages, item->name);

	if (q && strcmp(q->requirement, item->value) != 0) {
		differs(p, item->at, "", item->value, q->requirement, q->reason);
		item->value = q->requirement;
	}
	if (!strcmp(item->name, "numpy") && numpy->value && !numpy->given) {
		item_changed(p->rd, item->at, "`%s` became `%s`: %s", item->value, numpy->value,
			     numpy->reason);
		item->value = numpy->value;
		item->comment = numpy->reason;
	}
}

/* Takes the values of `modal` that a fix of the text changed. */
static void
pin_modal(const struct pinning *p)
{
	const struct recipe_modal *m = &p->s->recipe->modal;
	const struct {
		const char *key, *value;
	} all[] = {
		{ "modal.app", m->app.s },
		{ "modal.timeout_s", m->timeout_s.s },
		{ "modal.scaledown_window_s", m->scaledown_window_s.s },
		{ "modal.cpu", m->cpu.s },
		{ "modal.memory_mib", m->memory_mib.s },
		{ "modal.builder", m->builder.s },
	};
	size_t gpu = 0;

	for (size_t i = 0; i < p->rd->items.n; i++) {
		struct init_item *item = p->rd->items.at[i];

		for (size_t k = 0; k < sizeof(all) / sizeof(*all); k++)
			if (all[k].value && item_has(item, all[k].key))
				item->value = all[k].value;
		if (item_has(item, "modal.gpu") && gpu < m->gpus.n)
			item->value = m->gpus.at[gpu++].s;
		else if (item_has(item, "modal.gpu") && m->gpu.s)
			item->value = m->gpu.s;
	}
}

void
draft_pin(struct init *rd, const struct stack *s, bool quiet)
{
	struct pinning p = { rd, s, quiet, MAP(rd->a) };
	bool numpy = false;

	for (size_t i = 0; i < s->packages.n; i++)
		if (s->packages.at[i].given)
			map_put(&p.packages, s->packages.at[i].key, &s->packages.at[i]);
	pin(&p, "base", "base ", s->base.value, s->base.reason);
	if (init_get(rd, "base") && init_get(rd, "cuda"))
		init_get(rd, "cuda")->value = NULL;
	pin(&p, "python", "python ", s->python.value, s->python.reason);
	pin_torch(&p);
	pin_modal(&p);
	for (size_t i = 0; i < rd->items.n; i++) {
		struct init_item *item = rd->items.at[i];

		if (item_has(item, "torch.with"))
			pin_companion(&p, item);
		else if (item_has(item, "extensions"))
			pin_extension(&p, item);
		else if (item_has(item, "packages"))
			pin_package(&p, item);
		numpy |= item_has(item, "packages") && !strcmp(item->name, "numpy");
	}
	if (!numpy && s->numpy.value && !s->numpy.given && s->torch.value) {
		struct init_item *item = item_open(rd, "numpy", (struct span){ 0 });

		item->name = "numpy";
		item->comment = s->numpy.reason;
		item_take(rd, item, "packages", s->numpy.value);
	}
}

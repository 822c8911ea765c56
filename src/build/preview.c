/*
 * build --dry-run:
 *
 *   tiny: venv python 3.11.2, 8 cores, 31 GiB; store /root/.cache/stackbuild
 *   would create the environment out/tiny/venv, with its log and build.json in out/tiny
 *
 *    #  step    stage            cost  how
 *    1  python  stack      about 0:10  as in the last build
 *    2  torch   stack      about 2:05  run
 *    3  tiny-c  ext-tiny-c       0:12  take from the store, if the inputs are equal: 53c1e07d9b1f
 *
 *   dry run: nothing was built or written
 */
#include "work.h"

#include <string.h>

#include "base/fs.h"

enum { KEY_SHOWN = 12, COLUMNS = 100 };

/* The state of a preview. */
struct preview {
	struct work w;
	struct build_record before;
	bool built; /* there is a record of an earlier build */
};

/* Returns whether the last build finished a step with the same key. */
static bool
finished_before(const struct preview *v, const struct step *s)
{
	bool found = false;

	list_each (b, &v->before.steps)
		found |= b->key && b->from && !strcmp(b->key, s->key);
	return v->built && found;
}

/* Returns where the wheel of an extension that is compiled comes from. */
static const char *
wheel_from(struct preview *v, const struct wanted_wheel *one)
{
	const struct build_options *o = v->w.o;
	const struct stack *s = v->w.plan->stack;
	struct names remote = { 0 };

	for (size_t i = 0; i < o->stores.n && !o->no_cache; i++) {
		struct store *store = o->stores.at[i];
		const char *key =
			store_like(v->w.a, store, &one->want, s->torch.value, s->torch_tag);

		if (key)
			return arena_printf(v->w.a,
					    "take from the store, if the inputs are equal: %.*s",
					    KEY_SHOWN, key);
		if (!store_is_local(store))
			list_push(v->w.a, &remote, store_name(store));
	}
	if (remote.n)
		return arena_printf(v->w.a, "take from %s, or compile",
				    names_words(v->w.a, &remote, "or"));
	return o->stores.n && !o->no_cache ? "compile: the store has no such wheel" : "compile";
}

static const char *
how(struct preview *v, const struct step *s)
{
	list_each (one, &v->w.wanted)
		if (!strcmp(one->step->id, s->id))
			return one->prebuilt ? "download the prebuilt wheel, and check it" :
					       wheel_from(v, one);
	if (s->extension)
		return "not needed for --wheel";
	return v->w.o->no_cache      ? "run again (--no-cache)" :
	       finished_before(v, s) ? "as in the last build" :
				       "run";
}

/* Prints what the build makes, and where. */
static void
result(const struct preview *v, struct buf *out)
{
	const struct build_options *o = v->w.o;
	struct buf b = BUF(v->w.a);

	if (o->wheel)
		buf_printf(&b, "would make only the wheel of %s", o->wheel);
	else if (o->engine->build)
		buf_printf(&b, "would build %sthe image %s", o->push ? "and push " : "", o->tag);
	else if (o->engine->dialect == DIALECT_MODAL)
		buf_printf(&b, "would deploy the app %s", v->w.plan->name);
	else
		buf_printf(&b, "would create the environment %s", fs_join(v->w.a, o->out, "venv"));
	buf_printf(&b, ", with its log and build.json in %s", o->out);
	buf_wrap(out, buf_text(&b), 0, COLUMNS);
	buf_putc(out, '\n');
}

static void
steps(struct preview *v, const struct plan *timed, struct buf *out)
{
	struct arena *a = v->w.a;
	size_t id = strlen("step"), stage = strlen("stage"), cost = strlen("cost");

	for (const struct step *s = timed->steps; s < timed->steps + timed->n; s++) {
		size_t c = strlen(plan_cost_text(a, s->cost_s, s->measured));

		id = strlen(s->id) > id ? strlen(s->id) : id;
		stage = strlen(s->stage) > stage ? strlen(s->stage) : stage;
		cost = c > cost ? c : cost;
	}
	buf_printf(out, "\n %2s  %-*s  %-*s  %*s  %s\n", "#", (int)id, "step", (int)stage, "stage",
		   (int)cost, "cost", "how");
	for (size_t i = 0; i < timed->n; i++) {
		const struct step *s = &timed->steps[i];

		buf_printf(out, " %2zu  %-*s  %-*s  %*s  ", i + 1, (int)id, s->id, (int)stage,
			   s->stage, (int)cost, plan_cost_text(a, s->cost_s, s->measured));
		buf_wrap(out, how(v, s), 5 + id + 2 + stage + 2 + cost + 2, COLUMNS);
		buf_putc(out, '\n');
	}
}

bool
build_preview(struct arena *a, struct diags *ds, const struct plan *p,
	      const struct build_options *o, struct buf *out)
{
	struct preview v = { .w = { .a = a, .ds = ds, .plan = p, .o = o } };

	if (o->wheel && !work_check_wheel(&v.w))
		return false;
	v.built = build_record_read(a, fs_join(a, o->out, "build.json"), &v.before);
	wheels_wanted(&v.w);
	buf_printf(out, "%s\n", work_headline(&v.w));
	result(&v, out);
	steps(&v, work_timed(&v.w), out);
	buf_puts(out, "\ndry run: nothing was built or written\n");
	return true;
}

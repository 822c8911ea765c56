#include "base/json.h"

#include "make.h"

/*
 * torch222-cu121: from HEAD~1 to now
 *
 *     changed  packages        numpy<2 -> numpy==1.26.4; + wandb
 *     rebuilt  check           stands on packages
 *
 * where stages are built (dockerfile): 2 of 9 steps rebuild, about 0:29
 * in a chain (modal, script): 4 of 9 from packages on, about 10:59
 */

enum change { SAME, CHANGED, REBUILT, NEW, GONE };

static const char *const change_words[] = { "same", "changed", "rebuilt", "new", "gone" };

struct difference {
	const struct step *step; /* of after; of before if it is gone */
	enum change change;
	const char *what;
};
struct differences LIST(struct difference);

/* --- what is different in a step --- */

static void
say(struct buf *out, const char *fmt, const char *x, const char *y)
{
	if (out->n)
		buf_puts(out, "; ");
	buf_printf(out, fmt, x, y);
}

static const char *
requirement_in(const struct stack_packages *list, const char *key)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->at[i].key, key))
			return list->at[i].requirement;
	return NULL;
}

static void
packages_differ(const struct step *was, const struct step *is, struct buf *out)
{
	for (size_t i = 0; i < is->packages.n; i++) {
		const struct stack_package *q = &is->packages.at[i];
		const char *old = requirement_in(&was->packages, q->key);

		if (!old)
			say(out, "+ %s", q->requirement, "");
		else if (strcmp(old, q->requirement) != 0)
			say(out, "%s -> %s", old, q->requirement);
	}
	for (size_t i = 0; i < was->packages.n; i++)
		if (!requirement_in(&is->packages, was->packages.at[i].key))
			say(out, "- %s", was->packages.at[i].requirement, "");
}

static void
names_differ(const struct names *was, const struct names *is, struct buf *out)
{
	for (int back = 0; back < 2; back++) {
		const struct names *x = back ? was : is, *y = back ? is : was;

		for (size_t i = 0; i < x->n; i++)
			if (!names_have(y, x->at[i]))
				say(out, back ? "- %s" : "+ %s", x->at[i], "");
	}
}

static void
text_differs(const char *was, const char *is, struct buf *out)
{
	was = was ? was : "none";
	is = is ? is : "none";
	if (strcmp(was, is) != 0)
		say(out, "%s -> %s", was, is);
}

static const char *
value_of(const struct settings *env, const char *name)
{
	for (size_t i = 0; i < env->n; i++)
		if (!strcmp(env->at[i].name.s, name))
			return env->at[i].value.s;
	return NULL;
}

static void
env_differs(struct arena *a, const struct settings *was, const struct settings *is, struct buf *out)
{
	for (size_t i = 0; i < is->n; i++) {
		const char *name = is->at[i].name.s, *old = value_of(was, name);

		if (!old || strcmp(old, is->at[i].value.s) != 0)
			say(out, "%s=%s", name,
			    old ? arena_printf(a, "%s -> %s", old, is->at[i].value.s) :
				  is->at[i].value.s);
	}
	for (size_t i = 0; i < was->n; i++)
		if (!value_of(is, was->at[i].name.s))
			say(out, "- %s", was->at[i].name.s, "");
}

static const char *
origin(struct arena *a, const struct stack_extension *e)
{
	if (e->ref)
		return arena_printf(a, "%s at %s", mask_credentials(a, e->url), e->ref);
	return e->url ? mask_credentials(a, e->url) : e->requirement;
}

static const char *
what_differs(struct arena *a, const struct plan *before, const struct step *was,
	     const struct plan *after, const struct step *is)
{
	const struct stack *x = before->stack, *y = after->stack;
	struct buf b = BUF(a);

	switch (is->kind) {
	case STEP_BASE: text_differs(x->base.value, y->base.value, &b); break;
	case STEP_APT:
		names_differ(&step_operation(was, OP_SYSTEM)->system.packages,
			     &step_operation(is, OP_SYSTEM)->system.packages, &b);
		break;
	case STEP_PYTHON: text_differs(x->python.value, y->python.value, &b); break;
	case STEP_EXTENSION:
		text_differs(origin(a, was->extension), origin(a, is->extension), &b);
		env_differs(a, &was->extension->env, &is->extension->env, &b);
		break;
	case STEP_CHECK: text_differs(x->arch_list, y->arch_list, &b); break;
	default:
		packages_differ(was, is, &b);
		if (was->index || is->index)
			text_differs(was->index, is->index, &b);
		if (was->numpy || is->numpy)
			text_differs(was->numpy, is->numpy, &b);
	}
	return b.n ? buf_text(&b) : "its commands";
}

/* The first of its inputs that is not what it was. */
static const char *
stands_on(struct arena *a, const struct plan *before, const struct plan *after,
	  const struct step *is)
{
	for (size_t i = 0; i < is->inputs.n; i++) {
		const struct step *was = plan_step(before, is->inputs.at[i]);
		const struct step *now = plan_step(after, is->inputs.at[i]);

		if (!was || strcmp(was->key, now->key) != 0)
			return arena_printf(a, "stands on %s", now->id);
	}
	return "stands on something else";
}

static struct differences
compare(struct arena *a, const struct plan *before, const struct plan *after)
{
	struct differences all = { 0 };

	for (size_t i = 0; i < after->n; i++) {
		const struct step *is = &after->steps[i], *was = plan_step(before, is->id);
		struct difference d = { is, SAME, NULL };

		if (!was) {
			d.change = NEW;
			d.what = is->why;
		} else if (strcmp(was->own, is->own) != 0) {
			d.change = CHANGED;
			d.what = what_differs(a, before, was, after, is);
		} else if (strcmp(was->key, is->key) != 0) {
			d.change = REBUILT;
			d.what = stands_on(a, before, after, is);
		}
		list_push(a, &all, d);
	}
	for (size_t i = 0; i < before->n; i++)
		if (!plan_step(after, before->steps[i].id))
			list_push(
				a, &all,
				(struct difference){ &before->steps[i], GONE, "no longer there" });
	return all;
}

/* --- what it costs --- */

struct rebuild {
	size_t steps;
	double cost_s;
	const char *from; /* the first of a chain, or NULL */
};

static struct rebuild
in_stages(const struct differences *all)
{
	struct rebuild r = { 0 };

	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].change != SAME && all->at[i].change != GONE) {
			r.steps++;
			r.cost_s += all->at[i].step->cost_s;
		}
	return r;
}

/* A chain is kept up to the first step that is not the one that was there. */
static struct rebuild
in_chain(const struct plan *before, const struct plan *after)
{
	struct rebuild r = { 0 };
	size_t kept = 0;

	while (kept < before->n && kept < after->n &&
	       !strcmp(before->steps[kept].id, after->steps[kept].id) &&
	       !strcmp(before->steps[kept].key, after->steps[kept].key))
		kept++;
	for (size_t i = kept; i < after->n; i++) {
		r.steps++;
		r.cost_s += after->steps[i].cost_s;
	}
	if (r.steps)
		r.from = after->steps[kept].id;
	return r;
}

static void
as_text(const struct plan *before, const struct plan *after, const char *before_name,
	const struct differences *all, struct rebuild stages, struct rebuild chain, struct buf *out)
{
	struct arena *a = out->a;
	size_t wide = 0, same = 0;

	for (size_t i = 0; i < all->n; i++) {
		size_t n = strlen(all->at[i].step->id);

		wide = n > wide ? n : wide;
		same += all->at[i].change == SAME;
	}
	buf_printf(out, "%s: from %s to now\n\n", after->name, before_name);
	if (same == all->n) {
		buf_puts(out, "nothing that is built changes");
		if (strcmp(before->stack->recipe->digest, after->stack->recipe->digest) != 0)
			buf_puts(out, "; settings of the image or the app do");
		buf_putc(out, '\n');
		return;
	}
	for (size_t i = 0; i < all->n; i++) {
		const struct difference *d = &all->at[i];

		if (d->change == SAME)
			continue;
		buf_printf(out, "  %-7s  %-*s  ", change_words[d->change], (int)wide, d->step->id);
		show_wrapped(out, d->what, 2 + 7 + 2 + wide + 2);
	}
	buf_printf(out,
		   "\nwhere stages are built (dockerfile): %zu of %zu steps rebuild, about %s\n",
		   stages.steps, after->n, show_time(a, stages.cost_s));
	buf_printf(out, "in a chain (modal, script): %zu of %zu steps", chain.steps, after->n);
	if (chain.from)
		buf_printf(out, " from %s on, about %s", chain.from, show_time(a, chain.cost_s));
	buf_putc(out, '\n');
}

static void
rebuild_json(struct json *j, const char *key, struct rebuild r)
{
	json_map(j, key);
	json_int(j, "steps", (long long)r.steps);
	json_number(j, "cost_s", r.cost_s);
	json_end(j);
}

void
plan_diff(const struct plan *before, const struct plan *after, const char *before_name,
	  struct buf *out, bool as_json)
{
	struct differences all = compare(out->a, before, after);
	struct rebuild stages = in_stages(&all), chain = in_chain(before, after);
	struct json j = json_to(out);

	if (!as_json) {
		as_text(before, after, before_name, &all, stages, chain, out);
		return;
	}
	json_map(&j, NULL);
	json_text(&j, "before", before_name);
	json_list(&j, "steps");
	for (size_t i = 0; i < all.n; i++) {
		json_map(&j, NULL);
		json_text(&j, "id", all.at[i].step->id);
		json_text(&j, "change", change_words[all.at[i].change]);
		json_text(&j, "what", all.at[i].what);
		json_number(&j, "cost_s", all.at[i].step->cost_s);
		json_end(&j);
	}
	json_end(&j);
	rebuild_json(&j, "stages", stages);
	rebuild_json(&j, "chain", chain);
	json_end(&j);
	buf_putc(out, '\n');
}

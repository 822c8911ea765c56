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
	const struct step *step; /* the step of `after`, or of `before` if it was removed */
	enum change change;
	const char *what;
};

/* The steps that are rebuilt. */
struct rebuild {
	size_t steps;
	double cost_s;
	const char *least; /* "at least " if the time of a step is unknown */
	const char *from;  /* the first step of a chain, or NULL */
};

struct differences {
	struct differing LIST(struct difference) all;
	size_t same;
	struct rebuild stages, chain;
};

/* --- the differences of a step --- */

/* A part of a step by its name: a package and its requirement, a variable and its value. */
struct part {
	const char *name, *text;
};
struct parts LIST(struct part);

static struct parts
parts_of(struct arena *a, const struct step *st)
{
	struct parts all = { 0 };

	for (size_t i = 0; st->kind == STEP_EXTENSION && i < st->extension->env.n; i++)
		list_push(a, &all,
			  (struct part){ st->extension->env.at[i].name.s,
					 st->extension->env.at[i].value.s });
	if (st->kind == STEP_APT) {
		const struct names *apt = &step_operation(st, OP_SYSTEM)->system.packages;

		for (size_t i = 0; i < apt->n; i++)
			list_push(a, &all, (struct part){ apt->at[i], apt->at[i] });
	}
	list_each (p, &st->packages)
		list_push(a, &all, (struct part){ p->key, p->requirement });
	return all;
}

static const char *
text_of(const struct parts *all, const char *name)
{
	for (size_t i = 0; i < all->n; i++)
		if (!strcmp(all->at[i].name, name))
			return all->at[i].text;
	return NULL;
}

static void
parts_differ(struct arena *a, const struct step *before, const struct step *after,
	     struct names *out)
{
	const struct parts was = parts_of(a, before), is = parts_of(a, after);
	bool env = after->kind == STEP_EXTENSION;

	for (size_t i = 0; i < is.n; i++) {
		const char *name = is.at[i].name, *new = is.at[i].text, *old = text_of(&was, name);

		if (old && strcmp(old, new) != 0)
			new = arena_printf(a, "%s -> %s", old, new);
		else if (old)
			continue;
		list_push(a, out,
			  env ? arena_printf(a, "%s=%s", name, new) :
			  old ? new :
				arena_printf(a, "+ %s", new));
	}
	list_each (x, &was)
		if (!text_of(&is, x->name))
			list_push(a, out, arena_printf(a, "- %s", env ? x->name : x->text));
}

static void
text_differs(struct arena *a, const char *was, const char *is, struct names *out)
{
	was = was ? was : "none";
	is = is ? is : "none";
	if (strcmp(was, is) != 0)
		list_push(a, out, arena_printf(a, "%s -> %s", was, is));
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
	struct names out = { 0 };

	switch (is->kind) {
	case STEP_BASE: text_differs(a, x->base.value, y->base.value, &out); break;
	case STEP_PYTHON: text_differs(a, x->python.value, y->python.value, &out); break;
	case STEP_CHECK: text_differs(a, x->arch_list, y->arch_list, &out); break;
	case STEP_EXTENSION:
		text_differs(a, origin(a, was->extension), origin(a, is->extension), &out);
		/* fall through */
	default:
		parts_differ(a, was, is, &out);
		text_differs(a, was->index, is->index, &out);
		text_differs(a, was->numpy, is->numpy, &out);
	}
	return out.n                                         ? names_join(a, &out, "; ") :
	       before->lock && after->lock && is->packages.n ? "its packages in the lock" :
							       "its commands";
}

/* Returns the first changed input of a step. */
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
	return "depends on another step now";
}

static void
rebuild(struct rebuild *r, const struct step *st)
{
	r->from = r->from ? r->from : st->id;
	r->steps++;
	r->cost_s += st->cost_s;
	r->least = st->cost_s <= 0 ? "at least " : r->least;
}

static struct differences
compare(struct arena *a, const struct plan *before, const struct plan *after)
{
	struct differences out = { .stages.least = "", .chain.least = "" };

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
		list_push(a, &out.all, d);
		out.same += d.change == SAME;
		if (d.change != SAME)
			rebuild(&out.stages, is);
		/* A chain is unchanged up to the first different step. */
		if (out.chain.steps || d.change != SAME || was != &before->steps[i])
			rebuild(&out.chain, is);
	}
	for (size_t i = 0; i < before->n; i++)
		if (!plan_step(after, before->steps[i].id))
			list_push(a, &out.all,
				  (struct difference){ &before->steps[i], GONE, "removed" });
	return out;
}

static void
as_text(const struct plan *before, const struct plan *after, const char *before_name,
	const struct differences *d, struct buf *out)
{
	size_t wide = 0;

	for (size_t i = 0; i < d->all.n; i++) {
		size_t n = strlen(d->all.at[i].step->id);

		wide = n > wide ? n : wide;
	}
	if (before_name)
		buf_printf(out, "%s: from %s to now\n\n", after->name, before_name);
	if (d->same == d->all.n) {
		buf_puts(out, "no build step changes");
		if (strcmp(before->stack->recipe->digest, after->stack->recipe->digest) != 0)
			buf_puts(out, "; settings of the image or the app change");
		buf_putc(out, '\n');
		return;
	}
	list_each (x, &d->all) {
		if (x->change == SAME)
			continue;
		buf_printf(out, "  %-7s  %-*s  ", change_words[x->change], (int)wide, x->step->id);
		show_wrapped(out, x->what, 2 + 7 + 2 + wide + 2);
	}
	buf_printf(out,
		   "\nwhere stages are built (dockerfile): %zu of %zu steps rebuild, %sabout %s\n",
		   d->stages.steps, after->n, d->stages.least, show_time(out->a, d->stages.cost_s));
	buf_printf(out, "in a chain (modal, script): %zu of %zu steps", d->chain.steps, after->n);
	if (d->chain.from)
		buf_printf(out, " from %s on, %sabout %s", d->chain.from, d->chain.least,
			   show_time(out->a, d->chain.cost_s));
	buf_putc(out, '\n');
}

void
plan_diff(const struct plan *before, const struct plan *after, const char *before_name,
	  struct buf *out, bool as_json)
{
	const struct differences d = compare(out->a, before, after);
	struct json j = json_to(out);

	if (!as_json) {
		as_text(before, after, before_name, &d, out);
		return;
	}
	json_put(&j, "{'before': %s, 'steps': [", before_name);
	list_each (x, &d.all) {
		json_put(&j, "{'id': %s, 'change': %s, 'what': %s", x->step->id,
			 change_words[x->change], x->what);
		json_cost(&j, x->step->cost_s);
		json_end(&j);
	}
	json_put(&j,
		 "], 'stages': {'steps': %d, 'cost_s': %f}, 'chain': {'steps': %d, 'cost_s': %f}}",
		 (int)d.stages.steps, d.stages.cost_s, (int)d.chain.steps, d.chain.cost_s);
	buf_putc(out, '\n');
}

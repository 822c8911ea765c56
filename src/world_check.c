/* check --online: resolve the packages of a cell as `lock` does, but write nothing. */
#include <string.h>

#include "base/proc.h"
#include "base/str.h"
#include "world_ask.h"
#include "world_lock.h"

static void
leave_unchecked(struct locking *l, struct cell_verdict *v, const char *what, const char *why)
{
	list_push(l->r->a, &v->parts,
		  (struct stack_part){ .kind = PART_PACKAGE,
				       .coverage = COVERAGE_UNKNOWN,
				       .what = what,
				       .why = why });
}

/* Returns "the tag v1.4.0 of causal-conv1d". */
static const char *
asked_part(struct arena *a, const struct question *q)
{
	switch (q->kind) {
	case QUESTION_REF:
		return q->name ? arena_printf(a, "the tag %s of %s", q->name, q->of) :
				 arena_printf(a, "the repository of %s", q->of);
	case QUESTION_IMAGE: return arena_printf(a, "the tag of %s, %s", q->of, q->url);
	case QUESTION_BUILD: return arena_printf(a, "torch %s on its index", q->name);
	default: return arena_printf(a, "the file of %s", q->of);
	}
}

/* Marks the tags that a registry has, and lists the questions without an answer. */
static void
use_answers(struct locking *l, struct cell_verdict *v)
{
	static const enum part_kind kinds[QUESTION_KINDS] = { [QUESTION_REF] = PART_EXTENSION,
							      [QUESTION_IMAGE] = PART_BASE,
							      [QUESTION_BUILD] = PART_TORCH,
							      [QUESTION_FILE] = PART_EXTENSION };
	struct arena *a = l->r->a;

	list_each (q, &v->questions) {
		for (size_t i = 0; i < v->parts.n && q->answer == ANSWER_YES; i++) {
			struct stack_part *x = &v->parts.at[i];

			if (x->by == BY_REGISTRY && q->kind == QUESTION_IMAGE &&
			    !strcmp(x->what, q->url)) {
				x->coverage = COVERAGE_READ;
				x->why = "its registry has this tag";
				x->basis = BASIS_REGISTRY;
			}
		}
		if (!q->answer)
			list_push(a, &v->parts,
				  (struct stack_part){
					  .kind = q->package ? PART_PACKAGE : kinds[q->kind],
					  .coverage = COVERAGE_UNKNOWN,
					  .by = BY_SOURCE,
					  .what = asked_part(a, q),
					  .why = arena_printf(a, "no answer from %s: %s", q->host,
							      q->why),
				  });
	}
}

/* Marks the parts that a resolution reads. */
static void
mark_read(struct stack_parts *all, bool torch_index)
{
	for (size_t i = 0; i < all->n; i++) {
		struct stack_part *x = &all->at[i];

		if (x->coverage == COVERAGE_READ || x->by == BY_NOTHING || x->by == BY_REGISTRY ||
		    (x->by == BY_TORCH_INDEX && !torch_index))
			continue;
		x->coverage = COVERAGE_READ;
		x->why = "resolved by uv";
		x->basis = BASIS_UV;
		x->date = x->source = NULL;
	}
}

/* A resolution by uv. */
struct resolution {
	enum uv_end end;
	struct lock_request *q;
	struct uv_answer answer;
	struct names left_out;
	struct diags failures;
};

/* Resolves a cell; if the index of torch cannot be read, it uses the torch of the default index. */
static void
resolve_online(struct locking *l, struct resolution *x)
{
	const char *index = l->stack->torch_index.value;

	*x = (struct resolution){ .q = lock_asks(l, l->stack) };
	x->failures = DIAGS(x->failures, l->r->a);
	x->end = lock_resolve_wheels(l, &x->failures, x->q, &l->how, &x->answer, &x->left_out);
	if (x->end != UV_FAILED || !index || l->stand_in ||
	    x->failures.head->code != E_LOCK_INDEX || !strstr(x->failures.head->text, index))
		return;
	l->stand_in = index;
	diag_why(diag_at(&l->r->ds, N_LOCK_STAND_IN, l->stack->torch_index.at,
			 "the metadata of torch %s on the default index replace those on %s",
			 l->stack->torch.value, index),
		 "%s", x->failures.head->text);
	resolve_online(l, x);
}

/* Removes the packages whose requirements are in the knowledge base, because the offline check
 * covers them. */
static void
forget_checked(struct locking *l, const struct cell_verdict *v, struct names *left_out)
{
	size_t n = 0;

	for (size_t i = 0; i < left_out->n; i++) {
		const char *name = left_out->at[i];
		bool open = !facts_package(l->r->facts, name) &&
			    !facts_extension(l->r->facts, name) &&
			    !facts_package_independent(l->r->facts, name);

		list_each (x, &v->parts)
			open |= x->coverage != COVERAGE_READ &&
				(lock_mentions(x->what, name) || lock_mentions(x->why, name));
		if (open)
			left_out->at[n++] = name;
	}
	left_out->n = n;
}

/* Uses the end of uv. Returns false if uv failed. */
static bool
conclude(struct locking *l, struct resolution *x, struct cell_verdict *v)
{
	/* An answer of a source is the reason, and uv's message follows from it. */
	if (x->end == UV_CONFLICT && !(ask_denied(&v->questions, QUESTION_BUILD, false) &&
				       lock_mentions(x->answer.explanation, "torch")))
		lock_conflict(l, x->q, &x->answer);
	if (x->end == UV_FAILED && !ask_denied(&v->questions, QUESTION_FILE, true))
		diags_append(&l->r->ds, &x->failures);
	v->resolved = x->end == UV_DONE;
	forget_checked(l, v, &x->left_out);
	if (x->end == UV_DONE)
		mark_read(&v->parts, !l->stand_in);
	for (size_t i = 0; i < x->left_out.n; i++)
		leave_unchecked(l, v, x->left_out.at[i],
				arena_printf(l->r->a,
					     "it has no wheel; --allow-build %s builds its sdist "
					     "to read its metadata",
					     x->left_out.at[i]));
	return x->end != UV_FAILED;
}

/* Resolves the packages while the sources are asked. Returns false if uv or an index failed. */
static bool
check_stack(struct locking *l, struct cell_verdict *v, bool resolves)
{
	struct resolution x = { .end = UV_FAILED };
	struct asking *asking =
		ask_begin(l->r, l->stack, &v->questions, &l->how.secrets, l->how.timeout_s);
	bool ran = resolves && uv_find(l->r->a, &l->r->ds, l->uv), good = !resolves;

	if (ran)
		resolve_online(l, &x);
	ask_end(asking);
	if (ran)
		good = conclude(l, &x, v);
	use_answers(l, v);
	return good;
}

void
world_check_online(struct run *r, const struct recipe *cell, const struct stack *s,
		   struct diag *since, struct cell_verdict *v)
{
	static const char requirements[] = "the requirements of the packages";
	struct uv uv = { 0 };
	struct locking l = {
		.r = r,
		.recipe = cell,
		.stack = s,
		.uv = &uv,
		.how = { .uv = &uv, .builds = r->o->builds, .timeout_s = UV_TIMEOUT_S },
		.reads_sdists = s, /* `lock` reads none, and the helps are about it */
	};
	struct span at;
	const char *why = s ? lock_obstacle(r->a, s, &at) : NULL;
	bool incompatible = false;

	for (const struct diag *d = since; d; d = d->next)
		incompatible |= diag_severity(d) == SEV_ERROR;
	option_timeout(r->o, &l.how.timeout_s); /* verb_check has checked it */
	proc_signals();
	if (why)
		leave_unchecked(&l, v, requirements, why);
	else
		v->failed = !world_index_secrets(r, cell, &l.how.secrets);
	world_hide_secrets(r, cell);
	if (!v->failed && !s)
		lock_try_helps(&l, since);
	else if (!v->failed)
		v->failed = !check_stack(&l, v, !why);
	if (v->failed)
		leave_unchecked(&l, v, requirements, "uv did not resolve them: see the error");
	v->stopped = proc_interrupted();
	/* A fact that excludes the stack counts also without uv. */
	list_each (q, &v->questions)
		incompatible |= q->answer == ANSWER_NO;
	v->failed = v->failed && !incompatible;
}

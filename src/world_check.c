/* check --online: resolve the packages of a cell as `lock` does, but write nothing. */
#include <string.h>

#include "base/proc.h"
#include "base/str.h"
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

/* Marks the parts that a resolution reads. */
static void
mark_read(struct stack_parts *all, bool torch_index)
{
	for (size_t i = 0; i < all->n; i++) {
		struct stack_part *x = &all->at[i];

		if (x->coverage == COVERAGE_READ || x->by == BY_NOTHING ||
		    (x->by == BY_TORCH_INDEX && !torch_index))
			continue;
		x->coverage = COVERAGE_READ;
		x->why = "resolved by uv";
		x->date = x->source = NULL;
	}
}

/* Resolves a cell; if the index of torch cannot be read, it uses the torch of the default index. */
static enum uv_end
resolve_online(struct locking *l, struct lock_request **q, struct names *left_out,
	       struct uv_answer *answer)
{
	const char *index = l->stack->torch_index.value;
	struct diags own = DIAGS(own, l->r->a);
	enum uv_end end;

	*q = lock_asks(l, l->stack);
	end = lock_resolve_wheels(l, &own, *q, &l->how, answer, left_out);
	if (end == UV_FAILED && index && !l->stand_in && own.head->code == E_LOCK_INDEX &&
	    strstr(own.head->text, index)) {
		l->stand_in = index;
		diag_why(
			diag_at(&l->r->ds, N_LOCK_STAND_IN, l->stack->torch_index.at,
				"the metadata of torch %s on the default index replace those on %s",
				l->stack->torch.value, index),
			"%s", own.head->text);
		*left_out = (struct names){ 0 };
		return resolve_online(l, q, left_out, answer);
	}
	diags_append(&l->r->ds, &own);
	return end;
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

/* Returns false if uv failed. */
static bool
check_stack(struct locking *l, struct cell_verdict *v)
{
	struct lock_request *q;
	struct uv_answer answer;
	struct names left_out = { 0 };
	enum uv_end end = resolve_online(l, &q, &left_out, &answer);

	if (end == UV_CONFLICT)
		lock_conflict(l, q, &answer);
	forget_checked(l, v, &left_out);
	if (end == UV_DONE)
		mark_read(&v->parts, !l->stand_in);
	for (size_t i = 0; i < left_out.n; i++)
		leave_unchecked(l, v, left_out.at[i],
				arena_printf(l->r->a,
					     "it has no wheel; --allow-build %s builds its sdist "
					     "to read its metadata",
					     left_out.at[i]));
	return end != UV_FAILED;
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
	if (why) {
		leave_unchecked(&l, v, requirements, why);
		return;
	}
	v->failed = !world_index_secrets(r, cell, &l.how.secrets);
	world_hide_secrets(r, cell);
	if (!v->failed && !s)
		lock_try_helps(&l, since);
	else if (!v->failed)
		v->failed = !uv_find(r->a, &r->ds, &uv) || !check_stack(&l, v);
	if (v->failed)
		leave_unchecked(&l, v, requirements, "uv did not resolve them: see the error");
	v->stopped = proc_interrupted();
	v->failed = v->failed && !incompatible;
}

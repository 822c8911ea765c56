/* Reports a stack whose packages exclude each other: uv's explanation, with the names of the
 * recipe. */
#include <string.h>

#include "base/str.h"
#include "world_lock.h"

bool
lock_mentions(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = text; (p = strstr(p, name)); p += n) {
		bool starts = p == text || (!is_alnum(p[-1]) && !strchr("-_.", p[-1]));

		if (starts && !is_alnum(p[n]) && !strchr("-_", p[n]))
			return true;
	}
	return false;
}

/* The recipe's requirements and extensions in the explanation, each name once. */
struct named LIST(struct lock_want);

static struct named
named_in(struct locking *l, const struct lock_request *q, const char *explanation)
{
	struct arena *a = l->r->a;
	struct named all = { 0 };
	struct names seen = { 0 };

	for (size_t i = 0; i < q->wants.n + l->stack->extensions.n; i++) {
		struct lock_want w;

		if (i < q->wants.n) {
			w = q->wants.at[i];
		} else {
			const struct stack_extension *e = &l->stack->extensions.at[i - q->wants.n];

			w = (struct lock_want){ e->requirement, e->name, .at = e->at };
		}
		if (!w.at.line || names_have(&seen, w.key) || !lock_mentions(explanation, w.key))
			continue;
		list_push(a, &seen, w.key);
		list_push(a, &all, w);
	}
	return all;
}

/*
 * Adds uv's explanation as a line for each step: "Because A and B, we can conclude that C. And
 * because D, we can conclude that E." uv's name for the stack becomes the recipe's.
 */
static void
explain(struct arena *a, struct diag *d, const char *explanation)
{
	static const struct {
		const char *theirs, *ours;
	} phrases[] = { { UV_STACK, "the stack" },
			{ "we can conclude that ", "so " },
			{ ". And because ", "\n" },
			{ "Because ", "" } };
	struct buf b = BUF(a);
	struct names lines;

	for (const char *p = explanation; *p;) {
		size_t i = 0;

		while (i < COUNT(phrases) && !starts_with(p, phrases[i].theirs))
			i++;
		if (i < COUNT(phrases)) {
			buf_puts(&b, phrases[i].ours);
			p += strlen(phrases[i].theirs);
		} else {
			buf_putc(&b, *p++);
		}
	}
	while (b.n && strchr(" .", b.p[b.n - 1]))
		b.p[--b.n] = '\0';
	lines = names_split(a, buf_text(&b), '\n');
	for (size_t i = 0; i < lines.n; i++)
		diag_why(d, "%s", lines.at[i]);
}

void
lock_conflict(struct locking *l, const struct lock_request *q, const struct uv_answer *answer)
{
	const struct named named = named_in(l, q, answer->explanation);
	const char *build = lock_needs_build(l->r->a, answer);
	struct diag *d = diag_at(&l->r->ds, E_LOCK_CONFLICT,
				 named.n ? named.at[0].at : (struct span){ .src = l->recipe->src },
				 "uv finds no versions that satisfy all requirements");

	for (size_t i = 1; i < named.n; i++)
		diag_note(d, named.at[i].at, "`%s` is required here", named.at[i].requirement);
	explain(l->r->a, d, answer->explanation);
	if (l->stack->torch.value && !l->stack->torch.given &&
	    lock_mentions(answer->explanation, "torch"))
		diag_why(d, "stackbuild selects torch %s: %s", l->stack->torch.value,
			 l->stack->torch.reason);
	if (build)
		diag_help(d,
			  "add --allow-build %s: uv then builds its sdist, isolated, to read the "
			  "metadata",
			  build);
	else if (strstr(answer->explanation, "was not found in the package registry"))
		diag_help(d,
			  "check the spelling of the name, and whether the index has the package");
	else
		lock_suggest(l, d, q, answer->explanation);
}

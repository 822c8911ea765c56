/* The line of `check` that shows the basis of its verdict, and what --online would read. */
#include <string.h>

#include "base/str.h"
#include "verbs.h"

static const char *const one[QUESTION_KINDS] = { [QUESTION_REF] = "ref",
						 [QUESTION_IMAGE] = "image tag",
						 [QUESTION_BUILD] = "torch build",
						 [QUESTION_FILE] = "file" };

/* The questions of all cells with the same answer, each once. */
struct asked {
	struct question_list LIST(const struct question *) all;
	double oldest_s;
};

static struct asked
asked_with(struct arena *a, const struct cell_verdicts *cells, enum question_answer answer)
{
	struct asked x = { 0 };

	list_each (v, cells)
		list_each (q, &v->questions) {
			if (q->answer != answer ||
			    list_any(o, &x.all,
				     (*o)->kind == q->kind && !strcmp((*o)->url, q->url) &&
					     str_same((*o)->name, q->name)))
				continue;
			list_push(a, &x.all, q);
			if (q->age_s > x.oldest_s)
				x.oldest_s = q->age_s;
		}
	return x;
}

/* Adds "2 refs" and, if `hosts`, "(github.com)" for each kind. */
static void
add_counts(struct arena *a, const struct asked *x, bool hosts, struct names *out)
{
	for (int kind = 0; kind < QUESTION_KINDS; kind++) {
		struct names where = { 0 };
		size_t n = 0;

		list_each (q, &x->all)
			if ((int)(*q)->kind == kind) {
				n++;
				names_once(a, &where, (*q)->host);
			}
		if (n)
			list_printf(a, out, "%zu %s%s%s%s%s", n, one[kind], n == 1 ? "" : "s",
				    hosts ? " (" : "", hosts ? names_join(a, &where, ", ") : "",
				    hosts ? ")" : "");
	}
}

/* Returns "today", or "up to 5 h ago" for an answer of the cache. */
static const char *
age_words(struct arena *a, double seconds)
{
	enum { MINUTE_S = 60, HOUR_S = 3600 };

	return seconds < MINUTE_S ? "now" :
	       seconds < HOUR_S   ? arena_printf(a, "up to %.0f min ago", seconds / MINUTE_S) :
				    arena_printf(a, "up to %.0f h ago", seconds / HOUR_S);
}

static void
add_online(struct run *r, const struct cell_verdicts *all, struct names *out)
{
	const struct asked yes = asked_with(r->a, all, ANSWER_YES),
			   no = asked_with(r->a, all, ANSWER_NO),
			   none = asked_with(r->a, all, ANSWER_NONE);
	struct names counts = { 0 }, hosts = { 0 };
	size_t resolved = 0;

	list_each (v, all)
		resolved += v->resolved;
	if (resolved == all->n)
		list_push(r->a, out, "requirements resolved by uv today");
	else if (resolved)
		list_printf(r->a, out, "requirements of %zu of %zu cells resolved by uv today",
			    resolved, all->n);
	else
		list_push(r->a, out, "requirements not resolved by uv");
	add_counts(r->a, &yes, false, &counts);
	if (counts.n)
		list_printf(r->a, out, "%s confirmed %s", names_words(r->a, &counts, "and"),
			    age_words(r->a, yes.oldest_s));
	counts = (struct names){ 0 };
	add_counts(r->a, &no, true, &counts);
	if (counts.n)
		list_printf(r->a, out, "%s missing", names_words(r->a, &counts, "and"));
	counts = (struct names){ 0 };
	add_counts(r->a, &none, false, &counts);
	list_each (q, &none.all)
		names_once(r->a, &hosts, (*q)->host);
	if (counts.n)
		list_printf(r->a, out, "%s not checked (no answer from %s)",
			    names_words(r->a, &counts, "and"), names_words(r->a, &hosts, "and"));
}

/*
 *     rests on: built-in facts of 2026-11-28; --online reads the requirements of all packages, 1 ref (github.com)
 *     rests on: built-in facts of 2026-11-28; requirements resolved by uv today; 1 ref not checked (no
 *     answer from github.com)
 */
void
check_basis(struct run *r, const struct cell_verdicts *all, struct buf *out)
{
	const struct user_files user = facts_user_files(r->facts);
	struct names parts = { 0 }, reads = { 0 };
	size_t refreshed = 0;
	struct asked open;

	list_each (u, &user)
		refreshed += !(*u)->ignored;
	list_printf(r->a, &parts, "%s of %s",
		    r->o->knowledge ? "facts of --knowledge and built-in facts" : "built-in facts",
		    facts_date(r->facts));
	if (refreshed)
		list_printf(r->a, &parts, "releases of %zu package%s from `facts refresh`",
			    refreshed, refreshed == 1 ? "" : "s");
	if (r->o->online) {
		add_online(r, all, &parts);
	} else {
		open = asked_with(r->a, all, ANSWER_NONE);
		list_push(r->a, &reads, "the requirements of all packages");
		add_counts(r->a, &open, true, &reads);
		list_printf(r->a, &parts, "--online reads %s", names_words(r->a, &reads, "and"));
	}
	buf_printf(out, "  rests on: %s\n", names_join(r->a, &parts, "; "));
}

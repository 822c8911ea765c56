#include <stdlib.h>

#include "rows_help.h"

struct fit_release
fit_release_of(struct fit_ask *q)
{
	const struct fit_slot *s = q->w->slots.at[q->thing];
	struct fit_release x = { .c = &s->t.c[q->candidate], .e = s->entry };

	x.r = x.c->entry;
	x.name = *x.c->text ? arena_printf(q->w->a, "%s %s", s->t.key, x.c->text) : s->t.key;
	return x;
}

int
fit_source_of(const struct fit_work *w, const char *extension)
{
	char key[256];
	int n = snprintf(key, sizeof(key), "%s source", extension);

	return n < 0 || (size_t)n >= sizeof(key) ? -1 : fit_find(w, key);
}

solve_word *
fit_sources(struct fit_work *w, unsigned source, const char *const *names, size_t n)
{
	const struct fit_thing *t = fit_at(w, source);
	solve_word *set = fit_none(w, source);

	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < n; k++)
			if (!strcmp(t->c[i].text, names[k]))
				solve_set_add(set, i);
	return set;
}

void
fit_and(struct fit_terms *t, unsigned thing, const solve_word *set)
{
	t->at[t->n++] = (struct solve_term){ .thing = thing, .set = set };
}

void
fit_and_this(struct fit_terms *t, struct fit_ask *q)
{
	fit_and(t, q->thing, fit_one(q->w, q->thing, q->candidate));
}

bool
fit_and_compiled(struct fit_terms *t, struct fit_ask *q)
{
	static const char *const compiled[] = { "sdist", "git", "url" };
	int source = fit_source_of(q->w, fit_at(q->w, q->thing)->key);
	const struct recipe_extension *asked;
	bool archive;

	if (source < 0)
		return false;
	asked = q->w->slots.at[source]->asked;
	archive = asked && asked->url.s && !recipe_names_wheel(asked->url.s);
	fit_and(t, (unsigned)source,
		fit_sources(q->w, (unsigned)source, compiled, archive ? 3 : 2));
	return true;
}

/* --- words --- */

/* Toolkits stand newest first: the run that begins at `from`, as long as it is in the set. */
static size_t
run_end(const struct fit_thing *t, const solve_word *set, size_t from)
{
	while (from < t->n && t->c[from].known && solve_set_has(set, from))
		from++;
	return from;
}

const char *
fit_cuda_words(struct fit_work *w, const solve_word *set)
{
	const struct fit_thing *t = fit_at(w, (unsigned)fit_find(w, "cuda"));
	struct buf b = BUF(w->a);
	bool any = false;

	for (size_t i = 0, end; i < t->n && t->c[i].known; i = end + 1) {
		const char *first, *last;

		end = run_end(t, set, i);
		if (end == i)
			continue;
		last = version_series(w->a, t->c[i].text);
		first = version_series(w->a, t->c[end - 1].text);
		if (any)
			buf_puts(&b, " or ");
		any = true;
		if (i == 0)
			buf_printf(&b, "%s and newer", first);
		else if (!strcmp(first, last))
			buf_puts(&b, first);
		else if (end == t->n || !t->c[end].known)
			buf_printf(&b, "%s and older", last);
		else
			buf_printf(&b, "%s to %s", first, last);
	}
	return any ? buf_text(&b) : NULL;
}

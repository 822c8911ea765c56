#include <stdlib.h>

#include "rows_help.h"

struct release
release_of(struct query *q)
{
	const struct domain *s = q->w->variables.at[q->variable];
	struct release x = { .c = &s->t.c[q->candidate], .e = s->entry };

	x.r = x.c->entry;
	x.name = *x.c->text ? arena_printf(q->w->a, "%s %s", s->t.key, x.c->text) : s->t.key;
	return x;
}

int
source_variable(const struct workspace *w, const char *extension)
{
	char key[256];
	int n = snprintf(key, sizeof(key), "%s source", extension);

	return n < 0 || (size_t)n >= sizeof(key) ? -1 : variable_find(w, key);
}

solve_word *
set_sources(struct workspace *w, unsigned source, const char *const *names, size_t n)
{
	const struct solver_variable *t = variable_at(w, source);
	solve_word *set = set_none(w, source);

	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < n; k++)
			if (!strcmp(t->c[i].text, names[k]))
				solve_set_add(set, i);
	return set;
}

void
terms_add(struct terms *t, unsigned variable, const solve_word *set)
{
	t->at[t->n++] = (struct solve_term){ .variable = variable, .set = set };
}

void
terms_add_this(struct terms *t, struct query *q)
{
	terms_add(t, q->variable, set_one(q->w, q->variable, q->candidate));
}

bool
source_compiles(const struct workspace *w, const char *extension, const char *source)
{
	int variable = source_variable(w, extension);
	const struct recipe_extension *asked =
		variable < 0 ? NULL : w->variables.at[variable]->asked;

	if (!strcmp(source, "url"))
		return asked && asked->url.s && !recipe_names_wheel(asked->url.s);
	return !strcmp(source, "sdist") || !strcmp(source, "git");
}

bool
terms_add_compiled(struct terms *t, struct query *q)
{
	const char *key = variable_at(q->w, q->variable)->key;
	int source = source_variable(q->w, key);
	const struct solver_variable *s = source < 0 ? NULL : variable_at(q->w, (unsigned)source);
	solve_word *set = s ? set_none(q->w, (unsigned)source) : NULL;

	if (!s)
		return false;
	for (size_t i = 0; i < s->n; i++)
		if (source_compiles(q->w, key, s->c[i].text))
			solve_set_add(set, i);
	terms_add(t, (unsigned)source, set);
	return true;
}

/* --- words --- */

/* Toolkits stand newest first: the run that begins at `from`, as long as it is in the set. */
static size_t
run_end(const struct solver_variable *t, const solve_word *set, size_t from)
{
	while (from < t->n && t->c[from].known && solve_set_has(set, from))
		from++;
	return from;
}

const char *
cuda_label(struct workspace *w, const solve_word *set)
{
	const struct solver_variable *t = variable_at(w, (unsigned)variable_find(w, "cuda"));
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

#include "internal.h"

struct release
release_of(struct query *q)
{
	const struct domain *s = q->w->variables.at[q->variable];
	const struct candidate *c = &s->t.c[q->candidate];
	const char *name = *c->text ? arena_printf(q->w->a, "%s %s", s->t.key, c->text) : s->t.key;

	return (struct release){ s->entry, c->entry, name };
}

int
source_variable(const struct workspace *w, const char *extension)
{
	int at = variable_find(w, extension);

	return at < 0 ? -1 : (int)w->variables.at[at]->source - 1;
}

bool
source_is(const struct workspace *w, unsigned source, const char *text, const char *word)
{
	const struct recipe_extension *asked = w->variables.at[source]->asked;

	if (strcmp(word, "compiled") != 0)
		return !strcmp(text, word);
	if (!strcmp(text, "url"))
		return asked && asked->url.s && !recipe_names_wheel(asked->url.s);
	return !strcmp(text, "sdist") || !strcmp(text, "git") || !strcmp(text, "path");
}

struct solve_term
comes_from(struct query *q, const char *word)
{
	struct workspace *w = q->w;
	int source = source_variable(w, variable_at(w, q->variable)->key);

	if (source < 0)
		return IN(q->variable, set_none(w, q->variable));
	return IN((unsigned)source,
		  SET_WHERE(w, (unsigned)source, c, source_is(w, (unsigned)source, c->text, word)));
}

bool
next_gpu(struct workspace *w, size_t *i, unsigned *variable)
{
	while (*i < w->variables.n && variable_at(w, (unsigned)*i)->kind != VARIABLE_GPU)
		++*i;
	*variable = (unsigned)*i;
	return (*i)++ < w->variables.n;
}

int
requested_in(const struct workspace *w, unsigned variable, const solve_word *set)
{
	int at = requested(w, variable);

	return at >= 0 && solve_set_has(set, (size_t)at) ? at : -1;
}

/* --- words --- */

void
group_add(struct workspace *w, struct groups *all, unsigned variable, size_t candidate,
	  const char *why, const char *source)
{
	const char *text = variable_at(w, variable)->c[candidate].text;
	size_t i = 0;

	while (i < all->n && strcmp(all->at[i].why, why) != 0)
		i++;
	if (i == all->n)
		list_push(w->a, all,
			  (struct group){ why, source, text, NULL, set_none(w, variable) });
	all->at[i].oldest = text;
	solve_set_add(all->at[i].these, candidate);
}

const char *
group_label(struct workspace *w, unsigned variable, const struct group *g)
{
	int asked = requested_in(w, variable, g->these);

	if (asked >= 0)
		return variable_at(w, variable)->c[asked].text;
	return !strcmp(g->oldest, g->newest) ? g->newest :
					       arena_printf(w->a, "%s to %s", g->oldest, g->newest);
}

const char *
cuda_label(struct workspace *w, const solve_word *set)
{
	const struct solver_variable *t = variable_at(w, the_variable(w, VARIABLE_CUDA));
	struct names all = { 0 };

	/* Lists each run of consecutive toolkits in the set, newest first. */
	for (size_t i = 0, end; i < t->n && t->c[i].known; i = end + 1) {
		const char *first, *last;

		for (end = i; end < t->n && t->c[end].known && solve_set_has(set, end);)
			end++;
		if (end == i)
			continue;
		last = version_series(w->a, t->c[i].text);
		first = version_series(w->a, t->c[end - 1].text);
		list_push(w->a, &all,
			  i == 0               ? arena_printf(w->a, "%s and newer", first) :
			  !strcmp(first, last) ? first :
			  end == t->n || !t->c[end].known ?
						 arena_printf(w->a, "%s and older", last) :
						 arena_printf(w->a, "%s to %s", first, last));
	}
	return names_join(w->a, &all, " or ");
}

/* The words around the versions of a specifier, for readers who do not know PEP 440. */
static const struct {
	const char *first,
		*second; /* operators of the clauses; second "": there is only one clause */
	const char *before, *after; /* the words around the version of the first clause */
} forms[] = {
	{ "==", "", "", "" },
	{ ">=", "", "", " or newer" },
	{ "<=", "", "", " or older" },
	{ "<", "", "below ", "" },
	{ ">=", "<=", "", " to " },
	{ ">=", "<", "", " or newer, but below " },
	{ "<", "!=", "below ", ", but not " },
};

const char *
spec_label(struct arena *a, const char *spec)
{
	const struct names clauses = names_split(a, spec, ',');
	const char *op[2] = { "", "" }, *version[2] = { "", "" };

	for (size_t i = 0; i < clauses.n && i < 2; i++) {
		const char *s = clauses.at[i] + strspn(clauses.at[i], " ");
		size_t n = strspn(s, "<>=!~");

		op[i] = arena_copy(a, s, n);
		s += n + strspn(s + n, " ");
		version[i] = arena_copy(a, s, strcspn(s, " "));
	}
	for (size_t i = 0; clauses.n <= 2 && i < COUNT(forms); i++) {
		bool swapped = *op[1] && strcmp(op[0], forms[i].first) != 0;

		if (!strcmp(op[swapped], forms[i].first) && !strcmp(op[!swapped], forms[i].second))
			return arena_printf(a, "%s%s%s%s", forms[i].before, version[swapped],
					    forms[i].after, version[!swapped]);
	}
	return spec;
}

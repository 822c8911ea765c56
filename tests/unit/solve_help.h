#ifndef SOLVE_HELP_H
#define SOLVE_HELP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "solve_facts.h"

/*
 * Makes a universe from a text:
 *
 *     foo = 1.1 1.0            its candidates, the preferred one first
 *     foo 1.1 > bar 2.0 1.0    needs
 *     foo 1.1 ? bar 1.0        needs, but only if bar is present
 *     a 1 & b 2 & ! c 3        not all together; ! negates a term
 *
 * `=` comes before the name is used; `*` means all candidates.
 */
enum { MOST_THINGS = 16, MOST_CANDIDATES = 16 };

struct universe {
	struct arena *a;
	const char *names[MOST_THINGS], *versions[MOST_THINGS][MOST_CANDIDATES];
	unsigned n, rank[MOST_THINGS];
	size_t candidates[MOST_THINGS];
	struct solve_facts facts;
	bool told[64];
	unsigned met[MOST_THINGS], asked[MOST_THINGS][MOST_CANDIDATES];
	struct solve_pins LIST(struct solve_pin) pins;
	struct solve_provider p;
};

static inline unsigned
variable(const struct universe *u, const char *name)
{
	for (unsigned i = 0; i < u->n; i++)
		if (!strcmp(u->names[i], name))
			return i;
	fail_msg("no such variable: %s", name);
	return 0;
}

static inline void
add_version(const struct universe *u, unsigned x, const char *version, solve_word *set)
{
	bool known = !strcmp(version, "*");

	for (size_t i = 0; i < u->candidates[x]; i++) {
		if (strcmp(version, "*") && strcmp(version, u->versions[x][i]))
			continue;
		known = true;
		solve_set_add(set, i);
	}
	assert_true(known);
}

/* Parses "foo 1.1 1.0", up to one of `ends` or the end of the line. */
static inline struct solve_term
read_term(const struct universe *u, char **save, const char *ends, char *end)
{
	char *word = strtok_r(NULL, " ", save);
	struct solve_term t = { 0 };
	solve_word *set;

	*end = 0;
	if (!strcmp(word, "!")) {
		t.not = true;
		word = strtok_r(NULL, " ", save);
	}
	t.variable = variable(u, word);
	t.set = set = solve_set(u->a, u->candidates[t.variable]);
	while ((word = strtok_r(NULL, " ", save))) {
		if (strchr(ends, *word)) {
			*end = *word;
			break;
		}
		add_version(u, t.variable, word, set);
	}
	return t;
}

static inline void
read_fact(struct universe *u, char *line, const char *why)
{
	struct solve_term *terms = arena_array_of(u->a, struct solve_term, 4);
	char *save = line, end;
	size_t n = 0;

	do {
		terms[n] = read_term(u, &save, ">?&", &end);
		if (end == '>' || end == '?') {
			struct solve_term t = read_term(u, &save, "", &end);

			if (strchr(why, '>'))
				solve_needs(u->a, &u->facts, terms[n].variable, terms[n].set,
					    t.variable, t.set, why);
			else
				solve_allows(u->a, &u->facts, terms[n].variable, terms[n].set,
					     t.variable, t.set, u->candidates[t.variable], why);
			return;
		}
		n++;
	} while (end);
	list_push(u->a, &u->facts, (struct solve_fact){ .terms = terms, .n = n, .why = why });
}

static inline void
declare(struct universe *u, char *line)
{
	char *save, *word = strtok_r(line, " =", &save);
	unsigned x = u->n++;

	u->names[x] = word;
	while ((word = strtok_r(NULL, " =", &save)))
		u->versions[x][u->candidates[x]++] = word;
}

static inline size_t
tell_candidates(void *ctx, unsigned x)
{
	struct universe *u = ctx;

	u->met[x]++;
	return u->candidates[x];
}

/* Reports each fact once: with its first plain term, or with any candidate if it has none. */
static inline void
tell_facts(void *ctx, unsigned x, size_t candidate, struct solve_facts *out)
{
	struct universe *u = ctx;

	assert_true(candidate < u->candidates[x]);
	u->asked[x][candidate]++;
	for (size_t i = 0; i < u->facts.n; i++) {
		const struct solve_fact *f = &u->facts.at[i];
		const struct solve_term *home = f->terms;

		while (home->not &&home < f->terms + f->n - 1)
			home++;
		if (u->told[i] ||
		    (!home->not &&(home->variable != x || !solve_set_has(home->set, candidate))))
			continue;
		u->told[i] = true;
		list_push(u->a, out, *f);
	}
}

static inline unsigned
tell_rank(void *ctx, unsigned x)
{
	return ((struct universe *)ctx)->rank[x];
}

static inline struct universe *
universe(const char *text)
{
	struct arena *a = arena_new();
	struct universe *u = arena_new_of(a, struct universe);
	char *save, *line;

	u->a = a;
	for (line = strtok_r(arena_strdup(a, text), "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (strchr(line, '='))
			declare(u, line);
		else
			read_fact(u, arena_strdup(a, line), line);
	}
	u->p = (struct solve_provider){ u, tell_candidates, tell_facts, tell_rank, NULL };
	return u;
}

/* Adds a pin, "foo 1.1 1.0": one of these is required. */
static inline struct solve_pin *
pin(struct universe *u, const char *text)
{
	char *save = arena_strdup(u->a, text), end;
	struct solve_term t = read_term(u, &save, "", &end);

	list_push(u->a, &u->pins,
		  (struct solve_pin){ .variable = t.variable, .set = t.set, .why = text });
	return &u->pins.at[u->pins.n - 1];
}

static inline void
start_again(struct universe *u)
{
	memset(u->told, 0, sizeof u->told);
	memset(u->met, 0, sizeof u->met);
	memset(u->asked, 0, sizeof u->asked);
}

static inline struct solve_result
solve_all(struct universe *u)
{
	start_again(u);
	return solve(u->a, &u->p, u->pins.at, u->pins.n, NULL, SOLVE_BUDGET);
}

/* Returns the solution: "foo 1.0, bar 2.0". */
static inline const char *
text_of(const struct universe *u, const struct solve_result *r)
{
	const char *text = "";

	for (size_t i = 0; i < r->nvariables; i++)
		if (r->chosen[i] >= 0)
			text = arena_printf(u->a, "%s%s%s %s", text, *text ? ", " : "", u->names[i],
					    u->versions[i][r->chosen[i]]);
	return text;
}

/* Returns the indexes of the pins: "0 2". */
static inline const char *
pins_of(const struct universe *u, const struct solve_indexes *pins)
{
	const char *text = "";

	for (size_t i = 0; i < pins->n; i++)
		text = arena_printf(u->a, "%s%s%u", text, *text ? " " : "", pins->at[i]);
	return text;
}

/* Returns the facts in their original form and order, separated by ", ". */
static inline const char *
facts_of(const struct universe *u, const struct solve_facts *facts)
{
	const char *text = "";

	for (size_t i = 0; i < u->facts.n; i++)
		for (size_t k = 0; k < facts->n; k++)
			if (facts->at[k].why == u->facts.at[i].why)
				text = arena_printf(u->a, "%s%s%s", text, *text ? ", " : "",
						    (const char *)facts->at[k].why);
	return text;
}

static inline struct solve_conflicts
conflicts(struct universe *u)
{
	bool gave_up = true;
	struct solve_conflicts c;

	start_again(u);
	c = solve_conflicts(u->a, &u->p, u->pins.at, u->pins.n, SOLVE_BUDGET, &gave_up);
	assert_false(gave_up);
	return c;
}

/* Returns the repair and its solution, "[1 2] bar 1.0"; "" if there is none. */
static inline const char *
repair(struct universe *u, const bool *keep)
{
	bool gave_up = true, found;
	struct solve_repair r;

	start_again(u);
	found = solve_repair(u->a, &u->p, u->pins.at, u->pins.n, keep, SOLVE_BUDGET, &gave_up, &r);
	assert_false(gave_up);
	return found ? arena_printf(u->a, "[%s] %s", pins_of(u, &r.pins), text_of(u, &r.result)) :
		       "";
}

/* Checks the solution for these pins: `want`, or NULL if there is none. */
static inline void
expect(struct universe *u, const char *want)
{
	struct solve_result r = solve_all(u);

	assert_int_equal(r.status, want ? SOLVE_FOUND : SOLVE_IMPOSSIBLE);
	if (want)
		assert_string_equal(text_of(u, &r), want);
	else
		assert_int_equal(r.proof.at[r.proof.n - 1].n, 0);
}

static inline void
done(struct universe *u)
{
	arena_free(u->a);
}

#endif

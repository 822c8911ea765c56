#ifndef RESOLVE_NEEDS_H
#define RESOLVE_NEEDS_H

#include "internal.h"

/* needs.c: requirements and pairings, for the rows and for the finished stack. */

/* A requirement of releases, with the extras that the recipe names. Neighbours share it, so what the
 * solver needs of it is made once. */
struct need {
	const struct requirement *req;
	const char *text;          /* as METADATA has it */
	const solve_word *pythons; /* those for which it counts; NULL: none */
	bool every;                /* it counts for every Python */
	bool untracked;            /* the knowledge base has nothing about the package */
	int other;                 /* the variable of the package; -1: there was none */
	const char *sentence;      /* "requires numpy<2"; NULL: not made yet */
	const solve_word *those;   /* the candidates of `other` that it allows, if there were n */
	size_t n;
};
struct needs LIST(struct need *);
/* Returns the requirements of a release of a package, without those of files at a URL; r: or NULL. */
struct needs release_needs(struct workspace *w, const char *key, const struct package_release *r);
/* Returns true if a need counts for the stack's Python. */
bool need_holds(struct workspace *w, const struct need *x);
/* Returns the releases with the requirements of a candidate of a package. */
struct package_span release_span(struct workspace *w, const struct solver_variable *t,
				 const struct candidate *c);

/*
 * Returns true if a pairing is about a candidate of its first package. Unknown candidates are in no range:
 * commits, and releases above the newest one that was read, where every range ends.
 */
bool pairing_includes(struct workspace *w, const struct solver_variable *t,
		      const struct candidate *c, const struct pairing *p);
/* Returns the next pairing, from *i on, of a candidate of a package; NULL: no more. */
const struct pairing *pairing_next(struct workspace *w, const struct solver_variable *t,
				   const struct candidate *c, size_t *i);
/* Returns true if it has one with `other`. */
bool has_pairing(struct workspace *w, const struct solver_variable *t, const struct candidate *c,
		 const char *other);

#endif

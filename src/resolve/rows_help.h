#ifndef RESOLVE_ROWS_HELP_H
#define RESOLVE_ROWS_HELP_H

#include "fit_work.h"

/* What the rows of extensions share. */

/* The candidate asked about, and what the knowledge has of it. */
struct fit_release {
	const struct fit_candidate *c;
	const struct extension *e;         /* or NULL */
	const struct extension_release *r; /* or NULL: an unknown release, or a commit */
	const char *name;                  /* "mamba-ssm 2.2.2", for sentences */
};
struct fit_release fit_release_of(struct fit_ask *q);

/* The thing that says where an extension comes from, or -1: it is in packages:. */
int fit_source_of(const struct fit_work *w, const char *extension);
/* Those of the sources named that there are: "git", "sdist", "release", "url". */
solve_word *fit_sources(struct fit_work *w, unsigned source, const char *const *names, size_t n);

/* Terms of one fact, put together piece by piece. */
struct fit_terms {
	struct solve_term at[8];
	size_t n;
};
void fit_and(struct fit_terms *t, unsigned thing, const solve_word *set);
/* "The candidate asked about is chosen." */
void fit_and_this(struct fit_terms *t, struct fit_ask *q);
/*
 * "It is compiled in this stack": from its sdist, its repository or an archive.
 * False, and nothing is added: it stands in packages:, where pip decides.
 */
bool fit_and_compiled(struct fit_terms *t, struct fit_ask *q);

/*
 * The CUDA toolkits of a set in words, as series: "12.8 and newer", "11.8 to 12.9",
 * "12.1"; NULL: it is empty.
 */
const char *fit_cuda_words(struct fit_work *w, const solve_word *set);

#endif

#ifndef RESOLVE_ROWS_HELP_H
#define RESOLVE_ROWS_HELP_H

#include "internal.h"

/* What the rows of extensions share. */

/* The candidate asked about, and what the knowledge has of it. */
struct release {
	const struct candidate *c;
	const struct extension *e;         /* or NULL */
	const struct extension_release *r; /* or NULL: an unknown release, or a commit */
	const char *name;                  /* "mamba-ssm 2.2.2", for sentences */
};
struct release release_of(struct query *q);

/* The variable that says where an extension comes from, or -1: it is in packages:. */
int source_variable(const struct workspace *w, const char *extension);
/* Those of the sources named that there are: "git", "sdist", "release", "url". */
solve_word *set_sources(struct workspace *w, unsigned source, const char *const *names, size_t n);

/* Terms of one fact, put together piece by piece. */
struct terms {
	struct solve_term at[8];
	size_t n;
};
void terms_add(struct terms *t, unsigned variable, const solve_word *set);
/* "The candidate asked about is chosen." */
void terms_add_this(struct terms *t, struct query *q);
/*
 * "It is compiled in this stack": from its sdist, its repository or an archive.
 * False, and nothing is added: it stands in packages:, where pip decides.
 */
bool terms_add_compiled(struct terms *t, struct query *q);
/* True if an extension that comes from that source ("sdist", "url") is compiled. */
bool source_compiles(const struct workspace *w, const char *extension, const char *source);

/*
 * The CUDA toolkits of a set in words, as series: "12.8 and newer", "11.8 to 12.9",
 * "12.1"; NULL: it is empty.
 */
const char *cuda_label(struct workspace *w, const solve_word *set);

#endif

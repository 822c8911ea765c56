#ifndef INIT_WISH_H
#define INIT_WISH_H

#include "init.h"

/* Inside init/: what a reader needs at hand, and how it adds what it found. */
struct reader {
	struct arena *a;
	struct diags *ds;
	const struct facts *f;
	struct init *n;
};

enum wish_kind { WISH_NONE, WISH_LEFT, WISH_TORCH, WISH_WITH, WISH_EXTENSION, WISH_PACKAGE };

/* What a requirement turned out to be. */
struct wish {
	enum wish_kind kind;
	const char *key;   /* normalised name */
	const char *spec;  /* "" if it says nothing of versions */
	const char *local; /* of torch: "cu121", or NULL */
	bool git, pinned;  /* pinned: one version, a tag, a commit or a file */
};

/*
 * wish_add -- one requirement goes where it belongs.
 *
 *   in      text: PEP 508, or a URL of a wheel, sdist or repository
 *   out     WISH_NONE and *why: it is no requirement
 */
struct wish wish_add(struct reader *rd, const char *text, struct span at, bool compiled,
		     const char **why);

/* An index URL; extra: pip looks there as well.  False: it has no place, and that was said. */
bool wish_index(struct reader *rd, const char *url, bool extra, struct span at);
/* "cu121" of torch's own index, "" of its root; NULL: another index. */
const char *wish_torch_tag(struct reader *rd, const char *url);

/* Named in the recipe's comment and in a note. */
void wish_left(struct reader *rd, const char *what, struct span at, const char *why);
void wish_changed(struct reader *rd, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif

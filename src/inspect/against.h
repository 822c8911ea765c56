#ifndef INSPECT_AGAINST_H
#define INSPECT_AGAINST_H

#include "base/json.h"
#include "base/map.h"
#include "show.h"

/*
 * Finds the undefined symbols of an object that no library provides, and the torch releases that
 * have them.
 */

struct provider {
	struct arena *a;
	struct map symbols;   /* by name */
	struct map libraries; /* keys: file names and sonames */
};

/* Adds the symbols that a library defines; they are borrowed. */
void provider_add(struct provider *p, const char *path, const struct elf *e);

struct against {
	struct names unresolved; /* no library provides them */
	struct names unknown;    /* may belong to a missing library */
	struct names absent;     /* the missing libraries */
	size_t resolved;
	size_t host; /* symbols of the host's versioned libraries (libc.so.6) or of Python */
};

/*
 * against_judge -- checks the undefined symbols of an object, without weak ones.
 *
 *   in p: the available libraries, such as those of a torch wheel
 *   out     a symbol with a version belongs to the library that the version names, unless p has it:
 *           the floors show what the host must provide; the interpreter provides those of Python
 *   memory  lives in a; borrows names from e
 */
struct against against_judge(struct arena *a, const struct elf *e, const struct provider *p);

/* The torch releases on PyPI that have the symbols of torch that an object imports. */
struct torch_span {
	size_t known, imported; /* symbols in the table; all in torch's namespaces */
	struct names releases;  /* releases with all known symbols, oldest first */
	const char *sentence;   /* "needs torch 2.3 or later ..."; NULL: the table has no answer */
	const char *lacking;    /* without a release: a symbol that the newest one lacks; or NULL */
};
/* Source: src/inspect/torch_symbols.txt, which ci/torch-symbols writes.  Memory: lives in a. */
struct torch_span torch_releases(struct arena *a, const struct elf *e);

/* Returns why a torch release cannot load an object, "it needs X, which torch 2.2 does not have", by
 * the same table; NULL: it may, or the table does not have the release.  Memory: lives in a. */
const char *torch_refuses(struct arena *a, const struct elf *e, const char *torch);

/* Adds the result to the text, or as members to an open map. */
void against_text(struct arena *a, const struct against *g, const char *other, struct buf *out);
void against_json(const struct against *g, const char *other, struct json *j);

#endif

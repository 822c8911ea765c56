#ifndef FACTS_FIND_H
#define FACTS_FIND_H

#include "internal.h"

/* `stackbuild facts`: the subjects, how each is found, listed and laid out. */

struct lookup {
	const char *name, *more; /* more: a release of an extension, a build of torch; or NULL */
};

struct trails LIST(struct trail);

/* What was found: maps that hold for it, of two that say the same the later one counts. */
struct found {
	const char *title;
	const char *name; /* as the knowledge writes it; NULL: as it was asked for */
	struct trails parts;
	const char *without[2]; /* keys of the parts that are not asked for */
	struct trail compat;    /* of a CUDA toolkit: the driver with which all of its major run */
	const char *major;
	const struct gpu *gpu;
	const struct extension *extension;
	const struct extension_release *release;
};

enum more { MORE_NONE, MORE_WORDS, MORE_RELEASE, MORE_BUILD };

struct subject {
	const char *name, *what, *example;
	const char *file, *map; /* where its names are keys; NULL: in files of their own */
	/* NULL: by the key, and the keys. */
	bool (*find)(const struct facts *f, const struct lookup *q, struct found *x);
	struct names (*names)(const struct facts *f, struct arena *a);
	void (*list)(const struct facts *f, struct arena *a, struct buf *out);
	enum more more; /* what a third word means */
};

extern const struct subject facts_subjects[];
extern const size_t facts_nsubjects;

void show_subjects(const struct facts *f, struct arena *a, bool as_json, struct buf *out);
void found_text(const struct facts *f, struct arena *a, const struct found *x, struct buf *out);
void found_json(const struct facts *f, struct arena *a, const struct found *x, struct buf *out);
void names_json(const char *what, struct names names, struct buf *out);

void list_torch(const struct facts *f, struct arena *a, struct buf *out);
void list_cuda(const struct facts *f, struct arena *a, struct buf *out);
void list_gpu(const struct facts *f, struct arena *a, struct buf *out);
void list_extension(const struct facts *f, struct arena *a, struct buf *out);
void list_os(const struct facts *f, struct arena *a, struct buf *out);
void list_modal(const struct facts *f, struct arena *a, struct buf *out);
void list_rule(const struct facts *f, struct arena *a, struct buf *out);
void list_package(const struct facts *f, struct arena *a, struct buf *out);

#endif

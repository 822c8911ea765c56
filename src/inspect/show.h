#ifndef INSPECT_SHOW_H
#define INSPECT_SHOW_H

#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"

/* The output of `stackbuild inspect` for a file, as text and as JSON. */

struct elf;
struct gpu_codes;
struct wheel;

/* A library of DT_NEEDED, and the file that the loader of this host would use. */
struct library {
	const char *name;
	const char *path; /* NULL: not found */
	const char *by;   /* "RPATH", "RUNPATH" or "system" */
};
struct libraries LIST(struct library);

/*
 * elf_libraries -- finds the needed libraries of a file as the loader does.
 *
 *   in      path: of the file, for $ORIGIN
 *   out     a row for each; LD_LIBRARY_PATH and ld.so.cache are not read: the directories of
 *           /etc/ld.so.conf.d are
 *   memory  lives in a
 *   source  ld.so(8)
 */
struct libraries elf_libraries(struct arena *a, const struct elf *e, const char *path);

/* Returns the C++ name of a symbol, "c10::Error::what() const"; the symbol itself if it is not a
 * C++ symbol, or without libstdc++.so.6. Lives in a. Source: Itanium C++ ABI, __cxa_demangle. */
const char *symbol_demangled(struct arena *a, const char *symbol);

/*
 * Returns the architectures of GPU code, each once: linked SASS, then PTX, by number.  Code for a
 * device link is listed only if there is no other.
 */
struct names gpu_code_names(struct arena *a, const struct gpu_codes *codes);

/* An object or a program; size in bytes. */
struct object_shown {
	const char *path;
	size_t size;
	const struct elf *elf;
	const struct gpu_codes *codes;
	struct libraries libraries;
	bool brief; /* omits the symbols in JSON */
};
void object_text(struct arena *a, const struct object_shown *o, struct buf *out);
/* Adds members to an open map; docs/inspect.md lists them. */
void object_json(struct arena *a, const struct object_shown *o, struct json *j);

/* Prints a wheel with its findings: an object that needs a newer glibc than the tag allows, or is
 * for another machine; modules for one Python under an abi3 tag; objects under `any`; tags of WHEEL
 * that the file name lacks. */
void wheel_text_shown(struct arena *a, const char *path, const struct wheel *w, struct buf *out);
void wheel_json(struct arena *a, const struct wheel *w, struct json *j);

/*
 * difference -- compares two JSON results of `inspect`: text, or JSON of
 * {"a", "b", "differences": [{"what", "only_a", "only_b"}]}.
 *
 *   out  true
 */
bool difference(struct arena *a, const char *x, const char *y, bool as_json, struct buf *out);

#endif

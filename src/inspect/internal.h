#ifndef INSPECT_INTERNAL_H
#define INSPECT_INTERNAL_H

#include <gelf.h>
#include <libelf.h>

#include "inspect/inspect.h"

/* Shared by the files of inspect/. */

static inline void
elf_close(Elf **e)
{
	elf_end(*e);
}

#define CLEANUP_ELF __attribute__((cleanup(elf_close)))

static inline void
drop_arena(struct arena **a)
{
	arena_free(*a);
}

#define CLEANUP_ARENA __attribute__((cleanup(drop_arena)))

/* A file being read: its name in diagnostics, its bytes, and libelf's handle. */
struct image {
	struct arena *a;
	struct diags *ds;
	const char *name;
	const unsigned char *bytes;
	size_t n;
	Elf *elf;
	GElf_Ehdr header;
};

/* Opens an ELF file; false after SB0810 if it is truncated or not 64-bit little-endian. */
bool image_open(struct image *m);

/* Reports an error such as "name: error[SB0810]: text"; returns false, for the caller's return. */
bool inspect_refuse(struct diags *ds, enum code code, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * The bytes of a member while they are read: in memory, or, if there are more than SPOOL_MEMORY, in a
 * mapped temporary file without a name.
 *
 * spool_begin -- prepares for n bytes.
 *
 *   in      name: what diagnostics call the member
 *   errors  SB0100, false: no directory has room, or the file cannot be written
 *   memory  `bytes`, after spool_end: until spool_free; without a file, it lives in a and has one NUL
 *           after its n bytes
 */
enum { SPOOL_MEMORY = 16 * 1024 * 1024 };

struct spool {
	struct arena *a;
	struct diags *ds;
	const char *name, *dir;
	size_t n, at;
	int fd; /* -1: in memory */
	unsigned char *bytes;
	void *mapped; /* NULL: not mapped */
};

bool spool_begin(struct spool *s, struct arena *a, struct diags *ds, const char *name, uint64_t n);
/* Adds the next bytes, in all at most n. */
bool spool_add(struct spool *s, const void *bytes, size_t n);
/* Makes all bytes readable. */
bool spool_end(struct spool *s);
/* Releases them; a spool of zeros needs no release. */
void spool_free(struct spool *s);

#define CLEANUP_SPOOL __attribute__((cleanup(spool_free)))

/* Reads little-endian numbers of a file. */
static inline unsigned
le16(const unsigned char *p)
{
	return p[0] | (unsigned)p[1] << 8;
}

static inline uint32_t
le32(const unsigned char *p)
{
	return le16(p) | (uint32_t)le16(p + 2) << 16;
}

static inline uint64_t
le64(const unsigned char *p)
{
	return le32(p) | (uint64_t)le32(p + 4) << 32;
}

/* Returns true if `count` entries of `size` bytes at `at` are within n bytes. */
static inline bool
fits(uint64_t at, uint64_t count, uint64_t size, uint64_t n)
{
	return at <= n && (!size || count <= (n - at) / size);
}

/* Returns true for a symbol of torch's libraries. */
bool torch_symbol(const char *symbol);

/* Records which std::string a C++ symbol of torch uses. */
void abi_note(const char *symbol, struct elf *e);

#endif

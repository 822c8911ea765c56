#ifndef INSPECT_H
#define INSPECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "against.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/list.h"
#include "show.h"
#include "tree.h"

/*
 * Reads files: shared objects (libelf), the GPU code in them (our own reader), wheels (libarchive).
 * It runs no code. It unpacks large objects to temporary files without a name. It checks every
 * declared size against the file before it uses the size.
 */

/* --- ELF --- */

struct elf_symbol {
	const char *name;
	const char *version; /* "GLIBC_2.34"; or NULL */
	const char *file;    /* library of an undefined symbol with a version; or NULL */
};
struct elf_symbols LIST(struct elf_symbol);

struct elf {
	const char *machine; /* "x86_64", "aarch64", otherwise "EM_n" */
	const char *soname;  /* or NULL */
	struct names needed; /* DT_NEEDED in order */
	struct names runpath;
	const char *rpath;            /* DT_RUNPATH, else DT_RPATH, as written; or NULL */
	bool is_rpath;                /* rpath is DT_RPATH */
	struct elf_symbols undefined; /* global symbols, which the loader must find */
	struct elf_symbols weak;      /* undefined symbols that may stay undefined */
	struct elf_symbols defined;   /* without absolute symbols (names of versions) */
	/* The newest required versions, "2.34", "3.4.30", "1.3.13"; or NULL. */
	const char *glibc, *glibcxx, *cxxabi;
	const char *build_id; /* hex; or NULL */
	bool stripped;        /* it has no .symtab */
	bool debug;           /* it has .debug_info */
	bool cxx11_abi,
		old_abi; /* undefined torch symbols use std::__cxx11::; the older std::string */
};

/*
 * elf_read -- reads a shared object in memory.
 *
 *   in      name: what diagnostics call it
 *   errors  SB0810, NULL: not ELF, cut short, not 64 bit little endian
 *   memory  lives in a; borrows nothing from bytes
 *   source  System V ABI; gABI chapter 4 and 5; LSB symbol versioning
 */
const struct elf *elf_read(struct arena *a, struct diags *ds, const char *name, const void *bytes,
			   size_t n);

/* Returns the major version of CUDA in the names of needed libraries; 0: in none. Source: sonames
 * of the libraries in PyPI: nvidia-cuda-runtime-cu11, -cu12, nvidia-cublas-cu12 and others. */
unsigned elf_cuda_major(const struct elf *e);

/* --- GPU code --- */

struct gpu_code {
	bool ptx;      /* otherwise SASS (cubin) */
	unsigned arch; /* 90 */
	char suffix;   /* 'a', 'f' or '\0': sm_90a */
	size_t size;   /* bytes in the file, as stored */
	bool compressed;
	bool relocatable; /* from __nv_relfatbin: input of a device link, which no GPU runs */
};
struct gpu_codes LIST(struct gpu_code);

/*
 * gpu_codes_read -- reads the entries in the .nv_fatbin and __nv_relfatbin sections of a shared
 * object, an object or a program.
 *
 *   out     false and an empty list for invalid code; true and an empty list without GPU code
 *   errors  SB0811: a header that does not match its section
 *   source  fatbinary_section.h and fatbinary.h of the CUDA toolkit; compared with cuobjdump
 */
bool gpu_codes_read(struct arena *a, struct diags *ds, const char *name, const void *bytes,
		    size_t n, struct gpu_codes *out);

/* Returns the name of a code: "sm_90a" or "compute_90". */
const char *gpu_code_name(struct arena *a, const struct gpu_code *c);

/* --- wheels --- */

struct wheel_object { /* a shared object in a wheel */
	const char *path;
	size_t size;
	const struct elf *elf;
	struct gpu_codes codes;
};
struct wheel_objects LIST(struct wheel_object);

struct wheel_member {
	const char *path;
	uint64_t size, packed; /* bytes, unpacked and packed */
};
struct wheel_members LIST(struct wheel_member);

struct wheel {                      /* struct wheel_file is the name of a wheel: python/python.h */
	const char *name, *version; /* from METADATA */
	const char *build;          /* or NULL */
	struct names tags;          /* tags of the file name: "cp311-cp311-linux_x86_64" */
	struct names
		findings; /* differences between WHEEL, METADATA and the file name, as sentences */
	struct names requires; /* Requires-Dist */
	struct wheel_objects objects;
	const char *metadata;         /* the text of METADATA */
	struct wheel_members members; /* every file, without directories */
	const char *sha256; /* digest of the whole file in hex; NULL: only parts were read */
	uint64_t size;
};

/*
 * wheel_read -- reads a whole wheel, and compares every file with RECORD.
 *
 *   in      path; lenient: WHEEL and the file name may have different tags, as in torch's wheels,
 *           and METADATA may lack the file name's local version
 *   errors  SB0100, NULL: reading failed; the wheel may be valid
 *           SB0812, NULL: not a zip, cut short, two entries of one name, names outside the
 *           directory, local and central headers that disagree; a file that is not in RECORD, is
 *           missing or has another digest; a file name that the metadata contradicts; more than
 *           WHEEL_MAX bytes unpacked, or than 24 MiB and WHEEL_RATIO_MAX times its size (CUDA
 *           objects compress to a third or a tenth; zeros to a thousandth)
 *   memory  lives in a; shared objects are read and released one at a time
 *   source  PEP 427, PEP 376 RECORD, PEP 425; core metadata; CVE-2025-54368 for the headers
 */
enum { WHEEL_FILES_MAX = 100000, WHEEL_RATIO_MAX = 24 };
#define WHEEL_MAX ((size_t)8 << 30)
const struct wheel *wheel_read(struct arena *a, struct diags *ds, const char *path, bool lenient);

/* Reads n bytes at `at` of a remote file; false: ctx has the reason. */
typedef bool wheel_bytes(void *ctx, uint64_t at, void *to, size_t n);

/* A wheel that is read in parts. */
struct wheel_source {
	const char *name; /* its file name */
	uint64_t size;    /* bytes */
	wheel_bytes *read;
	void (*expect)(void *ctx, uint64_t at,
		       uint64_t n); /* announces n bytes that will be read in order; or NULL */
	void *ctx;
};

/*
 * wheel_metadata_text -- returns METADATA of a wheel; reads only its end and that member.
 *
 *   errors  SB0812, NULL: no zip, or no METADATA of at most METADATA_MAX bytes. Also after a
 *           failure of `read`, whose reason the caller has
 *   memory  lives in a
 */
const char *wheel_metadata_text(struct arena *a, struct diags *ds, const struct wheel_source *s);

/*
 * wheel_read_parts -- reads only the directory, METADATA, WHEEL and RECORD of a wheel.
 *
 *   out     objects is empty and sha256 NULL; RECORD lists every member with its size
 *   errors as in wheel_read
 */
const struct wheel *wheel_read_parts(struct arena *a, struct diags *ds,
				     const struct wheel_source *s);

/*
 * wheel_member_read -- lets `reader` read a member.
 *
 *   in      announce: called with its sizes in the wheel and unpacked, before its bytes are read
 *   out     the reader's result
 *   errors  SB0812: none of that name, with the nearest name; SB0100: no room for a large one; those of
 *           the reader; false
 *   memory  the bytes live until the reader returns
 */
typedef bool member_reader(void *ctx, struct diags *ds, const char *name, const void *bytes,
			   size_t n);
bool wheel_member_read(struct arena *a, struct diags *ds, const struct wheel_source *s,
		       const char *member,
		       void (*announce)(const char *member, uint64_t packed, uint64_t size),
		       member_reader *reader, void *ctx);

/*
 * wheel_relabel -- writes a wheel again under a version with a local label.
 *
 *   in      path: of a wheel that wheel_read accepts; dir: created
 *   out     the name of the new file in dir, *sha256 of the new file. The label follows an existing
 *           local part of the version; all other files stay unchanged
 *   errors  SB0812, SB0100, SB0406, NULL; SB0812 also for a wheel of more than 4 GiB
 *   source  PEP 427, PEP 440 (local version identifiers)
 */
struct wheel_label {
	const char *local;    /* "torch2.11cu130cxx11abitrue": lower case, digits, dots */
	const char *requires; /* an additional Requires-Dist: "torch==2.11.0" */
};
const char *wheel_relabel(struct arena *a, struct diags *ds, const char *path,
			  const struct wheel_label *label, const char *dir, const char **sha256);

/*
 * torch_symbol_releases -- says which torch releases on PyPI have a symbol: "built for torch 2.3 or
 * later".
 *
 *   out     NULL: the table of symbols does not have it
 *   memory  lives in a
 *   source  src/inspect/torch_symbols.txt, which ci/torch-symbols writes
 */
const char *torch_symbol_releases(struct arena *a, const char *symbol);

#endif

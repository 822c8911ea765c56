#ifndef CUDA_H
#define CUDA_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/list.h"

/*
 * Numbers and names of NVIDIA's platform: compute capabilities, CUDA releases, and the tags of
 * torch's builds. Texts in, texts out; this layer contains no list of versions or GPUs.
 */

/* --- compute capabilities --- */

struct capability {
	unsigned major, minor;
	char variant; /* 'a' (this GPU only), 'f' (its family), or 0 */
	bool ptx;     /* PTX, which the driver compiles for newer GPUs */
};

/*
 * Reads a compute capability in any of its spellings:
 *
 *     capability = major "." minor variant? "+PTX"?      TORCH_CUDA_ARCH_LIST
 *                | ("sm_" | "compute_")? major minor variant?     nvcc; minor is one digit
 *
 * Returns false for anything else.  `compute_` means PTX.
 */
bool capability_parse(const char *text, struct capability *out);

/* Returns "8.0", "9.0a", "8.9+PTX". */
const char *capability_text(struct arena *a, const struct capability *c);

/* Returns the number that nvcc's options use, "8.0" -> "80", "9.0a" -> "90a", without PTX;
 * a text that is not a capability is returned unchanged. */
const char *capability_nvcc(struct arena *a, const char *text);

/* Returns <0, 0 or >0: by number, then variant, then PTX.  Texts that are no capability come first. */
int capability_order(const char *x, const char *y);

/* Returns true if the GPU can run one of `codes` (SASS): the same major, and no newer minor. */
bool capability_runs(const struct names *codes, const char *gpu);

/* Returns true if PTX for `ptx` (or NULL) can be compiled for the GPU. */
bool capability_ptx_runs(const char *ptx, const char *gpu);

/* --- CUDA releases, and tags of torch's builds --- */

/* Returns the CUDA series of a tag of two or three digits: "cu121" -> "12.1"; otherwise NULL. */
const char *cuda_of_tag(struct arena *a, const char *tag);

/* Returns the tag for a CUDA release or series: "12.1.0" -> "cu121". */
const char *cuda_tag(struct arena *a, const char *version);

/* Returns the series in the form of NVIDIA's Debian packages: "12.1.0" -> "12-1". */
const char *cuda_dashed(struct arena *a, const char *version);

/* Returns the CUDA major of a wheel's tag, which may be a series ("cu122") or only a major
 * ("cu12"); 0 for another text. */
unsigned cuda_major_of_tag(const char *tag);

/* Returns true for the tags that torch's index uses: cuNN, cuNNN, rocmN[.N[.N]], cpu, xpu. */
bool cuda_tag_valid(const char *tag);

#endif

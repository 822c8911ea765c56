#ifndef FACTS_H
#define FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "parameter.h"
#include "python/python.h"
#include "signature.h"
#include "user.h"

/*
 * The knowledge base: knowledge/ (YAML, one file for each subject, a source for every claim) is
 * compiled into the program; --knowledge DIR overrides and extends it.  This layer answers
 * questions and decides nothing.  An unknown value is NULL, 0 or TRI_UNKNOWN, never a guess.  Every
 * answer carries `source` for diag_source(): the file, the line, and the origin of the claim.
 */
struct facts;
struct claim;

enum tri { TRI_UNKNOWN, TRI_NO, TRI_YES };

/*
 * facts_load -- returns the built-in knowledge, merged with the files of `overlay`.
 *
 *   in      overlay: a directory of knowledge files (any subset), or NULL
 *   errors  SB02xx, SB01xx with a place in the overlay's file; NULL
 *   memory  lives in a; entries are read when they are first needed
 */
const struct facts *facts_load(struct arena *a, struct diags *ds, const char *overlay);

/* Returns the day of the newest claim, "2026-11-20", which --version prints. */
const char *facts_date(const struct facts *f);

/* Parses each text once for all cells of a matrix; the result lives as long as the knowledge. */
const struct version *facts_version(const struct facts *f, const char *text);
const struct specifiers *facts_specifiers(const struct facts *f, const char *text);
const struct requirement *facts_requirement(const struct facts *f, const char *text);

/* --- torch --- */

struct torch_variant {
	const char *tag;           /* "cu121", "cpu" */
	bool on_index;             /* PyTorch's index has it; otherwise only PyPI */
	const char *cuda;          /* "12.1", as published; NULL for cpu and rocm */
	const char *cudnn;         /* or NULL */
	const char *cuda_bindings; /* requirement of PyPI's build only, "cuda-bindings==13.0.3" */
	enum tri cxx11abi;
	const char *glibc_min; /* "2.17", "2.28"; or NULL */
	struct names archs;    /* compute capabilities with SASS: "5.0" ... "9.0"; empty: unknown */
	bool archs_inferred;   /* only the first entry was read from the wheel */
	const char *ptx;       /* "12.0" if it carries PTX for that, or NULL */
	struct names archs_aarch64; /* architectures of the aarch64 build; empty: unknown */
	bool on_pypi;               /* the default build that PyPI carries */
	const char *source;
};

struct torch_release {
	const char *version;
	struct names pythons;        /* series with a wheel, "3.8" ...; empty: unknown */
	const char *requires_python; /* specifier or NULL */
	const struct torch_variant *variants;
	size_t nvariants;
	const char *torchvision, *torchaudio; /* the pair, or NULL */
	const char *triton;                   /* requirement, "triton==2.2.0", or NULL */
	const char *triton_marker;            /* its marker, python_version < "3.12"; or NULL */
	const char *setuptools, *setuptools_build; /* for run time; for cpp_extension; or NULL */
	enum tri numpy2;                           /* works with numpy 2 */
	const char *cuda_toolkit; /* version that its PyPI wheel pins ("13.0.2"), or NULL */
	const char *cxx_std;      /* minimum C++ standard of its headers, "c++17", or NULL */
	long day;                 /* date of its release, as a number; 0: unknown */
	const char *source;
};

/* Returns all known releases, oldest first. */
const struct torch_release *const *facts_torch_all(const struct facts *f, size_t *n);
/* Returns a release, or NULL if it is unknown. `version`: the public part, normalised or not. */
const struct torch_release *facts_torch(const struct facts *f, const char *version);
const struct torch_variant *torch_variant(const struct torch_release *t, const char *tag);
const struct torch_variant *torch_variant_on_pypi(const struct torch_release *t);
/* Values that a release accepts in TORCH_CUDA_ARCH_LIST: capabilities, and names for some. */
struct torch_arch_list {
	struct names archs;   /* "3.5" ... "9.0a"; each also with +PTX */
	struct names named;   /* "Ampere", which torch replaces as text, in this order, by ... */
	struct names meaning; /* ... "8.0;8.6+PTX" */
	const char *source;
};
/* Fills in the list; false if that release is unknown. */
bool facts_torch_arch_list(const struct facts *f, struct arena *a, const char *version,
			   struct torch_arch_list *out);
/* Returns the variable that sets nvcc for builds with ninja, "PYTORCH_NVCC", or NULL. */
const char *facts_torch_nvcc_env(const struct facts *f, const char *version);
/* Returns the index of a build: https://download.pytorch.org/whl/cu121 for the tag "cu121". */
const char *facts_torch_index(const struct facts *f, struct arena *a, const char *tag);
/* Returns the releases of NVIDIA's package that a build requires, "==9.1.0.70"; NULL: unknown. */
const char *facts_torch_nvidia(const struct facts *f, const char *version, const char *build,
			       const char *package, const char **source);

/* The compilers that a release accepts: cuda "12.4", gcc ">=6.0.0, <14.0"; none: any, or unknown. */
struct torch_compiler {
	const char *cuda, *gcc, *source;
};
struct torch_compilers LIST(struct torch_compiler);
struct torch_compilers facts_torch_compilers(const struct facts *f, const char *version);

/* --- CUDA --- */

struct cuda_toolkit {
	const char *version;       /* "12.1.1" */
	const char *driver_min;    /* minimum Linux driver; or NULL */
	const char *driver_compat; /* minimum driver with minor-version compatibility, or NULL */
	unsigned gcc_min, gcc_max; /* major versions; 0: unknown */
	struct names archs;        /* capabilities for which its ptxas makes SASS, "5.0" ... */
	struct names image_os;     /* OS ids with a devel image, "ubuntu22.04"; empty: unknown */
	bool wheels;               /* PyPI has wheels of nvcc */
	const char *wheels_pin;    /* "cuda-toolkit[nvcc,nvvm,crt,cccl,cudart,profiler]==13.0.2" */
	const char *source;
};

const struct cuda_toolkit *const *facts_cuda_all(const struct facts *f, size_t *n);
/* Returns the release "12.1.1", or the newest of the series "12.1"; else NULL. */
const struct cuda_toolkit *facts_cuda(const struct facts *f, const char *version);
/* Returns the reason why a version never existed ("12.7"), or NULL. */
const char *facts_cuda_impossible(const struct facts *f, const char *version);
/* Returns whether the image `repository:tag` can exist. For TRI_NO, *why has the fact: no `latest`,
 * a dropped OS, or a release that never existed. */
enum tri facts_image(const struct facts *f, struct arena *a, const char *repository,
		     const char *tag, const char **why, const char **source);
/* Returns "nvidia/cuda:12.1.1-devel-ubuntu22.04" for a toolkit, flavour and OS. */
const char *facts_image_tag(const struct facts *f, struct arena *a, const struct cuda_toolkit *t,
			    const char *flavour, const char *os);

/* --- GPUs --- */

struct gpu {
	const char *name; /* "A100 80GB", as NVIDIA writes it */
	const char *id;   /* "a100-80gb", as a recipe may write it */
	const char *cc;   /* "8.0" */
	const char *arch; /* "Ampere" */
	struct names aliases;
	unsigned memory_gb; /* 0: unknown */
	const char *source;
};

/* Finds a GPU by any spelling: "RTX 4090", "4090", nvidia-smi's "NVIDIA H100 80GB HBM3". */
const struct gpu *facts_gpu(const struct facts *f, const char *name);
struct names facts_gpu_names(const struct facts *f, struct arena *a);
/* Returns the compute capability "9.0" for "9.0" or "sm_90"; NULL: unknown. */
const char *facts_cc(const struct facts *f, const char *text);

struct modal_gpu {
	const char *name; /* "A100-80GB" */
	struct names ccs; /* usually one */
	unsigned count_max;
	unsigned memory_gb;  /* 0: unknown */
	double usd_per_hour; /* 0: unknown */
	unsigned size_rank;  /* ascending with the size */
	const char *source;
};

const struct modal_gpu *facts_modal_gpus(const struct facts *f, size_t *n);
/* Finds a GPU by its name in any case, without the count. */
const struct modal_gpu *facts_modal_gpu(const struct facts *f, const char *name);

struct modal_limits {
	unsigned timeout_min_s, timeout_max_s;
	unsigned scaledown_min_s, scaledown_max_s;
	const char *builder_default; /* "2025.06" */
	struct names builders;
	const char *source;
};

const struct modal_limits *facts_modal(const struct facts *f);
/* Returns the Python series that add_python supports with that builder; empty: unknown builder. */
struct names facts_modal_pythons(const struct facts *f, const char *builder);
/* Returns the first client with that builder ("1.6.3"); NULL: every client has it. */
const char *facts_modal_builder_client(const struct facts *f, const char *builder);
/* Returns the first client that rejects images with that Python ("1.7.0"), or NULL. */
const char *facts_modal_python_end(const struct facts *f, const char *series, const char **source);

/* --- operating systems --- */

struct os_release {
	const char *id;          /* "ubuntu22.04", "debian12": as in image tags */
	const char *python;      /* its own series, "3.10" */
	struct names python_apt; /* its packages: interpreter, venv, headers */
	const char *gcc, *glibc; /* "11.4", "2.35" */
	bool deadsnakes;         /* the deadsnakes archive serves it */
	bool dnf;                /* dnf installs its packages; otherwise apt, or neither */
	bool musl;               /* its C library is musl, not glibc */
	const char *source;
};

const struct os_release *facts_os(const struct facts *f, const char *id);
const struct os_release *facts_os_all(const struct facts *f, size_t *n);
/* Returns the last day of security updates, "2027-04-01", of a system or Python; or NULL. */
const char *facts_end(const struct facts *f, const char *table, const char *of);
/* Returns dnf's names for a package of Debian: "build-essential" has several. */
struct names facts_dnf_names(const struct facts *f, const char *package);
/*
 * The parts of an image's name, and the facts of bases.yaml about its repository:
 * "nvidia/cuda:12.1.0-devel-ubuntu22.04" gives cuda "12.1.0", flavour "devel", os "ubuntu22.04";
 * "debian:12-slim" and "python:3.11-slim-bookworm" give os "debian12" (the latter python "3.11"). A
 * member is NULL if neither the name nor bases.yaml gives its value.
 */
struct image_name {
	const char *repository, *tag, *digest; /* as written; tag, digest may be NULL */
	const char *cuda, *flavour, *os, *python, *torch;
	bool cudnn;
	bool moves;              /* the publisher will move the tag to another system than `os` */
	bool own_torch;          /* torch is a vendor's build of a pre-release */
	const char *constraints; /* constraints file that the image sets for pip; or NULL */
	const char *numpy;       /* specifier of the numpy for its torch, or NULL */
	const char *source; /* source of the facts about its torch or repository; NULL: unknown */
};
struct image_name facts_image_name(const struct facts *f, const char *image);

/* --- Python builds other than the OS's --- */

struct python_build {
	const char *series;       /* "3.11" */
	const char *version;      /* "3.11.5"; NULL: uv decides */
	const char *url, *sha256; /* NULL: unknown */
	const char *uv;           /* pinned uv release that installs it without a url, or NULL */
	const char *source;
};

/* Returns the standalone build of a series for a machine: Modal's, otherwise uv's; or NULL. */
const struct python_build *facts_standalone_python(const struct facts *f, const char *series,
						   const char *machine);
/* Returns the series of CPython in the knowledge base. */
struct names facts_python_series(const struct facts *f);

/* --- extensions --- */

/* The build of one release of an extension package. */
struct extension_release {
	const char *name, *version;  /* name: normalised */
	const char *file_version;    /* version in its file names, if it differs; or NULL */
	bool on_pypi, every_commit;  /* its facts hold for each commit that is no release */
	enum tri sdist_buildable;    /* its sdist on PyPI compiles */
	const char *sdist_why;       /* why not, or NULL */
	enum tri isolated;           /* pip can build it without torch */
	const char *git_tag;         /* "v1.4.0"; NULL: no tag known */
	const char *git;             /* its repository, if not that of the extension; or NULL */
	struct names more_tags;      /* tags of later commits that carry the same version */
	struct names build_requires; /* besides torch: "packaging", "ninja", "wheel" */
	struct names run_requires;   /* ordinary packages for run time, in order, without torch */
	bool run_known;              /* true: run_requires is complete, even if empty */
	struct names extras;         /* "causal-conv1d" */
	struct names extra_requires; /* requirements of each extra, separated by blanks */
	bool extras_known;           /* true: extras is complete, even if empty */
	struct names archs;      /* hard-coded capabilities, "8.0" ...; empty: none, or unknown */
	struct names archs_nvcc; /* the nvcc for each one, ">=12.8"; "": any */
	enum tri honours_arch_list; /* TORCH_CUDA_ARCH_LIST */
	const char *arch_env; /* its own variable, "FLASH_ATTN_CUDA_ARCHS" ("80;90"), or NULL */
	bool arch_env_dots;   /* its format is "8.0;9.0" */
	const char *requires_python, *cxx_std; /* cxx_std: the -std= that it passes; or NULL */
	const char *torch_tried; /* newest series of torch that it was compiled with, "2.13" */
	long day;                /* day of its release, in months of 31 days; 0: unknown */
	const char *source;
};

/* The content of the PyPI project with the extension's name. */
enum on_pypi {
	PYPI_UNKNOWN,
	PYPI_SDIST, /* the extension's source, and perhaps wheels */
	PYPI_WHEEL, /* only wheels of the extension */
	PYPI_OTHER, /* another project */
	PYPI_NONE,  /* no project */
};

/* Facts that hold for every version of a package. */
struct extension {
	const char *name; /* normalised, as in its wheels */
	enum on_pypi pypi;
	const char *git;             /* https://github.com/...; NULL: unknown */
	const char *subdirectory;    /* directory of setup.py in the git checkout; or NULL */
	const char *force_build_env; /* variable to set to exactly TRUE; or NULL */
	struct names extra_env;      /* more variables to set, "FORCE_CUDA=1" */
	struct names imports;        /* modules, "causal_conv1d", "causal_conv1d_cuda" */
	struct names probes;         /* probes of templates/verify/numbers.py: "causal_conv1d" */
	struct names after;      /* extensions that are built before it, if the recipe has both */
	bool submodules;         /* the git checkout needs its submodules */
	bool triton_at_run_time; /* compiles at run time: gcc, libc headers, Python's headers */
	bool jit_at_run_time;    /* compiles CUDA code at run time: needs nvcc, ninja, g++ */
	bool jit_needed;         /* needs that code for everything */
	struct names jit_unless; /* variables that compile it at build time, "DS_BUILD_OPS=1" */
	struct names jit_unless_with; /* packages with its compiled kernels */
	const char *needs_cudnn;  /* compiles against the headers of that cuDNN, "9.3"; or NULL */
	enum tri cpu;             /* works with a CPU build of torch; TRI_YES: without extra_env */
	unsigned mem_mib_per_job; /* peak memory of a compile job for one GPU; 0: unknown */
	unsigned nvcc_threads;    /* GPUs for which nvcc compiles in parallel; 0: unknown */
	const struct extension_release *releases; /* oldest first */
	size_t nreleases;
	struct extension_release any; /* facts about releases that are not listed; version: NULL */
	const char *source;
};

/* Returns the extension of that name or alias, or NULL. */
const struct extension *facts_extension(const struct facts *f, const char *name);
struct names facts_extension_names(const struct facts *f);
/* Returns true if the file of an extension has `field: value` for all releases. */
bool facts_extension_says(const struct facts *f, const char *name, const char *field,
			  const char *value);
/* Finds a release by version ("1.4.0") or any git tag ("v1.4.0"); NULL: unknown. */
const struct extension_release *extension_release(const struct extension *e, const char *version);
/* Finds the release whose facts hold for the other commits of the repository `git`; or NULL. */
const struct extension_release *extension_commit(const struct extension *e, const char *git);
/* Returns true if the tag of a release is in the repository `git`; NULL: that of the extension. */
bool extension_has(const struct extension *e, const struct extension_release *r, const char *git);

/*
 * Returns true if pip can install it as an ordinary package, from a wheel of PyPI or compiled
 * without torch. r: NULL for an unknown release; name: the normalised name in the requirement.
 */
bool extension_is_package(const struct extension *e, const struct extension_release *r,
			  const char *name);

/*
 * facts_extension_wheel -- returns the project's own prebuilt wheel of a release.
 *
 *   in      want: versions that it must match; machine as "x86_64"
 *   out     its URL, or NULL and *why; *source: source of the project's list of wheels, some of
 *           which may be missing on the server
 */
struct wheel_wanted {
	const char *torch, *cuda, *python, *machine;
	enum tri cxx11abi;
	const char *glibc; /* version in the image, "2.35"; NULL: unknown */
};
const char *facts_extension_wheel(const struct facts *f, struct arena *a,
				  const struct extension_release *r,
				  const struct wheel_wanted *want, const char **why,
				  const char **source);

/* One line of a release's list of prebuilt wheels: each torch with each CUDA and Python. */
struct wheel_row {
	struct names torch, cuda, pythons; /* "2.2"; "cu122", "cu12"; "3.11" */
	bool abi_old, abi_new, nightly;    /* nightly: built against one of that torch */
	const char *lost; /* a function that it calls and that the release lacks; or NULL */
};
struct wheel_list {
	const struct wheel_row *rows;
	size_t n;
	const char *never;     /* why no wheel exists for this stack, or NULL */
	bool x86_64_only;      /* its setup.py has wheels only for x86-64 */
	const char *glibc_min; /* "2.32", or NULL */
	const char *source;
};
/* Returns the wheels from which facts_extension_wheel() chooses. */
struct wheel_list facts_extension_wheels(const struct facts *f, struct arena *a,
					 const struct extension_release *r);

/* One condition between two packages. */
struct pairing {
	const char *name, *spec;   /* this package in these versions */
	const char *other, *needs; /* needs the other one in these */
	bool optional;             /* only if the stack has the other package */
	bool inferred;             /* inferred, not read: the pair may still work */
	const char *why, *source;
};
const struct pairing *facts_pairings(const struct facts *f, const char *name, size_t *n);
/* Returns true if a package that is not an extension is on either side of a pairing. */
bool facts_paired(const struct facts *f, const char *name);

/* Ordinary packages. Returns true if no requirement of any release matters; name: normalised. */
bool facts_package_independent(const struct facts *f, const char *name);
/* A release as the package index has it. */
struct package_release {
	const char *version;
	const struct version *v;
	const char *requires_python; /* or NULL */
	const char *yanked;          /* the reason of its withdrawal, or "true"; or NULL */
	struct names wheels;   /* tags for Linux with glibc, "cp311-cp311-manylinux_2_17_x86_64" */
	struct names requires; /* requirements, with markers and the tracked ones of extras */
	bool wheels_known, requires_known, sdist; /* was read: wheels, METADATA; has sdist */
	const char *source_name, *source; /* of requires, if not METADATA: from its file's table */
	const char *read; /* day of its index page and METADATA, or NULL: `requires` are hints */
	bool read_alone;  /* the release states `read` itself; otherwise its file does */
	long day;         /* day of its upload, in months of 31 days; 0: unknown */
	const struct claim *claim;
};
/* An ordinary package, or an extension that is also on the index. */
struct python_package {
	const char *name, *source, *read;       /* name: normalised; read: day of its file */
	const struct package_release *releases; /* oldest first */
	size_t n;                               /* 0: the knowledge base lists no release */
	bool partial, sample; /* not from the index; the index has many other releases */
};
/* Return a package, the names of all packages, and a release; NULL: not in the knowledge base. */
const struct python_package *facts_package(const struct facts *f, const char *name);
struct names facts_package_names(const struct facts *f);
const struct package_release *package_release(const struct python_package *p,
					      const struct version *v);
/* The nearest releases whose METADATA was read; both are the release itself if its own was read. */
struct package_span {
	const struct package_release *older, *newer; /* both NULL if one of them is unknown */
};
struct package_span package_span(const struct python_package *p, const struct version *v);
/* Return the source of a release, and of its requirements, for diag_source(). */
const char *package_release_source(const struct facts *f, const struct package_release *r);
const char *package_requires_source(const struct facts *f, const struct package_release *r);
/* Returns true if a version was never published: the index has older and newer ones. */
bool package_lacks(const struct facts *f, const struct python_package *p, const struct version *v);

/* --- compatibility rules: knowledge/rules.yaml, and `rules` in the files of extensions --- */

/*
 * If all conditions of a rule hold, the stack is incompatible (error), or the user gets a warning
 * or note.  The head of knowledge/rules.yaml describes the grammar for authors:
 *
 *     condition  = "present" | "absent" | ["not"] word {" " word} | specifier | quantified
 *     quantified = ("any" | "all") " " specifier         of gpus: compute capabilities
 *     specifier  = PEP 440, in which {VARIABLE} or {VARIABLE.major} stands for a value
 *     sentence   = text with {VARIABLE} or {VARIABLE.major}, of variables in `when`
 */
enum rule_variable {
	VAR_TORCH,      /* release */
	VAR_BUILD,      /* "torch build": cu121, cpu */
	VAR_TORCH_CUDA, /* "torch cuda": the CUDA series of that build */
	VAR_INDEX,      /* "torch index": pypi, where the recipe says so */
	VAR_CUDA,       /* release of the toolkit */
	VAR_NVCC,       /* the same, in stacks that compile something */
	VAR_GCC,        /* version of the C compiler: that of the system, or the one in env: */
	VAR_GLIBC,
	VAR_STD, /* "c++": the standard that torch's headers need, as a number: 17 */
	VAR_OS,
	VAR_PYTHON,
	VAR_MACHINE,
	VAR_DRIVER,
	VAR_GPUS,
	VAR_EXTENSION, /* any extension of the recipe; condition FIELD=VALUE of its file */
	VAR_SOURCE,    /* "source": of that extension: sdist, git, release, url; compiled */
	VAR_ENV,     /* "env NAME": a variable of env:, or of the env: of an extension in `when` */
	VAR_APT,     /* "apt NAME": a package of the system that the recipe installs */
	VAR_FROM,    /* "from NAME": pypi, wheel, index (an extra one), build */
	VAR_LIBRARY, /* "library cudnn", of the image or a package; "library image-cuda" */
	VAR_PACKAGE, /* any other name: an extension or an ordinary package */
};

struct rule_condition {
	enum rule_variable variable;
	const char *name;   /* as written: "torch cuda", "triton"; "X" of "env X" */
	const char *spec;   /* specifier, or NULL */
	struct names words; /* one of these; no spec and no words: it is present */
	bool not ;          /* true if none of the words applies */
	bool absent;        /* the recipe does not name it */
	bool given; /* only the recipe decides it: env, apt, from, library, other gpus, and absent */
	bool all;   /* for gpus: all of them; otherwise any */
	struct rule_reference {
		enum rule_variable variable; /* in the specifier */
		const char *name;            /* NULL: none */
		bool major;
	} reference;
};
struct rule_conditions LIST(struct rule_condition);

struct rule {
	const char *name; /* "triton-gcc" */
	struct rule_conditions when;
	enum severity severity;
	enum code code;                       /* code of that severity */
	const char *sentence, *help, *source; /* help may be NULL */
};

/* Return the number of rules; of one below that number, the normalised name of the package in its first
 * condition that not only the recipe decides, or NULL; and rule `i`, which is read at its first use. */
size_t facts_rule_count(const struct facts *f);
const char *facts_rule_package(const struct facts *f, size_t i);
const struct rule *facts_rule(const struct facts *f, size_t i);

/* --- costs --- */

struct cost {
	double seconds;                     /* without caches, for these architectures and cores */
	unsigned archs, cores, useful_jobs; /* more compile jobs do not help; 0: unknown */
	bool guessed;       /* the knowledge base has no figure for this extension */
	double change_rate; /* changes per day: 1 is daily, 1/365 yearly */
	const char *source;
};
/* Returns the cost of a step. kind: a word of step_kind_words; name: the package, or NULL. */
struct cost facts_cost(const struct facts *f, const char *kind, const char *name);

/*
 * facts_show -- prints an entry of the knowledge base, for `stackbuild facts`.
 *
 *   in      subject: torch, cuda, gpu, extension, os, modal, package, rule, or NULL for the list of
 *           them; name: of the entry, or NULL for the list; more: a release of an extension, a
 *           build of torch, the rest of a GPU's name, or NULL
 *   out     text with sources, or JSON, added to out
 *   errors  SB02xx: it is not in the knowledge base (with the nearest name); false
 */
bool facts_show(const struct facts *f, struct arena *a, struct diags *ds, const char *subject,
		const char *name, const char *more, bool as_json, struct buf *out);

#endif

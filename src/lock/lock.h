#ifndef LOCK_H
#define LOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/diag.h"
#include "base/list.h"
#include "resolve/resolve.h"

/*
 * The lock of a stack: a file `pylock.STACK.toml` next to the recipe (PEP 751, docs/lock.md).  The
 * packages follow the standard; all other data is in [tool.stackbuild].  Reading,
 * comparing and writing a lock is pure; `stackbuild lock` makes one (world_lock.c).
 */

enum {
	LOCK_FORMAT = 1,
	LOCK_MAX = 16 * 1024 * 1024 /* maximum bytes of a lock */
};

enum lock_file_kind { LOCK_WHEEL, LOCK_SDIST, LOCK_ARCHIVE };

struct lock_file {
	enum lock_file_kind kind; /* LOCK_ARCHIVE: the URL of the requirement `name @ URL` */
	const char *url;          /* without user and password */
	const char *sha256;       /* 64 hex digits */
	const char *uploaded;     /* upload time, in TOML's form; or NULL */
	size_t size;              /* bytes; 0: unknown */
};
struct lock_files LIST(struct lock_file);

/* A package that pip installs, except extensions. */
struct lock_package {
	const char *name;    /* normalised */
	const char *version; /* exact, with the local part: "2.2.2+cu121" */
	const char *marker;  /* condition of its installation; NULL: always */
	const char *index;   /* URL of its index; NULL: not recorded */
	struct lock_files files;
	/* The reasons for the package in the lock: the steps with a requirement on it ("torch",
	 * "build", "packages", "app"), and the packages that require it. */
	struct names roots, required_by;
	struct span at;
};
struct lock_packages LIST(struct lock_package);

/* A base image. */
struct lock_image {
	const char
		*name; /* name in the stack, "nvidia/cuda:13.0.3-devel-ubuntu24.04"; NULL: none */
	const char *digest; /* "sha256:...", of the index of platforms or the only image; or NULL */
	const char *platform_digest; /* digest for the stack's platform; NULL: not pinned */
};

/* The source of an extension. */
struct lock_source {
	const char *name;    /* normalised */
	const char *version; /* or NULL: unknown before the build */
	const char *kind;    /* "git", "sdist", "archive" or "wheel", as enum source_kind */
	const char *url;     /* URL of the repository or the file */
	const char *ref;     /* for git: tag or commit in the recipe or the knowledge base */
	const char *commit;  /* for git: 40 hex digits; NULL: not pinned */
	const char *sha256;  /* for a file; NULL: not pinned */
	size_t size;         /* bytes; 0: unknown */
	struct span at;
};
struct lock_sources LIST(struct lock_source);

struct lock {
	const struct source *src;
	const char *stack, *variant, *cell; /* variant and cell may be NULL */
	const char *recipe;                 /* digest of the canonical recipe, "sha256:..." */
	const char *stackbuild, *uv;        /* versions that made the lock */
	const char *knowledge;              /* date of the knowledge base, "2026-11-20" */
	struct names inputs;                /* lock_inputs() of the locked stack */
	struct names unpinned;              /* "base", "git": the parts of `--unpinned` */
	const char *debs;                   /* digest of the system packages in a mirror; or NULL */
	const char *python;                 /* series, "3.12" */
	const char *python_url, *python_sha256; /* file of a standalone build; or NULL */
	struct lock_image base, runtime;
	struct lock_packages packages; /* sorted by name */
	struct lock_sources sources;   /* in compile order */
};

/*
 * lock_path -- returns the path of a recipe's lock.
 *
 *   in      a cell; the recipe must be a file
 *   out     "DIR/pylock.STACK.toml"; for a variant or a cell "pylock.STACK-VARIANT-CELL.toml", with
 *           a dash for each character that PEP 751 does not allow in a name
 *   memory  lives in a
 */
const char *lock_path(struct arena *a, const struct recipe *r);

/*
 * lock_read -- reads a lock file of stackbuild.
 *
 *   out     every URL, digest and version has its form; every package has at least one file with a
 *           digest; no package is a duplicate
 *   errors  SB1000 at the place, NULL: another format, a missing or malformed value, bad TOML, or a
 *           file edited after stackbuild wrote it
 *   memory  lives in a; borrows from src
 */
const struct lock *lock_read(struct arena *a, struct diags *ds, const struct source *src);

/* Reads the packages of any PEP 751 file, such as that of uv.  errors SB1000, false */
bool lock_read_packages(struct arena *a, struct diags *ds, const struct source *src,
			struct lock_packages *out);

/*
 * lock_beside -- reads the lock next to a recipe, even a stale one.
 *
 *   in      again: the command that makes it, "stackbuild lock r.yaml"; needed: the lock must exist
 *   out     *out: NULL: there is none, or after an error
 *   errors  SB1000; SB1002: it is needed and missing; false
 *   memory  lives in a; the diagnostics' source lives in ds->arena
 */
bool lock_beside(struct arena *a, struct diags *ds, const struct recipe *r, const char *again,
		 bool needed, const struct lock **out);

/*
 * lock_current -- does the same for a command that uses the lock of a stack.
 *
 *   errors  those of lock_beside; SB1001: it is stale; false. SB1003, a warning: it does not pin a
 *           part
 */
bool lock_current(struct arena *a, struct diags *ds, const struct stack *s, const char *again,
		  bool needed, const struct lock **out);

/* Adds the warning SB1003 if the lock of a recipe does not pin a part. */
void lock_warn(struct arena *a, struct diags *ds, const struct recipe *r, const struct lock *l,
	       const char *again);

const struct lock_package *lock_package(const struct lock *l, const char *name);
const struct lock_source *lock_source(const struct lock *l, const char *name);

/*
 * lock_steps -- returns, for each package of a lock in its order, the first step whose requirements
 * lead to it and which installs it: "torch", "build", "packages" or "app".
 */
const char *const *lock_steps(struct arena *a, const struct lock *l);

/*
 * lock_apply -- returns a stack with the pins of its lock: base images by digest, git sources by
 * commit, files of extensions by URL and digest, and the Python build.
 *
 *   in      l: current for s, as of lock_current
 *   errors  SB1000: the lock has no package for a requirement, a package that nothing requires, or
 *           neither a pin nor a note in `unpinned` for a part; NULL
 *   memory  lives in a; borrows from s and l
 */
const struct stack *lock_apply(struct arena *a, struct diags *ds, const struct stack *s,
			       const struct lock *l);

/* The first line of a lock of stackbuild, which has a digest of its content. */
extern const char lock_first_line[];

/*
 * lock_content -- returns the digest of a lock's text without the line `content = "..."`; NULL: there
 * is no such line.
 */
const char *lock_content(struct arena *a, const char *text, size_t n);

/* Returns the digest of a lock's file, "sha256:..."; NULL without a lock. */
const char *lock_digest(struct arena *a, const struct lock *l);

/* Writes a lock; equal locks give equal bytes. */
void lock_write(const struct lock *l, struct buf *out);

/* --- the request of a lock --- */

/* A requirement that uv resolves. */
struct lock_want {
	const char *requirement; /* "numpy<2", with its marker */
	const char *key;         /* normalised name */
	const char *index; /* URL of the only index that may serve it; NULL: the default one */
	const char *root;  /* "torch", "build", "packages", "app" */
	struct span at;    /* in the recipe, or line 0 */
};

/* A package without a wheel, whose requirements were read from its source distribution. */
struct described_sdist {
	const char *name, *version; /* the only version that uv may select */
	struct names requires;
	bool guessed; /* nothing pins this version */
};

/* The resolution that a stack needs. */
struct lock_request {
	const char *python;   /* series */
	const char *platform; /* uv's name: "x86_64-manylinux_2_39" */
	const char *index;    /* the recipe's own default index; or NULL */
	const char *newest;   /* latest date of files, "2026-11-20"; NULL: no limit */
	struct lock_wants LIST(struct lock_want) wants;
	struct names constraints;
	/*
	 * Extensions with an sdist on the index, and extensions from other sources. uv does not
	 * read their metadata; their requirements are in `wants`.
	 */
	struct names sdists, elsewhere;
	struct described_sdists LIST(struct described_sdist) described;
};

/*
 * lock_request -- returns the requirements to resolve for the lock of a stack.
 *
 *   memory  lives in a; borrows from s
 */
const struct lock_request *lock_request(struct arena *a, const struct stack *s);

/* Returns the kind of an extension's source, as in struct lock_source. */
const char *lock_source_kind(const struct stack_extension *e);

/*
 * lock_inputs -- returns the inputs of a lock, as lines: "python 3.12", "packages numpy<2",
 * "base nvidia/cuda:...", "extension mamba-ssm git URL v2.3.2".  Edits of the recipe that cannot
 * change the lock, such as those of env: or modal:, do not change the inputs.
 */
struct names lock_inputs(struct arena *a, const struct stack *s);

/*
 * lock_stale -- compares a lock with the current stack.
 *
 *   out     a sentence for each input that differs, "the lock does not have `packages einops`";
 *           none: the lock is current
 *   memory  lives in a
 */
struct names lock_stale(struct arena *a, const struct lock *l, const struct stack *s);

/* --- questions to the sources of a stack --- */

enum question_kind {
	QUESTION_REF,   /* does the git host have the tag of an extension or package? */
	QUESTION_IMAGE, /* does the registry have the tag of an image, for the platform? */
	QUESTION_BUILD, /* does the index of torch list the build? */
	QUESTION_FILE,  /* does the server have the file? */
	QUESTION_KINDS
};
enum question_answer {
	ANSWER_NONE, /* not asked, or the host did not answer */
	ANSWER_YES,
	ANSWER_NO
};

/* A question that only the network answers, and its answer. */
struct question {
	enum question_kind kind;
	const char *of;   /* "causal-conv1d", "the base image", "torch" */
	const char *host; /* "github.com", with its port */
	const char *url;  /* of the repository, index or file; the image as written, or chosen */
	const char *name; /* the tag, or the version of torch; NULL: the source only has to exist */
	const char *tag;  /* the build of torch, "cu121"; NULL: any */
	struct span at;   /* of the name in the recipe */
	bool exact;       /* `at` is exactly the name, so that another one can replace it */
	bool package;     /* an item of packages, which uv reads, too */
	enum question_answer answer;
	const char *why;   /* the reason for ANSWER_NONE, or for ANSWER_NO without names; or NULL */
	struct names near; /* ANSWER_NO: what the source has instead, the nearest first */
	double age_s;      /* age of an answer of the cache; 0: it is new */
};
struct questions LIST(struct question);

/*
 * lock_questions -- returns the questions of a stack: the tags of git repositories and images, torch's
 * build on its index, and files by URL. A digest or a commit needs no tag.
 *
 *   memory  lives in a; borrows the places of the recipe
 */
struct questions lock_questions(struct arena *a, const struct stack *s);

/* --- two locks --- */

/* The differences between two locks. */
struct lock_change {
	const char *name;           /* name of a package or extension, "base", "runtime" */
	const char *before, *after; /* version, commit or digest, shortened; NULL: missing */
	const char *root; /* first step that installs it: "base", "torch", ..., or the extension */
};
struct lock_changes LIST(struct lock_change);

/* Returns the changes, sorted by step; none: both build the same. */
struct lock_changes lock_compare(struct arena *a, const struct lock *before,
				 const struct lock *after);

/* Prints why a package is in the lock, with the chain from a requirement of the recipe; false: it
 * is not in the lock. */
bool lock_why(const struct lock *l, const char *name, struct buf *out);

#endif

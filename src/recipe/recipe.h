#ifndef RECIPE_H
#define RECIPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/list.h"
#include "facts/facts.h"
#include "python/python.h"

/*
 * Reads a recipe file (and the files that it extends) into structs, with the place of every value.
 * Each value has passed its grammar, so later stages need not check for hostile text; whether the
 * stack can work is checked later. Reads only the files of `extends` and `app.requirements`.
 *
 * A `struct text` with s == NULL is not set; defaults are not filled in.
 */

struct texts LIST(struct text);

/* NAME: value, in the order written. */
struct setting {
	struct text name, value;
};
struct settings LIST(struct setting);

enum python_from {
	PYTHON_AUTO,
	PYTHON_OS,
	PYTHON_STANDALONE,
	PYTHON_BASE,
	PYTHON_DEADSNAKES,
	PYTHON_UV
};
enum cuda_from { CUDA_AUTO, CUDA_IMAGE, CUDA_APT, CUDA_WHEELS, CUDA_HOST };
enum torch_from { TORCH_AUTO, TORCH_BASE };
enum extension_from { EXT_AUTO, EXT_GIT, EXT_SDIST, EXT_WHEEL, EXT_RELEASE };
/* PREFER_AUTO: for an extension the recipe's preference, for a recipe the source. */
enum prefer { PREFER_AUTO, PREFER_SOURCE, PREFER_PREBUILT };

/* An ordinary requirement, as text and parsed. */
struct recipe_requirement {
	struct text text;
	const struct requirement *req;
};
struct recipe_requirements LIST(struct recipe_requirement);

/* A GPU as text ("a100-80gb", "9.0") and its compute capability. */
struct recipe_gpu {
	struct text text;
	const char *cc;        /* "8.0" */
	const struct gpu *gpu; /* NULL for a compute capability */
};
struct recipe_gpus LIST(struct recipe_gpu);

struct recipe_extension {
	struct span at;   /* the item */
	struct text name; /* as written */
	const char *key;  /* normalised */
	struct names extras;
	struct text version;   /* exact version, "1.4.0"; NULL: not pinned */
	struct text specifier; /* the text after the name if it is not an exact pin */
	enum extension_from from;
	struct span from_at;
	enum prefer prefer;
	struct span prefer_at;
	struct text git, ref;     /* source of EXT_GIT, with or without `from` */
	struct text subdirectory; /* directory of setup.py in the repository */
	struct text
		branch;  /* branch in `ref` of a repository with known tags; ref is then not set */
	struct text url; /* a wheel or sdist by URL, without its #fragment */
	struct text sha256;
	struct text path;     /* own code: a directory, relative to the recipe's */
	struct texts imports; /* modules that must import */
	struct settings env;  /* for its compile step */
	struct text marker;   /* PEP 508 marker, or NULL */
	struct text written;  /* short form: the whole requirement, verbatim */
};
struct recipe_extensions LIST(struct recipe_extension);

struct recipe_index {
	struct text url, secret; /* secret: name of the build secret with the credentials */
	struct texts packages;   /* for an extra index: the only packages from it */
};
struct recipe_indexes LIST(struct recipe_index);

/* An argument of a call of Modal's client, such as min_containers; knowledge/modal.yaml has its type. */
struct recipe_argument;
struct recipe_arguments LIST(struct recipe_argument);
struct recipe_argument {
	struct text name;
	const char *takes, *since, *source; /* as in struct modal_parameter; NULL: a bucket */
	struct text value;                  /* of an int, float, bool, str, Proxy or Secret */
	struct texts list;                  /* strs */
	struct settings env;                /* env */
	struct recipe_arguments below;      /* of an object: Retries, a schedule, a bucket */
};

enum modal_installer { INSTALLER_PIP, INSTALLER_UV };

/* A class of the application that Modal keeps loaded. */
struct recipe_class {
	struct span at;     /* line 0: none */
	struct text object; /* "serve.py::Model" */
	struct text load;   /* the method that runs once in each container; or not set */
	struct texts call;  /* the methods that callers use */
};

struct recipe_modal {
	struct span at; /* line 0: no `modal` section */
	struct text app, gpu, timeout_s, scaledown_window_s, entrypoint, cpu, memory_mib, builder,
		build;      /* "heavy" */
	struct text client; /* version of the client that deploys */
	enum modal_installer installer;
	struct span installer_at;
	struct settings volumes; /* mount path: volume name */
	struct texts secrets;
	struct texts gpus;    /* all GPUs of a list, in order; `gpu` is the first one */
	struct texts args;    /* of the entry point, if `modal run` has none */
	struct text launcher; /* "torchrun" */
	struct recipe_arguments function, web, concurrent;
	struct recipe_arguments buckets; /* mount path: arguments of CloudBucketMount */
	struct recipe_class class;
};

/* The content of an application's requirements file, and of the files that it includes. */
struct recipe_needs {
	struct recipe_requirements requirements;
	/* Lines without a requirement that can be checked, such as a URL, with the reason. */
	struct recipe_lines LIST(struct recipe_line {
		struct text text;
		const char *why;
	}) lines;
};

struct recipe_app {
	struct span at; /* line 0: no `app` section */
	struct texts copy, command;
	struct texts entrypoint; /* before the command, which only has its default arguments */
	struct text requirements;
	struct names files;  /* the file and those that it includes, if they are read */
	struct texts locals; /* files and directories that its lines name: `-e .`, `./my_ops` */
	const struct recipe_needs *needs; /* NULL: no file, or recipe_options exclude it */
};

struct recipe_runtime {
	struct span at; /* line 0: no `runtime` section */
	struct text base;
	struct texts apt;
};

struct recipe_verify {
	struct text import_timeout_s;
	struct texts modules, probes;
	struct text forbid_fallback; /* "true" or "false" */
};

struct recipe {
	const struct source *src; /* the file named on the command line */
	const char *path;         /* path on the command line; "-" is stdin */
	struct text stack;        /* always set; default: the file's stem */
	const char *variant;      /* or NULL */
	const char *cell;         /* "python-3.10,torch.version-2.2.2", or NULL without a matrix */

	struct text base;
	struct text cuda;
	enum cuda_from cuda_from;
	struct span cuda_from_at;
	struct text python;
	enum python_from python_from;
	struct span python_from_at;
	struct recipe_gpus gpus;
	struct texts apt;
	struct text snapshot; /* of apt */
	struct {
		struct span at; /* place of the key or its value; line 0: no torch */
		struct text version, index;
		enum torch_from from;
		struct span from_at;
		struct recipe_requirements with;
	} torch;
	struct recipe_requirements packages;
	enum prefer prefer;
	struct span prefer_at;
	struct recipe_extensions extensions;
	struct settings env;
	struct recipe_app app;
	struct recipe_runtime runtime;
	struct recipe_modal modal;
	struct recipe_verify verify;
	struct text platform, driver, user, newest;
	struct recipe_index index;    /* url NULL: the default index */
	struct recipe_indexes extras; /* index: extra: */
	struct texts secrets;
	struct texts ignore; /* codes of the recipe, and those of --ignore, without a place */
	struct names files;  /* the recipe's file and those that it extends, by fs_clean() */

	/*
	 * "sha256:" and 64 hex digits of the canonical recipe: one line of JSON, after extends, variant,
	 * cell and --set, with keys sorted, short forms in their long form, lists in their order and
	 * scalars as text.  Two files with the same content have the same digest.
	 */
	const char *digest;
};

/* Options of the command line that change the recipe. */
struct recipe_options {
	const char *path;        /* "-": standard input */
	const char *const *sets; /* "key=value", dotted keys, values read as YAML */
	size_t nsets;
	const char *variant, *cell; /* or NULL */
	struct names ignore;        /* codes, besides those of the recipe */
	bool extends_anywhere;      /* extends: may name files outside the recipe's directory */
	bool application;           /* read the requirements files of `app`, too */
	bool on_disk;               /* `open` also reads the disk, so links are checked */
};

/* The cells of a recipe in matrix order; a single one without a matrix. */
struct recipes {
	const struct recipe *const *at;
	size_t n;
	bool matrix;
	struct names variants; /* names of the recipe's variants */
};

/*
 * recipes_load -- reads a recipe file into structs, one for each cell of its matrix.
 *
 *   errors  SB01xx, NULL: every error found, each at its place
 *   memory  lives in a
 *   source  the schema: recipe/keys.c, printed by recipe_schema
 */
const struct recipes *recipes_load(struct arena *a, struct diags *ds, const struct facts *f,
				   const struct recipe_options *o);

/* The same for files from another source, such as a git revision: `open` returns their texts. */
typedef const struct source *recipe_open(void *ctx, struct arena *a, struct diags *ds,
					 const char *path, struct span at);
const struct recipes *recipes_load_from(struct arena *a, struct diags *ds, const struct facts *f,
					const struct recipe_options *o, recipe_open *open,
					void *ctx);

/*
 * recipe_archive -- parses the file name at the end of a URL: a wheel or an sdist.
 *
 *   in   a URL; its query is ignored, and + may be %2B
 *   out  its normalised name and its version; false if it is neither
 */
bool recipe_archive(struct arena *a, const char *url, const char **name,
		    const struct version **version);

/* Returns the words that run without arguments: the entry point and the command of the application. */
struct texts recipe_command(struct arena *a, const struct recipe *r);
/* Returns the path of a file that a recipe names, from the working directory; path: of the recipe. */
const char *recipe_place(struct arena *a, const char *path, const char *name);
/* Returns the machine of the recipe's platform, as uname -m prints it: "x86_64" or "aarch64". */
const char *recipe_machine(const struct recipe *r);
/* Returns whether `path` of an extension begins with "..", so that it is not in the recipe's directory. */
bool own_code_outside(const char *path);

/* Returns the value of a number such as modal.cpu; 0: not set. */
double recipe_number(struct text t);

/* modal.entrypoint in parts: "train.py", "train.py::main" or "-m package.module". */
struct recipe_entry {
	const char *file;     /* "src/train.py"; of a module: "package/module.py"; or NULL */
	const char *function; /* or NULL */
	const char *module;   /* "package.module" or NULL */
};
struct recipe_entry recipe_entry(struct arena *a, const char *text);

/* Returns whether app.copy copies a file, by itself or in a directory. */
bool recipe_copies(struct arena *a, const struct recipe_app *app, const char *file);
/* Finds an argument by its name, or returns NULL. */
const struct recipe_argument *recipe_argument(const struct recipe_arguments *all, const char *name);
/*
 * Returns the argument of modal.web that names what to serve, FILE.py::NAME, and in *call the call
 * of Modal's client for it: asgi_app, web_server; NULL without modal.web.
 */
const struct recipe_argument *recipe_web_member(const struct recipe_modal *m, const char **call);

/* Returns whether the file of a URL is a wheel; ignores a query or fragment. */
bool recipe_names_wheel(const char *url);

/* Writes the JSON Schema 2020-12 of a recipe file, from the key table. */
void recipe_schema(struct arena *a, const struct facts *f, struct buf *out);
/* Writes the reference of keys in docs/recipe.md (Markdown), from the key table and the knowledge. */
void recipe_reference(struct arena *a, const struct facts *f, struct buf *out);

/*
 * recipe_secret_fits -- checks the value of a secret: that of an index is a netrc.
 *
 *   in      value: never printed
 *   errors  SB0526, false
 */
bool recipe_secret_fits(struct diags *ds, const struct recipe *r, const char *name,
			const char *value);

#endif

#ifndef PYTHON_H
#define PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/list.h"
#include "base/map.h"

/*
 * The packaging standards, with the behaviour of packaging 26 for ASCII: PEP 440 versions and
 * specifiers, PEP 503 names, PEP 508 requirements and markers, PEP 427 wheel file names. Numbers of
 * more than 100 digits, and escapes in the strings of markers, are not valid. Pure: text in, structs
 * out, without packages or indexes. Parsers add no diagnostics: they return NULL with the reason in
 * *why (a short phrase in lower case; may be NULL), so that the caller can add the place.
 */

/* --- versions: PEP 440 --- */

struct version; /* a parsed version; compare with version_cmp */

/* Parses a version; NULL: it is not one. */
const struct version *version_parse(struct arena *a, const char *text);
/* Compares two versions; returns a number below 0, 0, or above 0. */
int version_cmp(const struct version *x, const struct version *y);
/* Return the normalised text; the text without the local part; the local part, "cu121", or NULL. */
const char *version_text(struct arena *a, const struct version *v);
const char *version_public(struct arena *a, const struct version *v);
const char *version_local(struct arena *a, const struct version *v);
/* Returns true for an alpha, beta, candidate or development release. */
bool version_is_prerelease(const struct version *v);
/* Return the count of numbers in the release, and the i-th one (0 past the end): 2.10.1 -> 2, 10,
 * 1. */
size_t version_release_count(const struct version *v);
unsigned long version_release(const struct version *v, size_t i);
/* Returns the first two numbers of a release as text: "12.1.1" -> "12.1", "12" -> "12". */
const char *version_series(struct arena *a, const char *text);
/* Returns true if both have the same series; false if one of them is NULL. */
bool version_same_series(const char *x, const char *y);

/* --- specifiers: PEP 440 --- */

struct specifiers; /* ">=2,<3"; empty matches everything */

/* Parses a list of clauses; NULL: one of them is not valid. */
const struct specifiers *specifiers_parse(struct arena *a, const char *text);
bool specifiers_match(const struct specifiers *s, const struct version *v);
/* Returns the clauses, sorted, each text once; "" for an empty set. */
const char *specifiers_text(struct arena *a, const struct specifiers *s);
/* Returns the version of the only == or === without a wildcard, or NULL. */
const struct version *specifiers_pin(const struct specifiers *s);

/* --- names: PEP 503 --- */

bool name_valid(const char *name);
const char *name_normalize(struct arena *a, const char *name); /* "Foo._bar" -> "foo-bar" */

/* --- requirements and markers: PEP 508 --- */

struct marker;

struct requirement {
	const char *name;              /* as written */
	const char *key;               /* normalised */
	struct names extras;           /* as written, in the order of packaging */
	const struct specifiers *spec; /* never NULL */
	const char *url;               /* "name @ url", or NULL */
	const struct marker *marker;   /* or NULL */
};

/* Parses a requirement; *at (may be NULL) is the byte offset of an error. */
const struct requirement *requirement_parse(struct arena *a, const char *text, const char **why,
					    size_t *at);

/*
 * Returns the next logical line of a requirements file.
 *
 *   in   src: the file, for `at`; *p: the start of the line, in a text that ends with NUL; *number:
 *        the number of that line, 1 for the first call
 *   out  the line without its comment and without blanks at its ends, "" for an empty line; `at` is
 *        the part of it on its first physical line.  *p and *number describe the following line
 */
struct text requirements_line(struct arena *a, const struct source *src, const char **p,
			      uint32_t *number);

/* Options of pip and of requirements files, by their effect on the packages that pip installs and
 * their source. */
enum pip_option {
	PIP_NONE,   /* the word is not an option */
	PIP_QUIET,  /* has no effect on the installed packages */
	PIP_SWITCH, /* takes no value; a recipe cannot express it */
	PIP_NO_ISOLATION,
	PIP_NO_CACHE,
	PIP_SETTING, /* takes a value; a recipe cannot express it */
	PIP_INDEX,
	PIP_EXTRA_INDEX,
	PIP_LINKS,
	PIP_REQUIREMENTS,
	PIP_CONSTRAINTS,
	PIP_EDITABLE,
};

/*
 * Returns the option that a word stands for: "--index-url", "--index-url=https://...", "-i",
 * "-rreq.txt".  *value is the value in the same word, or NULL if the next word is the value
 * (PIP_SETTING and the options after it).
 */
enum pip_option pip_option(struct arena *a, const char *word, const char **value);

/* The environment in which markers are evaluated: PEP 508's names and their values. */
struct marker_env {
	const struct marker_value {
		const char *name, *value;
		const struct version *version; /* the value, parsed; NULL: at each evaluation */
	} * values;
	size_t n;
};

const struct marker *marker_parse(struct arena *a, const char *text);
/* Returns the text of str(Marker(...)); NULL if a value contains both kinds of quotes. */
const char *marker_text(struct arena *a, const struct marker *m);
/*
 * Evaluates a marker into *value. Returns false if it has a variable that env lacks, such as the
 * sets of lock files (extras, dependency_groups), or an invalid comparison (os_name ~= "posix").
 */
bool marker_eval(const struct marker *m, const struct marker_env *env, bool *value);
/*
 * Returns the environment of CPython on linux and `machine` ("x86_64"); extra: "" for none.
 * `series` is a full version, or "3.11", which counts as 3.11.0. It lacks the kernel's names
 * (platform_release, platform_version), which depend on the host.
 */
struct marker_env marker_env_linux(struct arena *a, const char *series, const char *machine,
				   const char *extra);

/* --- wheels: PEP 425, PEP 427 --- */

struct wheel_file {
	const char *name; /* normalised */
	const struct version *version;
	const char *build; /* "1", "2a" or NULL */
	struct names tags; /* each "cp311-cp311-linux_x86_64", sorted */
};

const struct wheel_file *wheel_file_parse(struct arena *a, const char *file_name);
/* The series of CPython that install some wheels: bit N for 3.N; threaded: for 3.Nt. */
struct wheel_pythons {
	uint64_t plain, threaded;
};
/* Adds the series that install wheels with that tag. */
void wheel_pythons_add(struct wheel_pythons *all, const char *tag);
/* Returns true if the set has a series, "3.11" or "3.13t". */
bool wheel_pythons_have(const struct wheel_pythons *all, const char *series);
/* Returns true if linux with glibc on a machine ("x86_64") installs wheels with that tag. */
bool wheel_fits_machine(const char *tag, const char *machine);
/* Returns N of a tag's minimum glibc 2.N; 0: it has none. */
unsigned long wheel_glibc(const char *tag);

/* --- core metadata --- */

enum { METADATA_MAX = 4 * 1024 * 1024 }; /* bytes */
/* Returns the values of a header of METADATA or WHEEL, each on one line. */
struct names metadata_values(struct arena *a, const char *text, const char *field);
/* --- source files --- */

/* The names that a Python file binds at its top level. */
struct python_names {
	struct map bound;   /* each name, also those of a block that may not run, such as `try` */
	struct names names; /* the first ones, in file order */
	bool open; /* there may be others: `import *`, globals(), or the file cannot be parsed */
};

/*
 * python_names -- returns the names that def, class, import and assignment bind in a Python file.  A name
 * in a string, a function, a class or an `if` does not count.
 *
 *   memory  lives in a
 */
struct python_names python_names(struct arena *a, const char *text);

/* --- pages of a package index: PEP 503 and 691 --- */

struct page_file {
	const char *name;   /* file name of a wheel or sdist */
	const char *url;    /* relative to the page */
	const char *sha256; /* 64 hex digits */
};
struct page_files LIST(struct page_file);

/* The contents of index.html and index.json of one directory of an index. */
struct pages {
	struct buf html, json;
};
/* Returns the page of a project; name: normalised. */
struct pages page_project(struct arena *a, const char *name, const struct page_files *files);
/* Returns the page that lists the projects. */
struct pages page_root(struct arena *a, const struct names *projects);
/* Returns a file name for a URL, with escaped `+` and `!`, which are special to S3. */
const char *page_url(struct arena *a, const char *file);

#endif

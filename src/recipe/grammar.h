#ifndef RECIPE_GRAMMAR_H
#define RECIPE_GRAMMAR_H

#include "base/diag.h"
#include "base/str.h"
#include "load.h"

/*
 * One grammar for each kind of value. A grammar takes a text of printable ASCII on one line and
 * returns what is wrong with it, or NULL. A text that passes is used verbatim.
 */
struct complaint {
	enum code code;
	const char *what;    /* goes on after "`key`: ": "`x` is not a version" */
	const char *help;    /* or NULL */
	const char *fix;     /* what was most likely meant, or NULL */
	const char *source;  /* the evidence, or NULL */
	size_t from, length; /* which bytes of the text; length 0: all */
};

typedef const struct complaint *grammar(struct load *l, const char *s);

grammar grammar_stack, grammar_image, grammar_cuda, grammar_python, grammar_gpu, grammar_apt,
	grammar_version, grammar_torch_index, grammar_requirement, grammar_extension_name,
	grammar_extension_version, grammar_git, grammar_ref, grammar_extension_ref, grammar_archive,
	grammar_sha256, grammar_env_name, grammar_env_value, grammar_path, grammar_argument,
	grammar_object, grammar_modal_gpu, grammar_timeout, grammar_scaledown, grammar_entrypoint,
	grammar_cpu, grammar_memory, grammar_builder, grammar_build, grammar_import_timeout,
	grammar_module, grammar_probe, grammar_platform, grammar_driver, grammar_user,
	grammar_index, grammar_package_name, grammar_mount, grammar_requirement_url,
	grammar_variant;

/* A complaint: format and arguments say what. */
struct complaint *complain(struct load *l, enum code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
struct complaint *complain_help(struct complaint *c, const char *help);
/* Help that writes `fix` in place of the value. */
struct complaint *complain_fix(struct complaint *c, const char *fix, const char *help);
/* The same, of a fix that has passed `g`; else it changes nothing. */
struct complaint *complain_try(struct load *l, struct complaint *c, grammar *g, const char *fix);
/* A copy with capitals made small. */
const char *lower_case(struct arena *a, const char *s);
/* Adds "did you mean" if one of `words` is near to `s`, else the list of them. */
struct complaint *complain_words(struct load *l, struct complaint *c, const char *s,
				 struct names words);

/*
 * Defines grammar_NAME: a text of at most `max` bytes that matches a regular expression. If it
 * does not, the complaint is the text, in backticks, and `what`. (A bound such as {0,63} in a
 * pattern would cost a millisecond.)
 */
#define PATTERN_GRAMMAR(name, pattern, max, code, what, help) \
	const struct complaint *grammar_##name(struct load *l, const char *s) \
	{ \
		return strlen(s) <= (max) && str_matches(s, pattern) ? \
			       NULL : \
			       complain_that(l, code, s, what, help); \
	}
/* "`s` what", with help. */
struct complaint *complain_that(struct load *l, enum code code, const char *s, const char *what,
				const char *help);

/* Adds the complaint of a grammar about `value` of the key `path`; true if there is none. */
bool grammar_holds(struct load *l, grammar *g, const char *path, struct text value);

/* Any value: one line of printable ASCII, not longer than `max`. */
bool text_holds(struct load *l, const char *path, struct text value, size_t max);

enum { TEXT_MAX = 4096, VALUE_MAX = 32 * 1024 };

/* Length of the leading run of `s` whose characters all are letters, digits or in `more`. */
size_t run_of(const char *s, const char *more);

/* "git+https://host/x.git@v1" in two; *ref NULL without one; false if it is not git+... */
bool git_split(struct arena *a, const char *url, const char **repository, const char **ref);

/* The requirement as parsed, after grammar_requirement held. */
const struct requirement *requirement_of(struct load *l, const char *s);

/* Names that are branches wherever they are seen. */
bool git_is_branch(const char *s);

#endif

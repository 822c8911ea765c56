#ifndef DIAG_H
#define DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "arena.h"

/*
 * A diagnostic is a message for the user about the text that caused it. Stages add diagnostics and
 * carry on; only main() prints them. A function that returns NULL or false has added at least one
 * error.
 *
 * Wording: lower case, no full stop, backticks round the user's text. The error describes the
 * problem, `because` gives the facts that cause it, and only `help` says what to do.
 */

/* A text that diagnostics can point into. `text` is not NUL-terminated; `path` is for display. */
struct buf;
struct source {
	const char *path;
	const char *text;
	size_t size; /* bytes */
};

/*
 * A run of characters on one line of a source.  Lines and columns count from 1;
 * columns count Unicode code points. A span with line 0 has no place: it means the whole file if
 * src is set, else a flag or the program.
 */
struct span {
	const struct source *src;
	uint32_t line, col, width;
};

#define NOWHERE ((struct span){ 0 })

/* A text value and its place; s is NULL if the text is missing. */
struct text {
	const char *s;
	struct span at;
};

enum severity { SEV_NOTE, SEV_WARNING, SEV_ERROR };

/* Every code, its severity, title and explanation live in one table: codes.def. */
enum code {
#define CODE(name, ...) name,
#include "codes.def"
#undef CODE
	CODE_COUNT
};

struct code_row {
	const char *name, *id;
	enum severity severity;
	const char *title, *cause, *example, *fix;
};

extern const struct code_row code_table[CODE_COUNT];
extern const char *const severity_words[]; /* "note", "warning", "error" */

/*
 * One place of a fix: `replacement` replaces exactly the characters of `at`. A width of 0 inserts
 * before column `col`. A newline is "\n", also in a file with other line ends. Replacing a whole
 * line by "" removes its line end, too.
 */
struct edit {
	struct edit *next;
	struct span at;
	const char *replacement;
};

/* One line under a diagnostic. */
enum note_kind { NOTE_PLACE, NOTE_WHY, NOTE_HELP, NOTE_SOURCE };

struct note {
	struct note *next;
	enum note_kind kind;
	struct span at; /* of NOTE_PLACE */
	const char *text;
	const char *cost; /* cost of a NOTE_HELP, or NULL */
	struct edit *edits,
		**edits_tail; /* edits of a NOTE_HELP; none if only the user can make them */
};

struct diag {
	struct diag *next;
	struct diags *all;
	enum code code;
	bool forced; /* an error that --force turned into a warning */
	struct span at;
	const char *text;
	struct note *notes, **tail;
	struct note *last; /* the note that diag_fix_more and diag_cost extend */
};

/* Diagnostics in the order they were found, and how many of each severity. */
struct diags {
	struct arena *arena; /* owns every message */
	struct diag *head, **tail;
	unsigned errors, warnings;
	bool verbose;     /* diags_print prints all sources, with their details */
	unsigned columns; /* of the terminal, for diags_print; 0: any */
};

/* An empty list: struct diags own = DIAGS(own, a); */
#define DIAGS(list, in) ((struct diags){ .arena = (in), .tail = &(list).head })

/* Removes a diagnostic from its list; `at` is the list's pointer to it. */
void diag_remove(struct diags *ds, struct diag **at);
/* Removes warnings and notes. */
void diags_keep_errors(struct diags *ds);

/* Moves all diagnostics of `from` to `to`; the messages stay in their own arena. */
void diags_append(struct diags *to, struct diags *from);

/* Add a diagnostic.  Returns it so that notes and help can follow; never NULL. */
struct diag *diag_at(struct diags *ds, enum code code, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Returns the severity of its code; a warning if it is forced. */
enum severity diag_severity(const struct diag *d);

/* Turns an error into a warning: the user has seen it and wants to continue. */
void diag_force(struct diag *d);

/* Adds a line under a diagnostic and returns the diagnostic; the macros below call it. */
struct diag *diag_line(struct diag *d, enum note_kind kind, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Adds another place of a conflict. */
#define diag_note(d, ...) diag_line((d), NOTE_PLACE, __VA_ARGS__) /* at, format */

/* Adds one fact of the chain that leads to the error; printed as "because ... and ...". */
#define diag_why(d, ...) diag_line((d), NOTE_WHY, NOWHERE, __VA_ARGS__)

/*
 * Adds the next action, in the imperative: "use cu121". The best help comes first and is printed
 * after `help:`, the alternatives after `or`.
 */
#define diag_help(d, ...) diag_line((d), NOTE_HELP, NOWHERE, __VA_ARGS__)

/*
 * Adds a help that `check --fix` can apply: it replaces the text at `at` by `replacement`. `check
 * --fix` applies the first help of an error, if it has edits. edit_scalar (base/edit.h) writes the
 * text of a scalar, with quotes if YAML needs them.
 */
struct diag *diag_fix(struct diag *d, struct span at, const char *replacement, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Adds one more edit to the fix just added: all of them are applied, or none. */
struct diag *diag_fix_more(struct diag *d, struct span at, const char *replacement);

/* Adds the cost of the help just added, printed after it: "1 layer rebuilds, ~10 min". */
struct diag *diag_cost(struct diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Returns the first help of a diagnostic, or NULL. */
const struct note *diag_first_help(const struct diag *d);

/*
 * Adds the evidence, so that the claim can be checked: "FILE:LINE (ORIGIN, read DATE)", or another text.
 * Of several, diags_print prints only the name of the first one, unless the list is verbose.
 */
struct diag *diag_source(struct diag *d, const char *source); /* NULL: adds nothing */

/*
 * diags_print -- prints every diagnostic, in order, as text.
 *
 *   out     the first line of each is "path:line:col: error[SBnnnn]: message";
 *           at most DIAG_BYTES_MAX bytes, the rest is counted in a last line
 *   errors  false if `out` could not be written
 */
bool diags_print(const struct diags *ds, FILE *out, bool colour);
/*
 * Writes a printed diagnostic in colour.
 *
 *   in   text: its lines; place, code: the lengths of "r.yaml:1:8: " and "error[SB0267]", with which
 *        the first line begins; severity: the escape sequence of its severity, also for carets
 */
void diag_colour(const char *text, size_t place, size_t code, const char *severity,
		 struct buf *out);

/* Writes the unified diff of one file in colour. */
void diff_colour(const char *diff, struct buf *out);

enum { DIAG_BYTES_MAX = 200 * 1000 };

/* --- formats for programs: at most DIAG_BYTES_MAX bytes, with a count of omitted diagnostics
 * --- */

/* Drops later diagnostics with the same text and place, because the cells of a matrix repeat
 * them. */
void diags_fold(struct diags *ds);

/*
 * {"diagnostics": [{"code", "severity", "message", "place": {"file", "line", "column",
 * "width"}, "notes": [{"kind", "text", "place", "cost"}], "fixes": [{"text", "cost", "first",
 * "edits": [{"place", "replacement"}]}]}], "errors", "warnings", "left_out"}
 *
 * fixes: the helps that can be applied; all edits of one belong together, a width of 0
 * inserts.  first: it is the one that `check --fix` takes.
 */
void report_json(const struct diags *ds, struct buf *out);

/* Writes SARIF 2.1.0 (OASIS), one run; columns are Unicode code points. */
void report_sarif(const struct diags *ds, const char *version, struct buf *out);

/* Writes workflow commands of GitHub Actions: ::error file=,line=,col=,title=::message */
void report_github(const struct diags *ds, struct buf *out);

/* --- texts --- */

/* Finds line `n` (from 1) of `src`, without its line end; false past the end. */
bool source_line(const struct source *src, uint32_t n, const char **line, size_t *size);

/* Adds a text that is safe on a terminal: invisible characters and invalid UTF-8 become `?`. */
void diag_inert(const char *text, struct buf *out);

/* Adds a text like diag_inert, but keeps its colours: the escape sequences "ESC [ digits m". */
void diag_inert_coloured(const char *text, struct buf *out);

/* Prints one line on standard error; line breaks in its parts become blanks. */
void diag_tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Returns the text of one line: line breaks become blanks, and credentials in URLs become stars. */
const char *diag_one_line(struct arena *a, const char *text);

/* Returns the first "user:secret" before an "@" in the URLs of a text, and its length, or NULL. */
const char *url_credentials(const char *text, const char *end, size_t *n);

/* Returns the file name at the end of a URL's path, with `%2B` decoded. */
const char *url_file_name(struct arena *a, const char *url);

/* Returns a copy with *** for each secret, such as "user:password" in a URL, a token or the value of
 * `password=` (secret.h); the text itself if there is none. */
const char *mask_credentials(struct arena *a, const char *text);

/* Reports an internal error with its place, and exits with 70. */
#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void bug_at(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif

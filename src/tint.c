#include "tint.h"

#include <string.h>

#include "base/str.h"

#define RED "\033[1;31m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define BOLD "\033[1m"

/* A word stands in colour at the start of a line or of a column, or after "FILE: ". */
static const struct shade {
	enum verb verb;
	const char *word, *colour;
} shades[] = {
	{ VERB_check, "compatible", GREEN },
	{ VERB_check, "no known problem", YELLOW },
	{ VERB_check, "incompatible", RED },
	{ VERB_check, "not checked", YELLOW },
	{ VERB_doctor, "fine", GREEN },
	{ VERB_doctor, "warning", YELLOW },
	{ VERB_doctor, "error", RED },
	{ VERB_engines, "usable", GREEN },
	{ VERB_engines, "no", YELLOW },
	{ VERB_verify, "ok", GREEN },
	{ VERB_verify, "failed", RED },
	{ VERB_verify, "not run", YELLOW },
	{ VERB_diagnose, "fix", GREEN },
	{ VERB_audit, "not checked", YELLOW },
	{ VERB_why, "possible", GREEN },
	{ VERB_why, "not", YELLOW },
	{ VERB_plan, "#", BOLD },
};

/* Returns whether a word can begin at `at`: at the start, or after ": " or two blanks. */
static bool
begins(const char *line, const char *at)
{
	return at == line || (at - line >= 2 && at[-1] == ' ' && (at[-2] == ' ' || at[-2] == ':'));
}

/* Finds the first coloured word of a line of n bytes; NULL: there is none. */
static const struct shade *
find(enum verb verb, const char *line, size_t n, const char **at)
{
	for (const char *p = line; p < line + n; p++)
		for (size_t i = 0; i < COUNT(shades) && begins(line, p); i++) {
			const struct shade *s = &shades[i];
			size_t m = strlen(s->word);

			if (s->verb == verb && m <= (size_t)(line + n - p) &&
			    !memcmp(p, s->word, m) && (p + m == line + n || strchr(" .:,", p[m]))) {
				*at = p;
				return s;
			}
		}
	return NULL;
}

void
tint(enum verb verb, const char *text, struct buf *out)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		const char *at = text;
		const struct shade *s = find(verb, text, n, &at);

		buf_add(out, text, (size_t)(at - text));
		if (s) {
			buf_printf(out, "%s%s\033[0m", s->colour, s->word);
			at += strlen(s->word);
		}
		n += text[n] == '\n';
		buf_add(out, at, (size_t)(text + n - at));
		text += n;
	}
}

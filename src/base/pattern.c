#include "pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "buf.h"

enum { STEPS_MAX = 100 * 1000, HEAP_KIB_MAX = 4096 };

/* A struct pattern is PCRE2's compiled code, whose type has a macro's name. */
struct pattern *
pattern_compile(const char *text)
{
	PCRE2_SIZE at;
	uint32_t groups = 0;
	int why;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, PCRE2_MULTILINE,
					 &why, &at, NULL);

	if (code)
		pcre2_pattern_info(code, PCRE2_INFO_CAPTURECOUNT, &groups);
	if (groups >= PATTERN_GROUPS) {
		pcre2_code_free(code);
		return NULL;
	}
	return (struct pattern *)code;
}

/* Returns the length of a class such as [^]a-z[:digit:]]. */
static size_t
class_length(const char *s)
{
	size_t n = 1;

	n += s[n] == '^';
	n += s[n] == ']';
	for (; s[n] && s[n] != ']'; n++) {
		const char *end = s[n] == '[' && s[n + 1] == ':' ? strstr(s + n, ":]") : NULL;

		if (s[n] == '\\' && s[n + 1])
			n++;
		else if (end)
			n = (size_t)(end - s) + 1;
	}
	return n + (s[n] != '\0');
}

/* Returns the length of the quantifier here, {2,} or *+; 0: none, or one with a fixed maximum. */
static size_t
repetition_length(const char *s)
{
	size_t n = *s == '*' || *s == '+';

	if (*s == '{' && is_digit(s[1])) {
		size_t digits = 1 + strspn(s + 1, "0123456789");
		size_t more = s[digits] == ',' ? 1 + strspn(s + digits + 1, "0123456789") : 0;

		n = more && s[digits + more] == '}' ? digits + more + 1 : 0;
	}
	return n ? n + (s[n] == '?' || s[n] == '+') : 0;
}

/*
 * A callout, `(?C)`, after each repetition counts how often a search continues behind it. PCRE2's own
 * limit starts again at each place of the text.
 */
struct pattern *
pattern_compile_counted(const char *text)
{
	struct arena *scratch = arena_new();
	struct buf b = BUF(scratch);
	struct pattern *p;

	for (size_t n; *text; text += n) {
		size_t repeats;

		n = *text == '\\' && text[1] ? 2 : *text == '[' ? class_length(text) : 1;
		if (*text == '(' && (text[1] == '?' || text[1] == '*'))
			n = 2; /* not a quantifier */
		buf_add(&b, text, n);
		repeats = repetition_length(text + n);
		buf_add(&b, text + n, repeats);
		if (repeats)
			buf_puts(&b, "(?C)");
		n += repeats;
	}
	p = pattern_compile(buf_text(&b));
	arena_free(scratch);
	return p;
}

void
pattern_hasten(struct pattern *p)
{
	/* An error, for example because the system forbids it, leaves the pattern as it is. */
	(void)pcre2_jit_compile((pcre2_code *)p, PCRE2_JIT_COMPLETE);
}

void
pattern_free(struct pattern *p)
{
	pcre2_code_free((pcre2_code *)p);
}

bool
pattern_is_valid(const char *text)
{
	struct pattern *p = pattern_compile(text);

	pattern_free(p);
	return p;
}

struct count {
	unsigned long long steps, max;
};

static int
on_step(pcre2_callout_block *block, void *ctx)
{
	struct count *c = ctx;

	(void)block;
	return ++c->steps > c->max ? PCRE2_ERROR_CALLOUT : 0;
}

bool
pattern_find_within(struct pattern *p, struct str s, struct str groups[PATTERN_GROUPS],
		    unsigned long long *steps)
{
	static pcre2_match_data *match;
	static pcre2_match_context *limits;
	struct count count = { 0, *steps };
	uint32_t options = 0;
	int n;

	if (!match) {
		match = pcre2_match_data_create(PATTERN_GROUPS, NULL);
		limits = pcre2_match_context_create(NULL);
		pcre2_set_match_limit(limits, STEPS_MAX);
		pcre2_set_heap_limit(limits, HEAP_KIB_MAX);
	}
	pcre2_set_callout(limits, on_step, &count);
	do
		n = pcre2_match((const pcre2_code *)p, (PCRE2_SPTR)s.p, s.n, 0, options, match,
				limits);
	while (n == PCRE2_ERROR_JIT_STACKLIMIT && !options && (options = PCRE2_NO_JIT));
	*steps = count.steps;
	for (int i = 0; groups && n > 0 && i < PATTERN_GROUPS; i++) {
		const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(match) + 2 * i;

		groups[i] = i < n && ends[0] != PCRE2_UNSET && ends[1] >= ends[0] ?
				    (struct str){ s.p + ends[0], ends[1] - ends[0] } :
				    (struct str){ NULL, 0 };
	}
	return n > 0;
}

bool
pattern_find(struct pattern *p, struct str s, struct str groups[PATTERN_GROUPS])
{
	unsigned long long steps = ~0ULL;

	return pattern_find_within(p, s, groups, &steps);
}

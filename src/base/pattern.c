#include "pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

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

bool
pattern_find(struct pattern *p, struct str s, struct str groups[PATTERN_GROUPS])
{
	static pcre2_match_data *match;
	static pcre2_match_context *limits;
	int n;

	if (!match) {
		match = pcre2_match_data_create(PATTERN_GROUPS, NULL);
		limits = pcre2_match_context_create(NULL);
		pcre2_set_match_limit(limits, STEPS_MAX);
		pcre2_set_heap_limit(limits, HEAP_KIB_MAX);
	}
	n = pcre2_match((const pcre2_code *)p, (PCRE2_SPTR)s.p, s.n, 0, 0, match, limits);
	for (int i = 0; groups && n > 0 && i < PATTERN_GROUPS; i++) {
		const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(match) + 2 * i;

		groups[i] = i < n && ends[0] != PCRE2_UNSET && ends[1] >= ends[0] ?
				    (struct str){ s.p + ends[0], ends[1] - ends[0] } :
				    (struct str){ NULL, 0 };
	}
	return n > 0;
}

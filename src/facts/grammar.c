#include "schema.h"

#include <string.h>

#include "base/str.h"
#include "python/python.h"

#define LINE "^[^\n\t\r]+$" /* a line of text for users */
#define SERIES "^[0-9]{1,4}[.][0-9]{1,4}t?$"
#define WORD "^[A-Za-z0-9._+!-]+$"
#define PACKAGE "^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$"
#define MODULE "[A-Za-z_][A-Za-z0-9_]*"

static const struct {
	const char *name, *pattern;
	size_t max; /* bytes */
} types[] = {
#define TYPE(type, name, pattern, max) [type] = { name, pattern, max },
#include "types.def"
#undef TYPE
};

pattern_test *fact_is_pattern;

bool
fact_fits(struct arena *a, enum fact_type type, const char *s)
{
	if (strlen(s) > types[type].max || !str_matches(s, types[type].pattern))
		return false;
	switch (type) {
	case F_VERSION: return version_parse(a, s);
	case F_SPEC: return specifiers_parse(a, s);
	case F_REQUIREMENT: return requirement_parse(a, s, NULL, NULL);
	case F_PATTERN: return !fact_is_pattern || fact_is_pattern(s);
	case F_SHA256: return strlen(s) == types[type].max;
	default: return true;
	}
}

const char *
fact_type_name(enum fact_type type)
{
	return types[type].name;
}

#include "schema.h"

#include <string.h>

#include "base/str.h"
#include "python/python.h"

#define LINE "^[^\n\t\r]+$" /* printable, for a person */
#define SERIES "^[0-9]{1,4}[.][0-9]{1,4}t?$"
#define WORD "^[A-Za-z0-9._+!-]+$"
#define PACKAGE "^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$"
#define MODULE "[A-Za-z_][A-Za-z0-9_]*"

static const struct {
	const char *name, *pattern;
	size_t max; /* bytes */
} types[] = {
	[F_TEXT] = { "one line of text", LINE, 1000 },
	[F_BOOL] = { "true or false", "^(true|false)$", 5 },
	[F_UINT] = { "a whole number", "^[0-9]{1,9}$", 9 },
	[F_NUMBER] = { "a number such as 1.4", "^[0-9]{1,9}([.][0-9]{1,9})?$", 19 },
	[F_DATE] = { "a day such as 2026-11-20", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", 10 },
	[F_URL] = { "an https address", "^https://[]!#-&(-;=?-[^_a-~]*$", 500 },
	[F_VERSION] = { "a version such as 2.2.2", LINE, 1000 },
	[F_SPEC] = { "versions such as \">=2.1, <3\"", LINE, 1000 },
	[F_REQUIREMENT] = { "a requirement such as triton==2.2.0", LINE, 1000 },
	[F_NAME] = { "the name of a package", PACKAGE, 1000 },
	[F_SERIES] = { "a series such as 3.11", SERIES, 10 },
	[F_CC] = { "a compute capability such as 9.0", "^[0-9]{1,2}[.][0-9]{1,2}$", 5 },
	[F_TARGET] = { "a compute capability such as 9.0 or 9.0a", "^[0-9]{1,2}[.][0-9]{1,2}[af]?$",
		       6 },
	[F_TAG] = { "a word of letters, digits and . _ - + !", WORD, 100 },
	[F_REPOSITORY] = { "words with slashes between them",
			   "^[A-Za-z0-9]([.]?[A-Za-z0-9_/-])*[.]?$", 200 },
	[F_DRIVER] = { "a driver version such as 525.60.13", "^[0-9]([A-Za-z0-9.]*[0-9])?$", 20 },
	[F_ENV] = { "the name of an environment variable", "^[A-Z_][A-Z0-9_]*$", 99 },
	[F_ENV_SET] = { "NAME=VALUE", "^[A-Z_][A-Z0-9_]*=[A-Za-z0-9._-]+$", 200 },
	[F_MODULE] = { "the name of a Python module", "^" MODULE "([.]" MODULE ")*$", 1000 },
	[F_STD] = { "a standard such as c++17", "^c[+][+][0-9]{2}$", 5 },
	[F_ABI] = { "old or new", "^(old|new)$", 3 },
	[F_SHA256] = { "64 hex digits", "^[0-9a-f]+$", 64 },
	[F_CHANGES] = { "daily, weekly, monthly, quarterly or yearly",
			"^(daily|weekly|monthly|quarterly|yearly)$", 9 },
	[F_PYPI] = { "sdist, wheel, other or none", "^(sdist|wheel|other|none)$", 5 },
	[F_SYMBOL] = { "a mangled C++ name or a part of one", "^[A-Za-z0-9_.]{3,}$", 500 },
	[F_PYTHON] = { "a series such as 3.11", SERIES, 10 },
	[F_OS] = { "a word of letters, digits and . _ - + !", WORD, 100 },
	[F_EXTENSION] = { "the name of a package", PACKAGE, 1000 },
	[F_PACKAGE] = { "the name of a package", PACKAGE, 1000 },
	[F_MODAL_GPU] = { "one line of text", LINE, 1000 },
	[F_BUILDER] = { "a series such as 2025.06", SERIES, 10 },
};

bool
fact_fits(struct arena *a, enum fact_type type, const char *s)
{
	if (strlen(s) > types[type].max || !str_matches(s, types[type].pattern))
		return false;
	switch (type) {
	case F_VERSION: return version_parse(a, s);
	case F_SPEC: return specifiers_parse(a, s);
	case F_REQUIREMENT: return requirement_parse(a, s, NULL, NULL);
	case F_SHA256: return strlen(s) == types[type].max;
	default: return true;
	}
}

const char *
fact_type_name(enum fact_type type)
{
	return types[type].name;
}

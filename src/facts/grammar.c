#include "schema.h"

#include <string.h>

#include "base/str.h"
#include "python/python.h"

static bool
all_of(const char *s, const char *more, size_t min, size_t max)
{
	size_t n = strlen(s);

	for (size_t i = 0; i < n; i++)
		if (!is_alnum(s[i]) && !strchr(more, s[i]))
			return false;
	return n >= min && n <= max;
}

static size_t
digits(const char *s)
{
	return strspn(s, "0123456789");
}

/* N.N and what may follow it: one of the letters of `end`. */
static bool
is_pair(const char *s, size_t max, const char *end)
{
	size_t n = digits(s), m = n && s[n] == '.' ? digits(s + n + 1) : 0;
	const char *rest = s + n + 1 + m;

	return m && n <= max && m <= max && (!*rest || (strchr(end, *rest) && !rest[1]));
}

static bool
is_number(const char *s)
{
	size_t n = digits(s);

	if (!n || n > 9)
		return false;
	s += n;
	if (*s == '.') {
		n = digits(s + 1);
		if (!n || n > 9)
			return false;
		s += 1 + n;
	}
	return !*s;
}

static bool
is_date(const char *s)
{
	static const char form[] = "dddd-dd-dd";

	for (size_t i = 0; i < sizeof(form); i++)
		if (form[i] == 'd' ? !is_digit(s[i]) : s[i] != form[i])
			return false;
	return true;
}

static bool
is_url(const char *s)
{
	if (!starts_with(s, "https://") || strlen(s) > 500)
		return false;
	for (; *s; s++)
		if ((unsigned char)*s <= ' ' || (unsigned char)*s > '~' || strchr("\"'\\`<>", *s))
			return false;
	return true;
}

static bool
is_env(const char *s, const char *end)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return n && !is_digit(*s) && n < 100 &&
	       (*end ? s[n] == *end && all_of(s + n + 1, "._-", 1, 100) : !s[n]);
}

static bool
is_module(const char *s)
{
	for (;;) {
		size_t n = 0;

		while (is_alnum(s[n]) || s[n] == '_')
			n++;
		if (!n || is_digit(*s))
			return false;
		if (!s[n])
			return true;
		if (s[n] != '.')
			return false;
		s += n + 1;
	}
}

/* A text for a person: one line, printable. */
static bool
is_line(const char *s)
{
	size_t n = strlen(s);

	return n && n <= 1000 && !strpbrk(s, "\n\t\r");
}

static bool
is_one_of(const char *s, const char *const *words)
{
	while (*words && strcmp(*words, s))
		words++;
	return *words != NULL;
}

bool
fact_fits(struct arena *a, enum fact_type type, const char *s)
{
	static const char *const bools[] = { "true", "false", NULL };
	static const char *const abis[] = { "old", "new", NULL };
	static const char *const pypi[] = { "sdist", "wheel", "other", "none", NULL };
	static const char *const changes[] = { "daily",     "weekly", "monthly",
					       "quarterly", "yearly", NULL };

	switch (type) {
	case F_MODAL_GPU:
	case F_TEXT: return is_line(s);
	case F_BOOL: return is_one_of(s, bools);
	case F_UINT: return digits(s) && digits(s) <= 9 && !s[digits(s)];
	case F_NUMBER: return is_number(s);
	case F_DATE: return is_date(s);
	case F_URL: return is_url(s);
	case F_VERSION: return is_line(s) && version_parse(a, s);
	case F_SPEC: return is_line(s) && specifiers_parse(a, s);
	case F_REQUIREMENT: return is_line(s) && requirement_parse(a, s, NULL, NULL);
	case F_EXTENSION:
	case F_PACKAGE:
	case F_NAME: return is_line(s) && name_valid(s);
	case F_PYTHON:
	case F_BUILDER:
	case F_SERIES: return is_pair(s, 4, "t");
	case F_CC: return is_pair(s, 2, "");
	case F_TARGET: return is_pair(s, 2, "af");
	case F_OS:
	case F_TAG: return all_of(s, "._-+!", 1, 100);
	case F_REPOSITORY: return all_of(s, "._-/", 1, 200) && is_alnum(*s) && !strstr(s, "..");
	case F_DRIVER: return digits(s) && all_of(s, ".", 1, 20) && is_digit(s[strlen(s) - 1]);
	case F_ENV: return is_env(s, "");
	case F_ENV_SET: return is_env(s, "=");
	case F_MODULE: return is_module(s);
	case F_STD: return starts_with(s, "c++") && digits(s + 3) == 2 && !s[5];
	case F_ABI: return is_one_of(s, abis);
	case F_SHA256: return strlen(s) == 64 && strspn(s, "0123456789abcdef") == 64;
	case F_CHANGES: return is_one_of(s, changes);
	case F_PYPI: return is_one_of(s, pypi);
	case F_SYMBOL: return all_of(s, "_.", 3, 500);
	}
	return false;
}

const char *
fact_type_name(enum fact_type type)
{
	static const char *const names[] = {
		[F_TEXT] = "one line of text",
		[F_BOOL] = "true or false",
		[F_UINT] = "a whole number",
		[F_NUMBER] = "a number such as 1.4",
		[F_DATE] = "a day such as 2026-11-20",
		[F_URL] = "an https address",
		[F_VERSION] = "a version such as 2.2.2",
		[F_SPEC] = "versions such as \">=2.1, <3\"",
		[F_REQUIREMENT] = "a requirement such as triton==2.2.0",
		[F_NAME] = "the name of a package",
		[F_SERIES] = "a series such as 3.11",
		[F_CC] = "a compute capability such as 9.0",
		[F_TARGET] = "a compute capability such as 9.0 or 9.0a",
		[F_TAG] = "a word of letters, digits and . _ - + !",
		[F_REPOSITORY] = "words with slashes between them",
		[F_DRIVER] = "a driver version such as 525.60.13",
		[F_ENV] = "the name of an environment variable",
		[F_ENV_SET] = "NAME=VALUE",
		[F_MODULE] = "the name of a Python module",
		[F_STD] = "a standard such as c++17",
		[F_ABI] = "old or new",
		[F_SHA256] = "64 hex digits",
		[F_CHANGES] = "daily, weekly, monthly, quarterly or yearly",
		[F_PYPI] = "sdist, wheel, other or none",
		[F_SYMBOL] = "a mangled C++ name or a part of one",
		[F_PYTHON] = "a series such as 3.11",
		[F_OS] = "a word of letters, digits and . _ - + !",
		[F_EXTENSION] = "the name of a package",
		[F_PACKAGE] = "the name of a package",
		[F_MODAL_GPU] = "one line of text",
		[F_BUILDER] = "a series such as 2025.06",
	};

	return names[type];
}

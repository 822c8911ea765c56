#include <string.h>

#include "base/str.h"
#include "cuda.h"

/* Returns the number of digits in "cu121"; 0 for another tag. */
static size_t
digits_of(const char *tag)
{
	size_t n = tag && starts_with(tag, "cu") ? strspn(tag + 2, "0123456789") : 0;

	return n >= 2 && n <= 3 && !tag[2 + n] ? n : 0;
}

const char *
cuda_of_tag(struct arena *a, const char *tag)
{
	size_t n = digits_of(tag);
	char *series;

	if (!n)
		return NULL;
	series = arena_copy(a, tag + 2, n + 1);
	series[n - 1] = '.';
	series[n] = tag[1 + n];
	return series;
}

/* Returns major BETWEEN minor, with 0 for a missing minor. */
static const char *
major_minor(struct arena *a, const char *before, const char *version, const char *between)
{
	size_t major = strcspn(version, ".");
	const char *minor = version[major] ? version + major + 1 : "0";

	return arena_printf(a, "%s%.*s%s%.*s", before, (int)major, version, between,
			    (int)strcspn(minor, "."), minor);
}

const char *
cuda_tag(struct arena *a, const char *version)
{
	return major_minor(a, "cu", version, "");
}

const char *
cuda_dashed(struct arena *a, const char *version)
{
	return major_minor(a, "", version, "-");
}

unsigned
cuda_major_of_tag(const char *tag)
{
	return digits_of(tag) ? (unsigned)(tag[2] - '0') * 10 + (unsigned)(tag[3] - '0') : 0;
}

bool
cuda_tag_valid(const char *tag)
{
	size_t groups = 0, n;

	if (digits_of(tag) || !strcmp(tag, "cpu") || !strcmp(tag, "xpu"))
		return true;
	if (!starts_with(tag, "rocm"))
		return false;
	for (tag += strlen("rocm"); (n = strspn(tag, "0123456789")); tag += n + 1) {
		groups++;
		if (tag[n] != '.')
			return !tag[n] && groups <= 3;
	}
	return false;
}

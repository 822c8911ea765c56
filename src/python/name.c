#include <string.h>

#include "base/str.h"
#include "python/internal.h"

bool
name_valid(const char *name)
{
	size_t n = strlen(name);

	if (!n || !is_alnum(name[0]) || !is_alnum(name[n - 1]))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!is_alnum(name[i]) && !strchr("._-", name[i]))
			return false;
	return true;
}

const char *
name_normalize(struct arena *a, const char *name)
{
	size_t plain = 0;
	char *s, *out;

	/* Most names are in lower case, with single dashes. */
	while ((name[plain] >= 'a' && name[plain] <= 'z') || is_digit(name[plain]) ||
	       (name[plain] == '-' && (!plain || name[plain - 1] != '-')))
		plain++;
	if (!name[plain])
		return arena_copy(a, name, plain);
	s = out = arena_lower(a, name);
	for (const char *p = s; *p; p++) {
		bool dash = *p == '-' || *p == '_' || *p == '.';

		if (!dash)
			*out++ = *p;
		else if (out == s || out[-1] != '-')
			*out++ = '-';
	}
	*out = '\0';
	return s;
}

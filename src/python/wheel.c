#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "python/internal.h"

/*
 * The grammar of PEP 427 and packaging:
 *
 *     file     = name "-" version ("-" build)? "-" tags "-" tags "-" tags ".whl"
 *     name     = [A-Za-z0-9._]+ without "__"
 *     build    = digits .*
 *     tags     = tag ("." tag)*       the first ones are names of Python
 */

/* Limits the tags of "a.b-c.d-e.f", because a file name of 255 bytes can expand to very many. */
enum { TAGS_MAX = 1 << 16, PARTS = 3 };

/* Returns the build tag, "7a" for "007a"; packaging stops at a line end. */
static const char *
read_build(struct arena *a, const char *s)
{
	size_t digits = strspn(s, "0123456789");

	if (!digits)
		return NULL;
	for (; *s == '0' && digits > 1; digits--)
		s++;
	return arena_copy(a, s, strcspn(s, "\n"));
}

static bool
read_tags(struct arena *a, const char *const *parts, struct names *out)
{
	struct names split[PARTS] = { { 0 } };
	size_t all = 1;

	for (size_t i = 0; i < PARTS; i++) {
		const struct names words = names_split(a, arena_lower(a, parts[i]), '.');

		if (!words.n || names_have(&words, "") || ends_with(parts[i], ".") ||
		    words.n > TAGS_MAX / all)
			return false;
		list_each (word, &words)
			names_once(a, &split[i], *word);
		all *= words.n;
	}
	list_each (word, &split[0])
		if (!str_matches(*word, "^[a-z_][a-z0-9_]*$"))
			return false;
	for (size_t i = 0; i < split[0].n; i++)
		for (size_t j = 0; j < split[1].n; j++)
			for (size_t k = 0; k < split[2].n; k++)
				list_push(a, out,
					  arena_printf(a, "%s-%s-%s", split[0].at[i],
						       split[1].at[j], split[2].at[k]));
	names_sort(out);
	return true;
}

const struct wheel_file *
wheel_file_parse(struct arena *a, const char *file_name)
{
	struct wheel_file *w = arena_new_of(a, struct wheel_file);
	struct names parts;
	const char *stem;

	if (!ends_with(file_name, ".whl"))
		return NULL;
	stem = arena_copy(a, file_name, strlen(file_name) - strlen(".whl"));
	parts = names_split(a, stem, '-');
	if (ends_with(stem, "-") || parts.n < 5 || parts.n > 6 ||
	    !str_matches(parts.at[0], "^[A-Za-z0-9._]+$") || strstr(parts.at[0], "__"))
		return NULL;
	w->name = name_normalize(a, parts.at[0]);
	w->version = version_parse(a, parts.at[1]);
	w->build = parts.n == 6 ? read_build(a, parts.at[2]) : NULL;
	if (!w->version || (parts.n == 6 && !w->build))
		return NULL;
	return read_tags(a, parts.at + parts.n - PARTS, &w->tags) ? w : NULL;
}

/* --- interpreters and machines of a tag: PEP 425, 600, 703 --- */

void
wheel_pythons_add(struct wheel_pythons *all, const char *tag)
{
	const char *abi = strchr(tag, '-');
	bool any = starts_with(tag, "py3"), cpython = starts_with(tag, "cp3");
	char *end;
	unsigned long minor;

	/* The major version in "py3", "py310" and "cp310" has one digit. */
	if (!abi++ || (!any && !cpython))
		return;
	minor = strtoul(tag + 3, &end, 10);
	if (minor >= 64 || *end != '-' || (cpython && end == tag + 3))
		return;
	if (any || starts_with(abi, "abi3-")) {
		if (!any || starts_with(abi, "none-"))
			all->plain |= ~(uint64_t)0 << minor;
		if (any && starts_with(abi, "none-"))
			all->threaded |= ~(uint64_t)0 << minor;
		return;
	}
	if (starts_with(abi, "none-")) {
		all->plain |= (uint64_t)1 << minor;
		all->threaded |= (uint64_t)1 << minor;
		return;
	}
	/* The ABI is "cp313t"; up to 3.7, also "cp37m". */
	abi += strspn(abi, "cp0123456789");
	if (*abi == 't')
		all->threaded |= (uint64_t)1 << minor;
	else if (*abi == '-' || *abi == 'm')
		all->plain |= (uint64_t)1 << minor;
}

bool
wheel_pythons_have(const struct wheel_pythons *all, const char *series)
{
	unsigned long minor = starts_with(series, "3.") ? strtoul(series + 2, NULL, 10) : 64;

	return minor < 64 && (ends_with(series, "t") ? all->threaded : all->plain) >> minor & 1;
}

bool
wheel_fits_machine(const char *tag, const char *machine)
{
	const char *platform = strrchr(tag, '-');

	return platform && (!strcmp(platform, "-any") || (ends_with(platform, machine) &&
							  (starts_with(platform, "-linux_") ||
							   starts_with(platform, "-manylinux"))));
}

unsigned long
wheel_glibc(const char *tag)
{
	static const struct {
		const char *name;
		unsigned long minor;
	} old[] = { { "-manylinux1_", 5 }, { "-manylinux2010_", 12 }, { "-manylinux2014_", 17 } };
	const char *platform = strrchr(tag, '-');

	for (size_t i = 0; platform && i < sizeof(old) / sizeof(*old); i++)
		if (starts_with(platform, old[i].name))
			return old[i].minor;
	return platform && starts_with(platform, "-manylinux_2_") ?
		       strtoul(platform + strlen("-manylinux_2_"), NULL, 10) :
		       0;
}

#include <string.h>

#include "python/python.h"
#include "reader.h"

/* Requirements files, and what `pip freeze` prints: each line is an item. */

/* "einops==0.8.0 --hash=sha256:...": pip's options behind a requirement are an item of their own; all
 * hashes of a file are one. */
static const char *
without_options(struct init *rd, const struct text *l, bool *hashes)
{
	const char *cut = strstr(l->s, " --");
	size_t n = cut ? (size_t)(cut - l->s) : strlen(l->s);
	bool hash = cut && starts_with(cut, " --hash");

	if (cut && !(hash && *hashes))
		item_leave(rd, item_open(rd, hash ? "--hash" : cut + 1, l->at),
			   hash ? "a recipe holds no hashes of packages" :
				  "it is an option of pip");
	*hashes |= hash;
	while (n && (l->s[n - 1] == ' ' || l->s[n - 1] == '\t'))
		n--;
	return arena_copy(rd->a, l->s, n);
}

bool
init_requirements(struct init *rd, const struct source *src)
{
	const char *p = src->text, *value;
	size_t from = rd->items.n;
	unsigned before = rd->ds->errors;
	uint32_t number = 1;
	bool hashes = false;

	while (*p && rd->ds->errors == before) {
		struct text l = requirements_line(rd->a, src, &p, &number);
		size_t n = strcspn(l.s, " \t");
		enum pip_option o = pip_option(rd->a, arena_copy(rd->a, l.s, n), &value);
		struct init_item *item = *l.s ? item_open(rd, l.s, l.at) : NULL;

		value = value ? value : l.s + n;
		value += strspn(value, " \t");
		if (o == PIP_NONE && item)
			place_requirement(rd, item, without_options(rd, &l, &hashes), false);
		else if (o == PIP_EDITABLE)
			place_requirement(rd, item, value, false);
		else if (item)
			place_option(rd, item, o, value);
	}
	items_report(rd, from);
	return rd->ds->errors == before;
}

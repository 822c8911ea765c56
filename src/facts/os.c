#include <string.h>

#include "internal.h"

const struct os_release *
facts_os_all(const struct facts *f, size_t *n)
{
	struct facts_read *read = f->read;
	struct fact file = facts_file(f, "os.yaml"), releases = fact_get(file, "releases");
	struct os_release *all;

	*n = fact_count(releases);
	if (read->os)
		return read->os;
	all = arena_array_of(f->a, struct os_release, *n);
	for (size_t i = 0; i < *n; i++) {
		struct fact r = fact_at(releases, i);

		all[i] = (struct os_release){
			.id = fact_key(releases, i),
			.python = fact_text_of(r, "python"),
			.python_apt = fact_words(f->a, fact_get(r, "python_apt")),
			.gcc = fact_text_of(r, "gcc"),
			.glibc = fact_text_of(r, "glibc"),
			.deadsnakes = fact_true_of(r, "deadsnakes"),
			.source = trail_source(f, trail_to(trail_of(file), r)),
		};
	}
	read->os = all;
	read->nos = *n;
	return all;
}

const struct os_release *
facts_os(const struct facts *f, const char *id)
{
	size_t n;
	const struct os_release *all = facts_os_all(f, &n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(all[i].id, id))
			return &all[i];
	return NULL;
}

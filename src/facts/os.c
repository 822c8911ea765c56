#include <string.h>

#include "internal.h"

const struct os_release *
facts_os_all(const struct facts *f, size_t *n)
{
	struct os_releases *all = &f->read->os;
	const struct claim *file = facts_file(f, "os.yaml"), *releases = fact_get(file, "releases");
	struct names dnf = { 0 };

	if (all->n < fact_count(releases))
		dnf = fact_words(f, fact_get(fact_get(file, "dnf"), "systems"));
	for (size_t i = all->n; i < fact_count(releases); i++) {
		const struct claim *r = fact_at(releases, i);

		list_push(f->a, all,
			  (struct os_release){
				  .id = fact_key(releases, i),
				  .python = fact_text_of(r, "python"),
				  .python_apt = fact_words(f, fact_get(r, "python_apt")),
				  .gcc = fact_text_of(r, "gcc"),
				  .glibc = fact_text_of(r, "glibc"),
				  .deadsnakes = fact_true_of(r, "deadsnakes"),
				  .dnf = names_have(&dnf, fact_key(releases, i)),
				  .musl = fact_true_of(r, "musl"),
				  .source = fact_source(f->a, r),
			  });
	}
	*n = all->n;
	return all->at;
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

const char *
facts_end(const struct facts *f, const char *table, const char *of)
{
	const struct claim *all = fact_get(facts_file(f, "ends.yaml"), table);

	return fact_text_of(fact_get(all, of), "until");
}

struct names
facts_dnf_names(const struct facts *f, const char *package)
{
	const struct claim *names = fact_get(fact_get(facts_file(f, "os.yaml"), "dnf"), "names");
	struct names same = { 0 };

	if (fact_get(names, package))
		return fact_words(f, fact_get(names, package));
	list_push(f->a, &same, package);
	return same;
}

#include <string.h>

#include "base/str.h"
#include "internal.h"

const struct python_package *
facts_package(const struct facts *f, const char *name)
{
	const struct claim *all = fact_get(facts_file(f, "packages.yaml"), "packages");
	const struct claim *x = fact_get(all, name_normalize(f->a, name));
	struct python_package *p;

	if (!x)
		return NULL;
	p = arena_new_of(f->a, struct python_package);
	*p = (struct python_package){
		.name = name_normalize(f->a, name),
		.latest = fact_text_of(x, "latest"),
		.requires_python = fact_text_of(x, "requires_python"),
		.source = fact_source(f->a, x),
	};
	return p;
}

struct package_releases LIST(struct package_release);

static struct package_releases *
read_releases(const struct facts *f, const char *key)
{
	const struct claim *x = fact_get(fact_get(facts_file(f, "packages.yaml"), "packages"), key);
	const struct claim *releases = fact_get(x, "releases");
	struct package_releases *all = arena_new_of(f->a, struct package_releases);

	for (size_t i = 0; i < fact_count(releases); i++) {
		const struct claim *r = fact_at(releases, i);

		list_push(f->a, all,
			  (struct package_release){
				  .version = fact_key(releases, i),
				  .requires_python = fact_text_of(r, "requires_python"),
				  .pythons = fact_words(f, fact_get(r, "python")),
				  .source = fact_source(f->a, r),
			  });
	}
	if (!all->n && fact_text_of(x, "latest"))
		list_push(f->a, all,
			  (struct package_release){
				  .version = fact_text_of(x, "latest"),
				  .requires_python = fact_text_of(x, "requires_python"),
				  .source = fact_source(f->a, x),
			  });
	return all;
}

const struct package_release *
facts_package_releases(const struct facts *f, const char *name, size_t *n)
{
	const char *key = name_normalize(f->a, name);
	struct package_releases *all = map_get(&f->read->package_releases, key);

	if (!all)
		map_put(&f->read->package_releases, key, all = read_releases(f, key));
	*n = all->n;
	return all->at;
}

/* --- pairings: in each extension's file and in packages.yaml --- */

struct pairings LIST(struct pairing);

/* Rows of an extension's file have no name: they are about the extension. */
static void
add_pairings(const struct facts *f, const struct claim *file, const char *name,
	     struct pairings *all)
{
	const struct claim *rows = fact_get(file, "pairings");

	for (size_t i = 0; i < fact_count(rows); i++) {
		const struct claim *row = fact_at(rows, i);
		const char *own = fact_text_of(row, "name");

		if (own && strcmp(own, name) != 0)
			continue;
		list_push(f->a, all,
			  (struct pairing){
				  .name = name,
				  .spec = fact_text_of(row, "versions"),
				  .other = fact_text_of(row, "other"),
				  .needs = fact_text_of(row, "needs"),
				  .optional = fact_true_of(row, "optional"),
				  .inferred = fact_true_of(row, "inferred"),
				  .why = fact_text_of(row, "why"),
				  .source = fact_source(f->a, row),
			  });
	}
}

const struct pairing *
facts_pairings(const struct facts *f, const char *name, size_t *n)
{
	struct pairings *all = map_get(&f->read->pairings, name);

	if (!all) {
		all = arena_new_of(f->a, struct pairings);
		add_pairings(f, extension_file_of(f, name), name, all);
		add_pairings(f, facts_file(f, "packages.yaml"), name, all);
		map_put(&f->read->pairings, name, all);
	}
	*n = all->n;
	return all->at;
}

static bool
is_other(const struct claim *file, const char *name)
{
	const struct claim *rows = fact_get(file, "pairings");

	for (size_t i = 0; i < fact_count(rows); i++)
		if (!strcmp(fact_text_of(fact_at(rows, i), "other"), name))
			return true;
	return false;
}

bool
facts_paired(const struct facts *f, const char *name)
{
	struct names extensions = facts_extension_names(f);
	bool found = is_other(facts_file(f, "packages.yaml"), name);
	size_t n;

	facts_pairings(f, name, &n);
	for (size_t i = 0; i < extensions.n && !found; i++)
		found = is_other(extension_file_of(f, extensions.at[i]), name);
	return found || n;
}

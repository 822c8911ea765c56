#include <stdio.h>
#include <string.h>

#include "base/fs.h"
#include "base/str.h"
#include "internal.h"

/* --- releases/NAME.yaml --- */

const struct claim *
releases_file_of(const struct facts *f, const char *name)
{
	const struct claim *mine = user_file_of(f, name);

	return mine ? mine : facts_file_in(f, "releases/", name);
}

/* The last list of texts, which neighbouring releases share. */
struct last {
	const struct claim *x;
	struct names items;
};

static struct names
items_of(const struct facts *f, const struct claim *x, struct last *last)
{
	if (x != last->x)
		*last = (struct last){ x, fact_items(f->a, x) };
	return last->items;
}

/* Looks at each key once, because a stack reads thousands of releases. */
static struct package_release
read_release(const struct facts *f, const struct claim *r, struct last last[2])
{
	struct package_release out = { .claim = r };

	for (size_t i = 0; i < fact_count(r); i++) {
		const char *key = fact_key(r, i), *text = fact_text(fact_at(r, i));

		if (!strcmp(key, "date")) {
			out.day = fact_day(text);
		} else if (!strcmp(key, "requires")) {
			out.requires = items_of(f, fact_at(r, i), &last[0]);
			out.requires_known = true;
		} else if (!strcmp(key, "wheels")) {
			out.wheels = items_of(f, fact_at(r, i), &last[1]);
			out.wheels_known = true;
		} else if (!strcmp(key, "requires_python")) {
			out.requires_python = text;
		} else if (!strcmp(key, "sdist")) {
			out.sdist = !strcmp(text, "true");
		} else if (!strcmp(key, "read")) {
			out.read = text;
		} else if (!strcmp(key, "requires_source")) {
			out.source_name = text;
		} else if (!strcmp(key, "yanked")) {
			out.yanked = text;
		}
	}
	return out;
}

/* Hints (requirements from git tags, lock files and snapshots) have a separate source, or are in a file
 * that is not from the index. */
static struct package_release *
read_releases(const struct facts *f, const struct claim *file)
{
	const struct claim *releases = fact_get(file, "releases");
	const struct claim *sources = fact_get(file, "sources");
	bool indexed = !fact_true_of(file, "partial") && !fact_true_of(file, "sample");
	const char *read = indexed ? fact_text_of(file, "read") : NULL;
	struct package_release *all =
		arena_array_of(f->a, struct package_release, fact_count(releases));
	struct last last[2] = { 0 };

	for (size_t i = 0; i < fact_count(releases); i++) {
		struct package_release *r = &all[i];

		*r = read_release(f, fact_at(releases, i), last);
		r->version = fact_key(releases, i);
		r->v = version_parse(f->a, r->version);
		if (r->source_name)
			r->source = fact_text_of(sources, r->source_name);
		r->read_alone = r->read != NULL;
		if (!r->read && r->requires_known && !r->source_name)
			r->read = read;
	}
	return all;
}

/* Searches the lists once for each name: they have 19 KB. */
bool
facts_package_independent(const struct facts *f, const char *name)
{
	const bool *known = map_get(&f->read->independent, name);
	const struct claim *lists;
	bool *found;

	if (known)
		return *known;
	lists = fact_get(facts_file(f, "independent.yaml"), "lists");
	found = arena_new_of(f->a, bool);
	for (size_t i = 0; !*found && i < fact_count(lists); i++)
		*found = among(name, fact_text_of(fact_at(lists, i), "names"));
	map_put(&f->read->independent, arena_strdup(f->a, name), found);
	return *found;
}

const struct python_package *
facts_package(const struct facts *f, const char *name)
{
	struct python_package *p = map_get(&f->read->packages, name); /* most names are normal */
	const struct claim *x;
	const char *key;

	if (p)
		return p;
	key = name_normalize(f->a, name);
	p = map_get(&f->read->packages, key);
	if (p)
		return p;
	x = releases_file_of(f, key);
	if (!x)
		x = facts_file_in(f, "packages/", key);
	if (!x)
		return NULL;
	p = arena_new_of(f->a, struct python_package);
	*p = (struct python_package){
		.name = key,
		.releases = read_releases(f, x),
		.n = fact_count(fact_get(x, "releases")),
		.source = fact_source(f->a, x),
		.read = fact_text_of(x, "read"),
		.partial = fact_true_of(x, "partial"),
		.sample = fact_true_of(x, "sample"),
	};
	map_put(&f->read->packages, key, p);
	return p;
}

struct names
facts_package_names(const struct facts *f)
{
	struct names *names = &f->read->package_names;

	for (size_t i = 0, n = names->n ? 0 : facts_file_count(f); i < n; i++) {
		const char *file = text_at(&facts_row(f, i)->name);

		if (starts_with(file, "packages/") || starts_with(file, "releases/"))
			names_once(f->a, names, fs_stem(f->a, file));
	}
	return *names;
}

const struct package_release *
package_release(const struct python_package *p, const struct version *v)
{
	for (size_t i = p->n; i-- > 0;)
		if (!version_cmp(p->releases[i].v, v))
			return &p->releases[i];
	return NULL;
}

struct package_span
package_span(const struct python_package *p, const struct version *v)
{
	struct package_span s = { 0 };

	for (size_t i = 0; i < p->n && !s.newer; i++) {
		const struct package_release *r = &p->releases[i];

		if (r->requires_known && version_cmp(r->v, v) <= 0)
			s.older = r;
		if (r->requires_known && version_cmp(r->v, v) >= 0)
			s.newer = r;
	}
	if (!s.older || !s.newer)
		return (struct package_span){ 0 };
	return s;
}

const char *
package_release_source(const struct facts *f, const struct package_release *r)
{
	return fact_source(f->a, r->claim);
}

const char *
package_requires_source(const struct facts *f, const struct package_release *r)
{
	const char *place = fact_source(f->a, r->claim), *source = r->source;

	if (r->read_alone)
		source = arena_printf(
			f->a, "PyPI: index page and METADATA of this release, read %s", r->read);
	return source ? arena_printf(f->a, "%.*s(%s)", (int)strcspn(place, "("), place, source) :
			place;
}

bool
package_lacks(const struct facts *f, const struct python_package *p, const struct version *v)
{
	const struct claim *file = releases_file_of(f, p->name);
	struct names others = { 0 }; /* other releases of the index between them */

	if (!p->n || version_cmp(v, p->releases[0].v) < 0 ||
	    version_cmp(v, p->releases[p->n - 1].v) > 0 || p->partial || p->sample)
		return false;
	others = fact_words(f, fact_get(file, "others"));
	for (size_t i = 0; i < others.n; i++)
		if (!version_cmp(facts_version(f, others.at[i]), v))
			return false;
	return !package_release(p, v);
}

/* --- pairings: in each extension's file and in packages/ --- */

struct pairings LIST(struct pairing);

static void
add_pairing(const struct facts *f, const char *name, const struct claim *row, struct pairings *all)
{
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

const struct pairing *
facts_pairings(const struct facts *f, const char *name, size_t *n)
{
	struct pairings *all = map_get(&f->read->pairings, name);
	const struct claim *rows[2];

	if (!all) {
		rows[0] = fact_get(extension_file_of(f, name), "pairings");
		rows[1] = fact_get(facts_file_in(f, "packages/", name), "pairings");
		/* Most packages have no pairings, and a recipe may list 20,000 packages. */
		if (!fact_count(rows[0]) && !fact_count(rows[1])) {
			*n = 0;
			return NULL;
		}
		/* These lists outlive the cell of a matrix. */
		name = arena_strdup(f->a, name);
		all = arena_new_of(f->a, struct pairings);
		for (size_t k = 0; k < 2; k++)
			for (size_t i = 0; i < fact_count(rows[k]); i++)
				add_pairing(f, name, fact_at(rows[k], i), all);
		map_put(&f->read->pairings, name, all);
	}
	*n = all->n;
	return all->at;
}

bool
facts_paired(const struct facts *f, const char *name)
{
	for (size_t i = 0, n = f->read->paired.n ? 0 : facts_file_count(f); i < n; i++) {
		const char *paired = text_at(&facts_row(f, i)->paired);
		struct names names = { 0 };

		if (*paired)
			names = names_split(f->a, paired, ' ');
		for (size_t k = 0; k < names.n; k++)
			map_put(&f->read->paired, names.at[k], f->read);
	}
	return map_get(&f->read->paired, name) ||
	       fact_count(fact_get(facts_file_in(f, "packages/", name), "pairings"));
}

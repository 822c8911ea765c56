/* Groups the files of a page into releases. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "index_internal.h"

enum { TAGS_MAX = 256, TAG_BYTES_MAX = 100 };

/*
 * Limits the tags of a file name: 255 bytes can expand to many thousand tags; real names have a
 * dozen.
 */
static bool
has_few_tags(const char *name)
{
	size_t product = 1, dots = 1, dashes = 0;

	for (size_t i = strlen(name) - strlen(".whl"); i-- && dashes < 3;) {
		dots += name[i] == '.';
		if (name[i] != '-')
			continue;
		product *= dots;
		dots = 1;
		dashes++;
	}
	return product <= TAGS_MAX;
}

/* Returns the version of a source distribution: NAME-VERSION.tar.gz or similar, or NULL. */
static const struct version *
sdist_version(struct arena *a, const char *file, const char *package)
{
	static const char *const endings[] = { ".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tar.xz" };
	const char *stem = NULL;

	for (size_t i = 0; i < COUNT(endings) && !stem; i++)
		if (ends_with(file, endings[i]))
			stem = arena_copy(a, file, strlen(file) - strlen(endings[i]));
	for (const char *dash = stem; dash && (dash = strchr(dash, '-')); dash++) {
		const char *name = arena_copy(a, stem, (size_t)(dash - stem));
		const struct version *v = version_parse(a, dash + 1);

		if (v && name_valid(name) && !strcmp(name_normalize(a, name), package))
			return v;
	}
	return NULL;
}

/* --- wheels --- */

struct tag {
	const char *python, *abi, *machine; /* machine NULL: any */
	unsigned glibc;                     /* N of glibc 2.N; 0: none */
};

/*
 * Returns true for a tag of CPython 3.7 and newer on Linux with glibc; the stable ABI also supports
 * later Pythons.
 */
static bool
tag_read(struct arena *a, const char *text, struct tag *t)
{
	static const char *const machines[] = { "x86_64", "aarch64" };
	static const struct {
		const char *prefix;
		unsigned glibc;
	} old[] = { { "linux_", 0 },
		    { "manylinux1_", 5 },
		    { "manylinux2010_", 12 },
		    { "manylinux2014_", 17 } };
	struct names part = names_split(a, text, '-');
	const char *platform, *rest = NULL;
	unsigned long minor;

	if (part.n != 3 || strlen(text) > TAG_BYTES_MAX ||
	    !str_matches(text, "^[a-z0-9_]+-[a-z0-9_]+-[a-z0-9_]+$"))
		return false;
	platform = part.at[2];
	*t = (struct tag){ .python = part.at[0], .abi = part.at[1] };
	if (starts_with(t->python, "cp3")) {
		minor = strtoul(t->python + 3, NULL, 10);
		if (minor < 2 || (minor < 7 && strcmp(t->abi, "abi3") != 0))
			return false;
	} else if (!starts_with(t->python, "py3")) {
		return false;
	}
	if (!strcmp(platform, "any"))
		return true;
	for (size_t i = 0; i < COUNT(old); i++)
		if (starts_with(platform, old[i].prefix)) {
			rest = platform + strlen(old[i].prefix);
			t->glibc = old[i].glibc;
		}
	if (starts_with(platform, "manylinux_2_")) {
		char *end;

		t->glibc = (unsigned)strtoul(platform + strlen("manylinux_2_"), &end, 10);
		rest = *end == '_' ? end + 1 : NULL;
	}
	for (size_t i = 0; rest && i < 2; i++)
		if (!strcmp(rest, machines[i]))
			t->machine = machines[i];
	return t->machine;
}

static const char *
tag_text(struct arena *a, const struct tag *t)
{
	const char *head = arena_printf(a, "%s-%s", t->python, t->abi);

	if (!t->machine)
		return arena_printf(a, "%s-any", head);
	return t->glibc ? arena_printf(a, "%s-manylinux_2_%u_%s", head, t->glibc, t->machine) :
			  arena_printf(a, "%s-linux_%s", head, t->machine);
}

/* Adds the platform with the lowest glibc of a wheel's platforms for an interpreter. */
static void
add_tags(struct arena *a, const struct wheel_file *file, struct names *out)
{
	for (size_t i = 0; i < file->tags.n; i++) {
		struct tag t, other;
		bool lowest = true;

		if (!tag_read(a, file->tags.at[i], &t))
			continue;
		for (size_t k = 0; k < file->tags.n && t.machine; k++)
			lowest &= !tag_read(a, file->tags.at[k], &other) || !other.machine ||
				  strcmp(other.python, t.python) || strcmp(other.abi, t.abi) ||
				  strcmp(other.machine, t.machine) || other.glibc >= t.glibc;
		if (lowest)
			names_once(a, out, tag_text(a, &t));
	}
}

/*
 * Returns the rank of a wheel as the sample of its release: first those that pip prefers on Linux
 * x86_64.
 */
static int
rank_of(struct arena *a, const struct wheel_file *file)
{
	int rank = 0;

	for (size_t i = 0; i < file->tags.n; i++) {
		struct tag t;
		int here = !tag_read(a, file->tags.at[i], &t) ? 1 :
			   !t.machine                         ? 3 :
			   !strcmp(t.machine, "x86_64")       ? 4 :
								2;

		rank = here > rank ? here : rank;
	}
	return rank;
}

static bool
is_better(const struct index_file *x, int rank, const struct index_release *r)
{
	const struct index_file *y = r->wheel;

	if (!y || rank != r->rank)
		return !y || rank > r->rank;
	if (!x->yanked != !y->yanked)
		return !x->yanked;
	if (x->size != y->size)
		return x->size < y->size;
	return strcmp(x->name, y->name) < 0;
}

/* --- releases --- */

struct grouping {
	struct arena *a;
	struct map by_version; /* normalised -> struct index_release */
	struct found LIST(struct index_release *) all;
};

static struct index_release *
release_for(struct grouping *g, const struct version *v)
{
	const char *text = version_text(g->a, v);
	struct index_release *r = map_get(&g->by_version, text);

	if (!r) {
		r = arena_new_of(g->a, struct index_release);
		*r = (struct index_release){ .version = v, .text = text };
		map_put(&g->by_version, text, r);
		list_push(g->a, &g->all, r);
	}
	return r;
}

/* Returns the normalised Python requirement of a file; `other` if it has no valid one. */
static const char *
python_text(struct arena *a, const char *text, const char *other)
{
	const struct specifiers *s = text ? specifiers_parse(a, text) : NULL;
	const char *normal = s ? specifiers_text(a, s) : "";

	return *normal && strlen(normal) <= INDEX_TEXT_MAX ? normal : other;
}

static void
add_file(struct grouping *g, const struct index_file *f, const char *package)
{
	bool is_wheel = ends_with(f->name, ".whl");
	const struct wheel_file *wheel =
		is_wheel && has_few_tags(f->name) ? wheel_file_parse(g->a, f->name) : NULL;
	const struct version *v = is_wheel ? NULL : sdist_version(g->a, f->name, package);
	struct index_release *r;

	if (wheel && !strcmp(wheel->name, package))
		v = wheel->version;
	if (!v)
		return;
	r = release_for(g, v);
	r->sdist |= !is_wheel;
	r->kept_a_file |= !f->yanked;
	if (f->yanked && (!r->yanked || !*r->yanked))
		r->yanked = f->yanked;
	if (f->date && (!r->date || strcmp(f->date, r->date) < 0))
		r->date = f->date;
	/* pip uses the Python requirement of a wheel if there is one. */
	if (!r->requires_python || (is_wheel && !r->any_wheel))
		r->requires_python = python_text(g->a, f->requires_python, r->requires_python);
	r->any_wheel |= is_wheel;
	if (!is_wheel && (!r->source || r->source->yanked))
		r->source = f;
	if (!wheel)
		return;
	add_tags(g->a, wheel, &r->wheels);
	if (is_better(f, rank_of(g->a, wheel), r)) {
		r->rank = rank_of(g->a, wheel);
		r->wheel = f;
	}
}

static int
by_version(const void *px, const void *py)
{
	const struct index_release *x = px, *y = py;
	int c = version_cmp(x->version, y->version);

	return c ? c : strcmp(x->text, y->text);
}

struct index_releases
index_releases(struct arena *a, const struct index_page *page, const char *package)
{
	struct grouping g = { .a = a, .by_version = MAP(a) };
	struct index_releases all = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < page->files.n; i++)
		add_file(&g, &page->files.at[i], package);
	for (size_t i = 0; i < page->versions.n; i++) {
		const struct version *v = version_parse(a, page->versions.at[i]);
		struct index_release *r = v ? release_for(&g, v) : NULL;

		if (r && !r->any_wheel && !r->sdist)
			r->kept_a_file = true;
	}
	for (size_t i = 0; i < g.all.n; i++) {
		struct index_release *r = g.all.at[i];

		names_sort(&r->wheels);
		list_push(a, &all, *r);
	}
	if (!all.n)
		return all;
	qsort(all.at, all.n, sizeof(*all.at), by_version);
	/* 1.0 and 1.0.0 are the same version: keeps the one with files. */
	for (size_t i = 1; i < all.n; i++) {
		struct index_release *r = &all.at[i], *before = &all.at[kept];

		if (version_cmp(before->version, r->version) != 0)
			all.at[++kept] = *r;
		else if (!before->any_wheel && !before->sdist)
			*before = *r;
	}
	all.n = kept + 1;
	return all;
}

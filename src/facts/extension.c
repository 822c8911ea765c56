#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fs.h"
#include "base/str.h"
#include "internal.h"

const struct claim *
extension_file_of(const struct facts *f, const char *name)
{
	return facts_file_in(f, "extensions/", name);
}

struct names
facts_extension_names(const struct facts *f)
{
	struct names *names = &f->read->extension_names;

	if (names->n)
		return *names;
	for (size_t i = 0; i < facts_file_count(f); i++)
		if (starts_with(text_at(&facts_row(f, i)->name), "extensions/"))
			list_push(f->a, names, fs_stem(f->a, text_at(&facts_row(f, i)->name)));
	return *names;
}

/* Returns the name of the extension that has another name; NULL if there is none. */
static const char *
extension_of(const struct facts *f, const char *other)
{
	struct map *all = &f->read->extension_of;

	for (size_t i = 0, n = f->read->aliases_read ? 0 : facts_file_count(f); i < n; i++) {
		const struct fact_row *file = facts_row(f, i);
		struct names names = { 0 };

		if (*text_at(&file->aliases))
			names = names_split(f->a, text_at(&file->aliases), ' ');
		for (size_t k = 0; k < names.n; k++)
			map_put(all, name_normalize(f->a, names.at[k]),
				(void *)(uintptr_t)fs_stem(f->a, text_at(&file->name)));
	}
	f->read->aliases_read = true;
	return map_get(all, other);
}

/* Returns the words before a release, as schema.h describes them. */
static uint64_t
ranges_of(const struct claim *release)
{
	const uint32_t *w = (const uint32_t *)(const void *)release - 2;

	return (uint64_t)w[1] << 32 | w[0];
}

struct held
extension_held(const struct claim *file, const struct claim *release)
{
	struct held h = { .file = file, .release = release };
	uint64_t ranges = release ? ranges_of(release) << 1 >> 1 : 0;

	for (; ranges; ranges &= ranges - 1)
		h.ranges[h.n++] =
			fact_at(fact_get(file, "ranges"), (size_t)__builtin_ctzll(ranges));
	return h;
}

const struct claim *
extension_says(const struct held *h, const char *key, uint32_t hash)
{
	if (fact_find(h->release, key, hash))
		return h->release;
	for (size_t i = h->n; i--;)
		if (fact_find(h->ranges[i], key, hash))
			return h->ranges[i];
	return h->file;
}

/* Returns the conditions of `archs`, one for each. */
static struct names
nvcc_of(const struct facts *f, struct names archs, const struct claim *table)
{
	struct names specs = { 0 };

	for (size_t i = 0; i < archs.n; i++) {
		const char *spec = fact_text_of(table, archs.at[i]);

		list_push(f->a, &specs, spec ? spec : "");
	}
	return specs;
}

/* Returns the facts that a release shares with other releases in the same ranges. */
static struct extension_release
shared_by(const struct facts *f, struct held held)
{
	const struct held *h = &held;
	struct arena *a = f->a;
	struct names archs = fact_words(f, extension_field(h, "archs"));
	const struct claim *extras = extension_field(h, "extras");
	struct names required = { 0 };

	for (size_t i = 0; i < fact_count(extras); i++)
		list_push(a, &required, fact_text(fact_at(extras, i)));
	return (struct extension_release){
		.extras = fact_keys(a, extras),
		.extra_requires = required,
		.extras_known = extras != NULL,
		.sdist_buildable = fact_tri(extension_field(h, "sdist")),
		.isolated = fact_tri(extension_field(h, "isolated")),
		.sdist_why = fact_text(extension_field(h, "sdist_why")),
		.build_requires = fact_items(a, extension_field(h, "build_requires")),
		.run_requires = fact_items(a, extension_field(h, "run_requires")),
		.run_known = extension_field(h, "run_requires") != NULL,
		.archs = archs,
		.archs_nvcc = nvcc_of(f, archs, extension_field(h, "archs_nvcc")),
		.honours_arch_list = fact_tri(extension_field(h, "honours_arch_list")),
		.arch_env = fact_text(extension_field(h, "arch_env")),
		.arch_env_dots = fact_tri(extension_field(h, "arch_env_dots")) == TRI_YES,
		.requires_python = fact_text(extension_field(h, "requires_python")),
		.cxx_std = fact_text(extension_field(h, "cxx_std")),
		.torch_tried = fact_text(extension_field(h, "torch_tried")),
	};
}

/* Reads `own`: a release, or the file for an unknown release. */
static void
add_own(struct extension_release *r, const struct facts *f, const char *name, const char *version,
	const struct claim *own)
{
	r->name = name;
	r->version = version;
	r->file_version = fact_text_of(own, "says");
	r->on_pypi = fact_true_of(own, "pypi");
	r->git_tag = fact_text_of(own, "tag");
	r->git = fact_text_of(own, "git");
	r->every_commit = fact_true_of(own, "every_commit");
	r->day = fact_day(fact_text_of(own, "date"));
	r->more_tags = fact_items(f->a, fact_get(own, "more_tags"));
	r->source = fact_source(f->a, own);
}

static struct extension_release *
read_releases(const struct facts *f, const char *name, const struct claim *file)
{
	const struct claim *releases = fact_get(file, "releases");
	size_t n = fact_count(releases);
	struct extension_release *all = arena_array_of(f->a, struct extension_release, n);
	uint64_t ranges, last = 0;

	for (size_t i = 0; i < n; i++, last = ranges) {
		const struct claim *release = fact_at(releases, i);

		ranges = ranges_of(release);
		all[i] = i && ranges == last && !(ranges >> FACT_RANGES_MAX) ?
				 all[i - 1] :
				 shared_by(f, extension_held(file, release));
		add_own(&all[i], f, name, fact_key(releases, i), release);
	}
	return all;
}

/* Returns the releases on the package index, for a file that lists none. */
static struct extension_release *
published_releases(const struct facts *f, const char *name, const struct claim *file)
{
	const struct python_package *p = facts_package(f, name);
	struct extension_release *all = arena_array_of(f->a, struct extension_release, p->n);
	const struct extension_release shared = shared_by(f, extension_held(file, NULL));

	for (size_t i = 0; i < p->n; i++) {
		all[i] = shared;
		all[i].name = name;
		all[i].version = p->releases[i].version;
		all[i].requires_python = p->releases[i].requires_python;
		all[i].on_pypi = true;
		all[i].day = p->releases[i].day;
		all[i].source = package_release_source(f, &p->releases[i]);
	}
	return all;
}

static enum on_pypi
pypi_of(const struct claim *file)
{
	static const char *const words[] = { "", "sdist", "wheel", "other", "none" };
	const char *s = fact_text_of(file, "pypi");

	for (size_t i = 1; s && i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i], s))
			return (enum on_pypi)i;
	return PYPI_UNKNOWN;
}

static struct extension *
read_extension(const struct facts *f, const char *name)
{
	struct extension *e = arena_new_of(f->a, struct extension);
	const struct claim *file = extension_file_of(f, name);
	bool published = !fact_get(file, "releases") && releases_file_of(f, name);

	*e = (struct extension){
		.name = name,
		.pypi = pypi_of(file),
		.git = fact_text_of(file, "git"),
		.subdirectory = fact_text_of(file, "subdirectory"),
		.force_build_env = fact_text_of(file, "force_build"),
		.extra_env = fact_words(f, fact_get(file, "extra_env")),
		.imports = fact_words(f, fact_get(file, "imports")),
		.probes = fact_words(f, fact_get(file, "probe")),
		.after = fact_words(f, fact_get(file, "after")),
		.submodules = fact_true_of(file, "submodules"),
		.triton_at_run_time = fact_true_of(file, "triton_at_run_time"),
		.jit_at_run_time = fact_true_of(file, "jit_at_run_time"),
		.jit_needed = fact_true_of(file, "jit_needed"),
		.jit_unless = fact_words(f, fact_get(file, "jit_unless")),
		.jit_unless_with = fact_words(f, fact_get(file, "jit_unless_with")),
		.needs_cudnn = fact_text_of(file, "needs_cudnn"),
		.cpu = fact_tri(fact_get(file, "cpu")),
		.mem_mib_per_job = fact_uint_of(file, "mem_mib_per_job"),
		.nvcc_threads = fact_uint_of(file, "nvcc_threads"),
		.releases = published ? published_releases(f, name, file) :
					read_releases(f, name, file),
		.nreleases = published ? facts_package(f, name)->n :
					 fact_count(fact_get(file, "releases")),
		.any = shared_by(f, extension_held(file, NULL)),
		.source = fact_source(f->a, file),
	};
	add_own(&e->any, f, name, NULL, file);
	return e;
}

const struct extension *
facts_extension(const struct facts *f, const char *name)
{
	const char *key = name_normalize(f->a, name);
	struct extension *e = map_get(&f->read->extensions, key);

	if (e)
		return e;
	if (!extension_file_of(f, key)) {
		key = extension_of(f, key);
		e = key ? map_get(&f->read->extensions, key) : NULL;
	}
	if (key && !e)
		map_put(&f->read->extensions, key, e = read_extension(f, key));
	return e;
}

bool
facts_extension_says(const struct facts *f, const char *name, const char *field, const char *value)
{
	const struct extension *e = facts_extension(f, name);
	const char *s = e ? fact_text_of(extension_file_of(f, e->name), field) : NULL;

	return s && !strcmp(s, value);
}

const struct extension_release *
extension_release(const struct extension *e, const char *version)
{
	struct arena *scratch = arena_new();
	const struct version *want = version_parse(scratch, version);
	const struct extension_release *found = NULL;

	for (size_t i = 0; i < e->nreleases && !found; i++) {
		const struct extension_release *r = &e->releases[i];
		const struct version *v = version_parse(scratch, r->version);

		if ((r->git_tag && !strcmp(r->git_tag, version)) ||
		    names_have(&r->more_tags, version) || (want && v && !version_cmp(v, want)))
			found = r;
	}
	arena_free(scratch);
	return found;
}

/* Compares repositories: case and a final ".git" do not count. */
static bool
same_repository(const char *x, const char *y)
{
	size_t n = strlen(x) - (ends_with(x, ".git") ? 4 : 0);

	return !strncasecmp(x, y, n) && (!y[n] || !strcasecmp(y + n, ".git"));
}

bool
extension_has(const struct extension *e, const struct extension_release *r, const char *git)
{
	const char *own = r->git ? r->git : e->git;

	return git ? own && same_repository(own, git) : !r->git;
}

const struct extension_release *
extension_commit(const struct extension *e, const char *git)
{
	size_t i = !git || (e->git && same_repository(e->git, git)) ? e->nreleases : 0;

	while (i > 0 && (!e->releases[i - 1].every_commit || e->releases[i - 1].git))
		i--;
	return i ? &e->releases[i - 1] : NULL;
}

bool
extension_is_package(const struct extension *e, const struct extension_release *r, const char *name)
{
	/* An alias such as mmcv-full is a separate build. */
	return e->pypi == PYPI_WHEEL ||
	       ((r ? r : &e->any)->isolated == TRI_YES && !strcmp(e->name, name));
}

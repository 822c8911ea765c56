#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/str.h"
#include "internal.h"

struct fact
extension_file_of(const struct facts *f, const char *name)
{
	return facts_file(f, arena_printf(f->a, "extensions/%s.yaml", name));
}

static void
read_aliases(const struct facts *f, const char *name, struct fact file)
{
	struct names aliases = fact_items(f->a, fact_get(file, "aliases"));

	for (size_t i = 0; i < aliases.n; i++) {
		list_push(f->a, &f->read->aliases, name_normalize(f->a, aliases.at[i]));
		list_push(f->a, &f->read->alias_of, name);
	}
}

struct names
facts_extension_names(const struct facts *f)
{
	struct names *names = &f->read->extension_names, files = { 0 };

	if (f->read->extensions)
		return *names;
	files = facts_files(f);
	for (size_t i = 0; i < files.n; i++)
		if (starts_with(files.at[i], "extensions/")) {
			list_push(f->a, names, fs_stem(f->a, files.at[i]));
			read_aliases(f, names->at[names->n - 1], facts_file(f, files.at[i]));
		}
	f->read->extensions = arena_array_of(f->a, const struct extension *, names->n + 1);
	return *names;
}

/* A release with the ranges that hold for it, found once for all of its fields. */
struct held {
	struct fact file, release, ranges[FACT_RANGES_MAX];
	size_t n;
};

size_t
extension_ranges(struct fact file, struct fact release, struct fact out[FACT_RANGES_MAX])
{
	struct fact ranges = fact_get(file, "ranges");
	size_t n = 0;

	for (const char *p = fact_text_of(release, "applies"); p && *p; p += strspn(p, " ")) {
		char *end;
		size_t i = strtoul(p, &end, 10);

		if (n < FACT_RANGES_MAX)
			out[n++] = fact_at(ranges, i);
		p = end;
	}
	return n;
}

static struct held
held_of(struct fact file, struct fact release)
{
	struct held h = { .file = file, .release = release };

	h.n = extension_ranges(file, release, h.ranges);
	return h;
}

/* The last of them that has the key. */
static struct fact
range_with(const struct held *h, const char *key)
{
	for (size_t i = h->n; i--;)
		if (fact_is(fact_get(h->ranges[i], key)))
			return h->ranges[i];
	return (struct fact){ h->file.t, 0 };
}

static struct fact
field_of(const struct held *h, const char *key)
{
	struct fact found = fact_get(h->release, key);

	for (size_t i = h->n; i-- && !fact_is(found);)
		found = fact_get(h->ranges[i], key);
	return fact_is(found) ? found : fact_get(h->file, key);
}

struct fact
extension_range(struct fact file, struct fact release, const char *key)
{
	struct held h = held_of(file, release);

	return range_with(&h, key);
}

struct fact
extension_field(struct fact file, struct fact release, const char *key)
{
	struct held h = held_of(file, release);

	return field_of(&h, key);
}

/* The conditions of archs, beside them. */
static struct names
nvcc_of(const struct facts *f, struct names archs, struct fact table)
{
	struct names specs = { 0 };

	for (size_t i = 0; i < archs.n; i++) {
		const char *spec = fact_text_of(table, archs.at[i]);

		list_push(f->a, &specs, spec ? spec : "");
	}
	return specs;
}

/* `r`: a release, or the file itself for what holds for all of them. */
static struct extension_release
read_release(const struct facts *f, const char *name, const char *version, struct trail t)
{
	struct fact r = t.at[t.n - 1];
	struct held h = held_of(t.at[0], r);
	struct arena *a = f->a;
	struct names archs = fact_words(a, field_of(&h, "archs"));

	return (struct extension_release){
		.name = name,
		.version = version,
		.file_version = fact_text_of(r, "says"),
		.on_pypi = fact_true_of(r, "pypi"),
		.sdist_buildable = fact_tri(field_of(&h, "sdist")),
		.sdist_why = fact_text(field_of(&h, "sdist_why")),
		.git_tag = fact_text_of(r, "tag"),
		.more_tags = fact_items(a, fact_get(r, "more_tags")),
		.build_requires = fact_items(a, field_of(&h, "build_requires")),
		.run_requires = fact_items(a, field_of(&h, "run_requires")),
		.run_known = fact_is(field_of(&h, "run_requires")),
		.archs = archs,
		.archs_nvcc = nvcc_of(f, archs, field_of(&h, "archs_nvcc")),
		.honours_arch_list = fact_tri(field_of(&h, "honours_arch_list")),
		.arch_env = fact_text(field_of(&h, "arch_env")),
		.arch_env_dots = fact_tri(field_of(&h, "arch_env_dots")) == TRI_YES,
		.requires_python = fact_text(field_of(&h, "requires_python")),
		.cxx_std = fact_text(field_of(&h, "cxx_std")),
		.source = trail_source(f, t),
	};
}

static enum on_pypi
pypi_of(struct fact file)
{
	static const char *const words[] = { "", "sdist", "wheel", "other", "none" };
	const char *s = fact_text_of(file, "pypi");

	for (size_t i = 1; s && i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i], s))
			return (enum on_pypi)i;
	return PYPI_UNKNOWN;
}

static const struct extension *
read_extension(const struct facts *f, const char *name, struct fact file)
{
	struct extension *e = arena_new_of(f->a, struct extension);
	struct fact releases = fact_get(file, "releases");
	size_t n = fact_count(releases);
	struct extension_release *all = arena_array_of(f->a, struct extension_release, n);

	for (size_t i = 0; i < n; i++)
		all[i] = read_release(f, name, fact_key(releases, i),
				      trail_to(trail_of(file), fact_at(releases, i)));
	*e = (struct extension){
		.name = name,
		.pypi = pypi_of(file),
		.git = fact_text_of(file, "git"),
		.subdirectory = fact_text_of(file, "subdirectory"),
		.force_build_env = fact_text_of(file, "force_build"),
		.extra_env = fact_words(f->a, fact_get(file, "extra_env")),
		.imports = fact_words(f->a, fact_get(file, "imports")),
		.probes = fact_words(f->a, fact_get(file, "probe")),
		.after = fact_words(f->a, fact_get(file, "after")),
		.submodules = fact_true_of(file, "submodules"),
		.triton_at_run_time = fact_true_of(file, "triton_at_run_time"),
		.jit_at_run_time = fact_true_of(file, "jit_at_run_time"),
		.jit_unless = fact_words(f->a, fact_get(file, "jit_unless")),
		.needs_cudnn = fact_text_of(file, "needs_cudnn"),
		.cpu = fact_tri(fact_get(file, "cpu")),
		.mem_mib_per_job = fact_uint_of(file, "mem_mib_per_job"),
		.nvcc_threads = fact_uint_of(file, "nvcc_threads"),
		.releases = all,
		.nreleases = n,
		.any = read_release(f, name, NULL, trail_of(file)),
		.source = trail_source(f, trail_of(file)),
	};
	return e;
}

static size_t
place_in(const struct names *names, const char *name)
{
	size_t i = 0;

	while (i < names->n && strcmp(names->at[i], name))
		i++;
	return i;
}

const struct extension *
facts_extension(const struct facts *f, const char *name)
{
	struct facts_read *read = f->read;
	struct names names = facts_extension_names(f);
	const char *key = name_normalize(f->a, name);
	size_t alias = place_in(&read->aliases, key), i;

	i = place_in(&names, alias < read->aliases.n ? read->alias_of.at[alias] : key);
	if (i == names.n)
		return NULL;
	if (!read->extensions[i])
		read->extensions[i] =
			read_extension(f, names.at[i], extension_file_of(f, names.at[i]));
	return read->extensions[i];
}

bool
facts_extension_says(const struct facts *f, const char *name, const char *field, const char *value)
{
	const struct extension *e = facts_extension(f, name);
	const char *s = e ? fact_text_of(extension_file_of(f, e->name), field) : NULL;

	return s && !strcmp(s, value);
}

static bool
has_tag(const struct extension_release *r, const char *tag)
{
	if (r->git_tag && !strcmp(r->git_tag, tag))
		return true;
	for (size_t i = 0; i < r->more_tags.n; i++)
		if (!strcmp(r->more_tags.at[i], tag))
			return true;
	return false;
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

		if (has_tag(r, version) || (want && v && !version_cmp(v, want)))
			found = r;
	}
	arena_free(scratch);
	return found;
}

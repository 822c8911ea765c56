#include <string.h>

#include "base/fs.h"
#include "base/str.h"
#include "internal.h"

struct fact
extension_file_of(const struct facts *f, const char *name)
{
	return facts_file(f, arena_printf(f->a, "extensions/%s.yaml", name));
}

struct names
facts_extension_names(const struct facts *f)
{
	struct fact root = fact_root(f->tree);
	struct names names = { 0 };

	for (size_t i = 0; i < fact_count(root); i++)
		if (starts_with(fact_key(root, i), "extensions/"))
			list_push(f->a, &names, fs_stem(f->a, fact_key(root, i)));
	return names;
}

/* A field of a release: its own, or that of the last range that holds for it and has it. */
static struct fact
field_of(struct fact file, struct fact release, const char *key)
{
	struct fact own = fact_get(release, key), ranges = fact_get(file, "ranges");
	struct fact found = { file.t, 0 };

	if (fact_is(own))
		return own;
	for (const char *p = fact_text_of(release, "applies"); p && *p; p += strspn(p, " ")) {
		size_t i = 0;

		for (; is_digit(*p); p++)
			i = i * 10 + (size_t)(*p - '0');
		own = i < fact_count(ranges) ? fact_get(fact_at(ranges, i), key) : found;
		if (fact_is(own))
			found = own;
	}
	return found;
}

static enum tri
tri_of(struct fact x)
{
	const char *s = fact_text(x);

	return !s ? TRI_UNKNOWN : !strcmp(s, "true") ? TRI_YES : TRI_NO;
}

static struct extension_release
read_release(const struct facts *f, const char *name, struct fact file, struct fact releases,
	     size_t i)
{
	struct fact r = fact_at(releases, i);
	struct arena *a = f->a;

	return (struct extension_release){
		.name = name,
		.version = fact_key(releases, i),
		.on_pypi = fact_true_of(r, "pypi"),
		.sdist_buildable = tri_of(field_of(file, r, "sdist")),
		.sdist_why = fact_text(field_of(file, r, "sdist_why")),
		.git_tag = fact_text_of(r, "tag"),
		.build_requires = fact_items(a, field_of(file, r, "build_requires")),
		.run_requires = fact_items(a, field_of(file, r, "run_requires")),
		.archs = fact_words(a, field_of(file, r, "archs")),
		.honours_arch_list = tri_of(field_of(file, r, "honours_arch_list")),
		.arch_env = fact_text(field_of(file, r, "arch_env")),
		.requires_python = fact_text(field_of(file, r, "requires_python")),
		.cxx_std = fact_text(field_of(file, r, "cxx_std")),
		.source = trail_source(f, trail_to(trail_of(file), r)),
	};
}

static const struct extension *
read_extension(const struct facts *f, const char *name, struct fact file)
{
	struct extension *e = arena_new_of(f->a, struct extension);
	struct fact releases = fact_get(file, "releases");
	size_t n = fact_count(releases);
	struct extension_release *all = arena_array_of(f->a, struct extension_release, n);

	for (size_t i = 0; i < n; i++)
		all[i] = read_release(f, name, file, releases, i);
	*e = (struct extension){
		.name = name,
		.git = fact_text_of(file, "git"),
		.force_build_env = fact_text_of(file, "force_build"),
		.extra_env = fact_text_of(file, "extra_env"),
		.imports = fact_words(f->a, fact_get(file, "imports")),
		.after = fact_words(f->a, fact_get(file, "after")),
		.submodules = fact_true_of(file, "submodules"),
		.triton_at_run_time = fact_true_of(file, "triton_at_run_time"),
		.mem_mib_per_job = fact_uint_of(file, "mem_mib_per_job"),
		.releases = all,
		.nreleases = n,
		.source = trail_source(f, trail_of(file)),
	};
	return e;
}

const struct extension *
facts_extension(const struct facts *f, const char *name)
{
	struct facts_read *read = f->read;
	struct names names = facts_extension_names(f);
	const char *key = name_normalize(f->a, name);

	if (!read->extensions) {
		read->extensions = arena_array_of(f->a, const struct extension *, names.n);
		read->nextensions = names.n;
	}
	for (size_t i = 0; i < names.n; i++) {
		if (strcmp(names.at[i], key))
			continue;
		if (!read->extensions[i])
			read->extensions[i] = read_extension(f, key, extension_file_of(f, key));
		return read->extensions[i];
	}
	return NULL;
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
		    (want && v && !version_cmp(v, want)))
			found = r;
	}
	arena_free(scratch);
	return found;
}

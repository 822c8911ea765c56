#include <string.h>

#include "base/str.h"
#include "internal.h"

static enum tri
abi_of(const struct claim *build, const struct claim *release)
{
	const char *s = fact_text_of(build, "abi");

	if (!s)
		s = fact_text_of(release, "abi");
	if (!s)
		return TRI_UNKNOWN;
	return !strcmp(s, "new") ? TRI_YES : TRI_NO;
}

/* Splits "triton==2.2.0; python_version < ..." at the `;`. */
static const char *
without_marker(const struct facts *f, const char *requirement, const char **marker)
{
	size_t n = requirement ? strcspn(requirement, ";") : 0;

	*marker = NULL;
	if (!requirement)
		return NULL;
	if (requirement[n])
		*marker = requirement + n + 1 + strspn(requirement + n + 1, " ");
	while (n && requirement[n - 1] == ' ')
		n--;
	return arena_copy(f->a, requirement, n);
}

/* Returns `cuda_bindings` of a build. That of the release is about the wheel on PyPI. */
static const char *
bindings_of(const struct facts *f, const struct claim *build, const struct claim *release)
{
	const char *s = fact_text_of(build, "cuda_bindings"), *marker;

	if (!s && fact_true_of(build, "pypi"))
		s = fact_text_of(release, "cuda_bindings");
	return without_marker(f, s, &marker);
}

static struct torch_variant
read_build(const struct facts *f, const char *tag, const struct claim *build, const struct claim *r)
{
	const char *glibc = fact_text_of(build, "glibc");

	return (struct torch_variant){
		.tag = tag,
		.on_index = !fact_true_of(build, "no_index"),
		.cuda = fact_text_of(build, "cuda"),
		.cudnn = fact_text_of(build, "cudnn"),
		.cuda_bindings = bindings_of(f, build, r),
		.cxx11abi = abi_of(build, r),
		.glibc_min = glibc ? glibc : fact_text_of(r, "glibc"),
		.archs = fact_words(f, fact_get(build, "archs")),
		.archs_aarch64 = fact_words(f, fact_get(build, "archs_aarch64")),
		.archs_inferred = fact_true_of(build, "archs_inferred"),
		.ptx = fact_text_of(build, "ptx"),
		.on_pypi = fact_true_of(build, "pypi"),
		.source = fact_source(f->a, build),
	};
}

static const struct torch_release *
read_release(const struct facts *f, const char *version, const struct claim *r)
{
	struct torch_release *t = arena_new_of(f->a, struct torch_release);
	const struct claim *builds = fact_get(r, "builds");
	size_t n = fact_count(builds);
	struct torch_variant *variants = arena_array_of(f->a, struct torch_variant, n);

	for (size_t i = 0; i < n; i++)
		variants[i] = read_build(f, fact_key(builds, i), fact_at(builds, i), r);
	*t = (struct torch_release){
		.version = version,
		.pythons = fact_words(f, fact_get(r, "python")),
		.requires_python = fact_text_of(r, "requires_python"),
		.day = fact_day(fact_text_of(r, "built")),
		.variants = variants,
		.nvariants = n,
		.torchvision = fact_text_of(r, "torchvision"),
		.torchaudio = fact_text_of(r, "torchaudio"),
		.setuptools = fact_text_of(r, "setuptools"),
		.setuptools_build = fact_text_of(r, "setuptools_build"),
		.numpy2 = fact_tri(fact_get(r, "numpy2")),
		.cuda_toolkit = fact_text_of(r, "cuda_toolkit"),
		.cxx_std = fact_text_of(r, "headers"),
		.source = fact_source(f->a, r),
	};
	t->triton = without_marker(f, fact_text_of(r, "triton"), &t->triton_marker);
	return t;
}

const struct torch_release *const *
facts_torch_all(const struct facts *f, size_t *n)
{
	const struct claim *releases = fact_get(facts_file(f, "torch.yaml"), "releases");
	struct torch_releases *read = &f->read->torch;

	for (size_t i = read->n; i < fact_count(releases); i++)
		list_push(f->a, read, read_release(f, fact_key(releases, i), fact_at(releases, i)));
	*n = read->n;
	return read->at;
}

const struct torch_release *
facts_torch(const struct facts *f, const char *version)
{
	const struct claim *releases = fact_get(facts_file(f, "torch.yaml"), "releases");
	const char *key;
	/* The local part of "2.2.2+cu121" names a build, not a release. */
	const char *release = arena_copy(f->a, version, strcspn(version, "+"));
	const struct claim *r = fact_version(f, releases, release, &key);
	size_t n, i = 0;
	const struct torch_release *const *all = facts_torch_all(f, &n);

	while (r && i < n && strcmp(all[i]->version, key) != 0)
		i++;
	return r && i < n ? all[i] : NULL;
}

const struct torch_variant *
torch_variant(const struct torch_release *t, const char *tag)
{
	for (size_t i = 0; i < t->nvariants; i++)
		if (!strcmp(t->variants[i].tag, tag))
			return &t->variants[i];
	return NULL;
}

const struct torch_variant *
torch_variant_on_pypi(const struct torch_release *t)
{
	for (size_t i = 0; i < t->nvariants; i++)
		if (t->variants[i].on_pypi)
			return &t->variants[i];
	return NULL;
}

const char *
facts_torch_index(const struct facts *f, struct arena *a, const char *tag)
{
	const struct claim *index = fact_get(facts_file(f, "torch.yaml"), "index");

	return fact_filled(a, fact_text_of(index, "url"),
			   (const char *const[][2]){ { "tag", tag } }, 1);
}

bool
facts_torch_arch_list(const struct facts *f, struct arena *a, const char *version,
		      struct torch_arch_list *out)
{
	const struct claim *rows = fact_get(facts_file(f, "torch.yaml"), "arch_list");

	*out = (struct torch_arch_list){ 0 };
	for (size_t i = 0; i < fact_count(rows); i++) {
		const struct claim *row = fact_at(rows, i), *names = fact_get(row, "names");

		if (!fact_in_range(f, fact_text_of(row, "torch"), version))
			continue;
		if (fact_get(row, "archs")) {
			out->archs = fact_words(f, fact_get(row, "archs"));
			out->source = fact_source(f->a, row);
		}
		for (size_t k = 0; k < fact_count(names); k++) {
			list_push(a, &out->named, fact_key(names, k));
			list_push(a, &out->meaning, fact_text(fact_at(names, k)));
		}
	}
	return out->archs.n > 0;
}

const char *
facts_torch_nvcc_env(const struct facts *f, const char *version)
{
	const struct claim *rows = fact_get(facts_file(f, "torch.yaml"), "nvcc_env");

	for (size_t i = 0; i < fact_count(rows); i++)
		if (fact_in_range(f, fact_text_of(fact_at(rows, i), "torch"), version))
			return fact_text_of(fact_at(rows, i), "name");
	return NULL;
}

const char *
facts_torch_nvidia(const struct facts *f, const char *version, const char *build,
		   const char *package, const char **source)
{
	const struct claim *rows = fact_get(facts_file(f, "nvidia.yaml"), "torch");
	size_t n = strlen(package);

	for (size_t i = 0; i < fact_count(rows); i++) {
		const struct claim *row = fact_at(rows, i), *requires = fact_get(row, "requires");

		if (strcmp(fact_text_of(row, "build"), build) != 0 ||
		    !fact_in_range(f, fact_text_of(row, "versions"), version))
			continue;
		for (size_t k = 0; k < fact_count(requires); k++) {
			const char *text = fact_text(fact_at(requires, k));

			if (!strncmp(text, package, n) && strcspn(text + n, "<>=~") == 0) {
				*source = fact_source(f->a, row);
				return text + n;
			}
		}
	}
	return NULL;
}

struct torch_compilers
facts_torch_compilers(const struct facts *f, const char *version)
{
	const struct claim *rows = fact_get(facts_file(f, "torch.yaml"), "compilers");
	struct torch_compilers all = { 0 };

	for (size_t i = 0; i < fact_count(rows); i++) {
		const struct claim *row = fact_at(rows, i), *gcc = fact_get(row, "gcc");

		if (!fact_count(gcc) || !fact_in_range(f, fact_text_of(row, "torch"), version))
			continue;
		for (size_t k = 0; k < fact_count(gcc); k++)
			list_push(f->a, &all,
				  (struct torch_compiler){
					  .cuda = fact_key(gcc, k),
					  .gcc = fact_text(fact_at(gcc, k)),
					  .source = fact_source(f->a, row),
				  });
	}
	return all;
}

#include <string.h>

#include "base/str.h"
#include "internal.h"

static const struct cuda_toolkit *
read_toolkit(const struct facts *f, const char *version, const struct claim *release,
	     const struct claim *series)
{
	struct cuda_toolkit *t = arena_new_of(f->a, struct cuda_toolkit);
	const struct claim *file = facts_file(f, "cuda.yaml"), *wheels = fact_get(file, "wheels");
	const char *major = arena_copy(f->a, version, strcspn(version, "."));

	*t = (struct cuda_toolkit){
		.version = version,
		.driver_min = fact_text_of(release, "driver"),
		.driver_compat = fact_text_of(fact_get(fact_get(file, "drivers"), major), "driver"),
		.gcc_min = fact_uint_of(series, "gcc_min"),
		.gcc_max = fact_uint_of(series, "gcc_max"),
		.archs = fact_words(f, fact_get(series, "archs")),
		.image_os = fact_words(f, fact_get(release, "images")),
		.wheels = fact_true_of(release, "toolkit_wheel") &&
			  fact_in_range(f, fact_text_of(wheels, "cuda"), version),
		.source = fact_source(f->a, release),
	};
	if (t->wheels)
		t->wheels_pin =
			arena_printf(f->a, "%s==%s", fact_text_of(wheels, "requirement"), version);
	return t;
}

const struct cuda_toolkit *const *
facts_cuda_all(const struct facts *f, size_t *n)
{
	const struct claim *all = fact_get(facts_file(f, "cuda.yaml"), "series");
	struct cuda_toolkits *read = &f->read->cuda;

	*n = read->n;
	if (read->n)
		return read->at;
	for (size_t s = 0; s < fact_count(all); s++) {
		const struct claim *series = fact_at(all, s),
				   *releases = fact_get(series, "releases");

		for (size_t r = 0; r < fact_count(releases); r++)
			list_push(f->a, read,
				  read_toolkit(f, fact_key(releases, r), fact_at(releases, r),
					       series));
	}
	*n = read->n;
	return read->at;
}

const struct cuda_toolkit *
facts_cuda(const struct facts *f, const char *version)
{
	size_t n, dots = strcspn(version, ".");
	const struct cuda_toolkit *const *all = facts_cuda_all(f, &n), *found = NULL;
	bool series = version[dots] && !strchr(version + dots + 1, '.');

	for (size_t i = 0; i < n; i++)
		if (!strcmp(all[i]->version, version) ||
		    (series && version_same_series(all[i]->version, version)))
			found = all[i];
	return found;
}

const char *
facts_cuda_impossible(const struct facts *f, const char *version)
{
	const struct claim *never = fact_get(facts_file(f, "cuda.yaml"), "never");

	return fact_text_of(fact_get(never, version_series(f->a, version)), "why");
}

/* --- images --- */

static const char *
cudnn_part(const struct facts *f, const char *tag)
{
	const char *p = strstr(tag, "-cudnn");

	return p ? arena_copy(f->a, p + 1, strcspn(p + 1, "-")) : NULL;
}

/* Returns true if a row of `missing` is about that tag: the tag matches all of its keys. */
static bool
is_about(const struct facts *f, const struct claim *row, const struct image_name *n)
{
	const char *tag = fact_text_of(row, "tag"), *os = fact_text_of(row, "os");
	const char *cuda = fact_text_of(row, "cuda"), *cudnn = fact_text_of(row, "not_cudnn");
	const char *part = cudnn_part(f, n->tag);

	return (!tag || !strcmp(tag, n->tag)) && (!os || (n->os && !strcmp(os, n->os))) &&
	       (!cuda || (n->cuda && fact_in_range(f, cuda, n->cuda))) &&
	       (!cudnn || (part && strcmp(cudnn, part) != 0)) &&
	       (!fact_true_of(row, "series") || (n->cuda && strchr(n->cuda, '.') &&
						 !strcmp(version_series(f->a, n->cuda), n->cuda)));
}

/* Returns why a tag cannot exist, and the claim; NULL: no claim excludes it. */
static const char *
missing(const struct facts *f, const struct image_name *n, const struct claim *release,
	const struct claim **claim)
{
	const struct claim *file = facts_file(f, "cuda.yaml");
	const struct claim *rows = fact_get(fact_get(file, "images"), "missing");

	*claim = n->cuda ? fact_get(fact_get(file, "never"), version_series(f->a, n->cuda)) : NULL;
	for (size_t i = 0; i < fact_count(rows) && !*claim; i++)
		if (is_about(f, fact_at(rows, i), n))
			*claim = fact_at(rows, i);
	if (*claim)
		return fact_text_of(*claim, "why");
	*claim = release;
	if (!cudnn_part(f, n->tag) || !fact_true_of(release, "no_cudnn"))
		return NULL;
	return arena_printf(f->a, "no image of CUDA %s has cuDNN", n->cuda);
}

enum tri
facts_image(const struct facts *f, struct arena *a, const char *repository, const char *tag,
	    const char **why, const char **source)
{
	const struct claim *file = facts_file(f, "cuda.yaml"), *release = NULL, *claim;
	const char *name = starts_with(repository, "docker.io/") ? repository + 10 : repository;
	const char *known = fact_text_of(fact_get(file, "images"), "repository");
	struct image_name n = facts_image_name(f, arena_printf(a, "%s:%s", name, tag));
	struct names made = { 0 };

	*why = *source = NULL;
	if (!known || strcmp(known, name) || !n.tag)
		return TRI_UNKNOWN;
	if (n.cuda)
		release = fact_get(
			fact_get(fact_get(fact_get(file, "series"), version_series(f->a, n.cuda)),
				 "releases"),
			n.cuda);
	*why = missing(f, &n, release, &claim);
	if (*why) {
		*source = fact_source(f->a, claim);
		return TRI_NO;
	}
	made = fact_words(f, fact_get(release, n.cudnn ? "cudnn_images" : "images"));
	if (!n.os || !n.flavour || strcmp(n.flavour, "devel") || !names_have(&made, n.os))
		return TRI_UNKNOWN;
	*source = fact_source(f->a, release);
	return TRI_YES;
}

const char *
facts_image_tag(const struct facts *f, struct arena *a, const struct cuda_toolkit *t,
		const char *flavour, const char *os)
{
	const struct claim *images = fact_get(facts_file(f, "cuda.yaml"), "images");

	return arena_printf(a, "%s:%s-%s-%s", fact_text_of(images, "repository"), t->version,
			    flavour, os);
}

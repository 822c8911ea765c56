#include <string.h>

#include "base/str.h"
#include "internal.h"

static const struct cuda_toolkit *
read_toolkit(const struct facts *f, const char *version, struct fact release, struct trail series)
{
	struct cuda_toolkit *t = arena_new_of(f->a, struct cuda_toolkit);
	struct fact file = series.at[0], s = series.at[series.n - 1];
	struct fact wheels = fact_get(file, "wheels");
	const char *major = arena_copy(f->a, version, strcspn(version, "."));

	*t = (struct cuda_toolkit){
		.version = version,
		.driver_min = fact_text_of(release, "driver"),
		.driver_compat = fact_text_of(fact_get(fact_get(file, "drivers"), major), "driver"),
		.gcc_min = fact_uint_of(s, "gcc_min"),
		.gcc_max = fact_uint_of(s, "gcc_max"),
		.archs = fact_words(f->a, fact_get(s, "archs")),
		.image_os = fact_words(f->a, fact_get(release, "images")),
		.wheels = fact_true_of(release, "toolkit_wheel") &&
			  fact_in_range(f, fact_text_of(wheels, "cuda"), version),
		.source = trail_source(f, trail_to(series, release)),
	};
	if (t->wheels)
		t->wheels_pin =
			arena_printf(f->a, "%s==%s", fact_text_of(wheels, "requirement"), version);
	return t;
}

const struct cuda_toolkit *const *
facts_cuda_all(const struct facts *f, size_t *n)
{
	struct fact file = facts_file(f, "cuda.yaml"), all = fact_get(file, "series");
	struct cuda_toolkits *read = &f->read->cuda;

	*n = read->n;
	if (read->n)
		return read->at;
	for (size_t s = 0; s < fact_count(all); s++) {
		struct trail series = trail_to(trail_of(file), fact_at(all, s));
		struct fact releases = fact_get(fact_at(all, s), "releases");

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
	struct fact never = fact_get(facts_file(f, "cuda.yaml"), "never");

	return fact_text_of(fact_get(never, version_series(f->a, version)), "why");
}

/* --- images --- */

/* The piece of the tag that names cuDNN: "cudnn8"; NULL: none. */
static const char *
cudnn_part(const struct facts *f, const char *tag)
{
	const char *p = strstr(tag, "-cudnn");

	return p ? arena_copy(f->a, p + 1, strcspn(p + 1, "-")) : NULL;
}

/* True if a row of `missing` is about that tag: it fulfils all of its keys. */
static bool
is_about(const struct facts *f, struct fact row, const struct image_name *n)
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

/* Why a tag cannot be, and the claim; NULL: nothing says so. */
static const char *
missing(const struct facts *f, const struct image_name *n, struct fact release, struct trail *t)
{
	struct trail file = *t, images = trail_to(file, fact_get(file.at[0], "images"));
	struct fact never = fact_get(file.at[0], "never"), rows = fact_get(images.at[1], "missing");

	if (n->cuda && fact_is(fact_get(never, version_series(f->a, n->cuda)))) {
		*t = trail_to(file, fact_get(never, version_series(f->a, n->cuda)));
		return fact_text_of(t->at[1], "why");
	}
	for (size_t i = 0; i < fact_count(rows); i++)
		if (is_about(f, fact_at(rows, i), n)) {
			*t = trail_to(images, fact_at(rows, i));
			return fact_text_of(t->at[2], "why");
		}
	if (!cudnn_part(f, n->tag) || !fact_true_of(release, "no_cudnn"))
		return NULL;
	*t = trail_to(images, release);
	return arena_printf(f->a, "no image of CUDA %s comes with cuDNN", n->cuda);
}

static struct fact
release_of(struct fact file, const char *series, const char *version)
{
	struct fact s =
		series ? fact_get(fact_get(file, "series"), series) : (struct fact){ file.t, 0 };

	return fact_get(fact_get(s, "releases"), version);
}

enum tri
facts_image(const struct facts *f, struct arena *a, const char *repository, const char *tag,
	    const char **why, const char **source)
{
	struct fact file = facts_file(f, "cuda.yaml"), images = fact_get(file, "images");
	const char *name = starts_with(repository, "docker.io/") ? repository + 10 : repository;
	const char *known = fact_text_of(images, "repository");
	struct image_name n = facts_image_name(f, a, arena_printf(a, "%s:%s", name, tag));
	struct trail t = trail_of(file);
	struct fact release = { f->tree, 0 };
	struct names made = { 0 };

	*why = *source = NULL;
	if (!known || strcmp(known, name) || !n.tag)
		return TRI_UNKNOWN;
	if (n.cuda)
		release = release_of(file, version_series(f->a, n.cuda), n.cuda);
	*why = missing(f, &n, release, &t);
	if (*why) {
		*source = trail_source(f, t);
		return TRI_NO;
	}
	made = fact_words(f->a, fact_get(release, n.cudnn ? "cudnn_images" : "images"));
	if (!n.os || !n.flavour || strcmp(n.flavour, "devel") || !names_have(&made, n.os))
		return TRI_UNKNOWN;
	*source = trail_source(f, trail_to(t, release));
	return TRI_YES;
}

const char *
facts_image_tag(const struct facts *f, struct arena *a, const struct cuda_toolkit *t,
		const char *flavour, const char *os)
{
	struct fact images = fact_get(facts_file(f, "cuda.yaml"), "images");

	return arena_printf(a, "%s:%s-%s-%s", fact_text_of(images, "repository"), t->version,
			    flavour, os);
}

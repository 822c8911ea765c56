#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "internal.h"

static bool
in_range(const struct facts *f, const char *spec, const char *version)
{
	const struct specifiers *s = spec ? specifiers_parse(f->a, spec) : NULL;
	const struct version *v = version_parse(f->a, version);

	return s && v && specifiers_match(s, v, PRE_YES);
}

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
			  in_range(f, fact_text_of(wheels, "cuda"), version),
		.source = trail_source(f, trail_to(series, release)),
	};
	if (t->wheels)
		t->wheels_pin =
			arena_printf(f->a, "%s==%s", fact_text_of(wheels, "requirement"), version);
	return t;
}

/* The releases of all series in one row. */
static size_t
count_toolkits(struct fact all)
{
	size_t n = 0;

	for (size_t i = 0; i < fact_count(all); i++)
		n += fact_count(fact_get(fact_at(all, i), "releases"));
	return n;
}

/* Release `r` of series `s`, read when it was not before. */
static const struct cuda_toolkit *
toolkit(const struct facts *f, struct fact all, size_t s, size_t r)
{
	struct facts_read *read = f->read;
	struct fact series = fact_at(all, s), releases = fact_get(series, "releases");
	size_t at = r;

	for (size_t i = 0; i < s; i++)
		at += fact_count(fact_get(fact_at(all, i), "releases"));
	if (!read->cuda) {
		read->ncuda = count_toolkits(all);
		read->cuda = arena_array_of(f->a, const struct cuda_toolkit *, read->ncuda);
	}
	if (!read->cuda[at])
		read->cuda[at] =
			read_toolkit(f, fact_key(releases, r), fact_at(releases, r),
				     trail_to(trail_of(facts_file(f, "cuda.yaml")), series));
	return read->cuda[at];
}

const struct cuda_toolkit *const *
facts_cuda_all(const struct facts *f, size_t *n)
{
	struct fact all = fact_get(facts_file(f, "cuda.yaml"), "series");

	for (size_t s = 0; s < fact_count(all); s++)
		for (size_t r = 0; r < fact_count(fact_get(fact_at(all, s), "releases")); r++)
			toolkit(f, all, s, r);
	*n = f->read->ncuda;
	return f->read->cuda;
}

const struct cuda_toolkit *
facts_cuda(const struct facts *f, const char *version)
{
	struct fact all = fact_get(facts_file(f, "cuda.yaml"), "series");

	for (size_t s = 0; s < fact_count(all); s++) {
		struct fact releases = fact_get(fact_at(all, s), "releases");
		size_t n = fact_count(releases);

		if (n && !strcmp(fact_key(all, s), version))
			return toolkit(f, all, s, n - 1);
		for (size_t r = 0; r < n; r++)
			if (!strcmp(fact_key(releases, r), version))
				return toolkit(f, all, s, r);
	}
	return NULL;
}

const char *
facts_cuda_impossible(const struct facts *f, const char *version)
{
	struct fact never = fact_get(facts_file(f, "cuda.yaml"), "never");

	return fact_text_of(fact_get(never, version_series(f->a, version)), "why");
}

/* --- images --- */

struct image_claim {
	const char *why;
	struct trail trail;
};

static bool
claim(struct image_claim *c, struct trail t, const char *why)
{
	c->why = why;
	c->trail = t;
	return true;
}

static bool
never_was(const struct facts *f, const struct image_name *n, struct trail file, struct trail images,
	  struct image_claim *c)
{
	struct fact tags = fact_get(images.at[1], "never");
	struct fact tag = fact_get(tags, n->tag), gone = fact_get(images.at[1], "gone");
	struct fact never = fact_get(file.at[0], "never");
	struct fact brief = fact_get(images.at[1], "short");

	if (fact_is(tag))
		return claim(c, trail_to(images, tag), fact_text_of(tag, "why"));
	if (n->cuda) {
		struct fact s = fact_get(never, version_series(f->a, n->cuda));

		if (fact_is(s))
			return claim(c, trail_to(file, s), fact_text_of(s, "why"));
	}
	if (n->cuda && fact_is(brief) && strchr(n->cuda, '.') &&
	    !strcmp(version_series(f->a, n->cuda), n->cuda))
		return claim(c, trail_to(images, brief), fact_text_of(brief, "why"));
	for (size_t i = 0; n->cuda && i < fact_count(gone); i++)
		if (in_range(f, fact_text_of(fact_at(gone, i), "cuda"), n->cuda))
			return claim(c, trail_to(images, fact_at(gone, i)),
				     fact_text_of(fact_at(gone, i), "why"));
	return false;
}

static bool
wrong_os(const struct facts *f, const struct image_name *n, struct trail images,
	 struct image_claim *c)
{
	struct fact os =
		n->os ? fact_get(fact_get(images.at[1], "os"), n->os) : (struct fact){ f->tree, 0 };
	const char *range = fact_text_of(os, "cuda");

	if (!range || !n->cuda || !version_parse(f->a, n->cuda) || in_range(f, range, n->cuda))
		return false;
	return claim(
		c, trail_to(images, os),
		arena_printf(f->a, "NVIDIA makes images of %s for CUDA %s only", n->os, range));
}

/* The piece of the tag that names cuDNN: "cudnn8"; NULL: none. */
static const char *
cudnn_part(const struct facts *f, const char *tag)
{
	const char *p = strstr(tag, "-cudnn");

	return p ? arena_copy(f->a, p + 1, strcspn(p + 1, "-")) : NULL;
}

static bool
wrong_cudnn(const struct facts *f, const struct image_name *n, struct trail images,
	    struct fact release, struct image_claim *c)
{
	struct fact rows = fact_get(images.at[1], "cudnn");
	const char *part = cudnn_part(f, n->tag);

	if (!part || !n->cuda)
		return false;
	for (size_t i = 0; i < fact_count(rows); i++) {
		struct fact row = fact_at(rows, i);
		const char *is = fact_text_of(row, "part");

		if (in_range(f, fact_text_of(row, "cuda"), n->cuda) && strcmp(is, part))
			return claim(c, trail_to(images, row),
				     arena_printf(f->a, "tags of CUDA %s write -%s-, not -%s-",
						  fact_text_of(row, "cuda"), is, part));
	}
	if (fact_true_of(release, "no_cudnn"))
		return claim(c, trail_to(images, release),
			     arena_printf(f->a, "no image of CUDA %s comes with cuDNN", n->cuda));
	return false;
}

static struct fact
release_of(struct fact file, const char *series, const char *version)
{
	struct fact s =
		series ? fact_get(fact_get(file, "series"), series) : (struct fact){ file.t, 0 };

	return fact_get(fact_get(s, "releases"), version);
}

static bool
has_word(const struct facts *f, struct fact words, const char *word)
{
	struct names list = fact_words(f->a, words);

	for (size_t i = 0; i < list.n; i++)
		if (!strcmp(list.at[i], word))
			return true;
	return false;
}

enum tri
facts_image(const struct facts *f, struct arena *a, const char *repository, const char *tag,
	    const char **why, const char **source)
{
	struct fact file = facts_file(f, "cuda.yaml"), images = fact_get(file, "images");
	const char *name = starts_with(repository, "docker.io/") ? repository + 10 : repository;
	const char *known = fact_text_of(images, "repository");
	struct image_name n = facts_image_name(f, a, arena_printf(a, "%s:%s", name, tag));
	struct trail t = trail_of(file), in = trail_to(t, images);
	struct image_claim c = { 0 };
	struct fact release;

	*why = *source = NULL;
	if (!known || strcmp(known, name) || !n.tag)
		return TRI_UNKNOWN;
	release = n.cuda ? release_of(file, version_series(f->a, n.cuda), n.cuda) :
			   (struct fact){ f->tree, 0 };
	if (never_was(f, &n, t, in, &c) || wrong_os(f, &n, in, &c) ||
	    wrong_cudnn(f, &n, in, release, &c)) {
		*why = c.why;
		*source = trail_source(f, c.trail);
		return TRI_NO;
	}
	if (n.os && n.flavour && !strcmp(n.flavour, "devel") &&
	    has_word(f, fact_get(release, n.cudnn ? "cudnn_images" : "images"), n.os)) {
		*source = trail_source(f, trail_to(t, release));
		return TRI_YES;
	}
	return TRI_UNKNOWN;
}

const char *
facts_image_tag(const struct facts *f, struct arena *a, const struct cuda_toolkit *t,
		const char *flavour, const char *os)
{
	struct fact images = fact_get(facts_file(f, "cuda.yaml"), "images");

	return arena_printf(a, "%s:%s-%s-%s", fact_text_of(images, "repository"), t->version,
			    flavour, os);
}

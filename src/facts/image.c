#include <string.h>

#include "base/str.h"
#include "internal.h"

/* name [":" tag] ["@" digest]; a colon before the last slash precedes the registry's port */
static void
split_name(struct arena *a, const char *image, struct image_name *n)
{
	const char *at = strchr(image, '@'), *end = at ? at : image + strlen(image);
	const char *colon = NULL;

	for (const char *p = image; p < end; p++) {
		if (*p == ':')
			colon = p;
		else if (*p == '/')
			colon = NULL;
	}
	n->repository = arena_copy(a, image, (size_t)((colon ? colon : end) - image));
	n->tag = colon ? arena_copy(a, colon + 1, (size_t)(end - colon - 1)) : NULL;
	n->digest = at ? at + 1 : NULL;
}

/* Returns the name without Docker Hub's own prefixes. */
static const char *
short_name(const char *repository)
{
	if (starts_with(repository, "docker.io/"))
		repository += strlen("docker.io/");
	if (starts_with(repository, "library/"))
		repository += strlen("library/");
	return repository;
}

static bool
is_version(const char *s)
{
	return is_digit(*s) && !s[strspn(s, "0123456789.")];
}

/* Returns true for a name of the repository, also in a mirror, which has the same tags. */
static bool
is_repository(const char *name, const char *known)
{
	size_t n = strlen(name), k = strlen(known);

	return !strcmp(name, known) ||
	       (strchr(known, '/') && n > k && ends_with(name, known) && name[n - k - 1] == '/');
}

/* Returns true for equal ids without dots: "ubuntu2204" is "ubuntu22.04". */
static bool
is_os(const char *id, const char *piece)
{
	for (; *id; id++)
		if (*id == *piece)
			piece++;
		else if (*id != '.')
			return false;
	return !*piece;
}

/* Finds an OS by id ("ubuntu22.04"), codename ("jammy"), or number ("12" of debian). */
static const char *
os_named(const struct facts *f, struct arena *a, const char *repository, const char *piece)
{
	const struct claim *releases = fact_get(facts_file(f, "os.yaml"), "releases");
	const char *major = arena_copy(a, piece, strcspn(piece, "."));
	const char *slash = strrchr(repository, '/'), *name = slash ? slash + 1 : repository;
	bool number = is_version(piece);
	const char *ids[] = { number ? arena_printf(a, "%s%s", name, piece) : "",
			      number ? arena_printf(a, "%s%s", name, major) : "" };

	for (size_t i = 0; i < fact_count(releases); i++) {
		const char *id = fact_key(releases, i);
		const char *codename = fact_text_of(fact_at(releases, i), "codename");

		if (is_os(id, piece) || (codename && !strcmp(codename, piece)) ||
		    !strcmp(id, ids[0]) || !strcmp(id, ids[1]))
			return id;
	}
	return NULL;
}

/* --- the entry of a repository in bases.yaml, and the parts of its tags --- */

/* Returns "12.8.1" for "1281", "2.10.0" for "2100": the major has one or two digits, the patch
 * one. */
static const char *
dotted(struct arena *a, const char *digits, size_t first)
{
	size_t n = strlen(digits);

	if (!is_version(digits) || strchr(digits, '.') || n <= first)
		return NULL;
	return arena_printf(a, "%.*s.%.*s%s%s", (int)first, digits,
			    n > first + 1 ? (int)(n - first - 1) : 1, digits + first,
			    n > first + 1 ? "." : "", n > first + 1 ? digits + n - 1 : "");
}

/* Returns the value that a text gives {name} in a pattern; NULL: the text is not of that kind. */
static const char *
meaning(const struct facts *f, struct arena *a, const struct image_name *n, const char *name,
	const char *text)
{
	static const char *const versions[] = { "cuda", "torch", "python", "release", "series" };
	const char *series = is_version(text) && strchr(text, '.') ? version_series(a, text) : NULL;

	/* A number is the system's only at the beginning of the tag: debian:12-slim. */
	if (!strcmp(name, "os"))
		return is_version(text) && !starts_with(n->tag, text) ?
			       NULL :
			       os_named(f, a, short_name(n->repository), text);
	if (!strcmp(name, "flavour"))
		return !strcmp(text, "base") || !strcmp(text, "runtime") || !strcmp(text, "devel") ?
			       text :
			       NULL;
	if (!strcmp(name, "cuda_digits") || !strcmp(name, "torch_digits"))
		return dotted(a, text, *name == 'c' ? 2 : 1);
	if (!strcmp(name, "python"))
		return series;
	if (!strcmp(name, "series"))
		return series && !strcmp(series, text) ? series : NULL;
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++)
		if (!strcmp(name, versions[i]))
			return is_version(text) ? text : NULL;
	return text;
}

/* Returns the member that a name stands for: "torch", "torch_digits", or NULL. */
static const char **
member(struct image_name *n, const char *name)
{
	const struct {
		const char *name, **member;
	} all[] = { { "cuda", &n->cuda },      { "cuda_digits", &n->cuda },
		    { "torch", &n->torch },    { "torch_digits", &n->torch },
		    { "os", &n->os },          { "python", &n->python },
		    { "numpy", &n->numpy },    { "constraints", &n->constraints },
		    { "flavour", &n->flavour } };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(all[i].name, name))
			return all[i].member;
	return NULL;
}

/* Reads one part with one pattern, "cuda{cuda}"; *by: the text of the first {by_name}. */
static void
match(const struct facts *f, struct arena *a, const char *pattern, const char *piece,
      const char *by_name, const char **by, struct image_name *n)
{
	size_t before = strcspn(pattern, "{");
	const char *name, *value, **to;

	if (strncmp(pattern, piece, before) != 0 || !pattern[before])
		return;
	name = arena_copy(a, pattern + before + 1, strcspn(pattern + before + 1, "}"));
	value = meaning(f, a, n, name, piece + before);
	if (!value)
		return;
	to = member(n, name);
	if (to)
		*to = value;
	n->cudnn |= !strcmp(name, "cudnn");
	if (by_name && !*by && !strcmp(by_name, name))
		*by = value;
}

/* Fills in the values that are still unknown. */
static void
bring(struct arena *a, const struct claim *brings, struct image_name *n)
{
	if (!n->torch && fact_get(brings, "torch"))
		n->source = fact_source(a, brings);
	n->moves |= !n->os && fact_true_of(brings, "moves");
	n->own_torch |= fact_true_of(brings, "own_torch");
	for (size_t i = 0; i < fact_count(brings); i++) {
		const char **to = member(n, fact_key(brings, i));

		if (to && !*to)
			*to = fact_text(fact_at(brings, i));
	}
}

static void
read_base(const struct facts *f, struct arena *a, const struct claim *base, struct image_name *n)
{
	const struct names patterns = fact_words(f, fact_get(base, "tag"));
	const struct claim *rows = fact_get(base, "rows");
	const char *by_name = fact_text_of(base, "by"), *by = NULL;

	for (const char *p = n->tag; p && *p;) {
		size_t size = strcspn(p, "-");
		const char *piece = arena_copy(a, p, size);

		for (size_t i = 0; i < patterns.n; i++)
			match(f, a, patterns.at[i], piece, by_name, &by, n);
		p += size + (p[size] == '-');
	}
	for (size_t i = 0; by && i < fact_count(rows); i++) {
		const char *versions = fact_text_of(fact_at(rows, i), "versions");

		if (!versions || fact_in_range(f, versions, by))
			bring(a, fact_at(rows, i), n);
	}
	bring(a, fact_get(base, "brings"), n);
}

static struct image_name
read_name(const struct facts *f, const char *image)
{
	const struct claim *file = facts_file(f, "bases.yaml"), *images = fact_get(file, "images");
	struct image_name n = { 0 };

	split_name(f->a, image, &n);
	read_base(f, f->a, fact_get(file, "every"), &n);
	for (size_t i = 0; i < fact_count(images); i++)
		if (is_repository(short_name(n.repository), fact_key(images, i))) {
			read_base(f, f->a, fact_at(images, i), &n);
			if (!n.source)
				n.source = fact_source(f->a, fact_at(images, i));
		}
	return n;
}

struct image_name
facts_image_name(const struct facts *f, const char *image)
{
	struct image_name *known = map_get(&f->read->images, image);

	if (!known) {
		known = arena_new_of(f->a, struct image_name);
		image = arena_strdup(f->a, image);
		*known = read_name(f, image);
		map_put(&f->read->images, image, known);
	}
	return *known;
}

#include <string.h>

#include "base/str.h"
#include "internal.h"

/*
 * image := name [":" tag] ["@" digest], as docker and podman write it; a colon
 * before the last slash belongs to the registry's port.
 */
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

/* The name without Docker Hub's own prefixes. */
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

/* Also in a registry that mirrors it: its tags are the same. */
static bool
is_repository(const char *name, const char *known)
{
	size_t n = strlen(name), k = strlen(known);

	return ends_with(name, known) && (n == k || name[n - k - 1] == '/');
}

/* An OS by its id ("ubuntu22.04"), its codename ("jammy"), or its number ("12" of debian). */
static const char *
os_named(const struct facts *f, struct arena *a, const char *repository, const char *piece)
{
	const struct claim *releases = fact_get(facts_file(f, "os.yaml"), "releases");
	const char *major = arena_copy(a, piece, strcspn(piece, "."));

	for (size_t i = 0; i < fact_count(releases); i++) {
		const char *id = fact_key(releases, i);
		const char *codename = fact_text_of(fact_at(releases, i), "codename");

		if (!strcmp(id, piece) || (codename && !strcmp(codename, piece)) ||
		    !strcmp(id, arena_printf(a, "%s%s", repository, piece)) ||
		    (is_version(piece) && !strcmp(id, arena_printf(a, "%s%s", repository, major))))
			return id;
	}
	return NULL;
}

static void
read_piece(const struct facts *f, struct arena *a, const char *piece, bool first,
	   struct image_name *n)
{
	const char *repository = short_name(n->repository);
	bool version = is_version(piece);

	if (first && version && is_repository(repository, "nvidia/cuda"))
		n->cuda = piece;
	else if (first && version && !strcmp(repository, "python"))
		n->python = strchr(piece, '.') ? version_series(a, piece) : NULL;
	else if (first && version &&
		 (is_repository(repository, "pytorch/pytorch") ||
		  is_repository(repository, "runpod/pytorch")))
		n->torch = piece;
	else if (starts_with(piece, "cuda") && is_version(piece + 4))
		n->cuda = piece + 4;
	else if (starts_with(piece, "py") && is_version(piece + 2) && strchr(piece, '.'))
		n->python = version_series(a, piece + 2);
	else if (starts_with(piece, "cudnn"))
		n->cudnn = true;
	else if (!strcmp(piece, "base") || !strcmp(piece, "runtime") || !strcmp(piece, "devel"))
		n->flavour = piece;
	else if (!n->os)
		n->os = os_named(f, a, repository, piece);
}

struct image_name
facts_image_name(const struct facts *f, struct arena *a, const char *image)
{
	struct image_name n = { 0 };
	bool first = true;

	split_name(a, image, &n);
	for (const char *p = n.tag; p && *p; first = false) {
		size_t size = strcspn(p, "-");

		read_piece(f, a, arena_copy(a, p, size), first, &n);
		p += size + (p[size] == '-');
	}
	return n;
}

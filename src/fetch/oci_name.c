#include <string.h>

#include "base/str.h"
#include "oci.h"

/*
 * The grammar of references in github.com/distribution/reference:
 *
 *   reference = [ host "/" ] path [ ":" tag ] [ "@" digest ]
 *
 * The first part is a host if it is localhost, or has a dot, a colon or an upper-case letter;
 * otherwise the whole text is a path on docker.io, below library/ if it has no slash.
 */
#define LABEL "[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?"
#define COMPONENT "[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*"
static const char host_pattern[] = "^([[][0-9a-fA-F:]+]|" LABEL "([.]" LABEL ")*)(:[0-9]+)?$";
static const char path_pattern[] = "^" COMPONENT "(/" COMPONENT ")*$";
static const char tag_pattern[] = "^[A-Za-z0-9_][A-Za-z0-9_.-]*$";
static const char digest_pattern[] = "^(sha256|sha384|sha512):[0-9a-f]+$";
enum { PATH_MAX_LEN = 255, TAG_MAX_LEN = 128 };

bool
oci_is_digest(const char *text)
{
	return starts_with(text, "sha256:") && strlen(text) == 71 &&
	       strspn(text + 7, "0123456789abcdef") == 64;
}

/* Returns true for as many hex digits as the algorithm has. */
static bool
is_any_digest(const char *text)
{
	return str_matches(text, digest_pattern) && strlen(text + 7) == (text[3] == '2' ? 64 :
									 text[3] == '3' ? 96 :
											  128);
}

static bool
has_upper(const char *s)
{
	return strpbrk(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != NULL;
}

/* Splits a name into the host and the rest. */
static void
split_host(struct arena *a, const char *text, const char **host, const char **rest)
{
	const char *slash = strchr(text, '/');
	const char *first = slash ? arena_copy(a, text, (size_t)(slash - text)) : "";

	*host = "docker.io";
	*rest = text;
	if (slash && (!strcmp(first, "localhost") || strpbrk(first, ".:") || has_upper(first))) {
		*host = strcmp(first, "index.docker.io") != 0 ? first : "docker.io";
		*rest = slash + 1;
	}
	if (!strcmp(*host, "docker.io") && !strchr(*rest, '/'))
		*rest = arena_printf(a, "library/%s", *rest);
}

static bool
refuse(struct diags *ds, const char *text, struct span at, const char *why, const char *help)
{
	struct diag *d =
		diag_at(ds, E_REFERENCE, at, "`%s` is not an image reference: %s", text, why);

	diag_help(d, "%s", help ? help : "write HOST/NAME:TAG, such as ghcr.io/me/stack:1");
	return false;
}

bool
oci_name_parse(struct arena *a, struct diags *ds, const char *text, struct span at,
	       struct oci_name *out)
{
	const char *host, *rest, *scheme = strstr(text, "://");
	char *path, *colon, *sign;

	*out = (struct oci_name){ 0 };
	if (scheme)
		return refuse(ds, text, at, "it begins with a scheme",
			      arena_printf(a, "leave `%.*s` out", (int)(scheme + 3 - text), text));
	if (!*text)
		return refuse(ds, text, at, "it is empty", NULL);
	if (strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64)
		return refuse(ds, text, at, "64 hex digits are the id of an image", NULL);
	split_host(a, text, &host, &rest);
	path = arena_strdup(a, rest);
	sign = strchr(path, '@');
	if (sign) {
		*sign++ = '\0';
		if (!is_any_digest(sign))
			return refuse(
				ds, text, at, "the text after `@` is not a digest",
				"a digest is sha256: and 64 hexadecimal digits in lower case");
		out->digest = sign;
	}
	colon = strchr(path, ':');
	if (colon) {
		*colon++ = '\0';
		if (!str_matches(colon, tag_pattern) || strlen(colon) > TAG_MAX_LEN)
			return refuse(ds, text, at, "the text after the last `:` is not a tag",
				      "a tag has letters, digits, `_`, `.` and `-`, 128 at most");
		out->tag = colon;
	}
	if (!str_matches(host, host_pattern))
		return refuse(ds, text, at, "its host is not valid", NULL);
	if (has_upper(path))
		return refuse(ds, text, at, "names in a registry are in lower case", NULL);
	if (!str_matches(path, path_pattern) || strlen(path) > PATH_MAX_LEN)
		return refuse(
			ds, text, at, "its name is not valid",
			"a name has lower-case letters and digits, with `.`, `_`, `__`, `-` or "
			"`/` between them, 255 at most");
	out->registry = host;
	out->repository = path;
	return true;
}

const char *
oci_name_text(struct arena *a, const struct oci_name *n)
{
	return arena_printf(a, "%s/%s%s%s%s%s", n->registry, n->repository, n->tag ? ":" : "",
			    n->tag ? n->tag : "", n->digest ? "@" : "", n->digest ? n->digest : "");
}

#include <string.h>

#include "base/str.h"
#include "oci.h"

/*
 * A reference, as github.com/distribution/reference reads it:
 *
 *   reference = [ host [ ":" port ] "/" ] path [ ":" tag ] [ "@" digest ]
 *   host      = label *( "." label ) / "[" 1*( hex / ":" ) "]"
 *   label     = alnum [ *( alnum / "-" ) alnum ]
 *   path      = component *( "/" component )        at most 255 characters
 *   component = word *( separator word )
 *   word      = 1*( a-z / 0-9 )
 *   separator = "." / "_" / "__" / 1*"-"
 *   tag       = ( alnum / "_" ) 0*127( alnum / "_" / "." / "-" )
 *   digest    = "sha256:" 64 hex / "sha384:" 96 hex / "sha512:" 128 hex     lower case
 *
 * The first part is a host if it is localhost, or has a dot, a colon or an upper-case letter;
 * else the whole is a path on docker.io, below library/ if it has no slash.
 */
enum { PATH_MAX_LEN = 255, TAG_MAX_LEN = 128 };

static bool
is_lower_alnum(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z');
}

static bool
is_hex(const char *s, size_t n)
{
	if (strlen(s) != n)
		return false;
	for (; *s; s++)
		if (!is_digit(*s) && !(*s >= 'a' && *s <= 'f'))
			return false;
	return true;
}

bool
oci_is_digest(const char *text)
{
	return starts_with(text, "sha256:") && is_hex(text + 7, 64);
}

static bool
is_any_digest(const char *text)
{
	return oci_is_digest(text) || (starts_with(text, "sha384:") && is_hex(text + 7, 96)) ||
	       (starts_with(text, "sha512:") && is_hex(text + 7, 128));
}

static bool
is_tag(const char *s)
{
	if (!is_alnum(*s) && *s != '_')
		return false;
	for (const char *p = s; *p; p++)
		if (!is_alnum(*p) && !strchr("_.-", *p))
			return false;
	return strlen(s) <= TAG_MAX_LEN;
}

/* Length of a separator at s; 0: there is none. */
static size_t
separator(const char *s)
{
	if (*s == '.')
		return 1;
	if (*s == '_')
		return s[1] == '_' ? 2 : 1;
	return strspn(s, "-");
}

static bool
is_path(const char *s)
{
	size_t n;

	if (strlen(s) > PATH_MAX_LEN)
		return false;
	for (;;) {
		if (!is_lower_alnum(*s))
			return false;
		while (is_lower_alnum(*s))
			s++;
		if (!*s)
			return true;
		n = *s == '/' ? 1 : separator(s);
		if (!n)
			return false;
		s += n;
	}
}

static bool
is_port(const char *s)
{
	if (!*s)
		return true;
	if (*s++ != ':' || !*s)
		return false;
	return strspn(s, "0123456789") == strlen(s);
}

static bool
is_host(const char *s)
{
	if (*s == '[') {
		size_t n = strspn(s + 1, "0123456789abcdefABCDEF:");

		return n && s[n + 1] == ']' && is_port(s + n + 2);
	}
	for (;; s++) {
		const char *label = s;

		while (is_alnum(*s) || *s == '-')
			s++;
		if (s == label || *label == '-' || s[-1] == '-')
			return false;
		if (*s != '.')
			return is_port(s);
	}
}

static bool
has_upper(const char *s)
{
	for (; *s; s++)
		if (*s >= 'A' && *s <= 'Z')
			return true;
	return false;
}

/* The host and the rest of a name. */
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

	diag_help(d, "%s", help ? help : "write HOST/NAME:TAG, say ghcr.io/me/stack:1");
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
	if (is_hex(text, 64))
		return refuse(ds, text, at, "64 hex digits are the id of an image", NULL);
	split_host(a, text, &host, &rest);
	path = arena_strdup(a, rest);
	sign = strchr(path, '@');
	if (sign) {
		*sign++ = '\0';
		if (!is_any_digest(sign))
			return refuse(ds, text, at, "what follows `@` is no digest",
				      "a digest reads sha256: and 64 hex digits in lower case");
		out->digest = sign;
	}
	colon = strchr(path, ':');
	if (colon) {
		*colon++ = '\0';
		if (!is_tag(colon))
			return refuse(ds, text, at, "what follows the last `:` is no tag",
				      "a tag has letters, digits, `_`, `.` and `-`, 128 at most");
		out->tag = colon;
	}
	if (!is_host(host))
		return refuse(ds, text, at, "its host is none", NULL);
	if (has_upper(path))
		return refuse(ds, text, at, "names in a registry are in lower case", NULL);
	if (!is_path(path))
		return refuse(
			ds, text, at, "its name is none",
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

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "load.h"

/* Grammars of sources: images, URLs, git repositories, refs, digests. */

/* --- images: the OCI distribution reference grammar --- */

#define LABEL "[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?"
#define HOST "(" LABEL "([.]" LABEL ")*|[[][0-9A-Fa-f:]+])(:[0-9]{1,5})?"
#define COMPONENT "[a-z0-9]+(([.]|_|__|-+)[a-z0-9]+)*"
#define PATH COMPONENT "(/" COMPONENT ")*(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?(@.*)?$"

/* Returns true for "sha256:" with 64 hex digits, or "sha512:" with 128, in lower case. */
static bool
is_digest(const char *s)
{
	return strlen(s) == (starts_with(s, "sha512:") ? 135 : 71) &&
	       str_matches(s, "^sha(256|512):[0-9a-f]*$");
}

/* Reads [host "/"] path [":" tag] ["@" digest]; a first part that is not valid in a path is a
 * host. */
static bool
is_image(const char *s)
{
	const char *at = strchr(s, '@'), *slash = strrchr(s, '/');
	const char *colon = strchr(slash ? slash : s, ':');
	bool host = str_matches(s, "^(localhost|[^/]*[.:[][^/]*)/");

	return strlen(s) <= 512 && (!at || is_digest(at + 1)) &&
	       (at || !colon || strlen(colon) <= 129) &&
	       (host ? str_matches(s, "^" HOST "/" PATH) : str_matches(s, "^" PATH));
}

const struct complaint *
grammar_image(struct load *l, const char *s)
{
	const char *help = "write [host[:port]/]path[:tag][@sha256:...]";
	const char *scheme = strstr(s, "://"), *meant;
	struct complaint *c;
	size_t n;

	if (!strcmp(s, "auto") || !strcmp(s, "true") || !strcmp(s, "false"))
		return complain_that(l, E_IMAGE, s, "is not the name of an image",
				     "omit the key: stackbuild selects the image");
	if (is_image(s))
		return NULL;
	if (scheme)
		help = "an image name has no scheme: remove everything before the host";
	else if (strchr(s, '@') && !is_digest(strchr(s, '@') + 1))
		help = "a digest is sha256: and 64 lower-case hexadecimal digits";
	else if (str_matches(s, "^[^:]*[A-Z]"))
		help = "the name of an image is lower-case; only its tag may have capitals";
	c = complain_that(l, E_IMAGE, s, "is not an image name", help);
	/* Suggests the name in lower case, if that is valid. */
	s = scheme ? scheme + 3 : s;
	n = (strrchr(s, '/') ? (size_t)(strrchr(s, '/') - s) : 0);
	n += strcspn(s + n, ":");
	meant = arena_printf(l->a, "%s%s", arena_lower(l->a, arena_copy(l->a, s, n)), s + n);
	c->fix = is_image(meant) ? meant : NULL;
	return c;
}

/* --- URLs --- */

/* Rejects the character at `p` of a URL, which must be escaped. */
static const struct complaint *
unescaped(struct load *l, const char *s, const char *p, const char *help, const char *what)
{
	struct complaint *c = complain(l, E_URL, help, "%s", what);

	c->from = (size_t)(p - s);
	c->length = 1;
	c->fix = arena_printf(l->a, "%.*s%%%02X%s", (int)(p - s), s, (unsigned char)*p, p + 1);
	return c;
}

/*
 * Accepts a part of RFC 3986: scheme "://" [user "@"] host [":" port] rest, of unreserved, reserved
 * and %-escaped characters. The RFC excludes quotes, backslash, `` ` ``, `<`, `>`, `{`, `|`, `}`,
 * `^` and spaces. `$`, `'`, `(`, `)` and `;` are valid, but must be escaped, because they are
 * special to many programs. In the URL of a repository, `@`, `?` and `#` would begin another part.
 */
static const struct complaint *
check_url(struct load *l, const char *s, bool git)
{
	const char *sep = strstr(s, "://"), *rest = git ? "-._~/+%" : "-._~:/?#@+,=%&[]!*";
	const char *host, *end, *at, *name;

	if (!str_matches(s, git ? "^(https?|ssh)://" : "^https?://"))
		return complain_that(l, E_URL, mask_credentials(l->a, s), "is not a supported URL",
				     git ? "use https:// or ssh://" : "use https://");
	host = sep + 3;
	end = host + strcspn(host, "/?#");
	at = memrchr(host, '@', (size_t)(end - host));
	if (at && (!git || memchr(host, ':', (size_t)(at - host)) || starts_with(s, "http")))
		return complain(
			l, E_CREDENTIALS,
			"remove them, and use a build secret; revoke a token that was in a file",
			"credentials in a URL");
	if (at && (host + strcspn(host, "@") < at ||
		   !str_matches(host, "^[A-Za-z0-9._][A-Za-z0-9._-]*@")))
		return complain_that(l, E_URL, s, "has an invalid user name",
				     "write a plain name before the @, such as git");
	name = at ? at + 1 : host;
	if (!str_matches(arena_copy(l->a, name, (size_t)(end - name)), "^" HOST "$"))
		return complain_that(l, E_URL, s, "has an invalid host name",
				     "write the host's name after the ://");
	for (const char *p = end; *p; p++)
		if (!is_alnum(*p) && !strchr(rest, *p))
			return unescaped(
				l, s, p,
				arena_printf(l->a, "write %%%02X for it", (unsigned char)*p),
				arena_printf(l->a, "`%c` is not allowed in a URL", *p));
		else if (*p == '%' && !str_matches(p, "^%[0-9A-Fa-f]{2}"))
			return unescaped(l, s, p, "write %25 for a percent sign",
					 "`%` is not followed by two hexadecimal digits");
	return NULL;
}

const struct complaint *
grammar_index(struct load *l, const char *s)
{
	return check_url(l, s, false);
}

double
recipe_number(struct text t)
{
	return t.s ? strtod(t.s, NULL) : 0;
}

bool
recipe_names_wheel(const char *url)
{
	size_t n = strcspn(url, "?#");

	return n > 4 && !memcmp(url + n - 4, ".whl", 4);
}

bool
recipe_archive(struct arena *a, const char *url, const char **name, const struct version **version)
{
	const char *file = url_file_name(a, url);
	const struct wheel_file *wheel = wheel_file_parse(a, file);
	const char *dash;
	size_t n = strlen(file);

	if (wheel) {
		*name = wheel->name;
		*version = wheel->version;
		return true;
	}
	n -= ends_with(file, ".tar.gz") ? 7 : ends_with(file, ".zip") ? 4 : n;
	file = arena_copy(a, file, n);
	dash = strrchr(file, '-');
	if (!dash)
		return false;
	*name = arena_copy(a, file, (size_t)(dash - file));
	*version = version_parse(a, dash + 1);
	if (!*version || !name_valid(*name))
		return false;
	*name = name_normalize(a, *name);
	return true;
}

/* Accepts https or http, and a file with the name of a wheel or an sdist. */
const struct complaint *
grammar_archive(struct load *l, const char *s)
{
	const struct complaint *c = check_url(l, s, false);
	const struct version *version;
	const char *name;

	if (c || recipe_archive(l->a, s, &name, &version))
		return c;
	return complain_that(l, E_URL, s, "does not end in the name of a wheel or sdist",
			     "name a file such as x-1.0-py3-none-any.whl or x-1.0.tar.gz; for a "
			     "repository use `git` and `ref`");
}

/* --- git --- */

/* Accepts a URL, or user@host:path for ssh. */
const struct complaint *
grammar_git(struct load *l, const char *s)
{
	const struct complaint *c;
	struct complaint *bad;
	const char *path;

	if (strstr(s, "://")) {
		c = check_url(l, s, true);
		path = strchr(strstr(s, "://") + 3, '/');
		if (c || (path && path[1]))
			return c;
	} else if (str_matches(s, "^[A-Za-z0-9._][A-Za-z0-9._-]*@" HOST
				  ":[A-Za-z0-9._/~+][A-Za-z0-9._/~+-]*$")) {
		return NULL;
	}
	bad = complain_that(l, E_URL, s, "is not the URL of a git repository",
			    "write https://host/path.git, or user@host:path for ssh");
	/* github.com/x/y, copied from a browser */
	if (!strstr(s, "://") && strchr(s, '.') && strchr(s, '.') < strchr(s, '/'))
		complain_try(l, bad, grammar_git, arena_printf(l->a, "https://%s", s));
	return bad;
}

bool
git_is_branch(const char *s)
{
	static const char *const names[] = { "HEAD",        "main", "master",  "develop",
					     "development", "dev",  "trunk",   "default",
					     "nightly",     "next", "staging", "stable",
					     "latest" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcasecmp(s, names[i]))
			return true;
	return str_matches(s, "^(refs/heads|refs/remotes|origin)/");
}

#define HEX "0123456789abcdefABCDEF"

/*
 * Accepts a tag or a full commit; a branch is checked with the extension. Follows
 * git-check-ref-format(1), without characters that are special to a URL, pip or a shell (`@`, `#`,
 * `%`, ...), and without a leading dash, which would begin an option.
 */
const struct complaint *
grammar_extension_ref(struct load *l, const char *s)
{
	size_t n = strlen(s);

	if (n > 255 || *s == '-' || str_matches(s, "[.]lock(/|$)") ||
	    !str_matches(s, "^[A-Za-z0-9_+-]+([./][A-Za-z0-9_+-]+)*$"))
		return complain_that(
			l, E_NAME, s, "is not a git tag or commit",
			"write a tag such as v2.2.2, or a commit of 40 hexadecimal digits");
	/* A shortened commit has a letter and a digit: dates and numbers are tags. */
	if (n >= 7 && n < 40 && strspn(s, HEX) == n && strspn(s, &HEX[10]) < n &&
	    strspn(s, "0123456789") < n)
		return complain_that(l, E_NOT_PINNED, s, "looks like the beginning of a commit",
				     "write all 40 digits (git rev-parse prints them)");
	return NULL;
}

#define FOLDER "[A-Za-z0-9_][A-Za-z0-9._+-]*"

PATTERN_GRAMMAR(subdirectory, "^" FOLDER "(/" FOLDER ")*$", 200, E_PATH,
		"is not a directory of a repository",
		"write it relative to the top of the repository, such as bindings/torch")

const struct complaint *
grammar_sha256(struct load *l, const char *s)
{
	struct complaint *c;

	if (strlen(s) == 64 && strspn(s, HEX) == 64)
		return NULL;
	c = complain_that(l, E_HASH, s, "is not a SHA-256 digest",
			  "write 64 hexadecimal digits, as sha256sum prints them");
	if (starts_with(s, "sha256:") || starts_with(s, "sha256="))
		complain_try(l, c, grammar_sha256, s + 7);
	return c;
}

bool
git_split(struct arena *a, const char *url, const char **repository, const char **ref)
{
	const char *s = url + 4, *sep, *path, *at;

	if (!starts_with(url, "git+") || !(sep = strstr(s, "://")))
		return false;
	path = sep + 3 + strcspn(sep + 3, "/");
	at = strrchr(path, '@');
	*repository = at ? arena_copy(a, s, (size_t)(at - s)) : s;
	*ref = at ? at + 1 : NULL;
	return true;
}

/* Accepts the URL of an ordinary requirement: a pinned git repository, or a file. */
const struct complaint *
grammar_requirement_url(struct load *l, const char *s)
{
	const struct complaint *c;
	const char *repository, *ref;
	size_t fragment = strcspn(s, "#");

	if (!git_split(l->a, arena_copy(l->a, s, fragment), &repository, &ref))
		return check_url(l, s, false);
	if ((c = check_url(l, repository, true)))
		return c;
	if (!ref)
		return complain(l, E_NOT_PINNED, "add @ and a tag or a full commit to the URL",
				"a git repository without a tag or commit");
	if (git_is_branch(ref))
		return complain_that(l, E_NOT_PINNED, ref, "is a branch, so it moves",
				     "name a tag, or the full commit that you tested");
	return grammar_extension_ref(l, ref);
}

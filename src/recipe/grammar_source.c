#include <string.h>

#include "base/str.h"
#include "grammar.h"

/* Where things come from: images, URLs, git repositories, refs, digests. */

/* --- images: the OCI distribution reference grammar --- */

/*
 * path-component := [a-z0-9]+ ( ( "." | "_" | "__" | "-"+ ) [a-z0-9]+ )*
 * Length of the one at the start of `s`, 0 if there is none.
 */
static size_t
component(const char *s)
{
	size_t n = 0;

	for (;;) {
		size_t run = n, sep;

		while (is_digit(s[run]) || (s[run] >= 'a' && s[run] <= 'z'))
			run++;
		if (run == n)
			return 0;
		n = run;
		sep = s[n] == '.'                    ? 1 :
		      s[n] == '_' && s[n + 1] == '_' ? 2 :
		      s[n] == '_'                    ? 1 :
						       strspn(s + n, "-");
		if (!sep)
			return n;
		n += sep;
	}
}

/* domain := label ( "." label )* [ ":" port ], or "[" IPv6 "]" [ ":" port ] */
static bool
is_domain(const char *s, size_t n)
{
	size_t at = 0;

	if (*s == '[') {
		size_t close = strspn(s + 1, "0123456789abcdefABCDEF:") + 1;

		if (s[close] != ']' || close < 3)
			return false;
		at = close + 1;
	} else {
		for (;;) {
			size_t label = 0;

			while (at + label < n && (is_alnum(s[at + label]) || s[at + label] == '-'))
				label++;
			if (!label || s[at] == '-' || s[at + label - 1] == '-')
				return false;
			at += label;
			if (at == n || s[at] != '.')
				break;
			at++;
		}
	}
	if (at < n && s[at] == ':') {
		size_t port = strspn(s + at + 1, "0123456789");

		at += port && port <= 5 ? 1 + port : 0;
	}
	return at == n;
}

/* The first part of a name is a host if it could not be a part of a path. */
static bool
names_host(const char *s, size_t n)
{
	return (n == 9 && !strncmp(s, "localhost", 9)) || memchr(s, '.', n) || memchr(s, ':', n) ||
	       *s == '[';
}

/* tag := [A-Za-z0-9_][A-Za-z0-9_.-]{0,127} */
static size_t
tag(const char *s)
{
	size_t n = is_alnum(*s) || *s == '_' ? run_of(s, "_.-") : 0;

	return n <= 128 ? n : 0;
}

static bool
is_hex(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!is_digit(s[i]) && !(to_lower(s[i]) >= 'a' && to_lower(s[i]) <= 'f'))
			return false;
	return true;
}

/* digest := "sha256:" 64 hex digits, or "sha512:" 128 of them, lower case */
static bool
is_digest(const char *s)
{
	size_t hex = starts_with(s, "sha256:") ? 64 : starts_with(s, "sha512:") ? 128 : 0;

	if (!hex || strlen(s + 7) != hex || !is_hex(s + 7, hex))
		return false;
	for (; *s; s++)
		if (*s >= 'A' && *s <= 'Z')
			return false;
	return true;
}

/* [domain "/"] path-component ("/" path-component)* [":" tag] ["@" digest] */
static bool
is_image(const char *s)
{
	const char *slash = strchr(s, '/'), *p = s;

	if (slash && names_host(s, (size_t)(slash - s))) {
		if (!is_domain(s, (size_t)(slash - s)))
			return false;
		p = slash + 1;
	}
	for (;;) {
		size_t n = component(p);

		if (!n)
			return false;
		p += n;
		if (*p != '/')
			break;
		p++;
	}
	if (*p == ':') {
		size_t n = tag(p + 1);

		if (!n)
			return false;
		p += 1 + n;
	}
	return !*p || (*p == '@' && is_digest(p + 1));
}

/* The name in small letters, if that is one; NULL if not. */
static const char *
image_meant(struct arena *a, const char *s)
{
	const char *slash = strrchr(s, '/'), *colon = strchr(slash ? slash : s, ':');
	size_t n = colon ? (size_t)(colon - s) : strlen(s);
	const char *meant = arena_printf(a, "%s%s", lower_case(a, arena_copy(a, s, n)), s + n);

	return strlen(s) <= 512 && is_image(meant) ? meant : NULL;
}

const struct complaint *
grammar_image(struct load *l, const char *s)
{
	const char *help = "write [host[:port]/]path[:tag][@sha256:...]";
	const char *scheme = strstr(s, "://");
	struct complaint *c;

	if (strlen(s) <= 512 && is_image(s))
		return NULL;
	c = complain(l, E_IMAGE, "%s is not an image name", shown(l->a, s));
	if (scheme)
		help = "an image name has no scheme: remove what stands before the host";
	else if (strchr(s, '@') && !is_digest(strchr(s, '@') + 1))
		help = "a digest is sha256: and 64 lower-case hexadecimal digits";
	else
		for (const char *p = s; *p && *p != ':'; p++)
			if (*p >= 'A' && *p <= 'Z')
				help = "the name of an image is lower-case; only its tag may have "
				       "capitals";
	return complain_fix(c, image_meant(l->a, scheme ? scheme + 3 : s), help);
}

/* --- URLs --- */

static const struct complaint *
credentials(struct load *l)
{
	return complain_help(complain(l, E_CREDENTIALS, "credentials in a URL"),
			     "remove them here and name a build secret instead; tokens that were "
			     "written down should be revoked");
}

/* The URL with the character at `p` escaped. */
static const char *
escaped(struct arena *a, const char *s, const char *p)
{
	return arena_printf(a, "%.*s%%%02X%s", (int)(p - s), s, (unsigned char)*p, p + 1);
}

/*
 * RFC 3986, the part that is needed: scheme "://" [user "@"] host [":" port] rest, of
 * unreserved, reserved and %-escaped characters; quotes, backslash, `$`, `` ` ``, `<`, `>`,
 * `{`, `|`, `}`, `^` and spaces are none of them; `$`, `'`, `(`, `)` and `;` are, and must be
 * escaped all the same, because so much software reads them otherwise.  In the URL of a
 * repository `@`, `?` and `#` would begin what is no part of it.
 */
static const struct complaint *
check_url(struct load *l, const char *s, const char *const *schemes, size_t nschemes, bool user)
{
	const char *sep = strstr(s, "://"), *host, *end, *at = NULL;
	const char *bad = NULL;
	struct complaint *c;

	for (size_t i = 0; sep && i < nschemes; i++)
		if (strlen(schemes[i]) == (size_t)(sep - s) &&
		    !strncmp(s, schemes[i], (size_t)(sep - s)))
			bad = schemes[i];
	if (!bad) {
		c = complain(l, E_URL, "%s is not a URL that is fetched",
			     shown(l->a, mask_credentials(l->a, s)));
		return complain_help(c, user ? "use https:// or ssh://" : "use https://");
	}
	host = sep + 3;
	end = host + strcspn(host, "/?#");
	for (const char *p = host; p < end; p++)
		if (*p == '@')
			at = p;
	if (at && (!user || memchr(host, ':', (size_t)(at - host)) || starts_with(s, "http")))
		return credentials(l);
	if (at && (at == host || run_of(host, "._-") != (size_t)(at - host) || *host == '-'))
		return complain_help(
			complain(l, E_URL, "%s names no user that could be one", shown(l->a, s)),
			"write a plain name before the @, such as git");
	if (!is_domain(at ? at + 1 : host, (size_t)(end - (at ? at + 1 : host))))
		return complain_help(
			complain(l, E_URL, "%s names no host that could be one", shown(l->a, s)),
			"write the host's name after the ://");
	for (const char *p = end; *p; p++)
		if (!is_alnum(*p) && !strchr(user ? "-._~/+%" : "-._~:/?#@+,=%&[]!*", *p)) {
			c = complain(l, E_URL, "`%c` may not stand in a URL", *p);
			c->from = (size_t)(p - s);
			c->length = 1;
			return complain_fix(
				c, escaped(l->a, s, p),
				arena_printf(l->a, "write %%%02X for it", (unsigned char)*p));
		} else if (*p == '%' && !(p[1] && p[2] && is_hex(p + 1, 2))) {
			c = complain(l, E_URL, "`%%` without two hexadecimal digits");
			c->from = (size_t)(p - s);
			c->length = 1;
			return complain_fix(c, escaped(l->a, s, p), "write %25 for a percent sign");
		}
	return NULL;
}

static const char *const web[] = { "https", "http" };
static const char *const git_schemes[] = { "https", "http", "ssh" };

const struct complaint *
grammar_index(struct load *l, const char *s)
{
	return check_url(l, s, web, 2, false);
}

/* The file name at the end of a URL's path. */
static const char *
url_file(struct arena *a, const char *url)
{
	size_t n = strcspn(url, "?#");
	const char *path = arena_copy(a, url, n), *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	struct buf out = BUF(a);

	/* + stands as %2B in the URLs of most indexes */
	for (; *name; name++)
		if (*name == '%' && is_hex(name + 1, 2) && name[1] == '2' &&
		    to_lower(name[2]) == 'b') {
			buf_putc(&out, '+');
			name += 2;
		} else {
			buf_putc(&out, *name);
		}
	return buf_text(&out);
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
	const char *file = url_file(a, url);
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

/* https or http, and a file that is named like a wheel or an sdist. */
const struct complaint *
grammar_archive(struct load *l, const char *s)
{
	const struct complaint *c = check_url(l, s, web, 2, false);
	const struct version *version;
	const char *name;

	if (c || recipe_archive(l->a, s, &name, &version))
		return c;
	return complain_help(complain(l, E_URL, "%s does not end in the name of a wheel or sdist",
				      shown(l->a, s)),
			     "name a file such as x-1.0-py3-none-any.whl or x-1.0.tar.gz; for a "
			     "repository use `git` and `ref`");
}

/* --- git --- */

/* A URL, or user@host:path as ssh takes it. */
const struct complaint *
grammar_git(struct load *l, const char *s)
{
	size_t user = run_of(s, "._-");
	const char *host = s + user + 1, *colon, *path;
	const struct complaint *c;
	struct complaint *bad;

	if (strstr(s, "://")) {
		c = check_url(l, s, git_schemes, 3, true);
		path = strchr(strstr(s, "://") + 3, '/');
		if (c || (path && path[1]))
			return c;
	} else if (user && *s != '-' && s[user] == '@' && (colon = strchr(host, ':')) &&
		   is_domain(host, (size_t)(colon - host)) && colon[1] && colon[1] != '-' &&
		   run_of(colon + 1, "._/~+-") == strlen(colon + 1))
		return NULL;
	bad = complain_help(
		complain(l, E_URL, "%s is not a git repository that is fetched", shown(l->a, s)),
		"write https://host/path.git, or user@host:path as ssh takes it");
	/* github.com/x/y, as it is copied from a browser */
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

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t j = 0;

		while (s[j] && to_lower(s[j]) == to_lower(names[i][j]))
			j++;
		if (!s[j] && !names[i][j])
			return true;
	}
	return starts_with(s, "refs/heads/") || starts_with(s, "refs/remotes/") ||
	       starts_with(s, "origin/");
}

/* The beginning of a commit: hexadecimal, with a letter (v-less dates and numbers are tags). */
static bool
is_short_commit(const char *s)
{
	size_t n = strlen(s), letters = 0, digits = 0;

	for (size_t i = 0; i < n; i++) {
		letters += is_alpha(s[i]);
		digits += is_digit(s[i]);
	}
	return n >= 7 && n < 40 && is_hex(s, n) && letters && digits;
}

/*
 * git-check-ref-format(1) without what a URL, pip or a shell reads otherwise (`@`, `#`,
 * `%`, ...), and no dash first: git would read an option.
 */
static bool
is_ref(const char *s)
{
	size_t n = strlen(s);

	if (!n || n > 255 || *s == '-' || *s == '/' || s[n - 1] == '/' || s[n - 1] == '.')
		return false;
	if (run_of(s, "._/+-") != n || strstr(s, "..") || strstr(s, "//") || strstr(s, "/.") ||
	    *s == '.')
		return false;
	return !ends_with(s, ".lock") && !strstr(s, ".lock/");
}

/* A tag or a full commit; a branch is judged with the extension. */
const struct complaint *
grammar_extension_ref(struct load *l, const char *s)
{
	if (!is_ref(s))
		return complain_help(
			complain(l, E_NAME, "%s is not a git tag or commit", shown(l->a, s)),
			"write a tag such as v2.2.2, or a commit of 40 hexadecimal "
			"digits");
	if (is_short_commit(s))
		return complain_help(complain(l, E_NOT_PINNED,
					      "%s looks like the beginning of a commit",
					      shown(l->a, s)),
				     "write all 40 digits (git rev-parse prints them)");
	return NULL;
}

const struct complaint *
grammar_ref(struct load *l, const char *s)
{
	if (git_is_branch(s))
		return complain_help(
			complain(l, E_NOT_PINNED, "%s is a branch, so it moves", shown(l->a, s)),
			"name a tag, or the full commit that you tested");
	return grammar_extension_ref(l, s);
}

const struct complaint *
grammar_sha256(struct load *l, const char *s)
{
	if (strlen(s) == 64 && is_hex(s, 64))
		return NULL;
	struct complaint *c =
		complain_help(complain(l, E_HASH, "%s is not a SHA-256 digest", shown(l->a, s)),
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

/* The URL of an ordinary requirement: a pinned git repository, or a file. */
const struct complaint *
grammar_requirement_url(struct load *l, const char *s)
{
	const struct complaint *c;
	const char *repository, *ref;
	size_t fragment = strcspn(s, "#");

	if (!git_split(l->a, arena_copy(l->a, s, fragment), &repository, &ref))
		return check_url(l, s, web, 2, false);
	if ((c = check_url(l, repository, git_schemes, 3, true)))
		return c;
	if (!ref)
		return complain_help(complain(l, E_NOT_PINNED,
					      "a git repository without a tag or "
					      "commit"),
				     "add @ and a tag or a full commit to the URL");
	return grammar_ref(l, ref);
}

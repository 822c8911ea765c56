#include <string.h>
#include <strings.h>

#include "load.h"

/*
 * The short forms of an extension are PEP 508 requirements:
 *
 *     name            name[extra]==1.4.0            name>=1,<2 ; marker
 *     name @ https://host/name-1.0-cp311-cp311-linux_x86_64.whl#sha256=...
 *     name @ git+https://host/name.git@v1.0#subdirectory=hopper
 */

/* Returns the part of a text from `p`, `n` bytes long, as a text with its own place. */
static struct text
part(struct load *l, struct text whole, const char *p, size_t n)
{
	return (struct text){ arena_copy(l->a, p, n),
			      span_within(whole, (size_t)(p - whole.s), n) };
}

/* Reads "#egg=name&subdirectory=hopper" like pip; false: it contains more. */
static bool
read_fragment(struct load *l, struct text url, const char *hash, struct recipe_extension *e)
{
	static const char key[] = "subdirectory=";

	for (const char *p = hash ? hash + 1 : NULL; p; p += strcspn(p, "&")) {
		p += *p == '&';
		if (starts_with(p, key))
			e->subdirectory =
				part(l, url, p + strlen(key), strcspn(p, "&") - strlen(key));
		else if (!starts_with(p, "egg="))
			return !*p && p > hash + 1;
	}
	return true;
}

static bool
read_url(struct load *l, struct text url, struct recipe_extension *e)
{
	const char *path = "extensions", *hash = strchr(url.s, '#'), *repository, *ref;
	struct text bare = part(l, url, url.s, strcspn(url.s, "#"));

	if (git_split(l->a, bare.s, &repository, &ref)) {
		e->git = part(l, url, url.s + 4, strlen(repository));
		if (ref)
			e->ref = part(l, url, url.s + (ref - bare.s), strlen(ref));
		if (read_fragment(l, url, hash, e))
			return grammar_holds(l, grammar_git, path, e->git) &&
			       (!ref || grammar_holds(l, grammar_extension_ref, path, e->ref)) &&
			       (!e->subdirectory.s ||
				grammar_holds(l, grammar_subdirectory, path, e->subdirectory));
	} else {
		e->url = bare;
		if (hash && starts_with(hash, "#sha256="))
			e->sha256 = part(l, url, hash + 8, strlen(hash + 8));
		if (!hash || e->sha256.s)
			return (!hash || grammar_holds(l, grammar_sha256, path, e->sha256)) &&
			       grammar_holds(l, grammar_archive, path, e->url);
	}
	return reject(l, E_URL, url.at,
		      e->git.s ? "only #subdirectory=... is allowed there" :
				 "only #sha256=... is allowed there",
		      "`extensions`: %s after a %sURL", shown(l->a, hash), e->git.s ? "git " : "");
}

/* Reads the specifier: "==1.4.0" after the name is a version; any other text up to a marker is a
 * range. */
static void
read_versions(struct load *l, struct text whole, const struct requirement *req,
	      struct recipe_extension *e)
{
	const char *s = whole.s + strspn(whole.s, " ");
	size_t n, skip;

	s += strcspn(s, "[<>=!~; (");
	s += strspn(s, " ");
	if (*s == '[')
		s = strchr(s, ']') + 1;
	s += strspn(s, " (");
	n = strcspn(s, ";)");
	while (n && s[n - 1] == ' ')
		n--;
	skip = strspn(s, "=");
	skip += strspn(s + skip, " ");
	if (n && specifiers_pin(req->spec) && starts_with(s, "==") && !memchr(s, ',', n))
		e->version = part(l, whole, s + skip, n - skip);
	else if (n)
		e->specifier = part(l, whole, s, n);
}

bool
extension_short(struct load *l, const struct node *n, struct recipe_extension *e)
{
	struct text t = node_text(n);
	const struct requirement *req;
	const char *marker, *url;

	if (!text_holds(l, NULL, "extensions", t) || !text_has_no_blank_ends(l, "extensions", t))
		return false;
	/* The URL is checked separately, more strictly than in an ordinary requirement. */
	req = requirement_parse(l->a, t.s, NULL, NULL);
	if (!req)
		return grammar_holds(l, grammar_requirement, "extensions", t);
	e->written = t;
	e->name = part(l, t, t.s + strspn(t.s, " "), strlen(req->name));
	e->extras = req->extras;
	if (!req->url) {
		read_versions(l, t, req, e);
	} else {
		/* The URL ends at a space before a marker. */
		url = strchr(t.s, '@') + 1;
		url += strspn(url, " ");
		if (!read_url(l, part(l, t, url, strcspn(url, " ")), e))
			return false;
	}
	if (req->marker) {
		marker = strchr(t.s, ';') + 1;
		marker += strspn(marker, " ");
		e->marker = part(l, t, marker, strlen(marker));
	}
	return true;
}

/* Returns true for extensions with known releases, of which the solver can select one. */
static bool
is_known_repository(struct load *l, const struct recipe_extension *e)
{
	const struct extension *known = facts_extension(l->f, e->key);
	const char *git = e->git.s, *ours = known ? known->git : NULL;
	size_t n;

	if (!ours)
		return false;
	git = git ? git : ours;
	n = strlen(ours) - (ends_with(ours, ".git") ? 4 : 0);
	if (strlen(git) - (ends_with(git, ".git") ? 4 : 0) != n || strncasecmp(git, ours, n) != 0)
		return false;
	for (size_t i = 0; i < known->nreleases; i++)
		if (known->releases[i].git_tag)
			return true;
	return false;
}

static bool
sources_hold(struct load *l, struct recipe_extension *e)
{
	bool index = e->from == EXT_SDIST || e->from == EXT_WHEEL || e->from == EXT_RELEASE;
	const struct text *version = e->version.s ? &e->version : &e->specifier;
	/* Keys about the source that exclude each other. */
	const struct {
		const char *one, *other;
		const struct text *given;
		struct span also;
		bool both;
	} pairs[] = {
		{ "git", "url", &e->git, e->url.at, e->url.s },
		{ "ref", "url", &e->ref, e->url.at, e->url.s },
		{ "git", "from", &e->git, e->from_at, index },
		{ "ref", "from", &e->ref, e->from_at, index },
		{ "url", "from", &e->url, e->from_at, e->from == EXT_GIT },
		{ "sha256", "git", &e->sha256, e->git.at, e->git.s },
		{ "subdirectory", "url", &e->subdirectory, e->url.at, e->url.s },
		{ "subdirectory", "from", &e->subdirectory, e->from_at, index },
		{ "path", "git", &e->path, e->git.at, e->git.s },
		{ "path", "ref", &e->path, e->ref.at, e->ref.s },
		{ "path", "url", &e->path, e->url.at, e->url.s },
		{ "path", "sha256", &e->path, e->sha256.at, e->sha256.s },
		{ "path", "version", &e->path, version->at, version->s },
		{ "path", "from", &e->path, e->from_at, e->from != EXT_AUTO },
		{ "path", "prefer", &e->path, e->prefer_at, e->prefer == PREFER_PREBUILT },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (pairs[i].given->s && pairs[i].both) {
			diag_help(diag_note(fault(l, E_TOGETHER, pairs[i].given->at,
						  "an extension with both `%s` and `%s`",
						  pairs[i].one, pairs[i].other),
					    pairs[i].also, "`%s` is given here", pairs[i].other),
				  "keep one of the two");
			return false;
		}
	if (e->ref.s && git_is_branch(e->ref.s)) {
		if (!is_known_repository(l, e))
			return reject(l, E_NOT_PINNED, e->ref.at,
				      "name a tag, or the full commit that you tested",
				      "`%s`: `%s` is a branch, so it moves",
				      e->written.s ? "extensions" : "extensions.ref", e->ref.s);
		e->branch = e->ref;
		e->ref = (struct text){ 0 };
	} else if (e->git.s && !e->ref.s && !is_known_repository(l, e)) {
		return reject(l, E_NOT_PINNED, e->git.at,
			      e->written.s ? "add @ and a tag or a full commit to the URL" :
					     "add `ref:` with a tag or a full commit",
			      "`%s` comes from a git repository without a tag or commit",
			      e->name.s);
	}
	return true;
}

/* Checks the package and version in a file name. */
static bool
archive_holds(struct load *l, const struct recipe_extension *e)
{
	const struct version *in_file, *asked;
	const char *name;
	struct diag *d;

	if (!e->url.s || !recipe_archive(l->a, e->url.s, &name, &in_file))
		return true;
	asked = e->version.s ? version_parse(l->a, e->version.s) : NULL;
	if (strcmp(name, e->key) != 0)
		d = diag_note(fault(l, E_TOGETHER, e->url.at, "the file belongs to `%s`", name),
			      e->name.at, "but the extension is `%s`", e->name.s);
	else if (asked && version_cmp(asked, in_file) != 0)
		d = diag_note(fault(l, E_TOGETHER, e->url.at, "the file has version %s",
				    version_text(l->a, in_file)),
			      e->version.at, "but the requested version is %s", e->version.s);
	else
		return true;
	diag_help(d, "correct the one that is wrong");
	return false;
}

bool
extension_holds(struct load *l, struct recipe_extension *e)
{
	const struct requirement *req;

	if (!e->written.s) {
		req = requirement_parse(l->a, e->name.s, NULL, NULL);
		e->name.s = req->name;
		e->extras = req->extras;
		if (e->version.s && !version_parse(l->a, e->version.s)) {
			e->specifier = e->version;
			e->version = (struct text){ 0 };
		}
	}
	e->key = name_normalize(l->a, e->name.s);
	if (!strcmp(e->key, "torch")) {
		diag_help(fault(l, E_NAME, e->name.at, "`torch` is not an extension"),
			  "remove it: `torch:` installs torch, before every extension");
		return false;
	}
	return sources_hold(l, e) && archive_holds(l, e) && own_code_holds(l, e);
}

bool
extensions_hold(struct load *l, const struct recipe_extensions *all)
{
	struct map seen = MAP(l->a);
	bool good = true;

	for (size_t i = 0; i < all->n; i++) {
		struct recipe_extension *e = &all->at[i], *first = map_put(&seen, e->key, e);

		if (!first)
			continue;
		diag_help(diag_note(fault(l, E_TWICE, e->name.at,
					  "the extension `%s` is listed twice", e->name.s),
				    first->name.at, "first here"),
			  "remove one of the two");
		good = false;
	}
	return good;
}

#include <string.h>

#include "base/buf.h"
#include "reader.h"

/* Decides the place of a requirement: torch, torch.with, the extensions, the packages, or none. */

/* --- torch --- */

/* Records the ranges of torch as a constraint in `packages` until a release is selected. */
static void
add_range(struct init *rd, const char *spec, const struct init_item *from)
{
	struct init_item *range = torch_range(rd);

	if (range) {
		range->value = arena_printf(rd->a, "%s,%s", range->value, spec);
		return;
	}
	range = item_open(rd, from->what, from->at);
	range->name = "torch";
	item_take(rd, range, "packages", arena_printf(rd->a, "torch%s", spec));
}

static void
add_torch(struct init *rd, struct init_item *item, const struct requirement *r)
{
	const struct version *v = specifiers_pin(r->spec);
	const char *name, *spec = specifiers_text(rd->a, r->spec), *local;
	const struct init_item written = *item;

	if (r->url && !recipe_archive(rd->a, r->url, &name, &v)) {
		item_leave(rd, item, "torch comes from its own index, by version");
		return;
	}
	local = v ? version_local(rd->a, v) : NULL;
	item->pinned = v != NULL;
	item->local = local;
	item_take(rd, item, "torch.version", v ? version_public(rd->a, v) : "*");
	if (local)
		item_set(rd, local, written.at, "torch.index", local);
	if (*spec && !init_get(rd, "torch.version")->pinned)
		add_range(rd, spec, &written);
}

static void
add_companion(struct init *rd, struct init_item *item, const struct requirement *r)
{
	const struct version *v = specifiers_pin(r->spec);
	const char *name;

	if (r->url)
		recipe_archive(rd->a, r->url, &name, &v);
	item->spec = specifiers_text(rd->a, r->spec);
	item->pinned = v != NULL;
	item_take(rd, item, "torch.with",
		  v ? arena_printf(rd->a, "%s==%s", r->key, version_public(rd->a, v)) : r->name);
}

/*
 * Returns true for packages that torch's wheels require, by METADATA of "PyPI: torch 1.13.0" to
 * "PyPI: torch 2.15.0": torch installs them in its own versions.
 */
static bool
comes_with_torch(struct init *rd, const char *key)
{
	static const char names[] =
		"triton pytorch-triton cuda-bindings cuda-toolkit cuda-pathfinder nvidia-cublas "
		"nvidia-cuda-cupti nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cudnn nvidia-cufft "
		"nvidia-cufile nvidia-curand nvidia-cusolver nvidia-cusparse nvidia-cusparselt "
		"nvidia-nccl nvidia-nvjitlink nvidia-nvshmem nvidia-nvtx";
	size_t n = strlen(key);

	if (starts_with(key, "nvidia-") && str_matches(key, "-cu1[0-9]$"))
		n -= strlen("-cu12");
	return among(arena_copy(rd->a, key, n), names);
}

/* --- extensions --- */

/* Returns why the content of a URL may change, or NULL. */
static const char *
not_kept(struct init *rd, const char *url, bool has_releases)
{
	const char *path = strstr(url, "://"), *ref;
	size_t n;

	if (!starts_with(url, "git+")) {
		if (!starts_with(url, "https://") && !starts_with(url, "http://"))
			return "a local file is not part of a recipe";
		return strstr(url, "win_amd64") || strstr(url, "macosx") ?
			       "the wheel is for another system" :
			       NULL;
	}
	path = strchr(path ? path + 3 : url, '/');
	ref = path ? strrchr(arena_copy(rd->a, path, strcspn(path, "#")), '@') : NULL;
	if (!has_releases)
		return NULL;
	if (!ref)
		return "a repository without tag or commit changes";
	/* A ref without digits is usually a branch; a shortened commit may be ambiguous. */
	n = strlen(++ref);
	return !strpbrk(ref, "0123456789") ||
			       (n >= 7 && n < 40 && strspn(ref, "0123456789abcdef") == n) ?
		       arena_printf(rd->a, "`%s` is neither a tag nor a full commit", ref) :
		       NULL;
}

/* Adds an extra that is an extension as a separate item, because extensions are built without
 * dependencies. */
static void
add_extras(struct init *rd, const struct init_item *owner, const struct requirement *r)
{
	for (size_t k = 0; k < r->extras.n; k++) {
		const char *extra = name_normalize(rd->a, r->extras.at[k]);
		struct init_item *item =
			item_open(rd, arena_printf(rd->a, "%s[%s]", r->name, extra), owner->at);

		if (facts_extension(rd->f, extra))
			place_requirement(rd, item, extra, true);
		else
			item_leave(rd, item,
				   "an extension is installed without its extras; add their "
				   "requirements to `packages`");
		item->call = owner->call;
	}
}

/* Returns "hopper" for "git+https://...#egg=x&subdirectory=hopper"; or NULL. */
static const char *
subdirectory_of(struct arena *a, const char *url)
{
	const char *hash = strchr(url, '#'), *at = hash ? strstr(hash, "subdirectory=") : NULL;

	if (!starts_with(url, "git+") || !at || (at[-1] != '#' && at[-1] != '&'))
		return NULL;
	at += strlen("subdirectory=");
	return arena_copy(a, at, strcspn(at, "&"));
}

/* Returns whether the project of an extension has prebuilt wheels of a release. */
static bool
has_release_wheels(struct init *rd, const struct extension *e, const struct version *v)
{
	const struct extension_release *r =
		e ? extension_release(e, version_public(rd->a, v)) : NULL;

	return r && facts_extension_wheels(rd->f, rd->a, r).n;
}

static void
add_extension(struct init *rd, struct init_item *item, const struct requirement *r,
	      const struct extension *e)
{
	const struct version *v = specifiers_pin(r->spec);
	const char *value = e ? e->name : r->key, *why = NULL, *name;
	bool git = r->url && starts_with(r->url, "git+");

	add_extras(rd, item, r);
	item->name = value;
	item->spec = specifiers_text(rd->a, r->spec);
	item->pinned = v != NULL;
	if (r->url) {
		why = not_kept(rd, r->url, e && e->nreleases);
		item->pinned = !git || !not_kept(rd, r->url, true);
		if (!git)
			recipe_archive(rd->a, r->url, &name, &v);
	} else if (v && version_local(rd->a, v)) {
		item->release = has_release_wheels(rd, e, v);
		why = item->release ? NULL : "a wheel for one build of torch";
		item->spec = arena_printf(rd->a, "==%s", version_public(rd->a, v));
	}
	if (why) {
		bool wheel = e && e->pypi == PYPI_WHEEL;

		item->spec = v ? arena_printf(rd->a, "==%s", version_public(rd->a, v)) : "";
		item_changed(rd, item->at, "`%s`: %s; the recipe %s %s instead", value, why,
			     wheel ? "installs" : "compiles",
			     v     ? version_public(rd->a, v) :
			     wheel ? "a wheel of PyPI" :
				     "a compatible release");
		if (wheel) {
			item_take(rd, item, "packages",
				  arena_printf(rd->a, "%s%s", value, item->spec));
			return;
		}
	} else if (r->url) {
		const char *in = subdirectory_of(rd->a, r->url);

		value = arena_printf(rd->a, "%s @ %.*s%s%s", value, (int)strcspn(r->url, "#"),
				     r->url, in ? "#subdirectory=" : "", in ? in : "");
	}
	item_take(rd, item, "extensions", value);
}

/* --- packages --- */

/* pip installs it from a wheel of PyPI, so the recipe need not compile it. */
static bool
is_package(struct arena *a, const struct extension *e, const struct requirement *r)
{
	const struct version *v = specifiers_pin(r->spec);

	return !(r->url && starts_with(r->url, "git+")) &&
	       extension_is_package(e, v ? extension_release(e, version_public(a, v)) : NULL,
				    r->key);
}

static void
add_package(struct init *rd, struct init_item *item, const struct requirement *r, const char *text)
{
	bool git = r->url && starts_with(r->url, "git+");
	const struct version *v = specifiers_pin(r->spec);

	item->spec = specifiers_text(rd->a, r->spec);
	item->pinned = git ? !not_kept(rd, r->url, true) : specifiers_pin(r->spec) != NULL;
	if (git && !item->pinned)
		item_leave(rd, item, "it changes: add it with a tag or a full commit");
	else if (r->url && (!strstr(r->url, "://") || starts_with(r->url, "file:")))
		item_leave(rd, item,
			   "it was built on another machine (conda does so): add it with its "
			   "version");
	else
		item_take(rd, item, "packages", text);
	if (item->fate == INIT_TAKEN && !r->url && v && version_local(rd->a, v) &&
	    !init_get(rd, "index"))
		diag_help(diag_at(rd->ds, W_INIT_NOT_READ, item->at,
				  "the package index has no `%s`: it has no local versions", text),
			  "name the wheel by its URL, or its index in `index: {extra: [...]}`");
}

/* --- one requirement --- */

/* Returns the name for a URL without one: from #egg=, the file's name or the repository's. */
static const char *
name_of_url(struct init *rd, const char *url)
{
	const char *egg = strstr(url, "egg="), *name, *begin;
	const char *bare = arena_copy(rd->a, url, strcspn(url, "#"));
	const char *folder = subdirectory_of(rd->a, url), *in = folder ? folder : "";
	const char *near = NULL; /* the item of another directory of the same repository */
	struct names known = facts_extension_names(rd->f);
	const struct version *v;
	size_t n;

	if (egg && egg > url && (egg[-1] == '#' || egg[-1] == '&'))
		return arena_copy(rd->a, egg + 4, strcspn(egg + 4, "&[-"));
	if (recipe_archive(rd->a, bare, &name, &v))
		return name;
	if (!starts_with(bare, "git+"))
		return NULL;
	for (size_t i = 0; i < known.n; i++) {
		const struct extension *e = facts_extension(rd->f, known.at[i]);
		const char *git = e->git;

		n = git ? strlen(git) - (ends_with(git, ".git") ? 4 : 0) : 0;
		if (n && !strncasecmp(bare + 4, git, n) && !is_alnum(bare[4 + n]) &&
		    bare[4 + n] != '-' && bare[4 + n] != '_') {
			if (!strcmp(in, e->subdirectory ? e->subdirectory : ""))
				return known.at[i];
			near = near ? near : known.at[i];
		}
	}
	if (near)
		return *in ? NULL : near;
	begin = strrchr(bare, '/');
	n = begin ? strcspn(++begin, "@") : 0;
	return n ? arena_copy(rd->a, begin,
			      n - (n > 4 && !memcmp(begin + n - 4, ".git", 4) ? 4 : 0)) :
		   NULL;
}

bool
is_local_path(const char *s)
{
	return *s == '.' || *s == '/' || *s == '~' ||
	       (!strstr(s, "://") && ((!strchr(s, '@') && strchr(s, '/')) || ends_with(s, ".whl") ||
				      ends_with(s, ".tar.gz")));
}

void
place_requirement(struct init *rd, struct init_item *item, const char *text, bool compiled)
{
	const char *why = NULL, *name = NULL, *named = NULL;
	const struct requirement *r = requirement_parse(rd->a, text, &why, NULL);
	const struct extension *e = r ? facts_extension(rd->f, r->key) : NULL;
	struct marker_env here = marker_env_linux(rd->a, python_likely(rd), "x86_64", "");
	bool holds = true;

	if (!r && strstr(text, "://") && (name = name_of_url(rd, text)) && name_valid(name))
		named = arena_printf(rd->a, "%s @ %s", name, text);
	/* A text such as `pip install URL` is no requirement with a name before it, either. */
	if (named && requirement_parse(rd->a, named, NULL, NULL)) {
		place_requirement(rd, item, named, compiled);
		return;
	}
	if (r)
		item->name = r->key;
	if (is_local_path(text))
		item_local(rd, item);
	else if (!r)
		item_unread(rd, item,
			    str_matches(text, "^[A-Za-z0-9._-]+=[^= ]+$") ?
				    "conda writes one `=`; `pip freeze` writes two" :
				    NULL,
			    "it is not a requirement: %s", why);
	else if (!strcmp(r->key, "pip"))
		item_leave(rd, item, "the environment has its own pip");
	else if (comes_with_torch(rd, r->key))
		item_leave(rd, item, "torch installs the version that it was built with");
	else if (r->marker && (e || !strcmp(r->key, "torch")) &&
		 marker_eval(r->marker, &here, &holds) && !holds)
		item_leave(rd, item, "its marker excludes this environment");
	else if (!strcmp(r->key, "torch"))
		add_torch(rd, item, r);
	else if (!strcmp(r->key, "torchvision") || !strcmp(r->key, "torchaudio"))
		add_companion(rd, item, r);
	else if (e ? !is_package(rd->a, e, r) : compiled)
		add_extension(rd, item, r, e);
	else
		add_package(rd, item, r, text);
}

bool
init_requirement(struct init *rd, const char *text)
{
	size_t from = rd->items.n;
	struct init_item *item = item_open(rd, text, (struct span){ 0 });

	place_requirement(rd, item, text, false);
	if (item->code == W_INIT_NOT_READ || is_local_path(text)) {
		diag_at(rd->ds, E_INIT_INPUT, item->at, "`%s`: %s", text, item->why);
		return false;
	}
	items_report(rd, from);
	return true;
}

/* --- indexes --- */

const char *
torch_index_tag(struct init *rd, const char *url)
{
	const char *cpu = facts_torch_index(rd->f, rd->a, "cpu"), *tag;
	size_t root = cpu ? strlen(cpu) - strlen("cpu") : 0, n;

	if (!root || strncmp(url, cpu, root - 1) != 0)
		return NULL;
	tag = url[root - 1] ? url + root : "";
	n = ends_with(tag, "_stable.html") ? 0 : strlen(tag);
	while (n && tag[n - 1] == '/')
		n--;
	return arena_copy(rd->a, tag, n);
}

static void
place_index(struct init *rd, struct init_item *item, const char *url, bool extra)
{
	const char *tag = torch_index_tag(rd, url), *shown = mask_credentials(rd->a, url);

	if (strchr(url, '$'))
		item_unread(rd, item, "choose the build of torch with --cuda or `torch.index`",
			    "its variables have no value here");
	else if (tag && strchr(tag, '/'))
		item_leave(rd, item, "the knowledge base lists no nightly builds");
	else if (tag)
		item_take(rd, item, "torch.index",
			  *tag && !init_get(rd, "torch.index") ? tag : NULL);
	/* Omits PyPI itself, which pip uses anyway: its host has two labels, and the first is its
	 * name. */
	else if (str_matches(url, "^[^:]*://pypi[.][^./]*(/|$)"))
		item_take(rd, item, "packages", NULL);
	else if (!extra && !init_get(rd, "index") && !strcmp(shown, url))
		item_take(rd, item, "index", url);
	else
		item_unread(rd, item,
			    extra ? "list its packages: `index: {extra: [{url: ..., packages: "
				    "[...]}]}`" :
				    "use `index: {url: ..., secret: NAME}`, without credentials in "
				    "the URL",
			    "the recipe has no key for this index");
}

void
place_option(struct init *rd, struct init_item *item, enum pip_option o, const char *value)
{
	if (o == PIP_INDEX || o == PIP_EXTRA_INDEX)
		place_index(rd, item, value, o == PIP_EXTRA_INDEX);
	else if (o == PIP_LINKS && torch_index_tag(rd, value))
		item_take(rd, item, "torch.index", NULL);
	else if (o == PIP_LINKS)
		item_unread(rd, item,
			    "name each wheel of the page by its URL: `NAME @ https://.../x.whl`",
			    "init does not read pages of links");
	else if (o == PIP_REQUIREMENTS)
		item_unread(
			rd, item,
			arena_printf(rd->a, "add `--from %s`: the option may be repeated", value),
			"`%s` was not read", value);
	else if (o == PIP_CONSTRAINTS)
		item_unread(rd, item, NULL, "the constraints of `%s` were not read", value);
	else if (o == PIP_NO_ISOLATION)
		item_take(rd, item, "extensions", NULL);
	else if (o == PIP_NO_CACHE)
		item_take(rd, item, "packages", NULL);
	else
		item_leave(rd, item, "it is an option of pip");
}

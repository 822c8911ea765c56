#include "wish.h"

#include <stdarg.h>
#include <string.h>

#include "base/str.h"

/* Where a requirement belongs: torch, beside torch, the extensions, the packages, nowhere. */

void
wish_left(struct reader *rd, const char *what, struct span at, const char *why)
{
	list_push(rd->a, &rd->n->left, (struct init_left){ what, why });
	diag_at(rd->ds, N_INIT_LEFT, at, "left out: `%s`: %s", what, why);
}

void
wish_changed(struct reader *rd, struct span at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag_at(rd->ds, N_INIT_CHANGED, at, "%s", arena_vprintf(rd->a, fmt, ap));
	va_end(ap);
}

enum { ITEMS_MAX = 4000 };

/* Later lines override earlier ones, as with pip's own calls. */
static void
put(struct reader *rd, struct init_items *list, struct init_item item)
{
	if (list->n >= ITEMS_MAX) {
		if (!rd->ds->errors)
			diag_at(rd->ds, E_INIT_INPUT, item.at, "more than %d requirements",
				ITEMS_MAX);
		return;
	}
	for (size_t i = 0; i < list->n; i++) {
		struct init_item *old = &list->at[i];

		if (strcmp(old->key, item.key) != 0)
			continue;
		if (strcmp(old->text, item.text) != 0 || strcmp(old->spec, item.spec) != 0)
			diag_note(diag_at(rd->ds, N_INIT_CHANGED, item.at,
					  "`%s` is asked for twice: this line is taken", item.key),
				  old->at, "the other");
		*old = item;
		return;
	}
	list_push(rd->a, list, item);
}

/* --- torch --- */

static void
set_torch(struct reader *rd, const struct version *v, struct span at)
{
	const char *local = version_local(rd->a, v);

	rd->n->torch = (struct text){ version_public(rd->a, v), at };
	rd->n->torch_spec = (struct text){ 0 };
	if (local)
		rd->n->index = (struct text){ local, at };
}

static struct wish
add_torch(struct reader *rd, const struct requirement *r, struct span at)
{
	const struct version *v = specifiers_pin(r->spec);
	struct wish w = { WISH_TORCH, r->key, specifiers_text(rd->a, r->spec), NULL, false, true };
	const char *name;

	if (r->url && !recipe_archive(rd->a, r->url, &name, &v)) {
		wish_left(rd, arena_printf(rd->a, "%s @ %s", r->name, r->url), at,
			  "torch comes from its own index, by version");
		w.pinned = false;
		return w;
	}
	if (v) {
		set_torch(rd, v, at);
		w.local = version_local(rd->a, v);
	} else {
		w.pinned = false;
		if (!rd->n->torch.s)
			rd->n->torch_spec = (struct text){ w.spec, at };
	}
	return w;
}

static struct wish
add_with(struct reader *rd, const struct requirement *r, struct span at)
{
	const struct version *v = specifiers_pin(r->spec);
	const char *text = r->name, *name;
	struct wish w = { WISH_WITH, r->key, specifiers_text(rd->a, r->spec), NULL, false, true };

	if (r->url)
		recipe_archive(rd->a, r->url, &name, &v);
	if (v)
		text = arena_printf(rd->a, "%s==%s", r->key, version_public(rd->a, v));
	else
		w.pinned = false;
	put(rd, &rd->n->with,
	    (struct init_item){ .key = r->key, .text = text, .spec = w.spec, .at = at });
	return w;
}

/*
 * What torch's wheels ask for by name, as METADATA of "PyPI: torch 1.13.0" to "PyPI:
 * torch 2.15.0" has it: they come with it, at its versions.
 */
static bool
comes_with_torch(const char *key)
{
	static const char *const nvidia[] = {
		"cublas",     "cuda-cupti", "cuda-nvrtc", "cuda-runtime", "cudnn",
		"cufft",      "cufile",     "curand",     "cusolver",     "cusparse",
		"cusparselt", "nccl",       "nvjitlink",  "nvshmem",      "nvtx",
	};
	static const char *const others[] = {
		"triton", "pytorch-triton", "cuda-bindings", "cuda-toolkit", "cuda-pathfinder",
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(key, others[i]))
			return true;
	if (!starts_with(key, "nvidia-"))
		return false;
	for (size_t i = 0; i < sizeof(nvidia) / sizeof(*nvidia); i++) {
		const char *rest = key + strlen("nvidia-");

		if (!starts_with(rest, nvidia[i]))
			continue;
		rest += strlen(nvidia[i]);
		if (!*rest || (starts_with(rest, "-cu1") && is_digit(rest[4]) && !rest[5]))
			return true;
	}
	return false;
}

/* --- extensions --- */

/* The place after which a git URL's ref stands ("...x.git@v1"), or NULL. */
static const char *
wish_git_ref(const char *url)
{
	const char *path = strstr(url, "://"), *at;

	path = path ? strchr(path + 3, '/') : strchr(url, '/');
	at = path ? strrchr(path, '@') : NULL;
	return at ? at + 1 : NULL;
}

/* Names that are branches by custom, or say nothing that could stay. */
static bool
moves(const char *ref)
{
	size_t hex = strspn(ref, "0123456789abcdef");

	return !*ref || (!strpbrk(ref, "0123456789")) || (!ref[hex] && hex < 40 && hex >= 7);
}

static void
open_version(struct reader *rd, struct init_item *item, const struct extension *e, const char *why)
{
	wish_changed(rd, item->at, "`%s`: %s; the release that goes with the rest is taken",
		     item->key, why);
	item->git = item->ref = NULL;
	item->text = e ? e->name : item->key;
	item->spec = "";
}

/* "git+https://host/x.git@v1#egg=x" */
static void
from_git(struct reader *rd, struct init_item *item, const char *url, const struct extension *e,
	 struct wish *w)
{
	size_t n = strcspn(url, "#");
	const char *plain = arena_copy(rd->a, url + 4, n > 4 ? n - 4 : 0);
	const char *ref = wish_git_ref(plain);

	w->git = true;
	item->ref = ref;
	item->git = ref ? arena_copy(rd->a, plain, (size_t)(ref - 1 - plain)) : plain;
	w->pinned = ref && !moves(ref);
	if (!w->pinned && e && e->nreleases)
		open_version(rd, item, e,
			     ref ? arena_printf(rd->a, "`%s` moves, or is not whole", ref) :
				   "a repository without tag or commit moves");
}

/* "https://host/x-1.0-cp311-cp311-linux_x86_64.whl" */
static void
from_file(struct reader *rd, struct init_item *item, const char *url, const struct extension *e,
	  struct wish *w)
{
	const struct version *v = NULL;
	const char *name;
	bool archive = recipe_archive(rd->a, url, &name, &v);

	w->pinned = true;
	if (!starts_with(url, "https://") && !starts_with(url, "http://")) {
		open_version(rd, item, e, "a local file is not kept");
		if (archive)
			item->spec = arena_printf(rd->a, "==%s", version_public(rd->a, v));
		return;
	}
	if (strstr(url, "win_amd64") || strstr(url, "macosx")) {
		open_version(rd, item, e, "a wheel for another system");
		item->spec = archive ? arena_printf(rd->a, "==%s", version_public(rd->a, v)) : "";
		return;
	}
	item->text = arena_printf(rd->a, "%s @ %s", item->key, url);
}

static struct wish
add_extension(struct reader *rd, const struct requirement *r, const struct extension *e,
	      struct span at)
{
	const struct version *pin = specifiers_pin(r->spec);
	struct init_item item = { .key = e ? e->name : r->key, .at = at };
	struct wish w = { WISH_EXTENSION, item.key, specifiers_text(rd->a, r->spec),
			  NULL,           false,    pin != NULL };
	struct buf name = BUF(rd->a);

	buf_puts(&name, item.key);
	for (size_t i = 0; i < r->extras.n; i++)
		buf_printf(&name, "%s%s", i ? "," : "[", r->extras.at[i]);
	buf_puts(&name, r->extras.n ? "]" : "");
	item.text = buf_text(&name);
	item.spec = w.spec;
	if (pin && version_local(rd->a, pin)) {
		item.spec = arena_printf(rd->a, "==%s", version_public(rd->a, pin));
		wish_changed(rd, at, "`%s%s`: a wheel for one torch; %s is compiled instead",
			     item.key, w.spec, version_public(rd->a, pin));
	}
	if (r->url && starts_with(r->url, "git+"))
		from_git(rd, &item, r->url, e, &w);
	else if (r->url)
		from_file(rd, &item, r->url, e, &w);
	put(rd, &rd->n->extensions, item);
	return w;
}

/* --- packages --- */

static struct wish
add_package(struct reader *rd, const struct requirement *r, const char *text, struct span at)
{
	const char *spec = specifiers_text(rd->a, r->spec);
	struct wish w = {
		WISH_PACKAGE, r->key, spec, NULL, false, specifiers_pin(r->spec) != NULL
	};

	if (r->url && starts_with(r->url, "git+")) {
		const char *ref = wish_git_ref(arena_copy(rd->a, r->url, strcspn(r->url, "#")));

		w.git = true;
		w.pinned = ref && !moves(ref);
		if (!w.pinned) {
			wish_left(rd, text, at, "it moves: add it with a tag or a full commit");
			w.kind = WISH_LEFT;
			return w;
		}
	} else if (r->url && !strstr(r->url, "://")) {
		wish_left(rd, text, at, "a local file");
		w.kind = WISH_LEFT;
		return w;
	} else if (r->url && starts_with(r->url, "file:")) {
		wish_left(rd, text, at,
			  "built on that machine (conda does so): add it with its version");
		w.kind = WISH_LEFT;
		return w;
	}
	put(rd, &rd->n->packages,
	    (struct init_item){ .key = r->key, .text = text, .spec = spec, .at = at });
	return w;
}

/* --- one requirement --- */

/* The name of a URL that is given without one: #egg=, the file's name, the repository's. */
static const char *
name_of_url(struct reader *rd, const char *url)
{
	const char *egg = strstr(url, "#egg="), *name, *end, *begin;
	struct names known = facts_extension_names(rd->f);
	const struct version *v;
	size_t n = strcspn(url, "#");

	if (!egg)
		egg = strstr(url, "&egg=");
	if (egg)
		return arena_copy(rd->a, egg + 5, strcspn(egg + 5, "&[-"));
	if (recipe_archive(rd->a, arena_copy(rd->a, url, n), &name, &v))
		return name;
	if (!starts_with(url, "git+"))
		return NULL;
	for (size_t i = 0; i < known.n; i++) {
		const char *git = facts_extension(rd->f, known.at[i])->git;
		size_t m = git ? strlen(git) - (ends_with(git, ".git") ? 4 : 0) : 0;

		if (m && n >= 4 + m && !strncasecmp(url + 4, git, m) &&
		    (!is_alnum(url[4 + m]) && url[4 + m] != '-' && url[4 + m] != '_'))
			return known.at[i];
	}
	begin = strrchr(arena_copy(rd->a, url, n), '/');
	end = begin ? begin + 1 + strcspn(begin + 1, "@") : NULL;
	if (!begin)
		return NULL;
	n = (size_t)(end - begin - 1);
	return arena_copy(rd->a, begin + 1, n > 4 && !strncmp(end - 4, ".git", 4) ? n - 4 : n);
}

/* A marker that is false here leaves the line out; one that holds says nothing more. */
static bool
holds_here(struct reader *rd, const struct requirement *r)
{
	struct marker_env env =
		marker_env_linux(rd->a, rd->n->python.s ? rd->n->python.s : "3.11", "x86_64");
	bool value = true;

	return !r->marker || !marker_eval(r->marker, &env, &value) || value;
}

static struct wish
place(struct reader *rd, const struct requirement *r, const char *text, struct span at,
      bool compiled)
{
	const struct extension *e = facts_extension(rd->f, r->key);
	bool mine = !strcmp(r->key, "torch") || e;

	if (!strcmp(r->key, "pip") || comes_with_torch(r->key)) {
		wish_left(rd, text, at,
			  !strcmp(r->key, "pip") ?
				  "the environment has its own" :
				  "torch brings it, at the version that it was built with");
		return (struct wish){ WISH_LEFT, r->key, "", NULL, false, true };
	}
	if (mine && !holds_here(rd, r)) {
		wish_left(rd, text, at, "its marker says that it is not for Linux");
		return (struct wish){ WISH_LEFT, r->key, "", NULL, false, true };
	}
	if (!strcmp(r->key, "torch"))
		return add_torch(rd, r, at);
	if (!strcmp(r->key, "torchvision") || !strcmp(r->key, "torchaudio"))
		return add_with(rd, r, at);
	if ((e && (e->pypi != PYPI_WHEEL || (r->url && starts_with(r->url, "git+")))) ||
	    (!e && compiled))
		return add_extension(rd, r, e, at);
	return add_package(rd, r, text, at);
}

struct wish
wish_add(struct reader *rd, const char *text, struct span at, bool compiled, const char **why)
{
	const struct requirement *r = requirement_parse(rd->a, text, why, NULL);

	if (!r && (starts_with(text, "git+") || strstr(text, "://"))) {
		const char *name = name_of_url(rd, text);

		if (name && name_valid(name)) {
			text = arena_printf(rd->a, "%s @ %s", name, text);
			r = requirement_parse(rd->a, text, why, NULL);
		}
	}
	if (!r)
		return (struct wish){ WISH_NONE, NULL, "", NULL, false, false };
	return place(rd, r, text, at, compiled);
}

bool
init_requirement(struct arena *a, struct diags *ds, const struct facts *f, struct init *n,
		 const char *text, struct span at, bool compiled)
{
	struct reader rd = { a, ds, f, n };
	const char *why = NULL;

	if (wish_add(&rd, text, at, compiled, &why).kind != WISH_NONE)
		return true;
	diag_at(ds, E_INIT_INPUT, at, "`%s` is not a requirement%s%s", text, why ? ": " : "",
		why ? why : "");
	return false;
}

/* --- indexes --- */

const char *
wish_torch_tag(struct reader *rd, const char *url)
{
	const char *cpu = facts_torch_index(rd->f, rd->a, "cpu"), *tag;
	size_t root = cpu ? strlen(cpu) - strlen("cpu") : 0, n;

	if (!root || strncmp(url, cpu, root - 1) != 0)
		return NULL;
	tag = url[root - 1] ? url + root : "";
	n = strlen(tag);
	while (n && tag[n - 1] == '/')
		n--;
	return arena_copy(rd->a, tag, n);
}

/* PyPI itself, which is where pip looks anyway: its host has two labels, the first of them its name. */
static bool
is_default(const char *url)
{
	const char *host = strstr(url, "://");
	size_t n = host ? strcspn(host + 3, "/") : 0;

	return host && starts_with(host + 3, "pypi.") && !memchr(host + 8, '.', n - 5);
}

bool
wish_index(struct reader *rd, const char *url, bool extra, struct span at)
{
	const char *tag = wish_torch_tag(rd, url);
	const char *shown = mask_credentials(rd->a, url);

	if (tag && !strcmp(tag + strcspn(tag, "_"), "_stable.html"))
		tag = "";
	if (tag) {
		if (*tag && !strchr(tag, '/') && !rd->n->index.s)
			rd->n->index = (struct text){ tag, at };
		else if (strchr(tag, '/'))
			wish_left(rd, shown, at, "nightly builds are not known");
		return true;
	}
	if (is_default(url))
		return true;
	if (!extra && !rd->n->package_index.s && !strcmp(shown, url)) {
		rd->n->package_index = (struct text){ url, at };
		return true;
	}
	diag_help(
		diag_at(rd->ds, W_INIT_NOT_READ, at, "the index `%s` is not in the recipe", shown),
		extra ? "name what comes from it: index: {extra: [{url: ..., packages: [...]}]}" :
			"index: {url: ..., secret: NAME} takes it without its credentials");
	return false;
}

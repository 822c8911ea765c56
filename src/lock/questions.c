/* The questions of a stack to its sources, which `check --online` asks. */
#include <string.h>

#include "base/str.h"
#include "lock.h"

/* Returns the host of a URL, with its port, or of `user@host:path`; "" for another text. */
static const char *
host_of(struct arena *a, const char *url)
{
	const char *from = strstr(url, "://"), *at;
	size_t n;

	from = from ? from + strlen("://") : url;
	n = strcspn(from, from == url ? ":/" : "/?#");
	at = memrchr(from, '@', n);
	if (from == url && !at)
		return "";
	if (at) {
		n -= (size_t)(at + 1 - from);
		from = at + 1;
	}
	return arena_copy(a, from, n);
}

/* Returns the registry of an image: the first part of its name, if that is a host. */
static const char *
registry_of(struct arena *a, const char *image)
{
	const char *slash = strchr(image, '/');
	const char *first = slash ? arena_copy(a, image, (size_t)(slash - image)) : "";

	return strpbrk(first, ".:") || !strcmp(first, "localhost") ? first : "docker.io";
}

static bool
is_http(const char *url)
{
	return starts_with(url, "https://") || starts_with(url, "http://");
}

/* Adds a question once. */
static void
add(struct arena *a, struct questions *all, struct question q)
{
	if (list_any(x, all,
		     x->kind == q.kind && !strcmp(x->url, q.url) && str_same(x->name, q.name)))
		return;
	q.of = arena_strdup(a, q.of);
	q.url = arena_strdup(a, q.url);
	q.name = q.name ? arena_strdup(a, q.name) : NULL;
	q.tag = q.tag ? arena_strdup(a, q.tag) : NULL;
	list_push(a, all, q);
}

static void
add_image(struct arena *a, struct questions *all, const struct choice *image, const char *of)
{
	const char *slash, *colon;

	if (!image->value || strchr(image->value, '@'))
		return;
	slash = strrchr(image->value, '/');
	colon = strchr(slash ? slash : image->value, ':');
	add(a, all,
	    (struct question){ .kind = QUESTION_IMAGE,
			       .of = of,
			       .host = registry_of(a, image->value),
			       .url = image->value,
			       .name = colon ? colon + 1 : "latest",
			       .at = image->at,
			       .exact = image->given });
}

static void
add_ref(struct arena *a, struct questions *all, const char *of, const char *url, const char *ref,
	struct span at, bool exact)
{
	add(a, all,
	    (struct question){ .kind = QUESTION_REF,
			       .of = of,
			       .host = host_of(a, url),
			       .url = url,
			       .name = str_is_commit(ref) ? NULL : ref,
			       .at = at,
			       .exact = exact });
}

static void
add_file(struct arena *a, struct questions *all, const char *of, const char *url, struct span at)
{
	add(a, all,
	    (struct question){ .kind = QUESTION_FILE,
			       .of = of,
			       .host = host_of(a, url),
			       .url = url,
			       .at = at });
}

static void
add_extension(struct arena *a, struct questions *all, const struct stack_extension *e)
{
	const struct text *ref = &e->asked->ref, *url = &e->asked->url;

	if (e->source == SOURCE_GIT && e->url && e->ref)
		add_ref(a, all, e->name, e->url, e->ref,
			ref->at.line              ? ref->at :
			e->asked->version.at.line ? e->asked->version.at :
						    e->at,
			ref->s && ref->at.line && !strcmp(ref->s, e->ref));
	else if ((e->source == SOURCE_WHEEL || e->source == SOURCE_ARCHIVE) && e->url &&
		 is_http(e->url))
		add_file(a, all, e->name, e->url, url->at.line ? url->at : e->at);
}

/* Adds the file or tag of a requirement `name @ URL`. */
static void
add_package(struct arena *a, struct questions *all, const struct stack_package *p)
{
	const struct requirement *req = strchr(p->requirement, '@') && !p->left_out ?
						requirement_parse(a, p->requirement, NULL, NULL) :
						NULL;
	size_t before = all->n;
	const char *url, *at;

	if (!req || !req->url)
		return;
	url = arena_copy(a, req->url, strcspn(req->url, "#"));
	if (is_http(url)) {
		add_file(a, all, req->key, url, p->at);
	} else if (starts_with(url, "git+http")) {
		url += strlen("git+");
		at = strrchr(url, '@');
		/* An @ before the path belongs to a user. */
		if (at && strchr(strstr(url, "://") + 3, '/') < at)
			add_ref(a, all, req->key, arena_copy(a, url, (size_t)(at - url)), at + 1,
				p->at, false);
	}
	if (all->n > before)
		all->at[before].package = true;
}

struct questions
lock_questions(struct arena *a, const struct stack *s)
{
	struct questions all = { 0 };

	add_image(a, &all, &s->base, "the base image");
	add_image(a, &all, &s->runtime_base, "the runtime image");
	if (s->torch.value && s->torch_index.value && is_http(s->torch_index.value))
		add(a, &all,
		    (struct question){
			    .kind = QUESTION_BUILD,
			    .of = "torch",
			    .host = host_of(a, s->torch_index.value),
			    .url = s->torch_index.value,
			    .name = s->torch.value,
			    .tag = s->torch_tag,
			    .at = s->torch.at.line ? s->torch.at : s->torch_index.at,
			    .exact = s->torch.given && s->torch.at.line,
		    });
	list_each (e, &s->extensions)
		add_extension(a, &all, e);
	list_each (p, &s->packages)
		add_package(a, &all, p);
	return all;
}

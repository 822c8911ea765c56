/*
 * An HTTP server as a store: URL/KEY[0:2]/KEY/entry.json and the wheel next to it. The entry is
 * uploaded last: a wheel without an entry does not exist.
 *
 * URL/FAMILY[0:2]/FAMILY/keys has the keys of a family's wheels, one on each line, because a server
 * cannot list them. With two simultaneous writers, one line may be lost; that wheel is then found
 * only by its own key.
 */
#include <string.h>

#include "fetch/fetch.h"
#include "internal.h"
#include "python/python.h"

enum { ENTRY_LIMIT_S = 60 };

static const char *
url_of(struct arena *a, const struct store *s, const char *key, const char *file)
{
	return arena_printf(a, "%s/%.2s/%s/%s", s->where, key, key, page_url(a, file));
}

static const char *
answer_text(struct arena *a, const struct http_answer *answer)
{
	return answer->status ? arena_printf(a, "it answers %d", answer->status) : answer->why;
}

static enum store_answer
get(struct arena *a, struct store *s, struct http_request *q, struct http_answer *answer)
{
	q->method = "GET";
	http_do(a, q, answer);
	if (answer->status == 200)
		return STORE_HIT;
	if (answer->status == 404 || answer->status == 410)
		return STORE_MISS;
	s->why = answer->refused ? answer->why : answer_text(a, answer);
	s->help = answer->status == 401 || answer->status == 403 ?
			  "add its user and password to ~/.netrc" :
			  NULL;
	return answer->refused ? STORE_REFUSED : STORE_UNREACHABLE;
}

static enum store_answer
read_entry(struct arena *a, struct store *s, const char *key, struct entry_file *out)
{
	struct http_request q = { .url = url_of(a, s, key, "entry.json"),
				  .max = STORE_JSON_MAX,
				  .timeout_s = ENTRY_LIMIT_S };
	struct http_answer answer;
	enum store_answer got = get(a, s, &q, &answer);

	out->text = answer.body;
	out->n = answer.body_size;
	return got;
}

static enum store_answer
fetch(struct arena *a, struct store *s, const struct entry *e, const char *to)
{
	struct http_request q = { .url = url_of(a, s, e->key, e->wheel),
				  .to_path = to,
				  .sha256 = e->sha256,
				  .max = e->size };
	struct http_answer answer;
	enum store_answer got = get(a, s, &q, &answer);

	if (got != STORE_MISS)
		return got;
	s->why = "its file is missing";
	return STORE_REFUSED;
}

static enum store_answer
family(struct arena *a, struct store *s, const char *family, struct names *keys)
{
	struct http_request q = { .url = url_of(a, s, family, "keys"),
				  .max = STORE_JSON_MAX,
				  .timeout_s = ENTRY_LIMIT_S };
	struct http_answer answer;
	struct names lines;
	enum store_answer got = get(a, s, &q, &answer);

	lines = names_split(a, got == STORE_HIT ? answer.body : "", '\n');
	for (size_t i = 0; i < lines.n; i++)
		if (store_is_key(lines.at[i]))
			names_once(a, keys, lines.at[i]);
	return got;
}

/* Compares only the size, because get reads the whole wheel, and a rejected one is saved again. */
static bool
is_there(struct arena *a, struct store *s, const struct entry *e)
{
	struct http_request q = { .method = "HEAD" };
	struct http_answer answer;
	const struct entry *old;
	const char *length;
	struct diags mine = DIAGS(mine, a);

	if (names_have(&s->refused, e->key) || store_find(a, &mine, s, e->key, &old) != STORE_HIT)
		return false;
	q.url = url_of(a, s, old->key, old->wheel);
	if (!http_do(a, &q, &answer) || answer.status != 200)
		return false;
	length = http_header(&answer, "content-length");
	return length && !strcmp(length, arena_printf(a, "%zu", old->size));
}

static bool
put(struct arena *a, struct diags *ds, struct store *s, const struct entry *e,
    struct http_request *q)
{
	struct http_answer answer;
	struct diag *d;

	q->method = "PUT";
	q->max = STORE_JSON_MAX;
	if (http_do(a, q, &answer) && answer.status >= 200 && answer.status < 300)
		return true;
	d = store_not_saved(ds, s, e, answer_text(a, &answer));
	if (answer.status == 405 || answer.status == 501)
		diag_why(d, "the server does not accept uploads");
	else if (answer.status == 401 || answer.status == 403)
		diag_why(d, "the server does not accept your uploads");
	else if (answer.status == 413 || answer.status == 507)
		diag_why(d, "the server has no space for the file");
	if (!answer.status)
		s->down = true;
	diag_help(d, "list a writable store before this one");
	return false;
}

static bool
save(struct arena *a, struct diags *ds, struct store *s, const struct entry *e, const char *path)
{
	const char *text = entry_text(a, e);
	struct http_request wheel = { .url = url_of(a, s, e->key, e->wheel), .body_path = path };
	struct http_request keys = { .url = url_of(a, s, store_family(a, e->inputs), "keys"),
				     .timeout_s = ENTRY_LIMIT_S };
	struct http_request entry = { .url = url_of(a, s, e->key, "entry.json"),
				      .body = text,
				      .body_size = strlen(text),
				      .timeout_s = ENTRY_LIMIT_S };
	struct names all = { 0 };

	list_push(a, &wheel.headers, "Content-Type: application/zip");
	list_push(a, &keys.headers, "Content-Type: text/plain");
	list_push(a, &entry.headers, "Content-Type: application/json");
	if (is_there(a, s, e))
		return true;
	family(a, s, store_family(a, e->inputs), &all);
	names_once(a, &all, e->key);
	keys.body = arena_printf(a, "%s\n", names_join(a, &all, "\n"));
	keys.body_size = strlen(keys.body);
	return put(a, ds, s, e, &wheel) && put(a, ds, s, e, &keys) && put(a, ds, s, e, &entry);
}

const struct store_kind store_http = {
	.read = read_entry,
	.fetch = fetch,
	.save = save,
	.family = family,
};

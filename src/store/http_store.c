/*
 * An HTTP server as a store: URL/KEY[0:2]/KEY/entry.json and the wheel beside it.  The entry
 * is put last: a wheel without one is none.
 */
#include <string.h>

#include "base/fs.h"
#include "fetch/fetch.h"
#include "internal.h"

enum { ENTRY_LIMIT_S = 60 };

/* What a wheel's name may have, and S3 reads otherwise in a path. */
static const char *
url_of(struct arena *a, const struct store *s, const char *key, const char *file)
{
	struct buf b = BUF(a);

	buf_printf(&b, "%s/%.2s/%s/", s->where, key, key);
	for (; *file; file++)
		if (*file == '+' || *file == '!')
			buf_printf(&b, "%%%02X", (unsigned)*file);
		else
			buf_putc(&b, *file);
	return buf_text(&b);
}

static const char *
answer_text(struct arena *a, const struct http_answer *answer)
{
	return answer->status ? arena_printf(a, "it answers %d", answer->status) : answer->why;
}

/* It is not asked again: each time would cost the waiting. */
static enum store_answer
unreachable(struct arena *a, struct diags *ds, struct store *s, const struct http_answer *answer)
{
	struct diag *d =
		diag_at(ds, E_STORE_UNREACHABLE, (struct span){ 0 },
			"the store %s does not answer: %s", s->name, answer_text(a, answer));

	if (answer->status == 401 || answer->status == 403)
		diag_help(d, "put its user and password into ~/.netrc");
	s->down = true;
	return STORE_UNREACHABLE;
}

static enum store_answer
find(struct arena *a, struct diags *ds, struct store *s, const char *key, const struct entry **e)
{
	struct http_request q = { .method = "GET",
				  .url = url_of(a, s, key, "entry.json"),
				  .max = STORE_JSON_MAX,
				  .timeout_s = ENTRY_LIMIT_S };
	struct http_answer answer = { 0 };
	const char *why;

	*e = NULL;
	if (!http_do(a, &q, &answer) && answer.refused) {
		store_refuse(ds, s, key, answer.why);
		return STORE_REFUSED;
	}
	if (answer.status == 404 || answer.status == 410)
		return STORE_MISS;
	if (answer.status != 200)
		return unreachable(a, ds, s, &answer);
	*e = entry_read(a, answer.body, answer.body_size, key, &why);
	if (*e)
		return STORE_HIT;
	store_refuse(ds, s, key, why);
	return STORE_REFUSED;
}

static enum store_answer
fetch(struct arena *a, struct diags *ds, struct store *s, const struct entry *e, const char *folder)
{
	struct http_request q = { .method = "GET",
				  .url = url_of(a, s, e->key, e->wheel),
				  .to_path = fs_join(a, folder, e->wheel),
				  .sha256 = e->sha256,
				  .max = e->size };
	struct http_answer answer = { 0 };

	if (!http_do(a, &q, &answer) && answer.refused) {
		store_refuse(ds, s, e->key, answer.why);
		return STORE_REFUSED;
	}
	if (answer.status == 200)
		return STORE_HIT;
	if (answer.status != 404 && answer.status != 410)
		return unreachable(a, ds, s, &answer);
	store_refuse(ds, s, e->key, "its file is missing");
	return STORE_REFUSED;
}

/* By its size alone: get reads all of it, and what it refuses is put again. */
static bool
is_there(struct arena *a, struct store *s, const struct entry *e)
{
	struct http_request q = { .method = "HEAD" };
	struct http_answer answer = { 0 };
	const struct entry *old;
	const char *length;
	struct diags mine;

	diags_init(&mine, a);
	if (names_have(&s->refused, e->key) || find(a, &mine, s, e->key, &old) != STORE_HIT)
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
	struct http_answer answer = { 0 };
	struct diag *d;

	q->method = "PUT";
	q->max = STORE_JSON_MAX;
	if (http_do(a, q, &answer) && answer.status >= 200 && answer.status < 300)
		return true;
	d = diag_at(ds, E_STORE_WRITE, (struct span){ 0 },
		    "`%s` could not be put into the store %s: %s", e->wheel, s->name,
		    answer_text(a, &answer));
	if (answer.status == 405 || answer.status == 501)
		diag_why(d, "it takes no uploads");
	else if (answer.status == 401 || answer.status == 403)
		diag_why(d, "it takes none from you");
	else if (answer.status == 413 || answer.status == 507)
		diag_why(d, "it has no room for it");
	if (!answer.status)
		s->down = true;
	diag_help(d, "name a store that can be written first, and this one after it");
	return false;
}

static bool
save(struct arena *a, struct diags *ds, struct store *s, const struct entry *e, const char *path)
{
	const char *text = entry_text(a, e);
	struct http_request wheel = { .url = url_of(a, s, e->key, e->wheel), .body_path = path };
	struct http_request entry = { .url = url_of(a, s, e->key, "entry.json"),
				      .body = text,
				      .body_size = strlen(text),
				      .timeout_s = ENTRY_LIMIT_S };

	list_push(a, &wheel.headers, "Content-Type: application/zip");
	list_push(a, &entry.headers, "Content-Type: application/json");
	return is_there(a, s, e) || (put(a, ds, s, e, &wheel) && put(a, ds, s, e, &entry));
}

const struct store_kind store_http = {
	.find = find,
	.fetch = fetch,
	.save = save,
};

/* Reads a wheel on a server: by ranges, or as the whole file of an index. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "index_internal.h"

enum {
	TAIL_BYTES = 64 * 1024,        /* size of the first request */
	STEP_BYTES = 32 * 1024,        /* minimum size of the next ones */
	RANGES_MAX = 16 * 1024 * 1024, /* maximum bytes of a wheel's directory and metadata */
	PIECE_BYTES = 4 * 1024 * 1024, /* size of a request for a member that is read in order */
	WHOLE_MAX = 8 * 1024 * 1024,   /* maximum size of a wheel if the server ignores ranges */
};

struct segment {
	uint64_t at;
	const char *bytes;
	size_t n;
};

struct ranges {
	struct index_client *x;
	const struct index_file *file;
	uint64_t size, fetched; /* bytes */
	uint64_t kept;          /* number of bytes kept in memory */
	uint64_t until;         /* bytes before this are read in order and not kept */
	struct segment piece;   /* the newest of these bytes */
	struct arena *piece_arena;
	struct segments LIST(struct segment) have;
};

/* Parses "bytes 100-199/1000" for the requested n bytes; at NULL: the end of the file. The answer may
 * have fewer bytes, and no more. */
static bool
content_range(const struct http_answer *answer, const uint64_t *at, size_t n, uint64_t *begin,
	      uint64_t *size)
{
	const char *text = http_header(answer, "content-range");
	unsigned long long first, last, all;

	if (!text || sscanf(text, "bytes %llu-%llu/%llu", &first, &last, &all) != 3)
		return false;
	*begin = first;
	*size = all;
	return first <= last && last < all && last - first + 1 == answer->body_size &&
	       answer->body_size <= n && (at ? first == *at : last + 1 == all);
}

/* Fetches n bytes at *at, or the last n for NULL, into x->a. Only the first answer may be the whole
 * wheel. */
static bool
fetch_range(struct ranges *r, const uint64_t *at, size_t n, struct segment *out)
{
	struct index_client *x = r->x;
	struct http_request q = { .url = r->file->url, .max = r->size ? n : WHOLE_MAX };
	const char *url = mask_credentials(x->a, r->file->url);
	struct http_answer answer = { 0 };
	uint64_t begin = 0, size = 0;

	list_push(x->a, &q.headers, "Accept: */*");
	list_push(x->a, &q.headers,
		  at ? arena_printf(x->a, "Range: bytes=%llu-%llu", (unsigned long long)*at,
				    (unsigned long long)(*at + n - 1)) :
		       arena_printf(x->a, "Range: bytes=-%zu", n));
	if (!index_get(x, &q, 0, &answer)) {
		if (answer.refused && !r->size)
			x->why = arena_printf(x->a,
					      "cannot read %s: the server ignores range requests, "
					      "and the wheel is larger than %d MiB",
					      url, WHOLE_MAX >> 20);
		else if (answer.refused)
			x->why = arena_printf(x->a,
					      "cannot read %s: the server sends more than the %zu "
					      "bytes of a range",
					      url, n);
		return false;
	}
	if (answer.status != 206 && r->size) {
		x->why = arena_printf(x->a,
				      "cannot read %s: the server answers a range request with "
				      "status %d after others with 206",
				      url, answer.status);
		return false;
	}
	if (answer.status != 206) {
		size = answer.body_size; /* the answer is the whole wheel */
	} else if (!content_range(&answer, at, n, &begin, &size) || (r->size && size != r->size)) {
		x->why = arena_printf(x->a,
				      "cannot read %s: the server answers with another range "
				      "than the requested one",
				      url);
		return false;
	}
	r->size = size;
	r->fetched += answer.body_size;
	*out = (struct segment){ begin, answer.body, answer.body_size };
	return true;
}

/* Fetches bytes and keeps them. */
static bool
fetch_kept(struct ranges *r, const uint64_t *at, size_t n)
{
	struct segment s;

	if (r->kept + n > RANGES_MAX) {
		r->x->why =
			arena_printf(r->x->a, "the directory of %s needs more than %d MiB of it",
				     r->file->name, RANGES_MAX >> 20);
		return false;
	}
	if (!fetch_range(r, at, n, &s))
		return false;
	r->kept += s.n;
	list_push(r->x->a, &r->have, s);
	return true;
}

static void
drop_piece(struct ranges *r)
{
	if (r->piece_arena)
		arena_free(r->piece_arena);
	r->piece_arena = NULL;
	r->piece = (struct segment){ 0 };
}

/* Fetches the next bytes of a member, which replace the previous ones. */
static bool
fetch_piece(struct ranges *r, uint64_t at, uint64_t most)
{
	struct index_client *x = r->x;
	struct arena *own = x->a, *piece = arena_new();
	uint64_t n = r->until - at < PIECE_BYTES ? r->until - at : PIECE_BYTES;
	bool good;

	drop_piece(r);
	x->a = piece;
	good = fetch_range(r, &at, (size_t)(n < most ? n : most), &r->piece);
	x->a = own;
	x->why = x->why ? arena_strdup(own, x->why) : NULL;
	r->piece_arena = piece;
	return good;
}

/* Copies to `to` the part of n bytes at `at` that a segment has; returns its size. */
static size_t
take(const struct segment *s, uint64_t at, size_t n, char *to)
{
	if (s->at > at || at - s->at >= s->n)
		return 0;
	n = s->n - (size_t)(at - s->at) < n ? s->n - (size_t)(at - s->at) : n;
	memcpy(to, s->bytes + (at - s->at), n);
	return n;
}

/* Reads n bytes at `at`, and fetches what is missing; false: x->why. */
static bool
ranges_read(void *ctx, uint64_t at, void *to, size_t n)
{
	struct ranges *r = ctx;
	char *p = to;

	if (at > r->size || n > r->size - at)
		return false;
	while (n) {
		uint64_t end = r->size;
		size_t took = take(&r->piece, at, n, p), ask;

		for (size_t i = 0; i < r->have.n && !took; i++) {
			if (r->have.at[i].at > at && r->have.at[i].at < end)
				end = r->have.at[i].at;
			took = take(&r->have.at[i], at, n, p);
		}
		p += took;
		at += took;
		n -= took;
		if (took)
			continue;
		ask = n > STEP_BYTES ? n : STEP_BYTES;
		ask = ask < end - at ? ask : (size_t)(end - at);
		if (at < r->until ? !fetch_piece(r, at, end - at) : !fetch_kept(r, &at, ask))
			return false;
	}
	return true;
}

/* Announces that n bytes at `at` are read in order, to fetch them with few requests and not keep
 * them. */
static void
ranges_expect(void *ctx, uint64_t at, uint64_t n)
{
	struct ranges *r = ctx;

	r->until = at + n;
}

bool
index_wheel_open(struct index_client *x, const struct index_file *file, struct index_wheel *wheel)
{
	struct ranges *r = arena_new_of(x->a, struct ranges);
	bool good;

	*r = (struct ranges){ .x = x, .file = file };
	good = fetch_kept(r, NULL, TAIL_BYTES);
	*wheel = (struct index_wheel){ .name = file->name,
				       .url = mask_credentials(x->a, file->url),
				       .size = r->size,
				       .fetched = &r->fetched,
				       .read = ranges_read,
				       .expect = ranges_expect,
				       .ctx = r };
	return good;
}

void
index_wheel_close(struct index_wheel *wheel)
{
	drop_piece(wheel->ctx);
}

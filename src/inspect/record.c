#include "inspect/wheel_parts.h"

#include <string.h>

/*
 * The grammar, which is that of Python's csv module:
 *
 *     row   = field "," field "," field  end        path, digest, size
 *     field = { any but , and quote } | '"' { any | '""' } '"'
 *     end   = CR LF | LF | end of text
 */
struct reader {
	const struct zip *z;
	const char *p;
	unsigned long line;
};

static bool
broken(const struct reader *r, const char *why)
{
	return zip_refuse(r->z, "line %lu of its RECORD %s", r->line, why);
}

/* Reads a field and returns the text after it; NULL: a quote has no end. */
static const char *
read_text(struct reader *r)
{
	bool quoted = *r->p == '"';
	const char *start = r->p += quoted;
	char *text, *to;

	if (!quoted) {
		r->p += strcspn(r->p, ",\r\n");
		return arena_copy(r->z->a, start, (size_t)(r->p - start));
	}
	for (; *r->p && (*r->p != '"' || r->p[1] == '"'); r->p += *r->p == '"' ? 2 : 1)
		;
	if (!*r->p)
		return NULL;
	text = to = arena_copy(r->z->a, start, (size_t)(r->p++ - start));
	for (const char *s = text; *s; s += *s == '"' ? 2 : 1)
		*to++ = *s;
	*to = '\0';
	return text;
}

static bool
read_field(struct reader *r, bool last, const char **out)
{
	if (!(*out = read_text(r)))
		return broken(r, "has a quote without end");
	r->p += last && *r->p == '\r';
	if (*r->p == (last ? '\n' : ','))
		r->p++;
	else if (*r->p || !last)
		return broken(r, "does not have the form path, digest, size");
	return true;
}

static bool
read_size(const struct reader *r, const char *text, struct record_row *row)
{
	row->has_size = *text;
	for (; is_digit(*text); text++)
		if ((row->size = row->size * 10 + (uint64_t)(*text - '0')) > WHEEL_MAX)
			return broken(r, "has an impossible size");
	return !*text || broken(r, "has a size that is not a number");
}

/* Returns the algorithm of "sha256=...", with the digest in *value; NULL: it is unknown, or weaker
 * than SHA-256, which PEP 427 requires. */
static const EVP_MD *
digest_kind(const char *text, struct str *value)
{
	struct str name = { text, strcspn(text, "=") };

	*value = str_of(text + name.n + (text[name.n] == '='));
	return str_is(name, "sha256") ? EVP_sha256() :
	       str_is(name, "sha384") ? EVP_sha384() :
	       str_is(name, "sha512") ? EVP_sha512() :
					NULL;
}

static bool
keep_row(const struct reader *r, struct record *out, struct record_row *row)
{
	struct record_row *other = map_get(&out->by_path, row->path);

	if (other && (other->kind != row->kind || !str_eq(other->digest, row->digest) ||
		      other->size != row->size))
		return broken(r, "lists a file twice, with different values");
	if (!other) {
		map_put(&out->by_path, row->path, row);
		list_push(r->z->a, &out->rows, row);
	}
	return true;
}

bool
record_parse(const struct zip *z, const char *text, struct record *out)
{
	struct reader r = { z, text, 1 };
	size_t rows = 0;

	out->by_path = MAP(z->a);
	for (; *r.p; r.line++) {
		struct record_row *row;
		const char *digest, *size;

		if (*r.p == '\n' || *r.p == '\r') {
			r.p++;
			continue;
		}
		if (++rows > 2 * WHEEL_FILES_MAX)
			return broken(&r, "follows more rows than a wheel may have files");
		row = arena_new_of(z->a, struct record_row);
		row->digest = STR("");
		if (!read_field(&r, false, &row->path) || !read_field(&r, false, &digest) ||
		    !read_field(&r, true, &size) || !read_size(&r, size, row))
			return false;
		if (*digest && !(row->kind = digest_kind(digest, &row->digest)))
			return broken(&r, "has a digest that is not valid, or weaker than SHA-256");
		if (!keep_row(&r, out, row))
			return false;
	}
	return true;
}

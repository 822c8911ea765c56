/*
 * The page of a project in HTML (PEP 503, 592, 629, 658, 714).  A reader of tags and attributes:
 *
 *     <base href="URL">
 *     <meta name="pypi:repository-version" content="1.0">
 *     <a href="URL#sha256=HEX" data-requires-python="&gt;=3.9" data-yanked="why"
 *        data-core-metadata="sha256=HEX">...</a>
 *
 * Comments, scripts and styles are passed over; everything else between tags too.
 */
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "internal.h"

struct reader {
	struct arena *a;
	const char *p, *end;
	const char *base;
	struct index_page *page;
	bool refused; /* its version is not 1 */
};

/* The attributes of one tag that matter; the first of each name counts. */
enum attribute {
	HREF,
	NAME,
	CONTENT,
	REQUIRES,
	YANKED,
	METADATA,
	METADATA_OLD,
	ATTRIBUTES,
};
static const char *const attribute_names[ATTRIBUTES] = {
	[HREF] = "href",
	[NAME] = "name",
	[CONTENT] = "content",
	[REQUIRES] = "data-requires-python",
	[YANKED] = "data-yanked",
	[METADATA] = "data-core-metadata",
	[METADATA_OLD] = "data-dist-info-metadata",
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

/* Goes behind the next `word`, in any case, or to the end. */
static void
skip_past(struct reader *r, const char *word)
{
	size_t n = strlen(word);

	while (r->p < r->end && ((size_t)(r->end - r->p) < n || strncasecmp(r->p, word, n) != 0))
		r->p++;
	r->p += r->p < r->end ? n : 0;
}

static void
put_utf8(struct buf *b, uint32_t c)
{
	if (c >= 0x20 && c < 0x7f)
		buf_putc(b, (char)c);
	else
		buf_putc(b, ' '); /* no address and no version has such a character */
}

/*
 * Returns a character reference at s, which is behind `&`: its length with the semicolon; 0 if it
 * is not one.
 */
static size_t
reference(const char *s, size_t n, uint32_t *point)
{
	static const struct {
		const char *name;
		char is;
	} names[] = { { "amp;", '&' },  { "lt;", '<' },    { "gt;", '>' },
		      { "quot;", '"' }, { "apos;", '\'' }, { "nbsp;", ' ' } };
	bool hex = n > 2 && s[0] == '#' && to_lower(s[1]) == 'x';
	size_t i = hex ? 2 : 1;

	for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
		if (n >= strlen(names[k].name) &&
		    !strncmp(s, names[k].name, strlen(names[k].name))) {
			*point = (uint32_t)names[k].is;
			return strlen(names[k].name);
		}
	if (n < 3 || s[0] != '#')
		return 0;
	for (*point = 0; i < n && i < 10; i++) {
		char c = to_lower(s[i]);
		int digit = is_digit(c) ? c - '0' : hex && c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;

		if (digit < 0)
			break;
		*point = *point * (hex ? 16 : 10) + (uint32_t)digit;
	}
	return i < n && s[i] == ';' && i > (hex ? 2U : 1U) ? i + 1 : 0;
}

static const char *
unescape(struct arena *a, const char *s, size_t n)
{
	struct buf b = BUF(a);
	uint32_t point;

	for (size_t i = 0; i < n; i++) {
		size_t took = s[i] == '&' ? reference(s + i + 1, n - i - 1, &point) : 0;

		if (took)
			put_utf8(&b, point);
		else
			buf_putc(&b, s[i] ? s[i] : ' ');
		i += took;
	}
	return buf_text(&b);
}

/*
 * Returns the value behind a name: quoted, or up to a blank or the end of the tag; "" without one.
 */
static struct str
read_value(struct reader *r)
{
	const char *begin = r->p;
	struct str value = { "", 0 };
	char quote;

	while (r->p < r->end && is_blank(*r->p))
		r->p++;
	if (r->p == r->end || *r->p != '=') {
		r->p = begin;
		return value;
	}
	do
		r->p++;
	while (r->p < r->end && is_blank(*r->p));
	quote = r->p < r->end && (*r->p == '"' || *r->p == '\'') ? *r->p++ : '\0';
	value.p = r->p;
	while (r->p < r->end && (quote ? *r->p != quote : !is_blank(*r->p) && *r->p != '>'))
		r->p++;
	value.n = (size_t)(r->p - value.p);
	r->p += quote && r->p < r->end;
	return value;
}

/* Reads the rest of a tag. */
static void
read_attributes(struct reader *r, const char *values[ATTRIBUTES])
{
	memset(values, 0, ATTRIBUTES * sizeof(*values));
	while (r->p < r->end && *r->p != '>') {
		struct str name = { r->p, 0 }, value;

		if (is_blank(*r->p) || *r->p == '/') {
			r->p++;
			continue;
		}
		do
			r->p++;
		while (r->p < r->end && !is_blank(*r->p) && !strchr("=>/", *r->p));
		name.n = (size_t)(r->p - name.p);
		value = read_value(r);
		for (size_t i = 0; i < ATTRIBUTES; i++)
			if (!values[i] && name.n == strlen(attribute_names[i]) &&
			    !strncasecmp(name.p, attribute_names[i], name.n))
				values[i] = unescape(r->a, value.p, value.n);
	}
}

/* Returns the last part of a path, with its %41 decoded. */
static const char *
file_name(struct arena *a, const char *href)
{
	size_t n = strcspn(href, "?#"), begin = n;
	struct buf b = BUF(a);

	while (begin && href[begin - 1] != '/')
		begin--;
	for (size_t i = begin; i < n; i++) {
		uint32_t point;
		const char ref[] = {
			'#', 'x', i + 1 < n ? href[i + 1] : ' ', i + 2 < n ? href[i + 2] : ' ',
			';', '\0'
		};
		bool coded = href[i] == '%' && reference(ref, 5, &point) == 5;

		buf_putc(&b, coded ? (char)point : href[i]);
		i += coded ? 2 : 0;
	}
	return buf_text(&b);
}

/* Returns the digest of "sha256=HEX", or of "URL#sha256=HEX". */
static const char *
digest_in(struct arena *a, const char *text, char before)
{
	const char *p = before ? strchr(text, before) : text;
	static const char word[] = "sha256=";

	p = p && before ? p + 1 : p;
	if (!p || !starts_with(p, word))
		return NULL;
	p += strlen(word);
	return page_sha256(a, arena_copy(a, p, strcspn(p, "&")));
}

static void
on_link(struct reader *r, const char *values[ATTRIBUTES])
{
	const char *metadata = values[METADATA] ? values[METADATA] : values[METADATA_OLD];

	if (!values[HREF])
		return;
	page_add(r->a, r->page, r->base, values[HREF],
		 (struct index_file){
			 .name = file_name(r->a, values[HREF]),
			 .sha256 = digest_in(r->a, values[HREF], '#'),
			 .metadata = metadata && strcmp(metadata, "false") != 0,
			 .metadata_sha256 = metadata ? digest_in(r->a, metadata, '\0') : NULL,
			 .requires_python = values[REQUIRES],
			 .yanked = values[YANKED],
		 });
}

static void
on_tag(struct reader *r, struct str tag)
{
	const char *values[ATTRIBUTES], *base;
	char name[8] = "";

	for (size_t i = 0; i < tag.n && tag.n < sizeof(name); i++)
		name[i] = to_lower(tag.p[i]);
	read_attributes(r, values);
	if (!strcmp(name, "a"))
		on_link(r, values);
	else if (!strcmp(name, "base") && values[HREF])
		r->base = (base = http_resolve(r->a, r->base, values[HREF])) ? base : r->base;
	else if (!strcmp(name, "meta") && values[NAME] && values[CONTENT])
		r->refused |= !strcmp(values[NAME], "pypi:repository-version") &&
			      !starts_with(values[CONTENT], "1.");
	else if (!strcmp(name, "script"))
		skip_past(r, "</script");
	else if (!strcmp(name, "style"))
		skip_past(r, "</style");
}

bool
page_parse_html(struct arena *a, const char *url, const char *text, size_t n,
		struct index_page *page)
{
	struct reader r = { .a = a, .p = text, .end = text + n, .base = url, .page = page };

	while (r.p < r.end && (r.p = memchr(r.p, '<', (size_t)(r.end - r.p)))) {
		struct str tag = { ++r.p, 0 };

		if (r.end - r.p >= 3 && !strncmp(r.p, "!--", 3)) {
			skip_past(&r, "-->");
			continue;
		}
		while (r.p < r.end && is_alnum(*r.p))
			r.p++;
		tag.n = (size_t)(r.p - tag.p);
		if (tag.n && (r.p == r.end || is_blank(*r.p) || *r.p == '>' || *r.p == '/'))
			on_tag(&r, tag);
	}
	return !r.refused;
}

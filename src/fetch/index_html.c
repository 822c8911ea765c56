/*
 * The page of a project in HTML (PEP 503, 592, 629, 658, 714):
 *
 *     <base href="URL">
 *     <meta name="pypi:repository-version" content="1.0">
 *     <a href="URL#sha256=HEX" data-requires-python="&gt;=3.9" data-yanked="why"
 *        data-core-metadata="sha256=HEX">...</a>
 *
 * Comments, scripts, styles and all other tags are passed over.
 */
#include <stdio.h>
#include <strings.h>

#include "base/pattern.h"
#include "index_internal.h"

/* Matches at `<`. Group 1 is the name of a tag and group 2 its attributes; skipped text has no groups. */
static const char tag_pattern[] = "\\A(?i)<(?:!--(?:[^-]++|-(?!->))*+-->|"
				  "(?:script|style)\\b(?:[^<]++|<(?!/(?:script|style)))*+|"
				  "(a|base|meta)(?=[\\s/>])((?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+))";
/* A name, and its value in one of three forms. */
static const char attribute_pattern[] =
	"([^\\s/>=]+)(?:\\s*=\\s*(?:\"([^\"]*)\"|'([^']*)'|([^\\s>\"']+)))?";

/* The relevant attributes of a tag; the first one of each name counts. */
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

struct reader {
	struct arena *a;
	struct pattern *tag, *attribute;
	const char *base;
	struct index_page *page;
	bool refused; /* the page's version is not 1 */
};

/* Returns the length of a character reference behind `&`, with its semicolon; 0 if it is none. */
static size_t
reference(const char *s, unsigned *point)
{
	static const char *const names[] = { "amp;", "lt;", "gt;", "quot;", "apos;", "nbsp;" };
	int n = 0;

	for (size_t i = 0; i < COUNT(names); i++)
		if (starts_with(s, names[i])) {
			*point = (unsigned char)"&<>\"' "[i];
			return strlen(names[i]);
		}
	if (sscanf(s, "#%*1[xX]%6x;%n", point, &n) != 1)
		sscanf(s, "#%7u;%n", point, &n);
	return (size_t)n;
}

/* Returns a value without references; no address and no version has other characters than ASCII. */
static const char *
unescape(struct arena *a, struct str value)
{
	const char *s = arena_copy(a, value.p, value.n);
	struct buf b = BUF(a);
	unsigned point;

	for (size_t n; *s; s += n + 1) {
		n = *s == '&' ? reference(s + 1, &point) : 0;
		buf_putc(&b, !n ? *s : point >= 0x20 && point < 0x7f ? (char)point : ' ');
	}
	return buf_text(&b);
}

static void
read_attributes(struct reader *r, struct str text, const char *values[ATTRIBUTES])
{
	struct str g[PATTERN_GROUPS];

	for (; pattern_find(r->attribute, text, g); text.p = g[0].p + g[0].n) {
		struct str value = g[2].p ? g[2] : g[3].p ? g[3] : g[4];

		text.n -= (size_t)(g[0].p + g[0].n - text.p);
		for (size_t i = 0; i < ATTRIBUTES; i++)
			if (!values[i] && g[1].n == strlen(attribute_names[i]) &&
			    !strncasecmp(g[1].p, attribute_names[i], g[1].n))
				values[i] = unescape(r->a, value);
	}
}

/* Returns the digest of "sha256=HEX", or of "URL#sha256=HEX". */
static const char *
digest_in(struct arena *a, const char *text)
{
	static const char word[] = "sha256=";
	const char *p = strchr(text, '#');

	p = p ? p + 1 : text;
	if (!starts_with(p, word))
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
			 .name = url_file_name(r->a, values[HREF]),
			 .sha256 = digest_in(r->a, values[HREF]),
			 .metadata = metadata && strcmp(metadata, "false") != 0,
			 .metadata_sha256 = metadata ? digest_in(r->a, metadata) : NULL,
			 .requires_python = values[REQUIRES],
			 .yanked = values[YANKED],
		 });
}

static void
on_tag(struct reader *r, char first, struct str attributes)
{
	const char *values[ATTRIBUTES] = { NULL }, *base;

	read_attributes(r, attributes, values);
	if (first == 'a')
		on_link(r, values);
	else if (first == 'b' && values[HREF])
		r->base = (base = http_resolve(r->a, r->base, values[HREF])) ? base : r->base;
	else if (first == 'm' && values[NAME] && values[CONTENT])
		r->refused |= !strcmp(values[NAME], "pypi:repository-version") &&
			      !starts_with(values[CONTENT], "1.");
}

bool
page_parse_html(struct arena *a, const char *url, const char *text, size_t n,
		struct index_page *page)
{
	struct reader r = { .a = a,
			    .tag = pattern_compile(tag_pattern),
			    .attribute = pattern_compile(attribute_pattern),
			    .base = url,
			    .page = page };
	struct str g[PATTERN_GROUPS];

	for (const char *p = text, *end = text + n;
	     (p = memchr(p, '<', (size_t)(end - p))) != NULL;) {
		if (!pattern_find(r.tag, (struct str){ p, (size_t)(end - p) }, g)) {
			p++;
			continue;
		}
		p += g[0].n;
		if (g[1].p)
			on_tag(&r, to_lower(*g[1].p), g[2]);
	}
	pattern_free(r.tag);
	pattern_free(r.attribute);
	return !r.refused;
}

#include "yaml_text.h"

#include <stdint.h>
#include <string.h>

#include "str.h"

/* C0, DEL and C1 controls (U+0080..U+009F, which UTF-8 writes as C2 80..9F). */
bool
yaml_has_control(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)
			return true;
		if (c == 0xc2 && i + 1 < n && (unsigned char)s[i + 1] < 0xa0)
			return true;
	}
	return false;
}

/* Directives are asked for again with each new one: so many are more than anyone writes. */
enum { DIRECTIVES_MAX = 16 };

/* Why the character may not stand in the text, or NULL. */
static const char *
refused(uint32_t c, char next)
{
	if (c == '\n' || c == '\t' || (c >= ' ' && c < 0x7f))
		return NULL;
	if (c == '\r')
		return next == '\n' ? NULL : "a carriage return without a line feed";
	if (!c)
		return "a NUL character";
	if (c < ' ' || c == 0x7f || (c >= 0x80 && c < 0xa0 && c != 0x85))
		return "a control character";
	/* libyaml would begin a new line here, and an editor would not. */
	if (c == 0x85 || c == 0x2028 || c == 0x2029)
		return "a Unicode line separator";
	return c == 0xfeff || c == 0xfffe || c == 0xffff ? "a character that is no text" : NULL;
}

bool
yaml_text_holds(struct diags *ds, const struct source *src, size_t from)
{
	const char *p = src->text + from, *end = src->text + src->size;
	struct span at = { src, 1, 1, 1 };
	unsigned directives = 0;

	while (p < end) {
		uint32_t c = 0;
		size_t len = utf8_decode(p, (size_t)(end - p), &c);
		const char *why = len ? refused(c, p + 1 < end ? p[1] : '\0') : NULL;

		if (!len || why) {
			diag_help(diag_at(ds, len ? E_YAML_REFUSED : E_YAML_SYNTAX, at, "%s",
					  len ? why : "bytes that are not UTF-8"),
				  "save the file as UTF-8 text, without control characters");
			return false;
		}
		if (c == '%' && at.col == 1 && ++directives > DIRECTIVES_MAX) {
			diag_at(ds, E_YAML_LIMIT, at, "more than %d directives", DIRECTIVES_MAX);
			return false;
		}
		at.col++;
		if (c == '\n') {
			at.line++;
			at.col = 1;
		}
		p += len;
	}
	return true;
}

bool
yaml_next_line(struct yaml_rest *rest, const struct source *src, uint32_t n, const char **line,
	       size_t *size)
{
	if (!rest->text.text || n < rest->line) {
		rest->text = *src;
		rest->line = 1;
	}
	if (!source_line(&rest->text, n - rest->line + 1, line, size))
		return false;
	rest->text.text = *line;
	rest->text.size = (size_t)(src->text + src->size - *line);
	rest->line = n;
	return true;
}

void
yaml_skip_properties(struct span *at, const char *line, size_t size)
{
	uint32_t end = at->col + at->width;
	const char *p = line + utf8_bytes(line, size, at->col - 1), *stop = line + size;

	while (p < stop && at->col < end && (*p == '&' || *p == '!')) {
		for (; p < stop && *p != ' ' && *p != '\t'; p++)
			at->col += starts_character(*p);
		for (; p < stop && (*p == ' ' || *p == '\t') && at->col < end; p++)
			at->col++;
	}
	at->width = end > at->col ? end - at->col : 0;
}

bool
yaml_tag_allowed(const char *tag)
{
	static const char *const core[] = { "str", "int", "float", "bool", "null", "map", "seq" };
	static const char prefix[] = "tag:yaml.org,2002:";

	if (!tag || !strcmp(tag, "!"))
		return true;
	if (!starts_with(tag, prefix))
		return false;
	for (size_t i = 0; i < sizeof(core) / sizeof(*core); i++)
		if (!strcmp(tag + sizeof(prefix) - 1, core[i]))
			return true;
	return false;
}

#include "quote.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"

#define BIT(language) (1u << (language))
#define ANY_LANGUAGE \
	(BIT(LANG_DOCKERFILE) | BIT(LANG_SH) | BIT(LANG_PYTHON) | BIT(LANG_PIP) | BIT(LANG_YAML) | \
	 BIT(LANG_HCL))

static const struct {
	const char *name;
	unsigned languages;
} quotings[QUOTINGS] = {
	[QUOTE_SH] = { "sh", BIT(LANG_DOCKERFILE) | BIT(LANG_SH) },
	[QUOTE_TEXT] = { "text", BIT(LANG_DOCKERFILE) | BIT(LANG_SH) },
	[QUOTE_DOCKERFILE] = { "dockerfile", BIT(LANG_DOCKERFILE) },
	[QUOTE_COPY] = { "copy", BIT(LANG_DOCKERFILE) },
	[QUOTE_JSON] = { "json", BIT(LANG_DOCKERFILE) | BIT(LANG_YAML) | BIT(LANG_HCL) },
	[QUOTE_PYTHON] = { "python", BIT(LANG_PYTHON) },
	[QUOTE_COMMENT] = { "comment", ANY_LANGUAGE },
	[QUOTE_WORD] = { "word", ANY_LANGUAGE },
	[QUOTE_REQUIREMENT] = { "requirement", BIT(LANG_PIP) },
	[QUOTE_HTML] = { "html", BIT(LANG_HTML) },
	[QUOTE_PLAIN] = { "plain", ANY_LANGUAGE | BIT(LANG_HTML) },
};

const char *
quoting_name(enum quoting q)
{
	return quotings[q].name;
}

enum quoting
quoting_named(struct str name)
{
	enum quoting q = 0;

	while (q < QUOTINGS && !str_is(name, quotings[q].name))
		q++;
	return q;
}

bool
quoting_fits(enum quoting q, enum language l)
{
	return quotings[q].languages & BIT(l);
}

/* Characters that unquoted words may contain besides letters and digits. */
#define SAFE "_./:@%+=,-"

static bool
all_in(const char *text, const char *safe)
{
	const char *p = text;

	while (*p && (is_alnum(*p) || strchr(safe, *p)))
		p++;
	return *text && !*p;
}

static bool
has_control(const char *text, const char *allowed)
{
	for (; *text; text++)
		if (((unsigned char)*text < ' ' || *text == 0x7f) && !strchr(allowed, *text))
			return true;
	return false;
}

static bool
has_invisible(const char *text)
{
	uint32_t point;

	for (size_t left = strlen(text), n; left; text += n, left -= n) {
		n = utf8_decode(text, left, &point);
		if (!n || utf8_invisible(point))
			return true;
	}
	return false;
}

/* Adds a text between marks, with `before` before each special character. */
static void
add_escaped(struct buf *out, const char *mark, const char *text, const char *special,
	    const char *before)
{
	buf_puts(out, mark);
	for (; *text; text++) {
		if (strchr(special, *text))
			buf_puts(out, before);
		buf_putc(out, *text);
	}
	buf_puts(out, mark);
}

/*
 * Adds a word. A quoted word starts with its quote, so that in a RUN it begins no comment, and no
 * here-document, for which BuildKit searches words with <<. It ends with a quote, so that no
 * backslash continues the line.
 */
static void
add_sh(struct buf *out, const char *text)
{
	if (all_in(text, SAFE))
		buf_puts(out, text);
	else if (strchr(text, '\'') && !strpbrk(text, "\"$`\\!"))
		buf_printf(out, "\"%s\"", text);
	else
		add_escaped(out, "'", text, "'", "'\\'");
}

/* Escapes what begins a tag or reference, or ends an attribute (HTML 13.1.2.3 and 13.1.4). */
static void
add_html(struct buf *out, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '&': buf_puts(out, "&amp;"); break;
		case '<': buf_puts(out, "&lt;"); break;
		case '>': buf_puts(out, "&gt;"); break;
		case '"': buf_puts(out, "&quot;"); break;
		case '\'': buf_puts(out, "&#39;"); break;
		default: buf_putc(out, *text);
		}
}

/*
 * Adds a part of a comment. It escapes, as \uXXXX, each character that some reader takes for more
 * than text: line ends (YAML 1.1 has U+0085, U+2028 and U+2029, pip those of Python's splitlines),
 * those that hide or reorder text, bytes that are not UTF-8; "{{" (Apptainer and GitHub replace
 * expressions in comments); and "coding:", by which Python and pip (PEP 263) select the encoding.
 */
static void
add_comment(struct buf *out, const char *text)
{
	const char *start = text;
	uint32_t point;

	for (size_t left = strlen(text), n; left; text += n, left -= n) {
		n = utf8_decode(text, left, &point);
		if (!n)
			buf_printf(out, "\\x%02x", (unsigned char)*text);
		else if (utf8_invisible(point) || point == '\t' ||
			 (point == '{' && text > start && text[-1] == '{') ||
			 ((point == ':' || point == '=') && text - start >= 6 &&
			  !memcmp(text - 6, "coding", 6)))
			buf_printf(out, point > 0xffff ? "\\U%08x" : "\\u%04x", point);
		else
			buf_add(out, text, n);
		n += !n;
	}
}

/*
 * Adds a JSON string. YAML and HCL read no pairs of surrogates, but \UXXXXXXXX; and HCL expands
 * ${...} and %{...} inside a text.
 */
static void
add_json(struct buf *out, enum language l, const char *text)
{
	struct buf part = BUF(out->a), quoted = BUF(out->a);
	uint32_t point;

	buf_putc(out, '"');
	while (*text) {
		size_t n = utf8_decode(text, strlen(text), &point);

		buf_clear(&part);
		buf_clear(&quoted);
		if (n == 4 && (l == LANG_YAML || l == LANG_HCL)) {
			buf_printf(out, "\\U%08x", point);
			text += n;
			continue;
		}
		for (n += !n; n; n--, text++) {
			if (l == LANG_HCL && (*text == '$' || *text == '%') && text[1] == '{')
				buf_putc(&part, *text);
			buf_putc(&part, *text);
		}
		json_quote(&quoted, buf_text(&part));
		buf_add(out, quoted.p + 1, quoted.n - 2);
	}
	buf_putc(out, '"');
}

static void
add_python(struct buf *out, const char *text)
{
	char mark = strchr(text, '"') && !strchr(text, '\'') ? '\'' : '"';

	buf_putc(out, mark);
	for (; *text; text++) {
		if (*text == '\n')
			buf_puts(out, "\\n");
		else if ((unsigned char)*text < ' ' || *text == 0x7f)
			buf_printf(out, "\\x%02x", (unsigned)(unsigned char)*text);
		else if (*text == mark || *text == '\\')
			buf_printf(out, "\\%c", *text);
		else
			buf_putc(out, *text);
	}
	buf_putc(out, mark);
}

/* Checks a line of a requirements file, from which pip removes comments and replaces ${NAME}. */
static const char *
why_no_requirement(const char *text)
{
	size_t n = strlen(text);

	if (!n || text[0] == ' ' || text[n - 1] == ' ')
		return "a requirement is not empty, and has no space before or after it";
	if (text[0] == '-' || text[0] == '#')
		return "the line would be an option or a comment";
	if (strstr(text, " #"))
		return "for pip, ` #` starts a comment";
	if (strstr(text, "${"))
		return "pip replaces `${NAME}` with an environment variable";
	return text[n - 1] == '\\' ? "a `\\` at the end continues the line" : NULL;
}

static const char *
why_not(enum quoting q, enum language l, const char *text)
{
	if (q == QUOTE_PLAIN)
		return all_in(text, "._:/@+-") && *text != '-' ?
			       NULL :
			       "only letters, digits and . _ : / @ + - are allowed here";
	if (q == QUOTE_COMMENT || q == QUOTE_WORD)
		return NULL;
	if (l == LANG_YAML && strstr(text, "${{"))
		return "the code host replaces `${{`";
	if (q == QUOTE_JSON || q == QUOTE_PYTHON ||
	    ((q == QUOTE_SH || q == QUOTE_TEXT) && l == LANG_SH))
		return NULL;
	if (q == QUOTE_REQUIREMENT ? has_invisible(text) :
				     has_control(text, q == QUOTE_HTML ? "\n\t" : ""))
		return "line breaks and other control characters are not allowed here";
	return q == QUOTE_REQUIREMENT ? why_no_requirement(text) : NULL;
}

bool
quote(struct buf *out, enum quoting q, enum language l, const char *text, const char **why)
{
	const char *reason = why_not(q, l, text);
	struct buf word = BUF(out->a);

	if (reason) {
		*why = reason;
		return false;
	}
	switch (q) {
	case QUOTE_SH: add_sh(out, text); break;
	case QUOTE_TEXT: add_escaped(out, "'", text, "'", "'\\'"); break;
	case QUOTE_DOCKERFILE:
		if (all_in(text, SAFE))
			buf_puts(out, text);
		else
			add_escaped(out, "\"", text, "\\\"$", "\\");
		break;
	case QUOTE_COPY: /* COPY parses each word of its JSON list again like a shell. */
		add_escaped(&word, "", text, "\\\"'$", "\\");
		json_quote(out, buf_text(&word));
		break;
	case QUOTE_JSON: add_json(out, l, text); break;
	case QUOTE_PYTHON: add_python(out, text); break;
	case QUOTE_HTML: add_html(out, text); break;
	case QUOTE_COMMENT: add_comment(out, text); break;
	case QUOTE_WORD:
		add_sh(&word, text);
		add_comment(out, buf_text(&word));
		break;
	default: buf_puts(out, text);
	}
	return true;
}

#include <string.h>

#include "base/str.h"
#include "python/internal.h"

/*
 * The grammar of PEP 508 and packaging. Blanks (space, tab) may be anywhere except in a word, and
 * must follow a url:
 *
 *     requirement = name extras? (url | specifiers) (";" marker)?
 *     extras      = "[" (name ("," name)*)? "]"
 *     url         = "@" [^ \t]+
 *     specifiers  = "(" many ")" | many
 *     many        = (specifier ("," specifier)* ","?)?
 *     name        = [A-Za-z0-9] ([A-Za-z0-9._-]* [A-Za-z0-9_])?
 */

static const char *
read_name(struct scan *s, const char *why)
{
	const char *start = s->p, *end = start;

	if (!is_alnum(*start))
		return scan_fail(s, why);
	while (is_alnum(*end) || *end == '.' || *end == '_' || *end == '-')
		end++;
	if (end[-1] == '.' || end[-1] == '-' || (unsigned char)*end >= 0x80) {
		s->p = end;
		return scan_fail(s, "a name ends with a letter or a digit");
	}
	s->p = end;
	return arena_copy(s->a, start, (size_t)(end - start));
}

static bool
read_extras(struct scan *s, struct names *out)
{
	if (*s->p != '[')
		return true;
	s->p++;
	scan_blank(s);
	while (*s->p != ']' || out->n) {
		const char *name = read_name(s, out->n ? "expected an extra after the comma" :
							 "expected an extra or `]`");

		if (!name)
			return false;
		names_once(s->a, out, name);
		scan_blank(s);
		if (*s->p == ']')
			break;
		if (*s->p != ',')
			return scan_fail(s, "expected a comma or `]` after an extra");
		s->p++;
		scan_blank(s);
	}
	s->p++;
	names_sort(out);
	return true;
}

/* Returns the end of the specifier that starts at `p`; checks only its outline. */
static const char *
specifier_end(const char *p, const char *end)
{
	const char *stop = starts_with(p, "===") ? ";)" : " ,;)";

	p += strspn(p, "=<>!~");
	while (p < end && is_space(*p))
		p++;
	while (p < end && !strchr(stop, *p) && !is_space(*p))
		p++;
	return p;
}

/* Skips specifiers up to s->p; a comma may be the last character. */
static void
skip_specifiers(struct scan *s)
{
	while (*s->p && strchr("=<>!~", *s->p)) {
		s->p = specifier_end(s->p, s->end);
		scan_blank(s);
		if (*s->p != ',')
			break;
		s->p++;
		scan_blank(s);
	}
}

static void
find_bad_specifier(struct scan *s, const char *start, const char *end)
{
	while (start < end) {
		const char *stop = specifier_end(start, end);

		s->p = start;
		if (!specifiers_of(s->a, start, (size_t)(stop - start)))
			break;
		start = stop + strspn(stop, " \t,");
	}
}

static const struct specifiers *
read_specifiers(struct scan *s)
{
	bool parenthesis = *s->p == '(';
	const char *start, *end;
	const struct specifiers *spec;

	s->p += parenthesis;
	scan_blank(s);
	start = s->p;
	skip_specifiers(s);
	end = s->p;
	spec = specifiers_of(s->a, start, (size_t)(end - start));
	if (!spec) {
		find_bad_specifier(s, start, end);
		return scan_fail(s, "not a version specifier");
	}
	scan_blank(s);
	if (parenthesis && *s->p != ')')
		return scan_fail(s, "expected a comma or a closing parenthesis");
	s->p += parenthesis;
	return spec;
}

static bool
read_url(struct scan *s, const char **url)
{
	size_t n;

	s->p++;
	scan_blank(s);
	n = strcspn(s->p, " \t");
	if (!n)
		return scan_fail(s, "expected a url after `@`");
	*url = arena_copy(s->a, s->p, n);
	s->p += n;
	return true;
}

static bool
read_requirement(struct scan *s, struct requirement *r)
{
	scan_blank(s);
	r->name = read_name(s, "expected the name of a package");
	if (!r->name)
		return false;
	r->key = name_normalize(s->a, r->name);
	scan_blank(s);
	if (!read_extras(s, &r->extras))
		return false;
	scan_blank(s);
	if (*s->p == '@') {
		r->spec = specifiers_of(s->a, "", 0);
		if (!read_url(s, &r->url))
			return false;
	} else {
		r->spec = read_specifiers(s);
		if (!r->spec)
			return false;
	}
	scan_blank(s);
	if (*s->p == ';') {
		s->p++;
		r->marker = marker_read(s);
		if (!r->marker)
			return false;
	}
	return !*s->p ||
	       scan_fail(s, r->marker ? "expected `and`, `or` or the end" :
			    r->spec->n || r->url ?
					"expected a comma, `;` or the end" :
					"expected a version specifier, `@`, `;` or the end");
}

const struct requirement *
requirement_parse(struct arena *a, const char *text, const char **why, size_t *at)
{
	struct requirement *r = arena_new_of(a, struct requirement);
	struct scan s = { .a = a, .p = text, .end = text + strlen(text) };

	if (read_requirement(&s, r))
		return r;
	if (why)
		*why = s.why;
	if (at)
		*at = (size_t)(s.p - text);
	return NULL;
}

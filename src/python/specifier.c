#include "python/specifier.h"

#include <string.h>

#include "base/str.h"
#include "python/unicode.h"

static void
trim(const char **s, size_t *n)
{
	size_t len;

	while ((len = unicode_space(*s, *n)) > 0) {
		*s += len;
		*n -= len;
	}
	while ((len = unicode_space_before(*s, *n)) > 0)
		*n -= len;
}

/* Bytes of the operator that s[0..n) starts with, or 0. */
static size_t
read_op(const char *s, size_t n, enum clause_op *op)
{
	static const struct {
		char text[4];
		enum clause_op op;
	} ops[] = { { "===", OP_ARBITRARY }, { "==", OP_EQ }, { ">=", OP_GE },
		    { "<=", OP_LE },         { "!=", OP_NE }, { "~=", OP_COMPATIBLE },
		    { "<", OP_LT },          { ">", OP_GT } };

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		size_t len = strlen(ops[i].text);

		if (n >= len && !memcmp(s, ops[i].text, len)) {
			*op = ops[i].op;
			return len;
		}
	}
	return 0;
}

/* === takes anything but white space, ";" and ")". */
static bool
read_arbitrary(struct arena *a, const char *s, size_t n, struct clause *c)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] == ';' || s[i] == ')' || unicode_space(s + i, n - i))
			return false;
	c->asked = unicode_lower_of(a, s, n);
	c->v = version_of(a, s, n);
	c->canonical = c->v && !strcmp(c->asked, version_text(a, c->v));
	return true;
}

static bool
read_wildcard(struct arena *a, const char *s, size_t n, struct clause *c)
{
	const struct version *v;

	if (unicode_space_before(s, n - 2))
		return false;
	v = version_of_any_size(a, s, n - 2);
	if (!v || v->local || !version_is_release(v))
		return false;
	c->v = v;
	c->wildcard = true;
	c->stem = version_stem(a, v, 0, &c->n_stem);
	return true;
}

/*
 * What packaging's expression for ~= takes for s and i besides them, since it ignores case
 * without keeping to ASCII: U+017F, U+0131, U+0130.
 */
static const struct version *
look_alike(struct arena *a, const char *s, size_t n)
{
	char *plain = arena_alloc(a, n + 1, 1), *out = plain;
	uint32_t cp;

	for (size_t i = 0, len; i < n; i += len) {
		len = unicode_next(s + i, n - i, &cp);
		*out++ = cp == 0x17f ? 's' : cp == 0x131 || cp == 0x130 ? 'i' : s[i];
	}
	return version_of_any_size(a, plain, (size_t)(out - plain));
}

static bool
read_version(struct arena *a, const char *s, size_t n, struct clause *c)
{
	bool equality = c->op == OP_EQ || c->op == OP_NE;

	if (equality && n > 2 && !memcmp(s + n - 2, ".*", 2))
		return read_wildcard(a, s, n, c);
	c->v = version_of_any_size(a, s, n);
	if (!c->v && c->op == OP_COMPATIBLE) {
		c->v = look_alike(a, s, n);
		c->unusable = true;
	}
	if (!c->v || (c->v->local && !equality))
		return false;
	if (c->op == OP_LT)
		c->bound = c->v->is_pre ? c->v : version_first_dev(a, c->v);
	if (c->op == OP_COMPATIBLE) {
		if (version_release_count(c->v) < 2)
			return false;
		c->stem = version_stem(a, c->v, 1, &c->n_stem);
	}
	return true;
}

bool
clause_read(struct arena *a, const char *s, size_t n, struct clause *c)
{
	size_t len;
	const char *op;
	char *text;

	*c = (struct clause){ 0 };
	trim(&s, &n);
	op = s;
	len = read_op(s, n, &c->op);
	if (!len)
		return false;
	s += len;
	n -= len;
	trim(&s, &n);
	if (!(c->op == OP_ARBITRARY ? read_arbitrary(a, s, n, c) : read_version(a, s, n, c)))
		return false;
	c->unusable = c->unusable || (c->v && c->v->huge);
	text = arena_alloc(a, len + n + 1, 1);
	memcpy(text, op, len);
	if (n)
		memcpy(text + len, s, n);
	c->text = text;
	return true;
}

const struct specifiers *
specifiers_of(struct arena *a, const char *s, size_t n)
{
	struct specifiers *out;
	size_t max = 1;

	for (size_t i = 0; i < n; i++)
		max += s[i] == ',';
	out = arena_alloc(a, sizeof(*out) + max * sizeof(*out->at), _Alignof(struct specifiers));
	for (const char *end = s + n; s < end;) {
		const char *comma = memchr(s, ',', (size_t)(end - s));
		const char *part = s;
		size_t len = (size_t)((comma ? comma : end) - s);

		s = comma ? comma + 1 : end;
		trim(&part, &len);
		if (!len)
			continue;
		if (!clause_read(a, part, len, &out->at[out->n]))
			return NULL;
		out->arbitrary = out->arbitrary || out->at[out->n].op == OP_ARBITRARY;
		out->unusable = out->unusable || out->at[out->n].unusable;
		out->n++;
	}
	return out;
}

const struct specifiers *
specifiers_parse(struct arena *a, const char *text)
{
	return specifiers_of(a, text, strlen(text));
}

const struct version *
specifiers_pin(const struct specifiers *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct clause *c = &s->at[i];

		if (c->v && !c->wildcard && !c->unusable &&
		    (c->op == OP_EQ || c->op == OP_ARBITRARY))
			return c->v;
	}
	return NULL;
}

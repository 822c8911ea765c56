#include "python/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"

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

/* Longer ones first. */
static const struct {
	char text[7];
	enum clause_op op;
} ops[] = {
	{ "===", OP_ARBITRARY }, { "==", OP_EQ },         { ">=", OP_GE }, { "<=", OP_LE },
	{ "!=", OP_NE },         { "~=", OP_COMPATIBLE }, { "<", OP_LT },  { ">", OP_GT },
	{ "in", OP_IN },         { "not in", OP_NOT_IN },
};

const char *
op_text(enum clause_op op)
{
	size_t i = 0;

	while (ops[i].op != op)
		i++;
	return ops[i].text;
}

size_t
op_read(const char *s, size_t n, enum clause_op *op)
{
	for (size_t i = 0; ops[i].op != OP_IN; i++) {
		size_t len = strlen(ops[i].text);

		if (n >= len && !memcmp(s, ops[i].text, len)) {
			*op = ops[i].op;
			return len;
		}
	}
	return 0;
}

/* Accepts the text of ===: any characters except white space, ";" and ")". */
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
 * Parses a version in which packaging's expression for ~= accepts U+017F, U+0131 and U+0130 for s
 * and i, because it ignores case beyond ASCII.
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
	len = op_read(s, n, &c->op);
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
	list_each (c, s)
		if (c->v && !c->wildcard && !c->unusable &&
		    (c->op == OP_EQ || c->op == OP_ARBITRARY))
			return c->v;
	return NULL;
}

/*
 * Returns true if a clause accepts a version. The version's local part counts in >=, and if the
 * clause has one. Pre-releases of V are not below V (PEP 440, exclusive ordered comparison), and
 * its post-releases are not above it.
 */
bool
clause_match(const struct clause *c, const struct version *v)
{
	const struct version *w = c->v;

	switch (c->op) {
	case OP_LE: return version_cmp_public(v, w) <= 0;
	case OP_LT: return version_cmp_public(v, c->bound) < 0;
	case OP_GE: return version_cmp(v, w) >= 0;
	case OP_GT:
		return version_cmp_public(v, w) > 0 &&
		       (version_has_post_or_dev(w) || !version_same_pre(v, w));
	case OP_EQ:
	case OP_NE:
		if (c->wildcard)
			return version_has_stem(v, c->stem, c->n_stem) == (c->op == OP_EQ);
		return ((w->local ? version_cmp(v, w) : version_cmp_public(v, w)) == 0) ==
		       (c->op == OP_EQ);
	case OP_COMPATIBLE:
		return version_has_stem(v, c->stem, c->n_stem) && version_cmp(v, w) >= 0;
	case OP_ARBITRARY: return c->canonical && !version_cmp(v, w) && v->zeros == w->zeros;
	case OP_IN:
	case OP_NOT_IN: break;
	}
	return false;
}

bool
clause_match_text(const struct clause *c, const struct version *v, const char *lower)
{
	if (c->op == OP_ARBITRARY)
		return !strcmp(c->asked, lower);
	return v && clause_match(c, v);
}

bool
specifiers_match(const struct specifiers *s, const struct version *v)
{
	if (s->unusable)
		return false;
	for (size_t i = 0; i < s->n; i++)
		if (!clause_match(&s->at[i], v))
			return false;
	return true;
}

static int
cmp_text(const void *x, const void *y)
{
	return unicode_cmp((*(const struct clause *const *)x)->text,
			   (*(const struct clause *const *)y)->text);
}

/*
 * Orders clauses by meaning: compares versions as versions, except that trailing zeros of the
 * release count in ~=, and === and V.* are compared as text.
 */
static int
cmp_meaning(const struct clause *x, const struct clause *y)
{
	int order;

	if (x->op != y->op)
		return x->op < y->op ? -1 : 1;
	if (x->wildcard != y->wildcard)
		return x->wildcard ? 1 : -1;
	if (x->op == OP_ARBITRARY || x->wildcard)
		return strcmp(x->text, y->text);
	order = version_cmp(x->v, y->v);
	if (!order && x->op == OP_COMPATIBLE)
		order = (x->v->zeros > y->v->zeros) - (x->v->zeros < y->v->zeros);
	return order;
}

static int
cmp_meaning_then_text(const void *x, const void *y)
{
	int order = cmp_meaning(*(const struct clause *const *)x, *(const struct clause *const *)y);

	return order ? order : cmp_text(x, y);
}

const char *
specifiers_text(struct arena *a, const struct specifiers *s)
{
	struct buf b = BUF(a);
	const struct clause **sorted = arena_array_of(a, const struct clause *, s->n);
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		sorted[i] = &s->at[i];
	/* Keeps the first of equal clauses, in the order of the text. */
	qsort(sorted, s->n, sizeof(sorted[0]), cmp_meaning_then_text);
	for (size_t i = 0; i < s->n; i++)
		if (!n || cmp_meaning(sorted[n - 1], sorted[i]))
			sorted[n++] = sorted[i];
	qsort(sorted, n, sizeof(sorted[0]), cmp_text);
	for (size_t i = 0; i < n; i++) {
		buf_puts(&b, i ? "," : "");
		buf_puts(&b, sorted[i]->text);
	}
	return buf_text(&b);
}

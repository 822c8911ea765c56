#include "python/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"

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
		if (s[i] == ';' || s[i] == ')' || is_space(s[i]))
			return false;
	c->asked = arena_lower(a, arena_copy(a, s, n));
	c->v = version_of(a, s, n);
	c->canonical = c->v && !strcmp(c->asked, version_text(a, c->v));
	return true;
}

static bool
read_wildcard(struct arena *a, const char *s, size_t n, struct clause *c)
{
	const struct version *v;

	if (is_space(s[n - 3]))
		return false;
	v = version_of(a, s, n - 2);
	if (!v || v->local || !version_is_release(v))
		return false;
	c->v = v;
	c->wildcard = true;
	c->stem = version_stem(a, v, 0, &c->n_stem);
	return true;
}

static bool
read_version(struct arena *a, const char *s, size_t n, struct clause *c)
{
	bool equality = c->op == OP_EQ || c->op == OP_NE;

	if (equality && n > 2 && !memcmp(s + n - 2, ".*", 2))
		return read_wildcard(a, s, n, c);
	c->v = version_of(a, s, n);
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
	c->text = s == op + len ? arena_copy(a, op, len + n) :
				  arena_printf(a, "%.*s%.*s", (int)len, op, (int)n, s);
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
		if (c->v && !c->wildcard && (c->op == OP_EQ || c->op == OP_ARBITRARY))
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
specifiers_match(const struct specifiers *s, const struct version *v)
{
	list_each (c, s)
		if (!clause_match(c, v))
			return false;
	return true;
}

const char *
specifiers_text(struct arena *a, const struct specifiers *s)
{
	struct buf b = BUF(a);
	struct names all = { 0 };

	list_each (c, s)
		list_push(a, &all, c->text);
	names_sort(&all);
	for (size_t i = 0; i < all.n; i++)
		if (!i || strcmp(all.at[i - 1], all.at[i]) != 0)
			buf_printf(&b, "%s%s", i ? "," : "", all.at[i]);
	return buf_text(&b);
}

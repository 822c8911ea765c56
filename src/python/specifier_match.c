#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "python/specifier.h"
#include "python/unicode.h"

/*
 * A local part of the version counts where the clause has one too, and in >=.
 * Pre-releases of V are not below V (PEP 440, exclusive ordered comparison), and its
 * post-releases are not above it.
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
specifiers_match(const struct specifiers *s, const struct version *v, enum prereleases pre)
{
	if (s->unusable || (pre == PRE_NO && v->is_pre))
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
 * Clauses that say the same: versions are compared as versions, but for ~=, where
 * the zeros at the end of the release count; === and V.* as they are written.
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
	/* Of those that say the same, the first in the order of the text stays. */
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

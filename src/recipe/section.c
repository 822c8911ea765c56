#include <string.h>

#include "read.h"

/* What must hold between the keys of one section. */
static bool
section_holds(struct load *l, const struct key *k, const struct node *n, const struct recipe *r)
{
	if (!strcmp(k->path, "torch") && !r->torch.version.s && !r->torch.index.s &&
	    !r->torch.with.n)
		return value_empty(l, "torch", n);
	if (!strcmp(k->path, "index") && r->index.secret.s && !r->index.url.s)
		return key_missing(l, k, "url", r->index.secret.at);
	return true;
}

const struct section *
section_read(struct load *l, const struct key *k, const struct node *n)
{
	const char *place = arena_printf(l->a, "section %s %p", k->path, (const void *)n);
	struct section *s = map_get(&l->done, place);
	struct recipe *r;

	if (s)
		return s;
	r = arena_new_of(l->a, struct recipe);
	r->verify.forbid_fallback_set = true;
	s = arena_new_of(l->a, struct section);
	*s = (struct section){ .key = k, .node = n, .values = r };
	s->good = read_value(l, k, n, (char *)r) && section_holds(l, k, n, r);
	if (s->good)
		s->json = canonical_section(l->a, k, r);
	if (r->torch.version.s && !strcmp(r->torch.version.s, "*"))
		r->torch.version = (struct text){ 0 }; /* explicitly unpinned */
	map_put(&l->done, place, s);
	return s;
}

void
section_fill(const struct section *s, struct recipe *r)
{
	key_copy(s->key, s->values, r);
}

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

static size_t
size_of(const struct key *k)
{
	switch (k->type) {
	case KEY_TEXT: return sizeof(struct text);
	case KEY_GPUS: return sizeof(struct recipe_gpus);
	case KEY_REQUIREMENTS: return sizeof(struct recipe_requirements);
	case KEY_SETTINGS: return sizeof(struct settings);
	case KEY_EXTENSIONS: return sizeof(struct recipe_extensions);
	case KEY_TEXTS: return k->and ? k->and +sizeof(bool) - k->at : sizeof(struct texts);
	default: return k->and -k->at;
	}
}

const struct section *
section_read(struct load *l, const struct key *k, const struct node *n)
{
	const char *place = arena_printf(l->a, "section %s %p", k->path, (const void *)n);
	struct section *s = map_get(&l->done, place);
	struct recipe r = { .verify = { .forbid_fallback_set = true } };

	if (s)
		return s;
	s = arena_new_of(l->a, struct section);
	*s = (struct section){ .key = k, .node = n, .size = size_of(k) };
	s->good = read_value(l, k, n, (char *)&r) && section_holds(l, k, n, &r);
	if (s->good)
		s->json = canonical_section(l->a, k, &r);
	if (r.torch.version.s && !strcmp(r.torch.version.s, "*"))
		r.torch.version = (struct text){ 0 }; /* left open, and said so */
	s->bytes = arena_copy(l->a, (const char *)&r + k->at, s->size);
	map_put(&l->done, place, s);
	return s;
}

void
section_fill(const struct section *s, struct recipe *r)
{
	memcpy((char *)r + s->key->at, s->bytes, s->size);
}

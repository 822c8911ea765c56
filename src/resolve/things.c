#include <stdlib.h>

#include "fit_work.h"

/*
 * Things and their candidates, most wanted first.  What the recipe leaves open becomes the
 * first candidate that goes with all else, so these orders are our taste.
 */

static void
add(struct fit_work *w, struct fit_slot *s, const char *text, const void *entry, bool versioned)
{
	const struct version *v = versioned ? version_parse(w->a, text) : NULL;

	list_push(w->a, &s->list,
		  (struct fit_candidate){ .text = text, .v = v, .entry = entry, .known = true });
}

static void
fill_torch(struct fit_work *w, struct fit_slot *s)
{
	size_t n;
	const struct torch_release *const *all = facts_torch_all(w->f, &n);

	while (n-- > 0)
		add(w, s, all[n]->version, all[n], true);
}

static bool
has(const struct fit_slot *s, const char *text)
{
	for (size_t i = 0; i < s->list.n; i++)
		if (!strcmp(s->list.at[i].text, text))
			return true;
	return false;
}

/* Every tag that any release has, newest CUDA first; then cpu and the rest. */
static void
fill_builds(struct fit_work *w, struct fit_slot *s)
{
	size_t n, end;
	const struct torch_release *const *all = facts_torch_all(w->f, &n);

	for (size_t i = n; i-- > 0;)
		for (size_t k = 0; k < all[i]->nvariants; k++)
			if (all[i]->variants[k].cuda && !has(s, all[i]->variants[k].tag))
				add(w, s, all[i]->variants[k].tag, NULL, false);
	end = s->list.n;
	for (size_t i = 1; i < end; i++)
		for (size_t k = i; k && strtoul(s->list.at[k].text + 2, NULL, 10) >
						strtoul(s->list.at[k - 1].text + 2, NULL, 10);
		     k--) {
			struct fit_candidate swap = s->list.at[k];

			s->list.at[k] = s->list.at[k - 1];
			s->list.at[k - 1] = swap;
		}
	for (size_t i = n; i-- > 0;)
		for (size_t k = 0; k < all[i]->nvariants; k++)
			if (!all[i]->variants[k].cuda && !has(s, all[i]->variants[k].tag))
				add(w, s, all[i]->variants[k].tag, NULL, false);
}

static void
fill_cuda(struct fit_work *w, struct fit_slot *s)
{
	size_t n;
	const struct cuda_toolkit *const *all = facts_cuda_all(w->f, &n);

	while (n-- > 0)
		add(w, s, all[n]->version, all[n], true);
}

/*
 * The usual one first; then Ubuntu before Debian, the oldest first: all else has wheels for it.
 * Where Python is as free as the system, those come before it whose own Python is new enough.
 */
static void
fill_os(struct fit_work *w, struct fit_slot *s)
{
	static const char *const usual[] = { "ubuntu22.04", "ubuntu24.04", "ubuntu26.04",
					     "debian12", "debian13" };
	static const char *const own[] = { "ubuntu24.04", "ubuntu26.04", "debian12", "debian13",
					   "ubuntu22.04" };
	const char *const *first = w->r->base.s || w->r->python.s ? usual : own;
	size_t n;
	const struct os_release *all = facts_os_all(w->f, &n);

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (facts_os(w->f, first[i]))
			add(w, s, first[i], facts_os(w->f, first[i]), false);
	for (size_t i = 0; i < n; i++)
		if (!has(s, all[i].id))
			add(w, s, all[i].id, &all[i], false);
}

static void
fill_python(struct fit_work *w, struct fit_slot *s)
{
	struct names all = facts_python_series(w->f);
	const struct version *first = version_parse(w->a, PYTHON_OLDEST);

	for (size_t i = 0; i < all.n; i++) {
		const struct version *v = version_parse(w->a, all.at[i]);

		if (v && version_cmp(v, first) >= 0)
			add(w, s, all.at[i], NULL, true);
	}
	for (size_t i = all.n; i-- > 0;)
		if (!has(s, all.at[i]))
			add(w, s, all.at[i], NULL, true);
}

static void
fill_extension(struct fit_work *w, struct fit_slot *s)
{
	const struct extension *e = facts_extension(w->f, s->t.key);

	s->entry = e;
	for (size_t i = e ? e->nreleases : 0; i-- > 0;)
		add(w, s, e->releases[i].version, &e->releases[i], true);
}

/* torchvision and torchaudio: the pairs of torch's releases. */
static void
fill_companion(struct fit_work *w, struct fit_slot *s)
{
	bool vision = !strcmp(s->t.key, "torchvision");
	size_t n;
	const struct torch_release *const *all = facts_torch_all(w->f, &n);

	while (n-- > 0) {
		const char *pair = vision ? all[n]->torchvision : all[n]->torchaudio;

		if (pair && !has(s, pair))
			add(w, s, pair, NULL, true);
	}
}

static void
fill_package(struct fit_work *w, struct fit_slot *s)
{
	const struct python_package *p = facts_package(w->f, s->t.key);
	size_t n = 0;
	const struct package_release *all;

	s->entry = p;
	if (!strcmp(s->t.key, "torchvision") || !strcmp(s->t.key, "torchaudio")) {
		fill_companion(w, s);
		return;
	}
	all = facts_package_releases(w->f, s->t.key, &n);
	while (n-- > 0)
		add(w, s, all[n].version, &all[n], true);
}

static void
fill(struct fit_work *w, struct fit_slot *s)
{
	static const char *const sources[] = { "sdist", "git", "release", "url" };

	switch (s->t.kind) {
	case FIT_TORCH: fill_torch(w, s); break;
	case FIT_BUILD: fill_builds(w, s); break;
	case FIT_CUDA: fill_cuda(w, s); break;
	case FIT_OS: fill_os(w, s); break;
	case FIT_PYTHON: fill_python(w, s); break;
	case FIT_EXTENSION: fill_extension(w, s); break;
	case FIT_PACKAGE: fill_package(w, s); break;
	case FIT_SOURCE:
		for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
			add(w, s, sources[i], NULL, false);
		break;
	case FIT_MACHINE:
		add(w, s, "x86_64", NULL, false);
		add(w, s, "aarch64", NULL, false);
		break;
	default: break; /* what the recipe names is all there is */
	}
}

static const char *
label_of(enum fit_kind kind, const char *key)
{
	switch (kind) {
	case FIT_CUDA: return "CUDA";
	case FIT_PYTHON: return "Python";
	case FIT_BASE: return "the base image";
	case FIT_OS: return "the system";
	case FIT_MACHINE: return "the machine";
	default: return key;
	}
}

static void
sync(struct fit_slot *s)
{
	s->t.c = s->list.at;
	s->t.n = s->list.n;
}

unsigned
fit_slot(struct fit_work *w, enum fit_kind kind, const char *key)
{
	int at = fit_find(w, key);
	struct fit_slot *s;

	if (at >= 0)
		return (unsigned)at;
	s = arena_new_of(w->a, struct fit_slot);
	s->t = (struct fit_thing){ .kind = kind, .key = arena_strdup(w->a, key) };
	s->t.label = label_of(kind, s->t.key);
	s->number = (unsigned)w->slots.n;
	fill(w, s);
	sync(s);
	list_push(w->a, &w->slots, s);
	map_put(&w->by_key, s->t.key, s);
	return s->number;
}

int
fit_find(const struct fit_work *w, const char *key)
{
	const struct fit_slot *s = map_get(&w->by_key, key);

	return s ? (int)s->number : -1;
}

struct fit_thing *
fit_at(struct fit_work *w, unsigned thing)
{
	return &w->slots.at[thing]->t;
}

size_t
fit_candidate(struct fit_work *w, unsigned thing, const char *text)
{
	struct fit_slot *s = w->slots.at[thing];
	const struct version *v = version_parse(w->a, text);

	for (size_t i = 0; i < s->list.n; i++) {
		const struct fit_candidate *c = &s->list.at[i];

		if (c->v && v ? version_cmp(c->v, v) == 0 : !strcmp(c->text, text))
			return i;
	}
	list_push(w->a, &s->list, (struct fit_candidate){ .text = text, .v = v });
	sync(s);
	return s->list.n - 1;
}

/* --- sets --- */

solve_word *
fit_none(struct fit_work *w, unsigned thing)
{
	return solve_set(w->a, fit_at(w, thing)->n);
}

solve_word *
fit_all(struct fit_work *w, unsigned thing)
{
	return solve_set_full(w->a, fit_at(w, thing)->n);
}

solve_word *
fit_one(struct fit_work *w, unsigned thing, size_t candidate)
{
	solve_word *set = fit_none(w, thing);

	solve_set_add(set, candidate);
	return set;
}

solve_word *
fit_in(struct fit_work *w, unsigned thing, const char *spec)
{
	const struct fit_thing *t = fit_at(w, thing);
	const struct specifiers *s = specifiers_parse(w->a, spec);
	solve_word *set = fit_none(w, thing);

	for (size_t i = 0; i < t->n; i++)
		if (!s || !t->c[i].v || specifiers_match(s, t->c[i].v, PRE_YES))
			solve_set_add(set, i);
	return set;
}

solve_word *
fit_named(struct fit_work *w, unsigned thing, const struct names *names, bool unknown)
{
	const struct fit_thing *t = fit_at(w, thing);
	solve_word *set = fit_none(w, thing);

	for (size_t i = 0; i < t->n; i++) {
		bool in = unknown && !t->c[i].known;

		for (size_t k = 0; k < names->n && !in; k++)
			in = !strcmp(names->at[k], t->c[i].text);
		if (in)
			solve_set_add(set, i);
	}
	return set;
}

bool
fit_asks_of_torch(struct fit_work *w, const struct requirement *req)
{
	unsigned thing;

	if (!w->r->torch.at.line || req->url)
		return false;
	thing = fit_slot(w, FIT_TORCH, "torch");
	return solve_set_count(fit_in(w, thing, specifiers_text(w->a, req->spec)),
			       fit_at(w, thing)->n) > 0;
}

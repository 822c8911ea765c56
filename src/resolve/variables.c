#include <stdlib.h>

#include "internal.h"

/*
 * Things and their candidates, most wanted first.  What the recipe leaves open becomes the
 * first candidate that goes with all else, so these orders are our taste.
 */

static void
add(struct workspace *w, struct domain *s, const char *text, const void *entry, bool versioned)
{
	const struct version *v = versioned ? facts_version(w->f, text) : NULL;

	list_push(w->a, &s->list,
		  (struct candidate){ .text = text, .v = v, .entry = entry, .known = true });
}

static void
fill_torch(struct workspace *w, struct domain *s)
{
	size_t n;
	const struct torch_release *const *all = facts_torch_all(w->f, &n);

	while (n-- > 0)
		add(w, s, all[n]->version, all[n], true);
}

static bool
has(const struct domain *s, const char *text)
{
	for (size_t i = 0; i < s->list.n; i++)
		if (!strcmp(s->list.at[i].text, text))
			return true;
	return false;
}

/* Every tag that any release has, newest CUDA first; then cpu and the rest. */
static void
fill_builds(struct workspace *w, struct domain *s)
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
			struct candidate swap = s->list.at[k];

			s->list.at[k] = s->list.at[k - 1];
			s->list.at[k - 1] = swap;
		}
	for (size_t i = n; i-- > 0;)
		for (size_t k = 0; k < all[i]->nvariants; k++)
			if (!all[i]->variants[k].cuda && !has(s, all[i]->variants[k].tag))
				add(w, s, all[i]->variants[k].tag, NULL, false);
}

static void
fill_cuda(struct workspace *w, struct domain *s)
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
fill_os(struct workspace *w, struct domain *s)
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
fill_python(struct workspace *w, struct domain *s)
{
	struct names all = facts_python_series(w->f);
	const struct version *first = facts_version(w->f, PYTHON_OLDEST);

	for (size_t i = 0; i < all.n; i++) {
		const struct version *v = facts_version(w->f, all.at[i]);

		if (v && version_cmp(v, first) >= 0)
			add(w, s, all.at[i], NULL, true);
	}
	for (size_t i = all.n; i-- > 0;)
		if (!has(s, all.at[i]))
			add(w, s, all.at[i], NULL, true);
}

static void
fill_extension(struct workspace *w, struct domain *s)
{
	const struct extension *e = facts_extension(w->f, s->t.key);

	s->entry = e;
	for (size_t i = e ? e->nreleases : 0; i-- > 0;)
		add(w, s, e->releases[i].version, &e->releases[i], true);
}

/* torchvision and torchaudio: the pairs of torch's releases. */
static void
fill_companion(struct workspace *w, struct domain *s)
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
fill_package(struct workspace *w, struct domain *s)
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

/* The versions that known systems have. */
static void
fill_of_systems(struct workspace *w, struct domain *s)
{
	size_t n;
	const struct os_release *all = facts_os_all(w->f, &n);

	for (size_t i = 0; i < n; i++) {
		const char *version = s->t.kind == VARIABLE_GCC ? all[i].gcc : all[i].glibc;

		if (version && !has(s, version))
			add(w, s, version, NULL, true);
	}
}

static void
fill(struct workspace *w, struct domain *s)
{
	static const char *const standards[] = { "14", "17", "20", "23" };
	static const char *const sources[] = { "sdist", "git", "release", "url" };

	switch (s->t.kind) {
	case VARIABLE_TORCH: fill_torch(w, s); break;
	case VARIABLE_BUILD: fill_builds(w, s); break;
	case VARIABLE_CUDA: fill_cuda(w, s); break;
	case VARIABLE_OS: fill_os(w, s); break;
	case VARIABLE_PYTHON: fill_python(w, s); break;
	case VARIABLE_EXTENSION: fill_extension(w, s); break;
	case VARIABLE_PACKAGE: fill_package(w, s); break;
	case VARIABLE_GCC:
	case VARIABLE_GLIBC: fill_of_systems(w, s); break;
	case VARIABLE_STD:
		for (size_t i = 0; i < sizeof(standards) / sizeof(standards[0]); i++)
			add(w, s, standards[i], NULL, true);
		break;
	case VARIABLE_SOURCE:
		for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
			add(w, s, sources[i], NULL, false);
		break;
	case VARIABLE_MACHINE:
		add(w, s, "x86_64", NULL, false);
		add(w, s, "aarch64", NULL, false);
		break;
	default: break; /* what the recipe names is all there is */
	}
}

static const char *
label_of(enum variable_kind kind, const char *key)
{
	switch (kind) {
	case VARIABLE_CUDA: return "CUDA";
	case VARIABLE_PYTHON: return "Python";
	case VARIABLE_BASE: return "the base image";
	case VARIABLE_OS: return "the system";
	case VARIABLE_MACHINE: return "the machine";
	case VARIABLE_STD: return "C++";
	default: return key;
	}
}

static void
sync(struct domain *s)
{
	s->t.c = s->list.at;
	s->t.n = s->list.n;
}

unsigned
variable_get(struct workspace *w, enum variable_kind kind, const char *key)
{
	int at = variable_find(w, key);
	struct domain *s;

	if (at >= 0)
		return (unsigned)at;
	s = arena_new_of(w->a, struct domain);
	s->t = (struct solver_variable){ .kind = kind, .key = arena_strdup(w->a, key) };
	s->t.label = label_of(kind, s->t.key);
	s->number = (unsigned)w->variables.n;
	fill(w, s);
	sync(s);
	list_push(w->a, &w->variables, s);
	map_put(&w->by_key, s->t.key, s);
	return s->number;
}

unsigned
the_variable(struct workspace *w, enum variable_kind kind)
{
	static const char *const keys[VARIABLE_KINDS] = {
		[VARIABLE_TORCH] = "torch",       [VARIABLE_BUILD] = "torch build",
		[VARIABLE_INDEX] = "torch index", [VARIABLE_BASE] = "base",
		[VARIABLE_CUDA] = "cuda",         [VARIABLE_OS] = "os",
		[VARIABLE_PYTHON] = "python",     [VARIABLE_MACHINE] = "machine",
		[VARIABLE_DRIVER] = "driver",     [VARIABLE_GCC] = "gcc",
		[VARIABLE_GLIBC] = "glibc",       [VARIABLE_STD] = "c++",
	};

	return variable_get(w, kind, keys[kind]);
}

int
variable_find(const struct workspace *w, const char *key)
{
	const struct domain *s = map_get(&w->by_key, key);

	return s ? (int)s->number : -1;
}

struct solver_variable *
variable_at(struct workspace *w, unsigned variable)
{
	return &w->variables.at[variable]->t;
}

size_t
variable_candidate(struct workspace *w, unsigned variable, const char *text)
{
	struct domain *s = w->variables.at[variable];
	const struct version *v = facts_version(w->f, text);

	for (size_t i = 0; i < s->list.n; i++) {
		const struct candidate *c = &s->list.at[i];

		if (c->v && v ? version_cmp(c->v, v) == 0 : !strcmp(c->text, text))
			return i;
	}
	list_push(w->a, &s->list, (struct candidate){ .text = text, .v = v });
	sync(s);
	return s->list.n - 1;
}

/* --- sets --- */

solve_word *
set_none(struct workspace *w, unsigned variable)
{
	return solve_set(w->a, variable_at(w, variable)->n);
}

solve_word *
set_not(struct workspace *w, unsigned variable, const solve_word *set)
{
	return solve_set_not(w->a, set, variable_at(w, variable)->n);
}

bool
set_is_empty(struct workspace *w, unsigned variable, const solve_word *set)
{
	return !solve_set_count(set, variable_at(w, variable)->n);
}

solve_word *
set_all(struct workspace *w, unsigned variable)
{
	return solve_set_full(w->a, variable_at(w, variable)->n);
}

solve_word *
set_one(struct workspace *w, unsigned variable, size_t candidate)
{
	solve_word *set = set_none(w, variable);

	solve_set_add(set, candidate);
	return set;
}

solve_word *
set_in(struct workspace *w, unsigned variable, const char *spec)
{
	const struct specifiers *s = facts_specifiers(w->f, spec);

	return SET_WHERE(w, variable, c, !s || !c->v || specifiers_match(s, c->v, PRE_YES));
}

solve_word *
set_text(struct workspace *w, unsigned variable, const char *text)
{
	const struct names one = { &text, 1, 1 };

	return set_named(w, variable, &one, false);
}

solve_word *
set_below(struct workspace *w, unsigned variable, const char *version)
{
	const struct version *v = facts_version(w->f, version);

	return SET_WHERE(w, variable, c, v && c->v && version_cmp(c->v, v) < 0);
}

solve_word *
set_named(struct workspace *w, unsigned variable, const struct names *names, bool unknown)
{
	return SET_WHERE(w, variable, c, (unknown && !c->known) || names_have(names, c->text));
}

bool
constrains_torch(struct workspace *w, const struct requirement *req)
{
	unsigned variable;

	if (!w->r->torch.at.line || req->url)
		return false;
	variable = variable_get(w, VARIABLE_TORCH, "torch");
	return solve_set_count(set_in(w, variable, specifiers_text(w->a, req->spec)),
			       variable_at(w, variable)->n) > 0;
}

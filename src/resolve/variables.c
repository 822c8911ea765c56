#include <stdlib.h>

#include "internal.h"

/*
 * Variables and their candidates, in order of preference.  An unpinned variable gets the first
 * compatible candidate, so these orders decide the selection.
 */

/*
 * rank: variables that are decided first get the newest releases: torch, then the extensions;
 * variables that only have to be compatible come last.
 */
static const struct {
	const char *key;   /* key of a kind with a single variable */
	const char *label; /* NULL: same as the key */
	unsigned char rank;
	const char *fixed[5]; /* candidates besides those of the knowledge base */
} kinds[VARIABLE_KINDS] = {
	[VARIABLE_TORCH] = { .key = "torch", .rank = 1 },
	[VARIABLE_BUILD] = { .key = "torch build", .rank = 4 },
	[VARIABLE_INDEX] = { .key = "torch index" },
	[VARIABLE_BASE] = { .key = "base", .label = "the base image" },
	[VARIABLE_CUDA] = { .key = "cuda", .label = "CUDA", .rank = 5 },
	[VARIABLE_OS] = { .key = "os", .label = "the system", .rank = 6 },
	[VARIABLE_PYTHON] = { .key = "python", .label = "Python", .rank = 7 },
	[VARIABLE_MACHINE] = { .key = "machine",
			       .label = "the machine",
			       .fixed = { "x86_64", "aarch64" } },
	[VARIABLE_DRIVER] = { .key = "driver" },
	[VARIABLE_EXTENSION] = { .rank = 2 },
	[VARIABLE_SOURCE] = { .rank = 3, .fixed = { "sdist", "git", "release", "url", "path" } },
	[VARIABLE_GCC] = { .key = "gcc", .rank = 9 },
	[VARIABLE_GLIBC] = { .key = "glibc", .rank = 9 },
	[VARIABLE_STD] = { .key = "c++",
			   .label = "C++",
			   .rank = 9,
			   .fixed = { "14", "17", "20", "23" } },
	[VARIABLE_PACKAGE] = { .rank = 8 },
};

static void
push(struct workspace *w, struct domain *s, struct candidate c)
{
	if (s->t.kind == VARIABLE_PYTHON)
		c.entry = python_version(w, c.text);
	s->t.c = list_room(w->a, s->t.c, s->t.n, &s->cap, sizeof(c));
	s->t.c[s->t.n++] = c;
}

static void
add(struct workspace *w, struct domain *s, const char *text, const void *entry)
{
	bool versioned = s->t.kind != VARIABLE_BUILD && s->t.kind != VARIABLE_OS &&
			 s->t.kind != VARIABLE_SOURCE && s->t.kind != VARIABLE_MACHINE;

	push(w, s,
	     (struct candidate){ .text = text,
				 .v = versioned ? facts_version(w->f, text) : NULL,
				 .entry = entry,
				 .known = true });
}

static void
add_once(struct workspace *w, struct domain *s, const char *text, const void *entry)
{
	for (size_t i = 0; i < s->t.n; i++)
		if (!strcmp(s->t.c[i].text, text))
			return;
	add(w, s, text, entry);
}

static int
newest_tag(const void *x, const void *y)
{
	unsigned long a = strtoul(((const struct candidate *)x)->text + 2, NULL, 10);
	unsigned long b = strtoul(((const struct candidate *)y)->text + 2, NULL, 10);

	return (a < b) - (a > b);
}

/* Adds torch's releases, and the builds of all releases: newest CUDA first, then cpu and the
 * others. */
static void
fill_torch(struct workspace *w, struct domain *s)
{
	size_t n;
	const struct torch_release *const *all = facts_torch_all(w->f, &n);

	for (size_t i = n; s->t.kind == VARIABLE_TORCH && i-- > 0;)
		add(w, s, all[i]->version, all[i]);
	for (int cuda = 1; s->t.kind == VARIABLE_BUILD && cuda >= 0; cuda--) {
		for (size_t i = n; i-- > 0;)
			for (size_t k = 0; k < all[i]->nvariants; k++)
				if (!all[i]->variants[k].cuda == !cuda)
					add_once(w, s, all[i]->variants[k].tag, NULL);
		if (cuda && s->t.n)
			qsort(s->t.c, s->t.n, sizeof(*s->t.c), newest_tag);
	}
}

/*
 * Adds the systems: the default one first, then Ubuntu before Debian, and the oldest first, because
 * wheels support it. If the recipe pins neither Python nor the system, systems whose own Python is
 * new enough come before the default one. For a kind that systems have, adds the versions of known
 * systems.
 */
static void
fill_os(struct workspace *w, struct domain *s)
{
	static const char *const usual[] = { "ubuntu22.04", "ubuntu24.04", "ubuntu26.04",
					     "debian12", "debian13" };
	size_t n, nusual = sizeof(usual) / sizeof(usual[0]);
	size_t first = w->r->base.s || w->r->python.s ? 0 : 1;
	const struct os_release *all = facts_os_all(w->f, &n);

	for (size_t i = 0; s->t.kind == VARIABLE_OS && i < nusual; i++) {
		const struct os_release *os = facts_os(w->f, usual[(i + first) % nusual]);

		if (os)
			add(w, s, usual[(i + first) % nusual], os);
	}
	for (size_t i = 0; i < n; i++) {
		const char *text = s->t.kind == VARIABLE_OS  ? all[i].id :
				   s->t.kind == VARIABLE_GCC ? all[i].gcc :
							       all[i].glibc;

		if (text)
			add_once(w, s, text, s->t.kind == VARIABLE_OS ? &all[i] : NULL);
	}
}

static void
fill_python(struct workspace *w, struct domain *s)
{
	struct names all = facts_python_series(w->f);

	list_each (name, &all)
		if (!ends_with(*name, "t") && text_version_order(w, *name, PYTHON_OLDEST) >= 0)
			add(w, s, *name, NULL);
	for (size_t i = all.n; i-- > 0;)
		add_once(w, s, all.at[i], NULL);
}

/*
 * Adds the index data of the existing candidates; for an ordinary package, also all releases. Of a
 * sample, only those that were read can certainly be installed, and the index has others: the last
 * candidate stands for them.
 */
static void
fill_published(struct workspace *w, struct domain *s, const struct python_package *p)
{
	bool had = s->t.n;

	for (size_t i = 0; p && i < s->t.n; i++)
		if (s->t.c[i].v)
			s->t.c[i].published = package_release(p, s->t.c[i].v);
	for (size_t i = p && !had ? p->n : 0; i-- > 0;)
		if (!p->sample || p->releases[i].read)
			push(w, s,
			     (struct candidate){ .text = p->releases[i].version,
						 .v = p->releases[i].v,
						 .published = &p->releases[i],
						 .known = true });
	if (p && p->sample && !had && s->t.n)
		push(w, s, (struct candidate){ .text = "" });
}

/* Adds the releases of torchvision and torchaudio that are pairs of torch's releases. */
static void
fill_companion(struct workspace *w, struct domain *s)
{
	size_t n;
	const struct torch_release *const *torch = facts_torch_all(w->f, &n);

	for (size_t i = n; is_companion(s->t.key) && i-- > 0;)
		if (torch_companion(torch[i], s->t.key))
			add_once(w, s, torch_companion(torch[i], s->t.key), NULL);
}

/* Returns true for a release of another repository that the recipe does not name: its code differs, so
 * it is no candidate. */
static bool
is_elsewhere(struct workspace *w, const struct domain *s, const struct extension_release *r)
{
	const struct extension *known = s->entry;

	for (size_t i = 0; r->git && i < w->r->extensions.n; i++) {
		const struct recipe_extension *e = &w->r->extensions.at[i];
		const char *named = e->ref.s ? e->ref.s : e->version.s;

		if (!strcmp(e->key, s->t.key) && ((named && extension_release(known, named) == r) ||
						  (e->git.s && extension_has(known, r, e->git.s))))
			return false;
	}
	return r->git;
}

static void
fill(struct workspace *w, struct domain *s)
{
	const struct extension *e;
	const struct cuda_toolkit *const *cuda;
	size_t n;

	for (size_t i = 0; i < COUNT(kinds->fixed) && kinds[s->t.kind].fixed[i]; i++)
		add(w, s, kinds[s->t.kind].fixed[i], NULL);
	switch (s->t.kind) {
	case VARIABLE_TORCH:
	case VARIABLE_BUILD: fill_torch(w, s); break;
	case VARIABLE_CUDA:
		for (cuda = facts_cuda_all(w->f, &n); n-- > 0;)
			add(w, s, cuda[n]->version, cuda[n]);
		break;
	case VARIABLE_OS:
	case VARIABLE_GCC:
	case VARIABLE_GLIBC: fill_os(w, s); break;
	case VARIABLE_PYTHON: fill_python(w, s); break;
	case VARIABLE_EXTENSION:
		s->entry = e = facts_extension(w->f, s->t.key);
		for (n = e ? e->nreleases : 0; n-- > 0;)
			if (!is_elsewhere(w, s, &e->releases[n]))
				add(w, s, e->releases[n].version, &e->releases[n]);
		fill_published(w, s, facts_package(w->f, s->t.key));
		break;
	case VARIABLE_PACKAGE:
		fill_companion(w, s);
		fill_published(w, s, facts_package(w->f, s->t.key));
		break;
	default: break; /* the recipe's values are the only candidates */
	}
}

unsigned
variable_get(struct workspace *w, enum variable_kind kind, const char *key)
{
	struct domain *s = map_get(&w->by_key, key);

	if (s)
		return s->number;
	s = arena_new_of(w->a, struct domain);
	s->t = (struct solver_variable){ .kind = kind,
					 .key = arena_strdup(w->a, key),
					 .rank = kinds[kind].rank };
	s->t.label = kinds[kind].label ? kinds[kind].label : s->t.key;
	s->number = (unsigned)w->variables.n;
	fill(w, s);
	list_push(w->a, &w->variables, s);
	list_push(w->a, &w->all, &s->t);
	map_put(&w->by_key, s->t.key, s);
	return s->number;
}

unsigned
the_variable(struct workspace *w, enum variable_kind kind)
{
	unsigned *number = &w->of_kind[kind]; /* plus 1; 0: none yet */

	if (!*number)
		*number = variable_get(w, kind, kinds[kind].key) + 1;
	return *number - 1;
}

unsigned
variable_named(struct workspace *w, const char *name)
{
	enum variable_kind kind = VARIABLE_TORCH;
	int found = variable_find(w, name);

	if (found >= 0)
		return (unsigned)found;
	while (kind < VARIABLE_KINDS && (!kinds[kind].key || strcmp(kinds[kind].key, name) != 0))
		kind++;
	if (kind == VARIABLE_KINDS)
		kind = facts_extension(w->f, name) ? VARIABLE_EXTENSION : VARIABLE_PACKAGE;
	return variable_get(w, kind, name);
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
	const struct python_package *p = NULL;

	for (size_t i = 0; i < s->t.n; i++) {
		const struct candidate *c = &s->t.c[i];

		if (c->v && v ? version_cmp(c->v, v) == 0 : !strcmp(c->text, text))
			return i;
	}
	if (v && (s->t.kind == VARIABLE_PACKAGE || s->t.kind == VARIABLE_EXTENSION))
		p = facts_package(w->f, s->t.key);
	push(w, s,
	     (struct candidate){ .text = text,
				 .v = v,
				 .published = p && p->sample ? package_release(p, v) : NULL });
	return s->t.n - 1;
}

void
variable_commit(struct workspace *w, unsigned variable, const char *ref)
{
	push(w, w->variables.at[variable], (struct candidate){ .text = ref });
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

/* A series stands for its newest release, because Requires-Python may name one: ">=3.8.1". */
const struct version *
python_version(const struct workspace *w, const char *text)
{
	bool series = strchr(text, '.') == strrchr(text, '.') && !ends_with(text, "t");

	return facts_version(w->f, series ? arena_printf(w->a, "%s.99", text) : text);
}

solve_word *
set_matching(struct workspace *w, unsigned variable, const struct specifiers *spec)
{
	bool python = variable == the_variable(w, VARIABLE_PYTHON);

	return SET_WHERE(w, variable, c,
			 !spec || !c->v || specifiers_match(spec, python ? c->entry : c->v));
}

solve_word *
set_in(struct workspace *w, unsigned variable, const char *spec)
{
	return set_matching(w, variable, facts_specifiers(w->f, spec));
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

/* --- the releases that a requirement allows --- */

enum { MAJORS = 9 };

/* Returns a version just below another one: 1.99999 for 2.0; "0" for 0. */
static const char *
just_below(struct workspace *w, const char *text)
{
	const struct version *v = version_parse(w->a, text);
	size_t n = v ? version_release_count(v) : 0;
	struct buf b = BUF(w->a);

	while (n && !version_release(v, n - 1))
		n--;
	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "%lu.", version_release(v, i) - (i == n - 1));
	buf_puts(&b, n ? "99999" : "0");
	return buf_text(&b);
}

static void
add_in_range(struct workspace *w, unsigned variable, const char *range, const char *version)
{
	struct domain *s = w->variables.at[variable];
	const struct version *v = version_parse(w->a, version);

	if (v && specifiers_match(facts_specifiers(w->f, range), v))
		push(w, s, (struct candidate){ .text = range, .v = v });
}

/*
 * Adds the releases that stand for a range of a package without known releases, newest first: the
 * last one, the bounds of the range, and the beginning and the end of each major version. Another
 * requirement that excludes all of them contradicts the range.
 */
static void
add_range(struct workspace *w, unsigned variable, const char *range)
{
	const struct names clauses = names_split(w->a, range, ',');

	add_in_range(w, variable, range, "99999");
	for (unsigned major = MAJORS; major > 0; major--) {
		add_in_range(w, variable, range, arena_printf(w->a, "%u", major));
		add_in_range(w, variable, range, arena_printf(w->a, "%u.99999", major - 1));
	}
	for (size_t i = 0; i < clauses.n; i++) {
		const char *bound = clauses.at[i] + strspn(clauses.at[i], "<>=!~ ");

		add_in_range(w, variable, range, bound);
		add_in_range(w, variable, range, just_below(w, bound));
		add_in_range(w, variable, range, arena_printf(w->a, "%s.99999", bound));
	}
	add_in_range(w, variable, range, "0");
}

solve_word *
set_allowed(struct workspace *w, unsigned variable, const struct specifiers *spec)
{
	const struct version *exact = specifiers_pin(spec);
	const char *text = specifiers_text(w->a, spec);
	const struct python_package *p = facts_package(w->f, variable_at(w, variable)->key);
	solve_word *set = set_matching(w, variable, spec);

	if (!exact && !set_is_empty(w, variable, set) && !(p && p->sample))
		return set;
	if (!exact)
		add_range(w, variable, text);
	/* Of a sample, the releases that were read, and those that stand for the range. */
	if (!exact)
		set = SET_WHERE(w, variable, c,
				!strcmp(c->text, text) ||
					(c->known && c->v && specifiers_match(spec, c->v)));
	if (!exact && !set_is_empty(w, variable, set))
		return set;
	/* A companion's version may include the tag of its build, which is not a separate release. */
	if (exact)
		text = is_companion(variable_at(w, variable)->key) ? version_public(w->a, exact) :
								     version_text(w->a, exact);
	return set_one(w, variable, variable_candidate(w, variable, text));
}

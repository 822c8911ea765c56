#include "needs.h"

#include "coverage.h"

/*
 * What a package needs of another one: requirements of METADATA, of extensions and of torch, and the
 * pairings of the knowledge base.  Each is one clause, which add_need() makes.  The same functions
 * say for coverage, constraints and checks which of them count in the finished stack.
 */

/* A clause: the own term, what the other package must be, and up to two more conditions. */
struct clause {
	struct solve_term own, when[2];
	size_t n; /* of `when` */
	unsigned other;
	const solve_word *those;
	bool optional; /* the other package may be absent */
	const char *source;
};

static struct constraint *
add_need(struct query *q, const struct clause *c, const char *sentence)
{
	struct solve_term terms[4] = { c->own, c->optional ? OUT(q->w, c->other, c->those) :
							     NOT_IN(c->other, c->those) };

	memcpy(terms + 2, c->when, sizeof(c->when));
	return add_conflict(q, terms, 2 + c->n, c->source, "%s", sentence);
}

/* --- the requirements of a release --- */

static struct names
extras_of(const struct workspace *w, const char *key)
{
	const struct recipe_requirements *lists[] = { &w->r->packages, &w->r->torch.with };
	struct names extras = { 0 };

	for (size_t k = 0; k < 2; k++)
		list_each (x, lists[k])
			for (size_t n = 0; n < x->req->extras.n; n++)
				if (!strcmp(x->req->key, key))
					names_once(w->a, &extras, x->req->extras.at[n]);
	return extras;
}

/* Returns a requirement as a need; without Pythons if it counts for none. */
static struct need *
read_need(struct workspace *w, const struct names *extras, const char *text)
{
	const char *marker = strchr(text, ';'), *key = marker ? marker : ";";
	solve_word *pythons = extras->n ? NULL : map_get(&w->pythons_in, key);
	unsigned python = the_variable(w, VARIABLE_PYTHON);
	struct need *x = arena_new_of(w->a, struct need);

	x->text = text;
	x->other = -1;
	/* Many requirements share a marker, and most of those for extras count for no Python. */
	if (pythons && set_is_empty(w, python, pythons))
		return x;
	x->req = facts_requirement(w->f, text);
	if (!x->req || x->req->url)
		return x;
	if (!pythons)
		pythons = set_pythons_with(w, x->req->marker, extras);
	if (!extras->n)
		map_put(&w->pythons_in, key, pythons);
	if (!set_is_empty(w, python, pythons))
		x->pythons = pythons;
	x->every = solve_set_count(pythons, variable_at(w, python)->n) == variable_at(w, python)->n;
	return x;
}

/* Adds a requirement, unless it counts for no Python. */
static void
push_need(struct workspace *w, const struct names *extras, const char *text, struct needs *all)
{
	struct need *x = extras->n ? NULL : map_get(&w->needs, text);

	if (!x) {
		x = read_need(w, extras, text);
		if (!extras->n)
			map_put(&w->needs, text, x);
	}
	if (x->pythons)
		list_push(w->a, all, x);
}

struct needs
release_needs(struct workspace *w, const char *key, const struct package_release *r)
{
	const struct names extras = extras_of(w, key);
	struct needs all = { 0 };

	for (size_t i = 0; r && i < r->requires.n; i++)
		push_need(w, &extras, r->requires.at[i], &all);
	return all;
}

bool
need_holds(struct workspace *w, const struct need *x)
{
	const struct solver_variable *python = solution_variable(w->solution, "python");

	return solve_set_has(x->pythons, (size_t)(w->python - python->c));
}

/* Finds the variable of a need, and its candidates; false: nothing is known about the package. */
static bool
find_other(struct workspace *w, struct need *x)
{
	if (x->other < 0)
		x->other = variable_find(w, x->req->key);
	if (x->other < 0 && (x->untracked || !is_tracked(w, x->req->key))) {
		x->untracked = true;
		return false;
	}
	if (x->other < 0)
		x->other = (int)variable_named(w, x->req->key);
	if (!x->those || x->n != variable_at(w, (unsigned)x->other)->n) {
		x->n = variable_at(w, (unsigned)x->other)->n;
		x->those = set_matching(w, (unsigned)x->other, x->req->spec);
	}
	if (!x->sentence)
		x->sentence = arena_printf(w->a, "requires %s%s", x->req->name,
					   specifiers_text(w->a, x->req->spec));
	return true;
}

/* Adds that a release has a need; source: of the requirement. */
static void
require(struct query *q, struct need *x, const char *source)
{
	struct workspace *w = q->w;
	struct clause c = { .own = THIS(q), .n = !x->every, .source = source };
	int asked;

	if (!find_other(w, x))
		return;
	c.other = (unsigned)x->other;
	c.those = x->those;
	c.when[0] = IN(the_variable(w, VARIABLE_PYTHON), x->pythons);
	/* An unknown release may be in the set; for a pinned one, it is known whether it is. */
	c.optional = set_is_empty(w, c.other, x->those);
	asked = c.optional ? requested(w, c.other) : -1;
	if (c.optional && asked < 0)
		return;
	if (c.optional)
		c.those = set_not(w, c.other, set_one(w, c.other, (size_t)asked));
	add_need(q, &c,
		 arena_printf(w->a, "%s %s %s", variable_at(w, q->variable)->label,
			      candidate_of(q)->text, x->sentence));
}

struct package_span
release_span(struct workspace *w, const struct solver_variable *t, const struct candidate *c)
{
	const struct python_package *p = c->v ? facts_package(w->f, t->key) : NULL;

	if (c->published && c->published->requires_known)
		return (struct package_span){ c->published, c->published };
	return p ? package_span(p, c->v) : (struct package_span){ 0 };
}

/* If the file has a sample of the releases, an exact pin may differ between those that it lists. */
static bool
is_shared(const struct python_package *p, const struct package_release *other, const char *text)
{
	return names_have(&other->requires, text) && !(p->sample && strstr(text, "=="));
}

/* For a release whose METADATA was not read, uses the requirements that the releases before and
 * after it share. */
void
constraint_release_requires(struct query *q, struct workspace *w)
{
	const struct domain *s = w->variables.at[q->variable];
	const struct python_package *p = facts_package(w->f, s->t.key);
	struct package_span span = release_span(w, &s->t, candidate_of(q));
	struct needs all = { 0 };
	const char *source = NULL;

	if (span.older && is_from_pypi(w, s->t.key))
		all = release_needs(w, s->t.key, span.older);
	if (all.n)
		source = package_requires_source(w->f, span.older);
	list_each (x, &all)
		if (span.older == span.newer || is_shared(p, span.newer, (*x)->text))
			require(q, *x, source);
}

/* stackbuild installs an extension without dependencies, and adds its requirements to the packages,
 * unless the recipe names the package. */
void
constraint_extension_requires(struct query *q, struct workspace *w)
{
	const struct domain *s = w->variables.at[q->variable];
	const struct extension *e = s->entry;
	const struct extension_release *r = ENTRY(q);
	struct names texts = { 0 };
	struct needs all = { 0 };

	if (e && s->asked)
		texts = extension_requires(w, r ? r : &e->any, s->asked);
	list_each (text, &texts)
		push_need(w, &(struct names){ 0 }, *text, &all);
	list_each (x, &all) {
		const char *key = (*x)->req->key;
		const struct extension *other = facts_extension(w->f, key);

		if (!recipe_has(w, key) && strcmp(key, "torch") != 0 &&
		    strcmp(key, "triton") != 0 &&
		    !list_any(given, &w->r->torch.with, !strcmp(given->req->key, key)) &&
		    (!other || extension_is_package(other, NULL, key)))
			require(q, *x, r ? r->source : e->any.source);
	}
}

/* --- the requirements of torch --- */

/* Adds a requirement of torch's wheel; marker: NULL, or one that it counts for. */
static void
asks_for(struct query *q, struct workspace *w, const char *requirement, const char *marker,
	 bool brings, const char *words)
{
	const struct torch_release *t = ENTRY(q);
	const struct need *x =
		read_need(w, &(struct names){ 0 },
			  marker ? arena_printf(w->a, "%s; %s", requirement, marker) : requirement);
	unsigned build = the_variable(w, VARIABLE_BUILD);
	struct clause c = { .own = THIS(q), .optional = !brings, .source = t->source };

	if (!x->pythons)
		return;
	c.other = variable_get(w, VARIABLE_PACKAGE, x->req->key);
	c.those = set_matching(w, c.other, x->req->spec);
	if (set_is_empty(w, c.other, c.those))
		return;
	if (!x->every)
		c.when[c.n++] = IN(the_variable(w, VARIABLE_PYTHON), x->pythons);
	/* CPU builds do not require triton. */
	if (!strcmp(x->req->key, "triton") && !gpu_evidence(w))
		c.when[c.n++] = OUT(w, build, set_text(w, build, "cpu"));
	add_need(q, &c,
		 arena_printf(w->a, words, t->version, x->req->name,
			      spec_label(w->a, specifiers_text(w->a, x->req->spec)),
			      x->every ? "" :
					 arena_printf(w->a, " (where %s)",
						      marker_text(w->a, x->req->marker))));
}

/* Requires torch's own triton if the marker is true; otherwise no triton works with it. */
void
constraint_torch_triton(struct query *q, struct workspace *w)
{
	const struct torch_release *t = ENTRY(q);

	if (t && t->triton)
		asks_for(q, w, t->triton, t->triton_marker, true, "torch %s itself needs %s %s%s");
	if (t && t->triton && t->triton_marker && strstr(t->triton_marker, "python_version"))
		asks_for(q, w, t->triton, NULL, false, "torch %s was made for %s %s%s");
}

void
constraint_torch_setuptools(struct query *q, struct workspace *w)
{
	const struct torch_release *t = ENTRY(q);

	if (t && t->setuptools)
		asks_for(q, w, t->setuptools, NULL, false, "torch %s needs %s %s%s");
}

void
constraint_torch_setuptools_build(struct query *q, struct workspace *w)
{
	const struct torch_release *t = ENTRY(q);

	if (t && t->setuptools_build && w->compiles)
		asks_for(q, w, t->setuptools_build, NULL, false,
			 "compiling against torch %s needs %s %s%s");
}

/*
 * --- pairings of the knowledge base, from any source ---
 *
 * A pairing is one fact for a whole range of releases, so that the solver learns its consequences
 * once. If the recipe requires one release of the range, the sentence names only that release.
 */

static bool
includes(struct workspace *w, const struct pairing *p, const struct specifiers *spec,
	 const struct solver_variable *t, const struct candidate *c)
{
	/* A fact about every release also holds for the one that pip selects. */
	if (!*c->text)
		return !strcmp(p->spec, ">=0");
	return c->v && specifiers_match(spec, c->v) &&
	       (specifiers_pin(spec) || !candidate_beyond(w, t, c)) &&
	       (c->known || facts_version(w->f, c->text) || !strpbrk(c->text, ">~"));
}

bool
pairing_includes(struct workspace *w, const struct solver_variable *t, const struct candidate *c,
		 const struct pairing *p)
{
	return includes(w, p, facts_specifiers(w->f, p->spec), t, c);
}

const struct pairing *
pairing_next(struct workspace *w, const struct solver_variable *t, const struct candidate *c,
	     size_t *i)
{
	size_t n;
	const struct pairing *all = facts_pairings(w->f, t->key, &n);

	while (*i < n && !pairing_includes(w, t, c, &all[*i]))
		++*i;
	return *i < n ? &all[(*i)++] : NULL;
}

bool
has_pairing(struct workspace *w, const struct solver_variable *t, const struct candidate *c,
	    const char *other)
{
	const struct pairing *p;
	size_t i = 0;

	while ((p = pairing_next(w, t, c, &i)))
		if (!strcmp(p->other, other))
			return true;
	return false;
}

static const char *
sentence(struct workspace *w, const struct pairing *p, unsigned own, const solve_word *these,
	 const char *other)
{
	int asked = requested_in(w, own, these);
	const char *of =
		asked >= 0 ? variable_at(w, own)->c[asked].text : spec_label(w->a, p->spec);

	return arena_printf(w->a, "%s%s%s needs %s %s: %s", p->name, *of ? " " : "", of, other,
			    spec_label(w->a, p->needs), p->why);
}

static void
add_pair(struct query *q, const struct pairing *p, unsigned own)
{
	struct workspace *w = q->w;
	const struct solver_variable *t = variable_at(w, own);
	const struct specifiers *spec = facts_specifiers(w->f, p->spec);
	solve_word *these = SET_WHERE(w, own, c, includes(w, p, spec, t, c));
	struct clause c = { .own = IN(own, these), .optional = p->optional, .source = p->source };
	struct constraint *why;

	if (set_is_empty(w, own, these))
		return;
	c.other = variable_named(w, p->other);
	c.those = set_in(w, c.other, p->needs);
	/* A release that the knowledge base only names may be in the set, and pip selects it. */
	if (variable_at(w, c.other)->kind == VARIABLE_PACKAGE &&
	    set_is_empty(w, c.other, c.those) && !is_requested(w, c.other)) {
		list_push(w->a, &w->unlisted, (struct waiting_pair){ p, own });
		return;
	}
	why = add_need(q, &c, sentence(w, p, own, these, variable_at(w, c.other)->label));
	if (why)
		why->needs = p->needs;
}

/* The pairings of an absent optional package wait until another package requires it. */
static bool
may_wait(const struct workspace *w, const struct pairing *p)
{
	return p->optional && strcmp(p->other, "torch") != 0 && strcmp(p->other, "python") != 0 &&
	       variable_find(w, p->other) < 0;
}

/* The pairing is added for the left variable, or for the right one if the solver decides it
 * later. */
void
constraint_pairs(struct query *q, struct workspace *w)
{
	const char *key = variable_at(w, q->variable)->key;
	bool inferred = q->kind->strength == STRENGTH_WARNING;
	size_t n = 0;
	const struct pairing *all = key ? facts_pairings(w->f, key, &n) : NULL;

	for (const struct pairing *p = all; p && p < all + n; p++) {
		/* torch's own limits on numpy are in torch_numpy. */
		if (p->inferred != inferred ||
		    (!strcmp(p->name, "numpy") && !strcmp(p->other, "torch")))
			continue;
		if (may_wait(w, p))
			list_push(w->a, &w->waiting, (struct waiting_pair){ p, q->variable });
		else
			add_pair(q, p, q->variable);
	}
	for (size_t i = 0; key && i < w->waiting.n; i++) {
		const struct waiting_pair *one = &w->waiting.at[i];

		if (one->pairing->inferred == inferred && !strcmp(one->pairing->other, key))
			add_pair(q, one->pairing, one->own);
	}
}

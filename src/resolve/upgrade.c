#include "internal.h"

/* The newest stack within the constraints of a recipe, as changes of what the recipe pins. */

/* A recipe while its upgrade is selected. */
struct upgrading {
	const struct solution *solution;
	struct workspace *w;
	const struct upgrade_how *how;
	struct solve_pin
		*pins; /* changed requests, then the limits for the CUDA major and the system */
	size_t n;
	bool *moves; /* for each request: whether it may change */
	bool places; /* the base, the index or CUDA may change */
};

/* Returns true for base, index and CUDA, which change together: each of them names a release of
 * CUDA. */
static bool
is_place(const struct request *p)
{
	return p->kind == REQUEST_BASE || p->kind == REQUEST_INDEX || p->kind == REQUEST_CUDA;
}

static bool
goes_with_torch(const struct request *p)
{
	return p->kind == REQUEST_TORCH ||
	       (p->kind == REQUEST_REQUIREMENT && is_companion(p->requirement->req->key));
}

static const char *
name_of(const struct request *p)
{
	return goes_with_torch(p)        ? "torch" :
	       is_place(p)               ? "cuda" :
	       p->kind == REQUEST_PYTHON ? "python" :
	       p->extension              ? p->extension->key :
					   p->requirement->req->key;
}

/* Returns true if a request pins one value, which another one can replace. */
static bool
is_pin(struct workspace *w, const struct request *p)
{
	const struct image_name *image = &w->image;
	const struct recipe_extension *e = p->extension;
	const struct extension *known;

	if (!p->at.line || p->application ||
	    (torch_of_base(w) && (is_place(p) || goes_with_torch(p))))
		return false;
	switch (p->kind) {
	case REQUEST_TORCH:
	case REQUEST_PYTHON:
	case REQUEST_CUDA: return true;
	case REQUEST_INDEX: return cuda_major_of_tag(w->index_tag);
	case REQUEST_BASE:
		return image->cuda && ends_with(image->repository, "nvidia/cuda") &&
		       !strchr(p->text, '@');
	case REQUEST_REQUIREMENT:
		return specifiers_pin(p->requirement->req->spec) && !p->requirement->req->url;
	case REQUEST_VERSION: return e->version.s && !e->url.s && !e->sha256.s;
	case REQUEST_REF:
		known = facts_extension(w->f, e->key);
		return known && extension_release(known, p->text);
	default: return false;
	}
}

static bool
is_named(const struct upgrading *u, const char *name)
{
	return names_have(u->how->only, name);
}

static bool
may_move(const struct upgrading *u, const struct request *p)
{
	const char *name;

	if (!is_pin(u->w, p))
		return false;
	name = name_of(p);
	if (u->how->only->n)
		return is_named(u, name) || (is_place(p) && is_named(u, "torch"));
	return p->kind != REQUEST_PYTHON;
}

/* Returns true if a request must keep its major version, because the next one may have another API. A
 * package that the user named may change it. */
static bool
keeps_major(const struct upgrading *u, const struct request *p)
{
	return (p->extension || (p->requirement && !goes_with_torch(p))) &&
	       !is_named(u, name_of(p));
}

static bool
same_major(const struct version *x, const struct version *y)
{
	return version_release(x, 0) == version_release(y, 0);
}

/* Returns "mamba-ssm 2.3.1". */
static const char *
release_name(struct workspace *w, unsigned variable, const struct candidate *c)
{
	return arena_printf(w->a, "%s %s", variable_at(w, variable)->key, c->text);
}

/* Returns true for a final release that was not withdrawn and is not older than the current one. */
static bool
is_upgrade(const struct upgrading *u, const struct request *p, const struct candidate *now,
	   const struct candidate *c)
{
	if (c == now)
		return true;
	return c->known && c->v && now->v && version_cmp(c->v, now->v) > 0 &&
	       !(c->published && c->published->yanked) &&
	       (!version_is_prerelease(c->v) || version_is_prerelease(now->v)) &&
	       !names_have(&u->how->excluded, release_name(u->w, p->variable, c));
}

static const struct candidate *
present(const struct upgrading *u, const struct request *p)
{
	return candidate_in(u->w, u->solution->chosen, u->solution->nchosen, (int)p->variable);
}

static solve_word *
set_upgrades(const struct upgrading *u, const struct request *p)
{
	const struct candidate *now = present(u, p);
	bool major = keeps_major(u, p);

	if (is_place(p))
		return set_all(u->w, p->variable);
	return SET_WHERE(u->w, p->variable, c,
			 is_upgrade(u, p, now, c) &&
				 (!major || c == now || same_major(c->v, now->v)));
}

/* --- the system, and the major version of CUDA: they stay --- */

static void
keep(struct upgrading *u, enum variable_kind kind, const solve_word *set)
{
	u->pins[u->n++] = (struct solve_pin){ .variable = the_variable(u->w, kind),
					      .set = set,
					      .optional = true };
}

/* Returns whether a release of CUDA has the major version of another one and is not older. */
static bool
follows_cuda(struct workspace *w, const char *now, const char *next)
{
	const struct version *from = now ? facts_version(w->f, version_series(w->a, now)) : NULL;
	const struct version *to = next ? facts_version(w->f, version_series(w->a, next)) : NULL;

	return from && to && same_major(from, to) && version_cmp(to, from) >= 0;
}

static void
keep_surroundings(struct upgrading *u)
{
	const struct candidate *build = solution_selected(u->solution, "torch build"),
			       *cuda = solution_selected(u->solution, "cuda"),
			       *os = solution_selected(u->solution, "os");
	struct workspace *w = u->w;
	const char *series = build ? cuda_of_tag(w->a, build->text) : NULL;

	if (!u->places)
		return;
	if (os)
		keep(u, VARIABLE_OS, set_text(w, the_variable(w, VARIABLE_OS), os->text));
	if (is_named(u, "cuda"))
		return;
	if (series)
		keep(u, VARIABLE_BUILD,
		     SET_WHERE(w, the_variable(w, VARIABLE_BUILD), c,
			       follows_cuda(w, series, cuda_of_tag(w->a, c->text))));
	if (cuda)
		keep(u, VARIABLE_CUDA,
		     SET_WHERE(w, the_variable(w, VARIABLE_CUDA), c,
			       follows_cuda(w, cuda->text, c->text)));
}

static void
lift_pins(struct upgrading *u)
{
	const size_t n = u->solution->nrequests;

	memcpy(u->pins, u->solution->solver_pins, n * sizeof(*u->pins));
	u->n = n;
	u->places = false;
	for (size_t i = 0; i < n; i++) {
		const struct request *p = &u->solution->requests[i];

		if (!u->moves[i])
			continue;
		u->pins[i].set = set_upgrades(u, p);
		u->places |= is_place(p);
	}
	keep_surroundings(u);
}

/* --- the selection --- */

/* Returns true if torch's build and the toolkit have the same CUDA series, or differed before,
 * too. */
static bool
cuda_agrees(const struct upgrading *u, const struct solve_result *r)
{
	struct workspace *w = u->w;
	const int build = variable_find(w, "torch build"), cuda = variable_find(w, "cuda");
	const struct {
		const int *chosen;
		size_t n;
	} both[] = { { u->solution->chosen, u->solution->nchosen }, { r->chosen, r->nvariables } };
	bool same[2];

	for (int i = 0; i < 2; i++) {
		const struct candidate *b = candidate_in(w, both[i].chosen, both[i].n, build),
				       *c = candidate_in(w, both[i].chosen, both[i].n, cuda);
		const char *series = b ? cuda_of_tag(w->a, b->text) : NULL;

		same[i] = !c || !series || version_same_series(series, c->text);
	}
	return same[1] || !same[0];
}

/* Keeps base, index and CUDA as they are, if the selected versions are compatible with them. */
static void
keep_places(struct upgrading *u, struct solve_result *best)
{
	struct solve_pin *pins = arena_array_of(u->w->a, struct solve_pin, u->n + 1);
	struct solve_result r;

	if (!u->places || is_named(u, "cuda"))
		return;
	memcpy(pins, u->pins, u->n * sizeof(*pins));
	for (size_t i = 0; i < u->solution->nrequests; i++) {
		const struct request *p = &u->solution->requests[i];

		if (u->moves[i] && !is_place(p))
			pins[i].set = set_one(u->w, p->variable, (size_t)best->chosen[p->variable]);
		else if (u->moves[i])
			pins[i].set = u->solution->solver_pins[i].set;
	}
	r = solve_best(u->w, pins, u->n);
	if (r.status == SOLVE_FOUND && cuda_agrees(u, &r))
		*best = r;
}

/* Returns the changes of one request; empty: it stays. *by_hand: the user must make the change. */
static struct changes
changes_of(const struct upgrading *u, const struct solve_result *best, size_t i, bool *by_hand)
{
	const struct solve_pin *was = &u->solution->solver_pins[i];
	const int now = best->chosen[was->variable];
	struct repair r = { .best = *best };

	if (u->moves[i] && (now < 0 || !solve_set_has(was->set, (size_t)now))) {
		list_push(u->w->a, &r.pins, (unsigned)i);
		repair_changes(u->solution, &r);
	}
	*by_hand = r.by_hand;
	return r.changes;
}

/* Makes the constraints again for the recipe without the lifted pins, because their sentences name
 * the recipe's versions. */
static void
forget_pins(struct upgrading *u)
{
	struct workspace *w = u->w;

	w->solver_pins.at = arena_array_of(w->a, struct solve_pin, u->solution->nrequests + 1);
	memcpy(w->solver_pins.at, u->pins, u->solution->nrequests * sizeof(*u->pins));
	w->solver_pins.cap = w->solver_pins.n;
	for (size_t i = 0; i < w->variables.n; i++)
		w->variables.at[i]->given = NULL;
}

/* Selects the newest stack whose changes can all be written to the recipe. */
static bool
select_newest(struct upgrading *u, struct solve_result *best)
{
	bool again = true, by_hand;

	while (again) {
		again = false;
		lift_pins(u);
		forget_pins(u);
		*best = solve_best(u->w, u->pins, u->n);
		if (best->status != SOLVE_FOUND)
			return false;
		keep_places(u, best);
		for (size_t i = 0; i < u->solution->nrequests; i++) {
			changes_of(u, best, i, &by_hand);
			again |= by_hand;
			u->moves[i] = u->moves[i] && !by_hand;
		}
	}
	return true;
}

static void
add_moves(const struct upgrading *u, const struct solve_result *best, struct upgrade *out)
{
	struct arena *a = u->w->a;
	bool by_hand;

	for (size_t i = 0; i < u->solution->nrequests; i++) {
		const struct request *p = &u->solution->requests[i];
		struct changes all = changes_of(u, best, i, &by_hand);

		for (size_t k = 0; k < all.n; k++) {
			struct edit *e = arena_new_of(a, struct edit);

			*e = (struct edit){ out->edits, all.at[k].at, all.at[k].text };
			out->edits = e;
		}
		if (all.n)
			list_push(
				a, &out->replaced,
				p->requirement ?
					version_text(a, specifiers_pin(p->requirement->req->spec)) :
					p->text);
	}
}

/* --- reasons against newer releases --- */

/* Returns the reason against a candidate, given the pins that cannot change and the selected
 * torch. */
static const char *
reason_against(struct upgrading *u, const struct solve_result *best, const struct request *p,
	       const struct candidate *c)
{
	struct workspace *w = u->w;
	const int torch = variable_find(w, "torch");
	struct solve_pin *pins = arena_array_of(w->a, struct solve_pin, u->n + 2);
	struct solve_conflicts found = { 0 };
	const struct constraint *why;
	size_t n = u->n;

	memcpy(pins, u->pins, n * sizeof(*pins));
	for (size_t i = 0; i < u->solution->nrequests; i++)
		if (pins[i].variable == p->variable)
			pin_lift(w, &pins[i]);
	pins[n++] = (struct solve_pin){ .variable = p->variable,
					.set = set_text(w, p->variable, c->text) };
	/* A package can bring torch into a stack that had none when `best` was found. */
	if ((unsigned)torch != p->variable &&
	    candidate_in(w, best->chosen, best->nvariables, torch))
		pins[n++] = (struct solve_pin){ .variable = (unsigned)torch,
						.set = set_one(w, (unsigned)torch,
							       (size_t)best->chosen[torch]) };
	constraints_restore(w, STRENGTH_PREFERENCE);
	for (int upto = STRENGTH_ERROR; upto <= STRENGTH_SECONDARY && !found.n; upto++) {
		struct solve_provider provider = constraint_provider(w, (enum strength)upto);

		found = solve_conflicts(w->a, &provider, pins, n, w->budget, NULL);
	}
	why = conflict_reason(&found);
	return why ? why->sentence : "the rest of the recipe excludes it";
}

/* Adds why a torch, extension or package does not get the next release of its major version, or the
 * next one of all. */
static void
add_limit(struct upgrading *u, const struct solve_result *best, const struct request *p,
	  struct upgrade *out)
{
	const struct solver_variable *t = variable_at(u->w, p->variable);
	const struct candidate *c =
		candidate_in(u->w, best->chosen, best->nvariables, (int)p->variable);
	const struct candidate *next = NULL, *newest = c;
	const bool major = keeps_major(u, p);

	if (!c || !c->v || (p->requirement && goes_with_torch(p)) || is_place(p))
		return;
	for (const struct candidate *x = t->c; x < t->c + t->n; x++) {
		if (x == c || !is_upgrade(u, p, c, x))
			continue;
		newest = version_cmp(x->v, newest->v) > 0 ? x : newest;
		if ((!major || same_major(x->v, c->v)) && (!next || version_cmp(x->v, next->v) < 0))
			next = x;
	}
	if (newest == c)
		return;
	list_push(u->w->a, &out->limits,
		  (struct upgrade_limit){
			  .now = release_name(u->w, p->variable, c),
			  .newer = (next ? next : newest)->text,
			  .why = next ? reason_against(u, best, p, next) :
					arena_printf(u->w->a,
						     "%s moves to another major version only "
						     "if it is named",
						     t->label) });
}

/* --- entry point --- */

const char *
resolve_release_at(const struct solution *solution, struct span at)
{
	for (size_t i = 0; i < solution->nrequests; i++) {
		const struct request *p = &solution->requests[i];
		const struct candidate *c = candidate_in(solution->work, solution->chosen,
							 solution->nchosen, (int)p->variable);

		if (c && p->at.line && p->at.line == at.line && p->at.col == at.col)
			return release_name(solution->work, p->variable, c);
	}
	return NULL;
}

struct names
resolve_upgradable(const struct solution *solution)
{
	struct names all = { 0 };

	for (size_t i = 0; i < solution->nrequests; i++)
		if (is_pin(solution->work, &solution->requests[i]))
			names_once(solution->work->a, &all, name_of(&solution->requests[i]));
	return all;
}

bool
resolve_upgrade(const struct solution *solution, const struct upgrade_how *how, struct upgrade *out)
{
	struct workspace *w = solution->work;
	struct upgrading u = { .solution = solution, .w = w, .how = how };
	struct solve_result best;

	*out = (struct upgrade){ 0 };
	u.pins = arena_array_of(w->a, struct solve_pin, solution->nrequests + 3);
	u.moves = arena_array_of(w->a, bool, solution->nrequests + 1);
	for (size_t i = 0; i < solution->nrequests; i++)
		u.moves[i] =
			may_move(&u, &solution->requests[i]) && present(&u, &solution->requests[i]);
	if (!select_newest(&u, &best))
		return false;
	add_moves(&u, &best, out);
	for (size_t i = 0; i < solution->nrequests; i++)
		if (u.moves[i])
			add_limit(&u, &best, &solution->requests[i], out);
	return true;
}

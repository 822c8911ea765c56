#include "internal.h"

/* The closest stacks that work, and their costs. */

/* --- a changed pin: as a sentence, and as the exact text at its place --- */

static const struct candidate *
chosen(const struct solution *solution, const struct solve_result *r, const char *key)
{
	return candidate_in(solution->work, r->chosen, r->nvariables,
			    variable_find(solution->work, key));
}

static const struct candidate *
chosen_then(const struct solution *solution, const struct solve_result *r, const struct request *p)
{
	return candidate_in(solution->work, r->chosen, r->nvariables, (int)p->variable);
}

/* Returns the tag at the end of an index, also of ".../whl/cu121/". */
static const char *
index_name(struct arena *a, const char *index)
{
	size_t start, n = url_end(index, &start);

	return !strcmp(index, "pypi") ? "PyPI" : arena_copy(a, index + start, n - start);
}

const char *
request_name(const struct solution *solution, const struct request *p)
{
	struct arena *a = solution->work->a;

	switch (p->kind) {
	case REQUEST_TORCH: return arena_printf(a, "torch %s", p->text);
	case REQUEST_INDEX: return arena_printf(a, "the %s build", index_name(a, p->text));
	case REQUEST_CUDA: return arena_printf(a, "CUDA %s", p->text);
	case REQUEST_PYTHON: return arena_printf(a, "Python %s", p->text);
	case REQUEST_DRIVER: return arena_printf(a, "driver %s", p->text);
	case REQUEST_COMPILER: return arena_printf(a, "gcc %s", p->text);
	case REQUEST_MACHINE: return p->text;
	case REQUEST_GPU: return arena_printf(a, "`%s`", p->text);
	case REQUEST_BASE:
	case REQUEST_REQUIREMENT: return arena_printf(a, "`%s`", p->text);
	case REQUEST_VERSION:
	case REQUEST_REF:
	case REQUEST_URL:
		return arena_printf(a, "%s %s", p->extension->name.s,
				    p->kind == REQUEST_URL ? "from that file" : p->text);
	case REQUEST_FROM:
		return !strcmp(p->text, "sdist") ? "its source archive" :
		       !strcmp(p->text, "git")   ? "its repository" :
		       !strcmp(p->text, "path")  ? "your own code" :
						   "a prebuilt wheel";
	default: return p->extension ? p->extension->name.s : "the rest";
	}
}

/* Returns the image for the CUDA and the system of a repair:
 * "nvidia/cuda:12.4.1-devel-ubuntu22.04". */
static const char *
image_for(const struct solution *solution, const struct solve_result *r,
	  const struct image_name *was)
{
	const struct candidate *cuda = chosen(solution, r, "cuda"), *os = chosen(solution, r, "os");
	struct arena *a = solution->work->a;
	const char *image;

	if (!cuda || !cuda->entry || !os || !was->cuda ||
	    !ends_with(was->repository, "nvidia/cuda"))
		return NULL;
	image = facts_image_tag(solution->facts, a, cuda->entry,
				was->flavour ? was->flavour : "devel", os->text);
	return image ? arena_printf(a, "%.*s%s",
				    (int)(strlen(was->repository) - strlen("nvidia/cuda")),
				    was->repository, image) :
		       NULL;
}

/* Returns true if a range was too low for the working release: then it becomes the lower bound,
 * otherwise the upper one. */
static bool
ends_below(struct arena *a, const struct specifiers *spec, const char *version)
{
	const char *text = specifiers_text(a, spec), *p = text + strcspn(text, "<");
	const char *bound = p + strspn(p, "<=");
	const struct version *v, *end;

	end = *p ? version_parse(a, arena_copy(a, bound, strcspn(bound, ","))) : NULL;
	v = version_parse(a, version);
	return end && v && version_cmp(end, v) <= 0;
}

/* An exact pin stays exact, numpy gets a major version, a range ends at a working release. */
static const char *
requirement_for(const struct solution *solution, const struct requirement *req, const char *version)
{
	struct arena *a = solution->work->a;
	const struct version *v = version_parse(a, version);
	bool major = v && !specifiers_pin(req->spec) && !strcmp(req->key, "numpy");
	const char *order = major                     ? version_release(v, 0) < 2 ? "<" : ">=" :
			    specifiers_pin(req->spec) ? "==" :
			    ends_below(a, req->spec, version) ? ">=" :
								"<=";

	return arena_printf(a, "%s%s%s%s%s%s%s%s", req->name, req->extras.n ? "[" : "",
			    names_join(a, &req->extras, ","), req->extras.n ? "]" : "", order,
			    major ? "2" : version, req->marker ? "; " : "",
			    req->marker ? marker_text(a, req->marker) : "");
}

/* Returns the URL of the other index: ".../whl/cu121" -> ".../whl/cu118". */
static const char *
url_with(struct arena *a, const char *url, const char *tag)
{
	size_t start, n = url_end(url, &start);

	return arena_printf(a, "%.*s%s%s", (int)start, url, tag, url + n);
}

/* True for a wheel by its address if PyPI has none of that extension: pip would compile it. */
static bool
is_only_file(const struct solution *solution, const struct request *p, const struct candidate *c)
{
	const struct requirement *req = p->requirement->req;
	const struct extension *e = req->url ? facts_extension(solution->work->f, req->key) : NULL;

	return e && !extension_is_package(e, c->entry, req->key);
}

/* Returns the tag of a release in the repository that the recipe names; NULL: it is in another. */
static const char *
tag_of(const struct solution *solution, const struct request *p,
       const struct extension_release *release)
{
	const struct extension *e = facts_extension(solution->work->f, p->extension->key);

	return release && e && extension_has(e, release, p->extension->git.s) ? release->git_tag :
										NULL;
}

/* Returns the new value of a pin; NULL: the user must edit it. */
static const char *
value_of(const struct solution *solution, const struct repair *r, const struct request *p)
{
	struct arena *a = solution->work->a;
	const struct candidate *c = chosen_then(solution, &r->best, p);
	const struct candidate *build = chosen(solution, &r->best, "torch build");
	const struct version *v;

	if (p->kind == REQUEST_BASE)
		return image_for(solution, &r->best, &solution->work->image);
	if (p->kind == REQUEST_INDEX)
		return !build                 ? NULL :
		       strstr(p->text, "://") ? url_with(a, p->text, build->text) :
						build->text;
	if (!c || !*c->text || !c->known)
		return NULL;
	switch (p->kind) {
	case REQUEST_TORCH:
		v = version_parse(a, p->text);
		return v && version_local(a, v) && build ?
			       arena_printf(a, "%s+%s", c->text, build->text) :
			       c->text;
	case REQUEST_CUDA:
		return strcmp(version_series(a, p->text), p->text) ? c->text :
								     version_series(a, c->text);
	case REQUEST_PYTHON: return c->text;
	case REQUEST_VERSION:
		return strpbrk(p->text, "<>=!~") ? arena_printf(a, "==%s", c->text) : c->text;
	case REQUEST_REF: return tag_of(solution, p, c->entry);
	case REQUEST_FROM: return p->extension->from_at.line ? "auto" : NULL;
	case REQUEST_REQUIREMENT:
		return is_only_file(solution, p, c) ?
			       NULL :
			       requirement_for(solution, p->requirement->req, c->text);
	default: return NULL;
	}
}

/* No release is compatible with the other packages: the repaired stack does not have the
 * package. */
static bool
is_gone(const struct request *p, const struct candidate *c)
{
	bool release = p->kind != REQUEST_FROM && p->kind != REQUEST_URL;

	return !c && (p->requirement || (p->extension && release));
}

/* Returns a release with its repository: the recipe names another one. */
static const char *
in_repository(const struct solution *solution, const struct request *p, const struct candidate *c)
{
	const struct extension *e = facts_extension(solution->work->f, p->extension->key);
	const struct extension_release *release = c->entry;
	const char *git = release && release->git ? release->git : e ? e->git : NULL;

	return git && release && release->git_tag ?
		       arena_printf(solution->work->a, "%s of %s", c->text, git) :
		       c->text;
}

/* Returns its text in a sentence: "torch 2.6.0". */
static const char *
now_of(const struct solution *solution, const struct repair *r, const struct request *p,
       const char *value)
{
	struct arena *a = solution->work->a;
	const struct candidate *c = chosen_then(solution, &r->best, p);
	struct request as = *p;

	if (solution->solver_pins[p - solution->requests].fixed && p->kind != REQUEST_NEED)
		return arena_printf(a, "not %s", request_name(solution, p));
	if (is_gone(p, c) || p->kind == REQUEST_NEED)
		return arena_printf(a, "no %s%s", is_gone(p, c) ? "known release of " : "",
				    variable_at(solution->work, p->variable)->label);
	if (p->kind == REQUEST_FROM)
		return c ? arena_printf(a, "%s from its %s", p->extension->name.s,
					!strcmp(c->text, "git") ? "repository" : "source archive") :
			   "another source";
	if (p->kind == REQUEST_BASE && !value)
		return "another base image";
	if (p->kind == REQUEST_URL)
		return c ? arena_printf(a, "%s %s", p->extension->name.s, c->text) : "another file";
	if (p->kind == REQUEST_REQUIREMENT && !value)
		return arena_printf(a, "another %s", p->requirement->req->name);
	as.text = value                       ? value :
		  c && p->kind == REQUEST_REF ? in_repository(solution, p, c) :
		  c                           ? c->text :
						"another";
	return request_name(solution, &as);
}

/* The second stage follows the base: it gets the same kind of image for the other CUDA, without
 * compilers. */
static void
follow_base(const struct solution *solution, struct repair *r)
{
	struct arena *a = solution->work->a;
	struct text second = solution->recipe->runtime.base;
	struct image_name was = { 0 };
	struct change c = { .at = second.at };

	if (!second.s)
		return;
	was = facts_image_name(solution->facts, second.s);
	c.now = image_for(solution, &r->best, &was);
	if (!c.now || !was.cuda || !solution->work->image.cuda ||
	    strcmp(was.cuda, solution->work->image.cuda) != 0)
		return;
	c.text = edit_scalar(a, second.at, c.now);
	c.now = arena_printf(a, "`%s`", c.now);
	list_push(a, &r->changes, c);
}

void
repair_changes(const struct solution *solution, struct repair *r)
{
	struct arena *a = solution->work->a;

	for (size_t i = 0; i < r->pins.n; i++) {
		const struct request *p = &solution->requests[r->pins.at[i]];
		const char *value = value_of(solution, r, p);
		struct change c = { .at = p->at };

		c.now = now_of(solution, r, p, value);
		/* In the short form, the place is a part of a scalar and gets no quotes of its own.
		 * A requirements file is not YAML. */
		if (value && p->at.line && !p->application)
			c.text = p->extension && p->extension->written.s ?
					 value :
					 edit_scalar(a, p->at, value);
		r->by_hand |= !c.text;
		r->left_out |= is_gone(p, chosen_then(solution, &r->best, p));
		list_push(a, &r->changes, c);
		if (p->kind == REQUEST_BASE && c.text)
			follow_base(solution, r);
	}
}

/* --- selection of the pins that change --- */

static bool
has(const struct solve_indexes *all, unsigned i)
{
	return list_any(x, all, *x == i);
}

/*
 * Returns the pins, with room for as many again. Pins that other conflicts name require nothing. If
 * one change resolves all conflicts, the other pins have the values that it leaves.
 */
static struct solve_pin *
pins_for(const struct solution *solution, const struct conflict *c)
{
	struct workspace *w = solution->work;
	const struct joint_repair *all = &w->joint;
	size_t n = solution->nrequests;
	struct solve_pin *pins = arena_array_of(w->a, struct solve_pin, 2 * n + 1);

	memcpy(pins, solution->solver_pins, n * sizeof(*pins));
	for (unsigned i = 0; c && i < n; i++) {
		unsigned x = pins[i].variable;

		if (!request_in_error(solution, i, c))
			continue;
		if (!all->found)
			pin_lift(w, &pins[i]);
		else if (has(&all->pins, i))
			pins[i].set = set_one(w, x, (size_t)all->best.chosen[x]);
		pins[i].fixed = true;
	}
	return pins;
}

/* Requires some candidate of each changed variable, because the variable must still exist. */
static size_t
and_there(struct workspace *w, struct solve_pin *pins, size_t n)
{
	size_t all = n;

	for (size_t i = 0; i < n; i++) {
		bool twice = pins[i].fixed;

		for (size_t k = n; k < all; k++)
			twice |= pins[k].variable == pins[i].variable;
		if (!twice)
			pins[all++] = (struct solve_pin){ .variable = pins[i].variable,
							  .set = set_all(w, pins[i].variable),
							  .fixed = true };
	}
	return all;
}

/* Tries repairs without warnings, then with warnings, then without fixed pins. */
static struct solve_indexes
nearest(const struct solution *solution, const struct conflict *c, const bool *keep)
{
	struct workspace *w = solution->work;
	size_t n = solution->nrequests;
	struct solve_pin *pins = pins_for(solution, c);
	size_t all = and_there(w, pins, n);
	bool *kept = arena_array_of(w->a, bool, all + 1), found = false;
	struct solve_repair r = { 0 };

	for (size_t i = 0; i < all; i++)
		kept[i] = pins[i].fixed || (keep && keep[i]);
	for (int upto = STRENGTH_WARNING; !found && upto >= STRENGTH_ERROR; upto--) {
		struct solve_provider p = constraint_provider(w, (enum strength)upto);

		found = solve_repair(w->a, &p, pins, all, kept, w->budget, NULL, &r);
	}
	if (!found && !keep) {
		struct solve_provider p = constraint_provider(w, STRENGTH_ERROR);

		solve_repair(w->a, &p, pins, n, NULL, w->budget, NULL, &r);
	}
	return r.pins;
}

/* Returns the stack of a repair.  A changed variable must still exist, with any candidate. */
static struct solve_result
solve_again(const struct solution *solution, const struct conflict *c,
	    const struct solve_indexes *out)
{
	struct workspace *w = solution->work;
	struct solve_pin *pins = pins_for(solution, c);
	size_t n = solution->nrequests;
	int os = variable_find(w, "os");
	struct solve_result r;
	bool base = false, near = false;

	for (size_t i = 0; i < out->n; i++) {
		struct solve_pin *p = &pins[out->at[i]];

		p->set = set_same_series(w, p->variable);
		near |= !set_is_empty(w, p->variable, p->set);
		if (set_is_empty(w, p->variable, p->set))
			p->set = set_all(w, p->variable);
		base |= solution->requests[out->at[i]].kind == REQUEST_BASE;
	}
	/* A replaced base keeps its system if possible. */
	base = base && os >= 0 && w->image.os;
	if (base)
		pins[n] = (struct solve_pin){ .variable = (unsigned)os,
					      .set = set_one(w, (unsigned)os,
							     variable_candidate(w, (unsigned)os,
										w->image.os)) };
	r = solve_best(w, pins, n + base);
	for (size_t i = 0; i < out->n && near && r.status != SOLVE_FOUND; i++)
		pins[out->at[i]].set = set_all(w, pins[out->at[i]].variable);
	if (r.status != SOLVE_FOUND && (base || near))
		r = solve_best(w, pins, n);
	if (r.status == SOLVE_FOUND)
		return r;
	/* Removes one value from a list. */
	for (size_t i = 0; i < out->n; i++)
		pin_lift(w, &pins[out->at[i]]);
	return solve_best(w, pins, n);
}

/* --- repairs --- */

static void
add_way(const struct solution *solution, const struct conflict *c, const struct solve_indexes *pins,
	const struct solve_result *best, struct repairs *out)
{
	struct repair r = { .pins = *pins };

	if (!pins->n)
		return;
	for (size_t i = 0; i < pins->n; i++)
		r.left_out |= solution->solver_pins[pins->at[i]].fixed;
	r.best = best ? *best : solve_again(solution, c, pins);
	if (r.best.status != SOLVE_FOUND)
		return;
	/* An unknown torch, or a release of a package that was not read, is not a useful repair. */
	for (size_t i = 0; i < pins->n; i++) {
		const struct request *p = &solution->requests[pins->at[i]];
		const struct candidate *now = chosen_then(solution, &r.best, p);

		if (p->kind == REQUEST_TORCH && now && !now->known)
			return;
		if (p->kind == REQUEST_REQUIREMENT && now && !*now->text)
			return;
	}
	repair_changes(solution, &r);
	r.cost = repair_cost(solution, &r);
	list_push(solution->work->a, out, r);
}

/* The first of several errors gets a repair of all of them, so that the fix of one error does not
 * break another. */
static void
find_joint_repair(const struct solution *solution)
{
	struct joint_repair *all = &solution->work->joint;

	all->pins = nearest(solution, NULL, NULL);
	if (!all->pins.n)
		return;
	for (size_t i = 0; i < all->pins.n; i++)
		if (solution->solver_pins[all->pins.at[i]].fixed)
			return; /* an error has no fix: each one gets its own repair */
	all->best = solve_again(solution, NULL, &all->pins);
	all->found = all->best.status == SOLVE_FOUND;
	list_each (pin, &all->pins)
		all->found &= chosen_then(solution, &all->best, &solution->requests[*pin]) != NULL;
}

/* The first conflict also reports changes of the joint repair that belong to none. */
static struct solve_indexes
share_of(const struct solution *solution, const struct conflict *c)
{
	const struct solve_indexes *all = &solution->work->joint.pins;
	struct solve_indexes mine = { 0 };

	for (size_t i = 0; i < all->n; i++) {
		bool first = c == &solution->errors.at[0] &&
			     !request_in_error(solution, all->at[i], NULL);

		if (first || has(&c->found.pins, all->at[i]))
			list_push(solution->work->a, &mine, all->at[i]);
	}
	return mine;
}

enum { CHANGES_MAX = 6 };

struct repairs
find_repairs(const struct solution *solution, const struct conflict *c)
{
	struct repairs out = { 0 };
	struct solve_indexes first, second;
	bool *keep = arena_array_of(solution->work->a, bool, solution->nrequests + 1), joint;

	if (solution->errors.n > 1 && c == &solution->errors.at[0])
		find_joint_repair(solution);
	joint = c->strength == STRENGTH_ERROR && solution->work->joint.found;
	first = joint ? share_of(solution, c) : nearest(solution, c, NULL);
	if (!first.n)
		return out;
	add_way(solution, c, &first, joint ? &solution->work->joint.best : NULL, &out);
	for (size_t i = 0; i < first.n; i++)
		keep[first.at[i]] = true;
	second = nearest(solution, c, keep);
	if (second.n <= CHANGES_MAX)
		add_way(solution, c, &second, NULL, &out);
	return out;
}

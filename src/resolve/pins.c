#include "fit_work.h"

/* What the recipe asks for, as pins: each place once, with the words to speak of it. */

enum {
	SOURCE = 1,  /* where the code of a version comes from: the version stays */
	LIGHT = 2,   /* an extension or a package: its own layer is made again */
	PLACE = 6,   /* Python, CUDA, the base: everything is */
	TORCH = 10,  /* the same, and it is what the rest is chosen for */
	HEAVY = 1000 /* what is given by the machines that are there */
};

static void
pin(struct fit_work *w, struct fit_pin p, const solve_word *set, unsigned weight)
{
	const struct fit_pin *kept;

	list_push(w->a, &w->pins, p);
	kept = &w->pins.at[w->pins.n - 1];
	list_push(w->a, &w->solve_pins,
		  (struct solve_pin){ .thing = p.thing,
				      .set = set,
				      .when = w->when,
				      .weight = weight,
				      .fixed = weight == HEAVY,
				      .why = kept });
}

/* It must be there, whichever. */
static void
need(struct fit_work *w, unsigned thing, const char *sentence)
{
	pin(w,
	    (struct fit_pin){ .kind = PIN_NEED, .thing = thing, .text = "", .sentence = sentence },
	    fit_all(w, thing), HEAVY);
}

static void
pin_text(struct fit_work *w, enum fit_pin_kind kind, unsigned thing, struct text t,
	 const char *shown, const solve_word *set, unsigned weight)
{
	const char *label = fit_at(w, thing)->label;

	pin(w,
	    (struct fit_pin){
		    .kind = kind,
		    .thing = thing,
		    .at = t.at,
		    .text = t.s,
		    .note = arena_printf(w->a, "%s is asked for here", label),
		    .sentence = arena_printf(w->a, "the recipe asks for %s %s", label, shown) },
	    set, weight);
}

/* --- torch --- */

/* The build that an index URL ends in: ".../whl/cu121"; else NULL. */
static const char *
tag_of_url(struct fit_work *w, const char *url)
{
	size_t n = strlen(url), start;

	while (n && url[n - 1] == '/')
		n--;
	start = n;
	while (start && url[start - 1] != '/')
		start--;
	url = arena_copy(w->a, url + start, n - start);
	return cuda_of_tag(w->a, url) || !strcmp(url, "cpu") ? url : NULL;
}

static void
pin_index(struct fit_work *w, struct text index)
{
	unsigned build = fit_slot(w, FIT_BUILD, "torch build");
	const char *tag = strstr(index.s, "://") ? tag_of_url(w, index.s) : index.s;

	if (!tag) {
		list_push(w->a, &w->unjudged, (struct unjudged){ .name = index.s });
		return;
	}
	if (!strcmp(tag, "pypi")) {
		/* Which build that is depends on the release: a thing of its own says so. */
		unsigned pypi = fit_slot(w, FIT_INDEX, "torch index");

		pin_text(w, PIN_INDEX, pypi, index, "pypi",
			 fit_one(w, pypi, fit_candidate(w, pypi, "pypi")), LIGHT);
		return;
	}
	pin_text(w, PIN_INDEX, build, index, tag, fit_one(w, build, fit_candidate(w, build, tag)),
		 LIGHT);
}

static void
pins_of_torch(struct fit_work *w)
{
	const struct recipe *r = w->r;
	const struct version *v =
		r->torch.version.s ? version_parse(w->a, r->torch.version.s) : NULL;
	const char *local = v ? version_local(w->a, v) : NULL;
	unsigned torch;

	if (!r->torch.at.line && !r->torch.version.s)
		return;
	torch = fit_slot(w, FIT_TORCH, "torch");
	if (v) {
		const char *text = version_public(w->a, v);

		pin_text(w, PIN_TORCH, torch, r->torch.version, text,
			 fit_one(w, torch, fit_candidate(w, torch, text)), TORCH);
	} else {
		need(w, torch, "the recipe asks for torch");
	}
	if (r->torch.index.s)
		pin_index(w, r->torch.index);
	else if (local)
		pin_index(w, (struct text){ local, r->torch.version.at });
}

/* --- what surrounds it --- */

static void
pins_of_base(struct fit_work *w)
{
	const struct recipe *r = w->r;
	unsigned base, cuda;

	if (r->base.s) {
		base = fit_slot(w, FIT_BASE, "base");
		pin_text(w, PIN_BASE, base, r->base, r->base.s,
			 fit_one(w, base, fit_candidate(w, base, r->base.s)), PLACE);
		/* What a repair takes instead: any image that brings what the rest wants. */
		fit_candidate(w, base, "another");
		if (w->image.os)
			fit_candidate(w, fit_slot(w, FIT_OS, "os"), w->image.os);
		if (w->image.cuda)
			fit_candidate(w, fit_slot(w, FIT_CUDA, "cuda"), w->image.cuda);
	}
	need(w, fit_slot(w, FIT_OS, "os"), "there is a system below");
	cuda = fit_slot(w, FIT_CUDA, "cuda");
	if (r->cuda.s) {
		solve_word *set = fit_none(w, cuda);
		const struct fit_thing *t = fit_at(w, cuda);
		bool series = !strcmp(version_series(w->a, r->cuda.s), r->cuda.s);

		for (size_t i = 0; series && i < t->n; i++)
			if (!strcmp(version_series(w->a, t->c[i].text), r->cuda.s))
				solve_set_add(set, i);
		if (!series || !solve_set_count(set, t->n))
			set = fit_one(w, cuda, fit_candidate(w, cuda, r->cuda.s));
		pin_text(w, PIN_CUDA, cuda, r->cuda, r->cuda.s, set, PLACE);
	} else if (w->compiles) {
		need(w, cuda, "extensions are compiled with a CUDA toolkit");
	}
}

static void
pins_of_place(struct fit_work *w)
{
	const struct recipe *r = w->r;
	unsigned python = fit_slot(w, FIT_PYTHON, "python"), machine, thing;
	const char *arch = fit_machine(r);

	if (r->python.s)
		pin_text(w, PIN_PYTHON, python, r->python, r->python.s,
			 fit_one(w, python, fit_candidate(w, python, r->python.s)), PLACE);
	else
		need(w, python, "there is a Python");
	machine = fit_slot(w, FIT_MACHINE, "machine");
	pin(w,
	    (struct fit_pin){ .kind = PIN_MACHINE,
			      .thing = machine,
			      .at = r->platform.at,
			      .text = arch,
			      .note = "the platform is named here",
			      .sentence = arena_printf(w->a, "the image is for %s", arch) },
	    fit_one(w, machine, fit_candidate(w, machine, arch)), HEAVY);
	for (size_t i = 0; i < r->gpus.n; i++) {
		const struct recipe_gpu *g = &r->gpus.at[i];

		thing = fit_slot(w, FIT_GPU, arena_printf(w->a, "gpu %s", g->cc));
		fit_at(w, thing)->label = g->text.s;
		pin(w,
		    (struct fit_pin){ .kind = PIN_GPU,
				      .thing = thing,
				      .at = g->text.at,
				      .text = g->text.s,
				      .note = "the GPU is named here",
				      .sentence =
					      arena_printf(w->a, "`%s` has compute capability %s",
							   g->text.s, g->cc) },
		    fit_one(w, thing, fit_candidate(w, thing, g->cc)), HEAVY);
	}
	if (r->driver.s) {
		thing = fit_slot(w, FIT_DRIVER, "driver");
		pin_text(w, PIN_DRIVER, thing, r->driver, r->driver.s,
			 fit_one(w, thing, fit_candidate(w, thing, r->driver.s)), HEAVY);
	}
}

/* --- packages --- */

/* True if the knowledge can say anything of a package: releases, or what must fit to it. */
static bool
judged(const struct fit_work *w, const char *key)
{
	size_t n;
	const struct pairing *all = facts_pairings(w->f, &n);

	if (facts_package(w->f, key) || facts_extension(w->f, key) || !strcmp(key, "torchvision") ||
	    !strcmp(key, "torchaudio"))
		return true;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(all[i].name, key) || !strcmp(all[i].other, key))
			return true;
	return false;
}

/*
 * Returns false if a marker holds for no Python that the recipe allows.  What is pinned
 * afterwards counts for those that it holds for: w->when.
 */
static bool
applies(struct fit_work *w, const struct marker *m)
{
	unsigned python = (unsigned)fit_find(w, "python");
	const char *asked = w->r->python.s;
	struct solve_term *when;
	solve_word *set;
	size_t n, held;

	w->when = NULL;
	if (!m)
		return true;
	set = fit_pythons_of(w, m);
	n = fit_at(w, python)->n;
	held = solve_set_count(set, n);
	if (held && held < n) {
		when = arena_new_of(w->a, struct solve_term);
		*when = (struct solve_term){ .thing = python, .set = set };
		w->when = when;
	}
	return asked ? solve_set_has(set, fit_candidate(w, python, asked)) : held;
}

static void
unjudged(struct fit_work *w, const char *name)
{
	list_push(w->a, &w->unjudged, (struct unjudged){ name, w->when });
}

/* A version in a range that no known release is in: the first of it, or one just below its end. */
static const char *
one_of(struct fit_work *w, const char *spec)
{
	const char *from = strpbrk(spec, ">~"), *end = strchr(spec, '<');

	if (!from && !end)
		return NULL;
	if (!from)
		from = end;
	from += 1 + strspn(from + 1, "= ");
	return arena_printf(w->a, "%.*s%s", (int)strcspn(from, ", "), from,
			    from[-1] == '<' ? ".dev0" : "");
}

/*
 * torch's companions are written with the tag of their build, too, which is no release of its
 * own.
 */
static const char *
exact_text(struct fit_work *w, unsigned thing, const struct version *exact)
{
	const char *key = fit_at(w, thing)->key;

	if (!strcmp(key, "torchvision") || !strcmp(key, "torchaudio"))
		return version_public(w->a, exact);
	return version_text(w->a, exact);
}

/* The releases that a specifier allows; one that is not known stands for those of an empty set. */
static solve_word *
allowed(struct fit_work *w, unsigned thing, const struct specifiers *spec)
{
	const struct version *exact = specifiers_pin(spec);
	const char *text = specifiers_text(w->a, spec), *start;
	solve_word *set;
	size_t at;

	if (exact)
		return fit_one(w, thing, fit_candidate(w, thing, exact_text(w, thing, exact)));
	set = fit_in(w, thing, text);
	if (solve_set_count(set, fit_at(w, thing)->n))
		return set;
	at = fit_candidate(w, thing, text);
	start = one_of(w, text);
	if (start)
		w->slots.at[thing]->list.at[at].v = version_parse(w->a, start);
	return fit_one(w, thing, at);
}

static enum fit_kind
kind_of(const struct fit_work *w, const char *key)
{
	return facts_extension(w->f, key) ? FIT_EXTENSION : FIT_PACKAGE;
}

/* Every release that is named, before the first set of releases is made: it is in some of them. */
static void
name_releases(struct fit_work *w, const struct recipe_requirements *all)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct requirement *req = all->at[i].req;
		unsigned thing;

		if (!specifiers_pin(req->spec) || !applies(w, req->marker) ||
		    !strcmp(req->key, "torch") || !judged(w, req->key))
			continue;
		thing = fit_slot(w, kind_of(w, req->key), req->key);
		allowed(w, thing, req->spec);
	}
}

static const char *
version_of_url(struct fit_work *w, const char *url)
{
	const struct version *v;
	const char *name;

	return recipe_archive(w->a, url, &name, &v) ? version_public(w->a, v) : NULL;
}

static void
pin_requirement(struct fit_work *w, const struct recipe_requirement *q)
{
	const struct requirement *req = q->req;
	const char *key = req->key;
	const char *wheel;
	unsigned thing;

	if (!applies(w, req->marker) || (!strcmp(key, "torch") && !fit_asks_of_torch(w, req)))
		return;
	wheel = req->url && recipe_names_wheel(req->url) ? version_of_url(w, req->url) : NULL;
	if (!wheel && !judged(w, key)) {
		unjudged(w, req->name);
		return;
	}
	thing = fit_slot(w, kind_of(w, key), key);
	if (wheel)
		w->slots.at[thing]->wheel = req->url;
	pin(w,
	    (struct fit_pin){ .kind = PIN_REQUIREMENT,
			      .thing = thing,
			      .at = q->text.at,
			      .text = q->text.s,
			      .note = arena_printf(w->a, "%s is asked for here", req->name),
			      .sentence = arena_printf(w->a, "the recipe asks for %s", q->text.s),
			      .requirement = q },
	    wheel    ? fit_one(w, thing, fit_candidate(w, thing, wheel)) :
	    req->url ? fit_all(w, thing) :
		       allowed(w, thing, req->spec),
	    LIGHT);
}

/* --- extensions --- */

/* A marker that says no leaves it out. */
static bool
stays(struct fit_work *w, const struct recipe_extension *e)
{
	return applies(w, e->marker.s ? marker_parse(w->a, e->marker.s) : NULL);
}

static void
pin_extension(struct fit_work *w, enum fit_pin_kind kind, const struct recipe_extension *e,
	      unsigned thing, struct text t, const char *shown, const solve_word *set)
{
	pin(w,
	    (struct fit_pin){
		    .kind = kind,
		    .thing = thing,
		    .at = t.at.line ? t.at : e->at,
		    .text = t.s,
		    .note = arena_printf(w->a, "%s is asked for here", e->name.s),
		    .sentence = arena_printf(w->a, "the recipe asks for %s %s", e->name.s, shown),
		    .extension = e },
	    set, kind == PIN_FROM ? SOURCE : LIGHT);
}

/* The release that a git ref is; a commit is a release of which nothing is known. */
static const char *
release_of_ref(struct fit_work *w, const struct recipe_extension *e)
{
	const struct extension *known = facts_extension(w->f, e->key);
	const struct extension_release *r = known ? extension_release(known, e->ref.s) : NULL;

	return r ? r->version : e->ref.s;
}

static void
pin_release(struct fit_work *w, const struct recipe_extension *e, unsigned thing)
{
	const struct specifiers *spec =
		e->specifier.s ? specifiers_parse(w->a, e->specifier.s) : NULL;
	const char *in_url = e->url.s ? version_of_url(w, e->url.s) : NULL;

	if (e->version.s)
		pin_extension(w, PIN_VERSION, e, thing, e->version, e->version.s,
			      fit_one(w, thing, fit_candidate(w, thing, e->version.s)));
	else if (e->ref.s)
		pin_extension(w, PIN_REF, e, thing, e->ref, e->ref.s,
			      fit_one(w, thing, fit_candidate(w, thing, release_of_ref(w, e))));
	else if (in_url)
		pin_extension(w, PIN_URL, e, thing, e->url, in_url,
			      fit_one(w, thing, fit_candidate(w, thing, in_url)));
	else if (spec && !e->url.s)
		pin_extension(w, PIN_VERSION, e, thing, e->specifier, e->specifier.s,
			      allowed(w, thing, spec));
	else if (!fit_at(w, thing)->n)
		pin_extension(w, PIN_NEED, e, thing, e->name, "",
			      fit_one(w, thing, fit_candidate(w, thing, "")));
	else
		need(w, thing, arena_printf(w->a, "the recipe asks for %s", e->name.s));
}

/* Unless the recipe says so nothing that somebody else built is taken. */
static solve_word *
open_sources(struct fit_work *w, unsigned source)
{
	solve_word *set = fit_none(w, source);

	solve_set_add(set, fit_candidate(w, source, "sdist"));
	solve_set_add(set, fit_candidate(w, source, "git"));
	return set;
}

static void
pins_of_extension(struct fit_work *w, const struct recipe_extension *e)
{
	static const char *const from[] = { [EXT_GIT] = "git",
					    [EXT_SDIST] = "sdist",
					    [EXT_RELEASE] = "release",
					    [EXT_WHEEL] = "url" };
	const struct extension *known = facts_extension(w->f, e->key);
	const char *key = known ? known->name : e->key;
	const char *where = e->url.s ? "url" : e->git.s || e->ref.s ? "git" : from[e->from];
	unsigned thing = fit_slot(w, FIT_EXTENSION, key), source;

	w->slots.at[thing]->asked = e;
	if (!known)
		unjudged(w, e->name.s);
	pin_release(w, e, thing);
	source = fit_slot(w, FIT_SOURCE, arena_printf(w->a, "%s source", key));
	w->slots.at[source]->of = key;
	w->slots.at[source]->asked = e;
	fit_at(w, source)->label = arena_printf(w->a, "%s from", e->name.s);
	if (where)
		pin_extension(w, PIN_FROM, e, source,
			      (struct text){ where, e->from_at.line ? e->from_at :
						    e->url.s        ? e->url.at :
								      e->at },
			      arena_printf(w->a, "from %s", where),
			      fit_one(w, source, fit_candidate(w, source, where)));
	else
		pin(w,
		    (struct fit_pin){
			    .kind = PIN_NEED,
			    .thing = source,
			    .text = "",
			    .extension = e,
			    .sentence = arena_printf(
				    w->a, "%s comes from its sdist or its repository", e->name.s) },
		    open_sources(w, source), HEAVY);
}

void
fit_pins(struct fit_work *w)
{
	const struct recipe *r = w->r;
	unsigned python = fit_slot(w, FIT_PYTHON, "python");

	if (r->base.s)
		w->image = facts_image_name(w->f, w->a, r->base.s);
	/* Markers are read against all Pythons, so all of them are named first. */
	if (w->image.python)
		fit_candidate(w, python, w->image.python);
	if (r->python.s)
		fit_candidate(w, python, r->python.s);
	for (size_t i = 0; i < r->extensions.n; i++) {
		const struct recipe_extension *e = &r->extensions.at[i];

		if (stays(w, e) && e->from != EXT_WHEEL && e->from != EXT_RELEASE &&
		    !(e->url.s && recipe_names_wheel(e->url.s)))
			w->compiles = true;
	}
	w->when = NULL;
	w->gcc = fit_gcc_named(r);
	pins_of_torch(w);
	pins_of_base(w);
	pins_of_place(w);
	name_releases(w, &r->torch.with);
	name_releases(w, &r->packages);
	for (size_t i = 0; i < r->extensions.n; i++)
		if (stays(w, &r->extensions.at[i]))
			pins_of_extension(w, &r->extensions.at[i]);
	for (size_t i = 0; i < r->torch.with.n; i++)
		pin_requirement(w, &r->torch.with.at[i]);
	for (size_t i = 0; i < r->packages.n; i++)
		pin_requirement(w, &r->packages.at[i]);
	w->when = NULL;
}

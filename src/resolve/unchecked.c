#include "internal.h"

/*
 * Lists the unchecked parts of the recipe, each once with its reason. An unknown part that is
 * missing in this list would count as compatible.
 */

static void
add_by(struct workspace *w, enum checked_by by, const char *what, const char *why)
{
	if (!map_put(&w->listed, what, w))
		list_push(w->a, &w->s->unchecked, (struct unchecked_part){ what, why, by });
}

static void
add(struct workspace *w, const char *what, const char *why)
{
	add_by(w, BY_NOTHING, what, why);
}

static const char not_listed[] = "not in the knowledge base";
static const char no_release[] = "this release is not in the knowledge base";
static const char some_releases[] = "only some of its releases are in the knowledge base";
static const char too_new[] =
	"the second is over half a year newer, and the knowledge base does not list the pair";
static const char no_index[] = "the packages of this index are not in the knowledge base";

static bool
is_there(const struct workspace *w, const struct unchecked *u)
{
	return !u->when || term_holds(w->solution, u->when);
}

/* Adds the requirements of read_requests() that have no variable. */
static void
add_requirements(struct workspace *w)
{
	list_each (x, &w->unchecked)
		if (!x->file && is_there(w, x))
			add_by(w, x->by, x->what, x->why);
}

/* --- the application --- */

enum { NAMES_SHOWN = 12 };

/* Adds "app/requirements.txt: 3 of 12 packages: not in the knowledge base: flask, redis,
 * celery". */
static void
add_file(struct workspace *w, const struct source *file)
{
	const struct recipe_requirements *all = &w->r->app.needs->requirements;
	struct names open = { 0 }, first;
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		n += all->at[i].text.at.src == file;
	for (size_t i = 0; i < w->unchecked.n; i++)
		if (w->unchecked.at[i].file == file && is_there(w, &w->unchecked.at[i]))
			list_push(w->a, &open, w->unchecked.at[i].what);
	first = open;
	if (first.n > NAMES_SHOWN)
		first.n = NAMES_SHOWN;
	if (open.n)
		add_by(w, BY_METADATA,
		       arena_printf(w->a, "%s: %zu of %zu package%s", file->path, open.n, n,
				    n == 1 ? "" : "s"),
		       arena_printf(w->a, "%s: %s%s", not_listed, names_join(w->a, &first, ", "),
				    open.n > first.n ? " ..." : ""));
}

static void
add_application(struct workspace *w)
{
	const struct recipe_needs *needs = w->r->app.needs;
	struct names seen = { 0 };

	for (size_t i = 0; i < w->unchecked.n; i++) {
		const struct source *file = w->unchecked.at[i].file;

		if (!file || names_have(&seen, file->path))
			continue;
		list_push(w->a, &seen, file->path);
		add_file(w, file);
	}
	for (size_t i = 0; needs && i < needs->lines.n; i++)
		add(w,
		    arena_printf(w->a, "%s: %s", needs->lines.at[i].text.at.src->path,
				 mask_credentials(w->a, needs->lines.at[i].text.s)),
		    needs->lines.at[i].why);
}

/* --- the image --- */

static void
add_image(struct workspace *w, struct text image)
{
	struct image_name n;

	if (!image.s)
		return;
	n = facts_image_name(w->f, image.s);
	if (!n.os || !facts_os(w->f, n.os))
		add(w, image.s, "the contents of this image are not in the knowledge base");
	else if (image_is_doubtful(w, &n))
		add(w, image.s, "the knowledge base does not list this tag");
}

static void
add_surroundings(struct workspace *w)
{
	const struct stack *s = w->s;

	add_image(w, w->r->base);
	add_image(w, w->r->runtime.base);
	if (s->cuda_from == CUDA_HOST)
		add(w, "the CUDA toolkit of the host", "its version is unknown before the build");
	else if (s->cuda.value && !s->toolkit)
		add(w, arena_printf(w->a, "CUDA %s", s->cuda.value), no_release);
	if (w->r->python.s && !w->python->known)
		add(w, arena_printf(w->a, "Python %s", w->r->python.s), no_release);
}

/* --- torch --- */

static void
add_torch(struct workspace *w)
{
	const struct stack *s = w->s;
	bool elsewhere = w->index.s && !w->index_tag;

	if (!s->torch.value)
		return;
	if (!s->torch_release)
		add_by(w, BY_METADATA, arena_printf(w->a, "torch %s", s->torch.value), no_release);
	if (elsewhere)
		add_by(w, BY_TORCH_INDEX, arena_printf(w->a, "torch from %s", w->index.s),
		       no_index);
	else if (s->torch_release && !s->torch_variant)
		add_by(w, BY_TORCH_INDEX,
		       arena_printf(w->a, "torch %s (%s)", s->torch.value,
				    s->torch_tag ? s->torch_tag : "its build"),
		       "this build is not in the knowledge base");
	else if (s->torch_variant && s->torch_variant->cuda && w->r->gpus.n &&
		 !build_archs(w, s->torch_variant)->n)
		add(w,
		    arena_printf(w->a, "torch %s (%s) for %s", s->torch.value, s->torch_tag,
				 recipe_machine(w->r)),
		    "the GPUs of this build are not in the knowledge base");
}

/* --- packages and extensions --- */

/* Returns false if the knowledge base has only incompatibilities of a package. */
static bool
has_releases(const struct solver_variable *t)
{
	bool any = t->kind == VARIABLE_EXTENSION;

	for (size_t i = 0; i < t->n; i++)
		any |= t->c[i].known;
	return any;
}

static bool
is_sample(const struct workspace *w, const struct solver_variable *t)
{
	const struct python_package *p = facts_package(w->f, t->key);

	return p && p->sample;
}

/* Returns whether a version is older or newer than each known release of the package. */
static bool
is_outside(struct workspace *w, const struct solver_variable *t, const struct candidate *c)
{
	bool newer = true, older = true;

	if (is_sample(w, t))
		return !c->v || !release_span(w, t, c).older;
	for (size_t i = 0; i < t->n; i++) {
		int order = t->c[i].known ? text_version_order(w, c->text, t->c[i].text) : 0;

		newer &= !t->c[i].known || order > 0;
		older &= !t->c[i].known || order < 0;
	}
	return !c->v || newer || older;
}

static void
add_package(struct workspace *w, const struct request *p)
{
	const struct solver_variable *t = variable_at(w, p->variable);
	const struct candidate *c = solution_selected(w->solution, t->key);
	const struct extension_release *release =
		t->kind == VARIABLE_EXTENSION && c ? c->entry : NULL;
	const char *name = p->requirement->req->name, *why;

	if (!c)
		return;
	if (p->requirement->req->url &&
	    (requested(w, p->variable) < 0 || !(c->known || c->published)))
		add_by(w, BY_METADATA, name,
		       "the requirements of a file at a URL are unknown before the build");
	else if (!c->known && !facts_package_independent(w->f, t->key) &&
		 (t->kind == VARIABLE_EXTENSION || strpbrk(c->text, "<>~!") || is_outside(w, t, c)))
		add_by(w, BY_METADATA, *c->text ? arena_printf(w->a, "%s %s", name, c->text) : name,
		       is_sample(w, t) ? some_releases :
		       has_releases(t) ? no_release :
					 not_listed);
	else if (release && !release->run_known && (why = release_doubt(w, t, c)))
		add_by(w, BY_METADATA, arena_printf(w->a, "%s %s", name, c->text), why);
}

/* Adds releases with unread requirements, if pinned: for an unpinned package, pip selects a
 * suitable release. */
static void
add_unread(struct workspace *w)
{
	for (size_t i = 0; i < w->solution->nvariables; i++) {
		const struct solver_variable *t = w->solution->variables[i];
		const struct candidate *c = solution_selected(w->solution, t->key);
		const struct python_package *p = facts_package(w->f, t->key);
		int pinned = requested(w, (unsigned)variable_find(w, t->key));
		const char *why, *later;

		if (t->kind != VARIABLE_PACKAGE || !c || !c->v || !p || !p->n ||
		    is_outside(w, t, c) || (pinned < 0 && release_span(w, t, c).older))
			continue;
		why = release_doubt(w, t, c);
		later = why ? NULL : release_later(w, t, c);
		if ((!why && !later) || facts_package_independent(w->f, t->key))
			continue;
		if (why)
			add_by(w, BY_METADATA, arena_printf(w->a, "%s %s", t->label, c->text), why);
		else
			add(w, arena_printf(w->a, "%s %s with %s", t->label, c->text, later),
			    too_new);
	}
}

/* For a commit of an extension without releases, such as apex, the facts about all apply. */
static void
add_extension(struct workspace *w, const struct stack_extension *x)
{
	const char *version = x->ref ? x->ref : x->version;
	const char *what = version ? arena_printf(w->a, "%s %s", x->name, version) : x->name;

	if (!x->known)
		add(w, what, not_listed);
	else if (!x->release && (x->known->nreleases || !x->known->any.run_known))
		add(w, what, version ? no_release : "its version is unknown before the build");
	else if (x->release && !x->release->run_known)
		add(w, what, "its run-time requirements are not in the knowledge base");
	else if (extension_is_older(w, x))
		add(w, arena_printf(w->a, "%s with torch %s", what, w->s->torch.value), too_new);
}

/* An extra index may serve a different build of a package than PyPI. */
static void
add_extra_indexes(struct workspace *w)
{
	list_each (x, &w->r->extras) {
		/* torch never comes from there: SB0206 reports that. */
		list_each (p, &x->packages)
			if (strcmp(name_normalize(w->a, p->s), "torch") != 0)
				add_by(w, BY_METADATA,
				       arena_printf(w->a, "%s from %s", p->s, x->url.s), no_index);
	}
}

/* --- rules --- */

/* Rules that depend on the same unknown value share one line. */
static void
add_rules_open(struct workspace *w)
{
	const struct solution *s = w->solution;
	struct names seen = { 0 };

	for (size_t i = 0; i < s->rules_open.n; i++) {
		const struct rule_condition *k = s->rules_open.at[i].condition;
		struct names rules = { 0 };

		if (names_have(&seen, k->name))
			continue;
		list_push(w->a, &seen, k->name);
		for (size_t n = i; n < s->rules_open.n; n++)
			if (!strcmp(s->rules_open.at[n].condition->name, k->name))
				names_once(w->a, &rules, s->rules_open.at[n].rule);
		add(w,
		    arena_printf(w->a, "rule%s %s", rules.n > 1 ? "s" : "",
				 names_join(w->a, &rules, ", ")),
		    k->variable == VAR_OS ?
			    "the operating system is unknown" :
			    arena_printf(w->a, "the version of %s is unknown", k->name));
	}
}

/* --- warnings --- */

/* Returns the pins that a warning names: "auto-gptq==0.4.2 and torch 2.1.0". */
static const char *
pair_of(const struct solution *s, const struct solve_conflict *c)
{
	struct names all = { 0 };

	for (size_t i = 0; i < c->pins.n; i++)
		if (s->requests[c->pins.at[i]].at.line)
			names_once(s->work->a, &all, request_name(s, &s->requests[c->pins.at[i]]));
	return names_words(s->work->a, &all, "and");
}

/* Adds doubtful pairs of packages, and libraries that may be missing. */
static void
add_doubtful(struct workspace *w)
{
	const struct solution *s = w->solution;

	for (size_t i = 0; i < s->warnings.n; i++) {
		unsigned code = s->warnings.at[i].code;

		if (code == W_FIT_PAIR || code == W_FIT_NIGHTLY)
			add(w, pair_of(s, &s->warnings.at[i].found),
			    arena_printf(w->a,
					 "it is unknown whether they work together: see the "
					 "warning %s",
					 code_table[code].id));
	}
	for (size_t i = 0; i < s->findings.n; i++) {
		const struct rule *rule = s->findings.at[i].rule;

		if (rule->code == W_FIT_LIBRARY || rule->code == W_FIT_PAIR)
			add(w, arena_printf(w->a, "rule %s", rule->name),
			    arena_printf(
				    w->a,
				    "it is unknown whether the stack works: see the warning %s",
				    code_table[rule->code].id));
	}
}

void
resolve_unchecked(struct workspace *w)
{
	add_surroundings(w);
	add_torch(w);
	for (size_t i = 0; i < w->s->extensions.n; i++)
		add_extension(w, &w->s->extensions.at[i]);
	for (size_t i = 0; i < w->requests.n; i++)
		if (w->requests.at[i].kind == REQUEST_REQUIREMENT)
			add_package(w, &w->requests.at[i]);
	add_unread(w);
	add_requirements(w);
	add_application(w);
	add_extra_indexes(w);
	add_rules_open(w);
	add_doubtful(w);
}

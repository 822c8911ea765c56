#include <stdlib.h>

#include "coverage.h"

/*
 * The coverage of each part of a stack: whether somebody read it at its source. A part that is
 * missing in this list would count as read. `compatible` needs COVERAGE_READ for every part.
 */

const char *const coverage_words[] = { "read", "partial", "unknown" };
const char *const basis_words[] = { "facts", "uv", "registry" };
const char *const part_words[] = { "base",      "cuda",    "python", "torch", "index",
				   "extension", "package", "file",   "rule" };

size_t
stack_open(const struct stack_parts *all, const enum checked_by *by)
{
	size_t n = 0;

	list_each (x, all)
		n += x->coverage != COVERAGE_READ && (!by || x->by == *by);
	return n;
}

static void
add(struct workspace *w, struct stack_part part)
{
	if (!map_put(&w->listed, part.what, w))
		list_push(w->a, &w->s->parts, part);
}

static void
add_unknown(struct workspace *w, enum part_kind kind, const char *what, const char *why)
{
	add(w, (struct stack_part){
		       .kind = kind, .coverage = COVERAGE_UNKNOWN, .what = what, .why = why });
}

/* Adds a part that has a source in the knowledge base. */
static void
add_read(struct workspace *w, enum part_kind kind, const char *what, const char *source)
{
	add(w, (struct stack_part){ .kind = kind,
				    .what = what,
				    .why = "in the knowledge base",
				    .source = source,
				    .date = coverage_date(w->a, source) });
}

static const char not_listed[] = "not in the knowledge base";
static const char no_release[] = "this release is not in the knowledge base";
static const char no_index[] = "the packages of this index are not in the knowledge base";
static const char too_new[] =
	"the second is over half a year newer, and the knowledge base does not list the pair";

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
			add(w, (struct stack_part){ .kind = PART_PACKAGE,
						    .coverage = COVERAGE_UNKNOWN,
						    .what = x->what,
						    .why = x->why,
						    .by = x->by });
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
		add(w, (struct stack_part){ .kind = PART_FILE,
					    .coverage = COVERAGE_UNKNOWN,
					    .by = BY_METADATA,
					    .what = arena_printf(w->a, "%s: %zu of %zu package%s",
								 file->path, open.n, n,
								 n == 1 ? "" : "s"),
					    .why = arena_printf(w->a, "%s: %s%s", not_listed,
								names_join(w->a, &first, ", "),
								open.n > first.n ? " ..." : "") });
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
		add_unknown(w, PART_FILE,
			    arena_printf(w->a, "%s: %s", needs->lines.at[i].text.at.src->path,
					 mask_credentials(w->a, needs->lines.at[i].text.s)),
			    needs->lines.at[i].why);
}

/* --- the image --- */

enum { DATE_DIGITS = 8 };

/*
 * Returns whether the names of a publisher's tags show that it has this one. The knowledge base lists no
 * tags of Docker's own images: a series, 3.11, is there, but perhaps not 3.11.99 or jammy-20991231.
 */
static bool
is_tag_certain(struct workspace *w, const struct image_name *n)
{
	const struct names pieces = names_split(w->a, n->tag ? n->tag : "", '-');
	const struct torch_variant *v = n->torch ? w->s->torch_variant : NULL;

	list_each (x, &pieces) {
		const struct version *version = version_parse(w->a, *x);
		const char *cudnn = starts_with(*x, "cudnn") ? *x + strlen("cudnn") : "";

		if (strspn(*x, "0123456789") >= DATE_DIGITS ||
		    (version && !strchr(n->repository, '/') && version_release_count(version) > 2))
			return false;
		if (*cudnn && v && v->cudnn && n->source &&
		    strtol(cudnn, NULL, 10) != strtol(v->cudnn, NULL, 10))
			return false;
	}
	return true;
}

static void
add_image(struct workspace *w, struct text image)
{
	struct image_name n;

	if (!image.s)
		return;
	n = facts_image_name(w->f, image.s);
	if (!n.os || !facts_os(w->f, n.os))
		add_unknown(w, PART_BASE, image.s,
			    "the contents of this image are not in the knowledge base");
	else if (image_is_doubtful(w, &n) || !is_tag_certain(w, &n))
		add(w, (struct stack_part){ .kind = PART_BASE,
					    .coverage = COVERAGE_UNKNOWN,
					    .by = BY_REGISTRY,
					    .what = image.s,
					    .why = "the knowledge base does not list this tag" });
	else
		add_read(w, PART_BASE, image.s, n.source ? n.source : facts_os(w->f, n.os)->source);
}

static void
add_surroundings(struct workspace *w)
{
	const struct stack *s = w->s;

	add_image(w, w->r->base);
	add_image(w, w->r->runtime.base);
	if (s->cuda_from == CUDA_HOST)
		add_unknown(w, PART_CUDA, "the CUDA toolkit of the host",
			    "its version is unknown before the build");
	else if (s->cuda.value && !s->toolkit)
		add_unknown(w, PART_CUDA, arena_printf(w->a, "CUDA %s", s->cuda.value), no_release);
	else if (s->toolkit)
		add_read(w, PART_CUDA, arena_printf(w->a, "CUDA %s", s->cuda.value),
			 s->toolkit->source);
	if (w->r->python.s && !w->python->known)
		add_unknown(w, PART_PYTHON, arena_printf(w->a, "Python %s", w->r->python.s),
			    no_release);
}

/* --- torch --- */

static void
add_torch_build(struct workspace *w)
{
	const struct stack *s = w->s;
	const struct torch_variant *v = s->torch_variant;
	const char *build = arena_printf(w->a, "torch %s (%s)", s->torch.value,
					 s->torch_tag ? s->torch_tag : "its build");

	if (w->index.s && (!w->index_tag || (strstr(w->index.s, "://") && has_own_build(w))))
		add(w, (struct stack_part){ .kind = PART_INDEX,
					    .coverage = COVERAGE_UNKNOWN,
					    .by = BY_TORCH_INDEX,
					    .what = arena_printf(w->a, "torch from %s", w->index.s),
					    .why = no_index });
	else if (s->torch_release && !v)
		add(w, (struct stack_part){ .kind = PART_TORCH,
					    .coverage = COVERAGE_UNKNOWN,
					    .by = BY_TORCH_INDEX,
					    .what = build,
					    .why = "this build is not in the knowledge base" });
	else if (v && v->cuda && w->r->gpus.n && !build_archs(w, v)->n)
		add_unknown(w, PART_TORCH,
			    arena_printf(w->a, "%s for %s", build, recipe_machine(w->r)),
			    "the GPUs of this build are not in the knowledge base");
	else if (v)
		add_read(w, PART_TORCH, build, v->source);
}

static void
add_torch(struct workspace *w)
{
	const struct stack *s = w->s;

	if (!s->torch.value)
		return;
	if (!s->torch_release)
		add(w, (struct stack_part){ .kind = PART_TORCH,
					    .coverage = COVERAGE_UNKNOWN,
					    .by = BY_METADATA,
					    .what = arena_printf(w->a, "torch %s", s->torch.value),
					    .why = no_release });
	add_torch_build(w);
}

/* --- extensions --- */

static void
add_extension(struct workspace *w, const struct stack_extension *x)
{
	const char *version = x->ref ? x->ref : x->version, *ref = x->asked->ref.s;
	const char *what = version ? arena_printf(w->a, "%s %s", x->name, version) : x->name;

	if (x->path)
		add_unknown(w, PART_EXTENSION, what, "your own code: the build compiles it");
	else if (!x->known)
		add_unknown(w, PART_EXTENSION, what, not_listed);
	else if (ref && !extension_release(x->known, ref))
		add_unknown(w, PART_EXTENSION, what,
			    "this tag or commit is not in the knowledge base");
	else if (x->release && x->asked->git.s &&
		 !extension_has(x->known, x->release, x->asked->git.s))
		add_unknown(w, PART_EXTENSION, what,
			    "its commits in this repository are not in the knowledge base");
	else if (!x->release && (x->known->nreleases || !x->known->any.run_known))
		add_unknown(w, PART_EXTENSION, what,
			    version ? no_release : "its version is unknown before the build");
	else if (x->release && !x->release->run_known)
		add_unknown(w, PART_EXTENSION, what,
			    "its run-time requirements are not in the knowledge base");
	else if (extension_is_older(w, x))
		add(w, (struct stack_part){ .kind = PART_EXTENSION,
					    .coverage = COVERAGE_PARTIAL,
					    .what = arena_printf(w->a, "%s with torch %s", what,
								 w->s->torch.value),
					    .why = too_new });
	else
		add_read(w, PART_EXTENSION, what, x->build ? x->build->source : x->known->source);
}

/* An extra index may serve a different build of a package than PyPI. */
static void
add_extra_indexes(struct workspace *w)
{
	list_each (x, &w->r->extras) {
		/* torch never comes from there: SB0206 reports that. */
		list_each (p, &x->packages)
			if (strcmp(name_normalize(w->a, p->s), "torch") != 0)
				add(w, (struct stack_part){ .kind = PART_INDEX,
							    .coverage = COVERAGE_UNKNOWN,
							    .by = BY_METADATA,
							    .what = arena_printf(w->a, "%s from %s",
										 p->s, x->url.s),
							    .why = no_index });
	}
}

/* --- rules --- */

/* Returns true if a condition is on a package above its newest known release, which has its own part. */
static bool
is_beyond(struct workspace *w, const struct rule_condition *k)
{
	const struct solver_variable *t =
		k->variable == VAR_PACKAGE ? solution_variable(w->solution, k->name) : NULL;
	const struct candidate *c = t ? solution_selected(w->solution, t->key) : NULL;

	return c && candidate_beyond(w, t, c);
}

/* Rules that depend on the same unknown value share one line. */
static void
add_rules_open(struct workspace *w)
{
	const struct solution *s = w->solution;
	struct names seen = { 0 };

	for (size_t i = 0; i < s->rules_open.n; i++) {
		const struct rule_condition *k = s->rules_open.at[i].condition;
		struct names rules = { 0 };

		if (names_have(&seen, k->name) || is_beyond(w, k))
			continue;
		list_push(w->a, &seen, k->name);
		for (size_t n = i; n < s->rules_open.n; n++)
			if (!strcmp(s->rules_open.at[n].condition->name, k->name))
				names_once(w->a, &rules, s->rules_open.at[n].rule);
		add_unknown(w, PART_RULE,
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
			add_unknown(w, PART_RULE, pair_of(s, &s->warnings.at[i].found),
				    arena_printf(w->a,
						 "it is unknown whether they work together: see "
						 "the warning %s",
						 code_table[code].id));
	}
	for (size_t i = 0; i < s->findings.n; i++) {
		const struct rule *rule = s->findings.at[i].rule;

		if (rule->code == W_FIT_LIBRARY || rule->code == W_FIT_PAIR)
			add_unknown(w, PART_RULE, arena_printf(w->a, "rule %s", rule->name),
				    arena_printf(w->a,
						 "it is unknown whether the stack works: see the "
						 "warning %s",
						 code_table[rule->code].id));
	}
}

void
coverage_add(struct workspace *w, struct stack_part part)
{
	add(w, part);
}

void
resolve_coverage(struct workspace *w)
{
	struct stack_parts *parts = &w->s->parts;

	/* A list that grows leaves its smaller arrays in the arena. */
	parts->cap = w->unchecked.n;
	parts->at = parts->cap ? arena_array_of(w->a, struct stack_part, parts->cap) : NULL;
	add_surroundings(w);
	add_torch(w);
	for (size_t i = 0; i < w->s->extensions.n; i++)
		add_extension(w, &w->s->extensions.at[i]);
	coverage_packages(w);
	add_requirements(w);
	add_application(w);
	add_extra_indexes(w);
	add_rules_open(w);
	add_doubtful(w);
}

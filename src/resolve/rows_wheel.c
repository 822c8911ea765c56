#include <stdlib.h>

#include "internal.h"

/* Prebuilt wheels: the stack that a file name describes, and the wheels that a project
 * publishes. */

/* --- the parts of a file name --- */

/* Returns the series: "2.3.1" and "231" -> "2.3"; "2100" -> "2.10". pyg writes no patch version:
 * "26" -> "2.6", "113" -> "1.13". */
static const char *
series_of(struct arena *a, const char *number, bool patch)
{
	size_t n = strlen(number) - patch;

	if (strchr(number, '.'))
		return version_series(a, number);
	return n < 2 || n > 3 ? NULL :
				arena_printf(a, "%c.%.*s", number[0], (int)(n - 1), number + 1);
}

/*
 * Returns the number behind a word in a local version, or NULL. PEP 440 separates its parts by
 * dots:
 *
 *     "cu122torch2.3cxx11abifalse"   "122"    "2.3"
 *     "cu.12.8.torch.2.11"           "12.8"   "2.11"
 */
static const char *
behind(struct arena *a, const char *local, const char *word)
{
	for (const char *at = strstr(local, word); at; at = strstr(at + 1, word)) {
		const char *p = at + strlen(word);
		size_t n;

		p += *p == '.';
		if (!is_digit(*p))
			continue;
		n = strspn(p, "0123456789.");
		while (p[n - 1] == '.')
			n--;
		return arena_copy(a, p, n);
	}
	return NULL;
}

/* --- whether one of its tags matches --- */

static bool
fits(const struct names *tags, const char *machine, const char *python)
{
	struct wheel_pythons pythons = { 0 };
	bool any = false;

	for (size_t i = 0; i < tags->n; i++) {
		wheel_pythons_add(&pythons, tags->at[i]);
		any |= machine && wheel_fits_machine(tags->at[i], machine);
	}
	return python ? wheel_pythons_have(&pythons, python) : any;
}

/* --- facts about one file, which apply if one of `these` candidates is selected --- */

static void
needs_glibc(struct query *q, const solve_word *these, const char *file, const struct names *tags)
{
	unsigned glibc = the_variable(q->w, VARIABLE_GLIBC);
	unsigned long least = 0;

	for (size_t k = 0; k < tags->n; k++) {
		/* A wheel with several tags runs wherever one of them does. */
		unsigned long minor = wheel_glibc(tags->at[k]);

		if (!minor)
			return;
		least = !least || minor < least ? minor : least;
	}
	add_allows_if(q, these, glibc, set_in(q->w, glibc, arena_printf(q->w->a, ">=2.%lu", least)),
		      NULL, "%s needs glibc 2.%lu or newer", file, least);
}

/* The ABI of libstdc++ depends on torch's release (of that series, or any) and on its build. */
static void
needs_abi(struct query *q, const solve_word *these, const char *file, const char *series,
	  enum tri abi)
{
	struct workspace *w = q->w;
	unsigned torch = the_variable(w, VARIABLE_TORCH);
	const struct solver_variable *t = variable_at(w, torch);

	for (size_t i = 0; i < t->n; i++) {
		const struct torch_release *r = t->c[i].entry;
		struct solve_term one = IN(torch, set_one(w, torch, i));
		struct names other = { 0 };
		bool all;

		for (size_t k = 0; r && k < r->nvariants; k++)
			if (r->variants[k].cxx11abi != TRI_UNKNOWN &&
			    r->variants[k].cxx11abi != abi)
				list_push(w->a, &other, r->variants[k].tag);
		if (!other.n || (series && !version_same_series(t->c[i].text, series)))
			continue;
		all = other.n == r->nvariants;
		/* FALSE in a name says that the new ABI was not forced; this torch has no other one.
		 * Source: setup.py of flash-attn 2.8.3. */
		if (all && series && abi == TRI_NO)
			continue;
		add_conflict(q,
			     TERMS(IN(q->variable, these), one,
				   all ? one : IS(w, VARIABLE_BUILD, set_named, &other, false)),
			     r->source,
			     "%s was built for the %s C++ ABI, and %s%storch %s has the %s one",
			     file, abi == TRI_YES ? "new" : "old",
			     all ? "" : names_words(w->a, &other, "and"), all ? "" : " of ",
			     r->version, abi == TRI_YES ? "old" : "new");
	}
}

/* "torch260cu126": returns the ABI of that build of torch; it is unknown if torch has no build for
 * that CUDA. */
static enum tri
abi_of_build(struct workspace *w, const char *series, const char *cuda)
{
	const struct solver_variable *t = variable_at(w, the_variable(w, VARIABLE_TORCH));
	const char *tag =
		strchr(cuda, '.') ? cuda_tag(w->a, cuda) : arena_printf(w->a, "cu%s", cuda);

	for (size_t i = 0; i < t->n; i++) {
		const struct torch_release *r = t->c[i].entry;

		for (size_t k = 0;
		     r && version_same_series(t->c[i].text, series) && k < r->nvariants; k++)
			if (!strcmp(r->variants[k].tag, tag))
				return r->variants[k].cxx11abi;
	}
	return TRI_UNKNOWN;
}

/* Reads a local version such as "cu122torch2.3cxx11abifalse", in the `part` of `name`. */
static void
constrain_local(struct query *q, const solve_word *these, const char *local, const char *name,
		const char *part)
{
	struct workspace *w = q->w;
	const char *number = behind(w->a, local, "torch"), *pt = behind(w->a, local, "pt");
	const char *cuda = behind(w->a, local, "cu"), *base = torch_of_base(w);
	const char *series = number ? series_of(w->a, number, true) :
			     pt     ? series_of(w->a, pt, false) :
				      NULL;
	unsigned torch = the_variable(w, VARIABLE_TORCH), build = the_variable(w, VARIABLE_BUILD);

	if (series)
		add_allows_if(q, these, torch,
			      SET_WHERE(w, torch, c, version_same_series(c->text, series)), NULL,
			      "%s was built for torch %s, as its %s shows, and does not load with "
			      "another one",
			      name, series, part);
	if (series && base && version_is_prerelease(version_parse(w->a, base)))
		add_conflict(q, TERMS(IN(q->variable, these), THERE(w, torch)), w->image.source,
			     "%s was built for a release of torch %s, and the base image has a "
			     "preview of it, %s",
			     name, series, base);
	if (cuda && strlen(cuda) >= 2)
		add_allows_if(
			q, these, build,
			SET_WHERE(w, build, c,
				  starts_with(c->text, "cu") && !strncmp(c->text + 2, cuda, 2)),
			NULL,
			"%s was built for CUDA %.2s, as its %s shows, and needs its "
			"libraries",
			name, cuda, part);
	if (strstr(local, "cxx11abitrue"))
		needs_abi(q, these, name, series, TRI_YES);
	else if (strstr(local, "cxx11abifalse"))
		needs_abi(q, these, name, series, TRI_NO);
	else if (series && cuda && abi_of_build(w, series, cuda) != TRI_UNKNOWN)
		needs_abi(q, these, name, series, abi_of_build(w, series, cuda));
}

/* Adds the facts in the name of a wheel:
 * "mamba_ssm-2.2.2+cu122torch2.3cxx11abiFALSE-cp311-cp311-..." */
static void
constrain_file(struct query *q, const solve_word *these, const char *url)
{
	struct workspace *w = q->w;
	const char *name = url_file_name(w->a, url);
	const struct wheel_file *file = wheel_file_parse(w->a, name);
	const char *local = file ? version_local(w->a, file->version) : NULL;
	unsigned python = the_variable(w, VARIABLE_PYTHON);
	unsigned machine = the_variable(w, VARIABLE_MACHINE);

	if (!file)
		return;
	if (local)
		constrain_local(q, these, local, name, "name");
	add_allows_if(q, these, python, SET_WHERE(w, python, c, fits(&file->tags, NULL, c->text)),
		      NULL, "%s is for another Python (%s)", name, file->tags.at[0]);
	add_allows_if(q, these, machine, SET_WHERE(w, machine, c, fits(&file->tags, c->text, NULL)),
		      NULL, "%s is for another machine (%s)", name, file->tags.at[0]);
	needs_glibc(q, these, name, &file->tags);
}

/* Adds the facts in the recipe's local version of a wheel on an index: "1.0+cu.12.8.torch.2.11". */
static void
constrain_version(struct query *q, const solve_word *these, const struct recipe_extension *e)
{
	const struct version *v = e->version.s ? version_parse(q->w->a, e->version.s) : NULL;
	const char *local = v ? version_local(q->w->a, v) : NULL;

	const char *name = arena_printf(q->w->a, "%s %s", e->name.s, e->version.s);

	if (!local)
		return;
	constrain_local(q, these, local, name, "version");
	add_conflict(q,
		     TERMS(IN(q->variable,
			      SET_WHERE(q->w, q->variable, c,
					!strcmp(c->text, "sdist") || !strcmp(c->text, "git")))),
		     NULL, "the local version of %s names a build that no source has", name);
}

/* Adds the same facts for a package; torch's companions have a separate row. */
static void
constrain_package(struct query *q, const struct solver_variable *t)
{
	for (size_t i = 0; i < t->n && !is_companion(t->key); i++) {
		const char *local = t->c[i].v && strchr(t->c[i].text, '+') ?
					    version_local(q->w->a, t->c[i].v) :
					    NULL;

		if (local)
			constrain_local(q, set_one(q->w, q->variable, i), local,
					arena_printf(q->w->a, "%s %s", t->label, t->c[i].text),
					"version");
	}
}

static bool
is_wheel(const struct recipe_extension *e)
{
	return e && e->url.s && recipe_names_wheel(e->url.s);
}

/* Adds the constraints of a wheel in the `url` of an extension, or in `packages`. */
void
constraint_wheel_file(struct query *q, struct workspace *w)
{
	const struct domain *s = w->variables.at[q->variable];

	if (s->t.kind != VARIABLE_SOURCE && s->wheel)
		constrain_file(q, set_all(w, q->variable), s->wheel);
	else if (s->t.kind == VARIABLE_PACKAGE)
		constrain_package(q, &s->t);
	else if (s->t.kind == VARIABLE_SOURCE && is_wheel(s->asked))
		constrain_file(q, set_text(w, q->variable, "url"), s->asked->url.s);
	else if (s->t.kind == VARIABLE_SOURCE && s->asked && is_index_wheel(w, s->asked))
		constrain_version(q, set_text(w, q->variable, "url"), s->asked);
}

/* --- `from: release`: the wheels that a project publishes with a release --- */

/* The first terms of every constraint: the release and its source. */
struct list {
	struct query *q;
	struct release x;
	struct wheel_list wheels;
	struct solve_term this, from;
};

/* Returns whether a row is for the CUDA of a build: projects build one wheel for each major
 * version. */
static bool
row_is_for(const struct wheel_row *row, const char *series, const struct torch_variant *v)
{
	unsigned major = cuda_major_of_tag(v->tag);
	bool cuda = false;

	for (size_t i = 0; i < row->cuda.n; i++)
		cuda |= major && cuda_major_of_tag(row->cuda.at[i]) == major;
	return cuda && !row->nightly && names_have(&row->torch, series) &&
	       (v->cxx11abi == TRI_UNKNOWN ||
		(v->cxx11abi == TRI_YES ? row->abi_new : row->abi_old));
}

/* Limits torch to the releases, builds and Pythons that have a wheel. */
static void
for_torch(struct list *l, unsigned torch, size_t candidate, const struct torch_release *r)
{
	struct workspace *w = l->q->w;
	const char *series = version_series(w->a, r->version);
	struct solve_term one = IN(torch, set_one(w, torch, candidate));
	struct names builds = { 0 };

	for (const struct torch_variant *v = r->variants; v < r->variants + r->nvariants; v++) {
		struct names pythons = { 0 };

		for (size_t i = 0; i < l->wheels.n; i++) {
			const struct wheel_row *row = &l->wheels.rows[i];

			for (size_t k = 0; row_is_for(row, series, v) && k < row->pythons.n; k++)
				names_once(w->a, &pythons, row->pythons.at[k]);
		}
		if (!pythons.n)
			continue;
		list_push(w->a, &builds, v->tag);
		add_conflict(l->q,
			     TERMS(l->this, l->from, one, IS(w, VARIABLE_BUILD, set_text, v->tag),
				   IS_NOT(w, VARIABLE_PYTHON, set_named, &pythons, false)),
			     l->wheels.source,
			     "the project's wheels of %s for torch %s and %s are for Python %s",
			     l->x.name, series, v->tag, names_words(w->a, &pythons, "and"));
	}
	if (builds.n)
		add_conflict(l->q,
			     TERMS(l->this, l->from, one,
				   IS_NOT(w, VARIABLE_BUILD, set_named, &builds, true)),
			     l->wheels.source,
			     "the project built wheels of %s for torch %s only with %s", l->x.name,
			     series, names_words(w->a, &builds, "and"));
	else
		add_conflict(l->q, TERMS(l->this, l->from, one), l->wheels.source,
			     "the project's wheels of %s for torch %s have another C++ ABI or CUDA "
			     "than every build of torch %s",
			     l->x.name, series, series);
}

static void
for_all_torches(struct list *l)
{
	struct workspace *w = l->q->w;
	unsigned torch = the_variable(w, VARIABLE_TORCH);
	const struct solver_variable *at = variable_at(w, torch);
	struct names series = { 0 };
	solve_word *none = set_none(w, torch);

	for (size_t i = 0; i < l->wheels.n; i++)
		for (size_t k = 0; !l->wheels.rows[i].nightly && k < l->wheels.rows[i].torch.n; k++)
			names_once(w->a, &series, l->wheels.rows[i].torch.at[k]);
	for (size_t i = 0; i < at->n; i++) {
		if (!names_have(&series, version_series(w->a, at->c[i].text)))
			solve_set_add(none, i);
		else if (at->c[i].entry)
			for_torch(l, torch, i, at->c[i].entry);
	}
	add_conflict(l->q, TERMS(l->this, l->from, IN(torch, none)), l->wheels.source,
		     "the project built wheels of %s only for torch %s", l->x.name,
		     names_words(w->a, &series, "and"));
}

static void
for_glibc(struct list *l)
{
	struct workspace *w = l->q->w;

	if (l->wheels.glibc_min)
		add_conflict(l->q,
			     TERMS(l->this, l->from,
				   IS(w, VARIABLE_GLIBC, set_below, l->wheels.glibc_min)),
			     l->x.r->source, "the project's wheels of %s need glibc %s or newer",
			     l->x.name, l->wheels.glibc_min);
}

/* With `from` NULL, it is in `packages` and has no separate source. */
static struct list
list_of(struct query *q, const char *from)
{
	struct list l = { .q = q, .x = release_of(q), .this = THIS(q) };

	l.from = from ? comes_from(q, from) : l.this;
	if (l.x.r)
		l.wheels = facts_extension_wheels(q->w->f, q->w->a, l.x.r);
	return l;
}

void
constraint_release_wheel(struct query *q, struct workspace *w)
{
	const struct recipe_extension *e = w->variables.at[q->variable]->asked;
	struct list l;

	if (!e || e->from != EXT_RELEASE)
		return;
	l = list_of(q, "release");
	if (l.wheels.never)
		add_conflict(
			q, TERMS(l.this, l.from), l.x.r->source,
			"the wheels of %s are not at the URL that follows from their names: %s",
			l.x.name, l.wheels.never);
	else if (!l.wheels.n)
		add_conflict(q, TERMS(l.this, l.from), l.x.r ? l.x.r->source : NULL,
			     "the knowledge base has no wheels of %s", l.x.name);
	else
		for_all_torches(&l);
	if (l.wheels.x86_64_only)
		add_conflict(
			q, TERMS(l.this, l.from, IS_NOT(w, VARIABLE_MACHINE, set_text, "x86_64")),
			l.x.r->source, "the project built wheels of %s only for x86_64", l.x.name);
	for_glibc(&l);
}

/* Excludes wheels whose names have the old ABI if no wheel for that torch has it. */
static void
for_abi(struct list *l, const char *url)
{
	struct workspace *w = l->q->w;
	const struct wheel_file *file = wheel_file_parse(w->a, url_file_name(w->a, url));
	const char *local = file ? version_local(w->a, file->version) : NULL;
	const char *number = local ? behind(w->a, local, "torch") : NULL;
	const char *series = number ? series_of(w->a, number, true) : NULL;
	bool any = false;

	if (!series || !strstr(local, "cxx11abifalse"))
		return;
	for (size_t i = 0; i < l->wheels.n; i++) {
		if (!names_have(&l->wheels.rows[i].torch, series))
			continue;
		if (l->wheels.rows[i].abi_old)
			return;
		any = true;
	}
	if (any)
		add_conflict(l->q, TERMS(l->this, l->from), l->wheels.source,
			     "the project's wheels of %s for torch %s need the new C++ ABI, even "
			     "those with cxx11abiFALSE in their names",
			     l->x.name, series);
}

/* Excludes the torch release against whose nightly a wheel was built. */
static void
for_nightly(struct list *l, const struct wheel_row *row)
{
	struct workspace *w = l->q->w;

	list_each (torch, &row->torch)
		add_conflict(
			l->q,
			TERMS(l->this, l->from,
			      IS(w, VARIABLE_TORCH, set_in, arena_printf(w->a, "==%s.*", *torch))),
			l->wheels.source,
			"the project's wheel of %s for torch %s was built with a nightly of "
			"that torch, before its release%s%s%s",
			l->x.name, *torch, row->lost ? ", and needs " : "",
			row->lost ? row->lost : "", row->lost ? ", which the release lacks" : "");
}

/* Returns false for a wheel among the GitHub releases of another project: others build wheels, too. */
static bool
is_of_project(struct workspace *w, const struct release *x, const char *url)
{
	const char *end = strstr(url, "/releases/download/");

	return !end || extension_has(x->e, x->r, arena_copy(w->a, url, (size_t)(end - url)));
}

/*
 * Adds facts about a project's wheel that its name does not show: the system that it needs, and, as
 * a warning, that it is older than its torch.
 */
void
constraint_wheel_of_project(struct query *q, struct workspace *w)
{
	const struct domain *s = w->variables.at[q->variable];
	const char *url = s->wheel ? s->wheel : is_wheel(s->asked) ? s->asked->url.s : NULL;
	bool warns = q->kind->strength == STRENGTH_WARNING;
	struct list l;

	if (!url)
		return;
	l = list_of(q, s->wheel ? NULL : "url");
	if (!l.x.r || !is_of_project(w, &l.x, url))
		return;
	if (!warns) {
		for_glibc(&l);
		for_abi(&l, url);
	}
	for (const struct wheel_row *row = l.wheels.rows; row && row < l.wheels.rows + l.wheels.n;
	     row++)
		if (row->nightly && warns == !row->lost)
			for_nightly(&l, row);
}

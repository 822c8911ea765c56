/* choose: select the newest stack for some packages, and list alternatives. */
#include "verbs.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "recipe/recipe.h"
#include "resolve/resolve.h"

/*
 *   $ stackbuild choose torch causal-conv1d mamba-ssm --gpu h100
 *   torch           2.13.0           2.14.0 cannot be: mamba-ssm 2.3.2.post1 compiles with ...
 *   causal-conv1d   1.7.0            the newest
 *   mamba-ssm       2.3.2.post1      the newest
 *
 *   or     torch 2.13.0, torch build cu126, CUDA 12.6.3, ...      runs with drivers from 525.60.13
 *   recipe: stackbuild init --gpu h100 --torch 2.13.0 --extension causal-conv1d==1.7.0 ...
 * The arguments become a recipe, so that grammar, facts and solver are those of check.
 */

enum { RUNNERS_MAX = 4 };

/* An argument: "torch", "mamba-ssm==2.2.2", and its list in the recipe. */
struct wanted {
	const char *text, *key;
	const char *variable; /* the solver's name; an extension's wheels may have another one */
	enum { TORCH, WITH, EXTENSION, PACKAGE } list;
	const char *pin; /* the pin of torch, or NULL */
};

/*
 * The common part of all runs of the solver, and the override of an alternative: "torch" at
 * "2.12.1".
 */
struct choosing {
	struct run *r;
	struct wanted_list LIST(struct wanted) all;
	const struct solution *best;
	struct runners LIST(struct runner {
		const struct solution *solution;
		const char *decides;
	}) runners;
};

static const struct source *
open_text(void *ctx, struct arena *a, struct diags *ds, const char *path, struct span at)
{
	(void)a;
	(void)ds;
	(void)path;
	(void)at;
	return ctx;
}

/* An unknown name is an error: it is usually misspelt. */
static bool
is_known(struct run *r, const char *key, const struct extension *e)
{
	struct names known = facts_extension_names(r->facts);
	const char *near;

	if (e || among(key, "torch torchvision torchaudio") || facts_package(r->facts, key) ||
	    facts_package_independent(r->facts, key))
		return true;
	list_push(r->a, &known, "torch");
	near = str_nearest(key, known.at, known.n);
	usage_error(near ? "`%s` is not in the knowledge base; did you mean `%s`?" :
			   "`%s` is not in the knowledge base, so it cannot be considered; add it "
			   "to the "
			   "recipe afterwards",
		    key, near);
	return false;
}

static bool
read_wanted(struct choosing *c)
{
	struct run *r = c->r;

	for (size_t i = 0; i < r->o->args.n; i++) {
		const char *text = r->o->args.at[i], *why = NULL;
		const struct requirement *req = requirement_parse(r->a, text, &why, NULL);
		const struct extension *e = req ? facts_extension(r->facts, req->key) : NULL;
		const struct version *pin = req ? specifiers_pin(req->spec) : NULL;
		struct wanted w = { .text = text, .list = PACKAGE };

		if (!req) {
			usage_error("`%s` is not a requirement: %s", text, why);
			return false;
		}
		if (!is_known(r, req->key, e))
			return false;
		w.key = req->key;
		w.variable = e ? e->name : req->key;
		if (!strcmp(w.key, "torch")) {
			w.list = TORCH;
			w.pin = pin ? version_text(r->a, pin) : NULL;
		} else if (!strcmp(w.key, "torchvision") || !strcmp(w.key, "torchaudio")) {
			w.list = WITH;
		} else if (e && e->pypi != PYPI_WHEEL) {
			w.list = EXTENSION;
		}
		list_push(r->a, &c->all, w);
	}
	return true;
}

/* Prints a line of YAML; nothing without a value. */
static void
line(struct buf *b, const char *before, const char *value)
{
	if (!value)
		return;
	buf_puts(b, before);
	json_quote(b, value);
	buf_putc(b, '\n');
}

/* Writes the arguments of a list and more texts; writes no title for an empty list. */
static void
list(struct buf *b, const char *title, const char *before, const struct choosing *c, int of,
     const struct names *more, const struct wanted *override)
{
	size_t n = 0;

	for (size_t i = 0; i < c->all.n + more->n; i++) {
		const struct wanted *x = i < c->all.n ? &c->all.at[i] : NULL;

		if (x && (int)x->list != of)
			continue;
		buf_puts(b, n++ ? "" : title);
		line(b, before,
		     !x ? more->at[i - c->all.n] :
		     of == EXTENSION && override && !strcmp(override->variable, x->variable) ?
			  arena_printf(b->a, "%s==%s", x->key, override->text) :
			  x->text);
	}
}

/* Returns the solution for the requirements; NULL after a diagnostic. */
static const struct solution *
solve_wanted(const struct choosing *c, struct diags *ds, const char *variable, const char *value)
{
	static const struct names none;
	const struct options *o = c->r->o;
	const struct wanted override = { .variable = variable, .text = value };
	const char *version = !strcmp(variable, "torch") ? value : NULL;
	struct recipe_options ro = { .path = "choose" };
	struct source *src = arena_new_of(c->r->a, struct source);
	struct buf b = BUF(c->r->a);
	const struct recipes *rs;

	for (size_t i = 0; i < c->all.n && !version; i++)
		version = c->all.at[i].pin;
	buf_puts(&b, "stack: chosen\n");
	line(&b, "cuda: ", o->cuda);
	line(&b, "python: ", o->python);
	line(&b, "driver: ", o->driver);
	list(&b, "gpus:\n", "  - ", c, -1, &o->gpus, NULL);
	buf_puts(&b, "torch:\n");
	line(&b, "  version: ", version ? version : "*");
	line(&b, "  index: ", !strcmp(variable, "torch build") ? value : NULL);
	list(&b, "  with:\n", "    - ", c, WITH, &none, NULL);
	list(&b, "extensions:\n", "  - ", c, EXTENSION, &none, &override);
	list(&b, "packages:\n", "  - ", c, PACKAGE, &o->with, NULL);
	*src = (struct source){ ro.path, buf_text(&b), b.n };
	rs = recipes_load_from(c->r->a, ds, c->r->facts, &ro, open_text, src);
	return rs ? resolve_solve(c->r->a, c->r->facts, rs->at[0], 0) : NULL;
}

/* --- output --- */

struct shown LIST(const struct solver_variable *);

/* Returns true if the knowledge base has only a few releases of a package, so that its newest is unknown. */
static bool
is_sample(struct run *r, const struct solver_variable *t)
{
	const struct python_package *p =
		t->kind == VARIABLE_PACKAGE ? facts_package(r->facts, t->key) : NULL;

	return p && p->sample;
}

/* Returns the variables to print, in the order of the stack. */
static struct shown
variables_shown(struct run *r, const struct solution *solution)
{
	static const enum variable_kind order[] = { VARIABLE_TORCH,     VARIABLE_BUILD,
						    VARIABLE_CUDA,      VARIABLE_PYTHON,
						    VARIABLE_EXTENSION, VARIABLE_PACKAGE };
	struct shown shown = { 0 };

	for (size_t k = 0; k < COUNT(order); k++)
		for (size_t i = 0; i < solution->nvariables; i++)
			if (solution->variables[i]->kind == order[k] &&
			    !is_sample(r, solution->variables[i]) &&
			    solution_selected(solution, solution->variables[i]->key))
				list_push(r->a, &shown, solution->variables[i]);
	return shown;
}

/* Returns why a variable does not have a newer value: the reason against the next newer
 * candidate. */
static const char *
why_not_newer(struct run *r, const struct solution *solution, const struct solver_variable *t)
{
	struct alternatives all = solution_alternatives(solution, t->key);
	const struct constraint *why;
	size_t next = all.n;

	if (t->kind == VARIABLE_PYTHON || !all.n)
		return "";
	for (size_t i = 0; i < all.n && !all.at[i].chosen; i++)
		if (all.at[i].c->known && all.at[i].asked)
			next = i;
	if (next == all.n)
		return "the newest";
	why = solution_obstacle(solution, t->key, next);
	if (!why && all.at[next].can)
		return arena_printf(r->a, "%s is compatible, too", all.at[next].c->text);
	return arena_printf(r->a, "not %s%s%s", all.at[next].c->text, why ? ": " : "",
			    why ? why->sentence : "");
}

static const char *
one_line(struct run *r, const struct solution *solution)
{
	struct shown shown = variables_shown(r, solution);
	struct names parts = { 0 };

	for (size_t i = 0; i < shown.n; i++)
		if (shown.at[i]->kind != VARIABLE_PACKAGE)
			list_printf(r->a, &parts, "%s %s", shown.at[i]->label,
				    solution_selected(solution, shown.at[i]->key)->text);
	return names_join(r->a, &parts, ", ");
}

/* --- alternatives --- */

/* Returns false for another major version of an argument, which is no alternative. */
static bool
goes_back(const struct choosing *c, const struct solution *solution)
{
	for (size_t i = 0; i < c->all.n; i++) {
		const struct candidate *x = solution_selected(solution, c->all.at[i].variable);
		const struct candidate *y = solution_selected(c->best, c->all.at[i].variable);

		if (x && y && x->v && y->v && version_release(x->v, 0) < version_release(y->v, 0))
			return true;
	}
	return false;
}

/* Adds the stack with another value of a variable and returns it; NULL if there is no such
 * stack. */
static struct runner *
try_value(struct choosing *c, const char *variable, const char *value, const char *decides)
{
	const struct solution *solution;
	struct diags ds = DIAGS(ds, c->r->a);
	const char *text;

	solution = solve_wanted(c, &ds, variable, value);
	if (!solution || solution->errors.n || !solution->nchosen || c->runners.n >= RUNNERS_MAX ||
	    goes_back(c, solution))
		return NULL;
	text = one_line(c->r, solution);
	if (!strcmp(text, one_line(c->r, c->best)))
		return NULL;
	for (size_t i = 0; i < c->runners.n; i++)
		if (!strcmp(text, one_line(c->r, c->runners.at[i].solution)))
			return NULL;
	list_push(c->r->a, &c->runners, (struct runner){ solution, decides });
	return &c->runners.at[c->runners.n - 1];
}

/* Returns the possible values next to the selected one: the older ones, or the newer ones. */
static struct alternatives
beside(const struct choosing *c, const char *variable, bool older)
{
	struct alternatives all = solution_alternatives(c->best, variable), some = { 0 };
	bool past = false;

	for (size_t i = 0; i < all.n; i++) {
		past |= all.at[i].chosen;
		if (!all.at[i].chosen && past == older && all.at[i].can &&
		    (older || all.at[i].asked))
			list_push(c->r->a, &some, all.at[i]);
	}
	return some;
}

/* Adds a stack with the next older build, which runs with older drivers. */
static void
older_build(struct choosing *c)
{
	struct alternatives builds = beside(c, "torch build", true);
	struct runner *x = NULL;

	for (size_t i = 0; i < builds.n && !x; i++)
		x = try_value(c, "torch build", builds.at[i].c->text,
			      "another build of the same torch");
	if (x) {
		const struct candidate *cuda = solution_selected(x->solution, "cuda");
		const struct cuda_toolkit *t = cuda ? cuda->entry : NULL;

		if (t && t->driver_compat)
			x->decides =
				arena_printf(c->r->a, "for drivers from %s on", t->driver_compat);
	}
}

static void
older_torch(struct choosing *c)
{
	const struct candidate *now = solution_selected(c->best, "torch");
	struct alternatives others = beside(c, "torch", true);

	for (size_t i = 0; i < others.n && now && now->v; i++) {
		const struct candidate *x = others.at[i].c;

		if (!x->v || (version_release(x->v, 0) == version_release(now->v, 0) &&
			      version_release(x->v, 1) == version_release(now->v, 1)))
			continue;
		try_value(c, "torch", x->text, "the torch release before");
		return;
	}
}

/* Adds a stack with a newer release of an argument and older releases of the others. */
static void
newer_variables(struct choosing *c)
{
	list_each (x, &c->all) {
		struct alternatives newer = beside(c, x->variable, false);

		if (newer.n)
			try_value(c, x->variable, newer.at[0].c->text,
				  arena_printf(c->r->a, "with a newer %s", x->key));
	}
}

/* --- the two outputs --- */

static void
show_text(const struct choosing *c)
{
	struct run *r = c->r;
	struct shown shown = variables_shown(r, c->best);
	size_t wide = 0, n;

	for (size_t i = 0; i < shown.n; i++)
		wide = (n = strlen(shown.at[i]->label)) > wide ? n : wide;
	for (size_t i = 0; i < shown.n; i++) {
		const char *why = why_not_newer(r, c->best, shown.at[i]);
		const char *text = solution_selected(c->best, shown.at[i]->key)->text;

		buf_printf(&r->out, "%-*s  %s", (int)wide, shown.at[i]->label, text);
		if (*why)
			buf_printf(&r->out, "%*s %s", (int)(14 - strlen(text)), "", why);
		buf_putc(&r->out, '\n');
	}
	buf_puts(&r->out, c->runners.n ? "\n" : "");
	for (size_t i = 0; i < c->runners.n; i++)
		buf_printf(&r->out, "or  %s\n      %s\n", one_line(r, c->runners.at[i].solution),
			   c->runners.at[i].decides);
	buf_puts(&r->out, "\nrecipe: stackbuild init");
	for (size_t i = 0; i < r->o->gpus.n; i++)
		buf_printf(&r->out, strchr(r->o->gpus.at[i], ' ') ? " --gpu '%s'" : " --gpu %s",
			   r->o->gpus.at[i]);
	list_each (x, &c->all) {
		const struct candidate *now = solution_selected(c->best, x->variable);

		if (x->list == TORCH)
			buf_printf(&r->out, " --torch %s", now ? now->text : "");
		else if (now && x->list == EXTENSION)
			buf_printf(&r->out, " --extension %s==%s", x->key, now->text);
		else
			buf_printf(&r->out, " --package '%s'", x->text);
	}
	buf_putc(&r->out, '\n');
}

static void
json_stack(struct json *j, struct run *r, const struct solution *solution, bool reasons)
{
	struct shown shown = variables_shown(r, solution);

	json_list(j, "stack");
	for (size_t i = 0; i < shown.n; i++) {
		json_put(j, "('thing': %s, 'version': %s", shown.at[i]->key,
			 solution_selected(solution, shown.at[i]->key)->text);
		if (reasons)
			json_text(j, "why", why_not_newer(r, solution, shown.at[i]));
		json_end(j);
	}
	json_end(j);
}

static void
show_json(const struct choosing *c)
{
	struct json j = json_to(&c->r->out);

	json_map(&j, NULL);
	json_stack(&j, c->r, c->best, true);
	json_list(&j, "runners_up");
	for (size_t i = 0; i < c->runners.n; i++) {
		json_put(&j, "{'decides': %s", c->runners.at[i].decides);
		json_stack(&j, c->r, c->runners.at[i].solution, false);
		json_end(&j);
	}
	json_put(&j, "]}");
}

/* Reports the first error in the text that the options make, with the name of its option. */
static int
bad_option(const struct run *r)
{
	static const struct {
		const char *key, *option;
	} all[] = { { "cuda", "--cuda" },
		    { "python", "--python" },
		    { "driver", "--driver" },
		    { "gpus", "--gpu" },
		    { "packages", "--with" } };
	const struct diag *d = r->ds.head;
	const struct note *help = diag_first_help(d);
	const char *what = strstr(d->text, "`: ");

	for (size_t i = 0; i < COUNT(all); i++)
		if (what && d->text[0] == '`' && starts_with(d->text + 1, all[i].key))
			return usage_error("%s: %s%s%s", all[i].option, what + strlen("`: "),
					   help ? "; " : "", help ? help->text : "");
	return EXIT_DIAGNOSED;
}

int
verb_choose(struct run *r)
{
	struct choosing c = { .r = r };

	if (!read_wanted(&c))
		return EXIT_USAGE;
	if (!(c.best = solve_wanted(&c, &r->ds, "", NULL)))
		return bad_option(r);
	if (c.best->errors.n || !c.best->nchosen) {
		solution_report(&r->ds, c.best, r->o->verbose);
		return EXIT_DIAGNOSED;
	}
	newer_variables(&c);
	older_build(&c);
	older_torch(&c);
	(r->o->format == FORMAT_JSON ? show_json : show_text)(&c);
	return EXIT_DONE;
}

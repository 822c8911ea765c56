/* The verb that starts from nothing: the newest stack that works, and its runners-up. */
#include "verbs.h"

#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "recipe/recipe.h"
#include "resolve/resolve.h"

/*
 *   $ stackbuild choose torch causal-conv1d mamba-ssm --gpu h100
 *   torch           2.13.0           2.14.0 cannot be: mamba-ssm 2.3.2.post1 compiles with ...
 *   torch build     cu130            the newest
 *   causal-conv1d   1.7.0            the newest
 *   mamba-ssm       2.3.2.post1      the newest
 *   CUDA            13.0.3           ...
 *   Python          3.11
 *
 *   or     torch 2.13.0, torch build cu126, CUDA 12.6.3, ...      runs with drivers from 525.60.13
 *   or     torch 2.12.1, ...                                      the torch before
 *
 *   recipe: stackbuild init --gpu h100 --torch 2.13.0 --extension causal-conv1d==1.7.0 ...
 *
 * The arguments become a recipe, so that grammar, facts and solver are those of check.
 */

enum { RUNNERS_MAX = 4 };

/* One argument: "torch", "mamba-ssm==2.2.2". */
struct wanted {
	const char *text, *key;
	const char *variable; /* of the solver: extensions have another name than their wheels */
	bool extension;
};
struct wanted_list LIST(struct wanted);

/* What an alternative overrides: "torch" at "2.12.1". */
struct override {
	const char *variable, *value;
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

static bool
read_wanted(struct run *r, struct wanted_list *all)
{
	for (size_t i = 0; i < r->o->args.n; i++) {
		const char *text = r->o->args.at[i], *why = NULL;
		const struct requirement *req = requirement_parse(r->a, text, &why, NULL);
		const struct extension *e = req ? facts_extension(r->facts, req->key) : NULL;

		if (!req) {
			usage_error(arena_printf(r->a, "`%s` is no requirement: %s", text, why));
			return false;
		}
		list_push(r->a, all,
			  (struct wanted){ .text = text,
					   .key = req->key,
					   .variable = e ? e->name : req->key,
					   .extension = e && e->pypi != PYPI_WHEEL });
	}
	return true;
}

static const char *
overridden(const struct override *override, const char *variable)
{
	return override && !strcmp(override->variable, variable) ? override->value : NULL;
}

static void
item(struct buf *b, const char *text)
{
	buf_puts(b, "  - ");
	json_quote(b, text);
	buf_putc(b, '\n');
}

/* torch at its version, if any; its build; what comes with it. */
static void
write_torch(struct run *r, struct buf *b, const struct wanted_list *all,
	    const struct override *override)
{
	const char *version = overridden(override, "torch"),
		   *index = overridden(override, "torch build");
	unsigned with = 0;

	for (size_t i = 0; i < all->n && !version; i++) {
		const struct requirement *req =
			requirement_parse(r->a, all->at[i].text, NULL, NULL);
		const struct version *pin = specifiers_pin(req->spec);

		if (!strcmp(req->key, "torch") && pin)
			version = version_text(r->a, pin);
	}
	buf_puts(b, "torch:\n  version: ");
	json_quote(b, version ? version : "*");
	buf_putc(b, '\n');
	if (index) {
		buf_puts(b, "  index: ");
		json_quote(b, index);
		buf_putc(b, '\n');
	}
	for (size_t i = 0; i < all->n; i++)
		if (!strcmp(all->at[i].key, "torchvision") ||
		    !strcmp(all->at[i].key, "torchaudio")) {
			buf_puts(b, with++ ? "  " : "  with:\n  ");
			item(b, all->at[i].text);
		}
}

static bool
is_ordinary(const struct wanted *x)
{
	return !x->extension && strcmp(x->key, "torch") != 0 &&
	       strcmp(x->key, "torchvision") != 0 && strcmp(x->key, "torchaudio") != 0;
}

static void
write_scalar(struct buf *b, const char *key, const char *value)
{
	if (!value)
		return;
	buf_printf(b, "%s: ", key);
	json_quote(b, value);
	buf_putc(b, '\n');
}

static const char *
recipe_text(struct run *r, const struct wanted_list *all, const struct override *override)
{
	struct buf b = BUF(r->a);

	buf_puts(&b, "stack: chosen\n");
	write_scalar(&b, "cuda", r->o->cuda);
	write_scalar(&b, "python", r->o->python);
	write_scalar(&b, "driver", r->o->driver);
	if (r->o->gpus.n)
		buf_puts(&b, "gpus:\n");
	for (size_t i = 0; i < r->o->gpus.n; i++)
		item(&b, r->o->gpus.at[i]);
	write_torch(r, &b, all, override);
	buf_puts(&b, "extensions:\n");
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].extension) {
			const char *v = overridden(override, all->at[i].variable);

			item(&b,
			     v ? arena_printf(r->a, "%s==%s", all->at[i].key, v) : all->at[i].text);
		}
	if (buf_text(&b)[b.n - 2] == ':')
		buf_puts(&b, "  []\n");
	buf_puts(&b, "packages:\n");
	for (size_t i = 0; i < all->n; i++)
		if (is_ordinary(&all->at[i]))
			item(&b, all->at[i].text);
	for (size_t i = 0; i < r->o->with.n; i++)
		item(&b, r->o->with.at[i]);
	if (buf_text(&b)[b.n - 2] == ':')
		buf_puts(&b, "  []\n");
	return buf_text(&b);
}

/* The requirements as a solved stack; NULL: they are no recipe, and a diagnostic says why. */
static const struct solution *
solve_wanted(struct run *r, struct diags *ds, const struct wanted_list *all,
	     const struct override *override)
{
	struct source *src = arena_new_of(r->a, struct source);
	struct recipe_options ro = { .path = "choose" };
	const struct recipes *rs;

	src->path = "choose";
	src->text = recipe_text(r, all, override);
	src->size = strlen(src->text);
	rs = recipes_load_from(r->a, ds, r->facts, &ro, open_text, src);
	return rs ? resolve_solve(r->a, r->facts, rs->at[0]) : NULL;
}

/* --- what is shown --- */

/* The variables worth a line, in the order of the stack. */
static struct names
variables_shown(struct run *r, const struct solution *solution)
{
	static const enum variable_kind order[] = { VARIABLE_TORCH,     VARIABLE_BUILD,
						    VARIABLE_CUDA,      VARIABLE_PYTHON,
						    VARIABLE_EXTENSION, VARIABLE_PACKAGE };
	struct names shown = { 0 };

	for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++)
		for (size_t i = 0; i < solution->nvariables; i++)
			if (solution->variables[i].kind == order[k] &&
			    solution_selected(solution, solution->variables[i].key))
				list_push(r->a, &shown, solution->variables[i].key);
	return shown;
}

/* Why a variable is not newer: what stands against the nearest newer one that cannot be. */
static const char *
why_not_newer(struct run *r, const struct solution *solution, const char *key)
{
	struct alternatives all = solution_alternatives(solution, key);
	const struct solver_variable *t = solution_variable(solution, key);
	const struct constraint *why;
	size_t next = all.n;

	if (t->kind == VARIABLE_PYTHON || !all.n)
		return "";
	for (size_t i = 0; i < all.n && !all.at[i].chosen; i++)
		if (all.at[i].c->known && all.at[i].asked)
			next = i;
	if (next == all.n)
		return "the newest";
	why = solution_obstacle(solution, key, next);
	return arena_printf(r->a, "not %s%s%s", all.at[next].c->text, why ? ": " : "",
			    why ? why->sentence : "");
}

static const char *
one_line(struct run *r, const struct solution *solution)
{
	struct names shown = variables_shown(r, solution);
	struct buf b = BUF(r->a);

	for (size_t i = 0; i < shown.n; i++) {
		const struct solver_variable *t = solution_variable(solution, shown.at[i]);

		if (t->kind == VARIABLE_PACKAGE)
			continue;
		buf_printf(&b, "%s%s %s", b.n ? ", " : "", t->label,
			   solution_selected(solution, shown.at[i])->text);
	}
	return buf_text(&b);
}

/* --- runners-up --- */

struct runner {
	const struct solution *solution;
	const char *decides;
};
struct runners LIST(struct runner);

/* An older major version of an argument is a different program: no alternative. */
static bool
goes_back(const struct wanted_list *all, const struct solution *solution,
	  const struct solution *best)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct candidate *x = solution_selected(solution, all->at[i].variable);
		const struct candidate *y = solution_selected(best, all->at[i].variable);

		if (x && y && x->v && y->v && version_release(x->v, 0) < version_release(y->v, 0))
			return true;
	}
	return false;
}

static void
try_override(struct run *r, const struct wanted_list *all, const struct override *override,
	     const char *decides, struct runners *out, const struct solution *best)
{
	struct diags ds;
	const struct solution *solution;
	const char *line;

	diags_init(&ds, r->a);
	solution = solve_wanted(r, &ds, all, override);
	if (!solution || solution->errors.n || !solution->nchosen || out->n >= RUNNERS_MAX ||
	    goes_back(all, solution, best))
		return;
	line = one_line(r, solution);
	if (!strcmp(line, one_line(r, best)))
		return;
	for (size_t i = 0; i < out->n; i++)
		if (!strcmp(line, one_line(r, out->at[i].solution)))
			return;
	list_push(r->a, out, (struct runner){ solution, decides });
}

/* The oldest driver that the toolkit's major runs with. */
static const char *
driver_of(const struct solution *solution)
{
	const struct candidate *c = solution_selected(solution, "cuda");
	const struct cuda_toolkit *t = c ? c->entry : NULL;

	return t ? t->driver_compat : NULL;
}

static void
older_builds(struct run *r, const struct wanted_list *all, const struct solution *best,
	     struct runners *out)
{
	struct alternatives builds = solution_alternatives(best, "torch build");
	bool past = false;

	for (size_t i = 0; i < builds.n; i++) {
		const struct override override = { "torch build", builds.at[i].c->text };
		size_t before = out->n;
		const char *driver;

		past |= builds.at[i].chosen;
		if (!past || builds.at[i].chosen || !builds.at[i].can)
			continue;
		try_override(r, all, &override, NULL, out, best);
		if (out->n == before)
			continue;
		driver = driver_of(out->at[before].solution);
		out->at[before].decides =
			driver ? arena_printf(r->a, "for drivers from %s on", driver) :
				 "another build of the same torch";
		return;
	}
}

static void
older_torch(struct run *r, const struct wanted_list *all, const struct solution *best,
	    struct runners *out)
{
	const struct candidate *now = solution_selected(best, "torch");
	struct alternatives others = solution_alternatives(best, "torch");
	bool past = false;

	for (size_t i = 0; i < others.n && now && now->v; i++) {
		const struct candidate *c = others.at[i].c;
		const struct override override = { "torch", c->text };

		past |= others.at[i].chosen;
		if (!past || !others.at[i].can || !c->v ||
		    (version_release(c->v, 0) == version_release(now->v, 0) &&
		     version_release(c->v, 1) == version_release(now->v, 1)))
			continue;
		try_override(r, all, &override, "the torch before", out, best);
		return;
	}
}

/* A newer release of an argument, for which the rest must be older. */
static void
newer_variables(struct run *r, const struct wanted_list *all, const struct solution *best,
		struct runners *out)
{
	for (size_t i = 0; i < all->n; i++) {
		struct alternatives others = solution_alternatives(best, all->at[i].variable);

		for (size_t k = 0; k < others.n && !others.at[k].chosen; k++) {
			const struct override override = { all->at[i].variable,
							   others.at[k].c->text };

			if (!others.at[k].can || !others.at[k].asked)
				continue;
			try_override(
				r, all, &override,
				arena_printf(r->a, "%s is newer, the rest older", all->at[i].key),
				out, best);
			break;
		}
	}
}

/* --- the two outputs --- */

static void
next_step(struct run *r, const struct wanted_list *all, const struct solution *solution)
{
	buf_puts(&r->out, "\nrecipe: stackbuild init");
	for (size_t i = 0; i < r->o->gpus.n; i++)
		buf_printf(&r->out, " --gpu %s", r->o->gpus.at[i]);
	for (size_t i = 0; i < all->n; i++) {
		const struct candidate *c = solution_selected(solution, all->at[i].variable);

		if (!strcmp(all->at[i].key, "torch"))
			buf_printf(&r->out, " --torch %s", c ? c->text : "");
		else if (c && all->at[i].extension)
			buf_printf(&r->out, " --extension %s==%s", all->at[i].key, c->text);
		else
			buf_printf(&r->out, " --package '%s'", all->at[i].text);
	}
	buf_putc(&r->out, '\n');
}

static void
show_text(struct run *r, const struct wanted_list *all, const struct solution *solution,
	  const struct runners *others)
{
	struct names shown = variables_shown(r, solution);
	size_t width = 0;

	for (size_t i = 0; i < others->n; i++) {
		size_t n = strlen(one_line(r, others->at[i].solution));

		width = n > width ? n : width;
	}
	for (size_t i = 0; i < shown.n; i++) {
		const char *why = why_not_newer(r, solution, shown.at[i]);

		buf_printf(&r->out, "%-15s %s", solution_variable(solution, shown.at[i])->label,
			   solution_selected(solution, shown.at[i])->text);
		if (*why)
			buf_printf(
				&r->out, "%*s %s",
				(int)(14 - strlen(solution_selected(solution, shown.at[i])->text)),
				"", why);
		buf_putc(&r->out, '\n');
	}
	if (others->n)
		buf_putc(&r->out, '\n');
	for (size_t i = 0; i < others->n; i++)
		buf_printf(&r->out, "or  %s\n      %s\n", one_line(r, others->at[i].solution),
			   others->at[i].decides);
	next_step(r, all, solution);
}

static void
json_stack(struct json *j, struct run *r, const struct solution *solution, bool reasons)
{
	struct names shown = variables_shown(r, solution);

	json_list(j, "stack");
	for (size_t i = 0; i < shown.n; i++) {
		json_row(j, NULL);
		json_text(j, "thing", shown.at[i]);
		json_text(j, "version", solution_selected(solution, shown.at[i])->text);
		if (reasons)
			json_text(j, "why", why_not_newer(r, solution, shown.at[i]));
		json_end(j);
	}
	json_end(j);
}

static void
show_json(struct run *r, const struct solution *solution, const struct runners *others)
{
	struct json j = json_to(&r->out);

	json_map(&j, NULL);
	json_stack(&j, r, solution, true);
	json_list(&j, "runners_up");
	for (size_t i = 0; i < others->n; i++) {
		json_map(&j, NULL);
		json_text(&j, "decides", others->at[i].decides);
		json_stack(&j, r, others->at[i].solution, false);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}

int
verb_choose(struct run *r)
{
	struct wanted_list all = { 0 };
	struct runners others = { 0 };
	const struct solution *solution;

	if (r->o->format != FORMAT_TEXT && r->o->format != FORMAT_JSON)
		return usage_error("choose has two formats: text and json");
	if (!read_wanted(r, &all))
		return EXIT_USAGE;
	if (!(solution = solve_wanted(r, &r->ds, &all, NULL)))
		return EXIT_DIAGNOSED;
	if (solution->errors.n || !solution->nchosen) {
		solution_report(&r->ds, solution, r->o->verbose);
		return EXIT_DIAGNOSED;
	}
	newer_variables(r, &all, solution, &others);
	older_builds(r, &all, solution, &others);
	older_torch(r, &all, solution, &others);
	if (r->o->format == FORMAT_JSON)
		show_json(r, solution, &others);
	else
		show_text(r, &all, solution, &others);
	return EXIT_DONE;
}

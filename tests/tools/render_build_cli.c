/*
 * render_build_cli: prints the Dockerfile that `build` passes to an engine, and the steps of its
 * instructions.
 *
 *   in      RECIPE [--cell NAME] [--templates DIR] [--force] [--map | --helper PATH]
 *           [STEP=FILE...]: available wheels, by step
 *   out     stdout: the Dockerfile; with --helper that file next to it; with --map a line
 *           for each instruction: LINE STAGE STAGE_NO LAYER_NO NO STEP-or-"-" WORD
 *   errors  exit 1 and diagnostics on stderr
 */
#include <stdio.h>
#include <string.h>

#include "render/render.h"

struct wants {
	const struct facts *facts;
	bool force;
};

static const struct plan *
plan_cell(void *ctx, struct arena *a, struct diags *ds, const struct recipe *cell)
{
	const struct wants *w = ctx;
	struct resolve_options o = { .force = w->force };
	const struct stack *s = resolve(a, ds, w->facts, cell, &o);

	return s ? plan_make(a, ds, s, NULL) : NULL;
}

static void
print_map(const struct rendered *r)
{
	const char *p = r->text;
	unsigned line = 1;

	for (size_t i = 0; i < r->instructions.n; i++) {
		const struct instruction *x = &r->instructions.at[i];

		for (; line < x->line; line++)
			p = strchr(p, '\n') + 1;
		printf("%u %s %u %u %u %s %.*s\n", x->line, x->stage, x->stage_no, x->layer_no,
		       x->no, x->step ? x->step : "-", (int)strcspn(p, " \t\n"), p);
	}
}

static bool
run(struct arena *a, struct diags *ds, int argc, char **argv)
{
	static const char *const targets[] = { "dockerfile" };
	struct wants wants = { .facts = facts_load(a, ds, NULL) };
	struct recipe_options o = { 0 };
	struct render_build build = { 0 };
	struct render_input in = { .facts = wants.facts,
				   .plan = plan_cell,
				   .ctx = &wants,
				   .targets = targets,
				   .ntargets = 1,
				   .build = &build };
	struct rendereds files = { 0 };
	const char *templates = NULL, *helper = NULL;
	bool map = false;

	for (int i = 1; i < argc; i++) {
		char *eq = strchr(argv[i], '=');

		if (!strcmp(argv[i], "--map")) {
			map = true;
		} else if (!strcmp(argv[i], "--helper") && i + 1 < argc) {
			helper = argv[++i];
		} else if (!strcmp(argv[i], "--force")) {
			wants.force = true;
		} else if (!strcmp(argv[i], "--cell") && i + 1 < argc) {
			o.cell = argv[++i];
		} else if (!strcmp(argv[i], "--templates") && i + 1 < argc) {
			templates = argv[++i];
		} else if (eq) {
			*eq = '\0';
			list_push(a, &build.wheels, (struct render_wheel){ argv[i], eq + 1 });
		} else {
			o.path = argv[i];
		}
	}
	in.templates = templates_open(a, ds, templates);
	in.recipes = wants.facts && o.path ? recipes_load(a, ds, wants.facts, &o) : NULL;
	if (!in.recipes || !in.templates || !render(a, ds, &in, &files))
		return false;
	for (size_t i = 0; i < files.n; i++) {
		const struct rendered *r = &files.at[i];

		if (helper ? strcmp(helper, r->path) != 0 : r->helper)
			continue;
		if (map)
			print_map(r);
		else
			fwrite(r->text, 1, r->size, stdout);
	}
	return true;
}

int
main(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct diags ds;
	bool good;

	ds = DIAGS(ds, a);
	good = run(a, &ds, argc, argv);
	diags_print(&ds, stderr, false);
	arena_free(a);
	return good ? 0 : 1;
}

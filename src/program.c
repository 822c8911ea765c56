#include "program.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/report.h"
#include "base/str.h"
#include "pipeline.h"
#include "render/render.h"

enum { EXIT_DONE = 0, EXIT_DIAGNOSED = 1, EXIT_USAGE = 2 };

/* One run of one verb: what every verb needs at hand. */
struct run {
	struct arena *a;
	struct diags ds;
	const struct options *o;
	const struct world *world;
	const struct facts *facts;
	struct buf out; /* standard output, written once at the end */
};

static int
usage_error(const char *why)
{
	fprintf(stderr, "stackbuild: %s\n", why);
	return EXIT_USAGE;
}

static const char *
knowledge_folder(const struct options *o)
{
	const char *env = getenv("STACKBUILD_KNOWLEDGE");

	return o->knowledge ? o->knowledge : env && *env ? env : NULL;
}

static struct recipe_options
recipe_options_of(const struct options *o, const char *path)
{
	return (struct recipe_options){
		.path = path,
		.sets = o->sets.at,
		.nsets = o->sets.n,
		.variant = o->variant,
		.cell = o->cell,
		.extends_anywhere = o->extends_anywhere,
	};
}

static bool
plans_of(struct run *r, const char *path, struct pipeline *p)
{
	struct recipe_options ro = recipe_options_of(r->o, path);

	return pipeline_run(r->a, &r->ds, r->facts, &ro, NULL, NULL, p);
}

/* --- check --- */

/* "torch 2.2.2 (cu121), python 3.11, causal-conv1d 1.4.0 for sm_80, sm_89" */
static void
summary(struct buf *out, const struct stack *s)
{
	const char *sep = "";

	if (s->torch.value) {
		buf_printf(out, "torch %s", s->torch.value);
		if (s->torch_tag)
			buf_printf(out, " (%s)", s->torch_tag);
		sep = ", ";
	}
	if (s->python.value) {
		buf_printf(out, "%spython %s", sep, s->python.value);
		sep = ", ";
	}
	for (size_t i = 0; i < s->extensions.n; i++) {
		const struct stack_extension *e = &s->extensions.at[i];

		buf_printf(out, "%s%s%s%s", sep, e->name, e->version ? " " : "",
			   e->version ? e->version : "");
		sep = ", ";
	}
	for (size_t i = 0; i < s->archs.n && s->extensions.n; i++) {
		buf_puts(out, i ? ", sm_" : " for sm_");
		for (const char *c = s->archs.at[i].value; *c; c++)
			if (*c != '.')
				buf_putc(out, *c);
	}
}

/*
 *   recipes/torch222-cu121.yaml: fine. torch 2.2.2 (cu121), python 3.11, ...
 *   recipes/matrix.yaml: fine. 6 cells
 */
static int
verb_check(struct run *r)
{
	for (size_t i = 0; i < r->o->args.n; i++) {
		const char *path = r->o->args.at[i];
		struct pipeline p;

		if (!plans_of(r, path, &p))
			continue;
		buf_printf(&r->out, "%s: fine. ", path);
		if (p.n == 1)
			summary(&r->out, p.stacks[0]);
		else
			buf_printf(&r->out, "%zu cells", p.n);
		buf_putc(&r->out, '\n');
	}
	return EXIT_DONE;
}

/* --- plan --- */

static bool
other_plan(struct run *r, struct pipeline *p)
{
	struct recipe_options ro = recipe_options_of(r->o, r->o->args.at[0]);
	recipe_open *open = NULL;
	void *ctx = NULL;
	bool good;

	if (fs_exists(r->o->diff))
		ro.path = r->o->diff;
	else if (!r->world->at_revision(r->a, &r->ds, ro.path, r->o->diff, &open, &ctx))
		return false;
	good = pipeline_run(r->a, &r->ds, r->facts, &ro, open, ctx, p);
	if (ctx)
		r->world->close(ctx);
	return good;
}

static int
plan_difference(struct run *r, const struct pipeline *after)
{
	struct pipeline before;

	if (after->n != 1)
		return usage_error("--diff compares one stack: name a cell with --cell");
	if (!other_plan(r, &before))
		return EXIT_DIAGNOSED;
	if (before.n != 1)
		return usage_error("the other recipe has a matrix: name a cell with --cell");
	plan_diff(before.plans[0], after->plans[0], r->o->diff, &r->out,
		  r->o->format == FORMAT_JSON);
	return EXIT_DONE;
}

static int
verb_plan(struct run *r)
{
	struct names cells = { 0 };
	struct pipeline p;

	if (r->o->format == FORMAT_MARKDOWN)
		return usage_error(
			"plan has no format markdown; it has text, json, dot and mermaid");
	if (!plans_of(r, r->o->args.at[0], &p))
		return EXIT_DIAGNOSED;
	if (r->o->diff)
		return plan_difference(r, &p);
	for (size_t i = 0; i < p.n && p.recipes->matrix; i++)
		list_push(r->a, &cells, p.recipes->at[i]->cell);
	switch (r->o->format) {
	case FORMAT_JSON: plan_json(p.plans[0], cells, &r->out); break;
	case FORMAT_DOT: plan_dot(p.plans[0], &r->out); break;
	case FORMAT_MERMAID: plan_mermaid(p.plans[0], &r->out); break;
	default:
		if (r->o->explain && !plan_step(p.plans[0], r->o->explain))
			return usage_error(
				arena_printf(r->a, "the plan has no step `%s`", r->o->explain));
		plan_text(p.plans[0], r->o->explain, &r->out);
		if (p.n > 1)
			buf_printf(
				&r->out,
				"\nthis is cell %s, the first of %zu; --cell NAME shows another\n",
				p.recipes->at[0]->cell, p.n);
	}
	return EXIT_DONE;
}

/* --- render --- */

static const char *
unknown_target(struct run *r)
{
	const char *names[32];
	size_t n, i, k;
	const struct target_row *rows = render_targets(&n);

	for (k = 0; k < n && k < 32; k++)
		names[k] = rows[k].name;
	for (i = 0; i < r->o->targets.n; i++) {
		const char *t = r->o->targets.at[i], *near;
		struct buf b = BUF(r->a);
		bool known = false;

		for (size_t j = 0; j < k; j++)
			known |= !strcmp(names[j], t);
		if (known)
			continue;
		near = str_nearest(t, names, k);
		buf_printf(&b, "there is no target `%s`%s%s%s; targets:", t,
			   near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
		for (size_t j = 0; j < k; j++)
			buf_printf(&b, " %s", names[j]);
		return buf_text(&b);
	}
	return NULL;
}

enum { FILES_SHOWN = 24 };

/* The command that comes next, with the file's real path in place of {path}. */
static const char *
next_command(struct arena *a, const struct rendered *file, const char *path)
{
	const char *at = file->next ? strstr(file->next, "{path}") : NULL;

	if (!at)
		return file->next;
	return arena_printf(a, "%.*s%s%s", (int)(at - file->next), file->next, path,
			    next_command(a, &(struct rendered){ .next = at + 6 }, path));
}

/*
 *   out/torch222-cu121/Dockerfile     10 steps, 4 stages   docker build -t ...
 *   out/torch222-cu121/modal_app.py   10 layers            unchanged
 */
static bool
write_files(struct run *r, const char *dir, const struct rendereds *files)
{
	size_t width = 0, summary_width = 0;

	for (size_t i = 0; i < files->n && i < FILES_SHOWN; i++) {
		size_t n = strlen(dir) + 1 + strlen(files->at[i].path);
		size_t m = files->at[i].summary ? strlen(files->at[i].summary) : 0;

		width = n > width ? n : width;
		summary_width = m > summary_width ? m : summary_width;
	}
	for (size_t i = 0; i < files->n; i++) {
		const struct rendered *f = &files->at[i];
		const char *path = fs_join(r->a, dir, f->path);
		bool changed;

		if (!fs_write(&r->ds, path, f->text, f->size, f->mode, false, &changed))
			return false;
		if (i >= FILES_SHOWN || !f->summary)
			continue;
		buf_printf(&r->out, "%-*s   %-*s   %s\n", (int)width, path, (int)summary_width,
			   f->summary,
			   changed && f->next ? next_command(r->a, f, path) :
			   changed            ? "" :
						"unchanged");
	}
	if (files->n > FILES_SHOWN)
		buf_printf(&r->out, "... and %zu more files in %s\n", files->n - FILES_SHOWN, dir);
	return true;
}

static int
verb_render(struct run *r)
{
	const char *dir = r->o->out, *why = unknown_target(r);
	struct render_input in = { .targets = r->o->targets.n ? r->o->targets.at : NULL,
				   .ntargets = r->o->targets.n };
	struct rendereds files = { 0 };
	struct rendered manifest;
	struct pipeline p;

	if (why)
		return usage_error(why);
	in.templates = templates_open(r->a, &r->ds, r->o->templates);
	if (!plans_of(r, r->o->args.at[0], &p) || !in.templates)
		return EXIT_DIAGNOSED;
	in.plans = p.plans;
	in.n = p.n;
	in.matrix = p.recipes->matrix;
	if (!render(r->a, &r->ds, &in, &files))
		return EXIT_DIAGNOSED;
	if (dir && !strcmp(dir, "-")) {
		if (files.n != 1)
			return usage_error(
				"-o - prints one file: name one target with -t, and one cell "
				"with --cell if there is a matrix");
		buf_add(&r->out, files.at[0].text, files.at[0].size);
		return EXIT_DONE;
	}
	if (!dir)
		dir = fs_join(r->a, "out", p.recipes->at[0]->stack.s);
	manifest = render_manifest(r->a, &in, &files, STACKBUILD_VERSION);
	list_push(r->a, &files, manifest);
	return write_files(r, dir, &files) ? EXIT_DONE : EXIT_DIAGNOSED;
}

/* --- what is known, what is meant --- */

static int
verb_facts(struct run *r)
{
	const struct names *args = &r->o->args;

	if (r->o->format != FORMAT_TEXT && r->o->format != FORMAT_JSON)
		return usage_error("facts has two formats: text and json");
	return facts_show(r->facts, r->a, &r->ds, args->n > 0 ? args->at[0] : NULL,
			  args->n > 1 ? args->at[1] : NULL, args->n > 2 ? args->at[2] : NULL,
			  r->o->format == FORMAT_JSON, &r->out) ?
		       EXIT_DONE :
		       EXIT_DIAGNOSED;
}

static const char *const severity_words[] = { "note", "warning", "error" };

static int
verb_explain(struct run *r)
{
	const char *id = r->o->args.n ? r->o->args.at[0] : NULL;

	for (size_t i = 0; i < CODE_COUNT; i++) {
		const struct code_row *c = &code_table[i];

		if (!id) {
			buf_printf(&r->out, "%s  %-7s  %s\n", c->id, severity_words[c->severity],
				   c->title);
		} else if (!strcasecmp(id, c->id)) {
			buf_printf(&r->out, "%s (%s): %s\n\n%s\n\nexample:\n", c->id,
				   severity_words[c->severity], c->title, c->cause);
			for (const char *p = c->example; *p; p += strcspn(p, "\n"), p += *p == '\n')
				buf_printf(&r->out, "    %.*s\n", (int)strcspn(p, "\n"), p);
			buf_printf(&r->out, "\nwhat to do: %s\n", c->fix);
			return EXIT_DONE;
		}
	}
	if (!id)
		return EXIT_DONE;
	return usage_error(
		arena_printf(r->a, "there is no code `%s`; stackbuild explain lists them", id));
}

static int
verb_schema(struct run *r)
{
	if (r->o->format_given && r->o->format != FORMAT_JSON && r->o->format != FORMAT_MARKDOWN)
		return usage_error("schema has two formats: json and markdown");
	if (r->o->format == FORMAT_MARKDOWN)
		recipe_reference(r->a, &r->out);
	else
		recipe_schema(r->a, r->facts, &r->out);
	return EXIT_DONE;
}

static int
verb_completion(struct run *r)
{
	if (!options_completion(r->o->args.at[0], &r->out))
		return usage_error("completion is there for bash, zsh and fish");
	return EXIT_DONE;
}

static int
verb_man(struct run *r)
{
	options_man(STACKBUILD_VERSION, &r->out);
	return EXIT_DONE;
}

static int
verb_help(struct run *r)
{
	enum verb v = 0;

	if (!r->o->args.n) {
		options_help(VERB_COUNT, &r->out);
		return EXIT_DONE;
	}
	while (v < VERB_COUNT && strcmp(verb_table[v].name, r->o->args.at[0]))
		v++;
	if (v == VERB_COUNT)
		return usage_error(arena_printf(r->a,
						"there is no verb `%s`; stackbuild help lists them",
						r->o->args.at[0]));
	options_help(v, &r->out);
	return EXIT_DONE;
}

static int (*const verbs[VERB_COUNT])(struct run *) = {
#define VERB(name, ...) [VERB_##name] = verb_##name,
#include "verbs.def"
#undef VERB
};

/* --- around a verb --- */

static bool
print_diagnostics(struct run *r)
{
	struct buf b = BUF(r->a);
	bool colour = r->o->colour == COLOUR_ALWAYS ||
		      (r->o->colour == COLOUR_AUTO && isatty(2) && !getenv("NO_COLOR"));

	diags_fold(&r->ds);
	switch (r->o->diagnostics) {
	case DIAG_JSON: report_json(&r->ds, &b); break;
	case DIAG_SARIF: report_sarif(&r->ds, STACKBUILD_VERSION, &b); break;
	case DIAG_GITHUB: report_github(&r->ds, &b); break;
	default: return diags_print(&r->ds, stderr, colour);
	}
	fwrite(buf_text(&b), 1, b.n, stderr);
	return !ferror(stderr);
}

static bool
print_output(struct run *r)
{
	fwrite(buf_text(&r->out), 1, r->out.n, stdout);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	fputs("stackbuild: cannot write to standard output\n", stderr);
	return false;
}

static bool
needs_facts(enum verb v)
{
	return v == VERB_check || v == VERB_plan || v == VERB_render || v == VERB_facts ||
	       v == VERB_schema;
}

int
program_run(const struct options *o, const struct world *world)
{
	struct run r = { .a = arena_new(), .o = o, .world = world };
	int status = EXIT_DIAGNOSED;

	signal(SIGPIPE, SIG_IGN);
	diags_init(&r.ds, r.a);
	r.out = BUF(r.a);
	if (!needs_facts(o->verb) || (r.facts = facts_load(r.a, &r.ds, knowledge_folder(o))))
		status = verbs[o->verb](&r);
	if (status != EXIT_USAGE) {
		if (!print_output(&r))
			status = EXIT_DIAGNOSED;
		print_diagnostics(&r);
		if (r.ds.errors)
			status = EXIT_DIAGNOSED;
	}
	arena_free(r.a);
	return status;
}

bool
program_options(struct arena *a, int argc, char **argv, struct options *o, int *status)
{
	const char *why;
	struct buf b = BUF(a);

	*status = EXIT_DONE;
	if (!options_parse(a, argc, argv, o, &why)) {
		*status = usage_error(why);
		return false;
	}
	if (o->version) {
		struct diags ds;
		const struct facts *f;

		diags_init(&ds, a);
		f = facts_load(a, &ds, NULL);
		printf("stackbuild %s, knowledge of %s\n", STACKBUILD_VERSION,
		       f ? facts_date(f) : "unknown date");
	} else if (o->help) {
		options_help(o->verb, &b);
		fputs(buf_text(&b), stdout);
	} else {
		return true;
	}
	if (fflush(stdout) != 0)
		*status = EXIT_DIAGNOSED;
	return false;
}

bool
program_needs_world(const struct options *o)
{
	return o->verb == VERB_plan && o->diff && !fs_exists(o->diff);
}

#include <string.h>

#include "base/str.h"
#include "internal.h"

/* The sections below the recipe: failure, plan, sizes, proof, matrix, use of the GPU. */

enum { CELLS_MAX = 200, PLOT_WIDTH = 720, PLOT_HEIGHT = 120 };

static bool
same(const char *x, const char *y)
{
	return x && y && !strcmp(x, y);
}

struct report_said
report_build_said(struct arena *a, const struct build_record *b, const char *digest)
{
	if (!b)
		return (struct report_said){ REPORT_OPEN, "not built" };
	if (b->code)
		return (struct report_said){ REPORT_BAD, arena_printf(a, "failed: %s", b->code) };
	if (!same(b->recipe_digest, digest))
		return (struct report_said){ REPORT_OPEN, "built before the recipe changed" };
	return (struct report_said){ REPORT_GOOD,
				     arena_printf(a, "built in %s", report_time(a, b->seconds)) };
}

/* Returns why a proof does not belong to the last build; NULL: it does. */
static const char *
other_proof(const struct proof *p, const struct build_record *b, const char *digest)
{
	const char *is = p->image_digest;

	if (!same(p->recipe_digest, digest))
		return "verified before the recipe changed";
	if (b && is && (b->image_id || b->digest) && !same(is, b->image_id) && !same(is, b->digest))
		return "verified before the last build";
	return NULL;
}

struct report_said
report_proof_said(struct arena *a, const struct proof *p, const struct build_record *b,
		  const char *digest)
{
	const char *other = p ? other_proof(p, b, digest) : "not verified";
	enum proof_level proven;

	if (other)
		return (struct report_said){ REPORT_OPEN, other };
	if (p->result == PROOF_FAILED)
		return (struct report_said){ REPORT_BAD, "failed" };
	if (p->result == PROOF_PASSED)
		return (struct report_said){ REPORT_GOOD, "every check passed" };
	proven = proof_proven(p);
	return (struct report_said){ REPORT_OPEN, proven == PROOF_NONE ?
							  "nothing proven" :
							  arena_printf(a, "proven up to %s",
								       proof_level_words[proven]) };
}

/* --- a failed build --- */

void
page_failure(struct page *p)
{
	const struct report_files *f = &p->r->files;
	const struct build_record *b = f->record;

	if (!b || !b->code)
		return;
	page_prose(p, p->top, "failed",
		   arena_printf(p->a, "%s: %s", b->code, b->error ? b->error : "no message"));
	page_text(p, p->top, "log", arena_printf(p->a, "%s/build.log", f->dir));
	for (size_t i = 0; f->causes && i < f->causes->n; i++) {
		const struct cause *c = &f->causes->at[i];
		struct scope *s = scope_item(p->top, "causes");

		page_text(p, s, "title", c->title);
		page_prose(p, s, "why", c->why);
		page_prose(p, s, "fix", c->fix);
		page_text(p, s, "source", c->of->source);
		for (size_t k = 0; k < c->lines.n; k++)
			page_line(p, s, "lines",
				  arena_printf(p->a, "%llu: %s", c->lines.at[k].line,
					       c->lines.at[k].text));
	}
	for (size_t i = 0; f->causes && i < f->causes->worth.n; i++)
		page_line(p, p->top, "worth",
			  arena_printf(p->a, "%llu: %s", f->causes->worth.at[i].line,
				       f->causes->worth.at[i].text));
}

/* --- the plan --- */

static const struct build_record_step *
record_step(const struct build_record *b, const char *id)
{
	for (size_t i = 0; b && i < b->steps.n; i++)
		if (!strcmp(b->steps.at[i].id, id))
			return &b->steps.at[i];
	return NULL;
}

/* Returns the state of a step: the word of build.json, "failed" or "not run". */
static const char *
step_how(const struct build_record *b, const struct build_record_step *s)
{
	if (!s)
		return "estimate";
	if (b->code && same(b->failed_step, s->id))
		return "failed";
	if (!s->from)
		return "not run";
	return !strcmp(s->from, "cache") ? "cached" :
	       !strcmp(s->from, "store") ? "wheel from the store" :
					   s->from;
}

/* Returns whether the last build took a step from a cache or the store, and an earlier one measured it. */
static bool
measured_before(const struct build_record_step *s)
{
	return s && s->measured_s > s->seconds &&
	       (same(s->from, "cache") || same(s->from, "store"));
}

/*
 * Returns whether the timeline shows earlier times: the last build took most from a cache or the store,
 * and would show nothing of the compile.
 */
static bool
shows_earlier(const struct build_record *b)
{
	double earlier_s = 0;

	for (size_t i = 0; b && i < b->steps.n; i++)
		if (measured_before(&b->steps.at[i]))
			earlier_s += b->steps.at[i].measured_s;
	return b && earlier_s > b->seconds;
}

/* Sets when each step began; returns when the last one ended. */
static double
step_times(const struct plan *plan, const struct build_record *b, double *from, double *took)
{
	double end = 0;
	bool earlier = shows_earlier(b), starts = b && !earlier;

	for (size_t i = 0; i < plan->n; i++) {
		const struct build_record_step *s = record_step(b, plan->steps[i].id);

		took[i] = !b ? plan->steps[i].cost_s : s ? s->seconds : 0;
		if (earlier && measured_before(s))
			took[i] = s->measured_s;
		starts = starts && (took[i] <= 0 || s->start_s >= 0);
	}
	for (size_t i = 0; i < plan->n; i++) {
		const struct build_record_step *s = record_step(b, plan->steps[i].id);

		from[i] = starts && s && s->start_s >= 0 ? s->start_s : end;
		end = from[i] + took[i] > end ? from[i] + took[i] : end;
	}
	return b && b->seconds > end ? b->seconds : end;
}

static void
plan_said(struct page *p, const struct build_record *b, double all)
{
	bool before = shows_earlier(b);
	const char *text;

	if (b)
		text = arena_printf(
			p->a, "Times of the build%s%s%s%s%s, which %s after %s.%s",
			b->started ? " of " : "", b->started ? b->started : "",
			b->engine ? " with " : "", b->engine ? b->engine : "",
			b->engine && b->engine_version ?
				arena_printf(p->a, " %s", b->engine_version) :
				"",
			b->code ? "failed" : "finished",
			report_time(p->a, before ? b->seconds : all),
			before ? " Steps from a cache or the store have the times of the "
				 "build that ran them, one after another." :
				 "");
	else
		text = arena_printf(
			p->a, "Not built. All times are estimates; together they are about %s.",
			report_time(p->a, all));
	page_prose(p, p->top, "plan_said", text);
}

void
page_plan(struct page *p)
{
	const struct plan *plan = p->r->plan;
	const struct build_record *b = p->r->files.record;
	double *from, *took, all;

	if (!plan)
		return;
	/* The times in the record of another recipe do not apply. */
	if (b && !same(b->recipe_digest, p->r->recipe->digest))
		b = NULL;
	from = arena_array_of(p->a, double, plan->n);
	took = arena_array_of(p->a, double, plan->n);
	all = step_times(plan, b, from, took);
	plan_said(p, b, all);
	page_text(p, p->top, "half", (b ? report_time : report_estimate)(p->a, all / 2));
	page_text(p, p->top, "total", (b ? report_time : report_estimate)(p->a, all));
	for (size_t i = 0; i < plan->n; i++) {
		const struct step *st = &plan->steps[i];
		const struct build_record_step *s = record_step(b, st->id);
		const char *how = step_how(b, s);
		struct scope *row = scope_item(p->top, "steps");

		page_text(p, row, "number", arena_printf(p->a, "%zu", i + 1));
		page_text(p, row, "name", st->id);
		page_text(p, row, "why", st->why);
		page_text(p, row, "how", how);
		page_class(p, row,
			   !s                     ? REPORT_OPEN :
			   !strcmp(how, "failed") ? REPORT_BAD :
						    REPORT_GOOD);
		if (took[i] > 0) {
			page_text(p, row, "value",
				  (b ? report_time : report_estimate)(p->a, took[i]));
			page_bar(p, row, from[i], took[i], all);
		}
	}
}

/* --- sizes --- */

void
page_sizes(struct page *p)
{
	const struct report_files *f = &p->r->files;
	const struct build_record *b = f->record;
	const char *image = b && b->image ? b->image : "IMAGE";
	double most = 0;

	if (!b || b->code)
		return;
	if (f->layers.n)
		page_prose(p, p->top, "sizes_said",
			   arena_printf(p->a, "The image `%s`, by layer.", image));
	else
		page_prose(p, p->top, "sizes_said",
			   arena_printf(
				   p->a,
				   "%s The sizes of its layers are not recorded: run `stackbuild "
				   "inspect %s --json > %s/inspect.json`, then make the report "
				   "again.",
				   b->size_bytes ?
					   arena_printf(p->a, "The image `%s` has %s.", image,
							bytes_words(p->a, (double)b->size_bytes)) :
					   "The size of the image is unknown.",
				   image, f->dir));
	for (size_t i = 0; i < f->layers.n; i++)
		most = f->layers.at[i].bytes > most ? f->layers.at[i].bytes : most;
	for (size_t i = 0; i < f->layers.n; i++) {
		const struct report_layer *l = &f->layers.at[i];
		struct scope *row = scope_item(p->top, "layers");

		page_text(p, row, "number", arena_printf(p->a, "%zu", i + 1));
		page_text(p, row, "name", l->name);
		page_text(p, row, "value", bytes_words(p->a, l->bytes));
		page_text(p, row, "how", arena_printf(p->a, "%.0f files", l->files));
		page_class(p, row, REPORT_GOOD);
		page_bar(p, row, 0, l->bytes, most);
	}
}

/* --- the proof --- */

static const char *
proof_of(struct page *p, const struct proof *proof, const char *other)
{
	struct buf b = BUF(p->a);

	if (other)
		buf_printf(&b, "This proof is older (%s): run `stackbuild verify %s`. ", other,
			   p->r->command);
	buf_printf(&b, "Image %s%s%s", proof->image ? proof->image : "(a virtual environment)",
		   proof->image_digest ? ", " : "", proof->image_digest ? proof->image_digest : "");
	if (proof->python)
		buf_printf(&b, "; Python %s", proof->python);
	if (proof->gpu)
		buf_printf(&b, "; GPU %s", proof->gpu);
	if (proof->driver)
		buf_printf(&b, "; driver %s", proof->driver);
	buf_putc(&b, '.');
	if (proof->no_gpu)
		buf_printf(&b, " No GPU: %s.", proof->no_gpu);
	return buf_text(&b);
}

void
page_proof(struct page *p)
{
	static const enum report_state states[] = { REPORT_GOOD, REPORT_BAD, REPORT_OPEN };
	const struct proof *proof = p->r->files.proof;

	if (!proof)
		return;
	page_prose(
		p, p->top, "proof_said",
		proof_of(p, proof, other_proof(proof, p->r->files.record, p->r->recipe->digest)));
	list_each (c, &proof->checks) {
		struct scope *row = scope_item(p->top, "checks");

		page_text(p, row, "name", c->id);
		page_text(p, row, "result", proof_result_words[c->result]);
		page_class(p, row, states[c->result]);
		page_text(p, row, "what", c->what);
		page_text(p, row, "why", c->why);
		if (c->result != PROOF_NOT_RUN)
			page_text(p, row, "time", report_time(p->a, c->seconds));
	}
}

/* --- the matrix --- */

static void
cell_row(struct page *p, const struct report_cell *c)
{
	struct scope *row = scope_item(p->top, "cells");

	page_text(p, row, "name", c->name);
	page_text(p, row, "check", c->check.text);
	page_text(p, row, "check_state", report_classes[c->check.state]);
	page_text(p, row, "codes", c->codes);
	page_text(p, row, "build", c->build.text);
	page_text(p, row, "build_state", report_classes[c->build.state]);
	page_text(p, row, "proof", c->proof.text);
	page_text(p, row, "proof_state", report_classes[c->proof.state]);
}

bool
report_trouble(const struct report_cell *c)
{
	return c->check.state == REPORT_BAD || c->build.state == REPORT_BAD ||
	       c->proof.state == REPORT_BAD;
}

/*
 * Lists the cells; if there are too many, those with problems come first and the others are
 * omitted.
 */
void
page_matrix(struct page *p)
{
	const struct report *r = p->r;
	size_t shown = 0, bad = 0, room;

	if (!r->cells.at[0].name)
		return;
	for (size_t i = 0; i < r->cells.n; i++)
		bad += report_trouble(&r->cells.at[i]);
	bad = bad < CELLS_MAX ? bad : CELLS_MAX;
	room = CELLS_MAX - bad;
	for (size_t i = 0; i < r->cells.n; i++) {
		size_t *left = report_trouble(&r->cells.at[i]) ? &bad : &room;

		if (!*left)
			continue;
		--*left;
		cell_row(p, &r->cells.at[i]);
		shown++;
	}
	page_prose(p, p->top, "matrix_said",
		   shown < r->cells.n ?
			   arena_printf(p->a, "%zu of %zu cells, all with problems among them.",
					shown, r->cells.n) :
			   arena_printf(p->a, "%zu cell%s.", shown, shown == 1 ? "" : "s"));
}

/* --- the use of the GPU --- */

/* Writes the lines of use_text that follow the verdict. */
static void
figures(struct page *p, struct scope *row, const struct use *u, const struct use_gpu *g)
{
	struct use one = { .verdict = g->verdict, .end = u->end };
	struct buf b = BUF(p->a);
	const char *s;

	list_push(p->a, &one.gpus, *g);
	use_text(p->a, &one, false, &b);
	s = strchr(buf_text(&b), '\n') + 1; /* the verdict of the whole run */
	s = strchr(s, '\n') + 1;            /* the GPU's name */
	for (const char *end; (end = strchr(s, '\n')); s = end + 1)
		page_line(p, row, "figures", arena_copy(p->a, s, (size_t)(end - s)));
}

void
page_use(struct page *p)
{
	const struct use *u = p->r->files.use;
	struct buf b = BUF(p->a);
	const char *text;

	if (!u)
		return;
	use_text(p->a, u, false, &b);
	text = strstr(buf_text(&b), ": ") + 2;
	page_prose(p, p->top, "use_said",
		   arena_printf(p->a, "%c%.*s.%s%s", text[0] - ('a' - 'A'),
				(int)strcspn(text + 1, "\n"), text + 1, u->why ? " " : "",
				u->why ? u->why : ""));
	page_text(p, p->top, "use_command", u->command);
	page_text(p, p->top, "seconds", report_time(p->a, u->end.seconds));
	for (size_t i = 0; i < u->gpus.n; i++) {
		const struct use_gpu *g = &u->gpus.at[i];
		struct scope *row = scope_item(p->top, "gpus");
		struct buf plot = BUF(p->a);

		page_text(p, row, "name", arena_printf(p->a, "GPU %zu: %s", i, g->gpu->name));
		figures(p, row, u, g);
		use_plot(u, g, (struct use_box){ 0, 0, PLOT_WIDTH, PLOT_HEIGHT }, &plot);
		scope_code(row, "plot", plot.n ? buf_text(&plot) : NULL);
	}
}

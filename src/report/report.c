#include <string.h>

#include "base/str.h"
#include "internal.h"

/* The head of the page: verdict, diagnostics, the recipe and its selected versions. */

enum { DIAGS_MAX = 500, RECIPE_BYTES_MAX = 64 * 1024 };

const char *const report_classes[] = { "open", "good", "bad" };

static const struct shape tile_shape[] = {
	{ "label", VALUE_TEXT, "\"Build\"", 0 },
	{ "value", VALUE_TEXT, "its state", 0 },
	{ "state", VALUE_TEXT, "good, open or bad", 0 },
	{ 0 },
};
static const struct shape note_shape[] = {
	{ "kind", VALUE_TEXT, "because, help, source", 0 },
	{ "text", VALUE_CODE, "the line", 0 },
	{ 0 },
};
static const struct shape diag_shape[] = {
	{ "severity", VALUE_TEXT, "error, warning, note", 0 },
	{ "code", VALUE_TEXT, "SB0201", 0 },
	{ "text", VALUE_CODE, "what is wrong", 0 },
	{ "place", VALUE_TEXT, "file:line:column, optional", 0 },
	{ "notes", VALUE_LIST, "the lines below it", note_shape },
	{ 0 },
};
static const struct shape choice_shape[] = {
	{ "what", VALUE_TEXT, "python", 0 },
	{ "value", VALUE_TEXT, "3.11", 0 },
	{ "why", VALUE_TEXT, "the reason, optional", 0 },
	{ 0 },
};
static const struct shape cause_shape[] = {
	{ "title", VALUE_TEXT, "the cause", 0 },  { "why", VALUE_CODE, "what happened", 0 },
	{ "fix", VALUE_CODE, "what to do", 0 },   { "source", VALUE_TEXT, "of the signature", 0 },
	{ "lines", VALUE_LIST, "of the log", 0 }, { 0 },
};
static const struct shape bar_shape[] = {
	{ "number", VALUE_TEXT, "from 1", 0 },
	{ "name", VALUE_TEXT, "of the step or the layer", 0 },
	{ "value", VALUE_TEXT, "its time or size", 0 },
	{ "how", VALUE_TEXT, "compiled, cached, estimate, 12 files", 0 },
	{ "why", VALUE_TEXT, "why the step is there", 0 },
	{ "state", VALUE_TEXT, "the class of its bar", 0 },
	{ "bar", VALUE_FLAG, "it has a bar", 0 },
	{ "left", VALUE_TEXT, "of the bar, per cent", 0 },
	{ "width", VALUE_TEXT, "of the bar, per cent", 0 },
	{ 0 },
};
static const struct shape check_shape[] = {
	{ "name", VALUE_TEXT, "loads", 0 },
	{ "state", VALUE_TEXT, "good, open or bad", 0 },
	{ "result", VALUE_TEXT, "passed", 0 },
	{ "what", VALUE_TEXT, "what was checked", 0 },
	{ "why", VALUE_TEXT, "the reason", 0 },
	{ "time", VALUE_TEXT, "how long it took", 0 },
	{ 0 },
};
static const struct shape cell_shape[] = {
	{ "name", VALUE_TEXT, "python-3.10", 0 },
	{ "check", VALUE_TEXT, "compatible", 0 },
	{ "check_state", VALUE_TEXT, "good, open or bad", 0 },
	{ "codes", VALUE_TEXT, "SB0242, optional", 0 },
	{ "build", VALUE_TEXT, "built in 3 min 20 s", 0 },
	{ "build_state", VALUE_TEXT, "good, open or bad", 0 },
	{ "proof", VALUE_TEXT, "proven up to compile", 0 },
	{ "proof_state", VALUE_TEXT, "good, open or bad", 0 },
	{ 0 },
};
static const struct shape gpu_shape[] = {
	{ "name", VALUE_TEXT, "NVIDIA H100", 0 },
	{ "figures", VALUE_LIST, "lines: utilisation, memory, processes", 0 },
	{ "plot", VALUE_CODE, "the elements of its plot, in a box of 720 x 120", 0 },
	{ 0 },
};

static const struct shape next_shape[] = {
	{ "text", VALUE_CODE, "Not built: run `stackbuild build r.yaml`.", 0 },
	{ 0 },
};

const struct shape report_shape[] = {
	{ "stack", VALUE_TEXT, "the stack's name", 0 },
	{ "cell", VALUE_TEXT, "the cell that the page describes; missing without a matrix", 0 },
	{ "cells_n", VALUE_TEXT, "how many cells there are, if several", 0 },
	{ "command", VALUE_TEXT, "path of the recipe for a command", 0 },
	{ "digest", VALUE_TEXT, "of the recipe", 0 },
	{ "version", VALUE_TEXT, "version of stackbuild", 0 },
	{ "summary", VALUE_TEXT, "the stack in a line", 0 },
	{ "headline", VALUE_TEXT, "the verdict", 0 },
	{ "state", VALUE_TEXT, "of the verdict: good, open or bad", 0 },
	{ "tiles", VALUE_LIST, "check, build, proof, use of the GPU", tile_shape },
	{ "next", VALUE_LIST, "what to run next; empty if the stack cannot work", next_shape },
	{ "diags", VALUE_LIST, "diagnostics", diag_shape },
	{ "unchecked", VALUE_LIST, "lines: unchecked parts", 0 },
	{ "choices", VALUE_LIST, "selected versions", choice_shape },
	{ "recipe", VALUE_TEXT, "the text of the recipe", 0 },
	{ "failed", VALUE_CODE, "the error of a failed build", 0 },
	{ "log", VALUE_TEXT, "build.log", 0 },
	{ "causes", VALUE_LIST, "cause in the log", cause_shape },
	{ "worth", VALUE_LIST, "lines of a log that shows no known cause", 0 },
	{ "plan_said", VALUE_CODE, "meaning of the times; missing without a plan", 0 },
	{ "steps", VALUE_LIST, "the plan", bar_shape },
	{ "half", VALUE_TEXT, "of the axis", 0 },
	{ "total", VALUE_TEXT, "of the axis", 0 },
	{ "sizes_said", VALUE_CODE, "the size of the image; missing before a build", 0 },
	{ "layers", VALUE_LIST, "the layers of the image", bar_shape },
	{ "proof_said", VALUE_CODE, "image of the proof; missing without one", 0 },
	{ "checks", VALUE_LIST, "of the proof", check_shape },
	{ "matrix_said", VALUE_CODE, "a sentence on the table", 0 },
	{ "cells", VALUE_LIST, "of the matrix; empty without one", cell_shape },
	{ "use_said", VALUE_CODE, "verdict of `run`; missing without a run", 0 },
	{ "use_command", VALUE_TEXT, "what ran", 0 },
	{ "gpus", VALUE_LIST, "GPUs", gpu_shape },
	{ "seconds", VALUE_TEXT, "how long the command ran", 0 },
	{ 0 },
};

void
page_text(struct page *p, struct scope *s, const char *name, const char *text)
{
	struct buf b = BUF(p->a);

	if (!text)
		return;
	diag_inert(mask_text(p->mask, text), &b);
	scope_text(s, name, buf_text(&b), NOWHERE);
}

void
page_prose(struct page *p, struct scope *s, const char *name, const char *text)
{
	struct buf inert = BUF(p->a), out = BUF(p->a);
	static const char *const marks[] = { "<code>", "</code>" };
	const char *at, *end, *why;
	bool code = false;

	if (!text)
		return;
	diag_inert(mask_text(p->mask, text), &inert);
	for (at = buf_text(&inert); *at; at = *end ? end + 1 : end) {
		end = at + strcspn(at, "`");
		quote(&out, QUOTE_HTML, LANG_HTML, arena_copy(p->a, at, (size_t)(end - at)), &why);
		if (*end)
			buf_puts(&out, code || strchr(end + 1, '`') ? marks[code] : "`");
		code = *end && (code ? false : strchr(end + 1, '`') != NULL);
	}
	scope_code(s, name, buf_text(&out));
}

void
page_class(struct page *p, struct scope *s, enum report_state state)
{
	page_text(p, s, "state", report_classes[state]);
}

void
page_line(struct page *p, struct scope *s, const char *list, const char *text)
{
	struct buf b = BUF(p->a);

	diag_inert(mask_text(p->mask, text), &b);
	scope_item_text(s, list, buf_text(&b), NOWHERE);
}

void
page_bar(struct page *p, struct scope *s, double from, double n, double all)
{
	double left = all > 0 ? from * 100 / all : 0, width = all > 0 ? n * 100 / all : 0;

	left = left < 99.5 ? left : 99.5;
	width = width < 100 - left ? width : 100 - left;
	scope_flag(s, "bar", true);
	page_text(p, s, "left", arena_printf(p->a, "%.2f", left));
	page_text(p, s, "width", arena_printf(p->a, "%.2f", width));
}

const char *
report_time(struct arena *a, double seconds)
{
	unsigned long s = (unsigned long)(seconds + 0.5);

	if (seconds < 10)
		return arena_printf(a, "%.1f s", seconds);
	if (s < 60)
		return arena_printf(a, "%lu s", s);
	return s < 3600 ? arena_printf(a, "%lu min %02lu s", s / 60, s % 60) :
			  arena_printf(a, "%lu h %02lu min", s / 3600, s / 60 % 60);
}

const char *
report_estimate(struct arena *a, double seconds)
{
	if (seconds < 90)
		return arena_printf(a, "about %.0f s", seconds);
	return seconds < 5400 ? arena_printf(a, "about %.0f min", seconds / 60) :
				arena_printf(a, "about %.1f h", seconds / 3600);
}

/* --- the verdict --- */

static void
tile(struct page *p, const char *label, struct report_said said)
{
	struct scope *s = scope_item(p->top, "tiles");

	page_text(p, s, "label", label);
	page_text(p, s, "value", said.text);
	page_class(p, s, said.state);
}

static struct report_said
use_said(const struct use *u)
{
	if (!u)
		return (struct report_said){ REPORT_OPEN, "not recorded" };
	switch (u->verdict) {
	case VERDICT_USED: return (struct report_said){ REPORT_GOOD, "used" };
	case VERDICT_UNUSED: return (struct report_said){ REPORT_BAD, "not used" };
	default: return (struct report_said){ REPORT_OPEN, "unknown" };
	}
}

/* Writes the summary of several cells: "5 of 12 good, 1 bad". */
static struct report_said
count(struct page *p, size_t member, const char *good, const char *bad)
{
	const struct report *r = p->r;
	size_t n[3] = { 0 };

	for (size_t i = 0; i < r->cells.n; i++) {
		const struct report_said *s =
			(const void *)((const char *)&r->cells.at[i] + member);

		n[s->state]++;
	}
	return (struct report_said){
		n[REPORT_BAD]                ? REPORT_BAD :
		n[REPORT_GOOD] == r->cells.n ? REPORT_GOOD :
					       REPORT_OPEN,
		arena_printf(p->a, "%zu of %zu %s%s", n[REPORT_GOOD], r->cells.n, good,
			     n[REPORT_BAD] ? arena_printf(p->a, ", %zu %s", n[REPORT_BAD], bad) :
					     "")
	};
}

/* Returns the state that decides: the first bad one, otherwise the first open one. */
static const char *
headline(const struct report_cell *c, enum report_state *state)
{
	const struct {
		const struct report_said *said;
		const char *open, *bad;
	} rows[] = {
		{ &c->check, NULL, "The stack cannot work" },
		{ &c->build, "Not built", "The build failed" },
		{ &c->proof, "Built, not fully proven", "The image failed its proof" },
	};

	*state = REPORT_BAD;
	for (size_t i = 0; i < 3; i++)
		if (rows[i].said->state == REPORT_BAD)
			return rows[i].bad;
	*state = REPORT_OPEN;
	for (size_t i = 1; i < 3; i++)
		if (rows[i].said->state == REPORT_OPEN)
			return rows[i].open;
	*state = REPORT_GOOD;
	return "Built and proven";
}

/* Names the commands whose results the page lacks, in their order. */
static void
page_next(struct page *p)
{
	const struct report_files *f = &p->r->files;
	const char *command = p->r->command;

	if (!p->r->plan || (f->record && f->record->code))
		return;
	if (!f->record)
		page_prose(p, scope_item(p->top, "next"), "text",
			   arena_printf(p->a, "Not built: run `stackbuild build %s`.", command));
	if (!f->proof)
		page_prose(
			p, scope_item(p->top, "next"), "text",
			arena_printf(p->a, "Not verified: run `stackbuild verify %s`.", command));
	if (!f->use)
		page_prose(p, scope_item(p->top, "next"), "text",
			   arena_printf(p->a,
					"Use of the GPU not recorded: run `stackbuild run --report "
					"%s/run.svg -- COMMAND`, then make the report again.",
					f->dir));
}

static void
page_verdict(struct page *p)
{
	const struct report *r = p->r;
	enum report_state state;
	const char *line = headline(&r->cells.at[r->cell], &state);
	struct report_said check, build, proof;

	if (r->cells.n == 1) {
		check = r->cells.at[0].check;
		build = r->cells.at[0].build;
		proof = r->cells.at[0].proof;
	} else {
		check = count(p, offsetof(struct report_cell, check), "compatible", "incompatible");
		build = count(p, offsetof(struct report_cell, build), "built", "failed");
		proof = count(p, offsetof(struct report_cell, proof), "proven", "failed");
		if (state == REPORT_BAD)
			line = "Some cells have problems";
		else
			line = state == REPORT_GOOD && proof.state == REPORT_GOOD ?
				       "Every cell is built and proven" :
				       "Not every cell is built and proven";
		state = state == REPORT_GOOD ? proof.state : state;
	}
	page_text(p, p->top, "headline", line);
	page_class(p, p->top, state);
	tile(p, "Check", check);
	tile(p, "Build", build);
	tile(p, "Proof", proof);
	tile(p, "GPU", use_said(r->files.use));
	page_next(p);
}

static const char *
place(struct arena *a, struct span at)
{
	if (!at.src || !at.src->path)
		return NULL;
	return at.line ? arena_printf(a, "%s:%u:%u", at.src->path, at.line, at.col) : at.src->path;
}

static void
page_diags(struct page *p)
{
	static const char *const kinds[] = { "see", "because", "help", "source" };
	size_t n = 0;

	for (const struct diag *d = p->r->diags->head; d && n < DIAGS_MAX; d = d->next, n++) {
		struct scope *s = scope_item(p->top, "diags");

		page_text(p, s, "severity", severity_words[diag_severity(d)]);
		page_text(p, s, "code", code_table[d->code].id);
		page_prose(p, s, "text", d->text);
		page_text(p, s, "place", place(p->a, d->at));
		for (const struct note *l = d->notes; l; l = l->next) {
			struct scope *line = scope_item(s, "notes");
			const char *where = place(p->a, l->at);

			page_text(p, line, "kind", kinds[l->kind]);
			page_prose(p, line, "text",
				   where ? arena_printf(p->a, "%s: %s", where, l->text) : l->text);
		}
	}
	list_each (x, &p->r->parts) {
		if (x->coverage != COVERAGE_READ)
			page_line(p, p->top, "unchecked",
				  arena_printf(p->a, "%s: %s", x->what, x->why));
	}
}

/* --- the recipe --- */

static void
choice(struct page *p, const char *what, const char *value, const char *why)
{
	struct scope *s;

	if (!value)
		return;
	s = scope_item(p->top, "choices");
	page_text(p, s, "what", what);
	page_text(p, s, "value", value);
	page_text(p, s, "why", why);
}

static void
page_choices(struct page *p, const struct stack *st)
{
	const struct {
		const char *what;
		const struct choice *c;
	} rows[] = {
		{ "base image", &st->base },   { "CUDA", &st->cuda },
		{ "Python", &st->python },     { "torch", &st->torch },
		{ "index", &st->torch_index }, { "numpy", &st->numpy },
	};
	struct names archs = { 0 };

	for (size_t i = 0; i < COUNT(rows); i++)
		choice(p, rows[i].what, rows[i].c->value, rows[i].c->reason);
	for (size_t i = 0; i < st->archs.n; i++)
		list_push(p->a, &archs, st->archs.at[i].value);
	choice(p, "GPUs", archs.n ? names_join(p->a, &archs, ", ") : NULL, "compute capabilities");
	list_each (e, &st->extensions)
		choice(p, e->name, e->version ? e->version : "version unknown", e->source_reason);
	for (size_t i = 0; i < st->packages.n; i++)
		choice(p, i ? "" : "packages", st->packages.at[i].requirement,
		       st->packages.at[i].reason);
}

static void
page_recipe(struct page *p)
{
	const struct source *src = p->r->recipe->src;
	size_t n = src->size < RECIPE_BYTES_MAX ? src->size : RECIPE_BYTES_MAX;
	struct buf b = BUF(p->a);

	if (p->r->plan)
		page_choices(p, p->r->plan->stack);
	inert_lines(p->a, mask_text(p->mask, arena_copy(p->a, src->text, n)), &b);
	if (n < src->size)
		buf_puts(&b, "...\n");
	scope_text(p->top, "recipe", buf_text(&b), NOWHERE);
}

bool
report_html(struct arena *a, struct diags *ds, const struct templates *t, const struct report *r,
	    struct buf *out)
{
	struct page p = { .a = a,
			  .r = r,
			  .mask = mask_new(a, &(struct names){ 0 }),
			  .top = scope_new(a, report_shape) };

	page_text(&p, p.top, "stack", r->recipe->stack.s);
	page_text(&p, p.top, "cell", r->recipe->cell);
	if (r->cells.n > 1)
		page_text(&p, p.top, "cells_n", arena_printf(a, "%zu", r->cells.n));
	page_text(&p, p.top, "command", r->command);
	page_text(&p, p.top, "digest", r->recipe->digest);
	page_text(&p, p.top, "version", STACKBUILD_VERSION);
	page_text(&p, p.top, "summary", r->summary);
	page_verdict(&p);
	page_diags(&p);
	page_recipe(&p);
	page_failure(&p);
	page_plan(&p);
	page_sizes(&p);
	page_proof(&p);
	page_matrix(&p);
	page_use(&p);
	return template_expand(ds, templates_text(t, "report.html"), LANG_HTML, p.top, out, NULL);
}

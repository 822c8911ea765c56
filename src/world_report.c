/* stackbuild report: write a page about a recipe, with the results of the other commands. */
#include <jansson.h>
#include <string.h>

#include "base/fs.h"
#include "fetch/fetch.h"
#include "report/report.h"
#include "verbs.h"
#include "world.h"

enum { FILE_MAX = 16 * 1024 * 1024, LAYERS_MAX = 200 };

/* --- the files in the directory of a cell --- */

static const struct source *
read_file(struct run *r, const char *dir, const char *name)
{
	return fs_read_quiet(r->a, fs_join(r->a, dir, name), FILE_MAX);
}

/* Adds the proof; p: the cell's plan, for checks missing in the proof; or NULL */
static void
read_records(struct run *r, const struct plan *p, struct report_files *f)
{
	struct build_record *b = arena_new_of(r->a, struct build_record);
	struct proof *proof = arena_new_of(r->a, struct proof);
	const struct source *src = read_file(r, f->dir, "proof.json");

	if (build_record_read(r->a, fs_join(r->a, f->dir, "build.json"), b))
		f->record = b;
	if (src && proof_read(r->a, p, src->text, src->size, proof))
		f->proof = proof;
}

/* Adds inspect.json, the output of `inspect IMAGE --json`. */
static void
read_layers(struct run *r, struct report_files *f)
{
	const struct source *src = read_file(r, f->dir, "inspect.json");
	json_auto_t *root = src ? json_loadb(src->text, src->size, 0, NULL) : NULL;
	const json_t *layer;
	size_t i;

	json_array_foreach(json_object_get(root, "layers"), i, layer)
	{
		const char *name = fetch_json_text(r->a, layer, "name");
		double bytes = json_number_value(json_object_get(layer, "size"));
		double files = json_number_value(json_object_get(layer, "files"));

		if (i < LAYERS_MAX && bytes >= 0 && bytes < 1e15)
			list_push(r->a, &f->layers,
				  (struct report_layer){ name ? name : "unnamed", bytes,
							 files >= 0 && files < 1e12 ? files : 0 });
	}
}

static void
read_use(struct run *r, struct report_files *f)
{
	static const char *const names[] = { "run.json", "run.svg" };
	struct use *u = arena_new_of(r->a, struct use);

	for (size_t i = 0; i < 2 && !f->use; i++) {
		const struct source *src = read_file(r, f->dir, names[i]);

		if (src && use_read(r->a, src->text, src->size, u))
			f->use = u;
	}
}

/* --- the page --- */

static struct report_cell
judge_cell(struct run *r, const struct cell_verdict *v, const char *digest,
	   const struct report_files *f)
{
	const struct names *codes = v->errors.n ? &v->errors : &v->warnings;
	struct report_cell c = { .name = v->cell, .codes = names_join(r->a, codes, " ") };

	c.check = (struct report_said){ v->incompatible             ? REPORT_BAD :
					stack_open(&v->parts, NULL) ? REPORT_OPEN :
								      REPORT_GOOD,
					verdict_word(v) };
	c.build = report_build_said(r->a, f->record, digest);
	c.proof = report_proof_said(r->a, f->proof, f->record, digest);
	return c;
}

static const char *
dir_of(struct run *r, const struct recipes *rs, const char *dir, size_t i)
{
	if (!dir)
		dir = fs_join(r->a, "out", rs->at[0]->stack.s);
	return rs->matrix ? fs_join(r->a, dir, rs->at[i]->cell) : dir;
}

/* Describes the first cell with a problem, otherwise the first cell. */
static void
choose_cell(struct report *page)
{
	while (page->cell < page->cells.n && !report_trouble(&page->cells.at[page->cell]))
		page->cell++;
	if (page->cell == page->cells.n)
		page->cell = 0;
}

static void
fill_page(struct run *r, const struct recipes *rs, const struct cell_verdicts *all, const char *dir,
	  struct report *page)
{
	struct report_files *f = &page->files;
	const struct cell_verdict *v;
	struct diags ignored;

	for (size_t i = 0; i < rs->n; i++) {
		struct report_files of = { .dir = dir_of(r, rs, dir, i) };

		read_records(r, NULL, &of);
		list_push(r->a, &page->cells, judge_cell(r, &all->at[i], rs->at[i]->digest, &of));
	}
	choose_cell(page);
	v = &all->at[page->cell];
	ignored = DIAGS(ignored, r->a); /* check_cells reported them */
	page->recipe = rs->at[page->cell];
	page->command = world_recipe(r->a, r->o, page->recipe->cell);
	page->summary = v->summary;
	page->parts = v->parts;
	page->plan = v->incompatible ? NULL : pipeline_plan(r, r->a, &ignored, page->recipe, NULL);
	if (!v->incompatible &&
	    !page->plan) { /* the lock cannot be used; the page has the reason */
		r->unlocked = true;
		page->plan = pipeline_plan(r, r->a, &ignored, page->recipe, NULL);
	}
	f->dir = dir_of(r, rs, dir, page->cell);
	read_records(r, page->plan, f);
	page->cells.at[page->cell] = judge_cell(r, v, page->recipe->digest, f);
	read_layers(r, f);
	read_use(r, f);
	if (f->record && f->record->code && fs_exists(fs_join(r->a, f->dir, "build.log")))
		f->causes = diagnose_log(r, fs_join(r->a, f->dir, "build.log"), NULL);
}

bool
world_report(struct run *r, struct diags *ds, const char *dir, const char **page, struct buf *html)
{
	const char *path = r->o->args.at[0];
	struct report report = { .diags = ds };
	struct cell_verdicts all = { 0 };
	const struct templates *t;
	const struct recipes *rs;
	struct diags ignored = DIAGS(ignored, r->a);

	t = templates_open(r->a, ds, r->o->templates);
	check_cells(r, ds, path, NULL, NULL, &all, NULL);
	rs = pipeline_load(r, &ignored, path, NULL, NULL);
	if (!rs || !t || all.n != rs->n)
		return false;
	diags_fold(ds);
	fill_page(r, rs, &all, dir, &report);
	*page = fs_join(r->a,
			rs->matrix && !r->o->cell ? fs_dir(r->a, dir_of(r, rs, dir, 0)) :
						    dir_of(r, rs, dir, 0),
			"report.html");
	return report_html(r->a, ds, t, &report, html);
}

int
verb_report(struct run *r)
{
	struct buf html = BUF(r->a);
	const char *page;

	if (!strcmp(r->o->args.at[0], "-"))
		return usage_error("report reads the recipe twice, so it needs a file");
	if (!world_report(r, &r->ds, r->o->records, &page, &html))
		return EXIT_DIAGNOSED;
	page = r->o->out ? r->o->out : page;
	if (!strcmp(page, "-")) {
		buf_add(&r->out, html.p, html.n);
		return EXIT_DONE;
	}
	if (!fs_write(&r->ds, page, html.p, html.n, 0644, false, NULL))
		return EXIT_DIAGNOSED;
	buf_printf(&r->out, "report: %s\n", page);
	return EXIT_DONE;
}

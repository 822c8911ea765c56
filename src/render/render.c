#include "render.h"

#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/map.h"
#include "base/sha256.h"
#include "base/str.h"
#include "forced.h"
#include "pipeline.h"
#include "target.h"

#define TARGETS(T) \
	T(dockerfile, true, "one self-contained Dockerfile: Dockerfile") \
	T(modal, true, "an app for `modal deploy`: modal_app.py") \
	T(script, false, "a virtual environment on a bare host or WSL2: setup.sh") \
	T(requirements, false, "what pip is given, in order: requirements.txt") \
	T(constraints, false, "what no pip call may move: constraints.txt")

/* One file for all cells. */
#define PIPELINES(T) \
	T(bake, false, "all cells for `docker buildx bake`: docker-bake.hcl") \
	T(github, false, \
	  "check, build, verify and publish as a workflow of GitHub Actions: github.yml") \
	T(gitlab, false, "the same as a pipeline of GitLab CI: gitlab-ci.yml")

static const struct target_row rows[] = {
#define ROW(name, by_default, what) { #name, what, by_default },
	TARGETS(ROW) PIPELINES(ROW)
#undef ROW
};

static target_write *const writers[] = {
#define WRITER(name, by_default, what) name##_render,
	TARGETS(WRITER)
#undef WRITER
};

static pipeline_write *const pipelines[] = {
#define WRITER(name, by_default, what) name##_render,
	PIPELINES(WRITER)
#undef WRITER
};

enum { NTARGETS = sizeof(rows) / sizeof(rows[0]), NCELL = sizeof(writers) / sizeof(writers[0]) };

const struct target_row *
render_targets(size_t *n)
{
	*n = NTARGETS;
	return rows;
}

/* --- which ones --- */

static size_t
target_named(const char *name)
{
	size_t i = 0;

	while (i < NTARGETS && strcmp(rows[i].name, name))
		i++;
	return i;
}

/* wanted[i]: whether target i is to be written. */
static void
choose(const struct render_input *in, bool wanted[NTARGETS])
{
	for (size_t i = 0; i < NTARGETS; i++)
		wanted[i] = !in->targets && rows[i].by_default;
	for (size_t i = 0; in->targets && i < in->ntargets; i++) {
		size_t k = target_named(in->targets[i]);

		if (k == NTARGETS)
			BUG("there is no target `%s`", in->targets[i]);
		wanted[k] = true;
	}
}

/* --- what could not be written --- */

static const char *
where_and_what(struct arena *a, const char *target, const struct diag *d)
{
	return arena_printf(a, "%s %u %u %u %s", target, d->code, d->at.line, d->at.col, d->text);
}

/* The same thing is said once, not once a cell. */
static struct diag *
say(struct diags *ds, struct map *said, enum code code, const char *target, const struct diag *d,
    const char *text)
{
	struct diag *copy;

	if (map_put(said, where_and_what(ds->arena, target, d), (void *)d))
		return NULL;
	copy = diag_at(ds, code, d->at, "%s", text);
	copy->notes = d->notes;
	copy->tail = copy->notes ? d->tail : &copy->notes;
	return copy;
}

struct refusal {
	size_t target;
	const struct diag *d;
};
struct refusals LIST(struct refusal);

/* Warnings are passed on at once; what an error becomes is known at the end. */
static void
sort_out(struct diags *ds, struct map *said, const struct diags *from, size_t target,
	 struct refusals *refused)
{
	for (const struct diag *d = from->head; d; d = d->next) {
		if (diag_severity(d) == SEV_ERROR)
			list_push(ds->arena, refused, (struct refusal){ target, d });
		else
			say(ds, said, d->code, rows[target].name, d, d->text);
	}
}

static void
report(struct diags *ds, struct map *said, const struct refusals *refused, bool left_out)
{
	for (size_t i = 0; i < refused->n; i++) {
		const struct diag *d = refused->at[i].d;
		const char *name = rows[refused->at[i].target].name;

		if (left_out)
			say(ds, said, W_TARGET_LEFT_OUT, name, d,
			    arena_printf(ds->arena, "left out: %s: %s", name, d->text));
		else
			say(ds, said, d->code, name, d, d->text);
	}
}

/* --- writing --- */

/* A copy in `a` of what was made in an arena that goes away. */
static struct rendered
kept(struct arena *a, const struct rendered *r)
{
	struct rendered copy = *r;

	copy.text = arena_copy(a, r->text, r->size);
	copy.path = arena_strdup(a, r->path);
	copy.summary = r->summary ? arena_strdup(a, r->summary) : NULL;
	copy.next = r->next ? arena_strdup(a, r->next) : NULL;
	copy.instructions = (struct instructions){ 0 };
	for (size_t i = 0; i < r->instructions.n; i++) {
		struct instruction one = r->instructions.at[i];

		one.stage = arena_strdup(a, one.stage);
		one.step = one.step ? arena_strdup(a, one.step) : NULL;
		list_push(a, &copy.instructions, one);
	}
	return copy;
}

static bool
write_cell(struct arena *a, struct diags *ds, const struct render_input *in, const struct plan *p,
	   const struct names *forced, size_t target, struct rendereds *out)
{
	struct arena *scratch = arena_new();
	struct rendereds made = { 0 };
	bool good = in->build && writers[target] == dockerfile_render ?
			    dockerfile_for(scratch, ds, p, in->templates, in->build, &made) :
			    writers[target](scratch, ds, p, in->templates, &made);

	for (size_t i = 0; good && i < made.n; i++) {
		struct rendered r = kept(a, &made.at[i]);

		r.target = rows[target].name;
		if (forced->n)
			forced_write(a, forced, &r);
		if (in->recipes->matrix)
			r.path = fs_join(a, p->stack->recipe->cell, r.path);
		list_push(a, out, r);
	}
	arena_free(scratch);
	return good;
}

/* What is said of one target while all cells are written. */
struct run {
	bool wanted[NTARGETS];
	struct refusals refused;
	struct map said;
};

static bool
write_targets(struct arena *a, struct diags *ds, const struct render_input *in,
	      const struct plan *p, const struct names *forced, struct run *r,
	      struct rendereds *out)
{
	bool good = true;

	for (size_t i = 0; i < NCELL; i++) {
		struct diags own;

		if (!r->wanted[i])
			continue;
		diags_init(&own, ds->arena);
		good = write_cell(a, &own, in, p, forced, i, out) && good;
		sort_out(ds, &r->said, &own, i, &r->refused);
	}
	return good;
}

static bool
write_pipelines(struct arena *a, struct diags *ds, const struct render_input *in,
		const struct pipeline *p, const struct run *r, struct rendereds *out)
{
	bool good = true;

	for (size_t i = NCELL; i < NTARGETS; i++) {
		if (!r->wanted[i] || !p->cells.n)
			continue;
		good = pipelines[i - NCELL](a, ds, p, in->templates, out) && good;
		if (good)
			out->at[out->n - 1].target = rows[i].name;
	}
	return good;
}

/* Whether the app is refused that a recipe asks for. */
static bool
lacks_modal(const struct recipes *all, const struct refusals *refused)
{
	bool asked = false, lacks = false;

	for (size_t i = 0; i < all->n; i++)
		asked |= all->at[i]->modal.at.line != 0;
	for (size_t i = 0; i < refused->n; i++)
		lacks |= refused->at[i].target == target_named("modal");
	return asked && lacks;
}

bool
render(struct arena *a, struct diags *ds, const struct render_input *in, struct rendereds *out)
{
	struct run r = { .said = MAP(ds->arena) };
	struct pipeline pipeline = { 0 };
	bool planned = true, good = true;

	choose(in, r.wanted);
	for (size_t i = 0; i < in->recipes->n; i++) {
		struct arena *scratch = arena_new();
		struct diag **found = ds->tail;
		const struct plan *p = in->plan(in->ctx, scratch, ds, in->recipes->at[i]);
		struct names forced = forced_lines(a, *found);

		if (p) {
			good = write_targets(a, ds, in, p, &forced, &r, out) && good;
			pipeline_add(a, &pipeline, p);
		} else {
			planned = false;
		}
		arena_free(scratch);
	}
	if (planned && !write_pipelines(a, ds, in, &pipeline, &r, out))
		return false;
	good = good ||
	       (!in->targets && out->n && (in->force || !lacks_modal(in->recipes, &r.refused)));
	report(ds, &r.said, &r.refused, good);
	return good && planned;
}

void
render_judge(struct arena *a, struct diags *ds, const struct plan *p)
{
	struct refusals refused = { 0 };
	struct map said = MAP(ds->arena);
	struct diags own;

	if (!p->stack->recipe->modal.at.line)
		return;
	diags_init(&own, ds->arena);
	modal_judge(a, &own, p);
	sort_out(ds, &said, &own, target_named("modal"), &refused);
	report(ds, &said, &refused, false);
}

/* --- the manifest --- */

static void
inputs_json(struct json *j, const struct render_input *in)
{
	json_list(j, "cells");
	for (size_t i = 0; i < in->recipes->n; i++) {
		const struct recipe *r = in->recipes->at[i];

		json_row(j, NULL);
		json_text(j, "cell", r->cell);
		json_text(j, "recipe", r->digest);
		json_end(j);
	}
	json_end(j);
}

static void
outputs_json(struct arena *a, struct json *j, const struct rendereds *files)
{
	json_list(j, "files");
	for (size_t i = 0; i < files->n; i++) {
		const struct rendered *r = &files->at[i];

		json_row(j, NULL);
		json_text(j, "path", r->path);
		json_text(j, "target", r->target);
		json_text(j, "digest",
			  arena_printf(a, "sha256:%s", sha256_hex(a, r->text, r->size)));
		json_int(j, "size", (long long)r->size);
		if (r->forced.n) {
			json_list(j, "forced");
			for (size_t k = 0; k < r->forced.n; k++)
				json_text(j, NULL, r->forced.at[k]);
			json_end(j);
		}
		json_end(j);
	}
	json_end(j);
}

struct rendered
render_manifest(struct arena *a, const struct render_input *in, const struct rendereds *files,
		const char *version)
{
	const struct recipe *first = in->recipes->at[0];
	struct buf b = BUF(a);
	struct json j = json_to(&b);

	json_map(&j, NULL);
	json_text(&j, "stackbuild", version);
	json_text(&j, "stack", first->stack.s);
	json_text(&j, "variant", first->variant);
	json_text(&j, "knowledge", facts_date(in->facts));
	json_text(&j, "templates", templates_digest(a, in->templates));
	inputs_json(&j, in);
	outputs_json(a, &j, files);
	json_end(&j);
	return (struct rendered){
		.path = "stackbuild.json", .text = buf_text(&b), .size = b.n, .mode = 0644
	};
}

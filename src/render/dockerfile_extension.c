#include "dockerfile.h"
#include "inputs.h"

/* An extension in stages of its own: its source, what its wheel depends on, the compile. */

bool
docker_needs_first(const struct step *s)
{
	return s->kind == STEP_EXTENSION && s->extension->source != SOURCE_GIT;
}

/* Extensions that this one needs are installed before it is compiled. */
static void
needed_wheels(struct docker_writer *w, const struct step *s, struct scope *out)
{
	for (size_t i = 0; i < s->inputs.n; i++) {
		const struct step *other = plan_step(w->plan, s->inputs.at[i]);

		if (other->kind == STEP_EXTENSION)
			docker_runs(w, other, PART_INSTALL, out);
	}
}

static void
own_stage(struct docker_writer *w, const struct docker_stage *stage, const struct step *s,
	  struct scope *out)
{
	const char *gpus = own_gpus(w->a, w->plan->stack, s->extension);

	if (gpus && stage->parts & PART_BUILD)
		docker_remarks(w, out, gpus);
	if (stage->parts & PART_FILES)
		docker_files(w, s, out);
	if (docker_needs_first(s) && stage->parts & PART_FETCH)
		needed_wheels(w, s, out);
	docker_runs(w, s, stage->parts & PART_FETCH, out);
	if (!docker_needs_first(s) && stage->parts & PART_BUILD)
		needed_wheels(w, s, out);
	docker_runs(w, s, stage->parts & PART_BUILD, out);
}

/* What its wheel depends on, read where it will be compiled. */
static void
inputs_stage(struct docker_writer *w, const struct step *s, struct scope *out)
{
	struct variables after = { 0 };
	struct names compiled = { 0 };
	struct step reader;
	struct scope *run;

	for (size_t i = 0; i < s->inputs.n; i++) {
		const struct step *other = plan_step(w->plan, s->inputs.at[i]);

		if (other->kind != STEP_EXTENSION)
			continue;
		if (!docker_compiles(other, w->build)) {
			docker_runs(w, other, PART_INSTALL, out);
			continue;
		}
		list_push(w->a, &compiled, other->id);
		list_push(
			w->a, &after,
			(struct variable){ other->extension->name,
					   arena_printf(w->a, "/after/%s" DOCKER_INPUTS "/%s.json",
							other->id, other->id),
					   false });
	}
	reader = inputs_step(w->a, w->plan, s, &after);
	docker_files(w, &reader, out);
	run = docker_runs(w, &reader, PART_BUILD, out);
	for (size_t i = 0; i < compiled.n; i++)
		docker_bind(arena_printf(w->a, "inputs-%s", compiled.at[i]),
			    arena_printf(w->a, "/after/%s", compiled.at[i]), run);
}

const char *
docker_remark(const struct docker_stage *stage, const struct step *s)
{
	if (s->kind != STEP_EXTENSION)
		return s->why;
	if (stage->reads)
		return "what its wheel depends on";
	if (!stage->builds)
		return "the wheel from its stage";
	return stage->parts & PART_BUILD ? s->why : "its source";
}

/* What a stage beside the trunk writes is in no other stage. */
static struct map
own_map(const struct map *trunk)
{
	struct map m = MAP(trunk->a);

	for (size_t i = 0; i < trunk->cap; i++)
		if (trunk->slots[i].key)
			map_put(&m, trunk->slots[i].key, trunk->slots[i].value);
	return m;
}

void
docker_extension(struct docker_writer *w, const struct docker_stage *stage, const struct step *s,
		 struct scope *out)
{
	struct map folders = MAP(w->a), files = MAP(w->a);
	struct docker_writer own = *w;

	own.folders = &folders;
	own.files = &files;
	if (stage->reads) {
		inputs_stage(&own, s, out);
	} else {
		folders = own_map(w->folders);
		files = own_map(w->files);
		own_stage(&own, stage, s, out);
	}
	w->good = own.good;
}

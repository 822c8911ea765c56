#include "dockerfile.h"
#include "inputs.h"

/* An extension in stages of its own: its source, what its wheel depends on, the compile. */

static void
own_stage(struct docker_writer *w, const struct docker_stage *stage, const struct step *s,
	  struct scope *out)
{
	const char *gpus = own_gpus(w->a, w->plan->stack, s->extension);

	if (gpus && stage->parts & PART_BUILD)
		docker_remarks(w, out, gpus);
	docker_runs(w, s, stage->parts, out);
}

/* What its wheel depends on, read where it will be compiled. */
static void
inputs_stage(struct docker_writer *w, const struct step *s, struct scope *out)
{
	struct step reader = inputs_step(w->a, w->plan, s);

	docker_files(w, &reader, out);
	docker_runs(w, &reader, PART_BUILD, out);
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

void
docker_extension(struct docker_writer *w, const struct docker_stage *stage, const struct step *s,
		 struct scope *out)
{
	/* What a stage beside the trunk writes is in no other stage. */
	struct map folders = MAP(w->a), files = MAP(w->a);
	struct docker_writer own = *w;

	own.folders = &folders;
	own.files = &files;
	if (stage->reads)
		inputs_stage(&own, s, out);
	else
		own_stage(&own, stage, s, out);
	w->good = own.good;
}

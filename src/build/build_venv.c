/* Runs the script target on this host: the same steps, in a virtual environment. */
#include "work.h"

#include <string.h>

#include "base/fs.h"
#include "engine_parts.h"

struct script {
	const char *path, *venv;
	const char *inputs, *wheels;
};

/* until_inputs: the script stops before it compiles, when it has written the inputs of the wheels. */
static bool
run_script(struct work *w, const struct script *s, bool until_inputs)
{
	struct engine_command c = { 0 };

	engine_add(w->a, &c, w->o->state->at.client, s->path, s->venv, NULL);
	if (w->secrets)
		list_push(w->a, &c.env, arena_printf(w->a, "SECRETS=%s", w->secrets));
	list_push(w->a, &c.env, arena_printf(w->a, "APP=%s", w->app));
	if (w->o->jobs)
		list_push(w->a, &c.env, arena_printf(w->a, "MAX_JOBS=%u", w->o->jobs));
	list_push(w->a, &c.env, "STACKBUILD_MARKS=1");
	list_push(w->a, &c.env, arena_printf(w->a, "STACKBUILD_WHEELS=%s", s->wheels));
	list_push(w->a, &c.env,
		  until_inputs ? arena_printf(w->a, "STACKBUILD_INPUTS=%s", s->inputs) :
				 "STACKBUILD_INPUTS");
	list_push(w->a, &c.env, until_inputs ? "STACKBUILD_UNTIL=inputs" : "STACKBUILD_UNTIL");
	return work_run(w, c, (struct instructions){ 0 });
}

/* An extension that is installed already has no inputs, and needs no wheel. */
static void
drop_installed(struct work *w, const char *inputs)
{
	struct wanted_wheel *at = w->wanted.at;
	size_t n = w->wanted.n;

	w->wanted.n = 0;
	for (size_t i = 0; i < n; i++)
		if (fs_exists(fs_join(w->a, inputs, arena_printf(w->a, "%s.json", at[i].step->id))))
			at[w->wanted.n++] = at[i];
}

/* Takes wheels from the stores, by what they depend on in this environment. */
static bool
take_wheels(struct work *w, const struct script *s)
{
	w->preparing = true;
	if (!run_script(w, s, true))
		return false;
	w->preparing = false;
	drop_installed(w, s->inputs);
	return wheels_keys(w, s->inputs) && wheels_take(w, s->wheels);
}

bool
build_venv(struct work *w, struct build_record *record)
{
	const char *path = fs_join(w->a, w->o->out, "setup.sh");
	const struct rendered *r = work_render(w, "script", path, false);
	struct script s = { .inputs = work_folder(w, "inputs"),
			    .wheels = work_folder(w, "wheels") };

	if (!r || !s.inputs || !s.wheels)
		return false;
	w->dockerfile_text = r->text;
	s.path = fs_real(w->a, path);
	s.venv = fs_join(w->a, fs_real(w->a, w->o->out), "venv");
	if ((w->wanted.n && !take_wheels(w, &s)) || !run_script(w, &s, false))
		return false;
	record->image = s.venv;
	return !wheels_missing(w) || wheels_keep(w, s.wheels, NULL);
}

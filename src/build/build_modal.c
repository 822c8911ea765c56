/* Modal builds where it runs: its own client deploys the rendered app. */
#include "work.h"

#include "base/fs.h"

bool
build_modal(struct work *w, struct build_record *record)
{
	const char *path = fs_join(w->a, w->o->out, "modal_app.py");
	const struct rendered *r = work_render(w, "modal", path, false);
	struct engine_command c;

	if (!r)
		return false;
	w->dockerfile_text = r->text;
	c = w->o->engine->apply(w->a, &w->o->state->at, &(struct engine_apply){ .file = path });
	record->image = w->plan->name;
	return work_run(w, &c, (struct instructions){ 0 });
}

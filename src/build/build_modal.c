/* Modal builds where it runs: its own client deploys the rendered app. */
#include "work.h"

#include "base/fs.h"

bool
build_modal(struct work *w, struct build_record *record)
{
	const struct rendered *r = work_render(w, "modal", false);
	const char *path = fs_join(w->a, w->o->out, "modal_app.py");
	struct engine_command c;

	if (!r || !fs_write(w->ds, path, r->text, r->size, r->mode, false, NULL))
		return false;
	w->dockerfile_text = r->text;
	c = w->o->engine->apply(w->a, &w->o->state->at, &(struct engine_apply){ .file = path });
	record->image = w->plan->name;
	return work_run(w, &c, (struct instructions){ 0 });
}

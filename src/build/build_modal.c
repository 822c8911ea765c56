/* Modal builds where it runs: its own client deploys the rendered app. */
#include "work.h"

#include "base/fs.h"
#include "engine_parts.h"

bool
build_modal(struct work *w, struct build_record *record)
{
	const char *path = fs_join(w->a, w->o->out, "modal_app.py");
	const struct rendered *r = work_render(w, "modal", path, false);
	struct engine_command c = { 0 };

	if (!r)
		return false;
	w->dockerfile_text = r->text;
	list_push(w->a, &c.argv, w->o->state->at.client);
	list_push(w->a, &c.argv, "deploy");
	list_push(w->a, &c.argv, engine_path(w->a, path));
	record->image = w->plan->name;
	return work_run(w, &c, (struct instructions){ 0 });
}

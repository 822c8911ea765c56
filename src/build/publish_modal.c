#include <stdio.h>
#include <string.h>

#include "base/embed.h"
#include "base/fs.h"
#include "engine_parts.h"
#include "publish.h"

/*
 * Modal names an image that a script has built: templates/modal_publish.py imports the rendered app
 * and does both.  The client runs it, so that its Python is the client's.
 */
bool
publish_modal(struct arena *a, struct diags *ds, const struct engine_state *state, const char *out,
	      const char *name)
{
	const struct source *script = embedded_template("modal_publish.py");
	const char *path = fs_join(a, out, "modal_publish.py");
	const char *const argv[] = { state->at.client, "run", path, "--name", name, NULL };
	const struct proc_spec spec = { .argv = argv, .keep = 16 * 1024 };
	struct proc_result r;
	struct diag *d;

	if (!fs_write(ds, path, script->text, script->size, 0644, false, NULL))
		return false;
	fprintf(stderr, "building and naming %s with modal\n", name);
	if (proc_run(a, &spec, &r))
		return true;
	d = diag_at(ds, E_PUSH, (struct span){ 0 }, "modal could not build and name `%s`: %s", name,
		    !r.started    ? strerror(r.error) :
		    r.interrupted ? "interrupted" :
				    arena_printf(a, "exit status %d", r.status));
	if (r.started)
		diag_why(d, "%s", engine_said(a, &r));
	return false;
}

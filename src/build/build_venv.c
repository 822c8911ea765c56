/* The script target, on this host: the same steps, a virtual environment instead of an image. */
#include "work.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"

struct script {
	const char *path, *venv;
	const char *inputs, *wheels, *secrets; /* folders; secrets: or NULL */
};

static bool
run_script(struct work *w, const struct script *s, const char *until)
{
	const struct engine_apply x = { .file = s->path,
					.folder = s->venv,
					.secrets = s->secrets,
					.app = w->app,
					.jobs = w->o->jobs };
	struct engine_command c = w->o->engine->apply(w->a, &w->o->state->at, &x);

	list_push(w->a, &c.env, "STACKBUILD_MARKS=1");
	list_push(w->a, &c.env,
		  until ? arena_printf(w->a, "STACKBUILD_INPUTS=%s", s->inputs) :
			  "STACKBUILD_INPUTS");
	list_push(w->a, &c.env, arena_printf(w->a, "STACKBUILD_WHEELS=%s", s->wheels));
	list_push(w->a, &c.env,
		  until ? arena_printf(w->a, "STACKBUILD_UNTIL=%s", until) : "STACKBUILD_UNTIL");
	return work_run(w, &c, (struct instructions){ 0 });
}

/* The script looks for secrets in one folder, under their names. */
static bool
gather_secrets(struct work *w, struct script *s)
{
	const char *folder;

	if (!w->secret_files.n)
		return true;
	if (!(folder = work_folder(w, "secrets")) || chmod(folder, 0700) != 0)
		return false;
	for (size_t i = 0; i < w->secret_files.n; i++) {
		const char *at = w->secret_files.at[i], *eq = at;

		while (*eq != '=')
			eq++;
		if (symlink(eq + 1,
			    fs_join(w->a, folder, arena_copy(w->a, at, (size_t)(eq - at)))) != 0)
			return false;
	}
	s->secrets = fs_real(w->a, folder);
	return true;
}

/* What is in the environment already is not fetched again: it has no inputs, and needs no wheel. */
static void
forget_installed(struct work *w, const char *inputs)
{
	struct wanted_wheel *at = w->wanted.at;
	size_t n = w->wanted.n;

	w->wanted.n = 0;
	for (size_t i = 0; i < n; i++)
		if (fs_exists(fs_join(w->a, inputs, arena_printf(w->a, "%s.json", at[i].step->id))))
			at[w->wanted.n++] = at[i];
}

bool
build_venv(struct work *w, struct build_record *record)
{
	struct script s = { 0 };
	const char *path = fs_join(w->a, w->o->out, "setup.sh");
	const struct rendered *r = work_render(w, "script", path, false);

	if (!r || !gather_secrets(w, &s))
		return false;
	w->dockerfile_text = r->text;
	s.path = fs_real(w->a, path);
	s.venv = fs_join(w->a, fs_real(w->a, w->o->out), "venv");
	s.inputs = work_folder(w, "inputs");
	s.wheels = work_folder(w, "wheels");
	if (!s.inputs || !s.wheels)
		return false;
	s.inputs = fs_real(w->a, s.inputs);
	s.wheels = fs_real(w->a, s.wheels);
	if (w->wanted.n) {
		w->preparing = true;
		if (!run_script(w, &s, "inputs"))
			return false;
		w->preparing = false;
		forget_installed(w, s.inputs);
		if (!wheels_keys(w, s.inputs) || !wheels_take(w, s.wheels))
			return false;
	}
	if (!run_script(w, &s, NULL))
		return false;
	record->image = s.venv;
	return !wheels_missing(w) || wheels_keep(w, s.wheels);
}

#include "base/fs.h"
#include "internal.h"

/* The command of the application: whether the recipe brings its program and its files. */

/* Programs that no base image brings: the packages of PyPI, and those of the system, that do. */
static const struct {
	const char *programs, *packages, *apt;
} brought[] = {
	{ "accelerate", "accelerate", "" },
	{ "bentoml", "bentoml", "" },
	{ "celery", "celery", "" },
	{ "deepspeed", "deepspeed", "" },
	{ "dumb-init", "dumb-init", "dumb-init" },
	{ "ffmpeg", "", "ffmpeg" },
	{ "gosu", "", "gosu" },
	{ "gunicorn", "gunicorn", "gunicorn" },
	{ "hypercorn", "hypercorn", "" },
	{ "jupyter jupyter-lab jupyter-notebook",
	  "jupyterlab jupyter notebook jupyter-core nbclassic", "jupyter-notebook" },
	{ "litserve", "litserve", "" },
	{ "mlflow", "mlflow", "" },
	{ "nginx", "", "nginx nginx-light nginx-full" },
	{ "node npm", "", "nodejs npm" },
	{ "pdm", "pdm", "" },
	{ "pipenv", "pipenv", "pipenv" },
	{ "poetry", "poetry", "python3-poetry" },
	{ "ray", "ray vllm", "" },
	{ "sglang", "sglang", "" },
	{ "sshd", "", "openssh-server ssh" },
	{ "streamlit", "streamlit", "" },
	{ "supervisord", "supervisor", "supervisor" },
	{ "tini", "", "tini" },
	{ "torchrun", "torch", "" },
	{ "uv", "uv", "" },
	{ "uvicorn", "uvicorn fastapi fastapi-cli vllm sglang gradio mlflow bentoml litserve cog",
	  "uvicorn" },
	{ "vllm", "vllm", "" },
};

/* Returns the base image, whose own programs and files are unknown if source is NULL. */
static struct image_name
image_of(const struct workspace *w)
{
	return facts_image_name(w->f, w->s->base.value ? w->s->base.value : "");
}

/* Returns whether the packages may bring more programs than their names show. */
static bool
may_bring_more(const struct workspace *w)
{
	const struct recipe *r = w->r;

	return (r->app.requirements.s && !r->app.needs) || w->s->extensions.n ||
	       list_any(x, &r->packages, x->req->url) ||
	       (r->app.needs &&
		(r->app.needs->lines.n || list_any(x, &r->app.needs->requirements, x->req->url)));
}

static bool
is_brought(const struct workspace *w, const char *packages, const char *apt)
{
	const struct recipe *r = w->r;

	return list_any(x, &r->packages, among(x->req->key, packages)) ||
	       (r->app.needs &&
		list_any(x, &r->app.needs->requirements, among(x->req->key, packages))) ||
	       list_any(x, &r->torch.with, among(x->req->key, packages)) ||
	       (w->s->torch.value && among("torch", packages)) ||
	       list_any(x, r->runtime.at.line ? &r->runtime.apt : &r->apt,
			among(arena_copy(w->a, x->s, strcspn(x->s, ":=")), apt));
}

static void
check_program(struct workspace *w, struct text word)
{
	const char *name = starts_with(word.s, "/usr/") || starts_with(word.s, "/bin/") ||
					   starts_with(word.s, "/sbin/") ?
				   fs_name(word.s) :
				   word.s;
	struct diag *d;

	for (size_t i = 0; i < COUNT(brought); i++) {
		const char *add = *brought[i].packages ? brought[i].packages : brought[i].apt;

		if (!among(name, brought[i].programs) ||
		    is_brought(w, brought[i].packages, brought[i].apt) ||
		    (*brought[i].packages && may_bring_more(w)))
			continue;
		d = diag_at(w->ds, W_COMMAND, word.at, "the image has no program `%s`", name);
		diag_why(d, "nothing that the recipe installs brings it");
		diag_help(d, "add `%s` to `%s`", arena_copy(w->a, add, strcspn(add, " ")),
			  *brought[i].packages  ? "packages" :
			  w->r->runtime.at.line ? "runtime: {apt: [...]}" :
						  "apt");
	}
}

/* Returns whether app.copy brings a file, by itself or in a directory. */
static bool
is_copied(const struct workspace *w, const char *file)
{
	list_each (x, &w->r->app.copy) {
		const char *copy = fs_clean(w->a, x->s);
		size_t n = strlen(copy);

		if (!strcmp(copy, ".") || (!strncmp(copy, file, n) && (!file[n] || file[n] == '/')))
			return true;
	}
	return false;
}

static void
check_file(struct workspace *w, struct text word)
{
	const char *file = starts_with(word.s, "/app/") ? word.s + 5 : word.s;
	struct diag *d;

	file = fs_clean(w->a, file);
	if (!str_matches(word.s, "^(/app/|[.]/)?[A-Za-z0-9_][A-Za-z0-9_./-]*[.](py|sh)$") ||
	    is_copied(w, file))
		return;
	d = diag_at(w->ds, W_COMMAND, word.at, "the image has no file `%s`", word.s);
	diag_why(d, "`app.copy` does not copy it to /app");
	diag_help(d, "add `%s` to `app: {copy: [...]}`", file);
}

/* Checks the program of the command, also behind a wrapper, and the scripts among its words. */
void
check_command(struct workspace *w)
{
	const struct texts words = recipe_command(w->a, w->r);
	const struct image_name image = image_of(w);
	size_t program = 0;

	if (!image.source && !image.os && !image.cuda)
		return;
	while (program + 1 < words.n &&
	       (among(fs_name(words.at[program].s), "tini dumb-init env") ||
		among(words.at[program].s, "-- -g")))
		program++;
	if (words.n && !image.own_torch)
		check_program(w, words.at[0]);
	if (program && !image.own_torch)
		check_program(w, words.at[program]);
	list_each (x, &words)
		check_file(w, *x);
}

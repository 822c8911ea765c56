#include <stdlib.h>

#include "internal.h"

/* What several rows ask of the recipe and of the variables. */

int
text_version_order(struct workspace *w, const char *x, const char *y)
{
	const struct version *vx = version_parse(w->a, x), *vy = version_parse(w->a, y);

	return vx && vy ? version_cmp(vx, vy) : strcmp(x, y);
}

int
requested(const struct workspace *w, unsigned variable)
{
	size_t n = w->variables.at[variable]->t.n;

	for (size_t i = 0; i < w->solver_pins.n; i++) {
		const struct solve_pin *p = &w->solver_pins.at[i];

		if (p->variable != variable || solve_set_count(p->set, n) != 1)
			continue;
		for (size_t k = 0; k < n; k++)
			if (solve_set_has(p->set, k))
				return (int)k;
	}
	return -1;
}

bool
is_requested(const struct workspace *w, unsigned variable)
{
	for (size_t i = 0; i < w->requests.n; i++)
		if (w->requests.at[i].variable == variable &&
		    w->requests.at[i].kind != REQUEST_NEED)
			return true;
	return false;
}

const char *
env_value(const struct workspace *w, const char *name)
{
	for (size_t i = 0; i < w->r->env.n; i++)
		if (!strcmp(w->r->env.at[i].name.s, name))
			return w->r->env.at[i].value.s;
	return NULL;
}

bool
has_custom_index(const struct workspace *w)
{
	const char *url = w->r->torch.index.s;
	size_t n = url ? strlen(url) : 0, start;
	const char *known;

	if (!url || !strstr(url, "://"))
		return false;
	while (n && url[n - 1] == '/')
		n--;
	start = n;
	while (start && url[start - 1] != '/')
		start--;
	known = facts_torch_index(w->f, w->a, arena_copy(w->a, url + start, n - start));
	return strlen(known) != n || memcmp(known, url, n) != 0;
}

const char *
requested_cuda(const struct workspace *w)
{
	return w->r->cuda.s ? w->r->cuda.s : w->image.cuda;
}

bool
selects_image(const struct workspace *w)
{
	return !w->r->base.s && (w->r->cuda_from == CUDA_AUTO || w->r->cuda_from == CUDA_IMAGE);
}

solve_word *
set_cuda(struct workspace *w, unsigned cuda, const char *version)
{
	const struct solver_variable *t = variable_at(w, cuda);
	bool series = !strcmp(version_series(w->a, version), version);
	solve_word *set = set_none(w, cuda);

	for (size_t i = 0; i < t->n; i++)
		if (series ? !strcmp(version_series(w->a, t->c[i].text), version) :
			     !text_version_order(w, t->c[i].text, version))
			solve_set_add(set, i);
	return set;
}

static bool
is_for(struct workspace *w, const char *tag, unsigned long major)
{
	const char *cuda = cuda_of_tag(w->a, tag);

	return cuda && strtoul(cuda, NULL, 10) == major;
}

solve_word *
set_builds_of(struct workspace *w, unsigned build, unsigned long major)
{
	const struct solver_variable *t = variable_at(w, build);
	solve_word *set = set_none(w, build);

	for (size_t i = 0; i < t->n; i++)
		if (is_for(w, t->c[i].text, major))
			solve_set_add(set, i);
	return set;
}

const char *
build_label(struct workspace *w, unsigned build, unsigned long major)
{
	int asked = requested(w, build);
	const char *tag = asked < 0 ? NULL : variable_at(w, build)->c[asked].text;

	if (tag && is_for(w, tag, major))
		return arena_printf(w->a, "torch's %s build", tag);
	return arena_printf(w->a, "torch built for CUDA %lu", major);
}

bool
is_compiled(const struct recipe_extension *e)
{
	return e->from != EXT_WHEEL && e->from != EXT_RELEASE &&
	       !(e->url.s && recipe_names_wheel(e->url.s));
}

const char *
torch_companion(const struct torch_release *t, const char *key)
{
	return !strcmp(key, "torchvision") ? t->torchvision :
	       !strcmp(key, "torchaudio")  ? t->torchaudio :
					     NULL;
}

bool
is_companion(const char *key)
{
	return !strcmp(key, "torchvision") || !strcmp(key, "torchaudio");
}

const char *
recipe_machine(const struct recipe *r)
{
	return r->platform.s && starts_with(r->platform.s, "linux/arm64") ? "aarch64" : "x86_64";
}

/* A marker that cannot be evaluated (it asks for the host's kernel) holds. */
solve_word *
set_pythons_where(struct workspace *w, const struct marker *m)
{
	unsigned python = variable_get(w, VARIABLE_PYTHON, "python");
	const struct solver_variable *t = variable_at(w, python);
	solve_word *set = set_none(w, python);

	for (size_t i = 0; i < t->n; i++) {
		size_t digits = strspn(t->c[i].text, "0123456789.");
		struct marker_env env = marker_env_linux(
			w->a, arena_copy(w->a, t->c[i].text, digits), recipe_machine(w->r));
		bool holds;

		if (!marker_eval(m, &env, &holds) || holds)
			solve_set_add(set, i);
	}
	return set;
}

/* True if the recipe asks for the build without CUDA, or for one that nothing is known of. */
static bool
takes_cpu(struct workspace *w)
{
	int build = variable_find(w, "torch build");
	int asked = build < 0 ? -1 : requested(w, (unsigned)build);

	return has_custom_index(w) ||
	       (asked >= 0 && !cuda_of_tag(w->a, variable_at(w, (unsigned)build)->c[asked].text));
}

const char *
gpu_evidence(struct workspace *w)
{
	return takes_cpu(w)      ? NULL :
	       w->r->gpus.n      ? "names GPUs" :
	       w->r->driver.s    ? "names a driver" :
	       w->r->modal.gpu.s ? "takes a GPU at Modal" :
	       w->compiles       ? "compiles extensions" :
	       requested_cuda(w) ? "asks for CUDA" :
				   NULL;
}

#include <string.h>

#include "cuda/cuda.h"
#include "docker.h"

/* ARG, ENV, and the settings of commands: `gpus`, `env` of an extension or of the image. */

static void
set_variable(struct docker *d, const char *name, const char *value)
{
	struct variable *v = arena_new_of(d->rd->a, struct variable);

	v->value = value;
	map_put(&d->vars, name, v);
}

/* --- the GPUs --- */

/* Variables that name the GPUs of a compile, of torch, CMake and extensions. */
static bool
names_architectures(const char *name)
{
	return among(name, "TORCH_CUDA_ARCH_LIST TCNN_CUDA_ARCHITECTURES CMAKE_CUDA_ARCHITECTURES "
			   "CUDAARCHS CUDA_ARCHITECTURES CUDA_ARCH_LIST FLASH_ATTN_CUDA_ARCHS "
			   "NATTEN_CUDA_ARCH GSPLAT_CUDA_ARCH_LIST");
}

/* Returns "8.6" for "86", as CMake writes it; another text unchanged. */
static const char *
with_point(struct arena *a, const char *text)
{
	size_t n = strspn(text, "0123456789");

	return n > 1 && n < 4 && (!text[n] || text[n] == 'a' || !strcmp(text + n, "-real")) ?
		       arena_printf(a, "%.*s.%c", (int)n - 1, text, text[n - 1]) :
		       text;
}

/* Adds an item for each value of "7.0 8.6+PTX", which may have semicolons. */
static void
take_architectures(struct docker *d, struct init_item *item, const char *value)
{
	struct init *rd = d->rd;
	struct span at = item->at;

	item->fate = INIT_PARTS;
	for (const char *p = value + strspn(value, " ;,"); *p; p += strspn(p, " ;,")) {
		const char *text = arena_copy(rd->a, p, strcspn(p, " ;,"));
		struct init_item *part = item_open(rd, text, at);
		struct capability c;

		p += strlen(text);
		if (!capability_parse(with_point(rd->a, text), &c)) {
			item_leave(rd, part, "it is not a compute capability");
			continue;
		}
		if (c.ptx)
			item_changed(rd, at, "`%s` became `gpus` without PTX", text);
		c.ptx = false;
		text = capability_text(rd->a, &c);
		if (facts_cc(rd->f, text))
			item_take(rd, part, "gpus", text);
		else
			item_leave(rd, part,
				   "the knowledge base does not list this compute capability");
	}
}

/* --- the compile of extensions --- */

/* Variables that change how an extension is compiled, and that a build does not set itself. */
static bool
steers_build(const char *name)
{
	return among(name,
		     "MAX_JOBS NVCC_THREADS FORCE_CUDA TORCH_NVCC_FLAGS NVCC_FLAGS "
		     "NVCC_APPEND_FLAGS NVCC_PREPEND_FLAGS CMAKE_ARGS CFLAGS CXXFLAGS LDFLAGS "
		     "CMAKE_BUILD_PARALLEL_LEVEL BUILD_CUDA_EXT APEX_CPP_EXT APEX_CUDA_EXT "
		     "VLLM_TARGET_DEVICE") ||
	       str_matches(name, "^(FLASH_ATTENTION|FLASH_ATTN|NATTEN|DS_BUILD|XFORMERS|NVTE|MMCV|"
				 "SAGEATTN|BUILD_WITH)_[A-Z0-9_]+$");
}

void
docker_keep_settings(struct docker *d)
{
	for (size_t i = 0; i < d->settings.n; i++)
		if (d->settings.at[i].command == d->command)
			d->settings.at[i].command = 0;
}

void
docker_add_settings(struct docker *d, struct init_item *extension)
{
	list_each (x, &d->settings) {
		if (x->command && x->command != d->command)
			continue;
		for (size_t i = 0; i < extension->env.n; i++)
			if (starts_with(extension->env.at[i],
					arena_printf(d->rd->a, "%s=", x->name)))
				extension->env.at[i] = extension->env.at[--extension->env.n];
		list_printf(d->rd->a, &extension->env, "%s=%s", x->name, x->value);
		item_take(d->rd, x->item, "extensions", NULL);
	}
}

/* --- one setting --- */

/* Returns why a recipe has no such variable, or NULL. */
static const char *
not_set(const char *name, bool unknown)
{
	/* The plan sets these variables itself, or they only affect the build of the old file. */
	bool own =
		among(name, "PATH LD_LIBRARY_PATH LIBRARY_PATH CPATH CUDA_HOME CUDA_PATH "
			    "DEBIAN_FRONTEND CONDA_DIR VIRTUAL_ENV") ||
		str_matches(name, "^(PIP|UV|NVIDIA|POETRY)_|_FORCE_BUILD|_(SKIP|KEEP)_CUDA_BUILD");

	return own     ? "builds from the recipe set it where it is needed" :
	       unknown ? "its variables have no value here" :
			 NULL;
}

static void
take_setting(struct docker *d, struct init_item *item, const char *name, const char *value,
	     bool unknown, bool inlined)
{
	struct init *rd = d->rd;
	const char *why = not_set(name, unknown);
	struct build_setting setting = { name, value, item, inlined ? d->command : 0 };

	if (!unknown)
		set_variable(d, name, value);
	item->name = name;
	if (strstr(name, "_FORCE_BUILD") && strcmp(value, "TRUE") != 0)
		diag_help(diag_at(rd->ds, W_INIT_ORDER, item->at,
				  "`%s=%s` does not force a compile", name, value),
			  "only TRUE has an effect; builds from the recipe set it");
	if (names_architectures(name) && !unknown)
		take_architectures(d, item, value);
	else if (why)
		item_leave(rd, item, "%s", why);
	else if (steers_build(name))
		list_push(rd->a, &d->settings, setting);
	else if (!inlined)
		item_take(rd, item, "env", value);
}

void
docker_setting(struct docker *d, const struct word *w, bool inlined)
{
	const char *name = arena_copy(d->rd->a, w->s, strcspn(w->s, "="));

	take_setting(d, docker_item(d, w, name), name,
		     w->s + strlen(name) + (w->s[strlen(name)] == '='), w->unknown, inlined);
}

/* Reads "A=b C=d", or the old form "A b c". */
void
docker_env(struct docker *d, struct init_item *item, const struct command *c)
{
	bool old = !strchr(c->at[0].s, '='), unknown = false;
	const char *value = "";

	item->fate = INIT_PARTS;
	for (size_t k = old; k < c->n; k++)
		if (old) {
			value = arena_printf(d->rd->a, "%s%s%s", value, k > 1 ? " " : "",
					     c->at[k].s);
			unknown |= c->at[k].unknown;
		} else {
			docker_setting(d, &c->at[k], false);
		}
	if (old)
		take_setting(d, item, c->at[0].s, value, unknown, false);
}

/* Reads "NAME=value"; without a value, takes the one before FROM, if any. A RUN has it in its
 * environment, too. */
void
docker_arg(struct docker *d, struct init_item *item, const struct command *c)
{
	for (size_t k = 0; k < c->n; k++) {
		const struct word *w = &c->at[k];
		const char *name = arena_copy(d->rd->a, w->s, strcspn(w->s, "="));
		struct init_item *part = k ? docker_item(d, w, name) : item;
		const struct variable *v;

		if (w->s[strlen(name)] && !w->unknown)
			set_variable(d, name, w->s + strlen(name) + 1);
		v = map_get(&d->vars, name);
		/* A variable that nothing uses is omitted at the end. */
		part->name = name;
		if (!v)
			item_leave(d->rd, part, "it has no value here");
		else if (d->stage && (names_architectures(name) || steers_build(name)))
			take_setting(d, part, name, v->value, false, false);
	}
}

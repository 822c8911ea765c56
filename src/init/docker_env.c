#include <string.h>

#include "cuda/cuda.h"
#include "docker.h"

/* ARG, ENV and the settings of commands. */

static void
set_variable(struct docker *d, const char *name, const char *value)
{
	struct variable *v = arena_new_of(d->rd.a, struct variable);

	v->value = value;
	map_put(&d->vars, name, v);
}

/* What the plan sets itself, or what belongs to the way in which the file was built. */
static bool
is_builds_own(const char *name)
{
	return among(name, "PATH LD_LIBRARY_PATH LIBRARY_PATH CPATH CUDA_HOME CUDA_PATH MAX_JOBS "
			   "FORCE_CUDA DEBIAN_FRONTEND CONDA_DIR TORCH_NVCC_FLAGS VIRTUAL_ENV") ||
	       starts_with(name, "PIP_") || starts_with(name, "UV_") ||
	       starts_with(name, "NVIDIA_") || strstr(name, "_FORCE_BUILD") ||
	       strstr(name, "_SKIP_CUDA_BUILD") || strstr(name, "_KEEP_CUDA_BUILD");
}

/* "7.0 8.6+PTX", or with semicolons: an item for each. */
static void
take_architectures(struct docker *d, size_t i, const char *value)
{
	struct reader *rd = &d->rd;
	struct span at = item_at(rd, i)->at;

	item_at(rd, i)->fate = INIT_PARTS;
	for (const char *p = value + strspn(value, " ;,"); *p; p += strspn(p, " ;,")) {
		const char *text = arena_copy(rd->a, p, strcspn(p, " ;,"));
		size_t part = item_open(rd, text, at);
		struct capability c;

		p += strlen(text);
		if (!capability_parse(text, &c)) {
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

static void
take_setting(struct docker *d, size_t i, const char *name, const char *value, bool unknown,
	     bool inlined)
{
	struct reader *rd = &d->rd;

	if (!unknown)
		set_variable(d, name, value);
	item_at(rd, i)->name = name;
	if (!strcmp(name, "PIP_NO_CACHE_DIR"))
		d->cache_off = strcmp(value, "0") != 0;
	if (strstr(name, "_FORCE_BUILD") && strcmp(value, "TRUE") != 0)
		diag_help(diag_at(rd->ds, W_INIT_ORDER, item_at(rd, i)->at,
				  "`%s=%s` does not force a compile", name, value),
			  "only TRUE has an effect; builds from the recipe set it");
	if (!strcmp(name, "TORCH_CUDA_ARCH_LIST") && !unknown)
		take_architectures(d, i, value);
	else if (is_builds_own(name))
		item_leave(rd, i, "builds from the recipe set it where it is needed");
	else if (unknown)
		item_leave(rd, i, "its variables have no value here");
	else if (inlined)
		item_leave(rd, i,
			   "it is set for one command; `extensions` have an `env` of their own");
	else
		item_take(rd, i, "env", value);
}

void
docker_setting(struct docker *d, const struct word *w, bool inlined)
{
	const char *name = arena_copy(d->rd.a, w->s, strcspn(w->s, "="));

	take_setting(d, docker_item(d, w, name), name,
		     w->s + strlen(name) + (w->s[strlen(name)] == '='), w->unknown, inlined);
}

/* "A=b C=d", or the old "A b c". */
void
docker_env(struct docker *d, size_t i, const struct command *c)
{
	const char *value = "";
	bool unknown = false;

	item_at(&d->rd, i)->fate = INIT_PARTS;
	for (size_t k = 0; k < c->n; k++)
		if (strchr(c->at[0].s, '='))
			docker_setting(d, &c->at[k], false);
		else if (k)
			value = arena_printf(d->rd.a, "%s%s%s", value, k > 1 ? " " : "",
					     c->at[k].s);
	for (size_t k = 1; k < c->n; k++)
		unknown |= c->at[k].unknown;
	if (!strchr(c->at[0].s, '='))
		take_setting(d, i, c->at[0].s, value, unknown, false);
}

/* "NAME=value"; without a value it is the one from before FROM, if there is one. */
void
docker_arg(struct docker *d, size_t i, const struct command *c)
{
	for (size_t k = 0; k < c->n; k++) {
		const struct word *w = &c->at[k];
		const char *name = arena_copy(d->rd.a, w->s, strcspn(w->s, "="));
		size_t part = k ? docker_item(d, w, name) : i;

		if (w->s[strlen(name)] && !w->unknown)
			set_variable(d, name, w->s + strlen(name) + 1);
		/* A variable that nothing uses is left out at the end. */
		item_at(&d->rd, part)->name = name;
		if (!map_get(&d->vars, name))
			item_leave(&d->rd, part, "it has no value here");
	}
}

#include <string.h>

#include "base/fs.h"
#include "base/str.h"
#include "target.h"

/*
 * Writes a matrix as jobs of a scheduler: one for each wheel that several cells need, then one for
 * each cell. Cells with the same wheels are a group: they wait for the same jobs.
 */

static const struct shape wheel_shape[] = {
	{ "step", VALUE_TEXT, "the extension", 0 },
	{ "cell", VALUE_TEXT, "cell that compiles it; missing without a matrix", 0 },
	{ "id", VALUE_TEXT, "unique, of letters, digits and -", 0 },
	{ "no", VALUE_TEXT, "its number, from 0", 0 },
	{ 0 },
};

static const struct shape cell_shape[] = {
	{ "cell", VALUE_TEXT, "its name; missing without a matrix", 0 },
	{ "no", VALUE_TEXT, "its number, from 0", 0 },
	{ 0 },
};

static const struct shape group_shape[] = {
	{ "cells", VALUE_TEXT, "numbers of cells: 0,3,4", 0 },
	{ "wheels", VALUE_TEXT, "numbers of the wheels that they need: 0 2; or empty", 0 },
	{ 0 },
};

static const struct shape job_shape[] = {
	{ "job", VALUE_TEXT, "its name, unique", 0 },
	{ "part", VALUE_TEXT, "wheel or cell", 0 },
	{ "what", VALUE_TEXT, "description of the wheel or the cell", 0 },
	{ "cell", VALUE_TEXT, "--cell=NAME; missing without a matrix", 0 },
	{ "step", VALUE_TEXT, "--wheel=NAME; missing for a cell", 0 },
	{ 0 },
};

const struct shape cluster_shape[] = {
	{ "stack", VALUE_TEXT, "the stack's name, in lower case", 0 },
	{ "recipe", VALUE_TEXT, "path of the recipe, as on the command line", 0 },
	{ "variant", VALUE_TEXT, "--variant=NAME, if there is one", 0 },
	{ "out", VALUE_TEXT, "output directory of build: out/STACK", 0 },
	{ "generated", VALUE_TEXT, "program and recipe that generated the file", 0 },
	{ "secrets", VALUE_LIST, "names of the build secrets", 0 },
	{ "wheels", VALUE_LIST, "wheels that several cells need", wheel_shape },
	{ "cells", VALUE_LIST, "all cells, or the only one", cell_shape },
	{ "groups", VALUE_LIST, "cells with the same wheels", group_shape },
	{ "jobs", VALUE_LIST, "Jobs of Kubernetes: wheels, then cells", job_shape },
	{ "at", VALUE_TEXT, "path of the recipe in a Job", 0 },
	{ "store", VALUE_TEXT, "--store=... in the registry", 0 },
	{ "cache_from", VALUE_TEXT, "--cache-from=... in the registry", 0 },
	{ "cache_to", VALUE_TEXT, "--cache-to=... in the registry", 0 },
	{ "tag", VALUE_TEXT, "--tag=... in the registry", 0 },
	{ "files", VALUE_LIST, "locks, and recipes that it extends, for the ConfigMap", 0 },
	{ "configmap", VALUE_TEXT, "name of the ConfigMap that holds the recipe", 0 },
	{ "settings", VALUE_TEXT, "name of the ConfigMap that holds REGISTRY", 0 },
	{ "registry", VALUE_TEXT, "name of the Secret that holds config.json", 0 },
	{ 0 },
};

/* Escapes `$(`, which begins a variable in an argument of Kubernetes. */
static void
check_dollar(struct target *t, const char *text)
{
	if (text && strstr(text, "$("))
		diag_help(diag_at(t->ds, E_TARGET_CANNOT, t->cells->at[0]->stack.at,
				  "Kubernetes would expand the `$(` in `%s` as a variable", text),
			  "rename the file or the cell");
}

static const char *
number(struct arena *a, size_t n)
{
	return arena_printf(a, "%zu", n);
}

/* Adds the wheels that have a separate job, as in the schedule of `build`. */
static void
add_wheels(struct target *t, const struct schedule *s, size_t *no)
{
	const struct matrix *m = t->matrix;
	size_t n = 0;

	for (size_t i = 0; i < m->wheels.n; i++) {
		const struct matrix_wheel *w = &m->wheels.at[i];
		struct scope *item;

		if (s->units[i].state != UNIT_WAITING)
			continue;
		no[i] = n++;
		item = scope_item(t->top, "wheels");
		scope_text(item, "step", w->step, NOWHERE);
		scope_text(item, "cell", m->cells.at[w->cell].name, NOWHERE);
		scope_text(item, "id", arena_printf(t->a, "%.40s-%.12s", w->step, w->key), NOWHERE);
		scope_text(item, "no", number(t->a, no[i]), NOWHERE);
	}
}

static const char *
waits_for(struct target *t, const struct schedule *s, const size_t *no, size_t cell)
{
	const struct indexes *wheels = &t->matrix->cells.at[cell].wheels;
	struct names all = { 0 };

	for (size_t i = 0; i < wheels->n; i++)
		if (s->units[wheels->at[i]].state == UNIT_WAITING)
			list_push(t->a, &all, number(t->a, no[wheels->at[i]]));
	return names_join(t->a, &all, " ");
}

static void
add_groups(struct target *t, const struct schedule *s, const size_t *no)
{
	struct names keys = { 0 };

	for (size_t i = 0; i < t->matrix->cells.n; i++)
		names_once(t->a, &keys, waits_for(t, s, no, i));
	for (size_t k = 0; k < keys.n; k++) {
		struct scope *item = scope_item(t->top, "groups");
		struct names cells = { 0 };

		for (size_t i = 0; i < t->matrix->cells.n; i++)
			if (!strcmp(waits_for(t, s, no, i), keys.at[k]))
				list_push(t->a, &cells, number(t->a, i));
		scope_text(item, "cells", names_join(t->a, &cells, ","), NOWHERE);
		scope_text(item, "wheels", keys.at[k], NOWHERE);
	}
}

/* Returns a valid name for Kubernetes: lower case, digits and -, with room for a suffix. */
static const char *
object_name(struct arena *a, const char *stack)
{
	char *name = arena_printf(a, "stack-%.32s", stack);

	for (char *c = name; *c; c++)
		*c = is_alnum(*c) ? to_lower(*c) : '-';
	return name;
}

static void
add_job(struct target *t, const char *name, const char *part, size_t no, const char *step,
	const char *cell)
{
	struct scope *item = scope_item(t->top, "jobs");

	check_dollar(t, cell);
	scope_text(item, "job", arena_printf(t->a, "%s-%s-%zu", name, part, no), NOWHERE);
	scope_text(item, "part", part, NOWHERE);
	scope_text(item, "what",
		   arena_printf(t->a, "%s%s%s", step ? step : "", step && cell ? " of " : "",
				cell ? cell : ""),
		   NOWHERE);
	if (cell)
		scope_text(item, "cell", arena_printf(t->a, "--cell=%s", cell), NOWHERE);
	if (step)
		scope_text(item, "step", arena_printf(t->a, "--wheel=%s", step), NOWHERE);
}

/* Returns a reference that contains $(REGISTRY), a variable of the container. */
static void
add_jobs(struct target *t, const struct schedule *s, const char *stack)
{
	const struct matrix *m = t->matrix;
	const char *name = object_name(t->a, stack), *file = fs_name(t->cells->at[0]->path);
	size_t n = 0;

	check_dollar(t, file);
	for (size_t i = 0; i < m->wheels.n; i++)
		if (s->units[i].state == UNIT_WAITING)
			add_job(t, name, "wheel", n++, m->wheels.at[i].step,
				m->cells.at[m->wheels.at[i].cell].name);
	for (size_t i = 0; i < m->cells.n; i++)
		add_job(t, name, "cell", i, NULL, m->cells.at[i].name);
	scope_text(t->top, "at", arena_printf(t->a, "/recipe/%s", file), NOWHERE);
	scope_text(t->top, "store",
		   arena_printf(t->a, "--store=oci://$(REGISTRY)/%s-wheels", stack), NOWHERE);
	scope_text(t->top, "cache_from",
		   arena_printf(t->a, "--cache-from=$(REGISTRY)/%s-cache", stack), NOWHERE);
	scope_text(t->top, "cache_to", arena_printf(t->a, "--cache-to=$(REGISTRY)/%s-cache", stack),
		   NOWHERE);
	scope_text(t->top, "tag", arena_printf(t->a, "--tag=$(REGISTRY)/%s", stack), NOWHERE);
	scope_text(t->top, "configmap", arena_printf(t->a, "%s-recipe", name), NOWHERE);
	scope_text(t->top, "settings", arena_printf(t->a, "%s-settings", name), NOWHERE);
	scope_text(t->top, "registry", arena_printf(t->a, "%s-registry", name), NOWHERE);
}

/* Returns a file that the recipe extends in another directory, which a ConfigMap cannot contain; or NULL. */
static const char *
extended_elsewhere(struct target *t, const struct recipe *r)
{
	const char *dir = fs_clean(t->a, fs_dir(t->a, r->path));

	for (size_t i = 1; i < r->files.n; i++)
		if (strcmp(fs_clean(t->a, fs_dir(t->a, r->files.at[i])), dir) != 0)
			return r->files.at[i];
	return NULL;
}

/* Rejects what a Job does not have: its ConfigMap has the recipe and files beside it. */
static void
check_files(struct target *t, const struct recipe *r)
{
	const struct recipe_extension *own = list_find(e, &r->extensions, e->path.s);
	const char *elsewhere = extended_elsewhere(t, r);
	struct diag *d = NULL;

	if (own)
		d = diag_at(t->ds, E_TARGET_CANNOT, own->path.at,
			    "a Job of Kubernetes does not have your own code in `%s`", own->path.s);
	else if (target_copies_app(r))
		d = diag_at(t->ds, E_TARGET_CANNOT, r->app.at,
			    "a Job of Kubernetes does not have the files of `app`");
	else if (elsewhere)
		d = diag_at(t->ds, E_TARGET_CANNOT, (struct span){ .src = r->src },
			    "a Job of Kubernetes does not have `%s`, which the recipe extends",
			    elsewhere);
	if (d)
		diag_help(diag_why(d, "a Job gets only the recipe, its lock and recipes beside it, "
				      "from a ConfigMap"),
			  "build where the repository is checked out: -t github or -t gitlab");
}

/* A job of Slurm builds a virtual environment. */
static void
check_cells(struct target *t)
{
	for (size_t i = 0; i < t->cells->n; i++)
		if (t->language == LANG_YAML)
			check_files(t, t->cells->at[i]);
		else
			target_refuse_base_torch(t, t->cells->at[i]);
}

void
cluster_fill(struct target *t)
{
	const struct recipe *first = t->cells->at[0];
	const struct matrix *m = t->matrix;
	const struct schedule s = schedule_new(t->a, m, matrix_shard(t->a, m, 1, 1));
	size_t *no = arena_array_of(t->a, size_t, m->wheels.n + 1);
	const char *image = docker_image_tag(t->a, first);
	const char *stack = arena_copy(t->a, image, strcspn(image, ":"));

	check_cells(t);
	scope_text(t->top, "stack", stack, first->stack.at);
	scope_text(t->top, "recipe", first->path, NOWHERE);
	for (size_t i = 1; i < first->files.n && t->language == LANG_YAML; i++)
		scope_item_text(t->top, "files", first->files.at[i], NOWHERE);
	for (size_t i = 0; i < t->cells->n && t->language == LANG_YAML; i++) {
		const char *lock = lock_path(t->a, t->cells->at[i]);

		if (fs_exists(lock))
			scope_item_text(t->top, "files", lock, NOWHERE);
	}
	if (first->variant)
		scope_text(t->top, "variant", arena_printf(t->a, "--variant=%s", first->variant),
			   NOWHERE);
	scope_text(t->top, "out", fs_join(t->a, "out", first->stack.s), NOWHERE);
	for (size_t i = 0; i < t->secrets->n; i++)
		scope_item_text(t->top, "secrets", t->secrets->at[i], NOWHERE);
	scope_text(t->top, "generated", target_generated(t->a, first), NOWHERE);
	add_wheels(t, &s, no);
	for (size_t i = 0; i < m->cells.n; i++) {
		struct scope *item = scope_item(t->top, "cells");

		scope_text(item, "cell", m->cells.at[i].name, NOWHERE);
		scope_text(item, "no", number(t->a, i), NOWHERE);
	}
	add_groups(t, &s, no);
	if (t->language == LANG_YAML)
		add_jobs(t, &s, stack);
	t->file.summary = arena_printf(t->a, "%zu cell%s", m->cells.n, m->cells.n == 1 ? "" : "s");
}

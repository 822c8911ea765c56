/* The report on an image or environment. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/str.h"
#include "inspect/inspect.h"

enum { PACKAGES_SHOWN = 12 };

/*
 *     stack.tar: 5.2 GiB in 45120 files, 3 layers
 *       system     Debian GNU/Linux 12 (bookworm)
 *       Python     3.11 in opt/venv
 *       torch      2.2.2+cu121, CUDA 12.1
 *       extensions mamba_ssm/_C.so: sm_80, sm_90
 *       layers      77.8 MiB      3402 files  4abcf2066143
 *       packages   1.4 GiB  torch 2.2.2
 *       could drop 1.2 GiB  static libraries (120 files)
 */
static void
line(struct buf *out, const char *key, const char *value)
{
	buf_printf(out, "  %-10s ", key);
	diag_inert(value, out);
	buf_putc(out, '\n');
}

static int
by_size(const void *px, const void *py)
{
	const struct tree_package *x = px, *y = py;

	return x->size > y->size ? -1 : x->size < y->size ? 1 : strcmp(x->name, y->name);
}

static void
packages_text(struct arena *a, const struct tree *t, struct buf *out)
{
	struct tree_packages sorted = { 0 };

	for (size_t i = 0; i < t->packages.n; i++)
		list_push(a, &sorted, t->packages.at[i]);
	if (sorted.n)
		qsort(sorted.at, sorted.n, sizeof(*sorted.at), by_size);
	for (size_t i = 0; i < sorted.n && i < PACKAGES_SHOWN; i++)
		line(out, i ? "" : "packages",
		     arena_printf(a, "%9s  %s %s", bytes_words(a, (double)sorted.at[i].size),
				  sorted.at[i].name, sorted.at[i].version));
	if (sorted.n > PACKAGES_SHOWN)
		line(out, "",
		     arena_printf(a, "and %zu more; --format json lists all",
				  sorted.n - PACKAGES_SHOWN));
}

static void
layers_text(struct arena *a, const struct tree *t, struct buf *out)
{
	for (size_t i = 0; t->layers.n > 1 && i < t->layers.n; i++) {
		const struct tree_layer *l = &t->layers.at[i];

		line(out, i ? "" : "layers",
		     arena_printf(a, "%9s  %6zu files  %.12s%s", bytes_words(a, (double)l->size),
				  l->files, l->name,
				  l->hidden ?
					  arena_printf(a, "  (%s of it replaced or deleted later)",
						       bytes_words(a, (double)l->hidden)) :
					  ""));
	}
}

void
tree_text(struct arena *a, const char *path, const struct tree *t, struct buf *out)
{
	buf_printf(out, "%s: %s in %zu file%s, %zu layer%s\n", path,
		   bytes_words(a, (double)t->size), t->files, t->files == 1 ? "" : "s", t->layers.n,
		   t->layers.n == 1 ? "" : "s");
	if (t->system)
		line(out, "system", t->system);
	for (size_t i = 0; i < t->pythons.n; i++)
		line(out, i ? "" : "Python", t->pythons.at[i]);
	if (t->torch)
		line(out, "torch",
		     t->torch_cuda ? arena_printf(a, "%s, CUDA %s", t->torch, t->torch_cuda) :
				     t->torch);
	for (size_t i = 0; i < t->toolkits.n; i++)
		line(out, i ? "" : "toolkits", t->toolkits.at[i]);
	for (size_t i = 0; i < t->extensions->n; i++) {
		const struct wheel_object *o = &t->extensions->at[i];
		const struct names gpus = gpu_code_names(a, &o->codes);

		line(out, i ? "" : "extensions",
		     arena_printf(a, "%s: %s", o->path,
				  gpus.n ? names_join(a, &gpus, ", ") : "no GPU code"));
	}
	layers_text(a, t, out);
	packages_text(a, t, out);
	for (size_t i = 0; i < t->shares.n; i++)
		line(out, i ? "" : "could drop",
		     arena_printf(a, "%9s  %s (%zu files)",
				  bytes_words(a, (double)t->shares.at[i].size),
				  t->shares.at[i].what, t->shares.at[i].files));
}

void
tree_json(struct arena *a, const struct tree *t, struct json *j)
{
	json_put(j,
		 "'size': %f, 'files': %f, 'system': %s, 'pythons': %n, 'torch': %s, "
		 "'cuda': %s, 'toolkits': %n, 'packages': [",
		 (double)t->size, (double)t->files, t->system, &t->pythons, t->torch, t->torch_cuda,
		 &t->toolkits);
	for (size_t i = 0; i < t->packages.n; i++)
		json_put(j, "('name': %s, 'version': %s, 'where': %s, 'size': %f)",
			 t->packages.at[i].name, t->packages.at[i].version, t->packages.at[i].where,
			 (double)t->packages.at[i].size);
	json_put(j, "], 'extensions': [");
	list_each (o, t->extensions) {
		json_put(j, "{'path': %s", o->path);
		object_json(
			a,
			&(struct object_shown){
				.size = o->size, .elf = o->elf, .codes = &o->codes, .brief = true },
			j);
		json_put(j, "}");
	}
	json_put(j, "], 'layers': [");
	for (size_t i = 0; i < t->layers.n; i++)
		json_put(j, "('name': %s, 'size': %f, 'files': %f, 'hidden': %f)",
			 t->layers.at[i].name, (double)t->layers.at[i].size,
			 (double)t->layers.at[i].files, (double)t->layers.at[i].hidden);
	json_put(j, "], 'droppable': [");
	for (size_t i = 0; i < t->shares.n; i++)
		json_put(j, "('what': %s, 'size': %f, 'files': %f)", t->shares.at[i].what,
			 (double)t->shares.at[i].size, (double)t->shares.at[i].files);
	json_put(j, "]");
}

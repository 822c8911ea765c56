#include "schema.h"

#include <string.h>

#include "base/fs.h"
#include "base/list.h"
#include "base/str.h"
#include "python/python.h"

/* Lists the files below the directory. */
static const char *folder_names[] = { "extensions", "packages", "releases" };
static const struct names folders = { folder_names, 3, 3 };

enum { FILES_MAX = 4000 };

/* Returns a place that is a whole file or directory. */
static struct span
path_at(struct arena *a, const char *path)
{
	struct source *src = arena_new_of(a, struct source);

	*src = (struct source){ .path = path, .text = "" };
	return (struct span){ .src = src };
}

static bool
read_file(struct arena *a, struct diags *ds, const char *dir, const char *name,
	  struct fact_files *files)
{
	const struct source *src =
		fs_read(a, ds, fs_join(a, dir, name), FS_READ_MAX, (struct span){ 0 });
	const struct node *root = src ? yaml_read(a, ds, src, YAML_LIMITS_DEFAULT) : NULL;

	if (!root)
		return false;
	if (files->n == FILES_MAX) {
		diag_at(ds, E_KNOWLEDGE, (struct span){ .src = src },
			"more than %d knowledge files", FILES_MAX);
		return false;
	}
	list_push(a, files, (struct fact_file){ .name = name, .root = root });
	return true;
}

/* Checks the name of a file: lookups use normalised names, and would never find another one. */
static bool
check_name(struct arena *a, struct diags *ds, const char *dir, const char *file)
{
	const char *name = fs_stem(a, file);
	struct diag *d;

	if (!strchr(file, '/') || (name_valid(name) && !strcmp(name_normalize(a, name), name)))
		return true;
	d = diag_at(ds, E_KNOWLEDGE, path_at(a, fs_join(a, dir, file)),
		    starts_with(file, "releases/") ? "is not the name of a package" :
						     "is not the name of an extension");
	if (name_valid(name))
		diag_help(d, "rename it to %s.yaml", name_normalize(a, name));
	else
		diag_help(d, "use the name of the package, in lower case, with dashes");
	return false;
}

/* Warns about files that are not knowledge, because their author may expect them to be read. */
static bool
tell_others(struct arena *a, struct diags *ds, const char *dir, bool top)
{
	struct names all = { 0 };

	if (!fs_list(a, ds, dir, "", &all))
		return false;
	for (size_t i = 0; i < all.n; i++) {
		const char *name = all.at[i], *path = fs_join(a, dir, name);
		struct diag *d;

		if (ends_with(name, ".yaml") || ends_with(name, ".md") ||
		    starts_with(name, "LICENSE") || (top && names_have(&folders, name)))
			continue;
		d = diag_at(ds, W_KNOWLEDGE_FILE, path_at(a, path), "is not read");
		if (ends_with(name, ".yml"))
			diag_help(d, "rename it to %s.yaml", fs_stem(a, name));
		else
			diag_help(d, "the names of knowledge files end in .yaml; extensions are in "
				     "extensions/, what packages need in packages/, their releases "
				     "in releases/");
	}
	return true;
}

static bool
is_folder(struct arena *a, struct diags *ds, const char *dir, const struct names *files)
{
	struct diag *d;

	if (!fs_is_dir(dir)) {
		diag_at(ds, E_FILE, path_at(a, dir), "is not a directory");
		return false;
	}
	if (files->n)
		return true;
	d = diag_at(ds, E_KNOWLEDGE, path_at(a, dir), "contains no knowledge file");
	diag_help(
		d,
		"name the directory that contains torch.yaml, cuda.yaml, extensions/ or any other "
		"of them");
	return false;
}

bool
facts_read_files(struct arena *a, struct diags *ds, const char *dir, struct fact_files *files)
{
	struct names all = { 0 };
	bool ok = true;

	if (!fs_list(a, ds, dir, ".yaml", &all))
		return false;
	for (size_t k = 0; k < folders.n; k++) {
		struct names below = { 0 };

		if (!fs_list(a, ds, fs_join(a, dir, folders.at[k]), ".yaml", &below))
			return false;
		for (size_t i = 0; i < below.n; i++)
			list_push(a, &all, arena_printf(a, "%s/%s", folders.at[k], below.at[i]));
	}
	if (!is_folder(a, ds, dir, &all) || !tell_others(a, ds, dir, true))
		return false;
	for (size_t k = 0; k < folders.n; k++)
		if (!tell_others(a, ds, fs_join(a, dir, folders.at[k]), false))
			return false;
	names_sort(&all);
	for (size_t i = 0; i < all.n; i++)
		ok &= check_name(a, ds, dir, all.at[i]) && read_file(a, ds, dir, all.at[i], files);
	return ok;
}

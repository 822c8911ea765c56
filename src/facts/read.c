#include "schema.h"

#include <string.h>

#include "base/fs.h"
#include "base/list.h"

enum { FILES_MAX = 200 }; /* below FACT_FILES_MAX, with room for those of an overlay */

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
			"more than %d files of knowledge", FILES_MAX);
		return false;
	}
	list_push(a, files, (struct fact_file){ name, root });
	return true;
}

bool
facts_read_files(struct arena *a, struct diags *ds, const char *dir, struct fact_files *files)
{
	struct names top = fs_list(a, dir, ".yaml");
	struct names below = fs_list(a, fs_join(a, dir, "extensions"), ".yaml");
	size_t t = 0;
	bool ok = true;

	if (!fs_is_dir(dir)) {
		struct source *nameless = arena_new_of(a, struct source);

		nameless->path = dir;
		diag_at(ds, E_FILE, (struct span){ .src = nameless }, "is not a folder");
		return false;
	}
	/* "extensions/..." goes where its name belongs among the others. */
	for (; t < top.n && strcmp(top.at[t], "extensions/") < 0; t++)
		ok &= read_file(a, ds, dir, top.at[t], files);
	for (size_t i = 0; i < below.n; i++)
		ok &= read_file(a, ds, dir, arena_printf(a, "extensions/%s", below.at[i]), files);
	for (; t < top.n; t++)
		ok &= read_file(a, ds, dir, top.at[t], files);
	return ok;
}

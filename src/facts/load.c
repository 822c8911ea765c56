#include "internal.h"

#include <string.h>

/* The built-in files, none of them read yet. */
static struct facts *
built_in(struct arena *a)
{
	struct facts *f = arena_new_of(a, struct facts);
	const uint32_t *w = packed_facts.words;

	*f = (struct facts){ .a = a, .date = packed_facts.date };
	f->read = arena_new_of(a, struct facts_read);
	f->read->versions = f->read->specifiers = f->read->package_releases = MAP(a);
	f->read->extension_of = f->read->extensions = MAP(a);
	for (size_t i = 0; i < packed_facts.files; i++, w += 3 + w[1])
		list_push(a, &f->read->files,
			  (struct fact_file){ .name = packed_facts.texts + *w, .packed = w });
	return f;
}

/* The file of that name, unpacked; or where its name belongs among the others. */
static struct fact_file *
find_file(const struct facts *f, const char *name, bool *found)
{
	struct fact_files *files = &f->read->files;
	size_t i = 0;
	int order = 1;

	while (i < files->n && (order = strcmp(files->at[i].name, name)) < 0)
		i++;
	*found = !order;
	if (*found && !files->at[i].root)
		files->at[i].root = fact_unpack(f->a, files->at[i].packed);
	return files->at + i;
}

const struct node *
facts_file(const struct facts *f, const char *name)
{
	bool found;
	const struct fact_file *file = find_file(f, name, &found);

	return found ? file->root : NULL;
}

/* Merges a file of an overlay with the file that it is laid over. */
static bool
lay_over(const struct facts *f, struct diags *ds, const struct fact_file *mine)
{
	struct fact_files *files = &f->read->files;
	struct fact_file merged = *mine, *at;
	struct node nothing = { .kind = NODE_MAP };
	bool found, ok;
	size_t i;

	if (!facts_check(f->a, ds, mine, CHECK_PIECE))
		return false;
	if (node_is_null(mine->root))
		return true;
	at = find_file(f, mine->name, &found);
	i = (size_t)(at - files->at);
	merged.root = facts_merge(f->a, found ? at->root : &nothing, mine->root);
	merged.over = true;
	ok = facts_check(f->a, ds, &merged, CHECK_WHOLE);
	if (!found) {
		list_push(f->a, files, merged);
		memmove(&files->at[i + 1], &files->at[i], (files->n - 1 - i) * sizeof(*files->at));
	}
	files->at[i] = merged;
	return ok;
}

const struct facts *
facts_with_overlay(struct arena *a, struct diags *ds, const struct fact_files *over, bool ok)
{
	struct facts *f = built_in(a);
	struct fact_files *files = &f->read->files;
	const char *newest;

	/* What is wrong with those that could be read is told in any case, but for what they
	 * name: it may be in another one. */
	for (size_t i = 0; i < over->n; i++)
		ok &= lay_over(f, ds, &over->at[i]);
	for (size_t i = 0; ok && i < files->n; i++)
		facts_file(f, files->at[i].name);
	if (!ok || !facts_check_references(a, ds, files))
		return NULL;
	newest = facts_newest_date(a, files);
	if (newest && strcmp(newest, f->date) > 0)
		f->date = newest;
	for (size_t i = 0; i < files->n; i++)
		if (files->at[i].over)
			files->at[i].root = fact_adopt(a, files->at[i].root);
	return f;
}

const struct facts *
facts_load(struct arena *a, struct diags *ds, const char *overlay)
{
	struct fact_files over = { 0 };
	bool ok;

	if (!overlay)
		return built_in(a);
	ok = facts_read_files(a, ds, overlay, &over);
	return facts_with_overlay(a, ds, &over, ok);
}

const char *
facts_date(const struct facts *f)
{
	return f->date;
}

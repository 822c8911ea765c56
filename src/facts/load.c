#include "internal.h"

#include <string.h>

#include "base/str.h"

const struct node *
fact_node(struct arena *a, const struct claim *x, const struct source *src)
{
	struct node *n = arena_new_of(a, struct node);

	*n = (struct node){ .kind = fact_kind(x), .at = { src, x->head >> 2, 1, 1 } };
	n->n = fact_count(x);
	if (n->kind == NODE_SCALAR) {
		n->s = fact_text(x);
		n->n = strlen(n->s);
		return n;
	}
	n->pairs = arena_array_of(a, struct pair, n->kind == NODE_MAP ? n->n : 0);
	n->items = arena_array_of(a, const struct node *, n->kind == NODE_LIST ? n->n : 0);
	for (size_t i = 0; i < n->n; i++) {
		const struct node *value = fact_node(a, fact_at(x, i), src);

		if (n->kind == NODE_LIST)
			n->items[i] = value;
		else
			n->pairs[i] = (struct pair){ fact_key(x, i), value->at, value };
	}
	return n;
}

static struct facts *
facts_of(struct arena *a)
{
	struct facts *f = arena_new_of(a, struct facts);

	*f = (struct facts){ .a = a, .date = facts_built_in.date };
	f->read = arena_new_of(a, struct facts_read);
	f->read->versions = f->read->specifiers = f->read->packages = MAP(a);
	f->read->requirements = f->read->independent = MAP(a);
	f->read->images = MAP(a);
	f->read->extension_of = f->read->extensions = f->read->pairings = MAP(a);
	f->read->paired = MAP(a);
	return f;
}

const struct claim *
facts_file(const struct facts *f, const char *name)
{
	for (size_t i = 0, end = facts_file_count(f); i < end;) {
		size_t middle = (i + end) / 2;
		const struct fact_row *row = facts_row(f, middle);
		int order = strcmp(text_at(&row->name), name);

		if (!order)
			return row_root(row);
		i = order < 0 ? middle + 1 : i;
		end = order > 0 ? middle : end;
	}
	return NULL;
}

const struct claim *
facts_file_in(const struct facts *f, const char *directory, const char *name)
{
	size_t before = strlen(directory), n = strlen(name);
	char small[128]; /* a recipe may list 20,000 packages, and the arena keeps everything */
	bool fits = before + n + sizeof(".yaml") <= sizeof(small);
	char *file = fits ? small : arena_alloc(f->a, before + n + sizeof(".yaml"), 1);

	memcpy(file, directory, before);
	memcpy(file + before, name, n);
	memcpy(file + before + n, ".yaml", sizeof(".yaml"));
	return facts_file(f, file);
}

static const struct node nothing = { .kind = NODE_MAP };

/* Returns true for the signatures in `stackbuild`, which searches no logs. */
static bool
is_unread(const char *name)
{
	return !fact_is_pattern && !strcmp(name, FACT_SIGNATURES);
}

/*
 * Returns true if an overlay needs the content of a built-in file: to merge them, or to check
 * references. A release refers to no other file. Unless an overlay removes names that a file such as
 * gpus.yaml defines, only its own references can be wrong, and the aliases of extensions.
 */
static bool
is_needed(const struct fact_files *over, const char *name)
{
	if (starts_with(name, "releases/"))
		return false;
	if (facts_defines_names(name))
		return true;
	list_each (mine, over)
		if (!strcmp(mine->name, name) || facts_removes_names(mine) ||
		    (starts_with(mine->name, "extensions/") && starts_with(name, "extensions/")))
			return true;
	return false;
}

/* Returns the built-in files as trees of nodes; those that the overlay does not need are empty. */
static struct fact_files
written(struct arena *a, const struct fact_files *over)
{
	struct fact_files files = { 0 };

	for (size_t i = 0; i < facts_built_in.n; i++) {
		const struct fact_row *row = &facts_built_in.rows[i];
		const char *name = text_at(&row->name);
		struct source *src = arena_new_of(a, struct source);
		const struct node *root = &nothing;

		if (is_unread(name))
			continue;
		src->path = arena_printf(a, "knowledge/%s", name);
		src->text = "";
		if (is_needed(over, name))
			root = fact_node(a, row_root(row), src);
		list_push(a, &files, (struct fact_file){ name, root, false, NULL });
	}
	return files;
}

/* Merges a file of an overlay into its built-in file. */
static bool
lay_over(struct facts *f, struct diags *ds, const struct fact_files *over,
	 const struct fact_file *mine, struct fact_files *files)
{
	struct arena *a = f->a;
	struct fact_file merged = *mine;
	size_t i = 0;
	bool found;

	if (!facts_check(a, ds, mine, CHECK_PIECE))
		return false;
	if (!files->n)
		*files = written(a, over);
	if (node_is_null(mine->root))
		return true;
	while (i < files->n && strcmp(files->at[i].name, mine->name) < 0)
		i++;
	found = i < files->n && !strcmp(files->at[i].name, mine->name);
	/* Releases come from one state of the index: new ones replace all old ones. */
	merged.root = facts_merge(
		a, found && !starts_with(mine->name, "releases/") ? files->at[i].root : &nothing,
		mine->root);
	merged.over = true;
	if (!found) {
		list_push(a, files, merged);
		memmove(&files->at[i + 1], &files->at[i], (files->n - 1 - i) * sizeof(*files->at));
	}
	files->at[i] = merged;
	return facts_check(a, ds, &merged, CHECK_WHOLE);
}

/*
 * Returns the rows of a merged knowledge base: those of the built-in files, and new ones for the files
 * of the overlay. Their index keeps the names of pairings that the overlay has removed: the
 * indexes of later built-in files omit them if they have them, too.
 */
static struct fact_rows
rows_of(struct arena *a, const struct fact_files *files)
{
	const struct fact_row *built_in = facts_built_in.rows, *end = built_in + facts_built_in.n;
	const struct fact_row *mine;
	struct fact_files over = { 0 };
	struct fact_rows rows = { 0 };

	list_each (file, files) {
		while (built_in < end && strcmp(text_at(&built_in->name), file->name) < 0)
			built_in++;
		if (!file->over)
			continue;
		list_push(a, &over, *file);
		if (built_in < end && !strcmp(text_at(&built_in->name), file->name))
			over.at[over.n - 1].paired = text_at(&built_in->paired);
	}
	mine = (const struct fact_row *)facts_pack(a, &over).words;
	built_in = facts_built_in.rows;
	list_each (file, files) {
		while (strcmp(text_at(&built_in->name), file->name) < 0 && built_in + 1 < end)
			built_in++;
		list_push(a, &rows, file->over ? mine++ : built_in);
	}
	return rows;
}

const struct facts *
facts_with_overlay(struct arena *a, struct diags *ds, const struct fact_files *over, bool ok)
{
	struct facts *f = facts_of(a);
	struct fact_files files = { 0 };
	const char *newest;

	/*
	 * Reports the errors of all readable files; only references are not checked, because they
	 * may be in an unreadable file.
	 */
	for (size_t i = 0; i < over->n; i++)
		ok &= is_unread(over->at[i].name) || lay_over(f, ds, over, &over->at[i], &files);
	if (!files.n)
		files = written(a, over);
	if (!ok || !facts_check_references(a, ds, &files))
		return NULL;
	newest = facts_newest_date(a, &files);
	if (newest && strcmp(newest, f->date) > 0)
		f->date = newest;
	f->read->merged = rows_of(a, &files);
	for (size_t i = 0; i < over->n; i++)
		list_push(a, &f->read->over, over->at[i].name);
	return f;
}

const struct facts *
facts_load(struct arena *a, struct diags *ds, const char *overlay)
{
	struct fact_files over = { 0 };
	bool ok;

	if (!overlay)
		return facts_of(a);
	ok = facts_read_files(a, ds, overlay, &over);
	return facts_with_overlay(a, ds, &over, ok);
}

const char *
facts_date(const struct facts *f)
{
	return f->date;
}

#include "internal.h"

#include <string.h>
#include <zlib.h>

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

const unsigned char *facts_signature_block;

/* Returns the text at *texts, and advances *texts to the next one. */
static const char *
next_text(const char **texts)
{
	const char *text = *texts;

	*texts += *text ? strlen(text) + 1 : 1;
	return text;
}

static struct packed_file
packed_file_of(const struct packed_facts *packed, size_t i, const char **texts)
{
	const struct packed_row *row = &packed->files[i];
	struct packed_file file = { .z = row->z, .n = row->n, .words = row->words };
	uint32_t sizes[3];

	file.name = next_text(texts);
	file.index.aliases = next_text(texts);
	file.index.on = next_text(texts);
	file.index.paired = next_text(texts);
	if (row->block != FACT_APART) {
		file.block = packed->blocks + row->block;
	} else if (facts_signature_block) {
		memcpy(sizes, facts_signature_block, sizeof(sizes));
		file.z = sizes[0];
		file.n = sizes[1];
		file.words = sizes[2];
		file.block = facts_signature_block + sizeof(sizes);
	}
	return file;
}

static struct facts *
facts_of(struct arena *a, struct packed_facts packed)
{
	struct facts *f = arena_new_of(a, struct facts);
	const char *texts = packed.texts;

	*f = (struct facts){ .a = a, .date = packed.date };
	f->read = arena_new_of(a, struct facts_read);
	f->read->versions = f->read->specifiers = f->read->packages = MAP(a);
	f->read->images = MAP(a);
	f->read->extension_of = f->read->extensions = f->read->pairings = MAP(a);
	f->read->paired = MAP(a);
	f->read->files = (struct fact_roots){ arena_array_of(a, struct fact_root, packed.n),
					      packed.n, packed.n };
	for (size_t i = 0; i < packed.n; i++)
		f->read->files.at[i].packed = packed_file_of(&packed, i, &texts);
	return f;
}

/* Returns the content of a built-in block; empty if zlib rejects it, which cannot happen. */
static const void *
uncompressed(struct arena *a, const struct packed_file *file)
{
	void *squeezed = arena_alloc(a, file->n, 1);
	z_stream z = { .next_in = (z_const Bytef *)(uintptr_t)file->block,
		       .avail_in = file->z,
		       .next_out = squeezed,
		       .avail_out = file->n };
	bool ok = inflateInit2(&z, -MAX_WBITS) == Z_OK &&
		  inflateSetDictionary(&z, packed_facts.dictionary, packed_facts.dictionary_n) ==
			  Z_OK &&
		  inflate(&z, Z_FINISH) == Z_STREAM_END;

	inflateEnd(&z);
	if (!ok)
		memset(squeezed, 0, file->n);
	return facts_expand(a, squeezed, file);
}

const struct claim *
facts_root(const struct facts *f, size_t i)
{
	struct fact_root *file = &f->read->files.at[i];

	if (!file->root)
		file->root =
			file->packed.z ? uncompressed(f->a, &file->packed) : file->packed.block;
	return file->root;
}

const struct claim *
facts_file(const struct facts *f, const char *name)
{
	const struct fact_roots *files = &f->read->files;

	for (size_t i = 0, end = files->n; i < end;) {
		size_t middle = (i + end) / 2;
		int order = strcmp(files->at[middle].packed.name, name);

		if (!order)
			return facts_root(f, middle);
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
written(struct arena *a, const struct facts *f, const struct fact_files *over)
{
	struct fact_files files = { 0 };

	for (size_t i = 0; i < f->read->files.n; i++) {
		const char *name = f->read->files.at[i].packed.name;
		struct source *src = arena_new_of(a, struct source);
		const struct node *root = &nothing;

		if (!f->read->files.at[i].packed.block)
			continue;
		src->path = arena_printf(a, "knowledge/%s", name);
		src->text = "";
		if (is_needed(over, name))
			root = fact_node(a, facts_root(f, i), src);
		list_push(a, &files, (struct fact_file){ name, root, false });
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
		*files = written(a, f, over);
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

/* Packs a merged file. Its index keeps the names of pairings that the overlay has removed: the indexes of
 * later built-in files omit them if they have them, too. */
static struct fact_root
packed_over(struct arena *a, const struct fact_file *file, const struct fact_root *built_in)
{
	struct fact_root root = { .packed = facts_pack(a, file) };

	if (built_in)
		root.packed.index.paired = arena_printf(a, "%s %s", root.packed.index.paired,
							built_in->packed.index.paired);
	return root;
}

/* Returns the files of a merged knowledge base; both lists are in the order of their names. */
static struct fact_roots
roots_of(struct arena *a, const struct fact_roots *built_in, const struct fact_files *files)
{
	struct fact_roots roots = { 0 };
	size_t k = 0;

	list_each (file, files) {
		const struct fact_root *same = NULL;

		while (k < built_in->n && strcmp(built_in->at[k].packed.name, file->name) < 0)
			k++;
		if (k < built_in->n && !strcmp(built_in->at[k].packed.name, file->name))
			same = &built_in->at[k];
		list_push(a, &roots, file->over || !same ? packed_over(a, file, same) : *same);
	}
	return roots;
}

const struct facts *
facts_with_overlay(struct arena *a, struct diags *ds, const struct fact_files *over, bool ok)
{
	struct facts *f = facts_of(a, packed_facts);
	struct fact_files files = { 0 };
	const char *newest;

	/*
	 * Reports the errors of all readable files; only references are not checked, because they
	 * may be in an unreadable file.
	 */
	for (size_t i = 0; i < over->n; i++)
		ok &= (!facts_signature_block && !strcmp(over->at[i].name, FACT_SIGNATURES)) ||
		      lay_over(f, ds, over, &over->at[i], &files);
	if (!files.n)
		files = written(a, f, over);
	if (!ok || !facts_check_references(a, ds, &files))
		return NULL;
	newest = facts_newest_date(a, &files);
	if (newest && strcmp(newest, f->date) > 0)
		f->date = newest;
	f->read->files = roots_of(a, &f->read->files, &files);
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
		return facts_of(a, packed_facts);
	ok = facts_read_files(a, ds, overlay, &over);
	return facts_with_overlay(a, ds, &over, ok);
}

const char *
facts_date(const struct facts *f)
{
	return f->date;
}

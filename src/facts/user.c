/* The user's own files of `stackbuild facts refresh`, and the packages that it reads. */
#include <string.h>

#include "base/fs.h"
#include "base/str.h"
#include "internal.h"

struct names
facts_harvest(const struct facts *f)
{
	return fact_keys(f->a, fact_get(facts_file(f, "harvest.yaml"), "packages"));
}

bool
facts_tracks(const struct facts *f, const char *name)
{
	const struct claim *file = facts_file(f, "harvest.yaml"), *track = fact_get(file, "track");

	for (size_t i = 0; i < fact_count(track); i++) {
		const char *pattern = fact_text(fact_at(track, i));
		size_t n = strcspn(pattern, "*");

		if (!strncmp(pattern, name, n) && (pattern[n] == '*' || !name[n]))
			return true;
	}
	return fact_get(fact_get(file, "packages"), name) || facts_package(f, name) ||
	       facts_extension(f, name);
}

/* --- a file --- */

/* Returns the root of a valid file, or NULL after an error. */
static const struct node *
read_text(struct arena *a, struct diags *ds, const struct source *src)
{
	const char *package = fs_stem(a, src->path);
	struct fact_file file = { .name = arena_printf(a, "releases/%s.yaml", package) };
	struct text named;

	file.root = yaml_read(a, ds, src, YAML_LIMITS_DEFAULT);
	if (!file.root || !facts_check(a, ds, &file, CHECK_PIECE | CHECK_WHOLE))
		return NULL;
	named = node_text(node_get(file.root, "package"));
	if (named.s && !strcmp(named.s, package))
		return file.root;
	diag_at(ds, E_KNOWLEDGE, node_is_null(file.root) ? file.root->at : named.at,
		"it is not about the package `%s`", package);
	return NULL;
}

bool
facts_releases_valid(struct arena *a, struct diags *ds, const char *path, const char *text,
		     size_t n)
{
	struct source *src = arena_new_of(a, struct source);

	*src = (struct source){ .path = path, .text = text, .size = n };
	return read_text(a, ds, src) != NULL;
}

/* --- the user's files --- */

struct user_slot {
	struct user_file file;
	const struct claim *root; /* NULL: ignored, or missing */
};

void
facts_use_user(const struct facts *f, const char *dir)
{
	f->read->user_of = MAP(f->a);
	f->read->user = fs_is_dir(dir) ? dir : NULL;
}

static const struct fact_row *
packed_file(struct arena *a, const char *name, const struct node *root)
{
	struct fact_file file = { .name = name, .root = root };

	return (const struct fact_row *)facts_pack(a, &(struct fact_files){ &file, 1, 1 }).words;
}

static void
read_user_file(const struct facts *f, struct user_slot *slot)
{
	const struct source *src = fs_read_quiet(f->a, slot->file.path, FS_READ_MAX);
	const char *name = arena_printf(f->a, "releases/%s.yaml", slot->file.package);
	const struct node *root;
	struct diags ds = DIAGS(ds, f->a);

	if (!src)
		return;
	root = read_text(f->a, &ds, src);
	slot->file.read = root ? node_text(node_get(root, "read")).s : NULL;
	slot->file.ignored =
		!root ? arena_printf(f->a, "line %u: %s", ds.head->at.line, ds.head->text) :
		names_have(&f->read->over, name) ? "--knowledge has a file of that name" :
		strcmp(slot->file.read, facts_built_in.date) < 0 ?
						   "it is older than the built-in knowledge" :
						   NULL;
	if (!slot->file.ignored)
		slot->root = row_root(packed_file(f->a, name, root));
	list_push(f->a, &f->read->user_files, &slot->file);
}

const struct claim *
user_file_of(const struct facts *f, const char *name)
{
	struct user_slot *slot;

	if (!f->read->user)
		return NULL;
	slot = map_get(&f->read->user_of, name);
	if (slot)
		return slot->root;
	slot = arena_new_of(f->a, struct user_slot);
	slot->file.package = arena_strdup(f->a, name);
	slot->file.path = arena_printf(f->a, "%s/releases/%s.yaml", f->read->user, name);
	map_put(&f->read->user_of, slot->file.package, slot);
	if (name_valid(name))
		read_user_file(f, slot);
	return slot->root;
}

struct user_files
facts_user_files(const struct facts *f)
{
	struct user_files *all = &f->read->user_files;

	for (size_t i = 1; i < all->n; i++) {
		const struct user_file *x = all->at[i];
		size_t k = i;

		for (; k && strcmp(all->at[k - 1]->package, x->package) > 0; k--)
			all->at[k] = all->at[k - 1];
		all->at[k] = x;
	}
	return *all;
}

const char *
facts_user_read_all(const struct facts *f)
{
	struct names names = { 0 };
	struct diags unused = DIAGS(unused, f->a);

	if (!f->read->user)
		return NULL;
	fs_list(f->a, &unused, fs_join(f->a, f->read->user, "releases"), ".yaml", &names);
	for (size_t i = 0; i < names.n; i++)
		user_file_of(f, fs_stem(f->a, names.at[i]));
	return f->read->user;
}

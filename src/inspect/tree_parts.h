#ifndef INSPECT_TREE_PARTS_H
#define INSPECT_TREE_PARTS_H

#include <archive.h>
#include <archive_entry.h>

#include "inspect/inspect.h"

/* Shared by the files that read trees. */

struct tree_file {
	const char *path; /* without a slash at its beginning */
	uint64_t size;
	size_t layer;
};

/* A tree being read: files of all layers, and deletions by later layers. */
struct walk {
	struct arena *a;
	struct diags *ds;
	const char *name; /* for diagnostics */
	const struct tree_want *want;
	struct tree *t;
	bool disk; /* the archive is a directory on this host */
	struct tree_files LIST(struct tree_file) files;
	struct map latest;  /* path -> index of the newest file, plus one */
	struct map deleted; /* path -> newest layer that deletes the file, plus one */
	struct map texts;   /* small files whose text is read: by path */
	struct map sizes;   /* path of a RECORD -> uint64_t, the sum of its sizes */
};

/* Reports "name: error[SB0814]: text" and returns false. */
#define tree_refuse(w, ...) inspect_refuse((w)->ds, E_TREE, (w)->name, __VA_ARGS__)

/*
 * walk_archive -- adds the files of an open archive, as layer number `layer`.
 *
 *   in      strip: characters of each path to skip
 *   errors  SB0814, false
 */
bool walk_archive(struct walk *w, struct archive *ar, size_t layer, size_t strip);

/* Fills the tree from all files, after every layer was read. */
void walk_end(struct walk *w);

static inline void
archive_close(struct archive **ar)
{
	archive_read_free(*ar);
}

#define CLEANUP_ARCHIVE __attribute__((cleanup(archive_close)))

#endif

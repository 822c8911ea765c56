/*
 * libFuzzer: images.  The first byte selects the input: "t" a tar file (an OCI or docker archive, or a
 * root file system), "l" the index.json of an OCI layout, a NUL, its manifest, a NUL, its layer.  The
 * result is printed as inert text, and no layer hides more bytes than it has.
 */
#include "fuzz.h"

#include <sys/stat.h>

#include "inspect/inspect.h"
#include "inspect/tree.h"

#define ZEROS "00000000000000000000000000000000"
#define ONES "11111111111111111111111111111111"

/* The directory of the layout; the names of both blobs are fixed, because seeds contain them. */
static const char *
layout(struct arena *a, const char *data, size_t size)
{
	static const char *const files[] = { "index.json", "blobs/sha256/" ZEROS ZEROS,
					     "blobs/sha256/" ONES ONES };

	mkdir(arena_printf(a, "%s/blobs", scratch()), 0700);
	mkdir(arena_printf(a, "%s/blobs/sha256", scratch()), 0700);
	scratch_file(a, "oci-layout", "{}", 2);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		const char *stop = i < 2 && size ? memchr(data, '\0', size) : NULL;
		size_t n = stop ? (size_t)(stop - data) : size;

		scratch_file(a, files[i], data, n);
		data += n;
		size -= n;
		if (stop) {
			data++;
			size--;
		}
	}
	return scratch();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct diags ds;
	struct buf text = BUF(a), json = BUF(a);
	struct json j = json_to(&json);
	const struct tree *t = NULL;
	const char *rest = (const char *)data + 1;

	ds = DIAGS(ds, a);
	if (size && *data == 't')
		t = tree_read(a, &ds, scratch_file(a, "x.tar", rest, size - 1), NULL);
	else if (size && *data == 'l')
		t = tree_read(a, &ds, layout(a, rest, size - 1), NULL);
	must(!t || !ds.errors, "an image with an error is not read");
	printed(a, &ds);
	if (t) {
		for (size_t i = 0; i < t->layers.n; i++)
			must(t->layers.at[i].hidden <= t->layers.at[i].size,
			     "a layer hides files of its own");
		tree_text(a, "x", t, &text);
		must_be_inert(buf_text(&text), "\n\t");
		tree_json(a, t, &j);
	}
	arena_free(a);
	return 0;
}

/*
 * libFuzzer: the files that a wheel store reads.  The first byte selects the input: "k" the inputs of a
 * key, "e" an entry.json, which gets the key of its inputs.
 *
 * Properties: every rejection has a reason; the canonical form of inputs is a fixed
 * point and keeps its key; an accepted entry names a file in its own directory, and is
 * equal after it is written and read again.
 */
#include "fuzz.h"

#include "fetch/fetch.h"
#include "store/internal.h"

static void
check_key(struct arena *a, const char *text, size_t n)
{
	const char *canonical = NULL, *again = NULL, *key;
	struct diags ds;

	ds = DIAGS(ds, a);
	key = store_key(a, &ds, text, n, &canonical);
	must((key != NULL) == !ds.errors, "a key, or an error");
	printed(a, &ds);
	if (!key)
		return;
	must(store_is_key(key), "64 hexadecimal digits");
	must_be_inert(canonical, "");
	must(!strcmp(store_key(a, &ds, canonical, strlen(canonical), &again), key),
	     "the canonical form has the same key");
	must(!strcmp(canonical, again), "the canonical form is a fixed point");
}

/* Returns the key of the inputs in an entry; without valid inputs, any key. */
static const char *
key_of(struct arena *a, const char *text, size_t n)
{
	json_auto_t *map = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
	const char *key = NULL;
	struct diags ds;

	ds = DIAGS(ds, a);
	if (json_is_object(json_object_get(map, "inputs")))
		key = store_key_of(a, &ds, json_object_get(map, "inputs"), NULL);
	return key ? key : "0000000000000000000000000000000000000000000000000000000000000000";
}

static void
check_entry(struct arena *a, const char *text, size_t n)
{
	const char *key = key_of(a, text, n), *why = NULL, *again;
	const struct entry *e = entry_read(a, text, n, key, &why), *same;
	struct store_want want;

	must((e != NULL) == (why == NULL), "an entry, or a reason");
	if (!e)
		return;
	must(!strcmp(e->key, key) && store_is_key(e->sha256), "its key and its digest");
	must(!strchr(e->wheel, '/') && *e->wheel != '.', "a file in its own directory");
	must(e->size > 0 && e->made >= 0 && e->compile_s >= 0, "numbers that can be");
	must(e->name && e->version && e->torch && e->python && e->soabi && e->platform,
	     "its fields");
	want = entry_want(a, e);
	must(want.name == e->name && want.has_kernels == (e->archs.n > 0),
	     "what its wheel must be");
	again = entry_text(a, e);
	same = entry_read(a, again, strlen(again), key, &why);
	must(same && !strcmp(entry_text(a, same), again), "the same, written and read again");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	/* A separate block, so that a read past its end is detected. */
	char *text = malloc(size ? size : 1);

	if (size)
		memcpy(text, data + 1, size - 1);
	if (size && *data == 'k')
		check_key(a, text, size - 1);
	else if (size && *data == 'e')
		check_entry(a, text, size - 1);
	free(text);
	arena_free(a);
	return 0;
}

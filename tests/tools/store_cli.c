/*
 * Calls the functions of a store, for tests/suites/store:
 *
 *     store_cli put STORE WHEEL INPUTS [WANT...]     prints the key
 *     store_cli get STORE INPUTS FOLDER [WANT...]    prints "hit PATH", "miss", "refused" or "unreachable"
 *     store_cli more STORE INPUTS FOLDER [WANT...]   the same for a wheel with code for more GPUs
 *
 * INPUTS is a file.  WANT: name=, version=, python=, machine=, arch= (repeatable), any, kernels,
 * abi=0|1.  Warnings and errors on standard error, exit status 1 after an error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/str.h"
#include "store/store.h"

static struct store_want
read_want(struct arena *a, int n, char **words)
{
	struct store_want w = { .cxx11_abi = -1 };

	for (int i = 0; i < n; i++) {
		const char *word = words[i], *value = strchr(word, '=');

		value = value ? value + 1 : "";
		if (starts_with(word, "name="))
			w.name = value;
		else if (starts_with(word, "version="))
			w.version = value;
		else if (starts_with(word, "python="))
			w.python_tag = value;
		else if (starts_with(word, "machine="))
			w.machine = value;
		else if (starts_with(word, "arch="))
			list_push(a, &w.archs, value);
		else if (starts_with(word, "abi="))
			w.cxx11_abi = atoi(value);
		else if (!strcmp(word, "any"))
			w.any_archs = true;
		else if (!strcmp(word, "kernels"))
			w.has_kernels = true;
		else
			BUG("no such want: %s", word);
	}
	return w;
}

static bool
run(struct arena *a, struct diags *ds, int argc, char **argv)
{
	static const char *const answers[] = { "hit", "miss", "refused", "unreachable" };
	bool put = !strcmp(argv[1], "put");
	const struct source *inputs =
		fs_read(a, ds, put ? argv[4] : argv[3], FS_READ_MAX, (struct span){ 0 });
	struct store_want want = read_want(a, argc - 5, argv + 5);
	struct store *s = store_open(a, ds, argv[2]);
	const char *key = inputs ? store_key(a, ds, inputs->text, inputs->size, NULL) : NULL;
	const char *path = NULL;
	enum store_answer answer;

	if (!s || !key)
		return false;
	if (put) {
		struct store_wheel w = { argv[3], inputs->text, 1.5, 100 };

		if (!store_put(a, ds, s, &w, &want))
			return false;
		puts(key);
		return true;
	}
	if (!strcmp(argv[1], "more"))
		answer = store_get_more(a, ds, s, inputs->text, &want, argv[4], &path, &key);
	else
		answer = store_get(a, ds, s, key, &want, argv[4], &path);
	printf("%s%s%s\n", answers[answer], path ? " " : "", path ? path : "");
	return true;
}

int
main(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct diags ds;
	bool good;

	if (argc < 5)
		BUG("usage: see the file");
	ds = DIAGS(ds, a);
	good = run(a, &ds, argc, argv) && !ds.errors;
	diags_print(&ds, stderr, false);
	arena_free(a);
	return good && !fflush(stdout) ? EXIT_SUCCESS : EXIT_FAILURE;
}

/*
 * inspect_cli elf|codes|wheel FILE... -- what inspect/ reads in each file, as one line of
 * JSON a file, for referees; diagnostics go to standard error.  Exit status 1 if one was refused.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/str.h"
#include "inspect/inspect.h"

static void
symbols_to(struct json *j, const char *key, const struct elf_symbols *all)
{
	json_list(j, key);
	for (size_t i = 0; i < all->n; i++) {
		json_list(j, NULL);
		json_text(j, NULL, all->at[i].name);
		json_text(j, NULL, all->at[i].version);
		json_end(j);
	}
	json_end(j);
}

static void
elf_to(struct json *j, const struct elf *e)
{
	json_text(j, "machine", e->machine);
	json_text(j, "soname", e->soname);
	json_names(j, "needed", &e->needed);
	json_names(j, "runpath", &e->runpath);
	symbols_to(j, "undefined", &e->undefined);
	symbols_to(j, "defined", &e->defined);
	json_text(j, "glibc", e->glibc);
	json_text(j, "glibcxx", e->glibcxx);
	json_bool(j, "cxx11_abi", e->cxx11_abi);
	json_bool(j, "old_abi", e->old_abi);
}

static void
codes_to(struct arena *a, struct json *j, const struct gpu_codes *codes)
{
	json_list(j, "codes");
	for (size_t i = 0; i < codes->n; i++) {
		const struct gpu_code *c = &codes->at[i];

		json_map(j, NULL);
		json_text(j, "name", gpu_code_name(a, c));
		json_int(j, "size", (long long)c->size);
		json_bool(j, "compressed", c->compressed);
		json_bool(j, "relocatable", c->relocatable);
		json_end(j);
	}
	json_end(j);
}

static void
wheel_to(struct arena *a, struct json *j, const struct wheel *w)
{
	json_text(j, "name", w->name);
	json_text(j, "version", w->version);
	json_text(j, "build", w->build);
	json_names(j, "tags", &w->tags);
	json_names(j, "requires", &w->requires);
	json_text(j, "sha256", w->sha256);
	json_int(j, "size", (long long)w->size);
	json_list(j, "objects");
	for (size_t i = 0; i < w->objects.n; i++) {
		json_map(j, NULL);
		json_text(j, "path", w->objects.at[i].path);
		json_names(j, "needed", &w->objects.at[i].elf->needed);
		json_int(j, "undefined", (long long)w->objects.at[i].elf->undefined.n);
		codes_to(a, j, &w->objects.at[i].codes);
		json_end(j);
	}
	json_end(j);
}

static bool
one(struct arena *a, struct diags *ds, const char *what, const char *path, struct json *j)
{
	const struct elf *e = NULL;
	const struct wheel *w = NULL;
	struct gpu_codes codes = { 0 };
	void *bytes;
	struct stat st;
	int fd;

	if (!strcmp(what, "wheel")) {
		if ((w = wheel_read(a, ds, path)))
			wheel_to(a, j, w);
		return w;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 ||
	    (bytes = mmap(NULL, (size_t)st.st_size + 1, PROT_READ, MAP_PRIVATE, fd, 0)) ==
		    MAP_FAILED) {
		perror(path);
		return false;
	}
	close(fd);
	if (!strcmp(what, "elf") && (e = elf_read(a, ds, path, bytes, (size_t)st.st_size)))
		elf_to(j, e);
	if (strcmp(what, "elf") != 0 &&
	    gpu_codes_read(a, ds, path, bytes, (size_t)st.st_size, &codes))
		codes_to(a, j, &codes);
	munmap(bytes, (size_t)st.st_size + 1);
	return !ds->errors;
}

int
main(int argc, char **argv)
{
	int status = 0;

	if (argc < 3) {
		fputs("usage: inspect_cli elf|codes|wheel FILE...\n", stderr);
		return 2;
	}
	for (int i = 2; i < argc; i++) {
		struct arena *a = arena_new();
		struct diags ds;
		struct buf out = BUF(a);
		struct json j = json_flat_to(&out);

		diags_init(&ds, a);
		json_map(&j, NULL);
		json_text(&j, "file", argv[i]);
		status |= !one(a, &ds, argv[1], argv[i], &j);
		json_bool(&j, "refused", ds.errors != 0);
		json_end(&j);
		fwrite(out.p, 1, out.n, stdout);
		putchar('\n');
		diags_print(&ds, stderr, false);
		arena_free(a);
	}
	return status;
}

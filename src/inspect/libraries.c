/* Finds the libraries that a file needs, as the loader of this host does. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/str.h"
#include "inspect/internal.h"

/*
 * Returns true for an ELF file of the machine; a directory may also have files for other machines.
 */
static bool
is_for(const char *path, const char *machine)
{
	unsigned char head[20];
	FS_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return fd >= 0 && read(fd, head, sizeof(head)) == sizeof(head) &&
	       !memcmp(head, ELFMAG, SELFMAG) &&
	       le16(head + 18) == (!strcmp(machine, "x86_64") ? EM_X86_64 : EM_AARCH64);
}

/* Expands "$ORIGIN/../lib" with the directory of the file; $LIB and $PLATFORM stay. */
static const char *
with_origin(struct arena *a, const char *dir, const char *origin)
{
	static const char *const forms[] = { "${ORIGIN}", "$ORIGIN" };

	for (size_t i = 0; i < COUNT(forms); i++) {
		const char *at = strstr(dir, forms[i]);

		if (at)
			return arena_printf(a, "%.*s%s%s", (int)(at - dir), dir, origin,
					    at + strlen(forms[i]));
	}
	return dir;
}

/* Returns the loader's own directories, and those that the host adds. */
static struct names
system_dirs(struct arena *a, const char *machine)
{
	struct names all = { 0 }, files = { 0 };
	struct diags unused = DIAGS(unused, a);
	const char *conf = "/etc/ld.so.conf.d";

	fs_list(a, &unused, conf, ".conf", &files);
	for (size_t i = 0; i < files.n; i++) {
		const struct source *s = fs_read_quiet(a, fs_join(a, conf, files.at[i]), 65536);
		struct names lines = names_split(a, s ? s->text : "", '\n');

		for (size_t k = 0; k < lines.n; k++)
			if (lines.at[k][0] == '/')
				names_once(a, &all, lines.at[k]);
	}
	names_once(a, &all, arena_printf(a, "/lib/%s-linux-gnu", machine));
	names_once(a, &all, arena_printf(a, "/usr/lib/%s-linux-gnu", machine));
	names_once(a, &all, "/lib64");
	names_once(a, &all, "/usr/lib64");
	names_once(a, &all, "/lib");
	names_once(a, &all, "/usr/lib");
	return all;
}

static const char *
find_in(struct arena *a, const struct names *dirs, const char *origin, const char *name,
	const char *machine)
{
	for (size_t i = 0; i < dirs->n; i++) {
		const char *path = fs_join(a, with_origin(a, dirs->at[i], origin), name);

		if (is_for(path, machine))
			return fs_clean(a, path);
	}
	return NULL;
}

struct libraries
elf_libraries(struct arena *a, const struct elf *e, const char *path)
{
	const char *origin = fs_dir(a, fs_real(a, path));
	const struct names dirs = system_dirs(a, e->machine);
	struct libraries all = { 0 };

	for (size_t i = 0; i < e->needed.n; i++) {
		struct library l = { .name = e->needed.at[i] };

		if (strchr(l.name, '/'))
			l.path = is_for(l.name, e->machine) ? l.name : NULL;
		else if ((l.path = find_in(a, &e->runpath, origin, l.name, e->machine)))
			l.by = e->is_rpath ? "RPATH" : "RUNPATH";
		else if ((l.path = find_in(a, &dirs, origin, l.name, e->machine)))
			l.by = "system";
		list_push(a, &all, l);
	}
	return all;
}

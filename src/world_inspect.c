/* The verb `inspect`: what is inside a file, without running it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"
#include "inspect/inspect.h"
#include "verbs.h"

/* A file in memory; p NULL: it cannot be read. */
struct mapped {
	void *p;
	size_t n;
};

static void
unmap(struct mapped *m)
{
	if (m->p)
		munmap(m->p, m->n);
}

#define CLEANUP_MAP __attribute__((cleanup(unmap)))

static struct mapped
map_file(struct run *r, const char *path)
{
	struct mapped m = { 0 };
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode)) {
		/* An empty file is mapped as one byte that nobody reads. */
		m.n = st.st_size ? (size_t)st.st_size : 1;
		m.p = mmap(NULL, m.n, PROT_READ, MAP_PRIVATE, fd, 0);
		m.p = m.p == MAP_FAILED ? NULL : m.p;
		m.n = m.p ? m.n : 0;
	} else if (fd >= 0) {
		errno = EINVAL;
	}
	if (!m.p)
		diag_at(&r->ds, E_FILE, (struct span){ 0 }, "cannot read `%s`: %s", path,
			errno == EINVAL ? "it is not a regular file" : strerror(errno));
	if (fd >= 0)
		close(fd);
	return m;
}

static bool
inspect_object(struct run *r, const char *path, struct json *j)
{
	CLEANUP_MAP struct mapped m = map_file(r, path);
	struct object_shown o = { .path = path, .size = m.n };
	struct gpu_codes codes;

	if (!m.p || !(o.elf = elf_read(r->a, &r->ds, path, m.p, m.n)) ||
	    !gpu_codes_read(r->a, &r->ds, path, m.p, m.n, &codes))
		return false;
	o.codes = &codes;
	o.libraries = elf_libraries(r->a, o.elf, path);
	if (j)
		object_json(r->a, &o, j);
	else
		object_text(r->a, &o, &r->out);
	return true;
}

static bool
inspect_wheel(struct run *r, const char *path, struct json *j)
{
	const struct wheel *w = wheel_read(r->a, &r->ds, path);

	if (w && j)
		wheel_json(r->a, w, j);
	else if (w)
		wheel_text_shown(r->a, path, w, &r->out);
	return w;
}

int
verb_inspect(struct run *r)
{
	const struct options *o = r->o;
	const char *path = o->args.at[0];
	bool wheel = ends_with(path, ".whl");
	struct json j = json_to(&r->out);
	bool as_json = o->json || o->format == FORMAT_JSON, good;

	if (as_json)
		json_put(&j, "{'kind': %s, 'file': %s", wheel ? "wheel" : "object", path);
	good = wheel ? inspect_wheel(r, path, as_json ? &j : NULL) :
		       inspect_object(r, path, as_json ? &j : NULL);
	if (as_json)
		json_put(&j, "}");
	if (!good)
		r->out.n = 0;
	return good ? EXIT_DONE : EXIT_DIAGNOSED;
}

/* The verb `inspect`: what is inside a file, without running it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"
#include "harvest/harvest.h"
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

/* What is shown: `j` takes members of an open map; NULL: text goes to r->out. */
struct view {
	struct run *r;
	struct json *j;
};

static bool
show_object(const struct view *v, struct diags *ds, const char *path, const void *bytes, size_t n,
	    bool here)
{
	struct object_shown o = { .path = path, .size = n };
	struct arena *a = v->r->a;
	struct gpu_codes codes;

	if (!(o.elf = elf_read(a, ds, path, bytes, n)) ||
	    !gpu_codes_read(a, ds, path, bytes, n, &codes))
		return false;
	o.codes = &codes;
	if (here)
		o.libraries = elf_libraries(a, o.elf, path);
	if (v->j)
		object_json(a, &o, v->j);
	else
		object_text(a, &o, &v->r->out);
	return true;
}

static bool
inspect_object(const struct view *v, const char *path)
{
	CLEANUP_MAP struct mapped m = map_file(v->r, path);

	return m.p && show_object(v, &v->r->ds, path, m.p, m.n, true);
}

static bool
show_wheel(const struct view *v, const char *path, const struct wheel *w)
{
	if (w && v->j)
		wheel_json(v->r->a, w, v->j);
	else if (w)
		wheel_text_shown(v->r->a, path, w, &v->r->out);
	return w;
}

/* --- a member, and wheels on a server --- */

/* Printed before the bytes are fetched, so that Ctrl-C comes in time. */
static void
announce(const char *member, uint64_t packed, uint64_t size)
{
	fprintf(stderr, "reading %s: %llu bytes in the wheel, %llu unpacked\n", member,
		(unsigned long long)packed, (unsigned long long)size);
}

static bool
inspect_member(const struct view *v, struct diags *ds, const struct wheel_source *s)
{
	struct arena *a = v->r->a;
	const char *member = v->r->o->member;
	size_t n;
	const unsigned char *bytes = wheel_member_read(a, ds, s, member, announce, &n);

	return bytes &&
	       show_object(v, ds, arena_printf(a, "%s: %s", s->name, member), bytes, n, false);
}

static bool
read_remote(void *ctx, struct diags *ds, const struct remote_seen *seen)
{
	const struct view *v = ctx;
	struct run *r = v->r;
	bool good = r->o->member ? inspect_member(v, ds, &seen->source) :
				   show_wheel(v, seen->source.name,
					      wheel_read_parts(r->a, ds, &seen->source));

	if (v->j)
		json_put(v->j, "'url': %s, 'wheel_size': %f, 'fetched': %f", seen->url,
			 (double)seen->source.size, (double)*seen->fetched);
	else
		buf_printf(&r->out, "  %-9s %s\n  %-9s %llu of %llu bytes (%.2f %%)\n", "from",
			   seen->url, "fetched", (unsigned long long)*seen->fetched,
			   (unsigned long long)seen->source.size,
			   100.0 * (double)*seen->fetched / (double)seen->source.size);
	return good;
}

/* --- the verb --- */

static bool
is_wheel(const char *path)
{
	return ends_with(path, ".whl");
}

static bool
inspect_one(struct view *v, const char *path)
{
	struct run *r = v->r;

	if (r->o->remote)
		return remote_wheel(r->a, &r->ds, r->o->remote, r->o->index, read_remote, v);
	if (r->o->member)
		return inspect_member(v, &r->ds, &(struct wheel_source){ .name = path });
	if (is_wheel(path))
		return show_wheel(v, path, wheel_read(r->a, &r->ds, path, true));
	return inspect_object(v, path);
}

/* NULL, or what is wrong with the arguments. */
static const char *
wrong_use(const struct options *o)
{
	if (!o->remote && !o->args.n)
		return "name what to inspect: a file, an image, an environment, or --remote WHEEL";
	if (o->remote && o->args.n)
		return "--remote replaces the file: name one of them";
	if (o->format_given && o->format != FORMAT_TEXT && o->format != FORMAT_JSON)
		return "inspect has two formats: text and json";
	if (o->member && !o->remote && !is_wheel(o->args.at[0]))
		return "--member names a shared object of a wheel";
	return NULL;
}

int
verb_inspect(struct run *r)
{
	const struct options *o = r->o;
	const char *path = o->remote ? o->remote : o->args.n ? o->args.at[0] : NULL;
	const char *wrong = wrong_use(o);
	struct json j = json_to(&r->out);
	struct view v = { .r = r };
	bool good;

	if (wrong)
		return usage_error(wrong);
	if (o->json || o->format == FORMAT_JSON) {
		v.j = &j;
		json_put(&j, "{'kind': %s, 'file': %s",
			 !o->member && (o->remote || is_wheel(path)) ? "wheel" : "object", path);
	}
	good = inspect_one(&v, path);
	if (v.j)
		json_put(&j, "}");
	if (!good)
		r->out.n = 0;
	return good ? EXIT_DONE : EXIT_DIAGNOSED;
}

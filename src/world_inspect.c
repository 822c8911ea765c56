/* The verb `inspect`: shows the contents of a file without running it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/map.h"
#include "base/proc.h"
#include "base/str.h"
#include "fetch/fetch.h"
#include "inspect/inspect.h"
#include "world.h"

/* --- files --- */

/* A mapped file; p NULL: it cannot be read. */
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
	FS_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode)) {
		/* Maps one unused byte of an empty file. */
		m.n = st.st_size ? (size_t)st.st_size : 1;
		m.p = mmap(NULL, m.n, PROT_READ, MAP_PRIVATE, fd, 0);
		m.p = m.p == MAP_FAILED ? NULL : m.p;
		m.n = m.p ? m.n : 0;
	} else if (fd >= 0) {
		errno = EINVAL;
	}
	if (!m.p)
		diag_at(&r->ds, E_FILE, NOWHERE, "cannot read `%s`: %s", path,
			errno == EINVAL ? "it is not a regular file" : strerror(errno));
	return m;
}

/* The kind of a path. */
enum kind { OBJECT, WHEEL, ENVIRONMENT, IMAGE };
static const char *const kinds[] = { "object", "wheel", "environment", "image" };

struct subject {
	enum kind kind;
	const char *path; /* the user's text */
	const char *file; /* the file to read, such as the saved archive of an engine's image */
};

/* Returns true for tar files, also those compressed with gzip or zstd. */
static bool
is_archive(const char *path)
{
	unsigned char head[262] = { 0 };
	FS_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd >= 0 ? read(fd, head, sizeof(head)) : 0;

	return (n == sizeof(head) && !memcmp(head + 257, "ustar", 5)) ||
	       (n > 4 && (!memcmp(head, "\x1f\x8b", 2) || !memcmp(head, "\x28\xb5\x2f\xfd", 4)));
}

/* Lets an engine save the image to a file in `dir`; NULL after SB0814. */
static const char *
save_image(struct run *r, const char *image, const char *dir)
{
	const char *file = fs_join(r->a, dir, "image.tar");
	const struct engine_at asked = world_engine_at(r->o);
	struct engine_state state = { 0 };
	const struct engine *e = engine_choose(r->a, &r->ds, r->o->engine, &asked, &state);
	struct proc_spec spec = { .keep = 4096 };
	struct proc_result result = { 0 };
	struct image_about about;
	struct engine_command c;
	struct diag *d;

	if (!e)
		return NULL;
	if (e->save) {
		c = engine_call(r->a, &state.at, e->save, file, image);
		engine_spec(r->a, &c, &spec);
		if (proc_run(r->a, &spec, &result))
			return file;
	}
	d = diag_at(&r->ds, E_TREE, NOWHERE, "cannot read the image `%s`", image);
	if (!e->save) {
		diag_why(d, "%s cannot save an image to a file", e->name);
		diag_help(d, "use --engine docker or --engine podman");
	} else if (engine_image(r->a, e, &state.at, image, &about)) {
		diag_why(d, "%s cannot save it: %s", e->name, buf_text(&result.err));
	} else {
		diag_why(d, "no file has this name, and %s has no such image", e->name);
		diag_help(d,
			  "run `%s pull IMAGE` with the registry in the name, such as "
			  "ghcr.io/me/stack:1; or build the image with `stackbuild build RECIPE`",
			  e->name);
	}
	return NULL;
}

/* Finds the kind and the file of an argument; false after a diagnostic. *temp: a directory to
 * remove, or NULL. */
static bool
find_subject(struct run *r, const char *path, struct subject *s, const char **temp)
{
	*s = (struct subject){ .kind = OBJECT, .path = path, .file = path };
	if (ends_with(path, ".whl"))
		s->kind = WHEEL;
	else if (fs_is_dir(path))
		s->kind = fs_exists(fs_join(r->a, path, "oci-layout")) ? IMAGE : ENVIRONMENT;
	else if (is_archive(path))
		s->kind = IMAGE;
	else if (!fs_exists(path) && *path != '/' && *path != '.' && !ends_with(path, ".so")) {
		s->kind = IMAGE;
		if (!*temp)
			*temp = proc_temp(r->a, NULL, "stackbuild-inspect");
		if (!*temp)
			diag_at(&r->ds, E_WRITE, NOWHERE, "cannot make a temporary directory: %s",
				strerror(errno));
		s->file = *temp ? save_image(r, path, *temp) : NULL;
	}
	return s->file;
}

/* --- output --- */

/* One output; j: JSON, an open map; NULL: text in r->out. */
struct view {
	struct run *r;
	struct json *j;
	const char *temp; /* a directory to remove at the end; or NULL */
	bool unresolved;  /* --against: unresolved symbols remain */
};

static bool judge(struct view *v, const char *path, const struct elf *e);

static bool
show_object(struct view *v, struct diags *ds, const char *path, const void *bytes, size_t n,
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
	return !v->r->o->against || judge(v, path, o.elf);
}

static bool
inspect_object(struct view *v, const char *path)
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

static bool
show_tree(const struct view *v, const struct subject *s)
{
	struct run *r = v->r;
	const struct tree *t = tree_read(r->a, &r->ds, s->file, NULL);

	if (t && v->j)
		tree_json(r->a, t, v->j);
	else if (t)
		tree_text(r->a, s->path, t, &r->out);
	return t;
}

/* --- against another file --- */

struct lookup {
	struct provider p;
	const struct elf *e;
};

/* Returns true for libraries that torch loads or that the object names. */
static bool
is_wanted(void *ctx, const char *path)
{
	const struct lookup *l = ctx;

	return strstr(path, "/torch/lib/lib") || names_have(&l->e->needed, fs_name(path));
}

static void
take(void *ctx, const char *path, const struct elf *e)
{
	struct lookup *l = ctx;

	provider_add(&l->p, path, e);
}

static bool
add_file(struct run *r, struct provider *p, const char *path)
{
	CLEANUP_MAP struct mapped m = map_file(r, path);
	const struct elf *e = m.p ? elf_read(r->a, &r->ds, path, m.p, m.n) : NULL;

	if (e)
		provider_add(p, path, e);
	return e;
}

/* Reads the file of --against. */
static bool
add_other(struct view *v, struct lookup *l)
{
	struct run *r = v->r;
	const struct tree_want want = { is_wanted, take, l };
	const struct wheel *w;
	struct subject s;

	if (!find_subject(r, r->o->against, &s, &v->temp))
		return false;
	if (s.kind == OBJECT)
		return add_file(r, &l->p, s.file);
	if (s.kind != WHEEL)
		return tree_read(r->a, &r->ds, s.file, &want);
	if (!(w = wheel_read(r->a, &r->ds, s.file, true)))
		return false;
	for (size_t i = 0; i < w->objects.n; i++)
		provider_add(&l->p, w->objects.at[i].path, w->objects.at[i].elf);
	return true;
}

static bool
judge(struct view *v, const char *path, const struct elf *e)
{
	struct arena *a = v->r->a;
	struct lookup l = { .p = { a, MAP(a), MAP(a) }, .e = e };
	const struct libraries here = elf_libraries(a, e, path);
	struct against g;

	if (!add_other(v, &l))
		return false;
	g = against_judge(a, e, &l.p);
	/* Searches this host for libraries that neither file has and whose symbols have no
	 * version. */
	for (size_t i = 0; i < here.n; i++)
		if (here.at[i].path && names_have(&g.absent, here.at[i].name) &&
		    !add_file(v->r, &l.p, here.at[i].path))
			return false;
	g = against_judge(a, e, &l.p);
	if (v->j)
		against_json(&g, v->r->o->against, v->j);
	else
		against_text(a, &g, v->r->o->against, &v->r->out);
	v->unresolved = g.unresolved.n;
	return true;
}

/* --- members, and wheels on a server --- */

/* Prints the size before the download, so that the user can press Ctrl-C. */
static void
announce(const char *member, uint64_t packed, uint64_t size)
{
	diag_tell("reading %s: %llu bytes in the wheel, %llu unpacked", member,
		  (unsigned long long)packed, (unsigned long long)size);
}

static bool
show_member(void *ctx, struct diags *ds, const char *name, const void *bytes, size_t n)
{
	return show_object(ctx, ds, name, bytes, n, false);
}

static bool
inspect_member(struct view *v, struct diags *ds, const struct wheel_source *s)
{
	return wheel_member_read(v->r->a, ds, s, v->r->o->member, announce, show_member, v);
}

static bool
read_remote(void *ctx, struct diags *ds, const struct index_wheel *seen)
{
	const struct wheel_source source = { seen->name, seen->size, seen->read, seen->expect,
					     seen->ctx };
	struct view *v = ctx;
	struct run *r = v->r;
	bool good = r->o->member ? inspect_member(v, ds, &source) :
				   show_wheel(v, seen->name, wheel_read_parts(r->a, ds, &source));

	if (v->j)
		json_put(v->j, "'url': %s, 'wheel_size': %f, 'fetched': %f", seen->url,
			 (double)seen->size, (double)*seen->fetched);
	else
		buf_printf(&r->out, "  %-9s %s\n  %-9s %llu of %llu bytes (%.2f %%)\n", "from",
			   seen->url, "fetched", (unsigned long long)*seen->fetched,
			   (unsigned long long)seen->size,
			   100.0 * (double)*seen->fetched / (double)seen->size);
	return good;
}

/* --- the command --- */

static bool
show(struct view *v, const struct subject *s)
{
	struct run *r = v->r;

	if (r->o->member)
		return inspect_member(v, &r->ds, &(struct wheel_source){ .name = s->file });
	switch (s->kind) {
	case OBJECT: return inspect_object(v, s->file);
	case WHEEL: return show_wheel(v, s->file, wheel_read(r->a, &r->ds, s->file, true));
	default: return show_tree(v, s);
	}
}

/* Opens the map of a JSON answer. */
static void
begin(struct view *v, const char *kind, const char *path)
{
	if (v->j)
		json_put(v->j, "{'kind': %s, 'file': %s", v->r->o->member ? "object" : kind, path);
}

static bool
inspect_one(struct view *v)
{
	struct run *r = v->r;
	struct subject s;
	bool good;

	if (r->o->remote) {
		begin(v, "wheel", r->o->remote);
		good = index_wheel_read(r->a, &r->ds, r->o->remote, r->o->index, read_remote, v);
	} else if ((good = find_subject(r, r->o->args.at[0], &s, &v->temp))) {
		begin(v, kinds[s.kind], s.path);
		good = show(v, &s);
	}
	if (good && v->j)
		json_end(v->j);
	return good;
}

/* Shows the differences between two files of the same kind. */
static bool
inspect_two(struct view *v, bool as_json)
{
	struct run *r = v->r;
	const char *texts[2];

	for (size_t i = 0; i < 2; i++) {
		struct json j = json_to(&r->out);
		struct subject s;

		v->j = &j;
		if (!find_subject(r, r->o->args.at[i], &s, &v->temp))
			return false;
		begin(v, kinds[s.kind], s.path);
		if (!show(v, &s))
			return false;
		json_end(&j);
		texts[i] = arena_copy(r->a, r->out.p, r->out.n);
		buf_clear(&r->out);
	}
	return difference(r->a, texts[0], texts[1], as_json, &r->out);
}

/* Returns the error in the arguments, or NULL. */
static const char *
wrong_use(const struct options *o)
{
	bool wheel = o->remote || (o->args.n && ends_with(o->args.at[0], ".whl"));

	if (!o->remote && !o->args.n)
		return "name what to inspect: a file, an image, an environment, or --remote WHEEL";
	if (o->remote && o->args.n)
		return "--remote replaces the file: name one of them";
	if (o->member && (!wheel || o->args.n > 1))
		return "--member names a shared object of a wheel";
	if (o->against && (o->args.n > 1 || (wheel && !o->member)))
		return "--against needs one shared object: a file, or a --member of a wheel";
	return NULL;
}

int
verb_inspect(struct run *r)
{
	const struct options *o = r->o;
	const char *wrong = wrong_use(o);
	struct json j = json_to(&r->out);
	struct view v = { .r = r };
	bool as_json = o->format == FORMAT_JSON, good;

	if (wrong)
		return usage_error("%s", wrong);
	proc_signals();
	v.j = as_json ? &j : NULL;
	good = o->args.n > 1 ? inspect_two(&v, as_json) : inspect_one(&v);
	if (v.temp) {
		unlink(fs_join(r->a, v.temp, "image.tar"));
		rmdir(v.temp);
	}
	if (!good)
		r->out.n = 0;
	return good && !v.unresolved ? EXIT_DONE : EXIT_DIAGNOSED;
}

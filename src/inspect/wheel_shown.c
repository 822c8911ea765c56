/* The report on a wheel, and contradictions between its tags and its files. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/str.h"
#include "inspect/inspect.h"
#include "inspect/wheel_parts.h"
#include "python/python.h"

/* Returns 17 for "2.17"; 0 for no version. */
static unsigned long
minor_of(const char *glibc)
{
	const char *dot = glibc && starts_with(glibc, "2.") ? glibc + 2 : NULL;

	return dot ? strtoul(dot, NULL, 10) : 0;
}

/* The tags of a wheel, all together. */
struct promise {
	unsigned long glibc; /* the oldest 2.N of a tag; 0: none */
	bool any, abi3;
	const char *machine; /* machine of the Linux tags; NULL: none */
};

static struct promise
promise_of(struct arena *a, const struct wheel *w)
{
	struct promise p = { 0 };

	for (size_t i = 0; i < w->tags.n; i++) {
		const char *tag = w->tags.at[i], *platform = strrchr(tag, '-') + 1;
		const char *x86 = strstr(platform, "_x86_64");
		unsigned long n = wheel_glibc(tag);

		p.any |= !strcmp(platform, "any");
		p.abi3 |= strstr(tag, "-abi3-") != NULL;
		if (starts_with(platform, "linux_") || starts_with(platform, "manylinux"))
			p.machine = x86 && !x86[7]                  ? "x86_64" :
				    ends_with(platform, "_aarch64") ? "aarch64" :
								      arena_strdup(a, platform);
		p.glibc = n && (!p.glibc || n < p.glibc) ? n : p.glibc;
	}
	return p;
}

/*
 * Returns where the tags of a wheel and its files contradict each other: PEP 425, 513, 571, 599,
 * 600.
 */
static struct names
wheel_findings(struct arena *a, const struct wheel *w)
{
	const struct promise p = promise_of(a, w);
	struct names all = { 0 };

	for (size_t i = 0; i < w->findings.n; i++)
		list_push(a, &all, w->findings.at[i]);
	list_each (o, &w->objects) {
		if (p.glibc && minor_of(o->elf->glibc) > p.glibc)
			list_printf(a, &all, "`%s` needs glibc %s; the tag promises 2.%lu", o->path,
				    o->elf->glibc, p.glibc);
		if (p.machine && strcmp(p.machine, o->elf->machine) != 0)
			list_printf(a, &all, "`%s` is for %s, but the tag is %s", o->path,
				    o->elf->machine, p.machine);
		if (p.abi3 && strstr(o->path, ".cpython-"))
			list_printf(a, &all,
				    "`%s` is for one version of Python, but the tag is abi3",
				    o->path);
		if (p.any)
			list_printf(a, &all,
				    "`%s` is machine code, but the tag is for any platform",
				    o->path);
	}
	return all;
}

/* Returns the newest glibc that an object needs; NULL: none needs glibc. */
static const char *
glibc_floor(const struct wheel *w)
{
	const char *newest = NULL;

	for (size_t i = 0; i < w->objects.n; i++)
		if (minor_of(w->objects.at[i].elf->glibc) > minor_of(newest))
			newest = w->objects.at[i].elf->glibc;
	return newest;
}

static uint64_t
unpacked_size(const struct wheel *w)
{
	uint64_t size = 0;

	for (size_t i = 0; i < w->members.n; i++)
		size += w->members.at[i].size;
	return size;
}

/* --- text --- */

/*
 *     demo-1.0-cp311-cp311-manylinux_2_17_x86_64.whl: demo 1.0, 1.2 MiB, 14 files of 3.4 MiB
 *       tags      cp311-cp311-manylinux_2_17_x86_64
 *       requires  torch>=2
 *       RECORD every file has the listed size and digest
 *       glibc     2.17 at least
 *       demo/_C.so                  sm_80, sm_90; needs libc10.so, libc.so.6
 */
static void
text_rows(struct buf *out, const char *key, const struct names *all)
{
	for (size_t i = 0; i < all->n; i++)
		buf_printf(out, "  %-9s %s\n", i ? "" : key, all->at[i]);
}

static void
text_objects(struct arena *a, const struct wheel *w, struct buf *out)
{
	for (size_t i = 0; i < w->objects.n; i++) {
		const struct wheel_object *o = &w->objects.at[i];
		const struct names gpus = gpu_code_names(a, &o->codes);

		buf_printf(out, "  %-9s %s%s%s\n", i ? "" : "objects", o->path, gpus.n ? ": " : "",
			   names_join(a, &gpus, ", "));
		if (o->elf->needed.n)
			buf_printf(out, "  %-9s   needs %s\n", "",
				   names_join(a, &o->elf->needed, ", "));
	}
}

/* Lists the members of a wheel that was read in parts, for --member. */
static void
text_members(struct arena *a, const struct wheel *w, struct buf *out)
{
	bool any = false;

	for (size_t i = 0; !w->sha256 && i < w->members.n; i++) {
		const struct wheel_member *m = &w->members.at[i];

		if (!wheel_object_name(m->path))
			continue;
		buf_printf(out, "  %-9s %s: %s, %s in the wheel\n", any ? "" : "objects", m->path,
			   bytes_words(a, (double)m->size), bytes_words(a, (double)m->packed));
		any = true;
	}
}

void
wheel_text_shown(struct arena *a, const char *path, const struct wheel *w, struct buf *out)
{
	const struct names findings = wheel_findings(a, w);
	const struct names pythons = metadata_values(a, w->metadata, "Requires-Python");
	const char *glibc = glibc_floor(w);

	buf_printf(out, "%s: %s %s, %s, %zu files of %s\n", fs_name(path), w->name, w->version,
		   bytes_words(a, (double)w->size), w->members.n,
		   bytes_words(a, (double)unpacked_size(w)));
	text_rows(out, "tags", &w->tags);
	text_rows(out, "Python", &pythons);
	text_rows(out, "requires", &w->requires);
	buf_printf(out, "  %-9s %s\n", "RECORD",
		   w->sha256 ? "every file has the listed size and digest" :
			       "every file has the listed size; the digests were not checked");
	if (glibc)
		buf_printf(out, "  %-9s %s or newer\n", "glibc", glibc);
	text_objects(a, w, out);
	text_members(a, w, out);
	text_rows(out, "findings", &findings);
}

/* --- JSON --- */

void
wheel_json(struct arena *a, const struct wheel *w, struct json *j)
{
	const struct names findings = wheel_findings(a, w);
	const struct names pythons = metadata_values(a, w->metadata, "Requires-Python");

	json_put(j,
		 "'name': %s, 'version': %s, 'build': %s, 'tags': %n, 'requires_python': %s, "
		 "'requires': %n, 'sha256': %s, 'size': %f, 'glibc': %s, 'findings': %n",
		 w->name, w->version, w->build, &w->tags, pythons.n ? pythons.at[0] : NULL,
		 &w->requires, w->sha256, (double)w->size, glibc_floor(w), &findings);
	json_list(j, "objects");
	list_each (o, &w->objects) {
		json_map(j, NULL);
		json_text(j, "path", o->path);
		object_json(
			a,
			&(struct object_shown){
				.size = o->size, .elf = o->elf, .codes = &o->codes, .brief = true },
			j);
		json_end(j);
	}
	json_end(j);
	json_list(j, "members");
	for (size_t i = 0; i < w->members.n; i++)
		json_put(j, "('path': %s, 'size': %f, 'packed': %f)", w->members.at[i].path,
			 (double)w->members.at[i].size, (double)w->members.at[i].packed);
	json_end(j);
}

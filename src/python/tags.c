#include "python/tags.h"

#include <string.h>

/*
 * The order of packaging.tags.sys_tags(), for CPython on Linux:
 *
 *     cp311-cp311-P   cp311-abi3-P   cp311-none-P   cp310-abi3-P ... cp32-abi3-P
 *     py311-none-P   py3-none-P   py310-none-P ... py30-none-P
 *     cp311-none-any   py311-none-any   py3-none-any   py310-none-any ... py30-none-any
 *
 * where P stands for every platform in turn: linux_x86_64, manylinux_2_36_x86_64 ...
 * with the older names behind their glibc, musllinux_1_2_x86_64 ...  The free-threaded
 * build has cp313t and abi3t instead of cp313 and abi3.
 */
struct walk {
	struct arena *a;
	const struct wheel_target *t;
	struct names platforms;
	tag_visit *visit;
	void *to;
	bool over;
};

/* glibc 3 would still run what was built for glibc 2; packaging assumes 2.50 as its last. */
enum { GLIBC_2_LAST = 50, ABI3_SINCE = 2 };

static void
add_glibc(struct arena *a, struct names *out, unsigned major, unsigned minor, const char *machine)
{
	static const struct {
		unsigned minor;
		const char *name;
	} legacy[] = { { 17, "manylinux2014" }, { 12, "manylinux2010" }, { 5, "manylinux1" } };

	list_push(a, out, arena_printf(a, "manylinux_%u_%u_%s", major, minor, machine));
	for (size_t i = 0; major == 2 && i < sizeof(legacy) / sizeof(legacy[0]); i++)
		if (legacy[i].minor == minor)
			list_push(a, out, arena_printf(a, "%s_%s", legacy[i].name, machine));
}

static void
add_manylinux(struct arena *a, struct names *out, const struct wheel_target *t)
{
	static const char *const machines[] = { "x86_64", "i686",        "aarch64",
						"armv7l", "ppc64",       "ppc64le",
						"s390x",  "loongarch64", "riscv64" };
	unsigned oldest = 17, minor = t->glibc_minor;
	bool known = false;

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		known = known || !strcmp(t->machine, machines[i]);
	if (!known)
		return;
	if (!strcmp(t->machine, "x86_64") || !strcmp(t->machine, "i686"))
		oldest = 5;
	for (unsigned major = t->glibc_major; major > 1; major--) {
		unsigned last = major == 2 ? oldest : 0;

		for (unsigned m = minor + 1; m > last; m--)
			add_glibc(a, out, major, m - 1, t->machine);
		minor = GLIBC_2_LAST;
	}
}

static struct names
platforms_of(struct arena *a, const struct wheel_target *t)
{
	struct names out = { 0 };

	list_push(a, &out, arena_printf(a, "linux_%s", t->machine));
	add_manylinux(a, &out, t);
	if (t->musl_major)
		for (unsigned m = t->musl_minor + 1; m > 0; m--)
			list_push(a, &out,
				  arena_printf(a, "musllinux_%u_%u_%s", t->musl_major, m - 1,
					       t->machine));
	return out;
}

static void
visit(struct walk *w, const char *python, const char *abi, const char *platform)
{
	if (!w->over)
		w->over = !w->visit(w->to, &(struct tag){ python, abi, platform });
}

static void
each_platform(struct walk *w, const char *python, const char *abi)
{
	for (size_t i = 0; i < w->platforms.n && !w->over; i++)
		visit(w, python, abi, w->platforms.at[i]);
}

static const char *
interpreter(struct walk *w, const char *name, unsigned minor)
{
	return arena_printf(w->a, "%s%u%u", name, w->t->python_major, minor);
}

static void
cpython_tags(struct walk *w, const char *cp)
{
	const struct wheel_target *t = w->t;
	bool has_abi3 = t->python_major > 3 || (t->python_major == 3 && t->python_minor >= 2);
	const char *abi3 = t->free_threaded ? "abi3t" : "abi3", *flags = "";

	/* Builds before 3.8 say that they use pymalloc, before 3.3 wide characters as well. */
	if (t->free_threaded)
		flags = "t";
	else if (t->python_major < 3 || (t->python_major == 3 && t->python_minor < 8))
		flags = has_abi3 && t->python_minor >= 3 ? "m" : "mu";
	each_platform(w, cp, arena_printf(w->a, "%s%s", cp, flags));
	if (has_abi3)
		each_platform(w, cp, abi3);
	each_platform(w, cp, "none");
	for (unsigned minor = t->python_minor; has_abi3 && minor-- > ABI3_SINCE && !w->over;)
		each_platform(w, interpreter(w, "cp", minor), abi3);
}

/* py311 py3 py310 ... py30, for every platform or for any. */
static void
python_tags(struct walk *w, bool any)
{
	unsigned newest = w->t->python_minor;

	for (unsigned i = 0; i <= newest + 1 && !w->over; i++) {
		const char *py = i == 1 ? arena_printf(w->a, "py%u", w->t->python_major) :
					  interpreter(w, "py", i ? newest + 1 - i : newest);

		if (any)
			visit(w, py, "none", "any");
		else
			each_platform(w, py, "none");
	}
}

void
tags_each(struct arena *a, const struct wheel_target *t, tag_visit *to_visit, void *to)
{
	struct walk w = { a, t, platforms_of(a, t), to_visit, to, false };
	const char *cp = interpreter(&w, "cp", t->python_minor);

	cpython_tags(&w, cp);
	python_tags(&w, false);
	visit(&w, cp, "none", "any");
	python_tags(&w, true);
}

struct collect {
	struct arena *a;
	struct names *out;
};

static bool
collect_tag(void *to, const struct tag *tag)
{
	struct collect *c = to;

	list_push(c->a, c->out,
		  arena_printf(c->a, "%s-%s-%s", tag->python, tag->abi, tag->platform));
	return true;
}

struct names
wheel_tags(struct arena *a, const struct wheel_target *t)
{
	struct names out = { 0 };
	struct collect c = { a, &out };

	tags_each(a, t, collect_tag, &c);
	return out;
}

struct rank {
	const struct names *tags;
	int at;
	bool found;
};

static bool
same_tag(const char *text, const struct tag *tag)
{
	const char *const parts[] = { tag->python, tag->abi };

	for (size_t i = 0; i < 2; i++) {
		size_t n = strlen(parts[i]);

		if (strncmp(text, parts[i], n) || text[n] != '-')
			return false;
		text += n + 1;
	}
	return !strcmp(text, tag->platform);
}

static bool
find_tag(void *to, const struct tag *tag)
{
	struct rank *r = to;

	for (size_t i = 0; i < r->tags->n && !r->found; i++)
		r->found = same_tag(r->tags->at[i], tag);
	r->at += !r->found;
	return !r->found;
}

int
wheel_rank(struct arena *a, const struct wheel_file *w, const struct wheel_target *t)
{
	struct rank r = { &w->tags, 0, false };

	tags_each(a, t, find_tag, &r);
	return r.found ? r.at : -1;
}

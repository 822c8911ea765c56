#include <stdint.h>

#include "internal.h"

/*
 * Control groups of version 1, 2, or both at once.  Where they are mounted is in mountinfo,
 * which of them this process is in, in /proc/self/cgroup; in a container the one may be told
 * as the host sees it, and the other as the container does.
 */

/* A mounted hierarchy: which group stands at its mount point. */
struct mounted {
	const char *point, *group;
};

/* The i-th blank-separated word of a line. */
static struct str
word(struct str line, unsigned i)
{
	const char *p = line.p, *end = line.p + line.n, *start;

	for (;; i--) {
		while (p < end && *p == ' ')
			p++;
		for (start = p; p < end && *p != ' ';)
			p++;
		if (!i || p == end)
			return (struct str){ start, i ? 0 : (size_t)(p - start) };
	}
}

/* mountinfo writes a blank as \040. */
static const char *
unescape(struct arena *a, struct str s)
{
	char *out = arena_copy(a, s.p, s.n), *to = out;

	for (const char *p = out; *p; p++) {
		if (p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' && p[2] <= '7' &&
		    p[3] >= '0' && p[3] <= '7') {
			*to++ = (char)((p[1] - '0') * 64 + (p[2] - '0') * 8 + (p[3] - '0'));
			p += 3;
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
	return out;
}

/* True if `name` is one of the comma-separated words. */
static bool
has_word(struct str words, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i + n <= words.n; i++)
		if (!memcmp(words.p + i, name, n) && (!i || words.p[i - 1] == ',') &&
		    (i + n == words.n || words.p[i + n] == ','))
			return true;
	return false;
}

/*
 * 35 31 0:29 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
 * controller: "memory", or NULL for version 2.
 */
static bool
find_mount(struct arena *a, const char *mountinfo, const char *controller, struct mounted *out)
{
	struct str rest = str_of(mountinfo ? mountinfo : ""), line;

	while (host_line(&rest, &line)) {
		static const char sep[] = " - ";
		const char *tail = memmem(line.p, line.n, sep, sizeof(sep) - 1);
		struct str after;

		if (!tail)
			continue;
		after = (struct str){ tail + 3, line.n - (size_t)(tail + 3 - line.p) };
		if (!str_is(word(after, 0), controller ? "cgroup" : "cgroup2") ||
		    (controller && !has_word(word(after, 2), controller)))
			continue;
		out->group = unescape(a, word(line, 3));
		out->point = unescape(a, word(line, 4));
		return true;
	}
	return false;
}

/* 4:memory:/docker/0123, or 0::/user.slice of version 2; "/" if it is not told. */
static const char *
own_group(struct arena *a, const char *cgroups, const char *controller)
{
	struct str rest = str_of(cgroups ? cgroups : ""), line;

	while (host_line(&rest, &line)) {
		const char *one = memchr(line.p, ':', line.n), *two;
		struct str names;

		if (!one)
			continue;
		one++;
		two = memchr(one, ':', line.n - (size_t)(one - line.p));
		if (!two)
			continue;
		names = (struct str){ one, (size_t)(two - one) };
		if (controller ? has_word(names, controller) : !names.n)
			return arena_copy(a, two + 1, line.n - (size_t)(two + 1 - line.p));
	}
	return "/";
}

/*
 * The folders of this process's group and of those above it, as far as they are mounted.
 * A group that is not below the mount point's is somebody else's view: the mount point is
 * all that is known.
 */
static struct names
folders(struct arena *a, const struct mounted *m, const char *group)
{
	size_t n = strcmp(m->group, "/") ? strlen(m->group) : 0;
	struct names all = { 0 };
	char *path;

	if (strncmp(group, m->group, n) || (group[n] && group[n] != '/') || strstr(group, "/.."))
		group = "/", n = 0;
	path = arena_printf(a, "%s%s", m->point, group + n);
	while (strlen(path) > strlen(m->point)) {
		char *slash = strrchr(path, '/');

		if (slash[1])
			list_push(a, &all, arena_strdup(a, path));
		*slash = '\0';
	}
	list_push(a, &all, m->point);
	return all;
}

static void
add_memory(struct host_cgroup *c, unsigned long long limit, unsigned long long used,
	   unsigned long long files)
{
	/* Version 1 says 2^63 less a page where there is no limit. */
	if (limit >= 1ULL << 62)
		return;
	used -= files < used ? files : used;
	if (!c->limit_bytes || limit < c->limit_bytes)
		c->limit_bytes = limit;
	if (limit - (used < limit ? used : limit) < c->available_bytes)
		c->available_bytes = limit - (used < limit ? used : limit);
}

static void
memory_of(struct arena *a, const char *root, const char *dir, bool v2, struct host_cgroup *c)
{
	static const char *const limits[2][2] = { { "memory.limit_in_bytes", NULL },
						  { "memory.max", "memory.high" } };
	const char *stat = host_text(a, root, arena_printf(a, "%s/memory.stat", dir));
	unsigned long long used = 0, files = 0, limit;
	const char *text = host_text(
		a, root,
		arena_printf(a, "%s/%s", dir, v2 ? "memory.current" : "memory.usage_in_bytes"));

	host_number(text, "", &used);
	host_number(stat, v2 ? "inactive_file " : "total_inactive_file ", &files);
	for (size_t i = 0; i < 2 && limits[v2][i]; i++) {
		text = host_text(a, root, arena_printf(a, "%s/%s", dir, limits[v2][i]));
		if (host_number(text, "", &limit))
			add_memory(c, limit, used, files);
	}
	/* What a group above allows that is not mounted here. */
	if (!v2 && host_number(stat, "hierarchical_memory_limit ", &limit))
		add_memory(c, limit, used, files);
}

static void
quota_of(struct arena *a, const char *root, const char *dir, bool v2, struct host_cgroup *c)
{
	unsigned long long quota, period = 0, cpus;
	const char *text;

	if (v2) {
		/* "200000 100000", or "max 100000" */
		text = host_text(a, root, arena_printf(a, "%s/cpu.max", dir));
		if (!host_number(text, "", &quota) || !strchr(text, ' ') ||
		    !host_number(strchr(text, ' ') + 1, "", &period))
			return;
	} else {
		text = host_text(a, root, arena_printf(a, "%s/cpu.cfs_quota_us", dir));
		if (!host_number(text, "", &quota))
			return; /* -1 */
		text = host_text(a, root, arena_printf(a, "%s/cpu.cfs_period_us", dir));
		host_number(text, "", &period);
	}
	if (!period || !quota || quota > UINT32_MAX || period > UINT32_MAX)
		return;
	cpus = (quota + period - 1) / period;
	if (!c->cpus || cpus < c->cpus)
		c->cpus = (unsigned)cpus;
}

struct host_cgroup
host_cgroup(struct arena *a, const char *root)
{
	static const char *const controllers[] = { "memory", "cpu", NULL };
	const char *mounts = host_text(a, root, "/proc/self/mountinfo");
	const char *groups = host_text(a, root, "/proc/self/cgroup");
	struct host_cgroup c = { .available_bytes = UINT64_MAX };

	for (size_t i = 0; i < 3; i++) {
		bool v2 = !controllers[i];
		struct mounted m;
		struct names dirs;

		if (!find_mount(a, mounts, controllers[i], &m))
			continue;
		dirs = folders(a, &m, own_group(a, groups, controllers[i]));
		for (size_t k = 0; k < dirs.n; k++) {
			if (i != 1)
				memory_of(a, root, dirs.at[k], v2, &c);
			if (i != 0)
				quota_of(a, root, dirs.at[k], v2, &c);
		}
	}
	return c;
}

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

static struct names
split(struct arena *a, const char *p, const char *between)
{
	struct names words = { 0 };

	for (size_t n; *p; p += n, p += strspn(p, between)) {
		n = strcspn(p, between);
		list_push(a, &words, arena_copy(a, p, n));
	}
	return words;
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

/*
 * 35 31 0:29 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
 * controller: "memory", or NULL for version 2.
 */
static bool
find_mount(struct arena *a, const char *mountinfo, const char *controller, struct mounted *out)
{
	struct str rest = str_of(mountinfo ? mountinfo : ""), line;

	while (host_line(&rest, &line)) {
		const struct names w = split(a, arena_copy(a, line.p, line.n), " ");
		size_t i = 5; /* where the "-" stands, after optional fields */

		while (i < w.n && strcmp(w.at[i], "-") != 0)
			i++;
		if (i + 3 >= w.n || strcmp(w.at[i + 1], controller ? "cgroup" : "cgroup2") != 0)
			continue;
		if (controller) {
			const struct names options = split(a, w.at[i + 3], ",");

			if (!names_have(&options, controller))
				continue;
		}
		out->group = unescape(a, str_of(w.at[3]));
		out->point = unescape(a, str_of(w.at[4]));
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
		const char *text = arena_copy(a, line.p, line.n), *one = strchr(text, ':');
		const char *two = one ? strchr(one + 1, ':') : NULL;
		struct names names;

		if (!two)
			continue;
		names = split(a, arena_copy(a, one + 1, (size_t)(two - one - 1)), ",");
		if (controller ? names_have(&names, controller) : !names.n)
			return two + 1;
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

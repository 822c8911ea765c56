#include "host.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"

/* --- data of the kernel in /proc and /sys below `root` --- */

/* Returns the text of a file; NULL, which is no error, if it cannot be read. */
static const char *
text_at(struct arena *a, const char *root, const char *path)
{
	const struct source *s;
	struct diags ds = DIAGS(ds, a);

	s = fs_read(a, &ds, arena_printf(a, "%s%s", root, path), FS_READ_MAX, NOWHERE);
	return s ? s->text : NULL;
}

/* Returns the text after `key` at the start of a line; NULL: there is no such line. */
static const char *
line_of(const char *text, const char *key)
{
	while (text && !starts_with(text, key)) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text ? text + strlen(key) : NULL;
}

static bool
number(const char *text, const char *key, unsigned long long *out)
{
	const char *p = line_of(text, key);

	if (!p || !is_digit(*(p += strspn(p, " \t"))))
		return false;
	errno = 0;
	*out = strtoull(p, NULL, 10);
	return errno == 0;
}

static bool
number_in(struct arena *a, const char *root, const char *dir, const char *file, const char *key,
	  unsigned long long *out)
{
	return number(text_at(a, root, arena_printf(a, "%s/%s", dir, file)), key, out);
}

/* --- control groups --- */

/*
 * Reads the limits of this process's control groups, up to the root. Source: Linux,
 * Documentation/admin-guide/cgroup-v1/memory.rst, cgroup-v2.rst; proc(5).
 *
 * They have version 1, version 2, or both. mountinfo has their mount points, and /proc/self/cgroup
 * the groups of this process; in a container, one of them may have the host's view and the other
 * the container's.
 */
struct cgroup {
	unsigned cpus;                  /* CPUs of the smallest quota, rounded up; 0: none */
	unsigned long long limit_bytes; /* smallest memory limit; 0: none */
	/* Smallest free memory of a group, including caches that can be dropped; UINT64_MAX: no
	 * limit. */
	unsigned long long available_bytes;
};

/* A mounted hierarchy, and the group at its mount point. */
struct mounted {
	const char *point, *group;
};

/* Decodes a path of mountinfo, which has \040 for a blank. */
static const char *
unescape(struct arena *a, const char *s)
{
	char *out = arena_strdup(a, s), *to = out;

	for (const char *p = s; *p; p++) {
		bool octal = *p == '\\' && strspn(p + 1, "01234567") >= 3;

		*to++ = octal ? (char)strtol(arena_copy(a, p + 1, 3), NULL, 8) : *p;
		p += octal ? 3 : 0;
	}
	*to = '\0';
	return out;
}

/*
 * Reads a line such as: 35 31 0:29 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
 * controller: "memory", or NULL for version 2.
 */
static bool
find_mount(struct arena *a, const struct names *mountinfo, const char *controller,
	   struct mounted *out)
{
	for (size_t i = 0; i < mountinfo->n; i++) {
		const char *dash = strstr(mountinfo->at[i], " - ");
		const struct names mount = names_split(a, mountinfo->at[i], ' ');
		const struct names type = names_split(a, dash ? dash + 3 : "", ' ');
		struct names options;

		if (mount.n < 5 || type.n < 3 ||
		    strcmp(type.at[0], controller ? "cgroup" : "cgroup2") != 0)
			continue;
		options = names_split(a, type.at[2], ',');
		if (controller && !names_have(&options, controller))
			continue;
		out->group = unescape(a, mount.at[3]);
		out->point = unescape(a, mount.at[4]);
		return true;
	}
	return false;
}

/* Returns the group in 4:memory:/docker/0123, or in 0::/user.slice of version 2; "/" if unknown. */
static const char *
own_group(struct arena *a, const struct names *cgroups, const char *controller)
{
	for (size_t i = 0; i < cgroups->n; i++) {
		const char *one = strchr(cgroups->at[i], ':'),
			   *two = one ? strchr(one + 1, ':') : NULL;
		struct names names;

		if (!two)
			continue;
		names = names_split(a, arena_copy(a, one + 1, (size_t)(two - one - 1)), ',');
		if (controller ? names_have(&names, controller) : !names.n)
			return two + 1;
	}
	return "/";
}

/*
 * Returns the mounted directories of this process's group and its parents. A group outside the
 * mount point belongs to another view; then it returns only the mount point.
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
add_memory(struct cgroup *c, unsigned long long limit, unsigned long long used,
	   unsigned long long files)
{
	/* Version 1 shows 2^63 minus a page for no limit. */
	if (limit >= 1ULL << 62)
		return;
	used -= files < used ? files : used;
	if (!c->limit_bytes || limit < c->limit_bytes)
		c->limit_bytes = limit;
	if (limit - (used < limit ? used : limit) < c->available_bytes)
		c->available_bytes = limit - (used < limit ? used : limit);
}

static void
memory_of(struct arena *a, const char *root, const char *dir, bool v2, struct cgroup *c)
{
	static const char *const limits[2][2] = { { "memory.limit_in_bytes", NULL },
						  { "memory.max", "memory.high" } };
	unsigned long long used = 0, files = 0, limit;

	number_in(a, root, dir, v2 ? "memory.current" : "memory.usage_in_bytes", "", &used);
	number_in(a, root, dir, "memory.stat", v2 ? "inactive_file " : "total_inactive_file ",
		  &files);
	for (size_t i = 0; i < 2 && limits[v2][i]; i++)
		if (number_in(a, root, dir, limits[v2][i], "", &limit))
			add_memory(c, limit, used, files);
	/* Reads the limit of a parent group that is not mounted here. */
	if (!v2 && number_in(a, root, dir, "memory.stat", "hierarchical_memory_limit ", &limit))
		add_memory(c, limit, used, files);
}

static void
quota_of(struct arena *a, const char *root, const char *dir, bool v2, struct cgroup *c)
{
	const char *text = v2 ? text_at(a, root, arena_printf(a, "%s/cpu.max", dir)) : NULL;
	unsigned long long quota, period = 0, cpus;

	/* "200000 100000", or "max 100000"; of version 1, -1 for none */
	if (v2 ? !text || sscanf(text, "%llu %llu", &quota, &period) != 2 :
		 !number_in(a, root, dir, "cpu.cfs_quota_us", "", &quota) ||
			    !number_in(a, root, dir, "cpu.cfs_period_us", "", &period))
		return;
	if (!period || !quota || quota > UINT32_MAX || period > UINT32_MAX)
		return;
	cpus = (quota + period - 1) / period;
	if (!c->cpus || cpus < c->cpus)
		c->cpus = (unsigned)cpus;
}

static struct cgroup
read_cgroups(struct arena *a, const char *root)
{
	static const char *const controllers[] = { "memory", "cpu", NULL };
	const char *mounts = text_at(a, root, "/proc/self/mountinfo");
	const char *groups = text_at(a, root, "/proc/self/cgroup");
	const struct names mountinfo = names_split(a, mounts ? mounts : "", '\n');
	const struct names cgroups = names_split(a, groups ? groups : "", '\n');
	struct cgroup c = { .available_bytes = UINT64_MAX };

	for (size_t i = 0; i < 3; i++) {
		bool v2 = !controllers[i];
		struct mounted m;
		struct names dirs;

		if (!find_mount(a, &mountinfo, controllers[i], &m))
			continue;
		dirs = folders(a, &m, own_group(a, &cgroups, controllers[i]));
		for (size_t k = 0; k < dirs.n; k++) {
			if (i != 1)
				memory_of(a, root, dirs.at[k], v2, &c);
			if (i != 0)
				quota_of(a, root, dirs.at[k], v2, &c);
		}
	}
	return c;
}

/* --- the machine --- */

/* Returns the number of CPUs in "0-3,8". */
static unsigned
count_list(const char *s)
{
	unsigned long n = 0;

	while (is_digit(*s)) {
		char *end;
		unsigned long first = strtoul(s, &end, 10), last = first;

		if (*end == '-' && is_digit(end[1]))
			last = strtoul(end + 1, &end, 10);
		if (last < first || last - first >= 1UL << 16)
			return 0;
		n += last - first + 1;
		s = *end == ',' ? end + 1 : end;
	}
	return (unsigned)n;
}

/* Returns the number of processors on which this process may run. */
static unsigned
allowed_cpus(struct arena *a, const char *root)
{
	const char *list = line_of(text_at(a, root, "/proc/self/status"), "Cpus_allowed_list:");
	unsigned n = 0;
	cpu_set_t set;
	long online;

	/* If the machine has more processors than the set, it reads the file. */
	if (!*root && !sched_getaffinity(0, sizeof(set), &set))
		return (unsigned)CPU_COUNT(&set);
	if (list)
		n = count_list(list + strspn(list, " \t"));
	online = sysconf(_SC_NPROCESSORS_ONLN);
	return n ? n : online > 0 ? (unsigned)online : 1;
}

static unsigned long long
kib(const char *meminfo, const char *key)
{
	unsigned long long n = 0;

	number(meminfo, key, &n);
	return n * 1024;
}

static void
memory(struct arena *a, const char *root, const struct cgroup *c, struct host *h)
{
	const char *info = text_at(a, root, "/proc/meminfo");
	unsigned long long total = kib(info, "MemTotal:"), rest = kib(info, "MemAvailable:");

	/* Linux before 3.14 has no MemAvailable. */
	if (!rest)
		rest = kib(info, "MemFree:") + kib(info, "Buffers:") + kib(info, "Cached:");
	if (total && rest > total)
		rest = total;
	h->mem_total_mib = (size_t)(total >> 20);
	/* A limit above the machine's memory has no effect. */
	if (c->limit_bytes && (!total || c->limit_bytes < total))
		h->mem_limit_mib = (size_t)(c->limit_bytes >> 20);
	if (c->available_bytes < rest || !total)
		rest = c->available_bytes == UINT64_MAX ? 0 : c->available_bytes;
	h->mem_free_mib = (size_t)(rest >> 20);
}

/*
 * Returns a value of os-release(5) in shell syntax: plain, or in quotes with backslashes; or NULL.
 */
static const char *
os_value(struct arena *a, const char *text, const char *key)
{
	const char *p = line_of(text, key);
	char *out, *to, quote;

	if (!p)
		return NULL;
	out = to = arena_copy(a, p, strcspn(p, "\n"));
	quote = *out == '"' || *out == '\'' ? *out : '\0';
	for (p = out + (quote != '\0'); *p && *p != quote; p++) {
		if (*p == '\\' && quote != '\'' && p[1])
			p++;
		*to++ = *p;
	}
	*to = '\0';
	return *out ? out : NULL;
}

static const char *
os_name(struct arena *a, const char *root)
{
	static const char *const files[] = { "/etc/os-release", "/usr/lib/os-release" };

	for (size_t i = 0; i < 2; i++) {
		const char *text = text_at(a, root, files[i]), *name, *version;

		if (!text)
			continue;
		if ((name = os_value(a, text, "PRETTY_NAME=")))
			return name;
		name = os_value(a, text, "NAME=");
		version = os_value(a, text, "VERSION_ID=");
		if (name)
			return version ? arena_printf(a, "%s %s", name, version) : name;
	}
	return "Linux";
}

static const char *
kernel_release(struct arena *a, const char *root)
{
	const char *text = text_at(a, root, "/proc/sys/kernel/osrelease");
	struct utsname u;

	if (text && *text && *text != '\n')
		return arena_copy(a, text, strcspn(text, "\n"));
	return !*root && !uname(&u) ? arena_strdup(a, u.release) : "";
}

const struct host *
host_read(struct arena *a, const char *root)
{
	struct host *h = arena_new_of(a, struct host);
	struct cgroup c = read_cgroups(a, root);

	h->cpus = allowed_cpus(a, root);
	if (c.cpus && c.cpus < h->cpus)
		h->cpus = c.cpus;
	memory(a, root, &c, h);
	h->kernel = kernel_release(a, root);
	h->os = os_name(a, root);
	/*
	 * The names of Microsoft's kernels contain it ("5.15.90.1-microsoft-standard-WSL2"; in WSL
	 * 1 with a capital M); a custom kernel for WSL 2 has the device.
	 */
	h->wsl2 = strstr(h->kernel, "microsoft") || strstr(h->kernel, "WSL2") ||
		  fs_exists(arena_printf(a, "%s/dev/dxg", root));
	return h;
}

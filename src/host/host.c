#include "host.h"

#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/fs.h"
#include "internal.h"

/* "0-3,8": how many. */
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

/* The processors that the scheduler may put this process on. */
static unsigned
allowed_cpus(struct arena *a, const char *root)
{
	static const char key[] = "\nCpus_allowed_list:";
	const char *status = host_text(a, root, "/proc/self/status");
	const char *list = status ? strstr(status, key) : NULL;
	unsigned n = 0;
	cpu_set_t set;
	long online;

	/* A machine of more processors than the set has room for: the file then. */
	if (!*root && !sched_getaffinity(0, sizeof(set), &set))
		return (unsigned)CPU_COUNT(&set);
	if (list)
		n = count_list(list + sizeof(key) - 1 + strspn(list + sizeof(key) - 1, " \t"));
	online = sysconf(_SC_NPROCESSORS_ONLN);
	return n ? n : online > 0 ? (unsigned)online : 1;
}

static unsigned long long
kib(const char *meminfo, const char *key)
{
	unsigned long long n = 0;

	host_number(meminfo, key, &n);
	return n * 1024;
}

static void
memory(struct arena *a, const char *root, const struct host_cgroup *c, struct host *h)
{
	const char *info = host_text(a, root, "/proc/meminfo");
	unsigned long long total = kib(info, "MemTotal:"), rest = kib(info, "MemAvailable:");

	/* Linux before 3.14. */
	if (!rest)
		rest = kib(info, "MemFree:") + kib(info, "Buffers:") + kib(info, "Cached:");
	if (total && rest > total)
		rest = total;
	h->mem_total_mib = (size_t)(total >> 20);
	/* A limit above what the machine has is none. */
	if (c->limit_bytes && (!total || c->limit_bytes < total))
		h->mem_limit_mib = (size_t)(c->limit_bytes >> 20);
	if (c->available_bytes < rest || !total)
		rest = c->available_bytes == UINT64_MAX ? 0 : c->available_bytes;
	h->mem_free_mib = (size_t)(rest >> 20);
}

/* One value of os-release(5), which sh could read: plain, or in quotes with backslashes. */
static const char *
os_value(struct arena *a, const char *text, const char *key)
{
	struct str rest = str_of(text), line;
	size_t n = strlen(key);

	while (host_line(&rest, &line)) {
		char *out, *to, quote;

		if (line.n <= n || memcmp(line.p, key, n) != 0 || line.p[n] != '=')
			continue;
		out = to = arena_copy(a, line.p + n + 1, line.n - n - 1);
		quote = *out == '"' || *out == '\'' ? *out : '\0';
		for (const char *p = out + (quote != '\0'); *p && *p != quote; p++) {
			if (*p == '\\' && quote != '\'' && p[1])
				p++;
			*to++ = *p;
		}
		*to = '\0';
		if (*out)
			return out;
	}
	return NULL;
}

static const char *
os_name(struct arena *a, const char *root)
{
	static const char *const files[] = { "/etc/os-release", "/usr/lib/os-release" };

	for (size_t i = 0; i < 2; i++) {
		const char *text = host_text(a, root, files[i]), *name, *version;

		if (!text)
			continue;
		if ((name = os_value(a, text, "PRETTY_NAME")))
			return name;
		name = os_value(a, text, "NAME");
		version = os_value(a, text, "VERSION_ID");
		if (name)
			return version ? arena_printf(a, "%s %s", name, version) : name;
	}
	return "Linux";
}

static const char *
kernel_release(struct arena *a, const char *root)
{
	const char *text = host_text(a, root, "/proc/sys/kernel/osrelease");
	struct utsname u;

	if (text && *text && *text != '\n')
		return arena_copy(a, text, strcspn(text, "\n"));
	return !*root && !uname(&u) ? arena_strdup(a, u.release) : "";
}

const struct host *
host_read(struct arena *a, const char *root)
{
	struct host *h = arena_new_of(a, struct host);
	struct host_cgroup c = host_cgroup(a, root);

	h->cpus = allowed_cpus(a, root);
	if (c.cpus && c.cpus < h->cpus)
		h->cpus = c.cpus;
	memory(a, root, &c, h);
	h->kernel = kernel_release(a, root);
	h->os = os_name(a, root);
	/*
	 * Microsoft's kernels say so ("5.15.90.1-microsoft-standard-WSL2"; WSL 1 with a capital
	 * M); one that somebody built for WSL 2 has its device.
	 */
	h->wsl2 = strstr(h->kernel, "microsoft") || strstr(h->kernel, "WSL2") ||
		  fs_exists(arena_printf(a, "%s/dev/dxg", root));
	return h;
}

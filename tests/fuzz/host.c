/*
 * libFuzzer: the kernel's files about control groups and the machine.  The input is a list of
 * files: each is a name from the table below, a line end, and its text up to a NUL.
 *
 * Properties: there is a processor; limits and free memory are within the total.
 */
#include "fuzz.h"

#include <sys/stat.h>

#include "host/host.h"

static const char *const folders[] = { "proc", "proc/self", "proc/sys", "proc/sys/kernel",
				       "etc",  "g",         "g/a",      "g/a/b" };

static const char *const files[] = {
	"proc/self/mountinfo",
	"proc/self/cgroup",
	"proc/self/status",
	"proc/meminfo",
	"proc/sys/kernel/osrelease",
	"etc/os-release",
	"g/memory.max",
	"g/cpu.max",
	"g/memory.limit_in_bytes",
	"g/memory.stat",
	"g/a/memory.max",
	"g/a/memory.high",
	"g/a/memory.current",
	"g/a/memory.stat",
	"g/a/memory.limit_in_bytes",
	"g/a/memory.usage_in_bytes",
	"g/a/cpu.max",
	"g/a/cpu.cfs_quota_us",
	"g/a/cpu.cfs_period_us",
	"g/a/b/memory.max",
	"g/a/b/cpu.max",
};
enum { FILES = sizeof(files) / sizeof(*files) };

static bool written[FILES]; /* by this input or the one before */

static void
write_files(struct arena *a, const char *text, size_t size)
{
	bool now[FILES] = { false };

	for (size_t at = 0, n; at < size; at += n + 1) {
		const char *body;

		n = strlen(text + at);
		body = memchr(text + at, '\n', n);
		for (size_t i = 0; body && i < FILES; i++)
			if (strlen(files[i]) == (size_t)(body - text) - at &&
			    !memcmp(files[i], text + at, strlen(files[i])) && !now[i]) {
				scratch_file(a, files[i], body + 1, strlen(body + 1));
				now[i] = true;
			}
	}
	for (size_t i = 0; i < FILES; i++) {
		if (written[i] && !now[i])
			scratch_file(a, files[i], NULL, 0);
		written[i] = now[i];
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool made;
	struct arena *a = arena_new();
	const struct host *h;

	for (size_t i = 0; !made && i < sizeof(folders) / sizeof(*folders); i++)
		must(!mkdir(arena_printf(a, "%s/%s", scratch(), folders[i]), 0700), "a directory");
	made = true;
	write_files(a, arena_copy(a, (const char *)data, size), size);
	h = host_read(a, scratch());
	must(h->cpus >= 1, "there is a processor");
	must(!h->mem_total_mib || h->mem_free_mib <= h->mem_total_mib, "free memory is memory");
	must(!h->mem_total_mib || h->mem_limit_mib <= h->mem_total_mib,
	     "a limit is below the total");
	must(!h->mem_limit_mib || h->mem_free_mib <= h->mem_limit_mib,
	     "free memory is within the limit");
	must(h->kernel && h->os && *h->os, "a kernel and a system");
	arena_free(a);
	return 0;
}

/* host/: directories in place of a machine's root, and a library in place of NVIDIA's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/diag.h"
#include "base/fs.h"
#include "host/host.h"

static struct arena *a;
static const char *tmp;

static int
setup(void **state)
{
	char name[] = "/tmp/host-XXXXXX";

	(void)state;
	a = arena_new();
	tmp = arena_strdup(a, mkdtemp(name) ? name : "");
	return *tmp ? 0 : -1;
}

static int
teardown(void **state)
{
	int bad = system(arena_printf(a, "rm -rf %s", tmp));

	(void)state;
	arena_free(a);
	return bad;
}

/* Writes a text to root/path. */
static void
put(const char *root, const char *path, const char *text)
{
	struct diags ds;

	ds = DIAGS(ds, a);
	assert_true(fs_write(&ds, arena_printf(a, "%s%s", root, path), text, strlen(text), 0644,
			     false, NULL));
}

/* Makes the root of a machine: 8 processors, 5 of them allowed; 16 GiB, 12 of them free. */
static const char *
machine(const char *name)
{
	const char *root = arena_printf(a, "%s/%s", tmp, name);

	put(root, "/proc/meminfo",
	    "MemTotal:       16777216 kB\nMemFree:         1048576 kB\n"
	    "MemAvailable:   12582912 kB\nBuffers:          524288 kB\nCached:          2097152 "
	    "kB\n");
	put(root, "/proc/self/status", "Name:\tx\nCpus_allowed:\t1f\nCpus_allowed_list:\t0-3,7\n");
	put(root, "/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
	put(root, "/etc/os-release",
	    "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 12 "
	    "(bookworm)\"\nID=debian\n");
	return root;
}

static void
mounts_v1(const char *root, const char *group)
{
	put(root, "/proc/self/mountinfo",
	    arena_printf(
		    a,
		    "23 1 0:20 / / rw - ext4 /dev/sda1 rw\n"
		    "32 31 0:29 %s /sys/fs/cgroup/cpu\\040one rw shared:9 - cgroup cgroup "
		    "rw,cpuacct,cpu\n"
		    "35 31 0:32 %s /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n",
		    group, group));
}

static void
mounts_v2(const char *root)
{
	put(root, "/proc/self/mountinfo",
	    "23 1 0:20 / / rw - ext4 /dev/sda1 rw\n"
	    "31 23 0:27 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n");
}

static void
no_groups(void **state)
{
	const char *root = machine("none");
	const struct host *h = host_read(a, root);

	(void)state;
	assert_int_equal(h->cpus, 5);
	assert_int_equal(h->mem_total_mib, 16384);
	assert_int_equal(h->mem_free_mib, 12288);
	assert_int_equal(h->mem_limit_mib, 0);
	assert_false(h->wsl2);
	assert_string_equal(h->kernel, "6.1.0-18-amd64");
	assert_string_equal(h->os, "Debian GNU/Linux 12 (bookworm)");
}

static void
group_v1(void **state)
{
	const char *root = machine("v1");
	const struct host *h;

	(void)state;
	mounts_v1(root, "/");
	put(root, "/proc/self/cgroup",
	    "5:memory:/user/one\n4:cpuacct,cpu:/user/one\n1:name=systemd:/\n");
	put(root, "/sys/fs/cgroup/memory/user/one/memory.limit_in_bytes", "9223372036854771712\n");
	h = host_read(a, root);
	assert_int_equal(h->mem_limit_mib, 0);
	assert_int_equal(h->mem_free_mib, 12288);
	/* 4 GiB, 1.5 of it used, of which half a GiB is cache that can be dropped. */
	put(root, "/sys/fs/cgroup/memory/user/one/memory.limit_in_bytes", "4294967296\n");
	put(root, "/sys/fs/cgroup/memory/user/one/memory.usage_in_bytes", "1610612736\n");
	put(root, "/sys/fs/cgroup/memory/user/one/memory.stat",
	    "cache 5\ninactive_file 1\ntotal_inactive_file 536870912\n"
	    "hierarchical_memory_limit 4294967296\n");
	put(root, "/sys/fs/cgroup/cpu one/user/one/cpu.cfs_quota_us", "150000\n");
	put(root, "/sys/fs/cgroup/cpu one/user/one/cpu.cfs_period_us", "100000\n");
	h = host_read(a, root);
	assert_int_equal(h->mem_limit_mib, 4096);
	assert_int_equal(h->mem_free_mib, 3072);
	assert_int_equal(h->cpus, 2);
	/* No quota, then a quota in the parent group. */
	put(root, "/sys/fs/cgroup/cpu one/user/one/cpu.cfs_quota_us", "-1\n");
	assert_int_equal(host_read(a, root)->cpus, 5);
	put(root, "/sys/fs/cgroup/cpu one/user/cpu.cfs_quota_us", "300000\n");
	put(root, "/sys/fs/cgroup/cpu one/user/cpu.cfs_period_us", "100000\n");
	assert_int_equal(host_read(a, root)->cpus, 3);
	/* The parent group has less free memory. */
	put(root, "/sys/fs/cgroup/memory/user/memory.limit_in_bytes", "6442450944\n");
	put(root, "/sys/fs/cgroup/memory/user/memory.usage_in_bytes", "5368709120\n");
	h = host_read(a, root);
	assert_int_equal(h->mem_limit_mib, 4096);
	assert_int_equal(h->mem_free_mib, 1024);
	/* The usage exceeds the limit. */
	put(root, "/sys/fs/cgroup/memory/user/memory.usage_in_bytes", "6442450945\n");
	assert_int_equal(host_read(a, root)->mem_free_mib, 0);
}

/* In a container whose /proc has the host's names, its group is the mount point. */
static void
container_v1(void **state)
{
	const char *root = machine("container");

	(void)state;
	mounts_v1(root, "/docker/0123");
	put(root, "/proc/self/cgroup", "5:memory:/docker/0123\n4:cpuacct,cpu:/docker/0123\n");
	put(root, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n");
	put(root, "/sys/fs/cgroup/memory/memory.usage_in_bytes", "1073741824\n");
	assert_int_equal(host_read(a, root)->mem_free_mib, 1024);
	/* A nested group, then groups outside of the mounted ones. */
	put(root, "/proc/self/cgroup", "5:memory:/docker/0123/deep\n4:cpuacct,cpu:/docker/0123\n");
	put(root, "/sys/fs/cgroup/memory/deep/memory.limit_in_bytes", "1073741824\n");
	assert_int_equal(host_read(a, root)->mem_limit_mib, 1024);
	put(root, "/proc/self/cgroup", "5:memory:/docker/01234\n4:cpuacct,cpu:/../x\n");
	assert_int_equal(host_read(a, root)->mem_limit_mib, 2048);
	/* The limit of a parent group that is not visible. */
	put(root, "/sys/fs/cgroup/memory/memory.stat", "hierarchical_memory_limit 1610612736\n");
	assert_int_equal(host_read(a, root)->mem_limit_mib, 1536);
}

static void
group_v2(void **state)
{
	const char *root = machine("v2");
	const struct host *h;

	(void)state;
	mounts_v2(root);
	put(root, "/proc/self/cgroup", "0::/system.slice/x.service\n");
	put(root, "/sys/fs/cgroup/system.slice/x.service/memory.max", "max\n");
	put(root, "/sys/fs/cgroup/system.slice/x.service/cpu.max", "max 100000\n");
	h = host_read(a, root);
	assert_int_equal(h->mem_limit_mib, 0);
	assert_int_equal(h->cpus, 5);
	put(root, "/sys/fs/cgroup/system.slice/memory.max", "8589934592\n");
	put(root, "/sys/fs/cgroup/system.slice/memory.current", "4294967296\n");
	put(root, "/sys/fs/cgroup/system.slice/memory.stat", "anon 1\ninactive_file 2147483648\n");
	put(root, "/sys/fs/cgroup/system.slice/cpu.max", "200000 100000\n");
	h = host_read(a, root);
	assert_int_equal(h->mem_limit_mib, 8192);
	assert_int_equal(h->mem_free_mib, 6144);
	assert_int_equal(h->cpus, 2);
	/* memory.high, at which the kernel throttles, counts as the limit. */
	put(root, "/sys/fs/cgroup/system.slice/x.service/memory.high", "3221225472\n");
	h = host_read(a, root);
	assert_int_equal(h->mem_limit_mib, 3072);
	assert_int_equal(h->mem_free_mib, 3072);
	/* A hundredth of a processor counts as one. */
	put(root, "/sys/fs/cgroup/system.slice/x.service/cpu.max", "1000 100000\n");
	assert_int_equal(host_read(a, root)->cpus, 1);
}

/* Files with invalid or missing content. */
static void
nonsense(void **state)
{
	const char *root = machine("nonsense");
	const struct host *h;

	(void)state;
	mounts_v2(root);
	put(root, "/proc/self/cgroup", "0\n::\n0::\n");
	put(root, "/sys/fs/cgroup/memory.max", "99999999999999999999999999\n");
	put(root, "/sys/fs/cgroup/cpu.max", "100000 0\n");
	put(root, "/proc/self/status", "Name: x\nCpus_allowed_list:\t9-1,x\n");
	put(root, "/etc/os-release", "PRETTY_NAME=\n");
	put(root, "/usr/lib/os-release", "NAME='It\\s'\nVERSION_ID=\"1 \\\"2\\\"\"\n");
	put(root, "/proc/meminfo", "MemTotal: 1048576 kB\nMemFree: 262144 kB\nCached: 262144 kB\n");
	h = host_read(a, root);
	assert_true(h->cpus >= 1);
	assert_int_equal(h->mem_limit_mib, 0);
	assert_int_equal(h->mem_free_mib, 512);
	assert_string_equal(h->os, "It\\s 1 \"2\"");
	h = host_read(a, arena_printf(a, "%s/not-there", tmp));
	assert_true(h->cpus >= 1);
	assert_int_equal(h->mem_total_mib, 0);
	assert_int_equal(h->mem_free_mib, 0);
	assert_string_equal(h->os, "Linux");
	assert_string_equal(h->kernel, "");
}

static void
windows(void **state)
{
	const char *root = machine("wsl");

	(void)state;
	put(root, "/proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n");
	assert_true(host_read(a, root)->wsl2);
	/* WSL 1 has neither a separate kernel nor a GPU. */
	put(root, "/proc/sys/kernel/osrelease", "4.4.0-19041-Microsoft\n");
	assert_false(host_read(a, root)->wsl2);
	put(root, "/proc/sys/kernel/osrelease", "6.6.0-mine\n");
	put(root, "/dev/dxg", "");
	assert_true(host_read(a, root)->wsl2);
}

static void
this_machine(void **state)
{
	const struct host *h = host_read(a, "");

	(void)state;
	assert_in_range(h->cpus, 1, (unsigned)sysconf(_SC_NPROCESSORS_CONF));
	assert_true(h->mem_total_mib > 0);
	assert_in_range(h->mem_free_mib, 1, h->mem_total_mib);
	assert_true(strlen(h->kernel) > 0 && strlen(h->os) > 0);
}

/* --- NVML --- */

static const char fake[] =
	"#include <stdlib.h>\n#include <string.h>\n"
	"static int is(const char *k) { const char *v = getenv(k); return v ? atoi(v) : 0; }\n"
	"static int inits;\n"
	"int nvmlInit_v2(void) { if (is(\"INIT\")) return is(\"INIT\"); inits++; return 0; }\n"
	"int nvmlShutdown(void) { return inits-- > 0 ? 0 : 1; }\n"
	"const char *nvmlErrorString(int r) { return r == 77 ? \"Seventy-seven\" : 0; }\n"
	"int nvmlSystemGetDriverVersion(char *s, unsigned n) { if (is(\"DRIVER\")) return 999;"
	" strncpy(s, \"550.54.15\", n); return 0; }\n"
	"#ifndef OLD\n"
	"int nvmlSystemGetCudaDriverVersion_v2(int *v) { *v = 12040; return is(\"CUDA\"); }\n"
	"#endif\n"
	"int nvmlDeviceGetCount_v2(unsigned *n) { *n = is(\"GPUS\"); return is(\"COUNT\"); }\n"
	"int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) {"
	" *d = (void *)(unsigned long)(i + 1); return i && is(\"SECOND\") ? is(\"SECOND\") : 0; }\n"
	"int nvmlDeviceGetName(void *d, char *s, unsigned n) { (void)d;"
	" memset(s, 'x', n); if (!is(\"LONG\")) strncpy(s, \"NVIDIA H100 80GB HBM3\", n); return "
	"0; }\n"
	"int nvmlDeviceGetUUID(void *d, char *s, unsigned n) {"
	" strncpy(s, d == (void *)1 ? \"GPU-1\" : \"GPU-2\", n); return 0; }\n"
	"int nvmlDeviceGetCudaComputeCapability(void *d, int *x, int *y) {"
	" (void)d; *x = 9; *y = 0; return is(\"CAPABILITY\"); }\n"
	"#ifndef LACKS\n"
	"int nvmlDeviceGetMemoryInfo(void *d, unsigned long long *m) {"
	" (void)d; m[0] = 85520809984ULL; m[1] = m[2] = 1; return is(\"MEMORY\"); }\n"
	"#endif\n";

static const char *
library(const char *name, const char *flags)
{
	const char *c = arena_printf(a, "%s/%s.c", tmp, name);
	const char *so = arena_printf(a, "%s/%s.so", tmp, name);

	put(tmp, arena_printf(a, "/%s.c", name), fake);
	assert_int_equal(
		system(arena_printf(a, "${CC:-cc} -w -shared -fPIC %s -o %s %s", flags, so, c)), 0);
	return so;
}

static const char *
none_with(const char *so, const char *variable, const char *value)
{
	const struct host_gpus *g;

	setenv(variable, value, 1);
	g = host_gpus(a, so);
	unsetenv(variable);
	assert_int_equal(g->list.n, 0);
	assert_non_null(g->why_none);
	return g->why_none;
}

static void
gpus(void **state)
{
	const char *so = library("fake", "");
	const struct host_gpus *g;

	(void)state;
	setenv("GPUS", "2", 1);
	g = host_gpus(a, so);
	assert_null(g->why_none);
	assert_int_equal(g->list.n, 2);
	assert_int_equal(g->lost.n, 0);
	assert_string_equal(g->driver, "550.54.15");
	assert_string_equal(g->cuda, "12.4");
	assert_string_equal(g->list.at[0].name, "NVIDIA H100 80GB HBM3");
	assert_string_equal(g->list.at[0].uuid, "GPU-1");
	assert_string_equal(g->list.at[1].uuid, "GPU-2");
	assert_int_equal(g->list.at[0].major, 9);
	assert_int_equal(g->list.at[0].minor, 0);
	assert_int_equal(g->list.at[0].mem_mib, 81559);
	/* One GPU is lost; a name has no end; the memory is not reported. */
	setenv("SECOND", "15", 1);
	setenv("LONG", "1", 1);
	setenv("MEMORY", "3", 1);
	setenv("DRIVER", "1", 1);
	setenv("CUDA", "3", 1);
	g = host_gpus(a, so);
	assert_int_equal(g->list.n, 1);
	assert_int_equal(g->lost.n, 1);
	assert_memory_equal(g->lost.at[0], "GPU 1: a GPU is lost (for example", 33);
	assert_int_equal(strlen(g->list.at[0].name), 96);
	assert_int_equal(g->list.at[0].mem_mib, 0);
	assert_null(g->driver);
	assert_null(g->cuda);
	unsetenv("SECOND");
	unsetenv("LONG");
	unsetenv("MEMORY");
	unsetenv("DRIVER");
	unsetenv("CUDA");
	/* No GPU answers. */
	assert_string_equal(none_with(so, "CAPABILITY", "16"),
			    "GPU 0: a GPU must be reset before it can be used");
	unsetenv("GPUS");
	assert_string_equal(host_gpus(a, so)->why_none, "the driver finds no GPU");
}

static void
no_gpus(void **state)
{
	static const int codes[] = { 4, 9, 10, 12, 13, 15, 16, 17, 18, 999 };
	const char *so = library("fake", "");
	const struct host_gpus *g;

	(void)state;
	/* The message contains the fix, if there is one. */
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		const char *why = none_with(so, "INIT", arena_printf(a, "%d", codes[i]));

		assert_true(strlen(why) > 10 && !strstr(why, "error"));
	}
	assert_string_equal(none_with(so, "INIT", "9"),
			    "the NVIDIA driver is not loaded: modprobe nvidia, or install it");
	assert_string_equal(none_with(so, "INIT", "77"), "NVML reports: Seventy-seven (77)");
	assert_string_equal(none_with(so, "INIT", "78"), "NVML's error 78");
	assert_string_equal(
		none_with(so, "COUNT", "17"),
		"the operating system denies access to the GPU: inside a container, its "
		"device cgroup");
	/* Libraries that do not exist, are not libraries, or are too old. */
	g = host_gpus(a, arena_printf(a, "%s/not-there.so", tmp));
	assert_int_equal(g->list.n, 0);
	assert_memory_equal(g->why_none, "no NVIDIA driver: ", 18);
	assert_non_null(strstr(g->why_none, "not-there.so"));
	g = host_gpus(a, arena_printf(a, "%s/fake.c", tmp));
	assert_memory_equal(g->why_none, "no NVIDIA driver: ", 18);
	g = host_gpus(a, library("lacks", "-DLACKS"));
	assert_string_equal(g->why_none,
			    "the driver's library has no nvmlDeviceGetMemoryInfo: it is "
			    "too old, or not NVIDIA's");
	setenv("GPUS", "1", 1);
	g = host_gpus(a, library("old", "-DOLD"));
	unsetenv("GPUS");
	assert_int_equal(g->list.n, 1);
	assert_null(g->cuda);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_groups),    cmocka_unit_test(group_v1),
		cmocka_unit_test(container_v1), cmocka_unit_test(group_v2),
		cmocka_unit_test(nonsense),     cmocka_unit_test(windows),
		cmocka_unit_test(this_machine), cmocka_unit_test(gpus),
		cmocka_unit_test(no_gpus),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("host", tests, setup, teardown);
}

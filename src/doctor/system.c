#include "internal.h"

#include <stdlib.h>

#include "build/build.h"

/* Checks containers, WSL, file systems, memory and limits. */

static bool
has_toolkit(struct look *l)
{
	return look_exists(l, "/etc/cdi/nvidia.yaml") ||
	       look_exists(l, "/var/run/cdi/nvidia.yaml") ||
	       look_exists(l, "/usr/bin/nvidia-ctk") ||
	       look_exists(l, "/usr/bin/nvidia-container-cli") ||
	       proc_which(l->a, "nvidia-container-cli");
}

void
check_containers(struct look *l)
{
	static const struct engine_at at = { 0 };
	bool toolkit = has_toolkit(l);

	for (size_t i = 0; i < engines_n; i++) {
		const struct engine *e = &engines[i];
		struct engine_state s = { 0 };

		if (strcmp(e->name, "docker") && strcmp(e->name, "podman"))
			continue;
		if (!l->gpus.list.n || !proc_which(l->a, e->client))
			continue;
		engine_probe(l->a, e, &at, &s);
		if (s.usable && s.gpus)
			fine(l, "%s gives containers the GPU", e->name);
		else if (s.usable && !toolkit)
			found(l, FINDING_WARNING, "container-toolkit-missing",
			      "containers see no GPU: `--gpus all` fails",
			      "install nvidia-container-toolkit, then run: sudo nvidia-ctk runtime "
			      "configure --runtime=docker",
			      "%s is usable, but nvidia-container-toolkit is not installed",
			      e->name);
		else if (s.usable)
			found(l, FINDING_WARNING, "engine-without-gpu",
			      "containers see no GPU: `--gpus all` fails",
			      !strcmp(e->name, "docker") ?
				      "run: sudo nvidia-ctk runtime configure --runtime=docker && "
				      "sudo systemctl restart docker" :
				      "run: sudo nvidia-ctk cdi generate "
				      "--output=/etc/cdi/nvidia.yaml",
			      "nvidia-container-toolkit is installed, but %s has no GPU runtime",
			      e->name);
	}
}

/* Reads .wslconfig of the Windows users: "memory=4GB". */
static void
check_wslconfig(struct look *l)
{
	const struct names users = look_list(l, "/mnt/c/Users");

	for (size_t i = 0; i < users.n; i++) {
		const char *path = arena_printf(l->a, "/mnt/c/Users/%s/.wslconfig", users.at[i]);
		const char *p = look_text(l, path), *at = NULL;
		char *end = NULL;
		double gib;

		for (; p; p = strchr(p, '\n'), p = p ? p + 1 : NULL)
			if (starts_with(p, "memory"))
				at = p + 6 + strspn(p + 6, " =\t");
		if (!at)
			continue;
		gib = strtod(at, &end) / (starts_with(end, "M") ? 1024 : 1);
		if (gib > 0 && gib < 8)
			found(l, FINDING_WARNING, "wsl-memory-limit",
			      "compilers and the import of torch are killed, or swap",
			      "raise memory= in .wslconfig, then run `wsl --shutdown` in Windows",
			      "%s: memory=%.*s", path, (int)strcspn(at, "\r\n"), at);
	}
}

/*
 * WSL has its own libcuda.so, which passes calls to the Windows driver; a Linux driver would hide
 * it.
 *
 *   source  NVIDIA, CUDA on WSL User Guide 11.4.4, section 2.1: at least kernel 4.19.121. The
 *           recommendation of 5.10.16.3 is only cited by others, and not verified
 */
void
check_wsl(struct look *l)
{
	static const char linux_driver[] =
		"/usr/lib/x86_64-linux-gnu/libnvidia-ptxjitcompiler.so.1";
	const char *kernel = look_version(l, l->host->kernel, "");

	if (!l->host->wsl2 && strstr(l->host->kernel, "Microsoft"))
		found(l, FINDING_ERROR, "wsl1", "no program can use the GPU",
		      "run in Windows: wsl --set-version DISTRIBUTION 2", "kernel %s is WSL 1",
		      l->host->kernel);
	if (!l->host->wsl2)
		return;
	if (kernel && version_order(l, kernel, "5.10.16.3") < 0)
		found(l, FINDING_WARNING, "wsl-kernel-old",
		      "CUDA needs 4.19.121, and 5.10.16.3 for all fixes",
		      "run in Windows: wsl --update", "WSL2 kernel %s", l->host->kernel);
	if (!look_exists(l, "/usr/lib/wsl/lib/libcuda.so.1"))
		found(l, FINDING_ERROR, "wsl-driver-missing", "no program can use the GPU",
		      "install NVIDIA's driver in Windows, then run `wsl --shutdown` there",
		      "/usr/lib/wsl/lib/libcuda.so.1 does not exist");
	else
		fine(l, "WSL2 kernel %s, with the driver of Windows", l->host->kernel);
	if (look_exists(l, linux_driver))
		found(l, FINDING_ERROR, "wsl-linux-driver",
		      "it hides the driver of Windows: CUDA finds no device",
		      "remove it: sudo apt-get purge 'libnvidia-*' 'nvidia-*'",
		      "a Linux driver is installed inside WSL (%s)", linux_driver);
	check_wslconfig(l);
}

/* --- file systems --- */

static void
check_place(struct look *l, const char *what, const char *path)
{
	const struct mounted *m = look_mount(l, path);
	const char *slow = mount_slow(m);
	bool windows = slow && strstr(slow, "Windows drive");

	if (!slow)
		return;
	found(l, windows && !strcmp(what, "venv") ? FINDING_ERROR : FINDING_WARNING,
	      arena_printf(l->a, "%s-on-%s", what, windows ? "windows-drive" : "network-drive"),
	      windows ? "`import torch` of a CUDA build can hang for ever: it maps more than a GB "
			"through this file system" :
			"imports and builds are slow, and hang when the server does not answer",
	      windows ? "move it into the Linux home directory, such as ~/project; or install a "
			"CPU build of torch" :
			"move it to a local disk",
	      "the %s %s is on %s, mounted at %s", what, path, slow, m->point);
}

bool
free_mib(struct look *l, const char *path, size_t *out)
{
	/* Filesystem 1024-blocks Used Available Capacity Mounted on */
	const char *text = ask(l, "df", "-Pk", "--", path);
	const struct names lines = names_split(l->a, text ? text : "", '\n');
	const struct names f = names_split(l->a, lines.n > 1 ? lines.at[1] : "", ' ');

	if (f.n < 6)
		return false;
	*out = strtoul(f.at[3], NULL, 10) / 1024;
	return true;
}

void
check_files(struct look *l)
{
	const char *venv = l->o->venv ? l->o->venv : look_env(l, "VIRTUAL_ENV");
	const char *cache = look_env(l, "PIP_CACHE_DIR");
	const char *places[2] = { l->cwd, "/tmp" };
	const struct mounted *tmp = look_mount(l, "/tmp");
	size_t mib, before = l->out->all.n;

	if (!cache && (cache = look_env(l, "XDG_CACHE_HOME")))
		cache = arena_printf(l->a, "%s/pip", cache);
	check_place(l, "project", l->cwd);
	if (venv)
		check_place(l, "venv", *l->o->root ? venv : fs_real(l->a, venv));
	check_place(l, "cache", cache ? cache : arena_printf(l->a, "%s/.cache", l->home));
	if (tmp) {
		const struct names options = names_split(l->a, tmp->options, ',');

		if (names_have(&options, "noexec"))
			found(l, FINDING_WARNING, "tmp-noexec",
			      "builds that start what they compiled in /tmp fail: Permission "
			      "denied",
			      "set TMPDIR to a directory that allows it", "%s is mounted noexec",
			      tmp->point);
	}
	if (l->out->all.n == before)
		fine(l, "project, venv and cache are on local file systems");
	/* An image with the stack for one GPU had 6.1 GB; the limits are estimates. */
	for (size_t i = 0; i < 2; i++)
		if (!free_mib(l, places[i], &mib))
			continue;
		else if (mib < 2048)
			found(l, FINDING_ERROR, "disk-full",
			      "installations and builds fail: No space left",
			      "free some space; `stackbuild store gc` removes old wheels",
			      "%zu MiB are free in %s", mib, places[i]);
		else if (mib < 10240)
			found(l, FINDING_WARNING, "disk-low",
			      "an image with CUDA and torch takes 6 GB, and more while it is built",
			      "free some space, or build elsewhere", "%zu MiB are free in %s", mib,
			      places[i]);
		else
			fine(l, "%zu GiB free in %s", mib / 1024, places[i]);
}

/* --- memory and limits --- */

void
check_memory(struct look *l)
{
	const struct host *h = l->host;
	const char *swap = strstr(look_text(l, "/proc/meminfo"), "SwapTotal:");
	size_t swap_kib = swap ? strtoul(swap + 10, NULL, 10) : 1;

	if (h->mem_limit_mib && h->mem_limit_mib < 8192)
		found(l, FINDING_WARNING, "cgroup-memory",
		      "the kernel kills compilers and imports beyond it",
		      "start the container with more memory (--memory), or compile with --jobs 1",
		      "the control group allows %zu of %zu MiB", h->mem_limit_mib,
		      h->mem_total_mib);
	else if (h->mem_free_mib && h->mem_free_mib < 4096)
		found(l, FINDING_WARNING, "memory-low",
		      "one compile job takes up to 4 GiB: the kernel kills compilers",
		      "stop other programs, or compile with --jobs 1",
		      "%zu of %zu MiB are available", h->mem_free_mib, h->mem_total_mib);
	else
		fine(l, "%u processors, %zu of %zu MiB of memory available", h->cpus,
		     h->mem_free_mib, h->mem_total_mib);
	if (!swap_kib && h->mem_total_mib < 16384)
		found(l, FINDING_WARNING, "swap-none",
		      "the kernel kills the largest process as soon as memory runs out",
		      "add a swap file of 8 GiB", "%zu MiB of memory, and no swap",
		      h->mem_total_mib);
}

/* Reads the soft limit on a line of /proc/self/limits; false: unlimited, or unknown. */
static bool
soft_limit(struct look *l, const char *key, unsigned long long *out)
{
	const char *p = strstr(look_text(l, "/proc/self/limits"), key);

	if (!p)
		return false;
	p += strlen(key);
	p += strspn(p, " ");
	*out = strtoull(p, NULL, 10);
	return is_digit(*p);
}

void
check_limits(struct look *l)
{
	const struct mounted *shm = look_mount(l, "/dev/shm");
	unsigned long long n;
	const char *size;

	if (soft_limit(l, "Max open files", &n) && n < 1024)
		found(l, FINDING_WARNING, "ulimit-files",
		      "data loaders and linkers fail: Too many open files", "run: ulimit -n 65536",
		      "the limit of open files is %llu", n);
	if (soft_limit(l, "Max address space", &n))
		found(l, FINDING_ERROR, "ulimit-address-space",
		      "CUDA reserves more addresses than that: it fails with out of memory",
		      "run: ulimit -v unlimited", "the limit of the address space is %llu MiB",
		      n >> 20);
	if (soft_limit(l, "Max processes", &n) && n < 1024)
		found(l, FINDING_WARNING, "ulimit-processes",
		      "threads of torch and of compilers cannot start", "run: ulimit -u 8192",
		      "the limit of processes is %llu", n);
	if (shm && !strcmp(shm->point, "/dev/shm") && (size = strstr(shm->options, "size=")) &&
	    strtoul(size + 5, NULL, 10) <= 65536)
		found(l, FINDING_WARNING, "shm-small",
		      "data loader workers die with a bus error: they share tensors there",
		      "start the container with --shm-size=8g or --ipc=host", "/dev/shm has %.*s",
		      (int)strcspn(size + 5, ","), size + 5);
}

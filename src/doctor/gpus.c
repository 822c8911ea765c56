#include "internal.h"

/* Reads the GPUs with NVML, nvidia-smi, or /proc and /sys. */

/* Returns the driver's library below the root; NULL: the loader searches it. */
static const char *
library(struct look *l)
{
	static const char *const usual[] = { "/usr/lib/wsl/lib/libnvidia-ml.so.1",
					     "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
					     "/usr/lib64/libnvidia-ml.so.1" };

	if (!*l->o->root)
		return NULL;
	for (size_t i = 0; i < COUNT(usual); i++)
		if (look_exists(l, usual[i]))
			return look_path(l, usual[i]);
	return look_path(l, usual[1]);
}

/* Reads /proc/driver/nvidia: "Model: NVIDIA GeForce RTX 4090". */
static void
by_proc(struct look *l)
{
	const struct names gpus = look_list(l, "/proc/driver/nvidia/gpus");

	l->gpus.driver = look_version(l, look_text(l, "/proc/driver/nvidia/version"), "x86_64  ");
	if (!l->gpus.driver)
		l->gpus.driver = look_version(l, look_text(l, "/proc/driver/nvidia/version"),
					      "Kernel Module");
	for (size_t i = 0; i < gpus.n; i++) {
		const char *text =
			look_text(l, arena_printf(l->a, "/proc/driver/nvidia/gpus/%s/information",
						  gpus.at[i]));
		const char *model = strstr(text, "Model:");
		struct host_gpu g = { .name = "NVIDIA GPU" };

		if (model) {
			model += 6 + strspn(model + 6, " \t");
			g.name = arena_copy(l->a, model, strcspn(model, "\n"));
		}
		list_push(l->a, &l->gpus.list, g);
	}
	if (l->gpus.list.n)
		l->gpus_by = "/proc";
}

void
look_gpus(struct look *l)
{
	enum { LIMIT_S = 10 };
	struct sampler *s = sampler_start(l->a, library(l));

	l->gpu_samples = sampler_answer(s, l->a, LIMIT_S);
	l->gpus_hang = !l->gpu_samples;
	if (l->gpu_samples)
		l->gpus = *s->gpus;
	else
		l->gpus.why_none = sampler_silence(s, l->a, LIMIT_S);
	sampler_end(s);
	if (!l->gpus.list.n) {
		l->gpu_samples = NULL;
		by_proc(l);
		return;
	}
	l->gpus_by = s->source ? s->source : "NVML";
	if (!l->gpus.cuda)
		l->gpus.cuda = look_version(l, ask(l, "nvidia-smi"), "CUDA Version:");
}

const char *
gpu_settings(struct look *l)
{
	const struct names lines = host_gpu_settings(l->a, library(l));

	return names_join(l->a, &lines, "\n");
}

const char *
driver_cuda(struct look *l)
{
	const struct cuda_toolkit *const *all, *best = NULL;
	size_t n;

	if (l->gpus.cuda || !l->gpus.driver || l->host->wsl2)
		return l->gpus.cuda; /* the version numbers of Windows drivers differ */
	all = facts_cuda_all(l->o->facts, &n);
	for (size_t i = 0; i < n; i++)
		if (all[i]->driver_min &&
		    version_order(l, l->gpus.driver, all[i]->driver_min) >= 0 &&
		    (!best || version_order(l, all[i]->version, best->version) > 0))
			best = all[i];
	return best ? best->version : NULL;
}

/*
 * Returns the PCI address of an NVIDIA display controller; an audio device (class 0x0403) does not
 * count.
 */
static const char *
pci_gpu(struct look *l)
{
	const struct names all = look_list(l, "/sys/bus/pci/devices");

	for (size_t i = 0; i < all.n; i++) {
		const char *dir = arena_printf(l->a, "/sys/bus/pci/devices/%s", all.at[i]);

		if (starts_with(look_text(l, arena_printf(l->a, "%s/vendor", dir)), "0x10de") &&
		    starts_with(look_text(l, arena_printf(l->a, "%s/class", dir)), "0x03"))
			return all.at[i];
	}
	return NULL;
}

static void
check_driver(struct look *l)
{
	const char *pci = pci_gpu(l);
	const char *modules = look_text(l, "/proc/modules");
	bool loaded =
		look_exists(l, "/proc/driver/nvidia/version") || look_exists(l, "/dev/nvidiactl");

	if (l->gpus_by && strcmp(l->gpus_by, "/proc")) {
		fine(l, "driver %s, CUDA %s and older (by %s)",
		     l->gpus.driver ? l->gpus.driver : "of unknown version",
		     driver_cuda(l) ? driver_cuda(l) : "of unknown version", l->gpus_by);
	} else if (loaded || l->gpus_hang) {
		found(l, FINDING_ERROR, "gpu-unusable", "no program can use the GPU",
		      "run `nvidia-smi`; look for Xid in `dmesg`; reboot after a driver update; in "
		      "a container, start it with --gpus all",
		      "%s%s", loaded ? "the NVIDIA kernel module is loaded, but " : "",
		      l->gpus.why_none);
	} else if (pci) {
		found(l, FINDING_ERROR, "driver-missing", "CUDA programs run on the CPU, or fail",
		      "install NVIDIA's driver, then reboot",
		      "PCI device %s is an NVIDIA GPU, and %s", pci,
		      starts_with(modules, "nouveau ") || strstr(modules, "\nnouveau ") ?
			      "the nouveau driver is loaded instead of NVIDIA's" :
			      "no NVIDIA driver is loaded");
	} else if (!l->host->wsl2) {
		found(l, FINDING_WARNING, "gpu-none",
		      "images can be built here, but not run on a GPU",
		      "none, if this host only builds; else choose a host with a GPU",
		      "no NVIDIA GPU: %s", l->gpus.why_none);
	}
}

/* Returns ", 20000 MiB of them by python (PID 4711)" for the process with most memory, or "". */
static const char *
holder(struct look *l, size_t gpu)
{
	const struct gpu_use *most = NULL;
	const char *name;

	for (size_t i = 0; l->gpu_samples && i < l->gpu_samples[gpu].uses.n; i++) {
		const struct gpu_use *u = &l->gpu_samples[gpu].uses.at[i];

		most = u->listed && (!most || u->mem_mib > most->mem_mib) ? u : most;
	}
	if (!most)
		return "";
	name = look_text(l, arena_printf(l->a, "/proc/%d/comm", most->pid));
	return arena_printf(l->a, ", %zu MiB of them by %s (PID %d)", most->mem_mib,
			    *name ? arena_copy(l->a, name, strcspn(name, "\n")) : "a process",
			    most->pid);
}

void
check_gpus(struct look *l)
{
	const char *visible = look_env(l, "CUDA_VISIBLE_DEVICES");

	check_driver(l);
	for (size_t i = 0; i < l->gpus.lost.n; i++)
		found(l, FINDING_ERROR, "gpu-lost", "programs that use all GPUs fail",
		      "look for Xid in `dmesg`; reset or replace the GPU", "%s",
		      l->gpus.lost.at[i]);
	for (size_t i = 0; i < l->gpus.list.n; i++) {
		const struct host_gpu *g = &l->gpus.list.at[i];

		if (g->mem_mib && g->mem_used_mib * 10 > g->mem_mib * 8)
			found(l, FINDING_WARNING, "gpu-memory-used",
			      "training fails with CUDA out of memory",
			      "end the processes that hold the memory, or choose another GPU",
			      "GPU %zu (%s): %zu of %zu MiB are in use%s", i, g->name,
			      g->mem_used_mib, g->mem_mib, holder(l, i));
		else
			fine(l, "GPU %zu: %s, compute capability %u.%u, %zu MiB, %zu MiB in use%s",
			     i, g->name, g->major, g->minor, g->mem_mib, g->mem_used_mib,
			     holder(l, i));
	}
	if (l->gpus.list.n && visible && (!*visible || starts_with(visible, "-1")))
		found(l, FINDING_WARNING, "gpu-hidden", "torch sees no GPU and uses the CPU",
		      "unset CUDA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES is \"%s\"", visible);
}

#include <dlfcn.h>

#include "base/fs.h"
#include "base/str.h"
#include "sample.h"

/*
 * Reads GPUs with NVML, a library of the driver. The program does not link against it, so that it
 * starts without a driver. Source: NVIDIA's nvml.h, and pynvml.py of nvidia-ml-py 13 (PyPI) for
 * values and sizes.
 */

enum { NVML_OK = 0, NVML_TEXT = 96 }; /* bytes of a name, a UUID or a version */

struct nvml_memory {
	unsigned long long total, free, used; /* bytes */
};

struct nvml {
	int (*init)(void), (*shutdown)(void);
	const char *(*error)(int);
	int (*driver)(char *, unsigned), (*cuda)(int *), (*count)(unsigned *);
	int (*device)(unsigned, void **);
	int (*name)(void *, char *, unsigned), (*uuid)(void *, char *, unsigned);
	int (*capability)(void *, int *, int *);
	int (*memory)(void *, struct nvml_memory *);
};

/* Messages with a fix, which NVML's own messages lack. */
static const struct {
	int code;
	const char *words;
} results[] = {
	{ 4, "no permission for the driver's devices: check the permissions of /dev/nvidia*" },
	{ 9, "the NVIDIA driver is not loaded: modprobe nvidia, or install it" },
	{ 10, "the driver did not answer in time" },
	{ 12, "NVML did not find one of its libraries: the driver installation is incomplete" },
	{ 13, "this driver's library has no such function: it is too old" },
	{ 15, "a GPU is lost (for example fallen off the bus): see the Xid messages in the kernel "
	      "log" },
	{ 16, "a GPU must be reset before it can be used" },
	{ 17,
	  "the operating system denies access to the GPU: inside a container, its device cgroup" },
	{ 18, "the driver was updated and the old kernel module is still loaded: reboot, or load "
	      "the new one" },
	{ 999, "the driver failed for an unknown reason" },
};

static const char *
result_words(struct arena *a, const struct nvml *n, int code)
{
	const char *text;

	for (size_t i = 0; i < COUNT(results); i++)
		if (results[i].code == code)
			return results[i].words;
	text = n->error ? n->error(code) : NULL;
	return text ? arena_printf(a, "NVML reports: %s (%d)", text, code) :
		      arena_printf(a, "NVML's error %d", code);
}

/* Loads the functions; returns NULL, or the name of a function that the library lacks. */
static const char *
find_functions(void *lib, struct nvml *n)
{
	/* dlsym returns a data pointer, which POSIX allows to hold the address of a function. */
	const struct {
		const char *name, *older;
		void *into;
		bool may_lack;
	} all[] = {
		{ "nvmlInit_v2", "nvmlInit", &n->init, false },
		{ "nvmlShutdown", NULL, &n->shutdown, false },
		{ "nvmlErrorString", NULL, &n->error, true },
		{ "nvmlSystemGetDriverVersion", NULL, &n->driver, false },
		{ "nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion", &n->cuda,
		  true },
		{ "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount", &n->count, false },
		{ "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex", &n->device,
		  false },
		{ "nvmlDeviceGetName", NULL, &n->name, false },
		{ "nvmlDeviceGetUUID", NULL, &n->uuid, false },
		{ "nvmlDeviceGetCudaComputeCapability", NULL, &n->capability, false },
		{ "nvmlDeviceGetMemoryInfo", NULL, &n->memory, false },
	};

	for (size_t i = 0; i < COUNT(all); i++) {
		void *f = dlsym(lib, all[i].name);

		if (!f && all[i].older)
			f = dlsym(lib, all[i].older);
		if (!f && !all[i].may_lack)
			return all[i].name;
		memcpy(all[i].into, &f, sizeof(f));
	}
	return NULL;
}

void *
nvml_library(struct arena *a, const char *library, const char **why)
{
	/* Under WSL 2, it is in a directory that not every ld.so.conf lists. */
	static const char *const usual[] = { "libnvidia-ml.so.1",
					     "/usr/lib/wsl/lib/libnvidia-ml.so.1" };
	void *lib = NULL;

	for (size_t i = 0; !lib && i < (library ? 1 : 2); i++) {
		lib = dlopen(library ? library : usual[i], RTLD_NOW | RTLD_LOCAL);
		if (!lib && !i)
			*why = arena_strdup(a, dlerror());
	}
	if (!lib && !library && fs_exists("/proc/driver/nvidia/version"))
		*why = arena_printf(a,
				    "the driver's kernel module is loaded, but its library was not "
				    "found (%s): start the container with --gpus all",
				    *why);
	else if (!lib)
		*why = arena_printf(a, "no NVIDIA driver: %s", *why);
	return lib;
}

/* Returns a text of the driver, which may lack its NUL. */
static const char *
text_of(struct arena *a, int result, char text[NVML_TEXT + 1])
{
	text[NVML_TEXT] = '\0';
	return result == NVML_OK ? arena_strdup(a, text) : "";
}

static int
read_gpu(struct arena *a, const struct nvml *n, unsigned i, struct host_gpu *g)
{
	char name[NVML_TEXT + 1] = "", uuid[NVML_TEXT + 1] = "";
	struct nvml_memory memory = { 0 };
	int major = 0, minor = 0, result;
	void *device = NULL;

	result = n->device(i, &device);
	if (result != NVML_OK)
		return result;
	result = n->capability(device, &major, &minor);
	if (result != NVML_OK)
		return result;
	g->major = major > 0 ? (unsigned)major : 0;
	g->minor = minor > 0 ? (unsigned)minor : 0;
	g->name = text_of(a, n->name(device, name, NVML_TEXT), name);
	g->uuid = text_of(a, n->uuid(device, uuid, NVML_TEXT), uuid);
	/* A GPU that shares the machine's memory does not report it. */
	if (n->memory(device, &memory) == NVML_OK) {
		g->mem_mib = (size_t)(memory.total >> 20);
		g->mem_used_mib = (size_t)(memory.used >> 20);
	}
	return NVML_OK;
}

static void
read_all(struct arena *a, const struct nvml *n, struct host_gpus *out)
{
	char driver[NVML_TEXT + 1] = "";
	unsigned count = 0;
	int cuda = 0, result;

	out->driver = text_of(a, n->driver(driver, NVML_TEXT), driver);
	if (!*out->driver)
		out->driver = NULL;
	/* 12040 is CUDA 12.4 */
	if (n->cuda && n->cuda(&cuda) == NVML_OK && cuda > 0)
		out->cuda = arena_printf(a, "%d.%d", cuda / 1000, cuda % 1000 / 10);
	result = n->count(&count);
	if (result != NVML_OK) {
		out->why_none = result_words(a, n, result);
		return;
	}
	for (unsigned i = 0; i < count && i < 1024; i++) {
		struct host_gpu g = { 0 };

		result = read_gpu(a, n, i, &g);
		if (result == NVML_OK)
			list_push(a, &out->list, g);
		else
			list_printf(a, &out->lost, "GPU %u: %s", i, result_words(a, n, result));
	}
	if (!out->list.n)
		out->why_none = out->lost.n ? out->lost.at[0] : "the driver finds no GPU";
}

const struct host_gpus *
host_gpus(struct arena *a, const char *library)
{
	struct host_gpus *out = arena_new_of(a, struct host_gpus);
	struct nvml n = { 0 };
	const char *lacks;
	void *lib = nvml_library(a, library, &out->why_none);
	int result;

	if (!lib)
		return out;
	lacks = find_functions(lib, &n);
	if (lacks) {
		out->why_none = arena_printf(
			a, "the driver's library has no %s: it is too old, or not NVIDIA's", lacks);
		dlclose(lib);
		return out;
	}
	result = n.init();
	if (result == NVML_OK) {
		read_all(a, &n, out);
		n.shutdown();
	} else {
		out->why_none = result_words(a, &n, result);
	}
	dlclose(lib);
	return out;
}

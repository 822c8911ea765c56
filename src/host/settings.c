#include <dlfcn.h>

#include "base/proc.h"
#include "base/str.h"
#include "sample.h"

/*
 * Reads the settings of the GPUs that change whether and how fast programs run. Source: NVIDIA's
 * nvml.h, and `nvidia-smi --help-query-gpu`.
 */

enum { TIMEOUT_S = 20, OUTPUT_MAX = 64 * 1024, TEXT_BYTES = 96, COLUMN = 28 };

/* The forms of NVML's functions: how the arguments look, and what the values mean. */
enum form { SWITCH, SWITCH_2, MODE, MILLIWATT, CLOCK, REASONS, NUMBER, CELSIUS };

static const struct setting {
	const char *name, *function;
	enum form form;
	unsigned argument; /* CLOCK, CELSIUS: which one */
	const char *smi;   /* name of the column of nvidia-smi */
	bool newer;        /* some releases of nvidia-smi do not know the column */
} settings[] = {
	{ "persistence mode", "nvmlDeviceGetPersistenceMode", SWITCH, 0, "persistence_mode",
	  false },
	{ "compute mode", "nvmlDeviceGetComputeMode", MODE, 0, "compute_mode", false },
	{ "MIG mode", "nvmlDeviceGetMigMode", SWITCH_2, 0, "mig.mode.current", true },
	{ "ECC mode", "nvmlDeviceGetEccMode", SWITCH_2, 0, "ecc.mode.current", false },
	{ "power draw", "nvmlDeviceGetPowerUsage", MILLIWATT, 0, "power.draw", false },
	{ "power limit", "nvmlDeviceGetPowerManagementLimit", MILLIWATT, 0, "power.limit", false },
	{ "power limit, default", "nvmlDeviceGetPowerManagementDefaultLimit", MILLIWATT, 0,
	  "power.default_limit", false },
	{ "power limit, enforced", "nvmlDeviceGetEnforcedPowerLimit", MILLIWATT, 0,
	  "enforced.power.limit", false },
	{ "SM clock", "nvmlDeviceGetClockInfo", CLOCK, 1, "clocks.sm", false },
	{ "SM clock, maximum", "nvmlDeviceGetMaxClockInfo", CLOCK, 1, "clocks.max.sm", false },
	{ "SM clock, application", "nvmlDeviceGetApplicationsClock", CLOCK, 0,
	  "clocks.applications.graphics", true },
	{ "memory clock", "nvmlDeviceGetClockInfo", CLOCK, 2, "clocks.mem", false },
	{ "memory clock, maximum", "nvmlDeviceGetMaxClockInfo", CLOCK, 2, "clocks.max.mem", false },
	{ "clocks are lowered by", "nvmlDeviceGetCurrentClocksThrottleReasons", REASONS, 0,
	  "clocks_throttle_reasons.active", true },
	{ "performance state", "nvmlDeviceGetPerformanceState", NUMBER, 0, "pstate", false },
	{ "temperature", "nvmlDeviceGetTemperature", CELSIUS, 0, "temperature.gpu", false },
	{ "PCIe generation", "nvmlDeviceGetCurrPcieLinkGeneration", NUMBER, 0,
	  "pcie.link.gen.current", false },
	{ "PCIe lanes", "nvmlDeviceGetCurrPcieLinkWidth", NUMBER, 0, "pcie.link.width.current",
	  false },
};

/* nvmlClocksThrottleReason...: bits in this order. */
static const char *
reasons_words(struct arena *a, unsigned long long bits)
{
	static const char *const words[] = { "idle",
					     "application clocks",
					     "the power limit",
					     "hardware slowdown",
					     "sync boost",
					     "temperature (software)",
					     "temperature (hardware)",
					     "external power brake",
					     "display clocks" };
	struct names all = { 0 };

	for (size_t i = 0; i < COUNT(words); i++)
		if (bits >> i & 1)
			list_push(a, &all, words[i]);
	return all.n ? names_join(a, &all, ", ") : "nothing";
}

/* Returns the value of a setting by NVML; NULL: the GPU or the driver does not have it. */
static const char *
by_nvml(struct arena *a, void *lib, void *device, const struct setting *s)
{
	static const char *const modes[] = { "default", "exclusive thread", "prohibited",
					     "exclusive process" };
	union {
		void *symbol;
		int (*one)(void *, unsigned *);
		int (*two)(void *, unsigned *, unsigned *);
		int (*which)(void *, unsigned, unsigned *);
		int (*bits)(void *, unsigned long long *);
	} f = { .symbol = dlsym(lib, s->function) };
	unsigned value = 0, next = 0;
	unsigned long long bits = 0;
	int result;

	if (!f.symbol)
		return NULL;
	result = s->form == SWITCH_2                    ? f.two(device, &value, &next) :
		 s->form == CLOCK || s->form == CELSIUS ? f.which(device, s->argument, &value) :
		 s->form == REASONS                     ? f.bits(device, &bits) :
							  f.one(device, &value);
	if (result)
		return NULL;
	switch (s->form) {
	case SWITCH_2:
		if (value != next)
			return arena_printf(a, "%s; %s after a reset", value ? "on" : "off",
					    next ? "on" : "off");
		return value ? "on" : "off";
	case SWITCH: return value ? "on" : "off";
	case MODE: return value < COUNT(modes) ? modes[value] : NULL;
	case MILLIWATT: return arena_printf(a, "%.1f W", value / 1000.0);
	case CLOCK: return arena_printf(a, "%u MHz", value);
	case CELSIUS: return arena_printf(a, "%u degrees Celsius", value);
	case REASONS: return reasons_words(a, bits);
	case NUMBER: break;
	}
	return arena_printf(a, "%u", value);
}

static void
add(struct arena *a, struct names *out, const struct setting *s, const char *value)
{
	if (value && *value)
		list_printf(a, out, "  %-*s%s", COLUMN, s->name, value);
}

static struct names
all_by_nvml(struct arena *a, void *lib)
{
	union {
		void *symbol;
		int (*init)(void);
		int (*count)(unsigned *);
		int (*device)(unsigned, void **);
		int (*text)(void *, char *, unsigned);
	} init = { dlsym(lib, "nvmlInit_v2") }, count = { dlsym(lib, "nvmlDeviceGetCount_v2") },
	  device = { dlsym(lib, "nvmlDeviceGetHandleByIndex_v2") },
	  name = { dlsym(lib, "nvmlDeviceGetName") }, end = { dlsym(lib, "nvmlShutdown") };
	struct names out = { 0 };
	unsigned n = 0;

	if (!init.symbol || !count.symbol || !device.symbol || !name.symbol || !end.symbol ||
	    init.init())
		return out;
	for (unsigned i = 0; !count.count(&n) && i < n && i < 1024; i++) {
		char text[TEXT_BYTES + 1] = "";
		void *gpu = NULL;

		if (device.device(i, &gpu))
			continue;
		name.text(gpu, text, TEXT_BYTES);
		list_printf(a, &out, "GPU %u: %s", i, text);
		for (size_t k = 0; k < COUNT(settings); k++)
			add(a, &out, &settings[k], by_nvml(a, lib, gpu, &settings[k]));
	}
	end.init();
	return out;
}

/* Reads a line of CSV: "0, NVIDIA H100, Enabled, ..."; [N/A] and [Not Supported] are left out. */
static void
take_line(struct arena *a, const char *line, bool newer, struct names *out)
{
	struct names w = names_split(a, line, ',');
	size_t column = 2;

	if (w.n < 3)
		return;
	list_printf(a, out, "GPU %s:%s", w.at[0], w.at[1]);
	for (size_t k = 0; k < COUNT(settings); k++) {
		const char *value;

		if (settings[k].newer && !newer)
			continue;
		value = column < w.n ? w.at[column++] : "";
		value += strspn(value, " ");
		add(a, out, &settings[k], *value == '[' ? NULL : value);
	}
}

static struct names
all_by_smi(struct arena *a)
{
	struct names out = { 0 };

	for (int newer = 1; newer >= 0 && !out.n && proc_which(a, "nvidia-smi"); newer--) {
		struct names columns = { 0 }, lines;
		const char *argv[] = { "nvidia-smi", NULL, "--format=csv,noheader", NULL };
		const struct proc_spec spec = { .argv = argv,
						.timeout_s = TIMEOUT_S,
						.keep = OUTPUT_MAX };
		struct proc_result r;

		for (size_t k = 0; k < COUNT(settings); k++)
			if (newer || !settings[k].newer)
				list_push(a, &columns, settings[k].smi);
		argv[1] =
			arena_printf(a, "--query-gpu=index,name,%s", names_join(a, &columns, ","));
		if (!proc_run(a, &spec, &r))
			continue;
		lines = names_split(a, buf_text(&r.out), '\n');
		for (size_t i = 0; i < lines.n; i++)
			take_line(a, lines.at[i], newer, &out);
	}
	return out;
}

struct names
host_gpu_settings(struct arena *a, const char *library)
{
	const char *why = NULL;
	void *lib = nvml_library(a, library, &why);
	struct names out = { 0 };

	if (lib) {
		out = all_by_nvml(a, lib);
		dlclose(lib);
	}
	return out.n ? out : all_by_smi(a);
}

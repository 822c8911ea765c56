#include "schema.h"

#include <string.h>

#include "base/str.h"

/* What any map may hold beside its own fields: see facts_check(). */
/* clang-format off */
#define END                            { NULL, ONE, F_TEXT, F_TEXT, NULL, false }
#define ONE_(key, type)                { key, ONE, type, F_TEXT, NULL, false }
#define NEED(key, type)                { key, ONE, type, F_TEXT, NULL, true }
#define WORDS_(key, type)              { key, WORDS, type, F_TEXT, NULL, false }
#define NEED_WORDS(key, type)          { key, WORDS, type, F_TEXT, NULL, true }
#define MANY_(key, type)               { key, MANY, type, F_TEXT, NULL, false }
#define TABLE_(key, keys, type)        { key, TABLE, type, keys, NULL, false }
#define NEED_TABLE(key, keys, type)    { key, TABLE, type, keys, NULL, true }
#define GROUP_(key, fields)            { key, GROUP, F_TEXT, F_TEXT, fields, false }
#define NEED_GROUP(key, fields)        { key, GROUP, F_TEXT, F_TEXT, fields, true }
#define GROUPS_(key, keys, fields)     { key, GROUPS, F_TEXT, keys, fields, false }
#define NEED_GROUPS(key, keys, fields) { key, GROUPS, F_TEXT, keys, fields, true }
#define ROWS_(key, fields)             { key, ROWS, F_TEXT, F_TEXT, fields, false }
/* clang-format on */

/* --- torch.yaml --- */

static const struct fact_field torch_build[] = {
	ONE_("index", F_URL),
	ONE_("no_index", F_BOOL),
	ONE_("cuda", F_VERSION),
	ONE_("cudnn", F_VERSION),
	ONE_("abi", F_ABI),
	ONE_("glibc", F_SERIES),
	WORDS_("archs", F_CC),
	ONE_("archs_inferred", F_BOOL),
	ONE_("ptx", F_CC),
	ONE_("pypi", F_BOOL),
	ONE_("cuda_bindings", F_REQUIREMENT),
	END,
};

static const struct fact_field torch_release[] = {
	ONE_("built", F_DATE),
	WORDS_("python", F_PYTHON),
	ONE_("requires_python", F_SPEC),
	ONE_("torchvision", F_VERSION),
	ONE_("torchaudio", F_VERSION),
	ONE_("triton", F_REQUIREMENT),
	ONE_("setuptools", F_REQUIREMENT),
	ONE_("setuptools_build", F_REQUIREMENT),
	ONE_("cuda_bindings", F_REQUIREMENT),
	ONE_("cuda_toolkit", F_VERSION),
	ONE_("numpy2", F_BOOL),
	ONE_("abi", F_ABI),
	ONE_("glibc", F_SERIES),
	ONE_("headers", F_STD),
	ONE_("default_std", F_STD),
	GROUPS_("builds", F_TAG, torch_build),
	END,
};

static const struct fact_field torch_index[] = { NEED("url", F_URL), END };

static const struct fact_field torch_compilers[] = {
	NEED("torch", F_SPEC),
	TABLE_("gcc", F_SERIES, F_SPEC),
	TABLE_("clang", F_SERIES, F_SPEC),
	END,
};

static const struct fact_field torch_arch_names[] = {
	NEED("torch", F_SPEC),
	WORDS_("archs", F_TARGET),
	TABLE_("names", F_TEXT, F_TEXT),
	END,
};

static const struct fact_field torch_nvcc_env[] = {
	NEED("torch", F_SPEC),
	NEED("name", F_ENV),
	END,
};

static const struct fact_field torch_symbol[] = {
	NEED("symbol", F_SYMBOL),
	NEED("built", F_SPEC),
	NEED("fails", F_SPEC),
	END,
};

static const struct fact_field torch_abi_symbol[] = {
	NEED("symbol", F_SYMBOL),
	NEED("extension", F_ABI),
	NEED("torch", F_ABI),
	END,
};

static const struct fact_field torch_file[] = {
	NEED_GROUP("index", torch_index),    NEED_GROUPS("releases", F_VERSION, torch_release),
	ROWS_("compilers", torch_compilers), ROWS_("arch_list", torch_arch_names),
	ROWS_("symbols", torch_symbol),      ROWS_("abi_symbols", torch_abi_symbol),
	ROWS_("nvcc_env", torch_nvcc_env),   END,
};

/* --- cuda.yaml --- */

static const struct fact_field cuda_release[] = {
	ONE_("driver", F_DRIVER),
	ONE_("nvcc_wheel", F_REQUIREMENT),
	WORDS_("images", F_OS),
	WORDS_("cudnn_images", F_OS),
	ONE_("no_cudnn", F_BOOL),
	ONE_("toolkit_wheel", F_BOOL),
	END,
};

static const struct fact_field cuda_series[] = {
	ONE_("gcc_min", F_UINT),
	ONE_("gcc_max", F_UINT),
	ONE_("clang_max", F_UINT),
	WORDS_("archs", F_CC),
	WORDS_("targets", F_TARGET),
	GROUPS_("releases", F_VERSION, cuda_release),
	END,
};

static const struct fact_field cuda_driver[] = { NEED("driver", F_DRIVER), END };
static const struct fact_field why[] = { NEED("why", F_TEXT), END };
static const struct fact_field image_missing[] = {
	ONE_("tag", F_TAG),
	ONE_("os", F_TAG),
	ONE_("cuda", F_SPEC),
	ONE_("series", F_BOOL),
	ONE_("not_cudnn", F_TAG),
	NEED("why", F_TEXT),
	END,
};

static const struct fact_field cuda_images[] = {
	NEED("repository", F_REPOSITORY),
	TABLE_("flavours", F_TAG, F_TEXT),
	ROWS_("missing", image_missing),
	END,
};

static const struct fact_field cuda_wheels[] = {
	NEED("cuda", F_SPEC),
	NEED("requirement", F_REQUIREMENT),
	ONE_("root", F_REPOSITORY),
	END,
};

static const struct fact_field cuda_file[] = {
	GROUPS_("drivers", F_UINT, cuda_driver), NEED_GROUPS("series", F_SERIES, cuda_series),
	GROUPS_("never", F_SERIES, why),         NEED_GROUP("images", cuda_images),
	GROUP_("wheels", cuda_wheels),           END,
};

/* --- gpus.yaml, os.yaml, python.yaml --- */

static const struct fact_field gpu[] = {
	ONE_("id", F_TAG),
	MANY_("aliases", F_TEXT),
	ONE_("memory_gb", F_UINT),
	END,
};

static const struct fact_field capability[] = {
	NEED("arch", F_TEXT),
	ONE_("cuda", F_SPEC),
	GROUPS_("gpus", F_TEXT, gpu),
	END,
};

static const struct fact_field gpus_file[] = {
	NEED_GROUPS("capabilities", F_CC, capability),
	END,
};

static const struct fact_field os_release[] = {
	ONE_("codename", F_TAG),
	ONE_("python", F_PYTHON),
	WORDS_("python_apt", F_TAG),
	ONE_("gcc", F_VERSION),
	ONE_("glibc", F_SERIES),
	ONE_("deadsnakes", F_BOOL),
	END,
};

static const struct fact_field os_file[] = { NEED_GROUPS("releases", F_TAG, os_release), END };

static const struct fact_field standalone_build[] = {
	NEED("release", F_UINT),
	NEED("modal", F_SPEC),
	ONE_("flavour", F_TAG),
	ONE_("sha256", F_SHA256),
	END,
};

static const struct fact_field standalone_series[] = {
	GROUPS_("builds", F_VERSION, standalone_build),
	END,
};

static const struct fact_field standalone[] = {
	NEED("url", F_URL),
	NEED("machine", F_TAG),
	GROUPS_("series", F_PYTHON, standalone_series),
	END,
};

static const struct fact_field uv[] = { NEED("version", F_VERSION), END };

static const struct fact_field python_series[] = {
	ONE_("uv", F_VERSION),
	END,
};

static const struct fact_field python_file[] = {
	NEED_GROUPS("series", F_SERIES, python_series),
	GROUP_("standalone", standalone),
	NEED_GROUP("uv", uv),
	END,
};

/* --- modal.yaml, costs.yaml, packages.yaml --- */

static const struct fact_field modal_gpu[] = {
	NEED_WORDS("cc", F_CC),         ONE_("count_max", F_UINT),     ONE_("memory_gb", F_UINT),
	ONE_("usd_per_hour", F_NUMBER), ONE_("alias_of", F_MODAL_GPU), END,
};

static const struct fact_field modal_builder[] = {
	WORDS_("python", F_PYTHON),
	ONE_("client", F_VERSION),
	ONE_("debian", F_TAG),
	END,
};

static const struct fact_field modal_leaving[] = {
	NEED("client", F_VERSION),
	END,
};

static const struct fact_field seconds[] = {
	NEED("min", F_UINT),
	NEED("max", F_UINT),
	ONE_("default", F_UINT),
	END,
};

static const struct fact_field modal_prices[] = {
	ONE_("cpu_core_hour", F_NUMBER),
	ONE_("memory_gib_hour", F_NUMBER),
	END,
};

static const struct fact_field modal_file[] = {
	NEED_GROUP("timeout_s", seconds),
	NEED_GROUP("scaledown_s", seconds),
	GROUP_("prices_usd", modal_prices),
	NEED("builder_default", F_BUILDER),
	NEED_GROUPS("builders", F_SERIES, modal_builder),
	GROUPS_("pythons_leaving", F_SERIES, modal_leaving),
	NEED_GROUPS("gpus", F_TEXT, modal_gpu),
	END,
};

static const struct fact_field step_cost[] = {
	NEED("seconds", F_NUMBER),
	ONE_("changes", F_CHANGES),
	END,
};

static const struct fact_field costs_file[] = {
	NEED_GROUPS("steps", F_TAG, step_cost),
	GROUPS_("extensions", F_EXTENSION, step_cost),
	END,
};

static const struct fact_field package_release[] = {
	WORDS_("python", F_PYTHON),
	ONE_("requires_python", F_SPEC),
	END,
};

static const struct fact_field package[] = {
	ONE_("latest", F_VERSION),
	ONE_("requires_python", F_SPEC),
	GROUPS_("releases", F_VERSION, package_release),
	END,
};

static const struct fact_field rule[] = {
	NEED("severity", F_TEXT),
	ONE_("code", F_TAG),
	ONE_("research", F_TEXT),
	NEED_TABLE("when", F_TEXT, F_TEXT),
	NEED("sentence", F_TEXT),
	ONE_("help", F_TEXT),
	END,
};

static const struct fact_field research_rule[] = {
	NEED("title", F_TEXT),      NEED("severity", F_TAG),    NEED("basis", F_TAG),
	NEED("class", F_TAG),       WORDS_("codes", F_TAG),     NEED("how", F_TEXT),
	NEED("test", F_REPOSITORY), NEED("near", F_REPOSITORY), END,
};

static const struct fact_field research_file[] = {
	GROUPS_("research", F_TAG, research_rule),
	END,
};

static const struct fact_field rules_file[] = { GROUPS_("rules", F_TAG, rule), END };

#define PAIRING_FIELDS \
	NEED("versions", F_SPEC), NEED("other", F_PACKAGE), NEED("needs", F_SPEC), \
		ONE_("optional", F_BOOL), ONE_("inferred", F_BOOL), NEED("why", F_TEXT)

static const struct fact_field pairing[] = { PAIRING_FIELDS, END };
static const struct fact_field named_pairing[] = { NEED("name", F_PACKAGE), PAIRING_FIELDS, END };

static const struct fact_field packages_file[] = {
	NEED_GROUPS("packages", F_NAME, package),
	ROWS_("pairings", named_pairing),
	END,
};

/* --- extensions/NAME.yaml --- */

#define RELEASE_FIELDS \
	ONE_("requires_python", F_SPEC), MANY_("build_requires", F_REQUIREMENT), \
		MANY_("run_requires", F_REQUIREMENT), WORDS_("archs", F_CC), \
		TABLE_("archs_nvcc", F_CC, F_SPEC), ONE_("sdist", F_BOOL), \
		ONE_("sdist_why", F_TEXT), ONE_("cxx_std", F_STD), ONE_("arch_env", F_ENV), \
		ONE_("arch_env_dots", F_BOOL), ONE_("honours_arch_list", F_BOOL), \
		ONE_("api", F_TEXT), ONE_("guesses_machine", F_BOOL), ONE_("wheel_guess", F_BOOL), \
		ONE_("says", F_VERSION), ONE_("wheel_glibc", F_SERIES), ONE_("wheel_label", F_TAG)

static const struct fact_field extension_one[] = {
	ONE_("tag", F_TAG),        ONE_("date", F_DATE), ONE_("pypi", F_BOOL),
	MANY_("more_tags", F_TAG), RELEASE_FIELDS,       END,
};

static const struct fact_field extension_range[] = {
	NEED("versions", F_SPEC),
	RELEASE_FIELDS,
	END,
};

static const struct fact_field wheel_row[] = {
	NEED_WORDS("torch", F_SERIES), NEED_WORDS("cuda", F_TAG), NEED_WORDS("python", F_PYTHON),
	WORDS_("abi", F_ABI),          ONE_("nightly", F_BOOL),   END,
};

static const struct fact_field wheel_group[] = {
	NEED("versions", F_SPEC),
	ROWS_("rows", wheel_row),
	END,
};

static const struct fact_field env_text[] = { NEED("what", F_TEXT), END };

static const struct fact_field extension_file[] = {
	RELEASE_FIELDS,
	MANY_("aliases", F_NAME),
	ONE_("git", F_URL),
	ONE_("subdirectory", F_REPOSITORY),
	ONE_("pypi", F_PYPI),
	ONE_("force_build", F_ENV),
	WORDS_("extra_env", F_ENV_SET),
	WORDS_("imports", F_MODULE),
	WORDS_("probe", F_MODULE),
	WORDS_("after", F_EXTENSION),
	ONE_("submodules", F_BOOL),
	ONE_("triton_at_run_time", F_BOOL),
	ONE_("jit_at_run_time", F_BOOL),
	WORDS_("jit_unless", F_ENV_SET),
	ONE_("needs_cudnn", F_SERIES),
	ONE_("cpu", F_BOOL),
	ONE_("same_cuda_series", F_BOOL),
	ONE_("mem_mib_per_job", F_UINT),
	ONE_("wheel_index", F_TEXT),
	ONE_("wheel_url", F_TEXT),
	ONE_("nvcc_threads", F_UINT),
	GROUPS_("env", F_ENV, env_text),
	GROUPS_("releases", F_VERSION, extension_one),
	ROWS_("ranges", extension_range),
	ROWS_("wheels", wheel_group),
	ROWS_("pairings", pairing),
	GROUPS_("rules", F_TAG, rule),
	END,
};

static const struct {
	const char *name;
	const struct fact_field *fields;
} files[] = {
	{ "costs.yaml", costs_file },   { "cuda.yaml", cuda_file },
	{ "gpus.yaml", gpus_file },     { "modal.yaml", modal_file },
	{ "os.yaml", os_file },         { "packages.yaml", packages_file },
	{ "python.yaml", python_file }, { "research.yaml", research_file },
	{ "rules.yaml", rules_file },   { "torch.yaml", torch_file },
};

struct names
facts_file_names(struct arena *a)
{
	struct names names = { 0 };

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		list_push(a, &names, files[i].name);
	return names;
}

const struct fact_field *
facts_fields(const char *name)
{
	if (starts_with(name, "extensions/") && ends_with(name, ".yaml"))
		return extension_file;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (!strcmp(files[i].name, name))
			return files[i].fields;
	return NULL;
}

bool
facts_is_release_field(const char *key)
{
	static const struct fact_field fields[] = { RELEASE_FIELDS, END };

	for (size_t i = 0; fields[i].key; i++)
		if (!strcmp(fields[i].key, key))
			return true;
	return false;
}

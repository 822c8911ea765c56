#include "schema.h"

#include <string.h>

#include "base/str.h"

/* Fields that any map may have in addition to its own: see facts_check(). */
/* clang-format off */
#define END                            { NULL, ONE, F_TEXT, F_TEXT, NULL, false }
#define ONE_(key, type)                { key, ONE, type, F_TEXT, NULL, false }
#define NEED(key, type)                { key, ONE, type, F_TEXT, NULL, true }
#define WORDS_(key, type)              { key, WORDS, type, F_TEXT, NULL, false }
#define NEED_WORDS(key, type)          { key, WORDS, type, F_TEXT, NULL, true }
#define MANY_(key, type)               { key, MANY, type, F_TEXT, NULL, false }
#define SOME_(key, type)               { key, SOME, type, F_TEXT, NULL, false }
#define NEED_SOME(key, type)           { key, SOME, type, F_TEXT, NULL, true }
#define TABLE_(key, keys, type)        { key, TABLE, type, keys, NULL, false }
#define NEED_TABLE(key, keys, type)    { key, TABLE, type, keys, NULL, true }
#define FIELDS(...)                    (const struct fact_field[]){ __VA_ARGS__, END }
#define GROUP_(key, ...)               { key, GROUP, F_TEXT, F_TEXT, FIELDS(__VA_ARGS__), false }
#define NEED_GROUP(key, ...)           { key, GROUP, F_TEXT, F_TEXT, FIELDS(__VA_ARGS__), true }
#define GROUPS_(key, keys, ...)        { key, GROUPS, F_TEXT, keys, FIELDS(__VA_ARGS__), false }
#define NEED_GROUPS(key, keys, ...)    { key, GROUPS, F_TEXT, keys, FIELDS(__VA_ARGS__), true }
#define ROWS_(key, ...)                { key, ROWS, F_TEXT, F_TEXT, FIELDS(__VA_ARGS__), false }

#define RULE_FIELDS \
	NEED("severity", F_TEXT), \
	ONE_("code", F_TAG), \
	ONE_("research", F_TEXT), \
	NEED_TABLE("when", F_TEXT, F_TEXT), \
	NEED("sentence", F_TEXT), \
	ONE_("help", F_TEXT)

#define BRINGS_FIELDS \
	ONE_("os", F_OS), \
	ONE_("python", F_PYTHON), \
	ONE_("torch", F_VERSION), \
	ONE_("cuda", F_VERSION), \
	ONE_("flavour", F_TAG), \
	ONE_("own_torch", F_BOOL), \
	ONE_("moves", F_BOOL), \
	ONE_("constraints", F_TEXT), \
	ONE_("numpy", F_SPEC)

#define BASE_FIELDS \
	ONE_("tag", F_TEXT), \
	GROUP_("brings", BRINGS_FIELDS), \
	ONE_("by", F_TAG), \
	ROWS_("rows", ONE_("versions", F_SPEC), BRINGS_FIELDS)

#define COST_FIELDS \
	NEED("seconds", F_NUMBER), \
	ONE_("changes", F_CHANGES)

#define LIMIT_FIELDS \
	NEED("min", F_UINT), \
	NEED("max", F_UINT), \
	ONE_("default", F_UINT)

#define PAIRING_FIELDS \
	NEED("versions", F_SPEC), \
	NEED("other", F_PACKAGE), \
	NEED("needs", F_SPEC), \
	ONE_("optional", F_BOOL), \
	ONE_("inferred", F_BOOL), \
	NEED("why", F_TEXT)

#define SIGN_FIELDS \
	MANY_("literal", F_LITERAL), \
	SOME_("pattern", F_PATTERN), \
	ONE_("lines", F_UINT)

#define RELEASE_FIELDS \
	ONE_("requires_python", F_SPEC), \
	MANY_("build_requires", F_REQUIREMENT), \
	MANY_("run_requires", F_REQUIREMENT), \
	WORDS_("archs", F_CC), \
	TABLE_("archs_nvcc", F_CC, F_SPEC), \
	ONE_("sdist", F_BOOL), \
	ONE_("sdist_why", F_TEXT), \
	ONE_("isolated", F_BOOL), \
	TABLE_("extras", F_NAME, F_TEXT), \
	ONE_("cxx_std", F_STD), \
	ONE_("torch_tried", F_SERIES), \
	ONE_("arch_env", F_ENV), \
	ONE_("arch_env_dots", F_BOOL), \
	ONE_("honours_arch_list", F_BOOL), \
	ONE_("api", F_TEXT), \
	ONE_("guesses_machine", F_BOOL), \
	ONE_("wheel_guess", F_BOOL), \
	ONE_("says", F_VERSION), \
	ONE_("wheel_glibc", F_SERIES), \
	ONE_("wheel_label", F_TAG)

static const struct fact_field files[] = {
	GROUP_("bases.yaml",
		GROUP_("every", BASE_FIELDS),
		NEED_GROUPS("images", F_TEXT, BASE_FIELDS)),
	GROUP_("costs.yaml",
		GROUP_("reference", ONE_("archs", F_UINT), ONE_("cores", F_UINT)),
		NEED_GROUPS("steps", F_TAG, COST_FIELDS),
		GROUPS_("extensions", F_EXTENSION, COST_FIELDS, ONE_("useful_jobs", F_UINT))),
	GROUP_("cuda.yaml",
		GROUPS_("drivers", F_UINT, NEED("driver", F_DRIVER)),
		NEED_GROUPS("series", F_SERIES,
			ONE_("gcc_min", F_UINT),
			ONE_("gcc_max", F_UINT),
			ONE_("clang_max", F_UINT),
			WORDS_("archs", F_CC),
			WORDS_("targets", F_TARGET),
			GROUPS_("releases", F_VERSION,
				ONE_("driver", F_DRIVER),
				ONE_("nvcc_wheel", F_REQUIREMENT),
				WORDS_("images", F_OS),
				WORDS_("cudnn_images", F_OS),
				ONE_("no_cudnn", F_BOOL),
				ONE_("toolkit_wheel", F_BOOL))),
		GROUPS_("never", F_SERIES, NEED("why", F_TEXT)),
		NEED_GROUP("images",
			NEED("repository", F_REPOSITORY),
			TABLE_("flavours", F_TAG, F_TEXT),
			ROWS_("missing",
				ONE_("tag", F_TAG),
				ONE_("os", F_TAG),
				ONE_("cuda", F_SPEC),
				ONE_("series", F_BOOL),
				ONE_("not_cudnn", F_TAG),
				NEED("why", F_TEXT))),
		GROUP_("wheels",
			NEED("cuda", F_SPEC),
			NEED("requirement", F_REQUIREMENT),
			ONE_("root", F_REPOSITORY))),
	GROUP_("gpus.yaml",
		NEED_GROUPS("capabilities", F_CC,
			NEED("arch", F_TEXT),
			ONE_("cuda", F_SPEC),
			GROUPS_("gpus", F_TEXT,
				ONE_("id", F_TAG),
				MANY_("aliases", F_TEXT),
				ONE_("memory_gb", F_UINT)))),
	GROUP_("harvest.yaml",
		NEED_GROUPS("packages", F_NAME, NEED("why", F_TEXT)),
		MANY_("track", F_TEXT)),
	GROUP_("independent.yaml", NEED_GROUPS("lists", F_TAG, NEED_WORDS("names", F_NAME))),
	GROUP_("modal.yaml",
		NEED_GROUP("timeout_s", LIMIT_FIELDS),
		NEED_GROUP("scaledown_s", LIMIT_FIELDS),
		GROUP_("prices_usd",
			ONE_("cpu_core_hour", F_NUMBER),
			ONE_("memory_gib_hour", F_NUMBER)),
		NEED("builder_default", F_BUILDER),
		NEED_GROUPS("builders", F_SERIES,
			WORDS_("python", F_PYTHON),
			ONE_("client", F_VERSION),
			ONE_("debian", F_TAG)),
		NEED_GROUPS("calls", F_TAG,
			GROUPS_("parameters", F_TAG,
				NEED("takes", F_TAG),
				ONE_("required", F_BOOL),
				ONE_("since", F_VERSION))),
		GROUPS_("limits", F_TAG,
			ONE_("min", F_NUMBER),
			ONE_("max", F_NUMBER)),
		GROUPS_("pythons_leaving", F_SERIES, NEED("client", F_VERSION)),
		NEED_GROUPS("gpus", F_TEXT,
			NEED_WORDS("cc", F_CC),
			ONE_("count_max", F_UINT),
			ONE_("memory_gb", F_UINT),
			ONE_("usd_per_hour", F_NUMBER),
			ONE_("alias_of", F_MODAL_GPU))),
	GROUP_("os.yaml",
		GROUP_("dnf",
			NEED_WORDS("systems", F_OS),
			TABLE_("names", F_TAG, F_TEXT)),
		NEED_GROUPS("releases", F_TAG,
			ONE_("codename", F_TAG),
			ONE_("python", F_PYTHON),
			WORDS_("python_apt", F_TAG),
			ONE_("gcc", F_VERSION),
			ONE_("glibc", F_SERIES),
			ONE_("deadsnakes", F_BOOL),
			ONE_("musl", F_BOOL))),
	GROUP_("ends.yaml",
		GROUPS_("systems", F_TAG, NEED("until", F_DATE)),
		GROUPS_("python", F_SERIES, NEED("until", F_DATE))),
	GROUP_("nvidia.yaml",
		ROWS_("torch",
			NEED("versions", F_SPEC),
			NEED("build", F_TAG),
			MANY_("requires", F_REQUIREMENT))),
	GROUP_("python.yaml",
		NEED_GROUPS("series", F_SERIES, ONE_("uv", F_VERSION)),
		GROUP_("standalone",
			NEED("url", F_URL),
			NEED("machine", F_TAG),
			GROUPS_("series", F_PYTHON,
				GROUPS_("builds", F_VERSION,
					NEED("release", F_UINT),
					NEED("modal", F_SPEC),
					ONE_("flavour", F_TAG),
					ONE_("sha256", F_SHA256)))),
		NEED_GROUP("uv", NEED("version", F_VERSION))),
	GROUP_("rules.yaml",
		GROUPS_("rules", F_TAG, RULE_FIELDS)),
	GROUP_("signatures.yaml",
		GROUPS_("categories", F_TAG, NEED("what", F_TEXT)),
		GROUPS_("marks", F_TAG, SIGN_FIELDS),
		GROUPS_("families", F_CATEGORY,
			NEED_SOME("pattern", F_PATTERN),
			NEED("fix", F_TEXT)),
		GROUPS_("signatures", F_TAG,
			SIGN_FIELDS,
			NEED("category", F_CATEGORY),
			NEED("title", F_TEXT),
			NEED("why", F_TEXT),
			NEED("fix", F_TEXT),
			ONE_("fix_known", F_TEXT),
			ONE_("extension", F_UINT),
			ONE_("symbol", F_UINT),
			NEED("confidence", F_CONFIDENCE),
			ONE_("in_success", F_BOOL),
			ONE_("in_code", F_BOOL),
			WORDS_("also", F_MARK),
			WORDS_("unless", F_MARK),
			WORDS_("undone_by", F_MARK),
			WORDS_("after", F_CATEGORY),
			GROUP_("recipe",
				NEED("key", F_TEXT),
				ONE_("set", F_TEXT),
				ONE_("add", F_TEXT)))),
	GROUP_("torch.yaml",
		NEED_GROUP("index", NEED("url", F_URL)),
		NEED_GROUPS("releases", F_VERSION,
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
			GROUPS_("builds", F_TAG,
				ONE_("no_index", F_BOOL),
				ONE_("cuda", F_VERSION),
				ONE_("cudnn", F_VERSION),
				ONE_("abi", F_ABI),
				ONE_("glibc", F_SERIES),
				WORDS_("archs", F_CC),
				WORDS_("archs_aarch64", F_CC),
				ONE_("archs_inferred", F_BOOL),
				ONE_("ptx", F_CC),
				ONE_("pypi", F_BOOL),
				ONE_("cuda_bindings", F_REQUIREMENT))),
		ROWS_("compilers",
			NEED("torch", F_SPEC),
			TABLE_("gcc", F_SERIES, F_SPEC),
			TABLE_("clang", F_SERIES, F_SPEC)),
		ROWS_("arch_list",
			NEED("torch", F_SPEC),
			WORDS_("archs", F_TARGET),
			TABLE_("names", F_TEXT, F_TEXT)),
		ROWS_("symbols",
			NEED("symbol", F_SYMBOL),
			NEED("built", F_SPEC),
			NEED("fails", F_SPEC)),
		ROWS_("abi_symbols",
			NEED("symbol", F_SYMBOL),
			NEED("extension", F_ABI),
			NEED("torch", F_ABI)),
		ROWS_("nvcc_env", NEED("torch", F_SPEC), NEED("name", F_ENV))),
	END,
};

/* extensions/NAME.yaml */
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
	ONE_("jit_needed", F_BOOL),
	ONE_("pkg_resources", F_BOOL),
	WORDS_("jit_unless", F_ENV_SET),
	WORDS_("jit_unless_with", F_NAME),
	ONE_("needs_cudnn", F_SERIES),
	ONE_("cpu", F_BOOL),
	ONE_("same_cuda_series", F_BOOL),
	ONE_("mem_mib_per_job", F_UINT),
	ONE_("wheel_index", F_TEXT),
	ONE_("wheel_url", F_TEXT),
	ONE_("nvcc_threads", F_UINT),
	GROUPS_("env", F_ENV, NEED("what", F_TEXT)),
	GROUPS_("releases", F_VERSION,
		ONE_("tag", F_TAG),
		ONE_("git", F_URL),
		ONE_("date", F_DATE),
		ONE_("pypi", F_BOOL),
		MANY_("more_tags", F_TAG),
		ONE_("every_commit", F_BOOL),
		RELEASE_FIELDS),
	ROWS_("ranges", NEED("versions", F_SPEC), RELEASE_FIELDS),
	ROWS_("wheels",
		NEED("versions", F_SPEC),
		ROWS_("rows",
			NEED_WORDS("torch", F_SERIES),
			NEED_WORDS("cuda", F_TAG),
			NEED_WORDS("python", F_PYTHON),
			WORDS_("abi", F_ABI),
			ONE_("nightly", F_BOOL),
			ONE_("lost", F_TEXT))),
	ROWS_("pairings", PAIRING_FIELDS),
	GROUPS_("rules", F_TAG, RULE_FIELDS),
	END,
};

/* packages/NAME.yaml */
static const struct fact_field package_file[] = {
	ROWS_("pairings", PAIRING_FIELDS),
	GROUPS_("rules", F_TAG, RULE_FIELDS),
	END,
};

/* releases/NAME.yaml */
static const struct fact_field releases_file[] = {
	NEED("package", F_NAME),
	NEED("read", F_DATE),
	WORDS_("others", F_VERSION),
	ONE_("partial", F_BOOL),
	ONE_("sample", F_BOOL),
	NEED_GROUPS("releases", F_VERSION,
		ONE_("date", F_DATE),
		ONE_("requires_python", F_SPEC),
		MANY_("wheels", F_TAG),
		ONE_("sdist", F_BOOL),
		ONE_("yanked", F_TEXT),
		ONE_("read", F_DATE),
		MANY_("requires", F_REQUIREMENT),
		ONE_("requires_source", F_TAG),
		MANY_("extras", F_NAME)),
	END,
};
/* clang-format on */

struct names
facts_file_names(struct arena *a)
{
	struct names names = { 0 };

	for (const struct fact_field *f = files; f->key; f++)
		list_push(a, &names, f->key);
	return names;
}

const struct fact_field *
facts_fields(const char *name)
{
	const struct fact_field *f = files;

	if (starts_with(name, "extensions/") && ends_with(name, ".yaml"))
		return extension_file;
	if (starts_with(name, "packages/") && ends_with(name, ".yaml"))
		return package_file;
	if (starts_with(name, "releases/") && ends_with(name, ".yaml"))
		return releases_file;
	while (f->key && strcmp(f->key, name))
		f++;
	return f->fields;
}

bool
facts_is_release_field(const char *key)
{
	const struct fact_field *f = FIELDS(RELEASE_FIELDS);

	while (f->key && strcmp(f->key, key))
		f++;
	return f->key;
}

/* resolve/: selects and rejects extensions, their wheels and their GPUs. */
#include "resolve_help.h"

#define STACK "torch: {version: 2.2.2, index: cu121}\ncuda: \"12.1\"\npython: \"3.11\"\n"

/* --- the source of a release --- */

static void
a_source_archive_without_its_source(void **state)
{
	(void)state;
	comes_to("SB0235", STACK "extensions: [{name: mamba-ssm, version: 2.2.2, from: sdist}]\n");
	says("the source archive of mamba-ssm 2.2.2 on PyPI cannot be compiled: the sdist has no "
	     "file",
	     STACK "extensions: [{name: mamba-ssm, version: 2.2.2, from: sdist}]\n");
	comes_to("SB0235",
		 STACK "extensions: [{name: causal-conv1d, version: 1.5.1, from: sdist}]\n");
	/* Without `from`, it comes from git; from the next release on, the archive is complete. */
	comes_to("", STACK "extensions: [mamba-ssm==2.2.2]\n");
	assert_string_equal("git", chosen(solved(STACK "extensions: [mamba-ssm==2.2.2]\n"),
					  "mamba-ssm source"));
	comes_to("", STACK "extensions: [{name: causal-conv1d, version: 1.5.2, from: sdist}]\n");
}

/* For `packages`, pip uses PyPI; mamba-ssm 2.2.6 exists only as a tag. */
static void
what_pypi_never_had(void **state)
{
	(void)state;
	comes_to("SB0235", STACK "packages: [auto-gptq==0.4.1]\n");
	comes_to("(SB0250)", STACK "packages: [auto-gptq==0.4.2]\n");
	comes_to("SB0235", STACK "extensions: [{name: mamba-ssm, version: 2.2.6, from: sdist}]\n");
	comes_to("", STACK "packages: [mamba-ssm==2.2.5]\n");
	comes_to("", STACK "extensions: [mamba-ssm==2.2.6]\n");
	comes_to("SB0235", STACK "extensions: [apex==0.1]\n");
	comes_to("SB0235", STACK "extensions: [{name: sageattention, from: git}]\n");
	comes_to("SB0235", STACK "extensions: [{name: mamba-ssm, version: 2.2.2, from: wheel}]\n");
}

static void
what_is_asked_of_python_and_torch(void **state)
{
	(void)state;
	comes_to("SB0242", "torch: {version: 2.2.2, index: cu121}\ncuda: \"12.1\"\n"
			   "python: \"3.8\"\nextensions: [causal-conv1d==1.5.2]\n");
	comes_to("", "torch: {version: 2.2.2, index: cu121}\ncuda: \"12.1\"\n"
		     "python: \"3.8\"\nextensions: [causal-conv1d==1.4.0]\n");
	comes_to("SB0257", "torch: {version: 2.2.2, index: cpu}\n"
			   "extensions: [causal-conv1d==1.4.0]\n");
	comes_to("SB0257", "torch: {version: 2.2.2, index: cpu}\npackages: [flash-attn]\n");
	comes_to("", "torch: {version: 2.2.2, index: cpu}\nextensions: [torch-scatter==2.1.2]\n");
	/* torch's headers require C++20 from 2.14 on. */
	comes_to("SB0243",
		 "torch: {version: 2.14.0, index: cu130}\nextensions: [flash-attn==2.8.3.post2]\n");
	comes_to("",
		 "torch: {version: 2.13.0, index: cu130}\nextensions: [flash-attn==2.8.3.post2]\n");
	comes_to("",
		 "torch: {version: 2.14.0, index: cu130}\nextensions: [causal-conv1d==1.7.0]\n");
}

/* --- the project's own wheels --- */

#define RELEASE(name, version) \
	"extensions: [{name: " name ", version: " version ", from: release}]\n"

static void
wheels_of_a_release(void **state)
{
	(void)state;
	comes_to("", STACK RELEASE("causal-conv1d", "1.4.0"));
	/* Another torch; a torch whose wheel was built with a nightly; another Python. */
	comes_to("SB0235", "torch: {version: 2.9.1, index: cu128}\npython: \"3.11\"\n" RELEASE(
				   "causal-conv1d", "1.4.0"));
	comes_to("SB0235", "torch: {version: 2.4.0, index: cu124}\npython: \"3.11\"\n" RELEASE(
				   "causal-conv1d", "1.4.0"));
	comes_to("SB0235", "torch: {version: 2.2.2, index: cu121}\npython: \"3.12\"\n" RELEASE(
				   "mamba-ssm", "1.1.4"));
	says("are for Python 3.8, 3.9, 3.10 and 3.11",
	     "torch: {version: 2.2.2, index: cu121}\npython: \"3.12\"\n" RELEASE("mamba-ssm",
										 "1.1.4"));
	/* The label of a tag without a wheel. */
	comes_to("SB0235", "torch: {version: 2.9.1, index: cu128}\npython: \"3.11\"\n" RELEASE(
				   "causal-conv1d", "1.6.1"));
	comes_to("SB0235", "torch: {version: 2.9.1, index: cu128}\npython: \"3.11\"\n" RELEASE(
				   "mamba-ssm", "2.3.2"));
	comes_to("", "torch: {version: 2.9.1, index: cu128}\npython: \"3.11\"\n" RELEASE(
			     "mamba-ssm", "2.3.2.post1"));
	/* From torch 2.7 on, there are only wheels with the new ABI, which torch has. */
	comes_to("", "torch: {version: 2.7.1, index: cu128}\npython: \"3.11\"\n" RELEASE(
			     "mamba-ssm", "2.3.1"));
	/* The release is unknown, and so are its wheels. */
	comes_to("SB0235", STACK RELEASE("causal-conv1d", "1.4.7"));
}

static void
wheels_of_a_release_and_the_system(void **state)
{
	(void)state;
	comes_to("SB0235", "platform: linux/arm64\n" STACK RELEASE("mamba-ssm", "2.2.2"));
	comes_to("SB0235",
		 "base: nvidia/cuda:12.4.1-devel-ubuntu20.04\npython: \"3.10\"\n"
		 "torch: {version: 2.6.0, index: cu124}\n" RELEASE("flash-attn", "2.8.3"));
	says("glibc 2.32 or newer",
	     "base: nvidia/cuda:12.4.1-devel-ubuntu20.04\npython: \"3.10\"\n"
	     "torch: {version: 2.6.0, index: cu124}\n" RELEASE("flash-attn", "2.8.3"));
	comes_to("",
		 "base: nvidia/cuda:12.4.1-devel-ubuntu20.04\npython: \"3.10\"\n"
		 "torch: {version: 2.6.0, index: cu124}\n" RELEASE("flash-attn", "2.7.4.post1"));
	comes_to("", "base: nvidia/cuda:12.4.1-devel-ubuntu22.04\npython: \"3.10\"\n"
		     "torch: {version: 2.6.0, index: cu124}\n" RELEASE("flash-attn", "2.8.3"));
}

static bool
names_hold(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (!strcmp(names->at[i], name))
			return true;
	return false;
}

/* Checks that SB0235 is reported only if facts_extension_wheel() finds no wheel. */
static void
one_release(const char *name, const char *version)
{
	static const char *const pythons[] = { "3.9", "3.11", "3.13" };
	const struct extension_release *r =
		extension_release(facts_extension(facts, name), version);
	size_t n;
	const struct torch_release *const *torches = facts_torch_all(facts, &n);

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < torches[i]->nvariants * 3; k++) {
			const struct torch_variant *v = &torches[i]->variants[k / 3];
			const char *why, *source, *python = pythons[k % 3], *codes;
			bool is;
			struct wheel_wanted want = { torches[i]->version, v->cuda, python, "x86_64",
						     v->cxx11abi,         NULL };

			/* Skips builds that only PyPI has. */
			if (!v->cuda || !names_hold(&torches[i]->pythons, python) || !v->on_index)
				continue;
			codes = codes_of(solved(arena_printf(
				a,
				"python: \"%s\"\ntorch: {version: %s, index: %s}\n"
				"extensions: [{name: %s, version: %s, from: release}]\n",
				python, torches[i]->version, v->tag, name, version)));
			is = facts_extension_wheel(facts, a, r, &want, &why, &source) != NULL;
			/* Without a wheel, another error may be reported. */
			if (is ? strstr(codes, "SB0235") != NULL : !*codes)
				fail_msg("%s %s, torch %s %s, Python %s: %s", name, version,
					 torches[i]->version, v->tag, python, codes);
		}
}

static void
wheels_as_the_knowledge_lists_them(void **state)
{
	(void)state;
	one_release("causal-conv1d", "1.4.0");
	one_release("mamba-ssm", "2.2.4");
	one_release("mamba-ssm", "2.3.1");
	one_release("flash-attn", "2.8.3");
}

/* --- a wheel by its address --- */

#define WHEEL(file) "extensions: [{name: mamba-ssm, url: \"https://example.com/" file "\"}]\n"
#define MAMBA "mamba_ssm-2.2.2+cu122torch2.2cxx11abi"

static void
wheels_by_name(void **state)
{
	(void)state;
	comes_to("", STACK WHEEL(MAMBA "FALSE-cp311-cp311-linux_x86_64.whl"));
	comes_to("", STACK WHEEL("mamba_ssm-2.2.2%2Bcu122torch2.2cxx11abiFALSE-cp311-cp311-"
				 "linux_x86_64.whl"));
	comes_to("SB0255", STACK WHEEL(MAMBA "TRUE-cp311-cp311-linux_x86_64.whl"));
	comes_to("SB0255", STACK WHEEL(MAMBA "FALSE-cp310-cp310-linux_x86_64.whl"));
	comes_to("SB0255", STACK WHEEL(MAMBA "FALSE-cp311-cp311-linux_aarch64.whl"));
	comes_to("SB0255", STACK WHEEL("mamba_ssm-2.2.2+cu122torch2.3cxx11abiFALSE-cp311-cp311-"
				       "linux_x86_64.whl"));
	comes_to("SB0255", STACK WHEEL("mamba_ssm-2.2.2+cu118torch2.2cxx11abiFALSE-cp311-cp311-"
				       "linux_x86_64.whl"));
	says("was built for torch 2.3, as its name shows",
	     STACK WHEEL("mamba_ssm-2.2.2+cu122torch2.3cxx11abiFALSE-cp311-cp311-"
			 "linux_x86_64.whl"));
	/* Parts that a file name lacks are not checked. */
	comes_to("", STACK WHEEL("mamba_ssm-2.2.2-py3-none-any.whl"));
	comes_to("", STACK WHEEL("mamba_ssm-2.2.2-cp39-abi3-linux_x86_64.whl"));
	comes_to("SB0255", STACK WHEEL("mamba_ssm-2.2.2-cp312-abi3-linux_x86_64.whl"));
	comes_to("", STACK WHEEL("mamba_ssm-2.2.2.tar.gz"));
}

#define NEEDS(file) STACK "packages: [\"other @ https://example.com/" file "\"]\n"

static void
wheels_among_packages(void **state)
{
	(void)state;
	comes_to("", NEEDS("other-1.0+pt22cu121-cp311-cp311-linux_x86_64.whl"));
	comes_to("SB0255", NEEDS("other-1.0+pt26cu124-cp311-cp311-linux_x86_64.whl"));
	comes_to("SB0255", NEEDS("other-1.0+torch240cu121-cp311-cp311-linux_x86_64.whl"));
	comes_to("SB0255", NEEDS("other-1.0+torch2100cu128-cp311-cp311-linux_x86_64.whl"));
	comes_to("SB0255", NEEDS("other-1.0+cu118-cp311-cp311-linux_x86_64.whl"));
	comes_to("", NEEDS("other-1.0+cu121-cp311-cp311-manylinux_2_28_x86_64.whl"));
	comes_to("SB0255", NEEDS("other-1.0-cp311-cp311-manylinux_2_40_x86_64.whl"));
	comes_to("",
		 NEEDS("other-1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux_2_40_x86_64.whl"));
	comes_to("SB0255", STACK
		 "packages: [\"flash-attn @ https://example.com/"
		 "flash_attn-2.7.3+cu12torch2.5cxx11abiFALSE-cp311-cp311-linux_x86_64.whl\"]\n");
}

/* The wheel has the label torch2.4, but was built before the release of 2.4. */
static void
wheels_of_a_nightly(void **state)
{
	(void)state;
	comes_to("(SB0256)", "torch: {version: 2.4.0, index: cu124}\npython: \"3.11\"\n"
			     "extensions: [{name: causal-conv1d, url: \"https://example.com/"
			     "causal_conv1d-1.4.0+cu122torch2.4cxx11abiFALSE-cp311-cp311-linux_x86_"
			     "64.whl\"}]\n");
	comes_to("", "torch: {version: 2.3.1, index: cu121}\npython: \"3.11\"\n"
		     "extensions: [{name: causal-conv1d, url: \"https://example.com/"
		     "causal_conv1d-1.4.0+cu122torch2.3cxx11abiFALSE-cp311-cp311-linux_x86_64."
		     "whl\"}]\n");
}

/* --- GPUs --- */

static void
gpus_and_torch(void **state)
{
	(void)state;
	comes_to("SB0258", "gpus: [rtx5090]\ntorch: {version: 2.2.2, index: cu121}\n");
	comes_to("", "gpus: [rtx5090]\ntorch: {version: 2.7.1, index: cu128}\n");
	comes_to("", "gpus: [rtx4090]\ntorch: {version: 2.2.2, index: cu121}\n");
	comes_to("SB0258", "gpus: [b200]\ntorch: {version: 2.7.1, index: cu126}\n");
	/* sm_120 code runs on 12.1; PTX of 12.0 would too, but not on 11.0. */
	comes_to("", "gpus: [gb10]\ntorch: {version: 2.9.1, index: cu130}\n");
	comes_to("SB0258", "gpus: [jetson-agx-thor]\ntorch: {version: 2.9.1, index: cu130}\n");
	/* One of the GPUs is not supported. */
	comes_to("SB0258", "gpus: [a100, rtx5090]\ntorch: {version: 2.6.0, index: cu124}\n");
	comes_to("SB0258", "gpus: [p100, b200]\ntorch: 2.9.1\n");
	comes_to("", "gpus: [t4, b200]\ntorch: {version: 2.9.1, index: cu128}\n");
	comes_to("SB0258", "gpus: [v100]\ntorch: {version: 2.11.0, index: cu128}\n");
	comes_to("SB0258", "gpus: [v100]\ntorch: {version: 2.13.0, index: cu130}\n");
	comes_to("", "gpus: [v100]\ntorch: {version: 2.13.0, index: cu126}\n");
	/* The claim is inferred from the previous release. */
	comes_to("(SB0259)", "gpus: [v100]\ntorch: {version: 2.12.1, index: cu129}\n");
	comes_to("", "gpus: [t4]\ntorch: {version: 2.12.1, index: cu129}\n");
}

static void
gpus_and_extensions(void **state)
{
	(void)state;
	comes_to("SB0260", "gpus: [rtx5090]\ntorch: {version: 2.7.1, index: cu128}\n"
			   "extensions: [mamba-ssm==2.2.4]\n");
	comes_to("", "gpus: [rtx5090]\ntorch: {version: 2.7.1, index: cu128}\n"
		     "cuda: \"12.8\"\nextensions: [mamba-ssm==2.2.6.post3]\n");
	/* The release has code for the GPU, but only a newer nvcc compiles it. */
	comes_to("SB0260", "gpus: [rtx5090]\ntorch: {version: 2.7.1, index: cu128}\n"
			   "cuda: \"12.6\"\nextensions: [mamba-ssm==2.2.6.post3]\n");
	says("compiled with CUDA 12.6 and older",
	     "gpus: [rtx5090]\ntorch: {version: 2.7.1, index: cu128}\n"
	     "cuda: \"12.6\"\nextensions: [mamba-ssm==2.2.6.post3]\n");
	comes_to("SB0260", "gpus: [v100]\ntorch: {version: 2.9.1, index: cu128}\n"
			   "extensions: [mamba-ssm==2.3.2.post1]\n");
	comes_to("SB0260", "gpus: [t4]\n" STACK "extensions: [flash-attn==2.7.3]\n");
	comes_to("SB0260", "gpus: [t4]\n" STACK "extensions: [flash-attn==2.5.8]\n");
	comes_to("SB0260", "gpus: [t4]\n" STACK "packages: [flash-attn==2.5.8]\n");
	comes_to("", "gpus: [l4]\n" STACK "extensions: [flash-attn==2.7.3]\n");
}

/* The first and the last releases with code for a GPU. */
static void
bounds_of_releases(void **state)
{
	static const struct {
		const char *gpu, *index, *release;
		bool runs;
	} all[] = {
		{ "rtx5090", "cu128", "causal-conv1d==1.5.2", false },
		{ "rtx5090", "cu128", "causal-conv1d==1.5.3.post1", true },
		{ "rtx5090", "cu128", "mamba-ssm==2.2.5", false },
		{ "rtx5090", "cu128", "mamba-ssm==2.2.6.post3", true },
		{ "b200", "cu128", "causal-conv1d==1.5.0.post8", false },
		{ "b200", "cu128", "causal-conv1d==1.5.1", true },
		{ "b200", "cu128", "mamba-ssm==2.2.4", false },
		{ "b200", "cu128", "mamba-ssm==2.2.5", true },
		{ "v100", "cu128", "mamba-ssm==2.3.1", true },
		{ "v100", "cu128", "mamba-ssm==2.3.2.post1", false },
		{ "v100", "cu128", "causal-conv1d==1.6.1", true },
		{ "v100", "cu128", "causal-conv1d==1.6.2.post1", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		comes_to(all[i].runs ? "" : "SB0260",
			 arena_printf(a,
				      "gpus: [%s]\ntorch: {version: 2.9.1, index: %s}\n"
				      "extensions: [%s]\n",
				      all[i].gpu, all[i].index, all[i].release));
}

static void
nvcc_and_what_is_compiled(void **state)
{
	(void)state;
	/* Hard-coded capabilities that CUDA 13 dropped. */
	comes_to("SB0261", "gpus: [a100]\ncuda: \"13.0\"\n"
			   "torch: {version: 2.9.1, index: cu130}\n"
			   "extensions: [causal-conv1d==1.5.2]\n");
	comes_to("SB0261", "gpus: [a100]\ncuda: \"13.0\"\n"
			   "torch: {version: 2.9.1, index: cu130}\n"
			   "extensions: [mamba-ssm==2.2.5]\n");
	comes_to("", "gpus: [a100]\ncuda: \"13.0\"\ntorch: {version: 2.9.1, index: cu130}\n"
		     "extensions: [causal-conv1d==1.5.3, mamba-ssm==2.2.6]\n");
	says("which the nvcc of CUDA 13.0 and newer does not support",
	     "gpus: [a100]\ncuda: \"13.0\"\ntorch: {version: 2.9.1, index: cu130}\n"
	     "extensions: [causal-conv1d==1.5.2]\n");
	/* It is compiled for the GPUs of the recipe. */
	comes_to("SB0261", "gpus: [h100]\ncuda: \"11.7\"\n"
			   "torch: {version: 2.0.1, index: cu118}\n"
			   "extensions: [torch-scatter==2.1.2]\n");
	comes_to("", "gpus: [h100]\ncuda: \"11.8\"\ntorch: {version: 2.0.1, index: cu118}\n"
		     "extensions: [torch-scatter==2.1.2]\n");
	comes_to("SB0261", "gpus: [rtx5090]\ncuda: \"12.6\"\n"
			   "torch: {version: 2.7.1, index: cu128}\nextensions: [somebody-elses]\n");
}

static void
single_packages(void **state)
{
	static const char apex[] =
		"extensions: [{name: apex, git: \"https://github.com/NVIDIA/apex.git\", "
		"ref: 705cba91fc26413d484f5ce2983427d840199a97}]\n";

	(void)state;
	comes_to("SB0262", arena_printf(a,
					"torch: {version: 2.4.0, index: cu121}\n"
					"cuda: \"12.4\"\n%s",
					apex));
	comes_to("", arena_printf(a, "torch: {version: 2.4.0, index: cu124}\ncuda: \"12.4\"\n%s",
				  apex));
	comes_to("SB0241", "torch: {version: 2.7.0, index: cu128}\n"
			   "packages: [bitsandbytes==0.45.2]\n");
	comes_to("", "torch: {version: 2.8.0, index: cu129}\npackages: [bitsandbytes==0.50.0]\n");
	comes_to("", "torch: {version: 2.8.0, index: cu128}\npackages: [bitsandbytes==0.50.0]\n");
}

/* --- compatible versions --- */

static void
mamba_and_its_friends(void **state)
{
	(void)state;
	comes_to("SB0243", STACK "extensions: [causal-conv1d==1.5.1, mamba-ssm==2.2.4]\n");
	comes_to("", STACK "extensions: [causal-conv1d==1.5.0.post8, mamba-ssm==2.2.4]\n");
	comes_to("SB0243", STACK "extensions: [causal-conv1d==1.4.0, mamba-ssm==2.2.5]\n");
	comes_to("", STACK "extensions: [causal-conv1d==1.5.2, mamba-ssm==2.2.5]\n");
	comes_to("SB0243", STACK "extensions: [causal-conv1d==1.4.0, mamba-ssm==1.1.4]\n");
	comes_to("", STACK "extensions: [causal-conv1d==1.1.3.post1, mamba-ssm==1.1.4]\n");
	comes_to("SB0243", STACK "extensions: [mamba-ssm==2.3.2]\n");
	comes_to("", STACK "extensions: [mamba-ssm==2.3.1]\n");
	comes_to("SB0243",
		 STACK "extensions: [mamba-ssm==2.2.4]\npackages: [transformers==5.0.0]\n");
	comes_to("", STACK "extensions: [mamba-ssm==2.2.4]\npackages: [transformers==4.57.6]\n");
	comes_to("SB0243", "torch: {version: 2.8.0, index: cu128}\npackages: [xformers==0.0.33]\n");
	comes_to("", "torch: {version: 2.9.0, index: cu128}\npackages: [xformers==0.0.33]\n");
}

/* Exact requirements in the metadata of a release apply to packages that the recipe names. */
static void
what_metadata_asks_for(void **state)
{
	(void)state;
	comes_to("SB0243", "torch: {version: 2.9.1, index: cu128}\n"
			   "extensions: [mamba-ssm==2.3.2.post1]\npackages: [tilelang==0.1.15]\n");
	comes_to("", "torch: {version: 2.9.1, index: cu128}\n"
		     "extensions: [mamba-ssm==2.3.2.post1]\npackages: [tilelang==0.1.8]\n");
	comes_to("", "torch: {version: 2.9.1, index: cu128}\n"
		     "extensions: [mamba-ssm==2.3.1]\npackages: [tilelang==0.1.15]\n");
}

static void
a_nightly_among_packages(void **state)
{
	(void)state;
	comes_to(
		"(SB0256)",
		"torch: {version: 2.4.0, index: cu124}\npython: \"3.11\"\n"
		"packages: [\"causal-conv1d @ https://example.com/"
		"causal_conv1d-1.4.0+cu122torch2.4cxx11abiFALSE-cp311-cp311-linux_x86_64.whl\"]\n");
}

/* The recipe itself sets the target architectures. */
static void
an_arch_list_of_the_recipe(void **state)
{
	static const char rest[] = "gpus: [rtx4090]\ncuda: \"11.7\"\n"
				   "torch: {version: 2.0.1, index: cu118}\n"
				   "extensions: [torch-scatter==2.1.2]\n";

	(void)state;
	comes_to("SB0261", rest);
	comes_to("", arena_printf(a, "%senv: {TORCH_CUDA_ARCH_LIST: \"8.6\"}\n", rest));
}

/* Commits and unlisted releases have unknown content and are not checked. */
static void
what_is_not_known_is_not_judged(void **state)
{
	(void)state;
	comes_to("", "gpus: [rtx5090]\ntorch: {version: 2.9.1, index: cu130}\ncuda: \"13.0\"\n"
		     "extensions: [causal-conv1d==1.6.1, {name: mamba-ssm, "
		     "git: \"https://github.com/state-spaces/mamba.git\", "
		     "ref: 0123456789012345678901234567890123456789}]\n");
	comes_to("", STACK "extensions: [causal-conv1d==1.5.0.post9]\n");
	comes_to("", STACK "extensions: [somebody-elses==1.0]\n");
}

/* --- unpinned versions --- */

static void
newest_for(const char *gpu, const char *codes)
{
	const struct solution *solution = solved(arena_printf(
		a, "gpus: [%s]\ntorch: \"*\"\nextensions: [causal-conv1d, mamba-ssm]\n", gpu));

	assert_string_equal(codes, codes_of(solution));
	assert_string_equal("2.13.0", chosen(solution, "torch"));
	assert_string_equal("1.7.0", chosen(solution, "causal-conv1d"));
	assert_string_equal("2.3.2.post1", chosen(solution, "mamba-ssm"));
}

static void
the_newest_stack_of_each_gpu(void **state)
{
	(void)state;
	newest_for("t4", "");
	newest_for("a100", "");
	newest_for("h100", "");
	newest_for("rtx5090", "(SB0250)");
	newest_for("b200", "(SB0250)");
}

static void
the_newest_that_goes_with_the_rest(void **state)
{
	const struct solution *solution = solved(STACK "extensions: [causal-conv1d, mamba-ssm]\n");

	(void)state;
	assert_string_equal("", codes_of(solution));
	assert_string_equal("1.7.0", chosen(solution, "causal-conv1d"));
	assert_string_equal("2.3.1", chosen(solution, "mamba-ssm"));
	/* mamba-ssm 2.3.2 no longer supports a V100. */
	solution = solved("gpus: [v100]\ntorch: \"*\"\nextensions: [causal-conv1d, mamba-ssm]\n");
	assert_string_equal("", codes_of(solution));
	assert_string_equal("1.6.1", chosen(solution, "causal-conv1d"));
	assert_string_equal("2.3.1", chosen(solution, "mamba-ssm"));
	/* flash-attn has a source archive on PyPI. */
	solution = solved(STACK "extensions: [flash-attn]\n");
	assert_string_equal("2.8.3.post2", chosen(solution, "flash-attn"));
	assert_string_equal("sdist", chosen(solution, "flash-attn source"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_source_archive_without_its_source),
		TEST(what_pypi_never_had),
		TEST(what_is_asked_of_python_and_torch),
		TEST(wheels_of_a_release),
		TEST(wheels_of_a_release_and_the_system),
		TEST(wheels_as_the_knowledge_lists_them),
		TEST(wheels_by_name),
		TEST(wheels_among_packages),
		TEST(wheels_of_a_nightly),
		TEST(gpus_and_torch),
		TEST(gpus_and_extensions),
		TEST(bounds_of_releases),
		TEST(nvcc_and_what_is_compiled),
		TEST(single_packages),
		TEST(mamba_and_its_friends),
		TEST(what_metadata_asks_for),
		TEST(a_nightly_among_packages),
		TEST(an_arch_list_of_the_recipe),
		TEST(what_is_not_known_is_not_judged),
		TEST(the_newest_stack_of_each_gpu),
		TEST(the_newest_that_goes_with_the_rest),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

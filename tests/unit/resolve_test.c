/* resolve/: selects and rejects torch, its build, CUDA, systems, Python, drivers and packages. */
#include "resolve_help.h"

#define STACK "torch: {version: 2.2.2, index: cu121}\n"
#define COMPILED "extensions: [causal-conv1d==1.4.0]\n"

static void
chooses(const char *key, const char *text, const char *recipe)
{
	const char *seen = chosen(solved(recipe), key);

	if (strcmp(text, seen) != 0)
		print_error("%s of\n%s\n", key, recipe);
	assert_string_equal(text, seen);
}

/* Checks the texts of the pins that the first error names. */
static void
names_pins(const char *texts, const char *recipe)
{
	const struct solution *solution = solved(recipe);
	struct buf b = BUF(a);

	assert_true(solution->errors.n > 0);
	for (size_t i = 0; i < solution->errors.at[0].found.pins.n; i++)
		buf_printf(&b, "%s%s", b.n ? ", " : "",
			   solution->requests[solution->errors.at[0].found.pins.at[i]].text);
	assert_string_equal(texts, buf_text(&b));
}

/* --- selected versions --- */

static void
a_build_for_the_cuda_of_the_recipe(void **state)
{
	(void)state;
	chooses("torch build", "cu121", "torch: 2.2.2\n");
	chooses("torch build", "cu118", "cuda: \"11.8\"\ntorch: 2.2.2\n");
	chooses("torch build", "cu124", "cuda: \"12.4\"\ntorch: 2.5.1\n");
	chooses("torch build", "cu121",
		"base: nvidia/cuda:12.4.1-devel-ubuntu22.04\ntorch: 2.2.2\n");
	chooses("torch build", "cu130", "torch: {version: 2.11.0, index: pypi}\n");
	chooses("torch build", "cpu", "torch: {version: 2.2.2, index: cpu}\n");
}

static void
a_torch_that_has_such_a_build(void **state)
{
	(void)state;
	chooses("torch", "2.6.0", "torch: \"*\"\ncuda: \"12.4\"\n");
	chooses("torch", "2.2.2", "torch: \"*\"\npackages: [torchvision==0.17.2]\n");
	chooses("torch", "2.15.0", "torch: \"*\"\n");
}

static void
the_newest_toolkit_with_an_image(void **state)
{
	(void)state;
	chooses("cuda", "12.1.1", STACK COMPILED);
	chooses("cuda", "12.4.1", "cuda: \"12.4\"\ntorch: 2.5.1\n" COMPILED);
	chooses("cuda", "12.2.1", "cuda: 12.2.1\ntorch: 2.2.2\n" COMPILED);
	chooses("cuda", "", "base: ubuntu:22.04\n" STACK);
}

static void
a_system_with_the_python_that_fits(void **state)
{
	(void)state;
	chooses("os", "ubuntu22.04", "python: \"3.11\"\n" STACK COMPILED);
	chooses("os", "ubuntu22.04", "python: \"3.10\"\n" STACK COMPILED);
	chooses("os", "ubuntu24.04", "torch: {version: 2.11.0, index: cu130}\n");
	chooses("python", "3.12", "torch: {version: 2.11.0, index: cu130}\n");
	chooses("python", "3.11", STACK COMPILED);
	chooses("python", "3.12", "base: ubuntu:24.04\n" STACK);
	chooses("python", "3.11", "base: ubuntu:22.04\n" STACK);
	chooses("python", "3.10", "base: ubuntu:22.04\npython: {from: os}\n" STACK);
	chooses("os", "debian12",
		"cuda: {version: \"13.0\", from: wheels}\npython: \"3.11\"\n"
		"torch: {version: 2.11.0, index: pypi}\n"
		"extensions: [causal-conv1d==1.6.2.post1]\n");
}

static void
the_pairs_of_a_torch(void **state)
{
	(void)state;
	chooses("torchvision", "0.17.2", STACK "packages: [torchvision]\n");
	chooses("torchaudio", "2.2.2", STACK "packages: [torchaudio]\n");
	chooses("torchvision", "0.29.1", "torch: 2.14.1\npackages: [torchvision]\n");
	chooses("triton", "2.2.0", "python: \"3.11\"\n" STACK "packages: [triton]\n");
}

/* --- rejected recipes --- */

static void
torch_and_its_builds(void **state)
{
	(void)state;
	comes_to("SB0228", "torch: {version: 2.2.2, index: cu124}\n");
	comes_to("SB0228", "torch: 2.2.2+cu124\n");
	comes_to("(SB0229)", "torch: {version: 2.15.0, index: cu126}\n");
	comes_to("", "torch: {version: 2.6.0, index: rocm6.2}\n");
	comes_to("", "torch: {version: 2.2.2, index: \"https://wheels.example.org/cu124\"}\n");
	comes_to("SB0228",
		 "torch: {version: 2.2.2, index: \"https://download.pytorch.org/whl/cu124\"}\n");
	comes_to("", "torch: {version: 9.9.9, index: cu140}\n");
}

static void
python_and_wheels(void **state)
{
	(void)state;
	comes_to("SB0242", "python: \"3.13\"\n" STACK);
	names_pins("2.2.2, 3.13", "python: \"3.13\"\n" STACK);
	comes_to("", "python: \"3.12\"\n" STACK);
	comes_to("", "python: \"3.13\"\n"
		     "torch: {version: 2.2.2, index: \"https://wheels.example.org/cpu\"}\n");
	comes_to("SB0242", "python: \"3.13\"\ntorch: 2.6.0\npackages: [\"numpy<2\"]\n");
	says("numpy has wheels for Python 3.13 from 2.1.3 on",
	     "python: \"3.13\"\ntorch: 2.6.0\npackages: [\"numpy==1.21.6\"]\n");
	comes_to("", "python: \"3.12\"\ntorch: 2.6.0\npackages: [\"numpy==1.26.0\"]\n");
	comes_to("SB0242", "python: \"3.8\"\ntorch: 2.2.2\npackages: [numpy==1.25.2]\n");
	comes_to("", "python: \"3.13t\"\ntorch: 2.7.0\n");
}

static void
numpy_and_setuptools(void **state)
{
	(void)state;
	comes_to("SB0248", STACK "packages: [\"numpy>=2\"]\n");
	comes_to("SB0248", STACK "packages: [numpy==2.1.0]\n");
	comes_to("SB0248", STACK "packages: [\"numpy>=9\"]\n");
	comes_to("SB0242", "python: \"3.12\"\n" STACK "packages: [\"numpy<1.20\"]\n");
	comes_to("", STACK "packages: [numpy]\n");
	comes_to("", STACK "packages: [\"numpy<2\", numpy==1.26.0]\n");
	comes_to("SB0247", "torch: 2.13.0\npackages: [\"setuptools<70\"]\n");
	comes_to("SB0247", "torch: 2.11.0\npackages: [\"setuptools>=82\"]\n");
	comes_to("SB0247", "torch: 2.1.2\npackages: [setuptools==70.1.0]\n" COMPILED);
	comes_to("", "torch: 2.1.2\npackages: [setuptools==70.1.0]\n");
	comes_to("SB0247", "torch: 2.13.0\npackages: [\"setuptools<60\"]\n");
}

static void
companions(void **state)
{
	(void)state;
	comes_to("SB0243", STACK "packages: [torchvision==0.18.0]\n");
	comes_to("", STACK "packages: [torchvision==0.17.2+cu121]\n");
	comes_to("SB0243", STACK "packages: [torchvision==0.15.0]\n");
	comes_to("SB0243", "torch: 2.13.0\npackages: [torchvision==0.29.1]\n");
	comes_to("", "torch: 2.15.0\npackages: [torchvision==0.29.1]\n");
	comes_to("SB0243", "torch: 2.10.0\npackages: [torchaudio==2.11.0]\n");
	comes_to("", "torch: 2.12.0\npackages: [torchaudio==2.11.0]\n");
}

static void
triton_of_torch(void **state)
{
	(void)state;
	comes_to("SB0243", STACK "packages: [triton==3.0.0]\n");
	comes_to("SB0243", "python: \"3.12\"\n" STACK "packages: [triton==3.0.0]\n");
	comes_to("", "torch: {version: 2.2.2, index: cpu}\npackages: [triton==3.0.0]\n");
	comes_to("", STACK "packages: [triton==2.2.0]\n");
}

static void
cuda_and_what_is_compiled(void **state)
{
	static const char *const other = "base: nvidia/cuda:12.1.1-devel-ubuntu22.04\n"
					 "torch: {version: 2.2.2, index: cu118}\n";

	(void)state;
	comes_to("SB0244", arena_printf(a, "%s%s", other, COMPILED));
	names_pins("cu118, nvidia/cuda:12.1.1-devel-ubuntu22.04",
		   arena_printf(a, "%s%s", other, COMPILED));
	comes_to("", other);
	comes_to("", "base: nvidia/cuda:12.4.1-devel-ubuntu22.04\n" STACK COMPILED);
	comes_to("SB0224", "base: nvidia/cuda:12.1.1-devel-ubuntu22.04\ncuda: \"12.4\"\n" STACK);
	comes_to("", "base: nvidia/cuda:12.1.1-devel-ubuntu22.04\ncuda: \"12.1\"\n" STACK);
	comes_to("SB0222", "cuda: \"12.7\"\ntorch: 2.6.0\n");
	/* This fact rejects an unpinned CUDA release; a pinned one is reported by another rule. */
	says("PyPI has wheels of nvcc from CUDA 13.0 on",
	     "base: ubuntu:22.04\ncuda: {from: wheels}\n"
	     "torch: {version: 2.5.1, index: cu124}\n" COMPILED);
}

static void
compilers(void **state)
{
	static const char *const newer =
		"base: nvidia/cuda:12.8.1-devel-ubuntu24.04\nenv: {CC: gcc-14, CXX: g++-14}\n"
		"extensions: [causal-conv1d==1.6.2.post1]\n";

	(void)state;
	comes_to("SB0245", "base: nvidia/cuda:12.1.1-devel-ubuntu22.04\n"
			   "env: {CC: gcc-13, CXX: g++-13}\n" STACK COMPILED);
	comes_to("", "base: nvidia/cuda:12.1.1-devel-ubuntu22.04\n"
		     "env: {CC: gcc-12, CXX: g++-12}\n" STACK COMPILED);
	comes_to("", "base: nvidia/cuda:12.1.1-devel-ubuntu22.04\n"
		     "env: {CC: gcc-13, CXX: g++-13}\n" STACK);
	comes_to("SB0245", arena_printf(a, "%storch: 2.11.0+cu128\n", newer));
	says("torch 2.11.0 with CUDA 12.8 supports gcc 6.0.0 or newer, but below 14.0",
	     arena_printf(a, "%storch: 2.11.0+cu128\n", newer));
	comes_to("", arena_printf(a, "%storch: 2.10.0+cu128\n", newer));
	comes_to("SB0245",
		 "base: debian:13-slim\ncuda: {version: \"12.1\", from: apt}\n" STACK COMPILED);
	/* Its glibc is too new for nvcc from any source. */
	comes_to("SB0245",
		 "base: debian:13-slim\ncuda: {version: \"12.1\", from: host}\n" STACK COMPILED);
	comes_to("SB0245",
		 "base: ubuntu:24.04\ncuda: {version: \"12.1\", from: host}\n" STACK COMPILED);
	comes_to("", "cuda: {version: \"12.1\", from: host}\n" STACK COMPILED);
}

static void
libraries_and_drivers(void **state)
{
	(void)state;
	comes_to("SB0246", "base: ubuntu:18.04\npython: \"3.10\"\ntorch: 2.7.0+cu118\n");
	comes_to("", "base: ubuntu:18.04\npython: \"3.10\"\ntorch: 2.4.1+cu118\n");
	comes_to("SB0249", "driver: \"470.57.02\"\nbase: ubuntu:22.04\n" STACK);
	comes_to("", "driver: \"525.60.13\"\nbase: ubuntu:22.04\n" STACK);
	chooses("torch build", "cu118",
		"driver: \"470.57.02\"\nbase: ubuntu:22.04\n"
		"torch: 2.2.2\n");
	comes_to("SB0249", "driver: \"440.1\"\nbase: ubuntu:22.04\ntorch: 2.2.2\n");
	comes_to("", "driver: \"440.1\"\nbase: ubuntu:22.04\ntorch: 2.2.2+cpu\n");
	comes_to("SB0249", "driver: \"535.54\"\nbase: nvidia/cuda:12.4.1-devel-ubuntu22.04\n"
			   "torch: 2.5.1+cu124\n");
	comes_to("", "driver: \"535.54\"\nbase: nvidia/cuda:12.4.1-devel-ubuntu22.04\n"
		     "env: {NVIDIA_DISABLE_REQUIRE: \"1\"}\ntorch: 2.5.1+cu124\n");
}

static void
pairings(void **state)
{
	(void)state;
	comes_to("SB0243", "torch: 2.4.1\npackages: [transformers==5.20.0]\n");
	comes_to("", "torch: 2.4.1\npackages: [transformers]\n");
	comes_to("SB0243",
		 "python: \"3.13\"\ntorch: 2.5.1\npackages: [typing-extensions==4.9.0]\n");
	comes_to("", "python: \"3.12\"\ntorch: 2.5.1\npackages: [typing-extensions==4.9.0]\n");
	comes_to("SB0243",
		 "python: \"3.13\"\ntorch: 2.5.1\npackages: [\"typing-extensions<4.10\"]\n");
	comes_to("", "torch: 2.4.1\npackages: [\"transformers>=9\"]\n");
	comes_to("(SB0250)",
		 "torch: 2.5.1\nextensions: [{name: natten, version: 0.21.7, from: sdist}]\n");
}

static void
independent_conflicts_are_two(void **state)
{
	(void)state;
	comes_to("SB0248 SB0244", "torch: {version: 2.2.2, index: cu121}\n"
				  "packages: [\"numpy>=2\"]\n"
				  "base: nvidia/cuda:11.8.0-devel-ubuntu22.04\n" COMPILED);
}

/* An incomplete search is reported as SB0265, and not as a success. */
static void
a_search_that_is_given_up_is_told(void **state)
{
	const struct recipe *r =
		one("base: debian:12-slim\ntorch: 2.2.2\nextensions: [causal-conv1d, mamba-ssm]\n");
	struct diags told;
	bool found = false;

	(void)state;
	assert_false(resolve_solve(a, facts, r, 0)->gave_up);
	told = DIAGS(told, a);
	assert_true(resolve_solve(a, facts, r, 3)->gave_up);
	solution_report(&told, resolve_solve(a, facts, r, 3), false);
	for (const struct diag *d = told.head; d; d = d->next)
		found |= !strcmp(code_table[d->code].id, "SB0265");
	assert_true(found);
	assert_true(told.errors > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_build_for_the_cuda_of_the_recipe),
		TEST(a_torch_that_has_such_a_build),
		TEST(the_newest_toolkit_with_an_image),
		TEST(a_system_with_the_python_that_fits),
		TEST(the_pairs_of_a_torch),
		TEST(torch_and_its_builds),
		TEST(python_and_wheels),
		TEST(numpy_and_setuptools),
		TEST(companions),
		TEST(triton_of_torch),
		TEST(cuda_and_what_is_compiled),
		TEST(compilers),
		TEST(libraries_and_drivers),
		TEST(pairings),
		TEST(independent_conflicts_are_two),
		TEST(a_search_that_is_given_up_is_told),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

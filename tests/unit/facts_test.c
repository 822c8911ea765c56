/* facts/: torch, CUDA, images, GPUs, systems; compared by hand with the named sources. */
#include "facts_help.h"

/* --- torch --- */

static void
torch_222(void **state)
{
	const struct torch_release *t = facts_torch(f, "2.2.2");
	const struct torch_variant *v;

	(void)state;
	assert_non_null(t);
	assert_string_equal(joined(t->pythons), "3.8 3.9 3.10 3.11 3.12");
	assert_string_equal(t->requires_python, ">=3.8.0");
	assert_string_equal(t->torchvision, "0.17.2");
	assert_string_equal(t->torchaudio, "2.2.2");
	assert_string_equal(t->triton, "triton==2.2.0");
	assert_non_null(strstr(t->triton_marker, "python_version < \"3.12\""));
	assert_null(t->setuptools);
	assert_null(t->setuptools_build);
	assert_int_equal(t->numpy2, TRI_NO);
	assert_null(t->cuda_toolkit);
	assert_string_equal(t->cxx_std, "c++17");
	assert_int_equal(t->nvariants, 3);
	v = torch_variant(t, "cu121");
	assert_true(v->on_index);
	assert_string_equal(facts_torch_index(f, a, v->tag),
			    "https://download.pytorch.org/whl/cu121");
	assert_string_equal(v->cuda, "12.1");
	assert_string_equal(v->cudnn, "8.9.2.26");
	assert_int_equal(v->cxx11abi, TRI_NO);
	assert_string_equal(v->glibc_min, "2.17");
	assert_string_equal(joined(v->archs), "5.0 6.0 7.0 7.5 8.0 8.6 9.0");
	assert_null(v->ptx);
	assert_true(v->on_pypi);
	assert_ptr_equal(v, torch_variant_on_pypi(t));
	assert_null(torch_variant(t, "cpu")->cuda);
	assert_null(torch_variant(t, "cu124"));
}

static void
torch_2110_pins_its_toolkit(void **state)
{
	const struct torch_release *t = facts_torch(f, "2.11.0");
	const struct torch_variant *v = torch_variant_on_pypi(t);

	(void)state;
	assert_string_equal(v->tag, "cu130");
	assert_string_equal(joined(v->archs), "7.5 8.0 8.6 9.0 10.0 12.0");
	assert_null(v->ptx);
	assert_int_equal(v->cxx11abi, TRI_YES);
	assert_string_equal(v->glibc_min, "2.28");
	assert_string_equal(v->cudnn, "9.19.0.56");
	assert_string_equal(t->cuda_toolkit, "13.0.2");
	assert_string_equal(t->setuptools, "setuptools<82");
	assert_string_equal(t->triton, "triton==3.6.0");
	assert_null(torch_variant(t, "cu128")->ptx);
	assert_null(torch_variant(t, "cu129")->cudnn);
}

static void
torch_2150_is_known_as_far_as_its_wheel(void **state)
{
	const struct torch_release *t = facts_torch(f, "2.15.0");
	const struct torch_variant *v = torch_variant_on_pypi(t);

	(void)state;
	assert_int_equal(t->nvariants, 1);
	assert_string_equal(v->cuda, "13.2.2");
	assert_int_equal(v->archs.n, 6);
	assert_string_equal(t->torchvision, "0.29.2");
	assert_null(t->torchaudio);
	assert_string_equal(t->triton, "triton~=3.9.0");
	assert_string_equal(t->setuptools, "setuptools>=77.0.3");
	assert_string_equal(t->cxx_std, "c++20");
	assert_false(has(t->pythons, "3.10"));
	assert_true(has(t->pythons, "3.15t"));
}

static void
torch_others(void **state)
{
	const struct torch_release *old = facts_torch(f, "1.13.1");

	(void)state;
	assert_null(old->triton);
	assert_string_equal(old->setuptools_build, "setuptools!=70.*,<82");
	assert_string_equal(old->cxx_std, "c++14");
	assert_int_equal(torch_variant(facts_torch(f, "2.6.0"), "cu126")->cxx11abi, TRI_YES);
	assert_int_equal(torch_variant(facts_torch(f, "2.6.0"), "cu124")->cxx11abi, TRI_NO);
	assert_int_equal(facts_torch(f, "2.3.0")->numpy2, TRI_YES);
	assert_string_equal(torch_variant_on_pypi(facts_torch(f, "2.8.0"))->tag, "cu128");
	assert_true(has(torch_variant(facts_torch(f, "2.8.0"), "cu128")->archs, "7.0"));
	assert_string_equal(facts_torch(f, "2.0.0")->torchaudio, "2.0.1");
	/* Only PyPI has it, so there is no index to name. */
	assert_false(torch_variant(facts_torch(f, "2.0.1"), "cu117")->on_index);
	assert_string_equal(facts_torch_index(f, a, "cu999"),
			    "https://download.pytorch.org/whl/cu999");
}

static void
torch_is_found_by_any_spelling_of_its_version(void **state)
{
	(void)state;
	assert_ptr_equal(facts_torch(f, "2.2.2+cu121"), facts_torch(f, "2.2.2"));
	assert_ptr_equal(facts_torch(f, "v2.2.2.0"), facts_torch(f, "2.2.2"));
	assert_ptr_equal(facts_torch(f, "2.2"), facts_torch(f, "2.2.0"));
	assert_null(facts_torch(f, "2.99.0"));
	assert_null(facts_torch(f, ""));
	assert_null(facts_torch(f, "nightly"));
}

static void
torch_is_listed_oldest_first(void **state)
{
	size_t n;
	const struct torch_release *const *all = facts_torch_all(f, &n);

	(void)state;
	assert_int_equal(n, 40);
	assert_string_equal(all[0]->version, "1.8.0");
	assert_string_equal(all[n - 1]->version, "2.15.0");
	for (size_t i = 1; i < n; i++)
		assert_true(version_cmp(version_parse(a, all[i - 1]->version),
					version_parse(a, all[i]->version)) < 0);
	assert_ptr_equal(all[9], facts_torch(f, all[9]->version));
}

/* --- CUDA and its images --- */

static void
cuda_by_release_and_by_series(void **state)
{
	const struct cuda_toolkit *t = facts_cuda(f, "12.1");

	(void)state;
	assert_string_equal(t->version, "12.1.1");
	assert_string_equal(t->driver_min, "530.30.02");
	assert_string_equal(t->driver_compat, "525.60.13");
	assert_int_equal(t->gcc_min, 6);
	assert_int_equal(t->gcc_max, 12);
	assert_string_equal(joined(t->image_os), "ubuntu20.04 ubuntu22.04");
	assert_true(has(t->archs, "9.0") && has(t->archs, "5.0") && !has(t->archs, "3.7"));
	assert_false(t->wheels);
	assert_null(t->wheels_pin);
	assert_ptr_equal(facts_cuda(f, "12.1.1"), t);
	assert_int_equal(facts_cuda(f, "12.3.2")->gcc_max, 12);
	assert_int_equal(facts_cuda(f, "12.4.0")->gcc_max, 13);
	assert_int_equal(facts_cuda(f, "13.4.3")->gcc_max, 16);
	assert_int_equal(facts_cuda(f, "11.8.0")->gcc_min, 0);
	assert_string_equal(facts_cuda(f, "11.8.0")->driver_compat, "450.80.02");
	assert_null(facts_cuda(f, "13.4.1")->driver_min);
	assert_null(facts_cuda(f, "12.7"));
	assert_null(facts_cuda(f, "12"));
}

static void
cuda_out_of_wheels(void **state)
{
	const struct cuda_toolkit *t = facts_cuda(f, "13.0.2");

	(void)state;
	assert_true(t->wheels);
	assert_string_equal(t->wheels_pin,
			    "cuda-toolkit[nvcc,nvvm,crt,cccl,cudart,profiler]==13.0.2");
	assert_true(has(t->archs, "12.1") && !has(t->archs, "7.0"));
	assert_false(has(facts_cuda(f, "12.8.0")->archs, "10.3"));
	assert_true(has(facts_cuda(f, "12.9.0")->archs, "10.3"));
}

static enum tri
image(const char *tag, const char **why)
{
	const char *source;
	enum tri can = facts_image(f, a, "nvidia/cuda", tag, why, &source);

	assert_true(can != TRI_NO || (*why && source));
	return can;
}

static void
images_that_can_be_and_cannot(void **state)
{
	const char *why;

	(void)state;
	assert_int_equal(image("12.1.1-devel-ubuntu22.04", &why), TRI_YES);
	assert_int_equal(image("12.1.1-cudnn8-devel-ubuntu22.04", &why), TRI_YES);
	assert_int_equal(image("13.3.1-cudnn-devel-ubuntu26.04", &why), TRI_YES);
	assert_int_equal(image("12.1.1-runtime-ubuntu22.04", &why), TRI_UNKNOWN);
	assert_int_equal(image("12.9.2-devel-ubuntu22.04", &why), TRI_YES);
	assert_int_equal(image("latest", &why), TRI_NO);
	assert_int_equal(image("12.7.0-devel-ubuntu22.04", &why), TRI_NO);
	assert_int_equal(image("10.2-devel-ubuntu18.04", &why), TRI_NO);
	assert_int_equal(image("12.1.0-devel-ubuntu18.04", &why), TRI_NO);
	assert_int_equal(image("12.0.1-devel-ubuntu18.04", &why), TRI_YES);
	assert_int_equal(image("13.0.0-devel-ubuntu20.04", &why), TRI_NO);
	assert_int_equal(image("11.7.0-devel-ubuntu22.04", &why), TRI_NO);
	assert_int_equal(image("12.4.1-devel-ubuntu24.04", &why), TRI_NO);
	/* The name of the cuDNN part changed twice. */
	assert_int_equal(image("12.4.1-cudnn8-devel-ubuntu22.04", &why), TRI_NO);
	assert_int_equal(image("12.1.1-cudnn-devel-ubuntu22.04", &why), TRI_NO);
	assert_int_equal(image("12.3.2-cudnn9-devel-ubuntu22.04", &why), TRI_YES);
	assert_int_equal(image("12.4.0-cudnn-devel-ubuntu22.04", &why), TRI_NO);
	assert_int_equal(facts_image(f, a, "docker.io/nvidia/cuda", "latest", &why, &why), TRI_NO);
	assert_int_equal(facts_image(f, a, "debian", "latest", &why, &why), TRI_UNKNOWN);
	assert_string_equal(facts_image_tag(f, a, facts_cuda(f, "12.1"), "devel", "ubuntu22.04"),
			    "nvidia/cuda:12.1.1-devel-ubuntu22.04");
}

static void
image_bases(void **state)
{
	struct image_name n;

	(void)state;
	n = facts_image_name(f, "ghcr.io/pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime");
	assert_string_equal(n.torch, "2.5.1");
	assert_string_equal(n.os, "ubuntu22.04");
	assert_string_equal(n.python, "3.11");
	assert_string_equal(n.flavour, "runtime");
	assert_false(n.own_torch);
	n = facts_image_name(f, "runpod/pytorch:1.0.2-cu1281-torch280-ubuntu2404");
	assert_string_equal(n.torch, "2.8.0");
	assert_string_equal(n.cuda, "12.8.1");
	assert_string_equal(n.os, "ubuntu24.04");
	assert_string_equal(n.flavour, "devel");
	n = facts_image_name(f, "nvcr.io/nvidia/pytorch:24.05-py3");
	assert_string_equal(n.torch, "2.4.0a0");
	assert_string_equal(n.cuda, "12.4.1");
	assert_string_equal(n.python, "3.10");
	assert_string_equal(n.os, "ubuntu22.04");
	assert_true(n.own_torch);
	assert_null(n.constraints);
	n = facts_image_name(f, "nvcr.io/nvidia/pytorch:25.08-py3");
	assert_string_equal(n.constraints, "/etc/pip/constraint.txt");
	assert_string_equal(n.numpy, "<2");
	/* The release's number is not that of torch. */
	assert_null(facts_image_name(f, "nvcr.io/nvidia/pytorch:27.01-py3").torch);
	/* The tag of a series moves to a newer system; that of a patch release stays. */
	assert_string_equal(facts_image_name(f, "python:3.11-slim").os, "debian13");
	assert_null(facts_image_name(f, "python:3.11.8-slim").os);
	assert_string_equal(facts_image_name(f, "python:3.12-alpine3.20").os, "alpine");
	assert_null(facts_image_name(f, "myhost/python:3.11-slim").python);
	assert_string_equal(facts_image_name(f, "rockylinux/rockylinux:9.3").os, "rockylinux9");
	assert_string_equal(
		facts_image_name(f, "registry.access.redhat.com/ubi9/python-311:1-72").os, "ubi9");
}

static void
image_names(void **state)
{
	struct image_name n = facts_image_name(f, "nvidia/cuda:12.1.0-cudnn8-devel-ubuntu22.04");

	(void)state;
	assert_string_equal(n.repository, "nvidia/cuda");
	assert_string_equal(n.cuda, "12.1.0");
	assert_string_equal(n.flavour, "devel");
	assert_string_equal(n.os, "ubuntu22.04");
	assert_true(n.cudnn);
	n = facts_image_name(f, "localhost:5000/x/y@sha256:00");
	assert_string_equal(n.repository, "localhost:5000/x/y");
	assert_null(n.tag);
	assert_string_equal(n.digest, "sha256:00");
	n = facts_image_name(f, "python:3.11.9-slim-bookworm");
	assert_string_equal(n.python, "3.11");
	assert_string_equal(n.os, "debian12");
	n = facts_image_name(f, "docker.io/library/debian:12.5-slim");
	assert_string_equal(n.os, "debian12");
	n = facts_image_name(f, "ubuntu:jammy-20240605");
	assert_string_equal(n.os, "ubuntu22.04");
	n = facts_image_name(f, "ubuntu:24.04");
	assert_string_equal(n.os, "ubuntu24.04");
	n = facts_image_name(f, "pytorch/pytorch:2.2.2-cuda12.1-cudnn8-devel");
	assert_string_equal(n.torch, "2.2.2");
	assert_string_equal(n.cuda, "12.1");
	assert_string_equal(n.python, "3.10");
	assert_null(n.os);
	n = facts_image_name(f, "runpod/pytorch:2.1.0-py3.10-cuda11.8.0-devel-ubuntu22.04");
	assert_string_equal(n.python, "3.10");
	assert_string_equal(n.cuda, "11.8.0");
	n = facts_image_name(f, "nvcr.io/nvidia/cuda:12.4.1-runtime-ubuntu22.04");
	assert_string_equal(n.cuda, "12.4.1");
	assert_string_equal(n.flavour, "runtime");
	n = facts_image_name(f, "mynvidia/cuda:12.4.1");
	assert_null(n.cuda);
	n = facts_image_name(
		f, "host.example:5000/mirror/nvidia/cuda:12.4.1-devel-ubuntu24.04@sha256:0");
	assert_string_equal(n.cuda, "12.4.1");
	assert_string_equal(n.os, "ubuntu24.04");
	/* Not a series: it may contain any 3.x. */
	assert_null(facts_image_name(f, "python:3").python);
	assert_string_equal(facts_image_name(f, "python:3-slim-trixie").os, "debian13");
	n = facts_image_name(f, "");
	assert_string_equal(n.repository, "");
	facts_image_name(f, ":::@@--");
}

/* --- GPUs, Modal, systems, Pythons --- */

static void
gpus_by_any_spelling(void **state)
{
	static const char *const spellings[] = { "RTX 4090", "rtx4090", "rtx-4090", "Rtx_4090",
						 "NVIDIA GeForce RTX 4090" };
	const struct gpu *g = facts_gpu(f, "RTX 4090");

	(void)state;
	for (size_t i = 0; i < sizeof(spellings) / sizeof(*spellings); i++)
		assert_ptr_equal(facts_gpu(f, spellings[i]), g);
	assert_string_equal(g->cc, "8.9");
	assert_string_equal(g->arch, "Ada");
	assert_string_equal(g->id, "rtx4090");
	assert_int_equal(g->memory_gb, 24);
	assert_string_equal(facts_gpu(f, "a100-80gb")->cc, "8.0");
	assert_string_equal(facts_gpu(f, "t4")->name, "Tesla T4");
	assert_string_equal(facts_gpu(f, "DGX Spark")->cc, "12.1");
	assert_string_equal(facts_gpu(f, "b300")->cc, "10.3");
	assert_string_equal(facts_gpu(f, "RTX 5090")->cc, "12.0");
	assert_string_equal(facts_gpu(f, "h200")->cc, "9.0");
	assert_string_equal(facts_gpu(f, "rtx4080super")->name, "RTX 4080 SUPER");
	assert_string_equal(facts_gpu(f, "rtx4080")->name, "RTX 4080");
	assert_string_equal(facts_gpu(f, "rtx3070ti")->cc, "8.6");
	assert_string_equal(facts_gpu(f, "titanrtx")->cc, "7.5");
	assert_string_equal(facts_gpu(f, "gtx1660")->name, "GTX 1660");
	assert_string_equal(facts_gpu(f, "a4500")->cc, "8.6");
	assert_string_equal(facts_gpu(f, "NVIDIA Thor")->cc, "11.0");
	assert_string_equal(facts_gpu(f, "jetson-thor")->cc, "11.0");
	assert_null(facts_gpu(f, "rtx"));
	assert_null(facts_gpu(f, ""));
	assert_true(facts_cc(f, "9.0") && facts_cc(f, "3.7") && !facts_cc(f, "9.1"));
	assert_int_equal(facts_gpu_names(f, a).n, 138);
}

static void
modal(void **state)
{
	const struct modal_limits *m = facts_modal(f);
	size_t n;

	(void)state;
	assert_int_equal(m->timeout_min_s, 10);
	assert_int_equal(m->timeout_max_s, 86400);
	assert_int_equal(m->scaledown_min_s, 2);
	assert_int_equal(m->scaledown_max_s, 3600);
	assert_string_equal(m->builder_default, "2025.06");
	assert_true(has(m->builders, "2026.10"));
	assert_true(has(facts_modal_pythons(f, "2025.06"), "3.10"));
	assert_false(has(facts_modal_pythons(f, "2026.10"), "3.10"));
	assert_true(has(facts_modal_pythons(f, "2026.10"), "3.15"));
	assert_int_equal(facts_modal_pythons(f, "2019.01").n, 0);
	assert_string_equal(facts_modal_builder_client(f, "2026.10"), "1.6.3");
	assert_null(facts_modal_builder_client(f, "2025.06"));
	assert_int_equal(facts_modal_gpu(f, "a10")->count_max, 4);
	assert_int_equal(facts_modal_gpu(f, "A100-80GB")->memory_gb, 80);
	assert_string_equal(joined(facts_modal_gpu(f, "B200+")->ccs), "10.0 10.3");
	assert_string_equal(joined(facts_modal_gpu(f, "h100!")->ccs), "9.0");
	assert_null(facts_modal_gpu(f, "A100:2"));
	assert_null(facts_modal_gpu(f, "V100"));
	assert_true(facts_modal_gpu(f, "T4")->size_rank < facts_modal_gpu(f, "H100")->size_rank);
	assert_string_equal(facts_modal_gpus(f, &n)[0].name, "T4");
}

static void
systems_and_pythons(void **state)
{
	const struct os_release *o = facts_os(f, "debian12");
	const struct python_build *p = facts_standalone_python(f, "3.11", "x86_64");

	(void)state;
	assert_string_equal(o->python, "3.11");
	assert_string_equal(joined(o->python_apt), "python3 python3-venv python3-dev");
	assert_string_equal(o->gcc, "12.2");
	assert_string_equal(o->glibc, "2.36");
	assert_false(o->deadsnakes);
	assert_string_equal(facts_os(f, "ubuntu22.04")->python, "3.10");
	assert_string_equal(facts_os(f, "ubuntu24.04")->glibc, "2.39");
	assert_true(facts_os(f, "ubuntu22.04")->deadsnakes);
	assert_string_equal(facts_os(f, "debian13")->glibc, "2.41");
	assert_null(facts_os(f, "rockylinux8")->python);
	assert_null(facts_os(f, "ubuntu23.04"));

	assert_string_equal(p->version, "3.11.5");
	assert_string_equal(p->url,
			    "https://github.com/astral-sh/python-build-standalone/releases/"
			    "download/20230826/cpython-3.11.5+20230826-x86_64_v3-unknown-linux-"
			    "gnu-install_only.tar.gz");
	assert_int_equal(strlen(p->sha256), 64);
	assert_null(facts_standalone_python(f, "3.13", "x86_64")->sha256);
	p = facts_standalone_python(f, "3.11", "aarch64");
	assert_null(p->url);
	assert_non_null(p->uv);
	assert_non_null(facts_standalone_python(f, "3.9", "x86_64")->version);
	assert_null(facts_standalone_python(f, "3.7", "x86_64"));
	assert_null(facts_standalone_python(f, "2.7", "x86_64"));
	assert_true(has(facts_python_series(f), "3.14t"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(torch_222),
		TEST(torch_2110_pins_its_toolkit),
		TEST(torch_2150_is_known_as_far_as_its_wheel),
		TEST(torch_others),
		TEST(torch_is_found_by_any_spelling_of_its_version),
		TEST(torch_is_listed_oldest_first),
		TEST(cuda_by_release_and_by_series),
		TEST(cuda_out_of_wheels),
		TEST(images_that_can_be_and_cannot),
		TEST(image_bases),
		TEST(image_names),
		TEST(gpus_by_any_spelling),
		TEST(modal),
		TEST(systems_and_pythons),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("facts", tests, NULL, NULL);
}

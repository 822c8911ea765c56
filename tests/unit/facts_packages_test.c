/* facts/: extensions, packages, costs; every entry can be read and shown. */
#include "facts/internal.h"

#include "facts_help.h"

/* --- extensions and packages --- */

static void
causal_conv1d(void **state)
{
	const struct extension *e = facts_extension(f, "Causal_Conv1d");
	const struct extension_release *r = extension_release(e, "1.4.0");

	(void)state;
	assert_string_equal(e->force_build_env, "CAUSAL_CONV1D_FORCE_BUILD");
	assert_string_equal(joined(e->imports), "causal_conv1d causal_conv1d_cuda");
	assert_string_equal(r->git_tag, "v1.4.0");
	assert_true(r->on_pypi);
	assert_int_equal(r->sdist_buildable, TRI_NO);
	assert_non_null(r->sdist_why);
	assert_int_equal(r->honours_arch_list, TRI_NO);
	assert_string_equal(joined(r->archs), "5.3 6.2 7.0 7.2 8.0 8.7 9.0");
	assert_int_equal(r->run_requires.n, 0);
	assert_true(has(r->build_requires, "ninja"));
	assert_null(r->cxx_std);
	assert_ptr_equal(extension_release(e, "v1.4.0"), r);
	assert_int_equal(extension_release(e, "1.5.1")->sdist_buildable, TRI_NO);
	assert_int_equal(extension_release(e, "1.5.2")->sdist_buildable, TRI_YES);
	assert_int_equal(extension_release(e, "1.7.0")->sdist_buildable, TRI_YES);
	assert_null(extension_release(e, "1.7.0")->git_tag);
	assert_false(extension_release(e, "1.5.4")->on_pypi);
	assert_false(has(extension_release(e, "1.6.2.post1")->archs, "7.0"));
	assert_true(has(extension_release(e, "1.5.3.post1")->archs, "12.0"));
	assert_null(extension_release(e, "9.9"));
}

static void
mamba_ssm(void **state)
{
	const struct extension *e = facts_extension(f, "mamba-ssm");
	const struct extension_release *r = extension_release(e, "2.2.2");

	(void)state;
	assert_string_equal(e->git, "https://github.com/state-spaces/mamba.git");
	assert_string_equal(e->force_build_env, "MAMBA_FORCE_BUILD");
	assert_string_equal(joined(e->extra_env), "MAMBA_KEEP_CUDA_BUILD=TRUE");
	assert_true(has(e->after, "causal-conv1d"));
	assert_true(e->triton_at_run_time);
	assert_int_equal(r->sdist_buildable, TRI_NO);
	assert_true(has(r->run_requires, "einops") && has(r->run_requires, "transformers<5"));
	assert_string_equal(r->cxx_std, "c++17");
	assert_string_equal(r->requires_python, ">=3.8");
	/* Its metadata lacks triton, which its code imports. */
	assert_true(has(extension_release(e, "2.2.4")->run_requires, "triton"));
	assert_int_equal(extension_release(e, "2.2.5")->sdist_buildable, TRI_YES);
	assert_true(has(extension_release(e, "2.3.2.post1")->run_requires, "triton>=3.5.0"));
	assert_true(has(extension_release(e, "2.3.2.post1")->run_requires, "tilelang==0.1.8"));
	assert_false(has(extension_release(e, "2.3.2.post1")->archs, "7.0"));
	assert_true(has(extension_release(e, "2.2.3")->build_requires, "setuptools>=61.0.0"));
	assert_null(extension_release(e, "1.0.0")->cxx_std);
}

static void
flash_attn(void **state)
{
	const struct extension *e = facts_extension(f, "flash_attn");

	(void)state;
	assert_true(e->submodules);
	assert_string_equal(extension_release(e, "2.8.3")->arch_env, "FLASH_ATTN_CUDA_ARCHS");
	assert_null(extension_release(e, "2.7.2.post1")->arch_env);
	assert_string_equal(joined(extension_release(e, "2.7.2.post1")->archs), "8.0 9.0");
	assert_string_equal(joined(extension_release(e, "2.8.3")->archs), "8.0 9.0 10.0 12.0");
	assert_true(has(extension_release(e, "2.8.3")->build_requires, "psutil"));
	assert_false(extension_release(e, "2.8.0")->on_pypi);
	assert_null(facts_extension(f, "no-such-extension"));
	assert_null(facts_extension(f, "../torch"));
}

static void
prebuilt_wheels(void **state)
{
	const struct extension *e = facts_extension(f, "mamba-ssm");
	struct wheel_wanted want = { "2.2.2", "12.1", "3.11", "x86_64", TRI_NO, NULL };
	const char *why, *source, *url;

	(void)state;
	url = facts_extension_wheel(f, a, extension_release(e, "2.2.2"), &want, &why, &source);
	assert_string_equal(url, "https://github.com/state-spaces/mamba/releases/download/v2.2.2/"
				 "mamba_ssm-2.2.2+cu122torch2.2cxx11abiFALSE-cp311-cp311-"
				 "linux_x86_64.whl");
	url = facts_extension_wheel(f, a, extension_release(e, "2.2.4"), &want, &why, &source);
	assert_non_null(strstr(url, "+cu12torch2.2cxx11abiFALSE-cp311"));
	assert_null(
		facts_extension_wheel(f, a, extension_release(e, "2.3.1"), &want, &why, &source));
	want.python = "3.13";
	assert_null(
		facts_extension_wheel(f, a, extension_release(e, "2.2.2"), &want, &why, &source));
	assert_non_null(why);
}

/* Returns the pairing of a package with another one that applies to a version, or NULL. */
static const struct pairing *
pairing_at(const char *name, const char *version, const char *other)
{
	size_t n;
	const struct pairing *all = facts_pairings(f, name, &n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(all[i].name, name) && !strcmp(all[i].other, other) &&
		    specifiers_match(specifiers_parse(a, all[i].spec), version_parse(a, version)))
			return &all[i];
	return NULL;
}

static bool
pairs(const char *name, const char *version, const char *other, const char *with)
{
	const struct pairing *p = pairing_at(name, version, other);

	assert_non_null(p);
	return specifiers_match(specifiers_parse(a, p->needs), version_parse(a, with));
}

static void
pairings(void **state)
{
	(void)state;
	assert_true(pairs("mamba-ssm", "2.2.2", "causal-conv1d", "1.4.0"));
	assert_true(pairs("mamba-ssm", "2.2.4", "causal-conv1d", "1.5.0.post8"));
	assert_false(pairs("mamba-ssm", "2.2.4", "causal-conv1d", "1.5.1"));
	assert_false(pairs("mamba-ssm", "2.2.5", "causal-conv1d", "1.5.0.post8"));
	assert_false(pairs("mamba-ssm", "1.1.3.post1", "causal-conv1d", "1.2.0"));
	assert_false(pairs("mamba-ssm", "2.2.6.post3", "transformers", "5.0.0"));
	assert_true(pairs("mamba-ssm", "2.3.0", "transformers", "5.0.0"));
	assert_false(pairs("mamba-ssm", "2.3.2.post1", "triton", "3.4.0"));
	assert_false(pairs("mamba-ssm", "2.3.1", "torch", "2.14.0"));
	assert_true(pairs("mamba-ssm", "2.3.1", "torch", "2.13.0"));
	assert_false(pairs("transformers", "4.57.6", "torch", "2.0.1"));
	assert_true(pairs("transformers", "4.57.6", "torch", "2.2.2"));
	assert_false(pairs("transformers", "5.1.0", "torch", "2.2.2"));
	assert_false(pairs("transformers", "5.23.0", "torch", "2.5.1"));
	assert_false(pairs("transformers", "4.50.3", "torch", "2.0.1"));
	assert_null(pairing_at("transformers", "4.49.0", "torch"));
	assert_false(pairs("numpy", "2.1.3", "torch", "2.2.2"));
	assert_null(pairing_at("numpy", "1.26.4", "torch"));
	assert_null(pairing_at("causal-conv1d", "1.7.0", "torch"));
}

static void
packages_and_costs(void **state)
{
	const struct python_package *numpy = facts_package(f, "NumPy");
	const struct package_release *r;
	struct cost c = facts_cost(f, "extension", "causal-conv1d");

	(void)state;
	assert_string_equal(numpy->name, "numpy");
	r = package_release(numpy, version_parse(a, "1.26.4"));
	assert_string_equal(r->version, "1.26.4");
	assert_string_equal(r->requires_python, ">=3.9");
	assert_true(r->sdist && r->wheels_known && r->requires_known && !r->requires.n &&
		    !r->yanked);
	assert_true(has(r->wheels, "cp312-cp312-manylinux_2_17_x86_64"));
	assert_false(has(r->wheels, "cp313-cp313-manylinux_2_17_x86_64"));
	assert_non_null(package_release(numpy, version_parse(a, "2.4.0"))->yanked);
	/* A listed release, an unlisted one, one that never existed, and one that may be newer. */
	assert_false(package_lacks(f, numpy, version_parse(a, "1.26.4")));
	assert_false(package_lacks(f, numpy, version_parse(a, "1.26.3")));
	assert_true(package_lacks(f, numpy, version_parse(a, "1.99.99")));
	assert_false(package_lacks(f, numpy, version_parse(a, "99.1")));
	assert_int_equal(facts_package(f, "torchvision")->n, 0);
	assert_null(facts_package(f, "no-such-package"));
	assert_true(c.seconds == 643 && c.change_rate > 0 && c.change_rate < 0.02);
	assert_true(facts_cost(f, "app", NULL).change_rate == 1);
	assert_true(facts_cost(f, "extension", "no-such").seconds ==
		    facts_cost(f, "extension", NULL).seconds);
	assert_true(facts_cost(f, "no-such-kind", NULL).seconds == 0);
	assert_string_equal(facts_date(f), "2026-11-28");
}

/* --- every entry can be read, and has a source --- */

static void
sourced(const char *source)
{
	assert_non_null(source);
	assert_true(starts_with(source, "knowledge/"));
	assert_non_null(strstr(source, ".yaml:"));
	assert_null(strstr(source, "()"));
}

static void
every_release_has_a_source(void **state)
{
	struct names names = facts_extension_names(f);
	size_t n;
	const struct torch_release *const *torch = facts_torch_all(f, &n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		sourced(torch[i]->source);
		for (size_t k = 0; k < torch[i]->nvariants; k++) {
			sourced(torch[i]->variants[k].source);
			for (size_t c = 0; c < torch[i]->variants[k].archs.n; c++)
				assert_true(facts_cc(f, torch[i]->variants[k].archs.at[c]));
		}
	}
	for (size_t i = 0; i < names.n; i++) {
		const struct extension *e = facts_extension(f, names.at[i]);

		sourced(e->source);
		for (size_t k = 0; k < e->nreleases; k++) {
			sourced(e->releases[k].source);
		}
	}
	assert_true(names.n >= 3);
}

static void
the_three_that_started_it_are_known_whole(void **state)
{
	static const char *const names[] = { "causal-conv1d", "mamba-ssm", "flash-attn" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const struct extension *e = facts_extension(f, names[i]);

		assert_true(e->nreleases >= 34 && e->git && e->force_build_env &&
			    e->mem_mib_per_job);
		for (size_t k = 0; k < e->nreleases; k++) {
			const struct extension_release *r = &e->releases[k];

			assert_true(r->build_requires.n >= 4 && r->archs.n >= 2);
			assert_int_equal(r->honours_arch_list, TRI_NO);
			assert_true(r->run_known && (r->on_pypi || r->git_tag));
			assert_true(!r->on_pypi || r->requires_python);
			/* Nobody has compiled the sdists of flash-attn 0.2 and 1.0. */
			assert_true(!r->on_pypi || r->sdist_buildable || i == 2 ||
				    starts_with(r->version, "2."));
			assert_true(r->sdist_buildable != TRI_NO || r->sdist_why);
		}
	}
}

static void
every_entry_has_a_source(void **state)
{
	struct names names = facts_gpu_names(f, a);
	size_t n;
	const struct cuda_toolkit *const *cuda = facts_cuda_all(f, &n);
	const struct modal_gpu *gpus;
	const struct os_release *os;
	const struct pairing *pairing;

	(void)state;
	assert_int_equal(n, 53);
	for (size_t i = 0; i < n; i++) {
		sourced(cuda[i]->source);
		assert_true(cuda[i]->gcc_max >= 8 && cuda[i]->archs.n);
		/* Minor-version compatibility of drivers began with CUDA 11. */
		assert_true(cuda[i]->driver_compat || starts_with(cuda[i]->version, "10."));
	}
	for (size_t i = 0; i < names.n; i++) {
		assert_non_null(facts_gpu(f, names.at[i]));
		sourced(facts_gpu(f, names.at[i])->source);
	}
	gpus = facts_modal_gpus(f, &n);
	for (size_t i = 0; i < n; i++) {
		sourced(gpus[i].source);
		assert_true(gpus[i].ccs.n && gpus[i].count_max && gpus[i].memory_gb);
	}
	os = facts_os_all(f, &n);
	for (size_t i = 0; i < n; i++)
		sourced(os[i].source);
	names = facts_extension_names(f);
	for (size_t k = 0; k < names.n; k++) {
		pairing = facts_pairings(f, names.at[k], &n);
		for (size_t i = 0; i < n; i++) {
			sourced(pairing[i].source);
			assert_non_null(pairing[i].why);
		}
	}
}

/* The JSON of each entry shows the parts that other functions do not return. */
static void
every_entry_can_be_shown(void **state)
{
	static const char *const subjects[] = { "torch", "cuda",  "gpu",    "extension",
						"os",    "modal", "package" };

	(void)state;
	for (size_t i = 0; i < sizeof(subjects) / sizeof(*subjects); i++) {
		struct buf list = BUF(a);

		assert_true(facts_show(f, a, &ds, subjects[i], NULL, NULL, true, &list));
		for (const char *p = strchr(buf_text(&list), '['); (p = strchr(p, '"'));) {
			size_t size = strcspn(p + 1, "\"");
			const char *name = arena_copy(a, p + 1, size);
			struct buf text = BUF(a), json = BUF(a);

			assert_true(facts_show(f, a, &ds, subjects[i], name, NULL, false, &text));
			assert_true(facts_show(f, a, &ds, subjects[i], name, NULL, true, &json));
			assert_non_null(strstr(buf_text(&text), "knowledge/"));
			assert_true(ends_with(buf_text(&json), "}\n") ||
				    ends_with(buf_text(&json), "}"));
			p += size + 2;
		}
	}
	assert_int_equal(ds.errors, 0);
}

static void
same_claims(const struct claim *x, const struct claim *y)
{
	assert_int_equal(fact_kind(x), fact_kind(y));
	assert_int_equal(fact_count(x), fact_count(y));
	if (fact_kind(x) == NODE_SCALAR)
		assert_string_equal(fact_text(x), fact_text(y));
	if (fact_kind(x) == NODE_MAP)
		assert_string_equal(fact_sources(a, x), fact_sources(a, y));
	for (size_t i = 0; i < fact_count(x); i++) {
		if (fact_key(x, i))
			assert_string_equal(fact_key(x, i), fact_key(y, i));
		same_claims(fact_at(x, i), fact_at(y, i));
	}
}

/* An overlay packs built-in files again. */
static void
a_packed_file_says_the_same(void **state)
{
	(void)state;
	for (size_t i = 0; i < facts_file_count(f); i += 7) {
		const struct fact_row *row = facts_row(f, i), *again;
		const char *name = text_at(&row->name);
		struct source src = { .path = arena_printf(a, "knowledge/%s", name), .text = "" };
		struct fact_file file = { name, fact_node(a, row_root(row), &src), true, "x y" };

		again = (const struct fact_row *)facts_pack(a, &(struct fact_files){ &file, 1, 1 })
				.words;
		assert_string_equal(text_at(&again->name), name);
		assert_string_equal(text_at(&again->aliases), text_at(&row->aliases));
		assert_string_equal(text_at(&again->on), text_at(&row->on));
		assert_true(ends_with(text_at(&again->paired), "x y"));
		same_claims(row_root(row), row_root(again));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(causal_conv1d),
		TEST(mamba_ssm),
		TEST(flash_attn),
		TEST(prebuilt_wheels),
		TEST(pairings),
		TEST(packages_and_costs),
		TEST(every_release_has_a_source),
		TEST(the_three_that_started_it_are_known_whole),
		TEST(every_entry_has_a_source),
		TEST(every_entry_can_be_shown),
		TEST(a_packed_file_says_the_same),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("facts of packages", tests, NULL, NULL);
}

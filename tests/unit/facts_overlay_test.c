/* facts/: overlays of the built-in knowledge base, valid and invalid. */
#include "facts_help.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"

static char dir[64];
static struct names written;

/* Makes an empty directory; does not load the built-in knowledge base. */
static int
setup_folder(void **state)
{
	(void)state;
	a = arena_new();
	ds = DIAGS(ds, a);
	strcpy(dir, "/tmp/facts-overlay-XXXXXX");
	assert_non_null(mkdtemp(dir));
	written = (struct names){ 0 };
	return 0;
}

static int
teardown_folder(void **state)
{
	(void)state;
	for (size_t i = 0; i < written.n; i++)
		unlink(written.at[i]);
	rmdir(fs_join(a, dir, "extensions"));
	rmdir(fs_join(a, dir, "releases"));
	rmdir(dir);
	arena_free(a);
	return 0;
}

#define OVERLAY(name) cmocka_unit_test_setup_teardown(name, setup_folder, teardown_folder)

static void
lay(const char *name, const char *text)
{
	const char *path = fs_join(a, dir, name);

	assert_true(fs_write(&ds, path, text, strlen(text), 0644, false, NULL));
	list_push(a, &written, path);
}

static void
load(void)
{
	f = facts_load(a, &ds, dir);
	for (const struct diag *d = ds.head; d; d = d->next)
		print_message("# %s\n", d->text);
	assert_non_null(f);
}

/* Checks that the overlay is rejected with this code at this line, and no other diagnostic. */
static void
refused(const char *id, unsigned line, const char *text)
{
	f = facts_load(a, &ds, dir);
	assert_null(f);
	assert_int_equal(ds.errors, 1);
	assert_string_equal(code_table[ds.head->code].id, id);
	assert_int_equal(ds.head->at.line, line);
	assert_true(starts_with(ds.head->at.src->path, dir));
	if (!strstr(ds.head->text, text))
		fail_msg("%s", ds.head->text);
}

/* --- valid overlays --- */

static void
a_new_release_stands_in_its_place(void **state)
{
	const struct torch_release *const *all;
	size_t n;

	(void)state;
	lay("torch.yaml", "releases:\n"
			  "  2.2.3:\n"
			  "    torchvision: 0.17.3\n"
			  "    python: 3.11 3.12\n"
			  "    source: made up for this test\n"
			  "    builds: {cu121: {cuda: \"12.1\", pypi: true}}\n");
	load();
	all = facts_torch_all(f, &n);
	assert_int_equal(n, 41);
	assert_string_equal(facts_torch(f, "2.2.3")->torchvision, "0.17.3");
	for (size_t i = 1; i < n; i++)
		assert_true(version_cmp(version_parse(a, all[i - 1]->version),
					version_parse(a, all[i]->version)) < 0);
	assert_non_null(strstr(facts_torch(f, "2.2.3")->source, dir));
	assert_non_null(strstr(facts_torch(f, "2.2.3")->source, "torch.yaml:3 (made up"));
	/* Other releases are unchanged. */
	assert_string_equal(facts_torch(f, "2.2.2")->torchvision, "0.17.2");
	assert_true(starts_with(facts_torch(f, "2.2.2")->source, "knowledge/torch.yaml:"));
}

static void
maps_merge_texts_replace_and_null_removes(void **state)
{
	const struct torch_release *t;

	(void)state;
	lay("torch.yaml", "releases:\n"
			  "  2.2.2:\n"
			  "    torchaudio: ~\n"
			  "    numpy2: true\n"
			  "    source: made up for this test\n"
			  "    builds: {cu118: null, cpu: {glibc: \"2.99\"}}\n"
			  "  2.2.1: null\n");
	load();
	t = facts_torch(f, "2.2.2");
	assert_null(t->torchaudio);
	assert_string_equal(t->torchvision, "0.17.2");
	assert_int_equal(t->numpy2, TRI_YES);
	assert_null(torch_variant(t, "cu118"));
	assert_string_equal(torch_variant(t, "cpu")->glibc_min, "2.99");
	assert_non_null(torch_variant(t, "cu121"));
	assert_null(facts_torch(f, "2.2.1"));
	/* Claims that were not replaced keep their source. */
	assert_non_null(strstr(t->source, "made up"));
	assert_non_null(strstr(t->source, "and 3 more"));
}

static void
ranges_hold_for_a_new_release(void **state)
{
	const struct extension *e;

	(void)state;
	lay("extensions/causal-conv1d.yaml",
	    "releases:\n  1.6.9: {tag: v1.6.9, pypi: true, source: made up for this test}\n");
	load();
	e = facts_extension(f, "causal-conv1d");
	assert_int_equal(extension_release(e, "1.6.9")->sdist_buildable, TRI_YES);
	assert_true(has(extension_release(e, "1.6.9")->build_requires, "ninja"));
	assert_int_equal(extension_release(e, "1.4.0")->sdist_buildable, TRI_NO);
}

static void
a_new_extension_and_a_new_gpu(void **state)
{
	(void)state;
	lay("extensions/my-ops.yaml", "source: https://example.org/my-ops\n"
				      "imports: my_ops\n"
				      "after: mamba-ssm\n"
				      "force_build: MY_OPS_FORCE\n"
				      "releases: {1.0: {tag: v1.0, pypi: true}}\n");
	lay("gpus.yaml", "capabilities:\n"
			 "  \"14.2\": {arch: Test, source: made up, gpus: {TX 9000: {}}}\n");
	load();
	assert_string_equal(facts_extension(f, "My_Ops")->force_build_env, "MY_OPS_FORCE");
	assert_non_null(extension_release(facts_extension(f, "my-ops"), "1.0"));
	assert_string_equal(facts_gpu(f, "tx9000")->cc, "14.2");
	assert_true(facts_cc(f, "14.2"));
	assert_non_null(facts_gpu(f, "rtx4090"));
}

/* Names are listed in their order, independent of their file. */
static void
extensions_are_in_order(void **state)
{
	struct names all;

	(void)state;
	lay("extensions/aaa.yaml", "git: https://example.org/aaa.git\nsource: a test\n");
	lay("extensions/mamba-ssm.yaml", "env: {}\n");
	lay("extensions/zzz.yaml", "git: https://example.org/zzz.git\nsource: a test\n");
	load();
	all = facts_extension_names(f);
	assert_string_equal(all.at[0], "aaa");
	assert_string_equal(all.at[all.n - 1], "zzz");
	/* In the order of their files: "flash-attn-3.yaml" comes before "flash-attn.yaml". */
	for (size_t i = 1; i < all.n; i++)
		assert_true(strcmp(arena_printf(a, "%s.yaml", all.at[i - 1]),
				   arena_printf(a, "%s.yaml", all.at[i])) < 0);
}

static void
a_newer_source_moves_the_date(void **state)
{
	(void)state;
	lay("packages/new-package.yaml", "source: \"PyPI: index page, read 2031-01-02\"\n");
	load();
	assert_string_equal(facts_date(f), "2031-01-02");
	assert_int_equal(facts_package(f, "new-package")->n, 0);
}

/* The releases of a package are those of one state of the index. */
static void
releases_replace_the_built_in_ones(void **state)
{
	const struct python_package *p;

	(void)state;
	lay("releases/numpy.yaml",
	    "package: numpy\nread: 2031-01-02\nsource: a test\n"
	    "others: 1.0 2.0rc1\n"
	    "releases: {1.1: {wheels: [py3-none-any]}, 2.0: {wheels: []}}\n");
	load();
	p = facts_package(f, "numpy");
	assert_int_equal(p->n, 2);
	assert_string_equal(p->releases[0].wheels.at[0], "py3-none-any");
	assert_true(p->releases[1].wheels_known && !p->releases[1].wheels.n);
	assert_true(package_lacks(f, p, version_parse(a, "1.26.4")));
	assert_false(package_lacks(f, p, version_parse(a, "2.0rc1")));
	assert_non_null(facts_package(f, "triton"));
}

static void
an_empty_folder_and_empty_files_change_nothing(void **state)
{
	(void)state;
	lay("torch.yaml", "");
	lay("os.yaml", "{}\n");
	lay("README.md", "not knowledge\n");
	load();
	assert_non_null(facts_torch(f, "2.2.2"));
	assert_non_null(facts_os(f, "debian12"));
}

/* --- invalid overlays --- */

static void
a_key_that_no_file_has(void **state)
{
	(void)state;
	lay("torch.yaml", "releases:\n  2.2.2:\n    torchvison: 0.17.2\n    source: made up\n");
	refused("SB0280", 3, "unknown key `torchvison`");
}

static void
values_of_the_wrong_kind(void **state)
{
	(void)state;
	lay("torch.yaml", "releases: {2.2.2: {source: x y, torchvision: [0.17.2]}}\n");
	refused("SB0280", 1, "a list where a version");
}

static void
a_list_where_a_map_belongs(void **state)
{
	(void)state;
	lay("torch.yaml", "releases:\n- 2.2.2\n");
	refused("SB0280", 2, "a list where a map belongs");
}

static void
a_text_where_a_file_is_a_map(void **state)
{
	(void)state;
	lay("os.yaml", "debian\n");
	refused("SB0280", 1, "is a map");
}

static void
a_version_that_is_none(void **state)
{
	(void)state;
	lay("torch.yaml", "releases:\n  two: {source: made up}\n");
	refused("SB0280", 2, "`two` is not a version");
}

static void
a_requirement_that_is_none(void **state)
{
	(void)state;
	lay("torch.yaml", "releases: {2.2.2: {source: m u, triton: \"triton>=\"}}\n");
	refused("SB0280", 1, "is not a requirement");
}

static void
an_address_with_a_blank_or_a_quote(void **state)
{
	(void)state;
	lay("torch.yaml", "index: {url: \"https://example.org/' --x\", source: made up}\n");
	refused("SB0280", 1, "is not an https address");
}

static void
an_environment_variable_with_a_line_end(void **state)
{
	(void)state;
	lay("extensions/mamba-ssm.yaml", "source: m u\nforce_build: \"A\\nRUN evil\"\n");
	refused("SB0280", 2, "is not the name of an environment variable");
}

static void
a_claim_without_a_source(void **state)
{
	(void)state;
	lay("torch.yaml", "releases:\n  2.2.2:\n    torchvision: 0.17.2\n");
	refused("SB0281", 3, "no source for `torchvision`");
}

static void
a_source_that_is_not_listed(void **state)
{
	(void)state;
	lay("torch.yaml", "releases: {2.2.2: {torchvision: 0.17.2, source: hearsay}}\n");
	refused("SB0281", 1, "`hearsay` is not among the sources");
}

static void
a_capability_that_no_gpu_has(void **state)
{
	(void)state;
	lay("torch.yaml",
	    "releases:\n  2.2.2:\n    source: m u\n    builds: {cpu: {archs: 8.0 9.7}}\n");
	refused("SB0282", 4, "no compute capability `9.7`");
}

static void
what_is_needed_may_not_be_removed(void **state)
{
	(void)state;
	lay("python.yaml", "uv: {version: null}\n");
	f = facts_load(a, &ds, dir);
	assert_null(f);
	assert_non_null(strstr(ds.head->text, "`version` is missing"));
}

static void
what_others_name_may_not_be_removed(void **state)
{
	(void)state;
	lay("gpus.yaml", "capabilities: {\"9.0\": null}\n");
	assert_null(facts_load(a, &ds, dir));
	assert_int_equal(ds.errors, 1);
	assert_string_equal(code_table[ds.head->code].id, "SB0282");
	assert_true(starts_with(ds.head->at.src->path, "knowledge/"));
	assert_non_null(strstr(ds.head->notes->text, "keep the entry in gpus.yaml"));
}

static void
a_file_of_another_name(void **state)
{
	(void)state;
	lay("tensorflow.yaml", "source: made up\n");
	refused("SB0280", 1, "`tensorflow.yaml` is not the name of a knowledge file");
}

static void
text_that_is_no_yaml(void **state)
{
	(void)state;
	lay("torch.yaml", "releases: [\n");
	f = facts_load(a, &ds, dir);
	assert_null(f);
	assert_string_equal(code_table[ds.head->code].id, "SB0101");
}

static void
a_folder_that_is_not_there(void **state)
{
	(void)state;
	assert_null(facts_load(a, &ds, "/no/such/folder"));
	assert_int_equal(ds.errors, 1);
}

static void
several_mistakes_are_told_at_once(void **state)
{
	(void)state;
	lay("torch.yaml", "releases: {x: {source: m u}, y: {source: m u}}\n");
	lay("os.yaml", "releases: {debian99: {gcc: 9, source: m u, shell: bash}}\n");
	assert_null(facts_load(a, &ds, dir));
	assert_int_equal(ds.errors, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		OVERLAY(a_new_release_stands_in_its_place),
		OVERLAY(maps_merge_texts_replace_and_null_removes),
		OVERLAY(ranges_hold_for_a_new_release),
		OVERLAY(a_new_extension_and_a_new_gpu),
		OVERLAY(extensions_are_in_order),
		OVERLAY(releases_replace_the_built_in_ones),
		OVERLAY(a_newer_source_moves_the_date),
		OVERLAY(an_empty_folder_and_empty_files_change_nothing),
		OVERLAY(a_key_that_no_file_has),
		OVERLAY(values_of_the_wrong_kind),
		OVERLAY(a_list_where_a_map_belongs),
		OVERLAY(a_text_where_a_file_is_a_map),
		OVERLAY(a_version_that_is_none),
		OVERLAY(a_requirement_that_is_none),
		OVERLAY(an_address_with_a_blank_or_a_quote),
		OVERLAY(an_environment_variable_with_a_line_end),
		OVERLAY(a_claim_without_a_source),
		OVERLAY(a_source_that_is_not_listed),
		OVERLAY(a_capability_that_no_gpu_has),
		OVERLAY(what_is_needed_may_not_be_removed),
		OVERLAY(what_others_name_may_not_be_removed),
		OVERLAY(a_file_of_another_name),
		OVERLAY(text_that_is_no_yaml),
		OVERLAY(a_folder_that_is_not_there),
		OVERLAY(several_mistakes_are_told_at_once),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("knowledge laid over", tests, NULL, NULL);
}

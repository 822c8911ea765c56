#include "recipe/load.h"
#include "recipe_help.h"

/* --- forms --- */

static void
short_and_long_forms_ask_for_the_same(void **state)
{
	(void)state;
	same("torch: 2.2.2", "torch: {version: 2.2.2}");
	same("torch: 2.2.2", "torch:\n  \"version\": '2.2.2'");
	same("torch: 2.2.2", "{\"torch\": \"2.2.2\"}");
	same("cuda: \"12.1\"", "cuda: {version: 12.1, from: auto}");
	same("python: 3.10", "python: {version: \"3.10\"}");
	same("gpus: 9.0", "gpus: [\"9.0\"]");
	same("gpus: []\npackages: x", "packages: [x]");
	same("packages: 'numpy<2'", "packages: [numpy<2]");
	same("runtime: debian:12", "runtime: {base: debian:12}");
	same("index: https://h/simple", "index: {url: https://h/simple}");
	same("modal: {gpu: H100}", "modal:\n  gpu: H100");
	same("env: {A: x, B: y}", "env: {B: y, A: x}");
	same("torch: 2.2.2\nextensions: mamba-ssm",
	     "torch: 2.2.2\nextensions: [{name: mamba-ssm}]");
	same("torch: 2.2.2\nextensions: [mamba-ssm==2.2.2]",
	     "torch: 2.2.2\nextensions: [{name: mamba-ssm, version: 2.2.2, from: auto}]");
	same("torch: 2.2.2\nextensions: [\"mamba-ssm[x] >= 2, <3\"]",
	     "torch: 2.2.2\nextensions: [{name: \"mamba-ssm[x]\", version: \">= 2, <3\"}]");
	same("torch: 2.2.2\nextensions: [\"x @ git+https://h/x.git@v1\"]",
	     "torch: 2.2.2\nextensions: [{name: x, git: \"https://h/x.git\", ref: v1}]");
	same("torch: 2.2.2\nextensions: [\"x @ https://h/x-1.0-py3-none-any.whl\"]",
	     "torch: 2.2.2\nextensions: [{name: x, url: https://h/x-1.0-py3-none-any.whl}]");
	same("torch: 2.2.2", "\xef\xbb\xbf"
			     "torch: 2.2.2\r\n");
	same("# nothing\n---\ntorch: 2.2.2\n...\n", "torch: 2.2.2");
}

static void
canonical_is_sorted_json(void **state)
{
	(void)state;
	assert_string_equal(
		canonical("torch: 2.2.2\napt: []\nenv: {B: \"a\\\"b\\\\c\", A: 1}\n"
			  "modal: {}\nextensions: [\"x==1 ; python_version<'4'\"]"),
		"{\"env\": {\"A\": \"1\", \"B\": \"a\\\"b\\\\c\"}, \"extensions\": "
		"[{\"marker\": \"python_version<'4'\", \"name\": \"x\", \"version\": \"1\"}], "
		"\"modal\": {}, \"stack\": \"r\", \"torch\": {\"version\": \"2.2.2\"}}");
	assert_string_not_equal(one("packages: [a, b]")->digest, one("packages: [b, a]")->digest);
	assert_string_equal(one("torch: 2.2.2\napt: []")->digest, one("torch: 2.2.2")->digest);
}

/* Every key of the table, once. */
static const char everything[] =
	"stack: all\n"
	"base: nvidia/cuda:12.1.1-devel-ubuntu22.04\n"
	"cuda: {version: 12.1, from: image}\n"
	"python: {version: 3.11, from: os}\n"
	"gpus: [a100-80gb, \"9.0\"]\n"
	"apt: [git, \"gcc-12=12.3.0-1ubuntu1~22.04\"]\n"
	"torch: {version: 2.2.2, index: cu121, with: [torchvision==0.17.2]}\n"
	"packages: [\"numpy<2\"]\n"
	"extensions:\n"
	"  - {name: a, version: 1.0, from: sdist, env: {MAX_JOBS: 4}}\n"
	"  - {name: b, git: \"ssh://git@h/b.git\", ref: v1}\n"
	"  - {name: c, url: \"https://h/c-1.0.tar.gz\", sha256: "
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855}\n"
	"env: {A: b}\n"
	"app: {copy: [src/], requirements: r.txt, command: [python, x.py]}\n"
	"runtime: {base: debian:12, apt: [libgomp1]}\n"
	"modal: {app: my-app, gpu: [\"H100:2\", L4], timeout_s: 600, scaledown_window_s: 60, "
	"volumes: "
	"{/data: v}, secrets: [s], entrypoint: train.py::main, cpu: 0.5, memory_mib: 1024, "
	"builder: "
	"\"2025.06\", build: heavy}\n"
	"verify: {import_timeout_s: 60, modules: [a.b], probes: [p.py], forbid_fallback: False}\n"
	"platform: linux/arm64/v8\n"
	"driver: 550.54\n"
	"user: app\n"
	"index: {url: https://h/s, secret: T, extra: [{url: https://h/e, secret: U, packages: "
	"[z]}]}\n"
	"secrets: [T, U]\n"
	"variants: {cpu: {torch: {index: cpu}}}\n";

static void
every_key_is_read(void **state)
{
	const struct recipe *r = one(everything);

	(void)state;
	assert_place(r->stack, "all", 1, 8, 3);
	assert_int_equal(r->cuda_from, CUDA_IMAGE);
	assert_int_equal(r->python_from, PYTHON_OS);
	assert_place(r->python, "3.11", 4, 19, 4);
	assert_string_equal(r->gpus.at[0].cc, "8.0");
	assert_non_null(r->gpus.at[0].gpu);
	assert_string_equal(r->gpus.at[1].cc, "9.0");
	assert_null(r->gpus.at[1].gpu);
	assert_place(r->apt.at[1], "gcc-12=12.3.0-1ubuntu1~22.04", 6, 12, 30);
	assert_string_equal(r->torch.with.at[0].req->key, "torchvision");
	assert_int_equal(r->extensions.n, 3);
	assert_int_equal(r->extensions.at[0].from, EXT_SDIST);
	assert_string_equal(r->extensions.at[0].env.at[0].value.s, "4");
	assert_string_equal(r->extensions.at[1].git.s, "ssh://git@h/b.git");
	assert_string_equal(r->extensions.at[2].url.s, "https://h/c-1.0.tar.gz");
	assert_int_equal(r->app.at.line, 14);
	assert_string_equal(r->app.command.at[1].s, "x.py");
	assert_string_equal(r->runtime.apt.at[0].s, "libgomp1");
	assert_string_equal(r->modal.gpu.s, "H100:2");
	assert_int_equal(r->modal.gpus.n, 2);
	assert_int_equal(recipe_number(r->modal.timeout_s), 600);
	assert_int_equal(recipe_number(r->modal.scaledown_window_s), 60);
	assert_string_equal(r->modal.cpu.s, "0.5");
	assert_int_equal(recipe_number(r->modal.memory_mib), 1024);
	assert_string_equal(r->modal.volumes.at[0].name.s, "/data");
	assert_string_equal(r->verify.forbid_fallback.s, "false");
	assert_int_equal(recipe_number(r->verify.import_timeout_s), 60);
	assert_string_equal(r->index.secret.s, "T");
	assert_string_equal(r->extras.at[0].packages.at[0].s, "z");
	assert_int_equal(r->secrets.n, 2);
	assert_null(one("torch: 2.2.2")->verify.forbid_fallback.s);
	assert_int_equal(one("torch: 2.2.2")->modal.at.line, 0);
}

/* Returns the struct that a key fills: 0 the recipe, 1 an extension, 2 an index. */
static int
owner_of(const struct key *k)
{
	return !strncmp(k->path, "extensions.", 11)  ? 1 :
	       !strncmp(k->path, "index.extra.", 12) ? 2 :
						       0;
}

static void
no_two_keys_fill_one_member(void **state)
{
	size_t n;
	const struct key *all = keys_all(&n);

	(void)state;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++) {
			struct member x = all[i].first, y = all[k].first;

			if (x.size && y.size && owner_of(&all[i]) == owner_of(&all[k]) &&
			    x.at < y.at + y.size && y.at < x.at + x.size)
				fail_msg("%s and %s", all[i].path, all[k].path);
		}
}

static void
canonical_recipes_ask_for_the_same(void **state)
{
	(void)state;
	same(everything, canonical(everything));
}

static void
short_extensions_have_places(void **state)
{
	const struct recipe *r =
		one("torch: 2.2.2\nextensions:\n"
		    "- \"flash-attn[x] == 2.5.0 ; python_version < '3.13'\"\n"
		    "- a @ git+https://h/a.git@v1.0\n"
		    "- b @ https://h/b-1.0-py3-none-any.whl#sha256="
		    "E3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n"
		    "- Foo_Bar>=1\n");
	const struct recipe_extension *e = r->extensions.at;

	(void)state;
	assert_place(e[0].name, "flash-attn", 3, 4, 10);
	assert_string_equal(e[0].extras.at[0], "x");
	assert_place(e[0].version, "2.5.0", 3, 21, 5);
	assert_place(e[0].marker, "python_version < '3.13'", 3, 29, 23);
	assert_null(e[0].specifier.s);
	assert_place(e[1].git, "https://h/a.git", 4, 11, 15);
	assert_place(e[1].ref, "v1.0", 4, 27, 4);
	assert_place(e[2].url, "https://h/b-1.0-py3-none-any.whl", 5, 7, 32);
	assert_int_equal(strlen(e[2].sha256.s), 64);
	assert_place(e[3].specifier, ">=1", 6, 10, 3);
	assert_string_equal(e[3].key, "foo-bar");
	assert_null(e[3].version.s);
}

/* --- merging --- */

static const struct recipe *
merged(const char *base, const char *file, const char *variant, const char *set)
{
	const char *const files[] = { "r.yaml", file, "base.yaml", base, NULL };
	const struct recipe_options o = { .variant = variant, .sets = &set, .nsets = set != NULL };
	const struct recipes *all = load(files, &o);

	if (!all)
		print_errors();
	assert_non_null(all);
	return all->at[0];
}

static void
assert_merged(const struct recipe *r, const char *text)
{
	assert_string_equal(canonical_of(a, r), text);
}

static void
maps_merge_lists_replace_null_removes(void **state)
{
	const char *base = "torch: {version: 2.2.2, index: cu121}\nenv: {A: x, B: y}\n"
			   "packages: [a, b]\nuser: app\n";

	(void)state;
	assert_merged(merged(base,
			     "extends: base.yaml\ntorch: {index: cpu}\nenv: {A: null, C: z}\n"
			     "packages: [c]\nuser: ~\n",
			     NULL, NULL),
		      "{\"env\": {\"B\": \"y\", \"C\": \"z\"}, \"packages\": [\"c\"], \"stack\": "
		      "\"r\", \"torch\": {\"index\": \"cpu\", \"version\": \"2.2.2\"}}");
	/* A text replaces the whole map; a map on a text is merged with its long form. */
	assert_merged(merged(base, "extends: [base.yaml]\ntorch: 2.5.1\nenv:\npackages:\nuser:\n",
			     NULL, NULL),
		      "{\"stack\": \"r\", \"torch\": {\"version\": \"2.5.1\"}}");
	assert_merged(
		merged("torch: 2.2.2", "extends: base.yaml\ntorch: {index: cpu}", NULL, NULL),
		"{\"stack\": \"r\", \"torch\": {\"index\": \"cpu\", \"version\": \"2.2.2\"}}");
	assert_merged(merged("torch: 2.2.2\nuser: app",
			     "extends: base.yaml\ntorch: null\npackages: [x]", NULL, NULL),
		      "{\"packages\": [\"x\"], \"stack\": \"r\", \"user\": \"app\"}");
}

static void
the_order_is_extends_file_variant_set(void **state)
{
	const char *base = "env: {A: base, B: base, C: base, D: base}\n"
			   "variants: {v: {env: {C: base-variant, E: base-variant}}}\n";
	const char *file = "extends: base.yaml\nuser: app\nenv: {B: file, C: file, D: file}\n"
			   "variants: {v: {env: {C: variant, D: variant}}, w: {user: w}}\n";

	(void)state;
	assert_merged(merged(base, file, "v", "env.D=set"),
		      "{\"env\": {\"A\": \"base\", \"B\": \"file\", \"C\": \"variant\", \"D\": "
		      "\"set\", \"E\": \"base-variant\"}, \"stack\": \"r\", \"user\": \"app\"}");
	assert_merged(
		merged(base, file, NULL, "env={}"),
		"{\"env\": {\"A\": \"base\", \"B\": \"file\", \"C\": \"file\", \"D\": \"file\"}, "
		"\"stack\": \"r\", \"user\": \"app\"}");
	assert_merged(merged(base, file, NULL, "env="), "{\"stack\": \"r\", \"user\": \"app\"}");
	/* A null in a variant takes effect when the variant is applied. */
	assert_merged(merged("user: app\nvariants: {v: {platform: linux/arm64}}",
			     "extends: base.yaml\nvariants: {v: {user: null}}", "v", NULL),
		      "{\"platform\": \"linux/arm64\", \"stack\": \"r\"}");
}

static void
places_survive_extends_and_anchors(void **state)
{
	const struct recipe *r =
		merged("torch: {version: 2.2.2}\n",
		       "extends: base.yaml\nenv: {A: &x one,\n      B: *x}\n", NULL, "user=app");

	(void)state;
	assert_place(r->torch.version, "2.2.2", 1, 18, 5);
	assert_string_equal(r->torch.version.at.src->path, "base.yaml");
	assert_place(r->env.at[0].value, "one", 2, 13, 3);
	assert_place(r->env.at[1].name, "B", 3, 7, 1);
	assert_string_equal(r->env.at[1].value.s, "one");
	assert_place(r->user, "app", 1, 6, 3);
	assert_string_equal(r->user.at.src->path, "<command line>");
	assert_string_equal(r->src->path, "r.yaml");
}

/* --- matrix --- */

static void
assert_cells(const char *text, const char *const *names)
{
	const struct recipes *all = load_text(text);
	size_t n = 0;

	if (!all)
		print_errors();
	assert_non_null(all);
	assert_true(all->matrix);
	for (; names[n]; n++) {
		assert_true(n < all->n);
		assert_string_equal(all->at[n]->cell, names[n]);
	}
	assert_int_equal(all->n, n);
}

static void
a_matrix_is_a_product(void **state)
{
	const char *const names[] = { "python-3.10,torch.version-2.2.2",
				      "python-3.10,torch.version-2.5.1",
				      "python-3.11,torch.version-2.2.2",
				      "python-3.11,torch.version-2.5.1", NULL };
	const char *text = "matrix: {python: [\"3.10\", 3.11], torch.version: [2.2.2, 2.5.1]}\n"
			   "torch: {index: cu121}\n";

	(void)state;
	assert_cells(text, names);
	assert_merged(load_text(text)->at[3], "{\"python\": {\"version\": \"3.11\"}, \"stack\": "
					      "\"r\", \"torch\": {\"index\": \"cu121\", "
					      "\"version\": \"2.5.1\"}}");
}

static void
include_and_exclude(void **state)
{
	const char *const names[] = { "python-3.10,env.A-1,env.B-x", "python-3.11,env.A-2,env.C-z",
				      "python-3.12,env.A-9", NULL };

	(void)state;
	assert_cells("torch: 2.2.2\n"
		     "matrix:\n"
		     "  python: [\"3.10\", \"3.11\"]\n"
		     "  env.A: [1, 2]\n"
		     "  exclude: [{python: \"3.10\", env.A: 2}, {python: \"3.11\", env.A: 1}]\n"
		     "  include:\n"
		     "    - {python: \"3.10\", env.B: x}\n"
		     "    - {env.A: 2, env.C: y}\n"
		     "    - {env.A: 2, env.C: z}\n"
		     "    - {python: \"3.12\", env.A: 9}\n",
		     names);
}

static void
cell_names_are_safe_and_unique(void **state)
{
	(void)state;
	{
		const char *const unique[] = { "base-a_b", "base-a_b-2", "base-a_b-3",
					       "base-a_b-2-2", NULL };

		assert_cells("matrix: {base: [a/b, a_b, \"a:b\", a_b-2]}\n", unique);
	}
	{
		const char *const lists[] = { "packages-1", "packages-2", "packages-none", NULL };

		assert_cells("torch: 2.2.2\nmatrix: {packages: [[a], [b, c], null]}\n", lists);
	}
}

static void
set_fixes_an_axis(void **state)
{
	const char *const files[] = {
		"r.yaml", "matrix: {python: [\"3.10\", \"3.11\"], torch: [2.2.2, 2.5.1]}", NULL
	};
	const char *const sets[] = { "torch=2.3.1", "env.A=b" };
	const struct recipe_options o = { .sets = sets, .nsets = 2 };
	const struct recipes *all = load(files, &o);

	(void)state;
	assert_non_null(all);
	assert_int_equal(all->n, 2);
	assert_string_equal(all->at[1]->cell, "python-3.11,torch-2.3.1");
	assert_merged(all->at[1], "{\"env\": {\"A\": \"b\"}, \"python\": {\"version\": \"3.11\"}, "
				  "\"stack\": \"r\", \"torch\": {\"version\": \"2.3.1\"}}");
}

static void
a_cell_by_name(void **state)
{
	const char *const files[] = { "r.yaml", "matrix: {torch: [2.2.2, 2.5.1]}", NULL };
	const struct recipe_options o = { .cell = "torch-2.5.1" };
	const struct recipes *all = load(files, &o);

	(void)state;
	assert_non_null(all);
	assert_int_equal(all->n, 1);
	assert_true(all->matrix);
	assert_string_equal(all->at[0]->torch.version.s, "2.5.1");
}

static void
many_cells_and_packages(void **state)
{
	struct buf text = BUF(a);
	const struct recipes *all;

	(void)state;
	buf_puts(&text, "packages:\n");
	for (int i = 0; i < 1000; i++)
		buf_printf(&text, "- filler-%d==1.%d\n", i, i);
	buf_puts(&text, "matrix:\n  python: [\"3.10\", \"3.11\"]\n  env.N: [");
	for (int i = 0; i < 1000; i++)
		buf_printf(&text, "%d, ", i);
	buf_puts(&text, "]\n");
	all = load_text(buf_text(&text));
	assert_non_null(all);
	assert_int_equal(all->n, 2000);
	assert_string_equal(all->at[1999]->cell, "python-3.11,env.N-999");
	assert_string_not_equal(all->at[1999]->digest, all->at[1998]->digest);
	assert_ptr_equal(all->at[0]->packages.at, all->at[1999]->packages.at);
}

/* --- stack names --- */

static const struct recipes *
load_named(const char *name, const char *text)
{
	const char *const files[] = { name, text, NULL };
	const struct recipe_options o = { 0 };

	return load(files, &o);
}

static void
the_stack_is_named_after_the_file(void **state)
{
	static const char *const bad[] = { "my stack.yaml", "-x.yaml", "$(rm).yaml", ".yaml",
					   "\xc3\xa9.yaml" };

	(void)state;
	assert_string_equal(load_named("a/torch2.2.yaml", "torch: 2.2.2")->at[0]->stack.s,
			    "torch2.2");
	assert_string_equal(load_named("-", "torch: 2.2.2")->at[0]->stack.s, "recipe");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_null(load_named(bad[i], "torch: 2.2.2"));
		assert_int_equal(ds.head->code, E_NAME);
		assert_non_null(load_named(bad[i], "stack: x\ntorch: 2.2.2"));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_and_long_forms_ask_for_the_same),
		cmocka_unit_test(canonical_is_sorted_json),
		cmocka_unit_test(every_key_is_read),
		cmocka_unit_test(no_two_keys_fill_one_member),
		cmocka_unit_test(canonical_recipes_ask_for_the_same),
		cmocka_unit_test(short_extensions_have_places),
		cmocka_unit_test(maps_merge_lists_replace_null_removes),
		cmocka_unit_test(the_order_is_extends_file_variant_set),
		cmocka_unit_test(places_survive_extends_and_anchors),
		cmocka_unit_test(a_matrix_is_a_product),
		cmocka_unit_test(include_and_exclude),
		cmocka_unit_test(cell_names_are_safe_and_unique),
		cmocka_unit_test(set_fixes_an_axis),
		cmocka_unit_test(a_cell_by_name),
		cmocka_unit_test(many_cells_and_packages),
		cmocka_unit_test(the_stack_is_named_after_the_file),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}

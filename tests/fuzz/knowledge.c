/*
 * libFuzzer: a file of an overlay.  The first byte selects the file, and the rest is
 * its text.  All queries of the program run on an accepted file.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "facts/facts.h"
#include "facts/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {
	"torch.yaml",
	"cuda.yaml",
	"gpus.yaml",
	"ends.yaml",
	"os.yaml",
	"python.yaml",
	"modal.yaml",
	"costs.yaml",
	"packages/numpy.yaml",
	"extensions/mamba-ssm.yaml",
	"extensions/new-one.yaml",
	"releases/numpy.yaml",
};

static volatile size_t sum; /* so that no compiler omits the read */

static void
must(bool holds)
{
	if (!holds)
		abort();
}

static void
touch(const char *s)
{
	sum += s ? strlen(s) : 0;
}

static void
touch_all(struct names list)
{
	for (size_t i = 0; i < list.n; i++)
		touch(list.at[i]);
}

static void
ask_torch(const struct facts *f, struct arena *a)
{
	size_t n;
	const struct torch_release *const *all = facts_torch_all(f, &n);

	must(n);
	for (size_t i = 0; i < n; i++) {
		const struct torch_release *t = all[i];

		must(facts_torch(f, t->version) != NULL);
		touch_all(t->pythons);
		touch(t->triton);
		touch(t->source);
		for (size_t k = 0; k < t->nvariants; k++) {
			touch_all(t->variants[k].archs);
			touch(t->variants[k].cuda);
			touch(t->variants[k].source);
		}
		torch_variant_on_pypi(t);
	}
	touch(facts_torch_index(f, a, "cu121"));
}

static void
ask_cuda(const struct facts *f, struct arena *a)
{
	static const char *const images[] = { "12.1.1-cudnn8-devel-ubuntu22.04", "latest",
					      "12.7.0-devel-ubuntu18.04", "13.0.0", "" };
	size_t n;
	const struct cuda_toolkit *const *all = facts_cuda_all(f, &n);
	const char *why, *source;

	for (size_t i = 0; i < n; i++) {
		must(facts_cuda(f, all[i]->version) != NULL);
		touch_all(all[i]->archs);
		touch_all(all[i]->image_os);
		touch(all[i]->wheels_pin);
		touch(facts_image_tag(f, a, all[i], "devel", "ubuntu22.04"));
	}
	for (size_t i = 0; i < sizeof(images) / sizeof(*images); i++) {
		struct image_name name =
			facts_image_name(f, arena_printf(a, "nvidia/cuda:%s", images[i]));

		touch(name.os);
		if (facts_image(f, a, "nvidia/cuda", images[i], &why, &source) == TRI_NO)
			must(why && source);
	}
	touch(facts_cuda_impossible(f, "12.7.1"));
}

static void
ask_machines(const struct facts *f, struct arena *a)
{
	struct names gpus = facts_gpu_names(f, a);
	const struct modal_limits *m = facts_modal(f);
	size_t n;
	const struct modal_gpu *cards = facts_modal_gpus(f, &n);
	const struct os_release *os;

	for (size_t i = 0; i < gpus.n; i++)
		must(facts_gpu(f, gpus.at[i]) && facts_cc(f, facts_gpu(f, gpus.at[i])->cc));
	must(n && cards[0].ccs.n);
	for (size_t i = 0; i < n; i++)
		must(facts_modal_gpu(f, cards[i].name) && cards[i].ccs.n);
	must(m->builder_default && m->builders.n && m->timeout_max_s + 1);
	for (size_t i = 0; i < m->builders.n; i++) {
		touch_all(facts_modal_pythons(f, m->builders.at[i]));
		touch(facts_modal_builder_client(f, m->builders.at[i]));
	}
	os = facts_os_all(f, &n);
	for (size_t i = 0; i < n; i++) {
		must(facts_os(f, os[i].id) != NULL);
		touch_all(os[i].python_apt);
	}
}

static void
ask_python(const struct facts *f)
{
	struct names series = facts_python_series(f);

	for (size_t i = 0; i < series.n; i++) {
		const struct python_build *p =
			facts_standalone_python(f, series.at[i], i % 2 ? "x86_64" : "aarch64");

		if (p) {
			must(p->url || p->uv);
			touch(p->version);
			touch(p->url);
		}
	}
}

static void
ask_extensions(const struct facts *f, struct arena *a)
{
	struct names all = facts_extension_names(f);
	struct wheel_wanted want = { "2.2.2", "12.1", "3.11", "x86_64", TRI_NO, NULL };
	const char *why, *source;

	for (size_t i = 0; i < all.n; i++) {
		const struct extension *e = facts_extension(f, all.at[i]);

		must(e != NULL);
		touch_all(e->imports);
		for (size_t k = 0; k < e->nreleases; k++) {
			const struct extension_release *r = &e->releases[k];

			touch_all(r->build_requires);
			touch_all(r->run_requires);
			touch_all(r->archs);
			touch(r->source);
			if (!facts_extension_wheel(f, a, r, &want, &why, &source))
				touch(why);
		}
		extension_release(e, "v1.0");
	}
}

static void
ask_packages(const struct facts *f)
{
	size_t n;
	const struct pairing *pairs = facts_pairings(f, "numpy", &n);
	const struct python_package *numpy = facts_package(f, "numpy");
	const struct version *v = facts_version(f, "1.99.99");

	for (size_t i = 0; i < n; i++)
		must(pairs[i].name && pairs[i].spec && pairs[i].other && pairs[i].needs &&
		     pairs[i].why && pairs[i].source);
	must(numpy && numpy->n);
	for (size_t i = 0; i < numpy->n; i++) {
		const struct package_release *r = &numpy->releases[i];

		touch_all(r->wheels);
		touch_all(r->requires);
		touch(package_release_source(f, r));
		must(package_release(numpy, facts_version(f, r->version)) == r);
		must(!package_lacks(f, numpy, facts_version(f, r->version)));
	}
	sum += package_lacks(f, numpy, v);
	must(facts_cost(f, "torch", NULL).seconds >= 0);
	must(facts_cost(f, "extension", "mamba-ssm").change_rate >= 0);
}

static void
show(const struct facts *f, struct arena *a, struct diags *ds)
{
	static const char *const what[][3] = {
		{ "torch", "2.2.2" },
		{ "cuda", "12.1" },
		{ "gpu", "rtx4090" },
		{ "extension", "mamba-ssm" },
		{ "extension", "mamba-ssm", "2.2.2" },
		{ "os", "debian12" },
		{ "modal", "T4" },
		{ "package", "numpy" },
		{ "extension", "new-one" },
		{ "torch" },
		{ "modal" },
	};

	for (size_t i = 0; i < sizeof(what) / sizeof(*what); i++)
		for (int json = 0; json < 2; json++) {
			struct buf out = BUF(a);

			facts_show(f, a, ds, what[i][0], what[i][1], what[i][2], json, &out);
			touch(buf_text(&out));
		}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a;
	struct diags ds;
	struct source src = { .path = "overlay.yaml" };
	struct fact_files over = { 0 };
	const struct node *root;
	const struct facts *f = NULL;

	if (!size || size > 64 * 1024)
		return 0;
	a = arena_new();
	ds = DIAGS(ds, a);
	src.text = arena_copy(a, (const char *)data + 1, size - 1);
	src.size = size - 1;
	root = yaml_read(a, &ds, &src, YAML_LIMITS_DEFAULT);
	if (root) {
		list_push(a, &over,
			  (struct fact_file){
				  .name = names[data[0] % (sizeof(names) / sizeof(*names))],
				  .root = root });
		f = facts_with_overlay(a, &ds, &over, true);
	}
	must(f || ds.errors);
	if (f) {
		must(!ds.errors);
		touch(facts_date(f));
		ask_torch(f, a);
		ask_cuda(f, a);
		ask_machines(f, a);
		ask_python(f);
		ask_extensions(f, a);
		ask_packages(f);
		show(f, a, &ds);
	}
	arena_free(a);
	return 0;
}

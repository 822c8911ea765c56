/*
 * libFuzzer: recipes, from the solver to the files of every target.  Most mutations replace one
 * key of a recipe by values that the knowledge base distinguishes; the others change bytes.
 * tests/suites/random draws from the whole schema.
 *
 * Properties: with an error, there is no stack and no plan; diagnostics are bounded;
 * render() returns files only without errors; the same recipe gives the same verdict.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "render/render.h"
#include "resolve/resolve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

struct table {
	const char *head, *between, *tail;
	unsigned most; /* values, at least one */
	const char *const *values;
};

static const char *const bases[] = {
	"nvidia/cuda:11.7.1-devel-ubuntu20.04",
	"nvidia/cuda:11.8.0-devel-ubuntu22.04",
	"nvidia/cuda:12.1.1-devel-ubuntu22.04",
	"nvidia/cuda:12.4.1-runtime-ubuntu22.04",
	"nvidia/cuda:12.6.3-devel-ubuntu24.04",
	"nvidia/cuda:12.8.1-devel-ubuntu22.04",
	"nvidia/cuda:13.0.2-devel-ubuntu24.04",
	"nvidia/cuda:12.7.0-devel-ubuntu22.04",
	"nvidia/cuda:latest",
	"debian:12-slim",
	"ubuntu:24.04",
	"python:3.11-slim",
	"mine:1",
	NULL,
};
static const char *const cudas[] = {
	"'11.8'",
	"'12.1'",
	"'12.8'",
	"'13.0'",
	"{version: '13.0', from: wheels}",
	"{version: '12.4', from: wheels}",
	"{version: '12.8', from: apt}",
	"{version: '12.1', from: host}",
	NULL,
};
static const char *const pythons[] = {
	"'3.8'",
	"'3.10'",
	"'3.11'",
	"'3.12'",
	"'3.13'",
	"'3.14'",
	"{version: '3.12', from: os}",
	"{version: '3.11', from: base}",
	"{version: '3.13', from: uv}",
	NULL,
};
static const char *const gpus[] = {
	"p100", "v100", "t4",      "a100-80gb", "rtx3090", "rtx4090",
	"h100", "b200", "rtx5090", "'9.0'",     "gb10",    NULL,
};
static const char *const torches[] = {
	"'*'",    "1.13.1", "2.0.1",  "2.1.2",  "2.2.2",  "2.3.1",  "2.4.1",
	"2.5.1",  "2.6.0",  "2.7.1",  "2.8.0",  "2.9.1",  "2.10.0", "2.11.0",
	"2.12.1", "2.13.0", "2.14.1", "2.15.0", "2.99.0", NULL,
};
static const char *const indexes[] = {
	"cpu",
	"pypi",
	"cu117",
	"cu118",
	"cu121",
	"cu124",
	"cu126",
	"cu128",
	"cu130",
	"cu132",
	"https://example.org/simple",
	NULL,
};
static const char *const with[] = {
	"torchvision", "torchvision==0.17.2", "torchvision==0.26.0",
	"torchaudio",  "torchaudio==2.11.0",  NULL,
};
static const char *const packages[] = {
	"numpy",
	"numpy<2",
	"numpy>=2",
	"numpy==1.26.4",
	"transformers<5",
	"transformers>=5.20",
	"transformers==4.50.3",
	"triton<3",
	"triton>=3.5",
	"setuptools<70",
	"setuptools==70.3.0",
	"setuptools>=82",
	"xformers",
	"xformers==0.0.26.post1",
	"bitsandbytes",
	"einops",
	NULL,
};
static const char *const extensions[] = {
	"causal-conv1d",
	"causal-conv1d==1.1.1",
	"causal-conv1d==1.4.0",
	"causal-conv1d>=1.5.1",
	"causal-conv1d==1.7.0",
	"mamba-ssm",
	"mamba-ssm==1.1.1",
	"mamba-ssm==2.2.4",
	"mamba-ssm>=2.3.2",
	"mamba-ssm<2",
	"flash-attn",
	"flash-attn==2.8.3",
	"flash-attn<2.6",
	"torch-scatter==2.1.2",
	"torch-sparse",
	"natten",
	"gsplat",
	"deepspeed==0.19.8",
	"sageattention",
	"flash-linear-attention",
	"mine==1.0",
	"{name: mamba-ssm, version: 2.2.2, from: sdist}",
	"{name: causal-conv1d, version: 1.4.0, from: release}",
	"{name: apex, git: 'https://github.com/NVIDIA/apex.git', ref: v1}",
	"flash-attn @ https://example.org/"
	"flash_attn-2.7.4.post1+cu12torch2.6cxx11abiFALSE-cp311-cp311-linux_x86_64.whl",
	NULL,
};
static const char *const drivers[] = { "'470.86'", "'525.60.13'", "'550.54.15'", "'580.95.05'",
				       NULL };
static const char *const platforms[] = { "linux/amd64", "linux/arm64", NULL };
static const char *const runtimes[] = { "nvidia/cuda:12.4.1-runtime-ubuntu22.04", "debian:12-slim",
					NULL };
static const char *const modals[] = { "{gpu: H100, timeout_s: 3600}", "{gpu: T4}", "{gpu: 'A10:8'}",
				      "{gpu: B200, builder: '2026.10'}", NULL };
static const char *const envs[] = { "{TORCH_CUDA_ARCH_LIST: '8.0 9.0'}",
				    "{TORCH_CUDA_ARCH_LIST: '12.0+PTX'}",
				    "{CC: gcc-12, CXX: g++-12}", NULL };

static const struct table tables[] = {
	{ "base: ", "", "\n", 1, bases },
	{ "cuda: ", "", "\n", 1, cudas },
	{ "python: ", "", "\n", 1, pythons },
	{ "gpus: [", ", ", "]\n", 6, gpus },
	{ "packages: ['", "', '", "']\n", 5, packages },
	{ "extensions:\n  - ", "\n  - ", "\n", 6, extensions },
	{ "driver: ", "", "\n", 1, drivers },
	{ "platform: ", "", "\n", 1, platforms },
	{ "runtime: ", "", "\n", 1, runtimes },
	{ "modal: ", "", "\n", 1, modals },
	{ "env: ", "", "\n", 1, envs },
};
static const struct table torch_version = { "torch:\n  version: ", "", "\n", 1, torches };
static const struct table torch_index = { "  index: ", "", "\n", 1, indexes };
static const struct table torch_with = { "  with: ['", "', '", "']\n", 2, with };

static void
must(bool holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "does not hold: %s\n", what);
		abort();
	}
}

/* A linear congruential generator, so that a seed always gives the same recipe. */
static unsigned
next(unsigned *seed, unsigned below)
{
	*seed = *seed * 1664525U + 1013904223U;
	return (*seed >> 16) % below;
}

static void
draw(struct buf *out, unsigned *seed, const struct table *t)
{
	unsigned n = 1 + next(seed, t->most), all = 0;

	while (t->values[all])
		all++;
	buf_puts(out, t->head);
	for (unsigned i = 0; i < n; i++)
		buf_printf(out, "%s%s", i ? t->between : "", t->values[next(seed, all)]);
	buf_puts(out, t->tail);
}

/* One top-level key with its values. */
static const char *
draw_key(struct arena *a, unsigned *seed)
{
	const size_t n = sizeof(tables) / sizeof(*tables);
	unsigned which = next(seed, (unsigned)n + 3);
	struct buf out = BUF(a);

	if (which < n) {
		draw(&out, seed, &tables[which]);
		return buf_text(&out);
	}
	draw(&out, seed, &torch_version);
	if (next(seed, 2))
		draw(&out, seed, &torch_index);
	if (!next(seed, 4))
		draw(&out, seed, &torch_with);
	return buf_text(&out);
}

/* Replaces the lines of a key in the text, or adds them at its end. */
static const char *
replace_key(struct arena *a, const char *text, const char *key)
{
	size_t colon = strcspn(key, ":") + 1;
	struct buf out = BUF(a);
	bool within = false;

	for (size_t n; *text; text += n) {
		n = strcspn(text, "\n");
		n += text[n] == '\n';
		if (!strchr(" \t\n#", *text))
			within = !strncmp(text, key, colon);
		if (!within)
			buf_add(&out, text, n);
	}
	if (out.n && out.p[out.n - 1] != '\n')
		buf_putc(&out, '\n');
	buf_puts(&out, key);
	return buf_text(&out);
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	struct arena *a;
	const char *text;
	size_t n;

	if (!next(&seed, 4))
		return LLVMFuzzerMutate(data, size, max);
	a = arena_new();
	text = replace_key(a, arena_copy(a, (const char *)data, size), draw_key(a, &seed));
	n = strlen(text) < max ? strlen(text) : max;
	memcpy(data, text, n);
	arena_free(a);
	return n;
}

static const struct source *
open_text(void *ctx, struct arena *a, struct diags *ds, const char *path, struct span at)
{
	(void)a;
	(void)ds;
	(void)path;
	(void)at;
	return ctx;
}

static const struct plan *
plan_of(void *ctx, struct arena *a, struct diags *ds, const struct recipe *cell)
{
	unsigned before = ds->errors;
	const struct resolve_options none = { 0 };
	const struct stack *s = resolve(a, ds, ctx, cell, &none);
	const struct plan *p = s ? plan_make(a, ds, s, NULL) : NULL;

	must(s || ds->errors > before, "no stack without an error");
	must(p || ds->errors > before, "no plan without an error");
	return p;
}

/* Returns the printed diagnostics of a recipe; *refused: whether there was an error. */
static const char *
judged(struct arena *a, const struct facts *f, const struct source *src, bool *refused)
{
	const struct recipe_options o = { .path = src->path };
	const struct recipes *all;
	struct rendereds files = { 0 };
	const char *said;
	char *text = NULL;
	size_t n = 0;
	FILE *out;
	struct diags ds;

	ds = DIAGS(ds, a);
	all = recipes_load_from(a, &ds, f, &o, open_text, (void *)src);
	must(all || ds.errors, "no recipe without an error");
	if (all) {
		const struct render_input in = { .recipes = all,
						 .facts = f,
						 .plan = plan_of,
						 .ctx = (void *)f,
						 .templates = templates_open(a, &ds, NULL) };
		bool good = render(a, &ds, &in, &files);

		must(good || ds.errors, "nothing is left out without an error");
		must(!good || !ds.errors, "no file where something was refused");
		must(!good || files.n, "a file where nothing was");
	}
	*refused = ds.errors > 0;
	out = open_memstream(&text, &n);
	must(diags_print(&ds, out, false), "diagnostics are printed");
	fclose(out);
	must(n <= DIAG_BYTES_MAX, "within bounds");
	said = arena_copy(a, text, n);
	free(text);
	return said;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct arena *forever;
	static const struct facts *facts;
	struct arena *a = arena_new();
	struct source src = { .path = "r.yaml", .size = size };
	const char *first, *second;
	bool refused, again;
	struct diags ds;

	if (!forever) {
		forever = arena_new();
		ds = DIAGS(ds, forever);
		facts = facts_load(forever, &ds, NULL);
		must(facts != NULL, "the facts can be read");
	}
	src.text = arena_copy(a, (const char *)data, size);
	first = judged(a, facts, &src, &refused);
	second = judged(a, facts, &src, &again);
	must(refused == again && !strcmp(first, second), "judged twice, the same is said");
	arena_free(a);
	return 0;
}

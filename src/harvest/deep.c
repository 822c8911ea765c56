/*
 * Describes the content of a wheel, under its release:
 *
 *     deep:
 *       file: vllm-0.11.0-cp38-abi3-manylinux1_x86_64.whl
 *       cuda: 12                      # major version of needed CUDA libraries
 *       gpus: [sm_80, sm_90a, compute_90]
 *       glibc: "2.31"                 # newest needed symbol version
 *       stable_abi: true              # every extension module is for Python's stable ABI
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/str.h"
#include "inspect/inspect.h"
#include "internal.h"

#define WHEEL_BYTES_MAX ((size_t)4 << 30)

static unsigned
cuda_major(const struct wheel *w)
{
	unsigned major = 0;

	for (size_t i = 0; i < w->objects.n; i++) {
		unsigned n = elf_cuda_major(w->objects.at[i].elf);

		major = n > major ? n : major;
	}
	return major;
}

static const char *
glibc_floor(struct arena *a, const struct wheel *w)
{
	const char *newest = NULL;

	for (size_t i = 0; i < w->objects.n; i++) {
		const char *glibc = w->objects.at[i].elf->glibc;
		const struct version *v = glibc ? version_parse(a, glibc) : NULL;

		if (v && (!newest || version_cmp(version_parse(a, newest), v) < 0))
			newest = glibc;
	}
	return newest;
}

/* Returns whether all extension modules use the stable ABI; TRI_UNKNOWN: there are none. */
static enum tri
stable_abi(const struct wheel *w)
{
	enum tri answer = TRI_UNKNOWN;

	for (size_t i = 0; i < w->objects.n; i++) {
		const char *path = w->objects.at[i].path;

		if (strstr(path, ".cpython-"))
			return TRI_NO;
		if (ends_with(path, ".abi3.so"))
			answer = TRI_YES;
	}
	return answer;
}

static struct names
gpus_of(struct arena *a, const struct wheel *w)
{
	struct gpu_codes all = { 0 };

	for (size_t i = 0; i < w->objects.n; i++)
		for (size_t k = 0; k < w->objects.at[i].codes.n; k++)
			list_push(a, &all, w->objects.at[i].codes.at[k]);
	return gpu_code_names(a, &all);
}

static const char *
describe(struct arena *a, const char *file, const struct wheel *w)
{
	struct buf b = BUF(a);
	struct names gpus = gpus_of(a, w);
	const char *glibc = glibc_floor(a, w);
	enum tri stable = stable_abi(w);

	buf_printf(&b, "    deep:\n      file: %s\n", file);
	if (cuda_major(w))
		buf_printf(&b, "      cuda: %u\n", cuda_major(w));
	if (gpus.n)
		buf_printf(&b, "      gpus: [%s]\n", names_join(a, &gpus, ", "));
	if (glibc)
		buf_printf(&b, "      glibc: \"%s\"\n", glibc);
	if (stable != TRI_UNKNOWN)
		buf_printf(&b, "      stable_abi: %s\n", stable == TRI_YES ? "true" : "false");
	return buf_text(&b);
}

bool
deep_read(struct work *w, struct found_release *r)
{
	const struct index_file *file = r->wheel;
	struct fs_temp temp = { .fd = -1 };
	const char *path = NULL;
	struct http_request q = { .url = file->url,
				  .max = WHEEL_BYTES_MAX,
				  .sha256 = file->sha256,
				  .timeout_s = HTTP_LIMIT_S };
	struct http_answer answer = { 0 };
	const struct wheel *wheel = NULL;
	struct diags ds = DIAGS(ds, w->a);

	if (fs_make_parents(w->a, fs_join(w->a, w->h->how->dir, "x")) &&
	    fs_temp_dir(w->a, fs_join(w->a, w->h->how->dir, "x"), 0700, &temp))
		q.to_path = path = fs_join(w->a, temp.path, file->name);
	if (path)
		proc_remove_at_exhaustion(temp.path);
	if (!path)
		w->why = arena_printf(w->a, "cannot write below `%s`: %s", w->h->how->dir,
				      strerror(errno));
	else if (net_get(w, &q, 0, &answer) && !(wheel = wheel_read(w->a, &ds, path, true)))
		w->why = arena_printf(w->a, "cannot read %s: %s", file->name, ds.head->text);
	if (wheel)
		r->deep = describe(w->a, file->name, wheel);
	fs_temp_drop(&temp);
	return wheel != NULL;
}

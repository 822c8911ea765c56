/* Wheels: keys of compiled wheels, transfers from and to the stores, and checks. */
#include "work.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/fs.h"
#include "base/sha256.h"
#include "base/str.h"
#include "cuda/cuda.h"
#include "inspect/inspect.h"
#include "python/python.h"

/* Returns the names of GPUs: "8.0" -> "sm_80", "9.0+PTX" -> "sm_90" and "compute_90". */
static struct names
gpu_codes(struct work *w)
{
	const struct stack *s = w->plan->stack;
	struct names all = { 0 };

	for (size_t k = 0; k < s->archs.n; k++) {
		const char *arch = s->archs.at[k].value, *nvcc = capability_nvcc(w->a, arch);

		names_once(w->a, &all, arena_printf(w->a, "sm_%s", nvcc));
		if (ends_with(arch, "+PTX"))
			names_once(w->a, &all, arena_printf(w->a, "compute_%s", nvcc));
	}
	return all;
}

/*
 * Sets the requirements on a prebuilt wheel: it must match this torch, and may have code for more
 * GPUs.
 */
static void
want_prebuilt(struct work *w, const struct stack_extension *e, struct store_want *want)
{
	const struct stack *s = w->plan->stack;
	const char *torch = s->torch_base ? s->torch_base : s->torch.value;
	enum tri abi = s->torch_variant ? s->torch_variant->cxx11abi : TRI_UNKNOWN;

	want->prebuilt = want->any_archs = true;
	want->sha256 = e->sha256;
	/* No table has the symbols and the ABI of a preview, which NVIDIA's images contain. */
	if (torch && !version_is_prerelease(version_parse(w->a, torch)))
		want->torch = torch;
	if (s->torch_tag)
		want->cuda_major = cuda_major_of_tag(s->torch_tag);
	if (want->torch && abi != TRI_UNKNOWN)
		want->cxx11_abi = abi == TRI_YES;
	/*
	 * Without `gpus:`, the list has all GPUs of torch's build, and a wheel need not support all
	 * of them.
	 */
	if (!s->recipe->gpus.n)
		want->archs = (struct names){ 0 };
}

void
wheels_wanted(struct work *w)
{
	const struct stack *s = w->plan->stack;
	const char *python = s->python.value; /* "3.11" */

	for (size_t i = 0; i < w->plan->n; i++) {
		const struct step *step = &w->plan->steps[i];
		const struct stack_extension *e = step->extension;
		struct wanted_wheel one = { .step = step,
					    .prebuilt = e && e->source == SOURCE_WHEEL };

		if (!e || (w->o->wheel && strcmp(step->id, w->o->wheel) != 0))
			continue;
		one.want = (struct store_want){
			.name = e->name,
			.version = e->version,
			.python_tag =
				python ? arena_printf(w->a, "cp%.*s%s", (int)strcspn(python, "."),
						      python, strchr(python, '.') + 1) :
					 NULL,
			.machine = recipe_machine(s->recipe),
			.archs = gpu_codes(w),
			.has_kernels = e->known && s->cuda.value && s->archs.n,
			.any_archs = !strcmp(e->arch_flags, "not known"),
			.cxx11_abi = -1,
		};
		if (one.prebuilt)
			want_prebuilt(w, e, &one.want);
		list_push(w->a, &w->wanted, one);
	}
}

bool
wheels_keys(struct work *w, const char *dir)
{
	for (size_t i = 0; i < w->wanted.n; i++) {
		struct wanted_wheel *one = &w->wanted.at[i];
		const char *path = fs_join(w->a, dir, arena_printf(w->a, "%s.json", one->step->id));
		json_auto_t *doc = NULL;
		const struct source *s;
		const json_t *abi;

		if (one->prebuilt)
			continue;
		if (!(s = fs_read_quiet(w->a, path, FS_READ_MAX))) {
			diag_at(w->ds, E_INPUTS, NOWHERE, "cannot read %s", path);
			return false;
		}
		one->inputs = s->text;
		if (!(one->key = store_key(w->a, w->ds, s->text, s->size, NULL)))
			return false;
		doc = json_loadb(s->text, s->size, 0, NULL);
		abi = json_object_get(json_object_get(doc, "torch"), "cxx11abi");
		one->want.cxx11_abi = json_is_boolean(abi) ? json_is_true(abi) : -1;
	}
	return true;
}

/* Records the name and digest of a wheel. */
static bool
name_wheel(struct work *w, struct wanted_wheel *one, const char *path)
{
	const char *sha256;
	size_t size;

	one->file = path;
	if (!(sha256 = sha256_file(w->a, path, &size))) {
		diag_at(w->ds, E_BUILD_FILES, one->step->at, "cannot read %s", path);
		return false;
	}
	one->put = arena_printf(w->a, "%s sha256:%s", fs_name(path), sha256);
	return true;
}

static void
in_context(struct work *w, const struct wanted_wheel *one)
{
	list_push(w->a, &w->hits.wheels,
		  (struct render_wheel){ one->step->id,
					 arena_printf(w->a, ".stackbuild/wheels/%s/%s",
						      one->step->id, fs_name(one->file)) });
}

/* Reports a wheel from a store; more: it also has code for other GPUs. */
static void
told(struct work *w, struct wanted_wheel *one, const struct store *from, bool more)
{
	const struct stack *s = w->plan->stack;
	const char *archs = names_join(w->a, &one->want.archs, " ");

	one->got = store_name(from);
	progress_tick(w->progress, proc_clock_s() - w->began_s);
	progress_stored(w->progress, one->step->id,
			arena_printf(w->a, "from the store (%s%s%storch %s%s%s)", archs,
				     more ? " and more" : "", *archs ? ", " : "", s->torch.value,
				     s->torch_tag ? "+" : "", s->torch_tag ? s->torch_tag : ""));
}

/*
 * Saves a wheel to the nearest store; a read-only store is only a warning, because it costs time
 * later.
 */
static void
put_nearest(struct work *w, const struct wanted_wheel *one, double compile_s, size_t peak_mib)
{
	const struct store_wheel wheel = { one->file, one->inputs, compile_s, peak_mib };
	struct diags found = DIAGS(found, w->a);

	store_put(w->a, &found, w->o->stores.at[0], &wheel, &one->want);
	for (struct diag *f = found.head; f; f = f->next)
		diag_force(f);
	diags_append(w->ds, &found);
}

/* Takes the wheel from one store: the one of its key, or one with code for more GPUs. */
static bool
take(struct work *w, struct wanted_wheel *one, struct store *from, const char *folder)
{
	const char *path, *key = one->key;
	enum store_answer answer = store_get(w->a, w->ds, from, key, &one->want, folder, &path);

	if (answer == STORE_MISS)
		answer = store_get_more(w->a, w->ds, from, one->inputs, &one->want, folder, &path,
					&key);
	if (answer != STORE_HIT || !name_wheel(w, one, path))
		return false;
	told(w, one, from, key != one->key);
	if (key == one->key)
		return true;
	/* Records the wheel's own key. Without inputs, it is not copied to the nearest store. */
	one->key = key;
	one->inputs = NULL;
	return true;
}

bool
wheels_take(struct work *w, const char *dir)
{
	if (!work_make(w, dir))
		return false;
	for (size_t i = 0; i < w->wanted.n; i++) {
		struct wanted_wheel *one = &w->wanted.at[i];
		const char *folder = fs_join(w->a, dir, one->step->id);

		for (size_t k = 0; !one->prebuilt && k < w->o->stores.n && !one->got; k++) {
			if (!take(w, one, w->o->stores.at[k], folder))
				continue;
			if (!own_code_list(w, one, folder))
				return false;
			/* Saves a wheel from a farther store to the nearest one. */
			if (k > 0 && one->inputs)
				put_nearest(w, one, 0, 0);
			in_context(w, one);
		}
	}
	return true;
}

bool
wheels_compile(const struct work *w)
{
	for (size_t i = 0; i < w->wanted.n; i++)
		if (!w->wanted.at[i].prebuilt)
			return true;
	return false;
}

bool
wheels_missing(const struct work *w)
{
	for (size_t i = 0; i < w->wanted.n; i++)
		if (!w->wanted.at[i].got)
			return true;
	return false;
}

static void
refuse(struct work *w, const struct wanted_wheel *one, const struct diags *found)
{
	const struct recipe_extension *asked = one->step->extension->asked;
	const char *id = one->step->id;
	struct diag *d;

	if (one->prebuilt)
		d = diag_at(w->ds, E_PREBUILT_WRONG, one->step->at,
			    "the prebuilt wheel of %s does not match the plan", id);
	else
		d = diag_at(w->ds, E_WHEEL_WRONG, one->step->at,
			    "%s compiled, but its wheel does not match the plan", id);
	for (const struct diag *f = found->head; f; f = f->next) {
		if (!one->prebuilt || f->code != E_STORE_WHEEL)
			diag_why(d, "%s", f->text);
		for (const struct note *n = f->notes; n; n = n->next)
			if (n->kind == NOTE_WHY)
				diag_why(d, "%s", n->text);
	}
	if (one->prebuilt)
		diag_help(d,
			  "use a wheel for this torch, CUDA, Python and these GPUs, or compile "
			  "the extension: %s",
			  asked->url.s            ? "remove `url` and `from`" :
			  asked->from != EXT_AUTO ? "remove `from`" :
						    "write `prefer: source`");
}

/* Takes the only wheel of a directory, and checks it. */
static bool
take_made(struct work *w, struct wanted_wheel *one, const char *folder)
{
	struct names all = { 0 };
	struct diags found = DIAGS(found, w->a);

	if (!fs_list(w->a, w->ds, folder, ".whl", &all))
		return false;
	if (all.n != 1) {
		diag_at(w->ds, one->prebuilt ? E_PREBUILT_WRONG : E_WHEEL_WRONG, one->step->at,
			"%s %s left %zu wheels, not one",
			one->prebuilt ? "downloading" : "compiling", one->step->id, all.n);
		return false;
	}
	if (!name_wheel(w, one, fs_join(w->a, folder, all.at[0])))
		return false;
	if (store_check(w->a, &found, one->file, &one->want))
		return true;
	refuse(w, one, &found);
	return false;
}

bool
wheels_check(struct work *w, const char *dir)
{
	bool good = true;

	for (size_t i = 0; i < w->wanted.n; i++) {
		struct wanted_wheel *one = &w->wanted.at[i];
		const char *folder = fs_join(w->a, dir, one->step->id);
		struct names all = { 0 };
		struct diags unused = DIAGS(unused, w->a);

		/* Without a wheel, the script failed earlier, which is already reported. */
		if (one->prebuilt && fs_list(w->a, &unused, folder, ".whl", &all) && all.n)
			good = take_made(w, one, folder) && good;
	}
	return good;
}

bool
wheels_keep(struct work *w, const char *dir, const char *context)
{
	bool good = true;

	for (size_t i = 0; i < w->wanted.n; i++) {
		struct wanted_wheel *one = &w->wanted.at[i];
		const struct progress_step *s = &w->steps[one->step - w->plan->steps];
		const char *to;

		if (one->got || (one->prebuilt && !context))
			continue;
		if (!take_made(w, one, fs_join(w->a, dir, one->step->id))) {
			good = false;
			continue;
		}
		if (own_code_built(w, one, fs_join(w->a, dir, one->step->id)) && w->o->stores.n &&
		    !one->prebuilt)
			put_nearest(w, one, s->seconds, s->peak_mib);
		if (!context)
			continue;
		to = fs_join(w->a, fs_join(w->a, context, one->step->id), fs_name(one->file));
		if (!work_place(w, one->file, to))
			return false;
		in_context(w, one);
	}
	return good;
}

/* Reads a whole wheel before it is used, and compares its bytes with the inputs of its key. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fs.h"
#include "base/str.h"
#include "cuda/cuda.h"
#include "inspect/inspect.h"
#include "internal.h"
#include "python/python.h"

static struct names
archs_of(struct arena *a, const struct gpu_codes *codes)
{
	struct names all = { 0 };

	for (size_t i = 0; i < codes->n; i++)
		names_once(a, &all, gpu_code_name(a, &codes->at[i]));
	names_sort(&all);
	return all;
}

bool
names_hold(const struct names *all, const struct names *some)
{
	for (size_t i = 0; i < some->n; i++)
		if (!names_have(all, some->at[i]))
			return false;
	return true;
}

static bool
same_set(const struct names *x, const struct names *y)
{
	return names_hold(x, y) && names_hold(y, x);
}

static const char *
archs_words(struct arena *a, const struct names *all)
{
	return all->n ? names_join(a, all, ", ") : "no GPU";
}

/*
 * Returns true if a tag is for a Python: cp311-cp311-linux_x86_64 for cp311, a py3 tag for all, and
 * the stable ABI (cp39-abi3) for all later ones.
 */
static bool
python_fits(const char *tag, const char *want)
{
	size_t n = strcspn(tag, "-");

	if ((strlen(want) == n && !strncmp(tag, want, n)) || starts_with(tag, "py3-"))
		return true;
	return starts_with(tag, "cp3") && starts_with(tag + n, "-abi3-") &&
	       starts_with(want, "cp3") && strtol(tag + 3, NULL, 10) <= strtol(want + 3, NULL, 10);
}

static bool
tag_fits(struct arena *a, const char *tag, const struct store_want *want)
{
	return (!want->python_tag || python_fits(tag, want->python_tag)) &&
	       (!want->machine || ends_with(tag, "-any") ||
		ends_with(tag, arena_printf(a, "_%s", want->machine)));
}

/* Returns true for a version that ==WANTED accepts (PEP 440): "2.3.0" and "2.3+cu130" for "2.3". */
static bool
is_version(struct arena *a, const char *found, const char *wanted)
{
	const struct version *v = version_parse(a, found), *w = version_parse(a, wanted);

	if (!v || !w)
		return !strcmp(found, wanted);
	if (!strchr(wanted, '+'))
		v = version_parse(a, version_public(a, v));
	return !version_cmp(v, w);
}

static void
check_metadata(struct arena *a, struct diag *d, const struct wheel *w,
	       const struct store_want *want)
{
	bool fits = false;

	if (want->name && strcmp(name_normalize(a, w->name), name_normalize(a, want->name)) != 0)
		diag_why(d, "it is the wheel of `%s`, not of `%s`", w->name, want->name);
	if (want->version && !is_version(a, w->version, want->version))
		diag_why(d, "it is version %s, not %s", w->version, want->version);
	for (size_t i = 0; i < w->tags.n; i++)
		fits |= tag_fits(a, w->tags.at[i], want);
	if (!fits)
		diag_why(d, "it is for %s, not for %s on %s", w->tags.n ? w->tags.at[0] : "nothing",
			 want->python_tag ? want->python_tag : "every Python",
			 want->machine ? want->machine : "every machine");
}

/* Returns true for an object of nvcc, which registers its GPU code; without code, it was stripped
 * or built without it. */
static bool
registers_kernels(const struct elf *e)
{
	for (size_t i = 0; i < e->undefined.n; i++)
		if (!strcmp(e->undefined.at[i].name, "__cudaRegisterFatBinary"))
			return true;
	return false;
}

static void
check_object(struct arena *a, struct diag *d, const struct wheel_object *o,
	     const struct names *archs, const struct store_want *want)
{
	const struct elf *e = o->elf;

	if (want->machine && strcmp(e->machine, want->machine))
		diag_why(d, "`%s` is for %s, not for %s", o->path, e->machine, want->machine);
	if (!archs->n && registers_kernels(e))
		diag_why(d, "`%s` was compiled with nvcc, but has no GPU code", o->path);
	if (archs->n && !want->any_archs &&
	    !(want->more_archs ? names_hold(archs, &want->archs) : same_set(archs, &want->archs)))
		diag_why(d, "`%s` has code for %s, but the plan needs %s", o->path,
			 archs_words(a, archs), archs_words(a, &want->archs));
	if ((want->cxx11_abi == 1 && e->old_abi) || (want->cxx11_abi == 0 && e->cxx11_abi))
		diag_why(d, "`%s` was compiled for the %s C++ ABI, and this torch has the %s one",
			 o->path, e->old_abi ? "old" : "new", want->cxx11_abi ? "new" : "old");
}

/* Returns true if the wheel contains a library, which it then does not need from the host or
 * torch. */
static bool
brings(const struct wheel *w, const char *library)
{
	for (size_t i = 0; i < w->objects.n; i++)
		if (!strcmp(fs_name(w->objects.at[i].path), library))
			return true;
	return false;
}

/* Compares a prebuilt wheel with the torch and the CUDA of this stack. */
static void
check_prebuilt(struct arena *a, struct diag *d, const struct wheel *w, const struct wheel_object *o,
	       const struct store_want *want)
{
	struct elf e = *o->elf;
	const char *why = want->torch ? torch_refuses(a, &e, want->torch) : NULL;
	unsigned major;

	e.needed = (struct names){ 0 };
	for (size_t i = 0; i < o->elf->needed.n; i++)
		if (!brings(w, o->elf->needed.at[i]))
			list_push(a, &e.needed, o->elf->needed.at[i]);
	major = elf_cuda_major(&e);
	if (why)
		diag_why(d, "`%s`: %s", o->path, why);
	if (want->cuda_major && major && major != want->cuda_major)
		diag_why(
			d,
			"`%s` needs libraries of CUDA %u, and this torch contains those of CUDA %u",
			o->path, major, want->cuda_major);
}

/*
 * Checks a package with a fixed list of GPUs, which may have code for more GPUs, or PTX, but must
 * run on each GPU.
 */
static void
check_reach(struct arena *a, struct diag *d, const struct names *archs, const char *gpu)
{
	bool reached = !starts_with(gpu, "sm_") || capability_runs(archs, gpu);

	for (size_t i = 0; i < archs->n && !reached; i++)
		reached = starts_with(archs->at[i], "compute_") &&
			  capability_ptx_runs(archs->at[i], gpu);
	if (!reached)
		diag_why(d, "it has code for %s, and none that runs on %s", archs_words(a, archs),
			 gpu);
}

/* Adds the errors of a wheel as reasons to d; false: it could not be read. */
static bool
inspect(struct arena *a, struct arena *scratch, struct diags *ds, struct diag *d, const char *path,
	const struct store_want *want, struct entry *out)
{
	struct names archs = { 0 };
	const struct wheel *w;
	struct diags mine = DIAGS(mine, scratch);

	w = wheel_read(scratch, &mine, path, want->prebuilt);
	for (const struct diag *why = mine.head; why; why = why->next) {
		if (why->code == E_FILE) {
			struct diag *same = diag_at(ds, E_FILE, NOWHERE, "%s: %s", path, why->text);

			for (const struct note *n = why->notes; n; n = n->next)
				diag_line(same, n->kind, NOWHERE, "%s", n->text);
			return false;
		}
		if (diag_severity(why) == SEV_ERROR)
			diag_why(d, "%s", why->text);
	}
	if (!w)
		return true;
	check_metadata(scratch, d, w, want);
	for (size_t i = 0; i < w->objects.n; i++) {
		const struct names some = archs_of(scratch, &w->objects.at[i].codes);

		check_object(scratch, d, &w->objects.at[i], &some, want);
		check_prebuilt(scratch, d, w, &w->objects.at[i], want);
		for (size_t k = 0; k < some.n; k++)
			names_once(scratch, &archs, some.at[k]);
	}
	if (want->sha256 && w->sha256 && strcasecmp(want->sha256, w->sha256) != 0)
		diag_why(d, "its digest is sha256:%s, not sha256:%s", w->sha256, want->sha256);
	/* A wheel for every machine compiles its code at run time. */
	if (want->has_kernels && !archs.n && (w->objects.n || !want->prebuilt))
		diag_why(d, "none of its shared objects has GPU code");
	for (size_t i = 0; want->any_archs && archs.n && i < want->archs.n; i++)
		check_reach(scratch, d, &archs, want->archs.at[i]);
	names_sort(&archs);
	for (size_t i = 0; i < archs.n; i++)
		list_push(a, &out->archs, arena_strdup(a, archs.at[i]));
	out->sha256 = arena_strdup(a, w->sha256);
	out->size = w->size;
	return true;
}

/* Creates the diagnostic first, and adds it only if it has a reason. */
enum store_answer
store_inspect(struct arena *a, struct diags *ds, const char *path, const struct entry *e,
	      const struct store_want *want, struct entry *out)
{
	struct arena *scratch = arena_new();
	enum store_answer answer = STORE_UNREACHABLE;
	struct entry seen = { 0 };
	struct diags mine = DIAGS(mine, ds->arena);
	struct diag *d;

	d = diag_at(&mine, E_STORE_WHEEL, NOWHERE,
		    "the wheel `%s` is damaged or does not match the plan", fs_name(path));
	if (inspect(a, scratch, ds, d, path, want, &seen)) {
		if (e && seen.sha256 &&
		    (seen.size != e->size || strcmp(seen.sha256, e->sha256) != 0))
			diag_why(d, "its digest differs from its entry");
		else if (e && seen.sha256 && !same_set(&seen.archs, &e->archs))
			diag_why(d, "it has code for %s, and its entry lists %s",
				 archs_words(scratch, &seen.archs),
				 archs_words(scratch, &e->archs));
		answer = d->notes ? STORE_REFUSED : STORE_HIT;
	}
	if (answer == STORE_REFUSED)
		diags_append(ds, &mine);
	if (out) {
		out->sha256 = seen.sha256;
		out->size = seen.size;
		out->archs = seen.archs;
	}
	arena_free(scratch);
	return answer;
}

bool
store_check(struct arena *a, struct diags *ds, const char *wheel_path,
	    const struct store_want *want)
{
	return store_inspect(a, ds, wheel_path, NULL, want, NULL) == STORE_HIT;
}

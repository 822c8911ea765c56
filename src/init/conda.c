#include <string.h>

#include "python/python.h"
#include "reader.h"

/*
 * Decides conda's packages: "pytorch==2.2.2=py3.10_cuda12.1", "python=3.10", "conda-forge::numpy<2".
 * Packages that PyPI has under the same name, by the knowledge base, come from there.
 */

/* Returns the name on PyPI of a package of conda; NULL: the knowledge base has no such package. */
static const char *
name_on_pypi(struct init *rd, const char *name)
{
	static const struct {
		const char *conda, *pypi;
	} others[] = {
		{ "pytorch", "torch" },
		{ "pytorch-gpu", "torch" },
		{ "opencv", "opencv-python" },
		{ "py-opencv", "opencv-python" },
		{ "pytables", "tables" },
		{ "msgpack-python", "msgpack" },
		{ "matplotlib-base", "matplotlib" },
		{ "dask-core", "dask" },
		{ "huggingface_hub", "huggingface-hub" },
		{ "tensorboardx", "tensorboardx" },
		{ "pyg", "torch-geometric" },
	};
	const char *key = name_normalize(rd->a, name);

	for (size_t i = 0; i < COUNT(others); i++)
		if (!strcmp(name, others[i].conda))
			return others[i].pypi;
	return among(key, "torchvision torchaudio") || facts_package(rd->f, key) ||
			       facts_package_independent(rd->f, key) ||
			       facts_extension(rd->f, key) ?
		       key :
		       NULL;
}

/* Returns conda's range in the form of pip: "=1.13" is any 1.13, a build after the version is
 * ignored; NULL: pip has no such form. */
static const char *
range_of(struct init *rd, const char *text)
{
	struct arena *a = rd->a;
	const char *p = text + strspn(text, " "), *v;
	size_t dots = 0;

	if (strchr(p, '|') || strchr(p, '['))
		return NULL;
	if (!*p || !strcmp(p, "*"))
		return "";
	if (strpbrk(p, "<>!~"))
		return specifiers_parse(a, p) ? p : NULL;
	v = p + strspn(p, "= ");
	v = arena_copy(a, v, strcspn(v, "= "));
	for (const char *c = v; *c; c++)
		dots += *c == '.';
	v = arena_printf(a, "==%s%s", v,
			 starts_with(p, "==") || dots > 1 || ends_with(v, "*") ? "" : ".*");
	return specifiers_parse(a, v) ? v : NULL;
}

/* Takes the CUDA of a package such as cudatoolkit=11.8. */
static bool
take_cuda(struct init *rd, struct init_item *item, const char *name, const char *range)
{
	const char *v = range ? range + strspn(range, "=") : "";
	size_t n = strspn(v, "0123456789."), minor = strcspn(v, ".") + 1;

	if (!among(name, "pytorch-cuda cudatoolkit cudatoolkit-dev cuda cuda-toolkit cuda-nvcc "
			 "cuda-version") ||
	    !starts_with(range ? range : "", "==") || !is_digit(*v) || n <= minor)
		return false;
	n = minor + strspn(v + minor, "0123456789");
	v = arena_copy(rd->a, v, n);
	if (!strcmp(name, "pytorch-cuda")) {
		item_take(rd, item, "torch.index",
			  arena_printf(rd->a, "cu%.*s%s", (int)minor - 1, v, v + minor));
	} else {
		item->weak = true;
		item_take(rd, item, "cuda", v);
	}
	return true;
}

void
place_conda(struct init *rd, struct init_item *item, const char *text)
{
	const char *channel = strstr(text, "::"), *name, *range, *pypi;

	if (channel)
		item_leave(
			rd,
			item_open(rd, arena_copy(rd->a, text, (size_t)(channel - text)), item->at),
			NO_CHANNEL);
	text = channel ? channel + 2 : text;
	name = arena_copy(rd->a, text, strcspn(text, " =<>!~["));
	range = range_of(rd, text + strlen(name));
	pypi = name_on_pypi(rd, name);
	if (!strcmp(name, "python") && (!range || !*range))
		item_leave(rd, item, "it names no version");
	else if (!strcmp(name, "python"))
		python_range(rd, item, range);
	else if (take_cuda(rd, item, name, range))
		return;
	else if (!strcmp(name, "pip"))
		item_leave(rd, item, "the environment has its own pip");
	else if (among(name, "ffmpeg git git-lfs wget curl")) {
		item_take(rd, item, "apt", name);
		if (!range || *range)
			item_changed(rd, item->at, "`%s` comes from the system, in its version",
				     text);
	} else if (pypi && range) {
		place_requirement(rd, item, arena_printf(rd->a, "%s%s", pypi, range), false);
		if (item->fate == INIT_TAKEN && !starts_with(pypi, "torch") && !rd->conda)
			item_changed(rd, item->at,
				     "`%s`, and every package that PyPI has, comes from there, and "
				     "not from conda",
				     pypi);
		rd->conda |= !starts_with(pypi, "torch");
	} else
		item_unread(rd, item, "add it to `packages` or `apt`, if PyPI or the system has it",
			    pypi ? "pip has no range of versions of this form" :
				   "the knowledge base has no package of this name on PyPI");
}

/* The report on a shared object or program. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/str.h"
#include "inspect/inspect.h"

enum { SYMBOLS_SHOWN = 40 };

static int
by_architecture(const void *px, const void *py)
{
	const struct gpu_code *x = px, *y = py;

	return x->ptx != y->ptx   ? x->ptx - y->ptx :
	       x->arch != y->arch ? (x->arch > y->arch ? 1 : -1) :
				    x->suffix - y->suffix;
}

struct names
gpu_code_names(struct arena *a, const struct gpu_codes *codes)
{
	struct gpu_codes sorted = { 0 };
	struct names names = { 0 };

	for (unsigned waiting = 0; waiting < 2 && !sorted.n; waiting++)
		for (size_t i = 0; i < codes->n; i++)
			if (codes->at[i].relocatable == waiting)
				list_push(a, &sorted, codes->at[i]);
	if (sorted.n)
		qsort(sorted.at, sorted.n, sizeof(*sorted.at), by_architecture);
	for (size_t i = 0; i < sorted.n; i++)
		names_once(a, &names, gpu_code_name(a, &sorted.at[i]));
	return names;
}

/* --- text --- */

/*
 *     _C.so: x86_64, 1.2 MiB, stripped, build ID 5f3a...
 *       needs     libc10.so       not found; `import torch` loads it
 *                 libc.so.6       /lib/x86_64-linux-gnu/libc.so.6 (system)
 *       floors    GLIBC_2.17, GLIBCXX_3.4.21
 *       GPU code  sm_80, sm_90, compute_90: 4 entries, 1.0 MiB
 *       undefined 12 symbols, 3 weak ones; 8 have a version of libc.so.6
 *                 c10::Error::what() const
 */
static void
line(struct buf *out, const char *key, const char *value)
{
	buf_printf(out, "  %-9s %s\n", key, value);
}

static bool
is_of_torch(const char *library)
{
	return starts_with(library, "libtorch") || starts_with(library, "libc10");
}

static void
libraries_text(struct arena *a, const struct object_shown *o, struct buf *out)
{
	int width = 0;

	for (size_t i = 0; i < o->libraries.n; i++)
		if ((int)strlen(o->libraries.at[i].name) > width)
			width = (int)strlen(o->libraries.at[i].name);
	for (size_t i = 0; i < o->libraries.n; i++) {
		const struct library *l = &o->libraries.at[i];

		line(out, i ? "" : "needs",
		     arena_printf(a, "%-*s  %s%s%s%s", width, l->name,
				  l->path              ? l->path :
				  is_of_torch(l->name) ? "not found; `import torch` loads it" :
							 "not found on this host",
				  l->by ? " (" : "", l->by ? l->by : "", l->by ? ")" : ""));
	}
}

static void
floors_text(struct arena *a, const struct elf *e, struct buf *out)
{
	struct names floors = { 0 };

	if (e->glibc)
		list_printf(a, &floors, "GLIBC_%s", e->glibc);
	if (e->glibcxx)
		list_printf(a, &floors, "GLIBCXX_%s", e->glibcxx);
	if (e->cxxabi)
		list_printf(a, &floors, "CXXABI_%s", e->cxxabi);
	if (floors.n)
		line(out, "floors", names_join(a, &floors, ", "));
	if (e->cxx11_abi || e->old_abi)
		line(out, "C++ ABI",
		     e->cxx11_abi && e->old_abi ? "both std::string ABIs" :
		     e->cxx11_abi ? "the C++11 std::string (_GLIBCXX_USE_CXX11_ABI=1)" :
				    "the old std::string (_GLIBCXX_USE_CXX11_ABI=0)");
}

static void
gpu_text(struct arena *a, const struct gpu_codes *codes, struct buf *out)
{
	const struct names names = gpu_code_names(a, codes);
	uint64_t size = 0;

	for (size_t i = 0; i < codes->n; i++)
		size += codes->at[i].size;
	if (codes->n)
		line(out, "GPU code",
		     arena_printf(a, "%s: %zu entries, %s", names_join(a, &names, ", "), codes->n,
				  bytes_words(a, (double)size)));
}

/* Prints the undefined symbols: their number for each library if they have a version, otherwise
 * their names. */
static void
undefined_text(struct arena *a, const struct elf *e, struct buf *out)
{
	struct names libraries = { 0 };
	size_t shown = 0, plain = 0;

	for (size_t i = 0; i < e->undefined.n; i++) {
		plain += !e->undefined.at[i].file;
		if (e->undefined.at[i].file)
			names_once(a, &libraries, e->undefined.at[i].file);
	}
	line(out, "undefined",
	     arena_printf(a, "%zu symbols (%zu with a version%s%s), and %zu weak ones",
			  e->undefined.n, e->undefined.n - plain, libraries.n ? " of " : "",
			  names_join(a, &libraries, ", "), e->weak.n));
	for (size_t i = 0; i < e->undefined.n && shown < SYMBOLS_SHOWN; i++)
		if (!e->undefined.at[i].file) {
			line(out, "", symbol_demangled(a, e->undefined.at[i].name));
			shown++;
		}
	if (plain > shown)
		line(out, "",
		     arena_printf(a, "and %zu more; --format json lists all", plain - shown));
}

/* Writes the torch releases that have the imported symbols of torch. */
static void
torch_text(struct arena *a, const struct elf *e, struct buf *out)
{
	const struct torch_span s = torch_releases(a, e);

	if (!s.sentence)
		return;
	line(out, "torch",
	     arena_printf(a, "%s (%zu of its %zu symbols of torch are in the table)", s.sentence,
			  s.known, s.imported));
	if (s.lacking)
		line(out, "",
		     arena_printf(a, "the newest release lacks %s",
				  symbol_demangled(a, s.lacking)));
}

void
object_text(struct arena *a, const struct object_shown *o, struct buf *out)
{
	const struct elf *e = o->elf;

	buf_printf(out, "%s: %s, %s, %s%s%s\n", o->path, e->machine,
		   bytes_words(a, (double)o->size),
		   e->stripped ? "stripped" :
		   e->debug    ? "with debug information" :
				 "not stripped",
		   e->build_id ? ", build ID " : "", e->build_id ? e->build_id : "");
	if (e->soname)
		line(out, "soname", e->soname);
	if (e->rpath)
		line(out, e->is_rpath ? "RPATH" : "RUNPATH", e->rpath);
	libraries_text(a, o, out);
	floors_text(a, e, out);
	gpu_text(a, o->codes, out);
	undefined_text(a, e, out);
	line(out, "defined", arena_printf(a, "%zu symbols", e->defined.n));
	torch_text(a, e, out);
}

/* --- JSON --- */

/* Adds the names of symbols, each once. */
static void
put_names(struct json *j, struct map *seen, const struct elf_symbols *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (!map_put(seen, all->at[i].name, (void *)(uintptr_t)all->at[i].name))
			json_text(j, NULL, all->at[i].name);
}

static void
put_versions(struct arena *a, struct json *j, const char *key, const struct elf_symbols *all)
{
	json_list(j, key);
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].version)
			json_text(j, NULL,
				  arena_printf(a, "%s@%s", all->at[i].name, all->at[i].version));
	json_end(j);
}

static void
symbols_json(struct arena *a, const struct elf *e, struct json *j)
{
	struct map undefined = MAP(a), weak = MAP(a), defined = MAP(a);

	json_list(j, "undefined");
	put_names(j, &undefined, &e->undefined);
	put_names(j, &undefined, &e->weak);
	json_end(j);
	json_list(j, "weak");
	put_names(j, &weak, &e->weak);
	json_end(j);
	json_list(j, "defined");
	put_names(j, &defined, &e->defined);
	json_end(j);
	put_versions(a, j, "undefined_versions", &e->undefined);
	put_versions(a, j, "defined_versions", &e->defined);
	json_map(j, "demangled");
	for (size_t i = 0; i < e->undefined.n; i++) {
		const char *name = e->undefined.at[i].name, *text = symbol_demangled(a, name);

		if (text != name && map_put(&undefined, name, NULL))
			json_text(j, name, text);
	}
	json_end(j);
}

static void
codes_json(struct arena *a, const struct gpu_codes *codes, struct json *j)
{
	const struct names names = gpu_code_names(a, codes);

	json_names(j, "gpu", &names);
	json_list(j, "gpu_code");
	list_each (c, codes)
		json_put(j, "('name': %s, 'size': %f, 'compressed': %b, 'relocatable': %b)",
			 gpu_code_name(a, c), (double)c->size, c->compressed, c->relocatable);
	json_end(j);
}

void
object_json(struct arena *a, const struct object_shown *o, struct json *j)
{
	const struct elf *e = o->elf;
	struct torch_span torch;

	json_put(j, "'machine': %s, 'soname': %s, 'needed': %n, 'rpath': %s, 'size': %f",
		 e->machine, e->soname, &e->needed, e->rpath, (double)o->size);
	json_list(j, "libraries");
	for (size_t i = 0; i < o->libraries.n; i++)
		json_put(j, "('name': %s, 'path': %s, 'by': %s)", o->libraries.at[i].name,
			 o->libraries.at[i].path, o->libraries.at[i].by);
	json_end(j);
	json_put(j,
		 "'glibc': %s, 'glibcxx': %s, 'cxxabi': %s, 'cxx11_abi': %b, 'old_abi': %b, "
		 "'build_id': %s, 'stripped': %b, 'debug': %b",
		 e->glibc, e->glibcxx, e->cxxabi, e->cxx11_abi, e->old_abi, e->build_id,
		 e->stripped, e->debug);
	codes_json(a, o->codes, j);
	if (o->brief)
		return;
	torch = torch_releases(a, e);
	json_put(j,
		 "'torch': {'releases': %n, 'built_for': %s, 'known': %f, 'imported': %f, "
		 "'lacking': %s}",
		 &torch.releases, torch.sentence, (double)torch.known, (double)torch.imported,
		 torch.lacking);
	symbols_json(a, e, j);
}

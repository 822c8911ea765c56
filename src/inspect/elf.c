#include "inspect/internal.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"

bool
inspect_refuse(struct diags *ds, enum code code, const char *name, const char *fmt, ...)
{
	struct source *src = arena_new_of(ds->arena, struct source);
	va_list ap;

	src->path = arena_strdup(ds->arena, name);
	va_start(ap, fmt);
	diag_at(ds, code, (struct span){ .src = src }, "%s", arena_vprintf(ds->arena, fmt, ap));
	va_end(ap);
	return false;
}

/* Returns true if every segment and section in the headers exists. */
static bool
is_whole(const struct image *m)
{
	const GElf_Ehdr *h = &m->header;
	size_t segments, sections;
	GElf_Phdr p;

	/* libelf counts no entries of a table outside of the file. */
	if (elf_getphdrnum(m->elf, &segments) || elf_getshdrnum(m->elf, &sections) ||
	    segments < h->e_phnum || sections < h->e_shnum ||
	    !fits(h->e_phoff, segments, sizeof(Elf64_Phdr), m->n) ||
	    !fits(h->e_shoff, sections, sizeof(Elf64_Shdr), m->n))
		return false;
	for (size_t i = 0; i < segments; i++)
		if (!gelf_getphdr(m->elf, (int)i, &p) ||
		    (p.p_type == PT_LOAD && !fits(p.p_offset, p.p_filesz, 1, m->n)))
			return false;
	return true;
}

bool
image_open(struct image *m)
{
	const unsigned char *b = m->bytes;
	const GElf_Ehdr *h = &m->header;

	if (m->n < EI_NIDENT || memcmp(b, ELFMAG, SELFMAG))
		return inspect_refuse(m->ds, E_ELF, m->name, "not an ELF file");
	if (b[EI_CLASS] != ELFCLASS64 || b[EI_DATA] != ELFDATA2LSB)
		return inspect_refuse(m->ds, E_ELF, m->name,
				      "an ELF file, but not for a 64-bit little-endian machine");
	elf_version(EV_CURRENT);
	/* libelf only reads it: elf_memory opens with ELF_C_READ. */
	m->elf = elf_memory((char *)(uintptr_t)m->bytes, m->n);
	if (!m->elf || elf_kind(m->elf) != ELF_K_ELF || !gelf_getehdr(m->elf, &m->header))
		return inspect_refuse(m->ds, E_ELF, m->name, "its ELF header cannot be read");
	return ((!h->e_phnum || h->e_phentsize == sizeof(Elf64_Phdr)) &&
		(!h->e_shoff || h->e_shentsize == sizeof(Elf64_Shdr)) && is_whole(m)) ||
	       inspect_refuse(m->ds, E_ELF, m->name,
			      "it is truncated: it has %zu bytes, fewer than its headers declare",
			      m->n);
}

/* --- the data of the dynamic loader, by its sections --- */

enum { DYNAMIC, SYMBOLS, SYMBOL_VERSIONS, NEEDED_VERSIONS, DEFINED_VERSIONS, TABLES };

static const struct {
	unsigned type;
	size_t size; /* size of an entry, if all have the same */
} kinds[TABLES] = {
	[DYNAMIC] = { SHT_DYNAMIC, sizeof(Elf64_Dyn) },
	[SYMBOLS] = { SHT_DYNSYM, sizeof(Elf64_Sym) },
	[SYMBOL_VERSIONS] = { SHT_GNU_versym, sizeof(Elf64_Versym) },
	[NEEDED_VERSIONS] = { SHT_GNU_verneed, 1 },
	[DEFINED_VERSIONS] = { SHT_GNU_verdef, 1 },
};

struct table {
	Elf_Data *data; /* NULL if there is none */
	size_t n, strings;
};

enum {
	VERSIONS = 0x8000,       /* an index has 15 bits */
	VERSION_STEPS = 1 << 20, /* limit of the walk, because chains may share entries */
	BUILD_ID_MAX = 64,       /* maximum bytes of a build ID */
	NAMES_RATIO = 4,         /* maximum bytes of all names, in sizes of the file */
};

struct dynamic {
	struct image *m;
	struct table tables[TABLES];
	const char **versions; /* version names by index; NULL without a version */
	const char **files;    /* by the same index, the library that must provide the version */
	unsigned steps;
	uint64_t name_bytes;
};

static const char out_of_table[] = "its table of versions extends past the end of the file";

static bool
broken(const struct dynamic *d, const char *what)
{
	return inspect_refuse(d->m->ds, E_ELF, d->m->name, "%s", what);
}

static bool
find_tables(struct dynamic *d)
{
	GElf_Shdr h;

	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(d->m->elf, scn));)
		for (size_t i = gelf_getshdr(scn, &h) ? 0 : TABLES; i < TABLES; i++) {
			struct table *t = &d->tables[i];

			if (h.sh_type != kinds[i].type)
				continue;
			if (!(t->data = elf_getdata(scn, NULL)))
				return broken(d, "a section of its dynamic linking extends past "
						 "the end of the file");
			t->n = t->data->d_size / kinds[i].size;
			t->strings = h.sh_link;
		}
	return true;
}

/* Returns a text of the string table that belongs to a table; NULL: there is none, or all names
 * together have many times the bytes of the file, because they overlap. */
static const char *
string(struct dynamic *d, const struct table *t, uint64_t at)
{
	const char *s = elf_strptr(d->m->elf, t->strings, at);

	if (!s || (d->name_bytes += strlen(s)) > NAMES_RATIO * d->m->n)
		return NULL;
	return arena_strdup(d->m->a, s);
}

static bool
read_names(struct dynamic *d, int64_t tag, struct names *out)
{
	const struct table *t = &d->tables[DYNAMIC];
	GElf_Dyn entry;

	for (size_t i = 0; i < t->n && gelf_getdyn(t->data, (int)i, &entry); i++) {
		const char *s;

		if (entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag != tag)
			continue;
		if (!(s = string(d, t, entry.d_un.d_val)))
			return broken(d, "its dynamic section has an empty name");
		list_push(d->m->a, out, s);
	}
	return true;
}

/* Keeps the newest version of a prefix such as "GLIBC_": 2.4 is older than 2.34. */
static void
newest(const char *version, const char *prefix, const char **best)
{
	const char *number = version + strlen(prefix);

	if (!starts_with(version, prefix) || !is_digit(*number))
		return;
	if (!*best || strverscmp(number, *best) > 0)
		*best = number;
}

/* Returns true if an entry of a chain of versions is within the data. */
static bool
may_read(struct dynamic *d, const struct table *t, size_t at)
{
	return at < t->n && at <= INT_MAX && ++d->steps <= VERSION_STEPS;
}

static bool
name_version(struct dynamic *d, const struct table *t, unsigned index, uint64_t name)
{
	const char *s = string(d, t, name);

	d->versions[index & (VERSIONS - 1)] = s;
	return s || broken(d, "a version has no name");
}

static bool
read_needed_versions(struct dynamic *d, struct elf *e)
{
	const struct table *t = &d->tables[NEEDED_VERSIONS];
	GElf_Verneed v = { .vn_next = t->n > 0 };

	for (size_t at = 0; v.vn_next; at += v.vn_next) {
		const char *file;
		GElf_Vernaux x = { .vna_next = 1 };
		size_t aux;

		if (!may_read(d, t, at) || !gelf_getverneed(t->data, (int)at, &v))
			return broken(d, out_of_table);
		aux = at + v.vn_aux;
		if (!(file = string(d, t, v.vn_file)))
			return broken(d, "it needs a version from a library without a name");
		for (unsigned n = v.vn_cnt; n && x.vna_next; n--, aux += x.vna_next) {
			const char **s;

			if (!may_read(d, t, aux) || !gelf_getvernaux(t->data, (int)aux, &x))
				return broken(d, out_of_table);
			if (!name_version(d, t, x.vna_other, x.vna_name))
				return false;
			s = &d->versions[x.vna_other & (VERSIONS - 1)];
			d->files[x.vna_other & (VERSIONS - 1)] = file;
			newest(*s, "GLIBC_", &e->glibc);
			newest(*s, "GLIBCXX_", &e->glibcxx);
			newest(*s, "CXXABI_", &e->cxxabi);
		}
	}
	return true;
}

static bool
read_defined_versions(struct dynamic *d)
{
	const struct table *t = &d->tables[DEFINED_VERSIONS];
	GElf_Verdef v = { .vd_next = t->n > 0 };
	GElf_Verdaux x;

	for (size_t at = 0; v.vd_next; at += v.vd_next) {
		if (!may_read(d, t, at) || !gelf_getverdef(t->data, (int)at, &v) ||
		    !may_read(d, t, at + v.vd_aux) ||
		    !gelf_getverdaux(t->data, (int)(at + v.vd_aux), &x))
			return broken(d, out_of_table);
		/* The first version is that of the file itself. */
		if (!(v.vd_flags & VER_FLG_BASE) && !name_version(d, t, v.vd_ndx, x.vda_name))
			return false;
	}
	return true;
}

static bool
keep_symbol(struct dynamic *d, const GElf_Sym *s, unsigned version, struct elf *e)
{
	unsigned char bind = GELF_ST_BIND(s->st_info), seen = GELF_ST_VISIBILITY(s->st_other);
	struct elf_symbol symbol = { .name = string(d, &d->tables[SYMBOLS], s->st_name) };

	if (!symbol.name)
		return broken(d, "a symbol has no name");
	if (!*symbol.name || (bind != STB_GLOBAL && bind != STB_WEAK && bind != STB_GNU_UNIQUE))
		return true;
	symbol.version = d->versions[version];
	if (s->st_shndx == SHN_UNDEF) {
		symbol.file = d->files[version];
		if (bind != STB_WEAK)
			abi_note(symbol.name, e);
		list_push(d->m->a, bind == STB_WEAK ? &e->weak : &e->undefined, symbol);
	} else if (s->st_shndx != SHN_ABS && (seen == STV_DEFAULT || seen == STV_PROTECTED) &&
		   version != VER_NDX_LOCAL) {
		list_push(d->m->a, &e->defined, symbol);
	}
	return true;
}

static bool
read_symbols(struct dynamic *d, struct elf *e)
{
	const struct table *t = &d->tables[SYMBOLS], *versions = &d->tables[SYMBOL_VERSIONS];

	if (versions->data && versions->n < t->n)
		return broken(d, "its table of symbol versions is too short");
	for (size_t i = 1; i < t->n; i++) {
		GElf_Versym version = VER_NDX_GLOBAL;
		GElf_Sym s;

		if (!gelf_getsym(t->data, (int)i, &s) ||
		    (versions->data && !gelf_getversym(versions->data, (int)i, &version)))
			return broken(d, "its symbols cannot be read");
		if (!keep_symbol(d, &s, version & (VERSIONS - 1), e))
			return false;
	}
	return true;
}

static bool
read_dynamic(struct dynamic *d, struct elf *e)
{
	struct names sonames = { 0 }, paths = { 0 };

	if (!find_tables(d) || !read_names(d, DT_NEEDED, &e->needed) ||
	    !read_names(d, DT_SONAME, &sonames) || !read_names(d, DT_RUNPATH, &paths))
		return false;
	/* The loader uses DT_RPATH only without a DT_RUNPATH. */
	e->is_rpath = !paths.n;
	if ((e->is_rpath && !read_names(d, DT_RPATH, &paths)) || !read_needed_versions(d, e) ||
	    !read_defined_versions(d) || !read_symbols(d, e))
		return false;
	e->soname = sonames.n ? sonames.at[0] : NULL;
	e->rpath = paths.n ? paths.at[0] : NULL;
	for (size_t i = 0; i < paths.n; i++) {
		const struct names parts = names_split(d->m->a, paths.at[i], ':');

		for (size_t k = 0; k < parts.n; k++)
			if (*parts.at[k])
				list_push(d->m->a, &e->runpath, parts.at[k]);
	}
	return true;
}

/* Reads the build ID of a note section: type NT_GNU_BUILD_ID of the owner "GNU". */
static void
read_build_id(struct image *m, Elf_Data *data, struct elf *e)
{
	GElf_Nhdr h;
	size_t name, text;

	for (size_t at = 0; data && (at = gelf_getnote(data, at, &h, &name, &text)) > 0;) {
		struct buf hex = BUF(m->a);

		if (h.n_type != NT_GNU_BUILD_ID || h.n_namesz != sizeof(ELF_NOTE_GNU) ||
		    memcmp((const char *)data->d_buf + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)))
			continue;
		for (size_t i = 0; i < h.n_descsz && i < BUILD_ID_MAX; i++)
			buf_printf(&hex, "%02x", ((const unsigned char *)data->d_buf)[text + i]);
		e->build_id = buf_text(&hex);
	}
}

/* Reads names and types of sections: the build ID, and the sections that strip(1) removes. */
static bool
read_sections(struct image *m, struct elf *e)
{
	size_t names;
	GElf_Shdr h;

	e->stripped = true;
	if (!m->header.e_shoff)
		return true;
	if (elf_getshdrstrndx(m->elf, &names))
		return inspect_refuse(m->ds, E_ELF, m->name, "its section headers cannot be read");
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(m->elf, scn));) {
		const char *name =
			gelf_getshdr(scn, &h) ? elf_strptr(m->elf, names, h.sh_name) : NULL;

		if (!name)
			continue;
		if (h.sh_type == SHT_SYMTAB)
			e->stripped = false;
		if (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info"))
			e->debug = true;
		if (h.sh_type == SHT_NOTE && !e->build_id)
			read_build_id(m, elf_getdata(scn, NULL), e);
	}
	return true;
}

const struct elf *
elf_read(struct arena *a, struct diags *ds, const char *name, const void *bytes, size_t n)
{
	struct elf *e = arena_new_of(a, struct elf);
	struct image m = { .a = a, .ds = ds, .name = name, .bytes = bytes, .n = n };
	CLEANUP_ARENA struct arena *scratch = arena_new();
	struct dynamic d = { .m = &m,
			     .versions = arena_array_of(scratch, const char *, VERSIONS),
			     .files = arena_array_of(scratch, const char *, VERSIONS) };
	bool good = image_open(&m);
	CLEANUP_ELF Elf *handle = m.elf;

	(void)handle;
	if (!good)
		return NULL;
	e->machine = m.header.e_machine == EM_X86_64 ? "x86_64" :
		     m.header.e_machine == EM_AARCH64 ?
						       "aarch64" :
						       arena_printf(a, "EM_%u", m.header.e_machine);
	return read_dynamic(&d, e) && read_sections(&m, e) ? e : NULL;
}

unsigned
elf_cuda_major(const struct elf *e)
{
	static const char *const libraries[] = { "libcudart.so.", "libcublas.so.",
						 "libcublasLt.so.", "libnvrtc.so.",
						 "libnvJitLink.so." };
	unsigned major = 0;

	for (size_t i = 0; i < e->needed.n; i++)
		for (size_t k = 0; k < COUNT(libraries); k++) {
			const char *name = e->needed.at[i], *of = libraries[k];
			unsigned long n =
				starts_with(name, of) ? strtoul(name + strlen(of), NULL, 10) : 0;

			major = n > major && n < 100 ? (unsigned)n : major;
		}
	return major;
}

#include "inspect/internal.h"

#include <string.h>

#include "base/str.h"

/*
 * What the dynamic loader would see: the tables that PT_DYNAMIC names, found through the
 * segments.  Section headers may be missing or lie; the loader never looks at them.
 */
struct dynamic {
	struct image *m;
	struct arena *scratch;
	const Elf64_Dyn *entries;
	size_t n_entries;
	const char *strings; /* a copy, ends with a NUL of ours */
	size_t n_strings;
	const char **versions; /* by index, NULL where there is none */
};

enum {
	VERSIONS = 0x8000,       /* an index has 15 bits */
	VERSION_STEPS = 1 << 20, /* entries that are walked through: chains may share theirs */
};

static bool
broken(const struct dynamic *d, const char *what)
{
	return inspect_refuse(d->m->ds, E_ELF, d->m->name, "%s", what);
}

/* The value of an entry; false: there is none. */
static bool
entry(const struct dynamic *d, int64_t tag, uint64_t *value)
{
	for (size_t i = 0; i < d->n_entries; i++)
		if (d->entries[i].d_tag == tag) {
			*value = d->entries[i].d_un.d_val;
			return true;
		}
	return false;
}

/* Where an address lies in the file, and how much of its segment follows; NULL: nowhere. */
static const unsigned char *
at_address(const struct dynamic *d, uint64_t address, size_t *n)
{
	for (size_t i = 0; i < d->m->n_segments; i++) {
		const Elf64_Phdr *p = &d->m->segments[i];

		if (p->p_type != PT_LOAD || address < p->p_vaddr ||
		    address - p->p_vaddr >= p->p_filesz)
			continue;
		*n = p->p_filesz - (address - p->p_vaddr);
		return d->m->bytes + p->p_offset + (address - p->p_vaddr);
	}
	return NULL;
}

/* `count` things of a size at an address, aligned as C wants them; NULL: not in the file. */
static const void *
table(const struct dynamic *d, uint64_t address, uint64_t count, size_t size)
{
	size_t n = 0;
	const unsigned char *p = at_address(d, address, &n);

	if (!p || !fits(0, count, size, n))
		return NULL;
	return memcpy(arena_alloc(d->scratch, count * size, 8), p, count * size);
}

static const char *
string(const struct dynamic *d, uint64_t at)
{
	return at < d->n_strings ? d->strings + at : NULL;
}

static bool
read_strings(struct dynamic *d)
{
	uint64_t address, size;
	size_t n = 0;
	const unsigned char *p;

	if (!entry(d, DT_STRTAB, &address) || !entry(d, DT_STRSZ, &size))
		return broken(d, "its dynamic section names no string table");
	p = at_address(d, address, &n);
	if (!p || size > n || !size || p[size - 1])
		return broken(d, "its string table does not lie in the file, or has no end");
	d->strings = arena_copy(d->m->a, (const char *)p, size);
	d->n_strings = size;
	return true;
}

static bool
read_names(const struct dynamic *d, int64_t tag, struct names *out)
{
	for (size_t i = 0; i < d->n_entries; i++) {
		const char *s;

		if (d->entries[i].d_tag != tag)
			continue;
		if (!(s = string(d, d->entries[i].d_un.d_val)))
			return broken(d, "a name of its dynamic section has no text");
		list_push(d->m->a, out, s);
	}
	return true;
}

/* "/a:$ORIGIN/b": each folder. */
static void
split_path(struct arena *a, const char *path, struct names *out)
{
	for (const char *end; *path; path = *end ? end + 1 : end) {
		end = strchrnul(path, ':');
		if (end > path)
			list_push(a, out, arena_copy(a, path, (size_t)(end - path)));
	}
}

/* "GLIBC_2.34" against the newest so far: 2.4 is older than 2.34. */
static void
newest(const char *version, const char *prefix, const char **best)
{
	const char *number = version + strlen(prefix);

	if (!starts_with(version, prefix) || !is_digit(*number))
		return;
	if (!*best || strverscmp(number, *best) > 0)
		*best = number;
}

/* A chain of structures in the file, each with the distance to the next. */
struct chain {
	const struct dynamic *d;
	const unsigned char *p;
	size_t n;
	uint64_t count;
	unsigned steps;
};

/* The table that two entries name by address and count; count 0: there is none. */
static bool
open_chain(const struct dynamic *d, int64_t tag, int64_t count_tag, struct chain *c)
{
	uint64_t address, count;

	*c = (struct chain){ .d = d };
	if (!entry(d, tag, &address) || !entry(d, count_tag, &count))
		return true;
	c->count = count;
	c->p = at_address(d, address, &c->n);
	return c->p || broken(d, "its table of versions does not lie in the file");
}

static bool
take(struct chain *c, size_t at, void *to, size_t size)
{
	if (!fits(at, 1, size, c->n) || ++c->steps > VERSION_STEPS)
		return broken(c->d, "its table of versions leaves the file");
	memcpy(to, c->p + at, size);
	return true;
}

static bool
name_version(struct dynamic *d, unsigned index, uint64_t name, const char **out)
{
	*out = string(d, name);
	if (!*out)
		return broken(d, "a version has no name");
	d->versions[index & (VERSIONS - 1)] = *out;
	return true;
}

static bool
read_verneed(struct dynamic *d, struct elf *e)
{
	struct chain c;
	Elf64_Verneed v = { 0 };
	size_t at = 0;

	if (!open_chain(d, DT_VERNEED, DT_VERNEEDNUM, &c))
		return false;
	for (; c.count; c.count = v.vn_next ? c.count - 1 : 0, at += v.vn_next) {
		Elf64_Vernaux x = { 0 };
		const char *s;
		size_t aux;

		if (!take(&c, at, &v, sizeof(v)))
			return false;
		aux = at + v.vn_aux;
		for (unsigned n = v.vn_cnt; n; n = x.vna_next ? n - 1 : 0, aux += x.vna_next) {
			if (!take(&c, aux, &x, sizeof(x)) ||
			    !name_version(d, x.vna_other, x.vna_name, &s))
				return false;
			newest(s, "GLIBC_", &e->glibc);
			newest(s, "GLIBCXX_", &e->glibcxx);
		}
	}
	return true;
}

static bool
read_verdef(struct dynamic *d)
{
	struct chain c;
	Elf64_Verdef v = { 0 };
	Elf64_Verdaux x;
	const char *s;
	size_t at = 0;

	if (!open_chain(d, DT_VERDEF, DT_VERDEFNUM, &c))
		return false;
	for (; c.count; c.count = v.vd_next ? c.count - 1 : 0, at += v.vd_next) {
		if (!take(&c, at, &v, sizeof(v)) || !take(&c, at + v.vd_aux, &x, sizeof(x)))
			return false;
		/* The first one names the file itself. */
		if (!(v.vd_flags & VER_FLG_BASE) && !name_version(d, v.vd_ndx, x.vda_name, &s))
			return false;
	}
	return true;
}

/* DT_GNU_HASH knows how many symbols there are: the end of the chain that starts last. */
static bool
count_by_gnu_hash(const struct dynamic *d, uint64_t address, size_t *count)
{
	size_t n = 0, last = 0, chains;
	const unsigned char *p = at_address(d, address, &n);
	uint32_t head[4], word;

	if (!p || n < sizeof(head))
		return broken(d, "its hash table does not lie in the file");
	memcpy(head, p, sizeof(head));
	if (!fits(sizeof(head), head[2], 8, n) ||
	    !fits(sizeof(head) + (size_t)head[2] * 8, head[0], 4, n))
		return broken(d, "its hash table leaves the file");
	p += sizeof(head) + (size_t)head[2] * 8;
	n -= sizeof(head) + (size_t)head[2] * 8;
	for (size_t i = 0; i < head[0]; i++) {
		memcpy(&word, p + 4 * i, 4);
		last = word > last ? word : last;
	}
	*count = head[1];
	if (last < head[1])
		return true;
	chains = 4 * (size_t)head[0];
	do {
		if (!fits(chains + 4 * (last - head[1]), 1, 4, n))
			return broken(d, "a chain of its hash table has no end");
		memcpy(&word, p + chains + 4 * (last - head[1]), 4);
		last++;
	} while (!(word & 1));
	*count = last;
	return true;
}

static bool
count_by_hash(const struct dynamic *d, size_t *count)
{
	uint64_t address;
	uint32_t head[2];
	const unsigned char *p;
	size_t n = 0;

	if (entry(d, DT_GNU_HASH, &address))
		return count_by_gnu_hash(d, address, count);
	if (!entry(d, DT_HASH, &address))
		return true;
	if (!(p = at_address(d, address, &n)) || n < sizeof(head))
		return broken(d, "its hash table does not lie in the file");
	memcpy(head, p, sizeof(head));
	*count = head[1];
	return true;
}

/* Hash tables hold what is defined: where that is nothing, only a section header has the count. */
static bool
count_symbols(const struct dynamic *d, uint64_t symbols, size_t *count)
{
	*count = 0;
	if (!count_by_hash(d, count))
		return false;
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(d->m->elf, scn));) {
		const void *found = elf64_getshdr(scn);
		Elf64_Shdr h = { 0 };

		if (found)
			memcpy(&h, found, sizeof(h));
		if (h.sh_type == SHT_DYNSYM && h.sh_addr == symbols &&
		    h.sh_size / sizeof(Elf64_Sym) > *count)
			*count = h.sh_size / sizeof(Elf64_Sym);
	}
	return true;
}

static bool
keep_symbol(const struct dynamic *d, const Elf64_Sym *s, unsigned version, struct elf *e)
{
	unsigned char bind = ELF64_ST_BIND(s->st_info), seen = ELF64_ST_VISIBILITY(s->st_other);
	struct elf_symbol symbol = { .name = string(d, s->st_name) };

	if (!symbol.name)
		return broken(d, "a symbol has no name");
	if (!*symbol.name || (bind != STB_GLOBAL && bind != STB_WEAK && bind != STB_GNU_UNIQUE))
		return true;
	symbol.version = d->versions[version & (VERSIONS - 1)];
	if (s->st_shndx == SHN_UNDEF) {
		if (bind == STB_WEAK)
			return true;
		abi_note(symbol.name, e);
		list_push(d->m->a, &e->undefined, symbol);
	} else if ((seen == STV_DEFAULT || seen == STV_PROTECTED) && version != VER_NDX_LOCAL) {
		list_push(d->m->a, &e->defined, symbol);
	}
	return true;
}

static bool
read_symbols(const struct dynamic *d, struct elf *e)
{
	uint64_t address, versym;
	const Elf64_Sym *symbols;
	const Elf64_Half *versions = NULL;
	size_t count;

	if (!entry(d, DT_SYMTAB, &address))
		return true;
	if (!count_symbols(d, address, &count))
		return false;
	if (!count)
		return true;
	symbols = table(d, address, count, sizeof(*symbols));
	if (!symbols)
		return broken(d, "its symbol table leaves the file");
	if (entry(d, DT_VERSYM, &versym) &&
	    !(versions = table(d, versym, count, sizeof(*versions))))
		return broken(d, "its table of symbol versions leaves the file");
	for (size_t i = 1; i < count; i++)
		if (!keep_symbol(d, &symbols[i],
				 versions ? versions[i] & (VERSIONS - 1) : VER_NDX_GLOBAL, e))
			return false;
	return true;
}

static bool
read_dynamic(struct dynamic *d, struct elf *e)
{
	struct arena *a = d->m->a;
	struct names sonames = { 0 }, paths = { 0 };
	bool good;

	d->versions = arena_array_of(d->scratch, const char *, VERSIONS);
	good = read_strings(d) && read_names(d, DT_NEEDED, &e->needed) &&
	       read_names(d, DT_SONAME, &sonames) && read_names(d, DT_RUNPATH, &paths) &&
	       /* The loader looks at DT_RPATH only where there is no DT_RUNPATH. */
	       (paths.n || read_names(d, DT_RPATH, &paths)) && read_verneed(d, e) &&
	       read_verdef(d) && read_symbols(d, e);
	if (!good)
		return false;
	e->soname = sonames.n ? sonames.at[0] : NULL;
	for (size_t i = 0; i < paths.n; i++)
		split_path(a, paths.at[i], &e->runpath);
	return true;
}

/* The dynamic section as the loader finds it; an object or a static program has none. */
static bool
find_dynamic(struct dynamic *d)
{
	struct image *m = d->m;

	for (size_t i = 0; i < m->n_segments; i++) {
		const Elf64_Phdr *p = &m->segments[i];
		size_t n = p->p_filesz / sizeof(*d->entries);
		Elf64_Dyn *copy;

		if (p->p_type != PT_DYNAMIC)
			continue;
		if (!fits(p->p_offset, p->p_filesz, 1, m->n))
			return broken(d, "its dynamic section leaves the file");
		copy = arena_array_of(d->scratch, Elf64_Dyn, n);
		memcpy(copy, m->bytes + p->p_offset, n * sizeof(*copy));
		for (d->entries = copy; d->n_entries < n; d->n_entries++)
			if (copy[d->n_entries].d_tag == DT_NULL)
				break;
		return true;
	}
	return true;
}

static const char *
machine_name(struct arena *a, unsigned machine)
{
	return machine == EM_X86_64  ? "x86_64" :
	       machine == EM_AARCH64 ? "aarch64" :
				       arena_printf(a, "EM_%u", machine);
}

const struct elf *
elf_read(struct arena *a, struct diags *ds, const char *name, const void *bytes, size_t n)
{
	struct elf *e = arena_new_of(a, struct elf);
	struct image m = { .a = a, .ds = ds, .name = name, .bytes = bytes, .n = n };
	CLEANUP_ARENA struct arena *scratch = arena_new();
	struct dynamic d = { .m = &m, .scratch = scratch };
	CLEANUP_ELF Elf *handle = NULL;
	bool good = image_open(&m);

	handle = m.elf;
	if (!good || !find_dynamic(&d))
		return NULL;
	e->machine = machine_name(a, m.header.e_machine);
	if (d.n_entries && !read_dynamic(&d, e))
		return NULL;
	return e;
}

#include "inspect/internal.h"

#include <string.h>

#include "base/buf.h"

/*
 * The format of fatbinary and nvcc, derived from files of CUDA 11 to 13 and compared with the
 * output of cuobjdump:
 *
 *     section   = { zero byte | container }
 *     container = magic u32, version u16, header u16, size u64; `size` bytes of entries
 *     entry     = kind u16, version u16, header u32, size u64,            at 0, 2, 4, 8
 *                 packed u32, 0, minor u16, major u16, arch u32,          at 16, 24, 26, 28
 *                 ..., flags u64                                          at 40
 *                 ...; `size` bytes of code, packed or not
 *
 * kind: 1 PTX, 2 ELF (SASS); others (8: input of link time optimisation) run on no GPU and are
 * omitted, as by cuobjdump. `packed` is 0 for uncompressed code.
 */
enum {
	MAGIC = 0xBA55ED50,
	CONTAINER_BYTES = 16,
	ENTRY_BYTES = 48,
	KIND_PTX = 1,
	KIND_ELF = 2,
	FLAG_A = 1 << 20, /* sm_90a: only for this architecture */
	FLAG_F = 1 << 21, /* sm_100f: for its family */
};

struct section {
	struct image *m;
	const char *name;
	const unsigned char *p;
	size_t n;
	bool relocatable;
	struct gpu_codes *out;
};

static bool
broken(const struct section *s, size_t at, const char *what)
{
	return inspect_refuse(s->m->ds, E_FATBIN, s->m->name, "%s at byte %zu of its section %s",
			      what, at, s->name);
}

static bool
read_entries(const struct section *s, size_t at, size_t end)
{
	while (at < end) {
		const unsigned char *p = s->p + at;
		uint64_t header, size, packed;
		unsigned kind;
		uint64_t flags;

		if (end - at < ENTRY_BYTES)
			return broken(s, at, "an entry is cut short");
		kind = le16(p);
		header = le32(p + 4);
		size = le64(p + 8);
		packed = le32(p + 16);
		flags = le64(p + 40);
		if (header < ENTRY_BYTES || !fits(header, size, 1, end - at))
			return broken(s, at, "an entry is larger than its container");
		if (packed > size)
			return broken(s, at, "an entry's code is larger than the entry");
		if (kind == KIND_PTX || kind == KIND_ELF)
			list_push(s->m->a, s->out,
				  (struct gpu_code){
					  .ptx = kind == KIND_PTX,
					  .arch = le32(p + 28),
					  .suffix = flags & FLAG_A ? 'a' :
						    flags & FLAG_F ? 'f' :
								     '\0',
					  .size = packed ? packed : size,
					  .compressed = packed != 0,
					  .relocatable = s->relocatable,
				  });
		at += header + size;
	}
	return true;
}

static bool
read_section(const struct section *s)
{
	for (size_t at = 0; at < s->n;) {
		uint64_t header, size;

		/* The linker pads the space between the containers of two objects. */
		if (!s->p[at]) {
			at++;
			continue;
		}
		if (s->n - at < CONTAINER_BYTES || le32(s->p + at) != (uint32_t)MAGIC)
			return broken(s, at, "no GPU code starts");
		header = le16(s->p + at + 6);
		size = le64(s->p + at + 8);
		if (header < CONTAINER_BYTES || !fits(header, size, 1, s->n - at))
			return broken(s, at, "GPU code extends past the end of its section");
		if (!read_entries(s, at + header, at + header + size))
			return false;
		at += header + size;
	}
	return true;
}

static bool
read_all(struct image *m, struct gpu_codes *out)
{
	size_t names;

	if (elf_getshdrstrndx(m->elf, &names))
		return inspect_refuse(m->ds, E_ELF, m->name, "its section headers cannot be read");
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(m->elf, scn));) {
		struct section s = { .m = m, .out = out };
		GElf_Shdr h;

		if (!gelf_getshdr(scn, &h) || !(s.name = elf_strptr(m->elf, names, h.sh_name)))
			return inspect_refuse(m->ds, E_ELF, m->name, "a section has no name");
		s.relocatable = !strcmp(s.name, "__nv_relfatbin");
		if ((!s.relocatable && strcmp(s.name, ".nv_fatbin") != 0) ||
		    h.sh_type == SHT_NOBITS)
			continue;
		if (!fits(h.sh_offset, h.sh_size, 1, m->n))
			return inspect_refuse(m->ds, E_FATBIN, m->name,
					      "its section %s lies outside the file", s.name);
		s.p = m->bytes + h.sh_offset;
		s.n = h.sh_size;
		if (!read_section(&s))
			return false;
	}
	return true;
}

bool
gpu_codes_read(struct arena *a, struct diags *ds, const char *name, const void *bytes, size_t n,
	       struct gpu_codes *out)
{
	struct image m = { .a = a, .ds = ds, .name = name, .bytes = bytes, .n = n };
	bool good = image_open(&m);
	CLEANUP_ELF Elf *handle = m.elf;

	(void)handle;
	*out = (struct gpu_codes){ 0 };
	/* Without section headers, the GPU code cannot be found. */
	if (good && m.header.e_shoff)
		good = read_all(&m, out);
	if (!good)
		*out = (struct gpu_codes){ 0 };
	return good;
}

const char *
gpu_code_name(struct arena *a, const struct gpu_code *c)
{
	return arena_printf(a, "%s_%u%.1s", c->ptx ? "compute" : "sm", c->arch,
			    c->suffix ? &c->suffix : "");
}

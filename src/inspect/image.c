#include "inspect/internal.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

bool
inspect_refuse(struct diags *ds, enum code code, const char *name, const char *fmt, ...)
{
	struct source *src = arena_new_of(ds->arena, struct source);
	va_list ap;

	/* A library that had no memory says that the file is broken; wheel_read has cleared errno. */
	if (errno == ENOMEM)
		code = E_FILE;
	src->path = arena_strdup(ds->arena, name);
	va_start(ap, fmt);
	diag_at(ds, code, (struct span){ .src = src }, "%s", arena_vprintf(ds->arena, fmt, ap));
	va_end(ap);
	return false;
}

/* Every segment and section that the headers promise is there. */
static bool
is_whole(struct image *m)
{
	const Elf64_Ehdr *h = &m->header;
	size_t shnum;

	if (elf_getphdrnum(m->elf, &m->n_segments) || elf_getshdrnum(m->elf, &shnum))
		return false;
	/* libelf counts none where the table does not lie in the file. */
	if (m->n_segments < h->e_phnum || shnum < h->e_shnum ||
	    !fits(h->e_phoff, m->n_segments, sizeof(Elf64_Phdr), m->n) ||
	    !fits(h->e_shoff, shnum, sizeof(Elf64_Shdr), m->n))
		return false;
	m->segments = arena_array_of(m->a, Elf64_Phdr, m->n_segments);
	if (m->n_segments)
		memcpy(m->segments, m->bytes + h->e_phoff, m->n_segments * sizeof(Elf64_Phdr));
	for (size_t i = 0; i < m->n_segments; i++)
		if (m->segments[i].p_type == PT_LOAD &&
		    !fits(m->segments[i].p_offset, m->segments[i].p_filesz, 1, m->n))
			return false;
	return true;
}

bool
image_open(struct image *m)
{
	const unsigned char *b = m->bytes;

	if (m->n < EI_NIDENT || memcmp(b, ELFMAG, SELFMAG))
		return inspect_refuse(m->ds, E_ELF, m->name, "not an ELF file");
	if (b[EI_CLASS] != ELFCLASS64 || b[EI_DATA] != ELFDATA2LSB)
		return inspect_refuse(m->ds, E_ELF, m->name,
				      "ELF, but not of a 64 bit little endian machine");
	elf_version(EV_CURRENT);
	/* libelf only reads it: ELF_C_READ is what elf_memory stands for. */
	m->elf = elf_memory((char *)(uintptr_t)m->bytes, m->n);
	if (!m->elf || elf_kind(m->elf) != ELF_K_ELF || !elf64_getehdr(m->elf))
		return inspect_refuse(m->ds, E_ELF, m->name, "its ELF header cannot be read");
	memcpy(&m->header, b, sizeof(m->header));
	if ((m->header.e_phnum && m->header.e_phentsize != sizeof(Elf64_Phdr)) ||
	    (m->header.e_shoff && m->header.e_shentsize != sizeof(Elf64_Shdr)) || !is_whole(m))
		return inspect_refuse(
			m->ds, E_ELF, m->name,
			"it ends before what its headers promise: %zu bytes are there", m->n);
	return true;
}

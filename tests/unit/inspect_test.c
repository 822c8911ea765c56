/* inspect/: rejected files, made in memory.  tests/suites/inspect compares results with readelf. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "inspect/inspect.h"
#include "inspect/internal.h"

struct bench {
	struct arena *a;
	struct diags ds;
};

static struct bench
bench(void)
{
	struct bench b = { .a = arena_new() };

	return b;
}

/* Checks that the only diagnostic has this code and contains this text. */
static void
assert_refused(const struct bench *b, const char *id, const char *text)
{
	assert_int_equal(b->ds.errors, 1);
	assert_string_equal(code_table[b->ds.head->code].id, id);
	if (!strstr(b->ds.head->text, text))
		fail_msg("`%s` does not say `%s`", b->ds.head->text, text);
}

/* Writes an ELF file with one section of this name and content; returns its size. */
static size_t
with_section(const char *name, const void *bytes, size_t n, unsigned char *out)
{
	Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			 .e_type = ET_DYN,
			 .e_machine = EM_X86_64,
			 .e_version = EV_CURRENT,
			 .e_ehsize = sizeof(h),
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = 3,
			 .e_shstrndx = 1 };
	Elf64_Shdr s[3] = {
		{ 0 },
		{ .sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = sizeof(h), .sh_size = 64 },
		{ .sh_name = 11,
		  .sh_type = SHT_PROGBITS,
		  .sh_offset = sizeof(h) + 64,
		  .sh_size = n }
	};
	size_t at = sizeof(h) + 64 + (n + 7) / 8 * 8;

	memset(out, 0, at);
	h.e_shoff = at;
	memcpy(out, &h, sizeof(h));
	memcpy(out + sizeof(h) + 1, ".shstrtab", 9);
	memcpy(out + sizeof(h) + 11, name, strlen(name));
	memcpy(out + sizeof(h) + 64, bytes, n);
	memcpy(out + at, s, sizeof(s));
	return at + sizeof(s);
}

/* A container with one entry: PTX for sm_90a of 8 bytes. */
struct container {
	uint32_t magic;
	uint16_t version, header;
	uint64_t size;
	uint16_t kind, entry_version;
	uint32_t entry_header;
	uint64_t entry_size;
	uint32_t packed, zero;
	uint16_t minor, major;
	uint32_t arch;
	uint64_t name;
	uint64_t flags;
	uint64_t zero2, unpacked;
	char code[8];
};

static struct container
container(void)
{
	return (struct container){ .magic = 0xBA55ED50,
				   .version = 1,
				   .header = 16,
				   .size = 72,
				   .kind = 1,
				   .entry_version = 0x101,
				   .entry_header = 64,
				   .entry_size = 8,
				   .arch = 90,
				   .flags = 0x100011 };
}

static bool
codes_of(struct bench *b, const struct container *c, struct gpu_codes *out)
{
	unsigned char file[1024];
	size_t n = with_section(".nv_fatbin", c, sizeof(*c), file);

	b->ds = DIAGS(b->ds, b->a);
	return gpu_codes_read(b->a, &b->ds, "x.so", file, n, out);
}

static void
test_codes(void **state)
{
	struct bench b = bench();
	struct container c = container();
	struct gpu_codes codes;

	(void)state;
	assert_true(codes_of(&b, &c, &codes));
	assert_int_equal(codes.n, 1);
	assert_string_equal(gpu_code_name(b.a, &codes.at[0]), "compute_90a");
	c.kind = 2;
	c.flags = 0x1200011;
	c.arch = 100;
	assert_true(codes_of(&b, &c, &codes));
	assert_string_equal(gpu_code_name(b.a, &codes.at[0]), "sm_100f");
	c.kind = 8;
	assert_true(codes_of(&b, &c, &codes));
	assert_int_equal(codes.n, 0);
	arena_free(b.a);
}

static void
test_codes_refused(void **state)
{
	struct bench b = bench();
	struct container c;
	struct gpu_codes codes;

	(void)state;
	c = container();
	c.magic = 0xBA55ED51;
	assert_false(codes_of(&b, &c, &codes));
	assert_refused(&b, "SB0811", "no GPU code starts at byte 0 of its section .nv_fatbin");
	c = container();
	c.size = UINT64_MAX;
	assert_false(codes_of(&b, &c, &codes));
	assert_refused(&b, "SB0811", "past the end of its section");
	c = container();
	c.size = 16;
	assert_false(codes_of(&b, &c, &codes));
	assert_refused(&b, "SB0811", "an entry is cut short at byte 16");
	c = container();
	c.entry_header = 0;
	assert_false(codes_of(&b, &c, &codes));
	assert_refused(&b, "SB0811", "larger than its container");
	c = container();
	c.entry_size = UINT64_MAX - 63;
	assert_false(codes_of(&b, &c, &codes));
	assert_refused(&b, "SB0811", "larger than its container");
	c = container();
	c.packed = 9;
	assert_false(codes_of(&b, &c, &codes));
	assert_refused(&b, "SB0811", "larger than the entry");
	assert_int_equal(codes.n, 0);
	arena_free(b.a);
}

static void
test_elf(void **state)
{
	struct bench b = bench();
	int fd = open("/proc/self/exe", O_RDONLY);
	struct stat st;
	const struct elf *e;
	void *own;

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	own = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(own, MAP_FAILED);
	b.ds = DIAGS(b.ds, b.a);
	e = elf_read(b.a, &b.ds, "self", own, (size_t)st.st_size);
	assert_non_null(e);
	assert_true(names_have(&e->needed, "libc.so.6"));
	/* Every truncation is detected. */
	for (size_t n = 0; n < (size_t)st.st_size; n += (size_t)st.st_size / 37) {
		b.ds = DIAGS(b.ds, b.a);
		assert_null(elf_read(b.a, &b.ds, "self", own, n));
		assert_refused(&b, "SB0810", n < 16 ? "not an ELF file" : "");
	}
	munmap(own, (size_t)st.st_size);
	close(fd);
	arena_free(b.a);
}

static void
test_elf_refused(void **state)
{
	struct bench b = bench();
	unsigned char file[256] = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT };

	(void)state;
	b.ds = DIAGS(b.ds, b.a);
	assert_null(elf_read(b.a, &b.ds, "x.so", file, sizeof(file)));
	assert_refused(&b, "SB0810", "not for a 64-bit little-endian machine");
	b.ds = DIAGS(b.ds, b.a);
	assert_null(elf_read(b.a, &b.ds, "x.so", "MZ", 2));
	assert_refused(&b, "SB0810", "not an ELF file");
	arena_free(b.a);
}

static void
test_abi(void **state)
{
	static const struct {
		const char *symbol;
		bool cxx11, old;
	} rows[] = {
		{ "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs", false, true },
		{ "_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_"
		  "traitsIcESaIcEEE",
		  true, false },
		{ "_ZN3c104cuda14ExchangeDeviceEa", false, false },
		{ "_ZN2at9GridSseekERKNS_6TensorE", false, false },
		{ "_ZNK2at6Tensor8toStringB5cxx11Ev", true, false },
		{ "_ZN2at1fILb1ELNS_4EnumE9EEEvSs", false, true },
		{ "_ZNSsC1EPKcRKSaIcE", false, false },
		{ "_ZN5other3getERKSs", false, false },
		{ "_ZN2at9", false, false },
		{ "_ZN2at99999999999999999999999S", false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct elf e = { 0 };

		abi_note(rows[i].symbol, &e);
		if (e.cxx11_abi != rows[i].cxx11 || e.old_abi != rows[i].old)
			fail_msg("%s: cxx11 %d, old %d", rows[i].symbol, e.cxx11_abi, e.old_abi);
	}
}

static void
test_wheel_refused(void **state)
{
	struct bench b = bench();

	(void)state;
	b.ds = DIAGS(b.ds, b.a);
	assert_null(wheel_read(b.a, &b.ds, "/proc/self/exe", false));
	assert_refused(&b, "SB0812", "not a zip file");
	b.ds = DIAGS(b.ds, b.a);
	assert_null(wheel_read(b.a, &b.ds, "no-such.whl", false));
	assert_refused(&b, "SB0812", "No such file");
	b.ds = DIAGS(b.ds, b.a);
	assert_null(wheel_read(b.a, &b.ds, "/dev/zero", false));
	assert_refused(&b, "SB0812", "not a regular file");
	arena_free(b.a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codes), cmocka_unit_test(test_codes_refused),
		cmocka_unit_test(test_elf),   cmocka_unit_test(test_elf_refused),
		cmocka_unit_test(test_abi),   cmocka_unit_test(test_wheel_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * stackbuild: the program without network access. Commands that need the network are in
 * stackbuild-world, which this program starts by exec.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/arena.h"
#include "base/fs.h"
#include "verbs.h"

/* Where the second program is after `make`, after `make install` and in a build directory. */
static const char *const places[] = {
	"stackbuild-world",
	"build/stackbuild-world",
	"../libexec/stackbuild/stackbuild-world",
};

/*
 * PCRE2's code refers to its JIT compiler and to its tables of Unicode, and uses them only for what
 * no pattern of this program has. With these empty ones, the linker omits both, a fifteenth of the
 * program. They are weak: a PCRE2 in another arrangement has its own. stackbuild-world, which also
 * takes patterns from users, is linked with all of PCRE2.
 */
#define WITHOUT_JIT(symbol, name) \
	int name(void) __asm__(#symbol) __attribute__((weak)); \
	int name(void) \
	{ \
		return 0; \
	}
WITHOUT_JIT(_pcre2_jit_check_exec_8, pattern_no_jit_check)
WITHOUT_JIT(_pcre2_jit_free_8, pattern_no_jit_free)
WITHOUT_JIT(_pcre2_jit_get_size_8, pattern_no_jit_size)
WITHOUT_JIT(_pcre2_jit_get_target_8, pattern_no_jit_target)
WITHOUT_JIT(pcre2_jit_match_8, pattern_no_jit_match)

#define WITHOUT_TABLE(symbol, name) \
	extern const char name[] __asm__(#symbol) __attribute__((weak)); \
	const char name[16];
WITHOUT_TABLE(_pcre2_ucd_boolprop_sets_8, pattern_no_properties)
WITHOUT_TABLE(_pcre2_ucd_caseless_sets_8, pattern_no_cases)
WITHOUT_TABLE(_pcre2_ucd_digit_sets_8, pattern_no_digits)
WITHOUT_TABLE(_pcre2_ucd_records_8, pattern_no_records)
WITHOUT_TABLE(_pcre2_ucd_script_sets_8, pattern_no_scripts)
WITHOUT_TABLE(_pcre2_ucd_stage1_8, pattern_no_stage1)
WITHOUT_TABLE(_pcre2_ucd_stage2_8, pattern_no_stage2)

static int
become_world(struct arena *a, char **argv)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *dir;

	self[n > 0 ? n : 0] = '\0';
	dir = fs_dir(a, self);
	for (size_t i = 0; i < COUNT(places); i++) {
		const char *path = fs_join(a, dir, places[i]);

		execv(path, argv);
		if (errno != ENOENT && errno != ENOTDIR) {
			diag_tell("stackbuild: cannot run %s: %s", path, strerror(errno));
			return 1;
		}
	}
	fprintf(stderr,
		"stackbuild: this command needs stackbuild-world, which is not installed next to "
		"this program; run `make install` again\n");
	return 1;
}

/* Bytes of free memory that the allocator does not return to the kernel. */
enum { MEMORY_KEPT = 16 * 1024 * 1024 };

int
main(int argc, char **argv)
{
	struct arena *a;
	struct options o;
	int status;

#ifdef __GLIBC__
	/* Each cell of a matrix frees an arena, whose pages the next cell would fault in again. */
	mallopt(M_TOP_PAD, MEMORY_KEPT);
#endif
	a = arena_new();
	if (program_options(a, argc, argv, &o, &status))
		status = program_needs_world(&o) ? become_world(a, argv) : program_run(&o);
	arena_free(a);
	return status;
}

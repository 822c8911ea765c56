#ifndef PTX_H
#define PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An interpreter of PTX, for tests without a GPU: it runs the code that nvcc makes from
 * templates/smoke.cu on the processor.  A block runs one warp after the other, each up to the next
 * barrier; the lanes of a warp run in lock step, those with the lowest address first.  Unknown
 * instructions end the program.
 *
 * Source: NVIDIA, "Parallel Thread Execution ISA" 9.0.
 */

enum {
	PTX_LANES = 1024,
	PTX_WARP = 32,
	PTX_REGISTERS = 512,
	PTX_CODE = 1024,
	PTX_PARAMS = 16,
	PTX_NAME = 160,
	PTX_OPERANDS = 4
};

/* clang-format off */
enum ptx_type { T_NONE, T_PRED, T_B16, T_B32, T_B64, T_U32, T_U64, T_S32, T_S64, T_F16, T_BF16, T_F32, T_F64 };
enum ptx_op {
	OP_ABS, OP_ADD, OP_AND, OP_ATOM, OP_BAR, OP_BRA, OP_CVT, OP_CVTA, OP_FMA, OP_LD, OP_MAD, OP_MAX,
	OP_MIN, OP_MOV, OP_MUL, OP_NEG, OP_OR, OP_RET, OP_SELP, OP_SETP, OP_SHFL, OP_SHL, OP_SHR, OP_ST
};
/* clang-format on */

/* A register, a number, a special register, or {low, high}; of an address also an offset. */
struct ptx_operand {
	enum { NOTHING, REGISTER, NUMBER, SPECIAL, PAIR } kind;
	unsigned reg, high; /* high: of a pair */
	bool zero;          /* of a pair: its low half is the number 0 */
	uint64_t number;    /* or the offset */
	char special, axis; /* 't' of %tid, 'n' of %ntid, 'c' of %ctaid, 'g' of %nctaid; 0 to 2 */
};

struct ptx_code {
	enum ptx_op op;
	char how[32]; /* ".gt", ".lo", ".shared.add": between the operation and its types */
	bool shared, param, wide;
	enum ptx_type type, from;
	struct ptx_operand a[PTX_OPERANDS];
	unsigned guard; /* the register of @%p, plus 1; 0: none */
	bool unless;    /* @!%p */
	size_t target;  /* of a branch */
};

struct ptx_kernel {
	char name[PTX_NAME];
	char params[PTX_PARAMS][PTX_NAME];
	size_t nparams, n, shared; /* shared: bytes */
	struct ptx_code code[PTX_CODE];
};

/* Reads the kernel of that name from the text of a module. */
struct ptx_kernel *ptx_read(const char *text, const char *name);

/* Runs one block; args: as cudaLaunchKernel() takes them. */
void ptx_run(const struct ptx_kernel *k, const unsigned at[3], const unsigned grid[3],
	     const unsigned block[3], void **args);

/* --- the arithmetic of one lane --- */

unsigned ptx_size(enum ptx_type t); /* bytes */
/* Returns the low bits of a value, as many as the type has. */
uint64_t ptx_cut(uint64_t v, enum ptx_type t);
/* Returns whether a word such as ".shared" is between the operation and its types. */
bool ptx_has(const struct ptx_code *c, const char *how);
uint64_t ptx_compute(const struct ptx_code *c, uint64_t x, uint64_t y, uint64_t z);
uint64_t ptx_convert(const struct ptx_code *c, uint64_t x);
bool ptx_holds(const struct ptx_code *c, uint64_t x, uint64_t y);

/* Returns whether PTX_FAULT names this fault of faults.tsv; each place evaluates it once. */
#define ptx_fault(name) \
	__extension__({ \
		static signed char is; \
		if (!is) \
			is = ptx_fault_is(name) ? 1 : -1; \
		is > 0; \
	})
bool ptx_fault_is(const char *name);

/* Ends the program. */
void ptx_unknown(const char *what, const char *text) __attribute__((noreturn));

#endif

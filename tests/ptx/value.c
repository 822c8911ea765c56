#include "ptx.h"

#include <math.h>
#include <string.h>

/* The arithmetic of one lane. */

static float
as_f32(uint64_t v)
{
	uint32_t bits = (uint32_t)v;
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static uint64_t
of_f32(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(f));
	return bits;
}

static double
as_f64(uint64_t v)
{
	double d;

	memcpy(&d, &v, sizeof(d));
	return d;
}

static uint64_t
of_f64(double d)
{
	uint64_t v;

	memcpy(&v, &d, sizeof(d));
	return v;
}

/* Rounds a value to `bits` significant bits, to nearest even, with no bit below 2^smallest. */
static double
rounded(double value, int bits, int smallest)
{
	int exponent, unit;
	double scaled;

	frexp(value, &exponent);
	unit = exponent - bits > smallest ? exponent - bits : smallest;
	scaled = ldexp(value, -unit);
	if (bits == 8 ? ptx_fault("bf16-truncated") : ptx_fault("half-truncated"))
		return ldexp(trunc(scaled), unit);
	return ldexp(rint(scaled), unit);
}

static uint64_t
of_half(double value)
{
	_Float16 h = (_Float16)rounded(value, 11, -24);
	uint16_t bits;

	if (ptx_fault("half-no-subnormals") && fabs(value) < 6.103515625e-05)
		h = 0;
	memcpy(&bits, &h, sizeof(bits));
	return bits;
}

static double
as_half(uint64_t v)
{
	uint16_t bits = (uint16_t)v;
	_Float16 h;

	memcpy(&h, &bits, sizeof(h));
	return (double)h;
}

static uint64_t
of_bf16(double value)
{
	return of_f32((float)rounded(value, 8, -133)) >> 16;
}

unsigned
ptx_size(enum ptx_type t)
{
	switch (t) {
	case T_PRED: return 1;
	case T_B16:
	case T_F16:
	case T_BF16: return 2;
	case T_B64:
	case T_U64:
	case T_S64:
	case T_F64: return 8;
	default: return 4;
	}
}

uint64_t
ptx_cut(uint64_t v, enum ptx_type t)
{
	unsigned bits = ptx_size(t) * 8;

	return bits == 64 ? v : v & ((1ull << bits) - 1);
}

static int64_t
signed_of(uint64_t v, enum ptx_type t)
{
	return ptx_size(t) == 4 ? (int32_t)v : (int64_t)v;
}

bool
ptx_has(const struct ptx_code *c, const char *how)
{
	return strstr(c->how, how) != NULL;
}

static uint64_t
float_result(const struct ptx_code *c, double x, double y, double z)
{
	switch (c->op) {
	case OP_ADD: return c->type == T_F64 ? of_f64(x + y) : of_f32((float)(x + y));
	case OP_MUL: return c->type == T_F64 ? of_f64(x * y) : of_f32((float)(x * y));
	case OP_FMA: break;
	default: ptx_unknown("an operation on floats", c->how);
	}
	if (c->type == T_F16)
		return of_half(ptx_fault("half-fma-twice") ? as_half(of_half(x * y)) + z :
							     x * y + z);
	if (c->type == T_BF16)
		return of_bf16(ptx_fault("bf16-fma-twice") ? as_f32(of_bf16(x * y) << 16) + z :
							     x * y + z);
	if (c->type != T_F32)
		ptx_unknown("fma", c->how);
	if (ptx_fault("fma-swapped"))
		return of_f32(fmaf((float)x, (float)z, (float)y));
	if (ptx_fault("fma-twice"))
		return of_f32((float)((double)(float)(x * y) + z));
	return of_f32(fmaf((float)x, (float)y, (float)z));
}

static double
as_float(uint64_t v, enum ptx_type t)
{
	return t == T_F64 ? as_f64(v) :
	       t == T_F32 ? as_f32(v) :
	       t == T_F16 ? as_half(v) :
			    as_f32(v << 16);
}

static uint64_t
integer_result(const struct ptx_code *c, uint64_t x, uint64_t y, uint64_t z)
{
	int64_t sx = signed_of(x, c->type), sy = signed_of(y, c->type);
	bool is_signed = c->type == T_S32 || c->type == T_S64;

	switch (c->op) {
	case OP_ABS: return (uint64_t)(sx < 0 ? -sx : sx);
	case OP_ADD: return x + y;
	case OP_AND: return x & (ptx_fault("and-narrow") && c->type == T_B32 ? y & ~128ull : y);
	case OP_OR: return x | y;
	case OP_NEG: return (uint64_t)-sx;
	case OP_MIN: return is_signed ? (uint64_t)(sx < sy ? sx : sy) : x < y ? x : y;
	case OP_MAX: return is_signed ? (uint64_t)(sx > sy ? sx : sy) : x > y ? x : y;
	case OP_SHL: return y >= ptx_size(c->type) * 8 ? 0 : x << y;
	case OP_SHR:
		y = y >= ptx_size(c->type) * 8 ? ptx_size(c->type) * 8 - 1 : y;
		return is_signed ? (uint64_t)(sx >> y) : x >> y;
	case OP_MAD: return x * y + z - (ptx_fault("index-off") && z % PTX_WARP == 31);
	case OP_MUL:
		if (c->wide)
			return is_signed ? (uint64_t)(sx * sy) : x * y;
		if (ptx_fault("multiply-16"))
			return (x & 0xffff) * (y & 0xffff);
		return x * y;
	default: ptx_unknown("an operation on integers", c->how);
	}
}

uint64_t
ptx_compute(const struct ptx_code *c, uint64_t x, uint64_t y, uint64_t z)
{
	uint64_t v;

	if (c->type >= T_F16)
		v = float_result(c, as_float(x, c->type), as_float(y, c->type),
				 as_float(z, c->type));
	else
		v = integer_result(c, x, y, z);
	return ptx_cut(v, c->wide ? T_B64 : c->type);
}

uint64_t
ptx_convert(const struct ptx_code *c, uint64_t x)
{
	double d = c->from >= T_F16 ? as_float(x, c->from) : 0;

	if (c->type == T_F16)
		x = of_half(d);
	else if (c->type == T_BF16)
		x = ptx_fault("bf16-as-half") ? of_half(d) : of_bf16(d);
	else if (c->type == T_F32 && c->from >= T_F16)
		x = of_f32((float)d);
	else if (c->type == T_F64 && c->from >= T_F16)
		x = of_f64(ptx_has(c, ".rni") ? rint(d) : d);
	else if (c->type == T_S64 && c->from == T_S32)
		x = (uint64_t)signed_of(x, T_S32);
	else
		ptx_unknown("a conversion", c->how);
	return x;
}

bool
ptx_holds(const struct ptx_code *c, uint64_t x, uint64_t y)
{
	int order = c->type >= T_F16 ? (as_float(x, c->type) > as_float(y, c->type)) -
					       (as_float(x, c->type) < as_float(y, c->type)) :
		    c->type == T_S32 || c->type == T_S64 ?
				       (signed_of(x, c->type) > signed_of(y, c->type)) -
					       (signed_of(x, c->type) < signed_of(y, c->type)) :
				       (x > y) - (x < y);
	bool is = ptx_has(c, ".eq") ? order == 0 :
		  ptx_has(c, ".ne") ? order != 0 :
		  ptx_has(c, ".lt") ? order < 0 :
		  ptx_has(c, ".le") ? order <= 0 :
		  ptx_has(c, ".gt") ? order > 0 || (ptx_fault("compare-equal") && order == 0) :
		  ptx_has(c, ".ge") ? order >= 0 :
				      (ptx_unknown("a comparison", c->how), false);

	return is;
}

#include "inspect/internal.h"

#include <string.h>

#include "base/str.h"

/*
 * Returns which std::string a symbol of torch's libraries was compiled with, from its mangled name
 * (Itanium C++ ABI): a torch of the other ABI has no such symbol.
 *
 *     symbol = "_ZN" ["K"] namespace ...       namespace: at, c10, torch, caffe2
 *     new = "St7__cxx11" | "B5cxx11" std::__cxx11::..., [abi:cxx11] of functions that return one
 *     old = "Ss" the substitution for the old std::string
 *
 * "Ss" may also be inside an identifier, whose length precedes it (9GridSseek), so names are
 * skipped; the literals of a template (Lb1E, LN2at5DEnumE3E) have numbers that are not lengths, and
 * are skipped, too.
 */
static const char *
after_number(const char *p, size_t *n)
{
	for (*n = 0; is_digit(*p); p++)
		*n = *n < 100000 ? *n * 10 + (size_t)(*p - '0') : *n;
	return p;
}

/* Skips an identifier with its length; returns the end of the text if that is shorter. */
static const char *
after_name(const char *p)
{
	size_t n;

	p = after_number(p, &n);
	return p + strnlen(p, n);
}

/* Skips a literal, "Lb1E"; p is at its type. */
static const char *
after_literal(const char *p)
{
	size_t n;

	if (*p == 'N') {
		for (p++; *p && *p != 'E'; p = is_digit(*p) ? after_name(p) : p + 1)
			;
		p += *p == 'E';
	} else if (is_digit(*p)) {
		p = after_name(p);
	} else if (*p == 'S') {
		p = strchrnul(p, '_');
		p += *p == '_';
	} else if (*p) {
		p++;
	}
	if (*p == 'n')
		p++;
	return after_number(p, &n);
}

/* Returns true for a namespace of torch; p is after "_ZN" or "_ZNK". */
static bool
is_namespace_of_torch(const char *symbol)
{
	static const char *const spaces[] = { "2at", "3c10", "5torch", "6caffe2" };

	for (size_t i = 0; i < COUNT(spaces); i++)
		if (starts_with(symbol, spaces[i]))
			return true;
	return false;
}

/* Returns the text after the start of a qualified name, "_ZN", "_ZNK" or "_ZTIN" (type information,
 * virtual tables and names of classes), or NULL. */
static const char *
after_prefix(const char *symbol, bool with_classes)
{
	static const char *const forms[] = { "_ZNK", "_ZN", "_ZTIN", "_ZTVN", "_ZTSN" };

	for (size_t i = 0; i < (with_classes ? 5 : 2); i++)
		if (starts_with(symbol, forms[i]))
			return symbol + strlen(forms[i]);
	return NULL;
}

bool
torch_symbol(const char *symbol)
{
	const char *name = after_prefix(symbol, true);

	/* The other symbols are Python objects in libtorch_python, and functions of the stable C
	 * ABI. */
	return name ? is_namespace_of_torch(name) :
		      starts_with(symbol, "THP") || starts_with(symbol, "aoti_torch_") ||
			       starts_with(symbol, "torch_");
}

void
abi_note(const char *symbol, struct elf *e)
{
	const char *name = after_prefix(symbol, false);

	if (!name || !is_namespace_of_torch(name))
		return;
	for (const char *p = symbol + 3; *p;) {
		if (starts_with(p, "St7__cxx11") || starts_with(p, "B5cxx11"))
			e->cxx11_abi = true;
		if (p[0] == 'S' && p[1] == 's')
			e->old_abi = true;
		if (is_digit(*p))
			p = after_name(p);
		else if (*p == 'L')
			p = after_literal(p + 1);
		else if (strchr("STA", *p) && (is_digit(p[1]) || (p[1] >= 'A' && p[1] <= 'Z')))
			/* S1_, T0_, A16_: their numbers are not lengths. */
			p = strchrnul(p, '_');
		else
			p += p[0] == 'S' && p[1] ? 2 : 1;
	}
}

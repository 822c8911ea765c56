/* Demangles C++ symbols with the C++ runtime library of this host. */
#include <dlfcn.h>
#include <string.h>

#include "inspect/inspect.h"

typedef char *demangler(const char *symbol, char *into, size_t *n, int *status);

/*
 * Returns the function of the library, which it opens once in a run; NULL: the library is missing.
 * A static copy would add 0.1 MB to the program.
 */
static demangler *
demangler_of_host(void)
{
	static demangler *found;
	static bool asked;
	void *library, *f;

	if (asked)
		return found;
	asked = true;
	library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
	f = library ? dlsym(library, "__cxa_demangle") : NULL;
	/* dlsym returns a data pointer, which POSIX allows to hold the address of a function. */
	memcpy(&found, &f, sizeof(f));
	return found;
}

const char *
symbol_demangled(struct arena *a, const char *symbol)
{
	/* The function allocates and enlarges this buffer with malloc. */
	static char *text;
	static size_t size;
	demangler *f = symbol[0] == '_' && symbol[1] == 'Z' ? demangler_of_host() : NULL;
	char *p;
	int status = 0;

	if (!f || !(p = f(symbol, text, &size, &status)))
		return symbol;
	text = p;
	return arena_strdup(a, text);
}

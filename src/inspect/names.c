/* Names of symbols as C++ writes them, by the C++ runtime library of this host. */
#include <dlfcn.h>
#include <string.h>

#include "inspect/inspect.h"

typedef char *demangler(const char *symbol, char *into, size_t *n, int *status);

/*
 * NULL: the library is missing. Opened once in a run; a static copy would take a tenth of a
 * megabyte.
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
	/* dlsym gives data pointers: POSIX lets a function's address be stored through one. */
	memcpy(&found, &f, sizeof(f));
	return found;
}

const char *
symbol_demangled(struct arena *a, const char *symbol)
{
	/* The function enlarges this buffer, which malloc allocated. */
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

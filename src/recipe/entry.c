#include <string.h>

#include "base/fs.h"
#include "load.h"

/* The entry point of the Modal app: a script, a function of a file, or a module. */

struct recipe_entry
recipe_entry(struct arena *a, const char *text)
{
	struct recipe_entry e = { 0 };
	const char *end = text ? strstr(text, "::") : NULL;
	struct buf path = BUF(a);

	if (!text)
		return e;
	if (starts_with(text, "-m ")) {
		e.module = text + 3;
		for (const char *p = e.module; *p; p++)
			buf_putc(&path, *p == '.' ? '/' : *p);
		e.file = arena_printf(a, "%s.py", buf_text(&path));
		return e;
	}
	e.file = fs_clean(a, end ? arena_copy(a, text, (size_t)(end - text)) : text);
	e.function = end ? end + 2 : NULL;
	return e;
}

bool
recipe_copies(struct arena *a, const struct recipe_app *app, const char *file)
{
	list_each (x, &app->copy) {
		const char *copy = fs_clean(a, x->s);
		size_t n = strlen(copy);

		if (!strcmp(copy, ".") || (!strncmp(copy, file, n) && (!file[n] || file[n] == '/')))
			return true;
	}
	return false;
}

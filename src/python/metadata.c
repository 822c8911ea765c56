#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "python.h"

struct names
metadata_values(struct arena *a, const char *text, const char *field)
{
	struct names all = { 0 };
	size_t n = strlen(field);

	for (const char *p = text; *p && *p != '\n' && *p != '\r';) {
		struct buf value = BUF(a);
		bool wanted = !strncasecmp(p, field, n) && p[n] == ':';

		p += wanted ? n + 1 : 0;
		for (bool first = true; first || *p == ' ' || *p == '\t'; first = false) {
			size_t line = strcspn(p, "\r\n"), skip = strspn(p, " \t");

			if (wanted)
				buf_printf(&value, "%s%.*s", first ? "" : " ",
					   (int)(line > skip ? line - skip : 0), p + skip);
			p += line;
			p += *p == '\r';
			p += *p == '\n';
		}
		while (value.n && strchr(" \t", value.p[value.n - 1]))
			value.p[--value.n] = '\0';
		if (wanted)
			list_push(a, &all, buf_text(&value));
	}
	return all;
}

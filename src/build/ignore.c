/* The user's .dockerignore, for a context where his files lie one folder deeper. */
#include "work.h"

#include <string.h>

#include "base/str.h"

#define BLANKS " \t\r\v\f"
#define BOM "\xef\xbb\xbf"

/* As filepath.Clean does it, below /: "./a//b/../c" -> "a/c"; NULL: it leaves the folder. */
static const char *
clean(struct arena *a, const char *pattern)
{
	struct names parts = { 0 };
	struct buf b = BUF(a);

	for (const char *p = pattern; *p; p += *p == '/') {
		size_t n = strcspn(p, "/");
		const char *part = arena_copy(a, p, n);

		p += n;
		if (!n || !strcmp(part, "."))
			continue;
		if (strcmp(part, "..") != 0)
			list_push(a, &parts, part);
		else if (!parts.n)
			return NULL;
		else
			parts.n--;
	}
	for (size_t i = 0; i < parts.n; i++)
		buf_printf(&b, "/%s", parts.at[i]);
	return buf_text(&b);
}

static void
line(struct arena *a, const char *text, struct buf *out)
{
	const char *mark = *text == '!' ? "!" : "", *below;

	text += strlen(mark);
	text += strspn(text, BLANKS);
	/* What names the folder itself, or what is outside of it, matches nothing. */
	below = clean(a, text);
	if (*text && (!below || !*below))
		return;
	/* A "!" alone stays: the engine says what is wrong with it. */
	buf_printf(out, "%s%s%s\n", mark, *text ? RENDER_APP : "", *text ? below : "");
}

const char *
ignore_written(struct arena *a, const char *text)
{
	struct buf out = BUF(a);

	if (starts_with(text, BOM))
		text += strlen(BOM);
	for (const char *p = text; *p; p += *p == '\n') {
		size_t n = strcspn(p, "\n"), blank;
		const char *at = p;

		p += n;
		if (*at == '#')
			continue;
		blank = strspn(at, BLANKS);
		if (blank >= n)
			continue;
		at += blank;
		n -= blank;
		while (strchr(BLANKS, at[n - 1]))
			n--;
		line(a, arena_copy(a, at, n), &out);
	}
	return buf_text(&out);
}

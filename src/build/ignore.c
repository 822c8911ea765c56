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
	struct names parts = names_split(a, pattern, '/'), kept = { 0 };

	for (size_t i = 0; i < parts.n; i++) {
		const char *part = parts.at[i];

		if (!strcmp(part, "..") && !kept.n--)
			return NULL;
		if (*part && strcmp(part, ".") != 0 && strcmp(part, "..") != 0)
			list_push(a, &kept, part);
	}
	return kept.n ? arena_printf(a, "/%s", names_join(a, &kept, "/")) : "";
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

/* The user's .dockerignore: its patterns for a context with the user's files one directory deeper, and for own
 * code, which stackbuild copies itself. */
#include "work.h"

#include <string.h>

#include "base/fs.h"
#include "base/pattern.h"
#include "base/str.h"

#define BLANKS " \t\r\v\f"
#define BOM "\xef\xbb\xbf"

/* Cleans a path below / like Go's filepath.Clean: "./a//b/../c" -> "a/c"; NULL: it leaves the
 * directory. */
static const char *
clean(struct arena *a, const char *pattern)
{
	const char *path = fs_clean(a, pattern + strspn(pattern, "/"));

	return !strcmp(path, ".")                              ? "" :
	       !strcmp(path, "..") || starts_with(path, "../") ? NULL :
								 arena_printf(a, "/%s", path);
}

static const char *
trimmed(struct arena *a, const char *s)
{
	size_t n;

	s += strspn(s, BLANKS);
	for (n = strlen(s); n && strchr(BLANKS, s[n - 1]);)
		n--;
	return arena_copy(a, s, n);
}

/*
 * Rewrites the patterns for app/, so that they cannot exclude stackbuild's own files.
 *
 * Source: moby patternmatcher/ignorefile: comments, !, filepath.Clean, one leading slash.
 */
static const char *
ignore_below(struct arena *a, const char *text)
{
	struct names lines =
		names_split(a, text + (starts_with(text, BOM) ? strlen(BOM) : 0), '\n');
	struct buf out = BUF(a);

	for (size_t i = 0; i < lines.n; i++) {
		const char *s = trimmed(a, lines.at[i]), *mark = *s == '!' ? "!" : "", *below;

		if (*lines.at[i] == '#' || !*s)
			continue;
		s = trimmed(a, s + strlen(mark));
		below = clean(a, s);
		/* Keeps a single "!", which the engine reports. */
		if (!*s)
			buf_printf(&out, "%s\n", mark);
		/* A pattern for the directory itself, or outside of it, matches nothing. */
		else if (below && *below)
			buf_printf(&out, "%s" RENDER_APP "%s\n", mark, below);
	}
	return buf_text(&out);
}

static const char *const names[] = { ".containerignore", ".dockerignore" };

bool
ignore_copy(struct work *w, const char *from)
{
	for (size_t i = 0; i < COUNT(names); i++) {
		const char *path = fs_join(w->a, from, names[i]), *text;
		const struct source *s;

		if (!fs_exists(path))
			continue;
		if (!(s = fs_read(w->a, w->ds, path, FS_READ_MAX, w->plan->stack->recipe->app.at)))
			return false;
		text = ignore_below(w->a, s->text);
		if (!fs_write(w->ds, fs_join(w->a, w->context, names[i]), text, strlen(text), 0644,
			      false, NULL))
			return false;
	}
	return true;
}

/* --- matching --- */

struct ignore {
	struct ignore_lines LIST(struct ignore_line {
		bool keeps; /* it begins with ! */
		struct pattern *pattern;
	}) lines;
};

/*
 * Returns a regular expression for a pattern without a leading slash.
 *
 * Source: moby patternmatcher.go, Pattern.compile
 */
static const char *
expression(struct arena *a, const char *s)
{
	struct buf b = BUF(a);

	buf_puts(&b, "\\A(?:");
	for (; *s; s++) {
		if (starts_with(s, "**")) {
			s += 1 + (s[2] == '/');
			buf_puts(&b, s[1] ? "(?:.*/)?" : ".*");
		} else if (*s == '*' || *s == '?') {
			buf_puts(&b, *s == '*' ? "[^/]*" : "[^/]");
		} else if (*s == '\\' && s[1]) {
			buf_printf(&b, "\\%c", *++s);
		} else {
			buf_printf(&b, strchr(".$+(){}|^", *s) ? "\\%c" : "%c", *s);
		}
	}
	buf_puts(&b, ")\\z");
	return buf_text(&b);
}

struct ignore *
ignore_read(struct work *w, const char *dir)
{
	struct ignore *found = arena_new_of(w->a, struct ignore);
	const struct source *s = fs_read_quiet(w->a, fs_join(w->a, dir, names[1]), FS_READ_MAX);
	struct names lines;

	if (!s)
		s = fs_read_quiet(w->a, fs_join(w->a, dir, names[0]), FS_READ_MAX);
	if (!s)
		return found;
	lines = names_split(w->a, s->text + (starts_with(s->text, BOM) ? strlen(BOM) : 0), '\n');
	list_each (line, &lines) {
		const char *text = trimmed(w->a, *line), *below;
		bool keeps = *text == '!';
		struct pattern *p;

		if (**line == '#' || !*text)
			continue;
		below = clean(w->a, trimmed(w->a, text + keeps));
		/* The engine reports a pattern that it cannot read. */
		if (below && *below && (p = pattern_compile(expression(w->a, below + 1))))
			list_push(w->a, &found->lines, (struct ignore_line){ keeps, p });
	}
	return found;
}

void
ignore_free(struct ignore *i)
{
	list_each (line, &i->lines)
		pattern_free(line->pattern);
}

bool
ignore_has(const struct ignore *i, const char *path)
{
	bool ignored = false;

	list_each (line, &i->lines) {
		bool match = false;
		size_t n = 0;

		if (line->keeps != ignored)
			continue;
		while (!match && n < strlen(path)) {
			n += strcspn(path + n, "/");
			match = pattern_find(line->pattern, (struct str){ path, n }, NULL);
			n++;
		}
		ignored ^= match;
	}
	return ignored;
}

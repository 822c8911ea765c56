#ifndef STR_H
#define STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * A view of bytes: not owned, not NUL-terminated.  For reading text piece by
 * piece; a text that is kept is a `const char *` in the arena.
 */
struct str {
	const char *p;
	size_t n;
};

#define STR(literal) ((struct str){ (literal), sizeof(literal) - 1 })

static inline struct str
str_of(const char *s)
{
	return (struct str){ s, strlen(s) };
}

static inline bool
str_is(struct str s, const char *word)
{
	return strlen(word) == s.n && !memcmp(s.p, word, s.n);
}

static inline bool
str_eq(struct str a, struct str b)
{
	return a.n == b.n && !memcmp(a.p, b.p, a.n);
}

static inline bool
starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

static inline bool
ends_with(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && !memcmp(s + n - m, suffix, m);
}

/* Character classes of ASCII, independent of the locale. */
static inline bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool
is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool
is_alnum(char c)
{
	return is_digit(c) || is_alpha(c);
}

static inline char
to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* Returns whether a byte of UTF-8 is the first of a character. */
static inline bool
starts_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

/* Returns whether two texts are equal, or both NULL. */
static inline bool
str_same(const char *x, const char *y)
{
	return x && y ? !strcmp(x, y) : x == y;
}

/*
 * Returns whether a text matches a regular expression of PCRE2, where `$` is the very end and `.`
 * any byte.
 *   
 *   in      pattern: a literal, mostly "^...$", which is compiled once in a run
 *   out     false also for a text that exceeds the library's limits (10 million steps, 20 MB)
 *   source  pcre2pattern(3), PCRE2 10.42
 */
bool str_matches(const char *s, const char *pattern);

/* Returns whether a text is a full git commit: 40 hexadecimal digits. */
static inline bool
str_is_commit(const char *s)
{
	return str_matches(s, "^[0-9a-f]{40}$");
}

/*
 * Decodes the UTF-8 character at the start of p[0..n), n > 0, into *point.
 * Returns its length in bytes; 0 if the bytes are not UTF-8 (RFC 3629).
 */
size_t utf8_decode(const char *p, size_t n, uint32_t *point);

/*
 * Returns true for characters that are invisible, end a line, or change the direction of text:
 * Unicode's Cc (except the tab), Cf, Zl and Zp.
 */
bool utf8_invisible(uint32_t point);

/* Returns how many bytes of p[0..n) the first `columns` characters take. */
size_t utf8_bytes(const char *p, size_t n, size_t columns);

/*
 * str_nearest -- returns the one of `words[0..n)` that the user most likely meant.
 *
 *   in   word: the user's word; words: the valid words
 *   out  the word with the smallest edit distance (a swap of neighbours counts
 *        one), if that is at most a third of the longer length; else NULL
 */
const char *str_nearest(const char *word, const char *const *words, size_t n);

/* Returns true if a word is one of a list, "install create". */
bool among(const char *s, const char *list);

struct arena;
/* Returns "38.9 MB", with at most one decimal. */
const char *bytes_words(struct arena *a, double bytes);

#endif

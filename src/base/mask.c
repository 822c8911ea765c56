#include "mask.h"

#include <openssl/evp.h>
#include <string.h>

#include "buf.h"
#include "diag.h"
#include "str.h"

enum { WORD_MIN = 8 }; /* minimum bytes of a word that is hidden on its own */

struct mask {
	struct arena *a;
	struct names hidden; /* the hidden text */
	bool begins[256];    /* a hidden text begins with this byte */
	struct buf out;
};

const char *
base64_text(struct arena *a, const char *text)
{
	size_t n = strcspn(text, "=");
	const char *whole =
		arena_printf(a, "%.*s%.*s", (int)n, text, (int)((4 - n % 4) % 4), "===");
	char *out = arena_alloc(a, strlen(whole) + 1, 1);

	if (text[n + strspn(text + n, "=")] ||
	    EVP_DecodeBlock((unsigned char *)out, (const unsigned char *)whole,
			    (int)strlen(whole)) < 0)
		return NULL;
	out[n * 3 / 4] = '\0';
	return out;
}

static void
hide(struct mask *m, const char *s)
{
	if (strlen(s) < SECRET_MIN)
		return;
	names_once(m->a, &m->hidden, s);
	m->begins[(unsigned char)*s] = true;
}

/*
 * Hides the three forms of a text in base64: other bytes before it, as in "login:password", change
 * its form.
 */
static void
hide_base64(struct mask *m, const char *s)
{
	size_t n = strlen(s);
	unsigned char *in = arena_alloc(m->a, n + 2, 1);
	char *out = arena_alloc(m->a, (n + 4) / 3 * 4 + 1, 1);

	for (size_t before = 0; before < 3; before++) {
		size_t first = before ? before + 1 :
					0; /* the first character that depends only on this text */
		char *text;

		memcpy(in + before, s, n);
		EVP_EncodeBlock((unsigned char *)out, in, (int)(n + before));
		text = arena_copy(m->a, out + first, (n + before) * 8 / 6 - first);
		hide(m, text);
		for (char *c = text = arena_strdup(m->a, text); *c; c++) /* RFC 4648, section 5 */
			*c = *c == '+' ? '-' : *c == '/' ? '_' : *c;
		hide(m, text);
	}
}

/* Hides a secret as text, in URL encoding, without control characters, and in base64. */
static void
hide_forms(struct mask *m, const char *s)
{
	struct buf inert = BUF(m->a), url = BUF(m->a);

	for (const char *c = s; *c; c++)
		buf_printf(&url, is_alnum(*c) || strchr("-._~", *c) ? "%c" : "%%%02X",
			   (unsigned char)*c);
	diag_inert(s, &inert);
	hide(m, s);
	hide(m, buf_text(&url));
	hide(m, buf_text(&inert));
	if (strlen(s) >= WORD_MIN)
		hide_base64(m, s);
}

/* Returns the token in a line: the password of netrc, or the last word. */
static const char *
token_of(struct arena *a, const char *line)
{
	const char *key = strstr(line, "password"), *word;
	size_t n = strlen(line);

	if (key && (word = key + 8 + strspn(key + 8, " \t")) > key + 8)
		return arena_copy(a, word, strcspn(word, " \t"));
	while (n && !strchr(" \t", line[n - 1]))
		n--;
	return strlen(line + n) >= WORD_MIN ? line + n : "";
}

struct mask *
mask_new(struct arena *a, const struct names *secrets)
{
	struct mask *m = arena_new_of(a, struct mask);

	*m = (struct mask){ .a = a, .out = BUF(a) };
	for (size_t i = 0; i < secrets->n; i++) {
		const char *s = secrets->at[i];

		for (size_t n; *s; s += n, s += strspn(s, "\r\n")) {
			const char *line = arena_copy(a, s, n = strcspn(s, "\r\n"));

			hide_forms(m, line);
			hide_forms(m, token_of(a, line));
		}
	}
	return m;
}

/* Returns the length of the longest hidden text that begins here. */
static size_t
hidden_at(const struct mask *m, const char *s)
{
	size_t longest = 0;

	for (size_t i = 0; m->begins[(unsigned char)*s] && i < m->hidden.n; i++)
		if (starts_with(s, m->hidden.at[i]) && strlen(m->hidden.at[i]) > longest)
			longest = strlen(m->hidden.at[i]);
	return longest;
}

const char *
mask_text(struct mask *m, const char *text)
{
	struct arena *scratch = arena_new();
	const char *s = mask_credentials(scratch, text);

	buf_clear(&m->out);
	for (size_t n; *s; s += n ? n : 1)
		if ((n = hidden_at(m, s)))
			buf_puts(&m->out, "***");
		else
			buf_putc(&m->out, *s);
	arena_free(scratch);
	return buf_text(&m->out);
}

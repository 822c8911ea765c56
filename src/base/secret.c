#include "secret.h"

#include "buf.h"
#include "diag.h"

/* Secrets that their own form shows: private keys, credentials before an @, tokens, random words. */

enum {
	KEY_BYTES_MAX = 16 * 1024, /* of a private key in PEM: RSA with 16,384 bits takes 13 kB */
	LOGIN_BYTES_MAX = 256,     /* searched before an @ */
	URL_BYTES_MAX = 1024,
	HOOK_BYTES_MAX = 64, /* of a host and the path of its webhooks */
	RANDOM_MIN = 20,     /* bytes of a random word */
	ODD_WITHIN = 32,     /* bytes after the least length in which digits count */
	BASIC_MIN = 8,       /* bytes of "login:password" in base64 */
};

void
secret_hide(char *hide, size_t from, size_t to)
{
	if (to > from)
		memset(hide + from, 1, to - from);
}

static bool
is_one_of(char c, const char *set)
{
	return c && strchr(set, c);
}

static bool
has_at(struct str s, size_t at, const char *word)
{
	size_t n = strlen(word);

	return at + n <= s.n && !memcmp(s.p + at, word, n);
}

static size_t
find(struct str s, size_t from, size_t to, const char *word)
{
	const char *at = memmem(s.p + from, to - from, word, strlen(word));

	return at ? (size_t)(at - s.p) : to;
}

static bool
is_base64(char c)
{
	return is_alnum(c) || c == '+' || c == '/' || c == '=';
}

/* Returns the end of lines of base64, without the END line of a key. */
static size_t
key_lines_end(struct str s, size_t at)
{
	size_t end = at < s.n ? at : s.n;

	while (at < s.n) {
		size_t stop = find(s, at, s.n, "\n"), first = at, last = stop;

		while (first < stop && is_one_of(s.p[first], " \t#>|\"'+"))
			first++;
		while (last > first && is_one_of(s.p[last - 1], " \t\r\"',\\"))
			last--;
		for (size_t i = first; i < last; i++)
			if (!is_base64(s.p[i]))
				return end;
		end = last;
		at = stop + 1;
	}
	return end;
}

/* "-----BEGIN OPENSSH PRIVATE KEY-----", base64, "-----END ...": also in one line, or cut off. */
static void
mark_private_keys(struct str s, char *hide)
{
	enum { HEAD = 64, END = 9 /* bytes of "-----END " */ };
	static const char begin[] = "-----BEGIN ";

	for (size_t at = 0; (at = find(s, at, s.n, begin)) < s.n;) {
		size_t label = at + sizeof(begin) - 1;
		size_t line = at + HEAD < s.n ? at + HEAD : s.n;
		size_t name = find(s, at, line, "PRIVATE KEY");
		size_t body = name + strspn(s.p + name, "PRIVATE KEYBLOC"), last, end, next;

		at = label;
		if (name == line)
			continue;
		last = body + KEY_BYTES_MAX < s.n ? body + KEY_BYTES_MAX : s.n;
		end = find(s, body, last, "-----END ");
		next = find(s, body, end, begin);
		/* A key that is cut off has no END line, or that of another key. */
		at = end < last && next == end && end + END + body - label <= s.n &&
				     !memcmp(s.p + end + END, s.p + label, body - label) ?
			     end :
			     key_lines_end(s, find(s, body, last, "\n") + 1);
		secret_hide(hide, body, at);
		at = at < body ? body : at;
	}
	for (size_t at = 0; (at = find(s, at, s.n, "Private-Lines:")) < s.n; at++) {
		size_t body = find(s, at, s.n, "\n"); /* PuTTY */

		secret_hide(hide, body, key_lines_end(s, body + 1));
	}
}

static bool
ends_word(char c)
{
	switch (c) {
	case '\0':
	case ' ':
	case '\t':
	case '\r':
	case '\n':
	case '\'':
	case '"':
	case '`':
	case '<':
	case '>': return true;
	default: return false;
	}
}

/*
 * Marks "user:password" in a URL. A password may wrongly contain `/`, `?` or `#`: what follows the
 * colon is then no port.
 */
static void
mark_url(struct str s, size_t host, char *hide)
{
	size_t at = 0, end = host, colon = 0;

	s.n = s.n - host < URL_BYTES_MAX ? s.n : host + URL_BYTES_MAX;
	for (; end < s.n && !ends_word(s.p[end]) && !strchr("/?#", s.p[end]); end++) {
		at = s.p[end] == '@' ? end : at;
		colon = s.p[end] == ':' && !colon ? end : colon;
	}
	if (!at && colon && colon + 1 < end && !is_digit(s.p[colon + 1]) && s.p[host] != '[')
		for (; end < s.n && !ends_word(s.p[end]); end++)
			at = s.p[end] == '@' ? end : at;
	if (at && !(at == host + 3 && !memcmp(s.p + host, "git", 3)))
		secret_hide(hide, host, at);
}

static void
mark_urls(struct str s, char *hide)
{
	/* The path of a webhook is a secret. */
	static const char *const hooks[] = { "hooks.slack.com/services/",
					     "hooks.slack.com/workflows/",
					     "/api/webhooks/",
					     ".webhook.office.com/",
					     "chat.googleapis.com/v1/spaces/",
					     "api.telegram.org/bot" };

	for (size_t at = 0; (at = find(s, at, s.n, "://")) < s.n;) {
		at += 3;
		mark_url(s, at, hide);
		for (size_t i = 0; i < COUNT(hooks); i++) {
			size_t limit = at + HOOK_BYTES_MAX < s.n ? at + HOOK_BYTES_MAX : s.n;
			size_t hook = find(s, at, limit, hooks[i]), end = hook + strlen(hooks[i]);

			if (hook == limit)
				continue;
			for (hook = end; end < s.n && !ends_word(s.p[end]);)
				end++;
			secret_hide(hide, hook, end);
			at = end;
			break;
		}
	}
}

/* Marks the password in "user:password@host" without a scheme, but not "image:tag@sha256:...". */
static void
mark_login(struct str s, size_t at, char *hide)
{
	size_t first = at, colon = at, host = at + 1, end;
	bool dot = false;

	if (!is_alnum(host < s.n ? s.p[host] : ' ') && !has_at(s, host, "//"))
		return;
	while (first && at - first < LOGIN_BYTES_MAX && !ends_word(s.p[first - 1]) &&
	       !strchr("(),;=", s.p[first - 1])) {
		first--;
		colon = s.p[first] == ':' ? first : colon;
	}
	host += has_at(s, host, "//") ? 2 : 0;
	for (end = host; end < s.n && (is_alnum(s.p[end]) || is_one_of(s.p[end], ".-")); end++)
		dot |= s.p[end] == '.';
	if (colon == at || colon == first || colon + 1 == at || end == host ||
	    has_at(s, colon, "://") || has_at(s, host, "sha256:") ||
	    (memchr(s.p + first, '/', at - first) && !has_at(s, first, "jdbc:")))
		return;
	if (dot || (end + 1 < s.n && s.p[end] == ':' && is_digit(s.p[end + 1])) ||
	    has_at(s, host, "localhost"))
		secret_hide(hide, colon + 1, at);
}

static int
class_of(char c)
{
	return is_digit(c) ? 0 : c >= 'a' && c <= 'z' ? 1 : c >= 'A' && c <= 'Z' ? 2 : 3;
}

/*
 * In a random word of letters and digits, 62 % of the neighbours are of two classes. In names of code,
 * it is fewer, 20 to 35 %, or each word begins with a capital: Int8DynActInt4. Names that C++ mangles
 * begin with _Z.
 */
static bool
is_random(struct str w)
{
	size_t count[4] = { 0 }, pairs = 0, changes = 0, odd = 0;

	for (size_t i = 0; i < w.n; i++) {
		int c = class_of(w.p[i]), before = i ? class_of(w.p[i - 1]) : 3;

		count[c]++;
		pairs += c != 3 && before != 3;
		changes += c != 3 && before != 3 && c != before;
		odd += (c == 2 && before == 2) || (c == 1 && before == 0);
		if (w.p[i] == 'Z' && i && w.p[i - 1] == '_' && i + 1 < w.n &&
		    (is_digit(w.p[i + 1]) || strchr("NTGLKS", w.p[i + 1])))
			return false;
	}
	return odd && count[0] > 1 && count[1] > 1 && count[2] > 1 && count[3] * 8 <= w.n &&
	       changes * 100 >= pairs * 42;
}

/* Returns true for "login:password" in base64. */
static bool
is_basic(struct str w)
{
	enum { SEEN = 128 };
	uint32_t bits = 0;
	size_t colon = 0, n = 0;

	for (size_t i = 0; i < w.n && i < SEEN && w.p[i] != '='; i++) {
		const char c = w.p[i];
		uint32_t value = c == '+'    ? 62 :
				 c == '/'    ? 63 :
				 is_digit(c) ? (uint32_t)(c - '0') + 52 :
				 c >= 'a'    ? (uint32_t)(c - 'a') + 26 :
					       (uint32_t)(c - 'A');
		char byte;

		bits = bits << 6 | value;
		if (i % 4 == 0)
			continue;
		byte = (char)(bits >> (6 - 2 * (i % 4)));
		if (byte < ' ' || byte > '~')
			return false;
		colon = byte == ':' && !colon ? n : colon;
		n++;
	}
	return colon && colon + 1 < n;
}

/* Returns the length of a token that begins with a service's prefix, or 0. */
static size_t
token_length(struct str s)
{
	static const struct {
		const char *text;
		size_t least;
	} prefixes[] = {
#define PREFIX(text, least) { text, least },
#include "secret_prefixes.def"
#undef PREFIX
	};

	for (size_t i = 0; i < COUNT(prefixes); i++) {
		size_t n = strlen(prefixes[i].text), end, odd = 0;

		if (*prefixes[i].text != *s.p || !has_at(s, 0, prefixes[i].text))
			continue;
		for (end = n; end < s.n && end - n < prefixes[i].least + ODD_WITHIN &&
			      (is_alnum(s.p[end]) || is_one_of(s.p[end], "_-"));
		     end++)
			odd += class_of(s.p[end]) == 0 || class_of(s.p[end]) == 2;
		if (end - n < prefixes[i].least || (prefixes[i].least && odd < 2))
			continue;
		while (end < s.n && (is_alnum(s.p[end]) || is_one_of(s.p[end], "_-.~+/=")))
			end++;
		while (is_one_of(s.p[end - 1], ".-"))
			end--;
		return end;
	}
	return 0;
}

/* Returns true if a word is the digest after "sha256=" or "sha512-", or an id of Modal's objects. */
static bool
is_known_harmless(struct str s, size_t at, struct str w)
{
	static const char *const before[] = { "sha256", "sha384", "sha512", "sha1" };
	static const char *const ids[] = {
		"ap-", "im-", "fu-", "fc-", "ta-", "vo-", "sb-",  "mo-",
		"st-", "cs-", "sh-", "qu-", "di-", "in-", "GPU-", "MIG-"
	};

	for (size_t i = 0; i < COUNT(before); i++) {
		size_t n = strlen(before[i]);

		if (has_at(w, 0, before[i]) && w.n > n && strchr("-=:", w.p[n]))
			return true;
		if (at > n && has_at(s, at - n - 1, before[i]) && strchr("-=:", s.p[at - 1]))
			return true;
	}
	for (size_t i = 0; i < COUNT(ids); i++)
		if (has_at(w, 0, ids[i]) && w.n <= 40)
			return true;
	return false;
}

/* Returns true if a part between slashes is a word in lower case. */
static bool
is_path(struct str run)
{
	enum { PART_MIN = 4 };

	for (size_t i = 0, lower = 0; i < run.n; i++) {
		lower = run.p[i] == '/' ? 0 : lower + 1;
		if (run.p[i] != '/' && class_of(run.p[i]) != 1)
			while (i < run.n && run.p[i] != '/')
				i++, lower = 0;
		else if (lower >= PART_MIN && (i + 1 == run.n || run.p[i + 1] == '/'))
			return true;
	}
	return false;
}

/* Marks random parts of a run of base64 characters; a path has several parts. */
static void
mark_random(struct str s, size_t from, size_t to, char *hide)
{
	struct str run = { s.p + from, to - from };

	if (run.n < BASIC_MIN || is_known_harmless(s, from, run))
		return;
	if ((run.n >= 2 * RANDOM_MIN && is_random(run) && !is_path(run)) || is_basic(run)) {
		secret_hide(hide, from, to);
		return;
	}
	for (size_t part = from, end; part < to; part = end + 1) {
		for (end = part; end < to && s.p[end] != '/'; end++)
			;
		if (end - part >= RANDOM_MIN && is_random((struct str){ s.p + part, end - part }) &&
		    !is_known_harmless(s, part, (struct str){ s.p + part, end - part }))
			secret_hide(hide, part, end);
	}
}

static void
mark_words(struct str s, char *hide)
{
	for (size_t at = 0, end, n; at < s.n; at = end) {
		for (end = at; end < s.n && (is_base64(s.p[end]) || is_one_of(s.p[end], "_-"));
		     end++)
			if ((end == at || !is_alnum(s.p[end - 1])) &&
			    (n = token_length((struct str){ s.p + end, s.n - end }))) {
				secret_hide(hide, end, end + n);
				end += n;
				break;
			}
		if (end > at && !hide[end - 1])
			mark_random(s, at, end, hide);
		end += end == at;
	}
}

bool
secrets_mark(const char *p, size_t n, char *hide)
{
	struct str s = { p, n };

	mark_private_keys(s, hide);
	mark_urls(s, hide);
	for (const char *at = p; (at = memchr(at, '@', (size_t)(p + n - at))); at++)
		mark_login(s, (size_t)(at - p), hide);
	mark_words(s, hide);
	secrets_mark_pairs(s, hide);
	return memchr(hide, 1, n);
}

const char *
mask_credentials(struct arena *a, const char *text)
{
	size_t n = strlen(text);
	struct arena *scratch = n ? arena_new() : NULL;
	char *hide = n ? arena_alloc(scratch, n, 1) : NULL;
	struct buf b = BUF(a);

	if (n && secrets_mark(text, n, hide)) {
		for (size_t i = 0; i < n; i++)
			if (!hide[i])
				buf_putc(&b, text[i]);
			else if (!i || !hide[i - 1])
				buf_puts(&b, "***");
		text = buf_text(&b);
	}
	if (scratch)
		arena_free(scratch);
	return text;
}

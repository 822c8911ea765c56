#include "arena.h"
#include "secret.h"

/*
 * Finds the values beside names of secrets:
 *
 *     DB_PASS=x    password: x    "token": "x"    os.environ["API_KEY"] = 'x'    ?sig=x&
 *     Pwd=x;       --password x   <password>x<    {"name": "TOKEN", "value": "x"}
 *     login me password x    curl -u me:x    Authorization: Bearer x    password is x
 */

enum {
	VALUE_MAX = 512, /* bytes of a value whose form decides */
	LOGIN_MAX = 64,  /* bytes of the user in `-u USER:PASSWORD` */
	BACK_MAX = 256,  /* bytes that are searched before a name */
	LONE_MIN = 16,   /* bytes of a value that follows a name without a separator */
};

/* A name in the text, and what stands around it. */
struct name {
	size_t from, to;  /* without leading `-` */
	bool option;      /* `-` or `--` before it */
	bool begins_line; /* nothing but `#`, `-`, `export` and blanks before it */
	enum secret_name kind;
};

static char
at(struct str s, size_t i)
{
	return i < s.n ? s.p[i] : '\n';
}

static bool
is_one_of(char c, const char *set)
{
	return c && strchr(set, c);
}

static bool
is_name(char c)
{
	return is_alnum(c) || is_one_of(c, "_-.");
}

static size_t
skip(struct str s, size_t i, const char *set)
{
	while (i < s.n && is_one_of(s.p[i], set))
		i++;
	return i;
}

static bool
begins_line(struct str s, size_t i)
{
	static const char *const words[] = { "export", "set", "env" };
	size_t first = i;

	while (first && i - first < BACK_MAX && s.p[first - 1] != '\n')
		first--;
	while (first < i && !(s.p[first] >= 'a' && s.p[first] <= 'z') &&
	       !is_one_of(s.p[first], "{[(?&\"'"))
		first++; /* a time stamp, `#12 45.67`, `- `, `ENV` */
	for (size_t k = 0; k < COUNT(words); k++)
		if (i - first > strlen(words[k]) && starts_with(s.p + first, words[k]))
			first = skip(s, first + strlen(words[k]), " \t");
	return first >= i;
}

/* Returns true if one of the words stands before the name, in the same line. */
static bool
has_before(struct str s, size_t i, const char *const *words)
{
	size_t first = i;

	while (first && i - first < BACK_MAX && s.p[first - 1] != '\n')
		first--;
	for (; *words; words++)
		if (memmem(s.p + first, i - first, *words, strlen(*words)))
			return true;
	return false;
}

/* Returns true after "login me": in a netrc file, `password x` follows. */
static bool
is_netrc(struct str s, size_t i)
{
	size_t first = i, words[2] = { 0 };

	for (size_t k = 0; k < 2; k++) {
		while (first && i - first < BACK_MAX && is_one_of(s.p[first - 1], " \t\n"))
			first--;
		while (first && i - first < BACK_MAX && !is_one_of(s.p[first - 1], " \t\n"))
			first--;
		words[k] = first;
	}
	return starts_with(s.p + words[1], "login ") || starts_with(s.p + words[1], "machine ") ||
	       starts_with(s.p + words[1], "account ");
}

/* Returns true if `,`, `;` or `&` ends a value: a blank or another pair follows. */
static bool
ends_pair(struct str s, size_t i)
{
	size_t next = i + 1;

	while (next < s.n && next - i < 64 && is_name(s.p[next]))
		next++;
	return is_one_of(at(s, i + 1), " \t\r\n\"'\\{") ||
	       (next > i + 1 && is_one_of(at(s, next), "=:")) || i + 1 >= s.n;
}

/* Returns the end of a value without quotes. */
static size_t
bare_end(struct str s, size_t i, bool whole_line)
{
	for (; i < s.n && s.p[i] && !is_one_of(s.p[i], "\r\n"); i++) {
		char c = s.p[i];

		if (whole_line && (c != '#' || !is_one_of(at(s, i - 1), " \t")))
			continue;
		if (is_one_of(c, " \t\"'`<") || whole_line)
			break;
		if ((is_one_of(c, ",;&") && ends_pair(s, i)) ||
		    (is_one_of(c, ")]}>") && is_one_of(at(s, i + 1), " \t\r\n,;.)]}\"'`|")))
			break;
		if (c == '\\' && is_one_of(at(s, i + 1), "n\"'"))
			break;
	}
	return i;
}

/* Returns the text up to VALUE_MAX bytes after a place, so that the work stays linear. */
static struct str
cut(struct str s, size_t i)
{
	s.n = s.n - i < VALUE_MAX ? s.n : i + VALUE_MAX;
	return s;
}

/* Finds the value from i on, without its quotes. */
static struct str
value_at(struct str s, size_t i, bool whole_line)
{
	size_t open = i, end;
	bool escaped;

	if (at(s, i) == '|' || (at(s, i) == '>' && whole_line)) { /* a block scalar of YAML */
		open = skip(s, i, "|>-+");
		i = at(s, skip(s, open, " ")) == '\n' ? skip(s, open, " \n") : i;
	}
	i = skip(s, i, "[({");
	i += is_one_of(at(s, i), "brfu") && is_one_of(at(s, i + 1), "\"'");
	escaped = at(s, i) == '\\' && is_one_of(at(s, i + 1), "\"'");
	open = i + escaped;
	if (!is_one_of(at(s, open), "\"'`")) {
		end = bare_end(s, i, whole_line && open == i);
		while (whole_line && end > i && is_one_of(s.p[end - 1], " \t"))
			end--;
		return (struct str){ s.p + i, end - i };
	}
	for (end = ++open; end < s.n && !is_one_of(s.p[end], "\r\n"); end++) {
		if (s.p[end] == '\\' && escaped && at(s, end + 1) == s.p[open - 1])
			break;
		if (s.p[end] == '\\' && !escaped)
			end++;
		else if (s.p[end] == s.p[open - 1])
			break;
	}
	end = end < s.n ? end : s.n;
	return (struct str){ s.p + open, end - open };
}

/* Returns true if the value only refers to a secret, or is none: `None`, `$TOKEN`, `${{ ... }}`. */
static bool
is_reference(struct str v, struct str name)
{
	static const char *const none[] = { "None",      "none", "null",  "nil", "true",
					    "false",     "True", "False", "yes", "no",
					    "undefined", "***",  "[]",    "{}" };
	bool upper = true;
	size_t i;

	if (v.n > VALUE_MAX / 2)
		return false;
	for (size_t k = 0; k < COUNT(none); k++)
		if (str_is(v, none[k]))
			return true;
	if (v.n > 1 && v.p[0] == '$' && is_one_of(v.p[1], "{("))
		return v.p[v.n - 1] == '}' || v.p[v.n - 1] == ')' || v.n < 64;
	if (v.n > 1 && v.p[0] == '<' && v.p[v.n - 1] == '>')
		return true;
	/* `secret: PIP_TOKEN` and `--secret id=PIP_TOKEN` name a variable. */
	if (v.p[0] != '$' && (name.n < 6 || memcmp(name.p + name.n - 6, "secret", 6) != 0))
		return false;
	if (v.n > 3 && (!memcmp(v.p, "id=", 3) || !memcmp(v.p, "src", 3) || !memcmp(v.p, "env", 3)))
		return true;
	for (i = v.p[0] == '$'; i < v.n && (is_one_of(v.p[i], "_-") || is_alpha(v.p[i])); i++)
		upper &= v.p[i] < 'a';
	return i == v.n && v.n > 2 && v.n <= 64 && (upper || secret_name(v) != NAME_PLAIN);
}

static bool
is_path(struct str v)
{
	return is_one_of(v.p[0], "/~.") || (v.n > 2 && v.p[1] == ':' && is_one_of(v.p[2], "/\\"));
}

/* Returns true for a value that may be a credential: letters and digits, no digest, path or version. */
static bool
looks_secret(struct str v, size_t least)
{
	size_t digits = 0, letters = 0, upper = 0, lower = 0, hex = 0, other = 0, words = 1;

	if (v.n < least || is_path(v) || memmem(v.p, v.n, "://", 3) ||
	    (v.n < VALUE_MAX && memchr(v.p, ' ', v.n)))
		return false;
	for (size_t i = 0; i < v.n && i < VALUE_MAX; i++) {
		char c = v.p[i];

		digits += is_digit(c);
		letters += is_alpha(c);
		upper += c >= 'A' && c <= 'Z';
		lower += c >= 'a' && c <= 'z';
		hex += is_digit(c) || is_one_of(to_lower(c), "abcdef");
		other += !is_alnum(c) && !is_one_of(c, "_-.()[]");
		words += is_one_of(c, "_-. :");
	}
	if (starts_with(v.p, "sha256") || (least > LONE_MIN && hex == v.n && v.n > 32))
		return false;
	if (!letters ||
	    (!digits && !(upper && lower && other) && !(v.n >= 2 * LONE_MIN && words == 1)))
		return false;
	return least < LONE_MIN || words * 6 < v.n;
}

/* Returns whether the value of a name is hidden. */
static bool
hides(struct str s, const struct name *n, struct str v)
{
	struct str name = { s.p + n->from, n->to - n->from };
	bool key = name.n >= 3 && to_lower(name.p[name.n - 3]) == 'k' &&
		   to_lower(name.p[name.n - 2]) == 'e' && to_lower(name.p[name.n - 1]) == 'y';

	if (!v.n || is_reference(v, name) || (key && is_path(v)))
		return false;
	if (n->kind == NAME_HOLDS)
		return true;
	/* `key` has many meanings: a part of a cache's name, a digest. */
	return looks_secret(v, key && name.n == 3 ? LONE_MIN + 4 : 8);
}

static bool
is_word(struct str s, size_t i, const char *word)
{
	size_t n = strlen(word);

	return i + n < s.n && !memcmp(s.p + i, word, n) && !is_alnum(s.p[i + n]);
}

/* Returns the place after `=`, `: `, `=>` or `%3D` behind a name, or 0. */
static size_t
separator(struct str s, const struct name *n)
{
	size_t i = skip(s, n->to, "\\\"'`])"), sign;

	if (at(s, i) == '>' && n->from && at(s, n->from - 1) == '<')
		return i + 1;
	i = skip(s, i, " \t");
	if (i + 3 < s.n && !memcmp(s.p + i, "%3D", 3))
		return i + 3;
	sign = i;
	i = skip(s, i, ":=");
	if (i == sign || i - sign > 3 ||
	    (i - sign == 2 && s.p[sign] == ':' && s.p[sign + 1] == ':'))
		return 0;
	if (at(s, i) == '>')
		i++;
	return skip(s, i, " \t");
}

/* {"name": "DB_PASSWORD", "value": "x"}, also on two lines of YAML, and as attributes of XML. */
static size_t
value_of_named(struct str s, const struct name *n)
{
	size_t i = skip(s, n->to, "\\\"'`"), from;

	from = i;
	i = skip(s, i, " \t\r\n,\\\"'#:.-0123456789TZ");
	i = at(s, i) == 'n' && s.p[i - 1] == '\\' ? skip(s, i + 1, " \t") : i;
	if (i == from || i - from > 96 || !is_word(s, i, "value"))
		return 0;
	i = skip(s, i + 5, "\\\"' \t");
	return is_one_of(at(s, i), ":=") ? skip(s, i + 1, " \t") : 0;
}

/* The value after "Authorization:" and "Cookie:" is the rest of the line; a scheme stays. */
static bool
mark_header(struct str s, const struct name *n, size_t i, char *hide, size_t *end)
{
	struct str name = { s.p + n->from, n->to - n->from };
	size_t stop = i, word;

	if (name.n < 6 || (memcmp(name.p + name.n - 5, "ookie", 5) != 0 &&
			   memcmp(name.p + name.n - 5, "ation", 5) != 0))
		return false;
	i = skip(s, i, "\"'\\");
	for (stop = word = i; stop < s.n && !is_one_of(s.p[stop], "\r\n\"'`\\"); stop++)
		word = s.p[stop] == ' ' && word == i ? stop + 1 : word;
	if (is_one_of(name.p[name.n - 5], "o") || stop - i < 4)
		word = i;
	secret_hide(hide, word, stop);
	*end = stop;
	return true;
}

/*
 * Returns the value among the next words of the line: `SMTP_PASSWORD x1y2z3`, `api_key is invalid:
 * 0f3a...`, `Password for me: x`.
 */
static struct str
lone_value(struct str s, const struct name *n, size_t i)
{
	enum { WORDS = 5 };
	bool variable = n->kind == NAME_HOLDS && s.p[n->from] < 'a';
	struct str v = value_at(s, i, false);

	if (looks_secret(v, variable ? 6 : LONE_MIN) ||
	    (n->kind == NAME_HOLDS && is_netrc(s, n->from)))
		return v;
	if (n->kind == NAME_HOLDS && is_word(s, i, "for")) { /* a prompt */
		size_t end = i, limit = s.n - i < LOGIN_MAX ? s.n : i + LOGIN_MAX;

		while (end + 1 < limit && s.p[end] != '\n' &&
		       (s.p[end] != ':' || s.p[end + 1] != ' '))
			end++;
		if (end + 1 < limit && s.p[end] == ':')
			return value_at(s, skip(s, end + 1, " "), false);
	}
	for (int k = 0; k < WORDS && v.n && n->kind == NAME_HOLDS; k++) {
		i = skip(s, (size_t)(v.p - s.p) + v.n, " \t:\"'`,");
		v = value_at(s, i, false);
		if (looks_secret(v, LONE_MIN))
			return v;
	}
	return (struct str){ s.p + i, 0 };
}

/* `--password x`, `login me password x`, `password is x`, `token 0f3a...`. */
static struct str
value_without_sign(struct str s, const struct name *n)
{
	size_t i = skip(s, n->to, " \t");
	struct str v = { s.p + i, 0 };

	if (i == n->to)
		return v;
	if (n->option && at(s, i) != '-') {
		v = value_at(s, i, false);
	} else if (is_word(s, i, "is") || is_word(s, i, "was")) {
		v = value_at(s, skip(s, i + 2 + (s.p[i] == 'w'), " \t"), false);
		v.n = looks_secret(v, n->kind == NAME_HOLDS ? 4 : 8) ? v.n : 0;
	} else {
		v = lone_value(s, n, i);
	}
	return v;
}

/* Marks the password of `curl -u me:x`, `docker login -p x`, `mysql -px`; returns its end, or 0. */
static size_t
mark_short_option(struct str s, const struct name *n, char *hide)
{
	static const char *const logins[] = { "login", "sshpass", "twine", NULL };
	static const char *const sql[] = { "mysql", "mariadb", "sshpass", NULL };
	static const char *const redis[] = { "redis-cli", NULL };
	struct str name = { s.p + n->from, n->to - n->from };
	size_t first = skip(s, n->to, " =\t"), value = first;
	const char *colon =
		memchr(s.p + first, ':', s.n - first < LOGIN_MAX ? s.n - first : LOGIN_MAX);
	struct str v = { s.p + first, 0 };

	if (str_is(name, "u") || str_is(name, "user") || str_is(name, "proxy-user")) {
		if (first == n->to || !colon || is_digit(colon[1]) || colon[1] == '$')
			return 0;
		v = value_at(s, first, false);
		if (colon + 1 >= v.p + v.n)
			return 0;
		value = (size_t)(colon + 1 - s.p);
		secret_hide(hide, value, (size_t)(v.p + v.n - s.p));
		return (size_t)(v.p + v.n - s.p);
	}
	if ((str_is(name, "p") && has_before(s, n->from, logins)) ||
	    (str_is(name, "a") && has_before(s, n->from, redis))) {
		v = value_at(s, first, false);
		value = (size_t)(v.p - s.p);
		secret_hide(hide, value, value + v.n);
		return value + v.n;
	}
	if (name.n > 1 && name.p[0] == 'p' && at(s, n->from - 1) == '-' &&
	    at(s, n->from - 2) == ' ' && has_before(s, n->from, sql)) {
		v = value_at(s, n->from + 1, false);
		secret_hide(hide, n->from + 1, n->from + 1 + v.n);
		return n->from + 1 + v.n;
	}
	return 0;
}

/* Marks the value that belongs to a name; returns where to continue. */
static size_t
mark_value(struct str s, const struct name *n, char *hide)
{
	size_t i = separator(s, n), end = n->to;
	struct str v, whole = s;

	/* A value that may be rejected is read to VALUE_MAX only. */
	if (n->kind == NAME_MAY_HOLD)
		s = cut(s, i ? i : n->to);

	i = i ? i : value_of_named(s, n);
	if (i && mark_header(s, n, i, hide, &end))
		return end;
	/* "`secrets:`" has no value. */
	if (i && n->from && is_one_of(s.p[n->from - 1], "\"'`") && at(s, i) == s.p[n->from - 1] &&
	    at(s, n->to) != s.p[n->from - 1])
		return n->to;
	v = i ? value_at(s, i, n->begins_line) : value_without_sign(s, n);
	if (!hides(s, n, v))
		return n->to;
	if (v.p + v.n == s.p + s.n)
		v = value_at(whole, (size_t)(v.p - s.p), n->begins_line);
	secret_hide(hide, (size_t)(v.p - s.p), (size_t)(v.p - s.p) + v.n);
	return (size_t)(v.p - s.p) + v.n;
}

void
secrets_mark_pairs(struct str s, char *hide)
{
	for (size_t i = 0, end; i < s.n; i = end) {
		struct name n = { .from = i };

		end = i + 1;
		if (!is_name(s.p[i]) || hide[i])
			continue;
		while (end < s.n && is_name(s.p[end]))
			end++;
		n.from = skip(s, i, "-.");
		n.option = n.from > i && s.p[i] == '-';
		n.to = end;
		while (n.to > n.from && is_one_of(s.p[n.to - 1], ".-"))
			n.to--;
		n.kind = secret_name((struct str){ s.p + n.from, n.to - n.from });
		if (n.kind == NAME_PLAIN) {
			size_t marked = n.option ? mark_short_option(s, &n, hide) : 0;

			end = marked > end ? marked : end;
			continue;
		}
		n.begins_line = n.kind == NAME_HOLDS && begins_line(s, i);
		n.to = mark_value(s, &n, hide);
		end = n.to > end ? n.to : end;
	}
}

#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "python.h"

/*
 * The grammar of requirements files and of the output of `pip freeze`:
 *
 *     file := { line }
 *     line := [ requirement { option } | option | URL | path ] [ comment ]
 *
 * A backslash at its end joins a line with the next; a comment begins with # at the
 * start or after a blank.  https://pip.pypa.io/en/stable/reference/requirements-file-format/
 */

/* Options of `pip install` in `--help` of pip 26 and of uv's pip; other options take no value. */
static const struct {
	enum pip_option is;
	const char *names;
} options[] = {
	{ PIP_INDEX, "--index-url -i --default-index --pypi-url" },
	{ PIP_EXTRA_INDEX, "--extra-index-url --index" },
	{ PIP_LINKS, "--find-links -f" },
	{ PIP_REQUIREMENTS, "--requirement --requirements -r" },
	{ PIP_CONSTRAINTS, "--constraint -c" },
	{ PIP_EDITABLE, "--editable -e" },
	{ PIP_NO_ISOLATION, "--no-build-isolation" },
	{ PIP_NO_CACHE, "--no-cache-dir --no-cache" },
	{ PIP_QUIET,
	  "-q -qq --quiet -v --verbose -U --upgrade --user --system --no-input --compile "
	  "--no-compile --disable-pip-version-check --break-system-packages "
	  "--no-warn-script-location" },
	{ PIP_SETTING,
	  "--hash --target -t --prefix --root --src --timeout --default-timeout --retries "
	  "--trusted-host --cache-dir --upgrade-strategy --progress-bar --no-binary --only-binary "
	  "--platform --python-version --python -p --implementation --abi --proxy "
	  "--config-settings "
	  "--root-user-action --config-setting -C --global-option --install-option --build-option "
	  "--log --cert "
	  "--client-cert --exists-action --report --use-feature --index-strategy --torch-backend "
	  "--link-mode --resolution --prerelease --no-build-isolation-package" },
};

enum pip_option
pip_option(struct arena *a, const char *word, const char **value)
{
	size_t n = word[0] == '-' && word[1] == '-' ? strcspn(word, "=") : 2;
	const char *name;

	*value = NULL;
	if (word[0] != '-' || !word[1])
		return PIP_NONE;
	name = arena_copy(a, word, n);
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		if (!among(name, options[i].names))
			continue;
		if (word[n])
			*value = word + n + (word[n] == '=');
		return options[i].is;
	}
	return PIP_SWITCH;
}

/* --- lines --- */

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\f' || c == '\r';
}

static size_t
before_comment(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] == '#' && (!i || is_blank(s[i - 1])))
			return i;
	return n;
}

struct text
requirements_line(struct arena *a, const struct source *src, const char **p, uint32_t *number)
{
	struct text l = { NULL, { .src = src, .line = *number } };
	struct buf b = BUF(a);

	if (*number == 1)
		*p += starts_with(*p, "\xef\xbb\xbf") ? 3 : 0;

	for (bool more = true; more && **p; ++*number) {
		const char *s = *p;
		size_t n = strcspn(s, "\n"), skip = strspn(s, " \t\f\r");

		*p += n + (s[n] == '\n');
		n -= n && s[n - 1] == '\r';
		more = n && s[n - 1] == '\\' && before_comment(s, n) == n;
		n = before_comment(s, n - more);
		skip = skip < n ? skip : n;
		while (n > skip && is_blank(s[n - 1]))
			n--;
		if (!l.at.col) {
			l.at.col = (uint32_t)text_columns(s, skip) + 1;
			l.at.width = (uint32_t)text_columns(s + skip, n - skip);
		}
		if (b.n)
			buf_putc(&b, ' ');
		buf_add(&b, s + skip, n - skip);
	}
	l.s = buf_text(&b);
	return l;
}

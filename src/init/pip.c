#include "pip.h"

#include <stddef.h>

/* `pip install --help` of pip 26, and the like of uv's pip. */
static const struct {
	const char *name;
	enum pip_option is;
} options[] = {
	{ "--index-url", PIP_INDEX },
	{ "-i", PIP_INDEX },
	{ "--default-index", PIP_INDEX },
	{ "--pypi-url", PIP_INDEX },
	{ "--extra-index-url", PIP_EXTRA_INDEX },
	{ "--index", PIP_EXTRA_INDEX },
	{ "--find-links", PIP_LINKS },
	{ "-f", PIP_LINKS },
	{ "--requirement", PIP_REQUIREMENTS },
	{ "--requirements", PIP_REQUIREMENTS },
	{ "-r", PIP_REQUIREMENTS },
	{ "--constraint", PIP_CONSTRAINTS },
	{ "-c", PIP_CONSTRAINTS },
	{ "--editable", PIP_EDITABLE },
	{ "-e", PIP_EDITABLE },
	{ "--no-build-isolation", PIP_NO_ISOLATION },
	{ "--no-cache-dir", PIP_NO_CACHE },
	{ "--no-cache", PIP_NO_CACHE },
	{ "--hash", PIP_SETTING },
	{ "--target", PIP_SETTING },
	{ "-t", PIP_SETTING },
	{ "--prefix", PIP_SETTING },
	{ "--root", PIP_SETTING },
	{ "--src", PIP_SETTING },
	{ "--timeout", PIP_SETTING },
	{ "--default-timeout", PIP_SETTING },
	{ "--retries", PIP_SETTING },
	{ "--trusted-host", PIP_SETTING },
	{ "--cache-dir", PIP_SETTING },
	{ "--upgrade-strategy", PIP_SETTING },
	{ "--progress-bar", PIP_SETTING },
	{ "--no-binary", PIP_SETTING },
	{ "--only-binary", PIP_SETTING },
	{ "--platform", PIP_SETTING },
	{ "--python-version", PIP_SETTING },
	{ "--python", PIP_SETTING },
	{ "-p", PIP_SETTING },
	{ "--implementation", PIP_SETTING },
	{ "--abi", PIP_SETTING },
	{ "--proxy", PIP_SETTING },
	{ "--config-settings", PIP_SETTING },
	{ "--config-setting", PIP_SETTING },
	{ "-C", PIP_SETTING },
	{ "--global-option", PIP_SETTING },
	{ "--install-option", PIP_SETTING },
	{ "--build-option", PIP_SETTING },
	{ "--log", PIP_SETTING },
	{ "--cert", PIP_SETTING },
	{ "--client-cert", PIP_SETTING },
	{ "--exists-action", PIP_SETTING },
	{ "--report", PIP_SETTING },
	{ "--use-feature", PIP_SETTING },
	{ "--index-strategy", PIP_SETTING },
	{ "--torch-backend", PIP_SETTING },
	{ "--link-mode", PIP_SETTING },
	{ "--resolution", PIP_SETTING },
	{ "--prerelease", PIP_SETTING },
	{ "--no-build-isolation-package", PIP_SETTING },
};

bool
pip_takes_value(enum pip_option o)
{
	return o != PIP_NONE && o != PIP_SWITCH && o != PIP_NO_ISOLATION && o != PIP_NO_CACHE;
}

enum pip_option
pip_option(const char *word, struct str *value)
{
	bool is_long = word[0] == '-' && word[1] == '-';
	size_t n = is_long ? strcspn(word, "=") : 2;

	*value = (struct str){ NULL, 0 };
	if (word[0] != '-' || !word[1])
		return PIP_NONE;
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		if (!str_is((struct str){ word, n }, options[i].name))
			continue;
		if (word[n])
			*value = str_of(word + n + (word[n] == '='));
		return options[i].is;
	}
	return PIP_SWITCH;
}

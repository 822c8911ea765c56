#include "reader.h"

/* Options of `pip install`, as `--help` of pip 26 and of uv's pip list them; others take no value. */
static const struct {
	enum pip_option is;
	const char *names;
} options[] = {
	{ PIP_INDEX, " --index-url -i --default-index --pypi-url " },
	{ PIP_EXTRA_INDEX, " --extra-index-url --index " },
	{ PIP_LINKS, " --find-links -f " },
	{ PIP_REQUIREMENTS, " --requirement --requirements -r " },
	{ PIP_CONSTRAINTS, " --constraint -c " },
	{ PIP_EDITABLE, " --editable -e " },
	{ PIP_NO_ISOLATION, " --no-build-isolation " },
	{ PIP_NO_CACHE, " --no-cache-dir --no-cache " },
	{ PIP_QUIET,
	  " -q -qq --quiet -v --verbose -U --upgrade --user --system --no-input --compile "
	  "--no-compile --disable-pip-version-check --break-system-packages "
	  "--no-warn-script-location " },
	{ PIP_SETTING,
	  " --hash --target -t --prefix --root --src --timeout --default-timeout --retries "
	  "--trusted-host --cache-dir --upgrade-strategy --progress-bar --no-binary --only-binary "
	  "--platform --python-version --python -p --implementation --abi --proxy "
	  "--config-settings "
	  "--root-user-action --config-setting -C --global-option --install-option --build-option "
	  "--log --cert "
	  "--client-cert --exists-action --report --use-feature --index-strategy --torch-backend "
	  "--link-mode --resolution --prerelease --no-build-isolation-package " },
};

bool
pip_takes_value(enum pip_option o)
{
	return o != PIP_NONE && o != PIP_QUIET && o != PIP_SWITCH && o != PIP_NO_ISOLATION &&
	       o != PIP_NO_CACHE;
}

enum pip_option
pip_option(const char *word, struct str *value)
{
	size_t n = word[0] == '-' && word[1] == '-' ? strcspn(word, "=") : 2;
	char name[48];

	*value = (struct str){ NULL, 0 };
	if (word[0] != '-' || !word[1])
		return PIP_NONE;
	if (n > sizeof(name) - 3)
		return PIP_SWITCH;
	name[0] = ' ';
	memcpy(name + 1, word, n);
	memcpy(name + 1 + n, " ", 2);
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		if (!strstr(options[i].names, name))
			continue;
		if (word[n])
			*value = str_of(word + n + (word[n] == '='));
		return options[i].is;
	}
	return PIP_SWITCH;
}

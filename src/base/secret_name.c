#include "secret.h"

/* Judges names: is the value of `DB_PASSWORD`, `api-key`, `clientSecret`, `key` a secret? */

enum { NAME_MAX_BYTES = 128, WORDS_MAX = 16 };

/* The words of a name in lower case, and the same without separators. */
struct parts {
	char text[NAME_MAX_BYTES + WORDS_MAX + 1]; /* "db\0password\0" */
	const char *words[WORDS_MAX];
	size_t n;
	char joined[NAME_MAX_BYTES + 1]; /* "dbpassword" */
	bool upper;                      /* no letter is in lower case: a variable */
};

/* Splits `DB_PASSWORD2`, `clientSecret`, `x-api-key`; digits at the end of a word do not count. */
static void
split(struct str name, struct parts *out)
{
	size_t to = 0, joined = 0;
	bool within = false;

	*out = (struct parts){ .upper = true };
	if (name.n > NAME_MAX_BYTES)
		name = (struct str){ name.p + name.n - NAME_MAX_BYTES, NAME_MAX_BYTES };
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];
		bool begins =
			i && c >= 'A' && c <= 'Z' && name.p[i - 1] >= 'a' && name.p[i - 1] <= 'z';

		if (within && (!is_alpha(c) || begins)) {
			out->text[to++] = '\0';
			within = false;
		}
		if (!is_alpha(c))
			continue;
		if (!within && out->n == WORDS_MAX)
			break;
		if (!within)
			out->words[out->n++] = out->text + to;
		within = true;
		out->upper &= c < 'a';
		out->text[to++] = out->joined[joined++] = to_lower(c);
	}
}

static bool
ends_with_one(const char *s, const char *const *all)
{
	for (; *all; all++)
		if (ends_with(s, *all))
			return true;
	return false;
}

/* Returns true if the name before the last word does not speak of a login: `eos_token`. */
static bool
is_text_token(const struct parts *p)
{
	const char *before = p->n > 1 ? p->words[p->n - 2] : "";

	return among(before,
		     "pad eos bos unk sep cls mask special image audio video next start stop "
		     "end begin per max min num new first last unexpected think prefix suffix "
		     "middle decoder encoder forced tool");
}

enum secret_name
secret_name(struct str name)
{
	/* Endings, also of names without separators: `apikey`, `PGPASSWORD`. */
	static const char *const holds[] = { "password",         "passwd",
					     "passphrase",       "passcode",
					     "passwort",         "secret",
					     "secretkey",        "apikey",
					     "accesskey",        "accesskeyid",
					     "privatekey",       "accountkey",
					     "sharedkey",        "encryptionkey",
					     "signingkey",       "masterkey",
					     "authkey",          "keydata",
					     "sshkey",           "accesstoken",
					     "authtoken",        "refreshtoken",
					     "bearertoken",      "sessiontoken",
					     "securitytoken",    "identitytoken",
					     "idtoken",          "apitoken",
					     "privatetoken",     "deploytoken",
					     "bottoken",         "jwt",
					     "connectionstring", "connstr",
					     "dockerconfigjson", "authorization",
					     "storagekey",       "licensekey",
					     "xsignature",       "amzsignature",
					     "amzcredential",    NULL };
	struct parts p;
	const char *last;

	split(name, &p);
	last = p.n ? p.words[p.n - 1] : "";
	if (!p.n || str_is(name, "PWD") || str_is(name, "OLDPWD") ||
	    among(last,
		  "file path dir name names len length min max count type policy expiry expires "
		  "expired error size limit field prompt provider required enabled format stdin "
		  "yaml "
		  "yml json toml txt py md cfg ini html"))
		return NAME_PLAIN;
	if (ends_with_one(p.joined, holds) || among(last, "pwd pw psw pswd passw") ||
	    (p.n > 1 && p.upper && among(last, "pass pat token") && !is_text_token(&p)))
		return NAME_HOLDS;
	for (size_t i = 0; i + 1 < p.n; i++)
		if (among(p.words[i], "password passwd passphrase secret apikey"))
			return NAME_HOLDS;
	if (among(last, "token key auth cookie session sessionid sid sig signature credential "
			"credentials "
			"creds dsn pass pat secrets bearer webhook") &&
	    !(among(last, "token") && is_text_token(&p)))
		return NAME_MAY_HOLD;
	return NAME_PLAIN;
}

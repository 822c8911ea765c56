#include <openssl/evp.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mask.h"
#include "base/proc.h"
#include "base/str.h"
#include "fetch.h"
#include "oci_internal.h"

/* --- logins: the files of docker and podman, and their helpers --- */

/* Returns the registry in a key: docker.io for "https://index.docker.io/v1/". */
static const char *
key_host(struct arena *a, const char *key)
{
	static const char *const ends[] = { "/", "/v1", "/v2" };
	const char *scheme = strstr(key, "://");
	char *host = arena_strdup(a, scheme ? scheme + 3 : key);

	for (size_t i = 0; i < COUNT(ends); i++)
		if (ends_with(host, ends[i]))
			host[strlen(host) - strlen(ends[i])] = '\0';
	if (!strcmp(host, "index.docker.io") || !strcmp(host, "registry-1.docker.io"))
		return "docker.io";
	return host;
}

/*
 * Returns the value for a registry in a map; podman's keys may include a repository: the longest
 * one applies.
 */
static json_t *
value_for(struct arena *a, json_t *map, const struct oci_name *n)
{
	char *want = arena_printf(a, "%s/%s", n->registry, n->repository), *slash;
	const char *key;
	json_t *value;

	for (;;) {
		json_object_foreach(map, key,
				    value) if (!strcmp(key_host(a, key), want)) return value;
		slash = strrchr(want, '/');
		if (!slash)
			return NULL;
		*slash = '\0';
	}
}

const char *
fetch_json_text(struct arena *a, const json_t *map, const char *key)
{
	const char *s = json_string_value(json_object_get(map, key));

	return s && *s ? arena_strdup(a, s) : NULL;
}

static bool
take(struct oci_login *l, const char *user, const char *secret)
{
	/* docker's mark for a token instead of a password. */
	if (user && !strcmp(user, "<token>"))
		l->identity = secret;
	else
		l->user = user, l->secret = secret;
	return l->identity || (user && secret);
}

static bool
from_auths(struct arena *a, const json_t *entry, struct oci_login *l)
{
	const char *auth = fetch_json_text(a, entry, "auth"), *plain, *colon;
	const char *identity = fetch_json_text(a, entry, "identitytoken");

	if (identity)
		return take(l, "<token>", identity);
	plain = auth ? base64_text(a, auth) : NULL;
	colon = plain ? strchr(plain, ':') : NULL;
	if (colon)
		return take(l, arena_copy(a, plain, (size_t)(colon - plain)), colon + 1);
	return take(l, fetch_json_text(a, entry, "username"),
		    fetch_json_text(a, entry, "password"));
}

/* Runs `docker-credential-NAME get`: the server on its input, JSON on its output. */
static bool
from_helper(struct arena *a, const char *name, const struct oci_name *n, struct oci_login *l,
	    struct names *troubles)
{
	const char *program = arena_printf(a, "docker-credential-%s", name);
	const char *const argv[] = { program, "get", NULL };
	const char *server =
		strcmp(n->registry, "docker.io") != 0 ? n->registry : "https://index.docker.io/v1/";
	const struct proc_spec spec = { .argv = argv,
					.input = server,
					.input_size = strlen(server),
					.timeout_s = 60,
					.keep = 64 * 1024 };
	bool valid = str_matches(name, "^[A-Za-z0-9._-]+$"), good = false;
	struct proc_result r = { 0 };
	json_auto_t *answer = NULL;
	const char *out;

	if (valid && proc_run(a, &spec, &r) && (answer = oci_json(buf_text(&r.out), r.out.n)))
		good = take(l, fetch_json_text(a, answer, "Username"),
			    fetch_json_text(a, answer, "Secret"));
	out = valid ? buf_text(&r.out) : "";
	if (!good && !strstr(out, "credentials not found"))
		list_push(a, troubles,
			  !valid ? arena_printf(a, "`%s` is not the name of a credential helper",
						name) :
			  !r.started  ? arena_printf(a, "%s is not installed", program) :
			  r.timed_out ? arena_printf(a, "%s did not answer within 60 s", program) :
			  r.status    ? arena_printf(a, "%s failed: %.*s", program,
						     (int)strcspn(out, "\r\n"), out) :
					arena_printf(a, "%s answered without Username and Secret",
						     program));
	return good;
}

static bool
from_file(struct arena *a, const char *path, const struct oci_name *n, struct oci_login *l,
	  struct names *troubles)
{
	const struct source *src = fs_read_quiet(a, path, OCI_LOGIN_MAX);
	json_auto_t *root = src ? oci_json(src->text, src->size) : NULL;
	const char *helper;
	bool found;

	if (!fs_exists(path))
		return false;
	if (!root) {
		list_printf(a, troubles, "`%s` is not a valid file of logins", path);
		return false;
	}
	helper = json_string_value(value_for(a, json_object_get(root, "credHelpers"), n));
	found = helper && from_helper(a, helper, n, l, troubles);
	if (!found && !helper) {
		helper = json_string_value(json_object_get(root, "credsStore"));
		found = helper && *helper && from_helper(a, helper, n, l, troubles);
	}
	found = found || from_auths(a, value_for(a, json_object_get(root, "auths"), n), l);
	l->where = path;
	return found;
}

static const char *
under(struct arena *a, const char *variable, const char *file)
{
	const char *dir = getenv(variable);

	return dir && *dir ? fs_join(a, dir, file) : NULL;
}

struct oci_login
oci_login_find(struct arena *a, const struct oci_name *n, struct names *troubles)
{
	const char *named = getenv("REGISTRY_AUTH_FILE");
	const char *docker = under(a, "DOCKER_CONFIG", "config.json");
	const char *run = under(a, "XDG_RUNTIME_DIR", "containers/auth.json");
	const char *config = under(a, "XDG_CONFIG_HOME", "containers/auth.json");
	const char *files[] = {
		named && *named ? named : NULL,
		docker ? docker : under(a, "HOME", ".docker/config.json"),
		run ? run :
		      arena_printf(a, "/run/containers/%lu/auth.json", (unsigned long)getuid()),
		config ? config : under(a, "HOME", ".config/containers/auth.json"),
	};
	struct oci_login l = { 0 };

	for (size_t i = 0; i < COUNT(files); i++)
		if (files[i] && from_file(a, files[i], n, &l, troubles))
			return l;
	return (struct oci_login){ 0 };
}

/* --- tokens --- */

/*
 * WWW-Authenticate (RFC 9110, 11.6.1), in the subset that registries use:
 *
 *   challenge = scheme SP param *( "," param )     Bearer realm="...",service="...",scope="..."
 *   param     = token "=" ( token / quoted )       Basic realm="..."
 */
struct challenge {
	bool bearer, basic;
	const char *realm, *service, *scope;
};

static bool
is_word(struct str s, const char *word)
{
	return strlen(word) == s.n && !strncasecmp(s.p, word, s.n);
}

static const char *
read_value(struct arena *a, const char **p)
{
	struct buf b = BUF(a);
	const char *s = *p;

	if (*s != '"') {
		size_t n = strcspn(s, " ,\t");

		*p = s + n;
		return arena_copy(a, s, n);
	}
	for (s++; *s && *s != '"'; s++) {
		if (*s == '\\' && s[1])
			s++;
		buf_putc(&b, *s);
	}
	*p = *s ? s + 1 : s;
	return buf_text(&b);
}

static void
read_challenge(struct arena *a, const char *s, struct challenge *c)
{
	bool bearer = false;

	while (*s) {
		const char *word = s += strspn(s, " ,\t");
		struct str name = { word, strcspn(word, " ,\t=") };

		s += name.n;
		if (*s == '=') {
			const char *value = (s++, read_value(a, &s));

			if (bearer && is_word(name, "realm"))
				c->realm = value;
			else if (bearer && is_word(name, "service"))
				c->service = value;
			else if (bearer && is_word(name, "scope"))
				c->scope = value;
		} else if (name.n) {
			bearer = is_word(name, "bearer");
			c->bearer |= bearer;
			c->basic |= is_word(name, "basic");
		}
	}
}

const char *
oci_escape(struct arena *a, const char *text)
{
	struct buf b = BUF(a);

	for (; *text; text++) {
		if (is_alnum(*text) || strchr("-._~", *text))
			buf_putc(&b, *text);
		else
			buf_printf(&b, "%%%02X", (unsigned char)*text);
	}
	return buf_text(&b);
}

static const char *
basic(struct arena *a, const struct oci_login *l)
{
	const char *text = arena_printf(a, "%s:%s", l->user, l->secret);
	char *out = arena_alloc(a, (strlen(text) + 2) / 3 * 4 + 1, 1);

	EVP_EncodeBlock((unsigned char *)out, (const unsigned char *)text, (int)strlen(text));
	return arena_printf(a, "Authorization: Basic %s", out);
}

static const char *
token_of(struct oci_registry *r, const struct http_answer *answer)
{
	json_auto_t *root = oci_json(answer->body, answer->body_size);
	const char *token = json_string_value(json_object_get(root, "token"));

	if (!token)
		token = json_string_value(json_object_get(root, "access_token"));
	/* RFC 6750's characters, which a header may contain. */
	return token && str_matches(token, "^[A-Za-z0-9._~+/=-]+$") ?
		       arena_printf(r->a, "Authorization: Bearer %s", token) :
		       NULL;
}

/*
 * Returns a token for a challenge: by GET with the login as Basic, or by the OAuth2 POST if the
 * login is an identity token. Source: distribution.github.io/distribution/spec/auth/token,
 * .../oauth
 */
static const char *
fetch_token(struct oci_registry *r, const struct challenge *c, const char *scope)
{
	const struct oci_login *l = &r->login;
	const char *service = c->service ? oci_escape(r->a, c->service) : "";
	const char *form =
		arena_printf(r->a, "service=%s&scope=%s", service, oci_escape(r->a, scope));
	struct http_request q = { .method = "GET", .max = OCI_LOGIN_MAX };
	const char *token = NULL;
	struct http_answer answer;

	if (l->identity) {
		q.method = "POST";
		q.url = c->realm;
		q.body = arena_printf(
			r->a, "grant_type=refresh_token&client_id=stackbuild&%s&refresh_token=%s",
			form, oci_escape(r->a, l->identity));
		q.body_size = strlen(q.body);
		list_push(r->a, &q.headers, "Content-Type: application/x-www-form-urlencoded");
	} else {
		q.url = arena_printf(r->a, "%s%c%s", c->realm, strchr(c->realm, '?') ? '&' : '?',
				     form);
		if (l->user)
			list_push(r->a, &q.headers, basic(r->a, l));
	}
	if (http_do(r->a, &q, &answer) && answer.status == 200)
		token = token_of(r, &answer);
	if (!token)
		list_push(r->a, &r->troubles,
			  !answer.status ?
				  arena_printf(r->a, "no token from %s: %s", c->realm, answer.why) :
			  answer.status != 200 ?
				  arena_printf(r->a, "no token from %s: HTTP %d", c->realm,
					       answer.status) :
				  arena_printf(r->a, "no token in the answer of %s", c->realm));
	return token;
}

/* Returns true if a URL may get a login: over TLS, or on this machine if the registry is also on
 * it. A user in the URL ("http://localhost:1@192.0.2.2/") would make another host look like this
 * one. */
static bool
is_safe(const struct oci_registry *r, const char *realm)
{
	const char *host = http_host(r->a, realm);

	return host && (!strncasecmp(realm, "https://", 8) ||
			(http_is_loopback(r->name->registry) && http_is_loopback(host)));
}

bool
oci_authorize(struct oci_registry *r, const struct http_answer *answer, bool push)
{
	const char *before = r->authorization, *scope;
	struct challenge c = { 0 };

	for (size_t i = 0; i < answer->headers.n; i++)
		if (starts_with(answer->headers.at[i], "www-authenticate:"))
			read_challenge(r->a, answer->headers.at[i] + 17, &c);
	if (!r->looked)
		r->login = oci_login_find(r->a, r->name, &r->troubles);
	r->looked = true;
	r->authorization = NULL;
	if (c.bearer && c.realm && is_safe(r, c.realm)) {
		scope = c.scope ? c.scope :
				  arena_printf(r->a, "repository:%s:%s", r->name->repository,
					       push ? "pull,push" : "pull");
		r->authorization = fetch_token(r, &c, scope);
	} else if (c.bearer && c.realm) {
		list_printf(r->a, &r->troubles, "it requires a login without TLS, at %s", c.realm);
	} else if (c.basic && r->login.user) {
		r->authorization = basic(r->a, &r->login);
	}
	return r->authorization && (!before || strcmp(before, r->authorization) != 0);
}

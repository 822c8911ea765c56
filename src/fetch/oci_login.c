#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/str.h"
#include "fetch.h"
#include "oci_internal.h"

const char *
oci_base64(struct arena *a, const char *text)
{
	size_t n = strlen(text);
	char *out = arena_alloc(a, (n + 2) / 3 * 4 + 1, 1);

	EVP_EncodeBlock((unsigned char *)out, (const unsigned char *)text, (int)n);
	return out;
}

/* The text of a login; NULL if it is not base64.  Podman leaves the padding out. */
static const char *
decoded(struct arena *a, const char *text)
{
	size_t n = strcspn(text, "=");
	const char *whole =
		arena_printf(a, "%.*s%.*s", (int)n, text, (int)((4 - n % 4) % 4), "===");
	char *out = arena_alloc(a, strlen(whole) + 1, 1);

	if (text[n + strspn(text + n, "=")] || n > OCI_LOGIN_MAX ||
	    EVP_DecodeBlock((unsigned char *)out, (const unsigned char *)whole,
			    (int)strlen(whole)) < 0)
		return NULL;
	out[n * 3 / 4] = '\0';
	return out;
}

/* The part of a key that names a registry: "https://index.docker.io/v1/" is docker.io. */
static const char *
key_host(struct arena *a, const char *key)
{
	static const char *const ends[] = { "/", "/v1", "/v2" };
	const char *scheme = strstr(key, "://");
	char *host = arena_strdup(a, scheme ? scheme + 3 : key);

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (ends_with(host, ends[i]))
			host[strlen(host) - strlen(ends[i])] = '\0';
	if (!strcmp(host, "index.docker.io") || !strcmp(host, "registry-1.docker.io"))
		return "docker.io";
	return host;
}

/* The value for a registry in a map; podman's keys may name a repository too: the longest wins. */
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
	/* docker's mark for a token that stands where a password would. */
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
	plain = auth ? decoded(a, auth) : NULL;
	colon = plain ? strchr(plain, ':') : NULL;
	if (colon)
		return take(l, arena_copy(a, plain, (size_t)(colon - plain)), colon + 1);
	return take(l, fetch_json_text(a, entry, "username"),
		    fetch_json_text(a, entry, "password"));
}

static bool
is_helper_name(const char *s)
{
	for (const char *p = s; *p; p++)
		if (!is_alnum(*p) && !strchr("._-", *p))
			return false;
	return *s != '\0';
}

/* docker-credential-NAME get: the server on its input, JSON on its output. */
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
	struct proc_result r = { 0 };
	const char *out, *trouble = NULL;
	json_t *answer;

	if (!is_helper_name(name))
		trouble = arena_printf(a, "`%s` is no name of a credential helper", name);
	else if (!proc_run(a, &spec, &r))
		trouble = !r.started  ? arena_printf(a, "%s is not installed", program) :
			  r.timed_out ? arena_printf(a, "%s gave no answer in 60 s", program) :
					NULL;
	if (trouble)
		list_push(a, troubles, trouble);
	if (trouble || !r.started)
		return false;
	out = buf_text(&r.out);
	if (r.status != 0) {
		if (!strstr(out, "credentials not found"))
			list_push(a, troubles,
				  arena_printf(a, "%s failed: %.*s", program,
					       (int)strcspn(out, "\r\n"), out));
		return false;
	}
	answer = oci_json(out, r.out.n);
	if (answer &&
	    take(l, fetch_json_text(a, answer, "Username"), fetch_json_text(a, answer, "Secret")))
		trouble = NULL;
	else
		trouble = arena_printf(a, "%s answered without Username and Secret", program);
	json_decref(answer);
	if (trouble)
		list_push(a, troubles, trouble);
	return !trouble;
}

static bool
from_file(struct arena *a, const char *path, const struct oci_name *n, struct oci_login *l,
	  struct names *troubles)
{
	const struct source *src;
	const char *helper;
	struct diags ds;
	json_t *root;
	bool found;

	if (!fs_exists(path))
		return false;
	diags_init(&ds, a);
	src = fs_read(a, &ds, path, OCI_LOGIN_MAX, (struct span){ 0 });
	root = src ? oci_json(src->text, src->size) : NULL;
	if (!root) {
		list_push(a, troubles,
			  arena_printf(a, "`%s` cannot be read as a file of logins", path));
		return false;
	}
	helper = json_string_value(value_for(a, json_object_get(root, "credHelpers"), n));
	found = helper && from_helper(a, helper, n, l, troubles);
	if (!found && !helper) {
		helper = json_string_value(json_object_get(root, "credsStore"));
		found = helper && *helper && from_helper(a, helper, n, l, troubles);
	}
	found = found || from_auths(a, value_for(a, json_object_get(root, "auths"), n), l);
	json_decref(root);
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

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (files[i] && from_file(a, files[i], n, &l, troubles))
			return l;
	return (struct oci_login){ 0 };
}

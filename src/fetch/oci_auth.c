#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "oci_internal.h"

/*
 * WWW-Authenticate (RFC 9110, 11.6.1), as far as registries use it:
 *
 *   challenge = scheme SP param *( "," param )     Bearer realm="...",service="...",scope="..."
 *   param     = token "=" ( token / quoted )       Basic realm="..."
 */
struct challenge {
	bool bearer, basic;
	const char *realm, *service, *scope;
};

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
		const char *word;
		size_t n;

		s += strspn(s, " ,\t");
		word = s;
		n = strcspn(s, " ,\t=");
		s += n;
		if (*s == '=') {
			const char *value = (s++, read_value(a, &s));

			if (bearer && n == 5 && !strncasecmp(word, "realm", n))
				c->realm = value;
			else if (bearer && n == 7 && !strncasecmp(word, "service", n))
				c->service = value;
			else if (bearer && n == 5 && !strncasecmp(word, "scope", n))
				c->scope = value;
		} else if (n) {
			bearer = n == 6 && !strncasecmp(word, "bearer", n);
			c->bearer |= bearer;
			c->basic |= n == 5 && !strncasecmp(word, "basic", n);
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
	return arena_printf(a, "Authorization: Basic %s",
			    oci_base64(a, arena_printf(a, "%s:%s", l->user, l->secret)));
}

/* A token as it may stand in a header: RFC 6750's characters. */
static bool
is_token(const char *s)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
			     "-._~+/=");

	return n && !s[n];
}

static const char *
token_of(struct oci_registry *r, const struct http_answer *answer)
{
	json_t *root = oci_json(answer->body, answer->body_size);
	const char *token = json_string_value(json_object_get(root, "token"));
	const char *header = NULL;

	if (!token)
		token = json_string_value(json_object_get(root, "access_token"));
	if (token && is_token(token))
		header = arena_printf(r->a, "Authorization: Bearer %s", token);
	json_decref(root);
	return header;
}

/*
 * A token for a challenge: GET with the login as Basic, or, where the login is an identity token,
 * the OAuth2 POST.  Source: distribution.github.io/distribution/spec/auth/token, .../oauth
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
	if (!http_do(r->a, &q, &answer))
		list_push(r->a, &r->troubles,
			  arena_printf(r->a, "no token from %s: %s", c->realm, answer.why));
	else if (answer.status != 200)
		list_push(r->a, &r->troubles,
			  arena_printf(r->a, "no token from %s: HTTP %d", c->realm, answer.status));
	else if (!(token = token_of(r, &answer)))
		list_push(r->a, &r->troubles,
			  arena_printf(r->a, "no token in the answer of %s", c->realm));
	return token;
}

/* Where a login may be sent: over TLS, or on this machine where the registry is here too.  A user in
 * the URL ("http://localhost:1@192.0.2.2/") would make another host look like this one. */
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
		list_push(r->a, &r->troubles,
			  arena_printf(r->a, "it asks for the login to be sent without TLS, to %s",
				       c.realm));
	} else if (c.basic && r->login.user) {
		r->authorization = basic(r->a, &r->login);
	}
	return r->authorization && (!before || strcmp(before, r->authorization) != 0);
}

#ifndef OCI_INTERNAL_H
#define OCI_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "http.h"
#include "oci.h"

/* Private to oci*.c: a session, its login, and its requests. */

enum {
	OCI_MANIFEST_MAX = 4 * 1024 * 1024, /* bytes; the minimum that registries must support */
	OCI_LOGIN_MAX = 1024 * 1024,        /* maximum bytes of a login file */
	OCI_PAGES_MAX = 1000
};

#define OCI_INDEX "application/vnd.oci.image.index.v1+json"
#define OCI_IMAGE "application/vnd.oci.image.manifest.v1+json"
#define OCI_EMPTY "application/vnd.oci.empty.v1+json"
#define OCI_EMPTY_DIGEST "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"

struct oci_login {
	const char *user, *secret; /* NULL: not logged in */
	const char *identity;      /* a refresh token instead of these; or NULL */
	const char *where;         /* the file with the login */
};

struct oci_registry {
	struct arena *a;
	const struct oci_name *name;
	const char *base;          /* "https://ghcr.io" */
	double timeout_s;          /* limit of a request; 0: the default of http.h */
	const char *authorization; /* "Authorization: Bearer ..."; NULL: none yet */
	bool looked;               /* the login below was searched */
	struct oci_login login;
	bool listed; /* the registry listed the last pushed manifest in its referrers API */
	struct names troubles; /* errors of the login */
};

/* Finds the login of a registry: in the files of docker and podman, and with their helpers. */
struct oci_login oci_login_find(struct arena *a, const struct oci_name *n, struct names *troubles);

/* Handles a 401; true if there are other credentials to try. */
bool oci_authorize(struct oci_registry *r, const struct http_answer *answer, bool push);

/* Parses untrusted bytes as a JSON object; or NULL. */
json_t *oci_json(const char *text, size_t n);

/* Returns a percent-encoded copy for a query. */
const char *oci_escape(struct arena *a, const char *text);

#endif

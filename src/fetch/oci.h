#ifndef OCI_H
#define OCI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/list.h"

/*
 * OCI registries: distribution-spec 1.1 over http.h. Bearer tokens and basic credentials from
 * docker's and podman's own login ($REGISTRY_AUTH_FILE, $DOCKER_CONFIG or ~/.docker/config.json
 * with credHelpers and credsStore, $XDG_RUNTIME_DIR/containers/auth.json,
 * ~/.config/containers/auth.json); never from argv. It uses no TLS for loopback registries
 * (localhost, 127.0.0.0/8, ::1), and TLS for all others.
 */

struct oci_name {
	const char
		*registry; /* "127.0.0.1:5000", "docker.io" (its server is registry-1.docker.io) */
	const char *repository; /* "nvidia/cuda", "library/ubuntu" */
	const char *tag;        /* or NULL */
	const char *digest;     /* "sha256:..."; or NULL */
};

/*
 * oci_name_parse -- parses a reference like docker: "ubuntu:22.04" is
 * docker.io/library/ubuntu:22.04.
 *
 *   out     tag NULL if the text has none (docker then uses `latest`)
 *   errors  SB0550, false: not a reference
 *   source  github.com/distribution/reference: regexp.go, normalize.go
 */
bool oci_name_parse(struct arena *a, struct diags *ds, const char *text, struct span at,
		    struct oci_name *out);
const char *oci_name_text(struct arena *a, const struct oci_name *n);
/* Returns true for "sha256:" and 64 lower-case hex digits. */
bool oci_is_digest(const char *text);

/* A session with a repository, which keeps tokens. timeout_s: limit of a request; 0: as in http.h.
 * errors of all functions below: SB0551 rejected,
 * SB0552 bytes with another digest, SB0553 unreachable. */
struct oci_registry;
struct oci_registry *oci_open(struct arena *a, const struct oci_name *n, double timeout_s);

struct oci_blob {
	const char *media_type, *digest;
	size_t size;
	const char *path;          /* a file, for oci_push_blob; or NULL */
	const char *bytes;         /* bytes in memory; or NULL */
	const char *title;         /* org.opencontainers.image.title; or NULL */
	const char *artifact_type; /* or NULL */
};
struct oci_blobs LIST(struct oci_blob);

/* Returns digest and text of a manifest; reference: a tag, or a digest, which is checked.
 * out false without a diagnostic and *missing true: 404 */
struct oci_manifest {
	const char *digest, *media_type, *text;
	size_t size;
};
bool oci_manifest(struct oci_registry *r, struct arena *a, struct diags *ds, const char *reference,
		  struct oci_manifest *out, bool *missing);

/*
 * oci_platform_digest -- returns the digest of the image for a platform, "linux/amd64".
 *
 *   in      m: an index of images; that of a single image is for any platform
 *   out     platforms: those of the index; or NULL
 *   errors  NULL: the index has no image for it
 *   memory  lives in a
 */
const char *oci_platform_digest(struct arena *a, const struct oci_manifest *m, const char *platform,
				struct names *platforms);

/* Reads a blob into a file or, if to_path is NULL, into memory; checks digest and size. */
bool oci_pull_blob(struct oci_registry *r, struct arena *a, struct diags *ds, struct oci_blob *blob,
		   const char *to_path, size_t max);
/* Uploads a blob unless the repository has it. For a file, the caller gives digest and size, which
 * the registry checks; for bytes, the function sets the digest. */
bool oci_push_blob(struct oci_registry *r, struct arena *a, struct diags *ds,
		   struct oci_blob *blob);
/* Pushes a manifest; tag NULL: by digest. Returns the digest, or NULL. */
const char *oci_push_manifest(struct oci_registry *r, struct arena *a, struct diags *ds,
			      const char *media_type, const char *text, size_t n, const char *tag);
struct names oci_tags(struct oci_registry *r, struct arena *a, struct diags *ds);

/*
 * An artifact: an image manifest 1.1 with artifactType, the blobs as layers, and, if subject (a
 * digest in the same repository) is set, attached to it: with the registry's referrers API, or
 * without one with the referrers tag schema (the index sha256-HEX is read, extended and written).
 * Returns the manifest's digest, or NULL. errors SB0551
 */
struct oci_artifact {
	const char *type;       /* "application/vnd.stackbuild.wheel.v1" */
	struct oci_blob config; /* bytes NULL: the empty descriptor */
	struct oci_blobs layers;
	const char *subject;
	const char *tag;
	struct names annotations; /* "key=value" */
};
const char *oci_push_artifact(struct oci_registry *r, struct arena *a, struct diags *ds,
			      struct oci_artifact *artifact);

#endif

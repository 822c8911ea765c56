#ifndef FETCH_H
#define FETCH_H

/*
 * Network access: git repositories (libgit2), HTTP (libcurl), container registries, package indexes. Only
 * stackbuild-world links this layer.
 */
#include <jansson.h>

#include "git.h"
#include "http.h"
#include "index.h"
#include "oci.h"

/* Returns the text of a value, flags as of json_dumps; NULL: it cannot be written. */
const char *fetch_json_dump(struct arena *a, const json_t *value, size_t flags, size_t *n);
/* Returns the text of a member, copied; NULL if there is none, or it is empty. */
const char *fetch_json_text(struct arena *a, const json_t *map, const char *key);

#endif

#ifndef FETCH_H
#define FETCH_H

/*
 * The world outside: git repositories (libgit2), HTTP (libcurl), container registries.  Only
 * stackbuild-world links this layer.
 */
#include "git.h"
#include "http.h"
#include "oci.h"

#endif

#ifndef EMBED_H
#define EMBED_H

#include <stddef.h>

#include "diag.h"

/*
 * The templates that are compiled into the program, in the order of their names. Written by
 * build/generate.
 */
extern const struct source embedded_templates[]; /* path: "templates/Dockerfile" */
extern const size_t embedded_templates_n;
extern const char embedded_templates_digest[]; /* "sha256:...": changes with any template */
extern const char *const embedded_digests[];   /* the digest of each text, as hex digits */

/* Returns the name of a template below templates/: "Dockerfile" or "modal/app.py". */
const char *embedded_name(const struct source *template);
/* Returns the template whose text that is, or NULL. */
const struct source *embedded_of(const char *text);
/* Returns the template of that name, or NULL. */
const struct source *embedded_template(const char *name);

#endif

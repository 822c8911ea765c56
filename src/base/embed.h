#ifndef EMBED_H
#define EMBED_H

#include <stddef.h>

#include "diag.h"

/*
 * The templates as they were when the program was built: `path` is the name below
 * templates/, "Dockerfile" or "modal/app.py".  Written by build/generate.
 */
extern const struct source embedded_templates[]; /* in the order of their names */
extern const size_t embedded_templates_n;
extern const char embedded_templates_digest[]; /* "sha256:...": differs if any template does */

/* Returns true for the text of one of them. */
bool embedded_text(const char *text);
/* By name, or NULL. */
const struct source *embedded_template(const char *name);

#endif

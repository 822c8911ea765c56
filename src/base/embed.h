#ifndef EMBED_H
#define EMBED_H

#include <stddef.h>

#include "diag.h"

/*
 * The templates that are compiled into the program: `path` is the name below templates/,
 * "Dockerfile" or "modal/app.py". Their texts are compressed, and empty until embedded_open() is
 * called. Written by build/generate.
 */
extern const struct source embedded_templates[]; /* in the order of their names */
extern const size_t embedded_templates_n;
extern const char embedded_templates_digest[]; /* "sha256:...": changes with any template */
extern char embedded_texts[];                  /* texts of all templates, each with a NUL */
extern const size_t embedded_texts_n;
extern const unsigned char embedded_compressed[]; /* the same, compressed by zlib */
extern const size_t embedded_compressed_n;

/* Decompresses the texts of the templates when it is first called. */
void embedded_open(void);

/* Returns true for the text of one of them. */
bool embedded_text(const char *text);
/* Returns the template of that name, or NULL. */
const struct source *embedded_template(const char *name);

#endif

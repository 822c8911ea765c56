#ifndef MASK_H
#define MASK_H

#include "arena.h"
#include "list.h"

/* Hides secrets in texts that leave this machine: logs, screens, help bundles. */

enum { SECRET_MIN = 4 }; /* minimum bytes of a line of a secret that is hidden */

struct mask;

/* Returns a mask for secrets: each line of one, its last word, and its forms in URLs and base64. */
struct mask *mask_new(struct arena *a, const struct names *secrets);

/* Returns the text with *** for each of these secrets, and for those that mask_credentials() (diag.h)
 * recognises; valid until the next call. */
const char *mask_text(struct mask *m, const char *text);

/* Returns the text that base64 encodes, with or without padding; NULL: it is not base64. */
const char *base64_text(struct arena *a, const char *text);

#endif

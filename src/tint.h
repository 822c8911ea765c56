#ifndef TINT_H
#define TINT_H

#include "base/buf.h"
#include "options.h"

/* Adds the output of a command to `out`, with its verdicts and states in colour. */
void tint(enum verb verb, const char *text, struct buf *out);

#endif

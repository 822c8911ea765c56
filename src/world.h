#ifndef WORLD_H
#define WORLD_H

#include "build/build.h"
#include "options.h"

/* What the verbs of stackbuild-world share. */

/* How engines are reached: --addr and --tls-..., for engine_choose. */
struct engine_at world_engine_at(const struct options *o);

#endif

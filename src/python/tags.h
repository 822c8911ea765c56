#ifndef PYTHON_TAGS_H
#define PYTHON_TAGS_H

#include "python/python.h"

/* One tag's three parts. */
struct tag {
	const char *python, *abi, *platform;
};

/* Called for each tag in order; false ends the walk. */
typedef bool tag_visit(void *to, const struct tag *tag);

void tags_each(struct arena *a, const struct wheel_target *t, tag_visit *visit, void *to);

#endif

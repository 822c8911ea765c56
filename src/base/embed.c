#include "embed.h"

#include <string.h>

const struct source *
embedded_template(const char *name)
{
	for (size_t i = 0; i < embedded_templates_n; i++)
		if (!strcmp(embedded_templates[i].path, name))
			return &embedded_templates[i];
	return NULL;
}

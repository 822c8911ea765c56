#include "embed.h"

#include <string.h>

const char *
embedded_name(const struct source *template)
{
	return template->path + sizeof("templates/") - 1;
}

const struct source *
embedded_of(const char *text)
{
	for (size_t i = 0; i < embedded_templates_n; i++)
		if (embedded_templates[i].text == text)
			return &embedded_templates[i];
	return NULL;
}

const struct source *
embedded_template(const char *name)
{
	for (size_t i = 0; i < embedded_templates_n; i++)
		if (!strcmp(embedded_name(&embedded_templates[i]), name))
			return &embedded_templates[i];
	return NULL;
}

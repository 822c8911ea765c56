#include "embed.h"

#include <string.h>
#include <zlib.h>

void
embedded_open(void)
{
	static bool open;
	uLongf n = embedded_texts_n;

	if (open)
		return;
	open = true;
	if (uncompress((Bytef *)embedded_texts, &n, embedded_compressed, embedded_compressed_n) !=
	    Z_OK)
		BUG("the templates in this program are damaged");
}

bool
embedded_text(const char *text)
{
	for (size_t i = 0; i < embedded_templates_n; i++)
		if (embedded_templates[i].text == text)
			return true;
	return false;
}

const struct source *
embedded_template(const char *name)
{
	embedded_open();
	for (size_t i = 0; i < embedded_templates_n; i++)
		if (!strcmp(embedded_templates[i].path, name))
			return &embedded_templates[i];
	return NULL;
}

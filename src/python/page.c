/* Pages of a package index for pip and uv: PEP 503 (HTML) and PEP 691 (JSON). */
#include "python.h"

#include "base/json.h"

static struct json
begin(struct pages *p, struct arena *a, const char *title)
{
	struct json j;

	p->html = p->json = BUF(a);
	j = json_to(&p->json);
	buf_printf(&p->html,
		   "<!DOCTYPE html>\n<html><head><meta name=\"pypi:repository-version\" "
		   "content=\"1.0\"><title>%s</title></head><body>\n",
		   title);
	json_put(&j, "{'meta': {'api-version': '1.0'}");
	return j;
}

static void
end(struct pages *p, struct json *j)
{
	json_put(j, "]}");
	buf_putc(&p->json, '\n');
	buf_puts(&p->html, "</body></html>\n");
}

struct pages
page_project(struct arena *a, const char *name, const struct page_files *files)
{
	struct pages p;
	struct json j = begin(&p, a, name);

	json_put(&j, "'name': %s, 'files': [", name);
	list_each (f, files) {
		buf_printf(&p.html, "<a href=\"%s#sha256=%s\">%s</a><br>\n", f->url, f->sha256,
			   f->name);
		json_put(&j, "{'filename': %s, 'url': %s, 'hashes': ('sha256': %s)}", f->name,
			 f->url, f->sha256);
	}
	end(&p, &j);
	return p;
}

struct pages
page_root(struct arena *a, const struct names *projects)
{
	struct pages p;
	struct json j = begin(&p, a, "Simple index");

	json_put(&j, "'projects': [");
	list_each (text, projects) {
		buf_printf(&p.html, "<a href=\"%s/\">%s</a><br>\n", *text, *text);
		json_put(&j, "('name': %s)", *text);
	}
	end(&p, &j);
	return p;
}

const char *
page_url(struct arena *a, const char *file)
{
	struct buf b = BUF(a);

	for (; *file; file++)
		if (*file == '+' || *file == '!')
			buf_printf(&b, "%%%02X", (unsigned)*file);
		else
			buf_putc(&b, *file);
	return buf_text(&b);
}

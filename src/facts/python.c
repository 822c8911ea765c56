#include <string.h>

#include "base/str.h"
#include "internal.h"

struct names
facts_python_series(const struct facts *f)
{
	struct fact series = fact_get(facts_file(f, "python.yaml"), "series");
	struct names names = { 0 };

	for (size_t i = 0; i < fact_count(series); i++)
		list_push(f->a, &names, fact_key(series, i));
	return names;
}

/* `text` with each {name} replaced by its value. */
static const char *
filled(struct arena *a, const char *text, const char *version, const char *release)
{
	struct buf b = BUF(a);

	while (*text) {
		if (starts_with(text, "{version}")) {
			buf_puts(&b, version);
			text += strlen("{version}");
		} else if (starts_with(text, "{release}")) {
			buf_puts(&b, release);
			text += strlen("{release}");
		} else {
			buf_putc(&b, *text++);
		}
	}
	return buf_text(&b);
}

const struct python_build *
facts_standalone_python(const struct facts *f, const char *series, const char *machine)
{
	struct fact file = facts_file(f, "python.yaml"), all = fact_get(file, "standalone");
	struct fact builds = fact_get(fact_get(fact_get(all, "series"), series), "builds");
	const char *for_machine = fact_text_of(all, "machine");
	struct python_build *p;
	struct fact build;

	if (!fact_count(builds) || !for_machine || strcmp(for_machine, machine))
		return NULL;
	/* The first is that of the image builder every client takes. */
	build = fact_at(builds, 0);
	p = arena_new_of(f->a, struct python_build);
	*p = (struct python_build){
		.series = arena_strdup(f->a, series),
		.version = fact_key(builds, 0),
		.sha256 = fact_text_of(build, "sha256"),
		.uv = fact_text_of(fact_get(file, "uv"), "version"),
		.source = trail_source(f, trail_to(trail_to(trail_of(file), all), build)),
	};
	p->url = filled(f->a, fact_text_of(all, "url"), p->version, fact_text_of(build, "release"));
	return p;
}

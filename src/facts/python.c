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

/* The build that the default image builder of Modal mounts. */
static struct fact
build_of(const struct facts *f, struct fact builds, const char **version)
{
	const char *builder = fact_text_of(facts_file(f, "modal.yaml"), "builder_default");
	const struct version *v = builder ? version_parse(f->a, builder) : NULL;

	for (size_t i = 0; v && i < fact_count(builds); i++) {
		const char *range = fact_text_of(fact_at(builds, i), "modal");
		const struct specifiers *spec = specifiers_parse(f->a, range);

		*version = fact_key(builds, i);
		if (spec && specifiers_match(spec, v, PRE_YES))
			return fact_at(builds, i);
	}
	*version = NULL;
	return (struct fact){ builds.t, 0 };
}

const struct python_build *
facts_standalone_python(const struct facts *f, const char *series, const char *machine)
{
	struct fact file = facts_file(f, "python.yaml"), all = fact_get(file, "standalone");
	struct fact builds = fact_get(fact_get(fact_get(all, "series"), series), "builds");
	struct fact in_uv = fact_get(fact_get(file, "series"), series), build;
	const char *for_machine = fact_text_of(all, "machine");
	struct python_build *p = arena_new_of(f->a, struct python_build);

	p->series = arena_strdup(f->a, series);
	p->uv = fact_text_of(fact_get(file, "uv"), "version");
	build = build_of(f, builds, &p->version);
	if (fact_is(build) && for_machine && !strcmp(for_machine, machine)) {
		p->url = filled(f->a, fact_text_of(all, "url"), p->version,
				fact_text_of(build, "release"));
		p->sha256 = fact_text_of(build, "sha256");
		p->source = trail_source(f, trail_to(trail_to(trail_of(file), all), build));
		return p;
	}
	p->version = fact_text_of(in_uv, "uv");
	if (!p->version || !p->uv)
		return NULL;
	p->source = trail_source(f, trail_to(trail_of(file), in_uv));
	return p;
}

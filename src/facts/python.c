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

/* The build that the default image builder of Modal mounts. */
static struct fact
build_of(const struct facts *f, struct fact builds, const char **version)
{
	const char *builder = fact_text_of(facts_file(f, "modal.yaml"), "builder_default");

	for (size_t i = 0; builder && i < fact_count(builds); i++) {
		*version = fact_key(builds, i);
		if (fact_in_range(f, fact_text_of(fact_at(builds, i), "modal"), builder))
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
		p->url = fact_filled(
			f->a, fact_text_of(all, "url"),
			(const char *const[][2]){ { "version", p->version },
						  { "release", fact_text_of(build, "release") } },
			2);
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

#include <string.h>

#include "base/str.h"
#include "internal.h"

struct names
facts_python_series(const struct facts *f)
{
	return fact_keys(f->a, fact_get(facts_file(f, "python.yaml"), "series"));
}

/* Returns the build that Modal's default image builder installs. */
static const struct claim *
build_of(const struct facts *f, const struct claim *builds, const char **version)
{
	const char *builder = fact_text_of(facts_file(f, "modal.yaml"), "builder_default");

	for (size_t i = 0; builder && i < fact_count(builds); i++) {
		*version = fact_key(builds, i);
		if (fact_in_range(f, fact_text_of(fact_at(builds, i), "modal"), builder))
			return fact_at(builds, i);
	}
	*version = NULL;
	return NULL;
}

const struct python_build *
facts_standalone_python(const struct facts *f, const char *series, const char *machine)
{
	const struct claim *file = facts_file(f, "python.yaml"),
			   *all = fact_get(file, "standalone");
	const struct claim *builds = fact_get(fact_get(fact_get(all, "series"), series), "builds");
	const struct claim *in_uv = fact_get(fact_get(file, "series"), series), *build;
	const char *for_machine = fact_text_of(all, "machine");
	struct python_build *p = arena_new_of(f->a, struct python_build);

	p->series = arena_strdup(f->a, series);
	p->uv = fact_text_of(fact_get(file, "uv"), "version");
	build = build_of(f, builds, &p->version);
	if (build && for_machine && !strcmp(for_machine, machine)) {
		p->url = fact_filled(
			f->a, fact_text_of(all, "url"),
			(const char *const[][2]){ { "version", p->version },
						  { "release", fact_text_of(build, "release") } },
			2);
		p->sha256 = fact_text_of(build, "sha256");
		p->source = fact_source(f->a, build);
		return p;
	}
	p->version = fact_text_of(in_uv, "uv");
	if (!p->version || !p->uv)
		return NULL;
	p->source = fact_source(f->a, in_uv);
	return p;
}

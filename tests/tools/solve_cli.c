/*
 * Runs the solver on a frozen package index in the format of resolvelib's tests:
 *
 *     solve_cli INDEX.json CASE.json SERIES
 *
 *     INDEX   {"package-a": {"1.0": {"dependencies": ["package-b>=1", ...]}, ...}, ...}
 *     CASE    {"requested": ["package-a", ...], ...}
 *     SERIES  of Python, for markers: "3.11"
 *
 * prints
 *
 *     {"status":"found"|"impossible"|"gave up", "resolved":{"package-a":"1.0"},
 *      "visited":[["package-a","1.0"],...], "steps":N, "solve_us":N,
 *      "requested":[...] and "facts":[[a package, its versions, a requirement], ...] of the
 *      first conflict}
 *
 * An extra is a separate variable, "package[extra]", that needs the package in the same version.
 * A requirement with a marker counts only for an extra, as in resolvelib's own provider;
 * without a final version, a pre-release is used.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../unit/solve_facts.h"
#include "base/buf.h"
#include "base/map.h"
#include "python/python.h"

struct release {
	const char *text;
	const struct version *version;
	const json_t *needs;
};

/* All releases of a package that have a requirement, as one fact. */
struct need {
	const struct package *of;
	const struct requirement *r;
	const char *text;
	solve_word *releases;
	bool told;
};

struct package {
	const char *name, *extra; /* or NULL */
	struct releases LIST(struct release) releases;
	struct needs LIST(struct need *) needs;
	unsigned number;
	bool read;
};

struct index {
	struct arena *a;
	json_t *json;
	struct map by_name, positions, requirements;
	struct packages LIST(struct package *) packages;
	struct marker_env env;
	size_t nroots;
	json_t *visited;
};

static int
newest_first(const void *x, const void *y)
{
	const struct release *a = x, *b = y;
	bool pre_a = version_is_prerelease(a->version), pre_b = version_is_prerelease(b->version);

	return pre_a != pre_b ? pre_a - pre_b : version_cmp(b->version, a->version);
}

static struct package *
package_of(struct index *in, const char *name, const char *extra)
{
	const char *id = extra ? arena_printf(in->a, "%s[%s]", name, extra) : name, *text;
	struct package *p = map_get(&in->by_name, id);
	json_t *needs;

	if (p)
		return p;
	p = arena_new_of(in->a, struct package);
	*p = (struct package){ .name = name, .extra = extra, .number = (unsigned)in->packages.n };
	json_object_foreach(json_object_get(in->json, name), text, needs)
		list_push(in->a, &p->releases,
			  (struct release){ text, version_parse(in->a, text),
					    json_object_get(needs, "dependencies") });
	if (p->releases.n)
		qsort(p->releases.at, p->releases.n, sizeof(struct release), newest_first);
	map_put(&in->by_name, id, p);
	list_push(in->a, &in->packages, p);
	return p;
}

/* --- the provider --- */

static size_t
candidates(void *ctx, unsigned variable)
{
	return ((struct index *)ctx)->packages.at[variable]->releases.n;
}

/* Returns the rank of a package: requested ones first, then by name, like resolvelib's provider. */
static unsigned
rank(void *ctx, unsigned variable)
{
	struct index *in = ctx;
	const struct package *p = in->packages.at[variable];
	const size_t *position = map_get(&in->positions, p->name);

	return variable < in->nroots ? 0 : position ? (unsigned)*position + 1 : UINT32_MAX;
}

static const struct requirement *
requirement_of(struct index *in, const char *text)
{
	const struct requirement *r = map_get(&in->requirements, text);

	if (!r) {
		r = requirement_parse(in->a, text, NULL, NULL);
		map_put(&in->requirements, text, (void *)r);
	}
	return r;
}

/* Returns whether a requirement applies to this package, which may be an extra. */
static bool
counts(struct index *in, const struct requirement *r, const char *extra)
{
	struct marker_env env = { .n = in->env.n };
	struct marker_value *values = arena_array_of(in->a, struct marker_value, in->env.n + 1);
	bool value = false;

	if (!r->marker)
		return true;
	if (!extra)
		return false;
	for (size_t i = 0; i < in->env.n; i++) {
		values[i] = in->env.values[i];
		if (!strcmp(values[i].name, "extra"))
			values[i].value = extra;
	}
	env.values = values;
	return marker_eval(r->marker, &env, &value) && value;
}

static void
read_needs(struct index *in, struct package *p)
{
	struct map seen = MAP(in->a);

	p->read = true;
	for (size_t i = 0; i < p->releases.n; i++) {
		size_t k;
		json_t *text;

		json_array_foreach(p->releases.at[i].needs, k, text)
		{
			const char *s = json_string_value(text);
			const struct requirement *r = requirement_of(in, s);
			struct need *need = map_get(&seen, s);

			if (!r || !counts(in, r, p->extra))
				continue;
			if (!need) {
				need = arena_new_of(in->a, struct need);
				*need = (struct need){ p, r, s, solve_set(in->a, p->releases.n),
						       false };
				map_put(&seen, s, need);
				list_push(in->a, &p->needs, need);
			}
			solve_set_add(need->releases, i);
		}
	}
}

static solve_word *
matching(struct index *in, const struct package *p, const struct specifiers *spec)
{
	solve_word *set = solve_set(in->a, p->releases.n);

	for (size_t i = 0; i < p->releases.n; i++)
		if (specifiers_match(spec, p->releases.at[i].version))
			solve_set_add(set, i);
	return set;
}

static void
tell_need(struct index *in, struct need *need, struct solve_facts *out)
{
	const struct package *to = package_of(in, need->r->key, NULL);
	const solve_word *those = matching(in, to, need->r->spec);

	need->told = true;
	solve_needs(in->a, out, need->of->number, need->releases, to->number, those, need);
	for (size_t i = 0; i < need->r->extras.n; i++)
		solve_needs(in->a, out, need->of->number, need->releases,
			    package_of(in, need->r->key, need->r->extras.at[i])->number, those,
			    need);
}

static void
facts(void *ctx, unsigned variable, size_t candidate, struct solve_facts *out)
{
	struct index *in = ctx;
	struct package *p = in->packages.at[variable];
	const char *text = p->releases.at[candidate].text;

	if (!p->extra)
		json_array_append_new(in->visited, json_pack("[ss]", p->name, text));
	if (!p->read)
		read_needs(in, p);
	for (size_t i = 0; i < p->needs.n; i++)
		if (!p->needs.at[i]->told && solve_set_has(p->needs.at[i]->releases, candidate))
			tell_need(in, p->needs.at[i], out);
	if (p->extra) {
		solve_word *one = solve_set(in->a, p->releases.n);

		solve_set_add(one, candidate);
		solve_needs(in->a, out, variable, one, package_of(in, p->name, NULL)->number, one,
			    NULL);
	}
}

static void
forget_told(struct index *in)
{
	for (size_t i = 0; i < in->packages.n; i++)
		for (size_t k = 0; k < in->packages.at[i]->needs.n; k++)
			in->packages.at[i]->needs.at[k]->told = false;
}

/* --- the case --- */

struct requests LIST(struct solve_pin);

static void
request(struct index *in, struct requests *pins, const char *text)
{
	const struct requirement *r = requirement_of(in, text);
	struct package *p;

	if (!r) {
		fprintf(stderr, "solve_cli: not a requirement: %s\n", text);
		exit(2);
	}
	for (size_t i = 0; i <= r->extras.n; i++) {
		p = package_of(in, r->key, i ? r->extras.at[i - 1] : NULL);
		list_push(in->a, pins,
			  (struct solve_pin){ .variable = p->number,
					      .set = matching(in, p, r->spec),
					      .why = text });
	}
}

static json_t *
resolved(const struct index *in, const struct solve_result *r)
{
	json_t *out = json_object();

	for (size_t i = 0; i < r->nvariables; i++) {
		const struct package *p = in->packages.at[i];

		if (r->chosen[i] >= 0 && !p->extra)
			json_object_set_new(out, p->name,
					    json_string(p->releases.at[r->chosen[i]].text));
	}
	return out;
}

static void
tell_conflict(const struct solve_conflict *c, const struct solve_pin *pins, json_t *out)
{
	json_t *requested = json_array(), *told = json_array();

	for (size_t i = 0; i < c->pins.n; i++)
		json_array_append_new(requested, json_string(pins[c->pins.at[i]].why));
	for (size_t i = 0; i < c->facts.n; i++) {
		const struct need *need = c->facts.at[i].why;
		json_t *versions = json_array();

		if (!need)
			continue;
		for (size_t k = 0; k < need->of->releases.n; k++)
			if (solve_set_has(need->releases, k))
				json_array_append_new(versions,
						      json_string(need->of->releases.at[k].text));
		json_array_append_new(told,
				      json_pack("[sos]", need->of->name, versions, need->text));
	}
	json_object_set_new(out, "requested", requested);
	json_object_set_new(out, "facts", told);
}

static double
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static json_t *
answer(struct index *in, const struct requests *pins)
{
	static const char *const words[] = { "found", "impossible", "gave up" };
	struct solve_provider p = { in, candidates, facts, rank, NULL };
	double start = now_us(), spent;
	struct solve_result r = solve(in->a, &p, pins->at, pins->n, NULL, SOLVE_BUDGET);
	json_t *out;

	spent = now_us() - start;
	out = json_pack("{s:s, s:o, s:O, s:i, s:f}", "status", words[r.status], "resolved",
			resolved(in, &r), "visited", in->visited, "steps", (int)r.steps, "solve_us",
			spent);
	if (r.status == SOLVE_IMPOSSIBLE) {
		struct solve_conflicts c;

		forget_told(in);
		c = solve_conflicts(in->a, &p, pins->at, pins->n, SOLVE_BUDGET, NULL);
		if (c.n)
			tell_conflict(&c.at[0], pins->at, out);
	}
	return out;
}

static json_t *
load(const char *path)
{
	json_error_t error;
	json_t *json = json_load_file(path, 0, &error);

	if (!json) {
		fprintf(stderr, "solve_cli: %s: %s\n", path, error.text);
		exit(2);
	}
	return json;
}

int
main(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct index in = {
		.a = a, .by_name = MAP(a), .positions = MAP(a), .requirements = MAP(a)
	};
	struct requests pins = { 0 };
	json_t *asked, *text, *out;
	const char *name;
	size_t i = 0, *position;

	if (argc != 4)
		return 2;
	in.json = load(argv[1]);
	asked = load(argv[2]);
	in.env = marker_env_linux(a, argv[3], "x86_64", "");
	in.visited = json_array();
	position = arena_array_of(a, size_t, json_object_size(in.json) + 1);
	json_object_foreach(in.json, name, text)
	{
		position[i] = i;
		map_put(&in.positions, name, &position[i]);
		i++;
	}
	json_array_foreach(json_object_get(asked, "requested"), i, text)
		request(&in, &pins, json_string_value(text));
	in.nroots = in.packages.n;
	out = answer(&in, &pins);
	json_dumpf(out, stdout, JSON_COMPACT | JSON_SORT_KEYS);
	putchar('\n');
	json_decref(out);
	json_decref(asked);
	json_decref(in.visited);
	json_decref(in.json);
	arena_free(a);
	return 0;
}

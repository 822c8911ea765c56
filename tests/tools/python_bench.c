/*
 * Measures the time of parsing and matching.  Reads
 *
 *     {"versions": [...], "specs": [...], "reqs": [...], "repeat": N}
 *
 * runs N rounds of: parse every version; match every parsed version against every
 * parsed specifier set; parse every requirement; and prints
 *
 *     {"parse_us","match_us","req_us","matched"}
 *
 * in microseconds per call, with the number of matching pairs of one round.  Invalid texts are
 * only parsed.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "python/python.h"

struct texts {
	const char **at;
	size_t n;
};

struct figures {
	double parse_us, match_us, req_us;
	size_t matched;
};

static double
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static struct texts
texts_of(struct arena *a, const json_t *list)
{
	struct texts t = { arena_array_of(a, const char *, json_array_size(list)), 0 };

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *s = json_string_value(json_array_get(list, i));

		if (s)
			t.at[t.n++] = s;
	}
	return t;
}

static size_t
match_all(const struct version **versions, size_t n, const struct specifiers **specs, size_t m)
{
	size_t matched = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < m; j++)
			matched +=
				versions[i] && specs[j] && specifiers_match(specs[j], versions[i]);
	return matched;
}

static void
one_round(struct arena *a, const struct texts *versions, const struct specifiers **specs,
	  size_t n_specs, const struct texts *reqs, struct figures *f)
{
	const struct version **parsed = arena_array_of(a, const struct version *, versions->n);
	double start = now_us(), t;

	for (size_t i = 0; i < versions->n; i++)
		parsed[i] = version_parse(a, versions->at[i]);
	t = now_us();
	f->parse_us += t - start;
	f->matched = match_all(parsed, versions->n, specs, n_specs);
	start = now_us();
	f->match_us += start - t;
	for (size_t i = 0; i < reqs->n; i++)
		requirement_parse(a, reqs->at[i], NULL, NULL);
	f->req_us += now_us() - start;
}

static double
per_call(double us, size_t calls)
{
	return calls ? us / (double)calls : 0;
}

int
main(void)
{
	json_error_t error;
	json_t *in = json_loadf(stdin, 0, &error);
	struct arena *a = arena_new(), *round;
	struct texts versions = texts_of(a, json_object_get(in, "versions"));
	struct texts specs = texts_of(a, json_object_get(in, "specs"));
	struct texts reqs = texts_of(a, json_object_get(in, "reqs"));
	const struct specifiers **sets = arena_array_of(a, const struct specifiers *, specs.n);
	size_t repeat = (size_t)json_integer_value(json_object_get(in, "repeat"));
	struct figures f = { 0 };

	if (!in) {
		fprintf(stderr, "python_bench: line %d: %s\n", error.line, error.text);
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < specs.n; i++)
		sets[i] = specifiers_parse(a, specs.at[i]);
	for (size_t i = 0; i < repeat; i++) {
		round = arena_new();
		one_round(round, &versions, sets, specs.n, &reqs, &f);
		arena_free(round);
	}
	printf("{\"parse_us\":%.6f,\"match_us\":%.6f,\"req_us\":%.6f,\"matched\":%zu}\n",
	       per_call(f.parse_us, repeat * versions.n),
	       per_call(f.match_us, repeat * versions.n * specs.n),
	       per_call(f.req_us, repeat * reqs.n), f.matched);
	json_decref(in);
	arena_free(a);
	return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

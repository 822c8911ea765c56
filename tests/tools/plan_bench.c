/*
 * plan_bench: orders jobs with the planner.
 *
 *   in      stdin: JSON [{"id", "needs": [id...], "change_rate", "cost_s"}]; other keys are
 *           ignored
 *   out     stdout: JSON ["id", ...], the best order; with --exact a line "exact" or
 *           "estimated" on stderr
 *   errors  exit 1 and a line on stderr: no JSON, a wrong type, an unknown or repeated id,
 *           a negative number, a cycle
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "plan/plan.h"

enum { JOBS_MAX = 10000 };

static bool
fail(const char *what, const char *id)
{
	fprintf(stderr, "plan_bench: %s%s%s\n", what, *id ? ": " : "", id);
	return false;
}

/* Reads a number; returns false unless it is finite and not negative. */
static bool
number_of(const json_t *item, const char *key, double *out)
{
	const json_t *n = json_object_get(item, key);

	*out = json_number_value(n);
	return json_is_number(n) && isfinite(*out) && *out >= 0;
}

static bool
read_job(const json_t *item, const struct map *ids, struct arena *a, struct job *jobs, size_t i)
{
	const json_t *needs = json_object_get(item, "needs");
	size_t *indexes = arena_array_of(a, size_t, json_array_size(needs));
	struct job *job = &jobs[i];

	if (!number_of(item, "change_rate", &job->change_rate) ||
	    !number_of(item, "cost_s", &job->cost_s))
		return fail("change_rate and cost_s are numbers from 0", job->id);
	if (!json_is_array(needs))
		return fail("needs is a list of ids", job->id);
	for (size_t k = 0; k < json_array_size(needs); k++) {
		const char *id = json_string_value(json_array_get(needs, k));
		const struct job *need = id ? map_get(ids, id) : NULL;

		if (!need)
			return fail("needs what is not there", job->id);
		indexes[k] = (size_t)(need - jobs);
	}
	job->needs = indexes;
	job->nneeds = json_array_size(needs);
	return true;
}

static bool
read_jobs(const json_t *list, struct arena *a, struct job *jobs)
{
	struct map ids = MAP(a);
	size_t n = json_array_size(list);

	for (size_t i = 0; i < n; i++) {
		jobs[i].id = json_string_value(json_object_get(json_array_get(list, i), "id"));
		if (!jobs[i].id)
			return fail("a job without an id", "");
		if (map_put(&ids, jobs[i].id, &jobs[i]))
			return fail("two jobs with one id", jobs[i].id);
	}
	for (size_t i = 0; i < n; i++)
		if (!read_job(json_array_get(list, i), &ids, a, jobs, i))
			return false;
	return true;
}

static int
order_and_print(const struct job *jobs, size_t n, struct arena *a, bool say)
{
	size_t *order = arena_array_of(a, size_t, n);
	json_t *out = json_array();
	bool exact;

	if (!order_jobs(jobs, n, order, &exact)) {
		json_decref(out);
		fail("the jobs need each other in a circle", "");
		return 1;
	}
	for (size_t i = 0; i < n; i++)
		json_array_append_new(out, json_string(jobs[order[i]].id));
	if (say)
		fprintf(stderr, "%s\n", exact ? "exact" : "estimated");
	json_dumpf(out, stdout, 0);
	putchar('\n');
	json_decref(out);
	return fflush(stdout) ? 1 : 0;
}

int
main(int argc, char **argv)
{
	struct arena *a = arena_new();
	json_error_t error;
	json_t *list = json_loadf(stdin, JSON_REJECT_DUPLICATES, &error);
	size_t n = json_array_size(list);
	struct job *jobs = arena_array_of(a, struct job, n);
	int status = 1;

	if (!list)
		fail(error.text, "");
	else if (!json_is_array(list))
		fail("not a list", "");
	else if (n > JOBS_MAX)
		fail("too many jobs", "");
	else if (read_jobs(list, a, jobs))
		status = order_and_print(jobs, n, a, argc > 1 && !strcmp(argv[1], "--exact"));
	json_decref(list);
	arena_free(a);
	return status;
}

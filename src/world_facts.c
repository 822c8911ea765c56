/* facts refresh: read newer releases from a package index. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fs.h"
#include "base/proc.h"
#include "fetch/fetch.h"
#include "harvest/harvest.h"
#include "world.h"

/* Prints each line at once, because a run takes minutes. */
static void
tell(void *ctx, const char *line)
{
	(void)ctx;
	printf("%s\n", line);
	fflush(stdout);
}

const char *
world_today(struct arena *a)
{
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	time_t now = epoch && *epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
	char text[sizeof("2026-11-23")];
	struct tm tm;

	if (!gmtime_r(&now, &tm) || strftime(text, sizeof(text), "%Y-%m-%d", &tm) != 10)
		return "1970-01-01";
	return arena_strdup(a, text);
}

bool
world_snapshot(struct run *r, const struct recipe *of)
{
	const char *today = world_today(r->a), *time = of->snapshot.s;

	if (!time ||
	    strncmp(time, arena_printf(r->a, "%.4s%.2s%.2s", today, today + 5, today + 8), 8) <= 0)
		return true;
	diag_help(diag_at(&r->ds, E_SNAPSHOT, of->snapshot.at, "%s is in the future", time),
		  "select a time that has passed");
	return false;
}

/* The directory is beside that of the wheel store. */
const char *
world_cache_dir(struct arena *a)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache == '/')
		return fs_join(a, cache, "stackbuild-index");
	return home && *home == '/' ? fs_join(a, home, ".cache/stackbuild-index") : NULL;
}

static bool
count_of(const char *text, unsigned *count)
{
	char *end;
	unsigned long n = text ? strtoul(text, &end, 10) : 0;

	if (!text)
		return true;
	if (*text < '0' || *text > '9' || *end || n > 100000)
		return false;
	*count = (unsigned)n;
	return true;
}

/* Returns the normalised names, without repetitions; false: *wrong is not a name. */
static bool
names_of(struct run *r, struct names *packages, const char **wrong)
{
	const struct names *args = &r->o->args;

	for (size_t i = 1; i < args->n; i++) {
		*wrong = args->at[i];
		if (!name_valid(args->at[i]))
			return false;
		names_once(r->a, packages, name_normalize(r->a, args->at[i]));
	}
	if (args->n == 1)
		*packages = facts_harvest(r->facts);
	return true;
}

int
world_facts_refresh(struct run *r, const char *user)
{
	unsigned timeout_s = INDEX_TIMEOUT_S;
	struct harvest_how how = {
		.index = r->o->index,
		.dir = r->o->out ? r->o->out : user,
		.day = world_today(r->a),
		.cache = world_cache_dir(r->a),
		.all = r->o->all,
		.known = !r->o->out, /* -o: every release is read again */
		.limit = HARVEST_LIMIT,
		.requests_max = HARVEST_REQUESTS,
		.tell = tell,
	};
	struct names packages = { 0 };
	const char *wrong;

	if (!how.dir || !strcmp(how.dir, "-"))
		return usage_error("name a directory for the files with -o");
	if (!count_of(r->o->limit, &how.limit) ||
	    !count_of(r->o->max_requests, &how.requests_max) ||
	    !count_of(r->o->timeout, &timeout_s) || !timeout_s)
		return usage_error("--limit, --max-requests and --timeout need a whole number");
	how.timeout_s = timeout_s;
	if (!names_of(r, &packages, &wrong))
		return usage_error("`%s` is not the name of a package", wrong);
	proc_signals();
	return harvest(r->a, &r->ds, r->facts, &packages, &how) ? EXIT_DONE : EXIT_DIAGNOSED;
}

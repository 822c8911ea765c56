/* stackbuild store: manage stored wheels. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc.h"
#include "store/store.h"
#include "verbs.h"

/* Parses "30" or "1.5"; false: not a valid number. */
static bool
number(const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return *text && !*end && isfinite(*value) && *value >= 0 && *value < 1e9;
}

static int
store_all(struct run *r, const char *what, const struct names *places)
{
	double days = 30, max_gib = 0;
	bool json = r->o->format == FORMAT_JSON, good = true;

	if (r->o->days && !number(r->o->days, &days))
		return usage_error("--days requires a number, such as 30");
	if (r->o->max_size && (!number(r->o->max_size, &max_gib) || max_gib <= 0))
		return usage_error("--max-size requires a number of GiB, such as 20");
	if (json && places->n > 1)
		return usage_error("--format json shows one store: name it with --store");
	for (size_t i = 0; i < (places->n ? places->n : 1); i++) {
		struct store *s = store_open(r->a, &r->ds, places->n ? places->at[i] : NULL);

		/* A request ends with a sentence; in a local store the signal may end the process. */
		if (places->n && strstr(places->at[i], "://"))
			proc_signals();
		if (!s)
			good = false;
		else if (!strcmp(what, "list"))
			good &= store_list(r->a, &r->ds, s, json, &r->out);
		else if (!strcmp(what, "verify"))
			good &= store_verify(r->a, &r->ds, s, json, &r->out);
		else if (!strcmp(what, "index"))
			good &= store_index(r->a, &r->ds, s, r->o->out, &r->out);
		else
			good &= store_gc(r->a, &r->ds, s, days, (size_t)ceil(max_gib * 1024),
					 r->o->dry_run, &r->out);
	}
	return good ? EXIT_DONE : EXIT_DIAGNOSED;
}

static int
store_between(struct run *r, bool push, const struct names *places)
{
	const struct names *stores = &r->o->stores;
	const struct names keys = { .at = places->at + 1, .n = places->n - 1 };
	struct store *here = store_open(r->a, &r->ds, stores->n ? stores->at[0] : NULL);
	struct store *there = store_open(r->a, &r->ds, places->at[0]);

	if (!here || !there)
		return EXIT_DIAGNOSED;
	proc_signals();
	return store_copy(r->a, &r->ds, push ? here : there, push ? there : here, keys, &r->out) ?
		       EXIT_DONE :
		       EXIT_DIAGNOSED;
}

int
verb_store(struct run *r)
{
	const struct names *args = &r->o->args;
	const char *what = args->at[0];
	bool push = !strcmp(what, "push"), pull = !strcmp(what, "pull"), gc_given;
	struct names places = { .at = args->at + 1, .n = args->n - 1 };

	gc_given = r->o->days || r->o->max_size || r->o->dry_run;
	if (r->o->format_given && ((r->o->format != FORMAT_TEXT && r->o->format != FORMAT_JSON) ||
				   (strcmp(what, "list") && strcmp(what, "verify"))))
		return usage_error("store list and store verify have two formats: text and json");
	if (gc_given && strcmp(what, "gc"))
		return usage_error("--days, --max-size and --dry-run belong to store gc");
	if (push || pull) {
		if (!places.n)
			return usage_error("%s",
					   push ? "name the target store: stackbuild store push "
						  "oci://HOST/REPO" :
						  "name the source store: stackbuild store pull "
						  "oci://HOST/REPO");
		if (r->o->stores.n > 1)
			return usage_error("push and pull accept one --store");
		return store_between(r, push, &places);
	}
	if (strcmp(what, "list") && strcmp(what, "verify") && strcmp(what, "gc") &&
	    strcmp(what, "index"))
		return usage_error("`store` can list, verify, gc, index, push and pull, not `%s`",
				   what);
	if (!strcmp(what, "index") != !!r->o->out)
		return usage_error("store index needs -o DIRECTORY for the package index; no other "
				   "command of store has -o");
	if (!strcmp(what, "index") && places.n + r->o->stores.n > 1)
		return usage_error("store index writes the index of one store");
	if (places.n && r->o->stores.n)
		return usage_error("name the store once: as an argument, or with --store");
	return store_all(r, what, places.n ? &places : &r->o->stores);
}

#include <stdlib.h>
#include <string.h>

#include "load.h"

/* Checks what the arguments of Modal's calls require of each other, and of the client's version. */

const struct recipe_argument *
recipe_argument(const struct recipe_arguments *all, const char *name)
{
	return list_find(x, all, !strcmp(x->name.s, name));
}

const struct recipe_argument *
recipe_web_member(const struct recipe_modal *m, const char **call)
{
	const struct recipe_argument *x =
		list_find(w, &m->web, argument_web_call(w->name.s) != NULL);

	*call = x ? argument_web_call(x->name.s) : NULL;
	return x;
}

static double
number_of(const struct recipe_arguments *all, const char *name)
{
	const struct recipe_argument *x = recipe_argument(all, name);

	return x && x->value.s ? strtod(x->value.s, NULL) : -1;
}

static bool
is_true(const struct recipe_arguments *all, const char *name)
{
	const struct recipe_argument *x = recipe_argument(all, name);

	return x && x->value.s && !strcmp(x->value.s, "true");
}

/* Checks that `less` is not above `more`, as the client does. */
static bool
ordered(struct load *l, const char *path, const struct recipe_arguments *all, const char *less,
	const char *more)
{
	double x = number_of(all, less), y = number_of(all, more);

	if (x < 0 || y < 0 || x <= y)
		return true;
	diag_note(fault(l, E_MODAL, recipe_argument(all, less)->value.at,
			"`%s`: %s cannot be greater than %s", path, less, more),
		  recipe_argument(all, more)->value.at, "%s is here", more);
	return false;
}

/* --- the client --- */

static bool
client_has(struct load *l, struct text client, const char *path, const struct recipe_argument *x,
	   const char *since)
{
	struct diag *d;

	if (!since || version_cmp(version_parse(l->a, client.s), version_parse(l->a, since)) >= 0)
		return true;
	d = fault(l, E_MODAL_CLIENT, x->name.at, "`%s.%s`: Modal's client %s does not have it",
		  path, x->name.s, client.s);
	diag_note(d, client.at, "the client is set here");
	diag_help(d, "use client %s or newer, or remove the key", since);
	if (x->source)
		diag_source(d, x->source);
	return false;
}

/* Also checks the arguments below: those of a bucket or of Retries. */
static bool
client_has_all(struct load *l, struct text client, const char *path,
	       const struct recipe_arguments *all)
{
	bool good = true;

	list_each (x, all) {
		good &= client_has(l, client, path, x, x->since);
		good &= client_has_all(l, client, arena_printf(l->a, "%s.%s", path, x->name.s),
				       &x->below);
	}
	return good;
}

static bool
client_holds(struct load *l, const struct recipe_modal *m)
{
	const char *needed = m->builder.s ? facts_modal_builder_client(l->f, m->builder.s) : NULL;
	bool good = true;

	if (!m->client.s)
		return true;
	good &= client_has_all(l, m->client, "modal.function", &m->function);
	good &= client_has_all(l, m->client, "modal.web", &m->web);
	good &= client_has_all(l, m->client, "modal.concurrent", &m->concurrent);
	good &= client_has_all(l, m->client, "modal.buckets", &m->buckets);
	return good && client_has(l, m->client, "modal",
				  &(struct recipe_argument){ .name = { "builder", m->builder.at } },
				  needed);
}

/* --- web functions, classes --- */

/* Adds the error of an argument that a call of the client does not have. */
static bool
lacks(struct load *l, const char *path, const struct recipe_argument *x, const char *call)
{
	return reject(l, E_MODAL, x->name.at, "remove it", "`%s.%s`: %s does not take it", path,
		      x->name.s, call);
}

/* Every argument of the functions must be one of that call, too. */
static bool
function_fits(struct load *l, const struct recipe_modal *m, const char *call)
{
	struct modal_parameter p;
	bool good = true;

	list_each (x, &m->function) {
		if (!facts_modal_parameter(l->f, l->a, call, x->name.s, &p))
			good = lacks(l, "modal.function", x,
				     arena_printf(l->a, "@app.%s of Modal", call));
		else if (m->client.s)
			good &= client_has(l, m->client, "modal.function", x, p.since);
	}
	return good;
}

static bool
web_needs(struct load *l, const struct recipe_modal *m, const struct recipe_argument *kind,
	  const char *name)
{
	return recipe_argument(&m->web, name) ||
	       reject(l, E_KEY_MISSING, kind->name.at, arena_printf(l->a, "add `%s:`", name),
		      "`modal.web`: %s without `%s`", kind->name.s, name);
}

static bool
web_argument_holds(struct load *l, const struct recipe_argument *x, const char *call,
		   const struct recipe_argument *kind)
{
	bool timeout = !strcmp(x->name.s, "startup_timeout_s"), server = !strcmp(call, "server");
	struct modal_parameter p;

	if (argument_web_call(x->name.s) && x != kind) {
		diag_help(
			diag_note(fault(l, E_TOGETHER, x->name.at, "`modal.web` is either %s or %s",
					kind->name.s, x->name.s),
				  kind->name.at, "the other one"),
			"remove one of the two");
		return false;
	}
	if (x == kind)
		return true;
	if (!facts_modal_parameter(l->f, l->a, call, timeout ? "startup_timeout" : x->name.s, &p))
		return lacks(l, "modal.web", x, kind->name.s);
	if (timeout && x->value.s &&
	    (strtod(x->value.s, NULL) <= 0 || (server && strchr(x->value.s, '.'))))
		return reject(l, E_NUMBER, x->value.at, NULL,
			      "`modal.web.%s`: it must be %s above 0", x->name.s,
			      server ? "a whole number" : "a number");
	return true;
}

static bool
web_holds(struct load *l, const struct recipe_modal *m)
{
	const struct recipe_argument *retries = recipe_argument(&m->function, "retries"), *kind;
	const char *call;
	bool good = true;

	if (!m->web.n)
		return true;
	kind = recipe_web_member(m, &call);
	if (!kind)
		return reject(l, E_KEY_MISSING, m->web.at[0].name.at,
			      "add asgi, wsgi, fastapi, web_server or server, each FILE.py::NAME",
			      "`modal.web` names nothing to serve");
	list_each (x, &m->web)
		good &= web_argument_holds(l, x, call, kind);
	if (!strcmp(call, "web_server"))
		good = web_needs(l, m, kind, "port") &&
		       web_needs(l, m, kind, "startup_timeout_s") && good;
	if (!strcmp(call, "server"))
		return function_fits(l, m, call) && good;
	if (retries)
		good = reject(l, E_MODAL, retries->name.at, "remove it, or `modal.web`",
			      "`modal.function.retries`: Modal's web functions do not support it");
	return good;
}

static bool
concurrent_holds(struct load *l, const struct recipe_modal *m)
{
	const char *call = NULL;
	const struct recipe_argument *kind = recipe_web_member(m, &call);
	struct span at = m->concurrent.n ? m->concurrent.at[0].name.at : (struct span){ 0 };

	if (!m->concurrent.n)
		return true;
	if (call && !strcmp(call, "server"))
		return reject(l, E_MODAL, at, "use target_concurrency in `modal.web`",
			      "`modal.concurrent`: a server does not take it");
	if (!kind && !m->class.at.line)
		return reject(l, E_MODAL, at, "add `modal.web` or `modal.class`, or remove it",
			      "`modal.concurrent` applies to a web function or a class, and the "
			      "recipe has none");
	return ordered(l, "modal.concurrent", &m->concurrent, "target_inputs", "max_inputs");
}

/* --- buckets --- */

static bool
bucket_holds(struct load *l, const struct recipe_argument *bucket)
{
	const struct recipe_argument *prefix = recipe_argument(&bucket->below, "key_prefix");
	const struct recipe_argument *pays = recipe_argument(&bucket->below, "requester_pays");
	bool good = true;
	struct diag *d;

	if (prefix && prefix->value.s && !ends_with(prefix->value.s, "/")) {
		d = fault(l, E_MODAL, prefix->value.at,
			  "`modal.buckets`: the prefix %s does not end in /",
			  shown(l->a, prefix->value.s));
		offer(l, d, prefix->value, arena_printf(l->a, "%s/", prefix->value.s),
		      "add the slash");
		good = false;
	}
	if (is_true(&bucket->below, "requester_pays") && !recipe_argument(&bucket->below, "secret"))
		good = reject(l, E_MODAL, pays->name.at,
			      "add `secret:` with the name of a Modal secret",
			      "`modal.buckets`: requester_pays needs the credentials of a secret");
	return good;
}

static bool
buckets_hold(struct load *l, const struct recipe_modal *m)
{
	bool good = true;

	list_each (b, &m->buckets) {
		const struct setting *volume =
			list_find(v, &m->volumes, !strcmp(v->name.s, b->name.s));

		good &= bucket_holds(l, b);
		if (volume) {
			diag_help(diag_note(fault(l, E_TWICE, b->name.at,
						  "a bucket and a volume at `%s`", b->name.s),
					    volume->name.at, "the volume"),
				  "mount one of them elsewhere");
			good = false;
		}
	}
	return good;
}

/* --- schedules --- */

static bool
schedule_holds(struct load *l, const struct recipe_modal *m)
{
	const struct recipe_argument *x = recipe_argument(&m->function, "schedule"), *cron, *period;

	if (!x)
		return true;
	cron = recipe_argument(&x->below, "cron");
	period = recipe_argument(&x->below, "period");
	if (!cron == !period || (period && x->below.n > 1))
		return reject(
			l, E_MODAL, x->name.at,
			"write {cron: \"0 6 * * *\", timezone: Europe/Berlin}, or {period: {hours: "
			"6}}",
			"`modal.function.schedule` takes either cron, with or without timezone, "
			"or period");
	if (period && !period->below.n)
		return reject(l, E_EMPTY, period->name.at, "write for example `period: {hours: 6}`",
			      "`modal.function.schedule.period` has no value");
	return true;
}

bool
modal_holds(struct load *l, const struct recipe_modal *m)
{
	bool good = client_holds(l, m);

	good &= ordered(l, "modal.function", &m->function, "min_containers", "max_containers");
	good &= schedule_holds(l, m);
	good &= web_holds(l, m);
	good &= concurrent_holds(l, m);
	good &= buckets_hold(l, m);
	if (m->class.at.line)
		good &= function_fits(l, m, "cls");
	return good;
}

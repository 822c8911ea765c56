#include "modal.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/*
 * Writes what Modal calls with the resources of the recipe: the arguments of @app.function, web
 * functions and classes. The file of a web function or class is loaded in the container.
 */

const struct shape modal_web_shape[] = {
	{ "decorator", VALUE_CODE, "@app.function(...) or @app.server(...)", 0 },
	{ "concurrent", VALUE_CODE, "@modal.concurrent(...); or missing", 0 },
	{ "interface", VALUE_CODE, "@modal.asgi_app() and others; missing for a server", 0 },
	{ "file", VALUE_TEXT, "file of the recipe that has the object", 0 },
	{ "object", VALUE_TEXT, "name of the object in that file", 0 },
	{ "application", VALUE_FLAG, "an ASGI or WSGI application, or a function that returns one",
	  0 },
	{ "endpoint", VALUE_FLAG, "a function that FastAPI calls for each request", 0 },
	{ "starts", VALUE_FLAG, "a function that starts a server", 0 },
	{ "server", VALUE_FLAG, "the same, for @app.server", 0 },
	{ 0 },
};

static const struct shape method_shape[] = {
	{ "name", VALUE_TEXT, "name of the method", 0 },
	{ 0 },
};

const struct shape modal_class_shape[] = {
	{ "decorator", VALUE_CODE, "@app.cls(...)", 0 },
	{ "concurrent", VALUE_CODE, "@modal.concurrent(...); or missing", 0 },
	{ "file", VALUE_TEXT, "file of the recipe that has the class", 0 },
	{ "object", VALUE_TEXT, "name of the class", 0 },
	{ "load", VALUE_TEXT, "method that loads it; or missing", 0 },
	{ "methods", VALUE_LIST, "methods that other apps call", method_shape },
	{ 0 },
};

/* --- arguments --- */

static const char *argument_code(struct arena *a, const struct recipe_argument *x);

/* Returns NAME=VALUE for each argument. */
static struct names
keywords(struct arena *a, const struct recipe_arguments *all)
{
	return list_names(a, x, all, arena_printf(a, "%s=%s", x->name.s, argument_code(a, x)));
}

static const char *
object_code(struct arena *a, const char *class, const struct recipe_arguments *all)
{
	struct names items = keywords(a, all);

	return arena_printf(a, "modal.%s(%s)", class, names_join(a, &items, ", "));
}

static const char *
schedule_code(struct arena *a, const struct recipe_arguments *all)
{
	const struct recipe_argument *cron = recipe_argument(all, "cron");
	const struct recipe_argument *zone = recipe_argument(all, "timezone");

	if (!cron)
		return object_code(a, "Period", &recipe_argument(all, "period")->below);
	return arena_printf(a, "modal.Cron(%s%s%s)", py_quoted(a, cron->value.s),
			    zone ? ", timezone=" : "", zone ? py_quoted(a, zone->value.s) : "");
}

static const char *
argument_code(struct arena *a, const struct recipe_argument *x)
{
	const char *type = x->takes;

	if (!type)
		return object_code(a, "CloudBucketMount", &x->below);
	if (!strcmp(type, "Schedule"))
		return schedule_code(a, &x->below);
	if (!strcmp(type, "Proxy") || !strcmp(type, "Secret"))
		return arena_printf(a, "modal.%s.from_name(%s)", type, py_quoted(a, x->value.s));
	if (x->below.n)
		return object_code(a, type, &x->below);
	if (!strcmp(type, "bool"))
		return !strcmp(x->value.s, "true") ? "True" : "False";
	if (!strcmp(type, "str"))
		return py_quoted(a, x->value.s);
	return arena_printf(a, "%.15g", recipe_number(x->value)); /* also `retries: 2` */
}

static void
add_argument(const struct recipe_argument *x, const char *name, struct py_call *c)
{
	struct names items = list_names(c->a, t, &x->list, py_quoted(c->a, t->s));
	struct variables env = { 0 };

	list_each (s, &x->env)
		list_push(c->a, &env, (struct variable){ s->name.s, s->value.s, true });
	if (items.n)
		py_list(c, name, "[]", &items);
	else if (env.n)
		py_dict(c, name, &env);
	else if (x->value.s || x->below.n)
		py_code(c, name, argument_code(c->a, x));
}

static void
number_option(struct py_call *c, const char *key, struct text n)
{
	if (n.s)
		py_code(c, key, arena_printf(c->a, "%.15g", recipe_number(n)));
}

void
modal_work_options(struct modal *m, enum modal_callee callee, struct py_call *c)
{
	const struct recipe_modal *r = m->asked;
	struct names volumes = list_names(
		c->a, v, &r->volumes,
		arena_printf(c->a, "%s: modal.Volume.from_name(%s, create_if_missing=True)",
			     py_quoted(c->a, v->name.s), py_quoted(c->a, v->value.s)));
	struct names secrets =
		list_names(c->a, s, &r->secrets,
			   arena_printf(c->a, "modal.Secret.from_name(%s)", py_quoted(c->a, s->s)));

	list_each (b, &r->buckets)
		list_push(c->a, &volumes,
			  arena_printf(c->a, "%s: %s", py_quoted(c->a, b->name.s),
				       argument_code(c->a, b)));
	number_option(c, "cpu", r->cpu);
	number_option(c, "memory", r->memory_mib);
	if (callee == MODAL_PROGRAM && !r->timeout_s.s)
		py_code(c, "timeout",
			arena_printf(c->a, "%u", facts_modal(m->stack->facts)->timeout_max_s));
	else if (callee != MODAL_SERVER)
		number_option(c, "timeout", r->timeout_s);
	number_option(c, "scaledown_window", r->scaledown_window_s);
	py_list(c, "volumes", "{}", &volumes);
	py_list(c, "secrets", "[]", &secrets);
	list_each (x, &r->function)
		if (callee == MODAL_PROGRAM || strcmp(x->name.s, "schedule") != 0)
			add_argument(x, x->name.s, c);
}

/* --- web functions and classes --- */

/* Splits FILE.py::NAME into the template's values. */
static void
add_member(struct scope *out, struct arena *a, struct text member)
{
	const char *end = strstr(member.s, "::");

	scope_text(out, "file", arena_copy(a, member.s, (size_t)(end - member.s)), member.at);
	scope_text(out, "object", end + 2, member.at);
}

static void
add_concurrent(struct modal *m, struct scope *out)
{
	struct py_call c = { .a = m->a };

	list_each (x, &m->asked->concurrent)
		add_argument(x, x->name.s, &c);
	if (c.args.n)
		scope_code(out, "concurrent", py_call(&c, "@modal.concurrent"));
}

/* Adds the arguments of modal.web, except what it serves. */
static void
web_arguments(struct modal *m, const struct recipe_argument *kind, struct py_call *c)
{
	bool port_first = !strcmp(kind->name.s, "web_server");

	if (port_first)
		py_code(c, NULL, argument_code(m->a, recipe_argument(&m->asked->web, "port")));
	list_each (x, &m->asked->web) {
		bool timeout = !strcmp(x->name.s, "startup_timeout_s");

		if (x != kind && !(port_first && !strcmp(x->name.s, "port")))
			add_argument(x, timeout ? "startup_timeout" : x->name.s, c);
	}
}

static void
add_web(struct modal *m)
{
	const char *call;
	const struct recipe_argument *kind = recipe_web_member(m->asked, &call);
	struct py_call c = { .a = m->a }, interface = c;
	struct scope *out;
	bool server;

	if (!kind)
		return;
	out = scope_item(m->t->top, "web");
	server = !strcmp(call, "server");
	modal_decorator(m, server ? MODAL_SERVER : MODAL_WEB, &c);
	web_arguments(m, kind, server ? &c : &interface);
	scope_code(out, "decorator", py_call(&c, server ? "@app.server" : "@app.function"));
	if (!server)
		scope_code(out, "interface",
			   py_call(&interface, arena_printf(m->a, "@modal.%s", call)));
	add_concurrent(m, out);
	add_member(out, m->a, kind->value);
	scope_flag(out, "application", !strcmp(call, "asgi_app") || !strcmp(call, "wsgi_app"));
	scope_flag(out, "endpoint", !strcmp(call, "fastapi_endpoint"));
	scope_flag(out, "starts", !strcmp(call, "web_server"));
	scope_flag(out, "server", server);
}

static void
add_class(struct modal *m)
{
	const struct recipe_class *class = &m->asked->class;
	struct py_call c = { .a = m->a };
	struct scope *out;

	if (!class->at.line)
		return;
	out = scope_item(m->t->top, "class");
	modal_decorator(m, MODAL_CLASS, &c);
	scope_code(out, "decorator", py_call(&c, "@app.cls"));
	add_concurrent(m, out);
	add_member(out, m->a, class->object);
	if (class->load.s)
		scope_text(out, "load", class->load.s, class->load.at);
	scope_texts(out, "methods", &class->call);
}

void
modal_add_members(struct modal *m)
{
	scope_flag(m->t->top, "loads", m->asked->web.n || m->asked->class.at.line);
	add_web(m);
	add_class(m);
}

struct texts
modal_member_files(const struct modal *m)
{
	const char *call;
	const struct recipe_argument *web = recipe_web_member(m->asked, &call);
	struct text members[] = { web ? web->value : (struct text){ 0 }, m->asked->class.object };
	struct texts files = { 0 };

	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		const char *end = members[i].s ? strstr(members[i].s, "::") : NULL;
		const char *file =
			end ? arena_copy(m->a, members[i].s, (size_t)(end - members[i].s)) : NULL;

		if (file && !recipe_copies(m->a, &m->recipe->app, file) &&
		    !(m->entry && !strcmp(m->entry, file)) &&
		    !list_any(x, &files, !strcmp(x->s, file)))
			list_push(m->a, &files, (struct text){ file, members[i].at });
	}
	return files;
}

/* Returns the newest of two clients. */
static const char *
newer(struct arena *a, const char *x, const char *y)
{
	if (!x || !y)
		return x ? x : y;
	return version_cmp(version_parse(a, x), version_parse(a, y)) >= 0 ? x : y;
}

static const char *
newest_of(struct arena *a, const struct recipe_arguments *all, const char *client)
{
	list_each (x, all)
		client = newest_of(a, &x->below, newer(a, client, x->since));
	return client;
}

const char *
modal_client(const struct modal *m)
{
	const char *client = facts_modal_builder_client(m->stack->facts, m->builder);

	client = newest_of(m->a, &m->asked->function, client);
	client = newest_of(m->a, &m->asked->web, client);
	client = newest_of(m->a, &m->asked->concurrent, client);
	return newest_of(m->a, &m->asked->buckets, client);
}

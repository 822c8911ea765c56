/* stackbuild engines: lists the build engines. */
#include "verbs.h"
#include "world.h"

struct engine_at
world_engine_at(const struct options *o)
{
	return (struct engine_at){ .addr = o->addr,
				   .tls_ca = o->tls_ca,
				   .tls_cert = o->tls_cert,
				   .tls_key = o->tls_key,
				   .tls_name = o->tls_name };
}

int
verb_engines(struct run *r)
{
	const struct options *o = r->o;
	const struct engine_at at = world_engine_at(o);
	const struct engine *only = o->engine ? engine_find(o->engine) : NULL;
	bool as_json = o->format == FORMAT_JSON, usable;

	proc_signals();
	usable = engines_print(r->a, only, &at, as_json, &r->out);
	return usable && !proc_interrupted() ? EXIT_DONE : EXIT_DIAGNOSED;
}

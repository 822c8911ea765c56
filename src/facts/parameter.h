#ifndef FACTS_PARAMETER_H
#define FACTS_PARAMETER_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/list.h"

/* The parameters of Modal's client, which ci/modal-signatures writes, and its prices; part of facts.h. */
struct facts;

/* A parameter of a call of Modal's client, such as min_containers of `function`. */
struct modal_parameter {
	const char *name;
	const char *takes; /* int, float, bool, str, strs, env, or a class of the client: Retries */
	const char *since; /* the first client that has it, "1.5.4"; NULL: every known client */
	bool required;
	const char *min, *max;    /* limits of a number, or NULL */
	const char *source;       /* of the parameter */
	const char *limit_source; /* or NULL */
};

/* Returns the names of a call's parameters in the client's order; none: unknown call. */
struct names facts_modal_parameters(const struct facts *f, const char *call);
/* Finds a parameter of a call (in a: its texts); false if the call lacks it. */
bool facts_modal_parameter(const struct facts *f, struct arena *a, const char *call,
			   const char *name, struct modal_parameter *out);

/* List prices in US dollars; 0: unknown. */
struct modal_prices {
	double cpu_core_hour, memory_gib_hour;
};

struct modal_prices facts_modal_prices(const struct facts *f);
/* Returns the pinned uv release for `modal.installer: uv`, or NULL. */
const char *facts_modal_uv(const struct facts *f);

#endif

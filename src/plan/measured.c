#include <stdlib.h>

#include "base/str.h"
#include "base/yaml.h"

#include "make.h"

/* build.json is JSON without what YAML would read otherwise: the one reader does for it. */
enum { RECORD_NODES = 100 * 1000, RECORD_DEPTH = 8 };

/* Seconds above 0, at most a year; 0: it is no such number. */
static double
seconds(const struct node *n)
{
	char *end;
	double s;

	if (!n || n->kind != NODE_SCALAR || !n->plain || !is_digit(*n->s))
		return 0;
	s = strtod(n->s, &end);
	return !*end && s > 0 && s <= 365.0 * 24 * 3600 ? s : 0;
}

static bool
says(const struct node *map, const char *key, const char *value)
{
	struct text t = node_text(node_get(map, key));

	return t.s && !strcmp(t.s, value);
}

/* What a step took; 0: the record does not know it. */
static double
took(const struct node *steps, const struct step *st)
{
	double found = 0;

	for (size_t i = 0; i < steps->n; i++) {
		const struct node *of = steps->items[i];
		double s = of->kind == NODE_MAP ? seconds(node_get(of, "measured_s")) : 0;

		if (s > 0 && says(of, "key", st->key))
			return s;
		if (s > 0 && says(of, "own", st->own))
			found = s;
	}
	return found;
}

const struct plan *
plan_measured(struct arena *a, const struct plan *p, const struct source *record)
{
	struct plan *out = arena_new_of(a, struct plan);
	struct step *steps = arena_array_of(a, struct step, p->n);
	const struct node *root, *all;
	struct diags ignored;

	diags_init(&ignored, a);
	root = yaml_read(a, &ignored, record, (struct yaml_limits){ RECORD_NODES, RECORD_DEPTH });
	all = root && root->kind == NODE_MAP && says(root, "schema", "1") ?
		      node_get(root, "steps") :
		      NULL;
	if (!all || all->kind != NODE_LIST)
		return p;
	*out = *p;
	out->steps = steps;
	for (size_t i = 0; i < p->n; i++) {
		double s = took(all, &p->steps[i]);

		steps[i] = p->steps[i];
		if (s <= 0)
			continue;
		steps[i].cost_s = s;
		steps[i].cost_source = record->path;
		out->measured++;
	}
	plan_recount(a, out);
	return out;
}

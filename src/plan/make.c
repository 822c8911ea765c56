#include "make.h"

#include <stdlib.h>

#include "base/yaml.h"

const char *const step_kind_words[STEP_KINDS] = {
	"base", "apt", "python", "torch", "build-deps", "packages", "extension", "check", "app",
};

const char *const plan_source_words[] = { "git", "sdist", "archive", "wheel", "path" };

/* --- drafts --- */

/* Rounds to six decimals, as in JSON, so that the printed numbers add up to the printed sum. */
static double
as_printed(double x)
{
	return x < 1e9 ? (double)(long long)(x * 1e6 + 0.5) / 1e6 : x;
}

struct step
plan_draft(const struct maker *m, enum step_kind kind, const char *id, const char *stage,
	   const char *package)
{
	struct cost cost = facts_cost(m->s->facts, step_kind_words[kind], package);

	return (struct step){
		.id = id,
		.kind = kind,
		.stage = stage,
		.change_rate = as_printed(cost.change_rate),
		.cost_s = as_printed(cost.seconds),
		.cost_source = cost.source,
	};
}

bool
plan_has(const struct maker *m, const char *id)
{
	return list_any(s, &m->steps, !strcmp(s->id, id));
}

const char *
plan_unique(const struct maker *m, const char *name)
{
	static const char *const ours[] = { "check", "app", "packages" };
	bool taken = plan_has(m, name);

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		taken |= !strcmp(ours[i], name);
	return taken ? plan_unique(m, arena_printf(m->a, "%s-x", name)) : name;
}

void
plan_need(struct maker *m, struct step *st, const char *id, const char *why)
{
	if (names_have(&st->needs, id))
		return;
	list_push(m->a, &st->needs, id);
	list_push(m->a, &st->why_needs, why);
}

void
plan_input(struct maker *m, struct step *st, const char *id)
{
	names_once(m->a, &st->inputs, id);
}

/* --- operations --- */

struct operation *
plan_operation(const struct maker *m, struct step *st, enum operation_kind kind, const char *why)
{
	list_push(m->a, &st->operations,
		  (struct operation){ .kind = kind, .why = why, .env = &m->s->recipe->env });
	if (kind == OP_SYSTEM)
		st->operations.at[st->operations.n - 1].system.snapshot = m->s->snapshot;
	return &st->operations.at[st->operations.n - 1];
}

void
plan_helper(const struct maker *m, struct step *st, const char *name, bool program)
{
	struct operation *op = plan_operation(m, st, OP_FILE, NULL);

	op->file.path = arena_printf(m->a, "{share}/%s", name);
	op->file.helper = name;
	op->file.program = program;
}

bool
plan_constraints(const struct maker *m, struct step *st, const struct names *lines)
{
	struct operation *op;
	struct buf b = BUF(m->a);

	if (m->s->torch_base)
		buf_puts(&b, "-c base.txt\n");
	for (size_t i = 0; i < lines->n; i++)
		buf_printf(&b, "%s\n", lines->at[i]);
	if (!lines->n)
		return false;
	op = plan_operation(m, st, OP_FILE, NULL);
	op->file.path = "{share}/constraints.txt";
	op->file.text = buf_text(&b);
	return true;
}

struct pip_index
plan_index(const struct maker *m)
{
	const struct recipe_index *index = &m->s->recipe->index;

	return (struct pip_index){ index->url.s, index->url.s ? index->secret.s : NULL };
}

const struct operation *
step_operation(const struct step *st, enum operation_kind kind)
{
	return list_find(op, &st->operations, op->kind == kind);
}

/* --- the order --- */

static size_t
position(const struct step *steps, size_t n, const char *id)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(steps[i].id, id))
			return i;
	BUG("no step %s comes before those that need it", id);
}

static struct job *
jobs_of(struct arena *a, const struct step *steps, size_t n)
{
	struct job *jobs = arena_array_of(a, struct job, n);

	for (size_t i = 0; i < n; i++) {
		const struct step *st = &steps[i];
		size_t *needs = arena_array_of(a, size_t, st->needs.n);

		for (size_t k = 0; k < st->needs.n; k++)
			needs[k] = position(steps, n, st->needs.at[k]);
		jobs[i] = (struct job){ st->id, st->change_rate, st->cost_s, needs, st->needs.n };
	}
	return jobs;
}

/* Reports extensions that require each other in a cycle, according to the knowledge base. */
static void
refuse_circle(struct diags *ds, const struct stack *s)
{
	for (size_t i = 0; i < s->extensions.n; i++) {
		const struct stack_extension *e = &s->extensions.at[i];
		struct diag *d;

		if (!e->after.n)
			continue;
		d = diag_at(ds, E_CIRCLE, e->at, "the extensions need each other in a cycle");
		for (size_t k = i; k < s->extensions.n; k++)
			list_each (text, &s->extensions.at[k].after)
				diag_why(d, "%s needs %s first", s->extensions.at[k].name, *text);
		diag_help(d, "the knowledge base says so in `after`: correct the overlay, or "
			     "remove one of them");
		return;
	}
	BUG("steps need each other in a cycle");
}

static void
fill_keys(struct arena *a, const struct stack *s, struct step *steps, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct names inputs = { 0 };

		for (size_t k = 0; k < steps[i].inputs.n; k++)
			list_push(a, &inputs, steps[position(steps, i, steps[i].inputs.at[k])].key);
		plan_keys(a, s, &steps[i], &inputs);
	}
}

static void
toolkit_places(struct maker *m)
{
	const struct stack *s = m->s;
	bool devel = s->image.flavour && !strcmp(s->image.flavour, "devel");

	if (!s->cuda.value)
		return;
	switch (s->cuda_from) {
	case CUDA_WHEELS:
		m->cuda_home = "{share}/cuda";
		m->nvcc = "{share}/cuda/bin/nvcc";
		break;
	case CUDA_APT:
		m->cuda_home = arena_printf(m->a, "/usr/local/cuda-%s",
					    version_series(m->a, s->cuda.value));
		m->nvcc = arena_printf(m->a, "%s/bin/nvcc", m->cuda_home);
		break;
	default: /* the image's nvcc, if it has one or must have one */
		if (devel || s->cuda_from == CUDA_HOST || s->build_deps.n)
			m->nvcc = "nvcc";
	}
}

static void
place_plan(struct step *check, const char *json)
{
	for (size_t i = 0; i < check->operations.n; i++) {
		struct operation *op = &check->operations.at[i];

		if (op->kind == OP_FILE && !strcmp(op->file.helper, "plan.json"))
			op->file.text = json;
	}
}

static bool
unknown_extension(const struct stack *s)
{
	return list_any(e, &s->extensions, !e->known && e->source != SOURCE_WHEEL);
}

/* Makes the steps in their order, without keys and plan.json; NULL: errors of refuse_circle(). */
static struct plan *
outline(struct maker *m, struct diags *ds, struct step **out)
{
	struct arena *a = m->a;
	const struct stack *s = m->s;
	struct plan *p = arena_new_of(a, struct plan);
	struct step *steps;
	struct job *jobs;
	size_t n, *order;

	toolkit_places(m);
	plan_steps(m);
	n = m->steps.n;
	jobs = jobs_of(a, m->steps.at, n);
	order = arena_array_of(a, size_t, n);
	if (!order_jobs(jobs, n, order, &p->order_exact)) {
		refuse_circle(ds, s);
		return NULL;
	}
	*out = steps = arena_array_of(a, struct step, n);
	for (size_t i = 0; i < n; i++) {
		struct step *st = &m->steps.at[order[i]];

		st->guess_s = st->cost_s;
		/* The order needs a cost for every step; a guess is not printed. */
		if (step_operation(st, OP_COMPILE) &&
		    facts_cost(s->facts, step_kind_words[st->kind], st->extension->name).guessed)
			jobs[order[i]].cost_s = st->cost_s = 0;
		steps[i] = *st;
	}
	p->stack = s;
	p->lock = m->lock;
	p->name = s->recipe->stack.s;
	p->steps = steps;
	p->n = n;
	p->expected_cost_s = order_cost(jobs, order, n);
	p->by_rate_cost_s = order_cost_by_rate(jobs, n);
	p->nvcc = m->nvcc;
	p->cuda_home = m->cuda_home;
	return p;
}

static struct maker
maker_of(struct arena *a, const struct stack *s, const struct lock *l)
{
	return (struct maker){ .a = a,
			       .s = s,
			       .lock = l,
			       .locked_steps = l ? lock_steps(a, l) : NULL,
			       .packages_in_stack = s->packages.n && unknown_extension(s) };
}

const struct plan *
plan_outline(struct arena *a, struct diags *ds, const struct stack *s)
{
	struct maker m = maker_of(a, s, NULL);
	struct step *steps;

	return outline(&m, ds, &steps);
}

const struct plan *
plan_make(struct arena *a, struct diags *ds, const struct stack *s, const struct lock *l)
{
	struct maker m = maker_of(a, s, l);
	struct step *steps;
	struct plan *p = outline(&m, ds, &steps);

	if (!p)
		return NULL;
	fill_keys(a, s, steps, p->n);
	p->json = plan_image_json(&m, steps, p->n);
	for (size_t i = 0; i < p->n; i++)
		if (steps[i].kind == STEP_CHECK)
			place_plan(&steps[i], p->json);
	return p;
}

const struct step *
plan_step(const struct plan *p, const char *id)
{
	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->steps[i].id, id))
			return &p->steps[i];
	return NULL;
}

/* --- times of steps that were built on this host --- */

/* Limits for build.json, which the YAML reader reads, because JSON is YAML. */
enum { RECORD_NODES = 100 * 1000, RECORD_DEPTH = 8 };

/* Returns seconds above 0, at most a year; 0: it is not such a number. */
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

/* Returns the time of a step; 0: the record does not have it. */
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

static struct plan *
retimed(struct arena *a, const struct plan *p, const struct step *steps)
{
	const struct job *jobs = jobs_of(a, steps, p->n);
	struct plan *out = arena_new_of(a, struct plan);
	size_t *order = arena_array_of(a, size_t, p->n);

	for (size_t i = 0; i < p->n; i++)
		order[i] = i;
	*out = *p;
	out->steps = steps;
	out->expected_cost_s = order_cost(jobs, order, p->n);
	out->by_rate_cost_s = order_cost_by_rate(jobs, p->n);
	return out;
}

double
compile_estimate(const struct compile_machine *m, double cost_s, double cores, unsigned useful_jobs,
		 unsigned memory_mib)
{
	size_t jobs = m->jobs ? m->jobs : m->cpus;

	if (!jobs || cores <= 0)
		return cost_s;
	if (!m->jobs && m->mib && memory_mib && jobs > m->mib / memory_mib)
		jobs = m->mib / memory_mib;
	if (useful_jobs && jobs > useful_jobs)
		jobs = useful_jobs;
	return cost_s * cores / (double)(jobs ? jobs : 1);
}

const struct plan *
plan_on_machine(struct arena *a, const struct plan *p, const struct compile_machine *m)
{
	struct step *steps = arena_array_of(a, struct step, p->n);
	struct plan *out;

	for (size_t i = 0; i < p->n; i++) {
		const struct operation *op = step_operation(&p->steps[i], OP_COMPILE);
		unsigned memory_mib = op ? op->compile.memory_mib : 0;
		struct step *s = &steps[i];

		*s = p->steps[i];
		s->cost_s =
			compile_estimate(m, s->cost_s, s->cost_cores, s->useful_jobs, memory_mib);
		s->guess_s =
			compile_estimate(m, s->guess_s, s->cost_cores, s->useful_jobs, memory_mib);
	}
	out = retimed(a, p, steps);
	out->machine = *m;
	return out;
}

const struct plan *
plan_measured(struct arena *a, const struct plan *p, const struct source *record)
{
	struct step *steps = arena_array_of(a, struct step, p->n);
	const struct node *root, *all;
	struct plan *out;
	size_t measured = 0;
	struct diags ignored = DIAGS(ignored, a);

	root = yaml_read(a, &ignored, record, (struct yaml_limits){ RECORD_NODES, RECORD_DEPTH });
	all = root && root->kind == NODE_MAP && says(root, "schema", "1") ?
		      node_get(root, "steps") :
		      NULL;
	if (!all || all->kind != NODE_LIST)
		return p;
	for (size_t i = 0; i < p->n; i++) {
		double s = took(all, &p->steps[i]);

		steps[i] = p->steps[i];
		if (s <= 0)
			continue;
		steps[i].cost_s = steps[i].guess_s = s;
		steps[i].measured = true;
		steps[i].cost_cores = 0;
		steps[i].cost_source = record->path;
		measured++;
	}
	out = retimed(a, p, steps);
	out->measured = measured;
	return out;
}

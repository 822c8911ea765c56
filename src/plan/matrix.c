#include "matrix.h"

#include "base/json.h"
#include "base/sha256.h"
#include "make.h"

/* A step that several cells may share. */
struct shared {
	size_t index; /* index of a wheel or a base stage */
	double path_s;
};

struct matrix *
matrix_new(struct arena *a, bool chain)
{
	struct matrix *m = arena_new_of(a, struct matrix);

	*m = (struct matrix){ .a = a,
			      .chain = chain,
			      .wheel_of = MAP(a),
			      .base_of = MAP(a),
			      .step_of = MAP(a),
			      .image_of = MAP(a) };
	return m;
}

/* Returns the value of a key; NULL: the key is new, and *new_key is a copy to insert. */
static struct shared *
find(struct matrix *m, struct map *in, const char *key, bool *is_new)
{
	struct shared *s = map_get(in, key);

	*is_new = !s;
	if (s)
		return s;
	s = arena_new_of(m->a, struct shared);
	map_put(in, arena_strdup(m->a, key), s);
	return s;
}

/* Adds the costs of steps that no earlier cell has to the sums. */
static void
add_costs(struct matrix *m, const struct plan *p)
{
	for (const struct step *st = p->steps; st < p->steps + p->n; st++) {
		bool is_new;
		struct shared *s = find(m, &m->step_of, st->key, &is_new);

		if (!is_new)
			continue;
		for (size_t k = 0; k < st->inputs.n; k++) {
			const struct step *on = plan_step(p, st->inputs.at[k]);
			const struct shared *before = map_get(&m->step_of, on->key);

			if (before->path_s > s->path_s)
				s->path_s = before->path_s;
		}
		s->path_s += st->cost_s;
		m->cost_s += st->cost_s;
		m->unknown |= st->cost_s <= 0;
		if (s->path_s > m->critical_s)
			m->critical_s = s->path_s;
	}
}

/* Returns the base stage, in which extensions are compiled. */
static size_t
base_of(struct matrix *m, const struct plan *p)
{
	const struct step *last = &p->steps[0];
	struct matrix_base base = { 0 };
	struct shared *s;
	bool is_new;

	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->steps[i].stage, "stack")) {
			last = &p->steps[i];
			base.cost_s += last->cost_s;
		}
	s = find(m, &m->base_of, last->key, &is_new);
	if (is_new) {
		s->index = m->bases.n;
		base.key = arena_strdup(m->a, last->key);
		list_push(m->a, &m->bases, base);
	}
	return s->index;
}

/* In an environment, the packages installed before compiles count, too. */
static const char *
wheel_key(struct arena *a, const struct matrix *m, const struct plan *p, const struct step *st)
{
	struct buf b = BUF(a);

	if (!m->chain)
		return st->key;
	for (const struct step *s = p->steps; s < p->steps + p->n; s++)
		if (s->kind != STEP_CHECK && s->kind != STEP_APP && !step_operation(s, OP_COMPILE))
			buf_puts(&b, s->key);
	buf_puts(&b, st->key);
	return sha256_hex(a, b.p, b.n);
}

static void
add_wheel(struct matrix *m, const struct plan *p, const struct step *st, struct matrix_cell *cell)
{
	bool is_new;
	const char *key = wheel_key(m->a, m, p, st);
	struct shared *s = find(m, &m->wheel_of, key, &is_new);
	const char *version = st->extension->version;

	if (is_new) {
		s->index = m->wheels.n;
		list_push(m->a, &m->wheels,
			  (struct matrix_wheel){
				  .key = arena_strdup(m->a, key),
				  .step = arena_strdup(m->a, st->id),
				  .version = version ? arena_strdup(m->a, version) : NULL,
				  .cell = m->cells.n,
				  .base = cell->base,
				  .cost_s = st->guess_s,
				  .cost_cores = st->cost_cores,
				  .useful_jobs = st->useful_jobs,
				  .memory_mib = step_operation(st, OP_COMPILE)->compile.memory_mib,
				  .unknown = st->cost_s <= 0 });
	}
	m->wheels.at[s->index].cells++;
	list_push(m->a, &cell->wheels, s->index);
}

/* Returns the identity of an image: cells with the same one share the image under several names. */
static const char *
image_key(struct arena *a, const struct recipe *r, const char *steps)
{
	struct buf b = BUF(a);

	buf_printf(&b, "%s\n%s\n", steps, r->user.s ? r->user.s : "");
	for (size_t i = 0; i < r->env.n; i++)
		buf_printf(&b, "%s=%s\n", r->env.at[i].name.s, r->env.at[i].value.s);
	return sha256_hex(a, b.p, b.n);
}

void
matrix_add(struct matrix *m, const struct plan *p)
{
	struct matrix_cell cell = { .base = base_of(m, p) };
	struct buf keys = BUF(m->a);

	m->name = m->name ? m->name : arena_strdup(m->a, p->name);
	if (p->stack->recipe->cell)
		cell.name = arena_strdup(m->a, p->stack->recipe->cell);
	add_costs(m, p);
	for (const struct step *st = p->steps; st < p->steps + p->n; st++) {
		buf_puts(&keys, st->key);
		if (step_operation(st, OP_COMPILE))
			add_wheel(m, p, st, &cell);
		else if (strcmp(st->stage, "stack") != 0)
			cell.cost_s += st->cost_s;
	}
	cell.key = image_key(m->a, p->stack->recipe, buf_text(&keys));
	buf_puts(&keys, p->stack->recipe->digest);
	cell.plan = sha256_hex(m->a, keys.p, keys.n);
	m->images += !map_put(&m->image_of, cell.key, m);
	list_push(m->a, &m->cells, cell);
}

void
matrix_forget_wheels(struct matrix *m)
{
	m->wheels.n = 0;
	for (size_t i = 0; i < m->cells.n; i++)
		m->cells.at[i].wheels.n = 0;
}

struct indexes
matrix_shard(struct arena *a, const struct matrix *m, size_t i, size_t n)
{
	struct indexes order = { 0 }, mine = { 0 };
	bool *taken = arena_array_of(a, bool, m->cells.n);

	for (size_t k = 0; k < m->cells.n; k++)
		for (size_t l = k; l < m->cells.n && !taken[k]; l++) {
			const struct indexes *x = &m->cells.at[k].wheels,
					     *y = &m->cells.at[l].wheels;

			if (l != k && (taken[l] || x->n != y->n ||
				       (x->n && memcmp(x->at, y->at, x->n * sizeof(*x->at)) != 0)))
				continue;
			list_push(a, &order, l);
			if (l != k)
				taken[l] = true;
		}
	for (size_t k = (i - 1) * order.n / n; k < i * order.n / n; k++)
		list_push(a, &mine, order.at[k]);
	return mine;
}

/* --- output --- */

enum { WHEELS_SHOWN = 20 };

static const char *
about(struct arena *a, double seconds)
{
	return seconds < 5400 ? arena_printf(a, "%.0f min", seconds < 60 ? 1 : seconds / 60) :
				arena_printf(a, "%.0f h", seconds / 3600);
}

static const char *
counted(struct arena *a, size_t n, const char *what)
{
	return arena_printf(a, "%zu %s%s", n, what, n == 1 ? "" : "s");
}

/*
 * m: 500 cells, 41 distinct wheels, 460 images share 38 base stages; about 9 h of work, critical
 * path 25 min
 *
 *    cells         cost  wheel
 *      120   about 9:51  mamba-ssm 2.3.1, compiled for python-3.11,torch-2.10.0
 */
void
matrix_text(const struct matrix *m, struct buf *out)
{
	struct arena *a = out->a;
	const char *least = m->unknown ? "at least " : "";

	buf_printf(out, "%s: %s, %s, %s on %s; %sabout %s of work, critical path %s%s\n", m->name,
		   counted(a, m->cells.n, "cell"), counted(a, m->wheels.n, "distinct wheel"),
		   counted(a, m->images, "image"), counted(a, m->bases.n, "base stage"), least,
		   about(a, m->cost_s), least, about(a, m->critical_s));
	if (m->wheels.n)
		buf_printf(out, "\n %6s  %11s  %s\n", "cells", "cost", "wheel");
	for (size_t i = 0; i < m->wheels.n && i < WHEELS_SHOWN; i++) {
		const struct matrix_wheel *w = &m->wheels.at[i];
		const char *cell = m->cells.at[w->cell].name;

		buf_printf(out, " %6zu  %11s  %s%s%s%s%s\n", w->cells,
			   plan_cost_text(a, w->unknown ? 0 : w->cost_s, false), w->step,
			   w->version ? " " : "", w->version ? w->version : "",
			   cell ? ", compiled for " : "", cell ? cell : "");
	}
	if (m->wheels.n > WHEELS_SHOWN)
		buf_printf(out, " ... and %zu more; --format json lists all of them\n",
			   m->wheels.n - WHEELS_SHOWN);
}

void
matrix_json(const struct matrix *m, struct buf *out)
{
	struct json j = json_to(out);

	json_put(&j, "{'schema': 1, 'stack': %s, 'images': %d, 'cost_s': %f, 'critical_path_s': %f",
		 m->name, (int)m->images, m->cost_s, m->critical_s);
	json_list(&j, "bases");
	list_each (x, &m->bases)
		json_put(&j, "('key': %s, 'cost_s': %f)", x->key, x->cost_s);
	json_end(&j);
	json_list(&j, "wheels");
	list_each (w, &m->wheels) {
		json_put(&j, "('key': %s, 'step': %s, 'version': %s, 'base': %d", w->key, w->step,
			 w->version, (int)w->base);
		json_cost(&j, w->unknown ? 0 : w->cost_s);
		json_put(&j, "'cells': %d, 'cell': %s)", (int)w->cells, m->cells.at[w->cell].name);
	}
	json_end(&j);
	json_list(&j, "cells");
	list_each (c, &m->cells) {
		json_put(&j, "('name': %s, 'image': %s, 'base': %d, 'cost_s': %f", c->name, c->key,
			 (int)c->base, c->cost_s);
		json_list(&j, "wheels");
		for (size_t k = 0; k < c->wheels.n; k++)
			json_int(&j, NULL, (long long)c->wheels.at[k]);
		json_put(&j, "])");
	}
	json_put(&j, "]}");
}

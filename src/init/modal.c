#include <stdlib.h>
#include <string.h>

#include "modal.h"

/*
 * Reads a Modal app: templates/modal_chain.py, which rd->chain runs, reports the calls of its image, the arguments
 * of its function, and everything else, as JSON.
 */

/* The arguments of a function that have a key. `many`: the key has more than one value. */
static const struct {
	const char *name, *key;
	bool many;
} keys[] = {
	{ "gpu", "modal.gpu", true },
	{ "timeout", "modal.timeout_s", false },
	{ "scaledown_window", "modal.scaledown_window_s", false },
	{ "container_idle_timeout", "modal.scaledown_window_s", false },
	{ "cpu", "modal.cpu", false },
	{ "memory", "modal.memory_mib", false },
	{ "secrets", "modal.secrets", true },
	{ "secret", "modal.secrets", true },
	{ "volumes", "modal.volumes", true },
};

/* --- the JSON of templates/modal_chain.py --- */

const struct node *
modal_at(const struct node *list, size_t i)
{
	return list && list->kind == NODE_LIST && i < list->n ? list->items[i] : NULL;
}

const char *
modal_text(const struct node *n)
{
	return n && n->kind == NODE_SCALAR ? n->s : "";
}

/* Returns the number of a node, at most `max`. */
static size_t
number(const struct node *n, size_t max)
{
	size_t value = strtoul(modal_text(n), NULL, 10);

	return value < max ? value : max;
}

struct span
modal_place(const struct app *p, const struct node *n)
{
	size_t line = number(modal_at(n, 0), p->lines.n), begin, end, from, to;

	if (!line)
		return (struct span){ .src = p->src };
	begin = p->lines.at[line - 1];
	end = line < p->lines.n ? p->lines.at[line] - 1 : p->src->size;
	from = begin + number(modal_at(n, 1), end - begin);
	to = from + number(modal_at(n, 2), end - from);
	return (struct span){ p->src, (uint32_t)line,
			      (uint32_t)text_columns(p->src->text + begin, from - begin) + 1,
			      (uint32_t)text_columns(p->src->text + from, to - from) };
}

struct init_item *
modal_item(const struct app *p, const struct node *n)
{
	return item_open(p->rd, modal_text(node_get(n, "what")), modal_place(p, node_get(n, "at")));
}

/* --- the function --- */

static void
take_key(struct app *p, const struct node *n, const char *key, bool many)
{
	const struct node *texts = node_get(n, "texts"), *pairs = node_get(n, "pairs");

	if (!many && modal_at(texts, 1)) {
		item_leave(p->rd, modal_item(p, n), "a recipe has one value for it");
		return;
	}
	for (size_t i = 0; modal_at(texts, i); i++)
		item_set(p->rd, modal_text(node_get(n, "what")),
			 modal_place(p, modal_at(modal_at(texts, i), 1)), key,
			 modal_text(modal_at(modal_at(texts, i), 0)));
	for (size_t i = 0; modal_at(pairs, i); i++) {
		struct init_item *item =
			item_open(p->rd, modal_text(modal_at(modal_at(pairs, i), 0)),
				  modal_place(p, modal_at(modal_at(pairs, i), 2)));

		item->name = item->what;
		item_take(p->rd, item, key, modal_text(modal_at(modal_at(pairs, i), 1)));
	}
}

static void
take_function(struct app *p, const struct node *function)
{
	const struct node *all = node_get(function, "options");

	for (size_t i = 0; modal_at(all, i); i++) {
		const char *name = modal_text(node_get(modal_at(all, i), "name"));
		bool taken = false;

		for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++)
			if (!strcmp(keys[k].name, name)) {
				take_key(p, modal_at(all, i), keys[k].key, keys[k].many);
				taken = true;
			}
		if (!taken)
			item_leave(p->rd, modal_item(p, modal_at(all, i)),
				   "it stays in the app's function `%s`",
				   modal_text(node_get(function, "name")));
	}
}

/* Compiles for the GPUs of the function, if the image sets no architectures. */
static void
take_gpus(struct app *p)
{
	struct init *rd = p->rd;
	struct init_items gpus = { 0 };

	if (init_get(rd, "gpus"))
		return;
	for (size_t i = 0; i < rd->items.n; i++)
		if (item_has(rd->items.at[i], "modal.gpu"))
			list_push(rd->a, &gpus, rd->items.at[i]);
	for (size_t i = 0; i < gpus.n; i++) {
		const char *value = gpus.at[i]->value;
		const char *name = arena_copy(rd->a, value, strcspn(value, ":!+"));
		const struct modal_gpu *m = facts_modal_gpu(rd->f, name);
		const struct gpu *g = facts_gpu(rd->f, name);

		for (size_t k = 0; m && k < m->ccs.n; k++)
			item_set(rd, gpus.at[i]->what, gpus.at[i]->at, "gpus",
				 g && !strcmp(g->cc, m->ccs.at[k]) ? g->id : m->ccs.at[k]);
	}
}

/* --- the app --- */

static const struct node *
read_chain(struct app *p, const char *function)
{
	struct init *rd = p->rd;
	const struct source *json = rd->chain ? rd->chain(rd, p->src, function) : NULL;
	const struct node *root =
		json ? yaml_read(rd->a, rd->ds, json, (struct yaml_limits){ json->size, 16 }) :
		       NULL;
	const struct node *error = node_get(root, "error");
	struct span there = { .src = p->src };

	if (!rd->chain)
		diag_help(diag_at(rd->ds, E_INIT_INPUT, there,
				  "init reads a Modal app from a file only"),
			  "pass its path: `stackbuild init app.py`");
	if (!error)
		return root;
	if (*modal_text(node_get(root, "line")) &&
	    strcmp(modal_text(node_get(root, "line")), "0") != 0) {
		there.line = (uint32_t)number(node_get(root, "line"), p->lines.n);
		there.col = 1;
	}
	diag_help(diag_at(rd->ds, E_INIT_INPUT, there, "init cannot read this Modal app: %s",
			  modal_text(error)),
		  "%s",
		  node_get(root, "syntax") ?
			  "correct the line; if it has newer syntax, put that Python first in PATH "
			  "as `python3`" :
			  "pass the file that defines the image, or `APP.py::FUNCTION` to select "
			  "another function");
	return NULL;
}

static void
take_lists(struct app *p, const struct node *root)
{
	const struct node *left = node_get(root, "left"), *changed = node_get(root, "changed");

	for (size_t i = 0; modal_at(left, i); i++) {
		const struct node *n = modal_at(left, i);
		struct init_item *item = item_open(p->rd, modal_text(modal_at(n, 0)),
						   modal_place(p, modal_at(n, 1)));

		if (!strcmp(modal_text(modal_at(n, 3)), "true"))
			item_unread(p->rd, item, "add it to the recipe if the image needs it", "%s",
				    modal_text(modal_at(n, 2)));
		else
			item_leave(p->rd, item, "%s", modal_text(modal_at(n, 2)));
	}
	for (size_t i = 0; modal_at(changed, i); i++)
		item_changed(p->rd, modal_place(p, modal_at(modal_at(changed, i), 0)), "%s",
			     modal_text(modal_at(modal_at(changed, i), 1)));
}

/* Reports the calls that the end of a Dockerfile takes as part of its last instruction. */
static void
report_swallowed(struct app *p)
{
	list_each (o, &p->origins) {
		bool found = !o->what || !o->in.line;

		for (size_t i = 0; i < p->d.all.n && !found; i++)
			found = p->d.all.at[i].p == p->d.text + o->at;
		if (!found)
			item_unread(p->rd, item_open(p->rd, o->what, o->in), NULL,
				    "the Dockerfile before it ends inside an instruction");
	}
}

/* Reports an argument once that several calls share through a name. */
static void
report_once(struct app *p, size_t from)
{
	struct map seen = MAP(p->rd->a);

	for (size_t i = from; i < p->rd->items.n; i++) {
		struct init_item *item = p->rd->items.at[i];

		if (item->fate == INIT_LEFT &&
		    map_put(&seen,
			    arena_printf(p->rd->a, "%u:%u %s: %s", item->at.line, item->at.col,
					 item->what, item->why),
			    item))
			item->fate = INIT_PARTS;
	}
}

static bool
read_files(struct app *p)
{
	list_each (f, &p->files)
		if (!(f->project ? init_project(p->rd, f->src) : init_requirements(p->rd, f->src)))
			return false;
	return true;
}

bool
init_modal(struct init *rd, const struct source *src, const char *function,
	   const struct names *read)
{
	struct app p = { .rd = rd, .src = src, .read = read, .text = BUF(rd->a) };
	struct source *made = arena_new_of(rd->a, struct source); /* diagnostics point into it */
	const struct node *root, *all;
	unsigned before = rd->ds->errors;
	size_t from = rd->items.n;

	list_push(rd->a, &p.lines, 0);
	for (size_t i = 0; i < src->size; i++)
		if (src->text[i] == '\n')
			list_push(rd->a, &p.lines, i + 1);
	*made = (struct source){ .path = src->path };
	p.d = (struct docker){ .rd = rd, .src = made, .escape = '\\', .vars = MAP(rd->a) };
	p.d.origins = &p.origins;
	root = read_chain(&p, function);
	if (!root)
		return false;
	all = node_get(root, "calls");
	for (size_t i = 0; modal_at(all, i) && rd->ds->errors == before; i++)
		modal_add_call(&p, modal_at(all, i));
	made->text = buf_text(&p.text);
	made->size = p.text.n;
	if (rd->ds->errors != before || !docker_items(&p.d, from))
		return false;
	report_swallowed(&p);
	if (modal_at(node_get(root, "app"), 0))
		item_set(rd, "App", modal_place(&p, modal_at(node_get(root, "app"), 1)),
			 "modal.app", modal_text(modal_at(node_get(root, "app"), 0)));
	if (modal_at(node_get(root, "builder"), 0))
		item_set(rd, "MODAL_IMAGE_BUILDER_VERSION",
			 modal_place(&p, modal_at(node_get(root, "builder"), 1)), "modal.builder",
			 modal_text(modal_at(node_get(root, "builder"), 0)));
	take_function(&p, node_get(root, "function"));
	take_gpus(&p);
	take_lists(&p, root);
	report_once(&p, from);
	items_report(rd, from);
	if (rd->ds->errors == before)
		docker_check(&p.d, from);
	return rd->ds->errors == before && read_files(&p);
}

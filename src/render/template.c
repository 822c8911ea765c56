#include <string.h>

#include "base/list.h"
#include "template_tree.h"

/* What a name of a shape holds; items is NULL until the first one. */
struct value {
	const char *text;
	struct span at;
	bool on;
	struct items LIST(struct scope *) items;
};

struct scope {
	struct arena *a;
	const struct shape *shape; /* NULL: an item that is a plain text */
	struct value *values;      /* one a row of shape; or the one plain text */
	const char *mark;
};

/* --- setting values --- */

struct scope *
scope_new(struct arena *a, const struct shape *shape)
{
	struct scope *s = arena_new_of(a, struct scope);
	size_t n = 0;

	while (shape && shape[n].name)
		n++;
	s->a = a;
	s->shape = shape;
	s->values = arena_array_of(a, struct value, n ? n : 1);
	return s;
}

static struct value *
value_of(struct scope *s, const char *name, enum value_kind kind)
{
	for (size_t i = 0; s->shape && s->shape[i].name; i++)
		if (!strcmp(s->shape[i].name, name) && s->shape[i].kind == kind)
			return &s->values[i];
	BUG("no `%s` of that kind in the shape", name);
}

void
scope_text(struct scope *s, const char *name, const char *text, struct span at)
{
	struct value *v = value_of(s, name, VALUE_TEXT);

	v->text = text;
	v->at = at;
}

void
scope_flag(struct scope *s, const char *name, bool on)
{
	value_of(s, name, VALUE_FLAG)->on = on;
}

void
scope_code(struct scope *s, const char *name, const char *code)
{
	value_of(s, name, VALUE_CODE)->text = code;
}

void
scope_mark(struct scope *s, const char *what)
{
	s->mark = what;
}

static struct scope *
add_item(struct scope *s, const char *name)
{
	const struct shape *row = s->shape;
	struct value *v = value_of(s, name, VALUE_LIST);

	while (strcmp(row->name, name))
		row++;
	list_push(s->a, &v->items, scope_new(s->a, row->items));
	return v->items.at[v->items.n - 1];
}

struct scope *
scope_item(struct scope *s, const char *name)
{
	struct scope *item = add_item(s, name);

	if (!item->shape)
		BUG("the items of `%s` are plain texts", name);
	return item;
}

void
scope_item_text(struct scope *s, const char *name, const char *text, struct span at)
{
	struct scope *item = add_item(s, name);

	if (item->shape)
		BUG("the items of `%s` have names", name);
	item->values[0].text = text;
	item->values[0].at = at;
}

/* --- expanding --- */

/* An item of an open list, or at the bottom the target's own values. */
struct frame {
	const struct frame *outer;
	const struct scope *values;
	bool first, last;
};

struct expansion {
	struct diags *ds;
	enum language language;
	struct buf *out;
	size_t work, errors;
	struct template_marks *marks; /* or NULL */
};

/* Pieces written: lists inside lists multiply, and a template may come from anyone. */
enum { WORK_MAX = 20 * 1000 * 1000, OUT_MAX = 64 * 1024 * 1024 };

static const struct frame *
frame_of(const struct piece *p, const struct frame *f)
{
	for (unsigned i = 0; i < p->up; i++)
		f = f->outer;
	return f;
}

static const struct value *
find_value(const struct piece *p, const struct frame *f)
{
	return &frame_of(p, f)->values->values[p->row == ROW_ITEM ? 0 : p->row];
}

static bool
is_there(const struct piece *p, const struct frame *f)
{
	if (p->row == ROW_FIRST)
		return f->first;
	if (p->row == ROW_LAST)
		return f->last;
	switch (p->value) {
	case VALUE_FLAG: return find_value(p, f)->on;
	case VALUE_LIST: return find_value(p, f)->items.n;
	default: return find_value(p, f)->text && *find_value(p, f)->text;
	}
}

static void
not_there(struct expansion *e, const struct piece *p)
{
	e->errors++;
	diag_help(diag_at(e->ds, E_TEMPLATE_NAME, p->at, "this recipe gives no `%s`", p->name),
		  "put it into a section: {{#%s}} ... {{/%s}}", p->name, p->name);
}

static void
expand_value(struct expansion *e, const struct piece *p, const struct frame *f)
{
	const struct value *v = find_value(p, f);
	const char *why;

	if (!v->text) {
		not_there(e, p);
		return;
	}
	if (quote(e->out, p->quoting, e->language, v->text, &why))
		return;
	e->errors++;
	diag_note(diag_why(diag_at(e->ds, E_UNQUOTABLE, v->at.line ? v->at : p->at,
				   "`%s` cannot be written as `%s`", v->text,
				   quoting_name(p->quoting)),
			   "%s", why),
		  p->at, "the template inserts it here");
}

static void
expand_code(struct expansion *e, const struct piece *p, const struct frame *f)
{
	const char *text = find_value(p, f)->text;

	if (!text) {
		not_there(e, p);
		return;
	}
	for (const char *nl; (nl = strchr(text, '\n')); text = nl + 1) {
		buf_add(e->out, text, (size_t)(nl + 1 - text));
		if (nl[1] != '\n' && nl[1])
			buf_add(e->out, p->text.p, p->text.n);
	}
	buf_puts(e->out, text);
}

static void expand(struct expansion *e, const struct piece *pieces, size_t n,
		   const struct frame *f);

static void
expand_list(struct expansion *e, const struct piece *p, const struct frame *f)
{
	const struct value *v = find_value(p, f);

	for (size_t i = 0; i < v->items.n; i++) {
		struct frame inner = { .outer = f, .values = v->items.at[i] };

		inner.first = i == 0;
		inner.last = i + 1 == v->items.n;
		expand(e, p->body, p->nbody, &inner);
	}
}

static void
expand_word(struct expansion *e, const struct piece *p, const struct frame *f)
{
	while (f && !f->values->mark)
		f = f->outer;
	if (e->marks)
		list_push(e->out->a, e->marks,
			  (struct template_mark){ p->name, f ? f->values->mark : NULL, e->out->n });
	buf_puts(e->out, p->name);
}

static void
expand(struct expansion *e, const struct piece *pieces, size_t n, const struct frame *f)
{
	e->work += n + 1;
	if (e->work > WORK_MAX || e->out->n > OUT_MAX)
		return;
	for (size_t i = 0; i < n; i++) {
		const struct piece *p = &pieces[i];

		switch (p->kind) {
		case PIECE_TEXT: buf_add(e->out, p->text.p, p->text.n); break;
		case PIECE_WORD: expand_word(e, p, f); break;
		case PIECE_VALUE: expand_value(e, p, f); break;
		case PIECE_CODE: expand_code(e, p, f); break;
		case PIECE_SECTION:
			if (p->value == VALUE_LIST)
				expand_list(e, p, f);
			else if (is_there(p, f))
				expand(e, p->body, p->nbody, f);
			break;
		case PIECE_INVERTED:
			if (!is_there(p, f))
				expand(e, p->body, p->nbody, f);
			break;
		}
	}
}

bool
template_fill(struct diags *ds, const struct template *t, enum language language,
	      const struct scope *values, struct buf *out, struct template_marks *marks)
{
	struct expansion e = { .ds = ds, .language = language, .out = out, .marks = marks };
	struct frame bottom = { .values = values };

	expand(&e, t->pieces, t->n, &bottom);
	if (e.work > WORK_MAX || out->n > OUT_MAX) {
		diag_at(ds, E_TEMPLATE_SYNTAX, (struct span){ .src = t->src },
			"the result is too large: lists inside lists multiply");
		return false;
	}
	return !e.errors;
}

bool
template_expand(struct diags *ds, const struct templates *t, const char *name,
		enum language language, const struct scope *values, struct buf *out)
{
	return template_expand_marked(ds, t, name, language, values, out, NULL);
}

bool
template_expand_marked(struct diags *ds, const struct templates *t, const char *name,
		       enum language language, const struct scope *values, struct buf *out,
		       struct template_marks *marks)
{
	const struct template *tree = templates_parsed(t, name);

	if (!tree) {
		tree = template_parse(templates_arena(t), ds, templates_text(t, name), language,
				      values->shape);
		if (!tree)
			return false;
		templates_remember(t, name, tree);
	}
	return template_fill(ds, tree, language, values, out, marks);
}

#include "target.h"

#include <string.h>

const struct shape target_pair_shape[] = {
	{ "name", VALUE_TEXT, "its name", 0 },
	{ "value", VALUE_TEXT, "its value", 0 },
	{ 0 },
};

/* --- setting values --- */

struct scope *
scope_new(struct arena *a, const struct shape *shape)
{
	struct scope *s = arena_new_of(a, struct scope);
	size_t n = 0;

	while (shape && shape[n].name)
		n++;
	*s = (struct scope){ a, shape, arena_array_of(a, struct value, n ? n : 1), NULL };
	return s;
}

static size_t
row_of(const struct scope *s, const char *name, enum value_kind kind)
{
	for (size_t i = 0; s->shape && s->shape[i].name; i++)
		if (!strcmp(s->shape[i].name, name) && s->shape[i].kind == kind)
			return i;
	BUG("no `%s` of that kind in the shape", name);
}

void
scope_text(struct scope *s, const char *name, const char *text, struct span at)
{
	s->values[row_of(s, name, VALUE_TEXT)] = (struct value){ .text = text, .at = at };
}

void
scope_flag(struct scope *s, const char *name, bool on)
{
	s->values[row_of(s, name, VALUE_FLAG)].on = on;
}

void
scope_code(struct scope *s, const char *name, const char *code)
{
	s->values[row_of(s, name, VALUE_CODE)].text = code;
}

void
scope_mark(struct scope *s, const char *what)
{
	s->mark = what;
}

struct scope *
scope_item(struct scope *s, const char *name)
{
	size_t row = row_of(s, name, VALUE_LIST);
	struct scope *item = scope_new(s->a, s->shape[row].items);

	list_push(s->a, &s->values[row].items, item);
	return item;
}

void
scope_item_text(struct scope *s, const char *name, const char *text, struct span at)
{
	scope_item(s, name)->values[0] = (struct value){ .text = text, .at = at };
}

/* --- the head of a file --- */

const char *
target_title(struct arena *a, const struct plan *p, const char *where)
{
	const struct stack *s = p->stack;
	struct buf b = BUF(a);

	buf_printf(&b, "%s: ", p->name);
	if (s->torch.value)
		buf_printf(&b, "torch %s%s%s%s, ", s->torch.value, s->torch_tag ? " (" : "",
			   s->torch_tag ? s->torch_tag : "", s->torch_tag ? ")" : "");
	if (s->python.value)
		buf_printf(&b, "Python %s, ", s->python.value);
	for (size_t i = 0; i < s->extensions.n; i++) {
		const struct stack_extension *e = &s->extensions.at[i];

		buf_printf(&b, "%s%s%s, ", e->name, e->version ? " " : "",
			   e->version ? e->version : "");
	}
	buf_puts(&b, where);
	for (size_t i = 0; s->extensions.n && i < s->archs.n; i++)
		buf_printf(&b, "%s%s", i ? ", " : "; compiled for compute capability ",
			   s->archs.at[i].value);
	return buf_text(&b);
}

void
target_lines(struct arena *a, struct scope *out, const char *list, const char *text)
{
	enum { WIDTH = 100 };
	static const struct span nowhere;

	while (*text) {
		size_t n = strlen(text), cut = n > WIDTH ? WIDTH : n;

		while (cut < n && cut > 0 && text[cut] != ' ')
			cut--;
		cut = cut ? cut : n;
		scope_item_text(out, list, arena_copy(a, text, cut), nowhere);
		text += cut + strspn(text + cut, " ");
	}
}

bool
target_expand(struct arena *a, struct diags *ds, const struct templates *t, enum language language,
	      const struct scope *values, struct rendered r, struct rendereds *out)
{
	struct buf text = BUF(a);

	if (!template_expand(ds, templates_text(t, r.path), language, values, &text, NULL))
		return false;
	r.text = buf_text(&text);
	r.size = text.n;
	list_push(a, out, r);
	return true;
}

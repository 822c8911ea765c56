#include "target.h"

#include <string.h>

const struct shape target_pair_shape[] = {
	{ "name", VALUE_TEXT, "its name", 0 },
	{ "value", VALUE_TEXT, "its value", 0 },
	{ 0 },
};

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

	if (!template_expand(ds, t, r.path, language, values, &text))
		return false;
	r.text = buf_text(&text);
	r.size = text.n;
	list_push(a, out, r);
	return true;
}

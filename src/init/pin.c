#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "draft.h"

/* What the stack says, written down: every open choice becomes a pin with its reason. */

static void
differs(struct reader *rd, const struct draft *d, struct span at, const char *what, const char *was,
	const char *is, const char *why)
{
	if (d->repaired)
		return;
	wish_changed(rd, at, "%s%s became %s%s%s", what, was, is, why ? ": " : "", why ? why : "");
}

static void
pin_base(struct reader *rd, struct draft *d, const struct stack *s)
{
	struct init *n = &d->n;

	if (n->base.s && s->base.value && strcmp(n->base.s, s->base.value) != 0)
		differs(rd, d, n->base.at, "base ", n->base.s, s->base.value, s->base.reason);
	if (!n->base.s)
		d->base_why = s->base.reason;
	if (s->base.value)
		n->base.s = s->base.value;
	if (n->base.s)
		n->cuda = (struct text){ 0 };
	if (n->python.s && s->python.value && strcmp(n->python.s, s->python.value) != 0)
		differs(rd, d, n->python.at, "python ", n->python.s, s->python.value,
			s->python.reason);
	if (!n->python.s)
		d->python_why = s->python.reason;
	if (s->python.value)
		n->python.s = s->python.value;
}

static void
pin_with(struct reader *rd, struct draft *d, const struct torch_release *r)
{
	for (size_t i = 0; r && i < d->n.with.n; i++) {
		struct init_item *w = &d->n.with.at[i];
		const char *pair = !strcmp(w->key, "torchvision") ? r->torchvision : r->torchaudio;
		const char *text = pair ? arena_printf(rd->a, "%s==%s", w->key, pair) : NULL;

		if (!w->text || !text || !strcmp(text, w->text))
			continue;
		w->comment = arena_printf(rd->a, "the one release that was built for torch %s",
					  r->version);
		if (strstr(w->text, "=="))
			differs(rd, d, w->at, "", w->text, text, w->comment);
		w->text = text;
	}
}

static void
pin_torch(struct reader *rd, struct draft *d, const struct stack *s)
{
	struct init *n = &d->n;

	if (!s->torch.value)
		return;
	if (n->torch.s && !strcmp(n->torch.s, "*"))
		d->torch_why = s->torch.reason;
	else if (n->torch.s && strcmp(n->torch.s, s->torch.value) != 0)
		differs(rd, d, n->torch.at, "torch ", n->torch.s, s->torch.value, s->torch.reason);
	n->torch.s = s->torch.value;
	if (n->index.s && s->torch_tag && !strstr(n->index.s, "://") &&
	    strcmp(n->index.s, "pypi") != 0 && strcmp(n->index.s, s->torch_tag) != 0)
		differs(rd, d, n->index.at, "index ", n->index.s, s->torch_tag,
			s->torch_index.reason);
	if (!n->index.s && s->torch_variant) {
		n->index.s = s->torch_variant->index ? s->torch_tag : "pypi";
		d->index_why = s->torch_index.reason;
	} else if (n->index.s && !strstr(n->index.s, "://") && s->torch_tag &&
		   strcmp(n->index.s, "pypi") != 0) {
		n->index.s = s->torch_tag;
	}
	pin_with(rd, d, s->torch_release);
}

static void
pin_extension(struct reader *rd, const struct draft *d, struct init_item *item,
	      const struct stack_extension *e)
{
	const char *spec = e->version ? arena_printf(rd->a, "==%s", e->version) : NULL;
	const struct specifiers *asked = specifiers_parse(rd->a, item->spec);
	bool pinned = asked && specifiers_pin(asked);

	if (item->git || strstr(item->text, " @ ") || !spec)
		return;
	item->comment = e->source == SOURCE_GIT ?
				arena_printf(rd->a, "from its git tag: %s", e->source_reason) :
				NULL;
	if (!strcmp(spec, item->spec))
		return;
	if (pinned && !version_cmp(specifiers_pin(asked), version_parse(rd->a, e->version)))
		return;
	if (pinned)
		differs(rd, d, item->at, item->key, item->spec, spec, NULL);
	else
		wish_changed(rd, item->at, "`%s%s` became %s, the newest that goes with the rest",
			     item->text, item->spec, spec + 2);
	item->spec = spec;
}

static void
pin_extensions(struct reader *rd, struct draft *d, const struct stack *s)
{
	for (size_t i = 0; i < d->n.extensions.n; i++)
		for (size_t k = 0; k < s->extensions.n; k++)
			if (d->n.extensions.at[i].text &&
			    !strcmp(d->n.extensions.at[i].key, s->extensions.at[k].asked->key))
				pin_extension(rd, d, &d->n.extensions.at[i], &s->extensions.at[k]);
}

static void
pin_packages(struct reader *rd, struct draft *d, const struct stack *s)
{
	struct init_items *list = &d->n.packages;
	bool numpy = false;

	for (size_t i = 0; i < list->n; i++) {
		struct init_item *p = &list->at[i];

		if (!p->text)
			continue;
		numpy |= !strcmp(p->key, "numpy");
		for (size_t k = 0; k < s->packages.n; k++) {
			const struct stack_package *q = &s->packages.at[k];

			if (!q->given || strcmp(q->key, p->key) != 0 ||
			    !strcmp(q->requirement, p->text))
				continue;
			differs(rd, d, p->at, "", p->text, q->requirement, q->reason);
			p->text = q->requirement;
		}
		if (!strcmp(p->key, "numpy") && s->numpy.value && !s->numpy.given) {
			wish_changed(rd, p->at, "`%s` became `%s`: %s", p->text, s->numpy.value,
				     s->numpy.reason);
			p->text = s->numpy.value;
			p->comment = s->numpy.reason;
		}
	}
	if (!numpy && s->numpy.value && !s->numpy.given && s->torch.value)
		list_push(rd->a, list,
			  (struct init_item){ .key = "numpy",
					      .text = s->numpy.value,
					      .spec = "",
					      .comment = s->numpy.reason });
}

/* "torch222-cu121": what it is known by. */
static const char *
name_of(struct arena *a, const struct stack *s)
{
	struct buf b = BUF(a);

	if (!s->torch.value)
		return "stack";
	buf_puts(&b, "torch");
	for (const char *p = s->torch.value; *p && *p != '+'; p++)
		if (is_alnum(*p))
			buf_putc(&b, *p);
	if (s->torch_tag)
		buf_printf(&b, "-%s", s->torch_tag);
	return buf_text(&b);
}

void
draft_pin(struct reader *rd, struct draft *d, const struct stack *s)
{
	pin_base(rd, d, s);
	pin_torch(rd, d, s);
	pin_extensions(rd, d, s);
	pin_packages(rd, d, s);
	if (d->unnamed)
		d->n.name.s = name_of(rd->a, s);
}

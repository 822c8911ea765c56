#include "template.h"

#include <string.h>

#include "base/embed.h"
#include "base/str.h"

/*
 * Two passes read a template. The first one has no values and checks everything, even sections that
 * this recipe does not use. The second one reads the body of a list once for each item, and skips
 * unused sections.
 */
struct expansion {
	struct diags *ds;
	const struct source *src;
	enum language language;
	struct buf *out;
	struct template_marks *marks; /* or NULL */
	bool checking;
	const char *p, *end;
	const char *silent_to; /* blanks and line ends before this byte are omitted */
	const char *marked;    /* the byte at line and col */
	uint32_t line, col;
	unsigned depth, unknown; /* open sections: all, and those with an unknown name */
	unsigned errors;         /* errors of ds before the template */
	size_t work;             /* bytes read */
};

/* Lists inside lists multiply, and a template may come from anyone. */
enum { WORK_MAX = 400 * 1000 * 1000, OUT_MAX = 64 * 1024 * 1024, FAULTS_MAX = 20 };

/* An item of an open list; at the bottom, the target's own values. */
struct frame {
	const struct frame *outer;
	const struct shape *list;  /* the list's row; NULL: the bottom */
	const struct shape *shape; /* the item's names; NULL: a plain text */
	const struct scope *scope; /* NULL: the section is skipped, or only checked */
	struct value first, last;
};

/* An unparsed tag. */
struct tag {
	char sign; /* '#', '^', '/', '!' or '@'; 0: a value */
	struct str name, quoting;
	bool quoted; /* it has a | */
	const char *start;
};

/* Returns a place. Callers mostly request places in the order of the text, so one pass is
 * enough. */
static struct span
place(struct expansion *e, struct str s)
{
	const char *nl = memchr(s.p, '\n', s.n);
	uint32_t width = (uint32_t)text_columns(s.p, nl ? (size_t)(nl - s.p) : s.n);

	if (s.p < e->marked) {
		e->marked = e->src->text;
		e->line = e->col = 1;
	}
	e->work += (size_t)(s.p - e->marked);
	for (; e->marked < s.p; e->marked++) {
		if (*e->marked == '\n') {
			e->line++;
			e->col = 1;
		} else {
			e->col += starts_character(*e->marked);
		}
	}
	return (struct span){ e->src, e->line, e->col, width ? width : 1 };
}

static struct str
trim(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	while (p < end && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return (struct str){ p, (size_t)(end - p) };
}

static const char *
text_of(struct expansion *e, struct str s)
{
	return arena_copy(e->out->a, s.p, s.n);
}

static bool
is_name(struct str s)
{
	if (str_is(s, "."))
		return true;
	for (size_t i = 0; i < s.n; i++)
		if (!is_alpha(s.p[i]) && !(i && (is_digit(s.p[i]) || s.p[i] == '_')))
			return false;
	return s.n > 0;
}

static bool
follows(const struct expansion *e, const char *what)
{
	return (size_t)(e->end - e->p) >= strlen(what) && !memcmp(e->p, what, strlen(what));
}

static const char *
tag_end(const char *p, const char *end)
{
	while (p < end && (p = memchr(p, '}', (size_t)(end - p))) && (p + 1 == end || p[1] != '}'))
		p++;
	return p && p < end ? p : NULL;
}

/* Reads the tag whose "{{" is at e->p.  False: it is not closed, or has no name. */
static bool
read_tag(struct expansion *e, struct tag *t)
{
	const char *p = e->p + 2, *close = tag_end(p, e->end), *bar;

	*t = (struct tag){ .start = e->p };
	if (!close) {
		diag_at(e->ds, E_TEMPLATE_SYNTAX, place(e, (struct str){ e->p, 2 }),
			"the tag is not closed");
		e->p = e->end;
		return false;
	}
	e->work += (size_t)(close - p);
	e->p = close + 2;
	if (p < close && strchr("#^/!@", *p))
		t->sign = *p++;
	if (t->sign == '!')
		return true;
	bar = t->sign ? NULL : memchr(p, '|', (size_t)(close - p));
	t->name = trim(p, bar ? bar : close);
	t->quoted = bar;
	if (bar)
		t->quoting = trim(bar + 1, close);
	if (!t->name.n)
		t->name.p = t->start;
	if (is_name(t->name))
		return true;
	diag_help(diag_at(e->ds, E_TEMPLATE_SYNTAX, place(e, t->name), "`%s` is not a name",
			  text_of(e, t->name)),
		  "names are letters, digits and _; a literal `{{` is written `{{{{`");
	return false;
}

/* --- names --- */

/* Returns the row of a name, from the innermost item outwards; or NULL. */
static const struct shape *
find_name(const struct frame *f, struct str name, const struct value **value)
{
	/* Implicit names of the innermost item; "." only for a plain text. */
	static const struct shape implied[] = {
		{ "first", VALUE_FLAG, 0, 0 },
		{ "last", VALUE_FLAG, 0, 0 },
		{ ".", VALUE_TEXT, 0, 0 },
	};

	for (const struct frame *g = f; g; g = g->outer)
		for (const struct shape *row = g->shape; row && row->name; row++)
			if (str_is(name, row->name)) {
				*value = g->scope ? &g->scope->values[row - g->shape] : NULL;
				return row;
			}
	for (size_t i = 0; f->list && i < (f->shape ? 2 : 3); i++)
		if (str_is(name, implied[i].name)) {
			*value = i == 0 ? &f->first : i == 1 ? &f->last : NULL;
			if (i == 2 && f->scope)
				*value = f->scope->values;
			return &implied[i];
		}
	return NULL;
}

/* Reports an unknown name; returns NULL also for a tag without a row, such as a remark. */
static const struct shape *
look_up(struct expansion *e, const struct frame *f, const struct tag *t, bool write,
	const struct value **value)
{
	const struct shape *row = write || e->checking ? find_name(f, t->name, value) : NULL;
	const char *name, *near;
	struct names known = { 0 };
	struct diag *d;

	if (row || !e->checking || e->unknown)
		return row;
	name = text_of(e, t->name);
	d = diag_at(e->ds, E_TEMPLATE_NAME, place(e, t->name),
		    "there is no name `%s` in this place", name);
	for (; f; f = f->outer)
		for (row = f->shape; row && row->name; row++)
			list_push(e->out->a, &known, row->name);
	near = str_nearest(name, known.at, known.n);
	if (near)
		diag_fix(d, d->at, near, "did you mean `%s`?", near);
	else
		diag_help(d, "the built-in template has all names");
	return NULL;
}

static bool
is_there(const struct shape *row, const struct value *v)
{
	switch (row->kind) {
	case VALUE_FLAG: return v->on;
	case VALUE_LIST: return v->items.n;
	default: return v->text && *v->text;
	}
}

/* --- values --- */

static const char *
quotings_for(struct expansion *e)
{
	struct buf b = BUF(e->out->a);

	for (enum quoting q = 0; q < QUOTINGS; q++)
		if (quoting_fits(q, e->language))
			buf_printf(&b, "%s%s", b.n ? ", " : "", quoting_name(q));
	return buf_text(&b);
}

static void
check_value(struct expansion *e, const struct tag *t, const struct shape *row)
{
	enum quoting q = quoting_named(t->quoting);
	struct str at = t->quoted ? t->quoting : t->name;
	const char *text = NULL, *help = NULL, *name = text_of(e, t->name);
	struct arena *a = e->out->a;

	if (row->kind == VALUE_LIST || row->kind == VALUE_FLAG) {
		text = arena_printf(a, "`%s` is not a text", name);
		help = arena_printf(a, "open a section: {{#%s}} ... {{/%s}}", name, name);
		at = t->name;
	} else if (row->kind == VALUE_CODE && !str_is(t->quoting, "code")) {
		text = arena_printf(a, "`%s` is already quoted", name);
		help = arena_printf(a, "write {{%s|code}}", name);
	} else if (row->kind == VALUE_TEXT && !t->quoted) {
		text = arena_printf(a, "`%s` is inserted without quoting", name);
		help = arena_printf(a, "add the quoting: {{%s|...}} with one of %s", name,
				    quotings_for(e));
	} else if (row->kind == VALUE_TEXT && (q == QUOTINGS || !quoting_fits(q, e->language))) {
		text = arena_printf(a, "this kind of file has no quoting `%s`",
				    text_of(e, t->quoting));
		help = arena_printf(a, "use one of %s", quotings_for(e));
	}
	if (text)
		diag_help(diag_at(e->ds, E_TEMPLATE_QUOTING, place(e, at), "%s", text), "%s", help);
}

/* Adds code. If its tag is alone on a line, the blanks before it precede every line of the code. */
static void
add_code(struct expansion *e, const struct tag *t, const char *text)
{
	const char *line = t->start;
	size_t indent = 0;

	while (line > e->src->text && (line[-1] == ' ' || line[-1] == '\t'))
		line--;
	if ((line == e->src->text || line[-1] == '\n') && (e->p == e->end || *e->p == '\n'))
		indent = (size_t)(t->start - line);
	for (const char *nl; (nl = strchr(text, '\n')); text = nl + 1) {
		buf_add(e->out, text, (size_t)(nl + 1 - text));
		if (nl[1] != '\n' && nl[1])
			buf_add(e->out, line, indent);
	}
	buf_puts(e->out, text);
}

static void
add_value(struct expansion *e, const struct tag *t, const struct shape *row, const struct value *v)
{
	enum quoting q = quoting_named(t->quoting);
	const char *name, *why;

	if (!v->text) {
		name = text_of(e, t->name);
		diag_help(diag_at(e->ds, E_TEMPLATE_NAME, place(e, t->name),
				  "this recipe has no value for `%s`", name),
			  "move it into a section: {{#%s}} ... {{/%s}}", name, name);
	} else if (row->kind == VALUE_CODE) {
		add_code(e, t, v->text);
	} else if (!quote(e->out, q, e->language, v->text, &why)) {
		diag_note(diag_why(diag_at(e->ds, E_UNQUOTABLE,
					   v->at.line ? v->at : place(e, t->name),
					   "`%s` cannot be written as `%s`", v->text,
					   quoting_name(q)),
				   "%s", why),
			  place(e, t->name), "the template inserts it here");
	}
}

static void
add_word(struct expansion *e, const struct frame *f, struct str word)
{
	while (f && !f->scope->mark)
		f = f->outer;
	if (e->marks)
		list_push(e->out->a, e->marks,
			  (struct template_mark){ arena_copy(e->out->a, word.p, word.n),
						  f ? f->scope->mark : NULL, e->out->n });
	buf_add(e->out, word.p, word.n);
}

/* --- text and sections --- */

/* A line with only section tags, remarks and blanks is not in the result. */
static const char *
structure_line(const struct expansion *e)
{
	const char *p = e->p;
	bool any = false;

	if (p > e->src->text && p[-1] != '\n')
		return NULL;
	for (;;) {
		while (p < e->end && (*p == ' ' || *p == '\t'))
			p++;
		if (p == e->end || *p == '\n')
			return any ? p + (p < e->end) : NULL;
		if (e->end - p < 3 || p[0] != '{' || p[1] != '{' || !strchr("#^/!", p[2]))
			return NULL;
		p = tag_end(p, e->end);
		if (!p)
			return NULL;
		p += 2;
		any = true;
	}
}

/* Copies text up to the next tag, or up to the line of that tag if it may be a structure line. */
static void
add_text(struct expansion *e, bool write)
{
	const char *start = e->p, *p = start + 1, *line;
	size_t n = 2;

	if (follows(e, "{{{{")) {
		e->p += 4;
	} else {
		while (p < e->end && (p = memchr(p, '{', (size_t)(e->end - p))) && p + 1 < e->end &&
		       p[1] != '{')
			p += 2;
		p = p && p + 1 < e->end ? p : e->end;
		for (line = p; line > start && (line[-1] == ' ' || line[-1] == '\t');)
			line--;
		e->p = line > start && line[-1] == '\n' ? line : p;
		n = (size_t)(e->p - start);
	}
	e->work += (size_t)(e->p - start);
	if (write)
		buf_add(e->out, start, n);
}

static void walk(struct expansion *e, const struct frame *f, const struct tag *open, bool write);

static void
walk_list(struct expansion *e, const struct frame *f, const struct tag *t, const struct shape *row,
	  const struct scopes *items)
{
	struct frame item = { .outer = f, .list = row, .shape = row->items };
	const char *body = e->p, *silent_to = e->silent_to;

	for (const struct frame *g = f; e->checking && g; g = g->outer)
		if (g->list == row)
			diag_at(e->ds, E_TEMPLATE_SYNTAX, place(e, t->name), "`%s` is already open",
				row->name);
	if (!items || !items->n)
		walk(e, &item, t, false);
	for (size_t i = 0; items && i < items->n; i++) {
		item.scope = items->at[i];
		item.first.on = i == 0;
		item.last.on = i + 1 == items->n;
		e->p = body;
		e->silent_to = silent_to;
		walk(e, &item, t, true);
	}
}

static void
walk_section(struct expansion *e, const struct frame *f, const struct tag *t, bool write)
{
	const struct value *v = NULL;
	const struct shape *row;
	bool unknown;

	if (e->checking && e->depth == TEMPLATE_DEPTH_MAX) {
		diag_at(e->ds, E_TEMPLATE_SYNTAX, place(e, t->name),
			"sections are nested more than %d deep", TEMPLATE_DEPTH_MAX);
		e->p = e->end;
		return;
	}
	row = look_up(e, f, t, write, &v);
	unknown = e->checking && !row;
	e->unknown += unknown;
	e->depth++;
	if (row && row->kind == VALUE_LIST && t->sign == '#')
		walk_list(e, f, t, row, write ? &v->items : NULL);
	else
		walk(e, f, t, write && is_there(row, v) == (t->sign == '#'));
	e->depth--;
	e->unknown -= unknown;
}

static void
check_close(struct expansion *e, const struct tag *t, const struct tag *open)
{
	struct diag *d;

	if (open && str_eq(t->name, open->name))
		return;
	d = diag_at(e->ds, E_TEMPLATE_SYNTAX, place(e, t->name),
		    "`%s` is closed, but it is not the section that is open", text_of(e, t->name));
	if (open)
		diag_note(d, place(e, open->name), "`%s` was opened last", text_of(e, open->name));
	e->p = e->end;
}

/* Stops after too many errors: most of them follow from the first ones. */
static bool
is_full(struct expansion *e)
{
	if (e->ds->errors < e->errors + FAULTS_MAX)
		return false;
	if (e->ds->errors == e->errors + FAULTS_MAX)
		diag_at(e->ds, E_TEMPLATE_SYNTAX, (struct span){ .src = e->src },
			"%d errors found; the rest of the template was not checked", FAULTS_MAX);
	return true;
}

/* Expands everything up to the tag that closes the current section, or up to the end. */
static void
walk(struct expansion *e, const struct frame *f, const struct tag *open, bool write)
{
	while (e->p < e->end && e->work < WORK_MAX && e->out->n < OUT_MAX && !is_full(e)) {
		const char *structure = structure_line(e);
		const struct shape *row;
		const struct value *v;
		struct tag t;

		if (structure)
			e->silent_to = structure;
		if (!follows(e, "{{") || follows(e, "{{{{")) {
			if (e->p < e->silent_to)
				e->p++;
			else
				add_text(e, write);
		} else if (read_tag(e, &t)) {
			if (t.sign == '/') {
				check_close(e, &t, open);
				return;
			}
			if (t.sign == '#' || t.sign == '^')
				walk_section(e, f, &t, write);
			else if (t.sign == '@' && write)
				add_word(e, f, t.name);
			else if (!t.sign && (row = look_up(e, f, &t, write, &v)))
				write ? add_value(e, &t, row, v) : check_value(e, &t, row);
		}
	}
	if (open && e->ds->errors == e->errors && e->p == e->end)
		diag_at(e->ds, E_TEMPLATE_SYNTAX, place(e, open->name),
			"the section `%s` is not closed", text_of(e, open->name));
}

bool
template_expand(struct diags *ds, const struct source *src, enum language language,
		const struct scope *values, struct buf *out, struct template_marks *marks)
{
	struct expansion e = { .ds = ds,
			       .src = src,
			       .language = language,
			       .out = out,
			       .marks = marks,
			       .end = src->text + src->size,
			       .errors = ds->errors };
	struct frame bottom = { .shape = values->shape };

	if (src->size > TEMPLATE_BYTES_MAX) {
		diag_at(ds, E_TEMPLATE_SYNTAX, (struct span){ .src = src },
			"the template is larger than %d KiB", TEMPLATE_BYTES_MAX / 1024);
		return false;
	}
	/* A test checks the built-in templates, by passing each one as --templates. */
	for (int pass = embedded_of(src->text) != NULL; pass < 2 && ds->errors == e.errors;
	     pass++) {
		e.p = e.silent_to = e.marked = src->text;
		e.line = e.col = 1;
		e.checking = !pass;
		bottom.scope = pass ? values : NULL;
		walk(&e, &bottom, NULL, pass);
	}
	if (e.work >= WORK_MAX || out->n >= OUT_MAX)
		diag_at(ds, E_TEMPLATE_SYNTAX, (struct span){ .src = src },
			"the result is too large: nested lists multiply");
	return ds->errors == e.errors;
}

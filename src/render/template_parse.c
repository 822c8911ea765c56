#include <string.h>

#include "template_tree.h"

struct pieces LIST(struct piece);

/* A section that is open, and where it was opened. */
struct level {
	const char *name;
	struct span at;
};

struct parser {
	struct arena *a;
	struct diags *ds;
	const struct source *src;
	enum language language;
	const struct shape *shape;
	const char *p, *end;
	const char *silent_to; /* up to here blanks and the line's end are left out */
	const char *marked;    /* line and col are those of this byte */
	uint32_t line, col;
	struct level open[TEMPLATE_DEPTH_MAX];
	const struct shape *lists[TEMPLATE_DEPTH_MAX]; /* those of open that are lists */
	unsigned nopen, nlists, errors;
	unsigned unknown; /* sections open whose name is unknown: so are all in them */
};

/* A tag as it stands in the text, not yet understood. */
struct tag {
	char sign; /* '#', '^', '/', '!', '@', or 0: a value */
	struct str name, quoting;
	bool quoted; /* a | was written */
	struct span at;
	const char *after;
};

/* Places are asked for in the order of the text, so it is walked once. */
static struct span
place(struct parser *ps, const char *p, size_t n)
{
	uint32_t width = 0;

	if (p < ps->marked) {
		ps->marked = ps->src->text;
		ps->line = ps->col = 1;
	}
	for (; ps->marked < p; ps->marked++) {
		if (*ps->marked == '\n') {
			ps->line++;
			ps->col = 1;
		} else if ((*ps->marked & 0xc0) != 0x80) {
			ps->col++;
		}
	}
	for (size_t i = 0; i < n && p[i] != '\n'; i++)
		width += (p[i] & 0xc0) != 0x80;
	return (struct span){ ps->src, ps->line, ps->col, width ? width : 1 };
}

static struct diag *
fail(struct parser *ps, enum code code, struct span at, const char *text)
{
	ps->errors++;
	return diag_at(ps->ds, code, at, "%s", text);
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
text_of(struct parser *ps, struct str s)
{
	return arena_copy(ps->a, s.p, s.n);
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

static const char *
find(const char *p, const char *end, const char *what)
{
	return memmem(p, (size_t)(end - p), what, strlen(what));
}

/* The tag whose "{{" is at ps->p.  False: not closed, or no name in it. */
static bool
read_tag(struct parser *ps, struct tag *t)
{
	const char *start = ps->p + 2, *close = find(start, ps->end, "}}"), *bar;

	*t = (struct tag){ 0 };
	if (!close) {
		fail(ps, E_TEMPLATE_SYNTAX, place(ps, ps->p, 2), "the tag is not closed");
		ps->p = ps->end;
		return false;
	}
	t->after = close + 2;
	if (start < close && strchr("#^/!@", *start))
		t->sign = *start++;
	if (t->sign == '!')
		return true;
	bar = t->sign ? NULL : memchr(start, '|', (size_t)(close - start));
	t->name = trim(start, bar ? bar : close);
	t->quoted = bar;
	if (bar)
		t->quoting = trim(bar + 1, close);
	t->at = place(ps, t->name.n ? t->name.p : ps->p, t->name.n);
	if (is_name(t->name))
		return true;
	diag_help(fail(ps, E_TEMPLATE_SYNTAX, t->at,
		       arena_printf(ps->a, "`%s` is not a name", text_of(ps, t->name))),
		  "names are letters, digits and _; a literal `{{` is written `{{{{`");
	ps->p = t->after;
	return false;
}

/* --- names --- */

/* The names that the list `up` levels outwards gives; past the outermost: the target's. */
static const struct shape *
shape_at(const struct parser *ps, unsigned up)
{
	return up < ps->nlists ? ps->lists[ps->nlists - 1 - up]->items : ps->shape;
}

static int
row_of(const struct shape *shape, struct str name)
{
	for (int i = 0; shape && shape[i].name; i++)
		if (str_is(name, shape[i].name))
			return i;
	return -1;
}

/* What the innermost item has without its shape saying so. */
static bool
find_implied(const struct parser *ps, struct str name, struct piece *out)
{
	if (!ps->nlists)
		return false;
	out->up = 0;
	out->value = VALUE_FLAG;
	if (str_is(name, "first"))
		out->row = ROW_FIRST;
	else if (str_is(name, "last"))
		out->row = ROW_LAST;
	else if (str_is(name, ".") && !shape_at(ps, 0)) {
		out->row = ROW_ITEM;
		out->value = VALUE_TEXT;
	} else {
		return false;
	}
	return true;
}

static void
unknown_name(struct parser *ps, const struct piece *v)
{
	struct names known = { 0 };
	const char *near;
	struct diag *d;

	if (ps->unknown)
		return;
	d = fail(ps, E_TEMPLATE_NAME, v->at,
		 arena_printf(ps->a, "there is no `%s` to insert here", v->name));

	for (unsigned up = 0; up <= ps->nlists; up++)
		for (const struct shape *row = shape_at(ps, up); row && row->name; row++)
			list_push(ps->a, &known, row->name);
	near = str_nearest(v->name, known.at, known.n);
	if (near)
		diag_fix(d, v->at, near, "did you mean `%s`?", near);
	else
		diag_help(d, "look up the names in the template that is built in");
}

static bool
resolve_name(struct parser *ps, const struct tag *t, struct piece *out)
{
	out->name = text_of(ps, t->name);
	out->at = t->at;
	for (out->up = 0; out->up <= ps->nlists; out->up++) {
		out->row = row_of(shape_at(ps, out->up), t->name);
		if (out->row >= 0) {
			out->value = shape_at(ps, out->up)[out->row].kind;
			return true;
		}
	}
	return find_implied(ps, t->name, out) || (unknown_name(ps, out), false);
}

/* --- values --- */

static const char *
quotings_for(struct parser *ps)
{
	struct buf b = BUF(ps->a);

	for (enum quoting q = 0; q < QUOTINGS; q++)
		if (quoting_fits(q, ps->language))
			buf_printf(&b, "%s%s", b.n ? ", " : "", quoting_name(q));
	return buf_text(&b);
}

static void
check_value(struct parser *ps, const struct tag *t, struct piece *v)
{
	const char *name = v->name;
	struct span at = t->quoted ? place(ps, t->quoting.p, t->quoting.n) : t->at;
	const char *text = NULL, *help = NULL;

	if (v->value == VALUE_LIST || v->value == VALUE_FLAG) {
		text = arena_printf(ps->a, "`%s` is no text", name);
		help = arena_printf(ps->a, "open a section: {{#%s}} ... {{/%s}}", name, name);
		at = t->at;
	} else if (v->value == VALUE_CODE && !str_is(t->quoting, "code")) {
		text = arena_printf(ps->a, "`%s` is made of quoted parts already", name);
		help = arena_printf(ps->a, "write {{%s|code}}", name);
	} else if (v->value == VALUE_TEXT && !t->quoted) {
		text = arena_printf(ps->a, "`%s` is inserted without a quoting", name);
		help = arena_printf(ps->a, "say where it stands: {{%s|...}} with one of %s", name,
				    quotings_for(ps));
	} else if (v->value == VALUE_TEXT) {
		v->quoting = quoting_named(text_of(ps, t->quoting));
		if (v->quoting == QUOTINGS || !quoting_fits(v->quoting, ps->language)) {
			text = arena_printf(ps->a, "`%s` is not a quoting of this kind of file",
					    text_of(ps, t->quoting));
			help = arena_printf(ps->a, "use one of %s", quotings_for(ps));
		}
	}
	if (text)
		diag_help(fail(ps, E_TEMPLATE_QUOTING, at, text), "%s", help);
	v->kind = v->value == VALUE_CODE ? PIECE_CODE : PIECE_VALUE;
}

/* --- text and sections --- */

/*
 * The end of a line that holds nothing but section tags, remarks and blanks: it is
 * there for the reader of the template and leaves nothing in the result.
 */
static const char *
structure_line(const struct parser *ps)
{
	const char *p = ps->p;
	bool any = false;

	if (p > ps->src->text && p[-1] != '\n')
		return NULL;
	for (;;) {
		while (p < ps->end && (*p == ' ' || *p == '\t'))
			p++;
		if (p == ps->end || *p == '\n')
			return any ? p + (p < ps->end) : NULL;
		if (ps->end - p < 3 || p[0] != '{' || p[1] != '{' || !strchr("#^/!", p[2]))
			return NULL;
		p = find(p, ps->end, "}}");
		if (!p)
			return NULL;
		p += 2;
		any = true;
	}
}

/* Blanks between the line's start and a tag that is followed by the line's end. */
static struct str
indentation(const struct parser *ps, const char *tag, const char *after)
{
	const char *start = tag;

	while (start > ps->src->text && (start[-1] == ' ' || start[-1] == '\t'))
		start--;
	if ((start > ps->src->text && start[-1] != '\n') || (after < ps->end && *after != '\n'))
		return (struct str){ tag, 0 };
	return (struct str){ start, (size_t)(tag - start) };
}

static void
add_text(struct parser *ps, struct pieces *to, const char *p, size_t n)
{
	struct piece *last = to->n ? &to->at[to->n - 1] : NULL;

	if (last && last->kind == PIECE_TEXT && last->text.p + last->text.n == p)
		last->text.n += n;
	else if (n)
		list_push(ps->a, to, (struct piece){ .kind = PIECE_TEXT, .text = { p, n } });
}

/* Text up to the next tag, or to a line's end, where a structure line may follow. */
static void
parse_text(struct parser *ps, struct pieces *to)
{
	const char *start = ps->p;

	if (ps->end - start >= 4 && !memcmp(start, "{{{{", 4)) {
		add_text(ps, to, start, 2);
		ps->p += 4;
		return;
	}
	do
		ps->p++;
	while (ps->p < ps->end && ps->p[-1] != '\n' &&
	       (ps->end - ps->p < 2 || memcmp(ps->p, "{{", 2)));
	add_text(ps, to, start, (size_t)(ps->p - start));
}

static void parse_pieces(struct parser *ps, struct pieces *to, bool inside);

static void
open_list(struct parser *ps, const struct piece *s)
{
	const struct shape *list = &shape_at(ps, s->up)[s->row];

	for (unsigned i = 0; i < ps->nlists; i++)
		if (ps->lists[i] == list)
			fail(ps, E_TEMPLATE_SYNTAX, s->at,
			     arena_printf(ps->a, "`%s` is open already", s->name));
	ps->lists[ps->nlists++] = list;
}

static void
parse_section(struct parser *ps, const struct tag *t, struct pieces *to)
{
	struct piece s = { .kind = t->sign == '#' ? PIECE_SECTION : PIECE_INVERTED };
	bool known = resolve_name(ps, t, &s);
	bool repeats = known && s.kind == PIECE_SECTION && s.value == VALUE_LIST;
	struct pieces body = { 0 };

	ps->open[ps->nopen++] = (struct level){ .name = s.name, .at = t->at };
	if (repeats)
		open_list(ps, &s);
	ps->unknown += !known;
	parse_pieces(ps, &body, true);
	ps->unknown -= !known;
	ps->nlists -= repeats;
	ps->nopen--;
	s.body = body.at;
	s.nbody = body.n;
	list_push(ps->a, to, s);
}

static void
check_close(struct parser *ps, const struct tag *t)
{
	const struct level *open = ps->nopen ? &ps->open[ps->nopen - 1] : NULL;
	struct diag *d;

	if (open && str_is(t->name, open->name))
		return;
	d = fail(ps, E_TEMPLATE_SYNTAX, t->at,
		 arena_printf(ps->a, "`%s` is closed here but was not opened last",
			      text_of(ps, t->name)));
	if (open)
		diag_note(d, open->at, "`%s` was opened last", open->name);
	ps->p = ps->end;
}

/* A tag at ps->p.  False: it closes a section. */
static bool
parse_tag(struct parser *ps, struct pieces *to)
{
	const char *start = ps->p;
	struct piece v = { 0 };
	struct tag t;

	if (!read_tag(ps, &t))
		return true;
	ps->p = t.after;
	if (t.sign == '/') {
		check_close(ps, &t);
		return false;
	}
	if (t.sign && strchr("#^", t.sign) && ps->nopen == TEMPLATE_DEPTH_MAX) {
		fail(ps, E_TEMPLATE_SYNTAX, t.at,
		     arena_printf(ps->a, "sections are nested more than %d deep",
				  TEMPLATE_DEPTH_MAX));
		ps->p = ps->end;
	} else if (t.sign == '#' || t.sign == '^') {
		parse_section(ps, &t, to);
	} else if (t.sign == '@') {
		list_push(ps->a, to,
			  (struct piece){ .kind = PIECE_WORD, .name = text_of(ps, t.name) });
	} else if (!t.sign && resolve_name(ps, &t, &v)) {
		check_value(ps, &t, &v);
		v.text = indentation(ps, start, t.after);
		list_push(ps->a, to, v);
	}
	return true;
}

/* Everything up to the tag that closes the section it is inside, or to the end. */
static void
parse_pieces(struct parser *ps, struct pieces *to, bool inside)
{
	const struct level *open = inside ? &ps->open[ps->nopen - 1] : NULL;

	while (ps->p < ps->end) {
		const char *structure = structure_line(ps);

		if (structure)
			ps->silent_to = structure;
		if (ps->end - ps->p >= 2 && !memcmp(ps->p, "{{", 2) &&
		    (ps->end - ps->p < 4 || memcmp(ps->p, "{{{{", 4))) {
			if (!parse_tag(ps, to))
				return;
		} else if (ps->p < ps->silent_to) {
			ps->p++;
		} else {
			parse_text(ps, to);
		}
	}
	if (open && !ps->errors)
		fail(ps, E_TEMPLATE_SYNTAX, open->at,
		     arena_printf(ps->a, "the section `%s` is not closed", open->name));
}

const struct template *
template_parse(struct arena *a, struct diags *ds, const struct source *src, enum language language,
	       const struct shape *shape)
{
	struct parser ps = { .a = a, .ds = ds, .src = src, .language = language, .shape = shape };
	struct template *t = arena_new_of(a, struct template);
	struct pieces top = { 0 };

	ps.p = ps.marked = ps.silent_to = src->text;
	ps.end = src->text + src->size;
	ps.line = ps.col = 1;
	if (src->size > TEMPLATE_BYTES_MAX) {
		fail(&ps, E_TEMPLATE_SYNTAX, (struct span){ .src = src },
		     arena_printf(a, "a template is at most %d KiB", TEMPLATE_BYTES_MAX / 1024));
		return NULL;
	}
	/* A closing tag too many ends a round: it is reported, and the text is left. */
	while (ps.p < ps.end)
		parse_pieces(&ps, &top, false);
	*t = (struct template){ .src = src, .pieces = top.at, .n = top.n };
	return ps.errors ? NULL : t;
}

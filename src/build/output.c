#include "output.h"

#include <stdlib.h>

/* --- inert text --- */

static const char *
skip(const char *s, char least, char most)
{
	while (*s >= least && *s <= most)
		s++;
	return s;
}

/* Returns the end of the escape sequence at s (ECMA-48: CSI, strings, two characters). */
static const char *
escape_end(const char *s)
{
	if (s[1] == '[') {
		s = skip(s + 2, 0x20, 0x3f);
		return s + (*s >= 0x40 && *s < 0x7f);
	}
	if (s[1] && strchr("]PX^_", s[1])) {
		s += 2 + strcspn(s + 2, "\a\033");
		return s + (*s == '\a' ? 1 : starts_with(s, "\033\\") ? 2 : 0);
	}
	s = skip(s + 1, 0x20, 0x2f);
	return s + (*s >= 0x30 && *s < 0x7f);
}

/*
 * Puts a safe text for the screen and the log into p->line: escape sequences are removed, a tab
 * becomes a blank, other control characters and bytes that are not UTF-8 become `?`.
 */
static const char *
output_inert(struct output_parser *p, const char *line, size_t n)
{
	struct buf *to = &p->line;

	buf_clear(&p->clean);
	buf_clear(to);
	buf_add(&p->clean, line, n);
	for (size_t i = 0; i < p->clean.n; i++)
		if (strchr("\t\n", p->clean.p[i]))
			p->clean.p[i] = p->clean.p[i] == '\t' ? ' ' : '?';
	n = 0;
	for (const char *s = p->clean.p; *s; s = *s == '\033' ? escape_end(s) : s + 1)
		if (*s != '\033')
			p->clean.p[n++] = *s;
	p->clean.p[n] = '\0';
	diag_inert(p->clean.p, to);
	while (to->n && to->p[to->n - 1] == ' ')
		to->p[--to->n] = '\0';
	return buf_text(to);
}

/* --- helpers of several parsers --- */

bool
output_seconds(const char **s, double *out)
{
	char *end;
	double seconds = strtod(*s, &end);

	if (!is_digit(**s) || !(seconds <= 365 * 24 * 3600.0))
		return false;
	*s = end;
	*out = seconds;
	return true;
}

int
output_status(const char *text, const char *words)
{
	int status = STATUS_UNKNOWN;
	unsigned n;

	while ((text = strstr(text, words))) {
		text += strlen(words);
		if (sscanf(text, "%5u", &n) == 1 && n < 256)
			status = (int)n;
	}
	return status;
}

void
output_tell(struct output_parser *p, enum build_event_kind kind, const struct instruction *of,
	    double seconds, int status, const char *text)
{
	struct build_event e = { .kind = kind,
				 .instruction = of,
				 .step = of ? of->step : NULL,
				 .seconds = seconds,
				 .status = status,
				 .text = text,
				 .last = of && p->last[of - p->of.at] };

	p->on(p->ctx, &e);
}

/* --- the dialect of scripts --- */

/*
 * Reads the output of setup.sh where STACKBUILD_MARKS=1 is set:
 *
 *     stackbuild-step start torch
 *     stackbuild-step done torch
 *     stackbuild-step cached torch
 *
 * Every other line belongs to the step that started last. A start, or the end of the script, ends
 * the running step, but only `done` completes it: a script that stops before it compiles returns to
 * the step later.
 */
static const struct {
	const char *head;
	enum build_event_kind kind;
} marks[] = {
	{ "stackbuild-step start ", EVENT_START },
	{ "stackbuild-step done ", EVENT_DONE },
	{ "stackbuild-step cached ", EVENT_CACHED },
};

static void
add_event(struct output_parser *p, enum build_event_kind kind, int status, bool last,
	  const char *text)
{
	p->on(p->ctx, &(struct build_event){ .kind = kind,
					     .step = buf_text(&p->step),
					     .seconds = -1,
					     .status = status,
					     .text = text,
					     .last = last });
}

static bool
read_mark(struct output_parser *p, const char *line)
{
	for (size_t i = 0; i < COUNT(marks); i++) {
		bool start = marks[i].kind == EVENT_START;
		const char *id = line + strlen(marks[i].head);

		if (!starts_with(line, marks[i].head) || !*id || strpbrk(id, " /\"'"))
			continue;
		if (p->step.n && strcmp(buf_text(&p->step), id) != 0)
			add_event(p, EVENT_DONE, 0, false, NULL);
		buf_clear(&p->step);
		buf_puts(&p->step, id);
		add_event(p, marks[i].kind, 0, !start, NULL);
		if (!start)
			buf_clear(&p->step);
		return true;
	}
	return false;
}

static void
script_line(struct output_parser *p, enum proc_stream from, const char *line)
{
	if (from == PROC_OUT && read_mark(p, line))
		return;
	if (p->step.n)
		add_event(p, EVENT_LINE, 0, false, line);
	else
		output_tell(p, EVENT_OTHER, NULL, -1, STATUS_UNKNOWN, line);
}

static void
script_end(struct output_parser *p, int status)
{
	if (!p->step.n)
		return;
	add_event(p,
		  status > 0 ? EVENT_FAILED :
		  status     ? EVENT_ENDED :
			       EVENT_DONE,
		  status, false, status > 0 ? "the script ended here" : NULL);
	buf_clear(&p->step);
}

/* --- the parser --- */

static const struct {
	void (*line)(struct output_parser *p, enum proc_stream from, const char *line);
	void (*end)(struct output_parser *p, int status);
} dialects[] = {
	[DIALECT_BUILDKIT] = { output_buildkit, output_buildkit_end },
	[DIALECT_BUILDAH] = { output_buildah, output_buildah_end },
	[DIALECT_SCRIPT] = { script_line, script_end },
	[DIALECT_MODAL] = { script_line, script_end }, /* its output has no marks */
};

struct output_parser *
output_parser_new(struct arena *a, enum output_dialect dialect, struct instructions of,
		  on_build_event *on, void *ctx)
{
	struct output_parser *p = arena_new_of(a, struct output_parser);
	bool *last = arena_array_of(a, bool, of.n);
	struct map seen = MAP(a);

	/* BuildKit does not report instructions that only set a variable or a label. */
	for (size_t i = of.n; i-- > 0;)
		last[i] = of.at[i].step && (dialect != DIALECT_BUILDKIT || of.at[i].layer_no) &&
			  !map_put(&seen, of.at[i].step, p);
	*p = (struct output_parser){ .a = a,
				     .dialect = dialect,
				     .of = of,
				     .last = last,
				     .on = on,
				     .ctx = ctx,
				     .current = NO_VERTEX,
				     .failed = NO_VERTEX,
				     .line = BUF(a),
				     .clean = BUF(a),
				     .failed_text = BUF(a),
				     .step = BUF(a) };
	if (dialect == DIALECT_BUILDKIT)
		p->vertices = arena_array_of(a, struct vertex, VERTICES_MAX);
	for (size_t i = 0; i < of.n; i++)
		if (of.at[i].stage_no > p->nstages)
			p->nstages = of.at[i].stage_no;
	p->stages = arena_array_of(a, struct stage, p->nstages);
	for (size_t i = 0; i < p->nstages; i++)
		p->stages[i].text = BUF(a);
	return p;
}

void
output_parser_line(struct output_parser *p, enum proc_stream from, const char *line, size_t n)
{
	dialects[p->dialect].line(p, from, output_inert(p, line, n));
}

void
output_parser_end(struct output_parser *p, int status)
{
	dialects[p->dialect].end(p, status);
}

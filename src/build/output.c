#include "output.h"

/* --- inert text --- */

/* Behind an escape sequence that begins at s (ECMA-48: CSI, strings, two characters). */
static size_t
escape_end(const char *s, size_t i, size_t n)
{
	char kind = i + 1 < n ? s[i + 1] : '\0';

	if (kind == '[') {
		for (i += 2; i < n && (unsigned char)s[i] >= 0x20 && (unsigned char)s[i] < 0x40;)
			i++;
		return i < n && (unsigned char)s[i] >= 0x40 && (unsigned char)s[i] < 0x7f ? i + 1 :
											    i;
	}
	if (kind == ']' || kind == 'P' || kind == 'X' || kind == '^' || kind == '_') {
		for (i += 2; i < n; i++) {
			if (s[i] == '\a')
				return i + 1;
			if (s[i] == '\033')
				return i + 1 < n && s[i + 1] == '\\' ? i + 2 : i;
		}
		return n;
	}
	for (i++; i < n && (unsigned char)s[i] >= 0x20 && (unsigned char)s[i] < 0x30;)
		i++;
	return i < n && (unsigned char)s[i] >= 0x30 && (unsigned char)s[i] < 0x7f ? i + 1 : i;
}

/*
 * Text as it may be shown and kept, in p->line: escape sequences are removed, a tab becomes a blank,
 * other control characters and bytes that are not UTF-8 become `?`.
 */
static const char *
output_inert(struct output_parser *p, const char *line, size_t n)
{
	struct buf *to = &p->line;

	buf_clear(&p->clean);
	buf_clear(to);
	for (size_t i = 0; i < n;) {
		if (line[i] == '\033') {
			i = escape_end(line, i, n);
			continue;
		}
		buf_putc(&p->clean, line[i] == '\t'                 ? ' ' :
				    line[i] == '\n' || line[i] == 0 ? '?' :
								      line[i]);
		i++;
	}
	diag_inert(buf_text(&p->clean), to);
	while (to->n && to->p[to->n - 1] == ' ')
		to->p[--to->n] = '\0';
	return buf_text(to);
}

/* --- small things that parsers share --- */

bool
output_number(const char **s, unsigned max, unsigned *out)
{
	unsigned long n = 0;
	const char *p = *s;

	if (!is_digit(*p))
		return false;
	for (; is_digit(*p); p++) {
		n = n * 10 + (unsigned)(*p - '0');
		if (n > max)
			return false;
	}
	*s = p;
	*out = (unsigned)n;
	return true;
}

bool
output_seconds(const char **s, double *out)
{
	const char *p = *s;
	double unit = 0.1;
	unsigned whole;

	if (!output_number(&p, 365 * 24 * 3600, &whole))
		return false;
	*out = whole;
	if (*p == '.')
		for (p++; is_digit(*p); p++, unit /= 10)
			*out += unit * (*p - '0');
	*s = p;
	return true;
}

int
output_status(const char *text, const char *words)
{
	int status = STATUS_UNKNOWN;

	while ((text = strstr(text, words))) {
		const char *p = text += strlen(words);
		unsigned n;

		if (output_number(&p, 255, &n))
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

/* --- the parser --- */

struct output_parser *
output_parser_new(struct arena *a, enum output_dialect dialect, struct instructions of,
		  on_build_event *on, void *ctx)
{
	struct output_parser *p = arena_new_of(a, struct output_parser);
	bool *last = arena_array_of(a, bool, of.n);
	struct map seen = MAP(a);

	/* BuildKit does not say when it has set a variable or a label. */
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
	line = output_inert(p, line, n);
	switch (p->dialect) {
	case DIALECT_BUILDKIT: output_buildkit(p, line); break;
	case DIALECT_BUILDAH: output_buildah(p, from, line); break;
	case DIALECT_SCRIPT: output_script(p, from, line); break;
	case DIALECT_MODAL: output_tell(p, EVENT_OTHER, NULL, -1, STATUS_UNKNOWN, line); break;
	}
}

void
output_parser_end(struct output_parser *p, int status)
{
	switch (p->dialect) {
	case DIALECT_BUILDKIT: output_buildkit_end(p, status); break;
	case DIALECT_BUILDAH: output_buildah_end(p, status); break;
	case DIALECT_SCRIPT: output_script_end(p, status); break;
	case DIALECT_MODAL: break;
	}
}

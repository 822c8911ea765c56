#include "output.h"

#include <strings.h>

/*
 *     #5 [build 2/9] RUN apt-get ...    the meaning of number 5: [STAGE i/n], with one stage [i/n],
 *                                       with several platforms [linux/arm64 STAGE i/n]
 *     #5 sha256:b4005e...               its digest (docker 20.10)
 *     #5 0.132 text                     seconds since its start, and a line of its output
 *     #5 extracting sha256:... 2.8s     a status without a number
 *     #5 DONE 1.2s | CACHED | CANCELED | ERROR: ...: exit code: 137
 *
 * A line without a number continues the output of the previous number, whose text had a carriage
 * return; an empty line ends it. Text without a line end precedes the number of the next line: `#4
 * 0.047 text#4 DONE 0.3s`.
 */

static const struct instruction *
instruction_at(const struct output_parser *p, struct str stage, unsigned layer)
{
	unsigned stage_no = 0;
	int n = 0;

	/* A stage without a name is called stage-K, K from 0. */
	if (sscanf(stage.p, "stage-%4u%n", &stage_no, &n) == 1)
		stage_no = stage.n == (size_t)n ? stage_no + 1 : 0;
	list_each (of, &p->of) {
		const char *name = of->stage ? of->stage : "";

		if (of->layer_no != layer)
			continue;
		if (!stage.n || (strlen(name) == stage.n && !strncasecmp(name, stage.p, stage.n)) ||
		    (!*name && of->stage_no == stage_no))
			return of;
	}
	return NULL;
}

/* Reads `[build 2/9]`: the last word is i/n, and the one before it the stage. */
static bool
image_vertex(const struct output_parser *p, const char *s, const struct instruction **of)
{
	const char *end = strchr(s, ']'), *at, *word;
	struct str stage;
	unsigned i, n;
	int whole = 0;

	if (*s != '[' || !end)
		return false;
	at = (const char *)memrchr(s, ' ', (size_t)(end - s));
	at = at ? at : s;
	if (sscanf(at + 1, "%5u/%5u]%n", &i, &n, &whole) != 2 || !whole)
		return false;
	while (at > s && *at == ' ')
		at--;
	stage = (struct str){ s + 1, (size_t)(at - s) };
	if ((word = memrchr(stage.p, ' ', stage.n)))
		stage = (struct str){ word + 1, (size_t)(at - word) };
	if (memchr(stage.p, '/', stage.n)) /* a platform */
		stage.n = 0;
	*of = instruction_at(p, stage, i);
	return true;
}

static void
tell_failed(struct output_parser *p, int status)
{
	struct vertex *v = &p->vertices[p->failed];

	p->failed = NO_VERTEX;
	output_tell(p, v->of && v->of->step ? EVENT_FAILED : EVENT_OTHER, v->of, -1, status,
		    buf_text(&p->failed_text));
}

/* Parses the words that end a vertex; false for other words. */
static bool
ending(struct output_parser *p, unsigned n, const char *s)
{
	struct vertex *v = &p->vertices[n];
	const struct instruction *of = v->of;
	double seconds = -1;

	if (starts_with(s, "DONE ") && (s += 5, output_seconds(&s, &seconds)) && !strcmp(s, "s")) {
		if (of)
			output_tell(p, EVENT_DONE, of, seconds, 0, NULL);
	} else if (!strcmp(s, "CACHED")) {
		if (of)
			output_tell(p, EVENT_CACHED, of, 0, 0, NULL);
	} else if (!strcmp(s, "CANCELED")) {
		if (of)
			output_tell(p, EVENT_ENDED, of, -1, STATUS_UNKNOWN, NULL);
	} else if (starts_with(s, "ERROR")) {
		int status;

		s += 5 + (s[5] == ':');
		s += strspn(s, " ");
		status = output_status(s, "exit code: ");
		buf_clear(&p->failed_text);
		buf_puts(&p->failed_text, s);
		p->failed = n;
		if (status != STATUS_UNKNOWN)
			tell_failed(p, status);
	} else {
		return false;
	}
	v->open = false;
	if (p->current == n)
		p->current = NO_VERTEX;
	return true;
}

/* Returns the words of an end that follow text without a line end, and truncates the text there. */
static char *
glued_end(unsigned n, char *text)
{
	static const char *const words[] = { "DONE ", "CANCELED", "ERROR: " };
	char mark[16];
	char *found = NULL;

	snprintf(mark, sizeof(mark), "#%u ", n);
	for (char *at = text; (at = strstr(at, mark)); at++)
		for (size_t i = 0; i < COUNT(words); i++)
			if (at > text && starts_with(at + strlen(mark), words[i]))
				found = at;
	if (!found)
		return NULL;
	*found = '\0';
	return found + strlen(mark);
}

static void
line_of(struct output_parser *p, unsigned n, char *s)
{
	struct vertex *v = &p->vertices[n];
	const char *at = s;
	double seconds = -1;
	char *end;

	if (output_seconds(&at, &seconds) && memchr(s, '.', (size_t)(at - s)) &&
	    (*at == ' ' || !*at))
		s += (at - s) + (*at == ' ');
	else
		seconds = -1;
	end = seconds < 0 ? NULL : glued_end(n, s);
	if (v->of)
		output_tell(p, EVENT_LINE, v->of, seconds, 0, s);
	else if (*s)
		output_tell(p, EVENT_OTHER, NULL, -1, STATUS_UNKNOWN, s);
	if (end)
		ending(p, n, end);
}

static void
numbered(struct output_parser *p, unsigned n, char *s)
{
	struct vertex *v = &p->vertices[n];

	if (p->failed != NO_VERTEX && p->failed != n)
		tell_failed(p, STATUS_UNKNOWN);
	if (!v->known) {
		v->known = true;
		v->image = image_vertex(p, s, &v->of);
		v->open = true;
		p->current = n;
		if (v->of)
			output_tell(p, EVENT_START, v->of, -1, 0, s);
		else
			output_tell(p, EVENT_OTHER, NULL, -1, STATUS_UNKNOWN, s);
		return;
	}
	/* `#9 ...` means that the engine delays further lines. */
	if (str_matches(s, "^(sha256:[0-9a-f]{64}|\\.\\.\\.)$") || ending(p, n, s))
		return;
	p->current = n;
	/* A repeated heading: the output returns to this vertex. */
	if (v->image && *s == '[') {
		const struct instruction *of = NULL;

		if (image_vertex(p, s, &of) && of == v->of)
			return;
	}
	if (v->of && !v->open) {
		v->open = true;
		output_tell(p, EVENT_START, v->of, -1, 0, NULL);
	}
	line_of(p, n, s);
}

void
output_buildkit(struct output_parser *p, enum proc_stream from, const char *line)
{
	unsigned n;
	int text = 0;

	(void)from;
	if (!*line) {
		p->current = NO_VERTEX;
	} else if (*line == '#' && is_digit(line[1]) && sscanf(line, "#%5u%n", &n, &text) == 1 &&
		   n < VERTICES_MAX && line[text] == ' ') {
		numbered(p, n, p->line.p + text + 1);
	} else if (p->current != NO_VERTEX && p->vertices[p->current].of &&
		   p->vertices[p->current].open) {
		output_tell(p, EVENT_LINE, p->vertices[p->current].of, -1, 0, line);
	} else {
		int status = output_status(line, "exit code: ");

		if (p->failed != NO_VERTEX && status != STATUS_UNKNOWN)
			tell_failed(p, status);
		if (strspn(line, "-") < strlen(line))
			output_tell(p, EVENT_OTHER, NULL, -1, STATUS_UNKNOWN, line);
	}
}

void
output_buildkit_end(struct output_parser *p, int status)
{
	if (p->failed != NO_VERTEX)
		tell_failed(p, STATUS_UNKNOWN);
	for (size_t n = 0; n < VERTICES_MAX; n++) {
		struct vertex *v = &p->vertices[n];

		if (v->open && v->of)
			output_tell(p, status ? EVENT_ENDED : EVENT_DONE, v->of, -1, status, NULL);
		v->open = false;
	}
}

#include "output.h"

/*
 * Reads the output of setup.sh where STACKBUILD_MARKS=1 is set:
 *
 *     stackbuild-step start torch
 *     stackbuild-step done torch
 *     stackbuild-step cached torch
 *
 * Every other line belongs to the step that started last.  A start, or the end of the script, ends
 * the running step, but only `done` completes it: a script that stops before it compiles comes back
 * to the step.
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
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
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

void
output_script(struct output_parser *p, enum proc_stream from, const char *line)
{
	if (from == PROC_OUT && read_mark(p, line))
		return;
	if (p->step.n)
		add_event(p, EVENT_LINE, 0, false, line);
	else
		output_tell(p, EVENT_OTHER, NULL, -1, STATUS_UNKNOWN, line);
}

void
output_script_end(struct output_parser *p, int status)
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

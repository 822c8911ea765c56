#include "output.h"

/*
 *     stackbuild-step start torch       on standard output, where STACKBUILD_MARKS=1 is set
 *     stackbuild-step done torch
 *     stackbuild-step cached torch
 *
 * All else is output of what was started last.  A start, or the script's end, ends what runs, but
 * only `done` completes it: a script that stops before it compiles comes back to the step.
 */
static void
tell_step(struct output_parser *p, enum build_event_kind kind, int status, bool last,
	  const char *text)
{
	struct build_event e = { .kind = kind,
				 .step = buf_text(&p->step),
				 .seconds = -1,
				 .status = status,
				 .text = text,
				 .last = last };

	p->on(p->ctx, &e);
}

static bool
mark(struct output_parser *p, const char *line)
{
	static const char *const words[] = { "start ", "done ", "cached " };
	static const enum build_event_kind kinds[] = { EVENT_START, EVENT_DONE, EVENT_CACHED };
	static const char head[] = "stackbuild-step ";

	if (!starts_with(line, head))
		return false;
	line += strlen(head);
	for (size_t i = 0; i < 3; i++) {
		const char *id = line + strlen(words[i]);

		if (!starts_with(line, words[i]) || !*id || strpbrk(id, " /\"'"))
			continue;
		if (p->step.n && strcmp(buf_text(&p->step), id) != 0)
			tell_step(p, EVENT_DONE, 0, false, NULL);
		output_clear(&p->step);
		buf_puts(&p->step, id);
		tell_step(p, kinds[i], 0, kinds[i] != EVENT_START, NULL);
		if (kinds[i] != EVENT_START)
			output_clear(&p->step);
		return true;
	}
	return false;
}

void
output_script(struct output_parser *p, enum proc_stream from, const char *line)
{
	if (from == PROC_OUT && mark(p, line))
		return;
	if (p->step.n)
		tell_step(p, EVENT_LINE, 0, false, line);
	else
		output_tell(p, EVENT_OTHER, NULL, -1, STATUS_UNKNOWN, line);
}

void
output_script_end(struct output_parser *p, int status)
{
	if (!p->step.n)
		return;
	tell_step(p,
		  status > 0 ? EVENT_FAILED :
		  status     ? EVENT_ENDED :
			       EVENT_DONE,
		  status, false, status > 0 ? "the script ended here" : NULL);
	output_clear(&p->step);
}

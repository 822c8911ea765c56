#include "output.h"

/*
 *     STEP 2/3: RUN ...             of several stages: [1/2] STEP 2/3: RUN ...
 *     --> 46dcf67133e               the end of the latest running one
 *     --> Using cache 46dcf6...     before that, if it was cached
 *     [2/2] COMMIT x
 *     Error: building at STEP "RUN ...": while running runtime: exit status 137      (stderr)
 *
 * One instruction runs at a time, but stages begin in any order: buildah announces one that needs
 * another (FROM, --from=, from=), and it waits. Output has no mark: it belongs to the latest
 * instruction that does not wait. Output without a line end precedes `-->`.
 */
enum { TEXT_MAX = 4096 };

/* Returns true if the open instruction of a stage waits for an unfinished stage. */
static bool
waits(const struct output_parser *p, const struct stage *s)
{
	for (const char *at = s->text.p; (at = strstr(at, "from="));) {
		struct str name = { at + 5, strcspn(at + 5, " ,") };

		at += 5;
		list_each (of, &p->of) {
			const struct stage *other = p->stages + of->stage_no - (of->stage_no > 0);

			if (of->stage && of->stage_no && str_is(name, of->stage) && other != s &&
			    !other->complete)
				return true;
		}
	}
	return false;
}

/*
 * Returns the stage of the running instruction: the latest open one that does not wait; if all
 * wait, the latest one; or NULL.
 */
static struct stage *
running(const struct output_parser *p)
{
	struct stage *best = NULL;

	for (size_t i = 0; i < p->nstages; i++) {
		struct stage *s = &p->stages[i];

		if (s->open && (!best || waits(p, best) > waits(p, s) ||
				(waits(p, best) == waits(p, s) && s->opened > best->opened)))
			best = s;
	}
	return best;
}

static void
tell_start(struct output_parser *p, struct stage *s)
{
	if (s->started)
		return;
	s->started = true;
	if (s->now)
		output_tell(p, EVENT_START, s->now, -1, 0, buf_text(&s->text));
}

/*
 * Starts the instructions that waited for a complete stage. They run, unless an earlier stage has
 * not started; its first line then shows that.
 */
static void
finish(struct output_parser *p, struct stage *s)
{
	bool all_begun = true;

	tell_start(p, s);
	s->open = false;
	s->complete = s->at_last;
	if (s->now)
		output_tell(p, s->cached ? EVENT_CACHED : EVENT_DONE, s->now, s->cached ? 0 : -1, 0,
			    NULL);
	for (size_t i = 0; i < p->nstages; i++)
		all_begun &= p->stages[i].opened > 0;
	if (s->complete && all_begun && (s = running(p)) && !waits(p, s))
		tell_start(p, s);
}

/* Reads `[1/2] STEP 2/3: RUN ...`; true if the instruction is in the Dockerfile. */
static bool
step_line(struct output_parser *p, const char *line)
{
	unsigned stage = 1, stages, no, of;
	struct stage *s;
	int n = 0;

	if (*line == '[' && (sscanf(line, "[%5u/%5u] %n", &stage, &stages, &n) != 2 || !n))
		return false;
	line += n;
	if (!stage || stage > p->nstages)
		return false;
	s = &p->stages[stage - 1];
	if (starts_with(line, "COMMIT")) {
		if (s->open)
			finish(p, s);
		return false;
	}
	n = 0;
	if (sscanf(line, "STEP %5u/%5u: %n", &no, &of, &n) != 2 || !n)
		return false;
	if (s->open)
		finish(p, s);
	buf_clear(&s->text);
	buf_add(&s->text, line + n, strnlen(line + n, TEXT_MAX));
	s->now = NULL;
	for (size_t i = 0; i < p->of.n; i++)
		if (p->of.at[i].stage_no == stage && p->of.at[i].no == no)
			s->now = &p->of.at[i];
	s->open = true;
	s->started = s->cached = false;
	s->at_last = no == of;
	s->complete = false;
	s->opened = ++p->opened;
	if (!waits(p, s))
		tell_start(p, s);
	return true;
}

/* Returns the `--> ID` at the end of a line, or NULL. */
static char *
end_mark(char *line)
{
	char *found = NULL, *id;

	for (char *at = line; (at = strstr(at, "--> ")); at++)
		found = at;
	if (!found)
		return NULL;
	id = found + 4;
	id += starts_with(id, "Using cache ") ? 12 : 0;
	return str_matches(id, "^[0-9a-f]{11,64}$") ? found : NULL;
}

/*
 * Returns the open instruction that an error's `STEP "..."` names: the one with the longest common
 * beginning.
 */
static struct stage *
culprit(struct output_parser *p, const char *line)
{
	const char *text = strstr(line, "STEP \"");
	struct stage *best = running(p);
	size_t most = 4; /* "RUN " alone has no information */

	for (size_t i = 0; text && i < p->nstages; i++) {
		const char *a = text + 6, *b = buf_text(&p->stages[i].text);
		size_t n = 0;

		while (a[n] && a[n] == b[n])
			n++;
		if (p->stages[i].open && n > most) {
			most = n;
			best = &p->stages[i];
		}
	}
	return best;
}

static void
failed(struct output_parser *p, struct stage *s, int status, const char *text)
{
	p->told = true;
	s->open = false;
	output_tell(p, EVENT_FAILED, s->now, -1, status, text);
}

static bool
error_line(struct output_parser *p, const char *line)
{
	struct stage *s;

	if (p->told ||
	    (!starts_with(line, "Error: ") && !starts_with(line, "error building at STEP")) ||
	    !strstr(line, "building at STEP") || !(s = culprit(p, line)))
		return false;
	failed(p, s, output_status(line, "exit status "), line);
	return true;
}

void
output_buildah(struct output_parser *p, enum proc_stream from, const char *line)
{
	char *end = from == PROC_OUT ? end_mark(p->line.p) : NULL;
	struct stage *s = running(p);
	bool cached = end && starts_with(end, "--> Using cache ");

	if (from == PROC_OUT && step_line(p, line))
		return;
	if (from == PROC_ERR && error_line(p, line))
		return;
	if (end)
		*end = '\0';
	if (s && (*line || end))
		tell_start(p, s);
	if (*line || !end) {
		if (s && s->now && s->now->step)
			output_tell(p, EVENT_LINE, s->now, -1, 0, line);
		else
			output_tell(p, EVENT_OTHER, NULL, -1, STATUS_UNKNOWN, line);
	}
	if (cached && s)
		s->cached = true;
	else if (end && s)
		finish(p, s);
}

void
output_buildah_end(struct output_parser *p, int status)
{
	struct stage *s = running(p);

	if (status > 0 && !p->told && s)
		failed(p, s, status, "it exited without a message");
	for (size_t i = 0; i < p->nstages; i++) {
		s = &p->stages[i];
		if (s->open && s->now && s->started)
			output_tell(p, status ? EVENT_ENDED : EVENT_DONE, s->now, -1, status, NULL);
		s->open = false;
	}
}

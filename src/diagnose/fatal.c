/*
 * Finds the lines that ended the program: the last traceback, with the exceptions that it chains.
 *
 *     Traceback (most recent call last):            <- the block begins here
 *       File "train.py", line 3, in <module>
 *     KeyError: 'loss'
 *     ERROR: process "..." exit code: 1             <- repeats that something failed
 */
#include "internal.h"

static bool
has(struct str s, const char *text)
{
	return memmem(s.p, s.n, text, strlen(text));
}

/* Returns the line before p[begin], which is the start of a line; begin 0: an empty one. */
static struct str
line_before(const char *p, size_t begin)
{
	return begin ? line_round(p, begin - 1, begin - 1, LINE_BYTES, 0) : (struct str){ p, 0 };
}

/* Returns true for `  File "x.py", line 3, in f`. */
static bool
is_frame(struct str s)
{
	return has(s, "File \"") && has(s, "\", line ");
}

bool
is_code(const char *p, struct str s)
{
	struct str frame = line_before(p, (size_t)(s.p - p));
	const char *file = is_frame(frame) ? memmem(frame.p, frame.n, "File \"", 6) : NULL;
	size_t column = file ? (size_t)(file - frame.p) : 0;

	/* A line of source is indented more than its frame; an exception or a frame is not. */
	return file && s.n > column + 1 && s.p[column] == ' ' && s.p[column + 1] == ' ';
}

static bool
links_exceptions(struct str s)
{
	return has(s, "During handling of the above exception") ||
	       has(s, "The above exception was the direct cause");
}

/* Returns the start of the traceback that the exception at p[begin] ends, and of those before it. */
static size_t
traceback_start(struct diagnosis *d, size_t begin, unsigned long long *steps)
{
	bool linked = false, touching = true;

	for (size_t at = begin; at;) {
		struct str s = line_before(d->p, at);

		at = (size_t)(s.p - d->p);
		if (has(s, "Traceback (most recent call last)")) {
			begin = at;
			linked = false;
			for (unsigned i = 0; i < 2 && at && !linked; i++) {
				s = line_before(d->p, at);
				linked = links_exceptions(s);
				at = (size_t)(s.p - d->p);
			}
			if (!linked)
				break;
		} else if (is_frame(s) || is_code(d->p, s)) {
			/* A part of a log may lack the head of the traceback. */
			begin = touching ? at : begin;
			continue;
		} else if (find_within(&d->exception, s, NULL, steps)) {
			/* The first exception above a link belongs to the chain. */
			if (!linked)
				break;
			linked = false;
		}
		touching = false;
	}
	return begin;
}

/* What a line says about the end of the program. */
enum says { NOTHING, FAILURE, EXCEPTION };

static enum says
says(struct diagnosis *d, struct matcher *errors, struct str s, unsigned long long *steps)
{
	bool exception;

	if (is_frame(s) || is_code(d->p, s) || find_within(&d->wrapper, s, NULL, steps) ||
	    find_within(&d->warning, s, NULL, steps))
		return NOTHING;
	exception = find_within(&d->exception, s, NULL, steps);
	if (!exception &&
	    (!find_within(errors, s, NULL, steps) || find_within(&d->calm, s, NULL, steps)))
		return NOTHING;
	return exception ? EXCEPTION : FAILURE;
}

unsigned long long
fatal_block(struct diagnosis *d)
{
	struct matcher errors = { .pattern = errors_pattern() };
	unsigned long long steps = FATAL_STEPS, from = 0;
	enum says last = NOTHING;
	size_t at = d->size;

	if (!d->exception.pattern || !d->wrapper.pattern || !d->warning.pattern ||
	    !d->calm.pattern || !errors.pattern)
		at = 0;
	while (at && last == NOTHING && steps) {
		struct str s = line_round(d->p, at, at, LINE_BYTES, 0);
		size_t begin = (size_t)(s.p - d->p);

		last = says(d, &errors, s, &steps);
		if (last == EXCEPTION)
			from = d->offset + traceback_start(d, begin, &steps);
		at = begin ? begin - 1 : 0;
	}
	pattern_free(errors.pattern);
	return from;
}

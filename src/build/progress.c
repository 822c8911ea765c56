#include "screen.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

enum { ANNOUNCE_MS = 500 /* what ends sooner is not said to begin */ };

static const struct printer progress_quiet; /* the caller reports a failure */

/* A frame goes out in one call: a process that is killed leaves no half of one behind. */
static bool
write_whole(int fd, const char *text, size_t n)
{
	while (n) {
		ssize_t k = write(fd, text, n);

		if (k < 0 && errno == EAGAIN) {
			struct pollfd room = { .fd = fd, .events = POLLOUT };

			poll(&room, 1, 1000);
		} else if (k < 0 && errno != EINTR) {
			return false;
		} else if (k > 0) {
			text += k;
			n -= (size_t)k;
		}
	}
	return true;
}

void
progress_write(struct stream *to, const char *text, size_t n)
{
	int fd;

	if (!to->f || to->error || !n)
		return;
	errno = 0;
	if (fflush(to->f))
		to->error = errno ? errno : EIO;
	else if ((fd = fileno(to->f)) < 0 ? fwrite(text, 1, n, to->f) != n || fflush(to->f) :
					    !write_whole(fd, text, n))
		to->error = errno ? errno : EIO;
}

struct buf *
progress_words(struct progress *p)
{
	p->say.n = 0;
	buf_add(&p->say, "", 0);
	return &p->say;
}

const char *
progress_time(char to[TIME_BYTES], double seconds)
{
	unsigned long s = seconds > 0 ? (unsigned long)(seconds < 1e8 ? seconds + 0.5 : 1e8) : 0;

	if (s < 3600)
		snprintf(to, TIME_BYTES, "%lu:%02lu", s / 60, s % 60);
	else
		snprintf(to, TIME_BYTES, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
	return to;
}

double
progress_spent(const struct progress *p, size_t step)
{
	const struct step_work *w = &p->work[step];
	double more = w->open ? p->now_s - w->opened_s : 0;

	return p->steps[step].seconds + (more > 0 ? more : 0);
}

void
progress_outcome(const struct progress *p, size_t step, struct buf *out)
{
	const struct progress_step *s = &p->steps[step];

	switch (s->state) {
	case STEP_CACHED: buf_puts(out, "cached"); break;
	case STEP_FAILED:
		buf_puts(out, "failed");
		if (s->status >= 0)
			buf_printf(out, ", exit %d", s->status);
		break;
	case STEP_ENDED: buf_puts(out, "stopped"); break;
	default: break;
	}
	if (s->note)
		buf_printf(out, "%s%s",
			   s->state == STEP_CACHED || s->state >= STEP_FAILED ? ", " : "", s->note);
}

static void
log_line(struct progress *p, size_t step, double at_s, char mark, const char *text)
{
	if (!p->log.f || p->log.error)
		return;
	p->to.n = 0;
	buf_printf(&p->to, "%10.3f  %-*s %c", at_s, (int)p->id_width,
		   step < p->nsteps ? p->steps[step].id : "-", mark);
	if (*text)
		buf_printf(&p->to, " %s", text);
	buf_putc(&p->to, '\n');
	progress_write(&p->log, p->to.p, p->to.n);
}

/* --- making one --- */

static const struct printer *
printer_of(const struct progress_options *o)
{
	const char *term = getenv("TERM");
	bool terminal = o->out && isatty(fileno(o->out)) && term && strcmp(term, "dumb") != 0;

	switch (o->mode) {
	case PROGRESS_TTY: return &progress_tty;
	case PROGRESS_PLAIN: return &progress_plain;
	case PROGRESS_JSON: return &progress_json;
	case PROGRESS_QUIET: return &progress_quiet;
	case PROGRESS_AUTO: break;
	}
	return terminal ? &progress_tty : &progress_plain;
}

struct progress *
progress_new(struct arena *a, const struct progress_options *o, struct progress_step *steps,
	     size_t nsteps)
{
	struct progress *p = arena_new_of(a, struct progress);

	*p = (struct progress){ .a = a,
				.o = *o,
				.steps = steps,
				.work = arena_array_of(a, struct step_work, nsteps),
				.nsteps = nsteps,
				.id_width = 4,
				.printer = printer_of(o),
				.failed = nsteps,
				.out = { o->out, 0, "standard error" },
				.log = { o->log, 0, o->log_path ? o->log_path : "the log" },
				.text = BUF(a),
				.to = BUF(a),
				.say = BUF(a),
				.mask = mask_new(a, &o->masked) };
	for (size_t i = 0; i < nsteps; i++) {
		steps[i].status = -1;
		if (strlen(steps[i].id) > p->id_width)
			p->id_width = strlen(steps[i].id);
	}
	return p;
}

static void
begin(struct progress *p)
{
	if (p->began)
		return;
	p->began = true;
	if (p->o.head) {
		p->o.head = arena_strdup(p->a, mask_text(p->mask, p->o.head));
		log_line(p, p->nsteps, p->now_s, '*', p->o.head);
	}
	if (p->printer->begin)
		p->printer->begin(p);
}

static size_t
find(const struct progress *p, const char *id)
{
	size_t i = 0;

	while (id && i < p->nsteps && strcmp(p->steps[i].id, id) != 0)
		i++;
	return id ? i : p->nsteps;
}

/* --- states --- */

static bool
is_over(enum step_state state)
{
	return state != STEP_WAITING && state != STEP_RUNNING;
}

/* The printer is told once that a step runs, and not for what is over at once. */
static void
announce(struct progress *p, size_t i)
{
	struct step_work *w = &p->work[i];

	if (w->announced || !w->open)
		return;
	w->announced = true;
	if (is_over(p->steps[i].state) && p->steps[i].state != STEP_STORE) {
		p->steps[i].state = STEP_RUNNING;
		w->shown = false;
	}
	log_line(p, i, w->opened_s, '*', "starts");
	if (p->printer->change)
		p->printer->change(p, i);
}

static void
show_end(struct progress *p, size_t i)
{
	struct step_work *w = &p->work[i];
	struct buf *b = progress_words(p);
	char took[TIME_BYTES];

	if (w->shown)
		return;
	w->shown = true;
	w->announced = false;
	buf_printf(b, "%s %s  ", p->steps[i].state >= STEP_FAILED ? "ends after" : "ok",
		   progress_time(took, p->steps[i].seconds));
	progress_outcome(p, i, b);
	while (b->p[b->n - 1] == ' ')
		b->p[--b->n] = '\0';
	log_line(p, i, p->now_s, '*', b->p);
	if (p->printer->change)
		p->printer->change(p, i);
}

static void
started(struct progress *p, size_t i)
{
	struct step_work *w = &p->work[i];

	if (!w->open++)
		w->opened_s = p->now_s;
	if (p->steps[i].state == STEP_WAITING) {
		p->steps[i].state = STEP_RUNNING;
		p->steps[i].started_s = p->now_s;
	}
}

/* One of its instructions is over; seconds: the engine's figure, or -1. */
static void
closed(struct progress *p, size_t i, double seconds)
{
	struct step_work *w = &p->work[i];
	double since = w->open ? p->now_s - w->opened_s : 0;

	p->steps[i].seconds += seconds >= 0 ? seconds : since;
	if (w->open && --w->open)
		w->opened_s = p->now_s;
}

static void
completed(struct progress *p, size_t i)
{
	struct progress_step *s = &p->steps[i];

	if (s->state == STEP_RUNNING || s->state == STEP_WAITING)
		s->state = p->work[i].hit && !p->work[i].built ? STEP_CACHED : STEP_DONE;
	s->partly = p->work[i].hit && p->work[i].built;
	show_end(p, i);
}

static void
stopped(struct progress *p, size_t i, enum step_state state, int status)
{
	struct progress_step *s = &p->steps[i];
	struct step_work *w = &p->work[i];

	if (w->open)
		s->seconds = progress_spent(p, i);
	w->open = 0;
	w->shown = false;
	s->state = state;
	s->status = status;
	s->tail = tail_lines(p->a, w->tail);
	if (state == STEP_FAILED && p->failed == p->nsteps)
		p->failed = i;
	show_end(p, i);
}

/* --- events --- */

static void
other(struct progress *p, const char *text)
{
	size_t n = 0;

	log_line(p, p->nsteps, p->now_s, '|', text);
	/* How the engine reads its own input is no news, nor is what it repeats of a failure. */
	if (!*text || p->failed < p->nsteps || starts_with(text, "[internal]") ||
	    starts_with(text, "transferring "))
		return;
	for (; text[n] && n < DETAIL_BYTES - 1; n++)
		p->other[n] = (unsigned char)text[n] < 0x20 ? '?' : text[n];
	p->other[n] = '\0';
	p->other_s = p->now_s;
	if (p->printer->line)
		p->printer->line(p, p->nsteps, p->now_s, text);
}

/* templates/compile.py measures what it ran, in MiB: "stackbuild-peak mamba-ssm 1540". */
#define PEAK_WORD "stackbuild-peak "

static void
line(struct progress *p, size_t i, double seconds, const char *text)
{
	struct step_work *w = &p->work[i];
	double at = p->now_s;

	if (!w->open)
		started(p, i);
	/* The engine held the line back: by its own clock the step began earlier. */
	if (seconds >= 0) {
		if (p->now_s - seconds < w->opened_s && p->now_s >= seconds && w->open == 1) {
			w->opened_s = p->now_s - seconds;
			if (p->steps[i].seconds <= 0)
				p->steps[i].started_s = w->opened_s;
		}
		at = w->opened_s + seconds < p->now_s ? w->opened_s + seconds : p->now_s;
	}
	announce(p, i);
	log_line(p, i, at, '|', text);
	if (!*text)
		return;
	if (starts_with(text, PEAK_WORD))
		progress_memory(p, p->steps[i].id,
				(size_t)strtoul(strrchr(text, ' ') + 1, NULL, 10));
	tail_add(p->a, w, text);
	tail_detail(w, &p->steps[i], text);
	if (p->printer->line)
		p->printer->line(p, i, at, text);
}

void
progress_event(void *ctx, const struct build_event *e)
{
	struct progress *p = ctx;
	const char *text = mask_text(p->mask, e->text ? e->text : "");
	size_t i = find(p, e->step);

	begin(p);
	if (i == p->nsteps) {
		/* An instruction of no step, FROM another stage say, is no news. */
		if (e->kind == EVENT_OTHER || e->kind == EVENT_FAILED ||
		    (e->kind == EVENT_LINE && *text))
			other(p, text);
		return;
	}
	switch (e->kind) {
	case EVENT_START: started(p, i); break;
	case EVENT_LINE: line(p, i, e->seconds, text); break;
	case EVENT_DONE:
		closed(p, i, e->seconds);
		p->work[i].built = true;
		if (e->last)
			completed(p, i);
		break;
	case EVENT_CACHED:
		closed(p, i, 0);
		/* What was built before it in this build is only met again by a later call. */
		p->work[i].hit |= !p->work[i].built;
		if (e->last)
			completed(p, i);
		break;
	case EVENT_FAILED:
		if (*text)
			log_line(p, i, p->now_s, '*', text);
		stopped(p, i, STEP_FAILED, e->status);
		break;
	case EVENT_ENDED:
		if (!is_over(p->steps[i].state))
			stopped(p, i, STEP_ENDED, -1);
		break;
	case EVENT_OTHER: other(p, text); break;
	}
}

void
progress_tick(struct progress *p, double now_s)
{
	if (now_s > p->now_s)
		p->now_s = now_s;
	begin(p);
	for (size_t i = 0; i < p->nsteps; i++)
		if (p->work[i].open && (p->now_s - p->work[i].opened_s) * 1000 >= ANNOUNCE_MS)
			announce(p, i);
	if (p->printer->tick)
		p->printer->tick(p);
}

void
progress_complete(struct progress *p, const char *step)
{
	size_t i = find(p, step);

	begin(p);
	if (i < p->nsteps && p->steps[i].state == STEP_RUNNING && !p->work[i].open)
		completed(p, i);
}

void
progress_state(struct progress *p, const char *step, enum step_state state, const char *note)
{
	size_t i = find(p, step);

	begin(p);
	if (i == p->nsteps)
		return;
	if (note)
		p->steps[i].note = arena_strdup(p->a, mask_text(p->mask, note));
	if (state == STEP_FAILED || state == STEP_ENDED) {
		stopped(p, i, state, -1);
		return;
	}
	p->steps[i].state = state;
	/* What the store had is installed yet: it is shown when that is done. */
	if (state == STEP_DONE || state == STEP_CACHED)
		show_end(p, i);
}

void
progress_memory(struct progress *p, const char *step, size_t peak_mib)
{
	size_t i = find(p, step);

	if (i < p->nsteps && peak_mib > p->steps[i].peak_mib)
		p->steps[i].peak_mib = peak_mib;
}

/* --- the end --- */

bool
progress_end(struct progress *p, const char **why)
{
	const struct stream *bad = p->out.error ? &p->out : &p->log;
	bool good = p->failed == p->nsteps;

	begin(p);
	if (!p->ended) {
		for (size_t i = 0; i < p->nsteps; i++)
			good &= !p->work[i].open && p->steps[i].state != STEP_ENDED;
		for (size_t i = 0; i < p->nsteps; i++)
			if (p->work[i].open || (p->steps[i].state == STEP_RUNNING && !good))
				stopped(p, i, STEP_ENDED, -1);
			else if (p->steps[i].state != STEP_WAITING)
				completed(p, i);
		p->ended = true;
		if (p->printer->end)
			p->printer->end(p);
		mask_close(p->mask);
		bad = p->out.error ? &p->out : &p->log;
	}
	if (!bad->error)
		return true;
	if (why)
		*why = arena_printf(p->a, "%s could not be written: %s", bad->name,
				    strerror(bad->error));
	return false;
}

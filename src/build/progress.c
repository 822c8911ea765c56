#include "screen.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"

enum { ANNOUNCE_MS = 500 /* a shorter step gets no start line */ };

static const struct printer progress_quiet; /* the caller reports a failure */

void
progress_write(struct stream *to, const char *text, size_t n)
{
	if (!to->f || to->error || !n)
		return;
	errno = 0;
	/* Writes a frame with one call, so that a killed process leaves no half frame. */
	if (fflush(to->f) || !fs_write_all(fileno(to->f), text, n))
		to->error = errno ? errno : EIO;
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

/* --- construction --- */

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
				.to = BUF(a),
				.say = BUF(a),
				.mask = mask_new(a, &o->masked) };
	for (size_t i = 0; i < nsteps; i++) {
		steps[i].status = -1;
		steps[i].start_s = -1;
		if (strlen(steps[i].id) > p->id_width)
			p->id_width = strlen(steps[i].id);
	}
	if (p->o.head) {
		p->o.head = arena_strdup(a, mask_text(p->mask, p->o.head));
		log_line(p, nsteps, 0, '*', p->o.head);
	}
	if (p->printer->begin)
		p->printer->begin(p);
	return p;
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

/* Reports the start of a step to the printer once, but not for a step that ends immediately. */
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
	struct buf *b = &p->say;
	char took[TIME_BYTES];

	if (w->shown)
		return;
	buf_clear(b);
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
	if (p->steps[i].start_s < 0)
		p->steps[i].start_s = p->now_s;
	if (p->steps[i].state == STEP_WAITING)
		p->steps[i].state = STEP_RUNNING;
}

/* Ends one instruction of a step; seconds: the engine's value, or -1. */
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
	log_line(p, p->nsteps, p->now_s, '|', text);
	/* Skips lines about the engine's own input, and repetitions of a failure. */
	if (!*text || p->failed < p->nsteps || starts_with(text, "[internal]") ||
	    starts_with(text, "transferring "))
		return;
	snprintf(p->other, sizeof(p->other), "%s", text);
	p->other_s = p->now_s;
	if (p->printer->line)
		p->printer->line(p, p->nsteps, p->now_s, text);
}

/* templates/compile.py prints the peak memory, in MiB: "stackbuild-peak mamba-ssm 1540". */
#define PEAK_WORD "stackbuild-peak "

static void
line(struct progress *p, size_t i, double seconds, const char *text)
{
	struct step_work *w = &p->work[i];
	double at = p->now_s;

	if (!w->open)
		started(p, i);
	/* The engine delayed the line, and its own clock shows that the step began earlier. */
	if (seconds >= 0) {
		if (p->now_s - seconds < w->opened_s && p->now_s >= seconds && w->open == 1)
			w->opened_s = p->now_s - seconds;
		if (p->steps[i].start_s > w->opened_s)
			p->steps[i].start_s = w->opened_s;
		at = w->opened_s + seconds < p->now_s ? w->opened_s + seconds : p->now_s;
	}
	announce(p, i);
	log_line(p, i, at, '|', text);
	if (!*text)
		return;
	if (starts_with(text, PEAK_WORD)) {
		size_t peak_mib = strtoul(strrchr(text, ' ') + 1, NULL, 10);

		if (peak_mib > p->steps[i].peak_mib)
			p->steps[i].peak_mib = peak_mib;
	}
	tail_add(p->a, w, text);
	tail_detail(w, text);
	if (p->printer->line)
		p->printer->line(p, i, at, text);
}

void
progress_event(void *ctx, const struct build_event *e)
{
	struct progress *p = ctx;
	const char *text = mask_text(p->mask, e->text ? e->text : "");
	size_t i = find(p, e->step);

	if (i == p->nsteps) {
		/*
		 * Instructions that belong to no step, such as FROM another stage, are not shown.
		 */
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
		/* A later call of the engine repeats the steps of earlier calls. */
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

	if (i < p->nsteps && p->steps[i].state == STEP_RUNNING && !p->work[i].open)
		completed(p, i);
}

void
progress_stored(struct progress *p, const char *step, const char *note)
{
	size_t i = find(p, step);

	if (i == p->nsteps)
		return;
	p->steps[i].note = arena_strdup(p->a, mask_text(p->mask, note));
	p->steps[i].state = STEP_STORE;
}

/* --- the end --- */

bool
progress_end(struct progress *p, const char **why)
{
	const struct stream *bad = p->out.error ? &p->out : &p->log;
	bool good = p->failed == p->nsteps;

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
		if (p->log.f && fclose(p->log.f) != 0 && !p->log.error)
			p->log.error = errno;
		p->log.f = NULL;
		bad = p->out.error ? &p->out : &p->log;
	}
	if (!bad->error)
		return true;
	if (why)
		*why = arena_printf(p->a, "%s could not be written: %s", bad->name,
				    strerror(bad->error));
	return false;
}

/* --- the report on a failed step --- */

/* pip's messages about a truncated download, before 25.1 and since. */
static const char broken_words[] =
	"IncompleteRead|Connection broken|Read timed out|incomplete-download|ConnectionResetError|"
	"BadZipFile|Wheel .* is invalid|DO NOT MATCH THE HASHES";

bool
progress_retry(struct progress *p)
{
	const struct progress_step *s = &p->steps[p->failed];
	bool broken = false;

	for (size_t i = 0; p->failed < p->nsteps && i < s->tail.n; i++)
		broken |= str_matches(s->tail.at[i], broken_words) &&
			  !strstr(s->tail.at[i], "Retrying (");
	if (!broken)
		return false;
	log_line(p, p->failed, p->now_s, '*', "a download failed: the step runs again");
	for (size_t i = 0; i < p->nsteps; i++)
		if (p->steps[i].state >= STEP_FAILED) {
			p->steps[i].state = STEP_WAITING;
			p->work[i].tail = NULL;
		}
	p->failed = p->nsteps;
	return true;
}

const char *
progress_masked(struct progress *p, const char *text)
{
	return mask_text(p->mask, text);
}

/* Explanations by the shell's exit status (0: any) or a word in the last lines, for any command. */
static const struct {
	int status;
	const char *word, *why, *help;
} reasons[] = {
	{ 137, "Killed", "the process was killed: most likely, memory ran out",
	  "run one compiler at a time with build --jobs 1, or raise the memory limit" },
	{ 0, "No space left on device", "a disk is full: that of the engine's layers, or /tmp",
	  "free disk space: the engine's prune command removes old layers" },
	{ 0, "timed out", "a server did not answer in time; the lines above name it",
	  "check that this host can reach it; set PIP_TIMEOUT for a longer limit, or `index: "
	  "{url}` for another index" },
	{ 0, "from versions: none", "the index does not have it, or requires a login",
	  "set `index: {url: ..., secret: NAME}` for another index and the secret of its login" },
	{ 139, NULL, "a segmentation fault ended the process", NULL },
	{ 143, NULL, "the process was terminated (SIGTERM)", NULL },
	{ 127, NULL, "a command was not found", NULL },
	{ 126, NULL, "a command could not be executed", NULL },
};

static bool
has_word(const struct names *lines, const char *word)
{
	for (size_t i = 0; word && i < lines->n; i++)
		if (strstr(lines->at[i], word))
			return true;
	return false;
}

const struct progress_step *
progress_failed(struct progress *p, const char **why, const char **help)
{
	const struct progress_step *s = &p->steps[p->failed];

	*why = *help = NULL;
	if (p->failed == p->nsteps)
		return NULL;
	for (size_t i = 0; !*why && i < COUNT(reasons); i++)
		if ((reasons[i].status && s->status == reasons[i].status) ||
		    has_word(&s->tail, reasons[i].word)) {
			*why = reasons[i].why;
			*help = reasons[i].help;
			if (!i && s->peak_mib)
				*why = arena_printf(p->a, "%s (%.1f GiB measured)", *why,
						    (double)s->peak_mib / 1024);
		}
	return s;
}

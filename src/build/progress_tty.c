#include "screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

/*
 * The screen of a build: finished steps scroll up, running ones are below them. It redraws changed
 * lines at most ten times a second:
 *
 *      ok  torch           1:48
 *      ok  mamba-ssm       0:01  from the store (sm_80 sm_89, torch 2.2.2+cu121)
 *      ..  causal-conv1d   3:12  of about 5:40   3/9 2.9 GiB  causal_conv1d_bwd.cu
 *          check
 *     3:31 elapsed, about 2:40 left                              log: out/x/build.log
 *
 * The cursor is hidden only while a frame is written, so that the terminal stays usable even if
 * this process is killed. Lines that stay in place are ASCII and narrower than the screen.
 */
enum { LIVE_MAX = 48, WAITING_SHOWN = 5, WIDE_MAX = 120, LEFT_AFTER_S = 2 };
#define FRAME_S 0.1

struct tty {
	struct buf *now, *was; /* LIVE_MAX lines */
	size_t n, n_was;
	size_t columns, rows, columns_was;
	struct buf over;  /* lines that scroll up with the next frame */
	struct buf frame; /* the frame to write */
	double drawn_s;
};

/*
 * Estimates the remaining time: for each unfinished step, its estimate minus its time so far, at
 * the pace of the finished steps; lanes run in parallel, other steps one after another.
 */
enum { PACE_PRIOR_S = 30 /* seconds of steps, assumed to run as estimated */ };

double
progress_pace(const struct progress *p)
{
	double took = PACE_PRIOR_S, said = PACE_PRIOR_S, pace;

	for (size_t i = 0; i < p->nsteps; i++)
		/* A step that took almost no time was cached, and does not show the pace. */
		if (p->steps[i].state == STEP_DONE && p->steps[i].estimate_s > 0 &&
		    p->steps[i].seconds > p->steps[i].estimate_s / 10) {
			took += p->steps[i].seconds;
			said += p->steps[i].estimate_s;
		}
	pace = took / said;
	return pace < 0.25 ? 0.25 : pace > 4 ? 4 : pace;
}

/* Returns the time that a step takes at that pace; when that time has passed, its own estimate. */
static double
estimated(const struct progress_step *s, double spent, double pace)
{
	return s->estimate_s * pace > spent ? s->estimate_s * pace : s->estimate_s;
}

static double
remaining_of(const struct progress *p, size_t i, double pace)
{
	const struct progress_step *s = &p->steps[i];
	double spent = progress_spent(p, i), left = estimated(s, spent, pace) - spent;

	if (s->state != STEP_WAITING && s->state != STEP_RUNNING)
		return 0;
	if (s->estimate_s <= 0)
		return 0;
	/* For a step over its estimate, assumes another tenth of its time so far. */
	return left > spent / 10 ? left : spent / 10;
}

double
progress_remaining(const struct progress *p)
{
	double pace = progress_pace(p), alone = 0, longest = 0;
	bool known = false;

	for (size_t i = 0; i < p->nsteps; i++) {
		const struct progress_step *s = &p->steps[i];
		double lane = 0;

		known |=
			(s->state == STEP_WAITING || s->state == STEP_RUNNING) && s->estimate_s > 0;
		if (!s->lane) {
			alone += remaining_of(p, i, pace);
			continue;
		}
		for (size_t k = 0; k < p->nsteps; k++)
			if (p->steps[k].lane && !strcmp(p->steps[k].lane, s->lane))
				lane += remaining_of(p, k, pace);
		longest = lane > longest ? lane : longest;
	}
	return known ? alone + longest : -1;
}

/* --- the lines --- */

static void
size_of_terminal(const struct progress *p, struct tty *t)
{
	struct winsize w = { 0 };

	if (!p->o.columns && p->o.out)
		ioctl(fileno(p->o.out), TIOCGWINSZ, &w);
	t->columns = p->o.columns ? p->o.columns : w.ws_col ? w.ws_col : 80;
	t->columns = t->columns < 20 ? 20 : t->columns;
	t->rows = p->o.rows ? p->o.rows : w.ws_row ? w.ws_row : 24;
}

static struct buf *
live(struct tty *t)
{
	buf_clear(&t->now[t->n]);
	return &t->now[t->n++];
}

static size_t
room(const struct tty *t)
{
	size_t most = t->rows > 3 ? t->rows - 2 : 1;

	return most < LIVE_MAX ? most : LIVE_MAX;
}

static void
running_line(struct progress *p, size_t i, struct buf *b)
{
	const struct progress_step *s = &p->steps[i];
	const struct step_work *w = &p->work[i];
	double spent = progress_spent(p, i), about = estimated(s, spent, progress_pace(p));
	char time[TIME_BYTES];

	buf_printf(b, " ..  %-*s  %7s", (int)p->id_width, s->id, progress_time(time, spent));
	/* Shows that a step with instructions in several stages waits, and does not hang. */
	if (!w->open) {
		buf_puts(b, "  the rest follows later");
		return;
	}
	if (s->state == STEP_STORE && s->note)
		buf_printf(b, "  %s", s->note);
	else if (s->estimate_s <= 0)
		buf_puts(b, "  time unknown");
	else if (about > spent && about >= 1)
		buf_printf(b, "  of about %s", progress_time(time, about));
	else if (about >= 1)
		buf_printf(b, "  (estimate: %s)", progress_time(time, about));
	/* A narrow terminal cuts the end of the line: the names of the files. */
	if (w->detail[0])
		buf_puts(b, "  ");
	if (w->files && w->compiles)
		buf_printf(b, " %u/%u", w->files_done, w->files);
	if (s->peak_mib && !strstr(w->detail, " GiB  "))
		buf_printf(b, " %.1f GiB ", (double)s->peak_mib / 1024);
	if (w->detail[0])
		buf_printf(b, " %s", w->detail);
}

static void
steps_lines(struct progress *p, struct tty *t)
{
	size_t most = room(t) - 1, left = 0, waiting = 0;

	for (size_t i = 0; i < p->nsteps; i++) {
		const struct step_work *w = &p->work[i];

		if (p->steps[i].state != STEP_RUNNING && !(w->open && w->announced))
			continue;
		if (t->n + 1 < most)
			running_line(p, i, live(t));
		else
			left++;
	}
	for (size_t i = 0; i < p->nsteps; i++) {
		const struct progress_step *s = &p->steps[i];
		/* Wheels from a store must still be installed. */
		bool stored = s->state == STEP_STORE && !p->work[i].shown && !p->work[i].open;

		if (s->state != STEP_WAITING && !stored)
			continue;
		if (t->n + 1 >= most || waiting++ >= WAITING_SHOWN)
			left++;
		else if (stored)
			buf_printf(live(t), "     %-*s           %s", (int)p->id_width, s->id,
				   s->note);
		else
			buf_printf(live(t), "     %s", s->id);
	}
	if (left && t->n < most)
		buf_printf(live(t), "     and %zu more", left);
}

/* Rounds the remaining time for "about 2:40 left", because it is only an estimate. */
static double
rounded(double s)
{
	double grain = s < 60 ? 5 : s < 600 ? 10 : 60;

	return (double)(unsigned long)(s / grain + 1) * grain;
}

static void
last_line(struct progress *p, struct tty *t)
{
	struct buf *b = live(t);
	double left = progress_remaining(p);
	const char *least = "";
	char time[TIME_BYTES];
	size_t wide = t->columns < WIDE_MAX ? t->columns - 1 : WIDE_MAX;

	buf_printf(b, "%s elapsed", progress_time(time, p->now_s));
	for (size_t i = 0; i < p->nsteps; i++) {
		const struct progress_step *s = &p->steps[i];

		if ((s->state == STEP_WAITING || s->state == STEP_RUNNING) && s->estimate_s <= 0)
			least = "at least ";
	}
	if (left >= 0 && p->now_s >= LEFT_AFTER_S && !p->ended)
		buf_printf(b, ", %sabout %s left", least, progress_time(time, rounded(left)));
	if (p->o.log_path && b->n + strlen(p->o.log_path) + 8 <= wide)
		buf_printf(b, "%*slog: %s", (int)(wide - b->n - strlen(p->o.log_path) - 5), "",
			   p->o.log_path);
}

/* Reduces a line to ASCII and to the width of the screen. */
static void
clip(const struct tty *t, struct buf *b)
{
	if (b->n > t->columns - 1)
		b->p[b->n = t->columns - 1] = '\0';
	for (size_t i = 0; i < b->n; i++)
		if ((unsigned char)b->p[i] < 0x20 || (unsigned char)b->p[i] > 0x7e)
			b->p[i] = '?';
}

static void
compose(struct progress *p, struct tty *t)
{
	bool busy = false;

	t->n = 0;
	for (size_t i = 0; i < p->nsteps; i++)
		busy |= p->work[i].open > 0;
	steps_lines(p, t);
	if (!busy && p->other[0] && t->n + 1 < room(t)) {
		char time[TIME_BYTES];

		buf_printf(live(t), " ..  %-*s  %7s  %s", (int)p->id_width, "-",
			   progress_time(time, p->now_s - p->other_s), p->other);
	}
	last_line(p, t);
}

/* --- the frame --- */

static void
put_line(const struct progress *p, struct buf *out, const char *s)
{
	static const char *const tints[][2] = { { " ok ", "\033[32m" },
						{ " .. ", "\033[36m" },
						{ " !! ", "\033[1;31m" } };

	for (size_t i = 0; i < 3; i++)
		if (p->o.colour && starts_with(s, tints[i][0]) && s[4]) {
			buf_printf(out, "%s%.4s\033[m", tints[i][1], s);
			s += 4;
			break;
		}
	buf_printf(out, "%s\033[K\r\n", s);
}

/* Returns the number of rows of the old frame, whose lines wrap if the terminal became narrower. */
static size_t
rows_of(const struct tty *t)
{
	size_t rows = 0;

	for (size_t i = 0; i < t->n_was; i++)
		rows += t->was[i].n > t->columns ? (t->was[i].n + t->columns - 1) / t->columns : 1;
	return rows;
}

static void
draw(struct progress *p, struct tty *t)
{
	bool moved = t->over.n || t->columns != t->columns_was, changed = moved || t->n != t->n_was;
	size_t up = rows_of(t);
	struct buf *was = t->was;

	for (size_t i = 0; i < t->n; i++) {
		clip(t, &t->now[i]);
		changed = changed || strcmp(t->now[i].p, was[i].p) != 0;
	}
	if (!changed)
		return;
	t->frame.n = 0;
	buf_puts(&t->frame, "\033[?25l");
	if (up)
		buf_printf(&t->frame, "\r\033[%zuA", up);
	buf_add(&t->frame, buf_text(&t->over), t->over.n);
	for (size_t i = 0; i < t->n; i++)
		if (!moved && i < t->n_was && !strcmp(t->now[i].p, was[i].p))
			buf_puts(&t->frame, "\r\n");
		else
			put_line(p, &t->frame, t->now[i].p);
	if (moved || t->n < t->n_was)
		buf_puts(&t->frame, "\033[J");
	buf_puts(&t->frame, "\033[?25h");
	progress_write(&p->out, t->frame.p, t->frame.n);
	t->was = t->now;
	t->now = was;
	t->n_was = t->n;
	t->columns_was = t->columns;
	t->over.n = 0;
}

/* --- the printer --- */

static void
tty_begin(struct progress *p)
{
	struct tty *t = p->tty = arena_new_of(p->a, struct tty);

	t->over = t->frame = BUF(p->a);
	t->now = arena_array_of(p->a, struct buf, 2 * LIVE_MAX);
	t->was = t->now + LIVE_MAX;
	for (size_t i = 0; i < 2 * LIVE_MAX; i++)
		t->now[i] = BUF(p->a);
	t->drawn_s = -1;
	size_of_terminal(p, t);
	t->columns_was = t->columns;
	if (p->o.head)
		put_line(p, &t->over, p->o.head);
}

static void
tty_change(struct progress *p, size_t step)
{
	const struct progress_step *s = &p->steps[step];
	bool bad = s->state == STEP_FAILED, stopped = s->state == STEP_ENDED;
	struct buf *b = &p->say;
	char time[TIME_BYTES];

	if (!p->work[step].shown)
		return;
	buf_clear(b);
	buf_printf(b, " %s  %-*s  %7s",
		   bad     ? "!!" :
		   stopped ? "--" :
			     "ok",
		   (int)p->id_width, s->id, progress_time(time, s->seconds));
	if (s->note || bad || stopped || s->state == STEP_CACHED)
		buf_puts(b, "  ");
	progress_outcome(p, step, b);
	if (s->peak_mib)
		buf_printf(b, "  %.1f GiB", (double)s->peak_mib / 1024);
	put_line(p, &p->tty->over, b->p);
}

static void
tty_tick(struct progress *p)
{
	struct tty *t = p->tty;

	if (p->now_s - t->drawn_s < FRAME_S)
		return;
	t->drawn_s = p->now_s;
	size_of_terminal(p, t);
	compose(p, t);
	draw(p, t);
}

static void
tty_end(struct progress *p)
{
	struct tty *t = p->tty;

	size_of_terminal(p, t);
	t->n = 0;
	for (size_t i = 0; i < p->nsteps; i++)
		if (p->steps[i].state == STEP_WAITING && p->failed < p->nsteps)
			buf_printf(live(t), " --  %-*s  %7s  not started", (int)p->id_width,
				   p->steps[i].id, "");
	last_line(p, t);
	draw(p, t);
}

const struct printer progress_tty = {
	.begin = tty_begin, .change = tty_change, .tick = tty_tick, .end = tty_end
};

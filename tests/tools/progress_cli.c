/*
 * progress_cli: passes a recorded log of an engine through the parser and a printer, with the
 * times of the record, so that the output is the same each time.
 *
 *     progress_cli MODE PLAN LOG [--columns N] [--rows N] [--log FILE] [--secret TEXT]
 *                  [--colour] [--speed X]
 *
 * MODE   tty, plain, json, quiet; events: the events of the parser, one on each line
 * PLAN   dialect NAME | head TEXT | step ID LINE ESTIMATE_S LANE|- |
 *        instruction STAGE|- STAGE_NO LAYER_NO NO STEP|- | store ID NOTE | memory ID MIB
 * LOG    lines of SECONDS STREAM TEXT, and at the end SECONDS exit STATUS (tests/build/record)
 *
 * --speed X waits between lines like the record, X times as fast;
 * --columns 0: as wide as the terminal.  The exit status is 0 if that of the engine is 0, otherwise
 * 1; 2 if the output could not be written.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "build/progress.h"

struct demo {
	struct arena *a;
	struct steps LIST(struct progress_step) steps;
	struct instructions of;
	struct progress_options o;
	enum output_dialect dialect;
	struct names later; /* "store ID NOTE", "memory ID MIB" */
	double speed;
	struct progress *p;
	struct output_parser *parser;
};

static const char *const kinds[] = {
	"start", "line", "done", "cached", "failed", "other", "ended"
};

static void
show_event(void *ctx, const struct build_event *e)
{
	(void)ctx;
	printf("%s %s", kinds[e->kind], e->step ? e->step : "-");
	if (e->seconds >= 0)
		printf(" %.3f s", e->seconds);
	if (e->status)
		printf(" status %d", e->status);
	printf("%s%s%s\n", e->last ? " last" : "", e->text ? " | " : "", e->text ? e->text : "");
}

static void
die(const char *what)
{
	fprintf(stderr, "progress_cli: %s\n", what);
	exit(2);
}

static const char *
word(struct demo *d, char **s)
{
	size_t n = strcspn(*s, " ");
	const char *w = arena_copy(d->a, *s, n);

	*s += n;
	*s += strspn(*s, " ");
	return strcmp(w, "-") != 0 && *w ? w : NULL;
}

static unsigned
number(struct demo *d, char **s)
{
	const char *w = word(d, s);

	return w ? (unsigned)strtoul(w, NULL, 10) : 0;
}

static void
plan_row(struct demo *d, char *s)
{
	static const char *const dialects[] = { "buildkit", "buildah", "script", "modal" };
	char *whole = s;
	const char *what = word(d, &s);

	if (!what || *what == '#')
		return;
	if (!strcmp(what, "dialect")) {
		for (size_t i = 0; i < 4; i++)
			if (!strcmp(s, dialects[i]))
				d->dialect = (enum output_dialect)i;
	} else if (!strcmp(what, "head")) {
		d->o.head = arena_strdup(d->a, s);
	} else if (!strcmp(what, "step")) {
		struct progress_step one = { .id = word(d, &s) };

		one.recipe_line = number(d, &s);
		one.estimate_s = number(d, &s);
		one.lane = word(d, &s);
		list_push(d->a, &d->steps, one);
	} else if (!strcmp(what, "instruction")) {
		struct instruction one = { .stage = word(d, &s) };

		one.stage_no = number(d, &s);
		one.layer_no = number(d, &s);
		one.no = number(d, &s);
		one.step = word(d, &s);
		list_push(d->a, &d->of, one);
	} else {
		list_push(d->a, &d->later, arena_strdup(d->a, whole));
	}
}

static void
read_plan(struct demo *d, const char *path)
{
	FILE *f = fopen(path, "r");
	char line[512];

	if (!f)
		die("the plan cannot be read");
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		plan_row(d, line);
	}
	fclose(f);
}

static void
tell_later(struct demo *d)
{
	for (size_t i = 0; d->p && i < d->later.n; i++) {
		char *s = arena_strdup(d->a, d->later.at[i]);
		const char *what = word(d, &s), *id = word(d, &s);

		for (size_t k = 0; k < d->steps.n && !strcmp(what, "memory"); k++)
			if (!strcmp(d->steps.at[k].id, id))
				d->steps.at[k].peak_mib = number(d, &s);
		if (!strcmp(what, "store"))
			progress_stored(d->p, id, s);
	}
}

static void
wait_for(const struct demo *d, double seconds)
{
	struct timespec t;

	if (d->speed <= 0 || seconds <= 0)
		return;
	seconds /= d->speed;
	t.tv_sec = (time_t)seconds;
	t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
	nanosleep(&t, NULL);
}

/* Calls a tick every 100 ms, as in a build, and one at the time of the line. */
static void
pass_time(struct demo *d, double *now, double until)
{
	while (d->p && *now + 0.1 < until) {
		*now += 0.1;
		wait_for(d, 0.1);
		progress_tick(d->p, *now);
	}
	wait_for(d, until - *now);
	*now = until > *now ? until : *now;
	if (d->p)
		progress_tick(d->p, *now);
}

static int
replay(struct demo *d, const char *path)
{
	FILE *f = fopen(path, "r");
	char *line = NULL, *s;
	size_t cap = 0;
	ssize_t n;
	double now = 0;
	int status = -1;

	if (!f)
		die("the log cannot be read");
	while ((n = getline(&line, &cap, f)) > 0) {
		double at = strtod(line, &s);

		if (s == line || *s++ != ' ')
			die("a line of the log has no time");
		pass_time(d, &now, at);
		if (line[n - 1] == '\n')
			n--;
		if (starts_with(s, "exit ")) {
			status = atoi(s + 5);
			break;
		}
		output_parser_line(d->parser, *s == '2' ? PROC_ERR : PROC_OUT, s + 2,
				   (size_t)(line + n - s) - 2);
	}
	fclose(f);
	free(line);
	output_parser_end(d->parser, status);
	return status;
}

static void
options(struct demo *d, int argc, char **argv)
{
	for (int i = 4; i < argc; i++) {
		const char *name = argv[i];

		if (!strcmp(name, "--colour"))
			d->o.colour = true;
		else if (++i == argc)
			die("an option has no value");
		else if (!strcmp(name, "--columns"))
			d->o.columns = (unsigned)atoi(argv[i]);
		else if (!strcmp(name, "--rows"))
			d->o.rows = (unsigned)atoi(argv[i]);
		else if (!strcmp(name, "--speed"))
			d->speed = atof(argv[i]);
		else if (!strcmp(name, "--secret"))
			list_push(d->a, &d->o.masked, argv[i]);
		else if (!strcmp(name, "--log") && !(d->o.log = fopen(argv[i], "w")))
			die("the log cannot be written");
	}
	if (d->o.log)
		d->o.log_path = "out/demo/build.log";
}

/* Prints the result for the caller as text. */
static void
show_failure(const struct progress_step *f, const char *why, const char *help, const char *log)
{
	unsigned s = (unsigned)(f->seconds + 0.5);

	printf("failed: step %s", f->id);
	if (f->recipe_line)
		printf(" (recipe line %u)", f->recipe_line);
	printf(" after %u:%02u", s / 60, s % 60);
	if (f->status >= 0)
		printf(", exit %d", f->status);
	puts("");
	for (size_t i = 0; i < f->tail.n; i++)
		printf("  %s\n", f->tail.at[i]);
	if (why)
		printf("  %s\n", why);
	if (help)
		printf("  try: %s\n", help);
	if (log)
		printf("  all that was printed: %s\n", log);
}

int
main(int argc, char **argv)
{
	static const char *const modes[] = { "auto", "tty", "plain", "json", "quiet" };
	struct demo d = { .a = arena_new(), .o = { .out = stdout } };
	const struct progress_step *failure;
	const char *why = NULL, *help;
	bool events;
	int status;

	signal(SIGPIPE, SIG_IGN);
	if (argc < 4)
		die("MODE PLAN LOG");
	events = !strcmp(argv[1], "events");
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(argv[1], modes[i]))
			d.o.mode = (enum progress_mode)i;
	options(&d, argc, argv);
	read_plan(&d, argv[2]);
	if (!events)
		d.p = progress_new(d.a, &d.o, d.steps.at, d.steps.n);
	d.parser =
		output_parser_new(d.a, d.dialect, d.of, events ? show_event : progress_event, d.p);
	if (d.p)
		progress_tick(d.p, 0);
	tell_later(&d);
	status = replay(&d, argv[3]);
	if (d.p && !progress_end(d.p, &why)) {
		fprintf(stderr, "progress_cli: %s\n", why);
		status = 2;
	} else if (d.p && (failure = progress_failed(d.p, &why, &help))) {
		show_failure(failure, why, help, d.o.log_path);
		status = 1;
	}
	arena_free(d.a);
	return status ? status == 2 ? 2 : 1 : 0;
}

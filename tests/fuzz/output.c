/*
 * libFuzzer: the output of an engine, as any bytes, through each dialect and printer.  The first byte
 * selects dialect and printer; a line that begins with 0x01 to 0x1f advances the time by that value; the rest
 * are lines.
 *
 * Properties: the text of every event is inert; an event belongs to the table; a secret is
 * neither shown nor logged.
 */
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include "build/progress.h"

#define SECRET "hunter2-4711"

static struct instruction table[] = {
	{ "stack", 1, 1, 1, 1, "base" },  { "stack", 1, 2, 2, 2, "torch" },
	{ "stack", 1, 3, 3, 3, "torch" }, { "ext-a", 2, 0, 1, 4, NULL },
	{ "ext-a", 2, 1, 2, 5, "a" },     { NULL, 3, 1, 1, 6, "b" },
	{ "final", 4, 0, 1, 7, NULL },    { "final", 4, 1, 2, 8, "a" },
	{ "final", 4, 2, 3, 9, "b" },
};

struct both {
	struct progress *p;
	unsigned events;
};

static void
on_event(void *ctx, const struct build_event *e)
{
	struct both *b = ctx;

	b->events++;
	must(e->kind <= EVENT_ENDED, "an event of a known kind");
	must(e->seconds >= -1 && e->seconds < 1e9, "seconds are bounded");
	must(e->status >= -1 && e->status < 256, "a status is one");
	for (const char *s = e->text; s && *s; s++)
		must((unsigned char)*s >= 0x20 && *s != 0x7f, "text is inert");
	if (e->instruction) {
		must(e->instruction >= table && e->instruction < table + 9, "ours");
		must(e->step == e->instruction->step, "its step");
	}
	progress_event(b->p, e);
}

static FILE *
empty_file(void)
{
	FILE *f = fdopen(memfd_create("output", 0), "w");

	must(f != NULL, "a file in memory");
	return f;
}

/* Returns the content of a file up to its position, and empties it. */
static const char *
written(struct arena *a, int fd)
{
	off_t n = lseek(fd, 0, SEEK_CUR);
	char *text = arena_alloc(a, (size_t)n + 1, 1);

	must(pread(fd, text, (size_t)n, 0) == n && !ftruncate(fd, 0) && !lseek(fd, 0, SEEK_SET),
	     "the file is read");
	for (off_t i = 0; i < n; i++)
		text[i] = text[i] ? text[i] : ' ';
	text[n] = '\0';
	return text;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *out;
	FILE *log = empty_file(); /* progress_end closes it */
	int log_fd = dup(fileno(log));
	struct arena *a = arena_new();
	struct progress_step steps[] = { { .id = "base", .estimate_s = 3 },
					 { .id = "torch", .estimate_s = 100 },
					 { .id = "a", .estimate_s = 200, .lane = "a" },
					 { .id = "b", .lane = "b" } };
	struct progress_options o = { .colour = true, .columns = 40, .rows = 6, .head = "head" };
	struct both b = { 0 };
	struct output_parser *parser;
	const struct progress_step *failure;
	const char *why, *help;
	double now = 0;

	if (!out)
		out = empty_file();
	o.out = out;
	o.log = log;
	list_push(a, &o.masked, SECRET);
	o.mode = (enum progress_mode)(size ? 1 + data[0] / 4 % 4 : 1);
	b.p = progress_new(a, &o, steps, 4);
	parser = output_parser_new(a, size ? data[0] % 4 : 0, (struct instructions){ table, 9, 9 },
				   on_event, &b);
	for (size_t i = 1; i < size;) {
		const uint8_t *end = memchr(data + i, '\n', size - i);
		size_t n = end ? (size_t)(end - data) - i : size - i;

		if (n && data[i] < 0x20)
			now += data[i];
		progress_tick(b.p, now);
		output_parser_line(parser, i % 2 ? PROC_OUT : PROC_ERR, (const char *)data + i, n);
		i += n + 1;
	}
	output_parser_end(parser, (int)(size % 3) - 1);
	must(progress_end(b.p, NULL), "memory takes everything");
	must(!strstr(written(a, fileno(out)), SECRET) && !strstr(written(a, log_fd), SECRET),
	     "the secret is shown nowhere");
	close(log_fd);
	for (size_t i = 0; i < 4; i++) {
		must(steps[i].state != STEP_RUNNING, "nothing runs on");
		must(steps[i].seconds >= 0 && steps[i].seconds < 1e18, "its time is one");
	}
	if ((failure = progress_failed(b.p, &why, &help)))
		must(failure->id && failure->tail.n <= 8, "a failure is a step's, in few lines");
	arena_free(a);
	return 0;
}

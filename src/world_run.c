/* stackbuild run: run a command and check that it uses the GPU. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"
#include "diagnose/diagnose.h"
#include "verbs.h"
#include "watch/watch.h"

enum { EXIT_NOT_KNOWN = 3, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };
enum { HELD_MAX = 64 * 1024 };

/* The state of a run, for the callbacks. */
struct session {
	struct run *r;
	struct watch *watch;
	struct pace *pace;       /* NULL: neither a limit nor a price */
	struct diagnosis *d;     /* for --debug; otherwise NULL */
	struct buf held[2];      /* the unfinished line of each stream */
	const char *trace, *out; /* the hook's directory; directory of traces and similar files */
	int unsaid;              /* errno of a text of run that could not be printed; otherwise 0 */
};

/* Prints a text of run; a user who closed standard error does not want it. */
static void
print(struct session *s, const struct buf *b)
{
	if (!fs_write_all(2, b->p ? b->p : "", b->n) && errno != EPIPE && errno != EBADF)
		s->unsaid = errno;
}

static void
diagnose_bytes(struct diagnosis *d, const char *p, size_t n)
{
	while (n) {
		size_t room, take;
		char *to = diagnose_room(d, &room);

		take = n < room ? n : room;
		memcpy(to, p, take);
		diagnose_added(d, take);
		p += take;
		n -= take;
	}
}

/* Passes whole lines to the diagnosis, so that the two streams do not mix within a line. */
static void
diagnose_stream(struct session *s, enum proc_stream from, const char *p, size_t n)
{
	struct buf *held = &s->held[from];
	const char *end = memrchr(p, '\n', n);
	size_t whole = end ? (size_t)(end - p) + 1 : held->n + n > HELD_MAX ? n : 0;

	if (whole) {
		diagnose_bytes(s->d, buf_text(held), held->n);
		buf_clear(held);
		diagnose_bytes(s->d, p, whole);
	}
	buf_add(held, p + whole, n - whole);
}

/* Warns during the run, so that the user can stop one that is too slow. */
static void
warn_of_pace(struct session *s, double now_s)
{
	const char *why = s->pace ? pace_warning(s->pace, now_s) : NULL;
	struct diags ds = DIAGS(ds, s->r->a);

	if (!why || s->r->o->quiet)
		return;
	diag_help(diag_at(&ds, W_PACE, NOWHERE, "%s", why),
		  "save checkpoints and resume in a second run, or use a faster GPU");
	diags_print(&ds, stderr, option_colour(s->r->o, STDERR_FILENO));
	fflush(stderr);
}

static void
on_output(void *ctx, enum proc_stream from, const char *bytes, size_t n, double now_s)
{
	struct session *s = ctx;

	if (s->d)
		diagnose_stream(s, from, bytes, n);
	if (s->pace)
		pace_feed(s->pace, from, bytes, n, now_s);
}

static double
on_tick(void *ctx, double now_s)
{
	struct session *s = ctx;

	warn_of_pace(s, now_s);
	return watch_tick(s->watch, now_s);
}

/* Reads "h100:2" as a price per hour; false: a usage error was printed. */
static bool
read_price(struct run *r, double *usd, const char **name)
{
	const char *price = r->o->price, *colon = strchr(price, ':');
	const struct facts *f = r->facts = program_knowledge(r);
	const char *gpu = arena_copy(r->a, price, strcspn(price, ":"));
	const struct modal_gpu *g = f ? facts_modal_gpu(f, gpu) : NULL;
	long n = colon ? strtol(colon + 1, NULL, 10) : 1;

	if (!g || g->usd_per_hour <= 0 || n < 1 || n > (long)g->count_max) {
		struct names known = { 0 };
		size_t all = 0;
		const struct modal_gpu *m = f ? facts_modal_gpus(f, &all) : NULL;

		for (size_t i = 0; i < all; i++)
			if (m[i].usd_per_hour > 0)
				list_push(r->a, &known, m[i].name);
		usage_error("--price takes a GPU of Modal with a known price: %s",
			    names_join(r->a, &known, ", "));
		return false;
	}
	*usd = g->usd_per_hour * (double)n;
	*name = n > 1 ? arena_printf(r->a, "%ld x %s", n, g->name) : g->name;
	return true;
}

/* Reads options as values; returns an exit status, or -1 to continue. */
static int
read_options(struct session *s)
{
	const struct options *o = s->r->o;
	double hours = 0, usd = 0;
	const char *name = NULL, *trace = o->trace;
	char *end;

	if (o->limit_hours) {
		hours = strtod(o->limit_hours, &end);
		if (*end || !(hours > 0 && hours <= 8760))
			return usage_error("--limit-hours takes hours, such as 24 or 0.5");
	}
	if (o->price && !read_price(s->r, &usd, &name))
		return EXIT_USAGE;
	if (hours > 0 || usd > 0)
		s->pace = pace_new(s->r->a, hours * 3600, usd, name);
	if (trace && *trace && !str_matches(trace, "^[1-9][0-9]{0,5}s?$"))
		return usage_error("--trace=N takes steps or seconds: --trace=3, --trace=10s");
	if (o->report && !ends_with(o->report, ".svg") && !ends_with(o->report, ".json"))
		return usage_error("--report takes a file that ends in .svg or .json");
	s->out = o->out ? o->out : "out/run";
	return -1;
}

/* Prints the block of --debug, and tests CUDA in a child. */
static bool
debug_begin(struct session *s, const char *const *argv, struct names *env)
{
	struct run *r = s->r;
	struct buf b = BUF(r->a), safe = BUF(r->a);
	bool good;

	if (!r->facts && !(r->facts = program_knowledge(r)))
		return false;
	buf_puts(&b, "stackbuild run --debug:\n");
	watch_block(s->watch, &b);
	good = python_block(r->a, argv, &b);
	buf_printf(
		&b,
		"  %-24sCUDA_LAUNCH_BLOCKING=1: each launch waits, so that an error shows at its "
		"line (20 to 30 %% slower)\n",
		"set:");
	if (!good)
		buf_puts(&b, "  The test did not pass. The command starts anyway.\n");
	inert_lines(r->a, buf_text(&b), &safe);
	print(s, &safe);
	list_push(r->a, env, "CUDA_LAUNCH_BLOCKING=1");
	s->d = diagnose_new(r->a, r->facts);
	return true;
}

/* Prints the causes that the output of a failed command shows, as `diagnose` does. */
static void
debug_end(struct session *s, const struct job_end *end)
{
	const struct causes *c;
	struct buf b = BUF(s->r->a);

	for (int i = 0; i < 2; i++)
		diagnose_bytes(s->d, buf_text(&s->held[i]), s->held[i].n);
	c = diagnose_end(s->d);
	if (!end->status)
		return;
	buf_puts(&b, "stackbuild run --debug: the command failed; its output shows:\n");
	diagnose_text(s->r->a, c, "output", NULL, &b);
	print(s, &b);
}

static bool
write_report(struct run *r, const struct use *u)
{
	struct buf b = BUF(r->a);

	if (ends_with(r->o->report, ".json"))
		use_json(u, &b);
	else
		use_svg(r->a, u, &b);
	return fs_write(&r->ds, r->o->report, b.p, b.n, 0644, false, NULL);
}

static void
print_trace(struct session *s)
{
	struct run *r = s->r;
	struct buf b = BUF(r->a);

	if (!trace_said(r->a, &r->ds, s->trace, &b) && !b.n)
		diag_help(diag_at(&r->ds, W_NOT_TRACED, NOWHERE,
				  "not traced: no Python process of the command imported torch"),
			  "for other programs, use NVIDIA Nsight Systems: nsys profile COMMAND");
	print(s, &b);
}

/* Reports output that could not be written; returns whether all of it was. */
static bool
output_complete(struct session *s, const struct job_end *end)
{
	static const char *const streams[] = { "standard output", "standard error" };
	bool good = true;

	for (int i = 0; i < 2; i++) {
		int error = end->lost[i] ? end->lost[i] : i ? s->unsaid : 0;

		if (error)
			diag_help(diag_at(&s->r->ds, E_RUN_OUTPUT, NOWHERE,
					  "output is lost: cannot write to %s: %s", streams[i],
					  strerror(error)),
				  "free some space, or write the output to another device");
		good &= !error;
	}
	return good;
}

static int
finish(struct session *s, const struct use *u)
{
	bool complete;

	struct run *r = s->r;
	struct buf b = BUF(r->a);
	const char *cost = s->pace ? pace_cost(s->pace, u->end.seconds) : NULL;

	use_text(r->a, u, isatty(2), &b);
	if (cost)
		buf_printf(&b, "  %s\n", cost);
	if (!r->o->quiet)
		print(s, &b);
	if (s->trace)
		print_trace(s);
	if (s->d)
		debug_end(s, &u->end);
	r->command_ran = true;
	complete = output_complete(s, &u->end);
	if (r->o->report && !write_report(r, u))
		complete = false;
	if (!complete && !u->end.status)
		return EXIT_DIAGNOSED;
	if (u->end.status || !r->o->require_gpu || u->verdict == VERDICT_USED)
		return u->end.status;
	if (u->verdict == VERDICT_UNUSED)
		diag_at(&r->ds, E_GPU_UNUSED, NOWHERE,
			"--require-gpu: the command did not use the GPU");
	else
		diag_at(&r->ds, W_GPU_UNKNOWN, NOWHERE,
			"--require-gpu: it is unknown whether the command used the GPU");
	return u->verdict == VERDICT_UNUSED ? EXIT_DIAGNOSED : EXIT_NOT_KNOWN;
}

int
verb_run(struct run *r)
{
	struct session s = { .r = r, .held = { BUF(r->a), BUF(r->a) } };
	struct names argv = r->o->args, env = { 0 };
	struct job_spec spec = { .output = on_output, .tick = on_tick, .ctx = &s };
	struct job_end end;
	int status = read_options(&s);

	if (status >= 0)
		return status;
	list_push(r->a, &argv, NULL);
	s.watch = watch_new(r->a);
	spec.helper = watch_helper(s.watch);
	if (r->o->debug && !debug_begin(&s, argv.at, &env))
		return EXIT_DIAGNOSED;
	if (r->o->trace &&
	    !(s.trace = trace_hook(r->a, &r->ds, *r->o->trace ? r->o->trace : "3", s.out, &env)))
		return EXIT_DIAGNOSED;
	spec.tee = r->o->debug || r->o->limit_hours;
	if (spec.tee && isatty(1))
		list_push(r->a, &env,
			  "PYTHONUNBUFFERED=1"); /* otherwise, lines would wait in a buffer */
	list_push(r->a, &env, NULL);
	spec.argv = argv.at;
	spec.env = env.at;
	job_run(r->a, &spec, &end);
	if (end.error) {
		diag_at(&r->ds, E_RUN_COMMAND, NOWHERE, "cannot start `%s`: %s", argv.at[0],
			strerror(end.error));
		if (s.trace)
			trace_said(r->a, &r->ds, s.trace,
				   &s.held[0]); /* the trace directory has no other files */
		r->command_ran = true;
		return end.error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	}
	return finish(&s, watch_end(s.watch, &end, argv.at));
}

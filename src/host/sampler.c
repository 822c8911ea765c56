#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"
#include "sample.h"

/*
 * The process that samples, and its answers. A byte on its socket is a question. An answer is its
 * size, then numbers of 8 bytes and texts after their size; the program is the same on both sides.
 */

enum { ANSWER_MAX = 64 * 1024 * 1024, LIST_MAX = 64 * 1024 };

/* --- in the process --- */

static double
cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
put(struct buf *b, long long n)
{
	buf_add(b, (const char *)&n, sizeof(n));
}

/* Writes a text; NULL as size -1. */
static void
put_text(struct buf *b, const char *s)
{
	put(b, s ? (long long)strlen(s) : -1);
	buf_puts(b, s ? s : "");
}

static void
put_gpus(struct buf *b, const struct host_gpus *g)
{
	put_text(b, g->driver);
	put_text(b, g->cuda);
	put_text(b, g->why_none);
	put(b, (long long)g->lost.n);
	for (size_t i = 0; i < g->lost.n; i++)
		put_text(b, g->lost.at[i]);
	put(b, (long long)g->list.n);
	list_each (gpu, &g->list) {
		put_text(b, gpu->name);
		put_text(b, gpu->uuid);
		put(b, gpu->major);
		put(b, gpu->minor);
		put(b, (long long)gpu->mem_mib);
		put(b, (long long)gpu->mem_used_mib);
	}
}

static void
put_sample(struct buf *b, const struct gpu_sample *s)
{
	put(b, s->busy);
	put(b, (long long)s->mem_mib);
	put(b, s->by_process);
	put(b, (long long)s->uses.n);
	list_each (u, &s->uses) {
		put(b, u->pid);
		put(b, u->busy);
		put(b, u->busy_mean);
		put(b, u->listed);
		put(b, (long long)u->mem_mib);
	}
}

static void
answer_questions(int fd, const void *library)
{
	struct arena *a = arena_new();
	const struct host_gpus *gpus;
	struct probe *p = probe_open(a, library, &gpus);
	struct gpu_sample *now = arena_array_of(a, struct gpu_sample, gpus->list.n + 1);
	double begun_s = 0;
	char question;

	while (read(fd, &question, 1) == 1) {
		struct arena *scratch = arena_new();
		struct buf b = BUF(scratch);
		long long size;

		memset(now, 0, gpus->list.n * sizeof(*now));
		if (p)
			probe_take(p, scratch, now);
		put(&b, 0); /* the size */
		put(&b, begun_s > 0 ? (long long)((cpu_now() - begun_s) * 1e9) : 0);
		put_text(&b, p ? probe_source(p) : NULL);
		put_gpus(&b, gpus);
		for (size_t i = 0; i < gpus->list.n; i++)
			put_sample(&b, &now[i]);
		size = (long long)b.n;
		memcpy(b.p, &size, sizeof(size));
		if (!fs_write_all(fd, b.p, b.n))
			return;
		begun_s = begun_s > 0 ? begun_s : cpu_now();
		arena_free(scratch);
	}
}

/* --- in this process --- */

/* Reads an answer; `bad` after one that is too short, as after a fault in the driver's library. */
struct reader {
	struct arena *a;
	const char *p;
	size_t n;
	bool bad;
};

static long long
get(struct reader *r)
{
	long long n = 0;

	if (r->n < sizeof(n)) {
		r->bad = true;
		return 0;
	}
	memcpy(&n, r->p, sizeof(n));
	r->p += sizeof(n);
	r->n -= sizeof(n);
	return n;
}

static size_t
get_count(struct reader *r)
{
	long long n = get(r);

	r->bad |= n < 0 || n > LIST_MAX;
	return r->bad ? 0 : (size_t)n;
}

static const char *
get_text(struct reader *r)
{
	long long n = get(r);
	const char *s = r->p;

	r->bad |= n < -1 || n > (long long)r->n;
	if (r->bad || n < 0)
		return NULL;
	r->p += n;
	r->n -= (size_t)n;
	return arena_copy(r->a, s, (size_t)n);
}

static const struct host_gpus *
get_gpus(struct reader *r)
{
	struct host_gpus *g = arena_new_of(r->a, struct host_gpus);

	g->driver = get_text(r);
	g->cuda = get_text(r);
	g->why_none = get_text(r);
	for (size_t n = get_count(r); n && !r->bad; n--)
		list_push(r->a, &g->lost, get_text(r));
	for (size_t n = get_count(r); n && !r->bad; n--) {
		struct host_gpu gpu = { .name = get_text(r), .uuid = get_text(r) };

		gpu.major = (unsigned)get(r);
		gpu.minor = (unsigned)get(r);
		gpu.mem_mib = (size_t)get(r);
		gpu.mem_used_mib = (size_t)get(r);
		list_push(r->a, &g->list, gpu);
	}
	return g;
}

static struct gpu_sample
get_sample(struct reader *r)
{
	struct gpu_sample s = { .busy = (int)get(r) };

	s.mem_mib = (size_t)get(r);
	s.by_process = get(r);
	for (size_t n = get_count(r); n && !r->bad; n--) {
		struct gpu_use u = { .pid = (int)get(r) };

		u.busy = (int)get(r);
		u.busy_mean = (int)get(r);
		u.listed = get(r);
		u.mem_mib = (size_t)get(r);
		list_push(r->a, &s.uses, u);
	}
	return s;
}

/* Reads a whole answer; NULL: it is not one. The list of GPUs of the first answer stays. */
static const struct gpu_sample *
get_answer(struct sampler *s, struct arena *a)
{
	struct arena *keep = s->gpus ? a : s->a;
	struct reader r = { keep, s->got.p, s->got.n, false };
	const struct host_gpus *gpus;
	struct gpu_sample *all;
	const char *source;

	get(&r);
	s->cpu_s = (double)get(&r) / 1e9;
	source = get_text(&r);
	gpus = get_gpus(&r);
	r.a = a;
	all = arena_array_of(a, struct gpu_sample, gpus->list.n + 1);
	for (size_t i = 0; i < gpus->list.n && !r.bad; i++)
		all[i] = get_sample(&r);
	if (r.bad || r.n || (s->gpus && s->gpus->list.n != gpus->list.n))
		return NULL;
	if (!s->gpus) {
		s->gpus = gpus;
		s->source = source;
	}
	return all;
}

static void
end(struct sampler *s, const char *why)
{
	s->why_ended = why;
	s->asked_s = 0;
	proc_helper_end(&s->helper);
}

/* Reads what has arrived; true: an answer is complete. */
static bool
receive(struct sampler *s)
{
	char chunk[16 * 1024];
	long long size = 0;
	ssize_t n;

	while ((n = read(s->helper.fd, chunk, sizeof(chunk))) > 0) {
		buf_add(&s->got, chunk, (size_t)n);
		if (s->got.n >= sizeof(size))
			memcpy(&size, s->got.p, sizeof(size));
		if (s->got.n >= sizeof(size) && (size_t)size == s->got.n)
			return true;
		if (s->got.n > ANSWER_MAX)
			break;
	}
	if (n >= 0 || (errno != EAGAIN && errno != EINTR))
		end(s, "the process that reads the driver ended, perhaps in a crash of the "
		       "driver's library");
	return false;
}

const struct gpu_sample *
sampler_answer(struct sampler *s, struct arena *a, double within_s)
{
	const double until_s = proc_clock_s() + within_s;
	const struct gpu_sample *all;
	double took_s, left_s;

	if (s->helper.fd < 0)
		return NULL;
	while (!receive(s)) {
		struct pollfd fd = { .fd = s->helper.fd, .events = POLLIN };

		left_s = until_s - proc_clock_s();
		if (s->helper.fd < 0 || left_s <= 0 || proc_interrupted())
			return NULL;
		poll(&fd, 1, (int)(left_s * 1000) + 1);
	}
	took_s = proc_clock_s() - s->asked_s;
	all = s->asked_s > 0 ? get_answer(s, a) : NULL;
	buf_clear(&s->got);
	if (!all) {
		end(s, "the process that reads the driver sent an invalid answer");
		return NULL;
	}
	s->slowest_s = took_s > s->slowest_s ? took_s : s->slowest_s;
	s->asked_s = 0;
	return all;
}

void
sampler_ask(struct sampler *s)
{
	if (s->helper.fd < 0 || s->asked_s > 0)
		return;
	/* If the process has ended, the end of its socket says so. */
	s->asked_s = write(s->helper.fd, "?", 1) == 1 || errno == EPIPE ? proc_clock_s() : 0;
}

struct sampler *
sampler_start(struct arena *a, const char *library)
{
	struct sampler *s = arena_new_of(a, struct sampler);

	*s = (struct sampler){ .a = a, .got = BUF(a) };
	if (!proc_helper_start(&s->helper, answer_questions, library))
		s->why_ended = arena_printf(a, "cannot start the process that reads the driver: %s",
					    strerror(errno));
	sampler_ask(s);
	return s;
}

const char *
sampler_silence(const struct sampler *s, struct arena *a, double max_s)
{
	double silent_s = s->asked_s > 0 ? proc_clock_s() - s->asked_s : s->slowest_s;

	if (s->why_ended || (!(s->asked_s > 0) && silent_s <= max_s))
		return s->why_ended;
	return arena_printf(a, "the driver did not answer for %.0f s", silent_s);
}

void
sampler_end(struct sampler *s)
{
	proc_helper_end(&s->helper);
}

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "http_internal.h"

static bool
fail(struct http_sink *k, const char *what)
{
	k->why = arena_printf(k->a, "cannot write `%s`: %s", what, strerror(errno));
	return false;
}

static bool
refuse(struct http_sink *k, const char *why)
{
	k->why = why;
	k->refused = true;
	return false;
}

static size_t
max_of(const struct http_sink *k)
{
	return k->q->max ? k->q->max : HTTP_MAX;
}

static bool
too_large(struct http_sink *k)
{
	return refuse(k, arena_printf(k->a, "the answer is larger than %zu bytes", max_of(k)));
}

bool
http_sink_open(struct http_sink *k, struct arena *a, const struct http_request *q, size_t announced)
{
	static unsigned count;

	*k = (struct http_sink){ .a = a, .q = q, .fd = -1, .body = BUF(a) };
	if (announced > max_of(k))
		return too_large(k);
	if (q->sha256)
		k->sum = sha256_new(a);
	if (!q->to_path)
		return true;
	k->temp = arena_printf(a, "%s.%ld.%u.part", q->to_path, (long)getpid(), count++);
	k->fd = open(k->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	return k->fd >= 0 || fail(k, k->temp);
}

bool
http_sink_add(struct http_sink *k, const char *bytes, size_t n)
{
	if (n > max_of(k) - k->n)
		return too_large(k);
	k->n += n;
	if (k->sum)
		sha256_add(k->sum, bytes, n);
	if (!k->temp)
		buf_add(&k->body, bytes, n);
	while (k->temp && n) {
		ssize_t put = write(k->fd, bytes, n);

		if (put < 0 && errno != EINTR)
			return fail(k, k->temp);
		if (put > 0) {
			bytes += put;
			n -= (size_t)put;
		}
	}
	return true;
}

bool
http_sink_end(struct http_sink *k)
{
	const char *sum = k->sum ? sha256_end(k->a, k->sum) : NULL;
	int fd = k->fd;

	if (sum && strcasecmp(sum, k->q->sha256) != 0)
		return refuse(k, arena_printf(k->a, "its sha256 is %s, not %s", sum, k->q->sha256));
	if (!k->temp)
		return true;
	k->fd = -1;
	if (fsync(fd) < 0) {
		fail(k, k->temp);
		close(fd);
		return false;
	}
	/* close reports what a network file system held back. */
	if (close(fd) < 0 || rename(k->temp, k->q->to_path) < 0)
		return fail(k, k->q->to_path);
	k->temp = NULL;
	return true;
}

void
http_sink_drop(struct http_sink *k)
{
	if (k->temp) {
		if (k->fd >= 0)
			close(k->fd);
		unlink(k->temp);
	}
	k->fd = -1;
	k->temp = NULL;
	k->body = BUF(k->a);
	k->n = 0;
}

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "internal.h"

/* Not fs_read: that a file is not there is no error here, it is an answer. */
const char *
host_text(struct arena *a, const char *root, const char *path)
{
	enum { MAX = 1024 * 1024 };
	int fd = open(arena_printf(a, "%s%s", root, path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct buf b = BUF(a);
	char chunk[4096];
	ssize_t got = fd < 0 ? -1 : 0;

	while (fd >= 0 && b.n < MAX) {
		got = read(fd, chunk, sizeof(chunk));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		buf_add(&b, chunk, (size_t)got);
	}
	if (fd >= 0)
		close(fd);
	return got < 0 ? NULL : buf_text(&b);
}

bool
host_line(struct str *rest, struct str *line)
{
	const char *end;

	if (!rest->n)
		return false;
	end = memchr(rest->p, '\n', rest->n);
	*line = (struct str){ rest->p, end ? (size_t)(end - rest->p) : rest->n };
	rest->p += line->n + (end != NULL);
	rest->n -= line->n + (end != NULL);
	return true;
}

bool
host_number(const char *text, const char *key, unsigned long long *out)
{
	struct str rest = str_of(text ? text : ""), line;
	size_t n = strlen(key);

	while (host_line(&rest, &line)) {
		const char *p = line.p + n;

		if (line.n <= n || memcmp(line.p, key, n) != 0)
			continue;
		while (p < line.p + line.n && (*p == ' ' || *p == '\t'))
			p++;
		if (p == line.p + line.n || !is_digit(*p))
			continue;
		errno = 0;
		*out = strtoull(p, NULL, 10);
		return errno == 0;
	}
	return false;
}

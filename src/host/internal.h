#ifndef HOST_INTERNAL_H
#define HOST_INTERNAL_H

#include "base/str.h"
#include "host.h"

/* For the files of host/: what the kernel says in /proc and /sys below `root`. */

/* The text of root/path, at most a MiB of it; NULL: it cannot be read. */
const char *host_text(struct arena *a, const char *root, const char *path);
/* The number that follows `key` at the start of a line of text. */
bool host_number(const char *text, const char *key, unsigned long long *out);
/* Takes the next line off the front of *rest; false: there is none. */
bool host_line(struct str *rest, struct str *line);

/*
 * host_cgroup -- what the control groups of this process allow, each of them up to the root.
 *
 *   out     cpus: of the tightest quota, rounded up; 0: none.  limit_bytes: the least of the
 *           memory limits; 0: none.  available_bytes: the least that one of them has left, files
 *           that can be dropped counted as left; UINT64_MAX: no limit.
 *   source  Linux, Documentation/admin-guide/cgroup-v1/memory.rst, cgroup-v2.rst; proc(5)
 */
struct host_cgroup {
	unsigned cpus;
	unsigned long long limit_bytes, available_bytes;
};
struct host_cgroup host_cgroup(struct arena *a, const char *root);

#endif

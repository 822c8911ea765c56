/*
 * The cache of answers: stackbuild-index/asked-HEX, with the time of the answer as a line. HEX is the
 * digest of the question. A source that lacks a part, or does not answer, is asked again.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fs.h"
#include "base/sha256.h"
#include "base/str.h"
#include "world_ask.h"

enum { LINE_MAX_BYTES = 64 };

static const char *
path_of(struct arena *a, const struct stack *s, const struct question *q)
{
	const char *dir = world_cache_dir(a);
	const char *key = arena_printf(a, "%d\n%s\n%s\n%s\n%s\n%s", (int)q->kind, q->url,
				       q->name ? q->name : "", q->tag ? q->tag : "", s->platform,
				       s->python.value ? s->python.value : "");

	return dir ? arena_printf(a, "%s/asked-%s", dir, sha256_hex(a, key, strlen(key))) : NULL;
}

bool
ask_cached(struct arena *a, const struct stack *s, struct question *q)
{
	const char *path = path_of(a, s, q);
	const struct source *src = path ? fs_read_quiet(a, path, LINE_MAX_BYTES) : NULL;
	long long then = 0, now = (long long)time(NULL);
	char *end = NULL;

	if (!src || !src->size || src->text[src->size - 1] != '\n')
		return false;
	then = strtoll(arena_copy(a, src->text, src->size - 1), &end, 10);
	/* A time in the future comes from another clock. */
	if (*end || then > now || now - then >= ASK_CACHE_S)
		return false;
	q->answer = ANSWER_YES;
	q->age_s = (double)(now - then);
	return true;
}

void
ask_keep(struct arena *a, const struct stack *s, const struct question *q)
{
	const char *path = path_of(a, s, q);
	const char *line = arena_printf(a, "%lld\n", (long long)time(NULL));
	struct diags unused = DIAGS(unused, a);

	if (path)
		fs_write(&unused, path, line, strlen(line), 0600, false, NULL);
}

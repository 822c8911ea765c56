/* Reads every wheel of a store again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/proc.h"
#include "base/str.h"
#include "internal.h"

const char *
store_passage(struct arena *a, struct diags *ds)
{
	const char *path = proc_temp(a, NULL, "stackbuild-store");

	if (!path)
		diag_at(ds, E_STORE_WRITE, NOWHERE, "cannot create a temporary directory: %s",
			strerror(errno));
	return path;
}

/* Reads a wheel, in place or as a copy; a miss means that another process removed it. */
static enum store_answer
verify_one(struct arena *a, struct diags *ds, struct store *s, const char *key, const char *passage,
	   const struct entry **e)
{
	const struct entry *again;
	const char *path;
	enum store_answer answer = store_take(a, ds, s, key, NULL, passage, e, &path);
	struct diags mine = DIAGS(mine, ds->arena);

	if (path && passage)
		unlink(path);
	if (answer != STORE_REFUSED || !path)
		return answer;
	diag_why(ds->head, "it is stored under the key %.12s of %s", key, s->name);
	return passage || store_find(a, &mine, s, key, &again) != STORE_MISS ? answer : STORE_MISS;
}

static void
print_one(struct json *j, const char *key, const struct entry *e, bool good,
	  const struct diags *found)
{
	json_put(j, "{'key': %s, 'wheel': %s, 'result': %s, 'why': [", key, e ? e->wheel : NULL,
		 good ? "good" : "bad");
	for (const struct diag *d = found->head; d; d = d->next)
		for (const struct note *n = d->notes; n; n = n->next)
			if (n->kind == NOTE_WHY)
				json_text(j, NULL, n->text);
	json_put(j, "]}");
}

static void
print_sum(struct arena *a, const struct store *s, size_t good, size_t bad, double bytes,
	  struct buf *out)
{
	if (!good && !bad)
		buf_printf(out, "%s is empty: there is nothing to verify\n", s->name);
	else if (!bad)
		buf_printf(out, "%s, %s in %s: good\n", store_count_text(a, good),
			   bytes_words(a, bytes), s->name);
	else
		buf_printf(out, "%s in %s: %zu good, %zu not\n", store_count_text(a, good + bad),
			   s->name, good, bad);
}

bool
store_verify(struct arena *a, struct diags *ds, struct store *s, bool as_json, struct buf *out)
{
	bool local = s->kind == &store_folder;
	enum store_answer answer = STORE_HIT;
	const char *passage = NULL;
	struct json j = json_to(out);
	struct names keys = { 0 };
	size_t good = 0, bad = 0;
	double bytes = 0;

	if (!store_keys(a, ds, s, &keys) || (!local && !(passage = store_passage(a, ds))))
		return false;
	if (as_json)
		json_put(&j, "{'store': %s, 'wheels': [", s->name);
	for (size_t i = 0; i < keys.n && answer != STORE_UNREACHABLE; i++) {
		const struct entry *e;
		struct diags mine = DIAGS(mine, ds->arena);

		answer = verify_one(a, &mine, s, keys.at[i], passage, &e);
		if (answer == STORE_MISS)
			continue;
		good += answer == STORE_HIT;
		bad += answer == STORE_REFUSED;
		bytes += answer == STORE_HIT ? (double)e->size : 0;
		if (as_json && answer != STORE_UNREACHABLE)
			print_one(&j, keys.at[i], e, answer == STORE_HIT, &mine);
		if (answer == STORE_REFUSED && local)
			diag_help(mine.head, "remove it: rm -r %s", folder_of(a, s, keys.at[i]));
		diags_append(ds, &mine);
	}
	if (passage)
		fs_remove(passage);
	if (as_json)
		json_put(&j, "], 'good': %d, 'bad': %d}", (int)good, (int)bad);
	else if (answer != STORE_UNREACHABLE)
		print_sum(a, s, good, bad, bytes, out);
	return !bad && answer != STORE_UNREACHABLE;
}

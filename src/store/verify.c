/* Every wheel of a store, read again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/proc.h"
#include "file.h"
#include "folder.h"

const char *
store_passage(struct arena *a, struct diags *ds)
{
	const char *tmp = getenv("TMPDIR");
	char *path = arena_printf(a, "%s/stackbuild-store-XXXXXX", tmp && *tmp ? tmp : "/tmp");

	if (proc_temp(path))
		return path;
	diag_at(ds, E_STORE_WRITE, (struct span){ 0 },
		"there is no room for what passes through: `%s`: %s", path, strerror(errno));
	return NULL;
}

/* One wheel, where it lies or brought here.  *gone: thrown out meanwhile. */
static enum store_verdict
verify_one(struct arena *a, struct diags *ds, struct store *s, const char *key, const char *passage,
	   const struct entry **e, bool *gone)
{
	enum store_answer answer = s->kind->find(a, ds, s, key, e);
	enum store_verdict verdict;
	const char *path = NULL;
	struct store_want want;
	struct diags mine;

	if (answer == STORE_HIT && s->kind->path)
		path = s->kind->path(a, s, *e);
	else if (answer == STORE_HIT) {
		answer = s->kind->fetch(a, ds, s, *e, passage);
		path = fs_join(a, passage, (*e)->wheel);
	}
	*gone = answer == STORE_MISS;
	if (answer != STORE_HIT)
		return answer == STORE_UNREACHABLE ? STORE_UNKNOWN : STORE_BAD;
	want = entry_want(a, *e);
	diags_init(&mine, ds->arena);
	verdict = store_inspect(a, &mine, path, *e, &want, NULL);
	if (!s->kind->path)
		unlink(path);
	else if (verdict == STORE_BAD)
		*gone = s->kind->find(a, &mine, s, key, e) == STORE_MISS;
	if (verdict == STORE_BAD)
		diag_why(mine.head, "it lies under the key %.12s of %s", key, s->name);
	if (!*gone)
		diags_append(ds, &mine);
	return verdict;
}

static void
print_one(struct json *j, const char *key, const struct entry *e, bool good,
	  const struct diags *found)
{
	json_map(j, NULL);
	json_text(j, "key", key);
	json_text(j, "wheel", e ? e->wheel : NULL);
	json_text(j, "result", good ? "good" : "bad");
	json_list(j, "why");
	for (const struct diag *d = found->head; d; d = d->next)
		for (const struct note *n = d->notes; n; n = n->next)
			if (n->kind == NOTE_WHY)
				json_text(j, NULL, n->text);
	json_end(j);
	json_end(j);
}

static void
print_sum(struct arena *a, const struct store *s, size_t good, size_t bad, double bytes,
	  struct buf *out)
{
	if (!good && !bad)
		buf_printf(out, "%s is empty: there is nothing to verify\n", s->name);
	else if (!bad)
		buf_printf(out, "%s, %s in %s: good\n", store_count_text(a, good),
			   store_size_text(a, bytes), s->name);
	else
		buf_printf(out, "%s in %s: %zu good, %zu not\n", store_count_text(a, good + bad),
			   s->name, good, bad);
}

bool
store_verify(struct arena *a, struct diags *ds, struct store *s, bool as_json, struct buf *out)
{
	const char *passage = NULL;
	struct json j = json_to(out);
	struct names keys = { 0 };
	size_t good = 0, bad = 0;
	enum store_verdict v = STORE_GOOD;
	double bytes = 0;

	if (!store_keys(a, ds, s, &keys) || (!s->kind->path && !(passage = store_passage(a, ds))))
		return false;
	if (as_json) {
		json_map(&j, NULL);
		json_text(&j, "store", s->name);
		json_list(&j, "wheels");
	}
	for (size_t i = 0; i < keys.n && v != STORE_UNKNOWN; i++) {
		const struct entry *e = NULL;
		struct diags mine;
		bool gone;

		diags_init(&mine, ds->arena);
		v = verify_one(a, &mine, s, keys.at[i], passage, &e, &gone);
		if (gone)
			continue;
		good += v == STORE_GOOD;
		bad += v == STORE_BAD;
		bytes += v == STORE_GOOD ? (double)e->size : 0;
		if (as_json && v != STORE_UNKNOWN)
			print_one(&j, keys.at[i], e, v == STORE_GOOD, &mine);
		if (v == STORE_BAD && s->kind == &store_folder)
			diag_help(mine.head, "throw it out: rm -r %s", folder_of(a, s, keys.at[i]));
		diags_append(ds, &mine);
	}
	if (passage)
		store_remove(passage);
	if (as_json) {
		json_end(&j);
		json_int(&j, "good", (long long)good);
		json_int(&j, "bad", (long long)bad);
		json_end(&j);
	} else if (v != STORE_UNKNOWN) {
		print_sum(a, s, good, bad, bytes, out);
	}
	return !bad && v != STORE_UNKNOWN;
}

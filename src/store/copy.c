/* Copies the wheels that another store lacks, and checks each one. */
#include <string.h>

#include "base/fs.h"
#include "base/str.h"
#include "internal.h"

static const char *
no_wheel(struct diags *ds, const struct store *s, const char *key)
{
	diag_help(diag_at(ds, E_STORE_KEY, NOWHERE, "%s has no wheel `%s`", s->name, key),
		  "run `stackbuild store list` to show the keys");
	return NULL;
}

/* Returns the key that is given, or the only one that starts with the given digits. */
static const char *
whole_key(struct diags *ds, const struct store *s, const struct names *keys, const char *digits)
{
	const char *found = NULL;
	struct diag *d;
	size_t n = 0;

	for (size_t i = 0; i < keys->n; i++)
		if (starts_with(keys->at[i], digits)) {
			found = keys->at[i];
			n++;
		}
	if (n == 1)
		return found;
	if (!n)
		return no_wheel(ds, s, digits);
	d = diag_at(ds, E_STORE_KEY, NOWHERE, "%zu wheels of %s have a key that starts with `%s`",
		    n, s->name, digits);
	diag_help(d, "write more digits of the key");
	return NULL;
}

static bool
choose_keys(struct arena *a, struct diags *ds, struct store *from, struct names wanted,
	    struct names *keys)
{
	struct names all = { 0 };
	bool whole = wanted.n > 0;

	for (size_t i = 0; i < wanted.n; i++)
		whole &= store_is_key(wanted.at[i]);
	if (whole) {
		*keys = wanted;
		return true;
	}
	if (!store_keys(a, ds, from, &all))
		return false;
	for (size_t i = 0; i < wanted.n; i++) {
		const char *key = whole_key(ds, from, &all, wanted.at[i]);

		if (!key)
			return false;
		names_once(a, keys, key);
	}
	if (!wanted.n)
		*keys = all;
	return true;
}

/* Copies a wheel. STORE_HIT: `to` already had it; STORE_MISS: copied; STORE_REFUSED: not copied;
 * STORE_UNREACHABLE: nothing more can be copied. */
static enum store_answer
copy_one(struct arena *a, struct diags *ds, struct store *from, struct store *to, const char *key,
	 const char *passage, const struct entry **e)
{
	enum store_answer answer;
	const struct entry *old;
	const char *path;
	struct diags mine = DIAGS(mine, ds->arena);

	answer = store_find(a, &mine, to, key, &old);
	if (answer == STORE_UNREACHABLE)
		diags_append(ds, &mine);
	if (answer == STORE_UNREACHABLE || answer == STORE_HIT)
		return answer;
	if (answer == STORE_REFUSED)
		list_push(a, &to->refused, key);
	answer = store_take(a, ds, from, key, NULL, passage, e, &path);
	if (answer == STORE_MISS)
		no_wheel(ds, from, key);
	if (answer != STORE_HIT)
		return answer == STORE_UNREACHABLE ? answer : STORE_REFUSED;
	return to->kind->save(a, ds, to, *e, path) ? STORE_MISS : STORE_UNREACHABLE;
}

bool
store_copy(struct arena *a, struct diags *ds, struct store *from, struct store *to,
	   struct names keys, struct buf *out)
{
	size_t copied = 0, there = 0, bad = 0;
	struct names chosen = { 0 };
	enum store_answer answer = STORE_HIT;

	if (!choose_keys(a, ds, from, keys, &chosen))
		return false;
	for (size_t i = 0; i < chosen.n && answer != STORE_UNREACHABLE; i++) {
		const char *passage = store_passage(a, ds);
		const struct entry *e = NULL;

		if (!passage)
			return false;
		answer = copy_one(a, ds, from, to, chosen.at[i], passage, &e);
		fs_remove(passage);
		copied += answer == STORE_MISS;
		there += answer == STORE_HIT;
		bad += answer == STORE_REFUSED;
		if (answer == STORE_MISS)
			buf_printf(out, "%s %s  %s  %.12s\n", e->name, e->version,
				   bytes_words(a, (double)e->size), e->key);
	}
	if (answer == STORE_UNREACHABLE && !copied)
		return false;
	buf_printf(out, "%s copied from %s to %s, %zu there already\n", store_count_text(a, copied),
		   from->name, to->name, there);
	return answer != STORE_UNREACHABLE && !bad;
}

/* Reads the lock of a recipe for the commands that use it. */
#include <string.h>

#include "base/fs.h"
#include "lock.h"

enum { DIFFERENCES_SHOWN = 8 };

/* Returns the place of the stack's name, or of the file. */
static struct span
place(const struct recipe *r)
{
	return r->stack.at.line && r->stack.at.src == r->src ? r->stack.at :
							       (struct span){ .src = r->src };
}

bool
lock_beside(struct arena *a, struct diags *ds, const struct recipe *r, const char *again,
	    bool needed, const struct lock **out)
{
	const char *path = lock_path(a, r);
	bool exists = strcmp(r->path, "-") != 0 && fs_exists(path);
	const struct source *src;

	*out = NULL;
	if (!exists && needed)
		diag_help(diag_at(ds, E_LOCK_MISSING, place(r), "`%s` does not exist", path),
			  "make it: %s", again);
	if (!exists)
		return !needed;
	src = fs_read(ds->arena, ds, path, LOCK_MAX, (struct span){ 0 });
	*out = src ? lock_read(a, ds, src) : NULL;
	return *out;
}

void
lock_warn(struct arena *a, struct diags *ds, const struct recipe *r, const struct lock *l,
	  const char *again)
{
	if (l->unpinned.n)
		diag_help(diag_at(ds, W_LOCK_UNPINNED, place(r), "`%s` does not pin: %s",
				  lock_path(a, r), names_join(a, &l->unpinned, ", ")),
			  "lock again where they can be reached: %s", again);
}

bool
lock_current(struct arena *a, struct diags *ds, const struct stack *s, const char *again,
	     bool needed, const struct lock **out)
{
	const struct recipe *r = s->recipe;
	struct names stale;
	struct diag *d;

	if (!lock_beside(a, ds, r, again, needed, out))
		return false;
	if (!*out)
		return true;
	stale = lock_stale(a, *out, s);
	if (!stale.n) {
		lock_warn(a, ds, r, *out, again);
		return true;
	}
	*out = NULL;
	d = diag_at(ds, E_LOCK_STALE, place(r), "`%s` is stale", lock_path(a, r));
	for (size_t i = 0; i < stale.n && i < DIFFERENCES_SHOWN; i++)
		diag_why(d, "%s", stale.at[i]);
	if (stale.n > DIFFERENCES_SHOWN)
		diag_why(d, "there are %zu more differences", stale.n - DIFFERENCES_SHOWN);
	diag_help(d, "lock again: %s", again);
	return false;
}

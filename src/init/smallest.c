#include <string.h>

#include "base/edit.h"
#include "base/fs.h"
#include "reader.h"

/*
 * Selects the fix of an error that changes least: a patch release before a minor version, and that
 * before a major one.  A pin of the user moves by a patch release at most.
 */

enum moved { MOVED_LITTLE, MOVED_PATCH, MOVED_MINOR, MOVED_MAJOR };

/* Returns the version in the text of a scalar: "vllm==0.11.0", "v2.2.4", ==2.1; or NULL. */
static const struct version *
version_in(struct arena *a, const char *text)
{
	const char *p = strstr(text, "==");

	p = p ? p + 2 : text;
	p += strspn(p, "= \"'v");
	return version_parse(a, arena_copy(a, p, strcspn(p, "\"', ;#")));
}

/* Returns how far an edit moves a version; *old: the version, or NULL if it changes none. */
static enum moved
edit_moves(struct arena *a, const struct edit *e, const struct version **old)
{
	struct str line, text;
	const struct version *is;

	*old = NULL;
	if (!e->at.width || !edit_place(e->at, &line, &text))
		return MOVED_LITTLE;
	*old = version_in(a, arena_copy(a, text.p, text.n));
	is = version_in(a, e->replacement);
	if (!*old || !is)
		return MOVED_LITTLE;
	return version_release(*old, 0) != version_release(is, 0) ? MOVED_MAJOR :
	       version_release(*old, 1) != version_release(is, 1) ? MOVED_MINOR :
	       version_release(*old, 2) != version_release(is, 2) ? MOVED_PATCH :
								    MOVED_LITTLE;
}

/* Returns whether a file gives its versions as preferences: a lock, which a tool wrote. */
static bool
is_lock(const struct source *src)
{
	return ends_with(src->path, ".lock") || starts_with(fs_name(src->path), "pylock");
}

/* Returns how far a fix moves the versions that the user pinned. */
static enum moved
help_moves(const struct init *rd, const struct note *help)
{
	enum moved most = MOVED_LITTLE;

	for (const struct edit *e = help->edits; e; e = e->next) {
		const struct version *old;
		enum moved m = edit_moves(rd->a, e, &old);
		const struct init_item *item = draft_item(rd, e->at);

		if (old && item && !starts_with(item->key, "modal.") && item->pinned &&
		    item->at.src && !is_lock(item->at.src) && !item->weak && m > most)
			most = m;
	}
	return most;
}

bool
smallest_fix(const struct init *rd, struct diag *d)
{
	struct note *first = NULL, *best = NULL, kept;
	enum moved least = MOVED_LITTLE;

	for (struct note *n = d->notes; n; n = n->next) {
		enum moved m = n->edits ? help_moves(rd, n) : MOVED_MAJOR;

		if (n->kind != NOTE_HELP)
			continue;
		first = first ? first : n;
		if (n->edits && (!best || m < least)) {
			best = n;
			least = m;
		}
		if (n == first && (!n->edits || m < MOVED_MINOR))
			return true;
	}
	if (!best)
		return true;
	if (least >= MOVED_MINOR)
		return false;
	kept = *first;
	*first = *best;
	first->next = kept.next;
	kept.next = best->next;
	*best = kept;
	return true;
}

/* Resolves a stack some of whose packages have no wheel, without building them. */
#include <string.h>

#include "base/str.h"
#include "fetch/fetch.h"
#include "world_lock.h"

/* Returns the package in uv's hint: "Wheels are required for `pyairports` because building from
 * source is disabled ..." */
const char *
lock_needs_build(struct arena *a, const struct uv_answer *answer)
{
	const char *hint = answer->hint, *name = hint ? strchr(hint, '`') : NULL;

	if (!name || !strstr(hint, "building from source is disabled"))
		return NULL;
	return name_normalize(a, arena_copy(a, name + 1, strcspn(name + 1, "`")));
}

/* Maximum number of dropped packages without a wheel; each one takes a resolution. */
enum { LEFT_OUT_MAX = 10 };

/* Reads the requirements of a package without a wheel from its newest sdist; false: they are unknown. */
static bool
add_sdist(struct locking *l, struct lock_request *q, const char *name)
{
	struct arena *a = l->r->a;
	struct described_sdist d = { .name = name };
	const struct specifiers *spec = NULL;
	const char *index = NULL;

	if (!l->reads_sdists)
		return false;
	list_each (want, &q->wants)
		if (!strcmp(want->key, name)) {
			spec = requirement_parse(a, want->requirement, NULL, NULL)->spec;
			index = want->index;
		}
	d.version = index_sdist(a, index ? index : uv_index(a, q, l->uv), name, spec, &d.requires);
	d.guessed = !spec || !specifiers_pin(spec);
	if (d.version)
		list_push(a, &q->described, d);
	return d.version;
}

/* Leaves out the packages whose version was guessed; false: there are none. */
static bool
drop_guessed(struct locking *l, struct lock_request *q, struct names *left_out)
{
	struct described_sdists kept = { 0 };

	list_each (d, &q->described)
		if (d->guessed) {
			list_push(l->r->a, left_out, d->name);
			list_push(l->r->a, &q->elsewhere, d->name);
		} else {
			list_push(l->r->a, &kept, *d);
		}
	if (kept.n == q->described.n)
		return false;
	q->described = kept;
	return true;
}

enum uv_end
lock_resolve_wheels(struct locking *l, struct diags *ds, struct lock_request *q,
		    const struct uv_how *how, struct uv_answer *answer, struct names *left_out)
{
	for (unsigned tries = 0;; tries++) {
		enum uv_end end = uv_resolve(l->r->a, ds, q, how, answer);
		const char *name = end == UV_CONFLICT ? lock_needs_build(l->r->a, answer) : NULL;

		if (end != UV_CONFLICT || tries == LEFT_OUT_MAX)
			return end;
		if (!name && !drop_guessed(l, q, left_out))
			return end;
		if (name && !add_sdist(l, q, name)) {
			list_push(l->r->a, left_out, name);
			list_push(l->r->a, &q->elsewhere, name);
		}
	}
}

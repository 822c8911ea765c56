/* Resolves git tags to commits, so that a moved tag does not leave an old wheel in the image. */
#include "work.h"

#include <string.h>

#include "base/fs.h"
#include "base/proc.h"
#include "fetch/fetch.h"

static const char *
recorded(const struct build_record *r, const struct step *s)
{
	for (size_t i = 0; i < r->steps.n; i++)
		if (r->steps.at[i].own && !strcmp(r->steps.at[i].own, s->own))
			return r->steps.at[i].commit;
	return NULL;
}

void
commits_resolve(struct work *w)
{
	struct build_record before = { 0 };

	build_record_read(w->a, fs_join(w->a, w->o->out, "build.json"), &before);
	for (size_t i = 0; i < w->plan->n && !proc_interrupted(); i++) {
		const struct step *s = &w->plan->steps[i];
		const struct operation *op = step_operation(s, OP_FETCH);
		struct stack_extension *e = (struct stack_extension *)s->extension;
		const char *why, *was, *now;

		if (!op || e->source != SOURCE_GIT || op->fetch.locked)
			continue;
		was = recorded(&before, s);
		now = op->fetch.commit ? e->ref :
					 git_remote_commit(w->a, e->url, e->ref, NULL, &why);
		e->commit = now ? now : was;
		if (!now)
			diag_help(diag_at(w->ds, W_COMMIT, s->at,
					  "cannot resolve the tag `%s` of %s: %s", e->ref, e->name,
					  why),
				  "the build uses %s%.12s; `ref: COMMIT` needs no network",
				  was ? "the commit of the last build, " :
					"the commit of this name that the engine fetched last",
				  was ? was : "");
		else if (was && strcmp(was, now) != 0)
			diag_help(diag_why(diag_at(w->ds, W_TAG_MOVED, s->at,
						   "the tag `%s` of %s moved since the last build",
						   e->ref, e->name),
					   "it was commit %.12s, and is %.12s now", was, now),
				  "find out why; or pin the commit that you trust: ref: %s", was);
	}
}

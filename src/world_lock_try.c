/* Tries changes of a recipe whose stack does not lock, with uv. */
#include <string.h>
#include <time.h>

#include "base/edit.h"
#include "base/fix.h"
#include "base/fs.h"
#include "base/proc.h"
#include "base/str.h"
#include "world_lock.h"

enum { TRIES = 10 };

/* Returns "torch 2.4.0 with --allow-build pyairports" for packages without a wheel. */
static const char *
with_builds(struct arena *a, const char *what, const struct names *left_out)
{
	struct buf b = BUF(a);

	buf_puts(&b, what);
	for (size_t i = 0; i < left_out->n; i++)
		buf_printf(&b, "%s --allow-build %s", i ? "" : " with", left_out->at[i]);
	return buf_text(&b);
}

/* --- the stack after a change --- */

/* A recipe_open that returns the files after a fix. */
static const struct source *
open_fixed(void *ctx, struct arena *a, struct diags *ds, const char *path, struct span at)
{
	const struct fix_files *files = ctx;

	for (size_t i = 0; i < files->n; i++)
		if (!strcmp(files->at[i].src->path, path)) {
			struct source *src = arena_new_of(a, struct source);

			*src = (struct source){ path, files->at[i].text, files->at[i].size };
			return src;
		}
	return fs_read(a, ds, path, fs_input_max(path), at);
}

/* Returns the stack of the cell after a change of a value (set) or of files (fixed); NULL after
 * errors. */
static const struct stack *
changed_stack(struct locking *l, const char *set, struct fix_files *fixed)
{
	struct options o = *l->r->o;
	struct diags own;
	struct run r = *l->r;
	const struct recipes *rs;

	own = DIAGS(own, r.a);
	o.cell = l->recipe->cell;
	o.sets.cap = o.sets.n; /* forces a copy, so that the command line's list stays */
	if (set)
		list_push(r.a, &o.sets, set);
	r.o = &o;
	rs = pipeline_load(&r, &own, l->recipe->path, fixed ? open_fixed : NULL, fixed);
	return rs ? resolve(r.a, &own, r.facts, rs->at[0], NULL) : NULL;
}

static enum uv_end
resolve_fixed(struct locking *l, struct fix_files *fixed, const struct uv_how *how,
	      struct names *left_out)
{
	const struct stack *s = changed_stack(l, NULL, fixed);
	struct uv_answer answer;
	struct diags own = DIAGS(own, l->r->a);

	return s ? lock_resolve_wheels(l, &own, lock_asks(l, s), how, &answer, left_out) :
		   UV_FAILED;
}

/* --- tries for a conflict that uv found --- */

/*
 * Returns true if the explanation has a specifier of a package ("torch==2.13.0") that one version
 * satisfies and another one does not.
 */
static bool
is_asked_for(struct arena *a, const char *text, const char *name, const struct version *v,
	     const struct version *instead_of)
{
	size_t n = strlen(name);

	for (const char *p = text; (p = strstr(p, name)); p += n) {
		size_t length = strcspn(p + n, " ");
		const struct specifiers *spec;

		while (length && strchr(",.", p[n + length - 1]))
			length--;
		spec = strchr("<>=!~", p[n]) ? specifiers_parse(a, arena_copy(a, p + n, length)) :
					       NULL;
		if (spec && length && specifiers_match(spec, v) &&
		    !(instead_of && specifiers_match(spec, instead_of)))
			return true;
	}
	return false;
}

/* A change of the recipe with which the stack may lock. */
struct
try {
	const char *what;        /* "torch 2.13.0" */
	const char *set;         /* "torch.version=2.13.0"; or NULL */
	struct fix_files *files; /* the recipe with another version of an extension; or NULL */
	bool torch;              /* uv selects the version of torch */
	const struct lock_want *other; /* uv selects the version of this package; or NULL */
};
struct tries LIST(struct try);

static void
add_try(struct tries *out, struct arena *a, struct try t)
{
	if (out->n < TRIES)
		list_push(a, out, t);
}

/* Adds other known versions of torch: those that the explanation requires, or the others. */
static void
try_torch(struct locking *l, const char *explanation, bool asked_for, struct tries *out)
{
	struct arena *a = l->r->a;
	const struct candidate *now = solution_selected(l->stack->solution, "torch");
	struct alternatives all = { 0 };

	if (now && now->v && lock_mentions(explanation, "torch"))
		all = solution_alternatives(l->stack->solution, "torch");
	for (size_t i = 0; i < all.n; i++) {
		const struct candidate *c = all.at[i].c;

		if (!all.at[i].chosen && all.at[i].can && c->v &&
		    is_asked_for(a, explanation, "torch", c->v, now->v) == asked_for)
			add_try(out, a,
				(struct try){
					.what = arena_printf(a, "torch %s", c->text),
					.set = arena_printf(a, "torch.version=%s", c->text) });
	}
}

/*
 * Adds the packages of the recipe, each with any version, and with any torch if `torch`; those that
 * the explanation names, or the others.
 */
static void
try_packages(struct locking *l, const struct lock_request *q, const char *explanation, bool named,
	     bool torch, struct tries *out)
{
	struct arena *a = l->r->a;

	list_each (w, &q->wants) {
		const struct requirement *req = requirement_parse(a, w->requirement, NULL, NULL);

		if (!strcmp(w->root, "packages") && w->at.line &&
		    lock_mentions(explanation, w->key) == named && *specifiers_text(a, req->spec) &&
		    !req->extras.n && !req->marker)
			add_try(out, a,
				(struct try){ .what = arena_printf(
						      a, "another %s%s",
						      torch ? "torch and another " : "", w->key),
					      .torch = torch,
					      .other = w });
	}
}

/* Adds other versions of unpinned extensions: `- mamba-ssm`. */
static void
try_extensions(struct locking *l, struct tries *out)
{
	struct arena *a = l->r->a;

	list_each (e, &l->stack->extensions) {
		const struct text written = e->asked->written;
		struct alternatives all = { 0 };

		if (written.s && written.at.src && !strcmp(written.s, e->asked->name.s))
			all = solution_alternatives(l->stack->solution, e->name);
		for (size_t k = 0; k < all.n; k++) {
			const char *text = arena_printf(a, "%s==%s", e->name, all.at[k].c->text);
			struct edit edit = { .at = written.at,
					     .replacement = edit_scalar(a, written.at, text) };
			struct fix_files *files = arena_new_of(a, struct fix_files);

			if (all.at[k].chosen || !all.at[k].can || !all.at[k].c->v)
				continue;
			list_push(a, files, (struct fix_file){ written.at.src, NULL, 0 });
			if (out->n < TRIES && !fix_apply(a, &edit, files))
				add_try(out, a, (struct try){ .what = text, .files = files });
		}
	}
}

/* Returns a request that lets uv select the versions of torch and its companions, or of one
 * package. */
static const struct lock_request *
opened(struct arena *a, const struct lock_request *q, bool torch, const char *key)
{
	struct lock_request *open = arena_new_of(a, struct lock_request);

	*open = *q;
	open->constraints = (struct names){ 0 };
	open->wants.at = arena_array_of(a, struct lock_want, q->wants.n);
	for (size_t i = 0; i < q->wants.n; i++) {
		struct lock_want *w = &open->wants.at[i];

		*w = q->wants.at[i];
		if ((torch && (!strcmp(w->root, "torch") || !w->at.line)) ||
		    (key && !strcmp(w->key, key)))
			w->requirement = w->key;
	}
	for (size_t i = 0; i < q->constraints.n && !torch; i++) {
		const char *line = q->constraints.at[i];

		if (key && strcmp(requirement_parse(a, line, NULL, NULL)->key, key) != 0)
			list_push(a, &open->constraints, line);
	}
	return open;
}

/* Returns the version of a package that uv selects; NULL: it finds no solution. */
static const char *
selected(struct locking *l, const struct lock_request *q, const char *key, const struct uv_how *how)
{
	struct uv_answer answer;
	struct diags own = DIAGS(own, l->r->a);

	if (uv_resolve(l->r->a, &own, q, how, &answer) != UV_DONE)
		return NULL;
	for (size_t i = 0; i < answer.packages.n; i++)
		if (!strcmp(answer.packages.at[i].name, key))
			return answer.packages.at[i].version;
	return NULL;
}

/* Returns the change that makes the stack lock: "torch 2.13.0 and alpha==1.2"; NULL: the stack
 * still does not lock. */
static const char *
tried(struct locking *l, const struct lock_request *q, const struct try *t,
      const struct uv_how *how)
{
	struct arena *a = l->r->a;
	const char *key = t->other ? t->other->key : NULL, *set = t->set, *what = t->what, *version;
	const struct stack *s = l->stack;

	if (t->torch) {
		version = selected(l, opened(a, q, true, key), "torch", how);
		if (!version)
			return NULL;
		version = arena_copy(a, version, strcspn(version, "+"));
		set = arena_printf(a, "torch.version=%s", version);
		what = arena_printf(a, "torch %s", version);
	}
	if (set || t->files)
		s = changed_stack(l, set, t->files);
	if (!s)
		return NULL;
	if (!key) {
		struct names left_out = { 0 };
		struct uv_answer answer;
		struct diags own;

		own = DIAGS(own, a);
		return lock_resolve_wheels(l, &own, lock_asks(l, s), how, &answer, &left_out) ==
				       UV_DONE ?
			       with_builds(a, what, &left_out) :
			       NULL;
	}
	version = selected(l, opened(a, lock_asks(l, s), false, key), key, how);
	return !version ? NULL :
	       set      ? arena_printf(a, "%s and %s==%s", what, key, version) :
			  arena_printf(a, "%s==%s", key, version);
}

static struct tries
all_tries(struct locking *l, const struct lock_request *q, const char *explanation)
{
	struct tries all = { 0 };

	try_torch(l, explanation, true, &all);
	if (lock_mentions(explanation, "torch"))
		add_try(&all, l->r->a, (struct try){ .what = "another torch", .torch = true });
	try_packages(l, q, explanation, true, false, &all);
	for (int named = 1; named >= 0; named--)
		if (lock_mentions(explanation, "torch"))
			try_packages(l, q, explanation, named, true, &all);
	try_extensions(l, &all);
	try_torch(l, explanation, false, &all);
	return all;
}

/* Adds the help, with an edit if it changes only one value. */
static void
add_found(struct locking *l, struct diag *d, const struct try *t, const char *found)
{
	const struct text *torch = &l->recipe->torch.version;
	const char *help =
		arena_printf(l->r->a, "use %s: with it, uv finds versions for all packages", found);
	const struct span at = t->other ? t->other->at : torch->at;
	const char *value = t->other ? found : found + strcspn(found, " ") + 1;

	if (t->files || (t->torch && t->other) || !at.line || strchr(value, ' '))
		diag_help(d, "%s", help);
	else
		diag_fix(d, at, edit_scalar(l->r->a, at, value), "%s", help);
}

void
lock_suggest(struct locking *l, struct diag *d, const struct lock_request *q,
	     const char *explanation)
{
	const double end_s = (double)time(NULL) + l->how.timeout_s;
	struct uv_how how = l->how;
	struct names failed = { 0 };
	const struct tries all = all_tries(l, q, explanation);
	const char *found = NULL;
	size_t i;

	for (i = 0; i < all.n && !found && !proc_interrupted(); i++) {
		how.timeout_s = end_s - (double)time(NULL);
		if (how.timeout_s <= 0)
			break;
		found = tried(l, q, &all.at[i], &how);
		if (!found)
			list_push(l->r->a, &failed, all.at[i].what);
	}
	if (failed.n)
		diag_why(d, "uv finds no solution with %s either",
			 names_words(l->r->a, &failed, "or"));
	if (found)
		add_found(l, d, &all.at[i - 1], found);
	else
		diag_help(d, "gave up after %zu %s; change one of the requirements above", failed.n,
			  failed.n == 1 ? "try" : "tries");
}

/* --- the fixes of other errors --- */

/* Tries one fix, and adds the result to its text. Returns true if the stack locks after it. */
static bool
try_help(struct locking *l, struct note *help, const struct uv_how *how)
{
	struct fix_files files = { 0 };
	struct names left_out = { 0 };

	for (const struct edit *e = help->edits; e; e = e->next) {
		size_t i = 0;

		while (i < files.n && files.at[i].src != e->at.src)
			i++;
		if (i == files.n && e->at.src)
			list_push(l->r->a, &files, (struct fix_file){ e->at.src, NULL, 0 });
	}
	if (fix_apply(l->r->a, help->edits, &files))
		return false;
	switch (resolve_fixed(l, &files, how, &left_out)) {
	case UV_DONE:
		help->text = arena_printf(l->r->a, "%s (%s)", help->text,
					  with_builds(l->r->a, "the stack then locks", &left_out));
		return true;
	case UV_CONFLICT:
		help->text = arena_printf(l->r->a, "%s (the stack does not lock then)", help->text);
		return false;
	default: return false; /* the stack has other errors, too */
	}
}

void
lock_try_helps(struct locking *l, struct diag *since)
{
	const double end_s = (double)time(NULL) + l->how.timeout_s;
	struct uv_how how = l->how;
	struct diags own = DIAGS(own, l->r->a);
	size_t tries = 0;

	if (!l->uv->version && !uv_find(l->r->a, &own, l->uv))
		return;
	for (struct diag *d = since; d; d = d->next) {
		bool locks = diag_severity(d) != SEV_ERROR;

		for (struct note *n = d->notes; n && !locks; n = n->next) {
			how.timeout_s = end_s - (double)time(NULL);
			if (n->kind != NOTE_HELP || !n->edits || tries == TRIES ||
			    how.timeout_s <= 0 || proc_interrupted())
				continue;
			tries++;
			locks = try_help(l, n, &how);
		}
	}
}

/* --- the index of torch --- */

/* Returns "torch==2.2.2" for "torch==2.2.2+cu121". */
static const char *
without_local(struct arena *a, const char *requirement)
{
	const char *plus = strchr(requirement, '+');

	return plus ? arena_printf(a, "%.*s%s", (int)(plus - requirement), requirement,
				   plus + strcspn(plus, " ;,")) :
		      requirement;
}

struct lock_request *
lock_asks(struct locking *l, const struct stack *s)
{
	struct arena *a = l->r->a;
	const struct torch_variant *v = s->torch_variant;
	struct lock_request *q = arena_new_of(a, struct lock_request);
	struct names lines;
	size_t n = 0;

	*q = *lock_request(a, s);
	if (!l->stand_in)
		return q;
	lines = q->constraints;
	for (size_t i = 0; i < q->wants.n; i++) {
		struct lock_want w = q->wants.at[i];

		if (w.index && !strcmp(w.index, l->stand_in)) {
			w.index = NULL;
			w.requirement = without_local(a, w.requirement);
		}
		/* The default build may be for another CUDA. */
		if (!v || !v->cuda_bindings || strcmp(w.requirement, v->cuda_bindings) != 0)
			q->wants.at[n++] = w;
	}
	q->wants.n = n;
	q->constraints = (struct names){ 0 };
	/* The guards are those of the build that torch's own index has. */
	list_each (line, &lines)
		if (!names_have(&s->guards, *line))
			list_push(a, &q->constraints, without_local(a, *line));
	return q;
}

/* A stack whose packages exclude each other: why, and which stack near it can be locked. */
#include <string.h>
#include <time.h>

#include "base/fix.h"
#include "base/fs.h"
#include "base/proc.h"
#include "base/str.h"
#include "world_lock.h"

enum { TRIES = 10 };

/* Returns true if a text has a name as a separate word. */
static bool
mentions(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = text; (p = strstr(p, name)); p += n) {
		bool starts = p == text || (!is_alnum(p[-1]) && !strchr("-_.", p[-1]));

		if (starts && !is_alnum(p[n]) && !strchr("-_", p[n]))
			return true;
	}
	return false;
}

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
		if (spec && length && specifiers_match(spec, v, PRE_YES) &&
		    !(instead_of && specifiers_match(spec, instead_of, PRE_YES)))
			return true;
	}
	return false;
}

/* A change of the recipe that may make the stack one that locks. */
struct
try {
	const char *what; /* "torch 2.13.0" */
	const char *set;  /* "torch.version=2.13.0"; or NULL: */
	const char *key;  /* the package whose version is left open */
};
struct tries LIST(struct try);

/* Adds other known versions of torch: those that the explanation requires, or the others. */
static void
try_torch(struct locking *l, const char *explanation, bool asked_for, struct tries *out)
{
	struct arena *a = l->r->a;
	const struct candidate *now = solution_selected(l->stack->solution, "torch");
	struct alternatives all = { 0 };

	if (now && now->v && mentions(explanation, "torch"))
		all = solution_alternatives(l->stack->solution, "torch");
	for (size_t i = 0; i < all.n && out->n < TRIES; i++) {
		const struct candidate *c = all.at[i].c;

		if (!all.at[i].chosen && all.at[i].can && c->v &&
		    is_asked_for(a, explanation, "torch", c->v, now->v) == asked_for)
			list_push(a, out,
				  (struct try){ arena_printf(a, "torch %s", c->text),
						arena_printf(a, "torch.version=%s", c->text),
						NULL });
	}
}

/* Adds the packages of the recipe that the explanation names, each with any version. */
static void
try_packages(struct locking *l, const struct lock_request *q, const char *explanation,
	     struct tries *out)
{
	struct arena *a = l->r->a;

	for (size_t i = 0; i < q->wants.n && out->n < TRIES; i++) {
		const struct lock_want *w = &q->wants.at[i];
		const struct requirement *req = requirement_parse(a, w->requirement, NULL, NULL);

		if (!strcmp(w->root, "packages") && w->at.line && mentions(explanation, w->key) &&
		    *specifiers_text(a, req->spec) && !req->extras.n && !req->marker)
			list_push(a, out,
				  (struct try){ arena_printf(a, "another %s", w->key), NULL,
						w->key });
	}
}

/* Returns the version of a package that uv selects if the recipe leaves it open; NULL: none. */
static const char *
version_if_open(struct locking *l, const struct lock_request *q, const char *key,
		const struct uv_how *how)
{
	struct arena *a = l->r->a;
	struct lock_request open = *q;
	struct uv_answer answer;
	struct diags own;

	diags_init(&own, a);
	open.constraints = (struct names){ 0 };
	open.wants.at = arena_array_of(a, struct lock_want, q->wants.n);
	for (size_t i = 0; i < q->wants.n; i++) {
		open.wants.at[i] = q->wants.at[i];
		if (!strcmp(q->wants.at[i].key, key))
			open.wants.at[i].requirement = key;
	}
	for (size_t i = 0; i < q->constraints.n; i++)
		if (strcmp(requirement_parse(a, q->constraints.at[i], NULL, NULL)->key, key) != 0)
			list_push(a, &open.constraints, q->constraints.at[i]);
	if (uv_resolve(a, &own, &open, how, &answer) != UV_DONE)
		return NULL;
	for (size_t i = 0; i < answer.packages.n; i++)
		if (!strcmp(answer.packages.at[i].name, key))
			return answer.packages.at[i].version;
	return NULL;
}

/* uv's hint: "Wheels are required for `pyairports` because building from source is disabled ..." */
static const char *
needs_build(struct arena *a, const struct uv_answer *answer)
{
	const char *hint = answer->hint, *name = hint ? strchr(hint, '`') : NULL;

	if (!name || !strstr(hint, "building from source is disabled"))
		return NULL;
	return name_normalize(a, arena_copy(a, name + 1, strcspn(name + 1, "`")));
}

/* "torch 2.4.0 with --allow-build pyairports": packages without a wheel. */
static const char *
with_builds(struct arena *a, const char *what, const struct names *left_out)
{
	struct buf b = BUF(a);

	buf_puts(&b, what);
	for (size_t i = 0; i < left_out->n; i++)
		buf_printf(&b, "%s --allow-build %s", i ? "" : " with", left_out->at[i]);
	return buf_text(&b);
}

/* A recipe_open that returns the files as a fix left them. */
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
	return fs_read(a, ds, path, FS_READ_MAX, at);
}

/* Packages without a wheel that are left out, one a resolution. */
enum { LEFT_OUT_MAX = 10 };

enum uv_end
lock_resolve_wheels(struct locking *l, struct diags *ds, struct lock_request *q,
		    const struct uv_how *how, struct uv_answer *answer, struct names *left_out)
{
	for (;;) {
		enum uv_end end = uv_resolve(l->r->a, ds, q, how, answer);
		const char *name = end == UV_CONFLICT ? needs_build(l->r->a, answer) : NULL;

		if (!name || left_out->n == LEFT_OUT_MAX)
			return end;
		list_push(l->r->a, left_out, name);
		list_push(l->r->a, &q->elsewhere, name);
	}
}

/* Resolves the stack after a change of the recipe: of a value (set), or of its files (fixed). */
static enum uv_end
resolve_changed(struct locking *l, const char *set, struct fix_files *fixed,
		const struct uv_how *how, struct names *left_out)
{
	struct options o = *l->r->o;
	struct diags own;
	struct run r = *l->r;
	const struct recipes *rs;
	const struct stack *s;
	struct uv_answer answer;

	diags_init(&own, r.a);
	o.cell = l->recipe->cell;
	o.sets.cap = o.sets.n; /* a copy: the list of the command line stays */
	if (set)
		list_push(r.a, &o.sets, set);
	r.o = &o;
	rs = pipeline_load(&r, &own, l->recipe->path, fixed ? open_fixed : NULL, fixed);
	s = rs ? resolve(r.a, &own, r.facts, rs->at[0], NULL) : NULL;
	return s ? lock_resolve_wheels(l, &own, lock_asks(l, s), how, &answer, left_out) :
		   UV_FAILED;
}

/* Returns the help that a try gives: "torch 2.13.0"; NULL: the stack does not lock with it. */
static const char *
tried(struct locking *l, const struct lock_request *q, const struct try *t,
      const struct uv_how *how)
{
	const char *version;
	struct names left_out = { 0 };

	if (t->set)
		return resolve_changed(l, t->set, NULL, how, &left_out) == UV_DONE ?
			       with_builds(l->r->a, t->what, &left_out) :
			       NULL;
	version = version_if_open(l, q, t->key, how);
	return version ? arena_printf(l->r->a, "%s==%s", t->key, version) : NULL;
}

/* Adds the tries, and the first one that locks. */
static void
suggest(struct locking *l, struct diag *d, const struct lock_request *q, const char *explanation)
{
	const double end_s = (double)time(NULL) + l->how.timeout_s;
	struct uv_how how = l->how;
	struct names failed = { 0 };
	struct tries all = { 0 };
	const char *found = NULL;

	try_torch(l, explanation, true, &all);
	try_packages(l, q, explanation, &all);
	try_torch(l, explanation, false, &all);
	for (size_t i = 0; i < all.n && !found && !proc_interrupted(); i++) {
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
		diag_help(d, "use %s: with it, uv finds versions for all packages", found);
	else
		diag_help(d, "gave up after %zu %s; change one of the requirements above", failed.n,
			  failed.n == 1 ? "try" : "tries");
}

/* The requirements of the recipe that the explanation names, each name once. */
struct named LIST(const struct lock_want *);

static struct named
named_in(struct arena *a, const struct lock_request *q, const char *explanation)
{
	struct named all = { 0 };
	struct names seen = { 0 };

	for (size_t i = 0; i < q->wants.n; i++) {
		const struct lock_want *w = &q->wants.at[i];

		if (!w->at.line || names_have(&seen, w->key) || !mentions(explanation, w->key))
			continue;
		list_push(a, &seen, w->key);
		list_push(a, &all, w);
	}
	return all;
}

/* The explanation in sentences of their own, with the stack under its name in our texts. */
static void
explain(struct arena *a, struct diag *d, const char *explanation)
{
	struct buf b = BUF(a);

	for (const char *p = explanation; *p;) {
		if (starts_with(p, UV_STACK)) {
			buf_puts(&b, "the stack");
			p += strlen(UV_STACK);
		} else {
			buf_putc(&b, *p++);
		}
	}
	while (b.n && strchr(" .", b.p[b.n - 1]))
		b.p[--b.n] = '\0';
	diag_why(d, "%s", starts_with(buf_text(&b), "Because ") ? buf_text(&b) + 8 : buf_text(&b));
}

void
lock_conflict(struct locking *l, const struct lock_request *q, const struct uv_answer *answer)
{
	const struct named named = named_in(l->r->a, q, answer->explanation);
	const char *build = needs_build(l->r->a, answer);
	struct diag *d = diag_at(&l->r->ds, E_LOCK_CONFLICT,
				 named.n ? named.at[0]->at : (struct span){ .src = l->recipe->src },
				 "uv finds no versions that satisfy all requirements");

	for (size_t i = 1; i < named.n; i++)
		diag_note(d, named.at[i]->at, "`%s` is required here", named.at[i]->requirement);
	explain(l->r->a, d, answer->explanation);
	if (l->stack->torch.value && !l->stack->torch.given &&
	    mentions(answer->explanation, "torch"))
		diag_why(d, "stackbuild selects torch %s: %s", l->stack->torch.value,
			 l->stack->torch.reason);
	if (build)
		diag_help(d,
			  "add --allow-build %s: uv then builds its sdist, isolated, to read the "
			  "metadata",
			  build);
	else if (strstr(answer->explanation, "was not found in the package registry"))
		diag_help(d,
			  "check the spelling of the name, and whether the index has the package");
	else
		suggest(l, d, q, answer->explanation);
}

/* --- the helps of other errors --- */

/* Tries one help; adds to its text whether the stack then locks.  Returns true if it does. */
static bool
try_help(struct locking *l, struct diag *d, struct note *help, const struct uv_how *how)
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
	if (!fix_help(l->r->a, d, help, &files))
		return false;
	switch (resolve_changed(l, NULL, &files, how, &left_out)) {
	case UV_DONE:
		help->text = arena_printf(l->r->a, "%s (%s)", help->text,
					  with_builds(l->r->a, "the stack then locks", &left_out));
		return true;
	case UV_CONFLICT:
		help->text = arena_printf(l->r->a, "%s (the stack does not lock then)", help->text);
		return false;
	default: return false; /* it has other errors, too */
	}
}

void
lock_try_helps(struct locking *l, struct diag *since)
{
	const double end_s = (double)time(NULL) + l->how.timeout_s;
	struct uv_how how = l->how;
	struct diags own;
	size_t tries = 0;

	diags_init(&own, l->r->a);
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
			locks = try_help(l, d, n, &how);
		}
	}
}

/* --- the index of torch --- */

/* "torch==2.2.2+cu121" as "torch==2.2.2" */
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
	struct lock_request *q = arena_new_of(a, struct lock_request);

	*q = *lock_request(a, s);
	if (!l->stand_in)
		return q;
	for (size_t i = 0; i < q->wants.n; i++) {
		struct lock_want *w = &q->wants.at[i];

		if (!w->index || strcmp(w->index, l->stand_in) != 0)
			continue;
		w->index = NULL;
		w->requirement = without_local(a, w->requirement);
	}
	q->constraints = (struct names){ 0 };
	for (size_t i = 0; i < s->constraints.n; i++)
		list_push(a, &q->constraints, without_local(a, s->constraints.at[i]));
	return q;
}

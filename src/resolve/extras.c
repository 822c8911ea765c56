#include "needs.h"

/*
 * Extras: mamba-ssm[causal-conv1d].  pip installs those of an ordinary package.  An extension is
 * installed without its dependencies, so the requirements of its extras are added here.
 */

/* Returns the known requirements of an extra of a release; r: NULL if it is unknown. */
static struct names
extra_requires(struct workspace *w, const struct extension_release *r, const char *extra)
{
	const char *key = name_normalize(w->a, extra);

	for (size_t i = 0; r && i < r->extras.n; i++)
		if (!strcmp(name_normalize(w->a, r->extras.at[i]), key))
			return names_split(w->a, r->extra_requires.at[i], ' ');
	return (struct names){ 0 };
}

struct names
extension_requires(struct workspace *w, const struct extension_release *r,
		   const struct recipe_extension *asked)
{
	struct names all = { 0 };

	for (size_t i = 0; r && i < r->run_requires.n; i++)
		list_push(w->a, &all, r->run_requires.at[i]);
	list_each (extra, &asked->extras) {
		struct names more = extra_requires(w, r, *extra);

		list_each (text, &more)
			names_once(w->a, &all, *text);
	}
	return all;
}

static bool
has_extra(struct workspace *w, const struct extension_release *r, const char *extra)
{
	const char *key = name_normalize(w->a, extra);

	return list_any(x, &r->extras, !strcmp(name_normalize(w->a, *x), key));
}

/* A requirement with extras: an item of packages:, or an extension. */
struct owner {
	struct span at;
	const char *name;                  /* as written */
	const char *text;                  /* the item, if it is a single text; or NULL */
	const char *key;                   /* of an ordinary package; or NULL */
	const struct extension *known;     /* or NULL */
	const struct extension_release *r; /* or NULL */
	bool compiled;                     /* the owner is an extension of the stack */
};

static void
report_no_extra(struct workspace *w, const struct owner *o, const char *extra)
{
	struct diag *d =
		diag_at(w->ds, E_NO_EXTRA, o->at, "%s%s%s has no extra `%s`", o->known->name,
			o->r->version ? " " : "", o->r->version ? o->r->version : "", extra);
	const char *near = str_nearest(extra, o->r->extras.at, o->r->extras.n);

	if (near)
		diag_help(d, "did you mean `%s`?", near);
	else if (o->r->extras.n)
		diag_help(d, "remove it, or use one of these: %s",
			  names_join(w->a, &o->r->extras, ", "));
	else
		diag_help(d, "remove it");
	diag_source(d, o->r->source);
}

static bool
is_listed(const struct workspace *w, const char *key)
{
	return list_any(e, &w->s->extensions, !strcmp(e->name, key));
}

/* Returns the requirement "mamba-ssm[a,causal-conv1d]==2.2.4" without one extra. */
static const char *
without_extra(struct workspace *w, const char *text, const char *extra)
{
	const char *open = strchr(text, '['), *end = strchr(text, ']');
	struct names all, left = { 0 };

	if (!open || !end)
		return text;
	all = names_split(w->a, arena_copy(w->a, open + 1, (size_t)(end - open - 1)), ',');
	for (size_t i = 0; i < all.n; i++)
		if (strcmp(all.at[i], extra) != 0)
			list_push(w->a, &left, all.at[i]);
	return arena_printf(w->a, "%.*s%s%s%s%s", (int)(open - text), text, left.n ? "[" : "",
			    names_join(w->a, &left, ","), left.n ? "]" : "", end + 1);
}

/*
 * Reports an extra that requires an extension. Another extension can wait for it in `extensions`;
 * pip compiles the requirements of an ordinary package at once, in an isolated environment, even if
 * they are listed there.
 */
static void
report_extension(struct workspace *w, const struct owner *o, const char *extra,
		 const char *requirement, const char *key)
{
	bool listed = is_listed(w, key);
	struct edits edits = { 0 };
	const char *help;
	struct diag *d;

	if (listed && o->compiled)
		return;
	d = diag_at(w->ds, E_EXTRA_EXTENSION, o->at, "`%s[%s]` requires the extension %s", o->name,
		    extra, key);
	if (o->compiled)
		diag_why(d, "an extension is installed without its dependencies");
	else
		diag_why(d, "pip compiles the requirements of a package in an isolated environment "
			    "without "
			    "torch");
	help = arena_printf(w->a, "%s%s%s", o->compiled ? "" : "remove the extra",
			    o->compiled || listed ? "" : ", and ",
			    listed ? "" : arena_printf(w->a, "add %s to `extensions`", key));
	if ((!listed &&
	     !edit_append(w->a, o->at, "extensions", "packages torch", requirement, &edits)) ||
	    (!o->compiled && !o->text)) {
		diag_help(d, "%s", help);
		return;
	}
	if (!o->compiled)
		fix_scalar(w, d, o->at, without_extra(w, o->text, extra), "%s", help);
	for (size_t i = 0; i < edits.n; i++)
		if (i || !o->compiled)
			diag_fix_more(d, edits.at[i]->at, edits.at[i]->replacement);
		else
			diag_fix(d, edits.at[i]->at, edits.at[i]->replacement, "%s", help);
	diag_source(d, o->r->source);
}

static void
report_unknown(struct workspace *w, const struct owner *o, const char *extra)
{
	const char *what = arena_printf(w->a, "%s[%s]", o->name, extra);
	struct diag *d;

	list_push(w->a, &w->unchecked,
		  (struct unchecked){ .what = what,
				      .why = "what this extra requires is not in the knowledge "
					     "base",
				      .by = o->compiled ? BY_NOTHING : BY_METADATA });
	if (!o->compiled)
		return;
	d = diag_at(w->ds, W_EXTRA, o->at, "`%s`: the requirements of the extra are not installed",
		    what);
	diag_why(d, "an extension is installed without its dependencies, and what this extra "
		    "requires is not in the knowledge base");
	diag_help(d, "add its requirements to `packages`");
}

/* Returns true if a requirement has the marker `extra == "NAME"`. */
static bool
is_of_extra(const char *requirement, const char *name)
{
	static const char marker[] = "extra == ";
	const char *at = strstr(requirement, marker);
	size_t n = strlen(name);

	at = at ? at + sizeof(marker) - 1 : NULL;
	return at && *at && !strncmp(at + 1, name, n) && at[1 + n] == *at;
}

/*
 * Returns true if the requirements of a package's extra were read: METADATA has those of every
 * extra; of a release from another source, a requirement must name it.
 */
static bool
is_read(struct workspace *w, const char *key, const char *extra)
{
	const struct candidate *c = decided(w, key);
	struct package_span span = { 0 };

	if (c)
		span = release_span(w, solution_variable(w->solution, key), c);
	if (!span.older)
		return false;
	if (span.older->read && span.newer->read)
		return true;
	return list_any(x, &span.older->requires, is_of_extra(*x, name_normalize(w->a, extra)));
}

static void
check_owner(struct workspace *w, const struct owner *o, const struct names *extras)
{
	for (size_t i = 0; i < extras->n; i++) {
		struct names all = extra_requires(w, o->r, extras->at[i]);

		if (o->key && is_read(w, o->key, extras->at[i]))
			continue;
		if (!o->r || !o->r->extras_known)
			report_unknown(w, o, extras->at[i]);
		else if (!has_extra(w, o->r, extras->at[i]))
			report_no_extra(w, o, extras->at[i]);
		list_each (text, &all) {
			const struct requirement *req = requirement_parse(w->a, *text, NULL, NULL);
			const struct extension *e = req ? facts_extension(w->f, req->key) : NULL;

			if (e && !extension_is_package(e, NULL, req->key))
				report_extension(w, o, extras->at[i], *text, e->name);
		}
	}
}

void
check_extras(struct workspace *w)
{
	list_each (x, &w->s->extensions)
		check_owner(w,
			    &(struct owner){ .at = x->asked->name.at,
					     .name = x->asked->name.s,
					     .known = x->known,
					     .r = x->build,
					     .compiled = true },
			    &x->asked->extras);
	list_each (q, &w->r->packages) {
		const struct extension *e =
			q->req->extras.n ? facts_extension(w->f, q->req->key) : NULL;
		const struct candidate *c = e ? decided(w, e->name) : NULL;

		/* For an extension, check_isolated() suggests `extensions` first. */
		if (q->req->extras.n && marker_holds(w, q->req->marker) &&
		    !(e && !extension_is_package(e, c ? c->entry : NULL, q->req->key)))
			check_owner(w,
				    &(struct owner){ .at = q->text.at,
						     .name = q->req->name,
						     .text = q->text.s,
						     .key = e ? NULL : q->req->key,
						     .known = e,
						     .r = !e            ? NULL :
							  c && c->entry ? c->entry :
									  &e->any },
				    &q->req->extras);
	}
}

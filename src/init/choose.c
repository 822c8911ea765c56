#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "draft.h"
#include "wish.h"

/*
 * What is open is chosen by resolving: the newest torch with which the rest can live,
 * then all that the stack says.  What is refused and has a fix is repaired; a line of a
 * list that has none is left out; anything else is an answer of its own: no such recipe.
 */

enum { REPAIRS_MAX = 64 };

static const struct source *
open_text(void *ctx, struct arena *a, struct diags *ds, const char *path, struct span at)
{
	const struct source *text = ctx;

	(void)a;
	if (!strcmp(path, text->path))
		return text;
	diag_at(ds, E_FILE, at, "`%s` is not read here", path);
	return NULL;
}

static const struct stack *
draft_resolve(struct arena *a, struct diags *ds, const struct facts *f, const char *path,
	      const char *text)
{
	struct source *src = arena_new_of(a, struct source);
	struct recipe_options o = { .path = path };
	const struct recipes *rs;

	*src = (struct source){ path, text, strlen(text) };
	rs = recipes_load_from(a, ds, f, &o, open_text, src);
	return rs ? resolve(a, ds, f, rs->at[0], NULL) : NULL;
}

/* --- repairs --- */

static const struct note *
fix_of(const struct diag *d)
{
	for (const struct note *n = d->notes; n; n = n->next)
		if (n->kind == NOTE_HELP)
			return n->edits ? n : NULL;
	return NULL;
}

static const char *
help_of(const struct diag *d)
{
	for (const struct note *n = d->notes; n; n = n->next)
		if (n->kind == NOTE_HELP)
			return n->text;
	return NULL;
}

static struct draft_line *
line_of(struct draft *d, uint32_t line)
{
	for (size_t i = 0; i < d->lines.n; i++)
		if (d->lines.at[i].line == line)
			return &d->lines.at[i];
	return NULL;
}

/* Later places first, so that the earlier ones stay where they are. */
static const struct edit *
last_before(const struct edit *edits, const struct edit *limit)
{
	const struct edit *best = NULL;

	for (const struct edit *e = edits; e; e = e->next) {
		if (limit && (e->at.line > limit->at.line ||
			      (e->at.line == limit->at.line && e->at.col >= limit->at.col)))
			continue;
		if (!best || e->at.line > best->at.line ||
		    (e->at.line == best->at.line && e->at.col >= best->at.col))
			best = e;
	}
	return best;
}

/* The text with all edits in it; our text is ASCII, so columns are bytes. */
static const char *
fixed(struct arena *a, const char *text, const struct edit *edits)
{
	for (const struct edit *e = NULL; (e = last_before(edits, e));) {
		struct source src = { NULL, text, strlen(text) };
		size_t size, from, col = e->at.col ? e->at.col - 1 : 0, width = e->at.width;
		const char *line;

		if (!source_line(&src, e->at.line, &line, &size) || col > size ||
		    width > size - col)
			return NULL;
		from = (size_t)(line - text) + col;
		if (!col && width == size && !*e->replacement && line[size])
			width++;
		text = arena_printf(a, "%.*s%s%s", (int)from, text, e->replacement,
				    text + from + width);
	}
	return text;
}

struct attempt {
	struct arena *a;
	struct diags *ds; /* what is changed is said here */
	const struct facts *f;
	struct draft *d;
	const char *path;
};

/* True if something was done about one of the errors; *text is then the one to try next. */
static bool
repair(struct attempt *t, const struct diags *found, const char **text)
{
	struct reader rd = { t->a, t->ds, t->f, &t->d->n };

	for (const struct diag *d = found->head; d; d = d->next) {
		const struct note *fix = fix_of(d);
		struct draft_line *l = d->at.line ? line_of(t->d, d->at.line) : NULL;
		const struct extension *e;
		const char *next, *help;

		if (code_table[d->code].severity != SEV_ERROR)
			continue;
		next = fix ? fixed(t->a, *text, fix->edits) : NULL;
		if (next) {
			struct diag *n =
				diag_at(t->ds, N_INIT_CHANGED, l ? l->at : (struct span){ 0 },
					"%s: %s", d->text, fix->text);

			(void)n;
			t->d->repaired = true;
			*text = next;
			return true;
		}
		if (!l || !l->slot || !*l->slot)
			continue;
		e = facts_extension(t->f, l->what);
		help = e && e->git && !e->nreleases ?
			       arena_printf(t->a, "add it with git: %s and a tag or commit as ref:",
					    e->git) :
			       help_of(d);
		*l->slot = NULL;
		wish_left(&rd, l->what, l->at,
			  help ? arena_printf(t->a, "%s; %s", d->text, help) : d->text);
		*text = draft_write(t->a, t->f, t->d);
		return true;
	}
	return false;
}

/* A copy of the list that can be changed. */
static struct init_items
copy_items(struct arena *a, const struct init_items *list)
{
	struct init_items out = { 0 };

	for (size_t i = 0; i < list->n; i++)
		list_push(a, &out, list->at[i]);
	return out;
}

static struct texts
copy_texts(struct arena *a, const struct texts *list)
{
	struct texts out = { 0 };

	for (size_t i = 0; i < list->n; i++)
		list_push(a, &out, list->at[i]);
	return out;
}

static struct draft
copy_draft(struct arena *a, const struct draft *d)
{
	struct draft out = *d;

	out.n.with = copy_items(a, &d->n.with);
	out.n.packages = copy_items(a, &d->n.packages);
	out.n.extensions = copy_items(a, &d->n.extensions);
	out.n.apt = copy_texts(a, &d->n.apt);
	out.n.copy = copy_texts(a, &d->n.copy);
	out.n.command = copy_texts(a, &d->n.command);
	out.n.env = (struct settings){ 0 };
	for (size_t i = 0; i < d->n.env.n; i++)
		list_push(a, &out.n.env, d->n.env.at[i]);
	out.n.left = (struct init_lefts){ 0 };
	for (size_t i = 0; i < d->n.left.n; i++)
		list_push(a, &out.n.left, d->n.left.at[i]);
	out.lines = (struct draft_lines){ 0 };
	return out;
}

/* *found: what was said of the last text. */
static const struct stack *
attempt(struct attempt *t, struct diags *found)
{
	const char *text = draft_write(t->a, t->f, t->d);
	const struct stack *s;

	for (size_t i = 0;; i++) {
		diags_init(found, t->a);
		s = draft_resolve(t->a, found, t->f, t->path, text);
		if (s || i == REPAIRS_MAX || !repair(t, found, &text))
			return s;
	}
}

/* --- which torch, of a range --- */

/*
 * The newest of the range with which the rest can live; where there is none, the newest of
 * it, so that the reason is told.  Tried on copies: repairs on the way count only once.
 */
static bool
choose_torch(struct attempt *t)
{
	const struct specifiers *spec = specifiers_parse(t->a, t->d->n.torch_spec.s);
	size_t n;
	const struct torch_release *const *all = facts_torch_all(t->f, &n);
	const struct torch_release *newest = NULL, *found = NULL;

	for (size_t i = n; spec && i-- > 0 && !found;) {
		struct arena *scratch = arena_new();
		struct draft d = copy_draft(scratch, t->d);
		struct diags said, errors;
		struct attempt u = { scratch, &said, t->f, &d, t->path };

		diags_init(&said, scratch);
		if (specifiers_match(spec, version_parse(scratch, all[i]->version), PRE_NO)) {
			newest = newest ? newest : all[i];
			d.n.torch = (struct text){ all[i]->version, { 0 } };
			found = attempt(&u, &errors) ? all[i] : NULL;
		}
		arena_free(scratch);
	}
	if (!newest)
		return false;
	t->d->n.torch =
		(struct text){ found ? found->version : newest->version, t->d->n.torch_spec.at };
	t->d->torch_why = arena_printf(t->a, "the newest that is %s and goes with the rest",
				       t->d->n.torch_spec.s);
	return true;
}

/* The errors of a text that was tried, with the places that they come from. */
static void
tell(struct diags *ds, const struct diags *found, struct draft *d)
{
	for (const struct diag *e = found->head; e; e = e->next) {
		struct draft_line *l = line_of(d, e->at.line);
		struct diag *copy;

		if (code_table[e->code].severity != SEV_ERROR)
			continue;
		copy = diag_at(ds, e->code, e->at, "%s", e->text);
		copy->notes = e->notes;
		copy->tail = e->notes ? e->tail : &copy->notes;
		if (l && l->at.src)
			diag_note(copy, l->at, "asked for here");
	}
}

bool
draft_complete(struct arena *a, struct diags *ds, const struct facts *f, struct draft *d,
	       const char *path)
{
	struct attempt t = { a, ds, f, d, path };
	struct reader rd = { a, ds, f, &d->n };
	const struct stack *s;
	struct diags found;

	/* The file's name is none of a stack's: so long as it has no other, it is "stack". */
	d->unnamed = !d->n.name.s;
	if (d->unnamed)
		d->n.name.s = "stack";
	d->torch = d->n.torch.s || d->n.torch_spec.s || d->n.with.n || d->n.extensions.n ||
		   d->n.index.s;
	if (d->torch && !d->n.torch.s && (!d->n.torch_spec.s || !*d->n.torch_spec.s)) {
		d->n.torch = (struct text){ "*", d->n.torch_spec.at };
	} else if (d->torch && !d->n.torch.s && !choose_torch(&t)) {
		diag_help(diag_at(ds, E_INIT_INPUT, d->n.torch_spec.at,
				  "no torch is known that is what was asked for"),
			  "`stackbuild facts torch` lists the releases and their builds");
		return false;
	}
	s = attempt(&t, &found);
	if (!s) {
		tell(t.ds, &found, d);
		return false;
	}
	draft_pin(&rd, d, s);
	return true;
}

const char *
init_recipe(struct arena *a, struct diags *ds, const struct facts *f, const struct init *n,
	    const char *path, const struct stack **s, unsigned *warnings)
{
	struct draft given = { .n = *n }, d = copy_draft(a, &given);
	const char *text;
	const char *tried = strcmp(path, "-") != 0 ? arena_printf(a, "%s (not written)", path) :
						     "the recipe (not written)";
	struct diags found;

	if (!draft_complete(a, ds, f, &d, tried))
		return NULL;
	text = draft_write(a, f, &d);
	diags_init(&found, a);
	*s = draft_resolve(a, &found, f, tried, text);
	*warnings = found.warnings;
	if (*s)
		return text;
	tell(ds, &found, &d);
	return NULL;
}

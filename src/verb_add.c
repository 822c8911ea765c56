/* add: an extension or package in its list of the recipe, with a version that works. */
#include <string.h>

#include "base/edit.h"
#include "base/str.h"
#include "edited.h"

/*
 *   $ stackbuild add stack.yaml flash-attn
 *   --- a/stack.yaml
 *   ...
 *   stack.yaml: compatible. torch 2.8.0 (cu128), python 3.12, flash-attn 2.8.3 for sm_90
 *
 * The names are first added without versions, so that the solver selects all versions together.
 */

/* An argument: "flash-attn", "einops>=0.8". */
struct addition {
	const struct requirement *req;
	const char *text;     /* text for the recipe */
	const char *variable; /* the solver's name */
	const char *list;     /* "extensions", "packages", "torch.with" */
};

struct adding {
	struct run *r;
	const char *path;
	struct edited files;
	struct additions LIST(struct addition) all;
};

static const struct recipe *
load(struct adding *d, struct diags *ds)
{
	const struct recipes *rs;

	edited_reread(&d->files);
	rs = pipeline_load(d->r, ds, d->path, edited_open, &d->files);
	return rs ? rs->at[0] : NULL;
}

/* --- the arguments --- */

static const struct text *
find_requirement(const struct recipe_requirements *all, const char *key)
{
	for (size_t i = 0; i < all->n; i++)
		if (!strcmp(all->at[i].req->key, key))
			return &all->at[i].text;
	return NULL;
}

/* Returns the place of a package in the recipe; line 0: the recipe does not have it. */
static struct span
place_of(const struct recipe *of, const char *key)
{
	const struct text *found = find_requirement(&of->packages, key);

	if (!found)
		found = find_requirement(&of->torch.with, key);
	for (size_t i = 0; i < of->extensions.n; i++)
		if (!strcmp(of->extensions.at[i].key, key))
			return of->extensions.at[i].at;
	if (!strcmp(key, "torch"))
		return of->torch.version.s ? of->torch.version.at : of->torch.at;
	return found ? found->at : NOWHERE;
}

/* Reads the names after FILE that the recipe does not have yet; false after a usage error. */
static bool
read_additions(struct adding *d, const struct recipe *of)
{
	const struct names *args = &d->r->o->args;

	for (size_t i = 1; i < args->n; i++) {
		const char *why = NULL;
		const struct requirement *req = requirement_parse(d->r->a, args->at[i], &why, NULL);
		const struct extension *e = req ? facts_extension(d->r->facts, req->key) : NULL;
		struct addition x = { .req = req, .text = args->at[i], .list = "packages" };
		struct span there;

		if (!req || req->url) {
			usage_error("`%s` is not NAME or NAME==VERSION: %s", args->at[i],
				    req ? "it has a URL" : why);
			return false;
		}
		there = place_of(of, req->key);
		if (there.line && *specifiers_text(d->r->a, req->spec)) {
			usage_error("%s:%u: the recipe already has %s: change its version there",
				    there.src->path, there.line, req->name);
			return false;
		}
		if (there.line) {
			buf_printf(&d->r->out, "%s:%u: the recipe already has %s\n",
				   there.src->path, there.line, req->name);
			continue;
		}
		x.variable = e ? e->name : req->key;
		if (among(req->key, "torchvision torchaudio"))
			x.list = "torch.with";
		else if (e && e->pypi != PYPI_WHEEL)
			x.list = "extensions";
		list_push(d->r->a, &d->all, x);
	}
	return true;
}

/* --- the edits --- */

/* Returns a place in the file with the list: the recipe, or one that it extends. */
static struct span
file_of(const struct recipe *of, const char *list)
{
	const struct recipe_requirements *all =
		!strcmp(list, "packages") ? &of->packages : &of->torch.with;

	if (!strcmp(list, "extensions") && of->extensions.n)
		return of->extensions.at[0].at;
	if (strcmp(list, "extensions") != 0 && all->n)
		return all->at[0].text.at;
	if (!strcmp(list, "torch.with") && of->torch.at.line)
		return of->torch.at;
	return (struct span){ .src = of->src };
}

/* Adds all requirements to the texts; returns the reason if that is impossible, or NULL. */
static const char *
apply(struct adding *d)
{
	list_each (x, &d->all) {
		const char *after = !strcmp(x->list, "extensions") ? "packages torch" :
				    !strcmp(x->list, "packages")   ? "torch" :
								     "version";
		struct diags ignored = DIAGS(ignored, d->r->a);
		const struct recipe *of;
		struct edits edits = { 0 };
		struct edit *first = NULL;
		const char *why;

		of = load(d, &ignored);
		if (!of ||
		    !edit_append(d->r->a, file_of(of, x->list), x->list, after, x->text, &edits))
			return arena_printf(d->r->a, "add `%s` to `%s` by hand", x->text, x->list);
		for (size_t k = 0; k < edits.n; k++) {
			struct edit *e = arena_new_of(d->r->a, struct edit);

			*e = *edits.at[k];
			e->next = first;
			first = e;
		}
		why = edited_apply(&d->files, first);
		if (why)
			return why;
	}
	return NULL;
}

/* Pins each requirement to the release that the solver selects; a requirement without known
 * releases stays unpinned. */
static void
pin(struct adding *d, const struct solution *solution)
{
	for (size_t i = 0; i < d->all.n; i++) {
		struct addition *x = &d->all.at[i];
		const struct candidate *c = solution_selected(solution, x->variable);
		const struct names *extras = &x->req->extras;
		bool given = *specifiers_text(d->r->a, x->req->spec) || x->req->marker;

		if (!c || !c->known || !c->v || (given && strcmp(x->list, "extensions") != 0) ||
		    specifiers_pin(x->req->spec))
			continue;
		x->text = arena_printf(d->r->a, "%s%s%s%s==%s%s%s", x->req->name,
				       extras->n ? "[" : "", names_join(d->r->a, extras, ","),
				       extras->n ? "]" : "", c->text, x->req->marker ? "; " : "",
				       x->req->marker ? marker_text(d->r->a, x->req->marker) : "");
	}
}

/* --- the command --- */

/* Adds the diagnostics of the changed recipe; returns why it is not written, or NULL. */
static const char *
obstacle(struct adding *d, const char **verdict)
{
	struct run *r = d->r;
	struct diags ds;
	const char *why;
	bool complete;

	ds = DIAGS(ds, r->a);
	edited_reread(&d->files);
	*verdict = check_recipe(r, &ds, d->path, edited_open, &d->files, &complete);
	why = ds.errors ? "the recipe would be incompatible" : NULL;
	for (struct diag *x = ds.head; x; x = x->next)
		for (size_t i = 0; i < d->all.n; i++) {
			struct str line, text;

			if (x->code == W_NAME_NEAR && edit_place(x->at, &line, &text) &&
			    memmem(text.p, text.n, d->all.at[i].text, strlen(d->all.at[i].text)))
				why = arena_printf(r->a,
						   "--ignore %s adds the name as it is written",
						   code_table[x->code].id);
		}
	diags_append(&r->ds, &ds);
	return why;
}

/* Returns the recipe with all additions, or an error. */
static const char *
add_all(struct adding *d)
{
	struct diags ignored = DIAGS(ignored, d->r->a);
	const struct recipe *of;
	const char *why = apply(d);

	if (!why && (of = load(d, &ignored))) {
		pin(d, resolve_solve(d->r->a, d->r->facts, of, 0));
		edited_restore(&d->files);
		why = apply(d);
	}
	return why;
}

int
verb_add(struct run *r)
{
	struct adding d = { .r = r, .path = r->o->args.at[0], .files = { .r = r } };
	const struct recipe *of;
	const char *why, *verdict;

	if (!strcmp(d.path, "-"))
		return usage_error("add changes a file: name it");
	if (!(of = load(&d, &r->ds)))
		return EXIT_DIAGNOSED;
	if (!read_additions(&d, of))
		return EXIT_USAGE;
	if (!d.all.n)
		return EXIT_DONE;
	if ((why = add_all(&d)))
		return usage_error("%s", why);
	if ((why = obstacle(&d, &verdict))) {
		buf_printf(&r->out, "nothing is written: %s\n", why);
		return EXIT_DIAGNOSED;
	}
	edited_diff(r, &d.files);
	if (!r->o->dry_run)
		edited_write(&d.files);
	buf_printf(&r->out, "\n%s", verdict);
	edited_lock(&d.files, of);
	return EXIT_DONE;
}

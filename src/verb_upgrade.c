/* upgrade: change a recipe to the newest stack within its constraints. */
#include <string.h>

#include "base/str.h"
#include "edited.h"

/*
 *   $ stackbuild upgrade recipes/torch251-cu124.yaml
 *   --- a/recipes/torch251-cu124.yaml
 *   ...
 *   torch 2.13.0, not 2.14.0: mamba-ssm 1.0.1 to 2.3.2.post1 needs torch below 2.14
 *
 * The changed recipe is checked like a file.  If its verdict is worse, an older torch is tried.
 */

enum { TRIES_MAX = 40 };

struct upgrading {
	struct run *r;
	const char *path;
	struct edited files;
	struct names variants;       /* "": none */
	struct cell_verdicts before; /* verdict of each variant */
	struct names excluded, why;  /* releases that make the verdict worse, and the reasons */
};

/* --- verdicts --- */

/* Returns the verdict on the current recipe, for each variant. */
static struct cell_verdicts
judge(struct upgrading *u)
{
	struct cell_verdicts all = { 0 };

	for (size_t i = 0; i < u->variants.n; i++) {
		struct options o = *u->r->o;
		struct run r = *u->r;
		struct diags ignored;

		ignored = DIAGS(ignored, r.a);
		o.variant = *u->variants.at[i] ? u->variants.at[i] : NULL;
		r.o = &o;
		edited_reread(&u->files);
		check_cells(&r, &ignored, u->path, edited_open, &u->files, &all, NULL);
	}
	return all;
}

/* The reason for a worse verdict. */
struct worse {
	const char *why;     /* NULL: it is not worse */
	const char *release; /* release that causes it, "mamba-ssm 2.3.2"; NULL: unknown */
	struct span at;
};

static struct worse
compare_verdicts(struct arena *a, const struct cell_verdict *before, const struct cell_verdict *now)
{
	for (size_t i = 0; i < now->reported.n && !before->incompatible; i++) {
		const struct diag *d = now->reported.at[i];
		const char *id = code_table[d->code].id;

		if (diag_severity(d) == SEV_ERROR ||
		    (diag_severity(d) == SEV_WARNING && !names_have(&before->warnings, id)))
			return (struct worse){ arena_printf(a, "%s: %s", id, d->text),
					       .at = d->at };
	}
	for (size_t i = 0;
	     i < now->parts.n && stack_open(&now->parts, NULL) > stack_open(&before->parts, NULL);
	     i++) {
		const struct stack_part *new = &now->parts.at[i];

		if (new->coverage != COVERAGE_READ &&
		    !list_any(old, &before->parts,
			      old->coverage != COVERAGE_READ && !strcmp(old->what, new->what)))
			return (struct worse){ arena_printf(a, "not checked: %s: %s", new->what,
							    new->why),
					       .release = new->what };
	}
	return (struct worse){ 0 };
}

static struct worse
got_worse(struct upgrading *u)
{
	const struct cell_verdicts now = judge(u);
	struct worse w = { 0 };

	for (size_t i = 0; i < now.n && i < u->before.n && !w.why; i++)
		w = compare_verdicts(u->r->a, &u->before.at[i], &now.at[i]);
	return w;
}

/* --- the search --- */

/* Returns the cells of the current recipe; NULL after an error. */
static const struct recipes *
load(struct upgrading *u, struct diags *ds)
{
	*ds = DIAGS(*ds, u->r->a);
	edited_reread(&u->files);
	return pipeline_load(u->r, ds, u->path, edited_open, &u->files);
}

static const struct solution *
solve_now(struct upgrading *u)
{
	struct diags ignored;

	return resolve_solve(u->r->a, u->r->facts, load(u, &ignored)->at[0], 0);
}

/* Returns "torch 2.13.0" for the selected torch; NULL: the stack has none. */
static const char *
torch_of(struct upgrading *u, const struct solution *solution)
{
	const struct candidate *torch = solution_selected(solution, "torch");

	return torch ? arena_printf(u->r->a, "torch %s", torch->text) : NULL;
}

/* Returns whether a solution has "mamba-ssm 2.3.1". */
static bool
is_selected(struct upgrading *u, const struct solution *solution, const char *release)
{
	const char *space = strchr(release, ' ');
	const struct candidate *c =
		space ? solution_selected(solution,
					  arena_copy(u->r->a, release, (size_t)(space - release))) :
			NULL;

	return c && !strcmp(c->text, space + 1);
}

/* Excludes the release that made the verdict worse, or torch; false if neither has changed. */
static bool
exclude(struct upgrading *u, const struct worse *worse, const struct solution *before,
	const struct solution *after)
{
	const char *is = torch_of(u, after), *was = torch_of(u, before);
	const char *release =
		worse->release ? worse->release : resolve_release_at(after, worse->at);

	if (!release || names_have(&u->excluded, release) || !is_selected(u, after, release) ||
	    is_selected(u, before, release))
		release = is && was && strcmp(is, was) != 0 ? is : NULL;
	if (!release || names_have(&u->excluded, release))
		return false;
	list_push(u->r->a, &u->excluded, release);
	list_push(u->r->a, &u->why, worse->why);
	return true;
}

/* Applies the newest changes that do not make the verdict worse; false if there are none. */
static bool
find_changes(struct upgrading *u, const struct names *only, struct upgrade *out)
{
	for (size_t tries = 0; tries < TRIES_MAX; tries++) {
		const struct solution *before = solve_now(u), *after;
		const struct upgrade_how how = { .only = only, .excluded = u->excluded };
		struct worse worse = { 0 };
		bool more;

		if (!resolve_upgrade(before, &how, out) || !out->edits)
			return false;
		worse.why = edited_apply(&u->files, out->edits);
		if (worse.why)
			return false;
		worse = got_worse(u);
		after = solve_now(u);
		if (!worse.why)
			return true;
		more = exclude(u, &worse, before, after);
		edited_restore(&u->files);
		out->edits = NULL;
		if (!more)
			return false;
	}
	return false;
}

/* --- output --- */

/* Returns whether two releases have the same name: "torch 2.13.0" and "torch 2.12.0". */
static bool
same_name(const char *x, const char *y)
{
	size_t n = strcspn(x, " ");

	return n == strcspn(y, " ") && !strncmp(x, y, n);
}

/* Prints the reason against the newest excluded release of each name. */
static void
print_limits(struct upgrading *u, const struct upgrade *found)
{
	struct buf *out = &u->r->out;

	for (size_t i = 0; i < u->excluded.n; i++)
		if (!i || !same_name(u->excluded.at[i], u->excluded.at[i - 1]))
			buf_printf(out, "%s is not selected: %s\n", u->excluded.at[i],
				   u->why.at[i]);
	list_each (l, &found->limits) {
		bool told = false;

		for (size_t k = 0; k < u->excluded.n; k++)
			told |= same_name(l->now, u->excluded.at[k]);
		if (!told)
			buf_printf(out, "%s, not %s: %s\n", l->now, l->newer, l->why);
	}
}

/* Returns true if a comment has the version as a separate word. */
static bool
comment_names(const char *comment, const char *end, const char *version)
{
	size_t n = strlen(version);

	for (const char *p = comment; (p = strstr(p, version)) && p < end; p += n)
		if (!is_alnum(p[-1]) && p[-1] != '.' && !is_alnum(p[n]) &&
		    !(p[n] == '.' && is_digit(p[n + 1])))
			return true;
	return false;
}

/* Reports comments that mention a replaced version, because their author must review them. */
static void
print_comments(struct upgrading *u, const struct edited_file *file, const struct names *replaced)
{
	const char *p = file->now.text, *last = p + file->now.size;
	unsigned line = 1;

	for (const char *end; p < last; p = end + 1, line++) {
		const char *hash;
		struct names found = { 0 };

		end = memchr(p, '\n', (size_t)(last - p));
		end = end ? end : last;
		hash = memchr(p, '#', (size_t)(end - p));
		for (size_t i = 0; i < replaced->n && hash; i++)
			if (is_digit(*replaced->at[i]) &&
			    comment_names(hash + 1, end, replaced->at[i]))
				names_once(u->r->a, &found, replaced->at[i]);
		if (found.n)
			buf_printf(&u->r->out, "%s:%u: check this comment, which mentions %s\n",
				   file->path, line, names_words(u->r->a, &found, "and"));
	}
}

static void
print_changes(struct upgrading *u, const struct plan *before, const struct upgrade *found)
{
	struct run *r = u->r;
	struct diags ignored;
	const struct recipe *recipe = load(u, &ignored)->at[0];
	const struct plan *after = pipeline_plan(r, r->a, &ignored, recipe, NULL);
	const char *verdict;
	bool complete;

	edited_diff(r, &u->files);
	buf_putc(&r->out, '\n');
	print_limits(u, found);
	plan_diff(before, plan_here(r, after, NULL), NULL, &r->out, false);
	buf_putc(&r->out, '\n');
	for (size_t i = 0; i < u->files.files.n; i++)
		if (u->files.files.at[i]->on_disk->text != u->files.files.at[i]->now.text)
			print_comments(u, u->files.files.at[i], &found->replaced);
	edited_reread(&u->files);
	verdict = check_recipe(r, &ignored, u->path, edited_open, &u->files, &complete);
	buf_puts(&r->out, verdict);
}

/* --- the command --- */

/* Returns the names after FILE in normal form; false after a usage error. */
static bool
read_names(struct upgrading *u, const struct solution *solution, struct names *only)
{
	const struct names known = resolve_upgradable(solution), *args = &u->r->o->args;

	for (size_t i = 1; i < args->n; i++) {
		const char *name = name_normalize(u->r->a, args->at[i]);
		const char *near = str_nearest(name, known.at, known.n);

		if (!names_have(&known, name)) {
			usage_error("the recipe does not pin `%s` to a version; %s%s%s",
				    args->at[i], near ? "did you mean `" : "it pins ",
				    near    ? near :
				    known.n ? names_words(u->r->a, &known, "and") :
					      "nothing",
				    near ? "`?" : "");
			return false;
		}
		list_push(u->r->a, only, name);
	}
	return true;
}

/* Shows the changes of the lock, if uv is installed, and writes the files with --write. */
static int
finish(struct upgrading *u, const struct recipe *before)
{
	struct run *r = u->r;
	struct diags ignored;
	bool locked =
		world_lock_changed && world_lock_changed(r, load(u, &ignored)->at[0], r->o->write);

	if (r->ds.errors)
		buf_puts(&r->out, "nothing is written\n");
	else if (r->o->write)
		edited_write(&u->files);
	else
		buf_puts(&r->out, "nothing is written: --write applies the changes\n");
	if (!locked)
		edited_lock(&u->files, before);
	return r->ds.errors ? EXIT_DIAGNOSED : EXIT_DONE;
}

int
verb_upgrade(struct run *r)
{
	struct upgrading u = { .r = r, .path = r->o->args.at[0], .files = { .r = r } };
	struct names only = { 0 };
	struct upgrade found = { 0 };
	const struct recipes *rs;
	const struct plan *before;
	struct diags ds;

	if (r->o->write && !strcmp(u.path, "-"))
		return usage_error("--write needs a file: standard input cannot be changed");
	rs = load(&u, &ds);
	if (rs && rs->matrix)
		return usage_error("`upgrade` changes one stack: edit the versions of a `matrix:` "
				   "by hand");
	before = rs ? pipeline_plan(r, r->a, &ds, rs->at[0], NULL) : NULL;
	if (!before) {
		diags_append(&r->ds, &ds);
		return EXIT_DIAGNOSED;
	}
	list_push(r->a, &u.variants, r->o->variant ? r->o->variant : "");
	for (size_t i = 0; i < rs->variants.n; i++)
		names_once(r->a, &u.variants, rs->variants.at[i]);
	if (!read_names(&u, before->stack->solution, &only))
		return EXIT_USAGE;
	u.before = judge(&u);
	if (!find_changes(&u, &only, &found)) {
		buf_printf(&r->out, "%s: nothing to upgrade\n", u.path);
		print_limits(&u, &found);
		return EXIT_DONE;
	}
	print_changes(&u, plan_here(r, before, NULL), &found);
	return finish(&u, rs->at[0]);
}

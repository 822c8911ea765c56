#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/fold.h"
#include "base/fs.h"
#include "base/str.h"
#include "edited.h"
#include "find.h"
#include "lock/lock.h"
#include "render/render.h"
#include "tint.h"

/* Identifies a distributed build: commit, date, machine (ci/dist/build). */
#ifdef STACKBUILD_BUILD
#define BUILD_NAMED " (" STACKBUILD_BUILD ")"
#else
#define BUILD_NAMED ""
#endif

int
usage_error(const char *fmt, ...)
{
	struct arena *scratch = arena_new();
	va_list ap;

	va_start(ap, fmt);
	diag_tell("stackbuild: %s", arena_vprintf(scratch, fmt, ap));
	va_end(ap);
	arena_free(scratch);
	return EXIT_USAGE;
}

bool
option_timeout(const struct options *o, double *out)
{
	char *end;

	if (!o->timeout)
		return true;
	*out = strtod(o->timeout, &end);
	return (!*end && *out > 0 && *out <= 86400) ||
	       usage_error("--timeout takes seconds, 1 to 86400") == EXIT_DONE;
}

bool
option_number(const char *option, const char *text, double most, double *out)
{
	char *end;

	*out = 0;
	if (!text)
		return true;
	*out = strtod(text, &end);
	if (*text && !*end && *out > 0 && *out <= most)
		return true;
	diag_tell("stackbuild: --%s takes a number above 0, not `%s`", option, text);
	return false;
}

const char *
user_knowledge(struct arena *a)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	if (data && *data == '/')
		return fs_join(a, data, "stackbuild/knowledge");
	return home && *home == '/' ? fs_join(a, home, ".local/share/stackbuild/knowledge") : NULL;
}

bool
is_refresh(const struct options *o)
{
	return o->verb == VERB_facts && o->args.n && !strcmp(o->args.at[0], "refresh");
}

const struct facts *
program_knowledge(struct run *r)
{
	const char *env = getenv("STACKBUILD_KNOWLEDGE"), *folder = env && *env ? env : NULL;
	const struct facts *f =
		facts_load(r->a, &r->ds, r->o->knowledge ? r->o->knowledge : folder);
	const char *user = f && !r->o->no_user_knowledge ? user_knowledge(r->a) : NULL;

	/* `refresh` replaces the user's files and must not depend on them. */
	if (user && !is_refresh(r->o))
		facts_use_user(f, user);
	return f;
}

/*
 * Reports the use of the user's knowledge directory:
 *
 *     note[SB0285]: releases of vllm are those of /home/me/.local/... (read 2026-11-30)
 *     note[SB0285]: /home/me/.local/.../torchao.yaml is ignored: it is older than ...
 */
static void
tell_user_knowledge(struct run *r)
{
	struct user_files all = facts_user_files(r->facts);

	for (size_t i = 0; i < all.n; i++) {
		const struct user_file *u = all.at[i];

		if (u->ignored)
			diag_at(&r->ds, N_USER_KNOWLEDGE, NOWHERE, "`%s` is ignored: %s", u->path,
				u->ignored);
		else
			diag_at(&r->ds, N_USER_KNOWLEDGE, NOWHERE,
				"the releases of %s come from `%s`, read %s", u->package, u->path,
				u->read);
	}
}

static int (*const verbs[VERB_COUNT])(struct run *r) = {
#define VERB(name, ...) [VERB_##name] = verb_##name,
#include "verbs.def"
};

bool
option_colour(const struct options *o, int file)
{
	return o->colour == COLOUR_ALWAYS ||
	       (o->colour == COLOUR_AUTO && isatty(file) && !getenv("NO_COLOR"));
}

/* Returns the columns of a terminal; 0: the file is none, or its width is unknown. */
static unsigned
terminal_columns(int file)
{
	enum { COLUMNS_MIN = 40 };
	struct winsize w = { 0 };

	if (!isatty(file) || ioctl(file, TIOCGWINSZ, &w) < 0 || !w.ws_col)
		return 0;
	return w.ws_col < COLUMNS_MIN ? COLUMNS_MIN : w.ws_col;
}

/* Returns whether a command prints text for people, and no file or command to copy. */
static bool
prints_prose(const struct options *o)
{
	return o->format == FORMAT_TEXT &&
	       among(verb_table[o->verb].name,
		     "check choose why plan facts explain doctor diagnose "
		     "engines verify inspect store audit");
}

static bool
print_diagnostics(struct run *r)
{
	struct buf b = BUF(r->a);

	diags_fold(&r->ds);
	r->ds.columns = terminal_columns(STDERR_FILENO);
	if (r->o->quiet)
		diags_keep_errors(&r->ds);
	switch (r->o->diagnostics) {
	case DIAG_JSON: report_json(&r->ds, &b); break;
	case DIAG_SARIF: report_sarif(&r->ds, STACKBUILD_VERSION, &b); break;
	case DIAG_GITHUB: report_github(&r->ds, &b); break;
	default: return diags_print(&r->ds, stderr, option_colour(r->o, STDERR_FILENO));
	}
	fwrite(buf_text(&b), 1, b.n, stderr);
	return !ferror(stderr);
}

void
program_write(struct buf *text)
{
	struct buf safe = BUF(text->a);

	if (isatty(STDOUT_FILENO))
		diag_inert_coloured(buf_text(text), &safe);
	else
		safe = *text;
	fwrite(buf_text(&safe), 1, safe.n, stdout);
}

static bool
print_output(struct run *r)
{
	struct buf tinted = BUF(r->a);

	if (r->o->format == FORMAT_TEXT && option_colour(r->o, STDOUT_FILENO)) {
		tint(r->o->verb, buf_text(&r->out), &tinted);
		r->out = tinted;
	}
	if (prints_prose(r->o) && terminal_columns(STDOUT_FILENO)) {
		struct buf folded = BUF(r->a);

		fold(buf_text(&r->out), terminal_columns(STDOUT_FILENO), &folded);
		r->out = folded;
	}
	program_write(&r->out);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	fputs("stackbuild: cannot write to standard output\n", stderr);
	return false;
}

int
program_run(const struct options *o)
{
	struct run r = { .a = arena_new(), .o = o };
	int status = EXIT_DIAGNOSED;

	signal(SIGPIPE, SIG_IGN);
	if (o->assumed && !o->quiet && o->diagnostics == DIAG_TEXT)
		diag_tell("stackbuild: the recipe is %s", o->assumed);
	r.ds = DIAGS(r.ds, r.a);
	r.ds.verbose = o->verbose;
	r.out = BUF(r.a);
	for (size_t i = 0; o->verbose && !o->quiet && o->diagnostics == DIAG_TEXT && i < o->set.n;
	     i++)
		diag_tell("stackbuild: %s", o->set.at[i]);
	if (o->found)
		diags_append(&r.ds, o->found);
	if (r.ds.errors)
		status = EXIT_DIAGNOSED;
	else if (!verb_takes(o->verb, "knowledge") || (r.facts = program_knowledge(&r))) {
		status = verbs[o->verb](&r);
		if (r.facts && verb_takes(o->verb, "no-user-knowledge"))
			tell_user_knowledge(&r);
	}
	if (status != EXIT_USAGE) {
		if (!print_output(&r))
			status = EXIT_DIAGNOSED;
		print_diagnostics(&r);
		if (r.ds.errors && !r.command_ran)
			status = EXIT_DIAGNOSED;
	}
	arena_free(r.a);
	return status;
}

bool
program_options(struct arena *a, int argc, char **argv, struct options *o, int *status)
{
	const char *why;
	struct buf b = BUF(a);

	*status = EXIT_DONE;
	if (!options_parse(a, argc, argv, o, &why)) {
		*status = usage_error("%s", why);
		return false;
	}
	if (o->version) {
		struct diags ds = DIAGS(ds, a);
		const struct facts *f;

		f = facts_load(a, &ds, NULL);
		printf("stackbuild %s" BUILD_NAMED ", knowledge of %s\n", STACKBUILD_VERSION,
		       f ? facts_date(f) : "unknown date");
	} else if (o->help) {
		options_help(o->verb, argc < 2, &b);
		fputs(buf_text(&b), stdout);
	} else if (o->locked && o->no_lock) {
		*status = usage_error("--locked and --no-lock exclude each other");
	} else if (!find_recipe(a, o, &why)) {
		*status = usage_error("%s", why);
		return false;
	} else {
		options_config(a, o);
		return true;
	}
	if (fflush(stdout) != 0)
		*status = EXIT_DIAGNOSED;
	return false;
}

/* Returns true if the recipe of `upgrade` may have a lock, which uv resolves again. */
static bool
upgrades_lock(const struct options *o)
{
	struct arena *a = arena_new();
	struct names files = { 0 };
	struct diags ds = DIAGS(ds, a);
	bool found = false;

	if (o->verb == VERB_upgrade && strcmp(o->args.at[0], "-") != 0)
		fs_list(a, &ds, fs_dir(a, o->args.at[0]), ".toml", &files);
	for (size_t i = 0; i < files.n; i++)
		found |= starts_with(fs_name(files.at[i]), "pylock.");
	arena_free(a);
	return found;
}

bool
program_needs_world(const struct options *o)
{
	return !verbs[o->verb] || (is_refresh(o) && !world_facts_refresh) ||
	       (o->online && !world_check_online) || (!world_modal_chain && init_reads_modal(o)) ||
	       (!world_lock_changed && upgrades_lock(o)) ||
	       (o->verb == VERB_plan && o->diff && !world_at_revision && !fs_exists(o->diff));
}

const struct recipes *
pipeline_load(struct run *r, struct diags *ds, const char *path, recipe_open *open, void *ctx)
{
	const struct options *o = r->o;
	const struct recipe_options ro = {
		.path = path,
		.sets = o->sets.at,
		.nsets = o->sets.n,
		.variant = o->variant,
		.cell = o->cell,
		.ignore = o->ignore,
		.extends_anywhere = o->extends_anywhere,
		.application = true,
		.on_disk = open == edited_open,
	};
	unsigned before = ds->errors;
	const struct recipes *rs = open ? recipes_load_from(r->a, ds, r->facts, &ro, open, ctx) :
					  recipes_load(r->a, ds, r->facts, &ro);

	if (!rs && ds->errors == before)
		BUG("a recipe was refused without a reason");
	return rs;
}

void
add_word(struct buf *b, const char *option, const char *value)
{
	const char *why;

	if (!value)
		return;
	buf_printf(b, " %s ", option);
	quote(b, QUOTE_SH, LANG_SH, value, &why);
}

const char *
recipe_words(struct arena *a, const struct options *o, const char *path, const char *cell)
{
	struct buf b = BUF(a);
	const char *why;

	quote(&b, QUOTE_SH, LANG_SH, path, &why);
	add_word(&b, "--variant", o->variant);
	for (size_t i = 0; i < o->sets.n; i++)
		add_word(&b, "--set", o->sets.at[i]);
	add_word(&b, "--cell", cell);
	if (o->extends_anywhere)
		buf_puts(&b, " --extends-anywhere");
	return buf_text(&b);
}

const struct stack *
pipeline_pin(const struct run *r, struct arena *a, struct diags *ds, const struct stack *s,
	     const struct lock **lock)
{
	const char *again;

	*lock = NULL;
	if (r->unlocked || r->o->no_lock || !verb_takes(r->o->verb, "no-lock"))
		return s;
	again = arena_printf(a, "stackbuild lock %s",
			     recipe_words(a, r->o, s->recipe->path, s->recipe->cell));
	if (!lock_current(a, ds, s, again, r->o->locked, lock))
		return NULL;
	return *lock ? lock_apply(a, ds, s, *lock) : s;
}

const struct plan *
pipeline_plan(const struct run *r, struct arena *a, struct diags *ds, const struct recipe *cell,
	      const struct resolve_options *o)
{
	unsigned before = ds->errors;
	const struct stack *s = resolve(a, ds, r->facts, cell, o);
	const struct lock *lock = NULL;
	const struct plan *p;

	s = s ? pipeline_pin(r, a, ds, s, &lock) : NULL;
	p = s ? plan_make(a, ds, s, lock) : NULL;

	if (!p && ds->errors == before)
		BUG("a cell was refused without a reason");
	return p;
}

struct matrix *
pipeline_matrix(struct run *r, const struct recipes *rs, bool chain)
{
	struct matrix *m = matrix_new(r->a, chain);
	bool good = true;

	for (size_t i = 0; i < rs->n; i++) {
		struct arena *scratch = arena_new();
		const struct plan *p = pipeline_plan(r, scratch, &r->ds, rs->at[i], NULL);

		good = good && p;
		if (p)
			matrix_add(m, p);
		arena_free(scratch);
	}
	return good && !r->ds.errors ? m : NULL;
}

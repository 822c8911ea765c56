/* init: create a recipe from files, options or answers. */
#include "verbs.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/str.h"
#include "init/init.h"

static bool
has_options(const struct options *o)
{
	return o->gpus.n || o->extensions.n || o->packages.n || o->torch || o->cuda || o->python ||
	       o->base;
}

/* True if standard input is a file or a pipe: not a terminal, not /dev/null. */
static bool
stdin_is_sent(void)
{
	struct stat st;

	return fstat(0, &st) == 0 && !S_ISCHR(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* --- files --- */

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

struct sources LIST(const struct source *);

static bool
read_sources(struct run *r, const struct names *paths, struct init *n, bool *empty)
{
	struct sources sources = { 0 };
	struct buf from = BUF(r->a);

	for (size_t i = 0; i < paths->n; i++) {
		const struct source *src =
			fs_read(r->a, &r->ds, paths->at[i], FS_READ_MAX, (struct span){ 0 });

		/* An empty pipe is an error only if there are no options. */
		if (src && !src->size && !r->o->froms.n) {
			*empty = !has_options(r->o);
			return !*empty;
		}
		src = src ? init_text(r->a, &r->ds, src) : NULL;
		if (!src)
			return false;
		list_push(r->a, &sources, src);
		buf_printf(&from, "%s%s", i ? " and " : "",
			   strcmp(paths->at[i], "-") != 0 ? base_name(src->path) :
			   init_is_dockerfile(src)        ? "a Dockerfile" :
							    "a list of requirements");
	}
	n->from = from.n ? buf_text(&from) : NULL;
	/* Dockerfiles first: the versions of a requirements file replace theirs. */
	for (int lists = 0; lists < 2; lists++)
		for (size_t i = 0; i < sources.n; i++) {
			const struct source *src = sources.at[i];

			if (init_is_dockerfile(src) == (lists != 0))
				continue;
			if (lists ? !init_requirements(r->a, &r->ds, r->facts, src, n) :
				    !init_dockerfile(r->a, &r->ds, r->facts, src, paths, n))
				return false;
		}
	return true;
}

/* --- options --- */

static bool
refuse(struct run *r, enum code code, const char *option, const char *why)
{
	diag_at(&r->ds, code, (struct span){ 0 }, "%s: %s", option, why);
	return false;
}

static bool
answer_all(struct run *r, struct init *n, const struct names *values, enum init_question q,
	   enum code code, const char *option)
{
	for (size_t i = 0; i < values->n; i++) {
		const char *why = init_answer(r->a, r->facts, n, q, values->at[i]);

		if (why)
			return refuse(r, code, option, why);
	}
	return true;
}

static bool
take_options(struct run *r, struct init *n)
{
	const struct options *o = r->o;
	const char *why;
	bool fine = true;

	/* A requested CUDA replaces the image of a file. */
	if (o->base || o->cuda)
		init_set(r->a, n, "base", o->base);
	if (o->cuda)
		init_set(r->a, n, "cuda", o->cuda);
	if (o->name)
		init_set(r->a, n, "stack", o->name);
	n->modal |= o->modal;
	if (o->python && (why = init_answer(r->a, r->facts, n, ASK_PYTHON, o->python)))
		fine = refuse(r, E_PYTHON, "--python", why);
	fine &= answer_all(r, n, &o->gpus, ASK_GPUS, E_GPU, "--gpu");
	fine &= answer_all(r, n, &o->extensions, ASK_EXTENSIONS, E_REQUIREMENT, "--extension");
	if (o->torch && (why = init_answer(r->a, r->facts, n, ASK_TORCH, o->torch)))
		fine = refuse(r, E_VERSION, "--torch", why);
	for (size_t i = 0; i < o->packages.n; i++)
		fine &= init_requirement(r->a, &r->ds, r->facts, n, o->packages.at[i]);
	return fine;
}

/* --- a terminal --- */

enum { ANSWER_MAX = 4096 };

/* Reads one line without its end; false at the end of input. */
static bool
read_answer(char line[ANSWER_MAX])
{
	size_t n;

	if (!fgets(line, ANSWER_MAX, stdin))
		return false;
	n = strlen(line);
	if (n && line[n - 1] == '\n')
		line[n - 1] = '\0';
	else if (n == ANSWER_MAX - 1)
		for (int c = getchar(); c != '\n' && c != EOF;)
			c = getchar();
	return true;
}

/* Asks on standard error, since the recipe may go to standard output. */
static void
ask_all(struct run *r, struct init *n)
{
	char line[ANSWER_MAX] = "";

	fputs("A recipe from a few questions.  Enter accepts the default in brackets.\n\n", stderr);
	for (enum init_question q = 0; q < ASK_COUNT; q++) {
		const char *question = init_ask(r->a, r->facts, n, q), *why;

		for (;;) {
			bool more;

			fputs(question, stderr);
			fflush(stderr);
			more = read_answer(line);
			if (!more) {
				fputc('\n', stderr);
				line[0] = '\0';
			}
			if (!(why = init_answer(r->a, r->facts, n, q, line)))
				break;
			fprintf(stderr, "  %s\n", why);
		}
	}
	fputc('\n', stderr);
}

/* --- the result --- */

static bool
write_recipe(struct run *r, const char *path, const char *text, const struct stack *s,
	     unsigned warnings)
{
	if (!strcmp(path, "-")) {
		buf_puts(&r->out, text);
		return true;
	}
	if (!fs_write(&r->ds, path, text, strlen(text), 0644, false, NULL))
		return false;
	buf_printf(&r->out, "%s: %s\n  next: stackbuild check %s%s\n", path, stack_summary(r->a, s),
		   path,
		   warnings == 1 ? "; it has a warning" :
		   warnings      ? arena_printf(r->a, "; it has %u warnings", warnings) :
				   "");
	return true;
}

/* Selects the inputs; false: there are none. */
static bool
sources_of(struct run *r, struct names *paths, bool *ask)
{
	*paths = r->o->froms;
	*ask = false;
	if (paths->n)
		return true;
	if (stdin_is_sent())
		list_push(r->a, paths, "-");
	else if (!has_options(r->o))
		*ask = isatty(0);
	return paths->n || has_options(r->o) || *ask;
}

static const char nothing[] =
	"init needs an input: `pip freeze | stackbuild init`, --from Dockerfile, "
	"--torch 2.2.2 --extension mamba-ssm, or answers on a terminal";

int
verb_init(struct run *r)
{
	const char *path = r->o->out ? r->o->out : "stack.yaml", *text;
	const struct stack *s;
	struct init n = { 0 };
	struct names paths;
	unsigned warnings;
	bool ask, empty = false;

	if (!sources_of(r, &paths, &ask))
		return usage_error(nothing);
	if (strcmp(path, "-") != 0 && fs_exists(path)) {
		diag_help(diag_at(&r->ds, E_INIT_EXISTS, (struct span){ 0 }, "`%s` exists already",
				  path),
			  "name another file with -o, or print the recipe with -o -");
		return EXIT_DIAGNOSED;
	}
	if (ask)
		ask_all(r, &n);
	else if (!read_sources(r, &paths, &n, &empty) || !take_options(r, &n))
		return empty ? usage_error(nothing) : EXIT_DIAGNOSED;
	if (ask && r->o->name)
		init_set(r->a, &n, "stack", r->o->name);
	text = init_recipe(r->a, &r->ds, r->facts, &n, path, &s, &warnings);
	if (!text || !write_recipe(r, path, text, s, warnings))
		return EXIT_DIAGNOSED;
	return EXIT_DONE;
}

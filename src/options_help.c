#include <string.h>

#include "base/str.h"
#include "options_table.h"

static const struct wording {
	const char *verbs, *name, *what;
} wordings[] = {
#define WORDING(verbs, name, what) { verbs, name, what },
#include "options.def"
};

static const struct group {
	const char *title, *first;
} groups[] = {
#define GROUP(title, first) { title, first },
#include "options.def"
};

static const struct task {
	const char *title;
	enum verb first;
} tasks[] = {
#define TASK(title, first) { title, VERB_##first },
#include "verbs.def"
};

enum { WORDINGS = COUNT(wordings), GROUPS = COUNT(groups), TASKS = COUNT(tasks) };

const char *
option_description(struct arena *a, const struct option_row *r, enum verb verb)
{
	struct names choices = names_split(a, r->choices ? r->choices : "", ' ');
	const char *what = r->what;
	size_t n;

	for (size_t i = 0; verb < VERB_COUNT && i < WORDINGS; i++)
		if (!strcmp(wordings[i].name, r->name) && verb_among(wordings[i].verbs, verb))
			what = wordings[i].what;
	n = strlen(what);
	if (r->kind == OPTION_LIST)
		return what[n - 1] == ')' ? arena_printf(a, "%.*s; repeatable)", (int)n - 1, what) :
					    arena_printf(a, "%s (repeatable)", what);
	if (what[n - 1] != ':')
		return what;
	choices.at[0] = arena_printf(a, "%s (default)", choices.at[0]);
	return arena_printf(a, "%s %s", what, names_words(a, &choices, "or"));
}

/* Returns "--out DIR" or "--trace[=N]". */
static void
option_name(struct buf *out, const struct option_row *r)
{
	const char *arg = r->arg ? r->arg : "";

	buf_printf(out, "--%s%s%s", r->name,
		   *arg == '[' ? "[=" :
		   *arg        ? " " :
				 "",
		   arg + (*arg == '['));
}

/*
 * Engine:
 *   -o, --out DIR          output directory (default: out/STACK)
 *       --templates DIR    override built-in templates with files from DIR
 */
static void
print_options(enum verb verb, struct buf *out)
{
	const char *title = NULL;

	for (size_t i = 0, g = 0; i < OPTION_ROWS; i++) {
		const struct option_row *r = &option_rows[i];
		size_t before;

		if (g < GROUPS && !strcmp(groups[g].first, r->name))
			title = groups[g++].title;
		if (!verb_among(r->verbs, verb) || (verb == VERB_COUNT && *r->verbs))
			continue;
		if (title)
			buf_printf(out, "\n%s:\n", title);
		title = NULL;
		before = out->n;
		if (r->letter)
			buf_printf(out, "  -%c, ", r->letter);
		else
			buf_puts(out, "      ");
		option_name(out, r);
		buf_printf(out, "%*s%s\n", out->n - before < 28 ? (int)(28 - (out->n - before)) : 2,
			   "", option_description(out->a, r, verb));
	}
}

/* Prints the targets of `render` and the engines of `build`. */
static void
print_items(enum verb verb, struct buf *out)
{
	const char *title = "";

	for (size_t i = 0; i < verb_items_n; i++) {
		if (verb_items[i].verb != verb)
			continue;
		if (strcmp(title, verb_items[i].title) != 0)
			buf_printf(out, "\n%s:\n", title = verb_items[i].title);
		buf_printf(out, "  %-14s %s\n", verb_items[i].name, verb_items[i].what);
	}
}

/*
 * Prints the commands by task:
 *
 *   Write  init        create a recipe from your answers
 *          choose      find the newest stack with the given packages
 */
static void
print_commands(struct buf *out)
{
	for (size_t v = 0, k = 0; v < VERB_COUNT; v++) {
		bool begins = k < TASKS && tasks[k].first == v;

		buf_printf(out, "  %-6s %-11s %s\n", begins ? tasks[k].title : "",
			   verb_table[v].name, verb_table[v].what);
		k += begins;
	}
}

void
options_help(enum verb verb, bool brief, struct buf *out)
{
	if (verb != VERB_COUNT) {
		const struct verb_row *v = &verb_table[verb];

		buf_printf(out, "%s\n\nusage: stackbuild %s%s%s%s\n", v->what, v->name,
			   *v->args ? " " : "", v->args,
			   strstr(v->args, "[OPTION") ? "" : " [OPTION...]");
		print_items(verb, out);
		print_options(verb, out);
		buf_printf(out, "\nexample: stackbuild %s\n", v->example);
		buf_puts(out, "exit status: ");
		if (verb == VERB_run)
			buf_puts(out, "that of the command; --require-gpu turns a 0 into "
				      "1 or 3; 2 usage error\n");
		else
			buf_printf(out,
				   "0 success, 1 diagnosed problem, 2 usage error, "
				   "%s70 internal error\n",
				   verb == VERB_verify ? "3 not fully verified, " : "");
		return;
	}
	buf_puts(out, "usage: stackbuild COMMAND [OPTION...] [FILE...]\n");
	print_commands(out);
	if (brief)
		return;
	print_options(VERB_COUNT, out);
	buf_puts(out, "\nexample:  stackbuild render recipes/torch222-cu121.yaml\n"
		      "          stackbuild help render   shows the options of one command\n");
}

/* Writes a word of roff: escapes dashes, and a dot at the start of a line. */
static void
roff(struct buf *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '-' || *s == '\\')
			buf_putc(out, '\\');
		buf_putc(out, *s);
	}
}

static void
man_verb(struct buf *out, const struct verb_row *v)
{
	buf_puts(out, ".TP\n.B ");
	roff(out, v->name);
	buf_printf(out, " \\fI%s\\fR\n", v->args);
	roff(out, v->what);
	buf_puts(out, "\n.br\nExample: stackbuild ");
	roff(out, v->example);
	buf_putc(out, '\n');
}

/* verb VERB_COUNT: in the page of the program, with the commands that have the option. */
static void
man_option(struct buf *out, const struct option_row *r, enum verb verb)
{
	buf_puts(out, ".TP\n.B ");
	if (r->letter)
		buf_printf(out, "\\-%c, ", r->letter);
	buf_puts(out, "\\-\\-");
	roff(out, r->name);
	buf_printf(out, " \\fI%s\\fR\n", r->arg ? r->arg : "");
	roff(out, option_description(out->a, r, verb));
	for (size_t w = 0; w < WORDINGS && verb == VERB_COUNT; w++)
		if (!strcmp(wordings[w].name, r->name)) {
			buf_printf(out, "\n.br\n%s: ", wordings[w].verbs);
			roff(out, wordings[w].what);
		}
	if (*r->verbs && verb == VERB_COUNT)
		buf_printf(out, "\n.br\nCommands: %s", r->verbs);
	buf_putc(out, '\n');
}

static void
man_of_verb(const char *version, enum verb verb, struct buf *out)
{
	const struct verb_row *v = &verb_table[verb];

	buf_printf(out, ".TH STACKBUILD-%s 1 \"\" \"stackbuild %s\" \"User commands\"\n.SH NAME\n",
		   v->name, version);
	buf_printf(out, "stackbuild\\-%s \\- ", v->name);
	roff(out, v->what);
	buf_printf(out, "\n.SH SYNOPSIS\n.B stackbuild %s\n%s%s\n", v->name,
		   strstr(v->args, "[OPTION") ? "" : "[\\fIOPTION\\fR...] ", v->args);
	for (size_t i = 0; i < verb_items_n; i++) {
		if (verb_items[i].verb != verb)
			continue;
		if (!i || strcmp(verb_items[i - 1].title, verb_items[i].title) != 0)
			buf_printf(out, ".SH %s\n", verb_items[i].title);
		buf_printf(out, ".TP\n.B %s\n", verb_items[i].name);
		roff(out, verb_items[i].what);
		buf_putc(out, '\n');
	}
	buf_puts(out, ".SH OPTIONS\n");
	for (size_t i = 0; i < OPTION_ROWS; i++)
		if (verb_among(option_rows[i].verbs, verb))
			man_option(out, &option_rows[i], verb);
	buf_puts(out, ".SH EXAMPLE\nstackbuild ");
	roff(out, v->example);
	buf_putc(out, '\n');
}

void
options_man(const char *version, enum verb verb, struct buf *out)
{
	if (verb != VERB_COUNT) {
		man_of_verb(version, verb, out);
		return;
	}
	buf_printf(
		out,
		".TH STACKBUILD 1 \"\" \"stackbuild %s\" \"User commands\"\n"
		".SH NAME\nstackbuild \\- CUDA extension stacks from one recipe\n"
		".SH SYNOPSIS\n.B stackbuild\n.I COMMAND\n[\\fIOPTION\\fR...] [\\fIFILE\\fR...]\n"
		".SH DESCRIPTION\nReads one YAML recipe: a CUDA base image, torch, and the "
		"packages "
		"that are\n"
		"compiled against it. Validates the stack, writes its layers as a Dockerfile, a\n"
		"Modal app and other targets, builds them, and tests the result.\n"
		".SH COMMANDS\n",
		version);
	for (size_t i = 0; i < VERB_COUNT; i++)
		man_verb(out, &verb_table[i]);
	buf_puts(out, ".SH OPTIONS\n");
	for (size_t i = 0; i < OPTION_ROWS; i++)
		man_option(out, &option_rows[i], VERB_COUNT);
	buf_puts(out,
		 ".SH EXIT STATUS\n0 success, 1 diagnosed problem, 2 usage error, 70 internal "
		 "error.\n"
		 "verify also returns 3: nothing failed, but not everything could be verified.\n"
		 "run returns the status of the command, 128 + N if signal N ended it, 127 if it "
		 "does "
		 "not exist.\n"
		 ".SH ENVIRONMENT\n.TP\n.B STACKBUILD_KNOWLEDGE\nA directory that overrides the\n"
		 "knowledge base, as \\-\\-knowledge does.\n.TP\n.B NO_COLOR\nDisables colour.\n");
}

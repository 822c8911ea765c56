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

static const struct item {
	enum verb verb;
	const char *title, *name, *what;
} items[] = {
#define ITEM(verb, title, name, what) { VERB_##verb, title, name, what },
#include "verbs.def"
};

enum { WORDINGS = COUNT(wordings), GROUPS = COUNT(groups), ITEMS = COUNT(items) };

/* Describes an option for a command, with its choices, and whether it may be repeated. */
static const char *
description(struct arena *a, const struct option_row *r, enum verb verb)
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
			   "", description(out->a, r, verb));
	}
}

/* Prints the targets of `render` and the engines of `build`. */
static void
print_items(enum verb verb, struct buf *out)
{
	const char *title = "";

	for (size_t i = 0; i < ITEMS; i++) {
		if (items[i].verb != verb)
			continue;
		if (strcmp(title, items[i].title) != 0)
			buf_printf(out, "\n%s:\n", title = items[i].title);
		buf_printf(out, "  %-14s %s\n", items[i].name, items[i].what);
	}
}

void
options_help(enum verb verb, struct buf *out)
{
	if (verb != VERB_COUNT) {
		const struct verb_row *v = &verb_table[verb];

		buf_printf(out, "%s\n\nusage: stackbuild %s%s%s%s\n", v->what, v->name,
			   *v->args ? " " : "", v->args,
			   strstr(v->args, "[OPTION") ? "" : " [OPTION...]");
		print_items(verb, out);
		print_options(verb, out);
		buf_printf(out, "\nexample: stackbuild %s\n", v->example);
		buf_printf(out,
			   "exit status: 0 success, 1 diagnosed problem, 2 usage error, "
			   "%s70 internal error\n",
			   verb == VERB_verify ? "3 not fully verified, " :
			   verb == VERB_run    ? "3 GPU use unknown, " :
						 "");
		return;
	}
	buf_puts(out, "stackbuild: build CUDA extension stacks that work, from one YAML recipe\n"
		      "\nusage: stackbuild COMMAND [OPTION...] [FILE...]\n\n");
	for (size_t i = 0; i < VERB_COUNT; i++)
		buf_printf(out, "  %-11s %s\n", verb_table[i].name, verb_table[i].what);
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

void
options_man(const char *version, struct buf *out)
{
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
	for (size_t i = 0; i < VERB_COUNT; i++) {
		buf_puts(out, ".TP\n.B ");
		roff(out, verb_table[i].name);
		buf_printf(out, " \\fI%s\\fR\n", verb_table[i].args);
		roff(out, verb_table[i].what);
		buf_puts(out, "\n.br\nExample: stackbuild ");
		roff(out, verb_table[i].example);
		buf_putc(out, '\n');
	}
	buf_puts(out, ".SH OPTIONS\n");
	for (size_t i = 0; i < OPTION_ROWS; i++) {
		buf_puts(out, ".TP\n.B ");
		if (option_rows[i].letter)
			buf_printf(out, "\\-%c, ", option_rows[i].letter);
		buf_puts(out, "\\-\\-");
		roff(out, option_rows[i].name);
		buf_printf(out, " \\fI%s\\fR\n", option_rows[i].arg ? option_rows[i].arg : "");
		roff(out, description(out->a, &option_rows[i], VERB_COUNT));
		for (size_t w = 0; w < WORDINGS; w++)
			if (!strcmp(wordings[w].name, option_rows[i].name)) {
				buf_printf(out, "\n.br\n%s: ", wordings[w].verbs);
				roff(out, wordings[w].what);
			}
		if (*option_rows[i].verbs)
			buf_printf(out, "\n.br\nCommands: %s", option_rows[i].verbs);
		buf_putc(out, '\n');
	}
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

static void
complete_bash(struct buf *out)
{
	buf_puts(out,
		 "# stackbuild completion for bash\n_stackbuild() {\n"
		 "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words\n"
		 "  COMPREPLY=()\n  case $prev in\n");
	for (size_t i = 0; i < OPTION_ROWS; i++)
		if (option_rows[i].choices)
			buf_printf(
				out,
				"    --%s) mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$cur\"); "
				"return ;;\n",
				option_rows[i].name, option_rows[i].choices);
	buf_puts(out, "  esac\n  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    words='");
	for (size_t i = 0; i < VERB_COUNT; i++)
		buf_printf(out, "%s%s", i ? " " : "", verb_table[i].name);
	buf_puts(out, " --help --version'\n  else\n    case ${COMP_WORDS[1]} in\n");
	for (enum verb v = 0; v < VERB_COUNT; v++) {
		buf_printf(out, "      %s) words='", verb_table[v].name);
		for (size_t i = 0; i < OPTION_ROWS; i++)
			if (verb_among(option_rows[i].verbs, v))
				buf_printf(out, " --%s", option_rows[i].name);
		buf_puts(out, "' ;;\n");
	}
	buf_puts(out, "    esac\n  fi\n"
		      "  if [[ $cur == -* || $COMP_CWORD -eq 1 ]]; then\n"
		      "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
		      "  else\n    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n  fi\n}\n"
		      "complete -o filenames -F _stackbuild stackbuild\n");
}

/* Writes a text inside single quotes for zsh and fish: '\'' ends, escapes and starts again. */
static void
single_quoted(struct buf *out, const char *s)
{
	for (; *s; s++)
		if (*s == '\'')
			buf_puts(out, "'\\''");
		else if (*s != '[' && *s != ']' && *s != ':')
			buf_putc(out, *s);
}

static void
complete_zsh(struct buf *out)
{
	buf_puts(out, "#compdef stackbuild\n_stackbuild() {\n  local -a verbs\n  verbs=(\n");
	for (size_t i = 0; i < VERB_COUNT; i++) {
		buf_printf(out, "    '%s:", verb_table[i].name);
		single_quoted(out, verb_table[i].what);
		buf_puts(out, "'\n");
	}
	buf_puts(out, "  )\n  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    return\n"
		      "  fi\n  case $words[2] in\n");
	for (enum verb v = 0; v < VERB_COUNT; v++) {
		buf_printf(out, "    %s) _arguments", verb_table[v].name);
		for (size_t i = 0; i < OPTION_ROWS; i++) {
			if (!verb_among(option_rows[i].verbs, v))
				continue;
			buf_printf(out, " '--%s[", option_rows[i].name);
			single_quoted(out, description(out->a, &option_rows[i], v));
			buf_puts(out, "]");
			if (option_rows[i].choices)
				buf_printf(out, ":%s:(%s)", option_rows[i].arg,
					   option_rows[i].choices);
			else if (option_rows[i].arg)
				buf_printf(out, ":%s:_files", option_rows[i].arg);
			buf_puts(out, "'");
		}
		buf_puts(out, " '*:file:_files' ;;\n");
	}
	buf_puts(out, "  esac\n}\n_stackbuild \"$@\"\n");
}

static void
complete_fish(struct buf *out)
{
	buf_puts(out, "# stackbuild completion for fish\n");
	for (enum verb v = 0; v < VERB_COUNT; v++) {
		buf_printf(out, "complete -c stackbuild -n __fish_use_subcommand -a %s -d '",
			   verb_table[v].name);
		single_quoted(out, verb_table[v].what);
		buf_puts(out, "'\n");
	}
	for (size_t i = 0; i < OPTION_ROWS; i++) {
		buf_puts(out, "complete -c stackbuild");
		if (*option_rows[i].verbs)
			buf_printf(out, " -n '__fish_seen_subcommand_from %s'",
				   option_rows[i].verbs);
		buf_printf(out, " -l %s", option_rows[i].name);
		if (option_rows[i].letter)
			buf_printf(out, " -s %c", option_rows[i].letter);
		if (option_rows[i].arg)
			buf_puts(out, " -r");
		if (option_rows[i].choices)
			buf_printf(out, " -f -a '%s'", option_rows[i].choices);
		buf_puts(out, " -d '");
		single_quoted(out, description(out->a, &option_rows[i], VERB_COUNT));
		buf_puts(out, "'\n");
	}
}

bool
options_completion(const char *shell, struct buf *out)
{
	if (!strcmp(shell, "bash"))
		complete_bash(out);
	else if (!strcmp(shell, "zsh"))
		complete_zsh(out);
	else if (!strcmp(shell, "fish"))
		complete_fish(out);
	else
		return false;
	return true;
}

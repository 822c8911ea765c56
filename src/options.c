#include "options.h"

#include <string.h>

#include "base/str.h"

const struct verb_row verb_table[VERB_COUNT] = {
#define VERB(name, program, args, min, max, what, example) \
	[VERB_##name] = { #name, args, what, example, min, max },
#include "verbs.def"
#undef VERB
};

enum kind { KIND_FLAG, KIND_TEXT, KIND_LIST, KIND_CHOICE };

static const struct row {
	const char *name;
	char letter;
	const char *arg, *verbs;
	enum kind kind;
	size_t offset;
	const char *choices, *what;
} rows[] = {
#define OPTION(name, letter, arg, verbs, kind, field, choices, what) \
	{ name, letter, arg, verbs, KIND_##kind, offsetof(struct options, field), choices, what },
#include "options.def"
#undef OPTION
};

enum { ROWS = sizeof(rows) / sizeof(*rows) };

static bool
takes(const struct row *r, enum verb v)
{
	const char *name = v == VERB_COUNT ? "" : verb_table[v].name;
	size_t n = strlen(name);

	if (!*r->verbs || v == VERB_COUNT)
		return true;
	for (const char *p = r->verbs; (p = strstr(p, name)); p += n)
		if ((p == r->verbs || p[-1] == ' ') && (!p[n] || p[n] == ' '))
			return true;
	return false;
}

static const struct row *
row_of(struct str name)
{
	for (size_t i = 0; i < ROWS; i++)
		if (str_is(name, rows[i].name) ||
		    (name.n == 1 && rows[i].letter && rows[i].letter == name.p[0]))
			return &rows[i];
	return NULL;
}

bool
verb_takes(enum verb v, const char *option)
{
	return takes(row_of(str_of(option)), v);
}

bool
verb_find(struct arena *a, const char *name, enum verb *v, const char **why)
{
	const char *names[VERB_COUNT], *near;

	for (enum verb i = 0; i < VERB_COUNT; i++) {
		names[i] = verb_table[i].name;
		if (!strcmp(name, names[i])) {
			*v = i;
			return true;
		}
	}
	near = str_nearest(name, names, VERB_COUNT);
	*why = arena_printf(a,
			    near ? "unknown command `%s`; did you mean `%s`?" :
				   "unknown command `%s`; run `stackbuild help` for the list",
			    name, near);
	return false;
}

/* The command line while it is parsed. */
struct parser {
	struct arena *a;
	int argc, at;
	char **argv;
	struct options *o;
	bool given[ROWS];
	const char *why;
};

static bool
fail(struct parser *p, const char *why)
{
	p->why = why;
	return false;
}

static bool
store(struct parser *p, const struct row *r, const char *value)
{
	void *field = (char *)p->o + r->offset;
	struct names choices = names_split(p->a, r->choices ? r->choices : "", ' ');

	p->given[r - rows] = true;
	switch (r->kind) {
	case KIND_FLAG: *(bool *)field = true; return true;
	case KIND_TEXT:
		*(const char **)field = value;
		return *value || *r->arg == '[' ||
		       fail(p, arena_printf(p->a, "--%s needs a %s that is not empty", r->name,
					    r->arg));
	case KIND_LIST: list_push(p->a, (struct names *)field, value); return true;
	case KIND_CHOICE: break;
	}
	for (unsigned i = 0; i < choices.n; i++)
		if (!strcmp(choices.at[i], value)) {
			*(unsigned *)field = i;
			p->o->format_given |= !strcmp(r->name, "format");
			return true;
		}
	return fail(p, arena_printf(p->a, "--%s takes one of: %s", r->name, r->choices));
}

/* One argument that starts with a dash: "--name", "--name=value", "-o", "-oVALUE". */
static bool
parse_option(struct parser *p)
{
	const char *arg = p->argv[p->at], *value = NULL, *names[ROWS], *near;
	bool is_long = arg[1] == '-';
	const char *name = arg + (is_long ? 2 : 1);
	struct str key = { name, is_long ? strcspn(name, "=") : 1 };
	const struct row *r = is_long && key.n < 2 ? NULL : row_of(key);

	if (!r) {
		for (size_t i = 0; i < ROWS; i++)
			names[i] = rows[i].name;
		near = str_nearest(arena_copy(p->a, key.p, key.n), names, ROWS);
		return fail(p,
			    arena_printf(p->a, "unknown option %s%.*s%s%s%s", is_long ? "--" : "-",
					 (int)key.n, key.p, near ? "; did you mean --" : "",
					 near ? near : "", near ? "?" : ""));
	}
	if (name[key.n])
		value = name + key.n + (is_long ? 1 : 0);
	if (!r->arg && value)
		return fail(p, arena_printf(p->a, "--%s takes no value", r->name));
	if (r->arg && *r->arg == '[' && !value)
		value = ""; /* the value is optional, and so stands in the same argument */
	if (r->arg && !value && !(value = p->argv[++p->at]))
		return fail(p, arena_printf(p->a, "--%s needs a %s", r->name, r->arg));
	return store(p, r, value);
}

/* Options of other commands are an error: a switch that does nothing is a trap. */
static bool
check_verb(struct parser *p)
{
	const enum verb verb = p->o->verb;
	const struct verb_row *v = &verb_table[verb];
	int n = (int)p->o->args.n;

	for (size_t i = 0; i < ROWS; i++)
		if (p->given[i] && !takes(&rows[i], p->o->verb))
			return fail(p, arena_printf(p->a, "`%s` takes no --%s; it belongs to: %s",
						    v->name, rows[i].name, rows[i].verbs));
	if (p->o->format > FORMAT_JSON && verb != VERB_plan && verb != VERB_schema &&
	    verb != VERB_store)
		return fail(p, arena_printf(p->a, "%s has two formats: text and json", v->name));
	if (n < v->args_min)
		return fail(p, arena_printf(p->a, "`%s` needs %s; for example: stackbuild %s",
					    v->name, v->args, v->example));
	if (v->args_max >= 0 && n > v->args_max)
		return fail(p, arena_printf(p->a, "`%s` takes %s: stackbuild %s %s", v->name,
					    v->args_max ? "fewer arguments" : "no arguments",
					    v->name, v->args));
	return true;
}

static bool
parse(struct parser *p)
{
	struct options *o = p->o;
	const struct row *progress = row_of(STR("progress"));
	bool verb_seen = false, only_args = false;

	for (p->at = 1; p->at < p->argc; p->at++) {
		char *arg = p->argv[p->at];

		if (!only_args && !strcmp(arg, "--")) {
			only_args = true;
			o->options_end = (size_t)p->at - 1;
		} else if (!only_args && arg[0] == '-' && arg[1]) {
			if (!parse_option(p))
				return false;
		} else if (!verb_seen) {
			verb_seen = true;
			if (!strcmp(arg, "version"))
				o->version = true;
			else if (!verb_find(p->a, arg, &o->verb, &p->why))
				return false;
		} else if (o->verb == VERB_run && !only_args) {
			return fail(
				p, arena_printf(p->a,
						"put `--` before the command: stackbuild run -- %s",
						arg));
		} else {
			list_push(p->a, &o->args, arg);
		}
	}
	o->help |= p->argc < 2;
	if (o->json)
		o->format = FORMAT_JSON;
	if (o->quiet) {
		store(p, progress, "quiet");
		p->given[progress - rows] = false;
	}
	if (o->help || o->version)
		return true;
	if (!verb_seen)
		return fail(p, "name a command, for example: stackbuild render "
			       "recipes/torch222-cu121.yaml");
	return check_verb(p);
}

bool
options_parse(struct arena *a, int argc, char **argv, struct options *o, const char **why)
{
	struct parser p = { .a = a, .argc = argc, .argv = argv, .o = o };
	bool good;

	*o = (struct options){ .verb = VERB_COUNT };
	for (int i = 1; i < argc; i++)
		list_push(a, &o->words, argv[i]);
	o->options_end = o->words.n;
	good = parse(&p);
	*why = p.why;
	return good;
}

/* What an option does, with its choices, and whether it may be repeated. */
static const char *
description(struct arena *a, const struct row *r)
{
	struct names choices = names_split(a, r->choices ? r->choices : "", ' ');
	size_t n = strlen(r->what);

	if (r->kind == KIND_LIST)
		return r->what[n - 1] == ')' ?
			       arena_printf(a, "%.*s; repeatable)", (int)n - 1, r->what) :
			       arena_printf(a, "%s (repeatable)", r->what);
	if (r->what[n - 1] != ':')
		return r->what;
	choices.at[0] = arena_printf(a, "%s (default)", choices.at[0]);
	return arena_printf(a, "%s %s", r->what, names_words(a, &choices, "or"));
}

/* "--out DIR", "--trace[=N]" */
static void
option_name(struct buf *out, const struct row *r)
{
	const char *arg = r->arg ? r->arg : "";

	buf_printf(out, "--%s%s%s", r->name,
		   *arg == '[' ? "[=" :
		   *arg        ? " " :
				 "",
		   arg + (*arg == '['));
}

/*
 *   -o, --out DIR          output directory (default: out/STACK)
 *       --templates DIR    override built-in templates with files from DIR
 */
static void
print_options(enum verb verb, struct buf *out)
{
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *r = &rows[i];
		size_t before = out->n;

		if (!takes(r, verb) || (verb == VERB_COUNT && *r->verbs))
			continue;
		if (r->letter)
			buf_printf(out, "  -%c, ", r->letter);
		else
			buf_puts(out, "      ");
		option_name(out, r);
		buf_printf(out, "%*s%s\n", out->n - before < 28 ? (int)(28 - (out->n - before)) : 2,
			   "", description(out->a, r));
	}
}

void
options_help(enum verb verb, struct buf *out)
{
	if (verb != VERB_COUNT) {
		const struct verb_row *v = &verb_table[verb];

		buf_printf(out, "%s\n\nusage: stackbuild %s%s%s%s\n\n", v->what, v->name,
			   *v->args ? " " : "", v->args,
			   strstr(v->args, "[OPTION") ? "" : " [OPTION...]");
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
	buf_putc(out, '\n');
	print_options(VERB_COUNT, out);
	buf_puts(out, "\nexample:  stackbuild render recipes/torch222-cu121.yaml\n"
		      "          stackbuild help render   shows the options of one command\n");
}

/* A word of roff: a dash that must stay a dash, and no line that starts with a dot. */
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
	for (size_t i = 0; i < ROWS; i++) {
		buf_puts(out, ".TP\n.B ");
		if (rows[i].letter)
			buf_printf(out, "\\-%c, ", rows[i].letter);
		buf_puts(out, "\\-\\-");
		roff(out, rows[i].name);
		buf_printf(out, " \\fI%s\\fR\n", rows[i].arg ? rows[i].arg : "");
		roff(out, description(out->a, &rows[i]));
		if (*rows[i].verbs)
			buf_printf(out, "\n.br\nCommands: %s", rows[i].verbs);
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
complete_words(struct buf *out, enum verb v)
{
	for (size_t i = 0; i < ROWS; i++)
		if (takes(&rows[i], v))
			buf_printf(out, " --%s", rows[i].name);
}

static void
complete_bash(struct buf *out)
{
	buf_puts(out,
		 "# stackbuild completion for bash\n_stackbuild() {\n"
		 "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words\n"
		 "  COMPREPLY=()\n  case $prev in\n");
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].choices)
			buf_printf(
				out,
				"    --%s) mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$cur\"); "
				"return ;;\n",
				rows[i].name, rows[i].choices);
	buf_puts(out, "  esac\n  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    words='");
	for (size_t i = 0; i < VERB_COUNT; i++)
		buf_printf(out, "%s%s", i ? " " : "", verb_table[i].name);
	buf_puts(out, " --help --version'\n  else\n    case ${COMP_WORDS[1]} in\n");
	for (enum verb v = 0; v < VERB_COUNT; v++) {
		buf_printf(out, "      %s) words='", verb_table[v].name);
		complete_words(out, v);
		buf_puts(out, "' ;;\n");
	}
	buf_puts(out, "    esac\n  fi\n"
		      "  if [[ $cur == -* || $COMP_CWORD -eq 1 ]]; then\n"
		      "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
		      "  else\n    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n  fi\n}\n"
		      "complete -o filenames -F _stackbuild stackbuild\n");
}

/* A text inside single quotes for zsh and fish: '\'' ends, escapes and starts again. */
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
		for (size_t i = 0; i < ROWS; i++) {
			if (!takes(&rows[i], v))
				continue;
			buf_printf(out, " '--%s[", rows[i].name);
			single_quoted(out, description(out->a, &rows[i]));
			buf_puts(out, "]");
			if (rows[i].choices)
				buf_printf(out, ":%s:(%s)", rows[i].arg, rows[i].choices);
			else if (rows[i].arg)
				buf_printf(out, ":%s:_files", rows[i].arg);
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
	for (size_t i = 0; i < ROWS; i++) {
		buf_puts(out, "complete -c stackbuild");
		if (*rows[i].verbs)
			buf_printf(out, " -n '__fish_seen_subcommand_from %s'", rows[i].verbs);
		buf_printf(out, " -l %s", rows[i].name);
		if (rows[i].letter)
			buf_printf(out, " -s %c", rows[i].letter);
		if (rows[i].arg)
			buf_puts(out, " -r");
		if (rows[i].choices)
			buf_printf(out, " -f -a '%s'", rows[i].choices);
		buf_puts(out, " -d '");
		single_quoted(out, description(out->a, &rows[i]));
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

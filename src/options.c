#include "options.h"

#include <string.h>

#include "base/str.h"

const struct verb_row verb_table[VERB_COUNT] = {
#define VERB(name, program, args, min, max, what, example) \
	[VERB_##name] = { #name, args, what, example, min, max },
#include "verbs.def"
#undef VERB
};

enum kind { FLAG, TEXT, LIST_OF, CHOICE };

#define KIND_FLAG FLAG
#define KIND_TEXT TEXT
#define KIND_LIST LIST_OF
#define KIND_CHOICE CHOICE

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

/* The i-th word of "a b c", or an empty view. */
static struct str
word_at(const char *words, size_t i)
{
	for (;; words++, i--) {
		size_t n = strcspn(words, " ");

		if (!i)
			return (struct str){ words, n };
		words += n;
		if (!*words)
			return (struct str){ words, 0 };
	}
}

static bool
takes(const struct row *r, enum verb v)
{
	struct str word;

	if (!*r->verbs || v == VERB_COUNT)
		return true;
	for (size_t i = 0; (word = word_at(r->verbs, i)).n; i++)
		if (str_is(word, verb_table[v].name))
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

static const char *
nearest_option(const char *name)
{
	const char *names[ROWS];

	for (size_t i = 0; i < ROWS; i++)
		names[i] = rows[i].name;
	return str_nearest(name, names, ROWS);
}

static bool
store(struct arena *a, struct options *o, const struct row *r, const char *value, const char **why)
{
	void *field = (char *)o + r->offset;
	struct str word;

	switch (r->kind) {
	case FLAG: *(bool *)field = true; return true;
	case TEXT:
		if (!*value) {
			*why = arena_printf(a, "--%s needs a %s that is not empty", r->name,
					    r->arg);
			return false;
		}
		*(const char **)field = value;
		return true;
	case LIST_OF: list_push(a, (struct names *)field, value); return true;
	case CHOICE:
		for (unsigned i = 0; (word = word_at(r->choices, i)).n; i++)
			if (str_is(word, value)) {
				*(unsigned *)field = i;
				if (!strcmp(r->name, "format"))
					o->format_given = true;
				return true;
			}
		*why = arena_printf(a, "--%s takes one of: %s", r->name, r->choices);
		return false;
	}
	return false;
}

/* One argument that starts with a dash: "--name", "--name=value", "-o", "-oVALUE". */
static bool
parse_option(struct arena *a, int argc, char **argv, int *i, struct options *o, const char **why)
{
	const char *arg = argv[*i], *value = NULL;
	bool is_long = arg[1] == '-';
	const char *name = arg + (is_long ? 2 : 1);
	struct str key = { name, is_long ? strcspn(name, "=") : 1 };
	const struct row *r = is_long && key.n < 2 ? NULL : row_of(key);

	if (!r) {
		const char *near = nearest_option(arena_copy(a, key.p, key.n));

		*why = arena_printf(a, "there is no option %s%.*s%s%s", is_long ? "--" : "-",
				    (int)key.n, key.p, near ? "; did you mean --" : "",
				    near ? near : "");
		return false;
	}
	if (name[key.n])
		value = name + key.n + (is_long ? 1 : 0);
	if (!r->arg && value) {
		*why = arena_printf(a, "--%s takes no value", r->name);
		return false;
	}
	if (r->arg && !value) {
		if (*i + 1 >= argc) {
			*why = arena_printf(a, "--%s needs a %s", r->name, r->arg);
			return false;
		}
		value = argv[++*i];
	}
	return store(a, o, r, value, why);
}

static bool
find_verb(struct arena *a, const char *name, enum verb *v, const char **why)
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
	*why = near ? arena_printf(a, "there is no verb `%s`; did you mean `%s`?", name, near) :
		      arena_printf(a, "there is no verb `%s`; stackbuild --help lists them", name);
	return false;
}

/* Options of other verbs are an error: a switch that does nothing is a trap. */
static bool
check_verb_options(struct arena *a, const struct options *o, int argc, char **argv,
		   const char **why)
{
	const struct verb_row *v = &verb_table[o->verb];

	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		const char *name = argv[i] + (argv[i][0] == '-' ? 1 + (argv[i][1] == '-') : 0);
		bool is_long = argv[i][0] == '-' && argv[i][1] == '-';
		const struct row *r;

		if (argv[i][0] != '-' || !argv[i][1])
			continue;
		r = row_of((struct str){ name, is_long ? strcspn(name, "=") : 1 });
		if (r && !takes(r, o->verb)) {
			*why = arena_printf(a, "`%s` takes no --%s; it belongs to: %s", v->name,
					    r->name, r->verbs);
			return false;
		}
		if (r && r->arg && !name[is_long ? strcspn(name, "=") : 1])
			i++;
	}
	return true;
}

static bool
check_args(struct arena *a, const struct options *o, const char **why)
{
	const struct verb_row *v = &verb_table[o->verb];
	int n = (int)o->args.n;

	if (n >= v->args_min && (v->args_max < 0 || n <= v->args_max))
		return true;
	if (n < v->args_min && v->args[0] >= 'a' && v->args[0] <= 'z')
		*why = arena_printf(a, "`%s` needs one of %.*s: stackbuild %s", v->name,
				    (int)strcspn(v->args, " "), v->args, v->example);
	else if (n < v->args_min)
		*why = arena_printf(a, "`%s` needs a %s: stackbuild %s", v->name,
				    strncmp(v->args, "SHELL", 5) ? "file" : "shell", v->example);
	else
		*why = arena_printf(a, "`%s` takes %s: stackbuild %s %s", v->name,
				    v->args_max ? "fewer arguments" : "no arguments", v->name,
				    v->args);
	return false;
}

bool
options_parse(struct arena *a, int argc, char **argv, struct options *o, const char **why)
{
	bool verb_seen = false, only_args = false;

	*o = (struct options){ .verb = VERB_COUNT };
	for (int i = 1; i < argc; i++)
		list_push(a, &o->words, argv[i]);
	o->options_end = o->words.n;
	for (int i = 1; i < argc; i++) {
		if (!only_args && !strcmp(argv[i], "--")) {
			only_args = true;
			o->options_end = (size_t)i - 1;
		} else if (!only_args && argv[i][0] == '-' && argv[i][1]) {
			if (!parse_option(a, argc, argv, &i, o, why))
				return false;
		} else if (!verb_seen) {
			verb_seen = true;
			if (!find_verb(a, argv[i], &o->verb, why))
				return false;
		} else {
			list_push(a, &o->args, argv[i]);
		}
	}
	if (o->help || o->version)
		return true;
	if (!verb_seen) {
		*why = "name a verb, say: stackbuild render recipes/torch222-cu121.yaml";
		return false;
	}
	return check_verb_options(a, o, argc, argv, why) && check_args(a, o, why);
}

/*
 *   -o, --out DIR          where the files go; - prints ...
 *       --templates DIR    take templates from DIR where it has them
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
		buf_printf(out, "--%s%s%s", r->name, r->arg ? " " : "", r->arg ? r->arg : "");
		buf_printf(out, "%*s%s\n", out->n - before < 28 ? (int)(28 - (out->n - before)) : 2,
			   "", r->what);
	}
}

void
options_help(enum verb verb, struct buf *out)
{
	if (verb != VERB_COUNT) {
		const struct verb_row *v = &verb_table[verb];

		buf_printf(out, "stackbuild %s%s%s: %s\n\n", v->name, *v->args ? " " : "", v->args,
			   v->what);
		print_options(verb, out);
		buf_printf(out, "\nexample:  stackbuild %s\n", v->example);
		buf_printf(out, "exit:     0 done, 1 a diagnosed problem, 2 usage, %s70 our bug\n",
			   verb == VERB_verify ? "3 not all of it could be run, " : "");
		return;
	}
	buf_puts(out,
		 "stackbuild: from one YAML recipe to a CUDA extension stack that is known to fit\n"
		 "\nusage: stackbuild VERB [OPTION...] [FILE...]\n\n");
	for (size_t i = 0; i < VERB_COUNT; i++)
		buf_printf(out, "  %-11s %s\n", verb_table[i].name, verb_table[i].what);
	buf_putc(out, '\n');
	print_options(VERB_COUNT, out);
	buf_puts(out, "\nexample:  stackbuild render recipes/torch222-cu121.yaml\n"
		      "          stackbuild help render   says more of one verb\n");
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
	buf_printf(out,
		   ".TH STACKBUILD 1 \"\" \"stackbuild %s\" \"User commands\"\n"
		   ".SH NAME\nstackbuild \\- CUDA extension stacks from one recipe\n"
		   ".SH SYNOPSIS\n.B stackbuild\n.I VERB\n[\\fIOPTION\\fR...] [\\fIFILE\\fR...]\n"
		   ".SH DESCRIPTION\nReads one YAML recipe that pins a CUDA base image, torch and "
		   "the\n"
		   "extensions compiled against it, and writes the ordered layers as a Dockerfile\n"
		   "and a Modal app. It works offline; nothing is fetched.\n.SH VERBS\n",
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
		roff(out, rows[i].what);
		if (*rows[i].verbs)
			buf_printf(out, "\n.br\nOf: %s", rows[i].verbs);
		buf_putc(out, '\n');
	}
	buf_puts(out,
		 ".SH EXIT STATUS\n0 done, 1 a diagnosed problem, 2 usage, 70 a bug of ours; of\n"
		 "verify also 3: nothing failed, not all of it could be run.\n"
		 ".SH ENVIRONMENT\n.TP\n.B STACKBUILD_KNOWLEDGE\nA folder of newer knowledge,\n"
		 "as by \\-\\-knowledge.\n.TP\n.B NO_COLOR\nNo colour, whatever the terminal.\n");
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
			single_quoted(out, rows[i].what);
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
		single_quoted(out, rows[i].what);
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

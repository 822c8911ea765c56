#include <string.h>

#include "base/str.h"
#include "options_table.h"

/* The values of an option that `stackbuild completion KIND` prints. */
static const struct values {
	const char *option, *kind;
} values[] = {
#define VALUES(option, kind) { option, kind },
#include "options.def"
};

/* The values of the arguments of a command, besides files. */
static const struct argument {
	enum verb verb;
	const char *kind;
} arguments[] = {
	{ VERB_explain, "codes" },    { VERB_help, "commands" }, { VERB_man, "commands" },
	{ VERB_choose, "packages" },  { VERB_add, "packages" },  { VERB_why, "packages" },
	{ VERB_upgrade, "packages" },
};

static const char *
values_of(const char *option)
{
	for (size_t i = 0; i < COUNT(values); i++)
		if (!strcmp(values[i].option, option))
			return values[i].kind;
	return NULL;
}

bool
options_values(const char *kind, struct buf *out)
{
	struct names all = { 0 };

	if (!strcmp(kind, "commands"))
		for (size_t i = 0; i < VERB_COUNT; i++)
			list_push(out->a, &all, verb_table[i].name);
	else if (!strcmp(kind, "targets") || !strcmp(kind, "engines"))
		all = verb_item_names(out->a, *kind == 't' ? "Targets" : "Engines");
	for (size_t i = 0; i < all.n; i++)
		buf_printf(out, "%s\n", all.at[i]);
	return all.n > 0;
}

/* Writes the branches of `case $prev`: what an option takes. */
static void
bash_options(struct buf *out)
{
	for (size_t i = 0; i < OPTION_ROWS; i++) {
		const struct option_row *r = &option_rows[i];
		const char *kind = values_of(r->name);

		if (!r->choices && !kind)
			continue;
		buf_printf(out, "    --%s", r->name);
		if (r->letter)
			buf_printf(out, " | -%c", r->letter);
		if (kind)
			buf_printf(out, ") kind=%s only=1 ;;\n", kind);
		else
			buf_printf(out, ") words='%s' only=1 ;;\n", r->choices);
	}
}

static void
complete_bash(struct buf *out)
{
	buf_puts(out, "# stackbuild completion for bash\n_stackbuild() {\n"
		      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
		      "  local words='' kind='' only='' file='' w\n"
		      "  for w in \"${COMP_WORDS[@]:2}\"; do [[ $w == *.y*ml ]] && file=$w; done\n"
		      "  case $prev in\n");
	bash_options(out);
	buf_puts(out, "  esac\n  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    only=1 words='");
	for (size_t i = 0; i < VERB_COUNT; i++)
		buf_printf(out, "%s%s", i ? " " : "", verb_table[i].name);
	buf_puts(out, " --help --version'\n"
		      "  elif [ -z \"$only\" ] && [[ $cur == -* ]]; then\n    only=1\n"
		      "    case ${COMP_WORDS[1]} in\n");
	for (enum verb v = 0; v < VERB_COUNT; v++) {
		buf_printf(out, "      %s) words='", verb_table[v].name);
		for (size_t i = 0; i < OPTION_ROWS; i++)
			if (verb_among(option_rows[i].verbs, v))
				buf_printf(out, " --%s", option_rows[i].name);
		buf_puts(out, "' ;;\n");
	}
	buf_puts(out, "    esac\n  elif [ -z \"$only\" ]; then\n    case ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; i < COUNT(arguments); i++)
		buf_printf(out, "      %s) kind=%s ;;\n", verb_table[arguments[i].verb].name,
			   arguments[i].kind);
	buf_puts(out, "    esac\n  fi\n"
		      "  [ -z \"$kind\" ] || words=$(\"${COMP_WORDS[0]}\" completion \"$kind\" "
		      "${file:+\"$file\"} 2>/dev/null)\n"
		      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\"\n"
		      "    [ -n \"$only\" ] || compgen -f -- \"$cur\")\n}\n"
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
zsh_option(struct buf *out, const struct option_row *r, enum verb v)
{
	const char *kind = values_of(r->name);

	buf_printf(out, " '--%s[", r->name);
	single_quoted(out, option_description(out->a, r, v));
	buf_puts(out, "]");
	if (kind)
		buf_printf(out, ":%s:($(stackbuild completion %s 2>/dev/null))", r->arg, kind);
	else if (r->choices)
		buf_printf(out, ":%s:(%s)", r->arg, r->choices);
	else if (r->arg)
		buf_printf(out, ":%s:_files", r->arg);
	buf_puts(out, "'");
}

static const char *
argument_of(enum verb v)
{
	for (size_t i = 0; i < COUNT(arguments); i++)
		if (arguments[i].verb == v)
			return arguments[i].kind;
	return NULL;
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
		const char *kind = argument_of(v);

		buf_printf(out, "    %s) _arguments", verb_table[v].name);
		for (size_t i = 0; i < OPTION_ROWS; i++)
			if (verb_among(option_rows[i].verbs, v))
				zsh_option(out, &option_rows[i], v);
		if (kind)
			buf_printf(out,
				   " '*:name:{_files; compadd -- $(stackbuild completion %s "
				   "2>/dev/null)}' ;;\n",
				   kind);
		else
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
	for (size_t i = 0; i < COUNT(arguments); i++)
		buf_printf(out,
			   "complete -c stackbuild -n '__fish_seen_subcommand_from %s' -a "
			   "'(stackbuild completion %s 2>/dev/null)'\n",
			   verb_table[arguments[i].verb].name, arguments[i].kind);
	for (size_t i = 0; i < OPTION_ROWS; i++) {
		const struct option_row *r = &option_rows[i];
		const char *kind = values_of(r->name);

		buf_puts(out, "complete -c stackbuild");
		if (*r->verbs)
			buf_printf(out, " -n '__fish_seen_subcommand_from %s'", r->verbs);
		buf_printf(out, " -l %s", r->name);
		if (r->letter)
			buf_printf(out, " -s %c", r->letter);
		if (r->arg)
			buf_puts(out, " -r");
		if (kind)
			buf_printf(out, " -f -a '(stackbuild completion %s 2>/dev/null)'", kind);
		else if (r->choices)
			buf_printf(out, " -f -a '%s'", r->choices);
		buf_puts(out, " -d '");
		single_quoted(out, option_description(out->a, r, VERB_COUNT));
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

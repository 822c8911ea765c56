#include "screen.h"

/* --- which lines matter --- */

/* What names a cause, and what only reports that something went wrong. */
static const char *const root_words[] = {
	"error: ",
	"Error: ",
	"fatal: ",
	"fatal   :",
	"Killed",
	"Segmentation fault",
	"No space left",
	"undefined reference",
	"cannot find -l",
	"Cannot allocate memory",
	"No such file or directory",
	"command not found",
	"No matching distribution",
	"ModuleNotFoundError",
	"ImportError",
	"FAILED: ",
	"Unable to locate package",
	"virtual memory exhausted",
	"internal compiler error",
	"CUDA version",
	"Permission denied",
};
/* True and of no use: what pip, setuptools and ninja say whatever the cause was. */
static const char *const hollow_words[] = {
	"subprocess-exited-with-error",
	"metadata-generation-failed",
	"Failed building wheel for",
	"Failed to build",
	"This error originates from a subprocess",
	"Error compiling objects for extension",
	"CalledProcessError",
	"build stopped: subcommand failed",
	"did not run successfully",
	"finished with status 'error'",
	"errors detected in the compilation",
	"error generated",
	"See above for output",
	"Traceback (most recent call last)",
	"Can not execute `setup.py`",
	"except ImportError as error",
	"except subprocess",
	"subprocess exited with status",
};

static bool
has_word(const char *text, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strstr(text, words[i]))
			return true;
	return false;
}

/* "ValueError: ..." at the beginning: the last line of a Python traceback. */
static bool
is_exception(const char *text)
{
	size_t n = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._");

	return n > 5 && text[n] == ':' && text[n + 1] == ' ' &&
	       (!memcmp(text + n - 5, "Error", 5) ||
		(n > 9 && !memcmp(text + n - 9, "Exception", 9)));
}

static void
keep(struct tail_line *l, unsigned no, const char *text)
{
	size_t n = strnlen(text, TAIL_BYTES - 1);

	/* A character of several bytes is not cut in two. */
	while (n && text[n] && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	l->no = no;
	memcpy(l->text, text, n);
	l->text[n] = '\0';
}

void
tail_add(struct arena *a, struct step_work *w, const char *text)
{
	struct tail *t;

	text += strspn(text, " ");
	if (!*text)
		return;
	if (!w->tail)
		w->tail = arena_new_of(a, struct tail);
	t = w->tail;
	t->lines++;
	keep(&t->recent[t->lines % TAIL_RECENT], t->lines, text);
	if (has_word(text, hollow_words, sizeof(hollow_words) / sizeof(*hollow_words)))
		return;
	if (is_exception(text) || starts_with(text, "ERROR")) {
		keep(&t->errors[t->error++ % TAIL_ERROR], t->lines, text);
	} else if (has_word(text, root_words, sizeof(root_words) / sizeof(*root_words))) {
		unsigned first = TAIL_ROOT - 2;

		keep(&t->roots[t->root < first ? t->root : first + (t->root - first) % 2], t->lines,
		     text);
		t->root++;
	}
}

/* The lines of three lists in the order in which they came, each once. */
static void
sorted_in(const struct tail_line *all, size_t n, const struct tail_line **out, size_t *count)
{
	for (size_t i = 0; i < n; i++) {
		size_t k = *count;
		bool there = false;

		for (size_t j = 0; j < k; j++)
			there |= out[j]->no == all[i].no || !strcmp(out[j]->text, all[i].text);
		if (!all[i].no || there)
			continue;
		for (; k && out[k - 1]->no > all[i].no; k--)
			out[k] = out[k - 1];
		out[k] = &all[i];
		++*count;
	}
}

struct names
tail_lines(struct arena *a, const struct tail *t)
{
	const struct tail_line *chosen[TAIL_ROOT + TAIL_ERROR + TAIL_RECENT];
	struct names out = { 0 };
	size_t n = 0;

	if (!t)
		return out;
	sorted_in(t->roots, TAIL_ROOT, chosen, &n);
	if (n < 3)
		sorted_in(t->errors, TAIL_ERROR, chosen, &n);
	if (!n)
		sorted_in(t->recent, TAIL_RECENT, chosen, &n);
	for (size_t i = n > TAIL_LINES ? n - TAIL_LINES : 0; i < n; i++)
		list_push(a, &out, arena_strdup(a, chosen[i]->text));
	return out;
}

/* --- what is being done --- */

static bool
is_source(struct str word)
{
	static const char *const endings[] = { ".cu", ".cpp", ".cc", ".cxx", ".c" };

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		size_t n = strlen(endings[i]);

		if (word.n > n && !memcmp(word.p + word.n - n, endings[i], n))
			return true;
	}
	return false;
}

/* The source file of a compiler's command: the last word that is one, without its folder. */
static struct str
source_of(const char *text)
{
	struct str found = { NULL, 0 };

	if (!strstr(text, " -c ") && !strstr(text, "/nvcc "))
		return found;
	for (const char *s = text; *s;) {
		struct str word = { s, strcspn(s, " ") };

		while (word.n && (*word.p == '\'' || *word.p == '"'))
			word.p++, word.n--;
		while (word.n && (word.p[word.n - 1] == '\'' || word.p[word.n - 1] == '"'))
			word.n--;
		if (is_source(word))
			found = word;
		s += strcspn(s, " ");
		s += strspn(s, " ");
	}
	for (size_t i = found.n; i > 0; i--)
		if (found.p[i - 1] == '/')
			return (struct str){ found.p + i, found.n - i };
	return found;
}

/* ASCII alone: what is drawn again and again has a known width. */
static void
say(struct step_work *w, const char *before, struct str what)
{
	size_t n = 0;

	for (; *before && n < DETAIL_BYTES - 1; before++)
		w->detail[n++] = *before;
	for (size_t i = 0; i < what.n && n < DETAIL_BYTES - 1; i++)
		w->detail[n++] = what.p[i] < 0x20 || what.p[i] == 0x7f ? '?' : what.p[i];
	w->detail[n] = '\0';
}

/* "[3/9] ", ninja's count */
static const char *
count(struct step_work *w, const char *text)
{
	unsigned long done = 0, all = 0;
	const char *s = text;

	if (*s++ != '[')
		return text;
	for (; is_digit(*s) && done < 100000; s++)
		done = done * 10 + (unsigned long)(*s - '0');
	if (*s++ != '/')
		return text;
	for (; is_digit(*s) && all < 100000; s++)
		all = all * 10 + (unsigned long)(*s - '0');
	if (s[0] != ']' || s[1] != ' ' || !all || done > all)
		return text;
	w->files_done = (unsigned)done;
	w->files = (unsigned)all;
	return s + 2;
}

void
tail_detail(struct step_work *w, struct progress_step *s, const char *text)
{
	static const struct {
		const char *begins, *said;
		bool whole; /* the rest of the line, not only its first word */
	} rows[] = {
		{ "Downloading ", "downloading ", true },
		{ "Collecting ", "collecting ", false },
		{ "Building wheel for ", "building a wheel for ", false },
		{ "Installing collected packages: ", "installing ", true },
		{ "Unpacking ", "unpacking ", false },
		{ "Setting up ", "setting up ", false },
		{ "Cloning ", "cloning ", false },
	};
	struct str file;

	text += strspn(text, " ");
	file = source_of(count(w, text));
	if (file.n) {
		say(w, "", file);
		/* The last one that was told: it lives beside the step. */
		s->last_file = w->detail;
		return;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *rest = text + strlen(rows[i].begins);

		if (!starts_with(text, rows[i].begins))
			continue;
		say(w, rows[i].said,
		    (struct str){ rest, rows[i].whole ? strlen(rest) : strcspn(rest, " ") });
		s->last_file = NULL;
		return;
	}
}

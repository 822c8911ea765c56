#include "screen.h"

/* --- relevant lines --- */

/* Patterns of lines that name a cause. */
static const char root_words[] =
	"[eE]rror: |fatal: |fatal   :|Killed|Segmentation fault|No space left|undefined reference|"
	"cannot find -l|Cannot allocate memory|No such file or directory|command not found|"
	"No matching distribution|ModuleNotFoundError|ImportError|FAILED: |Unable to locate "
	"package|"
	"[Tt]imed out|[Ii]ncomplete|Connection broken|Credentials not correct|"
	"virtual memory exhausted|internal compiler error|CUDA version|Permission denied";
/* Patterns of lines that pip, setuptools and ninja print after any failure. */
static const char hollow_words[] =
	"subprocess-exited-with-error|metadata-generation-failed|Failed building wheel for|"
	"Failed to build|This error originates from a subprocess|CalledProcessError|"
	"Error compiling objects for extension|build stopped: subcommand failed|"
	"did not run successfully|finished with status 'error'|error generated|"
	"errors detected in the compilation|See above for output|except subprocess|"
	"Traceback \\(most recent call last\\)|Can not execute `setup\\.py`|"
	"except ImportError as error|subprocess exited with status";

/* Keeps the first lines of each rank, and the last ones in a ring. */
static const struct {
	unsigned first, last;
} kept[] = { [TAIL_ROOT] = { 4, 2 }, [TAIL_ERROR] = { 0, 4 }, [TAIL_RECENT] = { 0, 8 } };

static void
keep(struct tail *t, enum tail_rank rank, const char *text)
{
	unsigned first = kept[rank].first, at = t->n[rank]++;
	struct tail_line *l =
		&t->kept[rank][at < first ? at : first + (at - first) % kept[rank].last];
	size_t n = strnlen(text, TAIL_BYTES - 1);

	while (n && text[n] && !starts_character(text[n]))
		n--;
	l->no = t->lines;
	memcpy(l->text, text, n);
	l->text[n] = '\0';
}

void
tail_add(struct arena *a, struct step_work *w, const char *text)
{
	text += strspn(text, " ");
	if (!*text)
		return;
	if (!w->tail)
		w->tail = arena_new_of(a, struct tail);
	w->tail->lines++;
	keep(w->tail, TAIL_RECENT, text);
	if (str_matches(text, hollow_words))
		return;
	/* "ValueError: ..." at the beginning is the last line of a Python traceback. */
	if (str_matches(text, "^([A-Za-z._]+(Error|Exception): |ERROR)"))
		keep(w->tail, TAIL_ERROR, text);
	else if (str_matches(text, root_words))
		keep(w->tail, TAIL_ROOT, text);
}

/* Adds the lines of a rank in their order, each once. */
static size_t
sorted_in(const struct tail *t, enum tail_rank rank, const struct tail_line **out, size_t n)
{
	for (const struct tail_line *l = t->kept[rank]; l < t->kept[rank] + TAIL_LINES; l++) {
		bool there = !l->no;
		size_t k;

		for (k = 0; k < n; k++)
			there |= out[k]->no == l->no || !strcmp(out[k]->text, l->text);
		if (there)
			continue;
		for (k = n++; k && out[k - 1]->no > l->no; k--)
			out[k] = out[k - 1];
		out[k] = l;
	}
	return n;
}

struct names
tail_lines(struct arena *a, const struct tail *t)
{
	const struct tail_line *chosen[2 * TAIL_LINES];
	struct names out = { 0 };
	size_t n = t ? sorted_in(t, TAIL_ROOT, chosen, 0) : 0;

	if (t && n < 3)
		n = sorted_in(t, TAIL_ERROR, chosen, n);
	if (t && !n)
		n = sorted_in(t, TAIL_RECENT, chosen, n);
	for (size_t i = n > TAIL_LINES ? n - TAIL_LINES : 0; i < n; i++)
		list_push(a, &out, arena_strdup(a, chosen[i]->text));
	return out;
}

/* --- the current action --- */

/* Returns the source file in a compiler's command: the last such word, without its directory. */
static struct str
source_of(const char *text)
{
	struct str found = { NULL, 0 };

	if (!strstr(text, " -c ") && !strstr(text, "/nvcc "))
		return found;
	for (size_t n; *text; text += n, text += strspn(text, " '\"/")) {
		static const char *const endings[] = { "cu", "cpp", "cc", "cxx", "c" };
		const char *dot;

		n = strcspn(text, " '\"/");
		dot = memrchr(text, '.', n);
		for (size_t i = 0; dot > text && i < COUNT(endings); i++)
			if (text[n] != '/' &&
			    str_is((struct str){ dot + 1, (size_t)(text + n - dot - 1) },
				   endings[i]))
				found = (struct str){ text, n };
	}
	return found;
}

/* Reads "stackbuild: NAME: 2 of 9 files are compiled; now a.cu (2905 MiB)" of compile.py, which looks
 * at the compilers because pip hides their output. */
static bool
compile_report(struct step_work *w, const char *text)
{
	static const char begins[] = "stackbuild: ";
	const char *said = starts_with(text, begins) ? strstr(text + strlen(begins), ": ") : NULL;
	unsigned done, all, mib;
	int now = 0, end = 0;

	if (!said)
		return false;
	if (sscanf(said, ": %6u of %6u files are compiled; now %n", &done, &all, &now) == 2 &&
	    now && all && done <= all) {
		w->files_done = done;
		w->files = all;
	} else if (sscanf(said, ": compiles %n", &now) != 0 || !now) {
		return false;
	}
	said += now;
	end = (int)strcspn(said, "(");
	if (sscanf(said + end, "(%7u MiB)", &mib) != 1 || !end)
		return false;
	snprintf(w->detail, sizeof(w->detail), "%.1f GiB  %.*s", mib / 1024.0, end - 1, said);
	w->compiles = true;
	return true;
}

void
tail_detail(struct step_work *w, const char *text)
{
	static const struct {
		const char *begins, *said;
		bool whole; /* shows the rest of the line, not only its first word */
	} rows[] = {
		{ "Downloading ", "downloading ", true },
		{ "Collecting ", "collecting ", false },
		{ "Building wheel for ", "building a wheel for ", false },
		{ "Installing collected packages: ", "installing ", true },
		{ "Unpacking ", "unpacking ", false },
		{ "Setting up ", "setting up ", false },
		{ "Cloning ", "cloning ", false },
	};
	unsigned done, all;
	int behind = 0;
	struct str file;

	text += strspn(text, " ");
	if (compile_report(w, text))
		return;
	/* "[3/9] ", ninja's count */
	if (sscanf(text, "[%6u/%6u]%n", &done, &all, &behind) == 2 && behind && all &&
	    done <= all) {
		w->files_done = done;
		w->files = all;
		text += behind;
	}
	file = source_of(text);
	if (file.n) {
		snprintf(w->detail, sizeof(w->detail), "%.*s", (int)file.n, file.p);
		w->compiles = true;
		return;
	}
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *rest = text + strlen(rows[i].begins);

		if (!starts_with(text, rows[i].begins))
			continue;
		snprintf(w->detail, sizeof(w->detail), "%s%.*s", rows[i].said,
			 (int)strcspn(rest, rows[i].whole ? "" : " "), rest);
		w->compiles = false;
		return;
	}
}

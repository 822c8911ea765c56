#include "screen.h"

/* What is to be said of a step that failed. */

/* By the shell's exit status (0: any) or a word of the last lines, whatever command was run. */
static const struct {
	int status;
	const char *word, *why, *help;
} reasons[] = {
	{ 137, "Killed", "it was killed: most likely there was not enough memory",
	  "build --jobs 1 runs one compiler at a time; or raise the limit" },
	{ 0, "No space left on device",
	  "a disk is full where the engine keeps its layers, or in /tmp",
	  "make room: the engine's own prune command frees old layers" },
	{ 139, NULL, "it ended by a segmentation fault", NULL },
	{ 143, NULL, "it was asked to end (SIGTERM)", NULL },
	{ 127, NULL, "a command was not found", NULL },
	{ 126, NULL, "a command could not be executed", NULL },
};

static bool
has_word(const struct names *lines, const char *word)
{
	for (size_t i = 0; word && i < lines->n; i++)
		if (strstr(lines->at[i], word))
			return true;
	return false;
}

static void
find_reason(struct progress *p, size_t peak_mib, struct step_failure *f)
{
	for (size_t i = 0; !f->why && i < sizeof(reasons) / sizeof(*reasons); i++)
		if ((reasons[i].status && f->status == reasons[i].status) ||
		    has_word(&f->lines, reasons[i].word)) {
			f->why = reasons[i].why;
			f->help = reasons[i].help;
			if (!i && peak_mib)
				f->why = arena_printf(p->a, "%s (%.1f GiB were seen)", f->why,
						      (double)peak_mib / 1024);
		}
}

bool
progress_failed(struct progress *p, struct step_failure *out)
{
	const struct progress_step *s;

	if (p->failed == p->nsteps)
		return false;
	s = &p->steps[p->failed];
	*out = (struct step_failure){
		.step = s->id,
		.recipe_line = s->recipe_line,
		.seconds = s->seconds,
		.status = s->status,
		.exit = s->status < 0 ? NULL : arena_printf(p->a, "exit %d", s->status),
		.lines = s->tail,
	};
	find_reason(p, s->peak_mib, out);
	return true;
}

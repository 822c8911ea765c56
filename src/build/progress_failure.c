#include "screen.h"

/* What is to be said of a step that failed. */

static bool
tail_has(const struct names *lines, const char *word)
{
	for (size_t i = 0; i < lines->n; i++)
		if (strstr(lines->at[i], word))
			return true;
	return false;
}

/* What an exit status or the last lines tell, whatever was run: the shell's conventions. */
static void
reason(struct progress *p, size_t peak_mib, struct step_failure *f)
{
	if (f->status == 137 || tail_has(&f->lines, "Killed")) {
		f->why = "it was killed: most likely there was not enough memory";
		if (peak_mib)
			f->why = arena_printf(p->a, "%s (%.1f GiB were seen)", f->why,
					      (double)peak_mib / 1024);
		f->help = "build --jobs 1 runs one compiler at a time; or raise the limit";
	} else if (tail_has(&f->lines, "No space left on device")) {
		f->why = "a disk is full where the engine keeps its layers, or in /tmp";
		f->help = "make room: the engine's own prune command frees old layers";
	} else if (f->status == 139) {
		f->why = "it ended by a segmentation fault";
	} else if (f->status == 143) {
		f->why = "it was asked to end (SIGTERM)";
	} else if (f->status == 127) {
		f->why = "a command was not found";
	} else if (f->status == 126) {
		f->why = "a command could not be executed";
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
	reason(p, s->peak_mib, out);
	return true;
}

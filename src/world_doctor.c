/* stackbuild doctor: check this host. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "diagnose/diagnose.h"
#include "doctor/doctor.h"
#include "verbs.h"
#include "verify/verify.h"
#include "world.h"

/* Finds the stack of each cell of --recipe; false: an error was added. */
static bool
stacks_of(struct run *r, struct doctor_options *d, struct names *hidden)
{
	const struct recipes *rs =
		r->o->recipe ? pipeline_load(r, &r->ds, r->o->recipe, NULL, NULL) : NULL;

	for (size_t i = 0; rs && i < rs->n; i++) {
		const struct plan *p = pipeline_plan(r, r->a, &r->ds, rs->at[i], NULL);

		if (!p)
			return false;
		list_push(r->a, &d->stacks, p->stack);
		for (size_t k = 0; k < rs->at[i]->secrets.n; k++)
			list_push(r->a, hidden, rs->at[i]->secrets.at[k].s);
	}
	return rs || !r->o->recipe;
}

/* Reads --log for the help bundle; false: an error was added. */
static bool
read_help(struct run *r, const char *log, struct help_input *in)
{
	struct buf tail = BUF(r->a), text = BUF(r->a);
	const struct causes *c = diagnose_log(r, log, &tail);

	if (!c)
		return false;
	diagnose_text(r->a, c, !strcmp(log, "-") ? "stdin" : log, NULL, &text);
	for (char *p = tail.p; p && (p = memchr(p, '\0', (size_t)(tail.p + tail.n - p)));)
		*p = ' ';
	in->log = buf_text(&tail);
	in->diagnosis = buf_text(&text);
	return true;
}

int
verb_doctor(struct run *r)
{
	const struct options *o = r->o;
	struct doctor_options d = { .root = o->root ? o->root : "",
				    .facts = r->facts,
				    .venv = o->imported,
				    .import_s = 60 };
	struct help_input in = { 0 };
	struct names listed = { 0 };
	const struct checkup *c;

	if (o->format != FORMAT_TEXT && o->format != FORMAT_JSON)
		return usage_error("doctor has two formats: text and json");
	if (o->log && !o->report)
		return usage_error("--log adds a log to the help bundle: give --report FILE, too");
	if (o->root && !fs_is_dir(o->root))
		return usage_error("--root: there is no directory `%s`", o->root);
	if (!option_timeout(o, &d.import_s))
		return EXIT_USAGE;
	if (!stacks_of(r, &d, &in.hidden) || (d.venv && !verify_venv(r->a, &r->ds, d.venv)) ||
	    (o->log && !read_help(r, o->log, &in)))
		return EXIT_DIAGNOSED;
	proc_signals();
	c = doctor_check(r->a, &d);
	if (proc_interrupted())
		return EXIT_DIAGNOSED;
	if (o->format == FORMAT_JSON)
		doctor_json(c, &r->out);
	else
		doctor_text(c, &r->out);
	if (o->report && !doctor_report(r->a, &r->ds, &d, c, o->report, &in, &listed))
		return EXIT_DIAGNOSED;
	if (o->report && o->format == FORMAT_TEXT) {
		buf_printf(&r->out, "\n%s, with secrets masked; read it before you send it:\n",
			   o->report);
		for (size_t i = 0; i < listed.n; i++)
			buf_printf(&r->out, "  %s\n", listed.at[i]);
	}
	return c->errors ? EXIT_DIAGNOSED : EXIT_DONE;
}

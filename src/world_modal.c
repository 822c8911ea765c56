/* The Python that reads a Modal app, for init. */
#include <signal.h>
#include <string.h>

#include "base/embed.h"
#include "base/fs.h"
#include "base/proc.h"
#include "base/str.h"
#include "init/init.h"
#include "verbs.h"

enum {
	CHAIN_BYTES_MAX = 8 * 1024 * 1024,
	/* Wall clock: the script limits its CPU time itself, and another program may take the processor. */
	CHAIN_S = 60
};

/* Returns why the script has no result. */
static const char *
failure(struct arena *a, const struct proc_result *r)
{
	struct names said = names_split(a, buf_text((struct buf *)&r->err), '\n');

	if (r->timed_out || r->status == EXIT_SIGNAL + SIGXCPU ||
	    r->status == EXIT_SIGNAL + SIGKILL)
		return "Python needs more than 2 s for it";
	if (r->status > EXIT_SIGNAL)
		return arena_printf(a,
				    "Python ended with signal %d: its expressions may be nested "
				    "too deeply",
				    r->status - EXIT_SIGNAL);
	if (r->out.over)
		return "its image has more than 8 MiB of text";
	for (size_t i = said.n; i-- > 0;)
		if (*said.at[i])
			return arena_printf(a, "Python failed: %s", said.at[i]);
	return "Python printed nothing";
}

const struct source *
world_modal_chain(struct init *rd, const struct source *app, const char *function)
{
	const struct source *script = embedded_template("modal_chain.py");
	const char *argv[] = { "python3",    "-I",      "-S",     "-B", "-c",
			       script->text, app->path, function, NULL };
	const struct proc_spec spec = {
		.argv = argv,
		.input = app->text,
		.input_size = app->size,
		.timeout_s = CHAIN_S,
		.keep = CHAIN_BYTES_MAX,
	};
	struct proc_result r;
	struct source *json = arena_new_of(rd->a, struct source);
	bool done;

	proc_signals();
	done = proc_run(rd->a, &spec, &r);
	if (done && !r.out.over) {
		*json = (struct source){ "the chain of the app", buf_text(&r.out), r.out.n };
		return json;
	}
	if (!r.started)
		diag_help(diag_at(rd->ds, E_INIT_INPUT, (struct span){ .src = app },
				  "init reads a Modal app with the parser of Python, and cannot "
				  "start "
				  "`python3`: %s",
				  strerror(r.error)),
			  "install it: apt-get install python3");
	else if (!r.interrupted)
		diag_at(rd->ds, E_INIT_INPUT, (struct span){ .src = app },
			"init cannot read this Modal app: %s", failure(rd->a, &r));
	else
		diag_at(rd->ds, E_INIT_INPUT, (struct span){ .src = app }, "interrupted");
	return NULL;
}

#include "alive.h"

#include <stdlib.h>

#include "diag.h"
#include "fs.h"
#include "proc.h"

enum { INTERVAL_S = 60 };

static struct {
	const char *verb; /* NULL: prints nothing */
	double began_s, said_s, interval_s;
} alive;

void
alive_begin(const char *verb)
{
	const char *text = getenv("STACKBUILD_ALIVE_S");
	double s = text ? strtod(text, NULL) : 0;

	alive.verb = verb;
	alive.began_s = alive.said_s = proc_clock_s();
	alive.interval_s = s > 0 && s <= INTERVAL_S ? s : INTERVAL_S;
}

void
alive_said(void)
{
	alive.said_s = proc_clock_s();
}

void
alive_tick(const char *doing, const char *name)
{
	double now = proc_clock_s();
	unsigned s = (unsigned)(now - alive.began_s);

	if (!alive.verb || now - alive.said_s < alive.interval_s)
		return;
	alive.said_s = now;
	diag_tell("stackbuild: %s: %u:%02u, %s%s%s", alive.verb, s / 60, s % 60, doing,
		  name ? " " : "", name ? fs_name(name) : "");
}

#ifndef ALIVE_H
#define ALIVE_H

/*
 * Signs of life: a command that prints nothing for a minute prints a line on standard error, so that a
 * log shows what it waits for, and a CI service does not end it as silent.
 *
 *     stackbuild: lock: 2:00, waiting for uv
 */

/* Prints them from now on; verb: the command. NULL: no longer. */
void alive_begin(const char *verb);

/*
 * Prints a line if it is due: "DOING NAME". Loops that wait or copy call it often.
 *
 *   in      name: a path, of which the last part is printed; or NULL
 */
void alive_tick(const char *doing, const char *name);

/* Other output appeared: the next line is due a minute later. */
void alive_said(void);

#endif

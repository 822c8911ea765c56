#ifndef ALIVE_H
#define ALIVE_H

/*
 * Signs of life: if a command has printed nothing for a minute, it prints a line on standard error. The
 * line shows what the command waits for, so that a CI service does not end it for being silent.
 *
 *     stackbuild: lock: 2:00, waiting for uv
 */

/* Starts to print signs of life of the command `verb`; NULL: stops. */
void alive_begin(const char *verb);

/*
 * Prints a line if it is due: "DOING NAME". Loops that wait or copy call it often.
 *
 *   in      name: a path, of which the last part is printed; or NULL
 */
void alive_tick(const char *doing, const char *name);

/* Records that the command printed something: the next line is due a minute later. */
void alive_said(void);

#endif

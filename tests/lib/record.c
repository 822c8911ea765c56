/*
 * record -- replaces /bin/sh in a base image: prints the commands that an engine runs instead of
 * running them.
 *
 *   out  /record/log if it exists, else stdout: `@record` and hex chunks, then `@end`; decoded: the words of argv, an
 *        empty word, then the environment, each ended by a NUL
 */
#include <stdio.h>

static unsigned column;
static FILE *out;

static void
put(const char *s)
{
	for (;; s++) {
		if (column == 0)
			fputs("@record ", out);
		fprintf(out, "%02x", (unsigned char)*s);
		if (++column == 200) {
			putc('\n', out);
			column = 0;
		}
		if (*s == '\0')
			return;
	}
}

int
main(int argc, char **argv, char **envp)
{
	out = fopen("/record/log", "a");
	if (out == NULL)
		out = stdout;
	/* argv[0] is the shell's name as the engine gives it. */
	for (int i = 0; i < argc; i++)
		put(argv[i]);
	put("");
	for (char **e = envp; *e != NULL; e++)
		put(*e);
	if (column != 0)
		putc('\n', out);
	fputs("@end\n", out);
	return fclose(out) != 0;
}

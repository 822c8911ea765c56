/*
 * record -- stands for /bin/sh in a base image: prints what an engine executes instead of
 * executing it.
 *
 *   out  stdout: `@record` and hex chunks, then `@end`; decoded: the words of argv, an
 *        empty word, then the environment, each ended by a NUL
 */
#include <stdio.h>

static unsigned column;

static void
put(const char *s)
{
	for (;; s++) {
		if (column == 0)
			fputs("@record ", stdout);
		printf("%02x", (unsigned char)*s);
		if (++column == 200) {
			putchar('\n');
			column = 0;
		}
		if (*s == '\0')
			return;
	}
}

int
main(int argc, char **argv, char **envp)
{
	/* argv[0] is the shell's name as the engine gives it. */
	for (int i = 0; i < argc; i++)
		put(argv[i]);
	put("");
	for (char **e = envp; *e != NULL; e++)
		put(*e);
	if (column != 0)
		putchar('\n');
	puts("@end");
	return 0;
}

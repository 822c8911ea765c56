/*
 * sh -- the only program of the images that tests/suites/engines-real makes: /bin/sh for RUN.
 *
 *   -c TEXT   writes /proof: TEXT, the variable WORD, and the length of the secret CANARY; TEXT that begins
 *             with "stay", and any call by the name python: like sleep
 *   show      prints the variable A
 *   sleep     prints a line and stays, also after SIGTERM
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *
line_of(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "r");

	*line = '\0';
	if (f && fgets(line, size, f))
		line[strcspn(line, "\n")] = '\0';
	return line;
}

static const char *
variable(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "-";
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	char line[100];
	FILE *proof;
	bool stay = strstr(argv[0], "python") || (argc > 2 && !strncmp(argv[2], "stay", 4));

	if (!stay && !strcmp(what, "-c") && (proof = fopen("/proof", "w"))) {
		fprintf(proof, "%s %s %zu\n", argc > 2 ? argv[2] : "", variable("WORD"),
			strlen(line_of("/run/secrets/CANARY", line, sizeof(line))));
		return fclose(proof);
	}
	if (!strcmp(what, "show")) {
		puts(variable("A"));
		return 0;
	}
	if (stay || !strcmp(what, "sleep")) {
		signal(SIGTERM, SIG_IGN);
		puts("started");
		fflush(stdout);
		sleep(600);
	}
	return 5;
}

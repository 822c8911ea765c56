/*
 * proof_cli: prints the table of a recorded proof.json, as `verify` printed it.
 *
 *     proof_cli FILE
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "verify/verify.h"

int
main(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct buf out = BUF(a);
	json_error_t error;
	json_t *root = argc == 2 ? json_load_file(argv[1], 0, &error) : NULL;
	char *text = root ? json_dumps(root, JSON_PRESERVE_ORDER) : NULL;
	struct proof p;

	if (!text || !proof_read(a, NULL, text, strlen(text), &p)) {
		fprintf(stderr, "proof_cli: no proof: %s\n",
			argc == 2 ? argv[1] : "usage: proof_cli FILE");
		return 2;
	}
	p.venv = json_string_value(json_object_get(root, "venv"));
	p.engine = json_string_value(json_object_get(root, "engine"));
	proof_table(&p, json_string_value(json_object_get(root, "recipe")),
		    arena_printf(a, "out/%s/proof.json",
				 json_string_value(json_object_get(root, "stack"))),
		    NULL, &out);
	fputs(buf_text(&out), stdout);
	arena_free(a);
	return 0;
}

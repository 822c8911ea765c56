#include <jansson.h>
#include <string.h>

#include "verify.h"

/* proof.json read again, as far as its meaning goes: publish judges it as verify would. */

static const char *
text_in(struct arena *a, const json_t *map, const char *key)
{
	const char *s = json_string_value(json_object_get(map, key));

	return s ? arena_strdup(a, s) : NULL;
}

/* A result that is not known here is no pass. */
static enum proof_result
result_of(const json_t *map)
{
	const char *s = json_string_value(json_object_get(map, "result"));

	for (enum proof_result r = PROOF_PASSED; s && r <= PROOF_NOT_RUN; r++)
		if (!strcmp(s, proof_result_words[r]))
			return r;
	return PROOF_FAILED;
}

bool
proof_read(struct arena *a, const char *text, size_t n, struct proof *out)
{
	json_t *root = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
	const json_t *checks = json_object_get(root, "checks"), *c;
	size_t i;

	*out = (struct proof){ .image = text_in(a, root, "image"),
			       .image_digest = text_in(a, root, "image_digest"),
			       .recipe_digest = text_in(a, root, "recipe_digest"),
			       .result = result_of(root) };
	json_array_foreach(checks, i, c)
	{
		const char *id = text_in(a, c, "id");
		const struct proof_check check = { .id = id ? id : "", .result = result_of(c) };

		if (check.result == PROOF_FAILED)
			out->result = PROOF_FAILED;
		list_push(a, &out->checks, check);
	}
	json_decref(root);
	return out->checks.n > 0;
}

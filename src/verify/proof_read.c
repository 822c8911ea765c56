#include <jansson.h>
#include <string.h>

#include "fetch/fetch.h"
#include "verify.h"

/* proof.json read again, as far as its meaning goes: publish judges it as verify would. */

bool
proof_read(struct arena *a, const struct plan *p, const char *text, size_t n, struct proof *out)
{
	json_auto_t *root = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
	const json_t *c;
	size_t i;

	*out = (struct proof){ .image = fetch_json_text(a, root, "image"),
			       .image_digest = fetch_json_text(a, root, "image_digest"),
			       .recipe_digest = fetch_json_text(a, root, "recipe_digest") };
	proof_result_parse(json_string_value(json_object_get(root, "result")), &out->result);
	json_array_foreach(json_object_get(root, "checks"), i, c)
	{
		struct proof_check check = { .id = fetch_json_text(a, c, "id") };

		proof_result_parse(json_string_value(json_object_get(c, "result")), &check.result);
		if (!check.id)
			return false;
		list_push(a, &out->checks, check);
	}
	if (!out->checks.n)
		return false;
	proof_complete(a, out, &(struct names){ 0 }, NULL);
	if (p) {
		const struct names expected = proof_expected(a, p);

		proof_complete(a, out, &expected, "the proof does not have it");
	}
	return true;
}

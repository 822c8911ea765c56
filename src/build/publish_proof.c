#include <jansson.h>
#include <string.h>

#include "base/fs.h"
#include "publish.h"

enum { PROOF_MAX = 4 * 1024 * 1024 };

static const char *
text_in(struct arena *a, const json_t *map, const char *key)
{
	const char *s = json_string_value(json_object_get(map, key));

	return s ? arena_strdup(a, s) : NULL;
}

/* The level that a check belongs to.  One that is not known here is of the last. */
static unsigned
level_of(const char *id)
{
	static const char *const import[] = { "installed", "loads",   "code",
					      "versions",  "imports", "fallback" };

	for (size_t i = 0; i < sizeof(import) / sizeof(*import); i++)
		if (!strcmp(id, import[i]))
			return 1;
	return !strcmp(id, "compile") ? 2 : 3;
}

/* The highest level that has a check, of which all passed, as of those below it. */
static void
judge(const json_t *checks, struct publish_proof *p)
{
	unsigned passed[4] = { 0 }, other[4] = { 0 };
	const json_t *c;
	size_t i;

	json_array_foreach(checks, i, c)
	{
		const char *id = json_string_value(json_object_get(c, "id"));
		const char *result = json_string_value(json_object_get(c, "result"));
		unsigned level = id ? level_of(id) : 3;

		if (result && !strcmp(result, "passed"))
			passed[level]++;
		else
			other[level]++;
		p->failed |= !result || !strcmp(result, "failed");
	}
	while (p->level < 3 && passed[p->level + 1] && !other[p->level + 1])
		p->level++;
}

struct publish_proof
publish_proof_read(struct arena *a, const char *out)
{
	struct publish_proof p = { .path = fs_join(a, out, "proof.json") };
	const struct source *src;
	const char *result;
	struct diags ds;
	json_t *root;

	diags_init(&ds, a);
	if (!fs_exists(p.path) || !(src = fs_read(a, &ds, p.path, PROOF_MAX, (struct span){ 0 })))
		return p;
	root = json_loadb(src->text, src->size, JSON_REJECT_DUPLICATES, NULL);
	if (json_is_array(json_object_get(root, "checks"))) {
		p.text = src->text;
		p.size = src->size;
		p.image_digest = text_in(a, root, "image_digest");
		p.recipe_digest = text_in(a, root, "recipe_digest");
		judge(json_object_get(root, "checks"), &p);
		result = text_in(a, root, "result");
		p.failed |= !result || !strcmp(result, "failed");
	}
	json_decref(root);
	return p;
}

const char *
publish_level_name(unsigned level)
{
	static const char *const names[] = { "nothing", "import", "compile", "gpu" };

	return names[level < 4 ? level : 3];
}

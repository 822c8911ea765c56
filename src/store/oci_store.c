/*
 * A repository of an OCI registry as a store. A wheel is an artifact (image-spec 1.1) with its key
 * as tag: the config is entry.json, and the only layer is the wheel, so that its digest is that of
 * the entry. A second tag, KEY.FAMILY, has the wheel's family.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/str.h"
#include "fetch/fetch.h"
#include "internal.h"

#define TYPE_ARTIFACT "application/vnd.stackbuild.wheel.v1"
#define TYPE_ENTRY "application/vnd.stackbuild.wheel.entry.v1+json"
#define TYPE_WHEEL "application/vnd.stackbuild.wheel.file.v1+zip"

static const char *
first_text(const struct diags *ds)
{
	return ds->head ? ds->head->text : "no reason was given";
}

bool
store_open_oci(struct arena *a, struct diags *ds, struct store *s)
{
	const char *text = s->where + strlen("oci://"), *why = NULL;
	struct oci_name *name = arena_new_of(a, struct oci_name); /* the session keeps the name */
	struct diags mine = DIAGS(mine, ds->arena);

	if (!strchr(text, '/'))
		why = "names no repository";
	else if (!oci_name_parse(a, &mine, text, NOWHERE, name))
		why = first_text(&mine);
	else if (name->tag || name->digest)
		why = "names one image of a repository: remove the tag";
	if (why) {
		diag_help(diag_at(ds, E_STORE_WHERE, NOWHERE, "the store `%s`: %s", s->name, why),
			  "write oci://HOST/REPOSITORY");
		return false;
	}
	s->registry = oci_open(a, name, 0);
	return true;
}

/*
 * The registry was unreachable, or an object is missing or changed. One damaged manifest does not
 * affect the others.
 */
static enum store_answer
answer_of(struct store *s, const struct diags *why, bool of_manifest)
{
	s->why = first_text(why);
	for (const struct diag *d = why->head; d; d = d->next)
		if (d->code == E_CONTENT || (d->code == E_REGISTRY && !of_manifest))
			return STORE_REFUSED;
	return STORE_UNREACHABLE;
}

/* Reads the config and the digest of the layer of a manifest; false: it is not the manifest of a
 * wheel. */
static bool
read_manifest(struct arena *a, const struct oci_manifest *m, struct oci_blob *config,
	      const char **layer)
{
	json_auto_t *map = json_loadb(m->text, m->size, JSON_REJECT_DUPLICATES, NULL);
	const char *type, *digest, *wheel_type, *wheel;
	json_int_t size, wheel_size;

	if (!map ||
	    json_unpack(map, "{s:{s:s, s:s, s:I}, s:[{s:s, s:s, s:I}!]}", "config", "mediaType",
			&type, "digest", &digest, "size", &size, "layers", "mediaType", &wheel_type,
			"digest", &wheel, "size", &wheel_size) < 0 ||
	    strcmp(type, TYPE_ENTRY) || strcmp(wheel_type, TYPE_WHEEL) || size < 0 ||
	    size > STORE_JSON_MAX)
		return false;
	*config = (struct oci_blob){ .media_type = TYPE_ENTRY,
				     .digest = arena_strdup(a, digest),
				     .size = (size_t)size };
	*layer = arena_strdup(a, wheel);
	return true;
}

static enum store_answer
read_entry(struct arena *a, struct store *s, const char *key, struct entry_file *out)
{
	struct oci_manifest m = { 0 };
	struct oci_blob config;
	bool missing = false;
	struct diags mine = DIAGS(mine, a);

	if (!oci_manifest(s->registry, a, &mine, key, &m, &missing))
		return missing ? STORE_MISS : answer_of(s, &mine, true);
	if (!read_manifest(a, &m, &config, &out->digest)) {
		s->why = "its manifest is not that of a wheel";
		return STORE_REFUSED;
	}
	if (!oci_pull_blob(s->registry, a, &mine, &config, NULL, STORE_JSON_MAX))
		return answer_of(s, &mine, false);
	out->text = config.bytes;
	out->n = config.size;
	return STORE_HIT;
}

/* A tag has at most 128 characters. */
static const char *
family_tag(struct arena *a, const char *key, const char *family)
{
	return arena_printf(a, "%s.%.32s", key, family);
}

static enum store_answer
fetch(struct arena *a, struct store *s, const struct entry *e, const char *to)
{
	struct oci_blob wheel = { .media_type = TYPE_WHEEL,
				  .digest = arena_printf(a, "sha256:%s", e->sha256),
				  .size = e->size };
	struct diags mine = DIAGS(mine, a);

	return oci_pull_blob(s->registry, a, &mine, &wheel, to, e->size) ?
		       STORE_HIT :
		       answer_of(s, &mine, false);
}

static bool
save(struct arena *a, struct diags *ds, struct store *s, const struct entry *e, const char *path)
{
	const char *text = entry_text(a, e);
	struct oci_artifact artifact = {
		.type = TYPE_ARTIFACT,
		.config = { .media_type = TYPE_ENTRY, .bytes = text, .size = strlen(text) }
	};
	struct oci_blob wheel = { .media_type = TYPE_WHEEL,
				  .path = path,
				  .digest = arena_printf(a, "sha256:%s", e->sha256),
				  .size = e->size,
				  .title = e->wheel };
	const struct entry *old;
	struct diags mine = DIAGS(mine, a);

	if (!names_have(&s->refused, e->key) && store_find(a, &mine, s, e->key, &old) == STORE_HIT)
		return true;
	mine = DIAGS(mine, a);
	list_push(a, &artifact.layers, wheel);
	artifact.tag = family_tag(a, e->key, store_family(a, e->inputs));
	if (oci_push_artifact(s->registry, a, &mine, &artifact)) {
		artifact.tag = e->key;
		if (oci_push_artifact(s->registry, a, &mine, &artifact))
			return true;
	}
	diag_help(store_not_saved(ds, s, e, first_text(&mine)),
		  "log in to the registry, as for `docker push`");
	return false;
}

/* Returns the keys among the tags; with a family, only its keys, by their second tags. */
static enum store_answer
family(struct arena *a, struct store *s, const char *family, struct names *out)
{
	struct names tags;
	struct diags mine = DIAGS(mine, a);

	tags = oci_tags(s->registry, a, &mine);
	s->why = first_text(&mine);
	for (size_t i = 0; i < tags.n && !mine.errors; i++) {
		const char *key = arena_copy(a, tags.at[i], strcspn(tags.at[i], "."));

		if (store_is_key(key) &&
		    !strcmp(tags.at[i], family ? family_tag(a, key, family) : key))
			list_push(a, out, key);
	}
	return mine.errors ? STORE_UNREACHABLE : STORE_HIT;
}

static enum store_answer
keys(struct arena *a, struct store *s, struct names *out)
{
	return family(a, s, NULL, out);
}

const struct store_kind store_oci = {
	.read = read_entry,
	.fetch = fetch,
	.save = save,
	.keys = keys,
	.family = family,
};

/*
 * A repository of an OCI registry as a store.  A wheel is an artifact (image-spec 1.1), its
 * tag the key: the config is entry.json, the one layer the wheel, whose digest is thus that
 * of the entry.
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
	struct oci_name *name = arena_new_of(a, struct oci_name); /* the session keeps it */
	struct diags mine;

	diags_init(&mine, ds->arena);
	if (!strchr(text, '/'))
		why = "names no repository";
	else if (!oci_name_parse(a, &mine, text, (struct span){ 0 }, name))
		why = first_text(&mine);
	else if (name->tag || name->digest)
		why = "names one image of a repository: leave its tag out";
	if (why) {
		diag_help(diag_at(ds, E_STORE_WHERE, (struct span){ 0 }, "the store `%s`: %s",
				  s->name, why),
			  "name it as oci://HOST/REPOSITORY");
		return false;
	}
	s->registry = oci_open(a, ds, name);
	return s->registry != NULL;
}

static enum store_answer
unreachable(struct diags *ds, struct store *s, const struct diags *why)
{
	diag_at(ds, E_STORE_UNREACHABLE, (struct span){ 0 }, "the store %s does not answer: %s",
		s->name, first_text(why));
	s->down = true;
	return STORE_UNREACHABLE;
}

/* It was reached, and what it names it does not have, or not as it was. */
static bool
is_damage(const struct diags *ds)
{
	for (const struct diag *d = ds->head; d; d = d->next)
		if (d->code == E_CONTENT || d->code == E_REGISTRY)
			return true;
	return false;
}

/* The config and the layer of a manifest; false: it is no wheel's. */
static bool
read_manifest(struct arena *a, const struct oci_manifest *m, struct oci_blob *config,
	      const char **layer)
{
	json_auto_t *map = json_loadb(m->text, m->size, JSON_REJECT_DUPLICATES, NULL);
	const char *type, *digest, *wheel_type, *wheel;
	json_int_t size, wheel_size;
	json_t *layers;

	if (!map ||
	    json_unpack(map, "{s:{s:s, s:s, s:I}, s:o}", "config", "mediaType", &type, "digest",
			&digest, "size", &size, "layers", &layers) < 0 ||
	    json_array_size(layers) != 1 ||
	    json_unpack(json_array_get(layers, 0), "{s:s, s:s, s:I}", "mediaType", &wheel_type,
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
find(struct arena *a, struct diags *ds, struct store *s, const char *key, const struct entry **e)
{
	const char *layer = NULL, *why = "its manifest is not that of a wheel";
	struct oci_manifest m = { 0 };
	struct oci_blob config;
	bool missing = false;
	struct diags mine;

	*e = NULL;
	diags_init(&mine, ds->arena);
	if (!oci_manifest(s->registry, a, &mine, key, &m, &missing)) {
		if (missing)
			return STORE_MISS;
		/* One manifest that is damaged says nothing of the others. */
		if (!mine.head || mine.head->code != E_CONTENT)
			return unreachable(ds, s, &mine);
		why = first_text(&mine);
	} else if (read_manifest(a, &m, &config, &layer)) {
		if (oci_pull_blob(s->registry, a, &mine, &config, NULL, STORE_JSON_MAX))
			*e = entry_read(a, config.bytes, config.size, key, &why);
		else if (is_damage(&mine))
			why = first_text(&mine);
		else
			return unreachable(ds, s, &mine);
	}
	if (*e && !strcmp(layer, arena_printf(a, "sha256:%s", (*e)->sha256)))
		return STORE_HIT;
	store_refuse(ds, s, key, *e ? "its manifest names another wheel than its entry" : why);
	*e = NULL;
	return STORE_REFUSED;
}

static enum store_answer
fetch(struct arena *a, struct diags *ds, struct store *s, const struct entry *e, const char *folder)
{
	struct oci_blob wheel = { .media_type = TYPE_WHEEL,
				  .digest = arena_printf(a, "sha256:%s", e->sha256),
				  .size = e->size };
	struct diags mine;

	diags_init(&mine, ds->arena);
	if (oci_pull_blob(s->registry, a, &mine, &wheel, fs_join(a, folder, e->wheel), e->size))
		return STORE_HIT;
	if (!is_damage(&mine))
		return unreachable(ds, s, &mine);
	store_refuse(ds, s, e->key, first_text(&mine));
	return STORE_REFUSED;
}

static bool
save(struct arena *a, struct diags *ds, struct store *s, const struct entry *e, const char *path)
{
	const char *text = entry_text(a, e);
	struct oci_artifact artifact = { .type = TYPE_ARTIFACT, .tag = e->key };
	struct oci_blob wheel = { .media_type = TYPE_WHEEL, .path = path, .title = e->wheel };
	const struct entry *old;
	struct diags mine;

	diags_init(&mine, ds->arena);
	if (!names_have(&s->refused, e->key) && find(a, &mine, s, e->key, &old) == STORE_HIT)
		return true;
	diags_init(&mine, ds->arena);
	artifact.config =
		(struct oci_blob){ .media_type = TYPE_ENTRY, .bytes = text, .size = strlen(text) };
	list_push(a, &artifact.layers, wheel);
	if (oci_push_artifact(s->registry, a, &mine, &artifact))
		return true;
	diag_help(diag_at(ds, E_STORE_WRITE, (struct span){ 0 },
			  "`%s` could not be put into the store %s: %s", e->wheel, s->name,
			  first_text(&mine)),
		  "log in to the registry as you do for docker push");
	return false;
}

static bool
keys(struct arena *a, struct diags *ds, struct store *s, struct names *out)
{
	struct names tags;
	struct diags mine;

	diags_init(&mine, ds->arena);
	tags = oci_tags(s->registry, a, &mine);
	if (mine.errors) {
		unreachable(ds, s, &mine);
		return false;
	}
	for (size_t i = 0; i < tags.n; i++)
		if (store_is_key(tags.at[i]))
			list_push(a, out, tags.at[i]);
	return true;
}

const struct store_kind store_oci = {
	.find = find,
	.fetch = fetch,
	.save = save,
	.keys = keys,
};

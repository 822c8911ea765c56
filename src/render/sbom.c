/*
 * Bills of materials of a lock: CycloneDX 1.6 and SPDX 2.3, as JSON, and the provenance of a build.
 * Equal locks give equal bytes: the identity comes from the lock's digest, the date is that of its
 * knowledge base.
 *
 * source: cyclonedx.org/docs/1.6/json, spdx.github.io/spdx-spec/v2.3,
 * github.com/package-url/purl-spec
 */
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/str.h"
#include "lock/lock.h"
#include "target.h"

/* A part of the stack, as both formats list it. */
struct part {
	const char *id;                           /* unique: "pkg:pypi/numpy@1.26.4" */
	const char *key;                          /* a package's name in the lock; else NULL */
	const char *type, *name, *version, *purl; /* version, purl: or NULL */
	const char *vcs, *commit;                 /* "git+URL@COMMIT" and COMMIT; or NULL */
	struct lock_files files;
	const struct names *required_by; /* NULL: only the stack requires it */
	bool direct;                     /* the stack requires it */
};
struct parts LIST(struct part);

/* Returns a text for a purl; only characters that never need an escape stay as they are. */
static const char *
escaped(struct arena *a, const char *text)
{
	struct buf b = BUF(a);

	for (; *text; text++)
		if (is_alnum(*text) || strchr("._-", *text))
			buf_putc(&b, *text);
		else
			buf_printf(&b, "%%%02X", (unsigned char)*text);
	return buf_text(&b);
}

static void
add_package(struct arena *a, struct parts *all, const struct lock_package *p)
{
	const char *purl = arena_printf(a, "pkg:pypi/%s@%s", p->name, escaped(a, p->version));

	list_push(a, all,
		  (struct part){ .id = purl,
				 .key = p->name,
				 .type = "library",
				 .name = p->name,
				 .version = p->version,
				 .purl = purl,
				 .files = p->files,
				 .required_by = &p->required_by,
				 .direct = p->roots.n > 0 });
}

static void
add_source(struct arena *a, struct parts *all, const struct lock_source *s)
{
	struct part p = { .id = arena_printf(a, "extension:%s", s->name),
			  .type = "library",
			  .name = s->name,
			  .version = s->version,
			  .direct = true };

	if (s->commit) {
		p.commit = s->commit;
		p.vcs = arena_printf(a, "git+%s@%s", s->url, s->commit);
		p.version = p.version ? p.version : s->commit;
		p.purl = arena_printf(a, "pkg:generic/%s@%s?vcs_url=%s", s->name,
				      escaped(a, p.version), escaped(a, p.vcs));
	} else if (!strcmp(s->kind, "sdist") && s->version) {
		p.purl = arena_printf(a, "pkg:pypi/%s@%s", s->name, escaped(a, s->version));
	}
	if (s->sha256 && s->url)
		list_push(a, &p.files, (struct lock_file){ .url = s->url, .sha256 = s->sha256 });
	list_push(a, all, p);
}

/* "nvidia/cuda:13.0.3" -> "pkg:docker/nvidia/cuda@sha256%3A..."; a registry of its own is a qualifier. */
static const char *
image_purl(struct arena *a, const char *name, const char *digest)
{
	const char *slash = strchr(name, '/'), *path = name, *last;
	size_t host = slash ? strcspn(name, ".:/") : 0;

	if (slash && (name[host] != '/' || starts_with(name, "localhost/")))
		path = slash + 1;
	last = strrchr(path, '/');
	last = last ? last : path;
	return arena_printf(
		a, "pkg:docker/%.*s%s%s%s%.*s", (int)((size_t)(last - path) + strcspn(last, ":@")),
		path, digest ? "@" : "", digest ? escaped(a, digest) : "",
		path > name ? "?repository_url=" : "", path > name ? (int)(slash - name) : 0, name);
}

static void
add_image(struct arena *a, struct parts *all, const char *role, const struct lock_image *i)
{
	if (i->name)
		list_push(a, all,
			  (struct part){ .id = arena_printf(a, "image:%s", role),
					 .type = "container",
					 .name = i->name,
					 .version = i->digest,
					 .purl = image_purl(a, i->name, i->digest),
					 .direct = true });
}

static struct parts
parts_of(struct arena *a, const struct lock *l)
{
	struct parts all = { 0 };
	struct part python = { .id = "python",
			       .type = "application",
			       .name = "cpython",
			       .version = l->python,
			       .direct = true };

	if (l->python_url && l->python_sha256)
		list_push(a, &python.files,
			  (struct lock_file){ .url = l->python_url, .sha256 = l->python_sha256 });
	add_image(a, &all, "base", &l->base);
	add_image(a, &all, "runtime", &l->runtime);
	list_push(a, &all, python);
	for (size_t i = 0; i < l->packages.n; i++)
		add_package(a, &all, &l->packages.at[i]);
	for (size_t i = 0; i < l->sources.n; i++)
		add_source(a, &all, &l->sources.at[i]);
	return all;
}

static bool
requires_part(const struct part *from, const struct part *to)
{
	return !from ? to->direct :
		       from->key && to->required_by && names_have(to->required_by, from->key);
}

/* Returns the lock of the plan; NULL after an error. */
static const struct lock *
lock_of(struct target *t)
{
	const struct recipe *r = t->plan->stack->recipe;

	if (!t->plan->lock)
		diag_help(
			diag_at(t->ds, E_LOCK_MISSING, r->stack.at,
				"a bill of materials lists what the lock pins, and there is none"),
			"make it: stackbuild lock %s", r->path);
	return t->plan->lock;
}

static void
finish(struct target *t, struct buf *text, size_t n)
{
	buf_putc(text, '\n');
	t->file.text = buf_text(text);
	t->file.size = text->n;
	t->file.summary = arena_printf(t->a, "%zu components", n);
}

/* --- CycloneDX --- */

static void
put_component(struct json *j, const struct part *p)
{
	json_put(j, "{'type': %s, 'bom-ref': %s, 'name': %s, 'version': %o, 'purl': %o", p->type,
		 p->id, p->name, p->version, p->purl);
	if (p->files.n || p->vcs)
		json_list(j, "externalReferences");
	if (p->vcs)
		json_put(j, "('type': 'vcs', 'url': %s)", p->vcs);
	for (size_t i = 0; i < p->files.n; i++)
		json_put(j,
			 "{'type': 'distribution', 'url': %s, 'hashes': "
			 "[('alg': 'SHA-256', 'content': %s)]}",
			 p->files.at[i].url, p->files.at[i].sha256);
	if (p->files.n || p->vcs)
		json_end(j);
	json_end(j);
}

static void
put_dependencies(struct json *j, const struct parts *all, const struct part *from)
{
	json_put(j, "{'ref': %s, 'dependsOn': [", from ? from->id : "stack");
	for (size_t i = 0; i < all->n; i++)
		if (requires_part(from, &all->at[i]))
			json_text(j, NULL, all->at[i].id);
	json_put(j, "]}");
}

void
cyclonedx_fill(struct target *t)
{
	const struct lock *l = lock_of(t);
	struct buf text = BUF(t->a);
	struct json j = json_to(&text);
	struct parts all;
	const char *id;

	if (!l)
		return;
	all = parts_of(t->a, l);
	id = sha256_hex(t->a, l->src->text, l->src->size);
	json_put(&j,
		 "{'bomFormat': 'CycloneDX', 'specVersion': '1.6', 'serialNumber': %s, "
		 "'version': 1, 'metadata': {'tools': {'components': ["
		 "('type': 'application', 'name': 'stackbuild', 'version': %s), "
		 "('type': 'application', 'name': 'uv', 'version': %s)]}, "
		 "'component': ('type': 'application', 'bom-ref': 'stack', 'name': %s, "
		 "'version': %s)}, 'components': [",
		 arena_printf(t->a, "urn:uuid:%.8s-%.4s-8%.3s-8%.3s-%.12s", id, id + 8, id + 12,
			      id + 15, id + 18),
		 l->stackbuild, l->uv, t->plan->name, l->recipe);
	for (size_t i = 0; i < all.n; i++)
		put_component(&j, &all.at[i]);
	json_put(&j, "], 'dependencies': [");
	for (size_t i = 0; i <= all.n; i++)
		put_dependencies(&j, &all, i ? &all.at[i - 1] : NULL);
	json_put(&j, "]}");
	finish(t, &text, all.n);
}

/* --- SPDX --- */

/* Returns "SPDXRef-pkg-pypi-numpy-1.26.4": letters, digits, dots and dashes. */
static const char *
spdx_id(struct arena *a, const struct part *p)
{
	char *id = arena_printf(a, "SPDXRef-%s", p ? p->id : "stack");

	for (char *c = id; *c; c++)
		if (!is_alnum(*c) && *c != '.')
			*c = '-';
	return id;
}

static void
put_spdx(struct json *j, struct arena *a, const struct part *p)
{
	const char *from = p->vcs ? p->vcs : p->files.n ? p->files.at[0].url : "NOASSERTION";

	json_put(j,
		 "{'name': %s, 'SPDXID': %s, 'versionInfo': %o, 'downloadLocation': %s, "
		 "'filesAnalyzed': %b, 'licenseConcluded': 'NOASSERTION', "
		 "'licenseDeclared': 'NOASSERTION', 'copyrightText': 'NOASSERTION'",
		 p->name, spdx_id(a, p), p->version, from, false);
	/* Readers would take the digest of one of several files as that of the package. */
	if (p->files.n == 1)
		json_put(j, "'checksums': [('algorithm': 'SHA256', 'checksumValue': %s)]",
			 p->files.at[0].sha256);
	if (p->purl)
		json_put(j,
			 "'externalRefs': [('referenceCategory': 'PACKAGE-MANAGER', "
			 "'referenceType': 'purl', 'referenceLocator': %s)]",
			 p->purl);
	json_end(j);
}

static void
put_relation(struct json *j, const char *from, const char *how, const char *to)
{
	json_put(j, "('spdxElementId': %s, 'relationshipType': %s, 'relatedSpdxElement': %s)", from,
		 how, to);
}

void
spdx_fill(struct target *t)
{
	const struct lock *l = lock_of(t);
	struct buf text = BUF(t->a);
	struct json j = json_to(&text);
	struct part stack = { .id = "stack", .name = t->plan->name };
	struct parts all;

	if (!l)
		return;
	all = parts_of(t->a, l);
	stack.version = l->recipe;
	json_put(&j,
		 "{'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': "
		 "'SPDXRef-DOCUMENT', 'name': %s, 'documentNamespace': %s, 'creationInfo': "
		 "{'created': %s, 'creators': [%s, %s]}, 'packages': [",
		 t->plan->name,
		 arena_printf(t->a, "https://spdx.org/spdxdocs/%s-%.32s",
			      escaped(t->a, t->plan->name),
			      sha256_hex(t->a, l->src->text, l->src->size)),
		 str_matches(l->knowledge, "^[0-9]{4}-[0-9]{2}-[0-9]{2}$") ?
			 arena_printf(t->a, "%sT00:00:00Z", l->knowledge) :
			 "1970-01-01T00:00:00Z",
		 arena_printf(t->a, "Tool: stackbuild-%s", l->stackbuild),
		 arena_printf(t->a, "Tool: uv-%s", l->uv));
	put_spdx(&j, t->a, &stack);
	for (size_t i = 0; i < all.n; i++)
		put_spdx(&j, t->a, &all.at[i]);
	json_put(&j, "], 'relationships': [");
	put_relation(&j, "SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-stack");
	for (size_t i = 0; i <= all.n; i++) {
		const struct part *from = i ? &all.at[i - 1] : NULL;

		for (size_t k = 0; k < all.n; k++)
			if (requires_part(from, &all.at[k]))
				put_relation(&j, spdx_id(t->a, from), "DEPENDS_ON",
					     spdx_id(t->a, &all.at[k]));
	}
	json_put(&j, "]}");
	finish(t, &text, all.n);
}

/* --- provenance --- */

/* Adds a ResourceDescriptor; digest: with or without "sha256:". */
static void
put_resource(struct json *j, const char *name, const char *uri, const char *algorithm,
	     const char *digest)
{
	const char *colon = digest ? strchr(digest, ':') : NULL;

	json_put(j, "('name': %s, 'uri': %o", name, uri);
	if (digest)
		json_put(j, "'digest': {%s: %s}", algorithm, colon ? colon + 1 : digest);
	json_put(j, ")");
}

static void
put_material(struct json *j, const struct part *p)
{
	if (p->commit)
		put_resource(j, p->name, p->vcs, "gitCommit", p->commit);
	for (size_t i = 0; i < p->files.n; i++)
		put_resource(j, p->name, p->files.at[i].url, "sha256", p->files.at[i].sha256);
	if (!strcmp(p->type, "container"))
		put_resource(j, p->name, p->purl, "sha256", p->version);
}

const char *
render_provenance(struct arena *a, const struct provenance *b)
{
	const struct recipe *r = b->plan->stack->recipe;
	const struct lock *l = b->plan->lock;
	struct parts all = { 0 };
	struct buf text = BUF(a);
	struct json j = json_to(&text);

	if (l)
		all = parts_of(a, l);
	else
		add_image(a, &all, "base",
			  &(struct lock_image){ b->plan->stack->base.value, b->base_digest, NULL });
	json_put(&j, "{'_type': 'https://in-toto.io/Statement/v1', 'subject': [");
	put_resource(&j, b->image, NULL, "sha256", b->digest);
	json_put(&j,
		 "], 'predicateType': %s, 'predicate': {'buildDefinition': {'buildType': "
		 "'urn:stackbuild:recipe:1', 'externalParameters': {'recipe': %s, 'recipeDigest': "
		 "%s, 'variant': %o, 'cell': %o, 'platform': %o}, 'resolvedDependencies': [",
		 PROVENANCE_TYPE, fs_name(r->path), r->digest, r->variant, r->cell, b->platform);
	if (l)
		put_resource(&j, fs_name(lock_path(a, r)), NULL, "sha256", b->lock_digest);
	for (size_t i = 0; i < all.n; i++)
		put_material(&j, &all.at[i]);
	json_put(&j, "]}, 'runDetails': {'builder': {'id': 'urn:stackbuild:host:1'");
	if (b->engine && b->engine_version)
		json_put(&j, "'version': {%s: %s}", b->engine, b->engine_version);
	json_put(&j, "}, 'metadata': {'startedOn': %o}}}}", b->started);
	buf_putc(&text, '\n');
	return buf_text(&text);
}

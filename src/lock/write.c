/*
 * Writes a lock:
 *
 *     lock-version = "1.0"
 *     created-by = "stackbuild"
 *     requires-python = "==3.12.*"
 *
 *     [tool.stackbuild]
 *     format = 1
 *     content                                            digest of all other lines
 *     stack, variant, cell, recipe, knowledge, stackbuild, uv, unpinned, debs, inputs
 *     python = { series, url, sha256 }
 *     base = { image, digest, platform-digest }          runtime: the same
 *
 *     [[tool.stackbuild.sources]]
 *     name, version, kind, url, ref, commit, sha256, size
 *
 *     [[packages]]                                       see read.c
 */
#include "lock.h"

#include <string.h>

#include "base/sha256.h"
#include "base/toml.h"

const char lock_first_line[] =
	"# Made by `stackbuild lock`; any tool that reads PEP 751 can install its packages.\n";
static const char content_key[] = "\ncontent = \"sha256:";

/* Writes "key = "value"" on a separate line; nothing without a value. */
static void
line(struct buf *out, const char *key, const char *value)
{
	if (!value)
		return;
	buf_printf(out, "%s = ", key);
	toml_quote(out, value);
	buf_putc(out, '\n');
}

static void
list(struct buf *out, const char *key, const struct names *all, bool lines)
{
	buf_printf(out, "%s = [", key);
	for (size_t i = 0; i < all->n; i++) {
		buf_puts(out, lines ? "\n    " : i ? ", " : "");
		toml_quote(out, all->at[i]);
		buf_puts(out, lines ? "," : "");
	}
	buf_puts(out, lines && all->n ? "\n]\n" : "]\n");
}

/* Writes "key = "value"" as a part of an inline table. */
static void
part(struct buf *out, const char *key, const char *value)
{
	if (!value)
		return;
	buf_printf(out, "%s %s = ", out->p[out->n - 1] == '{' ? "" : ",", key);
	toml_quote(out, value);
}

static void
write_image(struct buf *out, const char *key, const struct lock_image *image)
{
	if (!image->name)
		return;
	buf_printf(out, "%s = {", key);
	part(out, "image", image->name);
	part(out, "digest", image->digest);
	part(out, "platform-digest", image->platform_digest);
	buf_puts(out, " }\n");
}

static void
write_own(const struct lock *l, const char *content, struct buf *out)
{
	buf_printf(out, "\n[tool.stackbuild]\nformat = %d\n", LOCK_FORMAT);
	line(out, "content", content);
	line(out, "stack", l->stack);
	line(out, "variant", l->variant);
	line(out, "cell", l->cell);
	line(out, "recipe", l->recipe);
	line(out, "knowledge", l->knowledge);
	line(out, "stackbuild", l->stackbuild);
	line(out, "uv", l->uv);
	list(out, "unpinned", &l->unpinned, false);
	line(out, "debs", l->debs);
	list(out, "inputs", &l->inputs, true);
	buf_puts(out, "python = {");
	part(out, "series", l->python);
	part(out, "url", l->python_url);
	part(out, "sha256", l->python_sha256);
	buf_puts(out, " }\n");
	write_image(out, "base", &l->base);
	write_image(out, "runtime", &l->runtime);
	list_each (s, &l->sources) {

		buf_puts(out, "\n[[tool.stackbuild.sources]]\n");
		line(out, "name", s->name);
		line(out, "version", s->version);
		line(out, "kind", s->kind);
		line(out, "url", s->url);
		line(out, "ref", s->ref);
		line(out, "commit", s->commit);
		line(out, "sha256", s->sha256);
		if (s->size)
			buf_printf(out, "size = %zu\n", s->size);
	}
}

static void
write_file(struct buf *out, const struct lock_file *f)
{
	buf_puts(out, "{");
	part(out, "url", f->url);
	/* An archive has no upload time in the standard. */
	if (f->uploaded && f->kind != LOCK_ARCHIVE)
		buf_printf(out, ", upload-time = %s", f->uploaded);
	if (f->size)
		buf_printf(out, ", size = %zu", f->size);
	buf_puts(out, ", hashes = {");
	part(out, "sha256", f->sha256);
	buf_puts(out, " } }");
}

static void
write_files(struct buf *out, const struct lock_package *p)
{
	bool wheels = false;

	for (size_t i = 0; i < p->files.n; i++) {
		if (p->files.at[i].kind != LOCK_WHEEL)
			continue;
		buf_puts(out, wheels ? "    " : "wheels = [\n    ");
		write_file(out, &p->files.at[i]);
		buf_puts(out, ",\n");
		wheels = true;
	}
	if (wheels)
		buf_puts(out, "]\n");
	for (size_t i = 0; i < p->files.n; i++) {
		if (p->files.at[i].kind == LOCK_WHEEL)
			continue;
		buf_puts(out, p->files.at[i].kind == LOCK_SDIST ? "sdist = " : "archive = ");
		write_file(out, &p->files.at[i]);
		buf_putc(out, '\n');
	}
}

const char *
lock_content(struct arena *a, const char *text, size_t n)
{
	const char *line = memmem(text, n, content_key, sizeof(content_key) - 1);
	const char *end = line ? memchr(line + 1, '\n', n - (size_t)(line + 1 - text)) : NULL;
	struct sha256 *digest = sha256_new(a);

	if (!end)
		return NULL;
	sha256_add(digest, text, (size_t)(line - text));
	sha256_add(digest, end, n - (size_t)(end - text));
	return arena_printf(a, "sha256:%s", sha256_end(a, digest));
}

const char *
lock_digest(struct arena *a, const struct lock *l)
{
	return l ? arena_printf(a, "sha256:%s", sha256_hex(a, l->src->text, l->src->size)) : NULL;
}

static void
write_lock(const struct lock *l, const char *content, struct buf *out)
{
	buf_printf(out,
		   "%slock-version = \"1.0\"\ncreated-by = \"stackbuild\"\n"
		   "requires-python = \"==%s.*\"\n",
		   lock_first_line, l->python);
	write_own(l, content, out);
	list_each (p, &l->packages) {

		buf_puts(out, "\n[[packages]]\n");
		line(out, "name", p->name);
		line(out, "version", p->version);
		line(out, "marker", p->marker);
		line(out, "index", p->index);
		write_files(out, p);
		buf_puts(out, "[packages.tool.stackbuild]\n");
		list(out, "roots", &p->roots, false);
		list(out, "required-by", &p->required_by, false);
	}
}

void
lock_write(const struct lock *l, struct buf *out)
{
	struct buf draft = BUF(out->a);

	write_lock(l, "sha256:", &draft);
	write_lock(l, lock_content(out->a, buf_text(&draft), draft.n), out);
}

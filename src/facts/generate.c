/*
 * generate -- writes the knowledge base and the templates as C.
 *
 *     generate knowledge DIR       C source of the tree on stdout
 *     generate check DIR           nothing on stdout; diagnostics on stderr
 *     generate templates FILE...   C source of the texts on stdout, named below the first /
 *     generate text NAME FILE      C source of one text on stdout, as an array of that name
 *
 * Exit status 0, 1 with diagnostics on stderr, 2 for wrong use.  Same files, same bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/list.h"
#include "base/map.h"
#include "base/pattern.h"
#include "base/sha256.h"
#include "base/str.h"
#include "schema.h"
#include "signature.h"

static bool
read_knowledge(struct arena *a, struct diags *ds, const char *dir, struct fact_files *files)
{
	bool ok = facts_read_files(a, ds, dir, files);

	for (size_t i = 0; i < files->n; i++)
		ok &= facts_check(a, ds, &files->at[i], CHECK_PIECE | CHECK_WHOLE);
	return ok && facts_check_references(a, ds, files);
}

/* Writes string literals, one per line; bytes that are not plain become three octal digits. */
static void
put_literal(struct buf *b, const char *s, size_t n)
{
	size_t column = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (!column)
			buf_puts(b, "\t\"");
		if (c == '"' || c == '\\')
			buf_printf(b, "\\%c", c);
		else if (c >= ' ' && c < 0x7f && c != '?')
			buf_putc(b, (char)c);
		else
			buf_printf(b, "\\%03o", c);
		if (++column == 80 || c == '\n' || i + 1 == n) {
			buf_puts(b, "\"\n");
			column = 0;
		}
	}
	if (!n)
		buf_puts(b, "\t\"\"\n");
}

/* --- knowledge, as schema.h describes it --- */

static void
put_bytes(struct buf *b, const unsigned char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_printf(b, "%s%u,", i % 24 ? "" : "\n\t", s[i]);
}

/*
 * Nearly every recipe reads these files and most of those in the top directory. Decompressing 50 KB
 * takes about 0.2 ms, a tenth of the time of a check.
 */
static const char *const usual[] = { "extensions/causal-conv1d.yaml", "extensions/mamba-ssm.yaml",
				     "releases/einops.yaml",          "releases/numpy.yaml",
				     "releases/packaging.yaml",       "releases/triton.yaml" };

static bool
is_compressed(const char *name)
{
	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
		if (!strcmp(name, usual[i]))
			return false;
	return strchr(name, '/') || among(name, "harvest.yaml independent.yaml signatures.yaml");
}

/* With a dictionary, as raw deflate, without zlib's header and checksums. */
static bool
compressed(struct arena *a, struct packed_file *file, const struct buf *dictionary)
{
	uLongf n = compressBound(file->n) + sizeof(uint32_t);
	Bytef *out = arena_alloc(a, n, 1);
	z_stream z = { .next_in = (z_const Bytef *)(uintptr_t)file->block,
		       .avail_in = file->n,
		       .next_out = out,
		       .avail_out = (uInt)n };
	bool ok = deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED,
			       dictionary ? -MAX_WBITS : MAX_WBITS, MAX_MEM_LEVEL,
			       Z_DEFAULT_STRATEGY) == Z_OK &&
		  (!dictionary || deflateSetDictionary(&z, (const Bytef *)dictionary->p,
						       (uInt)dictionary->n) == Z_OK) &&
		  deflate(&z, Z_FINISH) == Z_STREAM_END;

	deflateEnd(&z);
	file->block = out;
	file->z = (uint32_t)z.total_out;
	return ok;
}

/* --- the dictionary: texts that several files have, the most valuable ones at the end --- */

struct shared_text {
	const char *text;
	size_t n, files, last; /* last: number of the last file that has it, plus 1 */
};

static size_t
value_of(const struct shared_text *t)
{
	return t->files * t->n;
}

static int
by_value(const void *px, const void *py)
{
	const struct shared_text *x = px, *y = py;
	size_t vx = value_of(x), vy = value_of(y);

	return vx != vy ? (vx > vy ? 1 : -1) : strcmp(x->text, y->text);
}

static struct buf
dictionary_of(struct arena *a, const struct packed_file *files, const size_t *texts, size_t n)
{
	enum { DICTIONARY_MAX = 32000, FILES_MIN = 2, TEXT_MIN = 4 };
	struct map seen = MAP(a);
	struct shared_texts LIST(struct shared_text *) all = { 0 };
	struct buf out = BUF(a);
	struct shared_text *rows;
	size_t first, kept = 0, bytes = 0;

	for (size_t i = 0; i < n; i++) {
		const char *p = files[i].block, *end = p + files[i].n;

		for (p = texts[i] ? p + texts[i] : end; p < end; p += strlen(p) + 1) {
			struct shared_text *t = map_get(&seen, p);

			if (!t) {
				t = arena_new_of(a, struct shared_text);
				*t = (struct shared_text){ .text = p, .n = strlen(p) + 1 };
				map_put(&seen, p, t);
				list_push(a, &all, t);
			}
			t->files += t->last != i + 1;
			t->last = i + 1;
		}
	}
	rows = arena_array_of(a, struct shared_text, all.n);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->files >= FILES_MIN && all.at[i]->n >= TEXT_MIN)
			rows[kept++] = *all.at[i];
	qsort(rows, kept, sizeof(*rows), by_value);
	for (first = kept; first && bytes + rows[first - 1].n <= DICTIONARY_MAX; first--)
		bytes += rows[first - 1].n;
	for (size_t i = first; i < kept; i++)
		buf_add(&out, rows[i].text, rows[i].n);
	return out;
}

static bool
put_knowledge(struct arena *a, struct buf *b, const struct fact_files *files)
{
	struct packed_file *packed = arena_array_of(a, struct packed_file, files->n);
	size_t *texts = arena_array_of(a, size_t, files->n); /* their offset in a squeezed block */
	struct buf rows = BUF(a), dictionary;

	for (size_t i = 0; i < files->n; i++) {
		packed[i] = facts_pack(a, &files->at[i]);
		if (is_compressed(packed[i].name))
			texts[i] = facts_squeeze(a, &packed[i]);
	}
	dictionary = dictionary_of(a, packed, texts, files->n);
	buf_puts(b, "/* Written by generate from knowledge/; not to be edited. */\n"
		    "#include \"facts/schema.h\"\n\n"
		    "static const unsigned char dictionary[] = {");
	put_bytes(b, (const unsigned char *)dictionary.p, dictionary.n);
	buf_puts(b, "\n};\n\n");
	for (size_t i = 0; i < files->n; i++) {
		struct packed_file p = packed[i];

		if (texts[i] && !compressed(a, &p, &dictionary))
			return false;
		buf_printf(b, "static const _Alignas(uint32_t) unsigned char file_%zu[] = {", i);
		put_bytes(b, p.block, p.z ? p.z : p.n);
		buf_puts(b, "\n};\n\n");
		buf_printf(&rows,
			   "\t{ \"%s\",\n\t  { \"%s\",\n\t    \"%s\",\n\t    \"%s\" },\n"
			   "\t  file_%zu, %u, %u, %u },\n",
			   p.name, p.index.aliases, p.index.on, p.index.paired, i, p.z, p.n,
			   p.words);
	}
	buf_printf(b,
		   "static const struct packed_file files[] = {\n%s};\n\n"
		   "const struct packed_facts packed_facts = {\n"
		   "\t.files = files, .n = %zu, .date = \"%s\",\n"
		   "\t.dictionary = dictionary, .dictionary_n = sizeof(dictionary),\n};\n",
		   buf_text(&rows), files->n, facts_newest_date(a, files));
	return true;
}

/* --- templates: their texts in one compressed block, and a table of places in the plain ones --- */

static bool
put_templates(struct arena *a, struct diags *ds, struct buf *b, char **paths, int n)
{
	struct buf texts = BUF(a), rows = BUF(a);
	struct packed_file all = { 0 };

	for (int i = 0; i < n; i++) {
		const struct source *src =
			fs_read(a, ds, paths[i], FS_READ_MAX, (struct span){ 0 });
		const char *name = strchr(paths[i], '/');

		if (!src)
			return false;
		buf_printf(&rows, "\t{ \"%s\", embedded_texts + %zu, %zu },\n",
			   name ? name + 1 : paths[i], texts.n, src->size);
		buf_add(&texts, src->text, src->size + 1);
	}
	all.block = buf_text(&texts);
	all.n = (uint32_t)texts.n;
	buf_printf(b,
		   "/* Written by generate from templates/; not to be edited. */\n"
		   "#include \"base/embed.h\"\n\n"
		   "char embedded_texts[%zu];\nconst size_t embedded_texts_n = %zu;\n\n"
		   "const struct source embedded_templates[] = {\n%s\t{ NULL, NULL, 0 },\n};\n\n"
		   "const size_t embedded_templates_n = %d;\n",
		   texts.n, texts.n, buf_text(&rows), n);
	buf_puts(&texts, buf_text(&rows));
	buf_printf(b, "const char embedded_templates_digest[] = \"sha256:%s\";\n",
		   sha256_hex(a, buf_text(&texts), texts.n));
	if (!compressed(a, &all, NULL))
		return false;
	buf_printf(b,
		   "\nconst size_t embedded_compressed_n = %u;\n"
		   "const unsigned char embedded_compressed[] = {",
		   all.z);
	put_bytes(b, all.block, all.z);
	buf_puts(b, "\n};\n");
	return true;
}

static bool
put_text(struct arena *a, struct diags *ds, struct buf *b, const char *name, const char *path)
{
	const struct source *src = fs_read(a, ds, path, FS_READ_MAX, (struct span){ 0 });

	if (!src)
		return false;
	buf_printf(b,
		   "/* Written by generate from %s; not to be edited. */\n"
		   "extern const char %s[];\nconst char %s[] = {\n",
		   path, name, name);
	put_literal(b, src->text, src->size);
	buf_puts(b, "};\n");
	return true;
}

static int
run(struct arena *a, struct diags *ds, int argc, char **argv)
{
	struct buf out = BUF(a);
	struct fact_files files = { 0 };
	bool ok;

	if (argc >= 2 && !strcmp(argv[1], "templates")) {
		ok = put_templates(a, ds, &out, argv + 2, argc - 2);
	} else if (argc == 4 && !strcmp(argv[1], "text")) {
		ok = put_text(a, ds, &out, argv[2], argv[3]);
	} else if (argc == 3 && (!strcmp(argv[1], "check") || !strcmp(argv[1], "knowledge"))) {
		ok = read_knowledge(a, ds, argv[2], &files);
		if (ok && !strcmp(argv[1], "knowledge"))
			ok = put_knowledge(a, &out, &files);
	} else {
		fputs("usage: generate knowledge DIR | check DIR | templates FILE... | "
		      "text NAME FILE\n",
		      stderr);
		return 2;
	}
	diags_print(ds, stderr, false);
	if (!ok)
		return 1;
	fwrite(buf_text(&out), 1, out.n, stdout);
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}

int
main(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct diags ds = DIAGS(ds, a);
	int status;

	fact_is_pattern = pattern_is_valid;
	status = run(a, &ds, argc, argv);
	arena_free(a);
	return status;
}

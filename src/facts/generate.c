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

#include "base/buf.h"
#include "base/fs.h"
#include "base/list.h"
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
put_knowledge(struct arena *a, struct buf *b, const struct fact_files *files)
{
	struct fact_block block = facts_pack(a, files);

	buf_printf(
		b,
		"/* Written by generate from knowledge/; not to be edited. */\n"
		"#include \"facts/schema.h\"\n\n"
		"static const struct {\n\tuint32_t words[%zu];\n\tchar texts[%zu];\n} block = {\n"
		"\t{",
		block.n_words, block.n_texts + 1);
	for (size_t i = 0; i < block.n_words; i++)
		buf_printf(b, "%s%u,", i % 16 ? "" : "\n\t", block.words[i]);
	buf_puts(b, "\n\t},\n");
	put_literal(b, block.texts, block.n_texts);
	buf_printf(b,
		   "};\n\n"
		   "const struct fact_table facts_built_in = {\n"
		   "\t(const struct fact_row *)block.words, %zu, \"%s\"\n};\n",
		   files->n, facts_newest_date(a, files));
}

/* --- templates: their texts, and a table of places in them --- */

static bool
put_templates(struct arena *a, struct diags *ds, struct buf *b, char **paths, int n)
{
	struct buf texts = BUF(a), rows = BUF(a), digests = BUF(a);

	for (int i = 0; i < n; i++) {
		const struct source *src =
			fs_read(a, ds, paths[i], FS_READ_MAX, (struct span){ 0 });
		const char *name = strchr(paths[i], '/');

		if (!src)
			return false;
		buf_printf(&rows, "\t{ \"templates/%s\", texts + %zu, %zu },\n",
			   name ? name + 1 : paths[i], texts.n, src->size);
		buf_printf(&digests, "\t\"%s\",\n", sha256_hex(a, src->text, src->size));
		buf_add(&texts, src->text, src->size + 1);
	}
	buf_puts(b, "/* Written by generate from templates/; not to be edited. */\n"
		    "#include \"base/embed.h\"\n\n"
		    "static const char texts[] =\n");
	put_literal(b, buf_text(&texts), texts.n);
	buf_printf(
		b,
		";\n\nconst struct source embedded_templates[] = {\n%s\t{ NULL, NULL, 0 },\n};\n\n"
		"const size_t embedded_templates_n = %d;\n",
		buf_text(&rows), n);
	buf_printf(b, "const char *const embedded_digests[] = {\n%s\tNULL,\n};\n\n",
		   buf_text(&digests));
	buf_puts(&texts, buf_text(&rows));
	buf_printf(b, "const char embedded_templates_digest[] = \"sha256:%s\";\n",
		   sha256_hex(a, buf_text(&texts), texts.n));
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
			put_knowledge(a, &out, &files);
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

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
	return strchr(name, '/') ||
	       among(name, "harvest.yaml independent.yaml nvidia.yaml " FACT_SIGNATURES);
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

/*
 * --- the dictionary: runs of bytes that many files share ---
 *
 * Each round takes one run from each part of the text: the one whose pieces are in the most other
 * files. A piece counts once. The runs of the first rounds are last, nearest to the files.
 * Source: the algorithm COVER of zstd (lib/dictBuilder/cover.c).
 */
enum { DICTIONARY_MAX = 32500, PARTS = 20, RUN = 128, PIECE = 6, HASH_BITS = 22 };

struct pieces {
	struct buf text;       /* all blocks */
	uint32_t *others;      /* by hash: how many other files have the piece */
	uint32_t *last;        /* by hash: the last file that has it, from 1 */
	unsigned char *in_run; /* by hash: how often it is in the run */
};

static size_t
piece_at(const struct pieces *p, size_t at)
{
	uint64_t piece = 0;

	memcpy(&piece, p->text.p + at, PIECE);
	return piece * 0x9e3779b97f4a7c15u >> (64 - HASH_BITS);
}

static void
count_pieces(struct pieces *p, const struct packed_file *file, uint32_t number)
{
	size_t from = p->text.n;

	buf_add(&p->text, file->block, file->n);
	for (size_t at = from; at + PIECE <= p->text.n; at++) {
		size_t piece = piece_at(p, at);

		if (p->last[piece] && p->last[piece] != number)
			p->others[piece]++;
		p->last[piece] = number;
	}
}

/* Finds the most valuable run that begins between two offsets; false if none has any value. */
static bool
best_run(struct pieces *p, size_t from, size_t to, size_t *at)
{
	size_t value = 0, best = 0, first = from;

	for (size_t last = from; last < to; last++) {
		size_t piece = piece_at(p, last);

		value += p->in_run[piece]++ ? 0 : p->others[piece];
		if (last - first > RUN - PIECE) {
			piece = piece_at(p, first++);
			value -= --p->in_run[piece] ? 0 : p->others[piece];
		}
		if (value > best) {
			best = value;
			*at = first;
		}
	}
	while (first < to)
		p->in_run[piece_at(p, first++)]--;
	return best;
}

/* Writes the bytes of a run before `to`, without those at its ends that have no value. */
static char *
take_run(struct pieces *p, size_t at, const char *start, char *to)
{
	size_t end = at + RUN - PIECE + 1, n;

	while (at < end && !p->others[piece_at(p, at)])
		at++;
	while (end > at && !p->others[piece_at(p, end - 1)])
		end--;
	for (size_t i = at; i < end; i++)
		p->others[piece_at(p, i)] = 0;
	n = end - at + PIECE - 1;
	if (n > (size_t)(to - start))
		n = (size_t)(to - start);
	return memcpy(to - n, p->text.p + at, n);
}

static struct buf
dictionary_of(struct arena *a, const struct packed_file *files, const bool *compress, size_t n)
{
	struct pieces p = { .text = BUF(a),
			    .others = arena_array_of(a, uint32_t, (size_t)1 << HASH_BITS),
			    .last = arena_array_of(a, uint32_t, (size_t)1 << HASH_BITS),
			    .in_run = arena_alloc(a, (size_t)1 << HASH_BITS, 1) };
	char *start = arena_alloc(a, DICTIONARY_MAX, 1), *to = start + DICTIONARY_MAX;
	struct buf out = BUF(a);
	size_t part, at = 0;
	bool found = true;

	for (size_t i = 0; i < n; i++)
		if (compress[i])
			count_pieces(&p, &files[i], (uint32_t)i + 1);
	part = p.text.n / PARTS;
	while (found && to > start) {
		found = false;
		for (size_t i = 0; i < PARTS && part > RUN && to > start; i++)
			if (best_run(&p, i * part, (i + 1) * part - RUN, &at)) {
				to = take_run(&p, at, start, to);
				found = true;
			}
	}
	buf_add(&out, to, (size_t)(start + DICTIONARY_MAX - to));
	return out;
}

/* Returns the words that are not in `seen`, and adds them to it. */
static const char *
unseen(struct arena *a, struct map *seen, const char *words)
{
	struct names all = names_split(a, words, ' '), out = { 0 };

	for (size_t i = 0; *words && i < all.n; i++)
		if (!map_get(seen, all.at[i])) {
			map_put(seen, all.at[i], seen);
			list_push(a, &out, all.at[i]);
		}
	return names_join(a, &out, " ");
}

/* Adds the block of a file to those of `stackbuild`, or sets it apart with its sizes before it. */
static bool
put_block(const struct packed_file *p, struct buf *rows, struct buf *blocks, struct buf *apart)
{
	const uint32_t sizes[] = { p->z, p->n, p->words };

	if (!strcmp(p->name, FACT_SIGNATURES)) {
		buf_puts(rows, "\t{ FACT_APART, 0, 0, 0 },\n");
		buf_add(apart, (const char *)sizes, sizeof(sizes));
		buf_add(apart, p->block, p->z);
		return true;
	}
	while (!p->z && blocks->n % sizeof(uint32_t))
		buf_putc(blocks, '\0');
	buf_printf(rows, "\t{ %zu, %u, %u, %u },\n", blocks->n, p->z, p->n, p->words);
	buf_add(blocks, p->block, p->z ? p->z : p->n);
	if (p->z <= UINT16_MAX && p->n <= UINT16_MAX && p->words <= UINT16_MAX)
		return true;
	fprintf(stderr, "generate: %s is larger than 64 KiB: split it\n", p->name);
	return false;
}

static bool
put_knowledge(struct arena *a, struct buf *b, const struct fact_files *files)
{
	struct packed_file *packed = arena_array_of(a, struct packed_file, files->n);
	bool *compress = arena_array_of(a, bool, files->n);
	struct buf rows = BUF(a), texts = BUF(a), blocks = BUF(a), apart = BUF(a), dictionary;
	struct map paired = MAP(a);

	for (size_t i = 0; i < files->n; i++) {
		packed[i] = facts_pack(a, &files->at[i]);
		compress[i] = is_compressed(packed[i].name);
		if (compress[i])
			facts_squeeze(a, &packed[i]);
	}
	dictionary = dictionary_of(a, packed, compress, files->n);
	for (size_t i = 0; i < files->n; i++) {
		struct packed_file p = packed[i];

		if (compress[i] && !compressed(a, &p, &dictionary))
			return false;
		buf_printf(&texts, "%s%c%s%c%s%c%s%c", p.name, 0, p.index.aliases, 0, p.index.on, 0,
			   unseen(a, &paired, p.index.paired), 0);
		if (!put_block(&p, &rows, &blocks, &apart))
			return false;
	}
	buf_puts(b, "/* Written by generate from knowledge/; not to be edited. */\n"
		    "#include \"facts/schema.h\"\n\n"
		    "static const unsigned char dictionary[] = {");
	put_bytes(b, (const unsigned char *)dictionary.p, dictionary.n);
	/* It has a section of its own, so that the linker omits it from `stackbuild`. */
	buf_puts(b, "\n};\n\n__attribute__((section(\".rodata.signatures\")))\n"
		    "const unsigned char packed_signatures[] = {");
	put_bytes(b, (const unsigned char *)apart.p, apart.n);
	buf_puts(b, "\n};\n\nstatic const _Alignas(uint32_t) unsigned char blocks[] = {");
	put_bytes(b, (const unsigned char *)blocks.p, blocks.n);
	buf_puts(b, "\n};\n\nstatic const char texts[] = {");
	put_bytes(b, (const unsigned char *)texts.p, texts.n);
	buf_printf(b,
		   "\n};\n\nstatic const struct packed_row files[] = {\n%s};\n\n"
		   "const struct packed_facts packed_facts = {\n"
		   "\t.files = files, .n = %zu, .date = \"%s\",\n"
		   "\t.texts = texts, .blocks = (const char *)blocks,\n"
		   "\t.dictionary = dictionary, .dictionary_n = sizeof(dictionary),\n};\n",
		   buf_text(&rows), files->n, facts_newest_date(a, files));
	return true;
}

/* --- templates: their texts, and a table of places in them --- */

static bool
put_templates(struct arena *a, struct diags *ds, struct buf *b, char **paths, int n)
{
	struct buf texts = BUF(a), rows = BUF(a);

	for (int i = 0; i < n; i++) {
		const struct source *src =
			fs_read(a, ds, paths[i], FS_READ_MAX, (struct span){ 0 });
		const char *name = strchr(paths[i], '/');

		if (!src)
			return false;
		buf_printf(&rows, "\t{ \"templates/%s\", texts + %zu, %zu },\n",
			   name ? name + 1 : paths[i], texts.n, src->size);
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

/*
 * libFuzzer: recipes, with a base recipe and a --set, separated by NUL:
 *
 *     recipe [NUL base.yaml [NUL --set option]]
 *
 * Properties: there is no result if and only if there was an error; the output is
 * bounded; the canonical recipe is printable ASCII, has the digest, and is an
 * equivalent recipe; the fixed text is YAML.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/recipe_canonical.h"
#include "base/fix.h"
#include "base/sha256.h"
#include "base/str.h"
#include "base/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct files {
	struct source main, base;
};

static void
must(bool holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "does not hold: %s\n", what);
		abort();
	}
}

static const struct source *
open_text(void *ctx, struct arena *a, struct diags *ds, const char *path, struct span at)
{
	const struct files *files = ctx;

	(void)a;
	if (!strcmp(path, "r.yaml"))
		return &files->main;
	if (!strcmp(path, "base.yaml"))
		return &files->base;
	diag_at(ds, E_FILE, at, "no such file");
	return NULL;
}

static const struct recipes *
load(struct arena *a, struct diags *ds, const struct facts *f, struct files *files, const char *set)
{
	const struct recipe_options o = {
		.path = "r.yaml", .sets = &set, .nsets = set != NULL, .application = true
	};
	const struct recipes *all;
	unsigned before = ds->errors;

	all = recipes_load_from(a, ds, f, &o, open_text, files);
	must((all != NULL) == (ds->errors == before), "a result, or an error");
	return all;
}

static void
check_printed(const struct diags *ds)
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	must(diags_print(ds, out, false), "diagnostics are printed");
	fclose(out);
	must(n <= DIAG_BYTES_MAX, "at most so many bytes of them");
	for (size_t i = 0; i < n; i++)
		must((unsigned char)text[i] >= ' ' || text[i] == '\n' || text[i] == '\t',
		     "no control characters in them");
	free(text);
}

/* A marker can be written only in an extension's short form. */
static bool
has_marker(const struct recipe *r)
{
	for (size_t i = 0; i < r->extensions.n; i++)
		if (r->extensions.at[i].marker.s)
			return true;
	return false;
}

static void
check_recipe(struct arena *a, struct diags *ds, const struct facts *f, const struct recipe *r)
{
	const char *text = canonical_of(a, r);
	struct files files = { .main = { "r.yaml", text, strlen(text) } };
	const struct recipes *again;

	for (const char *p = text; *p; p++)
		must(*p >= ' ' && *p < 0x7f, "canonical recipes are printable");
	must(!strcmp(sha256_hex(a, text, strlen(text)), r->digest + 7), "the digest is its own");
	if (has_marker(r))
		return;
	again = load(a, ds, f, &files, NULL);
	must(again && again->n == 1 && !strcmp(again->at[0]->digest, r->digest),
	     "the canonical recipe asks for the same");
}

/* Returns the text up to the next NUL; *rest is the text after it. */
static const char *
cut(struct arena *a, const char *p, size_t *n, size_t *len)
{
	const char *nul = memchr(p, '\0', *n);

	*len = nul ? (size_t)(nul - p) : *n;
	*n -= *len + (nul != NULL);
	return arena_copy(a, p, *len);
}

static bool
is_yaml(struct arena *a, const char *text, size_t size)
{
	const struct source src = { "r.yaml", text, size };
	struct diags ds;

	ds = DIAGS(ds, a);
	return yaml_read(a, &ds, &src, YAML_LIMITS_DEFAULT) != NULL;
}

static void
check_fixed(struct arena *a, const struct diags *ds, struct files *files)
{
	struct fix_files texts = { 0 };
	const struct names none = { 0 };
	struct fixes fixes;
	bool done = false, changed;

	list_push(a, &texts, (struct fix_file){ &files->main, files->main.text, files->main.size });
	list_push(a, &texts, (struct fix_file){ &files->base, files->base.text, files->base.size });
	fixes = fix_round(a, ds, &none, &texts);
	for (size_t i = 0; i < fixes.n; i++) {
		done |= fixes.at[i].state == FIX_DONE;
		must((fixes.at[i].state == FIX_REFUSED) == (fixes.at[i].why != NULL),
		     "a reason where a fix is refused");
	}
	changed = texts.at[0].text != files->main.text || texts.at[1].text != files->base.text;
	must(done == changed, "what is done changes a text");
	for (size_t i = 0; i < texts.n; i++)
		must(texts.at[i].text == texts.at[i].src->text ||
			     is_yaml(a, texts.at[i].text, texts.at[i].size),
		     "YAML stays YAML");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct arena *forever;
	static const struct facts *facts;
	struct arena *a = arena_new();
	struct files files = { .main.path = "r.yaml", .base.path = "base.yaml" };
	const struct recipes *all;
	const char *p = (const char *)data, *set = NULL;
	size_t n = size, len;
	struct diags ds;

	if (!forever) {
		forever = arena_new();
		ds = DIAGS(ds, forever);
		facts = facts_load(forever, &ds, NULL);
		must(facts != NULL, "the facts can be read");
	}
	ds = DIAGS(ds, a);
	files.main.text = cut(a, p, &n, &files.main.size);
	files.base.text = cut(a, p + size - n, &n, &files.base.size);
	if (n)
		set = cut(a, p + size - n, &n, &len);
	all = load(a, &ds, facts, &files, set);
	check_printed(&ds);
	check_fixed(a, &ds, &files);
	for (size_t i = 0; all && i < all->n && i < 8; i++)
		check_recipe(a, &ds, facts, all->at[i]);
	arena_free(a);
	return 0;
}

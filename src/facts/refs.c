#include "internal.h"

#include <string.h>

#include "base/fs.h"
#include "base/list.h"
#include "base/str.h"
#include "python/python.h"

/* The kinds of entries that a fact can refer to. */
enum kind { CAPABILITY, OS, SERIES, EXTENSION, PACKAGE, MODAL_GPU, BUILDER, CATEGORY, MARK, KINDS };

static const struct {
	enum fact_type type;            /* type of the fields that refer to them */
	const char *what, *file, *keys; /* the names are the keys of that map in that file */
} kinds[KINDS] = {
	[CAPABILITY] = { F_CC, "compute capability", "gpus.yaml", "capabilities" },
	[OS] = { F_OS, "operating system", "os.yaml", "releases" },
	[SERIES] = { F_PYTHON, "Python series", "python.yaml", "series" },
	[EXTENSION] = { F_EXTENSION, "extension", NULL, NULL },
	[PACKAGE] = { F_PACKAGE, "package", NULL, NULL },
	[MODAL_GPU] = { F_MODAL_GPU, "GPU of Modal", "modal.yaml", "gpus" },
	[CATEGORY] = { F_CATEGORY, "category", "signatures.yaml", "categories" },
	[MARK] = { F_MARK, "mark", "signatures.yaml", "marks" },
	[BUILDER] = { F_BUILDER, "image builder of Modal", "modal.yaml", "builders" },
};

bool
facts_defines_names(const char *file)
{
	for (size_t k = 0; k < KINDS; k++)
		if (kinds[k].file && !strcmp(kinds[k].file, file))
			return true;
	return false;
}

bool
facts_removes_names(const struct fact_file *over)
{
	for (size_t k = 0; k < KINDS; k++) {
		const struct node *names = kinds[k].file && !strcmp(kinds[k].file, over->name) ?
						   node_get(over->root, kinds[k].keys) :
						   NULL;

		if (names && names->kind != NODE_MAP)
			return true;
		for (size_t i = 0; names && i < names->n; i++)
			if (node_is_null(names->pairs[i].value))
				return true;
	}
	return false;
}

struct refs {
	struct arena *a;
	struct diags *ds;
	struct names names[KINDS];
	struct names told[KINDS]; /* unknown names, each reported once */
	bool ok;
};

static void
refer(struct refs *r, enum kind kind, const char *name, struct span at)
{
	const struct names *known = &r->names[kind];
	const char *near;
	struct diag *d;

	if (names_have(known, name))
		return;
	r->ok = false;
	if (names_have(&r->told[kind], name))
		return;
	list_push(r->a, &r->told[kind], name);
	d = diag_at(r->ds, E_KNOWLEDGE_NAMES, at, "the knowledge base has no %s `%.200s`",
		    kinds[kind].what, name);
	near = str_nearest(name, known->at, known->n);
	if (at.src && !at.src->size && kinds[kind].file)
		diag_help(d, "keep the entry in %s: an overlay of that file removes it",
			  kinds[kind].file);
	else if (near)
		diag_help(d, "write `%s`", near);
	else if (kinds[kind].file)
		diag_help(d, "add it to %s", kinds[kind].file);
}

static enum kind
kind_of(enum fact_type type)
{
	enum kind k = 0;

	while (k < KINDS && kinds[k].type != type)
		k++;
	return k;
}

static void
refer_words(struct refs *r, enum kind kind, const struct node *n)
{
	if (n->kind == NODE_LIST)
		for (size_t i = 0; i < n->n; i++)
			refer_words(r, kind, n->items[i]);
	if (n->kind != NODE_SCALAR || kind == KINDS)
		return;
	for (const char *s = n->s; *(s += strspn(s, " "));) {
		size_t size = strcspn(s, " ");
		struct span at = n->at;

		/* For a plain text on one line, uses the word's own place. */
		if (n->plain && at.width == n->n) {
			at.col += (uint32_t)(s - n->s);
			at.width = (uint32_t)size;
		}
		refer(r, kind, arena_copy(r->a, s, size), at);
		s += size;
	}
}

/* Checks every name in a map, by the types of its fields. */
static void
refer_map(struct refs *r, const struct node *map, const struct fact_field *f)
{
	for (; f && map->kind == NODE_MAP && f->key; f++) {
		const struct node *x = node_get(map, f->key);
		bool keyed = f->form == TABLE || f->form == GROUPS;
		enum kind of_keys = keyed ? kind_of(f->keys) : KINDS;

		if (!x)
			continue;
		if (!f->fields)
			refer_words(r, kind_of(f->type), x);
		else if (f->form == GROUP)
			refer_map(r, x, f->fields);
		for (size_t i = 0; x->kind == NODE_MAP && keyed && i < x->n; i++) {
			if (of_keys != KINDS)
				refer(r, of_keys, x->pairs[i].key, x->pairs[i].key_at);
			if (f->fields)
				refer_map(r, x->pairs[i].value, f->fields);
		}
		for (size_t i = 0; x->kind == NODE_LIST && f->form == ROWS && i < x->n; i++)
			refer_map(r, x->items[i], f->fields);
	}
}

static bool
is_extension(const char *file)
{
	return starts_with(file, "extensions/");
}

static void
collect(struct refs *r, const struct fact_file *file)
{
	if (is_extension(file->name)) {
		const char *name = fs_stem(r->a, file->name);

		list_push(r->a, &r->names[EXTENSION], name);
		list_push(r->a, &r->names[PACKAGE], name);
	}
	if (starts_with(file->name, "packages/") || starts_with(file->name, "releases/"))
		list_push(r->a, &r->names[PACKAGE], fs_stem(r->a, file->name));
	for (size_t k = 0; k < KINDS; k++) {
		const struct node *names = NULL;

		if (kinds[k].file && !strcmp(kinds[k].file, file->name))
			names = node_get(file->root, kinds[k].keys);
		for (size_t i = 0; names && i < names->n; i++)
			list_push(r->a, &r->names[k], names->pairs[i].key);
	}
}

/* --- inside a file of an extension --- */

static bool
holds_for_any(struct arena *a, const struct node *releases, const char *spec)
{
	const struct specifiers *s = specifiers_parse(a, spec);

	for (size_t i = 0; s && i < releases->n; i++) {
		const struct version *v = version_parse(a, releases->pairs[i].key);

		if (v && specifiers_match(s, v))
			return true;
	}
	return false;
}

/* A range must contain at least one release. */
static void
check_ranges(struct refs *r, const struct node *root, const char *key)
{
	const struct node *rows = node_get(root, key), *releases = node_get(root, "releases");
	const struct node none = { .kind = NODE_MAP };
	struct arena *scratch = arena_new();

	if (!releases || releases->kind != NODE_MAP)
		releases = &none;
	if (rows && rows->n > FACT_RANGES_MAX) {
		r->ok = false;
		diag_at(r->ds, E_KNOWLEDGE, rows->items[FACT_RANGES_MAX]->at,
			"more than %d entries in `%s`", FACT_RANGES_MAX, key);
	}
	for (size_t i = 0; rows && i < rows->n; i++) {
		struct text spec = node_text(node_get(rows->items[i], "versions"));

		if (holds_for_any(scratch, releases, spec.s))
			continue;
		r->ok = false;
		diag_help(diag_at(r->ds, E_KNOWLEDGE_NAMES, spec.at,
				  "no release is in the range `%.200s`", spec.s),
			  "correct it, or add the releases");
	}
	arena_free(scratch);
}

/* Checks that a name in a condition is a variable or a package. */
static void
check_rule_names(struct refs *r, const struct node *rules)
{
	for (size_t i = 0; rules && i < rules->n; i++) {
		const struct node *when = node_get(rules->pairs[i].value, "when");

		for (size_t k = 0; when && k < when->n; k++) {
			const struct pair *p = &when->pairs[k];
			struct rule_condition c;

			if (rule_condition_parse(r->a, p->key, p->value->s, &c))
				continue;
			if (c.variable == VAR_PACKAGE)
				refer(r, PACKAGE, name_normalize(r->a, p->key), p->key_at);
			if (c.reference.name && c.reference.variable == VAR_PACKAGE)
				refer(r, PACKAGE, name_normalize(r->a, c.reference.name),
				      p->value->at);
		}
	}
}

/* Checks that each name belongs to only one extension. */
static void
check_aliases(struct refs *r, const struct node *aliases)
{
	for (size_t i = 0; aliases && i < aliases->n; i++) {
		const char *name = name_normalize(r->a, aliases->items[i]->s);

		if (names_have(&r->names[EXTENSION], name)) {
			r->ok = false;
			diag_at(r->ds, E_KNOWLEDGE_NAMES, aliases->items[i]->at,
				"`%.200s` is the name of another extension", name);
		}
		list_push(r->a, &r->names[EXTENSION], name);
	}
}

static void
check_file(struct refs *r, const struct fact_file *file)
{
	refer_map(r, file->root, facts_fields(file->name));
	check_rule_names(r, node_get(file->root, "rules"));
	if (is_extension(file->name)) {
		check_ranges(r, file->root, "ranges");
		check_ranges(r, file->root, "wheels");
	}
}

bool
facts_check_references(struct arena *a, struct diags *ds, const struct fact_files *files)
{
	static const char *const always[] = { "torch", "cuda", "python" };
	struct refs r = { .a = a, .ds = ds, .ok = true };

	for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++)
		list_push(a, &r.names[PACKAGE], always[i]);
	for (size_t i = 0; i < files->n; i++)
		collect(&r, &files->at[i]);
	/* Files of an overlay come last, so that the errors that they cause are reported there. */
	for (int over = 0; over < 2; over++)
		for (size_t i = 0; i < files->n; i++)
			if (files->at[i].over == over)
				check_file(&r, &files->at[i]);
	for (int over = 0; over < 2; over++)
		for (size_t i = 0; i < files->n; i++)
			if (files->at[i].over == over && is_extension(files->at[i].name))
				check_aliases(&r, node_get(files->at[i].root, "aliases"));
	return r.ok;
}

/* Returns "2026-11-20" from "read ", "run " or "seen ": the last day in the file's sources. */
static const char *
newest_in(struct arena *a, const char *s, const char *newest)
{
	static const char *const words[] = { "read ", "run ", "seen " };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		for (const char *p = s; (p = strstr(p, words[i])); p++) {
			const char *day = p + strlen(words[i]);
			const char *copy = strlen(day) < 10 ? "" : arena_copy(a, day, 10);

			if (fact_fits(a, F_DATE, copy) && (!newest || strcmp(copy, newest) > 0))
				newest = copy;
		}
	return newest;
}

static const char *
newest_below(struct arena *a, const struct node *n, bool source, const char *newest)
{
	if (n->kind == NODE_SCALAR)
		return source ? newest_in(a, n->s, newest) : newest;
	for (size_t i = 0; i < n->n; i++) {
		const char *key = n->kind == NODE_MAP ? n->pairs[i].key : "";

		newest = newest_below(a, n->kind == NODE_MAP ? n->pairs[i].value : n->items[i],
				      source || starts_with(key, "source"), newest);
	}
	return newest;
}

const char *
facts_newest_date(struct arena *a, const struct fact_files *files)
{
	const char *newest = NULL;

	for (size_t i = 0; i < files->n; i++)
		newest = newest_below(a, files->at[i].root, false, newest);
	return newest;
}

#include "internal.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "schema.h"

/* --- the tree --- */

static const struct facts *
facts_of(struct arena *a, const struct fact_tree *over, const char *date)
{
	struct facts *f = arena_new_of(a, struct facts);

	*f = (struct facts){ .a = a, .tree = &knowledge_tree, .over = over, .date = date };
	f->read = arena_new_of(a, struct facts_read);
	f->read->versions = f->read->specifiers = f->read->package_releases = MAP(a);
	return f;
}

/* Each file as it is with what is laid over it. */
static bool
lay_over(struct arena *a, struct diags *ds, const struct fact_files *over, struct fact_files *files)
{
	bool ok = true;

	for (size_t i = 0; i < over->n; i++) {
		const struct fact_file *mine = &over->at[i];
		struct fact under = fact_get(fact_root(&knowledge_tree), mine->name);
		struct fact_file merged = *mine;
		struct node nothing = { .kind = NODE_MAP };

		if (!facts_check(a, ds, mine, CHECK_PIECE)) {
			ok = false;
			continue;
		}
		if (node_is_null(mine->root))
			continue;
		merged.root = facts_merge(a, fact_is(under) ? fact_unpack(a, under) : &nothing,
					  mine->root);
		ok &= facts_check(a, ds, &merged, CHECK_WHOLE);
		list_push(a, files, merged);
	}
	return ok;
}

const struct facts *
facts_with_overlay(struct arena *a, struct diags *ds, const struct fact_files *over)
{
	struct fact_files files = { 0 };
	const char *date = knowledge_tree.texts + knowledge_tree.date, *newer;
	size_t nwords, ntexts;

	if (!lay_over(a, ds, over, &files) ||
	    !facts_check_references(a, ds, &files, &knowledge_tree))
		return NULL;
	for (size_t i = 0; i < files.n; i++)
		if (starts_with(files.at[i].name, "extensions/"))
			files.at[i].root = facts_apply_ranges(a, files.at[i].root);
	newer = facts_newest_date(a, &files);
	if (newer && strcmp(newer, date) > 0)
		date = newer;
	return facts_of(a, fact_pack(a, &files, NULL, &nwords, &ntexts), date);
}

const struct facts *
facts_load(struct arena *a, struct diags *ds, const char *overlay)
{
	struct fact_files over = { 0 }, files = { 0 };

	if (!overlay)
		return facts_of(a, NULL, knowledge_tree.texts + knowledge_tree.date);
	if (facts_read_files(a, ds, overlay, &over))
		return facts_with_overlay(a, ds, &over);
	/* What is wrong with the others is told as well, but for what they name: it may be in
	 * the file that was not read. */
	lay_over(a, ds, &over, &files);
	return NULL;
}

const char *
facts_date(const struct facts *f)
{
	return f->date;
}

struct fact
facts_file(const struct facts *f, const char *name)
{
	struct fact over = { f->over, 0 };

	if (f->over)
		over = fact_get(fact_root(f->over), name);
	return fact_is(over) ? over : fact_get(fact_root(f->tree), name);
}

/* Both are in the order of the names. */
struct names
facts_files(const struct facts *f)
{
	struct fact root = fact_root(f->tree), over = { f->over, 0 };
	struct names names = { 0 };
	size_t i = 0, k = 0;

	if (f->over)
		over = fact_root(f->over);
	while (i < fact_count(root) || k < fact_count(over)) {
		int which = i == fact_count(root) ? 1 :
			    k == fact_count(over) ? -1 :
						    strcmp(fact_key(root, i), fact_key(over, k));

		list_push(f->a, &names, which <= 0 ? fact_key(root, i) : fact_key(over, k));
		i += which <= 0;
		k += which >= 0;
	}
	return names;
}

/* --- where a claim comes from --- */

struct trail
trail_of(struct fact file)
{
	return (struct trail){ .at = { file }, .n = 1 };
}

struct trail
trail_to(struct trail t, struct fact map)
{
	if (t.n == sizeof(t.at) / sizeof(*t.at))
		BUG("a claim nested deeper than any file has them");
	t.at[t.n++] = map;
	return t;
}

static struct fact
innermost(struct trail t, const char *key)
{
	struct fact found = { t.at[0].t, 0 };

	for (unsigned i = t.n; i-- && !fact_is(found);)
		found = fact_get(t.at[i], key);
	return found;
}

bool
trail_verified(struct trail t)
{
	const char *s = fact_text(innermost(t, "unverified"));

	return !s || !strcmp(s, "false");
}

static void
add_source(struct buf *b, bool *any, struct fact sources, const char *s)
{
	const char *whole = s ? fact_text_of(sources, s) : NULL;

	if (!s)
		return;
	if (*any)
		buf_puts(b, "; ");
	buf_puts(b, whole ? whole : s);
	*any = true;
}

static const char *
sources_text(const struct facts *f, struct trail t, size_t most)
{
	struct fact source = innermost(t, "source"), sources = fact_get(t.at[0], "sources");
	struct fact here = t.at[t.n - 1];
	const char *why = fact_text(innermost(t, "unverified"));
	size_t n = fact_count(source);
	struct buf b = BUF(f->a);
	bool any = false;

	/* Put together without printf: every claim that is read passes here. */
	buf_puts(&b, fact_path(here));
	buf_putc(&b, ':');
	buf_uint(&b, fact_line(here));
	buf_puts(&b, " (");
	add_source(&b, &any, sources, fact_text(source));
	for (size_t i = 0; i < n && i < most; i++)
		add_source(&b, &any, sources, fact_text(fact_at(source, i)));
	if (n > most) {
		buf_puts(&b, ", and ");
		buf_uint(&b, n - most);
		buf_puts(&b, " more");
	}
	if (why && strcmp(why, "false") != 0) {
		buf_puts(&b, "; not verified");
		buf_puts(&b, strcmp(why, "true") ? ": " : "");
		buf_puts(&b, strcmp(why, "true") ? why : "");
	}
	buf_putc(&b, ')');
	return buf_text(&b);
}

const char *
trail_source(const struct facts *f, struct trail t)
{
	return sources_text(f, t, 1);
}

const char *
trail_sources(const struct facts *f, struct trail t)
{
	return sources_text(f, t, SIZE_MAX);
}

/* --- small readers --- */

struct fact
fact_version(const struct facts *f, struct fact map, const char *version, const char **key)
{
	const struct version *want;
	struct fact exact = fact_get(map, version);

	*key = version;
	if (fact_is(exact))
		return exact;
	want = version_parse(f->a, version);
	for (size_t i = 0; want && i < fact_count(map); i++) {
		const struct version *v = version_parse(f->a, fact_key(map, i));

		if (v && !version_cmp(v, want)) {
			*key = fact_key(map, i);
			return fact_at(map, i);
		}
	}
	return (struct fact){ map.t, 0 };
}

enum tri
fact_tri(struct fact x)
{
	const char *s = fact_text(x);

	return !s ? TRI_UNKNOWN : !strcmp(s, "true") ? TRI_YES : TRI_NO;
}

const struct version *
facts_version(const struct facts *f, const char *text)
{
	const struct version *v = map_get(&f->read->versions, text);

	if (!v && (v = version_parse(f->a, text)))
		map_put(&f->read->versions, arena_strdup(f->a, text), (void *)(uintptr_t)v);
	return v;
}

const struct specifiers *
facts_specifiers(const struct facts *f, const char *text)
{
	const struct specifiers *s = map_get(&f->read->specifiers, text);

	if (!s && (s = specifiers_parse(f->a, text)))
		map_put(&f->read->specifiers, arena_strdup(f->a, text), (void *)(uintptr_t)s);
	return s;
}

bool
fact_in_range(const struct facts *f, const char *spec, const char *version)
{
	const struct specifiers *s = spec ? facts_specifiers(f, spec) : NULL;
	const struct version *v =
		s ? facts_version(f, arena_copy(f->a, version, strcspn(version, "+"))) : NULL;

	return v && specifiers_match(s, v, PRE_YES);
}

struct names
fact_items(struct arena *a, struct fact x)
{
	struct names names = { 0 };

	if (fact_text(x))
		list_push(a, &names, fact_text(x));
	for (size_t i = 0; i < fact_count(x); i++)
		if (fact_text(fact_at(x, i)))
			list_push(a, &names, fact_text(fact_at(x, i)));
	return names;
}

#include "internal.h"

#include <string.h>

#include "base/buf.h"

/* A node of a file of knowledge. */
struct claim {
	struct node node;
	const struct claim *up; /* the map or list round it; NULL: it is the file */
};

struct unpacker {
	struct arena *a;
	const struct source *src; /* nodes of one file share it */
	const uint32_t *w;        /* the next word */
	struct claim *next;       /* room for the next node */
};

static const struct node *
unpack(struct unpacker *u, const struct claim *up)
{
	struct claim *c = u->next++;
	struct node *n = &c->node;
	uint32_t head = *u->w++;

	c->up = up;
	n->kind = head & 3;
	n->at = (struct span){ u->src, head >> 2, 1, 1 };
	n->n = *u->w++;
	if (n->kind == NODE_SCALAR) {
		n->s = packed_facts.texts + n->n;
		n->n = strlen(n->s);
	} else if (n->kind == NODE_MAP) {
		n->pairs = arena_array_of(u->a, struct pair, n->n);
		for (size_t i = 0; i < n->n; i++) {
			struct pair *p = &n->pairs[i];

			p->key = packed_facts.texts + *u->w++;
			p->value = unpack(u, c);
			p->key_at = p->value->at;
		}
	} else {
		n->items = arena_array_of(u->a, const struct node *, n->n);
		for (size_t i = 0; i < n->n; i++)
			n->items[i] = unpack(u, c);
	}
	return n;
}

/* The built-in file at that word. */
static const struct node *
unpack_file(struct arena *a, const uint32_t *at)
{
	struct source *src = arena_new_of(a, struct source);
	struct unpacker u = { a, src, at + 3, arena_array_of(a, struct claim, at[2]) };

	src->path = arena_printf(a, "knowledge/%s", packed_facts.texts + *at);
	src->text = "";
	return unpack(&u, NULL);
}

/* A copy of a merged file whose nodes know what is round them; what is null is left out. */
static const struct node *
adopt(struct arena *a, const struct node *x, const struct claim *up)
{
	struct claim *c = arena_new_of(a, struct claim);
	struct node *n = &c->node;

	*c = (struct claim){ *x, up };
	if (x->kind == NODE_SCALAR)
		return n;
	n->n = 0;
	n->pairs = arena_array_of(a, struct pair, x->kind == NODE_MAP ? x->n : 0);
	n->items = arena_array_of(a, const struct node *, x->kind == NODE_LIST ? x->n : 0);
	for (size_t i = 0; i < x->n; i++) {
		const struct node *value = fact_at(x, i);

		if (node_is_null(value))
			continue;
		value = adopt(a, value, c);
		if (x->kind == NODE_LIST)
			n->items[n->n++] = value;
		else
			n->pairs[n->n++] = (struct pair){ x->pairs[i].key, value->at, value };
	}
	return n;
}

const struct node *
fact_round(const struct node *x)
{
	return &((const struct claim *)x)->up->node;
}

/* --- where a claim comes from --- */

static const struct node *
innermost(const struct node *claim, const char *key)
{
	const struct node *found = NULL;

	for (const struct claim *c = (const struct claim *)claim; c && !found; c = c->up)
		found = node_get(&c->node, key);
	return found;
}

static const char *
sources_text(const struct facts *f, const struct node *claim, size_t most)
{
	const struct node *sources = innermost(claim, "sources");
	struct names all = fact_items(f->a, innermost(claim, "source"));
	const char *why = fact_text(innermost(claim, "unverified"));
	struct buf b = BUF(f->a);

	/* Put together without printf: every claim that is read passes here. */
	buf_puts(&b, claim->at.src->path);
	buf_putc(&b, ':');
	buf_uint(&b, claim->at.line);
	buf_puts(&b, " (");
	for (size_t i = 0; i < all.n && i < most; i++) {
		const char *whole = fact_text_of(sources, all.at[i]);

		buf_puts(&b, i ? "; " : "");
		buf_puts(&b, whole ? whole : all.at[i]);
	}
	if (all.n > most) {
		buf_puts(&b, ", and ");
		buf_uint(&b, all.n - most);
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
fact_source(const struct facts *f, const struct node *claim)
{
	return sources_text(f, claim, 1);
}

const char *
fact_sources(const struct facts *f, const struct node *claim)
{
	return sources_text(f, claim, SIZE_MAX);
}

/* --- files --- */

/* The built-in files, none of them read yet. */
static struct facts *
built_in(struct arena *a)
{
	struct facts *f = arena_new_of(a, struct facts);
	const uint32_t *w = packed_facts.words;

	*f = (struct facts){ .a = a, .date = packed_facts.date };
	f->read = arena_new_of(a, struct facts_read);
	f->read->versions = f->read->specifiers = f->read->package_releases = MAP(a);
	f->read->extension_of = f->read->extensions = MAP(a);
	for (size_t i = 0; i < packed_facts.files; i++, w += 3 + w[1])
		list_push(a, &f->read->files,
			  (struct fact_file){ .name = packed_facts.texts + *w, .packed = w });
	return f;
}

/* The file of that name, unpacked; or where its name belongs among the others. */
static struct fact_file *
find_file(const struct facts *f, const char *name, bool *found)
{
	struct fact_files *files = &f->read->files;
	size_t i = 0, end = files->n;

	for (*found = false; i < end && !*found;) {
		size_t middle = (i + end) / 2;
		int order = strcmp(files->at[middle].name, name);

		*found = !order;
		i = order < 0 ? middle + 1 : order ? i : middle;
		end = order > 0 ? middle : end;
	}
	if (*found && !files->at[i].root)
		files->at[i].root = unpack_file(f->a, files->at[i].packed);
	return files->at + i;
}

const struct node *
facts_file(const struct facts *f, const char *name)
{
	bool found;
	const struct fact_file *file = find_file(f, name, &found);

	return found ? file->root : NULL;
}

/* Merges a file of an overlay with the file that it is laid over. */
static bool
lay_over(const struct facts *f, struct diags *ds, const struct fact_file *mine)
{
	struct fact_files *files = &f->read->files;
	struct fact_file merged = *mine, *at;
	struct node nothing = { .kind = NODE_MAP };
	bool found, ok;
	size_t i;

	if (!facts_check(f->a, ds, mine, CHECK_PIECE))
		return false;
	if (node_is_null(mine->root))
		return true;
	at = find_file(f, mine->name, &found);
	i = (size_t)(at - files->at);
	merged.root = facts_merge(f->a, found ? at->root : &nothing, mine->root);
	merged.over = true;
	ok = facts_check(f->a, ds, &merged, CHECK_WHOLE);
	if (!found) {
		list_push(f->a, files, merged);
		memmove(&files->at[i + 1], &files->at[i], (files->n - 1 - i) * sizeof(*files->at));
	}
	files->at[i] = merged;
	return ok;
}

const struct facts *
facts_with_overlay(struct arena *a, struct diags *ds, const struct fact_files *over, bool ok)
{
	struct facts *f = built_in(a);
	struct fact_files *files = &f->read->files;
	const char *newest;

	/* What is wrong with those that could be read is told in any case, but for what they
	 * name: it may be in another one. */
	for (size_t i = 0; i < over->n; i++)
		ok &= lay_over(f, ds, &over->at[i]);
	for (size_t i = 0; ok && i < files->n; i++)
		facts_file(f, files->at[i].name);
	if (!ok || !facts_check_references(a, ds, files))
		return NULL;
	newest = facts_newest_date(a, files);
	if (newest && strcmp(newest, f->date) > 0)
		f->date = newest;
	for (size_t i = 0; i < files->n; i++)
		if (files->at[i].over)
			files->at[i].root = adopt(a, files->at[i].root, NULL);
	return f;
}

const struct facts *
facts_load(struct arena *a, struct diags *ds, const char *overlay)
{
	struct fact_files over = { 0 };
	bool ok;

	if (!overlay)
		return built_in(a);
	ok = facts_read_files(a, ds, overlay, &over);
	return facts_with_overlay(a, ds, &over, ok);
}

const char *
facts_date(const struct facts *f)
{
	return f->date;
}

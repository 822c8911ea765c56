/* Finds the providers of an object's undefined symbols. */
#include <stdio.h>
#include <string.h>

#include "base/fs.h"
#include "base/str.h"
#include "inspect/internal.h"

enum { SHOWN = 40 };

void
provider_add(struct provider *p, const char *path, const struct elf *e)
{
	static char here[] = "";

	map_put(&p->libraries, fs_name(path), here);
	if (e->soname)
		map_put(&p->libraries, e->soname, here);
	for (size_t i = 0; i < e->defined.n; i++)
		map_put(&p->symbols, e->defined.at[i].name, here);
}

/* Returns true for a symbol of the Python interpreter. */
static bool
is_of_python(const char *symbol)
{
	return starts_with(symbol, "Py") || starts_with(symbol, "_Py");
}

/* Returns the missing libraries whose symbols have no versions that identify them. */
static struct names
absent_libraries(struct arena *a, const struct elf *e, const struct provider *p)
{
	struct names versioned = { 0 }, absent = { 0 };

	for (size_t i = 0; i < e->undefined.n; i++)
		if (e->undefined.at[i].file)
			names_once(a, &versioned, e->undefined.at[i].file);
	for (size_t i = 0; i < e->needed.n; i++)
		if (!map_get(&p->libraries, e->needed.at[i]) &&
		    !names_have(&versioned, e->needed.at[i]))
			list_push(a, &absent, e->needed.at[i]);
	return absent;
}

struct against
against_judge(struct arena *a, const struct elf *e, const struct provider *p)
{
	struct against g = { .absent = absent_libraries(a, e, p) };

	list_each (s, &e->undefined)
		if (map_get(&p->symbols, s->name))
			g.resolved++;
		else if (s->file ? !map_get(&p->libraries, s->file) : is_of_python(s->name))
			g.host++;
		else if (!s->file && !torch_symbol(s->name) && g.absent.n)
			list_push(a, &g.unknown, s->name);
		else
			list_push(a, &g.unresolved, s->name);
	return g;
}

/* --- torch releases --- */

extern const char torch_symbols[]; /* src/inspect/torch_symbols.txt */

enum { RELEASES_MAX = 64 };

/* The symbols of the table with the releases that have them. */
struct table {
	struct map masks; /* a pointer to the mask of each symbol */
	struct names releases;
};

static struct table
table_read(struct arena *a)
{
	struct table t = { .masks = MAP(a) };
	uint64_t *mask = NULL;

	for (const char *p = torch_symbols, *end; *p; p = *end ? end + 1 : end) {
		const char *text;

		end = strchrnul(p, '\n');
		text = arena_copy(a, p, (size_t)(end - p));
		if (starts_with(text, "releases ")) {
			t.releases = names_split(a, text + strlen("releases "), ' ');
		} else if (*text == '=') {
			unsigned long long value;

			mask = arena_new_of(a, uint64_t);
			*mask = sscanf(text + 1, "%llx", &value) == 1 ? value : 0;
		} else if (mask) {
			map_put(&t.masks, text, mask);
		}
	}
	if (t.releases.n > RELEASES_MAX)
		BUG("the table of torch's symbols has more releases than bits");
	return t;
}

/* Returns "2.3" for "2.3.1": the table has one release of each minor version. */
static const char *
series(struct arena *a, const char *release)
{
	const char *dot = strchr(release, '.');

	return arena_copy(a, release,
			  dot ? (size_t)(dot + 1 - release) + strcspn(dot + 1, ".") :
				strlen(release));
}

static const char *
sentence(struct arena *a, const struct table *t, const struct torch_span *s)
{
	const struct names *r = &s->releases;
	const char *first = r->n ? series(a, r->at[0]) : NULL;
	const char *last = r->n ? series(a, r->at[r->n - 1]) : NULL;

	if (!r->n)
		return "no torch release on PyPI has all of them";
	if (r->n == t->releases.n)
		return arena_printf(a, "every torch release from %s to %s has them", first, last);
	if (!strcmp(r->at[r->n - 1], t->releases.at[t->releases.n - 1]))
		return arena_printf(a, "built for torch %s or later", first);
	return !strcmp(first, last) ? arena_printf(a, "built for torch %s", first) :
				      arena_printf(a, "built for torch %s to %s", first, last);
}

struct torch_span
torch_releases(struct arena *a, const struct elf *e)
{
	const struct table t = table_read(a);
	struct torch_span s = { 0 };
	uint64_t all = ~0ULL, newest = t.releases.n ? 1ULL << (t.releases.n - 1) : 0;

	for (size_t i = 0; i < e->undefined.n; i++) {
		const char *name = e->undefined.at[i].name;
		const uint64_t *mask = map_get(&t.masks, name);

		s.imported += torch_symbol(name);
		s.known += mask != NULL;
		all &= mask ? *mask : ~0ULL;
		if (mask && !(*mask & newest) && !s.lacking)
			s.lacking = name;
	}
	for (size_t i = 0; s.known && i < t.releases.n; i++)
		if (all >> i & 1)
			list_push(a, &s.releases, t.releases.at[i]);
	s.sentence = s.known ? sentence(a, &t, &s) : NULL;
	return s;
}

const char *
torch_symbol_releases(struct arena *a, const char *symbol)
{
	struct elf_symbol one = { .name = symbol };
	struct elf e = { .undefined = { .at = &one, .n = 1 } };

	return torch_releases(a, &e).sentence;
}

/*
 * Returns true for a symbol with a std::string: the builds of one release differ in its ABI, and
 * the table has one.
 */
static bool
depends_on_abi(const char *symbol)
{
	struct elf one = { 0 };

	abi_note(symbol, &one);
	return one.cxx11_abi || one.old_abi;
}

const char *
torch_refuses(struct arena *a, const struct elf *e, const char *torch)
{
	const struct table t = table_read(a);
	const char *wanted = series(a, torch);
	size_t at = 0;

	while (at < t.releases.n && strcmp(series(a, t.releases.at[at]), wanted) != 0)
		at++;
	for (size_t i = 0; at < t.releases.n && i < e->undefined.n; i++) {
		const char *name = e->undefined.at[i].name;
		const uint64_t *mask = map_get(&t.masks, name);

		if (mask && !(*mask >> at & 1) && !depends_on_abi(name))
			return arena_printf(a, "it needs `%s`, which torch %s does not have: %s",
					    symbol_demangled(a, name), wanted,
					    torch_releases(a, e).sentence);
	}
	return NULL;
}

/* --- output --- */

static void
rows(struct arena *a, const struct names *all, struct buf *out)
{
	for (size_t i = 0; i < all->n && i < SHOWN; i++)
		buf_printf(out, "  %-9s   %s\n", "", symbol_demangled(a, all->at[i]));
	if (all->n > SHOWN)
		buf_printf(out, "  %-9s   and %zu more; --format json lists all\n", "",
			   all->n - SHOWN);
}

void
against_text(struct arena *a, const struct against *g, const char *other, struct buf *out)
{
	buf_printf(out, "  %-9s %s: %zu symbols resolved, %zu unresolved%s\n", "against", other,
		   g->resolved, g->unresolved.n, g->unresolved.n ? ":" : "");
	rows(a, &g->unresolved, out);
	if (g->host)
		buf_printf(out, "  %-9s %zu more belong to the host's libraries or to Python\n", "",
			   g->host);
	if (g->unknown.n)
		buf_printf(out, "  %-9s %zu more may belong to %s, which %s not found:\n", "",
			   g->unknown.n, names_words(a, &g->absent, "and"),
			   g->absent.n > 1 ? "were" : "was");
	rows(a, &g->unknown, out);
}

void
against_json(const struct against *g, const char *other, struct json *j)
{
	json_put(j, "'against': {'file': %s, 'unresolved': %n, 'unknown': %n, 'absent': %n", other,
		 &g->unresolved, &g->unknown, &g->absent);
	json_put(j, "'resolved': %f, 'host': %f}", (double)g->resolved, (double)g->host);
}

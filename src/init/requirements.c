#include <string.h>

#include "base/fs.h"
#include "python/python.h"
#include "reader.h"

/* Reads requirements files and the output of `pip freeze`: each line is an item. */

/* Reads "einops==0.8.0 --hash=sha256:...": pip's options after a requirement are a separate item,
 * and all hashes of a file are one item. */
static const char *
without_options(struct init *rd, const struct text *l, bool *hashes)
{
	const char *cut = strstr(l->s, " --");
	size_t n = cut ? (size_t)(cut - l->s) : strlen(l->s);
	bool hash = cut && starts_with(cut, " --hash");

	if (cut && !(hash && *hashes))
		item_leave(rd, item_open(rd, hash ? "--hash" : cut + 1, l->at),
			   hash ? "a recipe has no hashes of packages" : "it is an option of pip");
	*hashes |= hash;
	while (n && (l->s[n - 1] == ' ' || l->s[n - 1] == '\t'))
		n--;
	return arena_copy(rd->a, l->s, n);
}

static void read_lines(struct init *rd, const struct source *src, bool constrains);

/* Reads "-r base.txt" and "-c pins.txt", relative to the including file; false: place_option()
 * reports it. */
static bool
include(struct init *rd, struct init_item *item, const char *from, enum pip_option o,
	const char *name)
{
	const char *path = fs_clean(rd->a, fs_join(rd->a, fs_dir(rd->a, from), name));
	const char *key = o == PIP_CONSTRAINTS ? arena_printf(rd->a, "-c %s", path) : path;
	const struct source *src;

	if ((o != PIP_REQUIREMENTS && o != PIP_CONSTRAINTS) || !rd->open || !strcmp(from, "-"))
		return false;
	if (strstr(name, "://")) {
		item_unread(rd, item, "download it, and pass the file", "it is a URL");
		return true;
	}
	if (names_have(&rd->read, key)) {
		item_leave(rd, item, "init reads each file once");
		return true;
	}
	src = rd->open(rd, path, item->at);
	if (!src && !rd->ds->errors)
		item_unread(rd, item, "correct the path", "there is no file `%s`", path);
	if (src && *init_first_line(rd, src))
		src = init_text(rd, src);
	if (!src)
		return true;
	list_push(rd->a, &rd->read, key);
	item->fate = INIT_PARTS;
	read_lines(rd, src, o == PIP_CONSTRAINTS);
	return true;
}

static void
read_lines(struct init *rd, const struct source *src, bool constrains)
{
	const char *p = src->text, *value;
	uint32_t number = 1;
	bool hashes = false;

	while (*p && !rd->ds->errors) {
		struct text l = requirements_line(rd->a, src, &p, &number);
		size_t n = strcspn(l.s, " \t");
		enum pip_option o = pip_option(rd->a, arena_copy(rd->a, l.s, n), &value);
		struct init_item *item = *l.s ? item_open(rd, l.s, l.at) : NULL;

		value = value ? value : l.s + n;
		value += strspn(value, " \t");
		if (!item)
			continue;
		if (o == PIP_NONE && constrains)
			list_push(
				rd->a, &rd->constraints,
				(struct init_constraint){ item, without_options(rd, &l, &hashes) });
		else if (o == PIP_NONE)
			place_requirement(rd, item, without_options(rd, &l, &hashes), false);
		else if (o == PIP_EDITABLE)
			place_requirement(rd, item, value, false);
		else if (!include(rd, item, src->path, o, value))
			place_option(rd, item, o, value);
	}
}

/* --- constraints --- */

static struct init_item *
required(struct init *rd, const char *name)
{
	for (size_t i = 0; i < rd->items.n; i++) {
		struct init_item *item = rd->items.at[i];

		if (item->fate == INIT_TAKEN && item->value && item->name &&
		    !strcmp(item->name, name) &&
		    among(item->key, "packages extensions torch.version torch.with"))
			return item;
	}
	return NULL;
}

/* Adds a constraint to the requirement of the package: "einops>=0.7" and "einops==0.8.0". */
static void
constrain(struct init *rd, struct init_item *item, const struct requirement *r,
	  struct init_item *old)
{
	const struct specifiers *was = specifiers_parse(rd->a, old->spec ? old->spec : "");
	const struct version *v = specifiers_pin(r->spec);
	const char *spec = specifiers_text(rd->a, r->spec), *marker = strchr(old->value, ';');
	const struct requirement *whole = requirement_parse(rd->a, old->value, NULL, NULL);

	if (v && was && !specifiers_match(was, v)) {
		item_unread(rd, item, NULL, "`%s` excludes it", old->what);
		return;
	}
	if (!v && was && *old->spec)
		spec = arena_printf(rd->a, "%s,%s", old->spec, spec);
	if (!strcmp(old->key, "packages") && whole)
		old->value =
			arena_printf(rd->a, "%s%s%s%s%s%s", whole->name, whole->extras.n ? "[" : "",
				     names_join(rd->a, &whole->extras, ","),
				     whole->extras.n ? "]" : "", spec, marker ? marker : "");
	old->spec = spec;
	old->pinned = v != NULL;
	item_take(rd, item, old->key, NULL);
}

/* Returns true if a line that pins a package has a version that the constraint excludes. */
static bool
excludes(struct init *rd, const struct init_item *pinned, const struct requirement *r)
{
	const struct specifiers *spec = specifiers_parse(rd->a, pinned->spec ? pinned->spec : "");
	const struct version *v = spec ? specifiers_pin(spec) : NULL;

	v = v ? v : version_parse(rd->a, pinned->value);
	return v && !specifiers_match(r->spec, v);
}

static void
apply(struct init *rd, const struct init_constraint *c)
{
	const struct requirement *r = requirement_parse(rd->a, c->text, NULL, NULL);
	struct init_item *old = r ? required(rd, r->key) : NULL;

	if (!r || r->url)
		item_unread(rd, c->item, NULL, "init reads only constraints of a version");
	else if (!old)
		item_leave(rd, c->item, "it is a constraint, and the files do not require `%s`",
			   r->key);
	else if (old->pinned && excludes(rd, old, r))
		item_unread(rd, c->item, NULL, "`%s` excludes it", old->what);
	else if (old->pinned || strstr(old->value, " @ "))
		item_leave(rd, c->item, "it is a constraint, and the files pin `%s`", r->key);
	else if (among(old->key, "packages extensions") && strcmp(r->key, "torch") != 0)
		constrain(rd, c->item, r, old);
	else
		place_requirement(rd, c->item, c->text, false);
}

/* --- files that are no lists --- */

/* Returns whether a file is a script of a shell, by its name or its first line. */
static bool
is_script(struct init *rd, const struct source *src)
{
	const char *line = arena_copy(rd->a, src->text, strcspn(src->text, "\n"));

	return str_matches(fs_name(src->path), "[.](ba|z)?sh$") ||
	       str_matches(line, "^#!.*sh *\r?$");
}

/* Rejects a program or a text, many words of which have the form of a package's name. */
static bool
is_other(struct init *rd, const struct source *src)
{
	static const struct {
		const char *name, *line, *what;
	} all[] = {
		{ "[.]py$", "^(import|from) [A-Za-z_].*|^def .*:$|^\"\"\"", "Python files" },
		{ "[.]r?md$|[.]rst$|^README", "", "documentation" },
		{ "[.]def$", "^[Bb]oot[Ss]trap:", "Apptainer definitions" },
		{ "^[Mm]akefile$|[.]mk$", "", "makefiles" },
		{ "[.]ps1$|[.]bat$|[.]cmd$", "", "scripts of Windows" },
	};
	const char *name = fs_name(src->path), *first = init_first_line(rd, src);

	for (size_t i = 0; i < COUNT(all); i++)
		if (str_matches(name, all[i].name) ||
		    (*all[i].line && str_matches(first, all[i].line))) {
			diag_help(diag_at(rd->ds, E_INIT_INPUT, (struct span){ .src = src },
					  "init does not read %s", all[i].what),
				  INIT_READS);
			return true;
		}
	return false;
}

/* Rejects a file if the recipe would have no package, or if it has lines but none of them is one. */
static void
expect_requirements(struct init *rd, const struct source *src, size_t from)
{
	bool unread = false, any = false, all = false;

	for (size_t i = 0; i < rd->items.n; i++) {
		const struct init_item *item = rd->items.at[i];
		bool taken = item->fate == INIT_TAKEN &&
			     among(item->key, "packages extensions torch.version torch.with") &&
			     *item->what != '-';

		all |= taken;
		any |= taken && i >= from;
		unread |= i >= from && item->fate == INIT_LEFT && item->code == W_INIT_NOT_READ;
	}
	if (!any && (unread || !all))
		diag_help(diag_at(rd->ds, E_INIT_INPUT, (struct span){ .src = src },
				  "no line of this file is a requirement that a recipe can have"),
			  INIT_READS);
}

void
read_requirements(struct init *rd, const struct source *src)
{
	size_t first = rd->constraints.n;
	unsigned before = rd->ds->errors;

	list_push(rd->a, &rd->read, fs_clean(rd->a, src->path));
	read_lines(rd, src, false);
	for (size_t i = first; i < rd->constraints.n && rd->ds->errors == before; i++)
		apply(rd, &rd->constraints.at[i]);
}

bool
init_requirements(struct init *rd, const struct source *src)
{
	size_t from = rd->items.n;
	unsigned before = rd->ds->errors;

	if (is_other(rd, src))
		return false;
	if (is_script(rd, src)) {
		read_script(rd, src);
	} else {
		read_requirements(rd, src);
	}
	items_report(rd, from);
	if (rd->ds->errors == before)
		expect_requirements(rd, src, from);
	return rd->ds->errors == before;
}

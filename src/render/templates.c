#include <string.h>

#include "base/embed.h"
#include "base/fs.h"
#include "base/sha256.h"
#include "base/str.h"
#include "template.h"

/* Where the texts come from: one source a name, in the order of the names. */
struct templates {
	struct arena *a;
	const struct source **at; /* beside embedded_templates */
};

static const struct source *
built_in(struct arena *a, const struct source *embedded)
{
	struct source *src = arena_new_of(a, struct source);

	*src = *embedded;
	src->path = arena_printf(a, "templates/%s", embedded->path);
	return src;
}

static bool
none_replaced(struct diags *ds, const char *dir)
{
	struct buf names = BUF(ds->arena);

	/* Those in folders are programs of verify's, not what is rendered. */
	for (size_t i = 0; i < embedded_templates_n; i++)
		if (!strchr(embedded_templates[i].path, '/'))
			buf_printf(&names, "%s%s", names.n ? ", " : "", embedded_templates[i].path);
	diag_help(diag_at(ds, E_NO_TEMPLATE, (struct span){ 0 }, "`%s` holds no template", dir),
		  "put one of these there, under its own name: %s", buf_text(&names));
	return false;
}

/* A file that is there and is no template has a wrong name, or does nothing. */
static void
warn_unknown(struct diags *ds, const char *dir)
{
	struct names files = fs_list(ds->arena, dir, "");
	const char **known = arena_array_of(ds->arena, const char *, embedded_templates_n);

	for (size_t i = 0; i < embedded_templates_n; i++)
		known[i] = embedded_templates[i].path;
	for (size_t i = 0; i < files.n; i++) {
		const char *near = str_nearest(files.at[i], known, embedded_templates_n);
		struct source *src = arena_new_of(ds->arena, struct source);

		if (embedded_template(files.at[i]))
			continue;
		src->path = fs_join(ds->arena, dir, files.at[i]);
		struct diag *d = diag_at(ds, W_NOT_A_TEMPLATE, (struct span){ .src = src },
					 "this file takes the place of no template");
		if (near)
			diag_help(d, "did you mean `%s`?", near);
	}
}

static bool
replace_from(struct templates *t, struct diags *ds, const char *dir)
{
	size_t replaced = 0;

	if (!fs_is_dir(dir)) {
		diag_help(
			diag_at(ds, E_NO_TEMPLATE, (struct span){ 0 }, "`%s` is not a folder", dir),
			"name the folder that holds your templates");
		return false;
	}
	for (size_t i = 0; i < embedded_templates_n; i++) {
		const char *path = fs_join(t->a, dir, embedded_templates[i].path);

		if (!fs_exists(path))
			continue;
		replaced++;
		t->at[i] = fs_read(t->a, ds, path, TEMPLATE_BYTES_MAX, (struct span){ 0 });
		if (!t->at[i])
			return false;
	}
	if (!replaced)
		return none_replaced(ds, dir);
	warn_unknown(ds, dir);
	return true;
}

const struct templates *
templates_open(struct arena *a, struct diags *ds, const char *dir)
{
	struct templates *t = arena_new_of(a, struct templates);

	t->a = a;
	t->at = arena_array_of(a, const struct source *, embedded_templates_n);
	for (size_t i = 0; i < embedded_templates_n; i++)
		t->at[i] = built_in(a, &embedded_templates[i]);
	return !dir || replace_from(t, ds, dir) ? t : NULL;
}

const struct source *
templates_text(const struct templates *t, const char *name)
{
	for (size_t i = 0; i < embedded_templates_n; i++)
		if (!strcmp(embedded_templates[i].path, name))
			return t->at[i];
	BUG("no template `%s`", name);
}

const char *
templates_digest(struct arena *a, const struct templates *t)
{
	struct buf all = BUF(a);

	for (size_t i = 0; i < embedded_templates_n; i++)
		if (t->at[i]->text != embedded_templates[i].text)
			buf_printf(&all, "%s  %s\n", sha256_hex(a, t->at[i]->text, t->at[i]->size),
				   embedded_templates[i].path);
	if (!all.n)
		return embedded_templates_digest;
	buf_puts(&all, embedded_templates_digest);
	return arena_printf(a, "sha256:%s", sha256_hex(a, buf_text(&all), all.n));
}

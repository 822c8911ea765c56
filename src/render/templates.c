#include <string.h>

#include "base/embed.h"
#include "base/fs.h"
#include "base/sha256.h"
#include "base/str.h"
#include "render.h"

/* The source of each text, in the order of their names. */
struct templates {
	const struct source **at; /* parallel to embedded_templates */
};

static void
report_none(struct diags *ds, const char *dir)
{
	struct names names = { 0 };

	/* Templates in subdirectories are programs of `verify` and are not rendered. */
	for (size_t i = 0; i < embedded_templates_n; i++)
		if (!strchr(embedded_name(&embedded_templates[i]), '/'))
			list_push(ds->arena, &names, embedded_name(&embedded_templates[i]));
	diag_help(diag_at(ds, E_NO_TEMPLATE, (struct span){ 0 }, "`%s` has no template", dir),
		  "add one of these files: %s", names_join(ds->arena, &names, ", "));
}

/* Warns about a file without the name of a template: it is misnamed or has no effect. */
static bool
warn_unknown(struct diags *ds, const char *dir)
{
	struct names files = { 0 }, known = { 0 };

	if (!fs_list(ds->arena, ds, dir, "", &files))
		return false;
	for (size_t i = 0; i < embedded_templates_n; i++)
		list_push(ds->arena, &known, embedded_name(&embedded_templates[i]));
	for (size_t i = 0; i < files.n; i++) {
		const char *near = str_nearest(files.at[i], known.at, known.n);
		struct source *src = arena_new_of(ds->arena, struct source);
		struct diag *d;

		src->path = fs_join(ds->arena, dir, files.at[i]);
		if (names_have(&known, files.at[i]) || fs_is_dir(src->path))
			continue;
		d = diag_at(ds, W_NOT_A_TEMPLATE, (struct span){ .src = src },
			    "this file replaces no template");
		if (near)
			diag_help(d, "did you mean `%s`?", near);
	}
	return true;
}

const struct templates *
templates_open(struct arena *a, struct diags *ds, const char *dir)
{
	struct templates *t = arena_new_of(a, struct templates);
	size_t replaced = 0;

	if (dir && !fs_is_dir(dir)) {
		diag_help(diag_at(ds, E_NO_TEMPLATE, (struct span){ 0 }, "`%s` is not a directory",
				  dir),
			  "name the directory that contains your templates");
		return NULL;
	}
	t->at = arena_array_of(a, const struct source *, embedded_templates_n);
	for (size_t i = 0; i < embedded_templates_n; i++) {
		const char *name = embedded_name(&embedded_templates[i]);
		const char *path = dir ? fs_join(a, dir, name) : NULL;

		t->at[i] = &embedded_templates[i];
		if (!path || !fs_exists(path))
			continue;
		replaced++;
		if (!(t->at[i] = fs_read(a, ds, path, TEMPLATE_BYTES_MAX, (struct span){ 0 })))
			return NULL;
	}
	if (dir && !replaced) {
		report_none(ds, dir);
		return NULL;
	}
	return !dir || warn_unknown(ds, dir) ? t : NULL;
}

const struct source *
templates_text(const struct templates *t, const char *name)
{
	for (size_t i = 0; i < embedded_templates_n; i++)
		if (!strcmp(embedded_name(&embedded_templates[i]), name))
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
				   embedded_name(&embedded_templates[i]));
	if (!all.n)
		return embedded_templates_digest;
	buf_puts(&all, embedded_templates_digest);
	return arena_printf(a, "sha256:%s", sha256_hex(a, buf_text(&all), all.n));
}

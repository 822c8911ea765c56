/*
 * Reads the output of uv: a lock of PEP 751, and the reasons in the comments of a requirements
 * file:
 *
 *     numpy==1.26.4             # via torchvision, the-stack (pyproject.toml)
 *         # from https://index.example/simple
 */
#include <string.h>

#include "base/fs.h"
#include "base/map.h"
#include "base/str.h"
#include "fetch/fetch.h"
#include "internal.h"

static const struct source *
read_output(struct uv_run *u, const char *name)
{
	const struct source *src = fs_read_quiet(u->a, fs_join(u->a, u->dir, name), LOCK_MAX);

	if (!src)
		uv_broken(u, "wrote no lock", "");
	return src;
}

static bool
is_sdist(struct uv_run *u, const char *name)
{
	for (size_t i = 0; i < u->q->sdists.n; i++)
		if (!strcmp(requirement_parse(u->a, u->q->sdists.at[i], NULL, NULL)->key, name))
			return true;
	return false;
}

bool
uv_read_lock(struct uv_run *u, struct uv_answer *answer)
{
	const struct source *src = read_output(u, UV_LOCK);
	struct lock_packages all = { 0 };
	struct diags own = DIAGS(own, u->a);
	struct buf pins = BUF(u->a);

	if (!src)
		return false;
	if (!lock_read_packages(u->a, &own, src, &all)) {
		uv_broken(u, "did not write a lock",
			  arena_printf(u->a, "line %u: %s", own.head->at.line, own.head->text));
		return false;
	}
	for (size_t i = 0; i < all.n; i++) {
		struct lock_package *p = &all.at[i];

		list_push(u->a, is_sdist(u, p->name) ? &answer->sdists : &answer->packages, *p);
		if (p->files.at[0].kind != LOCK_ARCHIVE)
			buf_printf(&pins, "%s==%s\n", p->name, p->version);
	}
	return fs_write(u->ds, fs_join(u->a, u->dir, UV_PINS), buf_text(&pins), pins.n, 0600, false,
			NULL);
}

/* Adds the steps whose requirements contain the package. */
static void
add_roots(struct uv_run *u, struct lock_package *p)
{
	for (size_t i = 0; i < u->q->wants.n; i++)
		if (!strcmp(u->q->wants.at[i].key, p->name))
			names_once(u->a, &p->roots, u->q->wants.at[i].root);
}

/* Reads "torchvision, the-stack (pyproject.toml)". */
static void
read_via(struct uv_run *u, struct lock_package *p, const char *via)
{
	const struct names all = names_split(u->a, via, ',');

	for (size_t i = 0; i < all.n; i++) {
		const char *one = all.at[i] + strspn(all.at[i], " ");

		if (starts_with(one, UV_STACK " ("))
			add_roots(u, p);
		else if (name_valid(one))
			names_once(u->a, &p->required_by, name_normalize(u->a, one));
	}
	names_sort(&p->required_by);
}

static void
read_line(struct uv_run *u, const struct map *packages, struct lock_package **last,
	  const char *line)
{
	static const char from[] = "# from ", via[] = "# via ";
	const char *comment = strstr(line, line[0] == ' ' ? from : via);
	struct http_user unused;

	if (line[0] == ' ') {
		if (*last && comment)
			(*last)->index = http_split(u->a, comment + sizeof(from) - 1, &unused);
		return;
	}
	*last = map_get(packages, arena_copy(u->a, line, strcspn(line, "[=@ ;<>!~")));
	if (*last && comment)
		read_via(u, *last, comment + sizeof(via) - 1);
}

bool
uv_read_reasons(struct uv_run *u, struct uv_answer *answer)
{
	const struct source *src = read_output(u, UV_REASONS);
	struct names lines = { 0 };
	struct map packages = MAP(u->a);
	struct lock_package *last = NULL;

	if (!src)
		return false;
	for (size_t i = 0; i < answer->packages.n; i++)
		map_put(&packages, answer->packages.at[i].name, &answer->packages.at[i]);
	lines = names_split(u->a, src->text, '\n');
	for (size_t i = 0; i < lines.n; i++)
		if (*lines.at[i])
			read_line(u, &packages, &last, lines.at[i]);
	list_each (p, &answer->packages) {
		if (!p->roots.n && !p->required_by.n) {
			uv_broken(u, "did not say why it selects a package", p->name);
			return false;
		}
	}
	return true;
}

/* Shows the age of the knowledge base and of each package's releases. */
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/str.h"
#include "show.h"

/*
 *   built-in knowledge: 2026-11-23
 *   user's knowledge: /home/me/.local/share/stackbuild/knowledge
 *
 *   package  read        newest  from
 *   numpy    2026-11-23  2.5.5   built in
 *   vllm     2026-11-30  0.33.0  user
 */

struct status_row {
	const char *package, *read, *newest, *from;
};
struct status_rows LIST(struct status_row);

static struct status_row
row_of(const struct facts *f, const char *package)
{
	const struct claim *mine = user_file_of(f, package);
	const struct claim *file = mine ? mine : releases_file_of(f, package);
	const struct claim *releases = fact_get(file, "releases");
	size_t n = fact_count(releases);

	return (struct status_row){ package, fact_text_of(file, "read"),
				    n ? fact_key(releases, n - 1) : NULL,
				    mine ? "user" : "built in" };
}

static struct status_rows
rows_of(const struct facts *f, struct arena *a)
{
	struct names packages = { 0 };
	struct status_rows rows = { 0 };
	struct user_files user;

	facts_user_read_all(f);
	user = facts_user_files(f);
	for (size_t i = 0; i < facts_file_count(f); i++)
		if (starts_with(text_at(&facts_row(f, i)->name), "releases/"))
			names_once(a, &packages, fs_stem(a, text_at(&facts_row(f, i)->name)));
	for (size_t i = 0; i < user.n; i++)
		if (!user.at[i]->ignored)
			names_once(a, &packages, user.at[i]->package);
	names_sort(&packages);
	for (size_t i = 0; i < packages.n; i++)
		list_push(a, &rows, row_of(f, packages.at[i]));
	return rows;
}

void
facts_status(const struct facts *f, struct arena *a, bool as_json, struct buf *out)
{
	struct status_rows rows = rows_of(f, a);
	struct show v = { .f = f, .a = a, .out = out };
	struct table table = table_of(a, "package|read|newest|from");
	struct json j = json_to(out);

	if (as_json) {
		json_put(&j, "{'built_in': %s, 'knowledge': %s, 'user': %s, 'packages': [",
			 facts_built_in.date, facts_date(f), f->read->user);
		list_each (x, &rows)
			json_put(&j, "('package': %s, 'read': %s, 'newest': %s, 'from': %s)",
				 x->package, x->read, x->newest, x->from);
		json_put(&j, "]}");
		return;
	}
	buf_printf(out, "built-in knowledge: %s\n", facts_built_in.date);
	if (strcmp(facts_date(f), facts_built_in.date) != 0)
		buf_printf(out, "with --knowledge: %s\n", facts_date(f));
	buf_printf(out, "user's knowledge: %s\n\n", f->read->user ? f->read->user : "none");
	list_each (one, &rows)
		table_add(&v, &table, one->package, one->read, one->newest, one->from);
	table_print(&v, &table, 0);
}

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cuda/cuda.h"
#include "internal.h"

/* Prebuilt wheels: extensions/NAME.yaml, `wheels` and `wheel_url`. */

/* Replaces each {name} of "{version}+{cuda}torch{torch}..." by its value. */
const char *
fact_filled(struct arena *a, const char *pattern, const char *const (*values)[2], size_t n)
{
	struct buf b = BUF(a);
	const char *open, *close;

	while ((open = strchr(pattern, '{')) && (close = strchr(open, '}'))) {
		struct str name = { open + 1, (size_t)(close - open - 1) };

		buf_add(&b, pattern, (size_t)(open - pattern));
		for (size_t i = 0; i < n; i++)
			if (str_is(name, values[i][0]))
				buf_puts(&b, values[i][1]);
		pattern = close + 1;
	}
	buf_puts(&b, pattern);
	return buf_text(&b);
}

static struct wheel_row
read_row(const struct facts *f, const struct claim *row)
{
	struct names abis = fact_words(f, fact_get(row, "abi"));

	return (struct wheel_row){
		.torch = fact_words(f, fact_get(row, "torch")),
		.cuda = fact_words(f, fact_get(row, "cuda")),
		.pythons = fact_words(f, fact_get(row, "python")),
		.abi_old = !abis.n || names_have(&abis, "old"),
		.abi_new = !abis.n || names_have(&abis, "new"),
		.nightly = fact_true_of(row, "nightly"),
		.lost = fact_text_of(row, "lost"),
	};
}

struct wheel_list
facts_extension_wheels(const struct facts *f, struct arena *a, const struct extension_release *r)
{
	const struct claim *file = extension_file_of(f, r->name),
			   *groups = fact_get(file, "wheels");
	const struct held h =
		extension_held(file, fact_get(fact_get(file, "releases"), r->version));
	struct wheel_list list = { .source = r->source };
	struct wheel_rows LIST(struct wheel_row) rows = { 0 };

	if (fact_tri(extension_field(&h, "wheel_guess")) == TRI_NO)
		list.never = fact_text_of(
			extension_says(&h, "wheel_guess", fact_hash("wheel_guess")), "note");
	list.x86_64_only = fact_tri(extension_field(&h, "guesses_machine")) == TRI_NO;
	list.glibc_min = fact_text(extension_field(&h, "wheel_glibc"));
	for (size_t i = 0; i < fact_count(groups); i++) {
		const struct claim *group = fact_at(groups, i), *of = fact_get(group, "rows");

		if (!fact_in_range(f, fact_text_of(group, "versions"), r->version))
			continue;
		list.source = fact_source(f->a, group);
		for (size_t k = 0; k < fact_count(of); k++)
			list_push(a, &rows, read_row(f, fact_at(of, k)));
	}
	list.rows = rows.at;
	list.n = rows.n;
	return list;
}

/* Projects build one wheel for a major version, so "cu122" or "cu12" is for 12.1, too. */
static const char *
tag_for(const struct wheel_row *row, const char *cuda)
{
	for (size_t i = 0; i < row->cuda.n; i++)
		if (cuda_major_of_tag(row->cuda.at[i]) == strtoul(cuda, NULL, 10))
			return row->cuda.at[i];
	return NULL;
}

static const struct wheel_row *
row_for(const struct wheel_list *list, const char *torch, const struct wheel_wanted *want)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct wheel_row *row = &list->rows[i];

		if (tag_for(row, want->cuda) && names_have(&row->torch, torch) &&
		    names_have(&row->pythons, want->python) &&
		    (want->cxx11abi == TRI_YES ? row->abi_new : row->abi_old))
			return row;
	}
	return NULL;
}

const char *
facts_extension_wheel(const struct facts *f, struct arena *a, const struct extension_release *r,
		      const struct wheel_wanted *want, const char **why, const char **source)
{
	struct wheel_list list = facts_extension_wheels(f, a, r);
	const char *pattern = fact_text_of(extension_file_of(f, r->name), "wheel_url");
	const char *torch = version_series(a, want->torch), *dot = strchr(want->python, '.');
	const struct wheel_row *row = dot ? row_for(&list, torch, want) : NULL;

	*source = row ? list.source : NULL;
	*why = NULL;
	if (list.never)
		*why = list.never;
	else if (list.x86_64_only && strcmp(want->machine, "x86_64") != 0)
		*why = arena_printf(a, "its project published no wheel of %s for %s", r->version,
				    want->machine);
	else if (!pattern || !row)
		*why = arena_printf(
			a, "its project published no wheel of %s for torch %s, CUDA %s, Python %s",
			r->version, torch, want->cuda, want->python);
	else if (want->glibc && list.glibc_min &&
		 !fact_in_range(f, arena_printf(a, ">=%s", list.glibc_min), want->glibc))
		*why = arena_printf(a, "its wheel of %s needs glibc %s or newer", r->version,
				    list.glibc_min);
	else if (row->nightly)
		*why = arena_printf(
			a, "its wheel of %s for torch %s was built with a nightly of that torch",
			r->version, torch);
	if (*why)
		return NULL;
	return fact_filled(
		a, pattern,
		(const char *const[][2]){
			{ "version", r->version },
			{ "cuda", tag_for(row, want->cuda) },
			{ "torch", torch },
			{ "abi", want->cxx11abi == TRI_YES ? "TRUE" : "FALSE" },
			{ "python", arena_printf(a, "cp%.*s%s", (int)(dot - want->python),
						 want->python, dot + 1) },
			{ "machine", want->machine },
		},
		6);
}

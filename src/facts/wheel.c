#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cuda/cuda.h"
#include "internal.h"

/* Prebuilt wheels: extensions/NAME.yaml, `wheels` and `wheel_url`. */

/* The row's tag for that CUDA: wheels are made once for a major, "cu122" or "cu12" for 12.1. */
static const char *
tag_for(struct arena *a, struct fact row, const char *cuda)
{
	struct names tags = fact_words(a, fact_get(row, "cuda"));
	for (size_t i = 0; i < tags.n; i++)
		if (cuda_major_of_tag(tags.at[i]) == strtoul(cuda, NULL, 10))
			return tags.at[i];
	return NULL;
}

static bool
holds(struct arena *a, struct fact row, const char *key, const char *word)
{
	struct names words = fact_words(a, fact_get(row, key));

	for (size_t i = 0; i < words.n; i++)
		if (!strcmp(words.at[i], word))
			return true;
	return false;
}

/* "{version}+{cuda}torch{torch}..." with the values in place of the names. */
static const char *
fill(struct arena *a, const char *pattern, const char *const (*values)[2], size_t n)
{
	struct buf b = BUF(a);

	while (*pattern) {
		size_t size = strcspn(pattern, "}"), i = 0;

		if (*pattern != '{' || !pattern[size]) {
			buf_putc(&b, *pattern++);
			continue;
		}
		while (i < n && (strlen(values[i][0]) != size - 1 ||
				 strncmp(values[i][0], pattern + 1, size - 1) != 0))
			i++;
		buf_puts(&b, i < n ? values[i][1] : "");
		pattern += size + 1;
	}
	return buf_text(&b);
}

/* Why no file of that name can be there, or NULL. */
static const char *
never_there(const struct facts *f, const struct extension_release *r,
	    const struct wheel_wanted *want)
{
	struct fact file = extension_file_of(f, r->name);
	struct fact release = fact_get(fact_get(file, "releases"), r->version);
	const char *guess = fact_text(extension_field(file, release, "wheel_guess"));
	const char *any_machine = fact_text(extension_field(file, release, "guesses_machine"));

	if (guess && !strcmp(guess, "false"))
		return fact_text_of(extension_range(file, release, "wheel_guess"), "note");
	if (any_machine && !strcmp(any_machine, "false") && strcmp(want->machine, "x86_64") != 0)
		return arena_printf(f->a, "its project made no wheel of %s for %s", r->version,
				    want->machine);
	return NULL;
}

static bool
row_fits(struct arena *a, struct fact row, const struct wheel_wanted *want)
{
	const char *abi = want->cxx11abi == TRI_YES ? "new" : "old";

	return tag_for(a, row, want->cuda) &&
	       holds(a, row, "torch", version_series(a, want->torch)) &&
	       holds(a, row, "python", want->python) &&
	       (!fact_is(fact_get(row, "abi")) || holds(a, row, "abi", abi));
}

/* The group of the release, and in it the row for what is wanted. */
static bool
find_row(const struct facts *f, const struct extension_release *r, const struct wheel_wanted *want,
	 struct fact *group, struct fact *row)
{
	struct fact groups = fact_get(extension_file_of(f, r->name), "wheels");
	const struct version *version = version_parse(f->a, r->version);

	for (size_t i = 0; version && i < fact_count(groups); i++) {
		struct fact rows = fact_get(fact_at(groups, i), "rows");
		const char *spec = fact_text_of(fact_at(groups, i), "versions");

		if (!spec || !specifiers_match(specifiers_parse(f->a, spec), version, PRE_YES))
			continue;
		*group = fact_at(groups, i);
		for (size_t k = 0; k < fact_count(rows); k++) {
			*row = fact_at(rows, k);
			if (row_fits(f->a, *row, want))
				return true;
		}
	}
	return false;
}

const char *
facts_extension_wheel(const struct facts *f, struct arena *a, const struct extension_release *r,
		      const struct wheel_wanted *want, const char **why, const char **source)
{
	struct fact file = extension_file_of(f, r->name), group, row;
	const char *pattern = fact_text_of(file, "wheel_url");
	const char *torch = version_series(a, want->torch), *dot = strchr(want->python, '.');

	*source = NULL;
	*why = never_there(f, r, want);
	if (*why)
		return NULL;
	*why = arena_printf(a, "its project made no wheel of %s for torch %s, CUDA %s, Python %s",
			    r->version, torch, want->cuda, want->python);
	if (!pattern || !dot || !find_row(f, r, want, &group, &row))
		return NULL;
	*source = trail_source(f, trail_to(trail_of(file), group));
	if (fact_true_of(row, "nightly")) {
		*why = arena_printf(a,
				    "its wheel of %s for torch %s was built with a nightly of it",
				    r->version, torch);
		return NULL;
	}
	return fill(a, pattern,
		    (const char *const[][2]){
			    { "version", r->version },
			    { "cuda", tag_for(a, row, want->cuda) },
			    { "torch", torch },
			    { "abi", want->cxx11abi == TRI_YES ? "TRUE" : "FALSE" },
			    { "python", arena_printf(a, "cp%.*s%s", (int)(dot - want->python),
						     want->python, dot + 1) },
			    { "machine", want->machine },
		    },
		    6);
}

static bool
has_word(struct names words, const char *word)
{
	for (size_t i = 0; i < words.n; i++)
		if (!strcmp(words.at[i], word))
			return true;
	return false;
}

static struct wheel_row
read_row(struct arena *a, struct fact row)
{
	struct names abis = fact_words(a, fact_get(row, "abi"));

	return (struct wheel_row){
		.torch = fact_words(a, fact_get(row, "torch")),
		.cuda = fact_words(a, fact_get(row, "cuda")),
		.pythons = fact_words(a, fact_get(row, "python")),
		.abi_old = !abis.n || has_word(abis, "old"),
		.abi_new = !abis.n || has_word(abis, "new"),
		.nightly = fact_true_of(row, "nightly"),
	};
}

struct wheel_list
facts_extension_wheels(const struct facts *f, struct arena *a, const struct extension_release *r)
{
	struct fact file = extension_file_of(f, r->name), groups = fact_get(file, "wheels");
	struct fact release = fact_get(fact_get(file, "releases"), r->version);
	const char *machine = fact_text(extension_field(file, release, "guesses_machine"));
	const struct version *version = version_parse(a, r->version);
	struct wheel_list list = { .source = r->source };
	struct wheel_rows LIST(struct wheel_row) rows = { 0 };

	list.never = never_there(f, r, &(struct wheel_wanted){ .machine = "x86_64" });
	list.x86_64_only = machine && !strcmp(machine, "false");
	list.glibc_min = fact_text(extension_field(file, release, "wheel_glibc"));
	for (size_t i = 0; version && i < fact_count(groups); i++) {
		struct fact group = fact_at(groups, i), of = fact_get(group, "rows");
		const char *spec = fact_text_of(group, "versions");

		if (!spec || !specifiers_match(specifiers_parse(a, spec), version, PRE_YES))
			continue;
		list.source = trail_source(f, trail_to(trail_of(file), group));
		for (size_t k = 0; k < fact_count(of); k++)
			list_push(a, &rows, read_row(a, fact_at(of, k)));
	}
	list.rows = rows.at;
	list.n = rows.n;
	return list;
}

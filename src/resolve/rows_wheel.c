#include <stdlib.h>

#include "rows_help.h"

/* Prebuilt wheels: what a file's name says it was built for, and what a project built. */

/* --- what a name says: "mamba_ssm-2.2.2+cu122torch2.3cxx11abiFALSE-cp311-cp311-..." --- */

struct says {
	const char *file;
	const char *torch; /* series, or NULL */
	const char *cuda;  /* major, or NULL */
	enum tri abi;      /* of libstdc++: new */
	const struct wheel_file *file_parts;
};

/* The digits and dots at `s`; "" if there are none. */
static const char *
number_at(struct arena *a, const char *s)
{
	size_t n = strspn(s, "0123456789.");

	while (n && s[n - 1] == '.')
		n--;
	return arena_copy(a, s, n);
}

/* "2.3.1", "231" -> "2.3"; "2100" -> "2.10". */
static const char *
series_of_torch(struct arena *a, const char *number)
{
	size_t n = strlen(number);

	if (strchr(number, '.'))
		return version_series(a, number);
	return n < 3 || n > 4 ? NULL :
				arena_printf(a, "%c.%.*s", number[0], (int)(n - 2), number + 1);
}

/* pyg's "pt26" -> "2.6", "pt113" -> "1.13". */
static const char *
series_of_pt(struct arena *a, const char *number)
{
	size_t n = strlen(number);

	return n < 2 || n > 3 || strchr(number, '.') ?
		       NULL :
		       arena_printf(a, "%c.%s", number[0], number + 1);
}

/* What stands behind a word in a local version, where a number must follow. */
static const char *
behind(struct arena *a, const char *local, const char *word)
{
	const char *at = strstr(local, word);

	return at && is_digit(at[strlen(word)]) ? number_at(a, at + strlen(word)) : NULL;
}

/* The last part of an address, %2B read. */
static const char *
file_of(struct arena *a, const char *url)
{
	size_t end = strcspn(url, "?#"), start = end;
	struct buf b = BUF(a);

	while (start && url[start - 1] != '/')
		start--;
	for (size_t i = start; i < end; i++) {
		bool plus = i + 2 < end && url[i] == '%' && url[i + 1] == '2' &&
			    (url[i + 2] == 'B' || url[i + 2] == 'b');

		buf_putc(&b, plus ? '+' : url[i]);
		i += plus ? 2 : 0;
	}
	return buf_text(&b);
}

static bool
read_name(struct arena *a, const char *url, struct says *out)
{
	const char *local, *number;

	*out = (struct says){ .file = file_of(a, url) };
	out->file_parts = wheel_file_parse(a, out->file);
	if (!out->file_parts)
		return false;
	local = version_local(a, out->file_parts->version);
	if (!local)
		return true;
	if ((number = behind(a, local, "torch")))
		out->torch = series_of_torch(a, number);
	else if ((number = behind(a, local, "pt")))
		out->torch = series_of_pt(a, number);
	number = behind(a, local, "cu");
	if (number && strlen(number) >= 2)
		out->cuda = arena_copy(a, number, 2);
	out->abi = strstr(local, "cxx11abitrue")  ? TRI_YES :
		   strstr(local, "cxx11abifalse") ? TRI_NO :
						    TRI_UNKNOWN;
	return true;
}

/* --- does a tag of it fit --- */

/* "cp311-cp311-linux_x86_64": its three parts. */
static bool
parts_of(const char *tag, struct str part[3])
{
	for (size_t i = 0; i < 3; i++) {
		size_t n = strcspn(tag, "-");

		part[i] = (struct str){ tag, n };
		tag += n;
		if (i < 2 && *tag++ != '-')
			return false;
	}
	return true;
}

/* Whether a tag goes with CPython of that series, "3.11" or "3.13t". */
static bool
python_fits(struct arena *a, const char *tag, const char *series)
{
	const char *dot = strchr(series, '.');
	bool threaded = ends_with(series, "t");
	const char *own, *abi;
	struct str part[3];

	if (!dot || !parts_of(tag, part))
		return true;
	own = arena_printf(a, "cp%.*s%lu", (int)(dot - series), series, strtoul(dot + 1, NULL, 10));
	abi = threaded ? arena_printf(a, "%st", own) : own;
	if (part[0].n > 2 && !memcmp(part[0].p, "py", 2))
		return part[0].p[2] == *series;
	if (part[0].n < 3 || memcmp(part[0].p, "cp", 2) != 0)
		return false;
	if (str_is(part[1], "abi3"))
		return !threaded && part[0].p[2] == *series &&
		       strtoul(part[0].p + 3, NULL, 10) <= strtoul(dot + 1, NULL, 10);
	return str_is(part[0], own) && (str_is(part[1], abi) || str_is(part[1], "none"));
}

static bool
machine_fits(const char *tag, const char *machine)
{
	return ends_with(tag, "-any") || ends_with(tag, machine);
}

/* "manylinux_2_28_x86_64" -> 28; 0: it says nothing of glibc. */
static unsigned long
glibc_of(const char *tag)
{
	const char *at = strstr(tag, "manylinux_2_");

	return at ? strtoul(at + strlen("manylinux_2_"), NULL, 10) : 0;
}

/* --- the facts of one file, where `these` of the variable asked about are chosen --- */

static void
fits_pythons(struct query *q, const solve_word *these, const struct says *s)
{
	unsigned python = variable_get(q->w, VARIABLE_PYTHON, "python");
	const struct solver_variable *t = variable_at(q->w, python);
	solve_word *those = set_none(q->w, python);

	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < s->file_parts->tags.n; k++)
			if (python_fits(q->w->a, s->file_parts->tags.at[k], t->c[i].text))
				solve_set_add(those, i);
	add_allows_if(q, these, python, those, NULL, "%s is a file for another Python (%s)",
		      s->file, s->file_parts->tags.at[0]);
}

static void
fits_machine(struct query *q, const solve_word *these, const struct says *s)
{
	unsigned machine = variable_get(q->w, VARIABLE_MACHINE, "machine");
	const struct solver_variable *t = variable_at(q->w, machine);
	solve_word *those = set_none(q->w, machine);

	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < s->file_parts->tags.n; k++)
			if (machine_fits(s->file_parts->tags.at[k], t->c[i].text))
				solve_set_add(those, i);
	add_allows_if(q, these, machine, those, NULL, "%s is a file for another machine (%s)",
		      s->file, s->file_parts->tags.at[0]);
}

static void
fits_glibc(struct query *q, const solve_word *these, const struct says *s)
{
	unsigned glibc = variable_get(q->w, VARIABLE_GLIBC, "glibc");
	unsigned long least = 0;

	for (size_t k = 0; k < s->file_parts->tags.n; k++) {
		unsigned long minor = glibc_of(s->file_parts->tags.at[k]);

		/* Several tags: it runs wherever one of them does. */
		if (!minor)
			return;
		least = !least || minor < least ? minor : least;
	}
	add_allows_if(q, these, glibc, set_in(q->w, glibc, arena_printf(q->w->a, ">=2.%lu", least)),
		      NULL, "%s needs glibc 2.%lu or newer", s->file, least);
}

/* Builds of torch for CUDA `major`, "12". */
static solve_word *
builds_of_major(struct workspace *w, unsigned build, const char *major)
{
	const struct solver_variable *t = variable_at(w, build);
	solve_word *set = set_none(w, build);

	for (size_t i = 0; i < t->n; i++)
		if (starts_with(t->c[i].text, "cu") && !strncmp(t->c[i].text + 2, major, 2))
			solve_set_add(set, i);
	return set;
}

static bool
of_series(struct workspace *w, const struct candidate *c, const char *series)
{
	return !strcmp(version_series(w->a, c->text), series);
}

static void
fits_torch(struct query *q, const solve_word *these, const struct says *s)
{
	unsigned torch = variable_get(q->w, VARIABLE_TORCH, "torch");
	const struct solver_variable *t = variable_at(q->w, torch);
	solve_word *those = set_none(q->w, torch);

	for (size_t i = 0; s->torch && i < t->n; i++)
		if (of_series(q->w, &t->c[i], s->torch))
			solve_set_add(those, i);
	if (s->torch)
		add_allows_if(
			q, these, torch, those, NULL,
			"%s was built for torch %s, as its name says, and loads with no other",
			s->file, s->torch);
}

static void
fits_cuda(struct query *q, const solve_word *these, const struct says *s)
{
	unsigned build = variable_get(q->w, VARIABLE_BUILD, "torch build");

	if (s->cuda)
		add_allows_if(q, these, build, builds_of_major(q->w, build, s->cuda), NULL,
			      "%s was built for CUDA %s, as its name says, and looks for that "
			      "one's libraries",
			      s->file, s->cuda);
}

/* The ABI of libstdc++ depends on torch's release and on its build. */
static void
fits_abi(struct query *q, const solve_word *these, const struct says *s)
{
	unsigned torch = variable_get(q->w, VARIABLE_TORCH, "torch");
	unsigned build = variable_get(q->w, VARIABLE_BUILD, "torch build");
	const struct solver_variable *t = variable_at(q->w, torch);

	for (size_t i = 0; s->abi != TRI_UNKNOWN && i < t->n; i++) {
		const struct torch_release *r = t->c[i].entry;
		struct names other = { 0 };
		struct terms terms = { 0 };

		if (!r || (s->torch && !of_series(q->w, &t->c[i], s->torch)))
			continue;
		for (size_t k = 0; k < r->nvariants; k++)
			if (r->variants[k].cxx11abi != TRI_UNKNOWN &&
			    r->variants[k].cxx11abi != s->abi)
				list_push(q->w->a, &other, r->variants[k].tag);
		if (!other.n)
			continue;
		terms_add(&terms, q->variable, these);
		terms_add(&terms, torch, set_one(q->w, torch, i));
		if (other.n < r->nvariants)
			terms_add(&terms, build, set_named(q->w, build, &other, false));
		add_conflict(q, terms.at, terms.n, r->source,
			     "%s was built for the %s C++ ABI, and %s%storch %s has the %s one",
			     s->file, s->abi == TRI_YES ? "new" : "old",
			     other.n < r->nvariants ? names_words(q->w->a, &other, "and") : "",
			     other.n < r->nvariants ? " of " : "", r->version,
			     s->abi == TRI_YES ? "old" : "new");
	}
}

static void
judge_file(struct query *q, const solve_word *these, const char *url)
{
	struct says s;

	if (!read_name(q->w->a, url, &s))
		return;
	fits_torch(q, these, &s);
	fits_cuda(q, these, &s);
	fits_abi(q, these, &s);
	fits_pythons(q, these, &s);
	fits_machine(q, these, &s);
	fits_glibc(q, these, &s);
}

void
constraint_wheel_of_extension(struct query *q)
{
	const struct recipe_extension *asked = q->w->variables.at[q->variable]->asked;
	const char *url = "url";

	if (asked && asked->url.s && recipe_names_wheel(asked->url.s))
		judge_file(q, set_sources(q->w, q->variable, &url, 1), asked->url.s);
}

static void
wheel_of_requirement(struct query *q)
{
	const struct domain *s = q->w->variables.at[q->variable];

	if (s->wheel)
		judge_file(q, set_all(q->w, q->variable), s->wheel);
}

void
constraint_wheel_of_package(struct query *q)
{
	wheel_of_requirement(q);
}

void
constraint_wheel_in_packages(struct query *q)
{
	wheel_of_requirement(q);
}

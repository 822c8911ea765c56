#include <stdlib.h>

#include "internal.h"

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

/* Whether a tag is for CPython of that series, "3.11" or "3.13t". */
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
fits_python(struct arena *a, const struct names *tags, const char *series)
{
	for (size_t i = 0; i < tags->n; i++)
		if (python_fits(a, tags->at[i], series))
			return true;
	return false;
}

static bool
fits_machine(const struct names *tags, const char *machine)
{
	for (size_t i = 0; i < tags->n; i++)
		if (ends_with(tags->at[i], "-any") || ends_with(tags->at[i], machine))
			return true;
	return false;
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
needs_glibc(struct query *q, const solve_word *these, const struct says *s)
{
	unsigned glibc = the_variable(q->w, VARIABLE_GLIBC);
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

/* The ABI of libstdc++ depends on torch's release and on its build. */
static void
needs_abi(struct query *q, const solve_word *these, const struct says *s)
{
	struct workspace *w = q->w;
	unsigned torch = the_variable(w, VARIABLE_TORCH), build = the_variable(w, VARIABLE_BUILD);
	const struct solver_variable *t = variable_at(w, torch);

	for (size_t i = 0; s->abi != TRI_UNKNOWN && i < t->n; i++) {
		const struct torch_release *r = t->c[i].entry;
		struct names other = { 0 };
		bool all;

		if (!r || (s->torch && !version_same_series(t->c[i].text, s->torch)))
			continue;
		for (size_t k = 0; k < r->nvariants; k++)
			if (r->variants[k].cxx11abi != TRI_UNKNOWN &&
			    r->variants[k].cxx11abi != s->abi)
				list_push(w->a, &other, r->variants[k].tag);
		if (!other.n)
			continue;
		all = other.n == r->nvariants;
		add_conflict(q,
			     TERMS(IN(q->variable, these), IN(torch, set_one(w, torch, i)),
				   all ? IN(torch, set_one(w, torch, i)) :
					 IN(build, set_named(w, build, &other, false))),
			     r->source,
			     "%s was built for the %s C++ ABI, and %s%storch %s has the %s one",
			     s->file, s->abi == TRI_YES ? "new" : "old",
			     all ? "" : names_words(w->a, &other, "and"), all ? "" : " of ",
			     r->version, s->abi == TRI_YES ? "old" : "new");
	}
}

static void
constrain_file(struct query *q, const solve_word *these, const char *url)
{
	struct workspace *w = q->w;
	unsigned torch = the_variable(w, VARIABLE_TORCH), build = the_variable(w, VARIABLE_BUILD);
	unsigned python = the_variable(w, VARIABLE_PYTHON);
	unsigned machine = the_variable(w, VARIABLE_MACHINE);
	const struct names *tags;
	struct says s;

	if (!read_name(w->a, url, &s))
		return;
	tags = &s.file_parts->tags;
	if (s.torch)
		add_allows_if(
			q, these, torch,
			SET_WHERE(w, torch, c, version_same_series(c->text, s.torch)), NULL,
			"%s was built for torch %s, as its name says, and loads with no other",
			s.file, s.torch);
	if (s.cuda)
		add_allows_if(
			q, these, build,
			SET_WHERE(w, build, c,
				  starts_with(c->text, "cu") && !strncmp(c->text + 2, s.cuda, 2)),
			NULL,
			"%s was built for CUDA %s, as its name says, and looks for that "
			"one's libraries",
			s.file, s.cuda);
	needs_abi(q, these, &s);
	add_allows_if(q, these, python, SET_WHERE(w, python, c, fits_python(w->a, tags, c->text)),
		      NULL, "%s is a file for another Python (%s)", s.file, tags->at[0]);
	add_allows_if(q, these, machine, SET_WHERE(w, machine, c, fits_machine(tags, c->text)),
		      NULL, "%s is a file for another machine (%s)", s.file, tags->at[0]);
	needs_glibc(q, these, &s);
}

void
constraint_wheel_of_extension(struct query *q)
{
	const struct recipe_extension *asked = q->w->variables.at[q->variable]->asked;

	if (asked && asked->url.s && recipe_names_wheel(asked->url.s))
		constrain_file(q, set_text(q->w, q->variable, "url"), asked->url.s);
}

void
constraint_wheel_of_requirement(struct query *q)
{
	const struct domain *s = q->w->variables.at[q->variable];

	if (s->wheel)
		constrain_file(q, set_all(q->w, q->variable), s->wheel);
}

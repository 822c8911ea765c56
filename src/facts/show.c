#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "internal.h"

/*
 *   torch 2.2.2
 *     python       3.8 3.9 3.10 3.11 3.12
 *     torchvision  0.17.2
 *     builds
 *       cu121
 *         cuda     12.1
 *     source: knowledge/torch.yaml:412 (PyPI: torch 2.2.2 METADATA, read 2026-11-20)
 */

/* One thing that is known: what to call it, the maps round it, more maps that hold for it. */
struct found {
	const char *title;
	struct trail trail;
	struct fact ranges; /* of an extension's release: what holds for several */
};

/* Keys that say where a claim comes from are shown as the source, not as values. */
static bool
is_value(const char *key)
{
	static const char *const others[] = { "source", "sources", "unverified", "applies" };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(key, others[i]))
			return false;
	return true;
}

static const char *
one_line(struct arena *a, struct fact x)
{
	struct buf b = BUF(a);

	if (fact_text(x))
		return fact_text(x);
	for (size_t i = 0; i < fact_count(x); i++) {
		if (!fact_text(fact_at(x, i)) || fact_key(x, i))
			return NULL;
		buf_printf(&b, "%s%s", i ? ", " : "", fact_text(fact_at(x, i)));
	}
	return buf_text(&b);
}

static void
show_map(struct arena *a, struct fact x, unsigned depth, struct buf *out)
{
	size_t width = 0;

	for (size_t i = 0; i < fact_count(x); i++) {
		const char *key = fact_key(x, i);

		if (key && is_value(key) && one_line(a, fact_at(x, i)) && strlen(key) > width)
			width = strlen(key);
	}
	for (size_t i = 0; i < fact_count(x); i++) {
		const char *key = fact_key(x, i), *line = one_line(a, fact_at(x, i));

		if (key && !is_value(key))
			continue;
		buf_printf(out, "%*s", (int)(2 * depth), "");
		if (key && line) {
			buf_printf(out, "%-*s  %s\n", (int)width, key, line);
			continue;
		}
		buf_printf(out, "%s\n", key ? key : line ? line : "-");
		if (!line)
			show_map(a, fact_at(x, i), depth + 1, out);
	}
}

static void
json_fact(struct json *j, const char *key, struct fact x)
{
	if (fact_text(x)) {
		json_text(j, key, fact_text(x));
		return;
	}
	if (!fact_count(x) || fact_key(x, 0))
		json_map(j, key);
	else
		json_list(j, key);
	for (size_t i = 0; i < fact_count(x); i++)
		if (!fact_key(x, i) || is_value(fact_key(x, i)))
			json_fact(j, fact_key(x, i), fact_at(x, i));
	json_end(j);
}

static struct fact
range_at(struct fact ranges, const char **applies)
{
	size_t i = 0;

	for (; is_digit(**applies); ++*applies)
		i = i * 10 + (size_t)(**applies - '0');
	*applies += strspn(*applies, " ");
	return fact_at(ranges, i);
}

static void
show(const struct facts *f, struct arena *a, const struct found *x, struct buf *out)
{
	struct fact own = x->trail.at[x->trail.n - 1];
	const char *applies = fact_text_of(own, "applies");

	buf_printf(out, "%s\n", x->title);
	show_map(a, own, 1, out);
	buf_printf(out, "  source: %s\n", trail_sources(f, x->trail));
	while (applies && *applies) {
		struct fact range = range_at(x->ranges, &applies);
		struct trail t = trail_to(trail_of(x->trail.at[0]), range);

		buf_putc(out, '\n');
		show_map(a, range, 1, out);
		buf_printf(out, "  source: %s\n", trail_sources(f, t));
	}
}

static void
show_json(const struct facts *f, const struct found *x, struct buf *out)
{
	struct json j = json_to(out);
	struct fact own = x->trail.at[x->trail.n - 1];
	const char *applies = fact_text_of(own, "applies");

	json_map(&j, NULL);
	json_text(&j, "what", x->title);
	json_fact(&j, "known", own);
	json_text(&j, "source", trail_sources(f, x->trail));
	if (applies) {
		json_list(&j, "holds_for_several");
		while (*applies) {
			struct fact range = range_at(x->ranges, &applies);

			json_map(&j, NULL);
			json_fact(&j, "known", range);
			json_text(&j, "source",
				  trail_sources(f, trail_to(trail_of(x->trail.at[0]), range)));
			json_end(&j);
		}
		json_end(&j);
	}
	json_end(&j);
}

/* --- finding it --- */

static bool
find_keyed(const struct facts *f, const char *file, const char *map, const char *name,
	   struct found *x)
{
	struct fact root = facts_file(f, file), all = fact_get(root, map), it;
	const char *key = name;

	it = fact_get(all, name);
	if (!fact_is(it) && version_parse(f->a, name))
		it = fact_version(f, all, name, &key);
	x->trail = trail_to(trail_of(root), it);
	return fact_is(it);
}

static bool
find_cuda(const struct facts *f, const char *name, struct found *x)
{
	struct fact root = facts_file(f, "cuda.yaml"), all = fact_get(root, "series");

	for (size_t i = 0; i < fact_count(all); i++) {
		struct trail series = trail_to(trail_of(root), fact_at(all, i));
		struct fact release = fact_get(fact_get(fact_at(all, i), "releases"), name);

		x->trail = fact_is(release) ? trail_to(series, release) : series;
		if (fact_is(release) || !strcmp(fact_key(all, i), name))
			return true;
	}
	return false;
}

static bool
find_gpu(const struct facts *f, struct arena *a, const char *name, struct found *x)
{
	struct fact root = facts_file(f, "gpus.yaml"), all = fact_get(root, "capabilities");
	const struct gpu *g = facts_gpu(f, name);
	const char *cc = g ? g->cc : name;
	struct fact capability = fact_get(all, cc);

	x->trail = trail_to(trail_of(root), capability);
	if (g)
		x->title =
			arena_printf(a, "gpu %s (%s), compute capability %s%s", g->name, g->id, cc,
				     g->memory_gb ? arena_printf(a, ", %u GB", g->memory_gb) : "");
	return fact_is(capability);
}

static bool
find_extension(const struct facts *f, const char *name, const char *version, struct found *x)
{
	struct fact root = extension_file_of(f, name_normalize(f->a, name)), r;
	const struct extension *e = facts_extension(f, name);
	const struct extension_release *known = e && version ? extension_release(e, version) : NULL;

	x->trail = trail_of(root);
	if (!version)
		return fact_is(root);
	r = fact_get(fact_get(root, "releases"), known ? known->version : version);
	x->trail = trail_to(x->trail, r);
	x->ranges = fact_get(root, "ranges");
	return fact_is(r);
}

static bool
find(const struct facts *f, struct arena *a, const char *subject, const char *name,
     const char *version, struct found *x)
{
	x->title = arena_printf(a, "%s %s%s%s", subject, name, version ? " " : "",
				version ? version : "");
	if (!strcmp(subject, "torch"))
		return find_keyed(f, "torch.yaml", "releases", name, x);
	if (!strcmp(subject, "cuda"))
		return find_cuda(f, name, x);
	if (!strcmp(subject, "gpu"))
		return find_gpu(f, a, name, x);
	if (!strcmp(subject, "extension"))
		return find_extension(f, name, version, x);
	if (!strcmp(subject, "os"))
		return find_keyed(f, "os.yaml", "releases", name, x);
	if (!strcmp(subject, "modal"))
		return find_keyed(f, "modal.yaml", "gpus",
				  facts_modal_gpu(f, name) ? facts_modal_gpu(f, name)->name : name,
				  x);
	return find_keyed(f, "packages.yaml", "packages", name_normalize(f->a, name), x);
}

/* --- listing --- */

static const char *const subjects[] = { "torch", "cuda",  "gpu",    "extension",
					"os",    "modal", "package" };
enum { SUBJECTS = sizeof(subjects) / sizeof(*subjects) };

static void
add_keys(struct arena *a, struct fact map, struct names *names)
{
	for (size_t i = 0; i < fact_count(map); i++)
		list_push(a, names, fact_key(map, i));
}

static struct names
names_of(const struct facts *f, struct arena *a, const char *subject)
{
	struct fact series = fact_get(facts_file(f, "cuda.yaml"), "series");
	struct names names = { 0 };

	if (!strcmp(subject, "torch"))
		add_keys(a, fact_get(facts_file(f, "torch.yaml"), "releases"), &names);
	else if (!strcmp(subject, "gpu"))
		names = facts_gpu_names(f, a);
	else if (!strcmp(subject, "extension"))
		names = facts_extension_names(f);
	else if (!strcmp(subject, "os"))
		add_keys(a, fact_get(facts_file(f, "os.yaml"), "releases"), &names);
	else if (!strcmp(subject, "modal"))
		add_keys(a, fact_get(facts_file(f, "modal.yaml"), "gpus"), &names);
	else if (!strcmp(subject, "package"))
		add_keys(a, fact_get(facts_file(f, "packages.yaml"), "packages"), &names);
	else
		for (size_t i = 0; i < fact_count(series); i++)
			add_keys(a, fact_get(fact_at(series, i), "releases"), &names);
	return names;
}

static void
show_names(const char *what, struct names names, bool as_json, struct buf *out)
{
	struct json j = json_to(out);

	if (as_json) {
		json_map(&j, NULL);
		json_list(&j, what);
		for (size_t i = 0; i < names.n; i++)
			json_text(&j, NULL, names.at[i]);
		json_end(&j);
		json_end(&j);
		return;
	}
	for (size_t i = 0; i < names.n; i++)
		buf_printf(out, "%s\n", names.at[i]);
}

static bool
not_known(struct diags *ds, const char *what, const char *name, struct names known)
{
	struct diag *d = diag_at(ds, E_FACT_UNKNOWN, (struct span){ 0 },
				 "nothing is known of %s `%s`", what, name);
	const char *near = str_nearest(name, known.at, known.n);

	if (near)
		diag_help(d, "did you mean `%s`?", near);
	else
		diag_help(d, "`stackbuild facts%s%s` lists what is known", *what == 'a' ? "" : " ",
			  *what == 'a' ? "" : what);
	return false;
}

bool
facts_show(const struct facts *f, struct arena *a, struct diags *ds, const char *subject,
	   const char *name, const char *version, bool as_json, struct buf *out)
{
	struct names all = { (const char **)subjects, SUBJECTS, SUBJECTS };
	struct found x = { 0 };
	bool known = false;

	if (!subject) {
		show_names("subjects", all, as_json, out);
		return true;
	}
	for (size_t i = 0; i < SUBJECTS; i++)
		known |= !strcmp(subjects[i], subject);
	if (!known)
		return not_known(ds, "a subject", subject, all);
	all = names_of(f, a, subject);
	if (!name) {
		show_names(subject, all, as_json, out);
		return true;
	}
	if (!find(f, a, subject, name, version, &x))
		return not_known(ds, subject,
				 version ? arena_printf(a, "%s %s", name, version) : name, all);
	if (as_json)
		show_json(f, &x, out);
	else
		show(f, a, &x, out);
	return true;
}

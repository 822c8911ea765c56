#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "find.h"

/* --- finding it --- */

/* More maps whose values hold for what was asked, the later ones first to be believed. */
static void
also(const struct facts *f, struct found *x, struct trail t)
{
	list_push(f->a, &x->parts, t);
}

static bool
find_keyed(const struct facts *f, struct fact root, const char *map, const char *name,
	   struct found *x)
{
	struct fact all = fact_get(root, map), it = fact_get(all, name);
	const char *key = name;

	if (!fact_is(it) && version_parse(f->a, name))
		it = fact_version(f, all, name, &key);
	also(f, x, trail_to(trail_of(root), it));
	x->name = key;
	return fact_is(it);
}

static bool
find_torch(const struct facts *f, const struct lookup *q, struct found *x)
{
	struct fact root = facts_file(f, "torch.yaml"), build;

	if (!find_keyed(f, root, "releases", q->name, x))
		return false;
	if (!q->more)
		return true;
	build = fact_get(fact_get(x->parts.at[0].at[1], "builds"), q->more);
	also(f, x, trail_to(x->parts.at[0], build));
	x->without[0] = "builds";
	return fact_is(build);
}

static bool
find_cuda(const struct facts *f, const struct lookup *q, struct found *x)
{
	struct fact root = facts_file(f, "cuda.yaml"), all = fact_get(root, "series");

	for (size_t i = 0; i < fact_count(all); i++) {
		struct trail series = trail_to(trail_of(root), fact_at(all, i));
		struct fact release = fact_get(fact_get(fact_at(all, i), "releases"), q->name);
		const char *key = fact_key(all, i);
		const char *major = arena_copy(f->a, key, strcspn(key, "."));

		if (!fact_is(release) && strcmp(key, q->name) != 0)
			continue;
		also(f, x, series);
		if (fact_is(release)) {
			also(f, x, trail_to(series, release));
			x->without[0] = "releases";
		}
		release = fact_get(fact_get(root, "drivers"), major);
		if (fact_is(release))
			x->compat = trail_to(trail_of(root), release);
		x->major = major;
		return true;
	}
	return find_keyed(f, root, "never", q->name, x);
}

/* A name that holds the word, if it is the only one: "4090" is RTX 4090. */
static const struct gpu *
gpu_like(const struct facts *f, struct arena *a, const char *word)
{
	struct names ids = facts_gpu_names(f, a);
	const struct gpu *found = NULL;

	for (size_t i = 0; i < ids.n; i++)
		if (strstr(ids.at[i], word)) {
			if (found)
				return NULL;
			found = facts_gpu(f, ids.at[i]);
		}
	return found;
}

static bool
find_gpu(const struct facts *f, const struct lookup *q, struct found *x)
{
	struct fact root = facts_file(f, "gpus.yaml"), all = fact_get(root, "capabilities");
	const struct gpu *g = facts_gpu(f, q->name);
	struct fact capability, own;

	if (!g && !fact_is(fact_get(all, q->name)))
		g = gpu_like(f, f->a, q->name);
	capability = fact_get(all, g ? g->cc : q->name);
	also(f, x, trail_to(trail_of(root), capability));
	x->gpu = g;
	if (!g)
		x->title = arena_printf(f->a, "compute capability %s", q->name);
	if (g) {
		own = fact_get(fact_get(capability, "gpus"), g->name);
		also(f, x, trail_to(x->parts.at[0], own));
		x->without[0] = "gpus";
		x->title = arena_printf(f->a, "gpu %s", g->name);
	}
	return fact_is(capability);
}

static bool
find_extension(const struct facts *f, const struct lookup *q, struct found *x)
{
	const struct extension *e = facts_extension(f, q->name);
	const struct extension_release *known = e && q->more ? extension_release(e, q->more) : NULL;
	struct fact root, r, ranges[FACT_RANGES_MAX];
	size_t n;

	if (!e || (q->more && !known))
		return false;
	x->extension = e;
	x->title = arena_printf(f->a, "extension %s", e->name);
	x->release = known;
	root = extension_file_of(f, e->name);
	also(f, x, trail_of(root));
	if (!known)
		return true;
	x->title = arena_printf(f->a, "extension %s %s", e->name, known->version);
	r = fact_get(fact_get(root, "releases"), known->version);
	n = extension_ranges(root, r, ranges);
	for (size_t i = 0; i < n; i++)
		also(f, x, trail_to(trail_of(root), ranges[i]));
	also(f, x, trail_to(trail_of(root), r));
	return true;
}

static bool
find_rule(const struct facts *f, const struct lookup *q, struct found *x)
{
	struct names files = facts_files(f);

	for (size_t i = 0; i < files.n; i++) {
		struct fact root = facts_file(f, files.at[i]);

		if (fact_is(fact_get(fact_get(root, "rules"), q->name)))
			return find_keyed(f, root, "rules", q->name, x);
	}
	return false;
}

static bool
find_modal(const struct facts *f, const struct lookup *q, struct found *x)
{
	struct fact root = facts_file(f, "modal.yaml");
	const struct modal_gpu *g = facts_modal_gpu(f, q->name);

	if (fact_is(fact_get(fact_get(root, "builders"), q->name)))
		return find_keyed(f, root, "builders", q->name, x);
	return find_keyed(f, root, "gpus", g ? g->name : q->name, x);
}

/* --- what there is --- */

static struct names
keys_of(struct arena *a, struct fact map)
{
	struct names names = { 0 };

	for (size_t i = 0; i < fact_count(map); i++)
		list_push(a, &names, fact_key(map, i));
	return names;
}

static struct names
names_of(const struct facts *f, struct arena *a, const struct subject *s)
{
	return s->names ? s->names(f, a) : keys_of(a, fact_get(facts_file(f, s->file), s->map));
}

static struct names
cuda_names(const struct facts *f, struct arena *a)
{
	size_t n;
	const struct cuda_toolkit *const *all = facts_cuda_all(f, &n);
	struct names names = { 0 };

	for (size_t i = 0; i < n; i++)
		list_push(a, &names, all[i]->version);
	return names;
}

static struct names
rule_names(const struct facts *f, struct arena *a)
{
	size_t n;
	const struct rule *all = facts_rules(f, &n);
	struct names names = { 0 };

	for (size_t i = 0; i < n; i++)
		list_push(a, &names, all[i].name);
	return names;
}

static struct names
extension_names(const struct facts *f, struct arena *a)
{
	(void)a;
	return facts_extension_names(f);
}

const struct subject facts_subjects[] = {
	{ "torch", "releases of torch, their builds and needs", "torch 2.2.2", "torch.yaml",
	  "releases", find_torch, NULL, list_torch, MORE_BUILD },
	{ "cuda", "toolkits: drivers, compilers, GPUs, images", "cuda 12.1.1", "cuda.yaml",
	  "series", find_cuda, cuda_names, list_cuda, MORE_NONE },
	{ "gpu", "GPUs and their compute capabilities", "gpu rtx4090", "gpus.yaml", "capabilities",
	  find_gpu, facts_gpu_names, list_gpu, MORE_WORDS },
	{ "extension", "packages that compile their own CUDA code", "extension mamba-ssm 2.2.2",
	  NULL, NULL, find_extension, extension_names, list_extension, MORE_RELEASE },
	{ "os", "operating systems of base images", "os ubuntu22.04", "os.yaml", "releases", NULL,
	  NULL, list_os, MORE_NONE },
	{ "modal", "Modal: limits, image builders, GPUs, prices", "modal", "modal.yaml", "gpus",
	  find_modal, NULL, list_modal, MORE_NONE },
	{ "package", "ordinary packages that stacks turn on", "package numpy", "packages.yaml",
	  "packages", NULL, NULL, list_package, MORE_NONE },
	{ "rule", "rules about what cannot live together", "rule cuda-major", NULL, NULL, find_rule,
	  rule_names, list_rule, MORE_NONE },
};
const size_t facts_nsubjects = sizeof(facts_subjects) / sizeof(*facts_subjects);

/* --- the verb --- */

/* "`a`, `b`": the names that hold the word, if they are few; else NULL. */
static const char *
names_holding(struct arena *a, const char *word, struct names known)
{
	struct buf b = BUF(a);
	size_t n = 0;

	for (size_t i = 0; i < known.n && strlen(word) > 1; i++)
		if (strstr(known.at[i], word))
			buf_printf(&b, "%s`%s`", n++ ? ", " : "", known.at[i]);
	return n && n <= 8 ? buf_text(&b) : NULL;
}

static bool
not_known(struct diags *ds, const char *what, const char *name, struct names known)
{
	struct diag *d = diag_at(ds, E_FACT_UNKNOWN, (struct span){ 0 },
				 "%s `%.200s` is not in the knowledge base", what, name);
	const char *near = str_nearest(name, known.at, known.n);
	const char *holding = near ? NULL : names_holding(ds->arena, name, known);
	bool subject = !strcmp(what, "the subject");

	if (near)
		diag_help(d, "did you mean `%s`?", near);
	else if (holding)
		diag_help(d, "did you mean %s?", holding);
	else
		diag_help(d, "run `stackbuild facts%s%s` to list what it has", subject ? "" : " ",
			  subject ? "" : what);
	return false;
}

static struct names
subject_names(struct arena *a)
{
	struct names names = { 0 };

	for (size_t i = 0; i < facts_nsubjects; i++)
		list_push(a, &names, facts_subjects[i].name);
	return names;
}

static bool
find(const struct facts *f, const struct subject *s, const struct lookup *q, struct found *x)
{
	if (s->find)
		return s->find(f, q, x);
	return find_keyed(f, facts_file(f, s->file), s->map, q->name, x) ||
	       find_keyed(f, facts_file(f, s->file), s->map, name_normalize(f->a, q->name), x);
}

/* Why `more` cannot stand there, as a name that is not known; or the answer. */
static bool
answer(const struct facts *f, struct arena *a, struct diags *ds, const struct subject *s,
       struct lookup q, bool as_json, struct buf *out)
{
	struct found x = { 0 };
	struct lookup first = { q.name, NULL };

	if ((!q.more || s->more != MORE_NONE) && find(f, s, &q, &x)) {
		if (!x.title)
			x.title = arena_printf(a, "%s %s%s%s", s->name, x.name ? x.name : q.name,
					       q.more ? " " : "", q.more ? q.more : "");
		if (as_json)
			found_json(f, a, &x, out);
		else
			found_text(f, a, &x, out);
		return true;
	}
	memset(&x, 0, sizeof(x));
	if (!q.more || !find(f, s, &first, &x))
		return not_known(ds, s->name, q.name, names_of(f, a, s));
	if (s->more == MORE_RELEASE)
		return not_known(ds, arena_printf(a, "%s %s", s->name, q.name), q.more,
				 keys_of(a, fact_get(x.parts.at[0].at[0], "releases")));
	if (s->more == MORE_BUILD)
		return not_known(ds, arena_printf(a, "%s %s", s->name, q.name), q.more,
				 keys_of(a, fact_get(x.parts.at[0].at[1], "builds")));
	diag_help(diag_at(ds, E_FACT_UNKNOWN, (struct span){ 0 },
			  "%s `%.200s %.200s` is not in the knowledge base", s->name, q.name,
			  q.more),
		  "run `stackbuild facts %s %s` to show what it has", s->name, q.name);
	return false;
}

bool
facts_show(const struct facts *f, struct arena *a, struct diags *ds, const char *subject,
	   const char *name, const char *more, bool as_json, struct buf *out)
{
	const struct subject *s = facts_subjects;
	struct lookup q = { name, more };

	if (!subject) {
		show_subjects(f, a, as_json, out);
		return true;
	}
	while (s < facts_subjects + facts_nsubjects && strcmp(s->name, subject) != 0)
		s++;
	if (s == facts_subjects + facts_nsubjects)
		return not_known(ds, "the subject", subject, subject_names(a));
	if (!name) {
		if (as_json)
			names_json(s->name, names_of(f, a, s), out);
		else
			s->list(f, a, out);
		return true;
	}
	if (s->more == MORE_WORDS && more)
		q = (struct lookup){ arena_printf(a, "%s %s", name, more), NULL };
	return answer(f, a, ds, s, q, as_json, out);
}

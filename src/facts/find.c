#include "show.h"

#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/str.h"

/* The subjects of `stackbuild facts`: how each is found and listed. */

struct subject {
	const char *name, *what, *example;
	const char *file, *map; /* the map whose keys are its names */
	const char *heads;      /* column heads of its list, names first */
	/* Finds an entry; NULL: by the key. `more`: a release of an extension, a build of torch; or
	 * NULL */
	bool (*find)(const struct facts *f, const char *name, const char *more, struct found *x);
	/* Fills the list; NULL: with the keys and these values of each. */
	void (*list)(struct show *v, struct table *t);
	const char *values;
	const char *more; /* the map that a third word names; "": the word belongs to the name */
};

/* --- lookup --- */

/* Adds a map with values for the requested entry; later maps take precedence. */
static bool
also(const struct facts *f, struct found *x, const struct claim *map)
{
	list_push(f->a, &x->parts, map);
	return map != NULL;
}

static bool
find_keyed(const struct facts *f, const struct claim *all, const char *name, struct found *x)
{
	return also(f, x, fact_version(f, all, name, &x->name));
}

static bool
find_torch(const struct facts *f, const char *name, const char *more, struct found *x)
{
	if (!find_keyed(f, fact_get(facts_file(f, "torch.yaml"), "releases"), name, x) || !more)
		return x->parts.at[0] != NULL;
	x->without = "builds";
	return also(f, x, fact_get(fact_get(x->parts.at[0], "builds"), more));
}

static bool
find_cuda(const struct facts *f, const char *name, const char *more, struct found *x)
{
	const struct claim *root = facts_file(f, "cuda.yaml"), *all = fact_get(root, "series");

	(void)more;
	for (size_t i = 0; i < fact_count(all); i++) {
		const struct claim *series = fact_at(all, i);
		const struct claim *release = fact_get(fact_get(series, "releases"), name);
		const char *key = fact_key(all, i);

		if (!release && strcmp(key, name) != 0)
			continue;
		also(f, x, series);
		if (release) {
			also(f, x, release);
			x->without = "releases";
		}
		x->major = arena_copy(f->a, key, strcspn(key, "."));
		x->compat = fact_get(fact_get(root, "drivers"), x->major);
		return true;
	}
	return find_keyed(f, fact_get(root, "never"), name, x);
}

/* Returns the GPU if only its name contains the word: "4090" is RTX 4090. */
static const struct gpu *
gpu_like(const struct facts *f, const char *word)
{
	struct names ids = facts_gpu_names(f, f->a);
	const char *found = NULL;

	for (size_t i = 0; i < ids.n; i++)
		if (strstr(ids.at[i], word)) {
			if (found)
				return NULL;
			found = ids.at[i];
		}
	return found ? facts_gpu(f, found) : NULL;
}

static bool
find_gpu(const struct facts *f, const char *name, const char *more, struct found *x)
{
	const struct claim *all = fact_get(facts_file(f, "gpus.yaml"), "capabilities");
	const struct gpu *g = facts_gpu(f, name);

	(void)more;
	if (!g && !fact_get(all, name))
		g = gpu_like(f, name);
	x->gpu = g;
	if (!g) {
		x->title = arena_printf(f->a, "compute capability %s", name);
		return also(f, x, fact_get(all, name));
	}
	x->without = "gpus";
	x->title = arena_printf(f->a, "gpu %s", g->name);
	also(f, x, fact_get(all, g->cc));
	return also(f, x, fact_get(fact_get(x->parts.at[0], "gpus"), g->name));
}

static bool
find_extension(const struct facts *f, const char *name, const char *more, struct found *x)
{
	const struct extension *e = facts_extension(f, name);
	struct held h;

	if (!e)
		return false;
	x->title = arena_printf(f->a, "extension %s", e->name);
	also(f, x, extension_file_of(f, e->name));
	if (!more)
		return true;
	x->release = extension_release(e, more);
	if (!x->release)
		return false;
	x->title = arena_printf(f->a, "extension %s %s", e->name, x->release->version);
	h = extension_held(x->parts.at[0],
			   fact_get(fact_get(x->parts.at[0], "releases"), x->release->version));
	for (size_t i = 0; i < h.n; i++)
		also(f, x, h.ranges[i]);
	return also(f, x, h.release);
}

/* Finds the part written by hand, and the part from the package index. */
static bool
find_package(const struct facts *f, const char *name, const char *more, struct found *x)
{
	const char *key = name_normalize(f->a, name);
	const struct claim *own = facts_file_in(f, "packages/", key);
	const struct claim *file = releases_file_of(f, key);

	x->title = arena_printf(f->a, "package %s%s%s", key, more ? " " : "", more ? more : "");
	if (!own && !file)
		return false;
	if (more)
		return find_keyed(f, fact_get(file, "releases"), more, x);
	if (own)
		also(f, x, own);
	return file ? also(f, x, file) : true;
}

static bool
find_rule(const struct facts *f, const char *name, const char *more, struct found *x)
{
	const struct claim *rule = NULL;

	(void)more;
	for (size_t i = 0; i < facts_file_count(f) && !rule; i++)
		rule = fact_get(fact_get(row_root(facts_row(f, i)), "rules"), name);
	x->name = name;
	return also(f, x, rule);
}

static bool
find_modal(const struct facts *f, const char *name, const char *more, struct found *x)
{
	const struct claim *root = facts_file(f, "modal.yaml"),
			   *builders = fact_get(root, "builders");
	const struct modal_gpu *g = facts_modal_gpu(f, name);

	(void)more;
	if (fact_get(builders, name))
		return find_keyed(f, builders, name, x);
	return find_keyed(f, fact_get(root, "gpus"), g ? g->name : name, x);
}

/* --- the lists: one line for each entry --- */

static void
list_torch(struct show *v, struct table *t)
{
	size_t n;
	const struct torch_release *const *all = facts_torch_all(v->f, &n);

	for (size_t i = 0; i < n; i++) {
		struct buf builds = BUF(v->a);

		for (size_t k = 0; k < all[i]->nvariants; k++) {
			const struct torch_variant *b = &all[i]->variants[k];

			buf_printf(&builds, b->on_pypi ? "%s[%s]" : "%s%s", k ? " " : "", b->tag);
		}
		table_add(v, t, all[i]->version, names_join(v->a, &all[i]->pythons, " "),
			  buf_text(&builds));
	}
}

static void
list_cuda(struct show *v, struct table *t)
{
	size_t n;
	const struct cuda_toolkit *const *all = facts_cuda_all(v->f, &n);

	for (size_t i = 0; i < n; i++) {
		const struct cuda_toolkit *c = all[i];

		table_add(v, t, c->version,
			  c->driver_min ? arena_printf(v->a, ">=%s", c->driver_min) : NULL,
			  c->gcc_max ? arena_printf(v->a, "<=%u", c->gcc_max) : NULL,
			  c->wheels ? "nvcc" : NULL, names_join(v->a, &c->image_os, " "));
	}
}

static void
list_gpu(struct show *v, struct table *t)
{
	struct names ids = facts_gpu_names(v->f, v->a);

	for (size_t i = 0; i < ids.n; i++) {
		const struct gpu *g = facts_gpu(v->f, ids.at[i]);

		table_add(v, t, g->id, g->name, g->cc, g->arch,
			  g->memory_gb ? arena_printf(v->a, "%u GB", g->memory_gb) : NULL);
	}
}

static void
list_extension(struct show *v, struct table *t)
{
	struct names names = facts_extension_names(v->f);

	for (size_t i = 0; i < names.n; i++) {
		const struct extension *e = facts_extension(v->f, names.at[i]);

		table_add(v, t, e->name,
			  e->nreleases ? e->releases[e->nreleases - 1].version : NULL, e->git);
	}
}

static void
list_package(struct show *v, struct table *t)
{
	struct names names = facts_package_names(v->f);

	names_sort(&names);
	for (size_t i = 0; i < names.n; i++) {
		const struct python_package *p = facts_package(v->f, names.at[i]);
		const struct package_release *r = p->n ? &p->releases[p->n - 1] : NULL;

		table_add(v, t, p->name, r ? r->version : NULL, r ? r->requires_python : NULL);
	}
}

static void
list_rule(struct show *v, struct table *t)
{
	static const char *const severities[] = { "note", "warning", "error" };

	for (size_t i = 0; i < facts_rule_count(v->f); i++) {
		const struct rule *r = facts_rule(v->f, i);

		table_add(v, t, r->name, severities[r->severity], code_table[r->code].id,
			  r->sentence);
	}
}

static const struct claim *
map_of(const struct facts *f, const struct subject *s)
{
	return fact_get(facts_file(f, s->file), s->map);
}

/* Lists the values of `s` for each key; false is shown as nothing. */
static void
list_keys(struct show *v, struct table *t, const struct subject *s)
{
	const struct claim *all = map_of(v->f, s);
	struct names values = names_split(v->a, s->values, '|');

	for (size_t i = 0; i < fact_count(all); i++) {
		const char **cells = table_row(v, t);

		cells[0] = fact_key(all, i);
		for (size_t k = 0; k < values.n; k++) {
			const struct claim *x = fact_get(fact_at(all, i), values.at[k]);
			bool no = x && !strcmp(fact_text(x), "false");
			bool yes = x && !strcmp(fact_text(x), "true");

			cells[k + 1] = no ? NULL : yes ? "yes" : fact_text(x);
		}
	}
}

static struct table
list_of(struct show *v, const struct subject *s)
{
	struct table t = table_of(v->a, s->heads);

	if (s->list)
		s->list(v, &t);
	else
		list_keys(v, &t, s);
	return t;
}

static struct names
names_of(struct show *v, const struct subject *s)
{
	struct table t = list_of(v, s);
	struct names names = { 0 };

	for (size_t i = 0; i < t.rows.n; i++)
		list_push(v->a, &names, t.rows.at[i][0]);
	return names;
}

static const struct subject subjects[] = {
	{ "torch", "releases of torch, their builds and requirements", "torch 2.2.2", "torch.yaml",
	  "releases", "torch|Python|builds, [PyPI's]", find_torch, list_torch, "", "builds" },
	{ "cuda", "toolkits: drivers, compilers, GPUs, images", "cuda 12.1.1", "cuda.yaml",
	  "series", "CUDA|driver|gcc|wheels|devel images of", find_cuda, list_cuda, "", NULL },
	{ "gpu", "GPUs and their compute capabilities", "gpu rtx4090", "gpus.yaml", "capabilities",
	  "in a recipe|GPU|capability|architecture|memory", find_gpu, list_gpu, "", "" },
	{ "extension", "packages that compile their own CUDA code", "extension mamba-ssm 2.2.2",
	  NULL, NULL, "extension|newest known|repository", find_extension, list_extension, "",
	  "releases" },
	{ "os", "operating systems of base images", "os ubuntu22.04", "os.yaml", "releases",
	  "system|Python|gcc|glibc|deadsnakes", NULL, NULL, "python|gcc|glibc|deadsnakes", NULL },
	{ "base", "base images and their contents", "base pytorch/pytorch", "bases.yaml", "images",
	  "repository|pieces of its tag", NULL, NULL, "tag", NULL },
	{ "modal", "Modal: limits, image builders, GPUs, prices", "modal", "modal.yaml", "gpus",
	  "gpu", find_modal, NULL, "", NULL },
	{ "package", "packages: their releases on the package index", "package numpy", NULL, NULL,
	  "package|newest known|its Python", find_package, list_package, "", "releases" },
	{ "rule", "compatibility rules", "rule cuda-major", NULL, NULL,
	  "rule|severity|code|message", find_rule, list_rule, "", NULL },
};

/* --- the command --- */

/* Returns the names that contain the word, "`a`, `b`"; NULL: too many. */
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
		diag_help(d, "run `stackbuild facts%s%s` to list the entries", subject ? "" : " ",
			  subject ? "" : what);
	return false;
}

static bool
find(const struct facts *f, const struct subject *s, const char *name, const char *more,
     struct found *x)
{
	if (s->find)
		return s->find(f, name, more, x);
	if (find_keyed(f, map_of(f, s), name, x))
		return true;
	x->parts.n = 0;
	return find_keyed(f, map_of(f, s), name_normalize(f->a, name), x);
}

/* Prints the answer, or the error for an unknown name. */
static bool
answer(struct show *v, struct diags *ds, const struct subject *s, const char *name,
       const char *more, bool as_json)
{
	struct found x = { 0 };

	if ((!more || s->more) && find(v->f, s, name, more, &x)) {
		if (!x.title)
			x.title = arena_printf(v->a, "%s %s%s%s", s->name, x.name ? x.name : name,
					       more ? " " : "", more ? more : "");
		if (as_json)
			found_json(v->a, &x, v->out);
		else
			found_text(v->f, v->a, &x, v->out);
		return true;
	}
	memset(&x, 0, sizeof(x));
	if (!more || !find(v->f, s, name, NULL, &x))
		return not_known(ds, s->name, name, names_of(v, s));
	if (s->more)
		return not_known(ds, arena_printf(v->a, "%s %s", s->name, name), more,
				 fact_keys(v->a, fact_get(x.parts.at[0], s->more)));
	diag_help(diag_at(ds, E_FACT_UNKNOWN, (struct span){ 0 },
			  "%s `%.200s %.200s` is not in the knowledge base", s->name, name, more),
		  "run `stackbuild facts %s %s` to list the entries", s->name, name);
	return false;
}

/* Writes the names of a list, or the whole list, as JSON. */
static void
show_list(struct show *v, const char *what, const struct table *t, bool as_json)
{
	struct json j = json_to(v->out);

	if (!as_json) {
		table_print(v, t, 0);
		return;
	}
	json_map(&j, NULL);
	json_list(&j, what);
	for (size_t i = 0; i < t->rows.n; i++)
		json_text(&j, NULL, t->rows.at[i][0]);
	json_end(&j);
	json_end(&j);
}

bool
facts_show(const struct facts *f, struct arena *a, struct diags *ds, const char *subject,
	   const char *name, const char *more, bool as_json, struct buf *out)
{
	struct show v = { .f = f, .a = a, .out = out };
	struct table t = table_of(a, "subject|contents|for example");
	const struct subject *s = NULL;
	struct names known = { 0 };

	for (size_t i = 0; i < sizeof(subjects) / sizeof(*subjects); i++) {
		if (subject && !strcmp(subjects[i].name, subject))
			s = &subjects[i];
		list_push(a, &known, subjects[i].name);
		table_add(&v, &t, subjects[i].name, subjects[i].what,
			  arena_printf(a, "stackbuild facts %s", subjects[i].example));
	}
	if (subject && !s)
		return not_known(ds, "the subject", subject, known);
	if (name && more && s->more && !*s->more)
		return answer(&v, ds, s, arena_printf(a, "%s %s", name, more), NULL, as_json);
	if (name)
		return answer(&v, ds, s, name, more, as_json);
	if (s && !*s->values && !s->list && !as_json) {
		/* Shows the whole file: it is short, and users look up limits more often than GPUs. */
		show_map(&v, facts_file(f, s->file), 0, 0, &(struct names){ 0 });
		show_notes(&v);
		return true;
	}
	if (s)
		t = list_of(&v, s);
	show_list(&v, s ? s->name : "subjects", &t, as_json);
	return true;
}

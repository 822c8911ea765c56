#include "base/fs.h"

#include "internal.h"

/*
 * Extensions: the release and the source that the solver selected, the environment of the
 * compile step, and the order.
 */

/* Returns what else to use than an unlisted version: "mamba-ssm 2.2.2 or 2.2.4", the listed releases
 * before and after it; NULL: none is listed. */
static const char *
listed_near(struct workspace *w, const struct extension *known, const char *version)
{
	struct names near = { 0 };
	size_t i = 0;

	while (version && i < known->nreleases &&
	       text_version_order(w, known->releases[i].version, version) < 0)
		i++;
	if (i)
		list_push(w->a, &near, known->releases[i - 1].version);
	if (version && i < known->nreleases)
		list_push(w->a, &near, known->releases[i].version);
	return near.n ? arena_printf(w->a, "%s %s", known->name, names_words(w->a, &near, "or")) :
			NULL;
}

/* Returns the only known extension whose name begins like this: mamba-ssm for mamba. */
static const char *
name_continued(struct workspace *w, const char *key)
{
	const struct names known = facts_extension_names(w->f);
	const char *found = NULL;
	size_t n = strlen(key);

	for (size_t i = 0; i < known.n; i++)
		if (n > 3 && !strncmp(known.at[i], key, n)) {
			if (found)
				return NULL;
			found = known.at[i];
		}
	return found;
}

static void
check_known(struct workspace *w, const struct recipe_extension *e, const struct stack_extension *x)
{
	const char *meant, *near;
	struct diag *d;

	if (x->source == SOURCE_WHEEL || x->source == SOURCE_PATH)
		return;
	if (!x->known) {
		d = diag_at(w->ds, W_EXTENSION_UNKNOWN, e->at,
			    "the extension `%s` is not in the knowledge base", e->name.s);
		diag_why(d, "stackbuild compiles it without build isolation, after torch, the "
			    "build requirements and all of `packages`");
		if (!e->git.s && !e->url.s &&
		    ((meant = name_meant(w, e->key)) || (meant = name_continued(w, e->key))))
			diag_help(d, "did you mean `%s`?", meant);
		diag_help(d, "add its build and run-time requirements to `packages`");
	} else if (!x->release && !x->build->run_known && (x->version || x->ref || x->url)) {
		d = diag_at(w->ds, W_RELEASE_UNKNOWN, e->at,
			    "`%s` at %s is not in the knowledge base", e->name.s,
			    x->ref     ? x->ref :
			    x->version ? x->version :
					 x->url);
		diag_why(d, "its run-time requirements are unknown too, and stackbuild installs it "
			    "without its dependencies");
		if ((near = listed_near(w, x->known, x->version)))
			diag_help(d, "use %s, the nearest in the knowledge base", near);
		if (!near && x->known->nreleases)
			diag_help(d,
				  "add its run-time requirements to `packages`, or use a release "
				  "that `stackbuild facts extension %s` lists",
				  x->known->name);
		else
			diag_help(d, "add its run-time requirements to `packages`");
	}
}

/* Returns true if the solver has already reported a conflict about it. */
static bool
in_conflict(const struct workspace *w, const struct recipe_extension *e)
{
	return list_any(c, &w->solution->errors,
			list_any(pin, &c->found.pins, w->requests.at[*pin].extension == e));
}

static void
refuse_source(struct workspace *w, const struct recipe_extension *e, const char *what,
	      const char *why, const char *help)
{
	struct diag *d;

	/* A conflict explains it, but a forced plan has no source to write. */
	if (in_conflict(w, e) && !w->forced)
		return;
	d = diag_at(w->ds, E_EXTENSION_SOURCE, e->from_at.line ? e->from_at : e->at, "`%s` %s",
		    e->name.s, what);
	if (why)
		diag_why(d, "%s", why);
	help_from(w, d, e->from_at, help);
}

/* Returns the address of the project's own wheel for this stack; NULL: *why. */
static const char *
project_wheel(struct arena *a, const struct stack *s, const struct stack_extension *x,
	      const char **why, const char **source)
{
	const struct torch_variant *v = s->torch_variant;

	*why = "the knowledge base has too little about it, or about this torch";
	*source = NULL;
	if (!x->release || !v || !v->cuda || !s->python.value || v->cxx11abi == TRI_UNKNOWN)
		return NULL;
	return facts_extension_wheel(s->facts, a, x->release,
				     &(struct wheel_wanted){ .torch = s->torch.value,
							     .cuda = v->cuda,
							     .python = s->python.value,
							     .machine = recipe_machine(s->recipe),
							     .glibc = s->os ? s->os->glibc : NULL,
							     .cxx11abi = v->cxx11abi },
				     why, source);
}

const char *
stack_prebuilt(struct arena *a, const struct stack *s, const struct stack_extension *x)
{
	const char *why, *source;

	return x->source == SOURCE_WHEEL ? NULL : project_wheel(a, s, x, &why, &source);
}

static void
take_project_wheel(struct workspace *w, const struct recipe_extension *e, struct stack_extension *x,
		   struct span at, const char *source)
{
	struct diag *d;

	x->source = SOURCE_WHEEL;
	x->source_reason = "the project's own wheel for this torch, CUDA, Python and C++ ABI";
	if (in_conflict(w, e))
		return;
	d = diag_at(w->ds, W_NO_HASH, at, "`%s` is downloaded without a digest", e->name.s);
	diag_why(d, "the wheel's name follows from the stack; it may not have been uploaded");
	diag_help(d, "write its address and digest: `url: %s` and `sha256:`", x->url);
	diag_source(d, source);
}

static void
from_release(struct workspace *w, const struct recipe_extension *e, struct stack_extension *x)
{
	const char *why, *source;

	x->url = project_wheel(w->a, w->s, x, &why, &source);
	if (x->url)
		take_project_wheel(w, e, x, e->from_at, source);
	else
		refuse_source(w, e, "has no prebuilt wheel for this stack", why,
			      "write `from: auto` to compile it");
}

/* Replaces the source by the project's wheel if the recipe prefers that and names no source. */
static void
prefer_prebuilt(struct workspace *w, const struct recipe_extension *e, struct stack_extension *x)
{
	bool own = e->prefer != PREFER_AUTO;
	const char *why, *source, *url;

	if (e->from != EXT_AUTO || e->git.s || e->ref.s || e->branch.s || e->subdirectory.s ||
	    e->path.s || (own ? e->prefer : w->r->prefer) != PREFER_PREBUILT ||
	    !(url = project_wheel(w->a, w->s, x, &why, &source)))
		return;
	x->url = url;
	x->ref = NULL;
	take_project_wheel(w, e, x, own ? e->prefer_at : w->r->prefer_at, source);
}

/* Returns why the solver took the repository: the package index has no source that compiles. */
static const char *
no_sdist(struct workspace *w, const struct stack_extension *x)
{
	if (x->known->pypi == PYPI_NONE)
		return "PyPI has no release of it";
	if (x->known->pypi == PYPI_OTHER)
		return "on PyPI that name belongs to another project";
	if (x->release && !x->release->on_pypi)
		return arena_printf(w->a, "%s is not on PyPI", x->release->version);
	return x->build->sdist_why ? x->build->sdist_why : "its sdist cannot be built";
}

static void
from_git(struct workspace *w, const struct recipe_extension *e, struct stack_extension *x)
{
	const struct extension *known = x->known;
	bool given = e->git.s || e->ref.s;

	x->source = SOURCE_GIT;
	x->url = e->git.s                      ? e->git.s :
		 x->release && x->release->git ? x->release->git :
		 known                         ? known->git :
						 NULL;
	x->ref = given ? e->ref.s : x->release ? x->release->git_tag : NULL;
	x->submodules = !known || known->submodules;
	x->subdirectory = e->subdirectory.s ? e->subdirectory.s :
			  known             ? known->subdirectory :
					      NULL;
	if (!x->url && given)
		refuse_source(w, e, "has a ref, but no known repository", NULL, "give `git:`");
	else if (!x->url || (!given && !x->ref))
		refuse_source(w, e, "comes from git, but has no known repository or tag", NULL,
			      "give `git:` and `ref:`");
	else
		x->source_reason = given              ? "the recipe names the repository" :
				   e->from == EXT_GIT ? "the recipe requires git" :
							no_sdist(w, x);
}

static void
from_url(struct workspace *w, const struct recipe_extension *e, struct stack_extension *x)
{
	struct diag *d;

	if (is_index_wheel(w, e)) {
		x->source = SOURCE_WHEEL;
		x->source_reason = "a wheel of the index that `index.extra` names for it";
	}
	if (!e->url.s)
		return; /* `from: wheel` without an address or an index is a conflict */
	x->source = recipe_names_wheel(e->url.s) ? SOURCE_WHEEL : SOURCE_ARCHIVE;
	x->url = e->url.s;
	x->sha256 = e->sha256.s;
	x->source_reason = "the recipe names the file";
	if (x->source == SOURCE_ARCHIVE && e->from == EXT_WHEEL)
		refuse_source(w, e, "is not a wheel", NULL, "write `from: auto`");
	if (x->sha256)
		return;
	d = diag_at(w->ds, W_NO_HASH, e->url.at, "`%s` is downloaded without a digest", e->name.s);
	diag_help(d, "add the file's digest to the URL (`#sha256=...`) or as `sha256:`");
}

static void
from_path(struct workspace *w, const struct recipe_extension *e, struct stack_extension *x)
{
	x->source = SOURCE_PATH;
	x->path = fs_clean(w->a, e->path.s);
	x->subdirectory = e->subdirectory.s;
	x->source_reason = "your own code";
}

static void
find_source(struct workspace *w, const struct recipe_extension *e, struct stack_extension *x)
{
	const struct candidate *c = decided(w, arena_printf(w->a, "%s source", x->name));
	const char *from = c ? c->text : "sdist";

	x->source = SOURCE_SDIST;
	if (e->path.s)
		from_path(w, e, x);
	else if (!strcmp(from, "git"))
		from_git(w, e, x);
	else if (!strcmp(from, "url"))
		from_url(w, e, x);
	else if (!strcmp(from, "release"))
		from_release(w, e, x);
	else
		x->source_reason = x->build && x->build->sdist_buildable == TRI_YES ?
					   "its sdist on PyPI can be compiled" :
					   "the sdist of the package index";
	if (x->source == SOURCE_GIT || x->source == SOURCE_SDIST)
		prefer_prebuilt(w, e, x);
}

/* --- the settings of its compile step --- */

static void
set(struct workspace *w, struct settings *env, const char *name, const char *value)
{
	list_push(w->a, env, (struct setting){ { name, { 0 } }, { value, { 0 } } });
}

static void
set_given(struct workspace *w, struct settings *env, const struct setting *given)
{
	const struct setting *there = setting_named(env, given->name.s);

	if (there)
		env->at[there - env->at] = *given;
	else
		list_push(w->a, env, *given);
}

/* Returns the capability whose code runs on a GPU: of the same major version and not newer; `cc` if
 * none is known. */
static const char *
nearest_arch(const struct names *archs, const char *cc)
{
	size_t n = strcspn(cc, ".") + 1;
	const char *best = NULL;

	for (size_t i = 0; i < archs->n; i++)
		if (!strncmp(archs->at[i], cc, n) && strcmp(archs->at[i], cc) <= 0 &&
		    (!best || strcmp(archs->at[i], best) > 0))
			best = archs->at[i];
	return best ? best : cc;
}

/* Returns "80;90" or "8.0;9.0", as a package's own variable requires. */
static const char *
arch_numbers(struct workspace *w, const struct extension_release *r)
{
	struct buf b = BUF(w->a);
	struct names seen = { 0 };

	for (size_t i = 0; i < w->s->archs.n; i++) {
		const char *cc = nearest_arch(&r->archs, w->s->archs.at[i].value);
		size_t dot = strcspn(cc, ".");

		if (names_have(&seen, cc))
			continue;
		list_push(w->a, &seen, cc);
		buf_printf(&b, "%s%.*s%s", seen.n > 1 ? ";" : "", (int)dot, cc,
			   cc + dot + !r->arch_env_dots);
	}
	return buf_text(&b);
}

/* Variables that any compile step may read, even if the recipe sets them for another extension. */
static const char compiler_variables[] =
	"AR CC CFLAGS CPPFLAGS CUDAHOSTCXX CUDA_HOME CXX CXXFLAGS LDFLAGS MAX_JOBS "
	"NVCC_APPEND_FLAGS NVCC_PREPEND_FLAGS NVCC_THREADS PYTORCH_NVCC TORCH_CUDA_ARCH_LIST";

static void
fill_env(struct workspace *w, const struct recipe_extension *e, struct stack_extension *x)
{
	const struct extension *known = x->known;
	const struct extension_release *r = x->build;
	const struct names steering = names_split(w->a, compiler_variables, ' ');
	struct settings *env = &x->env;
	bool without_cuda = known && known->cpu == TRI_YES && w->s->torch_tag &&
			    !strcmp(w->s->torch_tag, "cpu");

	if (known && known->force_build_env)
		set(w, env, known->force_build_env, "TRUE");
	for (size_t i = 0; known && !without_cuda && i < known->extra_env.n; i++) {
		const char *given = known->extra_env.at[i];
		size_t n = strcspn(given, "=");

		set(w, env, arena_copy(w->a, given, n), given + n + 1);
	}
	if (w->s->archs.n) {
		set(w, env, "TORCH_CUDA_ARCH_LIST", w->s->arch_list);
		if (r && r->arch_env)
			set(w, env, r->arch_env, arch_numbers(w, r));
	}
	for (size_t i = 0; i < w->r->env.n; i++)
		if (names_have(&steering, w->r->env.at[i].name.s))
			set_given(w, env, &w->r->env.at[i]);
	for (size_t i = 0; i < e->env.n; i++)
		set_given(w, env, &e->env.at[i]);
	x->arch_flags = !r || r->honours_arch_list == TRI_UNKNOWN ? "not known" :
			r->honours_arch_list == TRI_YES           ? "honoured" :
								    "ignored";
}

/* nvcc-arch shortens a fixed list in setup.py, if torch can run another program as nvcc. */
static const char *
nvcc_env(struct workspace *w, const struct stack_extension *x)
{
	const struct extension_release *r = x->build;
	const char *name;

	if (x->source == SOURCE_WHEEL || !w->r->gpus.n || !w->s->archs.n || !w->s->torch.value ||
	    !r || !r->archs.n || r->arch_env || r->honours_arch_list != TRI_NO)
		return NULL;
	name = facts_torch_nvcc_env(w->f, w->s->torch.value);
	return name && !setting_named(&x->env, name) ? name : NULL;
}

/* Finds the release, its version, and the requirement that pins it. */
static void
find_version(struct workspace *w, const struct recipe_extension *e, struct stack_extension *x)
{
	const char *in_file = e->url.s ? version_of_url(w, e->url.s) : NULL;
	/* The version of own code is in its setup.py. */
	bool pinned = e->version.s || e->ref.s || in_file || e->path.s;
	const struct version *v = e->version.s ? version_parse(w->a, e->version.s) : NULL;
	const struct candidate *c = decided(w, x->name);
	const char *built; /* the installed version */

	if (x->known && c && (pinned || !e->url.s))
		x->release = c->entry;
	if (x->known && !pinned && (e->git.s || e->branch.s))
		report_not_pinned(w, e, x->known);
	else if (x->known && !pinned && !e->url.s && !in_conflict(w, e))
		report_unpinned_extension(w, e, x->known, x->release);
	x->version = v ? version_text(w->a, v) : x->release ? x->release->version : in_file;
	built = x->release && x->release->file_version && !in_file ? x->release->file_version :
								     x->version;
	x->requirement = built ? arena_printf(w->a, "%s==%s", x->name, built) :
			 e->specifier.s && !e->url.s && !e->ref.s ?
				 arena_printf(w->a, "%s%s", x->name, e->specifier.s) :
				 x->name;
}

static struct stack_extension
complete(struct workspace *w, const struct recipe_extension *e)
{
	struct stack_extension x = { .asked = e, .name = e->key, .at = e->at };
	unsigned errors = w->ds->errors;

	x.known = facts_extension(w->f, e->key);
	if (x.known)
		x.name = x.known->name;
	find_version(w, e, &x);
	x.index = extra_index(w, e->key);
	x.build = x.release ? x.release : x.known ? &x.known->any : NULL;
	find_source(w, e, &x);
	if (!x.version && ((!x.known && x.source == SOURCE_SDIST) || is_index_wheel(w, e)))
		diag_help(diag_at(w->ds, W_UNPINNED, e->at,
				  "`%s` has no version: pip installs the newest", e->name.s),
			  "pin it: %s==VERSION", e->name.s);
	if (w->ds->errors == errors && !in_conflict(w, e))
		check_known(w, e, &x);
	fill_env(w, e, &x);
	x.nvcc_env = nvcc_env(w, &x);
	if (x.known) {
		x.imports = x.known->imports;
		x.mem_mib_per_job = x.known->mem_mib_per_job;
		x.fact_source = x.release ? x.release->source : x.known->source;
	}
	if (e->imports.n)
		x.imports = list_names(w->a, t, &e->imports, t->s);
	return x;
}

/* --- order --- */

/* Sorts extensions in the recipe's order, but after those that they need. */
static void
sort_extensions(struct workspace *w)
{
	struct stack_extensions *all = &w->s->extensions, sorted = { 0 };
	bool *placed = arena_array_of(w->a, bool, all->n);
	struct names names = { 0 };

	while (sorted.n < all->n) {
		size_t next = all->n;

		for (size_t i = all->n; i-- > 0;) {
			bool ready = !placed[i];

			for (size_t k = 0; k < all->at[i].after.n; k++)
				ready &= names_have(&names, all->at[i].after.at[k]);
			next = ready ? i : next;
		}
		/* Extensions in a cycle keep the recipe's order; the plan reports the cycle. */
		for (size_t i = 0; next == all->n; i++)
			next = placed[i] ? next : i;
		placed[next] = true;
		list_push(w->a, &names, all->at[next].name);
		list_push(w->a, &sorted, all->at[next]);
	}
	*all = sorted;
}

void
resolve_extensions(struct workspace *w)
{
	struct stack_extensions *all = &w->s->extensions;

	for (size_t i = 0; i < w->r->extensions.n; i++)
		if (extension_stays(w, &w->r->extensions.at[i])) {
			/* Calls complete() before list_push, because it reads the list, which
			 * list_push makes longer first. */
			struct stack_extension x = complete(w, &w->r->extensions.at[i]);

			list_push(w->a, all, x);
		}
	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < all->n; k++)
			if (i != k && all->at[i].known &&
			    names_have(&all->at[i].known->after, all->at[k].name))
				list_push(w->a, &all->at[i].after, all->at[k].name);
	sort_extensions(w);
	w->s->compiles = false;
	for (size_t i = 0; i < all->n; i++)
		w->s->compiles |= all->at[i].source != SOURCE_WHEEL;
}

#include "internal.h"

/* The requests of the recipe: one for each place, with its sentences for diagnostics. */

/*
 * Adds a request for the candidate `exact` or, if that is NULL, for one of `set`; it applies where
 * w->when is true. Without a note or sentence in p, they are made for p.extension, p.requirement or
 * the variable.
 */
static void
request(struct workspace *w, struct request p, const char *exact, const solve_word *set,
	unsigned weight)
{
	const char *name = p.extension   ? p.extension->name.s :
			   p.requirement ? p.requirement->req->name :
					   variable_at(w, p.variable)->label;

	if (exact)
		set = set_one(w, p.variable, variable_candidate(w, p.variable, exact));
	if (!p.note)
		p.note = arena_printf(w->a, "%s is required here", name);
	if (!p.sentence)
		p.sentence = arena_printf(w->a, "the recipe requires %s %s", name,
					  exact ? exact : p.text);
	list_push(w->a, &w->requests, p);
	list_push(w->a, &w->solver_pins,
		  (struct solve_pin){ .variable = p.variable,
				      .set = set,
				      .when = w->when,
				      .weight = weight,
				      .fixed = weight == HEAVY });
}

/* Adds a request for one candidate of a kind with a single variable. */
static void
request_one(struct workspace *w, enum request_kind kind, enum variable_kind of, struct text t,
	    const char *exact, unsigned weight)
{
	request(w,
		(struct request){
			.kind = kind, .variable = the_variable(w, of), .at = t.at, .text = t.s },
		exact, NULL, weight);
}

static void
request_need(struct workspace *w, unsigned variable, const char *sentence)
{
	request(w,
		(struct request){ .kind = REQUEST_NEED,
				  .variable = variable,
				  .text = "",
				  .sentence = sentence },
		NULL, set_all(w, variable), HEAVY);
}

/* --- torch --- */

/* Returns the build in torch.index, also at the end of a URL (".../whl/cu121"), or NULL. */
static const char *
tag_of_index(struct workspace *w, const char *index)
{
	size_t start, n = url_end(index, &start);
	const char *tag = arena_copy(w->a, index + start, n - start);

	if (!strstr(index, "://"))
		return index;
	return cuda_of_tag(w->a, tag) || !strcmp(tag, "cpu") ? tag : NULL;
}

static void
read_index(struct workspace *w)
{
	const char *tag = w->index_tag = tag_of_index(w, w->index.s);

	the_variable(w, VARIABLE_BUILD);
	/* The build on PyPI depends on the release, so it is a separate variable. */
	if (tag)
		request_one(w, REQUEST_INDEX, strcmp(tag, "pypi") ? VARIABLE_BUILD : VARIABLE_INDEX,
			    w->index, tag, LIGHT);
}

static void
read_torch(struct workspace *w)
{
	const struct recipe *r = w->r;
	const struct version *v =
		r->torch.version.s ? version_parse(w->a, r->torch.version.s) : NULL;
	const char *local = v ? version_local(w->a, v) : NULL;

	if (!r->torch.at.line && !r->torch.version.s)
		return;
	if (v)
		request_one(w, REQUEST_TORCH, VARIABLE_TORCH, r->torch.version,
			    torch_of_base(w) ? torch_checked_as(w, version_public(w->a, v)) :
					       version_public(w->a, v),
			    TORCH);
	else
		request_need(w, the_variable(w, VARIABLE_TORCH), "the recipe requires torch");
	w->index = r->torch.index;
	if (!w->index.s && local)
		w->index = (struct text){ local, r->torch.version.at };
	if (w->index.s)
		read_index(w);
}

/* --- CUDA, system, Python, GPUs and compiler --- */

static void
read_base(struct workspace *w)
{
	const struct recipe *r = w->r;
	unsigned cuda;

	if (r->base.s) {
		request_one(w, REQUEST_BASE, VARIABLE_BASE, r->base, r->base.s, PLACE);
		/* A repair may use any image that satisfies the rest. */
		variable_candidate(w, the_variable(w, VARIABLE_BASE), "another");
		if (w->image.os)
			variable_candidate(w, the_variable(w, VARIABLE_OS), w->image.os);
		if (w->image.cuda)
			variable_candidate(w, the_variable(w, VARIABLE_CUDA), w->image.cuda);
		if (torch_of_base(w))
			variable_candidate(w, the_variable(w, VARIABLE_TORCH),
					   torch_checked_as(w, torch_of_base(w)));
		if (torch_of_base(w) && w->image.cuda)
			variable_candidate(w, the_variable(w, VARIABLE_BUILD),
					   cuda_tag(w->a, w->image.cuda));
	}
	request_need(w, the_variable(w, VARIABLE_OS), "the stack has an operating system");
	cuda = the_variable(w, VARIABLE_CUDA);
	if (r->cuda.s) {
		const solve_word *set = set_cuda(w, cuda, r->cuda.s);

		request(w,
			(struct request){ .kind = REQUEST_CUDA,
					  .variable = cuda,
					  .at = r->cuda.at,
					  .text = r->cuda.s },
			set_is_empty(w, cuda, set) ? r->cuda.s : NULL, set, PLACE);
	} else if (w->compiles) {
		request_need(w, cuda, "extensions are compiled with a CUDA toolkit");
	}
}

static void
read_machine_and_python(struct workspace *w)
{
	const struct recipe *r = w->r;
	const char *arch = recipe_machine(r);

	if (r->python.s)
		request_one(w, REQUEST_PYTHON, VARIABLE_PYTHON, r->python, r->python.s, PLACE);
	else
		request_need(w, the_variable(w, VARIABLE_PYTHON), "the stack has a Python");
	request(w,
		(struct request){ .kind = REQUEST_MACHINE,
				  .variable = the_variable(w, VARIABLE_MACHINE),
				  .at = r->platform.at,
				  .text = arch,
				  .note = "the platform is named here",
				  .sentence = arena_printf(w->a, "the image is for %s", arch) },
		arch, NULL, HEAVY);
	list_each (g, &r->gpus) {
		unsigned gpu = variable_get(w, VARIABLE_GPU, arena_printf(w->a, "gpu %s", g->cc));

		variable_at(w, gpu)->label = g->text.s;
		request(w,
			(struct request){ .kind = REQUEST_GPU,
					  .variable = gpu,
					  .at = g->text.at,
					  .text = g->text.s,
					  .note = "the GPU is named here",
					  .sentence = arena_printf(w->a,
								   "`%s` has compute capability %s",
								   g->text.s, g->cc) },
			g->cc, NULL, HEAVY);
	}
	if (r->driver.s)
		request_one(w, REQUEST_DRIVER, VARIABLE_DRIVER, r->driver, r->driver.s, HEAVY);
}

/* Requests the major version of CUDAHOSTCXX, CXX or CC: "gcc-12", "/usr/bin/g++-11". */
static void
read_compiler(struct workspace *w)
{
	static const char *const names[] = { "CUDAHOSTCXX", "CXX", "CC" };

	for (size_t k = 0; !w->gcc && k < sizeof(names) / sizeof(names[0]); k++)
		for (size_t i = 0; !w->gcc && i < w->r->env.n; i++) {
			struct text value = w->r->env.at[i].value;
			const char *dash = value.s ? strrchr(value.s, '-') : NULL;

			if (strcmp(w->r->env.at[i].name.s, names[k]) != 0 || !dash ||
			    !is_digit(dash[1]))
				continue;
			value.s = w->gcc =
				arena_copy(w->a, dash + 1, strspn(dash + 1, "0123456789"));
			request_one(w, REQUEST_COMPILER, VARIABLE_GCC, value, w->gcc, HEAVY);
		}
}

/* --- packages --- */

bool
is_tracked(const struct workspace *w, const char *key)
{
	return facts_package(w->f, key) || facts_extension(w->f, key) || is_companion(key) ||
	       facts_paired(w->f, key);
}

/* Returns false if no allowed Python has the marker; later pins apply to those in w->when. */
static bool
applies(struct workspace *w, const struct marker *m)
{
	unsigned python = (unsigned)variable_find(w, "python");
	const char *asked = w->r->python.s;
	struct solve_term *when;
	solve_word *set;
	size_t n, held;

	w->when = NULL;
	if (!m)
		return true;
	set = set_pythons_where(w, m);
	n = variable_at(w, python)->n;
	held = solve_set_count(set, n);
	if (held && held < n) {
		when = arena_new_of(w->a, struct solve_term);
		*when = (struct solve_term){ .variable = python, .set = set };
		w->when = when;
	}
	return asked ? solve_set_has(set, variable_candidate(w, python, asked)) : held;
}

static unsigned
package_variable(struct workspace *w, const char *key)
{
	return variable_get(w, facts_extension(w->f, key) ? VARIABLE_EXTENSION : VARIABLE_PACKAGE,
			    key);
}

/* Returns the known release in a URL: of a wheel, or of a tag such as v1.2.0 of a git repository. */
static const char *
release_of_url(struct workspace *w, const struct requirement *req)
{
	const struct python_package *p = req->url ? facts_package(w->f, req->key) : NULL;
	const char *tag = p && starts_with(req->url, "git+") ? strrchr(req->url, '@') : NULL;
	const struct version *v;

	if (req->url && recipe_names_wheel(req->url))
		return version_of_url(w, req->url);
	if (!tag)
		return NULL;
	tag = arena_copy(w->a, tag + 1, strcspn(tag + 1, "#"));
	v = version_parse(w->a, tag + (*tag == 'v'));
	return v && package_release(p, v) ? version_text(w->a, v) : NULL;
}

/* Adds every requested release before the first set is made, so that sets include it. */
static void
name_requested_releases(struct workspace *w, const struct recipe_requirements *all)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct requirement *req = all->at[i].req;
		const char *release = release_of_url(w, req);

		if (release && strcmp(req->key, "torch") != 0 && applies(w, req->marker))
			variable_candidate(w, package_variable(w, req->key), release);
		if (specifiers_pin(req->spec) && applies(w, req->marker) &&
		    strcmp(req->key, "torch") != 0 && bounds_count(w, req->key))
			set_allowed(w, package_variable(w, req->key), req->spec);
	}
}

/* Records an unknown requirement: "vllm 0.33.0", or only its name without a pin. */
static void
not_checked(struct workspace *w, const struct recipe_requirement *q, bool application,
	    const char *why)
{
	const struct version *v = specifiers_pin(q->req->spec);
	const char *name = q->req->name;

	list_push(w->a, &w->unchecked,
		  (struct unchecked){
			  v ? arena_printf(w->a, "%s %s", name, version_text(w->a, v)) : name, why,
			  w->when, application ? q->text.at.src : NULL, BY_METADATA });
}

static void
request_requirement(struct workspace *w, const struct recipe_requirement *q, bool application)
{
	const struct requirement *req = q->req;
	const struct version *pin;
	const char *key = req->key, *release;
	unsigned variable;

	if (!applies(w, req->marker))
		return;
	/* A `torch` in packages constrains that of `torch:`. */
	if (!strcmp(key, "torch") && (!w->r->torch.at.line || req->url)) {
		not_checked(w, q, application, "only the torch of `torch:` is checked");
		return;
	}
	release = release_of_url(w, req);
	if (!release && !is_tracked(w, key)) {
		/* That no requirement of a package matters says nothing about which releases exist. */
		if (req->url || *specifiers_text(w->a, req->spec) ||
		    !facts_package_independent(w->f, key))
			not_checked(w, q, application, "not in the knowledge base");
		else if (req->extras.n)
			not_checked(w, q, application,
				    "the requirements of its extras are not in the knowledge base");
		/* Another package may require another version, or a local build of it. */
		pin = specifiers_pin(req->spec);
		if (req->url || !pin || !(bounds_count(w, key) || version_local(w->a, pin)))
			return;
	}
	variable = package_variable(w, key);
	if (release && recipe_names_wheel(req->url))
		w->variables.at[variable]->wheel = req->url;
	request(w,
		(struct request){
			.kind = REQUEST_REQUIREMENT,
			.variable = variable,
			.at = q->text.at,
			.text = q->text.s,
			.sentence = arena_printf(w->a, "%s requires %s",
						 application ? "the application" : "the recipe",
						 q->text.s),
			.requirement = q,
			.application = application },
		release,
		release  ? NULL :
		req->url ? set_all(w, variable) :
			   set_allowed(w, variable, req->spec),
		LIGHT);
}

/* --- extensions --- */

static bool
extension_applies(struct workspace *w, const struct recipe_extension *e)
{
	return applies(w, e->marker.s ? marker_parse(w->a, e->marker.s) : NULL);
}

static const char *
release_of_ref(struct workspace *w, const struct recipe_extension *e)
{
	const struct extension *known = facts_extension(w->f, e->key);
	const struct extension_release *r = known ? extension_release(known, e->ref.s) : NULL;

	if (!r && known)
		r = extension_commit(known, e->git.s);
	return r ? r->version : e->ref.s;
}

static void
request_release(struct workspace *w, const struct recipe_extension *e, unsigned variable)
{
	const struct specifiers *spec =
		e->specifier.s ? specifiers_parse(w->a, e->specifier.s) : NULL;
	struct request p = { .kind = REQUEST_VERSION, .variable = variable, .extension = e };
	const char *exact = e->url.s ? version_of_url(w, e->url.s) : NULL;
	const solve_word *set = NULL;
	struct text t = e->version;

	if (e->version.s) {
		const struct version *v = version_parse(w->a, e->version.s);

		/* For a vendor's build, the facts about its release apply. */
		exact = v && is_index_wheel(w, e) ? version_public(w->a, v) : e->version.s;
	} else if (e->ref.s) {
		p.kind = REQUEST_REF;
		p.sentence = arena_printf(w->a, "the recipe requires %s %s", e->name.s, e->ref.s);
		t = e->ref;
		exact = release_of_ref(w, e);
		if (exact == e->ref.s)
			variable_commit(w, variable, exact);
	} else if (exact) {
		p.kind = REQUEST_URL;
		t = e->url;
	} else if (spec && !e->url.s) {
		t = e->specifier;
		set = set_allowed(w, variable, spec);
	} else if (e->path.s || !variable_at(w, variable)->n) {
		/* The version of own code is in its setup.py. */
		p.kind = REQUEST_NEED;
		t = e->name;
		exact = "";
	} else {
		request_need(w, variable, arena_printf(w->a, "the recipe requires %s", e->name.s));
		return;
	}
	p.at = t.at.line ? t.at : e->at;
	p.text = t.s;
	request(w, p, exact, set, LIGHT);
}

/* Requests the source of an extension's code; prebuilt files only if the recipe names them. */
static void
request_source(struct workspace *w, const struct recipe_extension *e, unsigned source)
{
	static const char *const from[] = { [EXT_GIT] = "git",
					    [EXT_SDIST] = "sdist",
					    [EXT_RELEASE] = "release",
					    [EXT_WHEEL] = "url" };
	const char *open[] = { "sdist", "git" };
	const struct names all = { open, 2, 2 };
	const char *where = e->path.s                                 ? "path" :
			    e->url.s                                  ? "url" :
			    e->git.s || e->ref.s || e->subdirectory.s ? "git" :
									from[e->from];
	struct request p = { .kind = REQUEST_NEED,
			     .variable = source,
			     .text = "",
			     .extension = e,
			     .sentence =
				     arena_printf(w->a, "%s comes from its sdist or its repository",
						  e->name.s) };

	if (where) {
		p.kind = REQUEST_FROM;
		p.at = e->from_at.line ? e->from_at : e->url.s ? e->url.at : e->at;
		p.at = p.at.line ? p.at : e->at;
		p.text = where;
		p.sentence = arena_printf(w->a, "the recipe requires %s from %s", e->name.s, where);
	}
	request(w, p, where, set_named(w, source, &all, false), where ? SOURCE : HEAVY);
}

static void
request_extension(struct workspace *w, const struct recipe_extension *e)
{
	const struct extension *known = facts_extension(w->f, e->key);
	const char *key = known ? known->name : e->key;
	unsigned variable = variable_get(w, VARIABLE_EXTENSION, key), source;

	w->variables.at[variable]->asked = e;
	request_release(w, e, variable);
	source = variable_get(w, VARIABLE_SOURCE, arena_printf(w->a, "%s source", key));
	w->variables.at[variable]->source = source + 1;
	w->variables.at[source]->asked = e;
	variable_at(w, source)->label = arena_printf(w->a, "%s from", e->name.s);
	request_source(w, e, source);
}

void
read_requests(struct workspace *w)
{
	const struct recipe *r = w->r;
	unsigned python = the_variable(w, VARIABLE_PYTHON);

	if (r->base.s)
		w->image = facts_image_name(w->f, r->base.s);
	/* Markers apply to sets of Pythons, so all Pythons become candidates first. */
	if (w->image.python)
		variable_candidate(w, python, w->image.python);
	if (r->python.s)
		variable_candidate(w, python, r->python.s);
	list_each (e, &r->extensions)
		w->compiles |= is_compiled(e) && extension_applies(w, e);
	w->when = NULL;
	read_compiler(w);
	read_torch(w);
	read_base(w);
	read_machine_and_python(w);
	name_requested_releases(w, &r->torch.with);
	name_requested_releases(w, &r->packages);
	if (r->app.needs)
		name_requested_releases(w, &r->app.needs->requirements);
	for (size_t i = 0; i < r->extensions.n; i++)
		if (extension_applies(w, &r->extensions.at[i]))
			request_extension(w, &r->extensions.at[i]);
	for (size_t i = 0; i < r->torch.with.n; i++)
		request_requirement(w, &r->torch.with.at[i], false);
	for (size_t i = 0; i < r->packages.n; i++)
		request_requirement(w, &r->packages.at[i], false);
	for (size_t i = 0; r->app.needs && i < r->app.needs->requirements.n; i++)
		request_requirement(w, &r->app.needs->requirements.at[i], true);
	w->when = NULL;
}

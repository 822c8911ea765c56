#include "internal.h"

/* What the recipe requests: each place once, with the words that diagnostics use for it. */

void
request_add(struct workspace *w, struct request p, const solve_word *set, unsigned weight)
{
	const struct request *kept;

	list_push(w->a, &w->requests, p);
	kept = &w->requests.at[w->requests.n - 1];
	list_push(w->a, &w->solver_pins,
		  (struct solve_pin){ .variable = p.variable,
				      .set = set,
				      .when = w->when,
				      .weight = weight,
				      .fixed = weight == HEAVY,
				      .why = kept });
}

void
request_need(struct workspace *w, unsigned variable, const char *sentence)
{
	request_add(w,
		    (struct request){ .kind = REQUEST_NEED,
				      .variable = variable,
				      .text = "",
				      .sentence = sentence },
		    set_all(w, variable), HEAVY);
}

static void
add_text(struct workspace *w, enum request_kind kind, unsigned variable, struct text t,
	 const char *shown, const solve_word *set, unsigned weight)
{
	const char *label = variable_at(w, variable)->label;

	request_add(w,
		    (struct request){ .kind = kind,
				      .variable = variable,
				      .at = t.at,
				      .text = t.s,
				      .note = arena_printf(w->a, "%s is required here", label),
				      .sentence = arena_printf(w->a, "the recipe requires %s %s",
							       label, shown) },
		    set, weight);
}

/* --- torch --- */

/* The build that an index URL ends in: ".../whl/cu121"; else NULL. */
static const char *
tag_of_url(struct workspace *w, const char *url)
{
	size_t start, n = url_end(url, &start);
	const char *tag = arena_copy(w->a, url + start, n - start);

	return cuda_of_tag(w->a, tag) || !strcmp(tag, "cpu") ? tag : NULL;
}

static void
add_index(struct workspace *w)
{
	struct text index = w->index;
	unsigned build = variable_get(w, VARIABLE_BUILD, "torch build");
	const char *tag = strstr(index.s, "://") ? tag_of_url(w, index.s) : index.s;

	w->index_tag = tag;
	if (!tag) {
		list_push(w->a, &w->unchecked, (struct unchecked){ .name = index.s });
		return;
	}
	if (!strcmp(tag, "pypi")) {
		/* Which build that is depends on the release: a variable of its own says so. */
		unsigned pypi = variable_get(w, VARIABLE_INDEX, "torch index");

		add_text(w, REQUEST_INDEX, pypi, index, "pypi",
			 set_one(w, pypi, variable_candidate(w, pypi, "pypi")), LIGHT);
		return;
	}
	add_text(w, REQUEST_INDEX, build, index, tag,
		 set_one(w, build, variable_candidate(w, build, tag)), LIGHT);
}

static void
read_torch(struct workspace *w)
{
	const struct recipe *r = w->r;
	const struct version *v =
		r->torch.version.s ? version_parse(w->a, r->torch.version.s) : NULL;
	const char *local = v ? version_local(w->a, v) : NULL;
	unsigned torch;

	if (!r->torch.at.line && !r->torch.version.s)
		return;
	torch = variable_get(w, VARIABLE_TORCH, "torch");
	if (v) {
		const char *text = version_public(w->a, v);

		add_text(w, REQUEST_TORCH, torch, r->torch.version, text,
			 set_one(w, torch, variable_candidate(w, torch, text)), TORCH);
	} else {
		request_need(w, torch, "the recipe requires torch");
	}
	w->index = r->torch.index;
	if (!w->index.s && local)
		w->index = (struct text){ local, r->torch.version.at };
	if (w->index.s)
		add_index(w);
}

/* --- what surrounds it --- */

static void
read_base(struct workspace *w)
{
	const struct recipe *r = w->r;
	unsigned base, cuda;

	if (r->base.s) {
		base = variable_get(w, VARIABLE_BASE, "base");
		add_text(w, REQUEST_BASE, base, r->base, r->base.s,
			 set_one(w, base, variable_candidate(w, base, r->base.s)), PLACE);
		/* What a repair takes instead: any image that brings what the rest wants. */
		variable_candidate(w, base, "another");
		if (w->image.os)
			variable_candidate(w, variable_get(w, VARIABLE_OS, "os"), w->image.os);
		if (w->image.cuda)
			variable_candidate(w, variable_get(w, VARIABLE_CUDA, "cuda"),
					   w->image.cuda);
	}
	request_need(w, variable_get(w, VARIABLE_OS, "os"), "the stack has an operating system");
	cuda = variable_get(w, VARIABLE_CUDA, "cuda");
	if (r->cuda.s) {
		solve_word *set = set_none(w, cuda);
		const struct solver_variable *t = variable_at(w, cuda);
		bool series = !strcmp(version_series(w->a, r->cuda.s), r->cuda.s);

		for (size_t i = 0; series && i < t->n; i++)
			if (!strcmp(version_series(w->a, t->c[i].text), r->cuda.s))
				solve_set_add(set, i);
		if (!series || !solve_set_count(set, t->n))
			set = set_one(w, cuda, variable_candidate(w, cuda, r->cuda.s));
		add_text(w, REQUEST_CUDA, cuda, r->cuda, r->cuda.s, set, PLACE);
	} else if (w->compiles) {
		request_need(w, cuda, "extensions are compiled with a CUDA toolkit");
	}
}

static void
read_machine_and_python(struct workspace *w)
{
	const struct recipe *r = w->r;
	unsigned python = variable_get(w, VARIABLE_PYTHON, "python"), machine, variable;
	const char *arch = recipe_machine(r);

	if (r->python.s)
		add_text(w, REQUEST_PYTHON, python, r->python, r->python.s,
			 set_one(w, python, variable_candidate(w, python, r->python.s)), PLACE);
	else
		request_need(w, python, "the stack has a Python");
	machine = variable_get(w, VARIABLE_MACHINE, "machine");
	request_add(w,
		    (struct request){ .kind = REQUEST_MACHINE,
				      .variable = machine,
				      .at = r->platform.at,
				      .text = arch,
				      .note = "the platform is named here",
				      .sentence = arena_printf(w->a, "the image is for %s", arch) },
		    set_one(w, machine, variable_candidate(w, machine, arch)), HEAVY);
	for (size_t i = 0; i < r->gpus.n; i++) {
		const struct recipe_gpu *g = &r->gpus.at[i];

		variable = variable_get(w, VARIABLE_GPU, arena_printf(w->a, "gpu %s", g->cc));
		variable_at(w, variable)->label = g->text.s;
		request_add(w,
			    (struct request){
				    .kind = REQUEST_GPU,
				    .variable = variable,
				    .at = g->text.at,
				    .text = g->text.s,
				    .note = "the GPU is named here",
				    .sentence = arena_printf(w->a, "`%s` has compute capability %s",
							     g->text.s, g->cc) },
			    set_one(w, variable, variable_candidate(w, variable, g->cc)), HEAVY);
	}
	if (r->driver.s) {
		variable = variable_get(w, VARIABLE_DRIVER, "driver");
		add_text(w, REQUEST_DRIVER, variable, r->driver, r->driver.s,
			 set_one(w, variable, variable_candidate(w, variable, r->driver.s)), HEAVY);
	}
}

/* "gcc-12", "/usr/bin/g++-11": the major that CUDAHOSTCXX, CXX or CC names. */
static void
read_compiler(struct workspace *w)
{
	static const char *const names[] = { "CUDAHOSTCXX", "CXX", "CC" };

	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
		for (size_t i = 0; i < w->r->env.n; i++) {
			struct text value = w->r->env.at[i].value;
			const char *dash = value.s ? strrchr(value.s, '-') : NULL;
			unsigned gcc;

			if (strcmp(w->r->env.at[i].name.s, names[k]) != 0 || !dash ||
			    !is_digit(dash[1]))
				continue;
			gcc = variable_get(w, VARIABLE_GCC, "gcc");
			w->gcc = arena_copy(w->a, dash + 1, strspn(dash + 1, "0123456789"));
			add_text(w, REQUEST_COMPILER, gcc, (struct text){ w->gcc, value.at },
				 w->gcc, set_one(w, gcc, variable_candidate(w, gcc, w->gcc)),
				 HEAVY);
			return;
		}
}

void
read_requests(struct workspace *w)
{
	const struct recipe *r = w->r;
	unsigned python = variable_get(w, VARIABLE_PYTHON, "python");

	if (r->base.s)
		w->image = facts_image_name(w->f, w->a, r->base.s);
	/* Markers are read against all Pythons, so all of them are named first. */
	if (w->image.python)
		variable_candidate(w, python, w->image.python);
	if (r->python.s)
		variable_candidate(w, python, r->python.s);
	for (size_t i = 0; i < r->extensions.n; i++) {
		const struct recipe_extension *e = &r->extensions.at[i];

		w->compiles |= is_compiled(e) && extension_applies(w, e);
	}
	w->when = NULL;
	read_compiler(w);
	read_torch(w);
	read_base(w);
	read_machine_and_python(w);
	name_requested_releases(w, &r->torch.with);
	name_requested_releases(w, &r->packages);
	for (size_t i = 0; i < r->extensions.n; i++)
		if (extension_applies(w, &r->extensions.at[i]))
			request_extension(w, &r->extensions.at[i]);
	for (size_t i = 0; i < r->torch.with.n; i++)
		request_requirement(w, &r->torch.with.at[i]);
	for (size_t i = 0; i < r->packages.n; i++)
		request_requirement(w, &r->packages.at[i]);
	w->when = NULL;
}

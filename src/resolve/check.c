#include "companions.h"

/* Checks of the recipe and the resolved stack that are not relations between versions. */

static void (*const checks[])(struct workspace *w) = {
#define CHECK(name, rules) check_##name,
#include "checks.def"
#undef CHECK
};

void
resolve_check(struct workspace *w)
{
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++)
		checks[i](w);
}

const struct setting *
check_setting(const struct workspace *w, const char *name, size_t *at,
	      const struct stack_extension **extension)
{
	const struct setting *found = NULL;

	for (; !found && *at <= w->s->extensions.n; ++*at) {
		*extension = *at ? &w->s->extensions.at[*at - 1] : NULL;
		found = setting_named(*at ? &(*extension)->asked->env : &w->r->env, name);
	}
	return found;
}

/* Returns whether pip installs a package that the recipe or its application asks for. */
static bool
asks_for(const struct recipe *r, const char *key)
{
	const struct recipe_needs *needs = r->app.needs;

	return list_any(x, &r->packages, !strcmp(x->req->key, key)) ||
	       (r->app.requirements.s && !needs) ||
	       (needs &&
		(needs->lines.n || list_any(x, &needs->requirements, !strcmp(x->req->key, key))));
}

/* What web functions and schedules need of other keys. */
void
check_modal_functions(struct workspace *w)
{
	const struct recipe_modal *m = &w->r->modal;
	const struct recipe_argument *web = recipe_argument(&m->web, "fastapi");
	const struct recipe_argument *schedule = recipe_argument(&m->function, "schedule");

	if (web && !asks_for(w->r, "fastapi"))
		diag_help(
			diag_why(diag_at(w->ds, E_MODAL_FUNCTION, web->name.at,
					 "a web function of `modal.web.fastapi` needs the package "
					 "fastapi"),
				 "neither `packages` nor `app.requirements` has it"),
			"add fastapi to packages");
	if (schedule && !m->entrypoint.s && !w->r->app.command.n)
		diag_help(diag_why(diag_at(w->ds, E_MODAL_FUNCTION, schedule->name.at,
					   "a schedule without a function to start"),
				   "the recipe has neither `modal.entrypoint` nor `app.command`"),
			  "add one of them, or remove the schedule");
}

/* --- the source of torch, and its companions --- */

void
check_index_root(struct workspace *w)
{
	struct text index = w->r->torch.index;
	const struct torch_release *t = w->s->torch_release;
	/* The root of torch's indexes is their URL without a tag. */
	const char *tag = NULL, *root = facts_torch_index(w->f, w->a, "");
	size_t last, n = url_end(root, &last);
	struct diag *d;

	if (!index.s || !n || n != url_end(index.s, &last) || strncmp(root, index.s, n) != 0)
		return;
	for (size_t i = 0; t && i < t->nvariants; i++)
		if (version_same_series(t->variants[i].cuda, w->s->cuda.value))
			tag = t->variants[i].tag;
	d = diag_at(w->ds, W_INDEX_ROOT, index.at,
		    "older builds are not listed at the root of torch's indexes");
	diag_why(d, "each build has its own index below the root");
	if (tag)
		fix_scalar(w, d, index.at, tag, "write %s", tag);
	else
		diag_help(d, "name the build: cu121, cpu, ...");
	if (t)
		diag_source(d, t->source);
}

/* torch comes from torch.index, even if an extra index lists it. */
void
check_extra_index(struct workspace *w)
{
	for (size_t i = 0; w->s->torch.value && i < w->r->extras.n; i++) {
		const struct recipe_index *x = &w->r->extras.at[i];

		for (size_t k = 0; k < x->packages.n; k++) {
			struct diag *d;

			if (strcmp(name_normalize(w->a, x->packages.at[k].s), "torch") != 0)
				continue;
			d = diag_at(w->ds, W_TORCH_EXTRA, x->packages.at[k].at,
				    "torch cannot come from an extra index");
			diag_why(d, "with two indexes, pip selects the higher version, for any "
				    "CUDA; stackbuild therefore uses one index for torch");
			diag_note(d, w->r->torch.at, "torch is required here");
			diag_help(d, "set torch.index: %s", x->url.s);
		}
	}
}

void
check_companions(struct workspace *w)
{
	const struct torch_release *t = w->s->torch_release;

	for (size_t i = 0; t && i < w->r->packages.n; i++) {
		const struct recipe_requirement *q = &w->r->packages.at[i];
		const char *pair = torch_companion(t, q->req->key), *pin;
		struct diag *d;

		if (!pair || *specifiers_text(w->a, q->req->spec) || q->req->url ||
		    companion_is_with_torch(w, q->req))
			continue;
		d = diag_at(w->ds, W_COMPANION, q->text.at,
			    "`%s` has no version, so pip would install any version", q->text.s);
		diag_why(d, "newer releases of torchaudio do not declare the torch that they were "
			    "built for");
		pin = arena_printf(w->a, "%s==%s", q->text.s, pair);
		if (!strcmp(q->text.s, q->req->name))
			fix_scalar(w, d, q->text.at, pin,
				   "write \"%s\", the release that was built for torch %s; "
				   "torch.with installs it from torch's index",
				   pin, t->version);
		else
			diag_help(d, "pin %s, the release that was built for torch %s", pair,
				  t->version);
		diag_source(d, t->source);
	}
}

void
check_yanked(struct workspace *w)
{
	list_each (q, &w->r->packages) {
		const struct version *v = specifiers_pin(q->req->spec);
		const struct python_package *p = v ? facts_package(w->f, q->req->key) : NULL;
		const struct package_release *r = p ? package_release(p, v) : NULL;
		struct diag *d;

		if (!r || !r->yanked)
			continue;
		d = diag_at(w->ds, W_YANKED, q->text.at, "%s %s was withdrawn", q->req->name,
			    r->version);
		if (strcmp(r->yanked, "true") != 0)
			diag_why(d, "its authors wrote: %s", r->yanked);
		diag_help(d, "pin another release");
		diag_source(d, package_release_source(w->f, r));
	}
}

/* Rejects a stack without GPUs: torch would query a GPU, and a build has none. */
void
check_no_archs(struct workspace *w)
{
	const struct stack_extension *of;
	const struct stack *s = w->s;
	size_t at = 0;

	if (s->archs.n || !s->torch.value || (s->torch_tag && !strcmp(s->torch_tag, "cpu")) ||
	    s->cuda_from == CUDA_HOST || check_setting(w, "TORCH_CUDA_ARCH_LIST", &at, &of))
		return;
	list_each (e, &s->extensions) {
		struct diag *d;

		if (e->source == SOURCE_WHEEL || !e->build ||
		    e->build->honours_arch_list != TRI_YES)
			continue;
		d = diag_at(w->ds, E_NO_ARCHS, e->at,
			    "the GPUs for which `%s` is compiled are unknown", e->name);
		diag_why(d, "an image build has no GPU that torch's compile step could query");
		diag_help(d, "name them: gpus: [...]");
		diag_source(d, e->build->source);
		return;
	}
}

/* --- the name of an image, not whether it exists --- */

static void
check_point_release(struct workspace *w, struct text image)
{
	struct image_name n = facts_image_name(w->f, image.s);
	const char *tag, *better, *why, *source;
	const struct cuda_toolkit *t = NULL;
	struct diag *d;
	size_t count;
	const struct cuda_toolkit *const *all = facts_cuda_all(w->f, &count);

	/* A digest stays valid if the tag moves. */
	if (!n.cuda || !n.os || !n.tag || n.digest || !facts_cuda(w->f, n.cuda))
		return;
	/* Finds the last release of the series that has an image for that system. */
	for (size_t i = 0; i < count; i++)
		if (version_same_series(all[i]->version, n.cuda) &&
		    names_have(&all[i]->image_os, n.os))
			t = all[i];
	if (!t || text_version_order(w, t->version, n.cuda) <= 0 || !starts_with(n.tag, n.cuda))
		return;
	tag = arena_printf(w->a, "%s%s", t->version, n.tag + strlen(n.cuda));
	if (facts_image(w->f, w->a, n.repository, tag, &why, &source) == TRI_NO)
		return;
	better = arena_printf(w->a, "%s:%s", n.repository, tag);
	d = diag_at(w->ds, W_IMAGE_OLD, image.at, "CUDA %s is superseded by %s", n.cuda,
		    t->version);
	diag_why(d, "NVIDIA keeps the last point release of a series, and announces that it "
		    "deletes the others");
	fix_scalar(w, d, image.at, better, "use %s, or pin this image by its digest (@sha256:...)",
		   better);
	diag_source(d, t->source);
}

void
check_superseded(struct workspace *w)
{
	if (w->r->base.s)
		check_point_release(w, w->r->base);
	if (w->r->runtime.base.s)
		check_point_release(w, w->r->runtime.base);
}

static bool
lists_cudnn(const struct recipe_requirements *list)
{
	return list_any(x, list, starts_with(x->req->key, "nvidia-cudnn"));
}

void
check_cudnn(struct workspace *w)
{
	const struct stack *s = w->s;

	list_each (e, &s->extensions) {
		const char *needs = e->known ? e->known->needs_cudnn : NULL, *better;
		struct diag *d;

		/* The content of an image that is not from NVIDIA is unknown. */
		if (!needs || e->source == SOURCE_WHEEL || s->image.cudnn ||
		    (s->cuda_from == CUDA_IMAGE && !s->image.flavour) ||
		    lists_cudnn(&w->r->packages) || lists_cudnn(&w->r->torch.with))
			continue;
		d = diag_at(w->ds, W_NO_CUDNN, e->at, "`%s` needs cuDNN's headers, %s or later",
			    e->name, needs);
		diag_why(d,
			 "`%s` has none, and the build does not search the directory of torch's "
			 "own cuDNN",
			 s->base.value);
		if (s->base.at.line)
			diag_note(d, s->base.at, "the base is named here");
		better = s->base.given ? resolve_image_near(w, &s->image, true) : NULL;
		if (better)
			fix_scalar(w, d, s->base.at, better, "use %s", better);
		else
			diag_help(d, "use a cudnn-devel image as base");
		diag_source(d, e->known->source);
	}
}

/* --- packages of the base that pip must not change --- */

static void
refuse_pin(struct workspace *w, struct span at, const char *what, const char *help)
{
	const struct image_name *i = &w->s->image;
	struct diag *d =
		diag_at(w->ds, E_BASE_PINS, at, "pip installs only %s in `%s`", what, w->r->base.s);

	diag_why(d, "%s, the image's own list of versions, constrains pip", i->constraints);
	diag_note(d, w->r->base.at, "the base is named here");
	diag_help(d, "%s", help);
	diag_source(d, i->source);
}

void
check_base_pins(struct workspace *w)
{
	const struct image_name *i = &w->s->image;
	const struct candidate *numpy = decided(w, "numpy");

	/* In env: it replaces the image's own. */
	if (!i->constraints || env_value(w, "PIP_CONSTRAINT"))
		return;
	if (w->s->torch.value && !w->s->torch_base)
		refuse_pin(w, w->s->torch.at, "the image's own torch",
			   "use it with `torch: {from: base}`, or use another base");
	for (size_t k = 0; i->numpy && numpy && numpy->v && k < w->r->packages.n; k++)
		if (!strcmp(w->r->packages.at[k].req->key, "numpy") &&
		    !specifiers_match(facts_specifiers(w->f, i->numpy), numpy->v))
			refuse_pin(w, w->r->packages.at[k].text.at,
				   arena_printf(w->a, "numpy%s", i->numpy),
				   "remove numpy, or use another base");
}

void
check_musl(struct workspace *w)
{
	const struct stack *s = w->s;
	struct diag *d;

	if (!s->os || !s->os->musl || !s->torch.value)
		return;
	d = diag_at(w->ds, E_NO_WHEELS, w->r->base.at, "torch has no wheels for `%s`",
		    w->r->base.s);
	diag_why(d, "its C library is musl, and torch has wheels for glibc only");
	diag_help(d, "use an image of Debian or Ubuntu, such as python:3.12-slim-bookworm");
	diag_source(d, s->os->source);
}

/* --- variables with an unexpected effect --- */

/* Returns the possible directories of nvcc in this stack; NULL: unknown. */
static const char *
toolkit_folders(const struct workspace *w, struct names *folders)
{
	const struct stack *s = w->s;
	const char *series = version_series(w->a, s->cuda.value);

	if (s->cuda_from == CUDA_WHEELS)
		return "a directory of the plan, which every compile step uses";
	if (s->cuda_from == CUDA_HOST || (s->cuda_from == CUDA_IMAGE && !s->image.cuda))
		return NULL;
	list_push(w->a, folders, "/usr/local/cuda");
	list_push(w->a, folders, arena_printf(w->a, "/usr/local/cuda-%s", series));
	list_push(w->a, folders,
		  arena_printf(w->a, "/usr/local/cuda-%.*s", (int)strcspn(series, "."), series));
	return arena_printf(w->a, "/usr/local/cuda-%s, or /usr/local/cuda", series);
}

void
check_cuda_home(struct workspace *w)
{
	const struct stack_extension *e;
	const struct setting *given;
	struct names folders = { 0 };
	const char *there;
	size_t at = 0;

	if (!w->s->cuda.value || !w->s->compiles || !(there = toolkit_folders(w, &folders)))
		return;
	while ((given = check_setting(w, "CUDA_HOME", &at, &e))) {
		size_t last, n = url_end(given->value.s, &last);
		struct diag *d;

		if (names_have(&folders, arena_copy(w->a, given->value.s, n)))
			continue;
		d = diag_at(w->ds, E_CUDA_HOME, given->value.at, "`%s` has no nvcc",
			    given->value.s);
		diag_why(d, "torch compiles with CUDA_HOME/bin/nvcc, and CUDA %s is in %s",
			 w->s->cuda.value, there);
		if (folders.n)
			fix_scalar(w, d, given->value.at, folders.at[0],
				   "write %s, or remove the variable", folders.at[0]);
		else
			diag_help(d,
				  "remove the variable: compile steps find the toolkit themselves");
	}
}

/* --- variables that count only as exactly TRUE --- */

static void
check_true(struct workspace *w, const char *name)
{
	const struct stack_extension *e;
	const struct setting *given;
	size_t at = 0;

	while ((given = check_setting(w, name, &at, &e))) {
		const char *s = given->value.s;
		struct diag *d;

		if (!strcmp(s, "TRUE") || !strcmp(s, "FALSE"))
			continue;
		d = diag_at(w->ds, W_FORCE_BUILD, given->value.at,
			    "setup.py ignores `%s`, because it is not TRUE", s);
		diag_why(d,
			 "setup.py compares %s with TRUE, in capitals, and ignores any other value",
			 name);
		fix_scalar(w, d, given->value.at, "TRUE",
			   "write TRUE, or remove the variable: compile steps set it themselves");
	}
}

void
check_force_build(struct workspace *w)
{
	struct names all = { 0 };

	for (size_t i = 0; i < w->s->extensions.n; i++) {
		const struct extension *known = w->s->extensions.at[i].known;

		if (known && known->force_build_env)
			names_once(w->a, &all, known->force_build_env);
		for (size_t k = 0; known && k < known->extra_env.n; k++) {
			const char *set = known->extra_env.at[k];

			if (ends_with(set, "=TRUE"))
				names_once(w->a, &all, arena_copy(w->a, set, strcspn(set, "=")));
		}
	}
	for (size_t i = 0; i < all.n; i++)
		check_true(w, all.at[i]);
}

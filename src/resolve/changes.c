#include "base/edit.h"
#include "internal.h"

/* What a changed pin becomes: in a sentence, and as the exact text at its place. */

static const struct candidate *
chosen(const struct solution *solution, const struct solve_result *r, const char *key)
{
	return candidate_in(solution->work, r->chosen, r->nvariables,
			    variable_find(solution->work, key));
}

const struct candidate *
chosen_then(const struct solution *solution, const struct solve_result *r, const struct request *p)
{
	return candidate_in(solution->work, r->chosen, r->nvariables, (int)p->variable);
}

/* "cu121" of ".../whl/cu121/" too. */
static const char *
index_name(struct arena *a, const char *index)
{
	size_t start, n = url_end(index, &start);

	return !strcmp(index, "pypi") ? "PyPI" : arena_copy(a, index + start, n - start);
}

const char *
request_name(const struct solution *solution, const struct request *p)
{
	struct arena *a = solution->work->a;

	switch (p->kind) {
	case REQUEST_TORCH: return arena_printf(a, "torch %s", p->text);
	case REQUEST_INDEX: return arena_printf(a, "the %s build", index_name(a, p->text));
	case REQUEST_CUDA: return arena_printf(a, "CUDA %s", p->text);
	case REQUEST_PYTHON: return arena_printf(a, "Python %s", p->text);
	case REQUEST_DRIVER: return arena_printf(a, "driver %s", p->text);
	case REQUEST_COMPILER: return arena_printf(a, "gcc %s", p->text);
	case REQUEST_MACHINE: return p->text;
	case REQUEST_GPU: return arena_printf(a, "`%s`", p->text);
	case REQUEST_BASE:
	case REQUEST_REQUIREMENT: return arena_printf(a, "`%s`", p->text);
	case REQUEST_VERSION:
	case REQUEST_REF:
	case REQUEST_URL:
		return arena_printf(a, "%s %s", p->extension->name.s,
				    p->kind == REQUEST_URL ? "from that file" : p->text);
	case REQUEST_FROM:
		return !strcmp(p->text, "sdist") ? "its source archive" :
		       !strcmp(p->text, "git")   ? "its repository" :
						   "a prebuilt wheel";
	default: return p->extension ? p->extension->name.s : "the rest";
	}
}

/* "nvidia/cuda:12.4.1-devel-ubuntu22.04" for the CUDA and the system of the repair. */
static const char *
image_for(const struct solution *solution, const struct solve_result *r,
	  const struct image_name *was)
{
	const struct candidate *cuda = chosen(solution, r, "cuda"), *os = chosen(solution, r, "os");
	struct arena *a = solution->work->a;
	size_t n = was->repository ? strlen(was->repository) : 0;
	const char *image;

	if (!cuda || !cuda->entry || !os || !was->cuda || n < strlen("nvidia/cuda") ||
	    strcmp(was->repository + n - strlen("nvidia/cuda"), "nvidia/cuda") != 0)
		return NULL;
	image = facts_image_tag(solution->facts, a, cuda->entry,
				was->flavour ? was->flavour : "devel", os->text);
	return image ? arena_printf(a, "%.*s%s", (int)(n - strlen("nvidia/cuda")), was->repository,
				    image) :
		       NULL;
}

/* True if a range was too low for what works: then it begins there, else it ends there. */
static bool
ends_below(struct arena *a, const struct specifiers *spec, const char *version)
{
	const char *text = specifiers_text(a, spec), *p = text + strcspn(text, "<");
	const char *bound = p + strspn(p, "<=");
	const struct version *v, *end;

	end = *p ? version_parse(a, arena_copy(a, bound, strcspn(bound, ","))) : NULL;
	v = version_parse(a, version);
	return end && v && version_cmp(end, v) <= 0;
}

/* An exact pin stays exact; numpy is known by its major; another range ends at what works. */
static const char *
requirement_for(const struct solution *solution, const struct requirement *req, const char *version)
{
	struct arena *a = solution->work->a;
	const struct version *v = version_parse(a, version);
	struct buf b = BUF(a);

	buf_puts(&b, req->name);
	for (size_t i = 0; i < req->extras.n; i++)
		buf_printf(&b, "%s%s%s", i ? "," : "[", req->extras.at[i],
			   i + 1 == req->extras.n ? "]" : "");
	if (specifiers_pin(req->spec))
		buf_printf(&b, "==%s", version);
	else if (!strcmp(req->key, "numpy") && v)
		buf_puts(&b, version_release(v, 0) < 2 ? "<2" : ">=2");
	else
		buf_printf(&b, "%s%s", ends_below(a, req->spec, version) ? ">=" : "<=", version);
	if (req->marker)
		buf_printf(&b, "; %s", marker_text(a, req->marker));
	return buf_text(&b);
}

/* ".../whl/cu121" -> ".../whl/cu118" */
static const char *
url_with(struct arena *a, const char *url, const char *tag)
{
	size_t start, n = url_end(url, &start);

	return arena_printf(a, "%.*s%s%s", (int)start, url, tag, url + n);
}

/* The plain value that a pin becomes; NULL: none can be written down. */
static const char *
value_of(const struct solution *solution, const struct repair *r, const struct request *p)
{
	struct arena *a = solution->work->a;
	const struct candidate *c = chosen_then(solution, &r->best, p);
	const struct candidate *build = chosen(solution, &r->best, "torch build");
	const struct extension_release *release;
	const struct version *v;

	if (p->kind == REQUEST_BASE)
		return image_for(solution, &r->best, &solution->work->image);
	if (p->kind == REQUEST_INDEX)
		return !build                 ? NULL :
		       strstr(p->text, "://") ? url_with(a, p->text, build->text) :
						build->text;
	if (!c || !*c->text || !c->known)
		return NULL;
	switch (p->kind) {
	case REQUEST_TORCH:
		v = version_parse(a, p->text);
		return v && version_local(a, v) && build ?
			       arena_printf(a, "%s+%s", c->text, build->text) :
			       c->text;
	case REQUEST_CUDA:
		return strcmp(version_series(a, p->text), p->text) ? c->text :
								     version_series(a, c->text);
	case REQUEST_PYTHON: return c->text;
	case REQUEST_VERSION:
		return strpbrk(p->text, "<>=!~") ? arena_printf(a, "==%s", c->text) : c->text;
	case REQUEST_REF: release = c->entry; return release ? release->git_tag : NULL;
	case REQUEST_FROM: return p->extension->from_at.line ? "auto" : NULL;
	case REQUEST_REQUIREMENT: return requirement_for(solution, p->requirement->req, c->text);
	default: return NULL;
	}
}

/* No release is compatible with the rest: the stack does not have it any more. */
static bool
is_gone(const struct solution *solution, const struct repair *r, const struct request *p)
{
	switch (p->kind) {
	case REQUEST_NEED:
		if (!p->extension)
			return false;
		/* fall through */
	case REQUEST_VERSION:
	case REQUEST_REF:
	case REQUEST_REQUIREMENT: return !chosen_then(solution, &r->best, p);
	default: return false;
	}
}

/* What is said of it: "torch 2.6.0". */
static const char *
now_of(const struct solution *solution, const struct repair *r, const struct request *p,
       const char *value)
{
	struct arena *a = solution->work->a;
	const struct candidate *c = chosen_then(solution, &r->best, p);
	struct request as = *p;

	if (solution->solver_pins[p - solution->requests].fixed && p->kind != REQUEST_NEED)
		return arena_printf(a, "not %s", request_name(solution, p));
	if (is_gone(solution, r, p))
		return arena_printf(a, "no known release of %s",
				    variable_at(solution->work, p->variable)->label);
	if (p->kind == REQUEST_NEED)
		return arena_printf(a, "no %s", variable_at(solution->work, p->variable)->label);
	if (p->kind == REQUEST_FROM)
		return c ? !strcmp(c->text, "git") ?
			   arena_printf(a, "%s from its repository", p->extension->name.s) :
			   arena_printf(a, "%s from its source archive", p->extension->name.s) :
			   "another source";
	if (p->kind == REQUEST_BASE && !value)
		return "another base image";
	if (p->kind == REQUEST_URL)
		return c ? arena_printf(a, "%s %s", p->extension->name.s, c->text) : "another file";
	if (p->kind == REQUEST_REQUIREMENT && !value)
		return arena_printf(a, "another %s", p->requirement->req->name);
	as.text = value ? value : c ? c->text : "another";
	return request_name(solution, &as);
}

/* The second stage follows the base: another CUDA of the same make, without compilers. */
static void
follow_base(const struct solution *solution, struct repair *r, unsigned pin)
{
	struct arena *a = solution->work->a;
	struct text second = solution->recipe->runtime.base;
	struct image_name was = { 0 };
	struct change c = { .pin = pin, .at = second.at };

	if (!second.s)
		return;
	was = facts_image_name(solution->facts, a, second.s);
	c.now = image_for(solution, &r->best, &was);
	if (!c.now || !was.cuda || !solution->work->image.cuda ||
	    strcmp(was.cuda, solution->work->image.cuda) != 0)
		return;
	c.text = edit_scalar(a, second.at, c.now);
	c.now = arena_printf(a, "`%s`", c.now);
	list_push(a, &r->changes, c);
}

void
list_changes(const struct solution *solution, struct repair *r)
{
	struct arena *a = solution->work->a;

	for (size_t i = 0; i < r->pins.n; i++) {
		const struct request *p = &solution->requests[r->pins.at[i]];
		const char *value = value_of(solution, r, p);
		struct change c = { .pin = r->pins.at[i], .at = p->at };

		c.now = now_of(solution, r, p, value);
		/* In the short form the place is a part of a scalar: no quotes of its own. */
		if (value && p->at.line)
			c.text = p->extension && p->extension->written.s ?
					 value :
					 edit_scalar(a, p->at, value);
		r->by_hand |= !c.text;
		r->left_out |= is_gone(solution, r, p);
		list_push(a, &r->changes, c);
		if (p->kind == REQUEST_BASE && c.text)
			follow_base(solution, r, c.pin);
	}
}

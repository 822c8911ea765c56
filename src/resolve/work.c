#include "internal.h"

struct choice
choice_given(struct text t, const char *reason)
{
	return (struct choice){ .value = t.s, .reason = reason, .at = t.at, .given = true };
}

struct choice
choice_made(const char *value, const char *reason, const char *source)
{
	return (struct choice){ .value = value, .reason = reason, .source = source };
}

int
version_order(struct arena *a, const char *x, const char *y)
{
	const struct version *vx = version_parse(a, x), *vy = version_parse(a, y);

	if (!vx || !vy)
		return !!vx - !!vy;
	return version_cmp(vx, vy);
}

bool
version_in(struct arena *a, const char *version, const char *spec, bool *known)
{
	const struct version *v = version ? version_parse(a, version) : NULL;
	const struct specifiers *s = spec ? specifiers_parse(a, spec) : NULL;

	if (known)
		*known = v && s;
	return v && s && specifiers_match(s, v, PRE_YES);
}

/* The version that a requirement of ours pins ("triton==2.2.0"), or NULL. */
static const char *
pinned(struct arena *a, const char *requirement)
{
	const struct requirement *req =
		requirement ? requirement_parse(a, requirement, NULL, NULL) : NULL;
	const struct version *v = req ? specifiers_pin(req->spec) : NULL;

	return v ? version_text(a, v) : NULL;
}

static const char *
pinned_in(const struct workspace *w, const struct recipe_requirements *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct requirement *req = list->at[i].req;
		const struct version *v = specifiers_pin(req->spec);

		if (v && !strcmp(req->key, name))
			return version_text(w->a, v);
	}
	return NULL;
}

const char *
resolve_version_of(const struct workspace *w, const char *name)
{
	const struct stack *s = w->s;
	const char *v;

	if (!strcmp(name, "torch"))
		return s->torch.value;
	if (!strcmp(name, "python"))
		return s->python.value;
	if (!strcmp(name, "cuda"))
		return s->cuda.value;
	for (size_t i = 0; i < s->extensions.n; i++)
		if (!strcmp(s->extensions.at[i].name, name))
			return s->extensions.at[i].version;
	for (size_t i = 0; i < w->r->extensions.n; i++)
		if (!strcmp(w->r->extensions.at[i].key, name))
			return w->r->extensions.at[i].version.s;
	v = pinned_in(w, &w->r->packages, name);
	if (!v)
		v = pinned_in(w, &w->r->torch.with, name);
	if (!v && !strcmp(name, "triton") && s->torch_release)
		v = pinned(w->a, s->torch_release->triton);
	return v;
}

bool
resolve_steers_compilers(const char *name)
{
	static const char *const names[] = {
		"AR",
		"CC",
		"CFLAGS",
		"CPPFLAGS",
		"CUDAHOSTCXX",
		"CUDA_HOME",
		"CXX",
		"CXXFLAGS",
		"LDFLAGS",
		"MAX_JOBS",
		"NVCC_APPEND_FLAGS",
		"NVCC_PREPEND_FLAGS",
		"NVCC_THREADS",
		"PYTORCH_NVCC",
		"TORCH_CUDA_ARCH_LIST",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

#include <stdlib.h>

#include "internal.h"

/*
 * Packages of the operating system: the recipe's, and those that the steps use.  Without
 * recommended packages, git has no certificates, and no package installs a compiler.
 */

static void
add(struct workspace *w, struct choices *list, const char *name, const char *reason,
    const char *source)
{
	for (size_t i = 0; i < list->n; i++) {
		size_t n = strcspn(list->at[i].value, "=");

		if (n == strlen(name) && !strncmp(list->at[i].value, name, n))
			return;
	}
	list_push(w->a, list, choice_made(name, reason, source));
}

static void
add_given(struct workspace *w, struct choices *list, const struct texts *given)
{
	list_each (t, given)
		if (!list_any(c, list, !strcmp(c->value, t->s)))
			list_push(w->a, list, choice_given(*t, "the recipe lists it"));
}

static int
by_value(const void *x, const void *y)
{
	return strcmp(((const struct choice *)x)->value, ((const struct choice *)y)->value);
}

static void
sort(struct choices *list)
{
	if (list->n)
		qsort(list->at, list->n, sizeof(*list->at), by_value);
}

static bool
uses_git(const struct workspace *w)
{
	return list_any(e, &w->s->extensions, e->source == SOURCE_GIT) ||
	       list_any(p, &w->s->packages, str_matches(p->requirement, "@ *git[+]"));
}

/* A package that is needed if a condition holds. */
struct apt_need {
	bool when;
	const char *name, *reason;
};

static void
add_needs(struct workspace *w, struct choices *list, const struct apt_need *needs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (needs[i].when)
			add(w, list, needs[i].name, needs[i].reason, NULL);
}

#define ADD_NEEDS(w, list, needs) add_needs(w, list, needs, sizeof(needs) / sizeof(*(needs)))

static bool
compiles_at_run_time(const struct workspace *w)
{
	const struct extension *known;

	return list_any(e, &w->s->extensions, e->known && e->known->triton_at_run_time) ||
	       list_any(q, &w->r->packages,
			(known = facts_extension(w->f, q->req->key)) && known->triton_at_run_time);
}

/* source: https://snapshot.ubuntu.com: from 2023-03-01; its path ubuntu-ports answers with 401 */
static void
check_snapshot(struct workspace *w, const struct os_release *os, struct text image)
{
	bool ubuntu = os && starts_with(os->id, "ubuntu");
	const char *time = w->s->snapshot, *why = NULL;
	struct diag *d;

	if (!time || !os)
		return;
	if (!ubuntu && !starts_with(os->id, "debian"))
		why = arena_printf(w->a, "%s has no snapshot archive", os->id);
	else if (ubuntu && starts_with(w->s->platform, "linux/arm64"))
		why = "snapshot.ubuntu.com does not have the packages of arm64";
	else if (ubuntu && strcmp(time, "20230301") < 0)
		why = "the first snapshot of snapshot.ubuntu.com is that of 20230301T000000Z";
	if (!why)
		return;
	d = diag_at(w->ds, E_SNAPSHOT, w->r->snapshot.at,
		    "the system packages of `%s` cannot come from a snapshot of %s", image.s, time);
	diag_why(d, "%s", why);
	diag_help(d, "select another time or an Ubuntu or Debian image, or remove `apt.snapshot`");
}

/* Returns whether dnf installs the packages; those that stackbuild adds get dnf's names. */
static bool
install(struct workspace *w, const struct os_release *os, struct text image, struct choices *list)
{
	struct choices named = { 0 };
	bool apt = !os || starts_with(os->id, "ubuntu") || starts_with(os->id, "debian");
	bool cuda = w->s->cuda_from == CUDA_APT;

	if (list->n)
		check_snapshot(w, os, image);
	if (!list->n || apt || (os->musl && w->s->torch.value))
		return false;
	if (!os->dnf || cuda) {
		struct diag *d = diag_at(w->ds, E_NO_APT, image.at, "%s has no apt to install %s",
					 os->id, list->at[0].value);

		if (os->dnf)
			diag_why(d, "its package manager is dnf, and stackbuild installs CUDA from "
				    "packages for apt");
		diag_help(d, "use an Ubuntu or Debian image");
		return false;
	}
	list_each (c, list) {
		struct names names = { 0 };

		if (c->given)
			list_push(w->a, &named, *c);
		else
			names = facts_dnf_names(w->f, c->value);
		for (size_t k = 0; k < names.n; k++)
			add(w, &named, names.at[k], c->reason, c->source);
	}
	*list = named;
	sort(list);
	return true;
}

/* The second stage has no compiler, unless triton compiles there. */
static void
runtime_apt(struct workspace *w)
{
	struct choices *list = &w->s->runtime_apt;
	const char *why = "triton compiles when it runs";
	bool triton = compiles_at_run_time(w), os = w->s->python_from == PYTHON_OS;
	struct image_name n = { 0 };
	const struct apt_need needs[] = {
		{ triton, "gcc", why },
		{ triton, "libc6-dev", why },
		{ triton && os, "python3-dev", why },
		{ os, "python3", "the environment uses the system's Python" },
	};

	add_given(w, list, &w->r->runtime.apt);
	ADD_NEEDS(w, list, needs);
	sort(list);
	if (w->r->runtime.base.s)
		n = facts_image_name(w->f, w->r->runtime.base.s);
	w->s->runtime_dnf =
		install(w, w->r->runtime.base.s ? n.os ? facts_os(w->f, n.os) : NULL : w->s->os,
			w->r->runtime.base.s ? w->r->runtime.base : w->r->base, list);
}

static bool
has_nvcc(const struct stack *s)
{
	if (!s->cuda.value || s->cuda_from == CUDA_HOST)
		return false;
	return s->cuda_from != CUDA_IMAGE ||
	       (s->image.flavour && !strcmp(s->image.flavour, "devel"));
}

void
resolve_apt(struct workspace *w)
{
	const struct stack *s = w->s;
	struct choices *list = &w->s->apt;
	enum python_from from = s->python_from;
	bool git = uses_git(w), cuda = s->cuda_from == CUDA_APT;
	bool os = from == PYTHON_OS && !s->os, ppa = from == PYTHON_DEADSNAKES;
	bool file = from == PYTHON_STANDALONE && s->python_build && s->python_build->sha256;
	bool uv = from == PYTHON_UV || (from == PYTHON_STANDALONE && !file);
	const struct apt_need needs[] = {
		{ os, "python3", "the system's Python" },
		{ os, "python3-dev", "the system's Python" },
		{ os, "python3-venv", "the system's Python" },
		{ ppa, "gpg-agent", "add-apt-repository needs it" },
		{ ppa, "software-properties-common", "contains add-apt-repository" },
		{ file || uv, "ca-certificates", "https" },
		{ file, "curl", "fetches the standalone Python" },
		{ uv, "python3", "runs pip, which installs uv, which installs Python" },
		{ uv, "python3-venv", "a place for uv" },
		{ git, "git", "sources come from git" },
		{ git, "ca-certificates", "https" },
		{ s->compiles, "build-essential", "gcc, g++ and make compile extensions" },
		{ has_nvcc(s), "build-essential", "nvcc calls g++" },
		{ compiles_at_run_time(w), "build-essential", "triton compiles when it runs" },
		{ cuda, "ca-certificates", "https" },
		{ cuda, "curl", "fetches NVIDIA's package source" },
	};

	w->s->snapshot = w->r->snapshot.s;
	add_given(w, list, &w->r->apt);
	for (size_t i = 0; from == PYTHON_OS && s->os && i < s->os->python_apt.n; i++)
		add(w, list, s->os->python_apt.at[i], "the system's Python", s->os->source);
	ADD_NEEDS(w, list, needs);
	sort(list);
	w->s->dnf = install(w, w->s->os, w->r->base, list);
	if (w->r->runtime.at.line)
		runtime_apt(w);
}

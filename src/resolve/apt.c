#include "internal.h"

/*
 * Packages of the operating system: the recipe's, and what the steps call.  Without
 * recommends git brings no certificates, and nothing brings a compiler.
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
	for (size_t i = 0; i < given->n; i++) {
		bool there = false;

		for (size_t k = 0; k < list->n; k++)
			there |= !strcmp(list->at[k].value, given->at[i].s);
		if (!there)
			list_push(w->a, list, choice_given(given->at[i], "the recipe lists it"));
	}
}

static void
sort(struct choices *list)
{
	for (size_t i = 1; i < list->n; i++)
		for (size_t k = i; k && strcmp(list->at[k - 1].value, list->at[k].value) > 0; k--) {
			struct choice swap = list->at[k];

			list->at[k] = list->at[k - 1];
			list->at[k - 1] = swap;
		}
}

static bool
uses_git(const struct workspace *w)
{
	for (size_t i = 0; i < w->s->extensions.n; i++)
		if (w->s->extensions.at[i].source == SOURCE_GIT)
			return true;
	for (size_t i = 0; i < w->s->packages.n; i++) {
		const char *at = strchr(w->s->packages.at[i].requirement, '@');

		if (at && starts_with(at + 1 + strspn(at + 1, " "), "git+"))
			return true;
	}
	return false;
}

static void
add_python(struct workspace *w)
{
	const struct stack *s = w->s;
	static const char *const usual[] = { "python3", "python3-dev", "python3-venv" };

	switch (s->python_from) {
	case PYTHON_OS:
		for (size_t i = 0; s->os && i < s->os->python_apt.n; i++)
			add(w, &w->s->apt, s->os->python_apt.at[i], "the system's Python",
			    s->os->source);
		for (size_t i = 0; !s->os && i < 3; i++)
			add(w, &w->s->apt, usual[i], "the system's Python", NULL);
		break;
	case PYTHON_DEADSNAKES:
		add(w, &w->s->apt, "gpg-agent", "add-apt-repository needs it", NULL);
		add(w, &w->s->apt, "software-properties-common", "brings add-apt-repository", NULL);
		break;
	case PYTHON_STANDALONE:
	case PYTHON_UV:
		add(w, &w->s->apt, "ca-certificates", "https", NULL);
		if (s->python_build && s->python_build->sha256 && s->python_from != PYTHON_UV) {
			add(w, &w->s->apt, "curl", "fetches the standalone Python", NULL);
			break;
		}
		add(w, &w->s->apt, "python3", "runs pip, which brings uv, which brings Python",
		    NULL);
		add(w, &w->s->apt, "python3-venv", "a place for uv", NULL);
		break;
	default: break;
	}
}

static bool
compiles_at_run_time(const struct workspace *w)
{
	for (size_t i = 0; i < w->s->extensions.n; i++)
		if (w->s->extensions.at[i].known &&
		    w->s->extensions.at[i].known->triton_at_run_time)
			return true;
	return false;
}

/* The second stage has no compiler, unless triton compiles there. */
static void
runtime_apt(struct workspace *w)
{
	struct choices *list = &w->s->runtime_apt;
	const char *why = "triton compiles when it runs";

	add_given(w, list, &w->r->runtime.apt);
	if (compiles_at_run_time(w)) {
		add(w, list, "gcc", why, NULL);
		add(w, list, "libc6-dev", why, NULL);
		if (w->s->python_from == PYTHON_OS)
			add(w, list, "python3-dev", why, NULL);
	}
	if (w->s->python_from == PYTHON_OS)
		add(w, list, "python3", "the environment stands on the system's Python", NULL);
	sort(list);
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
	struct choices *list = &w->s->apt;
	const char *cuda = "fetches NVIDIA's package source";
	bool compiles = w->s->compiles;

	add_given(w, list, &w->r->apt);
	add_python(w);
	if (uses_git(w)) {
		add(w, list, "git", "sources come from git", NULL);
		add(w, list, "ca-certificates", "https", NULL);
	}
	if (compiles || has_nvcc(w->s) || compiles_at_run_time(w))
		add(w, list, "build-essential",
		    compiles       ? "gcc, g++ and make compile extensions" :
		    has_nvcc(w->s) ? "nvcc calls g++" :
				     "triton compiles when it runs",
		    NULL);
	if (w->s->cuda_from == CUDA_APT) {
		add(w, list, "ca-certificates", "https", NULL);
		add(w, list, "curl", cuda, NULL);
	}
	sort(list);
	if (list->n && w->s->os && !starts_with(w->s->os->id, "ubuntu") &&
	    !starts_with(w->s->os->id, "debian"))
		diag_help(diag_at(w->ds, E_NO_APT, w->r->base.at,
				  "%s has no apt to install %s with", w->s->os->id,
				  list->at[0].value),
			  "take an Ubuntu or Debian image as base");
	if (w->r->runtime.at.line)
		runtime_apt(w);
}

#include "base/edit.h"
#include "internal.h"

/* Variables that do not mean what they seem to. */

/* Where nvcc lies, as far as the stack says: a list of folders; NULL: not known. */
static const char *
toolkit_folders(const struct workspace *w, struct names *folders)
{
	const struct stack *s = w->s;
	const char *series = version_series(w->a, s->cuda.value);

	if (s->cuda_from == CUDA_WHEELS)
		return "the plan's own folder, which is said to each compile step";
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
		d = diag_at(w->ds, E_CUDA_HOME, given->value.at, "there is no nvcc in `%s`",
			    given->value.s);
		diag_why(d, "torch compiles with CUDA_HOME/bin/nvcc, and CUDA %s lies in %s",
			 w->s->cuda.value, there);
		if (folders.n)
			diag_fix(d, given->value.at,
				 edit_scalar(w->a, given->value.at, folders.at[0]),
				 "write %s, or leave it out", folders.at[0]);
		else
			diag_help(d, "leave it out: compile steps are told where it lies");
	}
}

/* --- only exactly TRUE counts --- */

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
			    "`%s` is not TRUE: setup.py does not see it", s);
		diag_why(d,
			 "%s is compared with TRUE, in capitals; anything else is the same as "
			 "leaving it out",
			 name);
		diag_fix(d, given->value.at, edit_scalar(w->a, given->value.at, "TRUE"),
			 "write TRUE, or leave it out: what is compiled has it anyway");
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

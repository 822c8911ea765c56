#include "base/edit.h"
#include "internal.h"

/*
 * TORCH_CUDA_ARCH_LIST of the recipe, read as torch's cpp_extension reads it: blanks become
 * semicolons, each name is replaced as text, and what stands between semicolons must be a
 * capability that the release knows, with +PTX or without.
 */

static const char *
replaced(struct workspace *w, const char *s, const char *name, const char *by)
{
	struct buf b = BUF(w->a);
	const char *at;

	while ((at = strstr(s, name))) {
		buf_printf(&b, "%.*s%s", (int)(at - s), s, by);
		s = at + strlen(name);
	}
	buf_puts(&b, s);
	return buf_text(&b);
}

static struct names
entries(struct workspace *w, const char *s, const struct torch_arch_list *known)
{
	struct names all = { 0 };

	s = replaced(w, s, " ", ";");
	for (size_t i = 0; i < known->named.n; i++)
		s = replaced(w, s, known->named.at[i], known->meaning.at[i]);
	for (size_t n;; s += n + 1) {
		n = strcspn(s, ";");
		list_push(w->a, &all, arena_copy(w->a, s, n));
		if (!s[n])
			return all;
	}
}

/* "8.6+PTX" -> "8.6" */
static const char *
without_ptx(struct workspace *w, const char *entry)
{
	return ends_with(entry, "+PTX") ? arena_copy(w->a, entry, strlen(entry) - 4) : entry;
}

/* "9.0a" -> "9.0" */
static const char *
capability(struct workspace *w, const char *entry)
{
	const char *s = without_ptx(w, entry);

	return arena_copy(w->a, s, strspn(s, "0123456789."));
}

static bool
is_native(struct workspace *w, const char *entry)
{
	return !strcmp(entry, "native") && w->s->torch.value &&
	       text_version_order(w, w->s->torch.value, "2.9") >= 0;
}

static bool
all_known(struct workspace *w, const struct names *list, const struct torch_arch_list *known)
{
	for (size_t i = 0; i < list->n; i++)
		if (!names_have(&known->archs, without_ptx(w, list->at[i])) &&
		    !is_native(w, list->at[i]))
			return false;
	return true;
}

/* The list with one semicolon between two entries: what commas and blanks were meant for. */
static const char *
mended(struct workspace *w, const char *s)
{
	struct buf b = BUF(w->a);

	while (*(s += strspn(s, " ,;"))) {
		size_t n = strcspn(s, " ,;");

		buf_printf(&b, "%s%.*s", b.n ? ";" : "", (int)n, s);
		s += n;
	}
	return buf_text(&b);
}

static bool
check_names(struct workspace *w, const struct setting *given, const struct names *list,
	    const struct torch_arch_list *known)
{
	const char *torch = w->s->torch.value, *better;
	struct names again;
	struct buf takes = BUF(w->a);
	struct diag *d;

	for (size_t i = 0; i < known->archs.n; i++)
		buf_printf(&takes, "%s%s", i ? ", " : "", known->archs.at[i]);
	for (size_t i = 0; i < list->n; i++) {
		const char *x = list->at[i];

		if (names_have(&known->archs, without_ptx(w, x)) || is_native(w, x))
			continue;
		if (*x)
			d = diag_at(w->ds, E_ARCH_LIST, given->value.at,
				    "torch %s does not know `%s` in TORCH_CUDA_ARCH_LIST", torch,
				    x);
		else
			d = diag_at(w->ds, E_ARCH_LIST, given->value.at,
				    "TORCH_CUDA_ARCH_LIST has an empty entry");
		if (!*x || strchr(x, ','))
			diag_why(d, "one semicolon, or one blank, stands between two entries");
		else
			diag_why(d, "it takes %s, each with +PTX or without", buf_text(&takes));
		better = mended(w, given->value.s);
		again = entries(w, better, known);
		if (*better && all_known(w, &again, known))
			diag_fix(d, given->value.at, edit_scalar(w->a, given->value.at, better),
				 "write \"%s\"; or leave it out, and name the GPUs in gpus",
				 better);
		else
			diag_help(d, "remove what it does not take; or leave the variable out, and "
				     "name the GPUs in gpus");
		diag_source(d, known->source);
		return false;
	}
	return true;
}

static void
check_toolkit(struct workspace *w, const struct setting *given, const struct names *list)
{
	const struct cuda_toolkit *t = w->s->toolkit;

	for (size_t i = 0; t && t->archs.n && i < list->n; i++) {
		const char *cc = capability(w, list->at[i]);
		struct diag *d;

		if (!*cc || names_have(&t->archs, cc))
			continue;
		d = diag_at(w->ds, W_ARCH_TOOLKIT, given->value.at,
			    "CUDA %s does not compile for %s, which TORCH_CUDA_ARCH_LIST names",
			    t->version, cc);
		diag_why(d, "it compiles for %s to %s", t->archs.at[0],
			 t->archs.at[t->archs.n - 1]);
		diag_help(d, "drop the entry, or take another CUDA");
		diag_source(d, t->source);
	}
}

/* Who reads it at all. */
static void
check_effect(struct workspace *w, const struct setting *given, const struct stack_extension *of)
{
	for (size_t i = 0; i < w->s->extensions.n; i++) {
		const struct stack_extension *e = &w->s->extensions.at[i];
		struct buf has = BUF(w->a);
		struct diag *d;

		if ((of && of != e) || e->source == SOURCE_WHEEL || !e->build ||
		    e->build->honours_arch_list != TRI_NO)
			continue;
		for (size_t k = 0; k < e->build->archs.n; k++)
			buf_printf(&has, "%s%s", k ? ", " : "", e->build->archs.at[k]);
		d = diag_at(w->ds, W_ARCH_IGNORED, given->name.at,
			    "TORCH_CUDA_ARCH_LIST has no effect on `%s`", e->name);
		if (e->build->arch_env)
			diag_why(d, "its setup.py looks at %s", e->build->arch_env);
		else if (has.n)
			diag_why(d, "its setup.py has a list of its own: %s", buf_text(&has));
		else
			diag_why(d, "its setup.py does not look at it");
		if (e->build->arch_env)
			diag_help(d, "leave it out: %s is set from gpus", e->build->arch_env);
		else if (e->nvcc_env)
			diag_help(d, "leave it out: it is compiled for gpus, by nvcc-arch");
		else
			diag_help(d, "leave it out, and take its own list as it is");
		diag_source(d, e->build->source);
	}
}

void
check_arch_list(struct workspace *w)
{
	const struct stack_extension *e;
	const struct setting *given;
	struct torch_arch_list known;
	size_t at = 0;

	if (!w->s->compiles)
		return;
	while ((given = check_setting(w, "TORCH_CUDA_ARCH_LIST", &at, &e))) {
		struct names list;

		check_effect(w, given, e);
		if (!*given->value.s || !w->s->torch.value ||
		    !facts_torch_arch_list(w->f, w->a, w->s->torch.value, &known))
			continue;
		list = entries(w, given->value.s, &known);
		if (check_names(w, given, &list, &known))
			check_toolkit(w, given, &list);
	}
}

#include "internal.h"

/*
 * TORCH_CUDA_ARCH_LIST of the recipe, read as torch's cpp_extension reads it: blanks become
 * semicolons, each name is replaced as text, and each entry between semicolons must be a capability
 * that the release knows, with +PTX or without.
 */

static const char *
replaced(struct workspace *w, const char *s, const char *name, const char *by)
{
	struct buf b = BUF(w->a);

	for (const char *at; (at = strstr(s, name)); s = at + strlen(name))
		buf_printf(&b, "%.*s%s", (int)(at - s), s, by);
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

/* Returns the first entry that the release does not accept, or NULL. */
static const char *
first_unknown(struct workspace *w, const struct names *list, const struct torch_arch_list *known)
{
	for (size_t i = 0; i < list->n; i++) {
		const char *x = list->at[i];
		size_t n = strlen(x) - (ends_with(x, "+PTX") ? strlen("+PTX") : 0);

		if (!names_have(&known->archs, arena_copy(w->a, x, n)) &&
		    (strcmp(x, "native") != 0 ||
		     text_version_order(w, w->s->torch.value, "2.9") < 0))
			return x;
	}
	return NULL;
}

/* Returns the list with one semicolon between two entries, instead of commas and blanks. */
static const char *
mended(struct workspace *w, const char *s)
{
	struct names all = { 0 };

	for (size_t n; *(s += strspn(s, " ,;")); s += n) {
		n = strcspn(s, " ,;");
		list_push(w->a, &all, arena_copy(w->a, s, n));
	}
	return names_join(w->a, &all, ";");
}

static void
report_unknown(struct workspace *w, const struct setting *given, const char *x,
	       const struct torch_arch_list *known)
{
	const char *better = mended(w, given->value.s);
	struct names again = entries(w, better, known);
	struct diag *d;

	d = *x ? diag_at(w->ds, E_ARCH_LIST, given->value.at,
			 "torch %s does not accept `%s` in TORCH_CUDA_ARCH_LIST", w->s->torch.value,
			 x) :
		 diag_at(w->ds, E_ARCH_LIST, given->value.at,
			 "TORCH_CUDA_ARCH_LIST has an empty entry");
	if (!*x || strchr(x, ','))
		diag_why(d, "one semicolon or blank separates two entries");
	else
		diag_why(d, "it accepts %s, each optionally with +PTX",
			 names_join(w->a, &known->archs, ", "));
	if (*better && !first_unknown(w, &again, known))
		fix_scalar(w, d, given->value.at, better,
			   "write \"%s\"; or remove the variable, and name the GPUs in gpus",
			   better);
	else
		diag_help(d,
			  "remove the entries that torch rejects; or remove the variable, and name "
			  "the GPUs in gpus");
	diag_source(d, known->source);
}

static void
check_toolkit(struct workspace *w, const struct setting *given, const struct names *list)
{
	const struct cuda_toolkit *t = w->s->toolkit;

	for (size_t i = 0; t && t->archs.n && i < list->n; i++) {
		/* "9.0a+PTX" -> "9.0"; "native" -> "" */
		const char *x = list->at[i];
		const char *cc = arena_copy(w->a, x, strspn(x, "0123456789."));
		struct diag *d;

		if (!*cc || names_have(&t->archs, cc))
			continue;
		d = diag_at(w->ds, W_ARCH_TOOLKIT, given->value.at,
			    "CUDA %s does not compile for %s, which TORCH_CUDA_ARCH_LIST names",
			    t->version, cc);
		diag_why(d, "it compiles for %s to %s", t->archs.at[0],
			 t->archs.at[t->archs.n - 1]);
		diag_help(d, "remove the entry, or use another CUDA");
		diag_source(d, t->source);
	}
}

/* Warns if no build of an extension reads it. */
static void
check_effect(struct workspace *w, const struct setting *given, const struct stack_extension *of)
{
	list_each (e, &w->s->extensions) {
		const struct extension_release *build = e->build;
		struct diag *d;

		if ((of && of != e) || e->source == SOURCE_WHEEL || !build ||
		    build->honours_arch_list != TRI_NO)
			continue;
		d = diag_at(w->ds, W_ARCH_IGNORED, given->name.at,
			    "TORCH_CUDA_ARCH_LIST has no effect on `%s`", e->name);
		if (build->arch_env)
			diag_why(d, "its setup.py reads %s", build->arch_env);
		else if (build->archs.n)
			diag_why(d, "its setup.py has a fixed list: %s",
				 names_join(w->a, &build->archs, ", "));
		else
			diag_why(d, "its setup.py does not read it");
		if (build->arch_env)
			diag_help(d, "remove it: stackbuild sets %s from gpus", build->arch_env);
		else if (e->nvcc_env)
			diag_help(
				d,
				"remove it: nvcc-arch compiles the extension for the GPUs in gpus");
		else
			diag_help(d, "remove it: the list of its setup.py applies");
		diag_source(d, build->source);
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
		const char *unknown;

		check_effect(w, given, e);
		if (!*given->value.s || !w->s->torch.value ||
		    !facts_torch_arch_list(w->f, w->a, w->s->torch.value, &known))
			continue;
		list = entries(w, given->value.s, &known);
		unknown = first_unknown(w, &list, &known);
		if (unknown)
			report_unknown(w, given, unknown, &known);
		else
			check_toolkit(w, given, &list);
	}
}

/* The fix for an extension that a log names, from the knowledge of how it is built. */
#include "internal.h"

#include "base/buf.h"
#include "inspect/inspect.h"

/* Returns the name of a file without what follows its first dot. */
static const char *
stem(struct arena *a, const char *name)
{
	return arena_copy(a, name, strcspn(name, "."));
}

/* Returns the last part of the address of a repository, "flash-attention"; or "". */
static const char *
repository(struct arena *a, const char *git)
{
	const char *slash = git ? strrchr(git, '/') : NULL;

	return slash ? stem(a, slash + 1) : "";
}

static const struct extension *
extension_of_word(struct arena *a, const struct facts *f, const char *word, bool directory)
{
	const struct names names = facts_extension_names(f);
	const struct extension *e = directory ? NULL : facts_extension(f, word);

	for (size_t i = 0; !e && i < names.n; i++) {
		const struct extension *x = facts_extension(f, names.at[i]);

		if (x && (names_have(&x->imports, word) ||
			  (directory &&
			   (!strcmp(x->name, word) || !strcmp(repository(a, x->git), word)))))
			e = x;
	}
	return e;
}

/* Returns the extension that a module ("selective_scan_cuda") or the first part of a path names. */
static const struct extension *
extension_of_text(struct arena *a, const struct facts *f, const char *text)
{
	const struct names parts = names_split(a, text, '/');
	const struct extension *e = NULL;

	for (size_t i = 0; !e && i < parts.n; i++)
		if (*parts.at[i])
			e = extension_of_word(a, f, stem(a, parts.at[i]), parts.n > 1);
	return e;
}

/* Returns "built for torch 2.3 or later", or NULL. */
static const char *
torch_of(struct arena *a, const char *symbol)
{
	const char *sentence = torch_symbol_releases(a, symbol);

	return sentence && starts_with(sentence, "built for") ? sentence : NULL;
}

/* Returns the extension that the log names for a signature with a fix for it, or NULL. */
static const struct extension *
extension_of(struct arena *a, const struct facts *f, const struct signature *s,
	     const char *const *groups)
{
	return s->fix_known && s->extension < PATTERN_GROUPS && *groups[s->extension] ?
		       extension_of_text(a, f, groups[s->extension]) :
		       NULL;
}

const struct extension *
known_rebuild(struct arena *a, const struct facts *f, const struct signature *s,
	      const char *const *groups, const char **torch)
{
	const struct extension *e = s->symbol ? extension_of(a, f, s, groups) : NULL;

	*torch = e ? torch_of(a, groups[s->symbol]) : NULL;
	return e;
}

const char *
known_fix(struct arena *a, const struct facts *f, const struct signature *s,
	  const char *const *groups)
{
	const struct extension *e = extension_of(a, f, s, groups);
	const struct extension_release *r = e && e->nreleases ? &e->releases[e->nreleases - 1] :
					    e                 ? &e->any :
								NULL;
	struct buf b = BUF(a);
	const char *torch;

	for (const char *p = e ? s->fix_known : ""; *p; p++) {
		if (starts_with(p, "{package}")) {
			buf_puts(&b, e->name);
		} else if (starts_with(p, "{build}")) {
			buf_puts(&b, e->force_build_env ?
					     arena_printf(a, "%s=TRUE ", e->force_build_env) :
					     "");
		} else if (starts_with(p, "{archs}")) {
			buf_puts(&b, r->arch_env ? r->arch_env : "TORCH_CUDA_ARCH_LIST");
		} else if (starts_with(p, "{torch}")) {
			torch = s->symbol ? torch_of(a, groups[s->symbol]) : NULL;
			buf_puts(&b, torch ? arena_printf(a, " (it was %s)", torch) : "");
		} else {
			buf_putc(&b, *p);
			continue;
		}
		p = strchr(p, '}');
	}
	return e ? buf_text(&b) : NULL;
}

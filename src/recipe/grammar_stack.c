#include <string.h>

#include "cuda/cuda.h"
#include "load.h"

/* Grammars of versions, requirements, GPUs and platforms. */

const struct complaint *
grammar_version(struct load *l, const char *s)
{
	const char *bare = starts_with(s, "==") ? s + 2 + strspn(s + 2, " =") : "";
	struct complaint *c;

	if (version_parse(l->a, s) || !strcmp(s, "*"))
		return NULL;
	c = complain_that(
		l, E_VERSION, s, "is not a version",
		specifiers_parse(l->a, s) ?
			"write one version, such as 2.2.2, not a range; `*` selects a version" :
			"write a version in the form of PEP 440, such as 2.2.2");
	if (version_parse(l->a, bare)) {
		c->fix = bare;
		c->help = "write the version alone";
	}
	return c;
}

/* major "." minor [ "." update ] */
static const char three_parts[] = "^[0-9]+[.][0-9]+([.][0-9]+)?$";

const struct complaint *
grammar_cuda(struct load *l, const char *s)
{
	struct complaint *c;

	if (str_matches(s, three_parts))
		return NULL;
	c = complain_that(l, E_VERSION, s, "is not a CUDA version",
			  "write major and minor, such as \"12.1\", or a release, such as 12.1.1");
	if (cuda_of_tag(l->a, s))
		return complain_try(l, c, grammar_cuda, cuda_of_tag(l->a, s));
	return c;
}

PATTERN_GRAMMAR(driver, "^[0-9]{3,4}([.][0-9]+){0,2}$", TEXT_MAX, E_VERSION,
		"is not a driver version", "write it as nvidia-smi shows it, such as \"550.54\"")

PATTERN_GRAMMAR(newest, "^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$", TEXT_MAX,
		E_VERSION, "is not a date", "write year, month and day, such as 2026-11-20")

PATTERN_GRAMMAR(snapshot,
		"^20[0-9]{2}(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3])"
		"[0-5][0-9][0-5][0-9]Z$",
		TEXT_MAX, E_VERSION, "is not a time of a snapshot archive",
		"write date and time (UTC), such as 20261120T000000Z")

const struct complaint *
grammar_python(struct load *l, const char *s)
{
	struct names known = facts_python_series(l->f);
	struct complaint *c;

	if (names_have(&known, s))
		return NULL;
	if (str_matches(s, "^[0-9]+[.][0-9]+[.][0-9]+$")) {
		c = complain_that(l, E_PYTHON, s, "is a patch release", NULL);
		c->fix = arena_copy(l->a, s, (size_t)(strrchr(s, '.') - s));
		c->help = arena_printf(l->a, "write the series, %s", c->fix);
		return c;
	}
	if (!str_matches(s, "^([0-9]+([.][0-9]+)?|[0-9].*t)$")) {
		c = complain_that(l, E_VERSION, s, "is not a Python series",
				  "write major and minor, such as \"3.11\"");
		return starts_with(s, "python") ? complain_try(l, c, grammar_python, s + 6) : c;
	}
	return complain(l, E_PYTHON, arena_printf(l->a, "use %s", names_words(l->a, &known, "or")),
			"Python %s is not in the knowledge base", s);
}

const struct complaint *
grammar_gpu(struct load *l, const char *s)
{
	struct names known = facts_gpu_names(l->f, l->a);
	bool dotted = str_matches(s, "^[0-9]+[.][0-9]+$");
	struct capability cc;
	struct complaint *c;

	if (facts_cc(l->f, s) || (!dotted && facts_gpu(l->f, s)))
		return NULL;
	if (dotted)
		return complain(l, E_GPU, "see https://developer.nvidia.com/cuda-gpus",
				"no GPU in the knowledge base has compute capability %s", s);
	c = complain(
		l, E_GPU,
		"write its compute capability instead, such as \"8.6\"; `stackbuild facts gpu` "
		"lists the names",
		"the GPU %s is not in the knowledge base", shown(l->a, s));
	/* Suggests "9.0" for "90" and "sm90", "12.0" for "sm_120a", and "rtx4090" for "4091". */
	if (capability_parse(starts_with(s, "sm") && is_digit(s[2]) ? s + 2 : s, &cc))
		c->fix = arena_printf(l->a, "%u.%u", cc.major, cc.minor);
	if (c->fix && !facts_cc(l->f, c->fix))
		c->fix = NULL;
	if (!c->fix && !starts_with(s, "sm_"))
		c->fix = str_nearest(is_digit(*s) ? arena_printf(l->a, "rtx%s", s) : s, known.at,
				     known.n);
	if (c->fix)
		c->help = arena_printf(l->a, "did you mean `%s`?", c->fix);
	return c;
}

/* Accepts only diagnostics about the stack: no syntax errors, and none of stores and engines. */
const struct complaint *
grammar_ignore(struct load *l, const char *s)
{
	for (size_t i = 0; i < CODE_COUNT; i++)
		if (!strcmp(code_table[i].id, s))
			return starts_with(s, "SB02") ?
				       NULL :
				       complain_that(l, E_WORD, s, "cannot be ignored",
						     "only codes from SB0200 to SB0299 can be "
						     "ignored: they are about the stack");
	return complain_that(l, E_WORD, s, "is not the code of a diagnostic",
			     "write the code that `check` shows, such as SB0250");
}

/* Accepts os "/" arch [ "/" variant ]; only linux has CUDA images. */
const struct complaint *
grammar_platform(struct load *l, const char *s)
{
	struct complaint *c;

	if (str_matches(s, "^linux/[A-Za-z0-9_]+(/[A-Za-z0-9_.]+)?$"))
		return NULL;
	c = complain_that(l, E_NAME, s, "is not a platform for an image",
			  "write linux/amd64 or linux/arm64");
	if (!strcmp(s, "amd64") || !strcmp(s, "arm64"))
		c->fix = arena_printf(l->a, "linux/%s", s);
	return c;
}

/* Accepts "cu" 2*3digit / "cpu" / "xpu" / "rocm" version / "pypi" / URL. */
const struct complaint *
grammar_torch_index(struct load *l, const char *s)
{
	struct complaint *c;

	if (cuda_tag_valid(s) || !strcmp(s, "pypi"))
		return NULL;
	if (strstr(s, "://"))
		return grammar_index(l, s);
	c = complain_that(l, E_WORD, s, "is not a build of torch",
			  "use a tag of the PyTorch index such as cu121, or cpu, or pypi, or the "
			  "URL of an index");
	if (strcmp(arena_lower(l->a, s), s) != 0)
		return complain_try(l, c, grammar_torch_index, arena_lower(l->a, s));
	if (str_matches(s, three_parts)) {
		c->fix = cuda_tag(l->a, s);
		c->help = arena_printf(l->a, "write the tag of the index, %s", c->fix);
	}
	return c;
}

/* --- requirements: PEP 508 --- */

const struct complaint *
grammar_requirement(struct load *l, const char *s)
{
	const char *why = NULL;
	size_t at = 0, n;
	const struct requirement *req = requirement_parse(l->a, s, &why, &at);
	struct complaint *c;

	if (req)
		return req->url ? grammar_requirement_url(l, req->url) : NULL;
	c = complain(l, E_REQUIREMENT,
		     *s == '-' ? "options of pip are not allowed here; for an index use the key "
				 "`index`" :
				 "write it in the form of PEP 508: name[extra]>=1,<2; marker",
		     "%s is not a requirement%s%s", shown(l->a, s), why ? ": " : "",
		     why ? why : "");
	if (at < strlen(s)) {
		c->from = at;
		c->length = 1;
	}
	/* conda pins with one equals sign */
	n = strcspn(s, "=<>!~;@");
	if (*s != '-' && s[n] == '=' && s[n + 1] != '=')
		complain_try(l, c, grammar_requirement,
			     arena_printf(l->a, "%.*s==%s", (int)n, s, s + n + 1));
	return c;
}

const struct complaint *
grammar_package_name(struct load *l, const char *s)
{
	return name_valid(s) ? NULL :
			       complain_that(l, E_NAME, s, "is not the name of a package",
					     "use letters, digits, dots, dashes and underscores; "
					     "write versions in `packages`");
}

/* Accepts name [ "[" extras "]" ]. */
const struct complaint *
grammar_extension_name(struct load *l, const char *s)
{
	const struct requirement *req = requirement_parse(l->a, s, NULL, NULL);

	if (req && !req->url && !req->marker && !*specifiers_text(l->a, req->spec))
		return NULL;
	return complain_that(l, E_NAME, s, "is not the name of a package",
			     req ? "in the long form, write the version under the key `version`" :
				   "use letters, digits, dots, dashes and underscores");
}

/* Accepts one version, or a range of versions. */
const struct complaint *
grammar_extension_version(struct load *l, const char *s)
{
	if (*s && (version_parse(l->a, s) || specifiers_parse(l->a, s)))
		return NULL;
	return complain_that(l, E_VERSION, s, "is not a version",
			     "write a version such as 1.4.0, or a range such as \">=1.4,<2\"");
}

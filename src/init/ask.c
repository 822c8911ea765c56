#include <string.h>

#include "base/buf.h"
#include "reader.h"

/*
 * The questions.  The screen:
 *
 *     GPUs, such as h100 or rtx4090 [all that the torch build supports]: rtx4900
 *       unknown GPU `rtx4900`; did you mean `rtx4090`?
 *     GPUs, such as h100 or rtx4090 [all that the torch build supports]: rtx4090
 *     extensions, such as mamba-ssm or flash-attn==2.8.3 [none]: mamba-ssm
 *     torch [2.13.0]: 2.2.2
 *     Python [3.11]:
 *     a Modal app as well? [no]: y
 */

/* What a key would be if nothing more were answered; or NULL. */
static const char *
preview(struct arena *a, const struct facts *f, const struct init *n, const char *key)
{
	struct init copy = init_copy(a, n);
	struct diags ds;
	struct reader rd = { a, &ds, f, &copy };

	diags_init(&ds, a);
	if (!init_get(n, "torch.version"))
		item_set(&rd, "torch", (struct span){ 0 }, "torch.version", "*");
	return draft_complete(&rd, "preview") ? init_value(&copy, key) : NULL;
}

const char *
init_ask(struct arena *a, const struct facts *f, const struct init *n, enum init_question q)
{
	const char *value;

	switch (q) {
	case ASK_GPUS: return "GPUs, such as h100 or rtx4090 [all that the torch build supports]: ";
	case ASK_EXTENSIONS: return "extensions, such as mamba-ssm or flash-attn==2.8.3 [none]: ";
	case ASK_TORCH:
		value = preview(a, f, n, "torch.version");
		return arena_printf(a, "torch [%s]: ", value ? value : "the newest compatible one");
	case ASK_PYTHON:
		value = preview(a, f, n, "python");
		return arena_printf(a, "Python [%s]: ", value ? value : "a compatible one");
	case ASK_MODAL: return "a Modal app as well? [no]: ";
	case ASK_COUNT: break;
	}
	return "";
}

/* The next of "a, b" or, if words, "a b"; empty at the end. */
static const char *
next_part(struct arena *a, const char **p, bool words)
{
	const char *s;
	size_t n;

	*p += strspn(*p, ", \t");
	s = *p;
	n = strcspn(s, words ? ", \t" : ",");
	*p += n;
	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		n--;
	return arena_copy(a, s, n);
}

/* Adds a GPU, or only checks its name. */
static const char *
add_gpu(struct reader *rd, const char *name, bool add)
{
	const struct gpu *g = facts_gpu(rd->f, name);
	struct names known = facts_gpu_names(rd->f, rd->a);
	const char *near = str_nearest(name, known.at, known.n);

	if (g || facts_cc(rd->f, name)) {
		if (add)
			item_set(rd, name, (struct span){ 0 }, "gpus", g ? g->id : name);
		return NULL;
	}
	return near ? arena_printf(rd->a, "unknown GPU `%s`; did you mean `%s`?", name, near) :
		      arena_printf(rd->a,
				   "unknown GPU `%s`; write its compute capability, such as 8.6",
				   name);
}

/* Names may hold blanks ("RTX 4090"): a list without commas is tried as a whole first. */
static const char *
answer_gpus(struct reader *rd, const char *s)
{
	const char *p, *part, *why = NULL;
	bool words = !strchr(s, ',') && !facts_gpu(rd->f, s);

	for (int add = 0; add < 2; add++)
		for (p = s; !why && *(part = next_part(rd->a, &p, words));)
			why = add_gpu(rd, part, add);
	return why;
}

static const char *
add_extension(struct reader *rd, const char *text)
{
	const char *why = NULL, *near;
	const struct requirement *r = requirement_parse(rd->a, text, &why, NULL);
	const struct extension *e = r ? facts_extension(rd->f, r->key) : NULL;
	const struct version *pin = r ? specifiers_pin(r->spec) : NULL;
	struct names known = facts_extension_names(rd->f);

	if (!r)
		return arena_printf(rd->a, "`%s` is not a name or name==version%s%s", text,
				    why ? ": " : "", why ? why : "");
	near = e ? NULL : str_nearest(r->key, known.at, known.n);
	if (near)
		return arena_printf(rd->a, "`%s` is not in the knowledge base; did you mean `%s`?",
				    r->name, near);
	if (e && pin && e->nreleases && !extension_release(e, version_public(rd->a, pin)))
		return arena_printf(rd->a, "the knowledge base lists no %s %s; the newest is %s",
				    e->name, version_text(rd->a, pin),
				    e->releases[e->nreleases - 1].version);
	place_requirement(rd, item_open(rd, text, (struct span){ 0 }), text, true);
	return NULL;
}

static const char *
answer_extensions(struct reader *rd, const char *s)
{
	const char *p = s, *part, *why = NULL;

	if (!strcasecmp(s, "none") || !strcasecmp(s, "no"))
		return NULL;
	while (!why && *(part = next_part(rd->a, &p, true)))
		why = add_extension(rd, part);
	return why;
}

static const char *
answer_torch(struct reader *rd, const char *s)
{
	const struct version *v = version_parse(rd->a, s);
	bool newest = !*s || !strcasecmp(s, "newest");
	const char *text = arena_printf(rd->a, "torch%s%s", v ? "==" : "", newest ? "" : s);

	if (!strcasecmp(s, "none") && !init_get(rd->n, "extensions"))
		return NULL;
	if (!newest && !v && !specifiers_parse(rd->a, s))
		return arena_printf(rd->a, "`%s` is not a version, such as 2.2.2", s);
	place_requirement(rd, item_open(rd, text, (struct span){ 0 }), text, false);
	return NULL;
}

static const char *
answer_python(struct reader *rd, const char *s)
{
	struct names known = facts_python_series(rd->f);

	if (!names_have(&known, s))
		return arena_printf(rd->a, "unknown Python series `%s`; known are %s", s,
				    names_words(rd->a, &known, "and"));
	init_set(rd->a, rd->n, "python", arena_strdup(rd->a, s));
	return NULL;
}

const char *
init_answer(struct arena *a, const struct facts *f, struct init *n, enum init_question q,
	    const char *answer)
{
	struct diags ds;
	struct reader rd = { a, &ds, f, n };
	const char *p = answer, *s = next_part(a, &p, false);

	diags_init(&ds, a);
	for (const char *c = answer; *c; c++)
		if (*c < ' ' && *c != '\t')
			return "a control character";
	if (!*s && q != ASK_TORCH)
		return NULL;
	switch (q) {
	case ASK_GPUS: return answer_gpus(&rd, answer);
	case ASK_EXTENSIONS: return answer_extensions(&rd, answer);
	case ASK_TORCH: return answer_torch(&rd, *s ? answer + strspn(answer, " \t") : s);
	case ASK_PYTHON: return answer_python(&rd, s);
	case ASK_MODAL:
		if (!strcasecmp(s, "y") || !strcasecmp(s, "yes"))
			n->modal = true;
		else if (strcasecmp(s, "n") != 0 && strcasecmp(s, "no") != 0)
			return "answer yes or no";
		return NULL;
	case ASK_COUNT: break;
	}
	return NULL;
}

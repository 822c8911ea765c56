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

/* Returns the value that a key would get without further answers, or NULL. */
static const char *
preview(const struct init *rd, const char *key)
{
	struct diags ds;
	struct init copy = init_copy(rd, &ds);

	ds = DIAGS(ds, rd->a);
	if (!init_get(rd, "torch.version"))
		item_set(&copy, "torch", (struct span){ 0 }, "torch.version", "*");
	return draft_complete(&copy, "preview") ? init_value(&copy, key) : NULL;
}

/* Returns the next of "a, b" or, if words, "a b"; empty at the end. */
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
add_gpu(struct init *rd, const char *name, bool add)
{
	const char *cc = facts_cc(rd->f, name);
	const struct gpu *g = cc ? NULL : facts_gpu(rd->f, name);
	struct names known = facts_gpu_names(rd->f, rd->a);
	const char *near = str_nearest(name, known.at, known.n);

	if (g || cc) {
		if (add)
			item_set(rd, name, (struct span){ 0 }, "gpus", g ? g->id : cc);
		return NULL;
	}
	return near ? arena_printf(rd->a, "unknown GPU `%s`; did you mean `%s`?", name, near) :
		      arena_printf(rd->a,
				   "unknown GPU `%s`; write its compute capability, such as 8.6",
				   name);
}

/* Reads a list of GPUs. Names may contain blanks ("RTX 4090"), so a list without commas is first
 * tried as a single name, and is one if its first word is no GPU. */
static const char *
answer_gpus(struct init *rd, const char *s)
{
	const char *p = s, *part, *why = NULL;
	bool words = !strchr(s, ',') && !facts_gpu(rd->f, s) &&
		     !add_gpu(rd, next_part(rd->a, &p, true), false);

	for (int add = 0; add < 2; add++)
		for (p = s; !why && *(part = next_part(rd->a, &p, words));)
			why = add_gpu(rd, part, add);
	return why;
}

static const char *
add_extension(struct init *rd, const char *text)
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
answer_extensions(struct init *rd, const char *s)
{
	const char *p = s, *part, *why = NULL;

	if (!strcasecmp(s, "none") || !strcasecmp(s, "no"))
		return NULL;
	while (!why && *(part = next_part(rd->a, &p, true)))
		why = add_extension(rd, part);
	return why;
}

static const char *
answer_torch(struct init *rd, const char *s)
{
	const struct version *v = version_parse(rd->a, s);
	bool newest = !*s || !strcasecmp(s, "newest");
	const char *text = arena_printf(rd->a, "torch%s%s", v ? "==" : "", newest ? "" : s);

	if (!strcasecmp(s, "none") && !init_get(rd, "extensions"))
		return NULL;
	if (!newest && !v && !specifiers_parse(rd->a, s))
		return arena_printf(rd->a, "`%s` is not a version, such as 2.2.2", s);
	place_requirement(rd, item_open(rd, text, (struct span){ 0 }), text, false);
	return NULL;
}

static const char *
answer_python(struct init *rd, const char *answer)
{
	struct names known = facts_python_series(rd->f);
	const char *s = next_part(rd->a, &answer, false);

	if (!names_have(&known, s))
		return arena_printf(rd->a, "unknown Python series `%s`; known are %s", s,
				    names_words(rd->a, &known, "and"));
	init_set(rd, "python", s);
	return NULL;
}

static const char *
answer_modal(struct init *rd, const char *answer)
{
	const char *s = next_part(rd->a, &answer, false);
	bool yes = !strcasecmp(s, "y") || !strcasecmp(s, "yes");

	rd->modal |= yes;
	return yes || !strcasecmp(s, "n") || !strcasecmp(s, "no") ? NULL : "answer yes or no";
}

static const struct {
	const char *text, *key, *other; /* key: its value is the default; without one, `other` */
	const char *(*answer)(struct init *rd, const char *answer);
} questions[] = {
	[ASK_GPUS] = { "GPUs, such as h100 or rtx4090 [%s]: ", NULL,
		       "all that the torch build supports", answer_gpus },
	[ASK_EXTENSIONS] = { "extensions, such as mamba-ssm or flash-attn==2.8.3 [%s]: ", NULL,
			     "none", answer_extensions },
	[ASK_TORCH] = { "torch [%s]: ", "torch.version", "the newest compatible one",
			answer_torch },
	[ASK_PYTHON] = { "Python [%s]: ", "python", "a compatible one", answer_python },
	[ASK_MODAL] = { "add a Modal app? [%s]: ", NULL, "no", answer_modal },
};

const char *
init_ask(const struct init *rd, enum init_question q)
{
	const char *value = questions[q].key ? preview(rd, questions[q].key) : NULL;
	struct buf b = BUF(rd->a);

	buf_printf(&b, questions[q].text, value ? value : questions[q].other);
	return buf_text(&b);
}

const char *
init_answer(struct init *rd, enum init_question q, const char *answer)
{
	struct diags *reported = rd->ds, notes;
	const char *why = NULL;

	for (const char *c = answer; *c; c++)
		if (*c < ' ' && *c != '\t')
			return "a control character";
	answer += strspn(answer, ", \t");
	notes = DIAGS(notes, rd->a);
	rd->ds = &notes;
	if (*answer || q == ASK_TORCH)
		why = questions[q].answer(rd, answer);
	rd->ds = reported;
	return why;
}

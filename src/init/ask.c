#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "draft.h"

/*
 * The questions.  The screen:
 *
 *     GPUs, such as h100 or rtx4090 [any that torch's build carries]: rtx4900
 *       the GPU `rtx4900` is not known; did you mean `rtx4090`?
 *     GPUs, such as h100 or rtx4090 [any that torch's build carries]: rtx4090
 *     extensions, such as mamba-ssm or flash-attn==2.8.3 [none]: mamba-ssm
 *     torch [2.13.0, the newest with which the rest can live]: 2.2.2
 *     Python [3.11]:
 *     a Modal app as well? [no]: y
 */

/* What would come out now. */
static struct draft
preview(struct arena *a, const struct facts *f, const struct init *n)
{
	struct draft d = { .n = *n };
	struct diags ds;

	diags_init(&ds, a);
	if (!n->torch.s)
		d.n.torch_spec.s = n->torch_spec.s ? n->torch_spec.s : "";
	d.n.left = (struct init_lefts){ 0 };
	if (!draft_complete(a, &ds, f, &d, "preview"))
		d.n.torch.s = d.n.python.s = NULL;
	return d;
}

const char *
init_ask(struct arena *a, const struct facts *f, const struct init *n, enum init_question q)
{
	struct draft d;

	switch (q) {
	case ASK_GPUS: return "GPUs, such as h100 or rtx4090 [any that torch's build carries]: ";
	case ASK_EXTENSIONS: return "extensions, such as mamba-ssm or flash-attn==2.8.3 [none]: ";
	case ASK_TORCH:
		d = preview(a, f, n);
		return d.n.torch.s ? arena_printf(a, "torch [%s, %s]: ", d.n.torch.s,
						  d.torch_why ? d.torch_why : "as given") :
				     "torch [the newest that fits]: ";
	case ASK_PYTHON:
		d = preview(a, f, n);
		return d.n.python.s ? arena_printf(a, "Python [%s]: ", d.n.python.s) :
				      "Python [one that fits]: ";
	case ASK_MODAL: return "a Modal app as well? [no]: ";
	case ASK_COUNT: break;
	}
	return "";
}

/* The next of "a, b" or, if words, "a b"; empty at the end. */
static const char *
next_part(struct arena *a, const char **p, bool words)
{
	const char *stop = words ? ", \t" : ",", *s;
	size_t n;

	*p += strspn(*p, ", \t");
	n = strcspn(*p, stop);
	s = *p;
	*p += n;
	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		n--;
	return arena_copy(a, s, n);
}

static const char *
add_gpu(struct arena *a, const struct facts *f, struct init *n, const char *name)
{
	const struct gpu *g = facts_gpu(f, name);
	struct names known = facts_gpu_names(f, a);
	const char *near;

	if (g || facts_cc(f, name)) {
		for (size_t i = 0; i < n->gpus.n; i++)
			if (!strcmp(n->gpus.at[i].s, g ? g->id : name))
				return NULL;
		list_push(a, &n->gpus, (struct text){ g ? g->id : arena_strdup(a, name), { 0 } });
		return NULL;
	}
	near = str_nearest(name, known.at, known.n);
	return near ? arena_printf(a, "the GPU `%s` is not known; did you mean `%s`?", name, near) :
		      arena_printf(a,
				   "the GPU `%s` is not known; its compute capability will do, "
				   "such as 8.6",
				   name);
}

/* Names may hold blanks ("RTX 4090"): a list without commas is tried as a whole first. */
static const char *
answer_gpus(struct arena *a, const struct facts *f, struct init *n, const char *s)
{
	const char *p = s, *part, *why;
	struct texts before = n->gpus;
	bool words = !strchr(s, ',') && !facts_gpu(f, s);

	while (*(part = next_part(a, &p, words))) {
		if ((why = add_gpu(a, f, n, part))) {
			n->gpus = before;
			return why;
		}
	}
	return NULL;
}

static const char *
unknown_extension(struct arena *a, const struct facts *f, const struct requirement *r)
{
	struct names known = facts_extension_names(f);
	const char *near = str_nearest(r->key, known.at, known.n);

	return near ? arena_printf(a, "nothing is known of `%s`; did you mean `%s`?", r->name,
				   near) :
		      NULL;
}

static const char *
add_extension(struct arena *a, const struct facts *f, struct init *n, const char *text)
{
	const char *why = NULL;
	const struct requirement *r = requirement_parse(a, text, &why, NULL);
	const struct extension *e = r ? facts_extension(f, r->key) : NULL;
	const struct version *pin = r ? specifiers_pin(r->spec) : NULL;
	struct diags ds;

	if (!r)
		return arena_printf(a, "`%s` is not a name or name==version%s%s", text,
				    why ? ": " : "", why ? why : "");
	if (!e && (why = unknown_extension(a, f, r)))
		return why;
	if (e && pin && e->nreleases && !extension_release(e, version_public(a, pin)))
		return arena_printf(a, "no %s %s is known; the newest is %s", e->name,
				    version_text(a, pin), e->releases[e->nreleases - 1].version);
	diags_init(&ds, a);
	init_requirement(a, &ds, f, n, text, (struct span){ 0 }, true);
	return NULL;
}

static const char *
answer_extensions(struct arena *a, const struct facts *f, struct init *n, const char *s)
{
	const char *p = s, *part, *why;

	if (!strcasecmp(s, "none") || !strcasecmp(s, "no"))
		return NULL;
	while (*(part = next_part(a, &p, true)))
		if ((why = add_extension(a, f, n, part)))
			return why;
	return NULL;
}

static const char *
answer_torch(struct arena *a, const struct facts *f, struct init *n, const char *s)
{
	const struct version *v = version_parse(a, s);
	const struct specifiers *spec = v ? NULL : specifiers_parse(a, s);
	struct diags ds;

	diags_init(&ds, a);
	if (!*s || !strcasecmp(s, "newest")) {
		n->torch_spec.s = "";
		return NULL;
	}
	if (!strcasecmp(s, "none") && !n->extensions.n)
		return NULL;
	if (!v && !spec)
		return arena_printf(a, "`%s` is not a version, such as 2.2.2", s);
	init_requirement(a, &ds, f, n, arena_printf(a, v ? "torch==%s" : "torch%s", s),
			 (struct span){ 0 }, false);
	return NULL;
}

static const char *
answer_python(struct arena *a, const struct facts *f, struct init *n, const char *s)
{
	struct names known = facts_python_series(f);
	struct buf b = BUF(a);

	for (size_t i = 0; i < known.n; i++) {
		if (!strcmp(known.at[i], s)) {
			n->python = (struct text){ known.at[i], { 0 } };
			return NULL;
		}
		buf_printf(&b, "%s%s", i ? ", " : "", known.at[i]);
	}
	return arena_printf(a, "`%s` is not a series that is known: %s", s, buf_text(&b));
}

const char *
init_answer(struct arena *a, const struct facts *f, struct init *n, enum init_question q,
	    const char *answer)
{
	const char *p = answer, *s = next_part(a, &p, false);

	for (const char *c = answer; *c; c++)
		if (*c < ' ' && *c != '\t')
			return "a control character";
	if (q == ASK_TORCH)
		return answer_torch(a, f, n, *s ? answer + strspn(answer, " \t") : s);
	if (!*s)
		return NULL;
	switch (q) {
	case ASK_GPUS: return answer_gpus(a, f, n, answer);
	case ASK_EXTENSIONS: return answer_extensions(a, f, n, answer);
	case ASK_PYTHON: return answer_python(a, f, n, s);
	case ASK_MODAL:
		if (!strcasecmp(s, "y") || !strcasecmp(s, "yes"))
			n->modal = true;
		else if (strcasecmp(s, "n") != 0 && strcasecmp(s, "no") != 0)
			return "yes or no";
		return NULL;
	default: return NULL;
	}
}

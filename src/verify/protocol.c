#include <string.h>

#include "base/str.h"
#include "fetch/fetch.h"
#include "probe.h"

/*
 *     TOKEN SP {"about": {"python", "stack", "plan_error", "checks": ["loads", ...]}}
 *     TOKEN SP {"gpu": {"driver", "driver_cuda", "names", "why"}}
 *     TOKEN SP {"begin": "loads"}
 *     TOKEN SP {"check": "loads", "result", "why", "what", "figures", "seconds",
 *               "problems": [{"text", "subject", "help"}]}
 *     TOKEN SP {"end": true}
 *
 * `checks` is read only for an image with its own plan; otherwise, the plan on this host lists the
 * expected checks. Texts come from the image, so they are truncated and made safe.
 */
enum { CHECKS_MAX = 100, TEXT_BYTES = 2000 };

static const char *
inert_text(struct probe_session *t, const json_t *j)
{
	struct buf b = BUF(t->a);
	size_t n;

	if (!json_is_string(j) || !json_string_length(j))
		return NULL;
	n = json_string_length(j);
	if (n > TEXT_BYTES)
		n = TEXT_BYTES;
	diag_inert(arena_copy(t->a, json_string_value(j), n), &b);
	for (char *p = b.p; p && *p; p++)
		if (*p == '\n' || *p == '\t')
			*p = ' ';
	return mask_credentials(t->a, buf_text(&b));
}

static const char *
text_of(struct probe_session *t, const json_t *map, const char *key)
{
	return inert_text(t, json_object_get(map, key));
}

static const char *
figures_of(struct probe_session *t, const json_t *map)
{
	const json_t *j = json_object_get(map, "figures");
	const char *text = NULL;
	size_t n;

	if (json_is_object(j))
		text = fetch_json_dump(t->a, j, JSON_COMPACT | JSON_ENSURE_ASCII, &n);
	return text ? text : "{}";
}

/* --- places in the recipe --- */

static struct span
place_of(const struct plan *p, const char *subject)
{
	const struct stack *s = p->stack;
	const struct recipe *r = s->recipe;
	const struct texts *texts[] = { &r->verify.modules, &r->verify.probes };
	const struct stack_packages *lists[] = { &s->torch_packages, &s->packages, &s->build_deps };
	const struct {
		const char *subject;
		struct span at;
	} known[] = { { "torch", s->torch.at },   { "torch", r->torch.at },
		      { "python", s->python.at }, { "numpy", s->numpy.at },
		      { "compile", s->cuda.at },  { "compile", s->base.at } };

	for (size_t i = 0; i < s->extensions.n; i++)
		if (!strcmp(s->extensions.at[i].name, subject))
			return s->extensions.at[i].at;
	for (size_t i = 0; i < COUNT(known); i++)
		if (!strcmp(known[i].subject, subject) && known[i].at.line)
			return known[i].at;
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < texts[k]->n; i++)
			if (!strcmp(texts[k]->at[i].s, subject))
				return texts[k]->at[i].at;
	for (size_t k = 0; k < 3; k++)
		for (size_t i = 0; i < lists[k]->n; i++)
			if (!strcmp(lists[k]->at[i].key, subject) && lists[k]->at[i].at.line)
				return lists[k]->at[i].at;
	return NOWHERE;
}

static void
add_problem(struct probe_session *t, const char *check, const char *subject, const char *text,
	    const char *help)
{
	struct span at = t->plan && subject ? place_of(t->plan, subject) : NOWHERE;
	struct diag *d;

	if (!at.src && t->plan)
		at.src = t->plan->stack->recipe->src;
	d = diag_at(t->ds, proof_code(check), at, "%s: %s", check, text);
	if (help)
		diag_help(d, "%s", help);
}

void
probe_fail(struct probe_session *t, bool at_end, const char *why, const char *help)
{
	const char *in = t->current ? t->current : "the probe";
	const struct proof_check c = { .id = t->current,
				       .result = PROOF_FAILED,
				       .why = why,
				       .figures = "{}",
				       .seconds = t->now_s - t->began_s };

	t->failed = true;
	if (t->current && !proof_check_of(t->proof, t->current))
		list_push(t->a, &t->proof->checks, c);
	if (at_end && t->current)
		add_problem(t, "the probe", NULL, arena_printf(t->a, "%s: %s", in, why), help);
	else
		add_problem(t, in, NULL, why, help);
	t->current = NULL;
}

/* --- the messages --- */

/* Returns false for anything but the first result of an expected check. */
static bool
read_check(struct probe_session *t, const json_t *map)
{
	const char *id = text_of(t, map, "check");
	const json_t *problems = json_object_get(map, "problems");
	struct proof_check c = { .id = id, .figures = figures_of(t, map) };

	if (!id || !names_have(&t->expected, id) || proof_check_of(t->proof, id) ||
	    !proof_result_parse(json_string_value(json_object_get(map, "result")), &c.result))
		return false;
	c.why = text_of(t, map, "why");
	c.what = text_of(t, map, "what");
	c.seconds = json_number_value(json_object_get(map, "seconds"));
	list_push(t->a, &t->proof->checks, c);
	t->current = NULL;
	for (size_t i = 0; c.result == PROOF_FAILED && i < json_array_size(problems); i++) {
		const json_t *one = json_array_get(problems, i);
		const char *text = text_of(t, one, "text");

		if (text)
			add_problem(t, id, text_of(t, one, "subject"), text,
				    text_of(t, one, "help"));
	}
	if (c.result == PROOF_FAILED && !json_array_size(problems))
		add_problem(t, id, NULL, c.why ? c.why : "it failed without a reason", NULL);
	return true;
}

static void
read_about(struct probe_session *t, const json_t *about)
{
	const json_t *limit = json_object_get(about, "import_timeout_s"),
		     *checks = json_object_get(about, "checks");

	t->answered = true;
	t->proof->python = text_of(t, about, "python");
	t->plan_error = text_of(t, about, "plan_error");
	if (!t->proof->stack)
		t->proof->stack = text_of(t, about, "stack");
	if (json_is_number(limit))
		t->proof->import_timeout_s = json_number_value(limit);
	for (size_t i = 0; !t->plan && i < json_array_size(checks) && i < CHECKS_MAX; i++) {
		const char *id = inert_text(t, json_array_get(checks, i));

		if (id)
			names_once(t->a, &t->expected, id);
	}
}

static void
read_gpu(struct probe_session *t, const json_t *gpu)
{
	t->proof->driver = text_of(t, gpu, "driver");
	t->proof->driver_cuda = text_of(t, gpu, "driver_cuda");
	t->proof->gpu = text_of(t, gpu, "names");
	t->proof->no_gpu = text_of(t, gpu, "why");
}

static bool
read_message(struct probe_session *t, const json_t *map)
{
	const char *begin = text_of(t, map, "begin");
	const json_t *at;

	if ((at = json_object_get(map, "about")))
		read_about(t, at);
	else if ((at = json_object_get(map, "gpu")))
		read_gpu(t, at);
	else if (json_object_get(map, "check"))
		return read_check(t, map);
	else if (json_object_get(map, "end"))
		t->ended = true;
	else if (begin && names_have(&t->expected, begin)) {
		t->current = begin;
		t->began_s = t->now_s;
	}
	return at || begin || t->ended;
}

void
probe_line(struct probe_session *t, const char *line, size_t n)
{
	size_t k = strlen(t->token);
	json_auto_t *map = NULL;

	if (n <= k || memcmp(line, t->token, k) != 0 || line[k] != ' ')
		return;
	map = json_loadb(line + k + 1, n - k - 1, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(map) || !read_message(t, map))
		probe_fail(t, false, "its answer is not valid", NULL);
}

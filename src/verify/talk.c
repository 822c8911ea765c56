#include <string.h>

#include <jansson.h>

#include "base/str.h"

#include "probe.h"

/*
 *     TOKEN SP {"about": {"python", "stack", "plan_error"}}
 *     TOKEN SP {"gpu": {"driver", "driver_cuda", "names", "why"}}
 *     TOKEN SP {"begin": "loads"}
 *     TOKEN SP {"check": "loads", "result", "why", "what", "figures", "seconds",
 *               "problems": [{"text", "subject", "help"}]}
 *     TOKEN SP {"end": true}
 *
 * An image is somebody else's: of what it says only so much is believed to be text.
 */
enum { CHECKS_MAX = 100, TEXT_BYTES = 2000, ID_BYTES = 100 };

static const char *
text_of(struct talk *t, const json_t *map, const char *key)
{
	const json_t *j = json_object_get(map, key);
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

static int
add_chunk(const char *bytes, size_t n, void *out)
{
	buf_add(out, bytes, n);
	return 0;
}

static const char *
figures_of(struct talk *t, const json_t *map)
{
	const json_t *j = json_object_get(map, "figures");
	struct buf b = BUF(t->a);

	if (!json_is_object(j) ||
	    json_dump_callback(j, add_chunk, &b, JSON_COMPACT | JSON_ENSURE_ASCII) < 0)
		return "{}";
	return buf_text(&b);
}

static bool
is_id(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_-./");

	return n && !s[n] && n <= ID_BYTES;
}

static void
read_check(struct talk *t, const json_t *map)
{
	const char *id = text_of(t, map, "check"), *result = text_of(t, map, "result");
	const json_t *problems = json_object_get(map, "problems");
	struct proof_check c = { .result = PROOF_NOT_RUN };

	if (!id || !is_id(id) || !result || t->proof->checks.n >= CHECKS_MAX)
		return;
	for (size_t i = 0; i < t->proof->checks.n; i++)
		if (!strcmp(t->proof->checks.at[i].id, id))
			return;
	if (!strcmp(result, "passed"))
		c.result = PROOF_PASSED;
	else if (!strcmp(result, "failed"))
		c.result = PROOF_FAILED;
	c.id = id;
	c.why = text_of(t, map, "why");
	c.what = text_of(t, map, "what");
	c.figures = figures_of(t, map);
	c.seconds = json_number_value(json_object_get(map, "seconds"));
	list_push(t->a, &t->proof->checks, c);
	t->current = NULL;
	for (size_t i = 0; c.result == PROOF_FAILED && i < json_array_size(problems); i++) {
		const json_t *one = json_array_get(problems, i);
		const char *text = text_of(t, one, "text");

		if (text)
			problem_tell(t, id, text_of(t, one, "subject"), text,
				     text_of(t, one, "help"));
	}
}

static void
read_about(struct talk *t, const json_t *about)
{
	t->answered = true;
	t->proof->python = text_of(t, about, "python");
	t->plan_error = text_of(t, about, "plan_error");
	if (!t->proof->stack)
		t->proof->stack = text_of(t, about, "stack");
	if (json_is_number(json_object_get(about, "import_timeout_s")))
		t->proof->import_timeout_s =
			json_number_value(json_object_get(about, "import_timeout_s"));
}

static void
read_gpu(struct talk *t, const json_t *gpu)
{
	t->proof->driver = text_of(t, gpu, "driver");
	t->proof->driver_cuda = text_of(t, gpu, "driver_cuda");
	t->proof->gpu = text_of(t, gpu, "names");
	t->proof->no_gpu = text_of(t, gpu, "why");
}

void
talk_line(struct talk *t, const char *line, size_t n)
{
	size_t k = strlen(t->token);
	const json_t *at;
	json_t *map;

	if (n <= k || memcmp(line, t->token, k) != 0 || line[k] != ' ')
		return;
	map = json_loadb(line + k + 1, n - k - 1, JSON_REJECT_DUPLICATES, NULL);
	if ((at = json_object_get(map, "about")))
		read_about(t, at);
	else if ((at = json_object_get(map, "gpu")))
		read_gpu(t, at);
	else if (json_object_get(map, "check"))
		read_check(t, map);
	else if (json_object_get(map, "end"))
		t->ended = true;
	else if (text_of(t, map, "begin") && is_id(text_of(t, map, "begin"))) {
		t->current = text_of(t, map, "begin");
		t->began_s = t->now_s;
	}
	json_decref(map);
}

/* --- where in the recipe --- */

static const struct {
	const char *check;
	enum code code;
} codes[] = {
	{ "installed", E_INSTALLED }, { "loads", E_LOADS },     { "code", E_GPU_CODE },
	{ "versions", E_VERSIONS },   { "imports", E_IMPORTS }, { "fallback", E_FALLBACK },
	{ "compile", E_COMPILE },     { "run", E_GPU_RUN },     { "numbers", E_NUMBERS },
	{ "evidence", E_EVIDENCE },
};

static struct span
package_place(const struct stack *s, const char *name)
{
	const struct stack_packages *lists[] = { &s->torch_packages, &s->packages, &s->build_deps };

	for (size_t k = 0; k < 3; k++)
		for (size_t i = 0; i < lists[k]->n; i++)
			if (!strcmp(lists[k]->at[i].key, name) && lists[k]->at[i].at.line)
				return lists[k]->at[i].at;
	return (struct span){ 0 };
}

static struct span
place_of(const struct plan *p, const char *subject)
{
	const struct stack *s = p->stack;
	const struct texts *modules = &s->recipe->verify.modules,
			   *probes = &s->recipe->verify.probes;
	struct span at = { 0 };

	for (size_t i = 0; i < s->extensions.n; i++)
		if (!strcmp(s->extensions.at[i].name, subject))
			return s->extensions.at[i].at;
	if (!strcmp(subject, "torch"))
		at = s->torch.at.line ? s->torch.at : s->recipe->torch.at;
	else if (!strcmp(subject, "python"))
		at = s->python.at;
	else if (!strcmp(subject, "numpy") && s->numpy.at.line)
		at = s->numpy.at;
	else if (!strcmp(subject, "compile"))
		at = s->cuda.at.line ? s->cuda.at : s->base.at;
	for (size_t i = 0; i < modules->n && !at.line; i++)
		if (!strcmp(modules->at[i].s, subject))
			at = modules->at[i].at;
	for (size_t i = 0; i < probes->n && !at.line; i++)
		if (!strcmp(probes->at[i].s, subject))
			at = probes->at[i].at;
	return at.line ? at : package_place(s, subject);
}

void
problem_tell(struct talk *t, const char *check, const char *subject, const char *text,
	     const char *help)
{
	struct span at = t->plan && subject ? place_of(t->plan, subject) : (struct span){ 0 };
	enum code code = E_PROBE;
	struct diag *d;

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (starts_with(check, codes[i].check))
			code = codes[i].code;
	if (!at.src && t->plan)
		at.src = t->plan->stack->recipe->src;
	d = diag_at(t->ds, code, at, "%s: %s", check, text);
	if (help)
		diag_help(d, "%s", help);
}

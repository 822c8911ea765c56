/*
 * libFuzzer: the inputs of verify.  The first byte selects one: "j" a proof.json; "p" the output of a
 * probe, for a plan on this host; "i" the same, for an image that contains its plan.  A line
 * of "p" and "i" that begins with "{" gets the token of the session.
 *
 * Properties: every expected check is in the proof; only checks that passed
 * count as passed, at every level; the output is inert; a proof is equal after it is written and read again.
 */
#include "fuzz.h"

#include <jansson.h>

#include "base/str.h"
#include "verify/probe.h"

static const char token[] = "4711";

static const char text_of_recipe[] = "cuda: \"12.1\"\n"
				     "torch: 2.2.2\n"
				     "python: \"3.11\"\n"
				     "gpus: [h100]\n"
				     "extensions: [causal-conv1d==1.4.0, mamba-ssm==2.2.2]\n";

static const struct source *
open_text(void *ctx, struct arena *a, struct diags *ds, const char *path, struct span at)
{
	(void)a, (void)ds, (void)path, (void)at;
	return ctx;
}

static const struct plan *
plan(void)
{
	static struct source src = { "r.yaml", text_of_recipe, sizeof(text_of_recipe) - 1 };
	const struct recipe_options o = { .path = "r.yaml" };
	const struct resolve_options none = { 0 };
	static const struct plan *p;
	const struct recipes *all;
	const struct facts *f;
	const struct stack *s;
	struct arena *forever;
	struct diags ds;

	if (p)
		return p;
	forever = arena_new();
	ds = DIAGS(ds, forever);
	f = facts_load(forever, &ds, NULL);
	all = f ? recipes_load_from(forever, &ds, f, &o, open_text, &src) : NULL;
	s = all ? resolve(forever, &ds, f, all->at[0], &none) : NULL;
	p = s ? plan_make(forever, &ds, s, NULL) : NULL;
	if (!p)
		diags_print(&ds, stderr, false);
	must(p != NULL, "the recipe of this target has a plan");
	return p;
}

static bool
all_passed(const struct proof *p, const struct names *ids)
{
	for (size_t i = 0; i < ids->n; i++) {
		const struct proof_check *c = proof_check_of(p, ids->at[i]);

		must(c != NULL, "every check that is expected is in the proof");
		if (c->result != PROOF_PASSED)
			return false;
	}
	return true;
}

static void
check_verdict(const struct proof *p, const struct names *expected)
{
	bool passed = all_passed(p, expected);

	for (size_t i = 0; i < p->checks.n; i++)
		must(p->result != PROOF_PASSED || p->checks.at[i].result == PROOF_PASSED,
		     "a proof passed if every check did");
	must(passed || p->result != PROOF_PASSED, "what was expected was run");
	must(passed || proof_status(p, PROOF_NONE) != 0, "exit status 0 only if everything passed");
	must(proof_proven(p) < PROOF_GPU || passed,
	     "proven up to the GPU only if everything passed");
}

static void
check_printed(struct arena *a, const struct proof *p, const struct plan *of)
{
	struct buf json = BUF(a), junit = BUF(a), table = BUF(a);
	struct proof again;
	json_t *root;

	proof_json(p, &json);
	root = json_loadb(json.p, json.n, JSON_REJECT_DUPLICATES, NULL);
	must(root != NULL, "proof.json is JSON");
	json_decref(root);
	proof_junit(p, &junit);
	must_be_inert(buf_text(&junit), "\n");
	proof_table(p, "r.yaml", "proof.json", NULL, &table);
	must_be_inert(buf_text(&table), "\n");
	if (!p->checks.n)
		return;
	must(proof_read(a, of, json.p, json.n, &again), "a proof that was written is read");
	must(again.result == p->result && again.checks.n == p->checks.n, "as the same");
	for (size_t i = 0; i < p->checks.n; i++)
		must(!strcmp(again.checks.at[i].id, p->checks.at[i].id) &&
			     again.checks.at[i].result == p->checks.at[i].result,
		     "with the same checks");
}

static void
check_proof(struct arena *a, const char *text, size_t n)
{
	const struct names expected = proof_expected(a, plan());
	struct proof p;

	if (proof_read(a, NULL, text, n, &p))
		must(p.checks.n, "a proof has checks");
	if (!proof_read(a, plan(), text, n, &p))
		return;
	check_verdict(&p, &expected);
	must(p.result == PROOF_FAILED || proof_status(&p, PROOF_NONE) != 1, "a failure is one");
}

static void
check_messages(struct arena *a, const char *text, const struct plan *of)
{
	struct proof proof = { .image = "me/stack:1", .engine = "docker" };
	struct diags ds;
	struct probe_session t = { .a = a, .ds = &ds, .plan = of, .proof = &proof, .token = token };

	ds = DIAGS(ds, a);
	t.expected = proof_expected(a, of);
	for (size_t n; *text; text += n + (text[n] == '\n')) {
		const char *line;

		n = strcspn(text, "\n");
		t.now_s += 1;
		line = arena_printf(a, "%s%.*s", *text == '{' ? "4711 " : "", (int)n, text);
		probe_line(&t, line, strlen(line));
	}
	/* Like the end of verify_stack. */
	if (!t.ended)
		probe_fail(&t, true, "it exited with status 1", NULL);
	if (t.failed)
		proof.result = PROOF_FAILED;
	proof_complete(a, &proof, &t.expected, "the probe gave no result for this check");
	must(t.ended || proof.result == PROOF_FAILED, "a probe that breaks off fails");
	check_verdict(&proof, &t.expected);
	for (size_t i = 0; i < proof.checks.n; i++)
		must(names_have(&t.expected, proof.checks.at[i].id),
		     "no check that nobody expects");
	check_printed(a, &proof, of);
	printed(a, &ds);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	const char *text = size ? arena_copy(a, (const char *)data + 1, size - 1) : "";

	if (size && *data == 'j')
		check_proof(a, text, size - 1);
	else if (size && (*data == 'p' || *data == 'i'))
		check_messages(a, text, *data == 'p' ? plan() : NULL);
	arena_free(a);
	return 0;
}

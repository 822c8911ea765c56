#include "probe.h"

#include <string.h>

#include "base/str.h"

/* Evaluates a proof, and prints its table. */

const char *const proof_result_words[] = { "passed", "failed", "not run" };
const char *const proof_level_words[] = { "none", "import", "compile", "gpu" };

/* In the order in which they run; `numbers` is one check for each probe. */
static const struct {
	const char *id;
	enum proof_level level;
	enum code code;
} kinds[] = {
	{ "installed", PROOF_IMPORT, E_INSTALLED },
	{ "lock", PROOF_IMPORT, E_LOCKED },
	{ "loads", PROOF_IMPORT, E_LOADS },
	{ "code", PROOF_IMPORT, E_GPU_CODE },
	{ "versions", PROOF_IMPORT, E_VERSIONS },
	{ "imports", PROOF_IMPORT, E_IMPORTS },
	{ "fallback", PROOF_IMPORT, E_FALLBACK },
	{ "compile", PROOF_COMPILE, E_COMPILE },
	{ "run", PROOF_GPU, E_GPU_RUN },
	{ "numbers", PROOF_GPU, E_NUMBERS },
	{ "evidence", PROOF_GPU, E_EVIDENCE },
	{ "", PROOF_IMPORT, E_PROBE }, /* any other id */
};
enum { KINDS = COUNT(kinds) - 1 };

/* Returns the row of a check such as "numbers/mamba". */
static size_t
kind_of(const char *id)
{
	size_t i = 0;

	while (i < KINDS &&
	       (strncmp(id, kinds[i].id, strcspn(id, "/")) != 0 || kinds[i].id[strcspn(id, "/")]))
		i++;
	return i;
}

enum code
proof_code(const char *check)
{
	return kinds[kind_of(check)].code;
}

static bool
applies(const struct plan *p, enum code check)
{
	const struct stack *s = p->stack;

	switch (check) {
	case E_LOCKED: return p->lock;
	case E_LOADS: return s->extensions.n;
	case E_GPU_CODE: return s->extensions.n && s->archs.n;
	case E_VERSIONS: return s->torch.value;
	case E_COMPILE: return p->nvcc;
	case E_GPU_RUN:
	case E_NUMBERS:
	case E_EVIDENCE: return s->archs.n;
	default: return true;
	}
}

static void
expect_numbers(struct arena *a, const struct stack *s, struct names *out)
{
	const struct texts *own = &s->recipe->verify.probes;

	for (size_t i = 0; i < s->extensions.n; i++) {
		const struct extension *known = s->extensions.at[i].known;

		for (size_t k = 0; known && k < known->probes.n; k++)
			names_once(a, out, arena_printf(a, "numbers/%s", known->probes.at[k]));
	}
	for (size_t i = 0; i < own->n; i++)
		names_once(a, out, arena_printf(a, "numbers/%s", own->at[i].s));
}

struct names
proof_expected(struct arena *a, const struct plan *p)
{
	struct names ids = { 0 };

	for (size_t i = 0; i < KINDS; i++) {
		enum code code = kinds[i].code;

		if (p ? !applies(p, code) :
			code != E_INSTALLED && code != E_IMPORTS && code != E_FALLBACK)
			continue;
		if (code == E_NUMBERS)
			expect_numbers(a, p->stack, &ids);
		else
			list_push(a, &ids, kinds[i].id);
	}
	return ids;
}

const struct proof_check *
proof_check_of(const struct proof *p, const char *id)
{
	for (size_t i = 0; i < p->checks.n; i++)
		if (!strcmp(p->checks.at[i].id, id))
			return &p->checks.at[i];
	return NULL;
}

void
proof_complete(struct arena *a, struct proof *p, const struct names *expected, const char *why)
{
	for (size_t i = 0; i < expected->n; i++)
		if (!proof_check_of(p, expected->at[i]))
			list_push(a, &p->checks,
				  (struct proof_check){ .id = expected->at[i],
							.result = PROOF_NOT_RUN,
							.why = why,
							.figures = "{}" });
	if (p->result == PROOF_PASSED && !p->checks.n)
		p->result = PROOF_NOT_RUN;
	for (size_t i = 0; i < p->checks.n; i++)
		if (p->result == PROOF_PASSED || p->checks.at[i].result == PROOF_FAILED)
			p->result = p->checks.at[i].result;
}

bool
proof_result_parse(const char *word, enum proof_result *out)
{
	for (*out = PROOF_PASSED; word && *out <= PROOF_NOT_RUN; ++*out)
		if (!strcmp(word, proof_result_words[*out]))
			return true;
	*out = PROOF_FAILED;
	return false;
}

/* Returns the worst result of a level's checks; a failure counts more than `not run`. */
static enum proof_result
level_result(const struct proof *p, enum proof_level level, bool *any)
{
	enum proof_result worst = PROOF_PASSED;

	list_each (c, &p->checks) {
		if (kinds[kind_of(c->id)].level != level)
			continue;
		*any = true;
		if (c->result == PROOF_FAILED || worst == PROOF_PASSED)
			worst = c->result == PROOF_FAILED ? PROOF_FAILED : c->result;
	}
	return worst;
}

enum proof_level
proof_proven(const struct proof *p)
{
	enum proof_level proven = PROOF_NONE;

	for (enum proof_level l = PROOF_IMPORT; l <= PROOF_GPU; l++) {
		bool any = false;

		if (level_result(p, l, &any) != PROOF_PASSED)
			break;
		if (any)
			proven = l;
	}
	return proven;
}

int
proof_status(const struct proof *p, enum proof_level require)
{
	bool any = false;

	if (p->result == PROOF_FAILED)
		return 1;
	for (enum proof_level l = PROOF_IMPORT; l <= (require ? require : PROOF_GPU); l++) {
		any = false;
		if (level_result(p, l, &any) != PROOF_PASSED)
			return 3;
	}
	return require == PROOF_GPU && !any ? 3 : 0;
}

/* --- the table --- */

enum { WHAT = 74 };

/*
 * torch222-cu121@sha256:9f2c...   docker; no driver: libcuda.so.1 does not exist
 *
 *  loads      causal_conv1d_cuda, selective_scan_cuda: libraries found              ok
 *  run        needs a GPU                                                      not run
 *
 * proven up to: compile.  Not proven: that it runs.   proof: out/x/proof.json
 */
static void
row(struct buf *out, const struct proof *p, const struct proof_check *c, size_t width)
{
	static const char *const words[] = { "ok", "FAILED", "not run" };
	const char *what = c->what ? c->what : "";
	struct buf wrapped = BUF(out->a);

	buf_printf(out, " %-*s  ", (int)width, c->id);
	/* Only the first line reports a missing GPU. */
	if (c->result == PROOF_NOT_RUN && c->why &&
	    (!*what || !p->no_gpu || strcmp(c->why, p->no_gpu)))
		what = *what ? arena_printf(out->a, "%s: %s", what, c->why) : c->why;
	else if (c->result == PROOF_FAILED && c->why)
		what = c->why;
	buf_wrap(&wrapped, what, width + 3, width + 3 + WHAT);
	what = buf_text(&wrapped);
	buf_printf(out, "%-*.*s %8s%s\n", WHAT, (int)strcspn(what, "\n"), what, words[c->result],
		   strchrnul(what, '\n'));
}

static void
verdict(const struct proof *p, struct buf *out)
{
	static const char *const open[] = { "", "that it imports", "that it compiles",
					    "that it runs" };
	enum proof_level proven = proof_proven(p);
	struct names all = { 0 };
	bool any;

	if (p->result == PROOF_PASSED) {
		buf_puts(out, "proven: every check above");
	} else if (p->result == PROOF_FAILED) {
		for (size_t i = 0; i < p->checks.n; i++)
			if (p->checks.at[i].result == PROOF_FAILED)
				list_push(out->a, &all, p->checks.at[i].id);
		buf_printf(out, "failed: %s", names_join(out->a, &all, ", "));
	} else {
		for (enum proof_level l = PROOF_IMPORT; l <= PROOF_GPU; l++) {
			any = false;
			if (level_result(p, l, &any) == PROOF_NOT_RUN && any)
				list_push(out->a, &all, open[l]);
		}
		buf_printf(out, "proven up to: %s.  Not proven: %s.",
			   proven ? proof_level_words[proven] : "nothing",
			   names_join(out->a, &all, ", "));
	}
}

static void
next(const struct proof *p, const char *what, const char *app, struct buf *out)
{
	if (p->result != PROOF_NOT_RUN || !p->no_gpu)
		return;
	buf_puts(out, "on a GPU host: stackbuild verify ");
	if (p->venv)
		buf_printf(out, "--venv %s ", p->venv);
	buf_puts(out, what);
	if (app)
		buf_printf(out, "\non Modal: modal run %s::smoke", app);
	buf_putc(out, '\n');
}

void
proof_table(const struct proof *p, const char *what, const char *path, const char *app,
	    struct buf *out)
{
	size_t width = strlen("installed");

	for (size_t i = 0; i < p->checks.n; i++) {
		size_t n = strlen(p->checks.at[i].id);

		width = n > width && n <= 24 ? n : width;
	}
	buf_puts(out, p->venv ? p->venv : p->image);
	if (p->image_digest && !strchr(p->image, '@'))
		buf_printf(out, "@%.19s...", p->image_digest);
	buf_printf(out, "   %s", p->engine);
	if (p->gpu)
		buf_printf(out, ", %s, driver %s", p->gpu, p->driver ? p->driver : "unknown");
	if (p->no_gpu)
		buf_printf(out, "; %s", p->no_gpu);
	buf_puts(out, "\n\n");
	for (size_t i = 0; i < p->checks.n; i++)
		row(out, p, &p->checks.at[i], width);
	buf_putc(out, '\n');
	verdict(p, out);
	buf_printf(out, "   proof: %s\n", path);
	next(p, what, app, out);
}

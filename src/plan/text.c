#include "base/json.h"

#include "make.h"

enum { COLUMNS = 100 };

const char *
show_time(struct arena *a, double seconds)
{
	unsigned long s = seconds > 0 && seconds < 1 ? 1 : (unsigned long)(seconds + 0.5);

	if (s >= 3600)
		return arena_printf(a, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
	return arena_printf(a, "%lu:%02lu", s / 60, s % 60);
}

const char *
plan_cost_text(struct arena *a, double seconds, bool measured)
{
	if (seconds <= 0)
		return "unknown";
	return arena_printf(a, "%s%s", measured ? "" : "about ", show_time(a, seconds));
}

/* Returns "daily", "weekly", "monthly", "quarterly", "yearly" or "rarely"; "-" for never. */
static const char *
show_rate(double changes_a_day)
{
	static const struct {
		double days;
		const char *word;
	} words[] = {
		{ 2, "daily" },       { 14, "weekly" },  { 45, "monthly" },
		{ 180, "quarterly" }, { 730, "yearly" },
	};

	if (changes_a_day <= 0)
		return "-";
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (1 / changes_a_day < words[i].days)
			return words[i].word;
	return "rarely";
}

static void
show_word(struct buf *out, const char *s)
{
	bool plain = *s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"0123456789@%+=:,./_-{}#")];

	if (!plain)
		buf_putc(out, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			buf_puts(out, "'\\'");
		buf_putc(out, *s);
	}
	if (!plain)
		buf_putc(out, '\'');
}

/* Shows a command: env and argv, quoted for a shell where necessary. */
static void
show_command(struct buf *out, const struct command *c)
{
	if (c->input) {
		buf_puts(out, "echo ");
		show_word(out, c->input);
		buf_puts(out, " | ");
	}
	for (size_t i = 0; i < c->env.n; i++) {
		buf_printf(out, "%s=", c->env.at[i].name);
		show_word(out, c->env.at[i].value);
		buf_putc(out, ' ');
	}
	for (size_t i = 0; i < c->argv.n; i++) {
		if (i)
			buf_putc(out, ' ');
		show_word(out, c->argv.at[i].s);
	}
}

/* The steps that a change of a step rebuilds: by inputs, and in the chain. */
struct rebuilt {
	const char *least; /* "at least " if the time of a step is unknown */
	double graph_s, chain_s;
	struct names with; /* the ids of the steps that depend on it */
};

static struct rebuilt
rebuilt_by(struct arena *a, const struct plan *p, size_t step)
{
	struct rebuilt r = { .least = "" };

	for (size_t i = step; i < p->n; i++) {
		const struct step *st = &p->steps[i];
		bool after = i == step;

		for (size_t n = 0; n < st->inputs.n && !after; n++)
			after = !strcmp(st->inputs.at[n], p->steps[step].id) ||
				names_have(&r.with, st->inputs.at[n]);
		if (after && i != step)
			list_push(a, &r.with, st->id);
		r.graph_s += after ? st->cost_s : 0;
		r.chain_s += st->cost_s;
		if (st->cost_s <= 0)
			r.least = "at least ";
	}
	return r;
}

void
show_wrapped(struct buf *out, const char *text, size_t at)
{
	buf_wrap(out, text, at, COLUMNS);
	buf_putc(out, '\n');
}

/* --- all steps --- */

/*
 * torch222-cu121: 9 steps, about 14 min cold (7 of 9 measured here, the rest estimated)
 *
 *  #  step           stage                     cost  changes    why here
 *  1  base           stack               about 1:10  yearly     nvidia/cuda:12.1.1-devel-ubuntu22.04
 *  7  causal-conv1d  ext-causal-conv1d         5:40  quarterly  an edit of packages does not
 *                                                               recompile it
 *
 * an average edit rebuilds about 10:38 of a chain (by change rate alone: 11:02)
 * an edit of packages rebuilds about 0:29 in stages (dockerfile), 10:59 in a chain (modal, script)
 * --explain STEP shows details; --diff OTHER shows what an edit costs; --format json|dot|mermaid
 */

static void
table(const struct plan *p, struct arena *a, struct buf *out)
{
	size_t id = strlen("step"), stage = strlen("stage"), cost = strlen("cost"), at;

	for (size_t i = 0; i < p->n; i++) {
		size_t n = strlen(p->steps[i].id), k = strlen(p->steps[i].stage);
		size_t c = strlen(plan_cost_text(a, p->steps[i].cost_s, p->steps[i].measured));

		id = n > id ? n : id;
		stage = k > stage ? k : stage;
		cost = c > cost ? c : cost;
	}
	at = 5 + id + 2 + stage + 2 + cost + 2 + 9 + 2;
	buf_printf(out, "\n %2s  %-*s  %-*s  %*s  %-9s  %s\n", "#", (int)id, "step", (int)stage,
		   "stage", (int)cost, "cost", "changes", "why here");
	for (size_t i = 0; i < p->n; i++) {
		const struct step *st = &p->steps[i];

		buf_printf(out, " %2zu  %-*s  %-*s  %*s  %-9s  ", i + 1, (int)id, st->id,
			   (int)stage, st->stage, (int)cost,
			   plan_cost_text(a, st->cost_s, st->measured), show_rate(st->change_rate));
		show_wrapped(out, st->why, at + (i >= 99));
	}
}

/* Prints what avoids or shortens the compiles after an edit of packages in a chain. */
static void
avoid(const struct plan *p, struct arena *a, struct buf *out)
{
	struct names compiled = { 0 };

	for (const struct step *st = p->steps; st < p->steps + p->n; st++)
		if (st->extension && step_operation(st, OP_COMPILE))
			list_push(a, &compiled, st->id);
	if (!compiled.n)
		return;
	show_wrapped(
		out,
		arena_printf(
			a,
			"in a chain, `app.requirements` avoids compiling %s again; `modal.build: "
			"heavy` compiles with more processors; a prebuilt wheel (`from: release`) "
			"needs no compile",
			names_words(a, &compiled, "and")),
		2);
}

static void
edits(const struct plan *p, struct arena *a, struct buf *out)
{
	double rates = 0;
	const char *least = "";

	for (size_t i = 0; i < p->n; i++) {
		rates += p->steps[i].change_rate;
		least = p->steps[i].cost_s <= 0 ? "at least " : least;
	}
	if (rates > 0) {
		const char *ours = show_time(a, p->expected_cost_s / rates);
		const char *by_rate = show_time(a, p->by_rate_cost_s / rates);

		buf_printf(out, "\nan average edit rebuilds %sabout %s of a chain", least, ours);
		if (strcmp(ours, by_rate) != 0)
			buf_printf(out, " (by change rate alone: %s)", by_rate);
		buf_putc(out, '\n');
	}
	for (size_t i = 0; i < p->n; i++) {
		if (p->steps[i].kind != STEP_PACKAGES ||
		    step_operation(&p->steps[i], OP_PACKAGES)->packages.no_deps)
			continue;
		struct rebuilt r = rebuilt_by(a, p, i);

		if (r.graph_s < r.chain_s)
			buf_printf(
				out,
				"an edit of packages rebuilds %sabout %s in stages (dockerfile), "
				"%s in a chain (modal, script)\n",
				r.least, show_time(a, r.graph_s), show_time(a, r.chain_s));
		if (r.graph_s < r.chain_s)
			avoid(p, a, out);
	}
	for (const struct step *st = p->steps; st < p->steps + p->n; st++)
		if (st->extension && stack_prebuilt(a, p->stack, st->extension))
			buf_printf(out, "%s: a prebuilt wheel exists; `from: release` saves %s\n",
				   st->id,
				   st->cost_s > 0 ? plan_cost_text(a, st->cost_s, st->measured) :
						    "its compile");
	if (!p->order_exact)
		buf_puts(out, "order: estimated; only plans of up to 20 steps are searched "
			      "completely\n");
}

/* --- one step --- */

/* Returns "knowledge/torch.yaml" for a source with a line and an origin. */
static const char *
file_of(struct arena *a, const char *source)
{
	return arena_copy(a, source, strcspn(source, ": "));
}

enum { LABEL = 13 };

static void
row(struct buf *out, const char *label, const char *text)
{
	buf_printf(out, "  %-*s", LABEL - 2, label);
	show_wrapped(out, text, LABEL);
}

static void
list_row(struct buf *out, const char *label, const struct names *names, const struct names *why)
{
	size_t wide = 0;

	for (size_t i = 0; i < names->n; i++)
		wide = strlen(names->at[i]) > wide ? strlen(names->at[i]) : wide;
	for (size_t i = 0; i < names->n; i++) {
		buf_printf(out, "  %-*s%-*s  ", LABEL - 2, i ? "" : label, (int)wide, names->at[i]);
		show_wrapped(out, why->at[i], LABEL + wide + 2);
	}
}

static void
packages_rows(const struct step *st, struct arena *a, struct buf *out)
{
	struct names names = { 0 }, why = { 0 };

	list_each (q, &st->packages) {
		list_push(a, &names, q->requirement);
		list_push(a, &why,
			  q->source ? arena_printf(a, "%s [%s]", q->reason, file_of(a, q->source)) :
				      q->reason);
	}
	list_row(out, "packages", &names, &why);
}

static void
apt_rows(const struct plan *p, struct arena *a, struct buf *out)
{
	struct names names = { 0 }, why = { 0 };

	for (size_t i = 0; i < p->stack->apt.n; i++) {
		list_push(a, &names, p->stack->apt.at[i].value);
		list_push(a, &why, p->stack->apt.at[i].reason);
	}
	list_row(out, "packages", &names, &why);
}

static void
extension_rows(const struct plan *p, const struct stack_extension *e, struct arena *a,
	       struct buf *out)
{
	const char *prebuilt = stack_prebuilt(a, p->stack, e);
	struct buf b = BUF(a);

	buf_puts(&b, plan_source_words[e->source]);
	if (e->url)
		buf_printf(&b, " %s", mask_credentials(a, e->url));
	if (e->ref)
		buf_printf(&b, " at %s", e->ref);
	if (e->path)
		buf_printf(&b, " %s", e->path);
	else if (!e->url)
		buf_printf(&b, " %s", e->requirement);
	buf_printf(&b, ": %s", e->source_reason);
	row(out, "source", buf_text(&b));
	if (prebuilt)
		row(out, "prebuilt", prebuilt);
	if (p->stack->archs.n && e->source != SOURCE_WHEEL)
		row(out, "GPUs",
		    arena_printf(a, "%s; TORCH_CUDA_ARCH_LIST is %s by its build%s",
				 p->stack->arch_list, e->arch_flags,
				 e->nvcc_env ? ", which uses nvcc-arch" : ""));
	if (e->mem_mib_per_job && e->source != SOURCE_WHEEL)
		row(out, "memory", arena_printf(a, "%u MiB a compile job", e->mem_mib_per_job));
	if (e->fact_source)
		row(out, "known from", file_of(a, e->fact_source));
}

static const char *
phase_of(const struct operation *op)
{
	return op->kind == OP_FETCH   ? "fetch: " :
	       op->kind == OP_COMPILE ? "build: " :
	       op->kind == OP_WHEEL   ? "install: " :
					"";
}

static void
commands_rows(const struct step *st, struct arena *a, struct buf *out)
{
	const char *files = "files", *label = "commands";

	for (size_t i = 0; i < st->operations.n; i++)
		if (st->operations.at[i].kind == OP_FILE) {
			row(out, files, st->operations.at[i].file.path);
			files = "";
		}
	list_each (op, &st->operations) {
		const struct commands all = operation_commands(a, op);

		for (size_t k = 0; k < all.n; k++) {
			struct buf b = BUF(a);

			buf_puts(&b, phase_of(op));
			show_command(&b, &all.at[k]);
			row(out, label, buf_text(&b));
			label = "";
		}
	}
}

static void
explain(const struct plan *p, size_t i, struct arena *a, struct buf *out)
{
	const struct step *st = &p->steps[i];
	const struct rebuilt r = rebuilt_by(a, p, i);

	buf_printf(out, "%s: step %zu of %zu, stage %s", st->id, i + 1, p->n, st->stage);
	if (st->at.line)
		buf_printf(out, ", from %s:%u", st->at.src->path, st->at.line);
	buf_putc(out, '\n');
	row(out, "why here", st->why);
	list_row(out, "needs", &st->needs, &st->why_needs);
	row(out, "inputs", st->inputs.n ? names_join(a, &st->inputs, ", ") : "none");
	if (st->kind == STEP_BASE)
		row(out, "chosen", p->stack->base.reason);
	if (st->kind == STEP_PYTHON)
		row(out, "chosen", p->stack->python.reason);
	if (st->kind == STEP_APT)
		apt_rows(p, a, out);
	if (st->packages.n)
		packages_rows(st, a, out);
	if (st->index)
		row(out, "index", mask_credentials(a, st->index));
	if (st->extension)
		extension_rows(p, st->extension, a, out);
	row(out, "cost",
	    arena_printf(a, "%s, changes %s%s%s%s", plan_cost_text(a, st->cost_s, st->measured),
			 show_rate(st->change_rate), st->cost_source ? " [" : "",
			 st->cost_source ? file_of(a, st->cost_source) : "",
			 st->cost_source ? "]" : ""));
	row(out, "an edit",
	    arena_printf(a, "rebuilds %sabout %s in stages (with it: %s), %s of a chain", r.least,
			 show_time(a, r.graph_s),
			 r.with.n ? names_join(a, &r.with, ", ") : "nothing",
			 show_time(a, r.chain_s)));
	row(out, "key", st->key);
	commands_rows(st, a, out);
}

void
plan_text(const struct plan *p, const char *explained, struct buf *out)
{
	struct arena *a = out->a;
	unsigned jobs = p->machine.jobs, n = jobs ? jobs : p->machine.cpus;
	const char *of = "";
	struct names unknown = { 0 };
	double cold = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (explained && !strcmp(p->steps[i].id, explained)) {
			explain(p, i, a, out);
			return;
		}
		cold += p->steps[i].cost_s;
		if (p->steps[i].cost_s <= 0)
			list_push(a, &unknown, p->steps[i].id);
		else if (p->steps[i].cost_cores > 0 && n)
			of = arena_printf(a, " for %u %s%s", n, jobs ? "compile job" : "core",
					  n == 1 ? "" : "s");
	}
	buf_printf(out, "%s: %zu steps, %sabout %.0f min cold (%s%s%s%s)\n", p->name, p->n,
		   unknown.n ? "at least " : "", cold < 60 ? 1 : cold / 60,
		   !p->measured ? "estimate" :
		   p->measured < p->n ?
				  arena_printf(a, "%zu of %zu measured here, the rest estimated",
					       p->measured, p->n) :
				  "measured here",
		   p->measured < p->n ? of : "", unknown.n ? "; unknown: " : "",
		   names_join(a, &unknown, ", "));
	table(p, a, out);
	edits(p, a, out);
	buf_puts(out, "--explain STEP shows details; --diff OTHER shows what an edit costs; "
		      "--format json|dot|mermaid\n");
}

/* --- graphs --- */

/*
 * A graph of the plan with a box for each stage. A full line is an input (a change there rebuilds
 * the step), and a dotted one is policy (only the order in a chain).
 */
struct dialect {
	const char *head, *tail;
	const char *stage, *stage_end; /* %zu: number, %s: quoted name */
	const char *step;              /* %zu: number, %s: id, %s: cost */
	const char *input, *policy;    /* %zu: from, %zu: to */
};

static void
draw(const struct plan *p, const struct dialect *d, struct buf *out)
{
	struct names stages = { 0 };

	for (size_t i = 0; i < p->n; i++)
		names_once(out->a, &stages, p->steps[i].stage);
	buf_puts(out, d->head);
	for (size_t k = 0; k < stages.n; k++) {
		struct buf name = BUF(out->a);

		json_quote(&name, stages.at[k]);
		buf_printf(out, d->stage, k + 1, buf_text(&name));
		for (size_t i = 0; i < p->n; i++)
			if (!strcmp(p->steps[i].stage, stages.at[k]))
				buf_printf(out, d->step, i + 1, p->steps[i].id,
					   plan_cost_text(out->a, p->steps[i].cost_s,
							  p->steps[i].measured));
		buf_puts(out, d->stage_end);
	}
	for (size_t i = 0; i < p->n; i++) {
		const struct step *st = &p->steps[i];

		for (size_t k = 0; k < st->inputs.n; k++)
			buf_printf(out, d->input,
				   (size_t)(plan_step(p, st->inputs.at[k]) - p->steps) + 1, i + 1);
		list_each (need, &st->needs)
			if (!names_have(&st->inputs, *need))
				buf_printf(out, d->policy,
					   (size_t)(plan_step(p, *need) - p->steps) + 1, i + 1);
	}
	buf_puts(out, d->tail);
}

void
plan_dot(const struct plan *p, struct buf *out)
{
	static const struct dialect dot = {
		.head = "digraph plan {\n\trankdir=LR;\n\tnode [shape=box, style=rounded];\n",
		.stage = "\tsubgraph cluster_%zu {\n\t\tlabel=%s;\n",
		.step = "\t\ts%zu [label=\"%s\\n%s\"];\n",
		.stage_end = "\t}\n",
		.input = "\ts%zu -> s%zu;\n",
		.policy = "\ts%zu -> s%zu [style=dotted];\n",
		.tail = "}\n",
	};

	draw(p, &dot, out);
}

void
plan_mermaid(const struct plan *p, struct buf *out)
{
	static const struct dialect mermaid = {
		.head = "flowchart LR\n",
		.stage = "    subgraph g%zu[%s]\n",
		.step = "        s%zu[\"%s<br/>%s\"]\n",
		.stage_end = "    end\n",
		.input = "    s%zu --> s%zu\n",
		.policy = "    s%zu -.-> s%zu\n",
		.tail = "",
	};

	draw(p, &mermaid, out);
}

#include <string.h>

#include "base/str.h"
#include "command.h"
#include "inputs.h"
#include "target.h"

/*
 * Writes setup.sh: the chain of steps as a bash script that makes a virtual environment on a host.
 * The host takes the place of the base image: its Python and its CUDA toolkit are used, and of the
 * system packages only those are installed that it lacks.
 */

static const struct shape step_shape[] = {
	{ "id", VALUE_TEXT, "\"torch\", \"causal-conv1d\"", 0 },
	{ "key", VALUE_TEXT, "a digest of what it does; none: it runs every time", 0 },
	{ "remarks", VALUE_LIST, "why it stands here, in lines", 0 },
	{ "replaces", VALUE_CODE, "packages whose other build pip would keep", 0 },
	{ "downloads", VALUE_FLAG, "it downloads a wheel", 0 },
	{ "fetch", VALUE_CODE, "it compiles an extension: fetches its source", 0 },
	{ "settings", VALUE_CODE, "runs \"$@\" with the environment of the compile", 0 },
	{ "compile", VALUE_CODE, "compiles it", 0 },
	{ "commands", VALUE_CODE, "all its other commands", 0 },
	{ "smoke", VALUE_CODE, "compiles smoke.cu", 0 },
	{ "probe", VALUE_CODE, "compares what is installed with the plan", 0 },
	{ 0 },
};

static const struct shape script_shape[] = {
	{ "name", VALUE_TEXT, "the stack's name", 0 },
	{ "title", VALUE_LIST, "what is in it, in lines", 0 },
	{ "generated", VALUE_LIST, "the program, the recipe and its digest, in lines", 0 },
	{ "cell", VALUE_FLAG, "it is a cell of a matrix: helpers lie one directory above", 0 },
	{ "python", VALUE_TEXT, "the series of Python", 0 },
	{ "torch", VALUE_FLAG, "there is torch", 0 },
	{ "extensions", VALUE_FLAG, "there is an extension", 0 },
	{ "compiles", VALUE_FLAG, "an extension is compiled", 0 },
	{ "guarded", VALUE_FLAG, "nvcc may be missing", 0 },
	{ "secret_names", VALUE_TEXT, "names of the secrets", 0 },
	{ "app", VALUE_TEXT, "the application's requirements file", 0 },
	{ "base", VALUE_TEXT, "the recipe's base, which a host replaces", 0 },
	{ "runtime", VALUE_TEXT, "its second stage, which a host does not have", 0 },
	{ "user", VALUE_TEXT, "its user: on a host it is the one who runs the script", 0 },
	{ "helpers", VALUE_LIST, "files that it uses, below the output directory", 0 },
	{ "apt_why", VALUE_TEXT, "why system packages are needed", 0 },
	{ "apt", VALUE_CODE, "installs those of all steps but Python's", 0 },
	{ "cuda", VALUE_TEXT, "the CUDA series that the host's toolkit must have", 0 },
	{ "cuda_major", VALUE_TEXT, "its first number", 0 },
	{ "python_key", VALUE_TEXT, "a digest of what the Python step does", 0 },
	{ "python_apt", VALUE_CODE, "installs the system packages of Python", 0 },
	{ "host_python", VALUE_TEXT, "the series to look for on the host", 0 },
	{ "python_commands", VALUE_CODE, "makes the environment without the host's Python", 0 },
	{ "steps", VALUE_LIST, "the steps after Python that compile nothing, in order",
	  step_shape },
	{ "compiled", VALUE_LIST, "those that compile an extension", step_shape },
	{ "last", VALUE_LIST, "the check and the application", step_shape },
	{ "environment", VALUE_LIST, "the recipe's env", target_pair_shape },
	{ "command", VALUE_LIST, "the words of app's command", 0 },
	{ 0 },
};

struct writer {
	struct arena *a;
	struct diags *ds;
	const struct plan *plan;
	const struct templates *templates;
	struct scope *top;
	struct rendereds helpers; /* beside the script */
	struct names files;       /* their paths, each once */
	bool own_toolkit;         /* CUDA is a part of the environment */
	bool good;
};

static const struct span nowhere;

static const struct layout layout = {
	.language = LANG_SH,
	.places = { .src = "$src",
		    .wheels = "$wheels",
		    .share = "$share",
		    .python = "$python",
		    .venv = "$venv",
		    .prefix = "$venv/python",
		    .work = "$work",
		    .app = "$app",
		    .secrets = "$secrets" },
	.indent = 4,
	.width = 108,
};

/* --- commands --- */

static const char *
quoted(struct writer *w, const char *text, bool verbatim, struct span at)
{
	struct buf b = BUF(w->a);

	w->good = word_text(w->ds, &(struct word){ text, verbatim }, &layout, at, &b) && w->good;
	return buf_text(&b);
}

static const char *
words(struct writer *w, const struct names *all)
{
	struct buf b = BUF(w->a);

	words_text(all, &layout, &b);
	return buf_text(&b);
}

/* The environment of a command on a host, which has a toolkit and a directory of secrets. */
static struct variables
host_environment(struct writer *w, const struct command *c)
{
	struct variables out = { 0 };

	for (size_t i = 0; i < c->env.n; i++) {
		struct variable v = c->env.at[i];

		if (!strcmp(v.name, "CUDA_HOME") && !v.verbatim && !w->own_toolkit)
			continue;
		for (size_t k = 0; k < c->mounts.n; k++)
			if (c->mounts.at[k].kind == MOUNT_SECRET &&
			    !strcmp(c->mounts.at[k].target, v.value)) {
				v.value = arena_printf(w->a, "{secrets}/%s", c->mounts.at[k].id);
				v.verbatim = false;
			}
		list_push(w->a, &out, v);
	}
	return out;
}

/* settings_NAME() runs a command with the environment of the compile, which stands there once. */
static void
move_settings(struct writer *w, const struct step *s, struct command *c, struct scope *out)
{
	const struct command settings = { .env = c->env };
	struct words launcher = { 0 };
	struct buf b = BUF(w->a);

	w->good = command_text(w->ds, &settings, &layout, s->at, &b) && w->good;
	buf_puts(&b, "\"$@\"");
	scope_code(out, "settings", buf_text(&b));
	list_push(w->a, &launcher, (struct word){ arena_printf(w->a, "settings_%s", s->id), true });
	for (size_t i = 0; i < c->launcher.n; i++)
		list_push(w->a, &launcher, c->launcher.at[i]);
	c->launcher = launcher;
	c->env = (struct variables){ 0 };
}

/* Adds the commands of an operation, each on a line of its own. */
static void
add_operation(struct writer *w, const struct step *s, struct operation op, struct scope *scope,
	      struct buf *out)
{
	struct commands all;

	if (op.kind == OP_FILE) {
		buf_putc(out, '\n');
		w->good = file_text(w->ds, &op, &layout, s->at, out) && w->good;
	}
	if (op.kind == OP_SMOKE && !w->own_toolkit)
		op.smoke.nvcc = "nvcc";
	all = operation_commands(w->a, &op);
	for (size_t i = 0; i < all.n; i++) {
		struct command *c = &all.at[i];

		c->env = host_environment(w, c);
		if (op.kind == OP_COMPILE)
			move_settings(w, s, c, scope);
		/* pip would keep a wheel of the same version that was compiled otherwise. */
		if (op.kind == OP_WHEEL && step_operation(s, OP_COMPILE))
			list_push(w->a, &c->argv, (struct word){ "--force-reinstall", true });
		for (size_t k = 0; k < c->mounts.n; k++)
			if (c->mounts.at[k].kind == MOUNT_SECRET)
				buf_printf(out, "\nsecret %s",
					   quoted(w, c->mounts.at[k].id, true, s->at));
		if (c->comment)
			buf_printf(out, "\n# %s", c->comment);
		buf_putc(out, '\n');
		if (c->cwd)
			buf_printf(out, "(cd %s && ", quoted(w, c->cwd, false, s->at));
		w->good = command_text(w->ds, c, &layout, s->at, out) && w->good;
		buf_puts(out, c->cwd ? ")" : "");
	}
}

/* A file beside the script, which copies all of them to $share. */
static void
add_helper(struct writer *w, const struct operation *op)
{
	names_once(w->a, &w->files, target_helper(w->a, w->plan, w->templates, op, &w->helpers));
}

static void
add_operations(struct writer *w, const struct step *s, struct scope *out)
{
	static const char *const names[OPERATION_KINDS] = {
		[OP_FILE] = "commands", [OP_FETCH] = "fetch", [OP_COMPILE] = "compile",
		[OP_SMOKE] = "smoke",   [OP_PROBE] = "probe",
	};
	bool compiles = step_operation(s, OP_COMPILE) != NULL;
	struct operations inputs = { 0 };
	struct buf code[OPERATION_KINDS];

	if (compiles)
		inputs = inputs_of(w->a, w->plan, s).files;
	for (size_t i = 0; i < inputs.n; i++)
		add_helper(w, &inputs.at[i]);
	for (size_t i = 0; i < OPERATION_KINDS; i++)
		code[i] = BUF(w->a);
	for (size_t i = 0; i < s->operations.n; i++) {
		const struct operation *op = &s->operations.at[i];
		bool own = names[op->kind] && (compiles || op->kind != OP_FETCH);

		if (op->kind == OP_FILE && op->file.helper)
			add_helper(w, op);
		else
			add_operation(w, s, *op, out, &code[own ? op->kind : OP_FILE]);
	}
	for (size_t i = 0; i < OPERATION_KINDS; i++)
		if (code[i].n)
			scope_code(out, names[i], buf_text(&code[i]) + 1);
}

/* --- steps --- */

/* need PACKAGE ...: the system's Python is installed only if the host has none that serves. */
static const char *
need(struct writer *w, bool python)
{
	const struct choices *apt = &w->plan->stack->apt;
	struct names all = { 0 };

	list_push(w->a, &all, "need");
	for (size_t i = 0; i < apt->n; i++) {
		const struct choice *package = &apt->at[i];

		if (python == (!package->given && starts_with(package->value, "python")))
			list_push(w->a, &all, quoted(w, package->value, true, package->at));
	}
	return all.n > 1 ? words(w, &all) : NULL;
}

/* The host's own Python, unless the recipe names where another one comes from. */
static void
python_step(struct writer *w, const struct step *s)
{
	const struct stack *stack = w->plan->stack;
	const struct operation *op = step_operation(s, OP_PYTHON);
	struct buf b = BUF(w->a);

	scope_text(w->top, "python_key", arena_copy(w->a, s->key, 16), nowhere);
	scope_code(w->top, "python_apt", need(w, true));
	if (!op->python.build || stack->recipe->python_from == PYTHON_AUTO)
		scope_text(w->top, "host_python", stack->python.value, stack->python.at);
	if (!op->python.build && stack->python.value)
		return;
	add_operation(w, s, *op, w->top, &b);
	scope_code(w->top, "python_commands", buf_text(&b) + 1);
}

/* A step after Python, as an item of `list`. */
static void
add_step(struct writer *w, const struct step *s, const char *list)
{
	const char *gpus = s->extension ? own_gpus(w->a, w->plan->stack, s->extension) : NULL;
	struct scope *out = scope_item(w->top, list);
	struct names replaced = { 0 };

	scope_text(out, "id", s->id, s->at);
	if (s->kind != STEP_CHECK && s->kind != STEP_APP)
		scope_text(out, "key", arena_copy(w->a, s->key, 16), nowhere);
	scope_item_text(out, "remarks", s->why, s->at);
	if (gpus)
		scope_item_text(out, "remarks", gpus, s->at);
	scope_flag(out, "downloads", s->extension && s->extension->source == SOURCE_WHEEL);
	for (size_t i = 0; s->kind == STEP_TORCH && i < s->packages.n; i++)
		list_push(w->a, &replaced, quoted(w, s->packages.at[i].key, true, s->at));
	if (replaced.n)
		scope_code(out, "replaces", words(w, &replaced));
	add_operations(w, s, out);
}

/* Extensions compile after everything else is installed; nothing is installed after the check. */
static void
add_steps(struct writer *w)
{
	for (size_t i = 0; i < w->plan->n; i++) {
		const struct step *s = &w->plan->steps[i];

		switch (s->kind) {
		case STEP_BASE: break;
		case STEP_APT:
			scope_text(w->top, "apt_why", s->why, s->at);
			scope_code(w->top, "apt", need(w, false));
			break;
		case STEP_PYTHON: python_step(w, s); break;
		case STEP_CHECK:
		case STEP_APP: add_step(w, s, "last"); break;
		default: add_step(w, s, step_operation(s, OP_COMPILE) ? "compiled" : "steps");
		}
	}
}

/* --- the head of the file --- */

static void
head(struct writer *w)
{
	const struct stack *s = w->plan->stack;
	const struct recipe *r = s->recipe;
	bool compiles = false;

	scope_text(w->top, "name", w->plan->name, r->stack.at);
	target_lines(w->a, w->top, "title",
		     target_title(w->a, w->plan,
				  "in a virtual environment on this host (Linux or WSL2)"));
	target_lines(w->a, w->top, "generated", target_generated(w->a, w->plan));
	scope_flag(w->top, "cell", r->cell != NULL);
	scope_text(w->top, "python", s->python.value, s->python.at);
	scope_flag(w->top, "torch", s->torch.value != NULL);
	scope_text(w->top, "app", r->app.requirements.s, r->app.requirements.at);
	scope_text(w->top, "base", r->base.s, r->base.at);
	scope_text(w->top, "runtime", r->runtime.base.s, r->runtime.base.at);
	scope_text(w->top, "user", r->user.s, r->user.at);
	for (size_t i = 0; i < s->extensions.n; i++)
		compiles |= s->extensions.at[i].source != SOURCE_WHEEL;
	scope_flag(w->top, "extensions", s->extensions.n > 0);
	scope_flag(w->top, "compiles", compiles);
	if (s->cuda.value && w->plan->nvcc && !w->own_toolkit) {
		scope_flag(w->top, "guarded", !compiles);
		scope_text(w->top, "cuda", version_series(w->a, s->cuda.value), s->cuda.at);
		scope_text(w->top, "cuda_major",
			   arena_copy(w->a, s->cuda.value, strcspn(s->cuda.value, ".")),
			   s->cuda.at);
	}
}

static void
tail(struct writer *w)
{
	const struct recipe *r = w->plan->stack->recipe;
	const struct names secrets = plan_secrets(w->a, w->plan);

	for (size_t i = 0; i < w->files.n; i++)
		scope_item_text(w->top, "helpers", w->files.at[i], nowhere);
	if (secrets.n)
		scope_text(w->top, "secret_names", names_join(w->a, &secrets, ", "), nowhere);
	for (size_t i = 0; i < r->env.n; i++) {
		struct scope *item = scope_item(w->top, "environment");

		scope_text(item, "name", r->env.at[i].name.s, r->env.at[i].name.at);
		scope_text(item, "value", r->env.at[i].value.s, r->env.at[i].value.at);
	}
	for (size_t i = 0; i < r->app.command.n; i++)
		scope_item_text(w->top, "command", r->app.command.at[i].s, r->app.command.at[i].at);
}

bool
script_render(struct arena *a, struct diags *ds, const struct plan *p, const struct templates *t,
	      struct rendereds *out)
{
	struct writer w = {
		.a = a,
		.ds = ds,
		.plan = p,
		.templates = t,
		.top = scope_new(a, script_shape),
		.own_toolkit = p->stack->cuda_from == CUDA_WHEELS,
		.good = true,
	};

	head(&w);
	add_steps(&w);
	tail(&w);
	if (!w.good || !target_expand(a, ds, t, LANG_SH, w.top,
				      (struct rendered){
					      .path = "setup.sh",
					      .mode = 0755,
					      .summary = arena_printf(a, "%zu steps", p->n - 1),
					      .next = "{path}",
				      },
				      out))
		return false;
	for (size_t i = 0; i < w.helpers.n; i++)
		list_push(a, out, w.helpers.at[i]);
	return true;
}

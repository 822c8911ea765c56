#include <string.h>

#include "base/sha256.h"
#include "base/str.h"
#include "target.h"

/*
 * Writes setup.sh: the chain of steps as a bash script that makes a virtual environment on a host.
 * The host replaces the base image: the script uses its Python and its CUDA toolkit, and installs
 * only missing system packages.
 */

static const struct shape step_shape[] = {
	{ "id", VALUE_TEXT, "\"torch\", \"causal-conv1d\"", 0 },
	{ "key", VALUE_TEXT, "digest of the step's actions; none: the step runs every time", 0 },
	{ "remarks", VALUE_LIST, "the reason for its place, in lines", 0 },
	{ "replaces", VALUE_CODE, "packages of which pip would keep another build", 0 },
	{ "downloads", VALUE_FLAG, "the step downloads a wheel", 0 },
	{ "own", VALUE_TEXT, "directory of own code that the step compiles", 0 },
	{ "fetch", VALUE_CODE, "the step compiles an extension: its commands fetch the source", 0 },
	{ "settings", VALUE_CODE, "runs \"$@\" with the environment of the compile", 0 },
	{ "compile", VALUE_CODE, "compiles it", 0 },
	{ "commands", VALUE_CODE, "all its other commands", 0 },
	{ "smoke", VALUE_CODE, "compiles smoke.cu", 0 },
	{ "probe", VALUE_CODE, "compares the environment with the plan", 0 },
	{ 0 },
};

const struct shape script_shape[] = {
	{ "name", VALUE_TEXT, "the stack's name", 0 },
	{ "title", VALUE_LIST, "contents of the stack, in lines", 0 },
	{ "generated", VALUE_LIST, "the program, the recipe and its digest, in lines", 0 },
	{ "cell", VALUE_FLAG, "the stack is a cell of a matrix: helpers are one directory above",
	  0 },
	{ "python", VALUE_TEXT, "the series of Python", 0 },
	{ "torch", VALUE_FLAG, "the stack has torch", 0 },
	{ "extensions", VALUE_FLAG, "the stack has an extension", 0 },
	{ "compiles", VALUE_FLAG, "the stack compiles an extension", 0 },
	{ "guarded", VALUE_FLAG, "nvcc may be missing", 0 },
	{ "secret_names", VALUE_TEXT, "names of the secrets", 0 },
	{ "app", VALUE_TEXT, "the application's requirements file", 0 },
	{ "own_code", VALUE_TEXT, "directories of own code", 0 },
	{ "reads_app", VALUE_FLAG, "the script reads files of the recipe's directory", 0 },
	{ "base", VALUE_TEXT, "base of the recipe, which the host replaces", 0 },
	{ "runtime", VALUE_TEXT, "second stage of the recipe, which a host does not have", 0 },
	{ "user", VALUE_TEXT, "user of the recipe; on a host, the user who runs the script", 0 },
	{ "helpers", VALUE_LIST, "files that the script uses, below the output directory", 0 },
	{ "apt_why", VALUE_TEXT, "why system packages are needed", 0 },
	{ "apt", VALUE_CODE, "installs the system packages of all steps except Python", 0 },
	{ "cuda", VALUE_TEXT, "the CUDA series that the host's toolkit must have", 0 },
	{ "cuda_major", VALUE_TEXT, "its first number", 0 },
	{ "python_key", VALUE_TEXT, "digest of the Python step's actions", 0 },
	{ "python_apt", VALUE_CODE, "installs the system packages of Python", 0 },
	{ "host_python", VALUE_TEXT, "the series to look for on the host", 0 },
	{ "python_commands", VALUE_CODE, "creates the environment without the host's Python", 0 },
	{ "steps", VALUE_LIST, "the steps after Python that compile nothing, in order",
	  step_shape },
	{ "compiled", VALUE_LIST, "those that compile an extension", step_shape },
	{ "last", VALUE_LIST, "the check and the application", step_shape },
	{ "environment", VALUE_LIST, "the recipe's env", target_pair_shape },
	{ "command", VALUE_LIST, "the words of app's command", 0 },
	{ 0 },
};

/* Returns whether CUDA is a part of the environment. */
static bool
own_toolkit(const struct target *t)
{
	return t->plan->stack->cuda_from == CUDA_WHEELS;
}

/* --- commands --- */

static struct shell
shell_of(const struct target *t, struct span at)
{
	return (struct shell){
		.ds = t->ds,
		.at = at,
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
}

/* Returns "NAME WORD ...", with quoted words; or NULL. */
static const char *
words(struct target *t, const char *name, const struct texts *all)
{
	struct shell sh = shell_of(t, NOWHERE);
	struct names line = { 0 };
	struct buf b = BUF(t->a);

	if (*name)
		list_push(t->a, &line, name);
	for (size_t i = 0; i < all->n; i++) {
		sh.at = all->at[i].at;
		list_push(t->a, &line, shell_quoted(&sh, t->a, all->at[i].s, true));
	}
	shell_words(&sh, &line, false, &b);
	return all->n ? buf_text(&b) : NULL;
}

/* A host has a toolkit and a directory of secrets. */
static struct variables
host_environment(struct target *t, const struct command *c)
{
	struct variables out = { 0 };

	for (size_t i = 0; i < c->env.n; i++) {
		struct variable v = c->env.at[i];

		if (!strcmp(v.name, "CUDA_HOME") && !v.verbatim && !own_toolkit(t))
			continue;
		list_each (m, &c->mounts)
			if (m->kind == MOUNT_SECRET && !strcmp(m->target, v.value)) {
				v.value = arena_printf(t->a, "{secrets}/%s", m->id);
				v.verbatim = false;
			}
		list_push(t->a, &out, v);
	}
	return out;
}

/* Writes settings_NAME(), which runs a command in the environment of the compile step, so that the
 * script lists it only once. */
static void
move_settings(struct target *t, const struct step *s, struct command *c, struct scope *out)
{
	const struct command settings = { .env = c->env };
	const struct shell sh = shell_of(t, s->at);
	struct words launcher = { 0 };
	struct buf b = BUF(t->a);

	shell_command(&sh, &settings, &b);
	buf_puts(&b, "\"$@\"");
	scope_code(out, "settings", buf_text(&b));
	list_push(t->a, &launcher, (struct word){ arena_printf(t->a, "settings_%s", s->id), true });
	for (size_t i = 0; i < c->launcher.n; i++)
		list_push(t->a, &launcher, c->launcher.at[i]);
	c->launcher = launcher;
	c->env = (struct variables){ 0 };
}

/* Adds the commands of an operation, each on a separate line. */
static void
add_operation(struct target *t, const struct step *s, struct operation op, struct scope *scope,
	      struct buf *out)
{
	const struct shell sh = shell_of(t, s->at);
	struct commands all;

	if (op.kind == OP_FILE) {
		buf_putc(out, '\n');
		shell_file(&sh, &op, out);
	}
	if (op.kind == OP_SMOKE && !own_toolkit(t))
		op.smoke.nvcc = "nvcc";
	all = operation_commands(t->a, &op);
	for (size_t i = 0; i < all.n; i++) {
		struct command *c = &all.at[i];

		c->env = host_environment(t, c);
		if (op.kind == OP_COMPILE)
			move_settings(t, s, c, scope);
		/* Otherwise, pip would keep another file of the same version. */
		if (op.kind == OP_WHEEL || (op.kind == OP_PACKAGES && op.packages.file))
			list_push(t->a, &c->argv, (struct word){ "--force-reinstall", true });
		for (size_t k = 0; k < c->mounts.n; k++)
			if (c->mounts.at[k].kind == MOUNT_SECRET)
				buf_printf(out, "\nsecret %s",
					   shell_quoted(&sh, t->a, c->mounts.at[k].id, true));
		if (c->comment)
			buf_printf(out, "\n# %s", c->comment);
		buf_putc(out, '\n');
		if (c->cwd)
			buf_printf(out, "(cd %s && ", shell_quoted(&sh, t->a, c->cwd, false));
		shell_command(&sh, c, out);
		buf_puts(out, c->cwd ? ")" : "");
	}
}

static void
add_operations(struct target *t, const struct step *s, struct scope *out)
{
	static const char *const names[OPERATION_KINDS] = {
		[OP_FILE] = "commands", [OP_FETCH] = "fetch", [OP_COMPILE] = "compile",
		[OP_SMOKE] = "smoke",   [OP_PROBE] = "probe",
	};
	bool compiles = step_operation(s, OP_COMPILE) != NULL;
	struct operations inputs = { 0 };
	struct buf code[OPERATION_KINDS];

	if (compiles)
		inputs = inputs_of(t->a, t->plan, s).files;
	for (size_t i = 0; i < inputs.n; i++)
		target_helper(t, &inputs.at[i]);
	for (size_t i = 0; i < OPERATION_KINDS; i++)
		code[i] = BUF(t->a);
	list_each (op, &s->operations) {
		bool own = names[op->kind] && (compiles || op->kind != OP_FETCH);

		if (op->kind == OP_FILE && op->file.helper)
			target_helper(t, op);
		else
			add_operation(t, s, *op, out, &code[own ? op->kind : OP_FILE]);
	}
	for (size_t i = 0; i < OPERATION_KINDS; i++)
		if (code[i].n)
			scope_code(out, names[i], buf_text(&code[i]) + 1);
}

/* --- steps --- */

/* Returns "need PACKAGE ...", which installs the system's Python only if the host has no suitable
 * one. */
static const char *
need(struct target *t, bool python)
{
	const struct choices *apt = &t->plan->stack->apt;
	struct texts all = { 0 };

	/* Omits names of dnf packages, which belong to the base image and not to this host. */
	for (size_t i = 0; i < apt->n && !t->plan->stack->dnf; i++)
		if (python == (!apt->at[i].given && starts_with(apt->at[i].value, "python")))
			list_push(t->a, &all, (struct text){ apt->at[i].value, apt->at[i].at });
	return words(t, "need", &all);
}

/* If a lock drops a package, the environment is made again, because pip does not remove it. */
static const char *
python_key(struct target *t, const struct step *s)
{
	const struct lock *l = t->plan->lock;
	struct buf b = BUF(t->a);

	for (size_t i = 0; l && i < l->packages.n; i++)
		buf_printf(&b, "%s\n", l->packages.at[i].name);
	for (size_t i = 0; l && i < l->sources.n; i++)
		buf_printf(&b, "%s\n", l->sources.at[i].name);
	return arena_printf(t->a, "%.16s%s%.12s", s->key, l ? "-" : "",
			    l ? sha256_hex(t->a, buf_text(&b), b.n) : "");
}

/* Writes the Python step: the host's own Python, unless the recipe names another source. */
static void
python_step(struct target *t, const struct step *s)
{
	const struct stack *stack = t->plan->stack;
	const struct operation *op = step_operation(s, OP_PYTHON);
	struct buf b = BUF(t->a);

	scope_text(t->top, "python_key", python_key(t, s), NOWHERE);
	scope_code(t->top, "python_apt", need(t, true));
	if (!op->python.build || stack->recipe->python_from == PYTHON_AUTO)
		scope_text(t->top, "host_python", stack->python.value, stack->python.at);
	if (!op->python.build && stack->python.value)
		return;
	add_operation(t, s, *op, t->top, &b);
	scope_code(t->top, "python_commands", buf_text(&b) + 1);
}

/* Copies own code to the directory of the source. */
static void
add_own_code(struct target *t, const struct step *s, struct scope *out)
{
	const char *path = s->extension->path;
	const struct shell sh = shell_of(t, s->extension->asked->path.at);

	scope_text(out, "own", path, sh.at);
	scope_code(out, "fetch",
		   arena_printf(t->a, "(code_pack %s %s) | tar -x -C \"$src\"", s->id,
				shell_quoted(&sh, t->a, path, true)));
}

/* Adds a step after Python as an item of `list`. */
static void
add_step(struct target *t, const struct step *s, const char *list)
{
	const char *gpus = s->extension ? target_own_gpus(t, s->extension) : NULL;
	struct scope *out = scope_item(t->top, list);
	struct texts replaced = { 0 };

	scope_text(out, "id", s->id, s->at);
	if (s->kind != STEP_CHECK && s->kind != STEP_APP)
		scope_text(out, "key", target_key(t, s), NOWHERE);
	scope_item_text(out, "remarks", s->why, s->at);
	if (gpus)
		scope_item_text(out, "remarks", gpus, s->at);
	scope_flag(out, "downloads", s->extension && s->extension->source == SOURCE_WHEEL);
	for (size_t i = 0; s->kind == STEP_TORCH && i < s->packages.n; i++)
		list_push(t->a, &replaced, (struct text){ s->packages.at[i].key, s->at });
	scope_code(out, "replaces", words(t, "", &replaced));
	add_operations(t, s, out);
	if (s->extension && s->extension->path)
		add_own_code(t, s, out);
}

/* --- the file --- */

static void
head(struct target *t)
{
	const struct stack *s = t->plan->stack;
	const struct recipe *r = s->recipe;
	struct names own = { 0 };
	bool compiles = false;

	scope_text(t->top, "name", t->plan->name, r->stack.at);
	target_title(t, "title", "in a virtual environment on this host (Linux or WSL2)");
	scope_flag(t->top, "cell", r->cell != NULL);
	scope_text(t->top, "python", s->python.value, s->python.at);
	scope_flag(t->top, "torch", s->torch.value != NULL);
	scope_text(t->top, "app", r->app.requirements.s, r->app.requirements.at);
	scope_text(t->top, "base", r->base.s, r->base.at);
	scope_text(t->top, "runtime", r->runtime.base.s, r->runtime.base.at);
	scope_text(t->top, "user", r->user.s, r->user.at);
	for (size_t i = 0; i < s->extensions.n; i++)
		compiles |= s->extensions.at[i].source != SOURCE_WHEEL;
	for (size_t i = 0; i < s->extensions.n; i++)
		if (s->extensions.at[i].path)
			list_push(t->a, &own, s->extensions.at[i].path);
	if (own.n)
		scope_text(t->top, "own_code", names_join(t->a, &own, ", "), NOWHERE);
	scope_flag(t->top, "reads_app", own.n || r->app.requirements.s);
	scope_flag(t->top, "extensions", s->extensions.n > 0);
	scope_flag(t->top, "compiles", compiles);
	if (s->cuda.value && t->plan->nvcc && !own_toolkit(t)) {
		scope_flag(t->top, "guarded", !compiles);
		scope_text(t->top, "cuda", version_series(t->a, s->cuda.value), s->cuda.at);
		scope_text(t->top, "cuda_major",
			   arena_copy(t->a, s->cuda.value, strcspn(s->cuda.value, ".")),
			   s->cuda.at);
	}
}

/* Writes the script: extensions compile after all other installations, and the check comes last. */
void
script_fill(struct target *t)
{
	const struct recipe *r = t->plan->stack->recipe;
	const struct names secrets = plan_secrets(t->a, t->plan);
	const struct texts command = recipe_command(t->a, r);

	target_refuse_base_torch(t, t->plan->stack->recipe);
	head(t);
	for (const struct step *s = t->plan->steps; s < t->plan->steps + t->plan->n; s++) {
		switch (s->kind) {
		case STEP_BASE: break;
		case STEP_APT:
			scope_text(t->top, "apt_why", s->why, s->at);
			scope_code(t->top, "apt", need(t, false));
			break;
		case STEP_PYTHON: python_step(t, s); break;
		case STEP_CHECK:
		case STEP_APP: add_step(t, s, "last"); break;
		default: add_step(t, s, step_operation(s, OP_COMPILE) ? "compiled" : "steps");
		}
	}
	for (size_t i = 0; i < t->helpers.n; i++)
		scope_item_text(t->top, "helpers", t->helpers.at[i].path, NOWHERE);
	if (secrets.n)
		scope_text(t->top, "secret_names", names_join(t->a, &secrets, ", "), NOWHERE);
	target_environment(t->top, r);
	scope_texts(t->top, "command", &command);
	t->file.summary = arena_printf(t->a, "%zu steps", t->plan->n - 1);
}

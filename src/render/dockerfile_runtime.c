#include <stdarg.h>
#include <string.h>

#include "dockerfile.h"

/*
 * The stage without compilers: what final installed is copied, what the operating
 * system must have is installed, and the probe looks at the result once more.
 */

static struct command
command_of(struct docker_writer *w, ...)
{
	struct command c = { .phase = PHASE_INSTALL };
	const char *word;
	va_list ap;

	va_start(ap, w);
	while ((word = va_arg(ap, const char *)))
		list_push(w->a, &c.argv, (struct word){ word, false });
	va_end(ap);
	return c;
}

static void
add_apt(struct docker_writer *w, struct step *st, struct command c)
{
	list_push(w->a, &c.mounts,
		  (struct mount){ MOUNT_CACHE, "apt-lists", "/var/lib/apt", false });
	list_push(w->a, &c.mounts, (struct mount){ MOUNT_CACHE, "apt", "/var/cache/apt", true });
	list_push(w->a, &st->commands, c);
}

/* As the plan's apt step does it, with the packages of this stage. */
static void
apt_step(struct docker_writer *w, const struct docker_stage *stage, struct scope *out)
{
	const struct stack *s = w->plan->stack;
	struct step st = { .id = "apt", .kind = STEP_APT, .at = s->runtime_base.at };
	struct command c;

	st.why = "what the stack needs when it runs";
	list_push(w->a, &st.commands,
		  command_of(w, "rm", "-f", "/etc/apt/apt.conf.d/docker-clean", NULL));
	add_apt(w, &st, command_of(w, "apt-get", "update", NULL));
	c = command_of(w, "apt-get", "install", "-y", "--no-install-recommends", NULL);
	list_push(w->a, &c.env, (struct variable){ "DEBIAN_FRONTEND", "noninteractive", false });
	for (size_t i = 0; i < s->runtime_apt.n; i++)
		list_push(w->a, &c.argv, (struct word){ s->runtime_apt.at[i].value, true });
	add_apt(w, &st, c);
	docker_step(w, stage, &st, scope_item(out, "steps"));
}

static void
check_step(struct docker_writer *w, const struct docker_stage *stage, struct scope *out)
{
	struct step st = { .id = "check", .kind = STEP_CHECK };

	st.why = "as in final: it is all there, and it imports, also without compilers";
	list_push(w->a, &st.commands,
		  command_of(w, "{python}", "{share}/probe.py", "{share}/plan.json", NULL));
	docker_step(w, stage, &st, scope_item(out, "steps"));
}

static bool
uses_prefix(const struct plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct commands *c = &p->steps[i].commands;

		for (size_t k = 0; k < c->n; k++) {
			for (size_t n = 0; n < c->at[k].argv.n; n++)
				if (strstr(c->at[k].argv.at[n].s, "{prefix}"))
					return true;
			for (size_t n = 0; n < c->at[k].env.n; n++)
				if (strstr(c->at[k].env.at[n].value, "{prefix}"))
					return true;
		}
	}
	return false;
}

static void
take(struct scope *out, const char *from, const char *path)
{
	struct scope *item = scope_item(out, "copies");

	scope_text(item, "from", from, (struct span){ 0 });
	scope_text(item, "path", path, (struct span){ 0 });
}

static void
copy_step(struct docker_writer *w, struct scope *out)
{
	struct scope *step = scope_item(out, "steps");

	scope_text(step, "id", "copy", (struct span){ 0 });
	docker_remarks(w, step, "the environment as it was checked, and what it stands on");
	if (uses_prefix(w->plan))
		take(step, "final", DOCKER_PREFIX);
	take(step, "final", DOCKER_VENV);
	take(step, "final", DOCKER_SHARE);
	scope_text(step, "path", DOCKER_VENV, (struct span){ 0 });
}

void
docker_runtime(struct docker_writer *w, const struct docker_stage *stage, struct scope *out)
{
	if (w->plan->stack->runtime_apt.n)
		apt_step(w, stage, out);
	copy_step(w, out);
	check_step(w, stage, out);
}

#include <string.h>

#include "base/fs.h"
#include "base/str.h"
#include "dockerfile.h"

/* The comments at the top of a Dockerfile: what is in it, and how it is built. */

static const struct span nowhere;

/*
 * A name that every engine takes for an image: lower case, and a cell of a matrix as its
 * tag, of letters, digits and ._- and at most 128 long.
 */
const char *
docker_image_tag(struct arena *a, const struct plan *p)
{
	const char *cell = p->stack->recipe->cell;
	char *name = arena_strdup(a, p->name), *tag;

	for (char *c = name; *c; c++)
		*c = to_lower(*c);
	if (!cell)
		return name;
	tag = arena_copy(a, cell, strlen(cell) > 128 ? 128 : strlen(cell));
	for (char *c = tag; *c; c++)
		if (!is_alnum(*c) && !strchr("._-", *c))
			*c = '-';
	return arena_printf(a, "%s:%s", name, tag);
}

static bool
copies_app(const struct recipe *r)
{
	return r->app.copy.n || r->app.requirements.s;
}

const char *
docker_build_command(struct docker_writer *w, const char *dockerfile, const char *app,
		     const char *context)
{
	const struct recipe *r = w->plan->stack->recipe;
	const struct names secrets = plan_secrets(w->a, w->plan);
	struct buf b = BUF(w->a);

	buf_puts(&b, "docker build");
	if (r->platform.s)
		buf_printf(&b, " --platform %s", r->platform.s);
	buf_printf(&b, " -t %s", docker_image_tag(w->a, w->plan));
	for (size_t i = 0; i < secrets.n; i++)
		buf_printf(&b, " --secret id=%s,src=%s", secrets.at[i], secrets.at[i]);
	if (copies_app(r))
		buf_printf(&b, " --build-context " RENDER_APP "=%s", app);
	if (dockerfile)
		buf_printf(&b, " -f %s", dockerfile);
	buf_printf(&b, " %s", context);
	return buf_text(&b);
}

static void
hints(struct docker_writer *w, struct scope *top)
{
	const char *wheel = NULL;
	bool compiles = false;

	for (size_t i = 0; i < w->plan->n; i++) {
		const struct step *s = &w->plan->steps[i];

		if (s->kind == STEP_EXTENSION && !wheel)
			wheel = s->id;
		compiles |= docker_compiles(s, NULL);
	}
	if (plan_secrets(w->a, w->plan).n)
		target_lines(
			w->a, top, "hints",
			"A secret is a file of that name. The secret of an index is a netrc, one "
			"line: machine HOST login USER password TOKEN");
	if (copies_app(w->plan->stack->recipe))
		target_lines(
			w->a, top, "hints",
			"DIR is the recipe's directory. Clients without --build-context copy the "
			"application from the directory app/ beside stackbuild/ instead.");
	if (compiles)
		target_lines(w->a, top, "hints",
			     "--build-arg MAX_JOBS=4 sets the number of compilers that run at once "
			     "(default: as many as memory allows).");
	if (wheel)
		target_lines(w->a, top, "hints",
			     arena_printf(w->a, "--target wheel-%s -o wheels exports that wheel.",
					  wheel));
}

void
docker_head(struct docker_writer *w, struct scope *top)
{
	const struct recipe *r = w->plan->stack->recipe;
	const char *file = r->cell ? fs_join(w->a, r->cell, "Dockerfile") : NULL;

	target_lines(w->a, top, "title",
		     target_title(w->a, w->plan,
				  arena_printf(w->a, "on %s", w->plan->stack->base.value)));
	target_lines(w->a, top, "generated", target_generated(w->a, w->plan));
	scope_flag(top, "build", w->build != NULL);
	scope_text(top, "where",
		   r->cell ?
			   "In the directory above (Docker before 23: DOCKER_BUILDKIT=1 docker "
			   "build):" :
			   "In this directory (Docker before 23: DOCKER_BUILDKIT=1 docker build):",
		   nowhere);
	scope_text(top, "command", docker_build_command(w, file, "DIR", "."), r->platform.at);
	scope_text(top, "tag", docker_image_tag(w->a, w->plan), r->stack.at);
	if (w->plan->nvcc)
		scope_text(top, "proof", DOCKER_SHARE "/smoke", nowhere);
	hints(w, top);
}

#include "internal.h"

/* Selects the Python and its source. */

/* Returns the series of Python for a recipe that names none. */
static struct choice
choose_series(struct workspace *w)
{
	const struct stack *s = w->s;
	const struct torch_release *t = s->torch_release;
	bool free = !t || !t->pythons.n;
	const char *own = s->os ? s->os->python : NULL, *series = w->python->text;

	if (s->image.python && !strcmp(s->image.python, series))
		return choice_given((struct text){ series, w->r->base.at },
				    "the base image has it");
	if ((w->r->python_from == PYTHON_BASE || s->torch_base) && !s->image.python)
		return choice_made(NULL, "the base image's own", NULL);
	if (own && !strcmp(series, own))
		return choice_made(own,
				   arena_printf(w->a, "%s's own%s", s->os->id,
						free || w->r->python_from == PYTHON_OS ?
							"" :
							", and torch has wheels for it"),
				   s->os->source);
	return choice_made(series,
			   free ? "the oldest that the Python project still maintains" :
				  "torch and almost every other package have wheels for it",
			   t ? t->source : NULL);
}

static void
refuse(struct workspace *w, const char *why, const char *help)
{
	const struct recipe *r = w->r;
	struct diag *d = diag_at(w->ds, E_PYTHON_SOURCE,
				 r->python_from_at.line ? r->python_from_at : r->python.at,
				 "Python %s is not available from that source",
				 w->s->python.value ? w->s->python.value : "");

	diag_why(d, "%s", why);
	help_from(w, d, r->python_from_at, help);
}

static enum python_from
choose_origin(const struct workspace *w)
{
	const struct stack *s = w->s;
	const char *series = s->python.value;

	if (s->torch_base || (s->image.python && !strcmp(s->image.python, series)))
		return PYTHON_BASE;
	if (s->os && s->os->python && !strcmp(s->os->python, series))
		return PYTHON_OS;
	return PYTHON_STANDALONE;
}

static void
check_origin(struct workspace *w)
{
	const struct stack *s = w->s;
	const char *series = s->python.value;
	bool os = s->python_from == PYTHON_OS;
	const char *has = !os ? s->image.python : s->os ? s->os->python : NULL;

	if (!series)
		return;
	switch (s->python_from) {
	case PYTHON_OS:
	case PYTHON_BASE:
		/* With the base image's torch, the solver reports the difference. */
		if (has && strcmp(has, series) != 0 && !s->torch_base)
			refuse(w,
			       arena_printf(w->a, "%s has Python %s",
					    os ? s->os->id : "the base image", has),
			       os ? "write `from: auto`, or use the system's series" :
				    "write `from: auto`, or use the image's series");
		else if (os && s->os && !has)
			refuse(w,
			       arena_printf(w->a, "the knowledge base lists no Python of %s",
					    s->os->id),
			       "write `from: auto`");
		break;
	case PYTHON_DEADSNAKES:
		if (s->os && !s->os->deadsnakes)
			refuse(w,
			       arena_printf(w->a, "deadsnakes has no packages for %s", s->os->id),
			       "write `from: auto`");
		else if (w->r->runtime.at.line)
			refuse(w, "the second stage would have no Python",
			       "remove `runtime`, or `from: deadsnakes`");
		break;
	default:
		if (!s->python_build)
			refuse(w,
			       "the knowledge base has neither a standalone build of it nor a uv "
			       "that installs it",
			       "use an image with this Python, and `from: base`");
	}
}

/* If no standalone build is known for this machine, a pinned uv selects the patch release. */
static const struct python_build *
find_build(struct workspace *w)
{
	const char *series = w->s->python.value;
	const struct python_build *b = facts_standalone_python(w->f, series, recipe_machine(w->r));
	struct names all = facts_python_series(w->f);
	struct python_build *by_uv;

	for (size_t i = 0; !b && i < all.n; i++) {
		const struct python_build *other =
			facts_standalone_python(w->f, all.at[i], "x86_64");

		if (!other || !other->uv)
			continue;
		by_uv = arena_new_of(w->a, struct python_build);
		by_uv->series = series;
		by_uv->uv = other->uv;
		by_uv->source = other->source;
		return by_uv;
	}
	return b;
}

void
resolve_python(struct workspace *w)
{
	struct stack *s = w->s;
	const struct recipe *r = w->r;

	s->python = r->python.s ? choice_given(r->python, "the recipe names it") : choose_series(w);
	s->python_from = r->python_from;
	if (s->python_from == PYTHON_AUTO)
		s->python_from = choose_origin(w);
	if (s->python.value && (s->python_from == PYTHON_STANDALONE || s->python_from == PYTHON_UV))
		s->python_build = find_build(w);
	check_origin(w);
}

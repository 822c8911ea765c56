#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "dockerfile.h"

/*
 * A Dockerfile's instructions, as engines number them.
 *
 *     instruction := word { rest | "\" line-end | comment line | empty line }
 *
 * BuildKit tells those that make a layer, "[stage i/n]": RUN, COPY, ADD, WORKDIR, and FROM where
 * it is an image (not where it is an earlier stage or scratch).  buildah tells all: "STEP i/n".
 */

struct place {
	const char *p;
	unsigned line;
};

static const char *
line_end(const char *p)
{
	const char *nl = strchr(p, '\n');

	return nl ? nl : p + strlen(p);
}

static void
next_line(struct place *at)
{
	at->p = line_end(at->p);
	at->p += *at->p == '\n';
	at->line++;
}

static const char *
after_blanks(const char *p)
{
	return p + strspn(p, " \t");
}

/* Comments and empty lines: between instructions, and inside one that goes on. */
static bool
says_nothing(const char *p)
{
	p = after_blanks(p);
	return *p == '#' || *p == '\n' || !*p;
}

static bool
goes_on(const char *p)
{
	const char *end = line_end(p);

	while (end > p && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	return end > p && end[-1] == '\\';
}

/* To the line after an instruction. */
static void
pass(struct place *at)
{
	bool more = goes_on(at->p);

	for (next_line(at); more && *at->p; next_line(at))
		if (!says_nothing(at->p))
			more = goes_on(at->p);
}

static bool
is(const char *p, const char *word)
{
	size_t n = strlen(word);

	return !strncasecmp(p, word, n) && (p[n] == ' ' || p[n] == '\t');
}

static const struct docker_stage *
stage_of(const struct docker_stages *all, const char *name, size_t n)
{
	for (size_t i = 0; i < all->n; i++)
		if (str_is((struct str){ name, n }, all->at[i].name))
			return &all->at[i];
	return NULL;
}

/* The innermost mark around a byte. */
static const char *
step_at(const struct template_marks *marks, size_t offset)
{
	for (size_t i = 0; i < marks->n; i++)
		if (marks->at[i].from <= offset && offset < marks->at[i].to)
			return marks->at[i].what;
	return NULL;
}

/* FROM image AS name: a template may have been changed, but stages keep their names. */
static void
open_stage(struct arena *a, const char *p, const struct docker_stages *all, struct instruction *i)
{
	const char *end = line_end(p), *image = after_blanks(p + strlen("FROM")), *name = NULL;
	const struct docker_stage *stage;

	while (image < end && starts_with(image, "--"))
		image = after_blanks(image + strcspn(image, " \t\n"));
	for (const char *w = image; w < end; w = after_blanks(w + strcspn(w, " \t\n")))
		if (is(w, "AS"))
			name = after_blanks(w + strlen("AS"));
	i->stage = name ? arena_copy(a, name, strcspn(name, " \t\r\n")) : "";
	stage = stage_of(all, i->stage, strlen(i->stage));
	i->step = stage && stage->base ? stage->base->id : NULL;
	i->layer_no = !stage_of(all, image, strcspn(image, " \t\r\n")) && !is(image, "scratch");
}

struct instructions
docker_instructions(struct arena *a, const char *text, const struct docker_stages *stages,
		    const struct template_marks *marks)
{
	static const char *const layers[] = { "RUN", "COPY", "ADD", "WORKDIR" };
	struct instruction i = { .stage = "" };
	struct instructions all = { 0 };
	struct place at = { text, 1 };
	unsigned layer = 0;

	while (*at.p) {
		const char *p = after_blanks(at.p);

		if (says_nothing(p)) {
			next_line(&at);
			continue;
		}
		i.line = at.line;
		i.no++;
		i.layer_no = 0;
		if (is(p, "FROM")) {
			i.stage_no++;
			i.no = 1;
			open_stage(a, p, stages, &i);
			layer = i.layer_no;
		} else {
			i.step = step_at(marks, (size_t)(p - text));
			for (size_t k = 0; k < sizeof(layers) / sizeof(layers[0]); k++)
				if (is(p, layers[k]))
					i.layer_no = ++layer;
		}
		list_push(a, &all, i);
		pass(&at);
	}
	return all;
}

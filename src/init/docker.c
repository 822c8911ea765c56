#include "docker.h"

#include <string.h>

#include "base/str.h"

/*
 * A Dockerfile as a recipe: the last stage, the stages that it stands on and those that it
 * copies from.  What the lines install is collected in order, for docker_judge.
 */

struct stage {
	const char *name, *image; /* image: as written, variables in their places */
	struct span at;           /* of the image */
	size_t first, end;        /* its instructions, without FROM */
	int parent;               /* the stage that image names, or -1 */
	bool seen, unknown;
};
struct stages LIST(struct stage);

static void
set(struct docker *d, const char *name, const char *value, struct span at)
{
	list_push(d->rd.a, &d->vars, (struct setting){ { name, at }, { value, at } });
}

/* "NAME=value" of ARG; without a value it is what was set before, if anything was. */
static void
take_arg(struct docker *d, const struct instruction *in)
{
	struct docker_commands c = docker_commands(d->rd.a, in->text, &d->vars);

	for (size_t i = 0; c.n && i < c.at[0].words.n; i++) {
		const char *s = c.at[0].words.at[i].s, *eq = strchr(s, '=');

		if (eq && !c.at[0].words.at[i].unknown)
			set(d, arena_copy(d->rd.a, s, (size_t)(eq - s)), eq + 1, in->at);
	}
}

/* --- stages --- */

/* "[--platform=...] image [AS name]" */
static struct stage
read_from(struct docker *d, const struct instruction *in, const struct stages *stages, size_t i)
{
	struct docker_commands c = docker_commands(d->rd.a, in->text, &d->vars);
	const struct docker_words *ws = c.n ? &c.at[0].words : NULL;
	struct stage s = { .name = "", .image = "", .at = in->at, .first = i + 1, .parent = -1 };
	size_t k = 0;

	while (ws && k < ws->n && starts_with(ws->at[k].s, "--"))
		k++;
	if (ws && k < ws->n) {
		s.image = ws->at[k].s;
		s.unknown = ws->at[k].unknown;
		s.at = instruction_span(in, ws->at[k].from, ws->at[k].n);
	}
	if (ws && k + 2 < ws->n && !strcasecmp(ws->at[k + 1].s, "AS"))
		s.name = ws->at[k + 2].s;
	for (size_t j = 0; j < stages->n; j++)
		if (*stages->at[j].name && !strcasecmp(stages->at[j].name, s.image))
			s.parent = (int)j;
	return s;
}

static struct stages
find_stages(struct docker *d)
{
	struct stages out = { 0 };

	for (size_t i = 0; i < d->all.n; i++) {
		const struct instruction *in = &d->all.at[i];

		if (!strcmp(in->name, "FROM")) {
			struct stage s = read_from(d, in, &out, i);

			list_push(d->rd.a, &out, s);
		} else if (!strcmp(in->name, "ARG") && !out.n) {
			take_arg(d, in);
		}
		if (out.n)
			out.at[out.n - 1].end = i + 1;
	}
	return out;
}

/* --- the image --- */

/* "2.4.1-cuda12.1-cudnn9-devel": what pytorch/pytorch's tags say. */
static bool
take_pytorch(struct docker *d, const char *image, struct span at)
{
	struct init *n = d->rd.n;
	struct image_name name = facts_image_name(d->rd.f, d->rd.a, image);
	const char *cuda = name.tag ? strstr(name.tag, "cuda") : NULL;

	if (!name.repository || !strstr(name.repository, "pytorch/pytorch") || !cuda)
		return false;
	n->torch = (struct text){ arena_copy(d->rd.a, name.tag, strcspn(name.tag, "-")), at };
	n->cuda =
		(struct text){ arena_copy(d->rd.a, cuda + 4, strspn(cuda + 4, "0123456789.")), at };
	wish_changed(&d->rd, at,
		     "`%s` became torch %s on a plain image with CUDA %s: conda's Python and torch "
		     "in it are not pip's to move",
		     image, n->torch.s, n->cuda.s);
	return true;
}

/* A runtime image has no nvcc; its devel twin has. */
static void
take_image(struct docker *d, const struct stage *s)
{
	struct image_name name = facts_image_name(d->rd.f, d->rd.a, s->image);
	struct init *n = d->rd.n;
	const char *at;

	if (s->unknown || !*s->image || !strcmp(s->image, "scratch")) {
		diag_help(diag_at(d->rd.ds, W_INIT_NOT_READ, s->at,
				  "the base image `%s` is not known", s->image),
			  "name it with --base");
		return;
	}
	if (!name.tag || !strcmp(name.tag, "latest"))
		if (!name.digest)
			diag_help(
				diag_at(d->rd.ds, W_INIT_MOVES, s->at,
					"`%s` is another image tomorrow", s->image),
				"name a full tag; without one the recipe gets an image that fits");
	if (take_pytorch(d, s->image, s->at))
		return;
	if (!name.digest && (!name.tag || !strcmp(name.tag, "latest")))
		return;
	n->base = (struct text){ s->image, s->at };
	at = name.cuda && name.flavour && strcmp(name.flavour, "devel") != 0 ?
		     strstr(s->image, name.flavour) :
		     NULL;
	if (at && !name.digest) {
		n->base.s = arena_printf(d->rd.a, "%.*sdevel%s", (int)(at - s->image), s->image,
					 at + strlen(name.flavour));
		wish_changed(&d->rd, s->at, "`%s` became its devel image: `%s` has no nvcc",
			     s->image, name.flavour);
	}
}

/* --- ENV --- */

/* What the plan sets itself, or what belongs to the way the file was built. */
static bool
is_builds_own(const char *name)
{
	static const char *const names[] = {
		"PATH",
		"LD_LIBRARY_PATH",
		"CUDA_HOME",
		"CUDA_PATH",
		"MAX_JOBS",
		"DEBIAN_FRONTEND",
		"FORCE_CUDA",
		"TORCH_CUDA_ARCH_LIST",
		"TORCH_NVCC_FLAGS",
		"CONDA_DIR",
		"LIBRARY_PATH",
		"CPATH",
		"VIRTUAL_ENV",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return starts_with(name, "PIP_") || starts_with(name, "UV_") ||
	       starts_with(name, "NVIDIA_") || strstr(name, "_FORCE_BUILD") ||
	       strstr(name, "_SKIP_CUDA_BUILD") || strstr(name, "_KEEP_CUDA_BUILD");
}

/* "7.0 8.6+PTX" or with semicolons. */
static void
take_archs(struct docker *d, const char *value, struct span at)
{
	struct texts *gpus = &d->rd.n->gpus;

	for (const char *p = value; *p;) {
		size_t n = strcspn(p, " ;,"), digits = strspn(p, "0123456789.");
		const char *cc = arena_copy(d->rd.a, p, digits);

		if (digits && facts_cc(d->rd.f, cc))
			list_push(d->rd.a, gpus, (struct text){ cc, at });
		p += n + strspn(p + n, " ;,");
	}
	wish_changed(&d->rd, at, "TORCH_CUDA_ARCH_LIST became `gpus`");
}

static void
take_setting(struct docker *d, const char *name, const char *value, bool unknown, struct span at)
{
	set(d, name, value, at);
	if (!strcmp(name, "PIP_NO_CACHE_DIR"))
		d->cache_off = strcmp(value, "0") != 0;
	if (strstr(name, "_FORCE_BUILD") && strcmp(value, "TRUE") != 0)
		diag_help(
			diag_at(d->rd.ds, W_INIT_ORDER, at, "`%s=%s` forces nothing", name, value),
			"only TRUE counts; builds from the recipe set it");
	if (!strcmp(name, "TORCH_CUDA_ARCH_LIST") && !d->rd.n->gpus.n && !unknown)
		take_archs(d, value, at);
	else if (is_builds_own(name))
		wish_left(&d->rd, name, at, "builds from the recipe set it where it is needed");
	else if (unknown)
		wish_left(&d->rd, name, at, "its variables have no value here");
	else
		list_push(d->rd.a, &d->rd.n->env, (struct setting){ { name, at }, { value, at } });
}

/* "A=b C=d", or the old "A b". */
static void
take_env(struct docker *d, const struct instruction *in)
{
	struct docker_commands c = docker_commands(d->rd.a, in->text, &d->vars);
	size_t blank = strcspn(in->text, " \t"), eq = strcspn(in->text, "=");

	if (blank < eq && in->text[blank]) {
		const char *name = arena_copy(d->rd.a, in->text, blank);
		const char *rest = in->text + blank + strspn(in->text + blank, " \t");
		bool unknown = false;

		rest = docker_expand(d->rd.a, rest, &d->vars, &unknown);
		take_setting(d, name, rest, unknown, in->at);
		return;
	}
	for (size_t k = 0; k < c.n; k++)
		for (size_t i = 0; i < c.at[k].words.n; i++) {
			const struct docker_word *w = &c.at[k].words.at[i];
			const char *sign = strchr(w->s, '=');

			if (sign)
				take_setting(d, arena_copy(d->rd.a, w->s, (size_t)(sign - w->s)),
					     sign + 1, w->unknown,
					     instruction_span(in, w->from, w->n));
		}
}

/* --- the application --- */

/* A folder or file by name, that is no list of requirements. */
static void
take_copy(struct docker *d, const struct instruction *in)
{
	struct docker_commands c = docker_commands(d->rd.a, in->text, &d->vars);
	const struct docker_words *ws = c.n ? &c.at[0].words : NULL;
	size_t n = ws ? ws->n : 0, first = 0;

	while (first < n && starts_with(ws->at[first].s, "--"))
		first++;
	if (strstr(in->text, "--from=") || in->text[0] == '[')
		return;
	for (size_t i = first; i + 1 < n; i++) {
		const char *s = ws->at[i].s;
		bool all = !strcmp(s, ".") || !strcmp(s, "./") || strpbrk(s, "*?[");

		if (strstr(s, "requirements") || starts_with(s, "<<"))
			continue;
		list_push(d->rd.a, &d->events,
			  (struct event){ .kind = EVENT_COPY,
					  .in = in,
					  .at = instruction_span(in, ws->at[i].from, ws->at[i].n),
					  .name = s,
					  .all = all });
		d->rd.n->app_unsure = true;
	}
}

/* --- all of it --- */

static void
take_instruction(struct docker *d, const struct instruction *in)
{
	static const char *const quiet[] = { "ARG",       "LABEL",      "EXPOSE",     "VOLUME",
					     "USER",      "SHELL",      "STOPSIGNAL", "HEALTHCHECK",
					     "ONBUILD",   "MAINTAINER", "WORKDIR",    "CMD",
					     "ENTRYPOINT" };

	if (!strcmp(in->name, "RUN"))
		docker_run(d, in);
	else if (!strcmp(in->name, "ENV"))
		take_env(d, in);
	else if (!strcmp(in->name, "COPY") || !strcmp(in->name, "ADD"))
		take_copy(d, in);
	else if (!strcmp(in->name, "ARG"))
		take_arg(d, in);
	else if (!strcmp(in->name, "CMD") || !strcmp(in->name, "ENTRYPOINT"))
		wish_left(&d->rd, arena_printf(d->rd.a, "%s %s", in->name, in->text), in->at,
			  "what the image runs is app: {command: [...]}");
	for (size_t i = 0; i < sizeof(quiet) / sizeof(*quiet); i++)
		if (!strcmp(in->name, quiet[i]))
			return;
	if (strcmp(in->name, "RUN") != 0 && strcmp(in->name, "ENV") != 0 &&
	    strcmp(in->name, "COPY") != 0 && strcmp(in->name, "ADD") != 0)
		diag_at(d->rd.ds, W_INIT_NOT_READ, in->at, "`%s` is not an instruction", in->name);
}

/* The stages that it copies from, then what it stands on, then its own lines. */
static void
walk(struct docker *d, struct stages *all, size_t i, const struct stage **root)
{
	struct stage *s = &all->at[i];
	size_t before;

	if (s->seen)
		return;
	s->seen = true;
	for (size_t k = s->first; k < s->end; k++) {
		const char *from = strstr(d->all.at[k].text, "--from=");

		for (size_t j = 0; from && j < i; j++) {
			const char *name = all->at[j].name;
			size_t n = strlen(name);

			if (n && !strncasecmp(from + 7, name, n) &&
			    (from[7 + n] == ' ' || from[7 + n] == '\t'))
				walk(d, all, j, root);
		}
	}
	before = d->events.n;
	if (s->parent >= 0)
		walk(d, all, (size_t)s->parent, root);
	for (size_t k = s->first; k < s->end; k++)
		take_instruction(d, &d->all.at[k]);
	if (s->parent < 0 && (!*root || (d->events.n > before && (*root)->end > s->end)))
		*root = s;
}

bool
init_dockerfile(struct arena *a, struct diags *ds, const struct facts *f, const struct source *src,
		const struct names *read, struct init *n)
{
	struct docker d = { .rd = { a, ds, f, n }, .src = src, .read = read };
	const struct stage *root = NULL;
	unsigned before = ds->errors;
	struct stages stages;

	d.all = docker_read(a, src);
	stages = find_stages(&d);
	if (!stages.n) {
		diag_at(ds, E_INIT_INPUT, (struct span){ .src = src }, "a Dockerfile without FROM");
		return false;
	}
	walk(&d, &stages, stages.n - 1, &root);
	take_image(&d, root ? root : &stages.at[0]);
	docker_judge(&d);
	return ds->errors == before;
}

#include "render.h"

#include <stdint.h>
#include <string.h>

#include "base/fs.h"
#include "base/map.h"
#include "base/str.h"
#include "target.h"

static const struct kind {
	const char *name;
	bool by_default;
	const char *file; /* name of the file, and of its template if it has a shape */
	enum language language;
	unsigned mode;
	const char *next;
	const struct shape *shape;
	target_fill *fill;
	const char *template; /* NULL: the file's name */
} kinds[] = {
	{ "dockerfile", true, "Dockerfile", LANG_DOCKERFILE, 0644, NULL, dockerfile_shape,
	  dockerfile_fill, NULL },
	{ "modal", true, "modal_app.py", LANG_PYTHON, 0644, "modal deploy {path}", modal_shape,
	  modal_fill, NULL },
	{ "modal-image", false, "modal_image.py", LANG_PYTHON, 0644, NULL, modal_shape,
	  modal_image_fill, "modal_app.py" },
	{ "apptainer", false, "apptainer.def", LANG_SH, 0644, NULL, apptainer_shape, apptainer_fill,
	  NULL },
	{ "script", false, "setup.sh", LANG_SH, 0755, "{path}", script_shape, script_fill, NULL },
	{ "requirements", false, "requirements.txt", LANG_PIP, 0644,
	  "python -m pip install -r {path}", requirements_shape, requirements_fill, NULL },
	{ "constraints", false, "constraints.txt", LANG_PIP, 0644,
	  "python -m pip install -c {path} ...", requirements_shape, constraints_fill, NULL },
	/* These have no template: their JSON comes from the lock. */
	{ "cyclonedx", false, "cyclonedx.json", LANG_YAML, 0644, NULL, NULL, cyclonedx_fill, NULL },
	{ "spdx", false, "spdx.json", LANG_YAML, 0644, NULL, NULL, spdx_fill, NULL },
	/* Each target below has one file for all cells. */
	{ "bake", false, "docker-bake.hcl", LANG_HCL, 0644,
	  "OUT={out} docker buildx bake -f {path}", pipeline_shape, pipeline_fill, NULL },
	{ "github", false, "github.yml", LANG_YAML, 0644, NULL, pipeline_shape, pipeline_fill,
	  NULL },
	{ "gitlab", false, "gitlab-ci.yml", LANG_YAML, 0644, "cp {path} .gitlab-ci.yml",
	  pipeline_shape, pipeline_fill, NULL },
	{ "slurm", false, "slurm.sh", LANG_SH, 0755, "{path}", cluster_shape, cluster_fill, NULL },
	{ "kubernetes", false, "kubernetes.yaml", LANG_YAML, 0644, NULL, cluster_shape,
	  cluster_fill, NULL },
};

enum { NKINDS = sizeof(kinds) / sizeof(kinds[0]) };

struct names
render_targets(struct arena *a)
{
	struct names all = { 0 };

	for (size_t i = 0; i < NKINDS; i++)
		list_push(a, &all, kinds[i].name);
	list_push(a, &all, RENDER_ALL);
	return all;
}

static size_t
kind_named(const char *name)
{
	for (size_t i = 0; i < NKINDS; i++)
		if (!strcmp(kinds[i].name, name))
			return i;
	BUG("there is no target `%s`", name);
}

/* The state of a call of render(). */
struct run {
	struct arena *a;
	struct diags *ds;
	const struct render_input *in;
	struct rendereds *out;
	bool named;                   /* the user names the targets */
	struct map said;              /* diagnostics already reported */
	struct map helpers;           /* paths of helpers already written */
	struct names secrets;         /* names of the secrets of all cells, each once */
	struct matrix *shared[2];     /* files that cells share: in images, in environments */
	bool asks_modal, lacks_modal; /* a recipe has `modal`; its app is rejected */
	struct map reasons;           /* those in refused, by their errors */
	struct refusals LIST(struct refusal {
		const struct diag *d;
		struct names targets; /* that cannot be written because of it */
	} *) refused;
};

/* --- errors of a stack that is rendered despite them --- */

/* Returns a text that is the same for equal diagnostics. */
static const char *
key_of(const struct run *r, const struct diag *d)
{
	return arena_printf(r->ds->arena, "%u %u %u %s", d->code, d->at.line, d->at.col, d->text);
}

/* Reports equal diagnostics of several cells or targets once. */
static void
say(struct run *r, enum code code, const struct diag *d, const char *text)
{
	struct diag *copy;

	if (map_put(&r->said, key_of(r, d), (void *)(uintptr_t)d))
		return;
	copy = diag_at(r->ds, code, d->at, "%s", text);
	copy->notes = d->notes;
	copy->tail = copy->notes ? d->tail : &copy->notes;
}

/* Keeps an error of a target for the end. */
static void
refuse(struct run *r, const char *target, const struct diag *d)
{
	struct refusal *x = map_get(&r->reasons, key_of(r, d));

	if (!x) {
		x = arena_new_of(r->ds->arena, struct refusal);
		*x = (struct refusal){ .d = d };
		list_push(r->ds->arena, &r->refused, x);
		map_put(&r->reasons, key_of(r, d), x);
	}
	names_once(r->ds->arena, &x->targets, target);
}

/* Reports warnings at once, and keeps errors for the end. */
static void
sort_out(struct run *r, const struct diags *from, const char *target)
{
	for (const struct diag *d = from->head; d; d = d->next) {
		if (diag_severity(d) == SEV_ERROR)
			refuse(r, target, d);
		else
			say(r, d->code, d, d->text);
	}
}

/* Reports why targets were not written; others: the other targets are. */
static void
report(struct run *r, bool others)
{
	for (size_t i = 0; i < r->refused.n; i++) {
		const struct refusal *x = r->refused.at[i];
		const char *text = x->d->text;

		if (others)
			text = arena_printf(r->ds->arena, "%s: %s: %s",
					    r->named ? "not written" : "left out",
					    names_join(r->ds->arena, &x->targets, ", "), text);
		say(r, others && !r->named ? W_TARGET_LEFT_OUT : x->d->code, x->d, text);
	}
}

/* --- ignored errors --- */

/* Returns a line for a comment; a reader could take a `\` at its end for a continuation. */
static const char *
inert(struct arena *a, const char *text)
{
	struct buf b = BUF(a);
	const char *why;

	quote(&b, QUOTE_COMMENT, LANG_SH, text, &why);
	if (ends_with(buf_text(&b), "\\"))
		buf_putc(&b, '.');
	return buf_text(&b);
}

/* "r.yaml:3:8: error[SB0242]: ..., because ..." */
static struct names
forced_lines(struct arena *a, const struct diag *found)
{
	struct names lines = { 0 };

	for (const struct diag *d = found; d; d = d->next) {
		struct buf b = BUF(a);
		const char *sep = ", because ";

		if (!d->forced)
			continue;
		if (d->at.src && d->at.line)
			buf_printf(&b, "%s:%u:%u: ", fs_name(d->at.src->path), d->at.line,
				   d->at.col);
		buf_printf(&b, "error[%s]: %s", code_table[d->code].id, d->text);
		for (const struct note *n = d->notes; n; n = n->next)
			if (n->kind == NOTE_WHY) {
				buf_printf(&b, "%s%s", sep, n->text);
				sep = ", and ";
			}
		list_push(a, &lines, inert(a, buf_text(&b)));
	}
	return lines;
}

/* Inserts the lines at the top, after a line that must be the first one. */
static void
write_forced(struct arena *a, const struct names *lines, struct rendered *r)
{
	const char *script = starts_with(r->text, "#!") ? strchr(r->text, '\n') : NULL;
	size_t first = script ? (size_t)(script + 1 - r->text) : 0;
	struct buf b = BUF(a);

	for (size_t i = 0; i < r->instructions.n; i++)
		r->instructions.at[i].line += (unsigned)lines->n + 3;
	buf_add(&b, r->text, first);
	buf_puts(&b, "# Written despite errors (--force, or `ignore:` in the recipe).  The stack "
		     "may not\n"
		     "# build, or not run:\n");
	for (size_t i = 0; i < lines->n; i++)
		buf_printf(&b, "#   %s\n", lines->at[i]);
	buf_puts(&b, "#\n");
	buf_add(&b, r->text + first, r->size - first);
	r->text = buf_text(&b);
	r->size = b.n;
	r->forced = *lines;
}

/* --- writing --- */

/* Adds a copy in r->a of a file from a temporary arena. */
static struct rendered *
keep(struct run *r, const struct rendered *from)
{
	struct rendered copy = *from;

	if (!from->lasting)
		copy.text = arena_copy(r->a, from->text, from->size);
	copy.path = arena_strdup(r->a, from->path);
	copy.summary = from->summary ? arena_strdup(r->a, from->summary) : NULL;
	copy.next = from->next ? arena_strdup(r->a, from->next) : NULL;
	copy.instructions = (struct instructions){ 0 };
	for (size_t i = 0; i < from->instructions.n; i++) {
		struct instruction one = from->instructions.at[i];

		one.stage = arena_strdup(r->a, one.stage);
		one.step = one.step ? arena_strdup(r->a, one.step) : NULL;
		list_push(r->a, &copy.instructions, one);
	}
	list_push(r->a, r->out, copy);
	return &r->out->at[r->out->n - 1];
}

/* Writes the file of a cell, or of all cells; forced: the ignored errors. */
static bool
write_target(struct run *r, const struct plan *p, const struct names *forced, const struct kind *k)
{
	struct arena *scratch = arena_new();
	struct diags own;
	struct target t = { .a = scratch,
			    .ds = &own,
			    .language = k->language,
			    .plan = p,
			    .cells = r->in->recipes,
			    .secrets = &r->secrets,
			    .matrix = r->shared[k->language == LANG_SH],
			    .templates = r->in->templates,
			    .build = r->in->build,
			    .top = k->shape ? scope_new(scratch, k->shape) : NULL };
	struct template_marks marks = { 0 };
	struct buf text = BUF(scratch);
	struct rendered *file;
	bool good;

	own = DIAGS(own, r->ds->arena);
	t.file = (struct rendered){ .path = k->fill == modal_fill && r->in->app_file ?
						    r->in->app_file :
						    k->file,
				    .mode = k->mode,
				    .next = k->next,
				    .target = k->name };
	if (p && k->shape)
		target_lines(t.top, "generated", target_generated(scratch, p->stack->recipe));
	k->fill(&t);
	good = !own.errors &&
	       (!k->shape ||
		template_expand(&own,
				templates_text(t.templates, k->template ? k->template : k->file),
				k->language, t.top, &text, &marks));
	if (good && k->shape) {
		t.file.text = buf_text(&text);
		t.file.size = text.n;
		t.file.instructions = docker_instructions(&t, t.file.text, &marks);
	}
	if (good) {
		file = keep(r, &t.file);
		if (p && forced->n && k->shape)
			write_forced(r->a, forced, file);
		if (p && r->in->recipes->matrix)
			file->path = fs_join(r->a, p->stack->recipe->cell, file->path);
	}
	for (size_t i = 0; good && i < t.helpers.n; i++)
		if (!map_get(&r->helpers, t.helpers.at[i].path))
			map_put(&r->helpers, keep(r, &t.helpers.at[i])->path, r);
	arena_free(scratch);
	sort_out(r, &own, k->name);
	r->lacks_modal |= !good && k->fill == modal_fill;
	return good;
}

/* Makes code hosts collapse the helpers in a review. */
static const struct rendered folded = { .path = "stackbuild/.gitattributes",
					.text = "* linguist-generated\n",
					.size = sizeof("* linguist-generated\n") - 1,
					.mode = 0644,
					.helper = true };

static bool
for_all_cells(const struct kind *k)
{
	return k->shape == pipeline_shape || k->shape == cluster_shape;
}

/* Returns the error of the Dockerfile, without which a pipeline has nothing to build; or NULL. */
static const struct diag *
lacks_dockerfile(const struct run *r, const struct kind *k)
{
	for (size_t i = 0; k->shape == pipeline_shape && i < r->refused.n; i++)
		if (names_have(&r->refused.at[i]->targets, "dockerfile"))
			return r->refused.at[i]->d;
	return NULL;
}

/* Writes the files that all cells share. */
static bool
write_shared(struct run *r, const bool *wanted)
{
	bool good = true;

	for (size_t k = 0; k < NKINDS; k++) {
		const struct diag *why;

		if (!wanted[k] || !for_all_cells(&kinds[k]))
			continue;
		why = lacks_dockerfile(r, &kinds[k]);
		if (why)
			refuse(r, kinds[k].name, why);
		good = !why && write_target(r, NULL, NULL, &kinds[k]) && good;
	}
	return good;
}

/* Sets the targets to write. */
static void
choose_kinds(struct run *r, bool *wanted)
{
	const struct render_input *in = r->in;
	bool all = false;

	for (size_t i = 0; i < in->ntargets; i++)
		all |= !strcmp(in->targets[i], RENDER_ALL);
	r->named = in->targets && !all;
	for (size_t i = 0; i < NKINDS; i++)
		wanted[i] = all || (!in->targets && kinds[i].by_default);
	for (size_t i = 0; r->named && i < in->ntargets; i++)
		wanted[kind_named(in->targets[i])] = true;
	/* A build definition refers to the Dockerfiles next to it. */
	if (wanted[kind_named("bake")])
		wanted[kind_named("dockerfile")] = true;
}

bool
render(struct arena *a, struct diags *ds, const struct render_input *in, struct rendereds *out)
{
	struct run r = { .a = a,
			 .ds = ds,
			 .in = in,
			 .out = out,
			 .said = MAP(ds->arena),
			 .reasons = MAP(ds->arena),
			 .helpers = MAP(a) };
	bool wanted[NKINDS], planned = true, good = true, clusters = false, some;

	for (size_t k = 0; k < 2; k++)
		r.shared[k] = matrix_new(a, k);
	choose_kinds(&r, wanted);
	for (size_t i = 0; i < NKINDS; i++)
		clusters |= wanted[i] && kinds[i].shape == cluster_shape;
	for (size_t i = 0; i < in->recipes->n; i++) {
		struct arena *scratch = arena_new();
		struct diag **found = ds->tail;
		const struct plan *p = in->plan(in->ctx, scratch, ds, in->recipes->at[i]);
		struct names forced = forced_lines(a, *found), used;

		planned = planned && p;
		r.asks_modal |= in->recipes->at[i]->modal.at.line != 0;
		for (size_t k = 0; p && k < NKINDS; k++)
			if (wanted[k] && !for_all_cells(&kinds[k]))
				good = write_target(&r, p, &forced, &kinds[k]) && good;
		used = p ? plan_secrets(scratch, p) : (struct names){ 0 };
		for (size_t k = 0; k < used.n; k++)
			names_once(a, &r.secrets, arena_strdup(a, used.at[k]));
		for (size_t k = 0; p && k < 2 && clusters; k++)
			matrix_add(r.shared[k], p);
		arena_free(scratch);
	}
	if (r.helpers.n && !in->build)
		list_push(a, out, folded);
	good = planned && write_shared(&r, wanted) && good;
	some = planned && out->n && (in->force || !r.asks_modal || !r.lacks_modal);
	report(&r, some);
	return good || some;
}

void
render_judge(struct arena *a, struct diags *ds, const struct plan *p)
{
	struct run r = { .ds = ds, .said = MAP(ds->arena), .reasons = MAP(ds->arena) };
	struct diags own;
	struct target t = { .a = a, .ds = &own, .plan = p };

	if (!p->stack->recipe->modal.at.line)
		return;
	own = DIAGS(own, ds->arena);
	modal_judge(&t);
	sort_out(&r, &own, "modal");
	report(&r, false);
}

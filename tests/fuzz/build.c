/*
 * libFuzzer: the files that a build reads, and the secrets that it hides.  The first byte selects the
 * input: "r" a build.json; "i" a .dockerignore; "m" a secret, a NUL, and a text to mask.
 *
 * Properties: an accepted record is equal after it is written and read again; no pattern reaches files
 * outside app/; a masked text contains the secret in no form.
 */
#include "fuzz.h"

#include <math.h>

/* This target tests its static functions. */
#include "../../src/build/context.c"
#include "build/screen.h"

static bool
same(const char *x, const char *y)
{
	return x && y ? !strcmp(x, y) : x == y;
}

static void
check_record(struct arena *a, const char *text, size_t n)
{
	const char *path = scratch_file(a, "build.json", text, n);
	const char *copy = arena_printf(a, "%s.copy", path);
	struct build_record r = { 0 }, again = { 0 };
	struct diags ds;

	if (!build_record_read(a, path, &r))
		return;
	for (size_t i = 0; i < r.steps.n; i++) {
		const struct build_record_step *s = &r.steps.at[i];

		must(s->id != NULL, "a step has an id");
		must(isfinite(s->measured_s) && s->measured_s >= 0, "a time is one");
		must(build_record_measured(&r, s->key, s->own) >= 0, "a measured time is one");
	}
	if (r.steps.n > 100) /* a larger diagnostic or file adds nothing */
		return;
	ds = DIAGS(ds, a);
	scratch_file(a, "build.json.copy", NULL, 0);
	must(build_record_write(&ds, copy, &r), "a record can be written");
	must(build_record_read(a, copy, &again), "what was written is read");
	must(again.steps.n == r.steps.n && same(again.image, r.image) &&
		     same(again.image_id, r.image_id) && same(again.digest, r.digest) &&
		     same(again.recipe_digest, r.recipe_digest),
	     "as the same");
	for (size_t i = 0; i < r.steps.n; i++)
		must(!strcmp(again.steps.at[i].id, r.steps.at[i].id) &&
			     same(again.steps.at[i].key, r.steps.at[i].key),
		     "with the same steps");
}

/* Every line is a pattern below app/, or a "!" that the engine rejects. */
static void
check_ignore(struct arena *a, const char *text)
{
	const char *out = ignore_below(a, text);

	for (size_t n; *out; out += n + 1) {
		const char *line;

		n = strcspn(out, "\n");
		must(out[n] == '\n', "a line has its end");
		line = arena_copy(a, out, n);
		line += *line == '!';
		if (!*line)
			continue;
		must(starts_with(line, RENDER_APP "/") && line[strlen(RENDER_APP "/")],
		     "it is below app/");
		line = arena_printf(a, "%s/", line);
		must(!strstr(line, "/../") && !strstr(line, "/./") && !strstr(line, "//"),
		     "and stays there");
	}
}

/* As in a URL. */
static const char *
escaped(struct arena *a, const char *s)
{
	struct buf b = BUF(a);

	for (; *s; s++)
		buf_printf(&b, is_alnum(*s) || strchr("-._~", *s) ? "%c" : "%%%02X",
			   (unsigned char)*s);
	return buf_text(&b);
}

static void
check_mask(struct arena *a, const char *secret, const char *text)
{
	struct names secrets = { 0 };
	struct mask *m;

	list_push(a, &secrets, secret);
	m = mask_new(a, &secrets);
	text = arena_strdup(a, mask_text(m, text));
	for (size_t n; *secret; secret += n, secret += strspn(secret, "\r\n")) {
		const char *line = arena_copy(a, secret, n = strcspn(secret, "\r\n"));

		/* A secret with "*" could look like its mask. */
		if (n < SECRET_MIN || strchr(line, '*'))
			continue;
		must(!strstr(text, line), "the secret is hidden");
		must(!strstr(text, escaped(a, line)), "and its form in a URL");
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	const char *text = size ? arena_copy(a, (const char *)data + 1, size - 1) : "";
	const char *nul = text + strlen(text);

	if (size && *data == 'r')
		check_record(a, text, size - 1);
	else if (size && *data == 'i')
		check_ignore(a, text);
	else if (size && *data == 'm' && nul < text + size - 1)
		check_mask(a, text, nul + 1);
	arena_free(a);
	return 0;
}

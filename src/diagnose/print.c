#include "base/buf.h"
#include "base/json.h"
#include "diagnose.h"

static const char *const confidence_words[] = {
	[CONFIDENCE_POSSIBLE] = "possible",
	[CONFIDENCE_LIKELY] = "likely",
	[CONFIDENCE_SURE] = "sure",
};

enum { INDENT = 3, WIDTH = 100 };

static void
put_line(struct buf *out, const struct log_line *l, const char *name)
{
	buf_printf(out, "     %s:%llu: ", name, l->line);
	diag_inert(l->text, out);
	buf_putc(out, '\n');
}

static void
put_words(struct arena *a, struct buf *out, const char *label, const char *text)
{
	struct buf words = BUF(a);

	buf_puts(&words, label);
	diag_inert(text, &words);
	buf_puts(out, "   ");
	buf_wrap(out, buf_text(&words), INDENT, WIDTH);
	buf_putc(out, '\n');
}

/*
 * 1. torch is missing where setup.py runs (sure)
 *      build.log:412: ModuleNotFoundError: No module named 'torch'
 *    pip built the package in an isolated environment, which does not contain torch.
 *    fix: pip install --no-build-isolation PACKAGE
 *    source: knowledge/signatures.yaml:60 (...)
 */
static void
put_cause(struct arena *a, struct buf *out, const struct cause *c, size_t number, const char *name,
	  const char *recipe)
{
	buf_printf(out, "%zu. ", number);
	diag_inert(c->title, out);
	buf_printf(out, " (%s)\n", confidence_words[c->confidence]);
	for (size_t i = 0; i < c->lines.n; i++)
		put_line(out, &c->lines.at[i], name);
	put_words(a, out, "", c->why);
	put_words(a, out, "fix: ", c->fix);
	if (c->recipe_value)
		put_words(a, out, "recipe: ",
			  arena_printf(a, "%s `%s`%s`%s`%s",
				       c->recipe_of->recipe_set ? "set" : "add to",
				       c->recipe_of->recipe_key,
				       c->recipe_of->recipe_set ? " to " : ": ", c->recipe_value,
				       recipe ? "" : "; `--recipe FILE --fix` does this"));
	put_words(a, out, "source: ", c->of->source);
}

void
diagnose_text(struct arena *a, const struct causes *c, const char *name, const char *recipe,
	      struct buf *out)
{
	for (size_t i = 0; i < c->n; i++)
		put_cause(a, out, &c->at[i], i + 1, name, recipe);
	if (c->n)
		return;
	if (!c->worth.n) {
		buf_printf(out, "%s: no failure found in %llu line%s\n", name, c->lines,
			   c->lines == 1 ? "" : "s");
		return;
	}
	buf_printf(out, "%s: no known cause in %llu line%s; read these last lines first:\n", name,
		   c->lines, c->lines == 1 ? "" : "s");
	for (size_t i = 0; i < c->worth.n; i++)
		put_line(out, &c->worth.at[i], name);
}

void
diagnose_json(const struct causes *c, struct json *j)
{
	json_put(j, "{'causes': [");
	for (size_t i = 0; i < c->n; i++) {
		const struct cause *x = &c->at[i];

		json_put(j, "{'category': %s, 'title': %s, 'lines': [", x->of->category, x->title);
		for (size_t k = 0; k < x->lines.n; k++)
			json_text(j, NULL, x->lines.at[k].text);
		json_put(j, "], 'why': %s, 'fix': %s, 'confidence': %s, 'source': %s", x->why,
			 x->fix, confidence_words[x->confidence], x->of->source);
		json_put(j, ", 'signature': %s, 'line_numbers': [", x->of->name);
		for (size_t k = 0; k < x->lines.n; k++)
			json_int(j, NULL, (long long)x->lines.at[k].line);
		json_put(j, "]}");
	}
	json_put(j, "], 'worth_reading': [");
	for (size_t i = 0; i < c->worth.n; i++)
		json_text(j, NULL, c->worth.at[i].text);
	json_put(j, "]}");
}

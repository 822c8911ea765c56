#include "base/json.h"
#include "base/str.h"
#include "verify.h"

#include <string.h>

/* A proof as files: proof.json for machines (docs/proof.schema.json), junit.xml for CI. */

static void
check_json(struct json *j, const struct proof_check *c)
{
	/* The figures are JSON already, on one line: they stand as they came. */
	json_map(j, NULL);
	json_text(j, "id", c->id);
	json_text(j, "result", proof_result_words[c->result]);
	json_text(j, "why", c->why);
	json_text(j, "what", c->what);
	json_number(j, "seconds", c->seconds);
	json_raw(j, "figures", c->figures);
	json_end(j);
}

static void
text_map(struct json *j, const struct proof *p)
{
	json_text(j, "schema", "stackbuild/proof/1");
	json_text(j, "stackbuild", STACKBUILD_VERSION);
	json_text(j, "stack", p->stack);
	json_text(j, "image", p->image);
	json_text(j, "image_digest", p->image_digest);
	json_text(j, "venv", p->venv);
	json_text(j, "recipe", p->recipe);
	json_text(j, "recipe_digest", p->recipe_digest);
	json_nil(j, "lock_digest");
	json_text(j, "engine", p->engine);
	json_text(j, "python", p->python);
	json_text(j, "driver", p->driver);
	json_text(j, "driver_cuda", p->driver_cuda);
	json_text(j, "gpu", p->gpu);
	json_text(j, "no_gpu", p->no_gpu);
}

void
proof_json(const struct proof *p, struct buf *out)
{
	static const char *const levels[] = { "none", "import", "compile", "gpu" };
	struct json j = json_to(out);

	json_map(&j, NULL);
	text_map(&j, p);
	json_text(&j, "result", proof_result_words[p->result]);
	json_text(&j, "proven", levels[proof_proven(p)]);
	json_row(&j, "limits");
	json_number(&j, "import_timeout_s", p->import_timeout_s);
	json_number(&j, "timeout_s", p->timeout_s);
	json_end(&j);
	json_number(&j, "seconds", p->seconds);
	json_list(&j, "checks");
	for (size_t i = 0; i < p->checks.n; i++)
		check_json(&j, &p->checks.at[i]);
	json_end(&j);
	json_list(&j, "not_run");
	for (size_t i = 0; i < p->checks.n; i++) {
		if (p->checks.at[i].result != PROOF_NOT_RUN)
			continue;
		json_row(&j, NULL);
		json_text(&j, "id", p->checks.at[i].id);
		json_text(&j, "why", p->checks.at[i].why);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_putc(out, '\n');
}

/* --- JUnit, as Jenkins reads it --- */

/* Characters that XML 1.0 has; those that mean something are written otherwise. */
static void
xml(struct buf *out, const char *s)
{
	for (; s && *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '<')
			buf_puts(out, "&lt;");
		else if (c == '>')
			buf_puts(out, "&gt;");
		else if (c == '&')
			buf_puts(out, "&amp;");
		else if (c == '"')
			buf_puts(out, "&quot;");
		else
			buf_putc(out, c < 32 ? ' ' : (char)c);
	}
}

static void
testcase(struct buf *out, const struct proof *p, const struct proof_check *c)
{
	buf_puts(out, "    <testcase classname=\"stackbuild.verify.");
	xml(out, p->stack ? p->stack : "image");
	buf_puts(out, "\" name=\"");
	xml(out, c->id);
	buf_printf(out, "\" time=\"%.3f\">\n", c->seconds);
	if (c->result == PROOF_FAILED) {
		buf_puts(out, "      <failure type=\"failed\" message=\"");
		xml(out, c->why);
		buf_puts(out, "\">");
		xml(out, c->what);
		buf_puts(out, "</failure>\n");
	} else if (c->result == PROOF_NOT_RUN) {
		buf_puts(out, "      <skipped message=\"");
		xml(out, c->why);
		buf_puts(out, "\"/>\n");
	}
	buf_puts(out, "      <system-out>");
	xml(out, c->what);
	buf_putc(out, '\n');
	xml(out, c->figures);
	buf_puts(out, "</system-out>\n    </testcase>\n");
}

void
proof_junit(const struct proof *p, struct buf *out)
{
	size_t failures = 0, skipped = 0;

	for (size_t i = 0; i < p->checks.n; i++) {
		failures += p->checks.at[i].result == PROOF_FAILED;
		skipped += p->checks.at[i].result == PROOF_NOT_RUN;
	}
	buf_puts(out,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"");
	xml(out, p->stack ? p->stack : "image");
	buf_printf(
		out,
		"\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" time=\"%.3f\">\n",
		p->checks.n, failures, skipped, p->seconds);
	for (size_t i = 0; i < p->checks.n; i++)
		testcase(out, p, &p->checks.at[i]);
	buf_puts(out, "  </testsuite>\n</testsuites>\n");
}

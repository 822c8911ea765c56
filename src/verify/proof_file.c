#include <jansson.h>
#include <string.h>

#include "base/json.h"
#include "fetch/fetch.h"
#include "verify.h"

/*
 * Writes a proof as files: proof.json for programs (docs/proof.schema.json), of which `publish`
 * reads the results; junit.xml for CI.
 */

void
proof_json(const struct proof *p, struct buf *out)
{
	struct json j = json_to(out);

	json_put(&j,
		 "{'schema': 'stackbuild/proof/1', 'stackbuild': %s, 'stack': %s, 'image': %s, "
		 "'image_digest': %s, 'venv': %s, 'recipe': %s, 'recipe_digest': %s, "
		 "'lock_digest': %s, 'engine': %s, 'python': %s",
		 STACKBUILD_VERSION, p->stack, p->image, p->image_digest, p->venv, p->recipe,
		 p->recipe_digest, p->lock_digest, p->engine, p->python);
	json_put(&j,
		 "'driver': %s, 'driver_cuda': %s, 'gpu': %s, 'no_gpu': %s, 'result': %s, "
		 "'proven': %s, 'limits': ('import_timeout_s': %f, 'timeout_s': %f), "
		 "'seconds': %f, 'checks': [",
		 p->driver, p->driver_cuda, p->gpu, p->no_gpu, proof_result_words[p->result],
		 proof_level_words[proof_proven(p)], p->import_timeout_s, p->timeout_s, p->seconds);
	list_each (c, &p->checks) {
		json_put(&j, "{'id': %s, 'result': %s, 'why': %s, 'what': %s, 'seconds': %f", c->id,
			 proof_result_words[c->result], c->why, c->what, c->seconds);
		/* The figures are already JSON on one line. */
		json_raw(&j, "figures", c->figures);
		json_end(&j);
	}
	json_put(&j, "], 'not_run': [");
	for (size_t i = 0; i < p->checks.n; i++)
		if (p->checks.at[i].result == PROOF_NOT_RUN)
			json_put(&j, "('id': %s, 'why': %s)", p->checks.at[i].id,
				 p->checks.at[i].why);
	json_put(&j, "]}");
}

/* --- JUnit, for Jenkins --- */

/* Adds a text with only valid characters of XML 1.0, and escapes special ones. */
static void
escape(struct buf *out, const char *s)
{
	for (; s && *s; s++)
		switch (*s) {
		case '<': buf_puts(out, "&lt;"); break;
		case '>': buf_puts(out, "&gt;"); break;
		case '&': buf_puts(out, "&amp;"); break;
		case '"': buf_puts(out, "&quot;"); break;
		default: buf_putc(out, (unsigned char)*s < 32 || *s == 127 ? ' ' : *s);
		}
}

/* Adds a text with %s for texts that are escaped, %f for seconds and %z for a size_t. */
static void
xml(struct buf *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	for (; *fmt; fmt++) {
		if (*fmt != '%')
			buf_putc(out, *fmt);
		else if (*++fmt == 's')
			escape(out, va_arg(ap, const char *));
		else if (*fmt == 'f')
			buf_printf(out, "%.3f", va_arg(ap, double));
		else
			buf_printf(out, "%zu", va_arg(ap, size_t));
	}
	va_end(ap);
}

void
proof_junit(const struct proof *p, struct buf *out)
{
	const char *stack = p->stack ? p->stack : "image";
	size_t failures = 0, skipped = 0;

	for (size_t i = 0; i < p->checks.n; i++) {
		failures += p->checks.at[i].result == PROOF_FAILED;
		skipped += p->checks.at[i].result == PROOF_NOT_RUN;
	}
	xml(out,
	    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"%s\" "
	    "tests=\"%z\" failures=\"%z\" errors=\"0\" skipped=\"%z\" time=\"%f\">\n",
	    stack, p->checks.n, failures, skipped, p->seconds);
	list_each (c, &p->checks) {
		xml(out,
		    "    <testcase classname=\"stackbuild.verify.%s\" name=\"%s\" time=\"%f\">\n",
		    stack, c->id, c->seconds);
		if (c->result == PROOF_FAILED)
			xml(out, "      <failure type=\"failed\" message=\"%s\">%s</failure>\n",
			    c->why, c->what);
		else if (c->result == PROOF_NOT_RUN)
			xml(out, "      <skipped message=\"%s\"/>\n", c->why);
		xml(out, "      <system-out>%s\n%s</system-out>\n    </testcase>\n", c->what,
		    c->figures);
	}
	buf_puts(out, "  </testsuite>\n</testsuites>\n");
}

/* --- reading --- */

bool
proof_read(struct arena *a, const struct plan *p, const char *text, size_t n, struct proof *out)
{
	json_auto_t *root = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
	const json_t *c;
	size_t i;

	*out = (struct proof){ .image = fetch_json_text(a, root, "image"),
			       .image_digest = fetch_json_text(a, root, "image_digest"),
			       .recipe_digest = fetch_json_text(a, root, "recipe_digest"),
			       .lock_digest = fetch_json_text(a, root, "lock_digest"),
			       .python = fetch_json_text(a, root, "python"),
			       .driver = fetch_json_text(a, root, "driver"),
			       .gpu = fetch_json_text(a, root, "gpu"),
			       .no_gpu = fetch_json_text(a, root, "no_gpu"),
			       .seconds = json_number_value(json_object_get(root, "seconds")) };
	proof_result_parse(json_string_value(json_object_get(root, "result")), &out->result);
	json_array_foreach(json_object_get(root, "checks"), i, c)
	{
		struct proof_check check = { .id = fetch_json_text(a, c, "id"),
					     .why = fetch_json_text(a, c, "why"),
					     .what = fetch_json_text(a, c, "what"),
					     .seconds = json_number_value(
						     json_object_get(c, "seconds")) };

		proof_result_parse(json_string_value(json_object_get(c, "result")), &check.result);
		if (!check.id)
			return false;
		list_push(a, &out->checks, check);
	}
	if (!out->checks.n)
		return false;
	proof_complete(a, out, &(struct names){ 0 }, NULL);
	if (p) {
		const struct names expected = proof_expected(a, p);

		proof_complete(a, out, &expected, "the proof does not have this check");
	}
	return true;
}

#include "diag.h"

#include <string.h>

#include "buf.h"
#include "edit.h"
#include "json.h"
#include "map.h"
#include "str.h"

/* Diagnostics for machines. */

static const char *const kind_words[] = { "place", "why", "help", "source" };

void
diags_fold(struct diags *ds)
{
	struct map seen = MAP(ds->arena);
	struct diag **at = &ds->head;

	while (*at) {
		const struct diag *d = *at;
		const char *key =
			arena_printf(ds->arena, "%d %p %u %u %s", (int)d->code,
				     (const void *)d->at.src, d->at.line, d->at.col, d->text);

		if (!map_put(&seen, key, *at)) {
			at = &(*at)->next;
			continue;
		}
		if (diag_severity(d) == SEV_ERROR)
			ds->errors--;
		else if (diag_severity(d) == SEV_WARNING)
			ds->warnings--;
		*at = d->next;
	}
	ds->tail = at;
}

/* Returns how many diagnostics fit, by an upper estimate of their size as JSON. */
static size_t
how_many(const struct diags *ds, size_t *left_out)
{
	size_t bytes = 0, n = 0;

	*left_out = 0;
	for (const struct diag *d = ds->head; d; d = d->next) {
		bytes += 2000 + 2 * strlen(d->text);
		for (const struct note *k = d->notes; k; k = k->next) {
			bytes += 600 + 2 * strlen(k->text);
			for (const struct edit *e = k->edits; e; e = e->next)
				bytes += 600 + 2 * strlen(e->replacement);
		}
		if (!n || bytes <= DIAG_BYTES_MAX)
			n++;
		else
			++*left_out;
	}
	return n;
}

static void
json_place(struct json *j, const char *key, struct span at, uint32_t width_min)
{
	if (!at.src) {
		json_nil(j, key);
		return;
	}
	json_put(j, "%s: {'file': %s", key, at.src->path);
	if (at.line)
		json_put(j, "'line': %d, 'column': %d, 'width': %d", at.line, at.col,
			 at.width > width_min ? at.width : width_min);
	json_end(j);
}

static void
json_notes(struct json *j, const struct diag *d)
{
	json_list(j, "notes");
	for (const struct note *k = d->notes; k; k = k->next) {
		json_put(j, "{'kind': %s, 'text': %s", kind_words[k->kind], k->text);
		json_place(j, "place", k->at, 1);
		json_put(j, "'cost': %o}", k->cost);
	}
	json_end(j);
}

static void
json_fixes(struct json *j, const struct diag *d)
{
	json_list(j, "fixes");
	for (const struct note *k = d->notes; k; k = k->next) {
		if (!k->edits)
			continue;
		json_put(j, "{'text': %s, 'cost': %o, 'first': %b, 'edits': [", k->text, k->cost,
			 k == diag_first_help(d));
		for (const struct edit *e = k->edits; e; e = e->next) {
			json_map(j, NULL);
			json_place(j, "place", e->at, 0);
			json_put(j, "'replacement': %s}", e->replacement);
		}
		json_put(j, "]}");
	}
	json_end(j);
}

void
report_json(const struct diags *ds, struct buf *out)
{
	struct json j = json_to(out);
	size_t left_out, n = how_many(ds, &left_out);

	json_put(&j, "{'diagnostics': [");
	for (const struct diag *d = ds->head; n--; d = d->next) {
		json_put(&j, "{'code': %s, 'severity': %s, 'message': %s", code_table[d->code].id,
			 severity_words[diag_severity(d)], d->text);
		json_place(&j, "place", d->at, 1);
		json_notes(&j, d);
		json_fixes(&j, d);
		json_end(&j);
	}
	json_put(&j, "], 'errors': %d, 'warnings': %d, 'left_out': %d}", ds->errors, ds->warnings,
		 (int)left_out);
}

/*
 * Returns a path as a relative URI reference, with characters escaped that RFC 3986 does not allow.
 */
static const char *
uri_of(struct arena *a, const char *path)
{
	static const char plain[] = "-._~/!$&'()*+,;=@";
	struct buf b = BUF(a);

	for (; *path; path++) {
		if (is_alnum(*path) || strchr(plain, *path))
			buf_putc(&b, *path);
		else
			buf_printf(&b, "%%%02X", (unsigned char)*path);
	}
	return buf_text(&b);
}

static void
sarif_region(struct json *j, const char *key, struct span at, uint32_t width)
{
	json_put(j, "%s: {'startLine': %d, 'startColumn': %d, 'endColumn': %d}", key, at.line,
		 at.col, at.col + width);
}

static void
sarif_location(struct json *j, struct arena *a, struct span at, const char *message)
{
	json_put(j, "{'physicalLocation': {'artifactLocation': {'uri': %s}",
		 uri_of(a, at.src->path));
	if (at.line)
		sarif_region(j, "region", at, at.width ? at.width : 1);
	json_end(j);
	if (message)
		json_put(j, "'message': {'text': %s}", message);
	json_end(j);
}

static void
sarif_rules(struct json *j, const struct diags *ds)
{
	bool used[CODE_COUNT] = { false };

	for (const struct diag *d = ds->head; d; d = d->next)
		used[d->code] = true;
	json_list(j, "rules");
	for (size_t i = 0; i < CODE_COUNT; i++) {
		const struct code_row *row = &code_table[i];

		if (used[i])
			json_put(j,
				 "{'id': %s, 'name': %s, 'shortDescription': {'text': %s}, "
				 "'fullDescription': {'text': %s}, 'help': {'text': %s}}",
				 row->id, row->name, row->title, row->cause, row->fix);
	}
	json_end(j);
}

/*
 * Returns true if every edit is a replacement in a file: flags, and errors without a place, have
 * none.
 */
static bool
all_placed(const struct note *n)
{
	for (const struct edit *e = n->edits; e; e = e->next)
		if (!e->at.src || !e->at.line)
			return false;
	return n->edits;
}

/* Writes the edits of one fix, one artifactChange for each file. */
static void
sarif_changes(struct json *j, struct arena *a, const struct note *n)
{
	json_list(j, "artifactChanges");
	for (const struct edit *e = n->edits; e; e = e->next) {
		const struct edit *before = n->edits;

		while (before != e && before->at.src != e->at.src)
			before = before->next;
		if (before != e)
			continue;
		json_put(j, "{'artifactLocation': {'uri': %s}, 'replacements': [",
			 uri_of(a, e->at.src->path));
		for (const struct edit *k = e; k; k = k->next) {
			if (k->at.src != e->at.src)
				continue;
			json_map(j, NULL);
			if (edit_takes_line(k))
				json_put(j,
					 "'deletedRegion': {'startLine': %d, 'startColumn': 1, "
					 "'endLine': %d, 'endColumn': 1}",
					 k->at.line, k->at.line + 1);
			else
				sarif_region(j, "deletedRegion", k->at, k->at.width);
			json_put(j, "'insertedContent': {'text': %s}}", k->replacement);
		}
		json_put(j, "]}");
	}
	json_end(j);
}

/* Writes each help with edits as a fix: the deleted regions and the inserted text. */
static void
sarif_fixes(struct json *j, struct arena *a, const struct diag *d)
{
	bool any = false;

	for (const struct note *k = d->notes; k; k = k->next) {
		if (!all_placed(k))
			continue;
		json_put(j, any ? "{" : "'fixes': [{");
		any = true;
		json_put(j, "'description': {'text': %s}", k->text);
		sarif_changes(j, a, k);
		json_end(j);
	}
	if (any)
		json_end(j);
}

/* Returns the message with its reasons and its help: viewers show little else. */
static const char *
whole_message(struct arena *a, const struct diag *d)
{
	struct buf b = BUF(a);

	buf_puts(&b, d->text);
	for (const struct note *k = d->notes; k; k = k->next) {
		if (k->kind == NOTE_PLACE)
			continue;
		buf_printf(&b, "\n%s: %s", k->kind == NOTE_WHY ? "because" : kind_words[k->kind],
			   k->text);
		if (k->cost)
			buf_printf(&b, " (%s)", k->cost);
	}
	return buf_text(&b);
}

static void
sarif_result(struct json *j, struct arena *a, const struct diag *d)
{
	bool related = false;

	json_put(j, "{'ruleId': %s, 'level': %s, 'message': {'text': %s}", code_table[d->code].id,
		 severity_words[diag_severity(d)], whole_message(a, d));
	if (d->at.src) {
		json_list(j, "locations");
		sarif_location(j, a, d->at, NULL);
		json_end(j);
	}
	for (const struct note *k = d->notes; k; k = k->next) {
		if (k->kind != NOTE_PLACE || !k->at.src)
			continue;
		if (!related)
			json_list(j, "relatedLocations");
		related = true;
		sarif_location(j, a, k->at, k->text);
	}
	if (related)
		json_end(j);
	sarif_fixes(j, a, d);
	json_end(j);
}

void
report_sarif(const struct diags *ds, const char *version, struct buf *out)
{
	struct json j = json_to(out);
	size_t left_out, n = how_many(ds, &left_out);

	json_put(&j,
		 "{'$schema': 'https://json.schemastore.org/sarif-2.1.0.json', 'version': '2.1.0', "
		 "'runs': [{'tool': {'driver': {'name': 'stackbuild', 'version': %s",
		 version);
	sarif_rules(&j, ds);
	json_put(&j, "}}, 'columnKind': 'unicodeCodePoints', 'results': [");
	for (const struct diag *d = ds->head; n--; d = d->next)
		sarif_result(&j, ds->arena, d);
	json_put(&j, "]}]}");
}

static void
github_escaped(struct buf *out, const char *text, bool property)
{
	struct buf inert = BUF(out->a);

	diag_inert(text, &inert);
	for (const char *s = buf_text(&inert); *s; s++)
		if (*s == '%' || *s == '\n' || *s == '\r' || (property && (*s == ':' || *s == ',')))
			buf_printf(out, "%%%02X", (unsigned char)*s);
		else
			buf_putc(out, *s);
}

void
report_github(const struct diags *ds, struct buf *out)
{
	static const char *const commands[] = { "notice", "warning", "error" };
	size_t left_out, n = how_many(ds, &left_out);

	for (const struct diag *d = ds->head; n--; d = d->next) {
		const struct code_row *row = &code_table[d->code];

		buf_printf(out, "::%s ", commands[diag_severity(d)]);
		if (d->at.src) {
			buf_puts(out, "file=");
			github_escaped(out, d->at.src->path, true);
			if (d->at.line)
				buf_printf(out, ",line=%u,col=%u,endColumn=%u", d->at.line,
					   d->at.col, d->at.col + (d->at.width ? d->at.width : 1));
			buf_putc(out, ',');
		}
		buf_printf(out, "title=%s::", row->id);
		github_escaped(out, whole_message(ds->arena, d), false);
		buf_putc(out, '\n');
	}
	if (left_out)
		buf_printf(out, "::notice title=stackbuild::%zu more, left out\n", left_out);
}

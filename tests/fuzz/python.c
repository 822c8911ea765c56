/*
 * libFuzzer: the readers of src/python/, and the properties of accepted texts.
 * The first byte ("0" to "4") selects the input; a NUL ends one text and starts the next.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/specifier_text.h"
#include "base/buf.h"
#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct texts {
	const char *first, *second;
};

static void
must(bool holds)
{
	if (!holds)
		abort();
}

static int
sign(int n)
{
	return (n > 0) - (n < 0);
}

/* A printed text is read as the same value, and printed again unchanged. */
static const struct version *
check_version(struct arena *a, const char *s)
{
	const struct version *v = version_parse(a, s), *again;
	const char *text;

	if (!v)
		return NULL;
	text = version_text(a, v);
	again = version_parse(a, text);
	must(again && !version_cmp(v, again) && !version_cmp(again, v));
	must(!strcmp(text, version_text(a, again)));
	must(version_is_prerelease(v) == version_is_prerelease(again));
	must(version_release_count(v) == version_release_count(again));
	must(version_release(v, 0) == version_release(again, 0));
	must(starts_with(text, version_public(a, v)));
	must(!version_local(a, v) == !strchr(text, '+'));
	return v;
}

static void
check_order(struct arena *a, struct texts t)
{
	const struct version *v = check_version(a, t.first), *w = check_version(a, t.second);

	if (!v || !w)
		return;
	must(sign(version_cmp(v, w)) == -sign(version_cmp(w, v)));
	must(!version_cmp(v, v) && !version_cmp(w, w));
}

/* For every version: either >= or <, and either == or !=; a set accepts what all its parts accept. */
static void
check_comparisons(struct arena *a, const struct version *v, const struct version *w)
{
	const char *text = version_public(a, w);
	const struct specifiers *eq = specifiers_parse(a, arena_printf(a, "==%s", text));
	const struct specifiers *ne = specifiers_parse(a, arena_printf(a, "!=%s", text));
	const struct specifiers *le = specifiers_parse(a, arena_printf(a, "<=%s", text));
	const struct specifiers *ge = specifiers_parse(a, arena_printf(a, ">=%s", text));
	const struct specifiers *lt = specifiers_parse(a, arena_printf(a, "<%s", text));
	const struct specifiers *gt = specifiers_parse(a, arena_printf(a, ">%s", text));
	bool is_eq = specifiers_match(eq, v);

	must(is_eq != specifiers_match(ne, v));
	must(specifiers_match(le, v) || specifiers_match(ge, v));
	must(!specifiers_match(lt, v) || specifiers_match(le, v));
	must(!specifiers_match(gt, v) || specifiers_match(ge, v));
	must(!specifiers_match(lt, v) || !specifiers_match(ge, v));
	must(!is_eq || (specifiers_match(le, v) && specifiers_match(ge, v)));
	must(specifiers_pin(eq) && !version_cmp(specifiers_pin(eq), specifiers_pin(eq)));
}

static void
check_specifiers(struct arena *a, struct texts t)
{
	const struct specifiers *s = specifiers_parse(a, t.first), *again;
	const struct version *v = check_version(a, t.second);
	const struct version *pin = s ? specifiers_pin(s) : NULL;
	const char *text;

	if (pin && v)
		check_comparisons(a, v, pin);
	if (!s)
		return;
	text = specifiers_text(a, s);
	again = specifiers_parse(a, text);
	must(again && !strcmp(text, specifiers_text(a, again)));
	if (v) {
		must(specifiers_match(s, v) == specifiers_match(again, v));
		must(specifiers_match(s, v) == specifiers_match_text(a, s, version_text(a, v)));
	}
	must(specifiers_match_text(a, s, t.second) == specifiers_match_text(a, again, t.second));
}

/* A value with escapes is printed without them, and may not be readable again. */
static bool
prints_as_read(const char *marker)
{
	return !strpbrk(marker, "\\\r\n") && !strstr(marker, "\xc0\x80");
}

static void
check_marker_of(struct arena *a, const struct marker *m)
{
	struct marker_env env = marker_env_linux(a, "3.11", "x86_64", "");
	const char *text = marker_text(a, m);
	const struct marker *again;
	bool value, value_again;
	bool known = marker_eval(m, &env, &value);

	if (!text || !prints_as_read(text))
		return;
	again = marker_parse(a, text);
	must(again && !strcmp(marker_text(a, again), text));
	must(marker_eval(again, &env, &value_again) == known);
	must(!known || value == value_again);
}

static void
check_marker(struct arena *a, struct texts t)
{
	const struct marker *m = marker_parse(a, t.first);

	if (m)
		check_marker_of(a, m);
}

/* Returns the form of str(Requirement(...)). */
static const char *
printed(struct arena *a, const struct requirement *r, const char *marker)
{
	struct buf b = BUF(a);

	buf_puts(&b, r->name);
	for (size_t i = 0; i < r->extras.n; i++)
		buf_printf(&b, "%s%s", i ? "," : "[", r->extras.at[i]);
	buf_puts(&b, r->extras.n ? "]" : "");
	buf_puts(&b, specifiers_text(a, r->spec));
	if (r->url)
		buf_printf(&b, " @ %s%s", r->url, marker ? " " : "");
	if (marker)
		buf_printf(&b, "; %s", marker);
	return buf_text(&b);
}

static void
check_requirement(struct arena *a, struct texts t)
{
	const char *why = NULL, *marker, *text;
	size_t at = 0;
	const struct requirement *r = requirement_parse(a, t.first, &why, &at), *again;

	if (!r) {
		must(why && at <= strlen(t.first));
		return;
	}
	marker = r->marker ? marker_text(a, r->marker) : NULL;
	if (r->marker)
		check_marker_of(a, r->marker);
	if (r->marker && (!marker || !prints_as_read(marker)))
		return;
	text = printed(a, r, marker);
	again = requirement_parse(a, text, NULL, NULL);
	must(again && !strcmp(again->key, r->key) && again->extras.n == r->extras.n);
	must(!again->marker == !r->marker);
	must(!strcmp(printed(a, again, marker), text));
	must(!strcmp(name_normalize(a, r->key), r->key));
}

static void
check_wheel(struct arena *a, struct texts t)
{
	const struct wheel_file *w = wheel_file_parse(a, t.first);

	if (!w)
		return;
	must(w->tags.n > 0 && !strcmp(name_normalize(a, w->name), w->name));
	for (size_t i = 1; i < w->tags.n; i++)
		must(strcmp(w->tags.at[i - 1], w->tags.at[i]) != 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const checks[])(struct arena *, struct texts) = {
		check_order, check_specifiers, check_requirement, check_marker, check_wheel,
	};
	struct arena *a = arena_new();
	struct texts t = { "", "" };
	const char *end;

	if (size) {
		t.first = arena_copy(a, (const char *)data + 1, size - 1);
		end = t.first + strlen(t.first);
		if (end < t.first + size - 1)
			t.second = arena_strdup(a, end + 1);
		/* A separate block, so that a read past its end is detected. */
		t.first = arena_strdup(a, t.first);
		checks[(uint8_t)(data[0] - '0') % (sizeof(checks) / sizeof(checks[0]))](a, t);
	}
	arena_free(a);
	return 0;
}

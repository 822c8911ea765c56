#include "internal.h"

#include <stdlib.h>

#include "base/diag.h"

/*
 * Selects the causes among the matched signatures. Omits failures that a later step overcame, that
 * a successful end contradicts, or that follow from an earlier failure.
 */

enum { CAUSES_MAX = 64, WORTH_MAX = 6, FAMILIES_MAX = 3 };

/* A signature that may be a cause. */
struct candidate {
	const struct signature *of;
	const struct seen *seen;
	enum confidence confidence;
	bool inside; /* a line of the block that ended the program shows it */
	bool warned; /* only a warning before that block shows it */
};

struct candidates {
	struct candidate at[CAUSES_MAX];
	size_t n;
};

static const struct seen *
seen_of(const struct diagnosis *d, const char *name)
{
	for (size_t i = 0; i < d->n; i++)
		if (!strcmp(d->signatures[i].name, name))
			return d->seen[i].count ? &d->seen[i] : NULL;
	return NULL;
}

/* Returns the offset after which nothing failed; 0: the log does not end with success. */
static unsigned long long
success_at(const struct diagnosis *d)
{
	const struct seen *good = seen_of(d, "success"), *bad = seen_of(d, "failure");

	return good && (!bad || bad->last_at < good->last_at) ? good->last_at : 0;
}

static bool
may_be(const struct diagnosis *d, const struct signature *s, const struct seen *seen,
       unsigned long long success)
{
	if (!s->category || !seen->count || (!s->in_success && seen->last_at < success))
		return false;
	for (size_t i = 0; i < s->also.n; i++)
		if (!seen_of(d, s->also.at[i]))
			return false;
	for (size_t i = 0; i < s->unless.n; i++)
		if (seen_of(d, s->unless.at[i]))
			return false;
	return true;
}

/* Returns true for a warning before the end of a program that failed for another reason. */
static bool
is_harmless(const struct candidates *all, const struct candidate *c)
{
	bool same = false;

	for (size_t i = 0; i < all->n; i++)
		same |= all->at[i].inside && !strcmp(all->at[i].of->category, c->of->category);
	return c->warned && !same;
}

/* Returns true if an earlier failure causes this one, or if it is only a general message. */
static bool
follows(const struct candidates *all, const struct candidate *c)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct candidate *other = &all->at[i];

		if (other == c || !strcmp(other->of->category, c->of->category) ||
		    is_harmless(all, other))
			continue;
		if (c->confidence == CONFIDENCE_POSSIBLE && other->confidence > CONFIDENCE_POSSIBLE)
			return true;
		/* A general message is dropped in favour of c. */
		if (c->confidence > other->confidence && other->confidence == CONFIDENCE_POSSIBLE)
			continue;
		if (other->seen->first_at <= c->seen->first_at &&
		    names_have(&c->of->after, other->of->category))
			return true;
	}
	return false;
}

/* Sets what a match is worth: a cause is sure only if the block at `fatal` shows it. */
static void
weigh(struct candidate *c, unsigned long long fatal)
{
	c->inside = c->seen->last_at >= fatal;
	c->confidence = c->of->confidence;
	if (c->inside && !c->seen->failed && !c->of->in_success && c->confidence == CONFIDENCE_SURE)
		c->confidence = CONFIDENCE_LIKELY;
	c->warned = !c->inside && !c->seen->failed;
	if (!c->inside && c->of->in_success)
		c->confidence = CONFIDENCE_POSSIBLE;
	else if (!c->inside && c->confidence == CONFIDENCE_SURE)
		c->confidence = CONFIDENCE_LIKELY;
}

/* Orders causes by confidence, then by their place: at the end of the program, then in the log. */
static int
by_rank(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	if (a->confidence != b->confidence)
		return a->confidence > b->confidence ? -1 : 1;
	if (a->inside != b->inside)
		return a->inside ? -1 : 1;
	if (a->seen->first_at != b->seen->first_at)
		return a->seen->first_at < b->seen->first_at ? -1 : 1;
	return a->of < b->of ? -1 : a->of > b->of;
}

static const char *
group_of(const struct seen *s, size_t group)
{
	return s->texts ? s->texts + (LINES_MAX + group) * (LOG_LINE_MAX + 1) : "";
}

/*
 * Returns a sentence of the signature, with the log's text for {1}, and with that of the first group
 * of a mark for {NAME}.
 */
static const char *
filled(const struct diagnosis *d, const char *text, const struct seen *s)
{
	struct buf b = BUF(d->a);

	for (const char *p = text; p && *p; p++) {
		const char *end = *p == '{' ? strchr(p, '}') : NULL;
		const char *name = end ? arena_copy(d->a, p + 1, (size_t)(end - p - 1)) : "";
		const struct seen *mark = end ? seen_of(d, name) : NULL;

		if (*name > '0' && *name < '0' + PATTERN_GROUPS && !name[1])
			buf_puts(&b, group_of(s, (size_t)(*name - '0')));
		else if (mark)
			buf_puts(&b, group_of(mark, 1));
		else
			buf_putc(&b, *p), end = p;
		p = end;
	}
	return text ? buf_text(&b) : NULL;
}

/* The same for the screen: the log's text may have secrets. */
static const char *
shown(const struct diagnosis *d, const char *text, const struct seen *s)
{
	const char *all = filled(d, text, s);

	return all ? mask_credentials(d->a, all) : NULL;
}

/* Adds the fix: that of the extension that the log names, or the signature's. */
static void
add_fix(const struct diagnosis *d, const struct candidate *c, struct cause *cause)
{
	const char *groups[PATTERN_GROUPS], *known;

	for (size_t i = 0; i < PATTERN_GROUPS; i++)
		groups[i] = group_of(c->seen, i);
	known = known_fix(d->a, d->f, c->of, groups);
	cause->fix = shown(d, known ? known : c->of->fix, c->seen);
	cause->extension = known_rebuild(d->a, d->f, c->of, groups, &cause->torch);
}

static struct cause *
cause_of_category(struct causes *all, const char *category)
{
	for (size_t i = 0; i < all->n; i++)
		if (!strcmp(all->at[i].of->category, category))
			return &all->at[i];
	return NULL;
}

static bool
has_line(const struct cause *c, unsigned long long line)
{
	for (size_t i = 0; i < c->lines.n; i++)
		if (c->lines.at[i].line == line)
			return true;
	return false;
}

/* Adds a cause; two signatures of one category are one cause. */
static void
add_cause(const struct diagnosis *d, struct causes *all, const struct candidate *c)
{
	struct arena *a = d->a;
	struct cause *cause = cause_of_category(all, c->of->category);
	const struct signature *s = c->of;
	const char *value = s->recipe_set ? s->recipe_set : s->recipe_add;

	if (!cause) {
		list_push(a, all,
			  (struct cause){ .of = s,
					  .confidence = c->confidence,
					  .title = shown(d, s->title, c->seen),
					  .why = shown(d, s->why, c->seen) });
		cause = &all->at[all->n - 1];
		add_fix(d, c, cause);
	}
	if (value && !cause->recipe_of) {
		cause->recipe_of = s;
		cause->recipe_value = filled(d, value, c->seen);
	}
	for (size_t i = 0; i < c->seen->count && cause->lines.n < LINES_MAX; i++)
		if (!has_line(cause, c->seen->lines[i].line))
			list_push(a, &cause->lines,
				  (struct log_line){
					  mask_credentials(a,
							   arena_strdup(a, c->seen->lines[i].text)),
					  c->seen->lines[i].line });
}

/* Returns true for a line with the mark `calm`, and for a line below one that ends in a colon. */
static bool
is_calm(struct diagnosis *d, struct str s, unsigned long long *steps)
{
	size_t at = (size_t)(s.p - d->p);
	struct str before = { s.p, 0 };

	if (at)
		before = line_round(d->p, at - 1, at - 1, LINE_BYTES, 0);
	return d->calm.pattern && (find_within(&d->calm, s, NULL, steps) ||
				   (before.n && before.p[before.n - 1] == ':' &&
				    find_within(&d->calm, before, NULL, steps)));
}

/* Marks the first family that the line matches; later calls have earlier lines. */
static void
mark_family(struct diagnosis *d, struct str s, unsigned long long line, unsigned long long *steps)
{
	if (is_calm(d, s, steps))
		return;
	for (size_t i = 0; i < d->n; i++) {
		struct seen *seen = &d->seen[i];

		if (d->signatures[i].literals.n)
			continue;
		if (!seen->matcher.pattern)
			seen->matcher.pattern = pattern_compile_counted(d->signatures[i].pattern);
		if (find_within(&seen->matcher, s, NULL, steps)) {
			seen->count = 1;
			seen->first_at = seen->last_at = d->offset + (size_t)(s.p - d->p);
			seen->lines[0] = (struct log_line){ NULL, line };
			return;
		}
	}
}

struct pattern *
errors_pattern(void)
{
	static const char errors[] =
		"(?i)\\b(?:\\w*errors?|fatal|fail(?:ed|ure)?|cannot|could not|unable|denied|"
		"not (?:found|available|installed|supported|compatible|set)|no such|no "
		"space|undefined|"
		"missing|(?-i:E:)|does(?: not|n.t)|"
		"unsupported|incompatible|mismatch|invalid|insufficient|conflict\\w*|expired|"
		"refused|"
		"killed|\\w*exception|abort(?:ed)?|timed out|hangs?|stuck)(?!\\w|-|=|s?\\.[a-z])";

	return pattern_compile_counted(errors);
}

static const char *
copy_line(const struct diagnosis *d, struct str s)
{
	return mask_credentials(d->a,
				arena_copy(d->a, s.p, s.n < LOG_LINE_MAX ? s.n : LOG_LINE_MAX));
}

/*
 * Adds the last lines of the log that look like errors, and marks the families of all such lines
 * at its end.
 */
static void
add_worth(struct diagnosis *d, struct causes *all)
{
	struct matcher m = { .pattern = errors_pattern() };
	unsigned long long line = d->line, steps = JUDGE_STEPS;
	size_t kept = 0;

	for (size_t end = d->size; end && m.pattern;) {
		struct str s = line_round(d->p, end, end, LINE_BYTES, 0);
		size_t begin = (size_t)(s.p - d->p);

		if (find_within(&m, s, NULL, &steps) &&
		    !(d->aside.pattern && find_within(&d->aside, s, NULL, &steps))) {
			if (kept++ < WORTH_MAX)
				list_push(d->a, &all->worth,
					  (struct log_line){ copy_line(d, s), line });
			mark_family(d, s, line, &steps);
		}
		end = begin ? begin - 1 : 0;
		/* A carriage return ends the text of a line, but not the line. */
		line -= d->p[end] == '\n';
	}
	pattern_free(m.pattern);
	for (size_t i = 0; i < all->worth.n / 2; i++) {
		struct log_line other = all->worth.at[all->worth.n - 1 - i];

		all->worth.at[all->worth.n - 1 - i] = all->worth.at[i];
		all->worth.at[i] = other;
	}
}

static void
add_families(const struct diagnosis *d, struct causes *all)
{
	struct candidates found = { .n = 0 };

	for (size_t i = 0; i < d->n && found.n < CAUSES_MAX; i++) {
		struct seen *seen = &d->seen[i];
		size_t at = (size_t)(seen->first_at - d->offset);

		if (d->signatures[i].literals.n || !seen->count)
			continue;
		seen->lines[0].text = copy_line(d, line_round(d->p, d->size, at, LINE_BYTES, 0));
		found.at[found.n++] = (struct candidate){ &d->signatures[i], seen,
							  CONFIDENCE_POSSIBLE, true, false };
	}
	qsort(found.at, found.n, sizeof(*found.at), by_rank);
	for (size_t i = 0; i < found.n && i < FAMILIES_MAX; i++)
		add_cause(d, all, &found.at[i]);
}

struct causes *
judge(struct diagnosis *d)
{
	struct causes *all = arena_new_of(d->a, struct causes);
	struct candidates found = { .n = 0 };
	unsigned long long success = success_at(d), fatal = 0;
	bool searched = success;

	for (size_t i = 0; i < d->n && found.n < CAUSES_MAX; i++) {
		struct candidate c = { .of = &d->signatures[i], .seen = &d->seen[i] };

		if (!may_be(d, c.of, c.seen, success))
			continue;
		if (!searched)
			fatal = fatal_block(d);
		searched = true;
		weigh(&c, fatal);
		found.at[found.n++] = c;
	}
	qsort(found.at, found.n, sizeof(*found.at), by_rank);
	for (size_t i = 0; i < found.n; i++)
		if (!is_harmless(&found, &found.at[i]) && !follows(&found, &found.at[i]))
			add_cause(d, all, &found.at[i]);
	all->lines = d->line - (!d->size || d->p[d->size - 1] == '\n');
	if (!all->n && !success) {
		add_worth(d, all);
		add_families(d, all);
		if (all->n)
			all->worth.n = 0;
	}
	return all;
}

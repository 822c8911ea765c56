#include "internal.h"

#include "base/map.h"

/* A searched text: a piece of the log, or the text of a progress record. */
struct view {
	struct diagnosis *d;
	const char *p;
	size_t n;
	unsigned long long offset; /* offset of p[0] in the log */
	bool record;               /* the whole text has that offset */
};

static struct indexes *
users_of(struct diagnosis *d, struct map *at, struct names *literals, const char *text)
{
	uintptr_t i = (uintptr_t)map_get(at, text);

	if (!i) {
		list_push(d->a, literals, text);
		i = literals->n;
		map_put(at, text, (void *)i);
	}
	return &d->users[i - 1];
}

static void
add_undoes(struct diagnosis *d, size_t of, const char *mark)
{
	for (size_t i = 0; i < d->n; i++)
		if (!strcmp(d->signatures[i].name, mark))
			list_push(d->a, &d->seen[i].undoes, (uint16_t)of);
}

/* Compiles the marks that are compared with single lines. */
static void
add_matchers(struct diagnosis *d)
{
	const struct {
		const char *mark;
		struct matcher *matcher;
	} all[] = { { "calm", &d->calm },
		    { "aside", &d->aside },
		    { "exception", &d->exception },
		    { "wrapper", &d->wrapper },
		    { "warning", &d->warning } };

	for (size_t i = 0; i < d->n; i++)
		for (size_t k = 0; k < sizeof(all) / sizeof(*all); k++)
			if (!d->signatures[i].category &&
			    !strcmp(d->signatures[i].name, all[k].mark))
				all[k].matcher->pattern =
					pattern_compile_counted(d->signatures[i].pattern);
}

struct diagnosis *
diagnose_new(struct arena *a, const struct facts *f)
{
	struct diagnosis *d = arena_new_of(a, struct diagnosis);
	struct map at = MAP(a);
	struct names literals = { 0 };
	size_t n = 1;

	*d = (struct diagnosis){ .a = a, .f = f, .line = 1 };
	d->signatures = facts_signatures(f, a, &d->n);
	for (size_t i = 0; i < d->n; i++)
		n += d->signatures[i].literals.n;
	d->users = arena_array_of(a, struct indexes, n);
	d->seen = arena_array_of(a, struct seen, d->n);
	for (size_t i = 0; i < d->n; i++) {
		const struct signature *s = &d->signatures[i];

		for (size_t k = 0; k < s->literals.n; k++)
			list_push(a, users_of(d, &at, &literals, s->literals.at[k]), (uint16_t)i);
		for (size_t k = 0; k < s->undone_by.n; k++)
			add_undoes(d, i, s->undone_by.at[k]);
	}
	add_matchers(d);
	users_of(d, &at, &literals, "\"data\":\"");
	d->literals = literals_new(a, &literals);
	d->p = arena_array_of(a, char, BEFORE + CHUNK + AHEAD);
	d->plain = arena_array_of(a, char, PLAIN_BYTES);
	d->decoded = arena_array_of(a, char, AHEAD + BEFORE);
	return d;
}

struct str
line_round(const char *p, size_t n, size_t at, size_t bytes, unsigned more)
{
	size_t begin = at, end = at;

	while (begin && at - begin < bytes && p[begin - 1] != '\n' &&
	       (p[begin - 1] != '\r' || p[begin] == '\n'))
		begin--;
	do {
		const char *stop = memchr(p + end, '\n', n - end < bytes ? n - end : bytes);

		end = stop ? (size_t)(stop - p) : n - end < bytes ? n : end + bytes;
		if (!stop || !more)
			break;
		end++;
	} while (more--);
	return (struct str){ p + begin, end - begin };
}

static unsigned long long
line_number(struct diagnosis *d, size_t at)
{
	for (; d->counted < at; d->counted++) {
		const char *stop = memchr(d->p + d->counted, '\n', at - d->counted);

		if (!stop) {
			d->counted = at;
			break;
		}
		d->counted = (size_t)(stop - d->p);
		d->line++;
	}
	return d->line;
}

static bool
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Copies a text of the log: its first bytes, without surrounding blanks. */
static const char *
keep(struct seen *s, size_t slot, struct str t)
{
	char *to;

	while (t.n && is_blank(*t.p)) {
		t.p++;
		t.n--;
	}
	while (t.n && is_blank(t.p[t.n - 1]))
		t.n--;
	if (t.n > LOG_LINE_MAX)
		t.n = LOG_LINE_MAX;
	to = s->texts + slot * (LOG_LINE_MAX + 1);
	for (size_t i = 0; i < t.n; i++)
		to[i] = (char)(t.p[i] ? t.p[i] : ' ');
	to[t.n] = '\0';
	return to;
}

/* Records a match; at: the start of the line. */
static void
record_match(struct view *v, struct seen *s, size_t at, const struct str *groups, struct str line)
{
	struct diagnosis *d = v->d;
	unsigned long long place = v->offset + (v->record ? 0 : at);
	const char *text;
	bool again = false;

	for (size_t i = 0; i < s->undoes.n; i++)
		d->seen[s->undoes.at[i]].count = 0;
	s->last_at = place;
	if (!s->texts)
		s->texts = arena_array_of(d->a, char,
					  (LINES_MAX + PATTERN_GROUPS) * (LOG_LINE_MAX + 1));
	if (!s->count) {
		s->first_at = place;
		for (size_t i = 0; i < PATTERN_GROUPS; i++)
			keep(s, LINES_MAX + i, groups[i]);
	}
	if (s->count < LINES_MAX) {
		text = keep(s, s->count, line);
		for (size_t i = 0; i < s->count; i++)
			again |= !strcmp(s->lines[i].text, text);
		if (!again)
			s->lines[s->count++] =
				(struct log_line){ text, v->record ? d->line : line_number(d, at) };
	}
}

/*
 * Returns a text for patterns: without CR at line ends, and with plain quotes, because gcc and wget
 * may quote with U+2018 and U+2019.
 */
static struct str
plain(struct diagnosis *d, struct str s)
{
	size_t n = 0;

	if (s.n > PLAIN_BYTES || (!memchr(s.p, '\xe2', s.n) && !memchr(s.p, '\r', s.n)))
		return s;
	for (size_t i = 0; i < s.n; i++) {
		bool quote = s.n - i > 2 && !memcmp(s.p + i, "\xe2\x80", 2) &&
			     (s.p[i + 2] == '\x98' || s.p[i + 2] == '\x99');

		if (s.p[i] == '\r' && (i + 1 == s.n || s.p[i + 1] == '\n'))
			continue;
		d->plain[n++] = quote ? '\'' : s.p[i];
		i += quote ? 2 : 0;
	}
	return (struct str){ d->plain, n };
}

bool
find_within(struct matcher *m, struct str s, struct str *groups, unsigned long long *max)
{
	unsigned long long steps = *max < SEARCH_STEPS ? *max : SEARCH_STEPS;
	unsigned long long least = s.n / SCANNED + 1;
	bool found;

	if (m->bytes < HASTE_AFTER && m->bytes + s.n >= HASTE_AFTER)
		pattern_hasten(m->pattern);
	m->bytes += s.n;
	found = steps > least && pattern_find_within(m->pattern, s, groups, &steps);

	steps = least + (steps > least ? steps : 0);
	*max -= steps < *max ? steps : *max;
	return found;
}

/* Notes whether a line that shows the cause is more than a warning. */
static void
note_warning(struct diagnosis *d, struct seen *s, const char *p, struct str line)
{
	unsigned long long steps = SEARCH_STEPS;
	size_t at = (size_t)(line.p - p);
	struct str head = line_round(p, at ? at - 1 : 0, at ? at - 1 : 0, LINE_BYTES, 0);

	if (s->failed || s->checked++ >= WARNINGS_MAX)
		return;
	while (head.n && is_blank(head.p[head.n - 1]))
		head.n--;
	/* `UserWarning:` may have its text in the next line. */
	s->failed = !d->warning.pattern || (!find_within(&d->warning, line, NULL, &steps) &&
					    !(head.n && head.p[head.n - 1] == ':' &&
					      find_within(&d->warning, head, NULL, &steps)));
}

/* Returns true if the log may cost more steps, and the signature in this MiB. */
static bool
may_search(const struct diagnosis *d, const struct seen *s)
{
	return s->steps < SIGNATURE_STEPS && d->steps < MIB_STEPS && d->all_steps < LOG_STEPS;
}

/* Searches for a signature; counts the steps for it, for this MiB and for the log. */
static bool
search(struct diagnosis *d, struct seen *s, struct matcher *m, struct str text, struct str *groups)
{
	unsigned long long max = SIGNATURE_STEPS - s->steps, before;
	bool found;

	max = max < MIB_STEPS - d->steps ? max : MIB_STEPS - d->steps;
	max = max < LOG_STEPS - d->all_steps ? max : LOG_STEPS - d->all_steps;
	before = max;
	found = find_within(m, text, groups, &max);
	s->steps += before - max;
	d->steps += before - max;
	d->all_steps += before - max;
	return found;
}

static void
try_signature(struct view *v, size_t i, size_t at)
{
	struct diagnosis *d = v->d;
	const struct signature *of = &d->signatures[i];
	struct seen *s = &d->seen[i];
	struct str groups[PATTERN_GROUPS] = { 0 };
	struct str text, line;

	if (v->offset + at < (v->record && s->record != v->offset ? 0 : s->tried_to) ||
	    (of->pattern && !may_search(d, s)))
		return;
	line = text = line_round(v->p, v->n, at, LINE_BYTES, of->lines);
	if (!of->lines) {
		s->tried_to = v->offset + (size_t)(text.p - v->p) + text.n;
		s->record = v->record ? v->offset : ~0ULL;
	}
	if (of->pattern && !s->matcher.pattern)
		s->matcher.pattern = pattern_compile_counted(of->pattern);
	if (of->pattern && !search(d, s, &s->matcher, plain(d, text), groups))
		return;
	line.n = (size_t)(v->p + at - line.p);
	line.n += line_round(v->p + at, v->n - at, 0, LINE_BYTES, 0).n;
	if (of->category && !of->in_success && d->aside.pattern &&
	    search(d, s, &d->aside, line, NULL))
		return;
	if (of->category && !of->in_code && is_code(v->p, line))
		return;
	note_warning(d, s, v->p, line);
	record_match(v, s, (size_t)(line.p - v->p), groups, line);
}

static void on_literal(void *ctx, size_t literal, size_t at);

/* Searches a line of JSON after decoding its texts. */
static void
search_record(struct view *v, struct str line)
{
	struct diagnosis *d = v->d;
	struct view inner = { d, d->decoded, 0, v->offset + (size_t)(line.p - v->p), true };

	d->record_to = inner.offset + line.n;
	line_number(d, (size_t)(line.p - v->p));
	inner.n = record_decode(line, d->decoded);
	literals_find(d->literals, inner.p, inner.n, 0, inner.n, on_literal, &inner);
}

static void
on_literal(void *ctx, size_t literal, size_t at)
{
	struct view *v = ctx;
	const struct indexes *users = &v->d->users[literal];

	if (!v->record && v->offset + at < v->d->record_to)
		return; /* its text was searched */
	if (!v->record && v->offset + at >= v->d->text_to) {
		struct str line = line_round(v->p, v->n, at, AHEAD - 1, 0);

		if (line.n > 2 && line.p[0] == '{' && line.p[1] == '"') {
			search_record(v, line);
			return;
		}
		v->d->text_to = v->offset + (size_t)(line.p - v->p) + line.n;
	}
	for (size_t i = 0; i < users->n; i++)
		try_signature(v, users->at[i], at);
}

/* Searches up to p[to], and drops text far before it. */
static void
search_to(struct diagnosis *d, size_t to)
{
	struct view v = { d, d->p, d->size, d->offset, false };
	size_t gone;

	literals_find(d->literals, d->p, d->size, d->done, to, on_literal, &v);
	line_number(d, to);
	d->done = to;
	d->steps = 0;
	for (size_t i = 0; i < d->n; i++)
		d->seen[i].steps = 0;
	gone = to > BEFORE ? to - BEFORE : 0;
	memmove(d->p, d->p + gone, d->size - gone);
	d->size -= gone;
	d->done -= gone;
	d->counted -= gone;
	d->offset += gone;
}

char *
diagnose_room(struct diagnosis *d, size_t *n)
{
	*n = BEFORE + CHUNK + AHEAD - d->size;
	return d->p + d->size;
}

void
diagnose_added(struct diagnosis *d, size_t n)
{
	d->size += escapes_strip(&d->escapes, d->p + d->size, n);
	if (d->size > BEFORE + CHUNK)
		search_to(d, d->size - AHEAD);
}

const struct causes *
diagnose_end(struct diagnosis *d)
{
	struct causes *c;

	search_to(d, d->size);
	c = judge(d);
	for (size_t i = 0; i < d->n; i++)
		pattern_free(d->seen[i].matcher.pattern);
	pattern_free(d->calm.pattern);
	pattern_free(d->aside.pattern);
	pattern_free(d->exception.pattern);
	pattern_free(d->wrapper.pattern);
	pattern_free(d->warning.pattern);
	return c;
}

#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "watch.h"

/*
 * Measures progress by counters in the output of tqdm, Keras and most training loops: "12/1000",
 * "Epoch 3/40", "step 12 / 1000". Counters with the same total are the same. A counter that
 * restarts is nested in another one, and its end is not that of the run.
 */

enum { SERIES_MAX = 8, HELD_MAX = 64, VALUES_MIN = 3, TOTAL_MAX = 1000000000 };

struct series {
	unsigned total, first, last, values;
	double first_s, last_s;
	bool nested;
};

struct pace {
	struct arena *a;
	double limit_s, usd_per_hour;
	const char *price;
	struct series all[SERIES_MAX];
	size_t n;
	char held[2][HELD_MAX]; /* the start of a counter at the end of a read */
	size_t held_n[2];
	bool warned;
};

struct pace *
pace_new(struct arena *a, double limit_s, double usd_per_hour, const char *price)
{
	struct pace *p = arena_new_of(a, struct pace);

	*p = (struct pace){
		.a = a, .limit_s = limit_s, .usd_per_hour = usd_per_hour, .price = price
	};
	return p;
}

static void
count(struct pace *p, unsigned at, unsigned total, double now_s)
{
	struct series *s = NULL;

	for (size_t i = 0; i < p->n; i++)
		if (p->all[i].total == total)
			s = &p->all[i];
	if (!s && p->n < SERIES_MAX) {
		s = &p->all[p->n++];
		*s = (struct series){ total, at, at, 1, now_s, now_s, false };
	} else if (s && at < s->last) {
		s->nested = true;
		s->last = at;
	} else if (s && at > s->last) {
		s->last = at;
		s->last_s = now_s;
		s->values++;
	}
}

/* Reads a number of at most nine digits at p[*i]; false: no number. */
static bool
number(const char *p, size_t n, size_t *i, unsigned *value)
{
	size_t from = *i;

	for (*value = 0; *i < n && is_digit(p[*i]) && *i - from < 9; ++*i)
		*value = *value * 10 + (unsigned)(p[*i] - '0');
	return *i > from && (*i == n || !is_digit(p[*i]));
}

/* Reads counters such as "12/1000" and "12 / 1000", but no dates, paths and versions. */
static void
scan(struct pace *p, const char *s, size_t n, double now_s)
{
	for (size_t i = 0; i < n; i++) {
		unsigned at, total;
		size_t k = i;

		if (!is_digit(s[i]) || (i && (is_alnum(s[i - 1]) || strchr("./-_:", s[i - 1]))))
			continue;
		if (!number(s, n, &k, &at))
			continue;
		i = k - 1;
		k += k < n && s[k] == ' ';
		if (k == n || s[k++] != '/')
			continue;
		k += k < n && s[k] == ' ';
		if (!number(s, n, &k, &total) || total < 2 || at > total || total > TOTAL_MAX ||
		    (k < n && (is_alpha(s[k]) || strchr("./-_:", s[k]))))
			continue;
		count(p, at, total, now_s);
		i = k - 1;
	}
}

void
pace_feed(struct pace *p, enum proc_stream from, const char *bytes, size_t n, double now_s)
{
	char *held = p->held[from];
	size_t *held_n = &p->held_n[from], take, end;

	/* Waits for the byte after a counter, which may span two reads. */
	for (take = 0; *held_n && take < n && *held_n < HELD_MAX; take++) {
		held[(*held_n)++] = bytes[take];
		if (!is_digit(bytes[take]) && !strchr(" /", bytes[take]))
			break;
	}
	if (*held_n && take == n && *held_n < HELD_MAX)
		return;
	scan(p, held, *held_n, now_s);
	*held_n = 0;
	for (end = n; end > take && n - end < HELD_MAX / 2 &&
		      (is_digit(bytes[end - 1]) || strchr(" /", bytes[end - 1]));
	     end--)
		;
	scan(p, bytes + take, end - take, now_s);
	/* Returns true if the character before a number allows a counter. */
	end -= end > take && end < n;
	memcpy(held, bytes + end, n - end);
	*held_n = n - end;
}

/* Returns the counter that ends last, and its expected end in seconds of the run; NULL: no counter
 * has a pace yet. */
static const struct series *
slowest(const struct pace *p, double *end_s)
{
	const struct series *found = NULL;

	for (size_t i = 0; i < p->n; i++) {
		const struct series *s = &p->all[i];
		double each, end;

		if (s->nested || s->values < VALUES_MIN || s->last_s <= s->first_s)
			continue;
		each = (s->last_s - s->first_s) / (s->last - s->first);
		end = s->last_s + each * (s->total - s->last);
		if (!found || end > *end_s) {
			found = s;
			*end_s = end;
		}
	}
	return found;
}

/* Returns "25.1 h", "12 min", "40 s". */
static const char *
duration(struct arena *a, double s)
{
	return s >= 5400 ? arena_printf(a, "%.1f h", s / 3600) :
	       s >= 90   ? arena_printf(a, "%.0f min", s / 60) :
			   arena_printf(a, "%.0f s", s);
}

static const char *
usd(const struct pace *p, double s)
{
	return arena_printf(p->a, "$%.2f", p->usd_per_hour * s / 3600);
}

const char *
pace_warning(struct pace *p, double now_s)
{
	const double settled_s = p->limit_s / 100 < 60 ? p->limit_s / 100 : 60;
	const struct series *s;
	double end_s = 0;
	const char *text;

	if (p->warned || !p->limit_s || now_s < settled_s || !(s = slowest(p, &end_s)) ||
	    end_s <= p->limit_s)
		return NULL;
	p->warned = true;
	text = arena_printf(p->a,
			    "at %u/%u after %s, the command needs about %s; the time limit is %s",
			    s->last, s->total, duration(p->a, now_s), duration(p->a, end_s),
			    duration(p->a, p->limit_s));
	return p->usd_per_hour > 0 ?
		       arena_printf(p->a, "%s; %s costs about %s to the end, %s to the limit", text,
				    p->price, usd(p, end_s), usd(p, p->limit_s)) :
		       text;
}

const char *
pace_cost(const struct pace *p, double seconds)
{
	if (p->usd_per_hour > 0)
		return arena_printf(p->a, "%s for %s: about %s", p->price, duration(p->a, seconds),
				    usd(p, seconds));
	return NULL;
}

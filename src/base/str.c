#include "str.h"

#include <stdint.h>

enum { LONGEST = 64 }; /* longer words are not typing mistakes of one another */

/* Optimal string alignment distance, case ignored. */
static size_t
distance(const char *a, size_t n, const char *b, size_t m)
{
	size_t d[3][LONGEST + 1];

	for (size_t j = 0; j <= m; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *now = d[i % 3], *before = d[(i + 2) % 3], *two = d[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= m; j++) {
			bool same = to_lower(a[i - 1]) == to_lower(b[j - 1]);
			size_t best = before[j - 1] + !same;

			if (before[j] + 1 < best)
				best = before[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    two[j - 2] + 1 < best)
				best = two[j - 2] + 1;
			now[j] = best;
		}
	}
	return d[n % 3][m];
}

const char *
str_nearest(const char *word, const char *const *words, size_t n)
{
	size_t len = strlen(word), best = SIZE_MAX;
	const char *found = NULL;

	if (!len || len > LONGEST)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t m = strlen(words[i]);

		if (!m || m > LONGEST)
			continue;
		size_t far = distance(word, len, words[i], m);
		size_t limit = (len > m ? len : m) / 3;

		if (far <= (limit ? limit : 1) && far < best) {
			best = far;
			found = words[i];
		}
	}
	return found;
}

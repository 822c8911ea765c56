#include <string.h>

#include "base/str.h"
#include "cuda.h"

/* Parses digits faster than strtoul, because every GPU of every build of torch is parsed. */
static size_t
number(const char *s, unsigned *value)
{
	size_t n = 0;

	for (*value = 0; n < 4 && is_digit(s[n]); n++)
		*value = *value * 10 + (unsigned)(s[n] - '0');
	return n;
}

bool
capability_parse(const char *text, struct capability *out)
{
	const char *p = text;
	unsigned major, minor;
	size_t n = number(p, &major), m;

	*out = (struct capability){ 0 };
	if (p[n] == '.') {
		m = number(p + n + 1, &minor);
		if (!n || n > 2 || !m || m > 2)
			return false;
		p += n + 1 + m;
	} else {
		out->ptx = starts_with(p, "compute_");
		p += out->ptx ? strlen("compute_") : starts_with(p, "sm_") ? strlen("sm_") : 0;
		/* In "80" and "120", all digits except the last one are the major. */
		n = number(p, &major);
		if (n < 2 || n > 3)
			return false;
		minor = major % 10;
		major /= 10;
		p += n;
	}
	out->major = major;
	out->minor = minor;
	if (*p == 'a' || *p == 'f')
		out->variant = *p++;
	if (!*p)
		return true;
	out->ptx = true;
	return !strcmp(p, "+PTX");
}

const char *
capability_text(struct arena *a, const struct capability *c)
{
	return arena_printf(a, "%u.%u%.1s%s", c->major, c->minor, c->variant ? &c->variant : "",
			    c->ptx ? "+PTX" : "");
}

const char *
capability_nvcc(struct arena *a, const char *text)
{
	struct capability c;

	if (!capability_parse(text, &c))
		return text;
	return arena_printf(a, "%u%u%.1s", c.major, c.minor, c.variant ? &c.variant : "");
}

static int
compare(unsigned x, unsigned y)
{
	return (x > y) - (x < y);
}

int
capability_order(const char *x, const char *y)
{
	struct capability c, d;
	bool is_c = capability_parse(x, &c), is_d = capability_parse(y, &d);
	int order;

	if (!is_c || !is_d)
		return is_c - is_d;
	order = compare(c.major, d.major);
	if (!order)
		order = compare(c.minor, d.minor);
	if (!order)
		order = compare((unsigned)c.variant, (unsigned)d.variant);
	return order ? order : c.ptx - d.ptx;
}

static bool
reaches(const char *code, const struct capability *gpu, bool ptx)
{
	struct capability c;

	if (!capability_parse(code, &c))
		return false;
	return c.major == gpu->major ? c.minor <= gpu->minor : ptx && c.major < gpu->major;
}

bool
capability_runs(const struct names *codes, const char *gpu)
{
	struct capability g;

	if (!capability_parse(gpu, &g))
		return false;
	return list_any(code, codes, reaches(*code, &g, false));
}

bool
capability_ptx_runs(const char *ptx, const char *gpu)
{
	struct capability g;

	return ptx && capability_parse(gpu, &g) && reaches(ptx, &g, true);
}

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cuda.h"

/* One or two digits; false if there are none, or too many. */
static bool
number(const char **p, unsigned *out)
{
	size_t n = 0;

	for (*out = 0; is_digit((*p)[n]); n++)
		if (n == 2)
			return false;
		else
			*out = *out * 10 + (unsigned)((*p)[n] - '0');
	*p += n;
	return n;
}

/* "80", "120": all digits but the last are the major. */
static bool
joined_number(const char **p, struct capability *out)
{
	size_t n = strspn(*p, "0123456789");

	if (n < 2 || n > 3)
		return false;
	out->minor = (unsigned)((*p)[n - 1] - '0');
	for (size_t i = 0; i + 1 < n; i++)
		out->major = out->major * 10 + (unsigned)((*p)[i] - '0');
	*p += n;
	return true;
}

bool
capability_parse(const char *text, struct capability *out)
{
	const char *p = text;

	*out = (struct capability){ 0 };
	if (p[strspn(p, "0123456789")] == '.') {
		if (!number(&p, &out->major) || *p++ != '.' || !number(&p, &out->minor))
			return false;
	} else {
		out->ptx = starts_with(p, "compute_");
		p += out->ptx ? strlen("compute_") : starts_with(p, "sm_") ? strlen("sm_") : 0;
		if (!joined_number(&p, out))
			return false;
	}
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
	for (size_t i = 0; i < codes->n; i++)
		if (reaches(codes->at[i], &g, false))
			return true;
	return false;
}

bool
capability_ptx_runs(const char *ptx, const char *gpu)
{
	struct capability g;

	return ptx && capability_parse(gpu, &g) && reaches(ptx, &g, true);
}

#include "screen.h"

struct mask {
	struct arena *a;
	struct names hidden; /* what must not be seen */
	bool begins[256];    /* a hidden text begins with this byte */
	struct buf out;
};

static void
hide(struct mask *m, const char *s)
{
	if (strlen(s) < SECRET_MIN)
		return;
	names_once(m->a, &m->hidden, s);
	m->begins[(unsigned char)*s] = true;
}

struct mask *
mask_new(struct arena *a, const struct names *secrets)
{
	struct mask *m = arena_new_of(a, struct mask);

	*m = (struct mask){ .a = a, .out = BUF(a) };
	for (size_t i = 0; i < secrets->n; i++) {
		const char *s = secrets->at[i];

		for (size_t n; *s; s += n, s += strspn(s, "\r\n")) {
			struct buf inert = BUF(a), url = BUF(a);
			const char *line = arena_copy(a, s, n = strcspn(s, "\r\n"));

			/* As it is, as it would stand in a URL, and inert, as lines are before this. */
			for (const char *c = line; *c; c++)
				buf_printf(&url,
					   is_alnum(*c) || strchr("-._~", *c) ? "%c" : "%%%02X",
					   (unsigned char)*c);
			diag_inert(line, &inert);
			hide(m, line);
			hide(m, buf_text(&url));
			hide(m, buf_text(&inert));
		}
	}
	return m;
}

/* The length of what begins here and is hidden: of two texts that begin alike the longer one. */
static size_t
hidden_at(const struct mask *m, const char *s)
{
	size_t longest = 0;

	for (size_t i = 0; m->begins[(unsigned char)*s] && i < m->hidden.n; i++)
		if (starts_with(s, m->hidden.at[i]) && strlen(m->hidden.at[i]) > longest)
			longest = strlen(m->hidden.at[i]);
	return longest;
}

const char *
mask_text(struct mask *m, const char *text)
{
	struct arena *scratch = strstr(text, "://") ? arena_new() : NULL;
	const char *s = scratch ? mask_credentials(scratch, text) : text;

	buf_clear(&m->out);
	for (size_t n; *s; s += n ? n : 1)
		if ((n = hidden_at(m, s)))
			buf_puts(&m->out, "***");
		else
			buf_putc(&m->out, *s);
	if (scratch)
		arena_free(scratch);
	return buf_text(&m->out);
}

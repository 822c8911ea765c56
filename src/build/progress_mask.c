#include "screen.h"

/* What must not be seen, longest first: of two that begin alike the longer one goes. */
struct mask {
	struct arena *a, *scratch;
	unsigned used; /* lines since the scratch arena is new */
	struct hiddens LIST(struct str) hidden;
	bool begins[256]; /* a hidden text begins with this byte */
	struct buf out;
};

enum { SCRATCH_LINES = 256 };

static void
hide(struct mask *m, const char *s, size_t n)
{
	struct str one = { arena_copy(m->a, s, n), n };
	size_t i;

	if (n < SECRET_MIN)
		return;
	list_push(m->a, &m->hidden, one);
	for (i = m->hidden.n - 1; i && m->hidden.at[i - 1].n < n; i--)
		m->hidden.at[i] = m->hidden.at[i - 1];
	m->hidden.at[i] = one;
	m->begins[(unsigned char)*s] = true;
}

/* As it would stand in a URL. */
static void
hide_encoded(struct mask *m, const char *s, size_t n)
{
	struct buf b = BUF(m->a);

	for (size_t i = 0; i < n; i++)
		if (is_alnum(s[i]) || strchr("-._~", s[i]))
			buf_putc(&b, s[i]);
		else
			buf_printf(&b, "%%%02X", (unsigned char)s[i]);
	if (b.n != n)
		hide(m, buf_text(&b), b.n);
}

struct mask *
mask_new(struct arena *a, const struct names *secrets)
{
	struct mask *m = arena_new_of(a, struct mask);

	*m = (struct mask){ .a = a, .out = BUF(a) };
	for (size_t i = 0; i < secrets->n; i++) {
		const char *s = secrets->at[i];

		while (*s) {
			size_t n = strcspn(s, "\r\n");
			struct buf inert = BUF(a);

			hide(m, s, n);
			hide_encoded(m, s, n);
			/* Lines are made inert before they are masked. */
			diag_inert(arena_copy(a, s, n), &inert);
			if (inert.n && strncmp(buf_text(&inert), s, n) != 0)
				hide(m, buf_text(&inert), inert.n);
			s += n;
			s += strspn(s, "\r\n");
		}
	}
	return m;
}

static const struct str *
hidden_at(const struct mask *m, const char *s)
{
	if (m->begins[(unsigned char)*s])
		for (size_t i = 0; i < m->hidden.n; i++)
			if (!strncmp(s, m->hidden.at[i].p, m->hidden.at[i].n))
				return &m->hidden.at[i];
	return NULL;
}

const char *
mask_text(struct mask *m, const char *text)
{
	if (strstr(text, "://")) {
		if (m->scratch && ++m->used > SCRATCH_LINES) {
			arena_free(m->scratch);
			m->scratch = NULL;
		}
		if (!m->scratch) {
			m->scratch = arena_new();
			m->used = 0;
		}
		text = mask_credentials(m->scratch, text);
	}
	m->out.n = 0;
	buf_add(&m->out, "", 0);
	for (const char *s = text; *s;) {
		const struct str *found = hidden_at(m, s);

		if (found)
			buf_puts(&m->out, "***");
		else
			buf_putc(&m->out, *s);
		s += found ? found->n : 1;
	}
	return buf_text(&m->out);
}

void
mask_close(struct mask *m)
{
	if (m->scratch)
		arena_free(m->scratch);
	m->scratch = NULL;
}

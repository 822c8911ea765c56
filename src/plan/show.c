#include "show.h"

enum { COLUMNS = 100 };

const char *
show_time(struct arena *a, double seconds)
{
	unsigned long s = seconds > 0 && seconds < 1 ? 1 : (unsigned long)(seconds + 0.5);

	if (s >= 3600)
		return arena_printf(a, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
	return arena_printf(a, "%lu:%02lu", s / 60, s % 60);
}

const char *
show_rate(double changes_a_day)
{
	static const struct {
		double days;
		const char *word;
	} words[] = {
		{ 2, "daily" },       { 14, "weekly" },  { 45, "monthly" },
		{ 180, "quarterly" }, { 730, "yearly" },
	};

	if (changes_a_day <= 0)
		return "-";
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (1 / changes_a_day < words[i].days)
			return words[i].word;
	return "rarely";
}

static void
show_word(struct buf *out, const char *s)
{
	bool plain = *s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"0123456789@%+=:,./_-{}#")];

	if (!plain)
		buf_putc(out, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			buf_puts(out, "'\\'");
		buf_putc(out, *s);
	}
	if (!plain)
		buf_putc(out, '\'');
}

void
show_command(struct buf *out, const struct command *c)
{
	if (c->input) {
		buf_puts(out, "echo ");
		show_word(out, c->input);
		buf_puts(out, " | ");
	}
	for (size_t i = 0; i < c->env.n; i++) {
		buf_printf(out, "%s=", c->env.at[i].name);
		show_word(out, c->env.at[i].value);
		buf_putc(out, ' ');
	}
	for (size_t i = 0; i < c->argv.n; i++) {
		if (i)
			buf_putc(out, ' ');
		show_word(out, c->argv.at[i].s);
	}
}

const bool *
graph_after(struct arena *a, const struct plan *p, size_t step)
{
	bool *after = arena_array_of(a, bool, p->n);

	for (size_t i = step; i < p->n; i++) {
		after[i] = i == step;
		for (size_t k = step; k < i; k++)
			for (size_t n = 0; after[k] && n < p->steps[i].inputs.n; n++)
				after[i] |= !strcmp(p->steps[i].inputs.at[n], p->steps[k].id);
	}
	return after;
}

double
graph_cost(struct arena *a, const struct plan *p, size_t step)
{
	const bool *after = graph_after(a, p, step);
	double sum = 0;

	for (size_t i = 0; i < p->n; i++)
		sum += after[i] ? p->steps[i].cost_s : 0;
	return sum;
}

double
chain_cost(const struct plan *p, size_t step)
{
	double sum = 0;

	for (size_t i = step; i < p->n; i++)
		sum += p->steps[i].cost_s;
	return sum;
}

void
show_wrapped(struct buf *out, const char *text, size_t at)
{
	buf_wrap(out, text, at, COLUMNS);
	buf_putc(out, '\n');
}

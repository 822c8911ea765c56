/*
 * libFuzzer: logs.  The first byte is the size of the pieces in which the rest is read.  No two causes
 * have the same category, each has a line of the log, and no line is longer than LOG_LINE_MAX.
 */
#include "fuzz.h"

#include "diagnose/diagnose.h"

static void
check(const struct causes *c, struct arena *a)
{
	struct buf b = BUF(a);
	struct json j = json_to(&b);

	for (size_t i = 0; i < c->n; i++) {
		must(c->at[i].lines.n > 0, "a cause has a line");
		for (size_t k = 0; k < c->at[i].lines.n; k++)
			must(c->at[i].lines.at[k].line >= 1 &&
				     c->at[i].lines.at[k].line <= c->lines,
			     "a line is one of the log");
		for (size_t k = 0; k < i; k++)
			must(strcmp(c->at[i].of->category, c->at[k].of->category) != 0,
			     "a category once");
	}
	must(!c->n || !c->worth.n, "lines that are worth reading only without a cause");
	diagnose_text(a, c, "log", NULL, &b);
	must_be_inert(buf_text(&b), "\n\t");
	diagnose_json(c, &j);
}

/* Returns the knowledge, which all inputs share. */
static const struct facts *
knowledge(void)
{
	static const struct facts *f;
	static struct diags ds;

	if (!f) {
		struct arena *a = arena_new();

		ds = DIAGS(ds, a);
		f = facts_load(a, &ds, NULL);
	}
	return f;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct diagnosis *d;
	size_t piece = size ? (size_t)data[0] * 8 + 1 : 1;

	d = diagnose_new(a, knowledge());
	for (size_t i = 1; i < size; i += piece) {
		size_t room, n = size - i < piece ? size - i : piece;
		char *to = diagnose_room(d, &room);

		must(room >= n, "there is room");
		memcpy(to, data + i, n);
		diagnose_added(d, n);
	}
	check(diagnose_end(d), a);
	arena_free(a);
	return 0;
}

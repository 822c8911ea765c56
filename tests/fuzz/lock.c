/*
 * libFuzzer: locks.  The first byte selects the input: "p" the packages of any PEP 751 file, such as
 * uv's, otherwise a lock of stackbuild; "s" sets its digest of the content, so that a change does not
 * end at the seal.
 *
 * Properties: a lock, or an error; what is written from an accepted lock is read again, and written
 * with the same bytes; texts of the lock are inert.
 */
#include "fuzz.h"

#include "lock/lock.h"

static const char seal[] = "content = \"";

/* Returns the text with the digest of its own content. */
static const char *
sealed(struct arena *a, const char *text, size_t n)
{
	const char *at = strstr(text, seal), *end = at ? strchr(at, '\n') : NULL;
	const char *digest = end ? lock_content(a, text, n) : NULL;

	if (!digest)
		return text;
	return arena_printf(a, "%.*s%s%s\"%s", (int)(at - text), text, seal, digest, end);
}

static void
check_packages(const struct lock_packages *all)
{
	list_each (p, all) {
		must(p->name && *p->name && p->version && *p->version, "a name and a version");
		must(p->files.n > 0, "at least one file");
		must_be_inert(p->name, "");
		must_be_inert(p->version, "");
		for (size_t i = 0; i < p->files.n; i++)
			must(p->files.at[i].url && strlen(p->files.at[i].sha256) == 64,
			     "a URL and a digest");
	}
}

static void
check_lock(struct arena *a, const struct lock *l)
{
	struct buf out = BUF(a), again = BUF(a);
	struct source src = { "again", NULL, 0 };
	struct diags ds = DIAGS(ds, a);
	const struct lock *same;

	check_packages(&l->packages);
	list_each (s, &l->sources)
		must(s->name && s->kind, "a source");
	lock_write(l, &out);
	src.text = buf_text(&out);
	src.size = out.n;
	same = lock_read(a, &ds, &src);
	if (!same)
		fprintf(stderr, "%s%s", src.text, printed(a, &ds));
	must(same != NULL, "what is written is a lock");
	lock_write(same, &again);
	must(out.n == again.n && !memcmp(out.p, again.p, out.n), "the same bytes again");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	const char *text = arena_copy(a, size ? (const char *)data + 1 : "", size ? size - 1 : 0);
	struct source src = { "lock", text, size ? size - 1 : 0 };
	struct diags ds = DIAGS(ds, a);

	if (size && *data == 'p') {
		struct lock_packages all = { 0 };
		bool good = lock_read_packages(a, &ds, &src, &all);

		must(good == !ds.errors, "packages, or an error");
		if (good)
			check_packages(&all);
	} else {
		const struct lock *l;

		if (size && *data == 's' && strlen(text) == src.size) {
			src.text = sealed(a, text, src.size);
			src.size = strlen(src.text);
		}
		l = lock_read(a, &ds, &src);
		must((l != NULL) == !ds.errors, "a lock, or an error");
		if (l)
			check_lock(a, l);
	}
	printed(a, &ds);
	arena_free(a);
	return 0;
}

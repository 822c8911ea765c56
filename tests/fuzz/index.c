/*
 * libFuzzer: answers of a package index.  The first byte selects the input: "j" a page in JSON,
 * "h" one in HTML, each up to a byte 0x1e, then METADATA of its newest release; "z" a wheel whose
 * METADATA is read by ranges; "s" a source distribution; "y" a harvested file.
 *
 * Properties: for any page and METADATA, the written file is valid
 * knowledge, and the same page gives the same bytes.
 */
#include "fuzz.h"

#include <sys/stat.h>

#include "fetch/index_internal.h"
#include "harvest/internal.h"
#include "inspect/inspect.h"

#define URL "https://index.example/simple/vllm/"

static const struct facts *facts;

/* Returns the file for a page; NULL: the page has no release. */
static const char *
file_of(struct work *w, const struct index_page *page, const char *metadata)
{
	struct harvest_releases all = harvest_releases(w, page);
	struct buf out = BUF(w->a);
	bool listed = false;

	for (size_t i = all.n; i--;) {
		struct harvest_release *r = &all.at[i];

		if (!r->listed)
			continue;
		listed = true;
		must(r->on_page->wheel || r->on_page->source, "a file to read");
		if (metadata && !metadata_take(w, metadata, r))
			must(w->index->why != NULL, "a reason");
	}
	if (!listed)
		return NULL;
	releases_write(w, &all, &out);
	return buf_text(&out);
}

static void
fuzz_page(struct arena *a, const char *type, const char *text, size_t n)
{
	const char *end = memchr(text, 0x1e, n), *why, *file;
	const struct harvest_how how = { .day = "2026-11-23" };
	const struct names packages = { 0 };
	struct index_client x = { .a = a };
	struct work w = { .f = facts,
			  .how = &how,
			  .packages = &packages,
			  .index = &x,
			  .a = a,
			  .package = "vllm" };
	struct index_page page = { 0 };
	size_t size = end ? (size_t)(end - text) : n;
	struct diags ds;

	if (!page_parse(a, type, URL, text, size, &page, &why)) {
		must(why != NULL, "a reason");
		return;
	}
	for (size_t i = 0; i < page.files.n; i++) {
		const struct index_file *f = &page.files.at[i];

		must_be_inert(f->name, "");
		must_be_inert(f->requires_python, "");
		must_be_inert(f->yanked, "");
		must(http_host(a, f->url) != NULL, "a URL without user and password");
	}
	if (!(file = file_of(&w, &page, end ? end + 1 : NULL)))
		return;
	must(!strcmp(file, file_of(&w, &page, end ? end + 1 : NULL)), "equal bytes");
	must_be_inert(file, "\n");
	ds = DIAGS(ds, a);
	if (strlen(file) < 100 * 1000 &&
	    !facts_releases_valid(a, &ds, "releases/vllm.yaml", file, strlen(file))) {
		fprintf(stderr, "%s%s", file, printed(a, &ds));
		must(false, "what is written is valid");
	}
}

struct bytes {
	const uint8_t *p;
	size_t n;
};

static bool
read_bytes(void *ctx, uint64_t at, void *to, size_t n)
{
	const struct bytes *b = ctx;

	if (at > b->n || n > b->n - at)
		return false;
	memcpy(to, b->p + at, n);
	return true;
}

/* Reads the requirements of a source distribution. */
static void
fuzz_sdist(struct arena *a, const uint8_t *bytes, size_t n)
{
	const char *text = sdist_text(a, bytes, n);
	struct names all = metadata_values(a, text, "Requires-Dist");

	for (size_t i = 0; i < all.n; i++)
		requirement_parse(a, all.at[i], NULL, NULL);
}

/* Runs the resolver's queries on a valid file of the user. */
static void
fuzz_file(struct arena *a, struct diags *ds, const char *text, size_t n)
{
	static volatile size_t sum; /* so that no compiler omits the read */
	const struct facts *f;
	const struct python_package *p;
	struct buf out = BUF(a);

	if (!facts_releases_valid(a, ds, "releases/vllm.yaml", text, n)) {
		must(ds->errors, "valid, or an error");
		return;
	}
	mkdir(arena_printf(a, "%s/releases", scratch()), 0755);
	scratch_file(a, "releases/vllm.yaml", text, n);
	f = facts_load(a, ds, NULL);
	facts_use_user(f, scratch());
	p = facts_package(f, "vllm");
	for (size_t i = 0; p && i < p->n; i++) {
		const struct package_release *r = &p->releases[i];

		must(package_release(p, facts_version(f, r->version)) != NULL, "it is found");
		must(!package_lacks(f, p, facts_version(f, r->version)), "it exists");
		must(package_release_source(f, r) != NULL, "a source");
		for (size_t k = 0; k < r->requires.n; k++)
			must(requirement_parse(a, r->requires.at[k], NULL, NULL) != NULL,
			     "a requirement");
		for (size_t k = 0; k < r->wheels.n; k++)
			sum = sum + strlen(r->wheels.at[k]);
	}
	must(facts_user_files(f).n == 1, "the file was read");
	must(facts_user_files(f).at[0]->read != NULL, "it has a day");
	facts_status(f, a, n % 2, &out);
	must_be_inert(buf_text(&out), "\n");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct bytes rest = { data + 1, size - 1 };
	struct diags ds;
	char *text;

	ds = DIAGS(ds, a);
	if (!facts)
		facts = facts_load(arena_new(), &ds, NULL);
	must(facts != NULL, "the knowledge base");
	text = arena_copy(a, size ? (const char *)data + 1 : "", size ? size - 1 : 0);
	if (size && *data == 'j')
		fuzz_page(a, "application/vnd.pypi.simple.v1+json", text, size - 1);
	else if (size && *data == 'h')
		fuzz_page(a, "text/html", text, size - 1);
	else if (size && *data == 'y')
		fuzz_file(a, &ds, text, size - 1);
	else if (size && *data == 's')
		fuzz_sdist(a, rest.p, rest.n);
	else if (size && *data == 'z')
		must(!wheel_metadata_text(a, &ds,
					  &(struct wheel_source){ "x-1.0-py3-none-any.whl", rest.n,
								  read_bytes, NULL, &rest }) ==
			     (ds.errors != 0),
		     "METADATA, or an error");
	printed(a, &ds);
	arena_free(a);
	return 0;
}

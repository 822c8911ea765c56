/*
 * Reads the requirements of a source distribution: the headers of PKG-INFO and, if it has none, the
 * requires.txt of setuptools. No code of the package is run.
 *
 *     requests                     Requires-Dist: requests
 *     [gpu:python_version<"3.9"]   (a section)
 *     cupy>=12                     Requires-Dist: cupy>=12; (python_version<"3.9") and extra == "gpu"
 */
#include <archive.h>
#include <archive_entry.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "index_internal.h"

enum { SDIST_MAX = 32 * 1024 * 1024, TEXT_MAX = 1024 * 1024 };
static const la_int64_t UNPACKED_MAX = (la_int64_t)1 << 30;

struct sdist {
	const char *info, *requires; /* PKG-INFO, requires.txt; NULL: it has none */
	bool egg_info;               /* it has the files of setuptools */
};

static const char *
entry_text(struct arena *a, struct archive *ar, struct archive_entry *e)
{
	la_int64_t size = archive_entry_size(e);
	char *text;

	if (archive_entry_filetype(e) != AE_IFREG || size < 0 || size > TEXT_MAX)
		return NULL;
	text = arena_alloc(a, (size_t)size + 1, 1);
	text[size] = '\0';
	return archive_read_data(ar, text, (size_t)size) == size && strlen(text) == (size_t)size ?
		       text :
		       NULL;
}

/* Reads the entries of an archive; false: it is broken or too large. */
static bool
read_entries(struct arena *a, struct archive *ar, struct sdist *s)
{
	struct archive_entry *e;
	int end;

	/*
	 * ARCHIVE_WARN: for example, a name that the locale cannot express. libarchive unpacks an
	 * entry to skip it.
	 */
	while (((end = archive_read_next_header(ar, &e)) == ARCHIVE_OK || end == ARCHIVE_WARN) &&
	       archive_entry_size(e) < UNPACKED_MAX - archive_filter_bytes(ar, 0)) {
		const char *path = archive_entry_pathname(e),
			   *slash = path ? strchr(path, '/') : NULL;

		s->egg_info |= slash && strstr(path, ".egg-info/");
		if (!s->info && slash && !strcmp(slash, "/PKG-INFO"))
			s->info = entry_text(a, ar, e);
		else if (!s->requires && slash && ends_with(path, ".egg-info/requires.txt"))
		s->requires = entry_text(a, ar, e);
	}
	return end == ARCHIVE_EOF;
}

/* Adds a line of requires.txt as a header; section: without brackets, "" for none. */
static void
add_requirement(struct arena *a, struct buf *out, const char *line, const char *section)
{
	const char *colon = strchr(section, ':'), *marker = colon ? colon + 1 : "";
	const char *extra = arena_copy(a, section, strcspn(section, ":"));

	buf_printf(out, "Requires-Dist: %s", line);
	if (*marker || *extra)
		buf_puts(out, " ; ");
	if (*marker)
		buf_printf(out, *extra ? "(%s) and " : "%s", marker);
	if (*extra)
		buf_printf(out, "extra == \"%s\"", extra);
	buf_putc(out, '\n');
}

static void
add_requirements(struct arena *a, struct buf *out, const char *text)
{
	const struct names lines = names_split(a, text, '\n');
	const char *section = "";

	for (size_t i = 0; i < lines.n; i++) {
		const char *line = lines.at[i];
		size_t n = strlen(line);

		if (*line == '[' && line[n - 1] == ']')
			section = arena_copy(a, line + 1, n - 2);
		else if (*line)
			add_requirement(a, out, line, section);
	}
}

/* Returns true if PKG-INFO says all (PEP 643). */
static bool
is_static(struct arena *a, const char *info)
{
	const struct names version = metadata_values(a, info, "Metadata-Version");
	const struct names dynamic = metadata_values(a, info, "Dynamic");
	const struct version *v = version.n ? version_parse(a, version.at[0]) : NULL;

	for (size_t i = 0; i < dynamic.n; i++)
		if (!strcasecmp(dynamic.at[i], "Requires-Dist"))
			return false;
	return v && version_cmp(v, version_parse(a, "2.2")) >= 0;
}

const char *
sdist_text(struct arena *a, const void *bytes, size_t n)
{
	struct archive *ar = archive_read_new();
	struct sdist s = { 0 };
	struct buf out = BUF(a);
	bool whole;

	archive_read_support_filter_gzip(ar);
	archive_read_support_filter_bzip2(ar);
	archive_read_support_filter_xz(ar);
	archive_read_support_format_tar(ar);
	archive_read_support_format_zip(ar);
	whole = archive_read_open_memory(ar, bytes, n) == ARCHIVE_OK && read_entries(a, ar, &s);
	archive_read_free(ar);
	if (!whole || !s.info)
		return "";
	if (metadata_values(a, s.info, "Requires-Dist").n)
		return s.info;
	if (s.requires)
		add_requirements(a, &out, s.requires);
	else if (!s.egg_info && !is_static(a, s.info))
		return "";
	buf_puts(&out, s.info);
	return buf_text(&out);
}

const char *
sdist_metadata(struct index_client *x, const struct index_file *file)
{
	struct http_request q = { .url = file->url, .max = SDIST_MAX, .sha256 = file->sha256 };
	struct http_answer answer = { 0 };

	return index_get(x, &q, 0, &answer) ? sdist_text(x->a, answer.body, answer.body_size) :
					      NULL;
}

const char *
index_sdist(struct arena *a, const char *url, const char *package, const struct specifiers *spec,
	    struct names *requires_dist)
{
	struct index_client x = { .a = a, .timeout_s = INDEX_TIMEOUT_S, .requests_max = 2 };
	struct diags own = DIAGS(own, a);
	const struct index_page *page = index_open(&own, &x, url) ? index_page(&x, package) : NULL;
	struct index_releases all = { 0 };
	const struct index_release *r = NULL;
	struct names lines = { 0 };
	const char *text;

	if (page)
		all = index_releases(a, page, package);
	for (size_t i = all.n; i-- && !r;) {
		const struct index_release *at = &all.at[i];

		if (at->source && (!spec || specifiers_match(spec, at->version)) &&
		    ((spec && specifiers_pin(spec)) ||
		     (!at->yanked && !version_is_prerelease(at->version))))
			r = at;
	}
	text = r ? sdist_metadata(&x, r->source) : NULL;
	if (!text || !*text)
		return NULL;
	lines = metadata_values(a, text, "Requires-Dist");
	for (size_t i = 0; i < lines.n; i++)
		if (!strstr(lines.at[i], "extra =="))
			list_push(a, requires_dist, lines.at[i]);
	return r->text;
}

/* Reads the page of a project in JSON (PEP 691, 700); has the parts common to both forms. */
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "index_internal.h"

const char *
page_sha256(struct arena *a, const char *text)
{
	char *hex;

	if (!text || strlen(text) != 64)
		return NULL;
	hex = arena_strdup(a, text);
	for (char *p = hex; *p; p++) {
		*p = to_lower(*p);
		if (!is_digit(*p) && (*p < 'a' || *p > 'f'))
			return NULL;
	}
	return hex;
}

/* Returns true for a valid file name of a URL: printable, without separators. */
static bool
is_file_name(const char *name)
{
	if (!*name || strlen(name) > 255)
		return false;
	for (const char *p = name; *p; p++)
		if (*p <= ' ' || *p > '~' || *p == '/' || *p == '\\')
			return false;
	return true;
}

/* Returns a text of the index if it is short and without control characters, or NULL. */
static const char *
tame(struct arena *a, const char *text)
{
	char *copy = text ? arena_copy(a, text, strnlen(text, INDEX_TEXT_MAX)) : NULL;

	for (char *p = copy; p && *p; p++)
		if (*p < ' ' || *p > '~')
			*p = ' ';
	return copy;
}

void
page_add(struct arena *a, struct index_page *page, const char *base, const char *url,
	 struct index_file file)
{
	if (!is_file_name(file.name) || page->files.n == PAGE_FILES_MAX ||
	    !(file.url = http_resolve(a, base, url)))
		return;
	file.requires_python = tame(a, file.requires_python);
	if (file.requires_python && !*file.requires_python)
		file.requires_python = NULL;
	file.yanked = tame(a, file.yanked);
	if (file.date && !str_matches(file.date, "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"))
		file.date = NULL;
	list_push(a, &page->files, file);
}

/* Reads false, true, or digests: {"sha256": "..."}. */
static void
json_metadata(struct arena *a, const json_t *file, struct index_file *to)
{
	const json_t *said = json_object_get(file, "core-metadata");

	if (!said)
		said = json_object_get(file, "dist-info-metadata");
	to->metadata = json_is_true(said) || json_is_object(said);
	if (json_is_object(said))
		to->metadata_sha256 = page_sha256(a, fetch_json_text(a, said, "sha256"));
}

static void
json_file(struct arena *a, const json_t *file, const char *base, struct index_page *page)
{
	const char *name = fetch_json_text(a, file, "filename");
	const char *url = fetch_json_text(a, file, "url");
	const char *time = fetch_json_text(a, file, "upload-time");
	const json_t *yanked = json_object_get(file, "yanked");
	struct index_file to = {
		.name = name,
		.sha256 = page_sha256(
			a, fetch_json_text(a, json_object_get(file, "hashes"), "sha256")),
		.requires_python = fetch_json_text(a, file, "requires-python"),
		.date = time ? arena_copy(a, time, strnlen(time, 10)) : NULL,
	};
	json_int_t size = json_integer_value(json_object_get(file, "size"));

	to.size = size > 0 ? (uint64_t)size : 0;
	if (json_is_true(yanked) || fetch_json_text(a, file, "yanked"))
		to.yanked = json_is_true(yanked) ? "" : json_string_value(yanked);
	json_metadata(a, file, &to);
	if (name && url)
		page_add(a, page, base, url, to);
}

static void
json_drop(json_t **root)
{
	json_decref(*root);
}

static bool
parse_json(struct arena *a, const char *url, const char *text, size_t n, struct index_page *page,
	   const char **why)
{
	json_error_t error;
	__attribute__((cleanup(json_drop))) json_t *root = json_loadb(text, n, 0, &error);
	const json_t *files = json_object_get(root, "files");
	const json_t *versions = json_object_get(root, "versions");
	const char *api = fetch_json_text(a, json_object_get(root, "meta"), "api-version");

	*why = !root                          ? "it is not JSON" :
	       api && !starts_with(api, "1.") ? "its API version is not 1" :
	       !json_is_array(files) ? "it is not the page of a project: it has no `files`" :
				       NULL;
	if (*why)
		return false;
	for (size_t i = 0; i < json_array_size(files); i++)
		json_file(a, json_array_get(files, i), url, page);
	for (size_t i = 0; i < json_array_size(versions) && i < PAGE_FILES_MAX; i++)
		if (json_is_string(json_array_get(versions, i)))
			list_push(a, &page->versions,
				  arena_strdup(a, json_string_value(json_array_get(versions, i))));
	return true;
}

/* Returns true if the page has a distribution. An ordinary web page also has links. */
static bool
has_distribution(const struct index_page *page)
{
	for (size_t i = 0; i < page->files.n; i++)
		if (str_matches(page->files.at[i].name,
				"[.](whl|tar[.](gz|bz2|xz|Z)|zip|tgz|egg|exe|msi|rpm|dmg|deb)$"))
			return true;
	return false;
}

bool
page_parse(struct arena *a, const char *type, const char *url, const char *text, size_t n,
	   struct index_page *page, const char **why)
{
	size_t type_n = type ? strcspn(type, "; \t") : 0;
	const char *kind = arena_copy(a, type ? type : "", type_n);

	if (ends_with(kind, "json"))
		return parse_json(a, url, text, n, page, why);
	*why = "it is neither JSON nor HTML";
	if (!ends_with(kind, "html"))
		return false;
	*why = "it is HTML, but not the page of a project: it has no link to a file";
	return page_parse_html(a, url, text, n, page) && has_distribution(page);
}

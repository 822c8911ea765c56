#include "inspect/wheel_parts.h"

#include <limits.h>
#include <string.h>

#include "python/python.h"

/* Returns the value of a field that must occur once. */
static const char *
only(const struct zip *z, const char *text, const char *file, const char *field)
{
	struct names all = metadata_values(z->a, text, field);

	if (all.n == 1 && *all.at[0])
		return all.at[0];
	zip_refuse(z, "its %s has %s `%s`", file, all.n ? "more than one, or an empty," : "no",
		   field);
	return NULL;
}

enum { TAGS_MAX = 1000 };

/* Returns true if all tags of one place are in the other; a difference is an error or a finding. */
static bool
same_tags(const struct zip *z, const struct names *here, const struct names *there, const char *one,
	  const char *other, struct wheel *w)
{
	for (size_t i = 0; i < here->n; i++) {
		if (names_have(there, here->at[i]))
			continue;
		if (!z->lenient)
			return zip_refuse(z, "its %s has the tag `%s`, its %s does not", one,
					  here->at[i], other);
		list_printf(z->a, &w->findings, "its %s has the tag `%s`, its %s does not", one,
			    here->at[i], other);
	}
	return true;
}

static bool
check_tags(const struct zip *z, const struct names *lines, const struct wheel_file *file,
	   struct wheel *w)
{
	/* "py2.py3-none-any" stands for several tags, as in a file name. */
	for (size_t i = 0; i < lines->n; i++) {
		const struct wheel_file *some =
			wheel_file_parse(z->a, arena_printf(z->a, "x-1-%s.whl", lines->at[i]));

		/* A file name has no room for more. */
		if (!some || strlen(lines->at[i]) > NAME_MAX || w->tags.n + some->tags.n > TAGS_MAX)
			return zip_refuse(
				z, "its WHEEL has too many tags, or a tag that is not valid");
		for (size_t k = 0; k < some->tags.n; k++)
			names_once(z->a, &w->tags, some->tags.at[k]);
	}
	names_sort(&w->tags);
	if (!same_tags(z, &w->tags, &file->tags, "WHEEL", "file name", w) ||
	    !same_tags(z, &file->tags, &w->tags, "file name", "WHEEL", w))
		return false;
	/* Installers use the tags of the file name. */
	w->tags = file->tags;
	return true;
}

/*
 * Accepts a local version that is only in the file name: some projects add it there, and pip
 * installs such a file by its path.
 *
 * Source: https://github.com/Dao-AILab/causal-conv1d .github/workflows/publish.yaml ("wheel_name=")
 */
static bool
same_version(const struct zip *z, const char *text, const struct version *v)
{
	const struct version *other = version_parse(z->a, text);

	if (other && z->lenient && !version_local(z->a, other))
		v = version_parse(z->a, version_public(z->a, v));
	return other && !version_cmp(other, v);
}

/* Returns true for "numpy-1.26.4.dist-info". */
static bool
check_folder(const struct zip *z, const char *dist_info, const struct wheel_file *file)
{
	size_t n = strlen(dist_info) - strlen(".dist-info");
	const char *text = arena_copy(z->a, dist_info, n), *dash = strchr(text, '-');
	const char *name = dash ? arena_copy(z->a, text, (size_t)(dash - text)) : text;

	if (!dash || !name_valid(name) || strcmp(name_normalize(z->a, name), file->name) != 0 ||
	    !same_version(z, dash + 1, file->version))
		return zip_refuse(
			z, "its directory `%s` and its file name have different names or versions",
			dist_info);
	return true;
}

bool
wheel_metadata(const struct zip *z, const char *dist_info, const char *metadata,
	       const char *wheel_text, struct wheel *w)
{
	struct arena *a = z->a;
	const char *slash = strrchr(z->path, '/'), *format;
	const struct wheel_file *file = wheel_file_parse(a, slash ? slash + 1 : z->path);
	struct names tags = metadata_values(a, wheel_text, "Tag");
	struct names build = metadata_values(a, wheel_text, "Build");

	if (!file)
		return zip_refuse(z, "its file name does not have the form "
				     "name-version-python-abi-platform.whl");
	if (!check_folder(z, dist_info, file) ||
	    !(w->name = only(z, metadata, "METADATA", "Name")) ||
	    !(w->version = only(z, metadata, "METADATA", "Version")) ||
	    !(format = only(z, wheel_text, "WHEEL", "Wheel-Version")))
		return false;
	if (!name_valid(w->name) || strcmp(name_normalize(a, w->name), file->name) != 0)
		return zip_refuse(z, "its metadata has the name `%s`, its file name has `%s`",
				  w->name, file->name);
	if (!same_version(z, w->version, file->version))
		return zip_refuse(z, "its metadata has version `%s`, its file name has `%s`",
				  w->version, version_text(a, file->version));
	if (version_cmp(version_parse(a, w->version), file->version) != 0)
		list_printf(a, &w->findings,
			    "its metadata has version `%s`, its file name has `%s`", w->version,
			    version_text(a, file->version));
	if (!starts_with(format, "1.") || !version_parse(a, format))
		return zip_refuse(z, "its format is `%s`; installers read 1.0", format);
	w->build = file->build;
	if (build.n > 1 || (build.n && (!w->build || strcmp(build.at[0], w->build) != 0)))
		return zip_refuse(z, "its WHEEL and its file name disagree on the build number");
	w->requires = metadata_values(a, metadata, "Requires-Dist");
	return check_tags(z, &tags, file, w);
}

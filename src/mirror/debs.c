/* Downloads the system packages of images into a mirror, and makes apt use them. */
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/sha256.h"
#include "base/str.h"
#include "internal.h"
#include "render/render.h"

/* The first command of a step that installs packages of the distribution (plan/shell.c). */
#define APT_STARTS "rm -f /etc/apt/apt.conf.d/docker-clean"
enum { SUMS_MAX = 1 << 20 };

static bool
add(struct arena *a, struct diags *ds, const char *image, const struct operation *op,
    struct debs *d)
{
	if (op->system.archive != ARCHIVE_DISTRIBUTION) {
		diag_help(diag_at(ds, E_MIRROR_LACKS, (struct span){ 0 },
				  "a mirror cannot have the system packages of `%s`", image),
			  "use a base image with apt, and neither `cuda: {from: apt}` nor "
			  "`python: {from: deadsnakes}`");
		return false;
	}
	d->images[d->n] = image;
	d->commands[d->n++] = render_commands(a, ds, op);
	return true;
}

bool
debs_of(struct arena *a, struct diags *ds, const struct plan *p, const struct lock *l,
	struct debs *out)
{
	const struct stack *s = p->stack;
	struct operation runtime = { .kind = OP_SYSTEM,
				     .system.archive =
					     s->runtime_dnf ? ARCHIVE_DNF : ARCHIVE_DISTRIBUTION,
				     .system.snapshot = s->snapshot };
	struct buf b = BUF(a);
	bool good = true;

	*out = (struct debs){ .sums = l->debs ? l->debs + strlen("sha256:") : NULL };
	for (size_t i = 0; i < p->n && good; i++)
		list_each (op, &p->steps[i].operations)
			if (op->kind == OP_SYSTEM && good)
				good = out->n < DEBS_MAX && add(a, ds, s->base.value, op, out);
	list_each (package, &s->runtime_apt)
		list_push(a, &runtime.system.packages, package->value);
	if (s->runtime_apt.n && good)
		good = add(a, ds, s->runtime_base.value, &runtime, out);
	for (size_t i = 0; i < out->n; i++)
		buf_printf(&b, "%s\n%s", out->images[i], out->commands[i]);
	if (out->n)
		out->path = arena_printf(a, "debs/%.16s", sha256_hex(a, b.p, b.n));
	return good;
}

/* Returns the directory of the packages: its name is a part of their digest, so that locks that have
 * different packages can share a mirror. */
static const char *
directory(struct arena *a, const struct debs *d)
{
	return arena_printf(a, "%s/%.16s", d->path, d->sums);
}

bool
debs_ready(struct arena *a, const char *dir, const struct debs *d)
{
	struct names files = { 0 }, faults = { 0 };

	debs_check(a, dir, d, &files, &faults);
	return !faults.n;
}

const char *
debs_script(struct arena *a, const struct debs *d, size_t i)
{
	return arena_printf(
		a,
		"set -e\n"
		". /etc/os-release\n"
		"top=\"" MIRROR_PLACE "/%s/new\"\n"
		"%s"
		"d=\"$top/$ID$VERSION_ID\"\n"
		"mkdir -p \"$d/partial\"\n"
		"echo \"Dir::Cache::archives \\\"$d/\\\"; APT::Sandbox::User \\\"root\\\";\" > "
		"/tmp/apt.conf\n"
		"export APT_CONFIG=/tmp/apt.conf\n"
		"%s"
		"cd \"$d\"\n"
		"rm -rf partial lock\n"
		/* apt writes the epoch of a version as "1%%3a" into the name of the file. */
		"for f in *%%3a*; do test ! -f \"$f\" || mv \"$f\" \"$(echo \"$f\" | sed "
		"'s/[0-9]*%%3a//')\"; done\n"
		"for f in *.deb; do\n"
		"	dpkg-deb -f \"$f\"\n"
		"	echo \"Filename: ./$f\"\n"
		"	echo \"Size: $(stat -c %%s \"$f\")\"\n"
		"	echo \"SHA256: $(sha256sum \"$f\" | cut -d ' ' -f 1)\"\n"
		"	echo\n"
		"done > Packages\n"
		"%s",
		d->path, i ? "" : "rm -rf \"$top\"\n", d->commands[i],
		i + 1 < d->n ? "" :
			       "cd \"$top\"\n"
			       "find . -type f | sort | xargs sha256sum > ../sums\n"
			       "mv ../sums SHA256SUMS\n"
			       "sum=$(sha256sum SHA256SUMS | cut -c 1-64)\n"
			       "to=$(echo \"$sum\" | cut -c 1-16)\n"
			       "cd ..\n"
			       "rm -rf \"$to\"\n"
			       "mv new \"$to\"\n"
			       "echo \"$sum\"\n");
}

/* Returns why SHA256SUMS is not that of the lock, or NULL; *sums: its text. */
static const char *
read_sums(struct arena *a, const char *dir, const struct debs *d, const struct source **sums)
{
	const char *path = d->sums ? fs_join(a, directory(a, d), "SHA256SUMS") : NULL;

	if (!path)
		return "the lock does not have the digest of the system packages: add --debs to "
		       "`stackbuild mirror`";
	if (!(*sums = fs_read_quiet(a, fs_join(a, dir, path), SUMS_MAX)))
		return "the system packages of the image do not exist: add --debs to "
		       "`stackbuild mirror`";
	if (strcmp(sha256_hex(a, (*sums)->text, (*sums)->size), d->sums) != 0)
		return arena_printf(a, "`%s` has another digest than the lock", path);
	return NULL;
}

void
debs_check(struct arena *a, const char *dir, const struct debs *d, struct names *files,
	   struct names *faults)
{
	const struct source *sums;
	const char *why = read_sums(a, dir, d, &sums);
	struct names lines = { 0 };

	if (why)
		list_push(a, faults, why);
	else
		lines = names_split(a, sums->text, '\n');
	for (size_t i = 0; i < lines.n; i++) {
		const char *sum = arena_copy(a, lines.at[i], strcspn(lines.at[i], " "));
		const char *name = lines.at[i] + strlen(sum) +
				   strspn(lines.at[i] + strlen(sum), " "),
			   *path;

		if (!*name)
			continue;
		path = fs_join(a, directory(a, d), fs_clean(a, name));
		list_push(a, files, path);
		if (!file_is(a, fs_join(a, dir, path), sum, 0))
			list_push(a, faults,
				  arena_printf(a, "`%s` has another digest than SHA256SUMS", path));
	}
}

const char *
debs_sources(struct arena *a, const char *os)
{
	return arena_printf(a, "deb [trusted=yes] file:" MIRROR_PLACE "/%s ./\n", os);
}

const char *
debs_settings(struct arena *a, const char *os)
{
	return arena_printf(a,
			    "Dir::Etc::sourcelist \"" MIRROR_PLACE "/%s/sources.list\";\n"
			    "Dir::Etc::sourceparts \"-\";\n"
			    "APT::Sandbox::User \"root\";\n",
			    os);
}

void
debs_use(struct arena *a, const struct debs *d, struct mirror_use *u)
{
	list_push(a, &u->from, APT_STARTS);
	list_push(a, &u->to,
		  arena_printf(a,
			       "export APT_CONFIG=\"" MIRROR_PLACE
			       "/%s/$(. /etc/os-release; echo \"$ID$VERSION_ID\")/apt.conf\" "
			       "&& " APT_STARTS,
			       directory(a, d)));
}

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
debs_of(struct arena *a, struct diags *ds, const struct plan *p, struct debs *out)
{
	const struct stack *s = p->stack;
	struct operation runtime = { .kind = OP_SYSTEM,
				     .system.archive =
					     s->runtime_dnf ? ARCHIVE_DNF : ARCHIVE_DISTRIBUTION,
				     .system.snapshot = s->snapshot };
	struct buf b = BUF(a);
	bool good = true;

	*out = (struct debs){ 0 };
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

bool
debs_ready(struct arena *a, const char *dir, const struct debs *d)
{
	return !d->n || fs_exists(fs_join(a, fs_join(a, dir, d->path), "SHA256SUMS"));
}

const char *
debs_script(struct arena *a, const struct debs *d, size_t i)
{
	return arena_printf(
		a,
		"set -e\n"
		". /etc/os-release\n"
		"top=\"" MIRROR_PLACE "/%s\"\n"
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
		"echo \"deb [trusted=yes] file:$d ./\" > sources.list\n"
		"echo \"Dir::Etc::sourcelist \\\"$d/sources.list\\\"; Dir::Etc::sourceparts "
		"\\\"-\\\";"
		" APT::Sandbox::User \\\"root\\\";\" > apt.conf\n"
		"%s",
		d->path, d->commands[i],
		i + 1 < d->n ? "" :
			       "cd \"$top\"\n"
			       "find . -type f ! -name 'SHA256SUMS*' | sort | xargs sha256sum > "
			       "SHA256SUMS.new\n"
			       "mv SHA256SUMS.new SHA256SUMS\n");
}

void
debs_check(struct arena *a, const char *dir, const struct debs *d, struct names *faults)
{
	const char *top = fs_join(a, dir, d->path);
	const struct source *sums = fs_read_quiet(a, fs_join(a, top, "SHA256SUMS"), SUMS_MAX);

	if (!sums)
		list_push(a, faults,
			  "the system packages of the image do not exist: add --debs to "
			  "`stackbuild mirror`");
	for (const char *p = sums ? sums->text : ""; *p; p += strcspn(p, "\n") + 1) {
		const char *line = arena_copy(a, p, strcspn(p, "\n"));
		const char *sum = arena_copy(a, line, strcspn(line, " "));
		const char *name = line + strlen(sum) + strspn(line + strlen(sum), " ");

		if (!file_is(a, fs_join(a, top, name), sum, 0))
			list_push(a, faults,
				  arena_printf(a, "`%s/%s` has another digest than SHA256SUMS",
					       d->path, name));
		if (!p[strcspn(p, "\n")])
			break;
	}
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
			       d->path));
}

#include "internal.h"

#include <stdlib.h>
#include <unistd.h>

#include "python/python.h"

extern char **environ;

const char *
look_path(struct look *l, const char *path)
{
	return *l->o->root ? arena_printf(l->a, "%s%s", l->o->root, path) : path;
}

bool
look_exists(struct look *l, const char *path)
{
	return fs_exists(look_path(l, path));
}

const char *
look_text(struct look *l, const char *path)
{
	const struct source *s = fs_read_quiet(l->a, look_path(l, path), FS_READ_MAX);

	return s ? s->text : "";
}

const char *
look_env(struct look *l, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < l->env.n; i++)
		if (starts_with(l->env.at[i], name) && l->env.at[i][n] == '=')
			return l->env.at[i] + n + 1;
	return NULL;
}

struct names
look_list(struct look *l, const char *dir)
{
	struct names all = { 0 };
	struct diags ds = DIAGS(ds, l->a);

	fs_list(l->a, &ds, look_path(l, dir), "", &all);
	return all;
}

const char *
look_run(struct look *l, const char *const *argv)
{
	/* Programs print English, which this code parses. */
	static const char *const env[] = { "LC_ALL=C", NULL };
	const struct proc_spec spec = {
		.argv = argv, .env = env, .timeout_s = 10, .keep = 256 * 1024
	};
	struct proc_result r;

	return proc_run(l->a, &spec, &r) ? buf_text(&r.out) : NULL;
}

const char *
look_version(struct look *l, const char *text, const char *before)
{
	const char *p = text ? strstr(text, before) : NULL;

	if (!p)
		return NULL;
	p += strlen(before);
	p += strcspn(p, "0123456789\n");
	return is_digit(*p) ? arena_copy(l->a, p, strspn(p, "0123456789.")) : NULL;
}

int
version_order(struct look *l, const char *x, const char *y)
{
	const struct version *v = version_parse(l->a, x), *w = version_parse(l->a, y);

	return v && w ? version_cmp(v, w) : 0;
}

/* Decodes a path of /proc/mounts, which has \040 for a blank. */
static const char *
unescape(struct arena *a, const char *s)
{
	char *out = arena_strdup(a, s), *to = out;

	for (; *s; s++)
		if (starts_with(s, "\\040")) {
			*to++ = ' ';
			s += 3;
		} else {
			*to++ = *s;
		}
	*to = '\0';
	return out;
}

static void
read_mounts(struct look *l)
{
	const struct names lines = names_split(l->a, look_text(l, "/proc/mounts"), '\n');

	for (size_t i = 0; i < lines.n; i++) {
		const struct names part = names_split(l->a, lines.at[i], ' ');

		if (part.n >= 4)
			list_push(l->a, &l->mounts,
				  (struct mounted){ unescape(l->a, part.at[1]), part.at[2],
						    part.at[3] });
	}
}

const struct mounted *
look_mount(struct look *l, const char *path)
{
	const struct mounted *best = NULL;
	size_t longest = 0;

	list_each (m, &l->mounts) {
		size_t n = strcmp(m->point, "/") ? strlen(m->point) : 0;

		/* A later mount hides an earlier one at the same point. */
		if (!strncmp(path, m->point, n) && (!path[n] || path[n] == '/') && n >= longest) {
			best = m;
			longest = n;
		}
	}
	return best;
}

const char *
mount_slow(const struct mounted *m)
{
	if (!m)
		return NULL;
	if (!strcmp(m->type, "drvfs") || (!strcmp(m->type, "9p") && strstr(m->options, "drvfs")))
		return "a Windows drive (drvfs)";
	if (!strcmp(m->type, "9p"))
		return "a 9p file system";
	if (starts_with(m->type, "nfs"))
		return "NFS";
	if (!strcmp(m->type, "cifs") || !strcmp(m->type, "smb3"))
		return "a Windows share (SMB)";
	return NULL;
}

static void
read_environment(struct look *l)
{
	if (!*l->o->root) {
		for (char **e = environ; *e; e++)
			list_push(l->a, &l->env, *e);
	} else {
		const struct source *s =
			fs_read_quiet(l->a, look_path(l, "/proc/self/environ"), FS_READ_MAX);

		for (size_t i = 0; s && i < s->size; i += strlen(s->text + i) + 1)
			list_push(l->a, &l->env, s->text + i);
	}
	l->home = look_env(l, "HOME");
	l->home = l->home ? l->home : "/root";
	l->cwd = *l->o->root ? look_env(l, "PWD") : fs_real(l->a, ".");
	l->cwd = l->cwd ? l->cwd : "/";
}

/* Lists /usr/local/cuda-12.1 and CUDA_HOME; `cuda` itself is a link to one of them. */
static void
read_toolkits(struct look *l)
{
	const struct names all = look_list(l, "/usr/local");

	for (size_t i = 0; i < all.n; i++) {
		const char *dir = arena_printf(l->a, "/usr/local/%s", all.at[i]), *version;

		if (!starts_with(all.at[i], "cuda-") ||
		    !look_exists(l, arena_printf(l->a, "%s/bin/nvcc", dir)))
			continue;
		version = look_version(l, look_text(l, arena_printf(l->a, "%s/version.json", dir)),
				       "\"CUDA SDK\"");
		version = version ? version : look_version(l, all.at[i], "cuda-");
		if (version && strchr(version, '.')) /* cuda-12 is a link, too */
			list_push(l->a, &l->toolkits, (struct toolkit){ dir, version });
	}
}

void
look_host(struct look *l)
{
	l->host = host_read(l->a, l->o->root);
	read_environment(l);
	read_mounts(l);
	read_toolkits(l);
}

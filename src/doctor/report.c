#include "internal.h"

#include <archive.h>
#include <archive_entry.h>

#include "base/mask.h"

/* Writes the help bundle: the state of this host without its secrets, for a support request. */

struct bundle {
	struct look *l;
	struct mask *mask;
	struct archive *to;
	struct buf bytes;
	struct names *listed;
};

static la_ssize_t
on_bytes(struct archive *to, void *ctx, const void *bytes, size_t n)
{
	(void)to;
	buf_add(ctx, bytes, n);
	return (la_ssize_t)n;
}

static bool
put(struct bundle *b, const char *name, const char *text)
{
	struct archive_entry *e = archive_entry_new();
	size_t n = strlen(text);
	bool good;

	archive_entry_set_pathname(e, name);
	archive_entry_set_size(e, (la_int64_t)n);
	archive_entry_set_filetype(e, AE_IFREG);
	archive_entry_set_perm(e, 0644);
	good = archive_write_header(b->to, e) == ARCHIVE_OK &&
	       archive_write_data(b->to, text, n) == (la_ssize_t)n;
	archive_entry_free(e);
	return good;
}

/* Adds quoted values, and the password of "login:password", also in base64. */
static void
quoted(struct arena *a, const char *line, struct names *all)
{
	const char *p = strchr(line, '"'), *end, *value, *plain;

	for (; p && (end = strchr(p + 1, '"')); p = strchr(end + 1, '"')) {
		if (end[1 + strspn(end + 1, " ")] == ':')
			continue;
		value = arena_copy(a, p + 1, (size_t)(end - p - 1));
		plain = base64_text(a, value);
		list_push(a, all, value);
		if (plain && strchr(plain, ':'))
			list_push(a, all, strchr(plain, ':') + 1);
	}
}

/* Adds the last word of a line of a login file, quoted values, and the password in a URL. */
static void
secrets_in(struct arena *a, const char *line, struct names *all)
{
	const char *end = line + strlen(line), *login, *colon;
	size_t n = strcspn(line, "\r"), from = n;

	login = url_credentials(line, end, &n);
	if (login && (colon = memchr(login, ':', n)))
		list_push(a, all, arena_copy(a, colon + 1, n - (size_t)(colon + 1 - login)));
	while (from && !strchr(" \t=\"'", line[from - 1]))
		from--;
	quoted(a, line, all);
	list_push(a, all, line); /* the mask hides the password of a netrc file */
	list_push(a, all, line + from);
}

/* Returns the values of such variables, and the passwords in login files. */
static struct names
secrets_of(struct look *l, const struct names *hidden)
{
	static const char *const files[] = { ".netrc",
					     ".git-credentials",
					     ".pypirc",
					     ".modal.toml",
					     ".huggingface/token",
					     ".cache/huggingface/token",
					     ".cache/huggingface/stored_tokens",
					     ".docker/config.json",
					     ".config/containers/auth.json" };
	struct names all = { 0 };

	for (size_t i = 0; i < l->env.n; i++) {
		const char *value = strchr(l->env.at[i], '=');

		if (value && holds_secret(hidden, arena_copy(l->a, l->env.at[i],
							     (size_t)(value - l->env.at[i]))))
			list_push(l->a, &all, value + 1);
	}
	for (size_t i = 0; i < COUNT(files); i++) {
		const char *text = look_text(l, fs_join(l->a, l->home, files[i]));
		const struct names lines = names_split(l->a, text, '\n');

		for (size_t k = 0; k < lines.n; k++)
			secrets_in(l->a, lines.at[k], &all);
	}
	return all;
}

struct member {
	const char *name, *what, *text;
};

static bool
write_members(struct bundle *b, const struct member *all, size_t n)
{
	struct buf manifest = BUF(b->l->a);
	struct names texts = { 0 };
	bool good;

	for (size_t i = 0; i < n; i++) {
		const char *text = all[i].text ? mask_text(b->mask, all[i].text) : "";
		const char *line;

		list_push(b->l->a, &texts, arena_strdup(b->l->a, text));
		if (!*text)
			continue;
		line = arena_printf(b->l->a, "%-18s %7zu bytes  %s", all[i].name, strlen(text),
				    all[i].what);
		list_push(b->l->a, b->listed, line);
		buf_printf(&manifest, "%s\n", line);
	}
	good = put(b, "MANIFEST.txt", buf_text(&manifest));
	for (size_t i = 0; good && i < n; i++)
		good = !*texts.at[i] || put(b, all[i].name, texts.at[i]);
	return good;
}

/* Uses zstd's default level, 3. */
static bool
write_bundle(struct bundle *b, const struct member *all, size_t n)
{
	bool good;

	b->to = archive_write_new();
	/* ARCHIVE_WARN: a libarchive without zstd starts the program. */
	good = archive_write_set_format_ustar(b->to) == ARCHIVE_OK &&
	       archive_write_add_filter_zstd(b->to) >= ARCHIVE_WARN &&
	       archive_write_set_bytes_in_last_block(b->to, 1) == ARCHIVE_OK &&
	       archive_write_open2(b->to, &b->bytes, NULL, on_bytes, NULL, NULL) == ARCHIVE_OK &&
	       write_members(b, all, n) && archive_write_close(b->to) == ARCHIVE_OK;
	archive_write_free(b->to);
	return good && !b->bytes.over;
}

bool
doctor_report(struct arena *a, struct diags *ds, const struct doctor_options *o,
	      const struct checkup *c, const char *path, const struct help_input *in,
	      struct names *listed)
{
	struct checkup unused = { 0 };
	struct look l = { .a = a, .o = o, .out = &unused };
	struct buf text = BUF(a), json = BUF(a);
	struct bundle b = { .l = &l, .bytes = BUF(a), .listed = listed };
	struct names secrets;
	const char *python = o->venv ? fs_join(a, o->venv, "bin/python") : NULL;

	look_host(&l);
	secrets = secrets_of(&l, &in->hidden);
	b.mask = mask_new(a, &secrets);
	doctor_text(c, &text);
	doctor_json(c, &json);
	const struct member all[] = {
		{ "doctor.txt", "what doctor found", buf_text(&text) },
		{ "doctor.json", "the same for programs", buf_text(&json) },
		{ "diagnosis.txt", "the causes of the failure in the log", in->diagnosis },
		{ "log.txt", "the end of the log", in->log },
		{ "environment.txt",
		  "variables; *** for all that are not on the list of docs/doctor.md",
		  environment_text(&l, &in->hidden) },
		{ "nvidia-smi.txt", "driver and GPUs", ask(&l, "nvidia-smi") },
		{ "gpu-settings.txt", "modes, limits and clocks of the GPUs", gpu_settings(&l) },
		{ "mounts.txt", "file systems", look_text(&l, "/proc/mounts") },
		{ "meminfo.txt", "memory", look_text(&l, "/proc/meminfo") },
		{ "limits.txt", "limits of processes", look_text(&l, "/proc/self/limits") },
		{ "df.txt", "free space", ask(&l, "df", "-Pk") },
		{ "nvcc.txt", "version of nvcc", ask(&l, "nvcc", "--version") },
		{ "gcc.txt", "version of gcc", ask(&l, "gcc", "--version") },
		{ "packages.txt", "packages of the environment",
		  python ? ask(&l, python, "-m", "pip", "list", "--format=freeze") : NULL },
		{ "pip-uv.txt", "configuration of pip and uv", package_settings(&l) },
		{ "recipe.yaml", "the recipe",
		  o->stacks.n ? o->stacks.at[0]->recipe->src->text : NULL },
	};
	if (write_bundle(&b, all, COUNT(all)))
		return fs_write(ds, path, b.bytes.p, b.bytes.n, 0600, false, NULL);
	diag_at(ds, E_WRITE, NOWHERE, "cannot write `%s`: libarchive cannot compress it", path);
	return false;
}

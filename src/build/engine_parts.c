#include "engine_parts.h"

#include <stdarg.h>
#include <string.h>

#include "base/str.h"

bool
engine_ask(struct arena *a, const char *const *argv, const char *const *env, struct proc_result *r)
{
	struct proc_spec spec = { .argv = argv, .env = env, .timeout_s = ASK_S, .keep = ASK_KEEP };

	return proc_run(a, &spec, r);
}

enum { SAID_MAX = 200 }; /* maximum bytes of a client's message */

static const char *
one_line(struct arena *a, const char *p, size_t n)
{
	struct buf b = BUF(a);
	size_t size = n < SAID_MAX ? n : SAID_MAX;

	while (size < n && size && ((unsigned char)p[size] & 0xc0) == 0x80)
		size--; /* keeps no half character */
	diag_inert(mask_credentials(a, arena_copy(a, p, size)), &b);
	if (size < n)
		buf_puts(&b, "...");
	return buf_text(&b);
}

const char *
engine_said(struct arena *a, const struct proc_result *r)
{
	const char *text = r->err.n ? r->err.p : r->out.n ? r->out.p : "", *last = NULL;
	size_t last_n = 0;

	if (!r->started)
		return arena_printf(a, "cannot be started: %s", strerror(r->error));
	if (r->timed_out)
		return arena_printf(a, "did not answer within %d s", ASK_S);
	/* Finds the first line that is marked as an error, otherwise the last line. */
	for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		size_t n = strcspn(p, "\n");

		if (!n)
			continue;
		last = p;
		last_n = n;
		if (!strncasecmp(p, "error", 5))
			break;
	}
	if (!last)
		return arena_printf(a, "exited with status %d and printed nothing", r->status);
	if (!strncasecmp(last, "error: ", 7)) {
		last += 7;
		last_n -= 7;
	}
	return one_line(a, last, last_n);
}

const char *
engine_first_line(struct arena *a, const char *text)
{
	return one_line(a, text, strcspn(text, "\r\n"));
}

const char *
engine_version_in(struct arena *a, const char *text)
{
	for (const char *p = text; *p; p++) {
		bool starts = p == text || p[-1] == ' ' ||
			      (p[-1] == 'v' && (p - 1 == text || p[-2] == ' '));

		if (starts && is_digit(*p))
			return one_line(a, p, strcspn(p, " ,+\r\n"));
	}
	return "unknown version";
}

json_t *
engine_json(const struct proc_result *r)
{
	return r->out.n && !r->out.over ? json_loadb(r->out.p, r->out.n, 0, NULL) : NULL;
}

const json_t *
json_at(const json_t *root, const char *path)
{
	char key[64];

	while (root && *path) {
		size_t n = strcspn(path, ".");

		snprintf(key, sizeof(key), "%.*s", (int)n, path);
		root = json_object_get(root, key);
		path += n + (path[n] == '.');
	}
	return root;
}

const char *
json_at_text(struct arena *a, const json_t *root, const char *path)
{
	const json_t *j = json_at(root, path);

	return json_is_string(j) && json_string_length(j) ?
		       one_line(a, json_string_value(j), json_string_length(j)) :
		       NULL;
}

/* --- commands --- */

void
engine_add(struct arena *a, struct engine_command *c, ...)
{
	va_list ap;
	const char *word;

	va_start(ap, c);
	while ((word = va_arg(ap, const char *)))
		list_push(a, &c->argv, word);
	va_end(ap);
}

void
engine_options(struct arena *a, struct engine_command *c, const char *const (*options)[2])
{
	for (; (*options)[0]; options++)
		if ((*options)[1])
			ADD(c, (*options)[0], (*options)[1]);
}

const char *
engine_csv(struct arena *a, const char *key, const char *value)
{
	struct buf b = BUF(a);

	if (!strpbrk(value, ",\"\r\n"))
		return arena_printf(a, "%s=%s", key, value);
	buf_printf(&b, "\"%s=", key);
	for (; *value; value++) {
		if (*value == '"')
			buf_putc(&b, '"');
		buf_putc(&b, *value);
	}
	buf_putc(&b, '"');
	return buf_text(&b);
}

const char *
engine_path(struct arena *a, const char *path)
{
	return *path == '-' ? arena_printf(a, "./%s", path) : path;
}

void
engine_secrets(struct arena *a, struct engine_command *c, const struct engine_build *b, bool csv)
{
	for (size_t i = 0; i < b->secrets.n; i++) {
		const char *secret = b->secrets.at[i];
		size_t n = strcspn(secret, "=");
		const char *id = arena_copy(a, secret, n), *file = secret + n + (secret[n] == '=');

		ADD(c, "--secret",
		    csv ? arena_printf(a, "%s,%s", engine_csv(a, "id", id),
				       engine_csv(a, "src", file)) :
			  arena_printf(a, "id=%s,src=%s", id, file));
		if (strcmp(id, "PATH") && strcmp(id, "HOME"))
			list_push(a, &c->env, id);
	}
}

const char *
engine_cache(struct arena *a, const char *reference, const char *more)
{
	return starts_with(reference, "type=") ?
		       reference :
		       arena_printf(a, "type=registry,ref=%s%s", reference, more);
}

void
engine_build_words(struct arena *a, struct engine_command *c, const struct engine_build *b,
		   bool csv)
{
	const char *const options[][2] = {
		{ "-f", engine_path(a, b->dockerfile) }, { "--target", b->target },
		{ "-t", b->to_folder ? NULL : b->tag },  { "--iidfile", b->iid_file },
		{ "--platform", b->platform },           { NULL }
	};

	engine_options(a, c, options);
	if (b->to_folder)
		ADD(c, "-o",
		    arena_printf(a, "type=local,%s",
				 csv ? engine_csv(a, "dest", b->to_folder) :
				       arena_printf(a, "dest=%s", b->to_folder)));
	for (size_t i = 0; i < b->args.n; i++)
		ADD(c, "--build-arg", b->args.at[i]);
	engine_secrets(a, c, b, csv);
}

/* Bypasses the image's entry point, which would take the command as arguments and may print
 * text. */
void
engine_run_words(struct arena *a, struct engine_command *c, const struct engine_run *r,
		 bool new_container)
{
	for (size_t i = 0; i < r->env.n; i++)
		ADD(c, "-e", r->env.at[i]);
	/* Without a label: SELinux hides files of the host otherwise. */
	if (new_container && r->volume)
		ADD(c, "--volume", r->volume, "--security-opt", "label=disable");
	if (new_container)
		ADD(c, "--entrypoint", r->argv.at[0], r->image);
	else
		ADD(c, r->name, "--", r->argv.at[0]);
	for (size_t i = 1; i < r->argv.n; i++)
		ADD(c, r->argv.at[i]);
}
